// SPDX-License-Identifier: GPL-2.0-or-later
/* The words of roles, times and kinds of stamps, one table each, and numbers as text. */
#include "report/label.h"

#include "measure/exchange.h"
#include "options.h"
#include "report/report.h"

const struct label_role label_roles[] = {
	[ROLE_EMIT] = {
		"RTT", "Round-trip", "round trips",
		{ { "T1", "tx", false }, { "T1", "tx", true }, { "T4", "rx", true }, { "T4", "rx", false } },
	},
	[ROLE_REFLECT] = {
		"RESPONSE", "Response", "responses",
		{ { "T2", "rx", true }, { "T2", "rx", false }, { "T3", "tx", false }, { "T3", "tx", true } },
	},
};

const struct label_stamp label_stamps[] = {
	[SOURCE_USER] = { "SW", "app", "user", "CLOCK_REALTIME, read by the program", "by its program" },
	[SOURCE_KERNEL] = { "KERNEL", "kernel", "kernel", "CLOCK_REALTIME, read by the kernel", "by its kernel" },
	[SOURCE_HARDWARE] = { "HW", "NIC", "hardware", "the clock of the NIC", "by its NIC" },
	[SOURCE_LOCAL] = { "LOCAL", "host", NULL, NULL, "of an untold kind" },
	[SOURCE_NONE] = { "LOCAL", "host", NULL, NULL, "of an untold kind" }, /* no reply had any */
};

const struct label_follow_up label_follow_ups[FOLLOW_UPS] = {
	[FOLLOW_UP_NONE] = { "plain", NULL, "it was not asked for (--plain)" },
	[FOLLOW_UP_THERE] = { "-", "Complete", NULL },
	[FOLLOW_UP_LOST] = { "lost", "Reply lost", "the next reply, which tells when this one left, was lost" },
	[FOLLOW_UP_UNKNOWN] = { "unknown", "Unknown", "the reflector did not have the stamp in time, or keeps no state" },
	[FOLLOW_UP_UNTOLD] = { "untold", "Untold", "the reflector does not tell when a reply left: RFC 8972 section 4.7" },
	[FOLLOW_UP_MIXED] = { "mixed", "Mixed", "the reflector's two stamps are of different kinds, or of untold ones" },
	[FOLLOW_UP_END] = { "end", "At the end", "no reply came after this one" },
};

const struct label_time *label_time(enum role role, int i)
{
	return i < THERE ? &label_roles[role].time[i] : &label_roles[ROLE_REFLECT].time[i - THERE];
}

static const char *stamp_name(char *text, size_t bytes, const struct label_time *t, int64_t wire)
{
	snprintf(text, bytes, "%s_%s", t->name, label_stamps[t->wire ? wire : SOURCE_USER].suffix);
	return text;
}

int64_t label_source(const struct report *r, int i)
{
	return i < THERE ? r->options->stamp : r->exchange->there;
}

bool label_told_twice(const struct report *r, int i)
{
	return i >= THERE && !label_time(r->options->role, i)->wire && r->exchange->there == SOURCE_USER;
}

const char *label_time_name(char *text, size_t bytes, const struct report *r, int i)
{
	return stamp_name(text, bytes, label_time(r->options->role, i), label_source(r, i));
}

void label_latency(const struct options *o, char *text, size_t bytes)
{
	const struct label_role *r = &label_roles[o->role];
	uint8_t from, to;
	char a[16], b[16];

	stages_latency_times(o->role, options_on_wire(o), &from, &to);
	snprintf(text, bytes, "%s = %s - %s", r->latency, stamp_name(b, sizeof(b), &r->time[to], o->stamp),
		 stamp_name(a, sizeof(a), &r->time[from], o->stamp));
}

char *label_digits(char *end, uint64_t v, int least)
{
	for (; v || least > 0; v /= 10, least--)
		*--end = (char)('0' + v % 10);
	return end;
}

char *label_time_digits(char *end, int64_t ns)
{
	uint64_t size = ns < 0 ? -(uint64_t)ns : (uint64_t)ns;

	end = label_digits(end, size % NS_PER_S, 9);
	*--end = '.';
	end = label_digits(end, size / NS_PER_S, 1);
	if (ns < 0)
		*--end = '-';
	return end;
}

char *label_signed_digits(char *end, int64_t v)
{
	end = label_digits(end, v < 0 ? -(uint64_t)v : (uint64_t)v, 1);
	if (v < 0)
		*--end = '-';
	return end;
}
