/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The events that rant switches on in an instance that it has made. For trace_*.c and tracefs.c only. */
#ifndef HOST_TRACE_TRACE_EVENTS_H
#define HOST_TRACE_TRACE_EVENTS_H

#include "tracefs.h"

struct trace_event {
	const char *name; /* SYSTEM/NAME, as the folder below events/ */
	bool packet; /* only in the set TRACE_EVENTS_PACKET */
	bool each; /* an interrupt of the NIC causes it, so the CPU of the interrupts records it for each packet */
};

/* Both sets, the light one first. config/trace.sh and docs/spikes.md have the same names. */
extern const struct trace_event trace_event_table[];
extern const size_t trace_event_rows;

/* Switches on the events of the set; fills t->events, and t->events_missing for those that this kernel does not have.
 * 0, or -errno after one line. */
int trace_events_on(struct trace *t, enum trace_events set);

/* Switches off all events of the instance, if trace_events_on() has switched on any. Safe in a signal handler. */
void trace_events_off(const struct trace *t);

/* Number of enabled events that a packet causes, at a NIC with one interrupt for each packet, in the first 4 KiB of
 * names. An event outside of the table counts; a tracer counts as one event. */
unsigned trace_count_packet_events(const struct trace *t);

#endif
