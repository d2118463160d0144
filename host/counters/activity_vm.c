// SPDX-License-Identifier: GPL-2.0-or-later
/* The disruption marker of VMClock changes with each event that may change the CPU's counter: a live migration, a
 * pause, a restored snapshot. Layout: UAPI.13, "The vmclock_abi structure"; all fields are little-endian. */
#include "host/counters/activity_inside.h"

#include <endian.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#define VMCLOCK_PATH "/dev/vmclock0"
#define VMCLOCK_MAGIC 0x4b4c4356 /* "VCLK" */
#define TRIES 100 /* an update by the hypervisor takes a very short time */

struct vmclock_begin {
	uint32_t magic, size;
	uint16_t version;
	uint8_t counter, time_type;
	uint32_t sequence; /* odd during an update */
	uint64_t disruption_marker;
};
_Static_assert(offsetof(struct vmclock_begin, disruption_marker) == 0x10, "offset of UAPI.13");

/* 0, or -errno; -EBADMSG: another layout; -EAGAIN: an update at each try. */
static int read_marker(int fd, uint64_t *marker)
{
	struct vmclock_begin first, again;

	for (int i = 0; i < TRIES; i++) {
		errno = 0;
		if (pread(fd, &first, sizeof(first), 0) != sizeof(first) ||
		    pread(fd, &again, sizeof(again), 0) != sizeof(again))
			return errno ? -errno : -EBADMSG;
		if (le32toh(first.magic) != VMCLOCK_MAGIC || le16toh(first.version) != 1)
			return -EBADMSG;
		*marker = le64toh(again.disruption_marker);
		if (first.sequence == again.sequence && !(le32toh(first.sequence) & 1))
			return 0;
	}
	return -EAGAIN;
}

void activity_vm_open(struct activity *a)
{
	struct activity_inside *in = a->inside;
	uint64_t marker;
	int error;

	in->fd[VMCLOCK] = activity_open_file(VMCLOCK_PATH);
	if (in->fd[VMCLOCK] == -ENOENT)
		return;
	error = in->fd[VMCLOCK] < 0 ? in->fd[VMCLOCK] : read_marker(in->fd[VMCLOCK], &marker);
	if (error) {
		activity_note(a, "disruptions of the virtual machine (" VMCLOCK_PATH ": %s)",
			      error == -EBADMSG ? "not a VMClock of version 1" : strerror(-error));
		return;
	}
	in->vm_slot = activity_add_slot(a, GROUP_VM, LEVEL, "", "disruption marker");
	a->sees_disruptions = in->vm_slot != NONE;
}

void activity_vm_read(const struct activity_inside *in, struct activity_reading *r)
{
	uint64_t marker;

	if (activity_vm_marker(in, &marker))
		activity_put(r, in->vm_slot, marker);
}

bool activity_vm_marker(const struct activity_inside *in, uint64_t *marker)
{
	return in->vm_slot != NONE && !read_marker(in->fd[VMCLOCK], marker);
}
