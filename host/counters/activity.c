// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Activity of the machine: counters of the kernel and the NIC, read before and after the run, and at breaches. This
 * file calculates the differences; the other activity_*.c find the counters and read them.
 */
#include "host/counters/activity.h"

#include "host/counters/activity_inside.h"

#include <err.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void name_groups(struct activity *a)
{
	char (*group)[64] = a->inside->group;
	const size_t bytes = sizeof(group[0]);

	snprintf(group[GROUP_THREAD], bytes, "measuring thread");
	snprintf(group[GROUP_CPU], bytes, "CPU %d", a->cpu);
	snprintf(group[GROUP_INTERRUPTS], bytes, "interrupts on CPU %d", a->cpu);
	snprintf(group[GROUP_SOFTIRQS], bytes, "softirqs on CPU %d", a->cpu);
	snprintf(group[GROUP_VECTORS], bytes, "interrupts of %s, on all CPUs", a->nic->name);
	snprintf(group[GROUP_VECTOR_SOFTIRQS], bytes, "softirqs where %s interrupts", a->nic->name);
	snprintf(group[GROUP_LINK], bytes, "interface %s", a->nic->name);
	snprintf(group[GROUP_STATISTICS], bytes, "driver statistics of %s", a->nic->name);
	snprintf(group[GROUP_VM], bytes, "virtual machine");
	snprintf(group[GROUP_STAMPS], bytes, "stamps of %s", a->nic->name);
}

int activity_open(struct activity *a, const struct nic *n, pid_t thread, int cpu)
{
	struct activity_inside *in = calloc(1, sizeof(*in));

	*a = (struct activity){ .inside = in, .nic = n, .thread = thread, .cpu = cpu };
	if (!in) {
		warnx("no memory for the counters of the machine (%zu bytes): free some", sizeof(*in));
		return -ENOMEM;
	}
	for (int i = 0; i < FILES; i++)
		in->fd[i] = -1;
	memset(in->field_slot, 0xff, sizeof(in->field_slot));
	memset(in->stamp_slot, 0xff, sizeof(in->stamp_slot));
	in->smi_slot = NONE;
	in->vm_slot = NONE;
	name_groups(a);
	activity_fields_open(a);
	activity_cpu_open(a);
	activity_vm_open(a);
	activity_interrupts_open(a);
	activity_nic_open(a); /* last: the driver may have more counters than fit */
	activity_read(a, &in->first, false);
	activity_fields_note_missing(a);
	return 0;
}

void activity_read(struct activity *a, struct activity_reading *r, bool measuring)
{
	struct activity_inside *in = a->inside;

	memset(r, 0, sizeof(*r));
	r->measuring = measuring;
	if (!in)
		return;
	activity_fields_read(a, r);
	activity_interrupts_read(a, r);
	activity_read_singles(in, r);
	activity_cpu_read(in, r);
	activity_vm_read(in, r);
	activity_nic_read(a, r);
}

void activity_close(struct activity *a)
{
	struct activity_inside *in = a->inside;

	if (!in)
		return;
	for (int i = 0; i < FILES; i++)
		if (in->fd[i] >= 0)
			close(in->fd[i]);
	for (unsigned i = 0; i < in->singles; i++)
		close(in->single[i].fd);
	activity_nic_close(in);
	free(in->unseen_text);
	free(in);
	a->inside = NULL;
}

/* ---- Differences ----------------------------------------------------------------------------------------------- */

/* Kernel counters of interrupts are 32 bits wide. A wrap is a decrease by nearly the whole range. */
static bool wrapped(enum kind kind, uint64_t from, uint64_t to)
{
	return (kind == COUNT_32 || kind == SUM_32) && from - to > UINT32_MAX / 2 && from - to <= UINT32_MAX;
}

/* False: nothing changed. */
static bool compare(const struct slot *s, bool same_cpus, struct activity_difference *d)
{
	if (d->from == d->to)
		return false;
	if (s->kind == LEVEL) {
		d->change = ACTIVITY_CHANGED;
	} else if ((s->kind == SUM_32 && !same_cpus) || (d->to < d->from && !wrapped(s->kind, d->from, d->to))) {
		d->change = ACTIVITY_RESET;
	} else {
		d->change = ACTIVITY_COUNTED;
		d->delta = d->to < d->from ? d->to + UINT32_MAX + 1 - d->from : d->to - d->from;
	}
	return true;
}

static bool differs(const struct activity_inside *in, unsigned i, const struct activity_reading *before,
		    const struct activity_reading *after, struct activity_difference *d)
{
	const struct slot *s = &in->slot[i];
	bool had = activity_is_known(before, i), has = activity_is_known(after, i);

	if (s->interrupts && after->measuring) /* omitted, not gone */
		return false;
	/* The kernel does not list an interrupt without a handler that never occurred. */
	had |= s->row && before->rows;
	if (!had || (!has && s->row && before->value[i] == 0))
		return false;
	*d = (struct activity_difference){ .group = in->group[s->group], .name = s->name, .unit = s->unit,
					   .from = before->value[i], .to = after->value[i] };
	if (has)
		return compare(s, before->cpus == after->cpus, d);
	d->change = ACTIVITY_GONE;
	return true;
}

size_t activity_differences(const struct activity *a, const struct activity_reading *before,
			    const struct activity_reading *after, struct activity_difference *list, size_t max)
{
	const struct activity_inside *in = a->inside;
	struct activity_difference d;
	size_t found = 0;

	for (unsigned group = 0; in && group < GROUPS; group++)
		for (unsigned i = 0; i < in->slots; i++)
			if (in->slot[i].group == group && differs(in, i, before, after, &d) && found++ < max)
				list[found - 1] = d;
	return found;
}
