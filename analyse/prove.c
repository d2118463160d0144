// SPDX-License-Identifier: GPL-2.0-or-later
/* --prove: the runs, their table, and the verdict. */
#include "analyse/prove.h"

#include "analyse/prove_inside.h"
#include "analyse/tree.h"
#include "host/nic/nic_names.h"
#include "options.h"
#include "report/export/json.h"
#include "report/log/log_file.h"

#include <err.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROUNDS 2
#define REST_S 2 /* a reflector that is slower than the highest rate answers what waits in its socket */
#define WORDS_MAX 48
/* Nobody: locally administered and unicast (IEEE 802). */
#define NOBODY "02:00:00:00:00:01"

/* ---- A run ------------------------------------------------------------------------------------------------------- */

struct prove {
	const struct options *options;
	struct prove_results r;
	FILE *out;
	FILE *said; /* stderr of the last run */
	char why[PROVE_WHY_BYTES]; /* last error line of a run without a result */
};

struct words {
	const char *word[WORDS_MAX];
	unsigned count;
};

static void add(struct words *w, const char *word)
{
	if (w->count < WORDS_MAX - 1)
		w->word[w->count++] = word;
}

static void add_pair(struct words *w, const char *name, const char *value)
{
	if (!value)
		return;
	add(w, name);
	add(w, value);
}

static const char *number_of(char text[static 24], int64_t value)
{
	snprintf(text, 24, "%" PRId64, value);
	return text;
}

/* In the child. */
static void execute(const struct words *w, FILE *result, FILE *said, pid_t parent)
{
	/* Its end by this signal restores the NIC. */
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent || dup2(fileno(result), STDOUT_FILENO) < 0 || dup2(fileno(said), STDERR_FILENO) < 0)
		_exit(1);
	execv("/proc/self/exe", (char *const *)w->word);
	_exit(1);
}

/* The last line of the run's stderr, without the name of the program. */
static void keep_reason(struct prove *p)
{
	char line[sizeof(p->why)];

	snprintf(p->why, sizeof(p->why), "the run failed");
	rewind(p->said);
	while (fgets(line, sizeof(line), p->said)) {
		line[strcspn(line, "\n")] = '\0';
		if (!strncmp(line, "rant: ", 6))
			snprintf(p->why, sizeof(p->why), "%s", line + 6);
	}
}

/* NULL: p->why has the reason. */
static struct tree *run_words(struct prove *p, const struct words *w)
{
	const pid_t parent = getpid();
	FILE *result = tmpfile();
	struct tree *t = NULL;
	pid_t child = -1;

	rewind(p->said);
	if (result && !ftruncate(fileno(p->said), 0)) {
		fflush(NULL);
		child = fork();
	}
	if (!child)
		execute(w, result, p->said, parent);
	if (child < 0)
		snprintf(p->why, sizeof(p->why), "cannot start a run: %s", strerror(errno));
	else if (waitpid(child, NULL, 0) == child && !fseek(result, 0, SEEK_END) && ftell(result) > 0)
		t = tree_read(result, "a run of --prove");
	if (child > 0 && !t)
		keep_reason(p);
	if (result)
		fclose(result);
	return t;
}

/* A run with these options of its own, a list that ends with NULL, and those that the user gave. */
static struct tree *run(struct prove *p, const char *server, int64_t transport, const char *const own[])
{
	struct options of_run = *p->options;
	const struct options *o = &of_run;
	char port[24], cpu[24], fifo[24];
	struct words w = { .count = 0 };

	of_run.transport = transport;
	add(&w, "rant");
	add_pair(&w, "--interface", o->interface);
	add_pair(&w, "--address", server);
	add_pair(&w, "--transport", options_text(o, "transport"));
	if (transport == TRANSPORT_UDP)
		add_pair(&w, "--port", number_of(port, o->port));
	add_pair(&w, "--key", o->key_path);
	add_pair(&w, "--cpu", o->cpu >= 0 ? number_of(cpu, o->cpu) : NULL);
	add_pair(&w, "--fifo", o->fifo ? number_of(fifo, o->fifo) : NULL);
	add_pair(&w, "--rx-filter", o->rx_filter);
	add_pair(&w, "--provider", options_text(o, "provider"));
	if (o->no_step_check)
		add(&w, "--no-step-check");
	for (; *own; own++)
		add(&w, *own);
	add_pair(&w, "--json", "-");
	add(&w, "--quiet");
	return run_words(p, &w);
}

static int64_t integer_at(const struct tree *t, const char *path)
{
	int64_t value;

	return tree_integer(tree_at(t, path), &value) ? value : 0;
}

/* ---- Sizes ------------------------------------------------------------------------------------------------------- */

/* The smallest has room for its TLVs, and the largest fits an Ethernet frame with the longest headers (PTP in UDP over
 * IPv6). Even, for PTP. */
static const int sizes_bytes[PROVE_SIZES] = { 112, 272, 432, 592, 752, 912, 1072, 1232, 1400 };

#define HEADERS_MOST 100

static bool median_of(const struct tree *t, const char *path, int64_t *ns)
{
	return tree_integer(tree_at(tree_item(tree_member(tree_at(t, path), "percentiles"), 0), "value_ns"), ns);
}

static void take_size(struct prove_sizes *s, const struct tree *t, int bytes)
{
	static const char *const paths[TIMES_OF_SIZE] = { "statistics.rtt_ns", "statistics.response_ns", "statistics.network_ns" };
	const char *remote = tree_text(tree_at(t, "accounts.reflector_stamps.stamp"));

	s->remote_by_nic &= remote && !strcmp(remote, "hardware");
	s->replies += integer_at(t, "accounts.packets.answered");
	for (int i = 0; i < TIMES_OF_SIZE; i++) {
		int64_t ns;

		if (median_of(t, paths[i], &ns))
			s->point[i][s->points[i]++] = (struct prove_point){ .bytes = bytes, .ns = ns };
	}
}

/* The median of a size over the rounds. */
static struct optional mean_of(const struct prove_sizes *s, int time, int bytes)
{
	int64_t sum_ns = 0, n = 0;

	for (unsigned i = 0; i < s->points[time]; i++)
		if (s->point[time][i].bytes == bytes) {
			sum_ns += s->point[time][i].ns;
			n++;
		}
	return n ? optional_of(sum_ns / n) : (struct optional){ .known = false };
}

/* In turn, twice, so that a change of the level is not a slope. */
static void measure_sizes(struct prove *p)
{
	struct prove_sizes *s = &p->r.sizes;

	s->remote_by_nic = true;
	memcpy(s->bytes, sizes_bytes, sizeof(s->bytes));
	for (unsigned i = 0; i < ROUNDS * PROVE_SIZES; i++) {
		const int bytes = sizes_bytes[i % PROVE_SIZES];
		char size[24];
		const char *own[] = { "--size", number_of(size, bytes), "--count", "200", "--warmup", "10", "--duration", "2s",
				      "--give-up", "2s", NULL };
		struct tree *t;

		if (p->r.mtu_bytes && bytes + HEADERS_MOST > p->r.mtu_bytes)
			continue;
		t = run(p, p->r.server, p->options->transport, own);
		if (!t && !i)
			return;
		if (!i) {
			p->r.speed_mbps = integer_at(t, "nic.speed_mbps");
			p->r.mtu_bytes = integer_at(t, "nic.mtu_bytes");
		}
		if (t)
			take_size(s, t, bytes);
		tree_free(t);
		if (!s->points[TIME_RTT])
			return;
	}
	for (int i = 0; i < TIMES_OF_SIZE; i++) {
		s->slope[i] = prove_fit(s->point[i], s->points[i]);
		for (int k = 0; k < PROVE_SIZES; k++)
			s->median_ns[k][i] = mean_of(s, i, sizes_bytes[k]);
	}
}

static void write_sizes(const struct prove *p)
{
	const struct prove_sizes *s = &p->r.sizes;

	fprintf(p->out, "%-14s %12s %12s %12s\n", "Octets", "Round trip", "Response", "Network");
	for (unsigned i = 0; i < PROVE_SIZES; i++) {
		fprintf(p->out, "%-14d", s->bytes[i]);
		for (int k = 0; k < TIMES_OF_SIZE; k++)
			if (s->median_ns[i][k].known)
				fprintf(p->out, " %12" PRId64, s->median_ns[i][k].value);
			else
				fprintf(p->out, " %12s", "-");
		fprintf(p->out, "  ns\n");
	}
	fprintf(p->out, "%-14s", "Slope");
	for (int k = 0; k < TIMES_OF_SIZE; k++)
		if (s->slope[k].known)
			fprintf(p->out, " %12.2f", s->slope[k].ns_per_octet);
		else
			fprintf(p->out, " %12s", "-");
	fprintf(p->out, "  ns/octet");
	if (p->r.speed_mbps > 0)
		fprintf(p->out, "; %.2f on a link of %" PRId64 " Mbit/s", 8000.0 / (double)p->r.speed_mbps, p->r.speed_mbps);
	fputs("\n\n", p->out);
}

/* ---- Rate -------------------------------------------------------------------------------------------------------- */

static const char *const intervals[] = { "1ms", "200us", "100us", "50us", "20us", "10us" };

static int64_t missing_of(const struct tree *t)
{
	return integer_at(t, "accounts.packets.unstamped") + integer_at(t, "accounts.missing_stamps.came_late") +
	       integer_at(t, "accounts.missing_stamps.unmatched");
}

/* interval: the first that failed; NULL: all were complete. */
static void write_rate(const struct prove *p, const char *interval)
{
	const struct prove_rate *r = &p->r.rate;

	if (r->end == RATE_FAILED)
		fprintf(p->out, "Rate          not known above %" PRId64 " packets/s: %s\n", r->complete_per_s, p->why);
	else
		fprintf(p->out, "Rate          every timestamp came up to %" PRId64 " packets/s", r->complete_per_s);
	if (r->end == RATE_MISSING)
		fprintf(p->out, "; at %" PRId64 " packets/s %" PRId64 " were missing\n", r->next_per_s, r->missing);
	else if (r->end == RATE_LOST)
		fprintf(p->out, "; at intervals of %s replies were lost or late\n", interval);
	else if (r->end == RATE_HIGHEST)
		fputs(", the highest that was reached\n", p->out);
}

/* Up to the first rate at which a timestamp is missing. */
static void measure_rate(struct prove *p)
{
	struct prove_rate *r = &p->r.rate;

	for (size_t i = 0; i < sizeof(intervals) / sizeof(intervals[0]); i++) {
		const char *own[] = { "--interval", intervals[i], "--duration", "0.8s", "--give-up", "2s", NULL };
		struct tree *t = run(p, p->r.server, p->options->transport, own);
		const int64_t rate = integer_at(t, "accounts.rate_per_s");
		const bool loses = 100 * integer_at(t, "accounts.packets.lost") > integer_at(t, "accounts.packets.sent");

		r->missing = missing_of(t);
		r->next_per_s = rate;
		/* Without its reply a probe does not tell whether its timestamps came. */
		r->end = !t ? RATE_FAILED : r->missing ? RATE_MISSING : loses ? RATE_LOST : RATE_HIGHEST;
		tree_free(t);
		if (r->end != RATE_HIGHEST) {
			write_rate(p, intervals[i]);
			return;
		}
		if (rate > r->complete_per_s)
			r->complete_per_s = rate;
	}
	write_rate(p, NULL);
}

/* ---- Abilities --------------------------------------------------------------------------------------------------- */

static const struct ability {
	const char *name;
	enum transport_kind transport;
	bool to_nobody; /* by a MAC address that no host has */
} abilities[PROVE_KINDS] = {
	{ "STAMP in UDP", TRANSPORT_UDP, false },
	{ "PTP in UDP", TRANSPORT_PTP, false },
	{ "PTP in L2", TRANSPORT_L2, true },
	{ "ICMP echo", TRANSPORT_ICMP, false },
};

/* A run of 20 packets; filter NULL: that of the packets. */
static void count_packets(struct prove *p, struct prove_packets *c, const char *server, int64_t transport, const char *filter)
{
	/* For a filter the reflector answers. */
	const char *own[] = { "--count", "20", "--timeout", filter ? "50ms" : "20ms", "--interval", filter ? "5ms" : "21ms",
			      filter ? "--rx-filter" : NULL, filter, NULL };
	struct tree *t = run(p, server, transport, own);
	const char *granted = tree_text(tree_at(t, "nic.stamp_setting.receive_filter"));

	c->tried = true;
	snprintf(c->why, sizeof(c->why), "%s", t ? "" : p->why);
	snprintf(c->granted, sizeof(c->granted), "%s", granted ? granted : "");
	c->sent = integer_at(t, "accounts.packets.sent");
	c->transmit_stamps = integer_at(t, "clocks.nic_clock.stamps.transmit.count");
	c->replies = integer_at(t, "accounts.packets.answered");
	c->receive_stamps = integer_at(t, "clocks.nic_clock.stamps.receive.count");
	tree_free(t);
}

static void write_packets(const struct prove *p, const struct prove_packets *c)
{
	fprintf(p->out, "%-14s", c->name);
	if (*c->why)
		fprintf(p->out, " %s: %s\n", c->tried ? "no" : "not tried", c->why);
	else
		fprintf(p->out, " %6" PRId64 " %10" PRId64 " %8" PRId64 " %10" PRId64 "\n", c->sent, c->transmit_stamps, c->replies,
			c->receive_stamps);
}

static void measure_abilities(struct prove *p)
{
	fprintf(p->out, "%-14s %6s %10s %8s %10s\n", "Packets", "sent", "timestamps", "replies", "timestamps");
	for (int i = 0; i < PROVE_KINDS; i++) {
		const struct ability *a = &abilities[i];
		const char *server = a->transport == p->options->transport || !a->to_nobody ? p->r.server : NOBODY;
		struct prove_packets *c = &p->r.kind[i];

		c->name = a->name;
		/* A MAC address has no packets of IP, and no peer can be sent none. */
		if (!server || (p->options->transport == TRANSPORT_L2 && a->transport != TRANSPORT_L2))
			snprintf(c->why, sizeof(c->why), "needs -a with an IP address");
		else
			count_packets(p, c, server, a->transport, NULL);
		write_packets(p, c);
	}
}

/* ---- Filters ----------------------------------------------------------------------------------------------------- */

/* The driver itself did not grant it. */
static bool is_refused(const struct prove_packets *c)
{
	return strstr(c->why, "refuses filter");
}

/* The filters without counts, in one line for each reason. */
static void write_others(const struct prove *p, bool refused)
{
	const struct prove_packets *first = NULL;

	for (unsigned i = 0; i < p->r.filters; i++) {
		const struct prove_packets *c = &p->r.filter[i];

		if (!*c->why || is_refused(c) != refused)
			continue;
		fprintf(p->out, first ? " %s" : refused ? "Refused: %s" : "Not tried: %s", c->name);
		first = first ? first : c;
	}
	if (first && !refused)
		fprintf(p->out, ": %s", first->why);
	if (first)
		fputc('\n', p->out);
}

/* Each filter that Linux has: a driver may grant one that it does not list. Not tried if no run of the packets began, or
 * if all runs are to have one filter. */
static void measure_filters(struct prove *p)
{
	bool begun = false;

	for (int i = 0; i < PROVE_KINDS; i++)
		begun |= !*p->r.kind[i].why;
	if (!p->r.server || !begun || p->options->rx_filter)
		return;
	fprintf(p->out, "\n%-20s %-20s %8s %10s\n", "Filter", "granted", "replies", "timestamps");
	for (int i = 1; i < PROVE_FILTERS_MAX && strcmp(nic_filter_name(i), "unknown"); i++) {
		struct prove_packets *c = &p->r.filter[p->r.filters++];

		c->name = nic_filter_name(i);
		count_packets(p, c, p->r.server, p->options->transport, c->name);
		if (!*c->why)
			fprintf(p->out, "%-20s %-20s %8" PRId64 " %10" PRId64 "\n", c->name, c->granted, c->replies,
				c->receive_stamps);
	}
	write_others(p, true);
	write_others(p, false);
}

/* ---- The whole --------------------------------------------------------------------------------------------------- */

static enum prove_verdict judge(const struct prove *p, char *text, size_t bytes)
{
	const struct prove_sizes *s = &p->r.sizes;

	if (!p->r.server)
		snprintf(text, bytes, "not known: a slope needs a reflector: give -a PEER");
	else if (!s->points[TIME_RTT])
		snprintf(text, bytes, "not known: %s", *p->why ? p->why : s->replies ? "no exchange has all timestamps" :
			 "the reflector did not answer");
	else if (!s->remote_by_nic)
		snprintf(text, bytes, "not known: the reflector does not report timestamps of its NIC");
	else
		return prove_judge(&s->slope[TIME_NETWORK], &s->slope[TIME_RESPONSE], p->r.speed_mbps, text, bytes);
	return PROVE_UNKNOWN;
}

static void prove(struct prove *p)
{
	struct prove_results *r = &p->r;

	fprintf(p->out, "Timestamps of %s%s%s\n\n", r->interface, r->server ? ", reflector " : ", no reflector",
		r->server ? r->server : "");
	if (r->server)
		measure_sizes(p);
	r->verdict = judge(p, r->text, sizeof(r->text));
	if (r->sizes.points[TIME_RTT]) {
		write_sizes(p);
		measure_rate(p);
		fputc('\n', p->out);
		sleep(REST_S);
	}
	measure_abilities(p);
	measure_filters(p);
	fprintf(p->out, "\n%s\n", r->text);
}

/* 0 or -errno after one line. */
static int write_json(struct log_file *file, const struct prove_results *r)
{
	static struct json j;

	json_begin(&j, log_file_put, file, false);
	prove_write_json(&j, r);
	json_finish(&j);
	return log_file_finish(file);
}

static FILE *open_out(const struct options *o)
{
	if (o->quiet)
		return fopen("/dev/null", "w");
	return o->json_path && log_file_is_stdout(o->json_path) ? stderr : stdout;
}

int prove_main(const struct options *o, const char *server)
{
	static const int statuses[] = { [PROVE_UNKNOWN] = 1, [PROVE_WIRE] = 0, [PROVE_NOT_WIRE] = 3 };
	static struct prove p;
	struct log_file json = { .fd = -1 };

	if (!tree_library()) {
		warnx("--prove needs libjansson, which this program was built without: install it and build again");
		return 1;
	}
	p = (struct prove){ .options = o, .out = open_out(o), .said = tmpfile(),
			    .r = { .interface = o->interface, .server = server, .transport = options_text(o, "transport") } };
	if (!p.out || !p.said) {
		warn("--prove: %s", p.out ? "a temporary file" : "/dev/null");
		return 1;
	}
	if (o->json_path && log_file_open_of(&json, "json", o->json_path))
		return 1;
	prove(&p);
	fclose(p.said);
	if (fflush(p.out)) {
		warn("--prove: the table cannot be written");
		log_file_discard(&json);
		return 1;
	}
	return o->json_path && write_json(&json, &p.r) ? 1 : statuses[p.r.verdict];
}
