/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Memory that never faults during the run. */
#ifndef HOST_PROCESS_MEMORY_H
#define HOST_PROCESS_MEMORY_H

#include "rant.h"

enum memory_pages { MEMORY_NORMAL, MEMORY_HUGE_DEFAULT, MEMORY_HUGE_2M };

struct memory {
	void *start;
	size_t bytes; /* mapped */
	enum memory_pages pages;
};

/* Maps zeroed memory with every page present. With `huge`: 2 MB pages, then the default huge size, then normal pages;
 * m->pages says which. 0 or -errno. */
int memory_map(struct memory *m, size_t bytes, bool huge);
void memory_unmap(struct memory *m);

/* Raises the limit of the stack to the size that rant uses, if `ulimit -s` is lower. 0, or -EPERM after one line if
 * that is not permitted. */
int memory_allow_stack(void);

/* Makes the next `bytes` of the calling thread's stack present. */
void memory_touch_stack(size_t bytes);

/* Makes the present memory of the process resident and locks it, except code and constants of libraries that the loop
 * does not call; it calls libnettle if it signs packets (--key). 0, or -errno if locking is not permitted: then the
 * program, its data and some stack are resident. */
int memory_lock(bool signs);

/* Bytes that are not in memory, by mincore(2): their first access would fault. -errno: not known. */
int64_t memory_absent_bytes(const struct memory *m);

/* Free memory of the machine in bytes, by sysinfo(2); 0: not known. */
uint64_t memory_free_bytes(void);

#endif
