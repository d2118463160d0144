// SPDX-License-Identifier: GPL-2.0-or-later
/* Run buffers, all mapped and resident before the run. */
#include "measure/run_buffers.h"

#include <err.h>
#include <errno.h>
#include <string.h>

/* ---- Histograms -------------------------------------------------------------------------------------------------- */

#define ONE_WAY_WIDTH_NS 10 /* finer buckets are useless: the offset of the clocks is not known better */

#define GAP_WIDTH_NS 10 /* poll gaps are read beside a system call of some hundred nanoseconds */
#define ROWS_MAX (STAGES + ONE_WAYS + PLANNED + 1)

struct stage_row {
	struct histogram *histogram, **pointer;
	int64_t width_ns;
};

/* Histograms besides the latency. */
static int parts_of(struct run_buffers *s, const struct options *o, struct exchange *x,
		    struct stage_row rows[ROWS_MAX])
{
	const bool peer = options_joined(o);
	struct stage stages[STAGES];
	int n = 0;

	stages_of_role(o->role, options_on_wire(o), stages);
	for (int i = 0; i < STAGES && stages[i].from != stages[i].to; i++)
		if ((!stages[i].user || (o->sw_timestamps && (stages[i].peer || options_on_wire(o)))) &&
		    (!stages[i].peer || peer) && (!stages[i].receive_part || options_kernel_times(o)) &&
		    (!stages[i].transmit_part || options_queue_times(o)) &&
		    (!stages[i].by_nic || stages[i].peer || source_of_packets(o->stamp, true) == SOURCE_HARDWARE))
			rows[n++] = (struct stage_row){ &s->stage[i], &x->result.stage[i], 1 };
	for (int i = 0; i < ONE_WAYS && peer; i++)
		rows[n++] = (struct stage_row){ &s->one_way[i], &x->result.one_way[i], ONE_WAY_WIDTH_NS };
	for (int i = 0; i < PLANNED && o->interval_ns; i++)
		rows[n++] = (struct stage_row){ &s->planned[i], &x->result.planned[i], 1 };
	rows[n++] = (struct stage_row){ &s->poll_gaps, &x->result.poll_gaps.within, GAP_WIDTH_NS };
	return n;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static size_t aligned(size_t bytes)
{
	return (bytes + 63) / 64 * 64;
}

static void place(struct run_buffers *s, const struct stage_row *parts, int n)
{
	char *at = s->histogram_memory.start;

	histogram_assign(&s->latency, at);
	at += aligned(histogram_bytes(&s->latency));
	for (int i = 0; i < n; i++) {
		histogram_assign(parts[i].histogram, at);
		*parts[i].pointer = parts[i].histogram;
		at += aligned(histogram_bytes(parts[i].histogram));
	}
}

/* As a decimal number without exponent and trailing zeros; up to 15 digits before the point. */
static const char *plain(char text[24], int64_t value, int64_t unit)
{
	char *end = text + snprintf(text, 24, "%.3f", (double)value / (double)unit);

	while (end[-1] == '0')
		*--end = 0;
	if (end[-1] == '.')
		*--end = 0;
	return text;
}

static int open_histograms(struct run_buffers *s, const struct options *o, struct exchange *x)
{
	struct stage_row parts[ROWS_MAX];
	const int n = parts_of(s, o, x, parts);
	char bucket[24], overflow[24], finest[24];
	size_t all = aligned(histogram_layout(&s->latency, o->overflow_ns, 1, HISTOGRAM_OVERFLOW_STORE));
	int error;

	if (o->bucket_ns % s->latency.width_ns) {
		warnx("--bucket-size %s us: with --overflow %s us the finest bucket is %s us: give a multiple of that",
		      plain(bucket, o->bucket_ns, NS_PER_US), plain(overflow, o->overflow_ns, NS_PER_US),
		      plain(finest, s->latency.width_ns, NS_PER_US));
		return -EINVAL;
	}
	for (int i = 0; i < n; i++)
		all += aligned(histogram_layout(parts[i].histogram, o->overflow_ns, parts[i].width_ns,
						HISTOGRAM_OVERFLOW_STORE));
	error = memory_map(&s->histogram_memory, all, o->hugepages);
	if (error) {
		warnx("no memory for the histogram (%zu bytes): %s: use a smaller --overflow", all, strerror(-error));
		return error;
	}
	place(s, parts, n);
	x->result.histogram = &s->latency;
	return 0;
}

/* ---- The window -------------------------------------------------------------------------------------------------- */

/* With --interval a flight keeps its entry for the timeout, whatever the window; without it the number of
 * flights in that time is unknown. Held flights (join_release()) are as many as those in flight. */
static uint32_t flights_of(const struct options *o)
{
	const uint64_t in_timeout = o->interval_ns ? (uint64_t)options_in_timeout(o) : WINDOW_MAX;
	const uint64_t window = (uint64_t)o->window, ports = o->source_ports > 1 ? (uint64_t)o->source_ports : 0;
	/* Flights that wait for T3 wait for replies on their own port, and may fill half of the ring. */
	const uint64_t beside = WINDOW_BESIDE + ports * 2 * (WINDOW_T3_REACH + 1);
	const uint64_t least = (window == 1 ? window : larger(2 * window, in_timeout)) + beside;
	uint32_t flights = FLIGHTS;

	while (flights < least)
		flights *= 2;
	return flights;
}

static int open_flights(struct run_buffers *s, const struct options *o, struct exchange *x)
{
	const uint32_t flights = flights_of(o), t1s = flights < T1_REMEMBERED ? T1_REMEMBERED : flights;
	int error;

	if (o->window < 2 && o->source_ports < 2)
		return 0;
	error = memory_map(&s->flight_memory, flights * (sizeof(*x->flight) + sizeof(*x->window.replies.key)) + t1s *
			   sizeof(*x->emit.t1), o->hugepages);
	if (error) {
		warnx("no memory for %u probes in flight: %s: use a smaller --window", flights, strerror(-error));
		return error;
	}
	x->flight = s->flight_memory.start;
	x->flight_mask = flights - 1;
	x->emit.t1 = (uint64_t *)(x->flight + flights);
	x->emit.t1_mask = t1s - 1;
	x->window.replies = (struct replies){ .key = (uint32_t *)(x->emit.t1 + t1s), .mask = x->flight_mask };
	x->window.most = x->result.window.most = (uint32_t)o->window;
	return 0;
}

/* ---- Sessions ---------------------------------------------------------------------------------------------------- */

/* Reflectors only: an emitter would lock unused memory. */
static int open_sessions(struct run_buffers *s, const struct options *o, struct exchange *x)
{
	int error;

	if (o->role == ROLE_EMIT)
		return 0;
	error = memory_map(&s->session_memory, sizeof(*x->sessions), false);
	if (error)
		warnx("no memory for the table of senders: %s: raise 'ulimit -v'", strerror(-error));
	x->sessions = s->session_memory.start;
	return error;
}

static int open_ports(struct run_buffers *s, const struct options *o, struct exchange *x)
{
	const unsigned ports = (unsigned)o->source_ports;
	int error;

	if (o->source_ports < 2)
		return 0;
	error = memory_map(&s->port_memory, source_ports_bytes(ports, x->flight_mask + 1), o->hugepages);
	if (error)
		warnx("no memory for %u source ports: %s: use fewer --source-ports", ports, strerror(-error));
	else
		source_ports_assign(x, ports, x->flight_mask + 1, s->port_memory.start);
	return error;
}

/* For --save-trace. The caller sets neighbours.held before the run. */
static int open_neighbours(struct run_buffers *s, const struct options *o, struct exchange *x)
{
	int error;

	if (!o->save_trace_path)
		return 0;
	error = memory_map(&s->neighbour_memory, NEIGHBOURS * sizeof(struct sample), false);
	if (error) {
		warnx("no memory for the packets of --save-trace: %s: raise 'ulimit -v'", strerror(-error));
		return error;
	}
	s->neighbours.slot = s->neighbour_memory.start;
	x->neighbours = &s->neighbours;
	return 0;
}

int run_buffers_open(struct run_buffers *s, const struct options *o, struct exchange *x)
{
	int error = open_histograms(s, o, x);

	if (!error)
		error = open_sessions(s, o, x);
	if (!error)
		error = open_flights(s, o, x);
	if (!error)
		error = open_neighbours(s, o, x);
	return error ? error : open_ports(s, o, x);
}

/* ---- The log ----------------------------------------------------------------------------------------------------- */

/* For --log-last: records of this time, at twice the rate assumed for other logs. */
static uint64_t records_of(int64_t last_ns)
{
	return (uint64_t)((last_ns + NS_PER_S - 1) / NS_PER_S) * 2 * LOG_RATE;
}

/* Size of the ring. With a writer thread it is drained during the run; without a writer it holds all
 * records, or the last. */
static uint64_t choose_log_capacity(const struct options *o, bool emptied, bool *limited)
{
	const size_t bytes = log_record_bytes(o->log_full);
	uint64_t all = log_capacity(o->duration_ns, (uint64_t)o->count, memory_free_bytes(), bytes, limited);
	uint64_t most = emptied ? LOG_RING_BYTES / bytes : options_log_is_circular(o) ? LOG_CIRCULAR_RECORDS :
			UINT64_MAX;

	if (o->log_last_ns)
		most = larger(emptied ? most : 0, records_of(o->log_last_ns));
	if (emptied && !o->count)
		all = larger(all, LOG_RING_BYTES / bytes); /* the rate may be higher */
	*limited = *limited && all < most;
	return larger(all < most ? all : most, 2);
}

int run_buffers_open_log(struct run_buffers *s, const struct options *o, struct exchange *x, bool emptied)
{
	bool limited;
	uint64_t capacity;
	char last[24];
	int error;

	if (!o->log_path)
		return 0;
	capacity = choose_log_capacity(o, emptied, &limited);
	if (limited && o->log_last_ns) {
		warnx("--log-last %s: these seconds take more than a quarter of the free memory: use fewer",
		      plain(last, o->log_last_ns, NS_PER_S));
		return -ENOMEM;
	}
	error = memory_map(&s->log_memory, capacity * log_record_bytes(o->log_full), o->hugepages);
	if (error) {
		warnx("no memory for a log of %llu records: %s: use a shorter --duration or a --count",
		      (unsigned long long)capacity, strerror(-error));
		return error;
	}
	if (limited && o->verbose)
		warnx("the log is limited to a quarter of the free memory: %llu records", (unsigned long long)capacity);
	log_assign(&s->log, s->log_memory.start, capacity, !emptied && (options_log_is_circular(o) || o->log_last_ns),
		   o->log_full);
	x->log = &s->log;
	return 0;
}

/* ---- Both -------------------------------------------------------------------------------------------------------- */

int run_buffers_lock(const struct run_buffers *s, const struct options *o)
{
	int error = memory_lock(o->key_path != NULL);
	bool log_small = o->log_path && s->log_memory.pages == MEMORY_NORMAL;

	if (error)
		warnx("memory is not locked (%s), so page faults may show as latency: run as root, or raise 'ulimit "
		      "-l'",
		      strerror(-error));
	if (o->hugepages && (log_small || s->histogram_memory.pages == MEMORY_NORMAL))
		warnx("--hugepages: too few huge pages are free, normal ones are used: raise vm.nr_hugepages");
	return error;
}

int64_t run_buffers_absent_bytes(const struct run_buffers *s)
{
	const struct memory *const all[] = { &s->histogram_memory, &s->log_memory, &s->flight_memory,
					     &s->session_memory,
					     &s->port_memory, &s->neighbour_memory };
	int64_t absent = 0;

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		const int64_t bytes = memory_absent_bytes(all[i]);

		if (bytes < 0)
			return -1;
		absent += bytes;
	}
	return absent;
}

void run_buffers_finish(struct run_buffers *s, struct exchange *x)
{
	histogram_finish(&s->latency);
	for (int i = 0; i < STAGES; i++)
		if (x->result.stage[i])
			histogram_finish(x->result.stage[i]);
	for (int i = 0; i < ONE_WAYS; i++)
		if (x->result.one_way[i])
			histogram_finish(x->result.one_way[i]);
	for (int i = 0; i < PLANNED; i++)
		if (x->result.planned[i])
			histogram_finish(x->result.planned[i]);
	histogram_finish(&s->poll_gaps);
	ipdv_result(&x->result.ipdv, &x->ipdv);
	x->result.ports_by_network = source_ports_result(x->result.port, x->source_port, x->source_ports);
}

void run_buffers_close(struct run_buffers *s)
{
	memory_unmap(&s->session_memory);
	memory_unmap(&s->port_memory);
	memory_unmap(&s->neighbour_memory);
	memory_unmap(&s->flight_memory);
	memory_unmap(&s->log_memory);
	memory_unmap(&s->histogram_memory);
}
