// SPDX-License-Identifier: GPL-2.0-or-later
/* rant: parse, open, run, report, close. This file is the table of contents; what a room does is said in its header. */
#include "rant.h"

#include "analyse/results.h"
#include "analyse/tree.h"
#include "doctor/check.h"
#include "host/clock/clock.h"
#include "host/clock/clock_peer.h"
#include "host/clock/clock_set.h"
#include "host/counters/activity_story.h"
#include "host/counters/pmc.h"
#include "host/counters/pmu.h"
#include "host/nic/link.h"
#include "host/nic/nic.h"
#include "host/nic/nic_lower.h"
#include "host/nic/nic_reach.h"
#include "host/nic/nic_stamp.h"
#include "host/nic/resolve.h"
#include "host/process/action.h"
#include "host/process/awake.h"
#include "host/process/filter.h"
#include "host/process/loop.h"
#include "host/process/patience.h"
#include "host/process/place.h"
#include "host/process/rights.h"
#include "host/process/stop.h"
#include "host/process/watch.h"
#include "host/trace/trace_keep.h"
#include "host/trace/trace_running.h"
#include "host/trace/trace_save.h"
#include "measure/exchange.h"
#include "measure/store.h"
#include "options.h"
#include "report/export/outputs.h"
#include "report/text/configuration.h"
#include "report/text/environment.h"
#include "report/text/progress.h"
#include "report/text/report.h"
#include "report/text/status.h"
#include "report/text/version.h"
#include "report/verdict/verdict.h"
#include "result/breach.h"
#include "tracefs.h"
#include "wire/hmac.h"
#include "wire/plan.h"
#include "wire/socket.h"
#include "wire/transport.h"

#include <err.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define DUTY_PERIOD_NS (100 * NS_PER_MS)
#define CLOCK_EARLY 10 /* readings that come sooner at first, until the rates of the clocks are known */

static struct run {
	struct options options;
	char server[TRANSPORT_NAME_BYTES];

	struct hmac *key;
	struct packet_plan plan;
	struct store store;
	struct nic nic;
	struct link_watch link;
	struct channel channel;
	struct outputs outputs;
	struct exchange exchange;

	struct clock_watch clocks;
	struct clock_set clock_set;
	struct clock_peer peer;
	struct pmc pmc;
	struct activity_story activity;
	struct trace trace;
	struct actions actions;
	int awake_fd;
	struct rights rights;
	struct place place;

	struct watch watch;
	struct breach_teller breaches;
	struct trace_keeper keeper;
	struct progress progress;
	bool draws; /* progress is on the terminal */

	const _Atomic int *stop; /* 1: a signal has asked for the end */

	struct verdict_facts facts;
	struct verdict verdict;
	char tracing[256]; /* where the kernel traces */
	struct report report;
} run = {
	.awake_fd = -1, .clocks = { .phc_fd = -1, .dial_fd = -1 }, .clock_set.fd = -1, .nic.control_fd = -1,
	.channel = CHANNEL_CLOSED, .outputs = OUTPUTS_CLOSED,
};

/* In a signal handler, before a second signal ends the program at once: nothing is left behind but what is written of
 * the log. */
static void clean_up(void)
{
	nic_restore(&run.nic);
	outputs_cut_off(&run.outputs);
	trace_close(&run.trace);
}

/* ---- What the loop calls ----------------------------------------------------------------------------------------- */

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

/* Nothing is being measured when this is called: nothing has ever answered. */
static void tell_silence(void *context)
{
	const struct run *r = context;

	progress_tell_silence(&r->options, r->server, counter_get(&r->exchange.result.account.refused));
}

/* ---- Beside the run: the housekeeping thread calls these, or the measuring one after the run --------------------- */

static void act_on_breach(void *context, const struct sample *s, uint64_t number)
{
	struct run *r = context;
	char text[REPORT_ENVIRONMENT_BYTES], *environment[REPORT_ENVIRONMENT_MAX];
	int64_t value_ns;

	result_figure(&r->exchange.result, s, &value_ns);
	/* While it is measured on, nothing may interrupt the measuring CPU. */
	activity_story_breach(&r->activity, value_ns, counter_get(&r->exchange.result.account.sent),
			      r->options.keep_going);
	if (!r->options.on_breach.commands)
		return;
	report_environment(&r->report, s, number, text, environment);
	actions_run(&r->actions, environment);
}

static void measure_clocks(void *context)
{
	struct run *r = context;

	clock_measure(&r->clocks, counter_get(&r->exchange.result.account.sent));
}

static void collect(void *context)
{
	struct run *r = context;

	exchange_collect(&r->exchange);
}

static void add_duties(struct run *r)
{
	const struct options *o = &r->options;
	const struct {
		bool wanted;
		struct watch_duty duty;
	} rows[] = {
		{ o->threshold_ns, { DUTY_PERIOD_NS, .at_end = true, .act = breach_tell, .context = &r->breaches } },
		{ o->trace_rearm, { DUTY_PERIOD_NS, .act = trace_keep_now, .context = &r->keeper } },
		{ true, { DUTY_PERIOD_NS, .act = link_look, .context = &r->link } },
		{ o->role == ROLE_EMIT, { DUTY_PERIOD_NS, .act = progress_tell_outage, .context = &r->progress } },
		{ true, { DUTY_PERIOD_NS, .early = CLOCK_EARLY, .act = measure_clocks, .context = r } },
		{ true, { DUTY_PERIOD_NS, .act = collect, .context = r } },
		{ r->draws, { PROGRESS_PERIOD_NS, .act = progress_draw, .context = &r->progress } },
	};

	r->link = (struct link_watch){ .nic = &r->nic, .on_gone = stop_now, .on_change = progress_tell_link,
				       .on_move = progress_tell_move, .context = &r->progress };
	r->facts.link = &r->link;
	link_look(&r->link); /* as it is before the run */
	r->breaches = (struct breach_teller){ .result = &r->exchange.result, .act = act_on_breach, .context = r };
	r->keeper = (struct trace_keeper){ .trace = &r->trace, .folder = o->save_trace_path,
					   .interval_ns = o->trace_interval_ns };
	r->progress = (struct progress){ .result = &r->exchange.result, .server = r->server };
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].wanted)
			watch_add(&r->watch, rows[i].duty);
}

/* Without a relation of the clocks during the run there are no stages to or from the NIC. */
static void check_clocks(struct run *r, int watch_error)
{
	struct exchange *x = &r->exchange;
	const char *why = !x->clocks ? r->clocks.why :
			  watch_error == -ENODEV ?
				  "no CPU but the measuring one may be used to compare the clocks during the run" :
						   "the thread that compares the clocks during the run could not be "
						   "started";

	/* Stamps of the kernel are of CLOCK_REALTIME, as those of user space are. */
	if (r->options.stamp != SOURCE_HARDWARE || (x->clocks && !watch_error))
		return;
	if (result_has_stages(&x->result))
		r->report.stages_why = why;
	exchange_drop_clocks(x);
}

static int start_watch(struct run *r)
{
	int error;

	r->draws = isatty(STDERR_FILENO) && !r->options.quiet;
	r->watch.name = "rant-watch";
	r->watch.begin = rights_drop_beside;
	r->watch.context = &r->rights;
	r->watch.idle = &r->exchange.result.asleep;
	add_duties(r);
	clock_measure(&r->clocks, 0); /* the second one: their rates are known from the first packet on */
	error = watch_start(&r->watch);
	if (error && r->options.trace_rearm) {
		warnx("--trace-rearm: the trace is saved by a thread on another CPU than the measuring one, and there "
		      "is none "
		      "(%s): leave it out, or give rant another CPU", strerror(-error));
		return error;
	}
	r->report.no_other_cpu = error == -ENODEV;
	if (error && error != -ENODEV)
		warnx("the housekeeping thread could not be started (%s), so nothing is done beside the measurement "
		      "(progress, "
		      "commands, comparing the clocks): raise 'ulimit -u' and 'ulimit -n'", strerror(-error));
	check_clocks(r, error);
	return 0;
}

static void stop_watch(struct run *r)
{
	watch_stop(&r->watch);
	if (r->draws)
		progress_end();
	r->draws = false;
}

/* ---- Open, in the order of the flow ------------------------------------------------------------------------------ */

static void open_exchange(struct run *r)
{
	struct exchange *x = &r->exchange;

	x->channel = &r->channel;
	x->options = x->result.options = &r->options;
	x->clock_set = &r->clock_set;
	x->stop = r->stop;
	x->loopback = r->nic.flags & IFF_LOOPBACK;
	x->on_silence = tell_silence;
	x->context = r;
	x->plan = &r->plan;
	x->key = r->key;
	x->sync_source = clock_sync_source(r->options.stamp == SOURCE_HARDWARE);
	if (r->options.role == ROLE_EMIT)
		x->peer = &r->peer;
	exchange_note_granted(x);
	r->report = (struct report){ .options = &r->options, .result = &x->result, .histogram = x->result.histogram,
				     .actions = &r->actions, .peer = x->peer,
				     .nic = &r->nic, .facts = &r->facts, .place = &r->place };
	r->actions.wanted = &r->options.on_breach;
}

/* The relation of the NIC's clock to the system's: for the report, and to put the times of user space on its scale. */
static void open_clocks(struct run *r)
{
	const bool by_nic = options_by_nic(&r->options);

	r->report.clocks = &r->clocks;
	r->exchange.watched = &r->clocks;
	if (!clock_open(&r->clocks, by_nic ? r->nic.can.phc_index : -1) && by_nic)
		r->exchange.clocks = &r->clocks;
	r->exchange.result.placed = r->exchange.clocks != NULL;
	clock_measure(&r->clocks, 0);
}

/* In the measuring thread: the counters are those of the thread that opens them. */
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
		r->report.pmc = r->exchange.pmc = &r->pmc;
	error = activity_story_open(&r->activity, &r->nic, loop_thread());
	if (!error)
		r->report.activity = &r->activity.activity;
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

/* The ring, whose size hangs on whether another thread may empty it beside the run. */
static int start_log(struct run *r)
{
	const struct options *o = &r->options;
	const bool beside = !options_log_is_circular(o) && !r->report.no_other_cpu &&
			    !log_writer_start(&r->outputs.log, rights_drop_beside, &r->rights);

	r->report.tally = r->exchange.tally = outputs_start(&r->outputs, rights_drop_beside, &r->rights);
	return store_open_log(&r->store, o, &r->exchange, beside);
}

/* What is still to be done when the rights are gone. */
static int plan_rights(struct run *r)
{
	struct rights_needs needs = { .nic = r->nic.changed, .save_path = r->options.save_trace_path,
				      .priority = r->channel.keeps_priority &&
				      r->channel.priority > SOCKET_PRIORITY_FREE,
				      .trace_path = r->trace.path, .trace_made = r->trace.created };

	outputs_need(&r->outputs, &needs);
	return rights_plan(&r->rights, &needs);
}

static int open_all(struct run *r)
{
	const struct options *o = &r->options;

	patience_begin(r->stop, clean_up);
	filter_open(o->stamp != SOURCE_USER); /* its time would be in what is measured */
	if (patience_on("looking up --user") || rights_open(&r->rights, o->user) ||
	    patience_on("reading --key") || (o->key_path && hmac_open(&r->key, o->key_path)) ||
	    plan_probes(&r->plan, o, r->key) ||
	    patience_on("getting memory for the histograms") || store_open(&r->store, o, &r->exchange) ||
	    patience_on("asking the NIC what it can do") || nic_open(&r->nic, o->interface) ||
	    nic_check_reach(&r->nic, o) || nic_choose_priority(&r->nic, &r->options) ||
	    patience_on_whole("making the NIC stamp") || (options_by_nic(o) && nic_stamp(&r->nic, o)) ||
	    patience_on("opening the socket") || socket_open(&r->channel, o, &r->nic) ||
	    (!o->no_step_check && !options_by_nic(o) && clock_set_open(&r->clock_set)) ||
	    plan_sessions(r->exchange.sessions, o) || patience_on("comparing the clocks"))
		return -1;
	open_exchange(r);
	open_clocks(r);
	if (patience_on("opening the files that are written") || outputs_open(&r->outputs, &r->report, &r->store.log) ||
	    patience_on("starting the measuring thread") || loop_open() ||
	    patience_on("opening the counters of this machine") || open_counters(r) ||
	    patience_on("setting up the kernel's trace") || open_trace(r) ||
	    plan_rights(r) ||
	    patience_on("starting the threads beside") || start_watch(r) ||
	    patience_on("getting memory for the log") || start_log(r) || patience_on("locking memory"))
		return -1;
	if (!o->no_cpu_dma_latency)
		r->awake_fd = awake_open(o->verbose);
	r->facts.lock_error = store_lock(&r->store, o);
	return 0;
}

/* In reverse order of opening; each part knows whether it was opened. */
static void close_all(struct run *r)
{
	patience_end();
	awake_close(r->awake_fd);
	stop_watch(r);
	loop_close();
	trace_close(&r->trace);
	activity_close(&r->activity.activity);
	pmc_close(&r->pmc);
	clock_set_close(&r->clock_set);
	clock_close(&r->clocks);
	outputs_close(&r->outputs);
	socket_close(&r->channel);
	nic_restore(&r->nic);
	nic_close(&r->nic);
	store_close(&r->store);
	hmac_close(r->key);
}

/* ---- Run, and what is read before and after it ------------------------------------------------------------------- */

static void read_before(struct run *r)
{
	activity_read(&r->activity.activity, &r->activity.start, false);
	r->report.activity_start = &r->activity.start;
	r->facts.setting_error[0] = nic_read_setting(&r->nic, r->facts.setting[0]);
	link_read(&r->nic, &r->link.before);
}

/* Ours may have been stopped by now, by a breach. */
static void note_tracing(struct run *r)
{
	if (r->report.trace)
		snprintf(r->tracing, sizeof(r->tracing), "%s", r->trace.path);
	if (r->report.trace || trace_is_running(r->tracing, sizeof(r->tracing)))
		r->report.tracing = r->tracing;
}

static void read_after(struct run *r)
{
	const struct activity_story *a = &r->activity;

	r->facts.absent_bytes = store_absent_bytes(&r->store); /* not true any more when the run is wound up */
	stop_watch(r);
	link_read(&r->nic, &r->link.after);
	clock_measure(&r->clocks, counter_get(&r->exchange.result.account.sent));
	activity_read(&r->activity.activity, &r->activity.end, false);
	r->report.activity_end = &a->end;
	r->report.activity_breach = a->has_breach ? &a->breach : NULL;
	r->report.activity_before_worst = a->has_worst ? &a->before_worst : NULL;
	r->report.activity_worst = a->has_worst ? &a->worst : NULL;
	if (r->report.pmc)
		pmc_finish(&r->pmc);
	r->facts.setting_error[1] = nic_read_setting(&r->nic, r->facts.setting[1]);
	nic_restore(&r->nic);
	munlockall(); /* the report may allocate */
}

static void finish(struct run *r)
{
	actions_finish(&r->actions);
	r->report.saved = &r->keeper.saved;
	exchange_collect(&r->exchange);
	r->exchange.result.dropped = r->channel.dropped;
	r->exchange.result.strays = r->exchange.port ? -1 : (int64_t)socket_count_strays(&r->channel);
	r->report.breaches_missed = r->breaches.missed;
	clock_peer_finish(&r->peer);
	source_ports_finish(&r->exchange);
}

/* ---- Report ------------------------------------------------------------------------------------------------------ */

static void reach_verdict(struct run *r)
{
	verdict_take(&r->facts, &r->report);
	verdict_reach(&r->verdict, &r->facts);
	r->report.verdict = &r->verdict;
	if (!r->facts.balanced)
		warnx("the accounts do not balance: this is a fault of rant; do not trust these numbers, please report "
		      "it");
}

/* ---- The program ------------------------------------------------------------------------------------------------- */

static enum status conclude(struct run *r)
{
	int error;

	socket_note_drops(&r->channel);
	read_after(r);
	error = trace_keep_last(&r->keeper);
	finish(r);
	error |= outputs_end_beside(&r->outputs);
	note_tracing(r);
	store_finish(&r->store, &r->exchange); /* in place: nobody copies any more */
	reach_verdict(r);
	if (!r->options.quiet)
		error |= report_print(&r->report);
	return outputs_write(&r->outputs, status_judge(&r->report, &r->facts, r->server, error));
}

/* These two are called in the measuring thread. */
static int drop_rights(void *context)
{
	const struct run *r = context;

	return rights_drop(&r->rights);
}

static int measure(void *context)
{
	struct run *r = context;

	filter_begin();
	verdict_read_thread(&r->facts.thread[0]);
	exchange_run(&r->exchange);
	verdict_read_thread(&r->facts.thread[1]);
	return 0;
}

static enum status run_once(struct run *r)
{
	if (patience_on("looking at this machine"))
		return STATUS_FAILED;
	if (r->options.verbose) {
		report_configuration(stderr, &r->report, &r->nic, &r->store.histogram_memory, &r->store.log_memory);
		check_short(stderr, &r->options, &r->nic);
	}
	outputs_look(&r->outputs, &r->nic);
	read_before(r);
	if (socket_bind(&r->channel, &r->options, &r->nic) ||
	    outputs_hand_over(&r->outputs, &r->rights) || patience_end() ||
	    rights_drop(&r->rights) || loop_call(drop_rights, r) || loop_run(measure, r))
		return STATUS_FAILED;
	return conclude(r);
}

int main(int argc, char **argv)
{
	enum status status = STATUS_FAILED;

	rights_guard();
	if (memory_allow_stack() || options_parse(&run.options, argc, argv))
		return STATUS_FAILED;
	if (run.options.help) {
		options_usage(stdout);
		return STATUS_DONE;
	}
	if (run.options.version)
		return version_print(hmac_library(), filter_library(), tree_library()) ? STATUS_FAILED : STATUS_DONE;
	if (run.options.report || run.options.compare)
		return results_main(&run.options);
	if (place_take(&run.place, &run.options) || resolve_server(&run.options))
		return STATUS_FAILED;
	if (run.options.check)
		return check_machine(run.options.quiet ? NULL : stdout, &run.options) ? STATUS_FAILED : STATUS_DONE;
	transport_name_server(&run.options, run.server);
	run.stop = stop_catch_signals(clean_up);
	if (!open_all(&run))
		status = run_once(&run);
	close_all(&run);
	return (int)status;
}
