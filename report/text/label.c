// SPDX-License-Identifier: GPL-2.0-or-later
/* Names of roles, times and timestamp sources, one table each, and numbers as text. */
#include "report/text/label.h"

#include "options.h"
#include "report/text/digits.h"
#include "report/text/report.h"
#include "result/result.h"

const struct label_role label_roles[] = {
	[ROLE_EMIT] = {
		"RTT", "Round-trip", "round trips",
		{ { "T1", "tx", .wire = false }, { "T1", "tx", .wire = true }, { "T4", "rx", .wire = true },
		  { "T4", "rx", .wire = false } },
	},
	[ROLE_REFLECT] = {
		"RESPONSE", "Response", "responses",
		{ { "T2", "rx", .wire = true }, { "T2", "rx", .wire = false }, { "T3", "tx", .wire = false },
		  { "T3", "tx", .wire = true } },
	},
};

const struct label_time label_kernel[][2] = {
	{ { "T4", "rx", .kernel = true }, { "T2", "rx", .kernel = true } },
	{ { "T1", "tx", .kernel = true, .suffix = "SCHED", .place = "qdisc" },
	  { "T3", "tx", .kernel = true, .suffix = "SCHED", .place = "qdisc" } },
	{ { "T1", "tx", .kernel = true, .itself = true, .suffix = "TXSW", .place = "driver" },
	  { "T3", "tx", .kernel = true, .itself = true, .suffix = "TXSW", .place = "driver" } },
};

const struct label_stamp label_stamps[] = {
	[SOURCE_USER] = { "SW", "app", "user", "CLOCK_REALTIME, read by the program", "by its program" },
	[SOURCE_KERNEL] = { "KERNEL", "kernel", "kernel", "CLOCK_REALTIME, read by the kernel", "by its kernel" },
	[SOURCE_HARDWARE] = { "HW", "NIC", "hardware", "the clock of the NIC", "by its NIC" },
	[SOURCE_LOCAL] = { "LOCAL", "host", NULL, NULL, "of an unreported kind" },
	/* of its sent packets */
	[SOURCE_RECEIVE] = { "KERNEL", "kernel", "receive",
			     "received packets by the NIC, sent packets by the kernel, on the scale of the NIC's clock",
			     "received packets by its NIC, sent packets by its kernel" },
	[SOURCE_NONE] = { "LOCAL", "host", NULL, NULL, "of an unreported kind" }, /* no reply reported a source */
};

const struct label_follow_up label_follow_ups[FOLLOW_UPS] = {
	[FOLLOW_UP_NONE] = { "plain", NULL, "it was not asked for (--plain)", NULL },
	[FOLLOW_UP_THERE] = { "-", "Complete", NULL, NULL },
	[FOLLOW_UP_LOST] = { "lost", "Reply lost", "the next reply, which reports when this reply left, was lost", NULL },
	[FOLLOW_UP_UNKNOWN] = { "unknown", "Unknown",
				"the reflector did not have the stamp in time, or keeps no state", NULL },
	[FOLLOW_UP_UNREPORTED] = { "untold", "Not reported",
				   "the reflector does not report when a reply left: RFC 8972 section 4.7", "untold" },
	[FOLLOW_UP_MIXED] = { "mixed", "Mixed",
			      "the reflector's two stamps are of different or unreported kinds", NULL },
	[FOLLOW_UP_END] = { "end", "At the end", "no later reply arrived", NULL },
	[FOLLOW_UP_STEPPED] = { "stepped", "Remote step",
				"T2 and T3 contradict the relation of the two hosts' clocks: not used",
				"stepped_there" },
};

const struct label_percentile label_percentiles[PERCENTILES] = {
	[PERCENTILE_50] = { "50", 50, 100, false },
	[PERCENTILE_90] = { "90", 90, 100, false },
	[PERCENTILE_95] = { "95", 95, 100, false },
	[PERCENTILE_99] = { "99", 99, 100, false },
	[PERCENTILE_99_9] = { "99.9", 999, 1000, false },
	[PERCENTILE_99_99] = { "99.99", 9999, 10000, false },
	[PERCENTILE_99_999] = { "99.999", 99999, 100000, true },
	[PERCENTILE_99_9999] = { "99.9999", 999999, 1000000, true },
};

const struct label_discard label_discards[LABEL_DISCARDS] = {
	{ DISCARD_OVER_RATE, "over_rate" },
	{ DISCARD_REFUSED, "refused" },
	{ DISCARD_UNREAD, "unread" },
};

static const char *stamp_name(char *text, size_t bytes, const struct label_time *t, int64_t wire)
{
	const bool own = t->suffix && !(t->itself && source_of_packets(wire, true) == SOURCE_KERNEL);

	snprintf(text, bytes, "%s_%s", t->name, own ? t->suffix : label_stamps[label_source_of(t, wire)].suffix);
	return text;
}

int64_t label_source(const struct report *r, int i)
{
	return time_is_remote(i) ? r->result->remote : r->options->stamp;
}

bool label_reported_twice(enum role role, int64_t remote, int i)
{
	return time_is_remote(i) && !label_time(role, i)->wire && remote == SOURCE_USER;
}

const char *label_name(char *text, size_t bytes, enum role role, int i, int64_t source)
{
	return stamp_name(text, bytes, label_time(role, i), source);
}

const char *label_time_name(char *text, size_t bytes, const struct report *r, int i)
{
	return label_name(text, bytes, r->options->role, i, label_source(r, i));
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

/* Converts eight digits at a time, or two. */
char *label_digits(char *end, uint64_t v, int least)
{
	static const char pairs[] = "00010203040506070809101112131415161718192021222324"
				    "25262728293031323334353637383940414243444546474849"
				    "50515253545556575859606162636465666768697071727374"
				    "75767778798081828384858687888990919293949596979899";

	for (; v >= DIGITS_EIGHT || least >= 8; v /= DIGITS_EIGHT, least -= 8) {
		end -= 8;
		digits_put_eight(end, (uint32_t)(v % DIGITS_EIGHT));
	}
	for (; v >= 10; v /= 100, least -= 2) {
		end -= 2;
		memcpy(end, pairs + v % 100 * 2, 2);
	}
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

void label_rate(char *text, size_t bytes, const struct clock_rate *rate, bool with_bound)
{
	const double off_ppb = rate->ppb < 0 ? -rate->ppb : rate->ppb;
	const char *direction = rate->ppb < 0 ? "slow" : "fast";
	const bool percent = off_ppb >= 1e7;
	/* Rounded up to the last printed digit. */
	const double unit_ppb = percent ? 1e6 : 1e3, bound = (double)(uint64_t)(rate->bound_ppb / unit_ppb) + 1;
	int n = percent ? snprintf(text, bytes, "%.1f %% %s", off_ppb / 1e7, direction) :
			  snprintf(text, bytes, "%.0f ppm %s", off_ppb / 1e3, direction);

	if (with_bound && n >= 0 && (size_t)n < bytes)
		snprintf(text + n, bytes - (size_t)n, percent ? " (+-%.1f)" : " (+-%.0f)",
			 percent ? bound / 10 : bound);
}
