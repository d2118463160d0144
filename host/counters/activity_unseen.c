// SPDX-License-Identifier: GPL-2.0-or-later
/* Readings of the counters of time that the kernel does not see. */
#include "host/counters/activity_unseen.h"

#include "host/counters/activity_inside.h"

#include <string.h>
#include <unistd.h>

/* smi: also the SMI count, by an interrupt of the measuring CPU. */
static void read_all(const struct unseen_watch *w, struct unseen_reading *r, bool smi)
{
	struct activity_inside *in = w->activity->inside;
	uint64_t value = 0;

	*r = (struct unseen_reading){ .began_ns = clock_read_ns(CLOCK_MONOTONIC_RAW) };
	if (in) {
		if (smi && activity_cpu_smi(in, &value))
			r->smi = optional_of((int64_t)value);
		if (activity_fields_steal(w->activity, &value))
			r->steal_ms = optional_of((int64_t)value);
		if (activity_vm_marker(in, &value))
			r->disruptions = optional_of((int64_t)value);
	}
	r->ended_ns = clock_read_ns(CLOCK_MONOTONIC_RAW);
}

void activity_unseen_begin(struct unseen_watch *w)
{
	activity_fields_steal_begin(w->activity);
	read_all(w, &w->last, true);
	w->readings = 0;
}

/* The last periodic reading that ended before a time, else the reading of all counters. */
static const struct unseen_reading *reading_before(const struct unseen_watch *w, int64_t ns)
{
	const unsigned kept = w->readings < UNSEEN_READINGS ? w->readings : UNSEEN_READINGS;

	for (unsigned i = 0; i < kept; i++) {
		const struct unseen_reading *at = &w->reading[(w->readings - 1 - i) % UNSEEN_READINGS];

		if (at->ended_ns <= ns)
			return at;
	}
	return &w->last;
}

void activity_unseen_look(struct unseen_watch *w, int64_t breach_ns, int64_t latency_ns)
{
	if (!breach_ns) {
		read_all(w, &w->reading[w->readings % UNSEEN_READINGS], false);
		w->readings++;
		return;
	}
	if (breach_ns == w->breach_ns)
		return;
	/* A request of the other host has no latency. */
	w->before = *reading_before(w, breach_ns - (latency_ns ? latency_ns + NS_PER_MS : NS_PER_S));
	w->smi_before = w->last;
	read_all(w, &w->after, true);
	w->last = w->after;
	w->readings = 0;
	w->breach_ns = breach_ns;
}

const char *activity_unseen_why(const struct activity *a, bool smi, char *text, size_t bytes)
{
	static const char *const starts[2][2] = {
		{ "time stolen by the hypervisor (", "stolen by the hypervisor (" }, { "SMI count (", "SMI count (" },
	};

	snprintf(text, bytes, "%s", a->cpu < 0 ? "the measuring thread is not bound to one CPU" : "it cannot be read");
	for (unsigned i = 0; i < a->unreadables && a->cpu >= 0; i++)
		for (int k = 0; k < 2; k++) {
			const size_t start = strlen(starts[smi][k]);

			if (strncmp(a->unreadable[i], starts[smi][k], start))
				continue;
			snprintf(text, bytes, "%s", a->unreadable[i] + start);
			if (*text && text[strlen(text) - 1] == ')')
				text[strlen(text) - 1] = '\0';
			return text;
		}
	return text;
}

int64_t activity_unseen_step_ms(void)
{
	const long ticks_per_s = sysconf(_SC_CLK_TCK);

	return ticks_per_s > 0 && ticks_per_s <= 1000 ? 1000 / ticks_per_s : 1;
}
