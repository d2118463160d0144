/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Saving the raw pages of a trace, and the files that explain them. For trace_save.c only. */
#ifndef HOST_TRACE_TRACE_RAW_H
#define HOST_TRACE_TRACE_RAW_H

#include "tracefs.h"

/* Parts that could not be saved. All zeros: none. */
struct trace_left_out {
	unsigned parts;
	char first[96]; /* name of the first, and the reason */
};

/* Counts a part that is left out, and keeps the name of the first. error: errno. */
void trace_leave_out(struct trace_left_out *left_out, const char *name, int error);

/* Makes the folder `raw` in the folder of a saved trace: the pages of each traced CPU, from `source` ("snapshot" or
 * "trace"), header_page, header_event, the formats of the enabled events and of ftrace/print, and saved_cmdlines. The
 * paths below `raw` are those of tracefs. A part that cannot be read or written is left out. Reading the pages of
 * "trace" removes them from the buffer, so they are left out while another program measures with this instance. */
void trace_save_raw(const struct trace *t, const char *source, int folder_fd, struct trace_left_out *left_out);

#endif
