// SPDX-License-Identifier: GPL-2.0-or-later
/* rant: parse, open, run, report, close. */
#include "rant.h"

#include "doctor/check.h"
#include "histogram.h"
#include "host/action.h"
#include "host/activity.h"
#include "host/clock.h"
#include "host/clock_peer.h"
#include "host/memory.h"
#include "host/nic.h"
#include "host/nic_address.h"
#include "host/nic_stamp.h"
#include "host/pmc.h"
#include "host/pmu.h"
#include "host/trace_running.h"
#include "host/trace_save.h"
#include "host/watch.h"
#include "measure/exchange.h"
#include "measure/stages.h"
#include "measure/log.h"
#include "options.h"
#include "report/configuration.h"
#include "report/environment.h"
#include "report/log_file.h"
#include "report/report.h"
#include "report/verdict.h"
#include "tracefs.h"
#include "wire/hmac.h"
#include "wire/packet.h"
#include "wire/sequence.h"
#include "wire/session.h"
#include "wire/socket.h"

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/timex.h>
#include <unistd.h>

enum status { STATUS_DONE, STATUS_FAILED, STATUS_BREACH, STATUS_UNTRUSTED };

static struct run {
	struct options options;
	struct nic nic;
	struct memory histogram_memory, log_memory;
	struct histogram histogram, stage[STAGES], one_way[ONE_WAYS];
	struct log log;
	struct log_file log_file;
	struct sessions sessions;
	struct channel channel;
	struct exchange exchange;
	struct packet_plan plan;
	struct hmac *key;
	struct clock_watch clocks;
	struct clock_peer peer;
	struct pmc pmc;
	struct activity activity;
	struct activity_reading activity_start, activity_breach, activity_last, activity_now, activity_end;
	struct activity_reading activity_before_worst, activity_worst;
	int64_t activity_read_ns, worst_seen_ns;
	struct trace trace;
	struct trace_saved trace_saved;
	struct actions actions;
	struct watch watch;
	struct verdict_facts facts;
	struct verdict verdict;
	char tracing[256]; /* where the kernel traces */
	struct report report;
	int latency_fd; /* of /dev/cpu_dma_latency */
} run = { .latency_fd = -1, .clocks = { .phc_fd = -1, .dial_fd = -1 }, .nic.control_fd = -1, .log_file.fd = -1, .channel = { .fd = -1, .stray_fd = -1 } };

static volatile sig_atomic_t stop;

/* The first signal ends the run, which still reports. The second ends the program at once, and leaves nothing behind. */
static void on_signal(int signal_number)
{
	if (stop) {
		nic_restore(&run.nic);
		log_file_abandon(&run.log_file);
		trace_close(&run.trace);
		signal(signal_number, SIG_DFL);
		raise(signal_number);
	}
	stop = 1;
}

static void catch_signals(void)
{
	struct sigaction action = { .sa_handler = on_signal }, before;

	/* A shell script starts its background jobs with SIGINT ignored, and then sends it to end them. */
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	/* Under nohup it stays ignored. */
	if (!sigaction(SIGHUP, NULL, &before) && before.sa_handler != SIG_IGN)
		sigaction(SIGHUP, &action, NULL);
	/* A reader of the report that goes away must not cost the log and the exit status. */
	signal(SIGPIPE, SIG_IGN);
}

static const char *server_text(char text[static INET_ADDRSTRLEN])
{
	const uint8_t *a = (const uint8_t *)&run.options.server.in.sin_addr;

	snprintf(text, INET_ADDRSTRLEN, "%u.%u.%u.%u", a[0], a[1], a[2], a[3]);
	return text;
}

/* Nothing is being measured when this is called: nothing has ever answered. */
static void tell_silence(void *context)
{
	const struct run *r = context;
	char server[INET_ADDRSTRLEN];
	uint64_t refused = counter_get(&r->exchange.account.refused);

	server_text(server);
	if (refused)
		warnx("no answer from %s port %d after 3 s; the kernel refused %llu times: no reflector runs there "
		      "(ICMP port unreachable), or sending is not possible; still trying", server,
		      (int)r->options.port, (unsigned long long)refused);
	else
		warnx("no answer from %s port %d after 3 s: no reflector running, a wrong address or port, a firewall, "
		      "no ARP entry (see 'ip neigh')%s; still trying", server, (int)r->options.port,
		      r->options.key_path ? ", or another --key there" : ", or a --key there");
}

/* The two that the loop calls. */
static void mark_start(void *context)
{
	struct run *r = context;

	trace_mark_start(&r->trace, r->options.role);
}

static void freeze(void *context, const struct sample *s)
{
	struct run *r = context;

	trace_breach(&r->trace, r->options.role, s, r->options.threshold_ns, true);
}

/* In a burst of breaches the machine is asked no more often than this, but for a new worst one. */
#define ACTIVITY_PAUSE_NS (10 * NS_PER_MS)

/* What the machine did until the first breach, and from the one before the worst to the worst. */
static void read_activity(struct run *r, const struct sample *s)
{
	const bool first = !r->report.activity_breach;
	int64_t now_ns = clock_read_ns(CLOCK_MONOTONIC), value_ns;

	exchange_figure(&r->exchange, s, &value_ns);

	const bool worst = value_ns > r->worst_seen_ns;

	if (!worst && now_ns - r->activity_read_ns < ACTIVITY_PAUSE_NS)
		return;
	/* While it is measured on, nothing may interrupt the measuring CPU. */
	activity_read(&r->activity, &r->activity_now, r->options.keep_going);
	r->activity_now.mark = counter_get(&r->exchange.account.sent);
	if (first) {
		r->activity_breach = r->activity_now;
		r->report.activity_breach = &r->activity_breach;
	} else if (worst) {
		r->activity_before_worst = r->activity_last;
		r->activity_worst = r->activity_now;
		r->report.activity_before_worst = &r->activity_before_worst;
		r->report.activity_worst = &r->activity_worst;
	}
	r->activity_last = r->activity_now;
	r->activity_read_ns = now_ns;
	if (worst)
		r->worst_seen_ns = value_ns;
}

/* The housekeeping thread calls this, or the measuring one after the run. */
static void act_on_breach(void *context, const struct sample *s, uint64_t number)
{
	struct run *r = context;
	char text[REPORT_ENVIRONMENT_BYTES], *environment[REPORT_ENVIRONMENT_MAX];

	read_activity(r, s);
	if (!r->options.on_breach.commands)
		return;
	report_environment(&r->report, s, number, text, environment);
	actions_run(&r->actions, environment);
}

/* A part's histogram is finer where the part is, and keeps fewer of the samples above --overflow one by one. */
#define ONE_WAY_WIDTH_NS 10 /* the offset of the clocks is not known better */

struct part_row {
	struct histogram *histogram, **pointer;
	int64_t width_ns;
};

/* What is collected beside the latency itself. */
static int parts_of(struct run *r, struct part_row rows[STAGES + ONE_WAYS])
{
	const struct options *o = &r->options;
	const bool peer = options_joined(o);
	struct stage stages[STAGES];
	int n = 0;

	stages_of_role(o->role, options_on_wire(o), stages);
	for (int i = 0; i < STAGES && stages[i].from != stages[i].to; i++)
		if ((!stages[i].user || (o->sw_timestamps && (stages[i].peer || options_on_wire(o)))) && (!stages[i].peer || peer))
			rows[n++] = (struct part_row){ &r->stage[i], &r->exchange.stage[i], 1 };
	for (int i = 0; i < ONE_WAYS && peer; i++)
		rows[n++] = (struct part_row){ &r->one_way[i], &r->exchange.one_way[i], ONE_WAY_WIDTH_NS };
	return n;
}

static size_t aligned(size_t bytes)
{
	return (bytes + 63) / 64 * 64;
}

static int place_histogram(struct run *r)
{
	const struct options *o = &r->options;
	struct part_row parts[STAGES + ONE_WAYS];
	const int n = parts_of(r, parts);
	size_t bytes = aligned(histogram_layout(&r->histogram, o->overflow_ns, 1, HISTOGRAM_OVERFLOW_STORE)), all = bytes;
	int error;

	if (o->bucket_ns % r->histogram.width_ns) {
		warnx("--bucket-size %g us: with --overflow %g us the finest bucket is %g us: give a multiple of that",
		      (double)o->bucket_ns / NS_PER_US, (double)o->overflow_ns / NS_PER_US,
		      (double)r->histogram.width_ns / NS_PER_US);
		return -EINVAL;
	}
	for (int i = 0; i < n; i++)
		all += aligned(histogram_layout(parts[i].histogram, o->overflow_ns, parts[i].width_ns,
						HISTOGRAM_PART_STORE));
	error = memory_map(&r->histogram_memory, all, o->hugepages);
	if (error) {
		warnx("no memory for the histogram (%zu bytes): %s: use a smaller --overflow", all, strerror(-error));
		return error;
	}
	char *at = r->histogram_memory.start;

	histogram_place(&r->histogram, at);
	at += bytes;
	for (int i = 0; i < n; i++) {
		histogram_place(parts[i].histogram, at);
		*parts[i].pointer = parts[i].histogram;
		at += aligned(histogram_bytes(parts[i].histogram));
	}
	return 0;
}

/* A buffer that holds the last 500,000 where the run is to stop at a snapshot. */
static uint64_t choose_log_capacity(const struct options *o, bool *limited)
{
	uint64_t capacity = log_capacity(o->duration_ns, (uint64_t)o->count, memory_free_bytes(),
					 log_record_bytes(o->log_full), limited);

	if (!o->snapshot || capacity < LOG_CIRCULAR_RECORDS)
		return capacity;
	*limited = false;
	return LOG_CIRCULAR_RECORDS;
}

static int place_log(struct run *r)
{
	const struct options *o = &r->options;
	bool limited;
	uint64_t capacity = choose_log_capacity(o, &limited);
	int error;

	if (!o->log_path)
		return 0;
	error = log_file_open(&r->log_file, o->log_path);
	if (error)
		return error;
	error = memory_map(&r->log_memory, capacity * log_record_bytes(o->log_full), o->hugepages);
	if (error) {
		warnx("no memory for a log of %llu records: %s: use a shorter --duration or a --count",
		      (unsigned long long)capacity, strerror(-error));
		return error;
	}
	if (limited && o->verbose)
		warnx("the log is limited to a quarter of the free memory: %llu records", (unsigned long long)capacity);
	log_place(&r->log, r->log_memory.start, capacity, o->snapshot, o->log_full);
	return 0;
}

static void lock_memory(struct run *r)
{
	int error = r->facts.lock_error = memory_lock();
	bool log_small = r->options.log_path && r->log_memory.pages == MEMORY_NORMAL;

	if (error)
		warnx("memory is not locked (%s), so page faults may show as latency: run as root, or raise 'ulimit -l'",
		      strerror(-error));
	if (r->options.hugepages && (log_small || r->histogram_memory.pages == MEMORY_NORMAL))
		warnx("--hugepages: too few huge pages are free, normal ones are used: raise vm.nr_hugepages");
}

/* The relation of the NIC's clock to the system's: for the report, and to put the times of user space on its scale. */
static void open_clocks(struct run *r)
{
	const struct options *o = &r->options;

	r->report.clocks = &r->clocks;
	if (!options_by_nic(o)) {
		clock_open(&r->clocks, -1);
		clock_measure(&r->clocks, 0);
		return;
	}
	if (!clock_open(&r->clocks, r->nic.can.phc_index))
		r->exchange.clocks = &r->clocks;
	clock_measure(&r->clocks, 0);
}

/* RFC 8972 table 7: what is known of who keeps the clock of our stamps. The NIC's may be kept by PTP, but who turns its
 * dial cannot be seen. */
#define SYNC_SOURCE_NTP 1
#define SYNC_SOURCE_LOCAL 5

static uint8_t sync_source(const struct options *o)
{
	struct timex t = { .modes = 0 };

	return o->stamp != SOURCE_HARDWARE && adjtimex(&t) >= 0 && !(t.status & STA_UNSYNC) ? SYNC_SOURCE_NTP :
											      SYNC_SOURCE_LOCAL;
}

/* Without a relation of the clocks during the run there are no stages to or from the NIC, and the times of user space stay
 * on CLOCK_REALTIME. */
static void check_stages(struct run *r, int watch_error)
{
	struct exchange *x = &r->exchange;
	const char *why = r->clocks.why;
	struct stage stages[STAGES];

	/* Those of the kernel are of CLOCK_REALTIME too. */
	if (r->options.stamp != SOURCE_HARDWARE || (x->clocks && !watch_error))
		return;
	if (x->clocks)
		why = watch_error == -ENODEV ? "no CPU but the measuring one may be used to compare the clocks during the run" :
					       "the thread that compares the clocks during the run could not be started";
	x->clocks = NULL;
	if (exchange_has_stages(x))
		r->report.stages_why = why;
	stages_of_role(r->options.role, options_on_wire(&r->options), stages);
	for (int i = 0; i < STAGES; i++)
		if (stages[i].bound == BOUND_HERE)
			x->stage[i] = NULL;
}

/* The CPU that the caller is pinned to; -1: none. */
static int only_cpu(void)
{
	cpu_set_t mine;
	int cpu = 0;

	if (sched_getaffinity(0, sizeof(mine), &mine) || CPU_COUNT(&mine) != 1)
		return -1;
	while (!CPU_ISSET((size_t)cpu, &mine))
		cpu++;
	return cpu;
}

static int open_counters(struct run *r)
{
	int error = 0;

	if (r->options.pmc) {
		error = pmc_open(&r->pmc, false);
		if (error)
			return error;
		r->exchange.pmc = &r->pmc;
		r->report.pmc = &r->pmc;
	}
	error = activity_open(&r->activity, &r->nic, gettid(), only_cpu());
	if (!error)
		r->report.activity = &r->activity;
	return error;
}

static int open_trace(struct run *r)
{
	const struct options *o = &r->options;
	int error = o->save_trace_path ? trace_check_folder(o->save_trace_path) : 0;

	if (error || !o->trace_marker)
		return error;
	error = trace_open(&r->trace, TRACE_INSTANCE, o->snapshot, LOG_RATE);
	if (error)
		return error;
	r->exchange.on_start = mark_start;
	r->exchange.on_breach = freeze;
	r->report.trace = &r->trace;
	return 0;
}

/* What has to be done during the run but not by the measuring thread. */
static int start_watch(struct run *r)
{
	const struct options *o = &r->options;
	struct watch *w = &r->watch;
	int error;

	w->exchange = &r->exchange;
	w->context = r;
	w->progress = isatty(STDERR_FILENO) && !o->quiet;
	if (r->report.activity && o->threshold_ns)
		w->on_breach = act_on_breach;
	w->clocks = r->report.clocks;
	if (o->trace_rearm) {
		w->trace = &r->trace;
		w->save_path = o->save_trace_path;
		w->rearm_interval_ns = o->trace_interval_ns;
	}
	error = watch_start(w);
	if (error && o->trace_rearm) {
		warnx("--trace-rearm: the trace is saved by a thread on another CPU than the measuring one, and there is none "
		      "(%s): leave it out, or give rant another CPU", strerror(-error));
		return error;
	}
	r->report.no_other_cpu = error == -ENODEV;
	if (error && error != -ENODEV)
		warnx("the housekeeping thread could not be started (%s), so nothing is done beside the measurement (progress, "
		      "commands, comparing the clocks): raise 'ulimit -u' and 'ulimit -n'", strerror(-error));
	check_stages(r, error);
	return 0;
}

/* Keeps idle CPUs, those that take the interrupts too, from states that take long to leave: for as long as it is open.
 * Source: Documentation/power/pm_qos_interface.rst. */
static void hold_cpus_awake(struct run *r)
{
	const int32_t latency_us = 0;

	if (r->options.no_cpu_dma_latency)
		return;
	r->latency_fd = open("/dev/cpu_dma_latency", O_WRONLY | O_CLOEXEC);
	if (r->latency_fd >= 0 && write(r->latency_fd, &latency_us, sizeof(latency_us)) == sizeof(latency_us))
		return;
	if (r->options.verbose)
		warnx("idle CPUs may sleep deeply and wake up late: /dev/cpu_dma_latency: %s: run as root",
		      strerror(errno));
	if (r->latency_fd >= 0)
		close(r->latency_fd);
	r->latency_fd = -1;
}

/* What all probes have in common. */
static int plan_probes(struct run *r)
{
	const struct options *o = &r->options;
	struct packet_plan *plan = &r->plan, bare; /* bare: without padding */
	int error = o->key_path ? hmac_open(&r->key, o->key_path) : 0;
	size_t bytes;

	if (error)
		return error;
	/* Stamps that are no NIC's may be the kernel's or the program's: only our own TLV tells. */
	*plan = (struct packet_plan){ .key = r->key, .stages = options_joined(o),
				      .software = options_joined(o) && (o->sw_timestamps || o->stamp != SOURCE_HARDWARE),
				      .t2_user = o->sw_timestamps,
				      .class_of_service = o->dscp >= 0, .dscp = (uint8_t)(o->dscp > 0 ? o->dscp : 0),
				      .bytes = (size_t)o->size_bytes };
	/* 0 means that there is no SSID (RFC 8972 section 3). */
	while (!plan->ssid && getrandom(&plan->ssid, sizeof(plan->ssid), 0) == sizeof(plan->ssid))
		;
	bytes = packet_plan_bytes(plan);
	if (o->role == ROLE_REFLECT || !o->size_bytes || bytes == plan->bytes)
		return 0;
	bare = *plan;
	bare.bytes = 0;
	warnx("--size %zu: the probe takes %zu octets and padding 4 or more: give %zu, or a larger number", plan->bytes,
	      packet_plan_bytes(&bare), bytes);
	return -EINVAL;
}

static void fill_exchange(struct run *r)
{
	struct exchange *x = &r->exchange;

	x->channel = &r->channel;
	x->histogram = &r->histogram;
	x->log = r->options.log_path ? &r->log : NULL;
	x->sessions = &r->sessions;
	x->options = &r->options;
	x->stop = &stop;
	x->loopback = r->nic.flags & IFF_LOOPBACK;
	x->on_silence = tell_silence;
	x->context = r;
	x->plan = &r->plan;
	x->key = r->key;
	if (r->options.role == ROLE_EMIT)
		x->peer = &r->peer;
	sessions_init(&r->sessions);
	r->report = (struct report){ .options = &r->options, .exchange = x, .channel = &r->channel,
				     .histogram = &r->histogram, .log = x->log, .actions = &r->actions, .peer = x->peer };
	r->actions.wanted = &r->options.on_breach;
}

static int open_all(struct run *r)
{
	const struct options *o = &r->options;
	int error = plan_probes(r);

	if (!error)
		error = place_histogram(r);
	if (!error)
		error = nic_open(&r->nic, o->interface);
	if (!error)
		error = nic_check_address(&r->nic, o->role == ROLE_EMIT ? &o->server : NULL);
	if (!error && options_by_nic(o))
		error = nic_stamp(&r->nic);
	if (!error)
		error = socket_open(&r->channel, o);
	if (!error)
		error = place_log(r);
	if (error)
		return error;
	fill_exchange(r);
	open_clocks(r);
	r->exchange.sync_source = sync_source(o);
	error = open_counters(r);
	if (!error)
		error = open_trace(r);
	if (!error)
		error = start_watch(r);
	hold_cpus_awake(r);
	lock_memory(r);
	return error;
}

/* In reverse order of opening; each part knows whether it was opened. */
static void close_all(struct run *r)
{
	watch_stop(&r->watch);
	trace_close(&r->trace);
	pmc_close(&r->pmc);
	activity_close(&r->activity);
	clock_close(&r->clocks);
	if (r->latency_fd >= 0)
		close(r->latency_fd);
	log_file_abandon(&r->log_file);
	socket_close(&r->channel);
	nic_restore(&r->nic);
	nic_close(&r->nic);
	hmac_close(r->key);
	memory_unmap(&r->log_memory);
	memory_unmap(&r->histogram_memory);
}

static int terminal_columns(void)
{
	struct winsize size;

	if (!isatty(STDOUT_FILENO) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size))
		return 0;
	return size.ws_col ? size.ws_col : 80;
}

static int write_report(struct run *r)
{
	if (r->options.quiet)
		return 0;
	report_write(stdout, &r->report, terminal_columns());
	if (fflush(stdout) || ferror(stdout)) {
		warnx("the report could not be written to stdout: %s", strerror(errno));
		return -EIO;
	}
	return 0;
}

static enum status judge(const struct run *r, int write_error)
{
	const struct account *a = &r->exchange.account;
	char server[INET_ADDRSTRLEN];

	if (counter_get(&a->breaches) && !r->options.keep_going)
		return STATUS_BREACH;
	if (r->options.role == ROLE_EMIT && !counter_get(&a->answered)) {
		warnx("nothing was measured: %s port %d never answered", server_text(server), (int)r->options.port);
		return STATUS_FAILED;
	}
	if (counter_get(&a->unstamped) && !counter_get(&a->recorded)) {
		warnx("nothing was recorded: a stamp is missing from every exchange (see 'Missing stamps'): try %s",
		      r->options.stamp == SOURCE_HARDWARE ? "--stamp kernel" : "a --warmup, or --stamp user");
		return STATUS_FAILED;
	}
	if (write_error)
		return STATUS_FAILED;
	return verdict_fails(&r->verdict, r->options.strict) ? STATUS_UNTRUSTED : STATUS_DONE;
}

/* Of the last breach, if --trace-rearm has not saved it already. */
static int save_trace(struct run *r)
{
	int saved = 0;

	if (r->options.save_trace_path && !r->watch.save_error)
		saved = trace_save(&r->trace, r->options.save_trace_path, &r->trace_saved);
	if (saved == 0)
		r->trace_saved = r->watch.saved;
	r->report.saved = &r->trace_saved;
	return saved < 0 ? saved : r->watch.save_error;
}

static void read_setting(struct run *r, int when)
{
	r->facts.setting_error[when] = nic_read_setting(&r->nic, r->facts.setting[when]);
}

/* What would not be true any more when the run is wound up. */
static void note_memory(struct run *r)
{
	int64_t histogram_bytes = memory_absent_bytes(&r->histogram_memory), log_bytes = memory_absent_bytes(&r->log_memory);

	r->facts.absent_bytes = histogram_bytes < 0 || log_bytes < 0 ? -1 : histogram_bytes + log_bytes;
}

/* Ours may have been stopped by now, by a breach. */
static void note_tracing(struct run *r)
{
	if (r->report.trace)
		snprintf(r->tracing, sizeof(r->tracing), "%s", r->trace.path);
	if (r->report.trace || trace_is_running(r->tracing, sizeof(r->tracing)))
		r->report.tracing = r->tracing;
}

static void reach_verdict(struct run *r)
{
	struct verdict_facts *f = &r->facts;

	f->options = &r->options;
	f->exchange = &r->exchange;
	f->histogram = &r->histogram;
	f->log = r->report.log;
	f->clocks = r->report.clocks;
	f->activity = r->report.activity;
	f->activity_start = r->report.activity_start;
	f->activity_end = r->report.activity_end;
	f->balanced = account_balances(&r->exchange.account, r->options.role, &r->histogram, r->exchange.log);
	verdict_reach(&r->verdict, f);
	r->report.verdict = &r->verdict;
}

static enum status measure(struct run *r)
{
	int error = 0;

	if (r->options.verbose) {
		report_configuration(stderr, &r->report, &r->nic, &r->histogram_memory, &r->log_memory);
		check_short(stderr, &r->options, &r->nic);
	}
	activity_read(&r->activity, &r->activity_start, false);
	r->report.activity_start = &r->activity_start;
	read_setting(r, 0);
	if (socket_bind(&r->channel, &r->options, &r->nic))
		return STATUS_FAILED;
	verdict_read_thread(&r->facts.thread[0]);
	exchange_run(&r->exchange);
	verdict_read_thread(&r->facts.thread[1]);
	note_memory(r);
	watch_stop(&r->watch);
	if (r->report.clocks)
		clock_measure(&r->clocks, counter_get(&r->exchange.account.sent));
	activity_read(&r->activity, &r->activity_end, false);
	r->report.activity_end = &r->activity_end;
	if (r->report.pmc)
		pmc_finish(&r->pmc);
	read_setting(r, 1);
	nic_restore(&r->nic);
	munlockall(); /* the report may allocate */
	note_tracing(r);
	error = save_trace(r);
	actions_finish(&r->actions);
	r->report.strays = socket_count_strays(&r->channel);
	r->report.breaches_missed = r->watch.missed;
	histogram_finish(&r->histogram);
	reach_verdict(r);
	if (!r->facts.balanced)
		warnx("the accounts do not balance: this is a fault of rant; do not trust these numbers, please report it");
	for (int i = 0; i < STAGES; i++)
		if (r->exchange.stage[i])
			histogram_finish(r->exchange.stage[i]);
	for (int i = 0; i < ONE_WAYS; i++)
		if (r->exchange.one_way[i])
			histogram_finish(r->exchange.one_way[i]);
	directions_finish(&r->exchange.directions, counter_get(&r->exchange.account.sent));
	if (r->options.log_path)
		error |= log_file_write(&r->log_file, &r->report);
	error |= write_report(r);
	return judge(r, error);
}

static enum status check(const struct options *o)
{
	int fails = check_machine(o->quiet ? NULL : stdout, o);

	if (fflush(stdout) || ferror(stdout)) {
		warnx("the findings could not be written to stdout: %s", strerror(errno));
		return STATUS_FAILED;
	}
	return fails ? STATUS_FAILED : STATUS_DONE;
}

int main(int argc, char **argv)
{
	enum status status = STATUS_FAILED;

	if (options_parse(&run.options, argc, argv))
		return STATUS_FAILED;
	if (run.options.help) {
		options_usage(stdout);
		return STATUS_DONE;
	}
	if (run.options.version) {
		puts("rant " RANT_VERSION);
		return STATUS_DONE;
	}
	if (run.options.check)
		return check(&run.options);
	catch_signals();
	if (!open_all(&run))
		status = measure(&run);
	close_all(&run);
	return status;
}
