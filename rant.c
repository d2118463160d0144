// SPDX-License-Identifier: GPL-2.0-or-later
/* rant: parse, open, run, report, close. This file is the table of contents; the header of each module describes it. */
#include "rant.h"

#include "analyse/prove.h"
#include "analyse/results.h"
#include "analyse/tree.h"
#include "doctor/check.h"
#include "doctor/json.h"
#include "explain/explain.h"
#include "explain/explain_peer.h"
#include "explain/trace_pages.h"
#include "host/clock/clock_peer.h"
#include "host/clock/clock_set.h"
#include "host/counters/activity_story.h"
#include "host/counters/pmc.h"
#include "host/counters/pmu.h"
#include "host/delays.h"
#include "host/nic/link.h"
#include "host/nic/nic.h"
#include "host/nic/nic_best.h"
#include "host/nic/nic_lower.h"
#include "host/nic/nic_reach.h"
#include "host/nic/nic_stamp.h"
#include "host/nic/resolve.h"
#include "host/process/hook.h"
#include "host/process/cpu_latency.h"
#include "host/process/seccomp.h"
#include "host/process/loop.h"
#include "host/process/startup_watchdog.h"
#include "host/process/affinity.h"
#include "host/process/privileges.h"
#include "host/process/signals.h"
#include "host/process/worker.h"
#include "host/trace/trace_save.h"
#include "measure/exchange.h"
#include "measure/housekeeping.h"
#include "measure/run_buffers.h"
#include "options.h"
#include "host/periods.h"
#include "host/system.h"
#include "report/export/breach_file.h"
#include "report/export/outputs.h"
#include "report/log/log_writer.h"
#include "report/text/progress.h"
#include "report/text/report.h"
#include "report/text/status.h"
#include "report/text/version.h"
#include "report/text/interim.h"
#include "report/verdict/judgement.h"
#include "result/take.h"
#include "tracefs.h"
#include "wire/hmac.h"
#include "wire/plan.h"
#include "wire/socket.h"
#include "wire/transport.h"

#include <err.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static struct run {
	struct options options;
	char server[TRANSPORT_NAME_BYTES];
	char interface[IFNAMSIZ]; /* from the route, see nic_choose_interface() */
	bool best; /* --stamp best has chosen the timestamp source */

	struct hmac *key;
	struct packet_plan plan;
	struct run_buffers run_buffers;
	struct nic nic;
	struct channel channel;
	struct outputs outputs;
	struct exchange exchange;

	struct clock_set clock_set;
	struct clock_peer peer;
	struct pmc pmc;
	struct trace trace;
	struct sample breached; /* the breach that froze the trace, as it was then; held with the trace */
	struct hooks hooks;
	int cpu_latency_fd;
	struct privileges privileges;
	struct affinity affinity;

	struct freeze_causes causes; /* reflector */
	struct housekeeping housekeeping;
	struct progress progress;
	bool draws, has_drawn; /* progress is on the terminal: now, and at some time of the run */

	const _Atomic int *stop; /* 1: a signal has asked for the end */

	struct judgement judgement;
	char tracing[256]; /* where the kernel traces */
	struct report report;
} run = {
	.cpu_latency_fd = -1, .housekeeping = HOUSEKEEPING_CLOSED, .clock_set.fd = -1, .nic.control_fd = -1,
	.channel = CHANNEL_CLOSED, .outputs = OUTPUTS_CLOSED,
};

/* Called in a signal handler, before a second signal ends the program at once: restores the host, keeps the part of the
 * log that is written. */
static void clean_up(void)
{
	nic_restore(&run.nic);
	outputs_cut_off(&run.outputs);
	trace_close(&run.trace);
}

/* ---- Called by the loop ------------------------------------------------------------------------------------------ */

static void mark_start(void *context)
{
	struct run *r = context;

	trace_mark_start(&r->trace, r->options.role);
}

/* was: the trace was frozen before. */
static void note_frozen(struct run *r, bool was)
{
	r->exchange.froze = (struct freeze_done){ .was_frozen = was };
	if (!was && trace_is_frozen(&r->trace))
		r->exchange.froze.ns = optional_of(r->trace.last.frozen_ns);
}

static void freeze(void *context, const struct sample *s)
{
	struct run *r = context;
	const bool was = trace_is_frozen(&r->trace);

	if (!was)
		r->breached = *s;
	trace_breach(&r->trace, r->options.role, s, r->options.threshold_ns, true);
	note_frozen(r, was);
}

static void freeze_for_peer(void *context, uint16_t ssid, uint32_t seq, const struct sample *s)
{
	struct run *r = context;
	const bool was = trace_is_frozen(&r->trace);

	if (!was)
		r->breached = s ? *s : (struct sample){ .seq = seq, .ssid = ssid };
	trace_peer_breach(&r->trace, r->options.role, ssid, seq, s);
	note_frozen(r, was);
}

/* Called only before the first answer, so it disturbs no measurement. */
static void print_silence(void *context)
{
	const struct run *r = context;

	progress_print_silence(&r->options, r->server, counter_get(&r->exchange.result.account.refused));
}

/* ---- Called by the housekeeping thread during the run, or by the measuring thread after it ----------------------- */

static void act_on_breach(void *context, const struct sample *s, uint64_t number)
{
	struct run *r = context;
	char text[REPORT_ENVIRONMENT_BYTES], *environment[REPORT_ENVIRONMENT_MAX];

	if (!r->options.on_breach.commands)
		return;
	report_environment(&r->report, s, number, text, environment);
	hooks_run(&r->hooks, environment);
}

/* Evidence for the folder of a saved trace. */
static int describe_breach(void *context, int folder_fd, struct optional spike_cpu)
{
	static struct activity_vector vectors[256]; /* one thread at a time saves a trace */
	struct run *r = context;
	const struct clock_watch *clocks = &r->housekeeping.clocks;
	const struct clock_reading *last = clock_last(clocks);
	const struct clock_track *track = &clocks->track[CLOCK_OF_NIC];
	const struct clock_relation *relation = clocks->packets || !last ? &track->last : &last->phc_real;
	struct sample s = r->breached;
	struct breach_facts facts = {
		.report = &r->report, .sample = &s, .neighbours = r->exchange.neighbours, .trace_clock = r->trace.clock,
		.host_cpu = spike_cpu, .thread = loop_thread(), .interface = r->nic.name,
		.has_relation = clocks->packets ? track->readings : last && last->has_phc,
		.converted = r->exchange.result.converted,
		.to_realtime = clock_to_realtime, .context = &r->housekeeping.clocks, .interrupt = vectors,
		.interrupts = activity_read_vectors(&r->housekeeping.activity.activity, vectors,
						    sizeof(vectors) / sizeof(vectors[0])),
		.unseen = housekeeping_look_unseen(&r->housekeeping),
	};

	if (facts.has_relation) {
		facts.hw_minus_realtime_ns = relation->offset_ns;
		facts.hw_bound_ns = relation->bound_ns;
	}
	breach_complete(&r->exchange.result, &s);
	return breach_file_write(folder_fd, &facts);
}

/* ---- Open, in this order ----------------------------------------------------------------------------------------- */

static void open_exchange(struct run *r)
{
	struct exchange *x = &r->exchange;

	x->channel = &r->channel;
	x->options = x->result.options = &r->options;
	x->clock_set = &r->clock_set;
	x->stop = r->stop;
	x->loopback = r->nic.flags & IFF_LOOPBACK;
	x->on_silence = print_silence;
	x->context = r;
	x->plan = &r->plan;
	x->key = r->key;
	x->sync_source = clock_sync_source(r->options.stamp == SOURCE_HARDWARE);
	if (r->options.role == ROLE_EMIT)
		x->peer = &r->peer;
	exchange_note_granted(x);
	r->report = (struct report){ .options = &r->options, .result = &x->result, .histogram = x->result.histogram,
				     .facts = &r->judgement.facts };
	take_affinity(&x->result.affinity, &r->affinity);
	r->hooks.wanted = &r->options.on_breach;
}

/* Called in the measuring thread: a perf counter belongs to the thread that opens it. */
static int open_pmc(void *context)
{
	struct run *r = context;

	return pmc_open(&r->pmc, false);
}

static int open_counters(struct run *r)
{
	int error = r->options.pmc ? loop_call(open_pmc, r) : 0;

	if (error)
		return error;
	if (r->options.pmc)
		r->exchange.pmc = &r->pmc;
	return activity_story_open(&r->housekeeping.activity, &r->nic, loop_thread());
}

static int open_trace(struct run *r)
{
	const struct options *o = &r->options;
	const struct trace_wanted wanted = { .snapshot = o->snapshot, .packets_per_s = LOG_RATE,
					     .events = (enum trace_events)o->trace_events,
					     .events_given = o->trace_events_given };
	int error = o->save_trace_path ? trace_check_folder(o->save_trace_path) : 0;

	if (error || !o->trace_marker)
		return error;
	error = trace_open(&r->trace, TRACE_INSTANCE, &wanted);
	if (error)
		return error;
	if (o->save_trace_path) {
		trace_open_symbols(&r->trace);
		r->exchange.neighbours->held = &r->trace.state;
		r->trace.describe = describe_breach;
		r->trace.context = r;
	}
	r->exchange.on_start = mark_start;
	r->exchange.on_breach = freeze;
	r->exchange.on_peer_breach = freeze_for_peer;
	r->exchange.trace_state = &r->trace.state;
	take_trace(&r->exchange.result.trace, &r->trace, NULL); /* for --verbose */
	return 0;
}

static int start_housekeeping(struct run *r)
{
	struct housekeeping *h = &r->housekeeping;
	int error;

	r->draws = r->has_drawn = isatty(STDERR_FILENO) && !r->options.quiet;
	r->progress = (struct progress){ .result = &r->exchange.result, .server = r->server };
	h->trace = &r->trace;
	h->cpu = r->affinity.cpus == 1 ? r->affinity.cpu : -1;
	h->notes_changes = by_second_is_wanted(&r->outputs.reported);
	h->worker = (struct worker){ .begin = privileges_drop_beside, .context = &r->privileges };
	h->link = (struct link_watch){ .nic = &r->nic, .on_change = progress_print_link, .on_move = progress_print_move,
				       .context = &r->progress };
	h->on_breach = act_on_breach;
	h->breach_context = r;
	h->print_outage = progress_print_outage;
	h->context = &r->progress;
	if (r->options.allow_freeze && r->options.save_trace_path && r->options.trace_marker) {
		h->on_saved = explain_for_peer;
		h->saved_context = &r->causes;
	}
	error = housekeeping_start(h);
	if (h->on_saved && !h->no_other_cpu)
		r->exchange.causes = &r->causes;
	r->report.no_other_cpu = h->no_other_cpu;
	return error;
}

/* The ring of the log: its size depends on whether another thread can empty it during the run. */
static int start_log(struct run *r)
{
	int error;

	r->outputs.interim.result = &r->exchange.result;
	r->outputs.on_known = signals_end_known;
	r->exchange.sample_queue = outputs_start(&r->outputs, privileges_drop_beside, &r->privileges);
	error = run_buffers_open_log(&r->run_buffers, &r->options, &r->exchange, r->outputs.log.beside);
	if (!error)
		log_writer_result(&r->outputs.log, &r->exchange.result.log); /* for --verbose */
	return error;
}

/* The privileges that the end of the run needs, after rant has dropped the others. */
static int plan_privileges(struct run *r)
{
	struct privileges_needs needs = { .nic = r->nic.changed, .save_path = r->options.save_trace_path,
				      .priority = r->channel.keeps_priority &&
				      r->channel.priority > SOCKET_PRIORITY_FREE,
				      .trace_path = r->trace.path, .trace_made = r->trace.created };

	outputs_need(&r->outputs, &needs);
	return privileges_plan(&r->privileges, &needs);
}

static int stamp_by_nic(struct run *r)
{
	if (!options_by_nic(&r->options))
		return 0;
	if (!r->best)
		return nic_stamp(&r->nic, &r->options);
	nic_stamp_best(&r->nic, &r->options);
	return 0;
}

static int open_all(struct run *r)
{
	const struct options *o = &r->options;

	startup_watchdog_begin(r->stop, clean_up);
	seccomp_open(o->stamp != SOURCE_USER); /* with user timestamps the filter would add to the latency */
	if (startup_watchdog_on("looking up --user") || privileges_open(&r->privileges, o->user) ||
	    startup_watchdog_on("reading --key") || (o->key_path && hmac_open(&r->key, o->key_path)) ||
	    plan_probes(&r->plan, o, r->key) ||
	    startup_watchdog_on("getting memory for the histograms") ||
		    run_buffers_open(&r->run_buffers, o, &r->exchange) ||
	    startup_watchdog_on("reading the state of the NIC") || nic_open(&r->nic, o->interface) ||
	    nic_check_reach(&r->nic, o) || nic_choose_priority(&r->nic, &r->options) ||
	    startup_watchdog_on_whole("setting up timestamps of the NIC") || stamp_by_nic(r) ||
	    startup_watchdog_on("opening the socket") || socket_open(&r->channel, o, &r->nic) ||
	    (!o->no_step_check && !options_by_nic(o) && clock_set_open(&r->clock_set)) ||
	    plan_sessions(r->exchange.sessions, o) || startup_watchdog_on("comparing the clocks"))
		return -1;
	open_exchange(r);
	poll_clock_open(&r->exchange.poll_clock);
	r->housekeeping.exchange = &r->exchange;
	housekeeping_open_clocks(&r->housekeeping, &r->nic);
	if (startup_watchdog_on("opening the output files") ||
	    outputs_open(&r->outputs, &r->report, &r->run_buffers.log) ||
	    startup_watchdog_on("starting the measuring thread") || loop_open() ||
	    startup_watchdog_on("opening the counters of this host") || open_counters(r) ||
	    startup_watchdog_on("setting up the kernel trace") || open_trace(r) ||
	    plan_privileges(r) ||
	    startup_watchdog_on("starting the other threads") || start_housekeeping(r) ||
	    startup_watchdog_on("getting memory for the log") || start_log(r) || startup_watchdog_on("locking memory"))
		return -1;
	if (!o->no_cpu_dma_latency)
		r->cpu_latency_fd = cpu_latency_open(o->verbose);
	r->judgement.facts.lock_error = run_buffers_lock(&r->run_buffers, o);
	return 0;
}

static void stop_worker(struct run *r)
{
	worker_stop(&r->housekeeping.worker);
	if (r->draws)
		progress_end();
	r->draws = false;
}

/* In reverse order of opening; each module knows whether it is open. */
static void close_all(struct run *r)
{
	startup_watchdog_end();
	cpu_latency_close(r->cpu_latency_fd);
	stop_worker(r);
	loop_close();
	trace_close(&r->trace);
	take_activity_free(&r->exchange.result.activity);
	free(r->exchange.result.causes);
	activity_close(&r->housekeeping.activity.activity);
	pmc_close(&r->pmc);
	clock_set_close(&r->clock_set);
	clock_close(&r->housekeeping.clocks);
	outputs_close(&r->outputs);
	socket_close(&r->channel);
	nic_restore(&r->nic);
	nic_close(&r->nic);
	run_buffers_close(&r->run_buffers);
	hmac_close(r->key);
}

/* ---- Run, and the readings before and after it ------------------------------------------------------------------- */

/* CPU that the measuring thread was last seen on; -1: not known. */
static int measuring_cpu(const struct run *r)
{
	const struct verdict_thread *last = &r->judgement.facts.thread[1];

	return last->known ? last->cpu : -1;
}

/* Reads files: not during the run. */
static void read_system(struct run *r)
{
	if (r->options.json_path || r->options.jsonl_path)
		system_read(&r->exchange.result.system, measuring_cpu(r));
}

static void read_before(struct run *r)
{
	housekeeping_read_before(&r->housekeeping);
	if (r->options.role == ROLE_EMIT)
		exchange_note_wire(&r->exchange, link_wire_mbps(&r->nic));
}

static void read_after(struct run *r)
{
	/* First, because the code below touches pages. */
	r->judgement.facts.absent_bytes = run_buffers_absent_bytes(&r->run_buffers);
	stop_worker(r);
	housekeeping_read_after(&r->housekeeping);
	if (r->exchange.pmc) {
		pmc_finish(&r->pmc);
		take_counters(&r->exchange.result.counters, &r->pmc);
	}
	nic_restore(&r->nic);
	munlockall(); /* the report may allocate */
}

static void finish(struct run *r)
{
	read_system(r);
	housekeeping_take(&r->housekeeping);
	hooks_finish(&r->hooks);
	nic_read_details(&r->nic, &r->exchange.result.nic.details);
	take_commands(&r->exchange.result.commands, &r->hooks);
	take_trace(&r->exchange.result.trace, &r->trace, &r->housekeeping.keeper);
	exchange_collect(&r->exchange);
	r->exchange.result.dropped = r->channel.dropped;
	if (!r->exchange.port)
		r->exchange.result.strays = optional_of((int64_t)socket_count_strays(&r->channel));
	r->exchange.result.commands.breaches_missed = r->housekeeping.breaches.missed;
	clock_peer_finish(&r->peer);
	if (r->exchange.peer)
		take_peer(&r->exchange.result.peer, &r->peer, &r->housekeeping.clocks, options_by_nic(&r->options));
	source_ports_finish(&r->exchange);
}

/* Periodic work and fixed delays that may explain latencies. */
static void read_causes(struct run *r)
{
	struct periods *periods = &r->exchange.result.periods;

	periods_read(periods, &r->exchange.result.nic.details);
	periods_add(periods, r->report.no_other_cpu ? 0 : HOUSEKEEPING_PERIOD_NS,
		    "rant's clock comparison and housekeeping");
	periods_add(periods, r->options.log_path ? LOG_WRITER_PERIOD_NS : 0, "rant's log writer");
	periods_add(periods, r->has_drawn ? INTERIM_LIVE_NS : 0, "rant's progress line");
	periods_add(periods, r->options.summary_ns, "rant's summary lines");
	periods_add(periods, r->options.every_ns, "rant's --every");
	r->exchange.result.has_periods = true;
	delays_read(&r->exchange.result.delays, &r->nic, measuring_cpu(r), r->cpu_latency_fd < 0);
}

/* ---- The program ------------------------------------------------------------------------------------------------- */

/* Before the frozen trace is saved, which may empty its buffers. */
static void note_reach(struct run *r)
{
	struct result_freeze *z = &r->exchange.result.freeze;

	if (z->event_raw_ns.known && r->trace.last.seq == z->first.seq)
		z->first.holds = trace_reaches(&r->trace, z->event_raw_ns.value);
	if (z->first.outcome && r->options.role == ROLE_REFLECT)
		transport_name(&z->emitter, z->emitter_name);
}

static enum status conclude(struct run *r)
{
	int error;

	socket_note_drops(&r->channel);
	read_after(r);
	note_reach(r);
	error = trace_keep_last(&r->housekeeping.keeper);
	finish(r);
	error |= outputs_end_beside(&r->outputs);
	log_writer_result(&r->outputs.log, &r->exchange.result.log);
	if (trace_is_running(&r->trace, r->tracing, sizeof(r->tracing)))
		r->report.tracing = r->tracing;
	if (!poll_clock_agrees(&r->exchange.poll_clock))
		r->exchange.result.poll_gaps = (struct poll_gaps){ 0 };
	run_buffers_finish(&r->run_buffers, &r->exchange); /* in place: no thread copies the histogram any more */
	read_causes(r);
	judgement_reach(&r->judgement, &r->report, &r->exchange.result, &r->outputs.reported);
	if (!r->options.quiet)
		error |= report_print(&r->report);
	/* A cause that cannot be found is not an error of the run. */
	explain_run(&r->exchange.result, r->options.quiet ? NULL : r->report.stdout_taken ? stderr : stdout, r->stop);
	return outputs_write(&r->outputs, status_judge(&r->report, r->server, error));
}

/* drop_privileges() and measure() are called in the measuring thread. */
static int drop_privileges(void *context)
{
	const struct run *r = context;

	return privileges_drop(&r->privileges);
}

static int measure(void *context)
{
	struct run *r = context;

	seccomp_begin();
	verdict_read_thread(&r->judgement.facts.thread[0]);
	exchange_run(&r->exchange);
	verdict_read_thread(&r->judgement.facts.thread[1]);
	return 0;
}

static enum status run_once(struct run *r)
{
	if (startup_watchdog_on("reading the state of this host"))
		return STATUS_FAILED;
	if (r->options.verbose) {
		report_configuration(stderr, &r->report, &r->run_buffers.histogram_memory, &r->run_buffers.log_memory);
		check_short(stderr, &r->options, &r->nic);
	}
	if (r->options.jsonl_path) {
		read_system(r);
		nic_read_details(&r->nic, &r->exchange.result.nic.details);
	}
	outputs_look(&r->outputs, &r->nic);
	read_before(r);
	if (socket_bind(&r->channel, &r->options, &r->nic) ||
	    outputs_hand_over(&r->outputs, &r->privileges) || startup_watchdog_end() ||
	    privileges_drop(&r->privileges) || loop_call(drop_privileges, r) || loop_run(measure, r))
		return STATUS_FAILED;
	return conclude(r);
}

static enum status prove(const struct options *o)
{
	char server[TRANSPORT_NAME_BYTES];

	return (enum status)prove_main(o, o->role == ROLE_EMIT && transport_name(&o->server, server) ? server : NULL);
}

static enum status check(const struct options *o)
{
	FILE *out = o->quiet ? NULL : o->json_path && log_file_is_stdout(o->json_path) ? stderr : stdout;

	return (o->json_path ? check_json(out, o) : check_machine(out, NULL, NULL, o)) ? STATUS_FAILED : STATUS_DONE;
}

/* Address, interface and timestamp source, where the command line leaves them open. */
static int choose_path(struct run *r)
{
	struct options *o = &r->options;
	char why[256];

	if (resolve_server(o))
		return -1;
	if (o->check && !o->interface && o->role == ROLE_REFLECT)
		return 0; /* all interfaces: the doctor chooses for each */
	r->best = o->stamp == STAMP_BEST;
	if (nic_choose_interface(o, r->interface) || nic_choose_stamp(o, why))
		return -1;
	transport_name_server(o, r->server);
	if (r->best || o->host_given)
		nic_print_choice(o, r->server, r->best ? why : "as given");
	return 0;
}

int main(int argc, char **argv)
{
	enum status status = STATUS_FAILED;

	if (argc < 2) {
		options_usage(stderr);
		return STATUS_FAILED;
	}
	privileges_guard();
	if (memory_allow_stack() || options_parse(&run.options, argc, argv))
		return STATUS_FAILED;
	if (run.options.help) {
		options_help(stdout, run.options.help_all);
		return STATUS_DONE;
	}
	if (run.options.usage) {
		options_usage(stdout);
		return STATUS_DONE;
	}
	if (run.options.version)
		return version_print(hmac_library(), seccomp_library(), tree_library(), trace_pages_library()) ?
		       STATUS_FAILED : STATUS_DONE;
	if (run.options.report || run.options.compare)
		return results_main(&run.options);
	if (run.options.explain_path)
		return explain_main(&run.options) ? STATUS_FAILED : STATUS_DONE;
	if (affinity_read(&run.affinity, &run.options) || choose_path(&run))
		return STATUS_FAILED;
	if (run.options.check)
		return check(&run.options);
	if (run.options.prove)
		return prove(&run.options);
	run.stop = signals_catch(clean_up);
	if (!open_all(&run))
		status = run_once(&run);
	close_all(&run);
	return (int)status;
}
