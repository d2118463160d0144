// SPDX-License-Identifier: GPL-2.0-or-later
/* Duties of the thread "rant-watch". */
#include "measure/housekeeping.h"

#include "host/nic/nic_driver.h"
#include "host/nic/nic_stamp.h"
#include "host/process/signals.h"
#include "result/take.h"

#include <err.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#define CLOCK_EARLY 10 /* first comparisons at a shorter period, until the rates of the clocks are known */

void housekeeping_open_clocks(struct housekeeping *h, const struct nic *n)
{
	struct exchange *x = h->exchange;
	const bool by_nic = options_by_nic(x->options);
	const struct nic_driver *driver;
	char name[NIC_DRIVER_BYTES];

	nic_read_stamper_driver(n, name);
	driver = nic_driver_find(name, n->can.rx_filters);
	x->watched = &h->clocks;
	if (clock_open_limited(&h->clocks, by_nic ? n->can.phc_index : -1, driver ? driver->reads_per_s : 0) &&
	    by_nic && !options_place_sent(x->options)) {
		x->packets = &h->packets;
		clock_use_packets(&h->clocks, x->packets);
	}
	if (by_nic && clock_is_comparable(&h->clocks))
		x->clocks = &h->clocks;
	x->result.converted = x->clocks != NULL;
	clock_measure(&h->clocks, 0);
}

static void compare_clocks(void *housekeeping)
{
	struct housekeeping *h = housekeeping;
	struct result *result = &h->exchange->result;

	clock_measure(&h->clocks, counter_get(&result->account.sent));
	if (take_clocks_moved(&h->clocks))
		atomic_store_explicit(&result->clocks_moved, true, memory_order_relaxed);
}

static void act_on_breach(void *housekeeping, const struct sample *s, uint64_t number)
{
	struct housekeeping *h = housekeeping;
	const struct result *result = &h->exchange->result;
	int64_t value_ns;

	result_metric(result, s, &value_ns);
	/* With --continue the loop goes on: nothing may interrupt the measuring CPU. */
	activity_story_breach(&h->activity, value_ns, counter_get(&result->account.sent), result->options->keep_going);
	h->on_breach(h->breach_context, s, number);
}

/* --stamp receive: ends a run that --stamp kernel would do better. */
static void look_at_placing(void *exchange)
{
	struct exchange *x = exchange;
	struct placing *p = &x->result.placing;

	if (atomic_load_explicit(&p->refused, memory_order_relaxed) || !placing_is_worse(p, PLACING_ENOUGH))
		return;
	warnx("--stamp receive places sent packets within +-%" PRId64 " ns, but avoids a delay of %" PRId64 " ns only "
	      "(mean, from the NIC to the kernel): use --stamp kernel, or --stamp receive-any",
	      atomic_load_explicit(&p->bound_ns, memory_order_relaxed), placing_delay_ns(p));
	atomic_store_explicit(&p->refused, true, memory_order_relaxed);
	signals_end_now();
}

static void collect(void *exchange)
{
	exchange_collect(exchange);
}

static void look_unseen(void *housekeeping)
{
	struct housekeeping *h = housekeeping;
	const bool frozen = trace_is_frozen(h->trace);

	activity_unseen_look(&h->unseen, frozen ? h->trace->last.entered_ns : 0, frozen ? h->trace->last.latency_ns : 0);
}

const struct unseen_watch *housekeeping_look_unseen(struct housekeeping *h)
{
	if (trace_is_frozen(h->trace))
		look_unseen(h);
	return &h->unseen;
}

static void add_duties(struct housekeeping *h)
{
	const struct options *o = h->exchange->options;
	const struct {
		bool wanted;
		struct worker_duty duty;
	} rows[] = {
		{ o->threshold_ns,
		  { HOUSEKEEPING_PERIOD_NS, .at_end = true, .act = breach_print, .context = &h->breaches } },
		{ o->save_trace_path != NULL, { HOUSEKEEPING_PERIOD_NS, .act = look_unseen, .context = h } },
		{ o->trace_rearm || h->on_saved,
		  { HOUSEKEEPING_PERIOD_NS, .act = trace_keep_now, .context = &h->keeper } },
		{ true, { HOUSEKEEPING_PERIOD_NS, .act = link_look, .context = &h->link } },
		{ options_by_nic(o), { NS_PER_S, .act = nic_provider_look, .context = &h->provider } },
		{ o->role == ROLE_EMIT, { HOUSEKEEPING_PERIOD_NS, .act = h->print_outage, .context = h->context } },
		{ true, { HOUSEKEEPING_PERIOD_NS, .early = CLOCK_EARLY, .act = compare_clocks, .context = h } },
		{ options_place_sent(o) && !o->any_bound,
		  { HOUSEKEEPING_PERIOD_NS, .at_end = true, .act = look_at_placing, .context = h->exchange } },
		{ true, { HOUSEKEEPING_PERIOD_NS, .act = collect, .context = h->exchange } },
		{ h->notes_changes, { NS_PER_S, .act = machine_changes_look, .context = &h->changes } },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].wanted)
			worker_add(&h->worker, rows[i].duty);
}

static void read_state_before(struct housekeeping *h)
{
	struct result *result = &h->exchange->result;
	const struct nic *n = h->link.nic;

	h->link.on_gone = signals_end_now;
	machine_changes_open(&h->changes, n->name, h->cpu);
	h->changes.idle = &result->asleep;
	link_look(&h->link);
	take_nic(&result->nic, n, &h->link);
	compare_clocks(h); /* the second comparison: the rates are known from the first packet on */
}

/* Without a comparison of the clocks during the run there are no stages to or from the NIC, and no kernel timestamp has
 * a place on the scale of its clock. */
static int check_clocks(struct housekeeping *h, int thread_error)
{
	struct exchange *x = h->exchange;
	const char *why = !x->clocks ? h->clocks.why :
			  thread_error == -ENODEV ?
				  "no CPU but the measuring one may be used to compare the clocks during the run" :
						    "the thread that compares the clocks during the run could not be "
						    "started";

	/* Timestamps of the kernel and of user space both are from CLOCK_REALTIME. */
	if (source_of_packets(x->options->stamp, false) != SOURCE_HARDWARE || (x->clocks && !thread_error))
		return 0;
	if (options_place_sent(x->options)) {
		warnx("--stamp receive needs the relation of the NIC's clock to that of the kernel, which is not known: "
		      "%s%s: use --stamp kernel", why,
		      x->clocks ? "" : "; receive timestamps limit the offset of its clock from one side only");
		return -EOPNOTSUPP;
	}
	if (result_has_stages(&x->result))
		snprintf(x->result.no_stages, sizeof(x->result.no_stages), "%s", why);
	exchange_drop_clocks(x);
	return 0;
}

int housekeeping_start(struct housekeeping *h)
{
	struct exchange *x = h->exchange;
	const struct options *o = x->options;
	int error;

	h->worker.name = "rant-watch";
	h->worker.idle = &x->result.asleep;
	h->breaches = (struct breach_printer){ .result = &x->result, .act = act_on_breach, .context = h };
	h->keeper = (struct trace_keeper){ .trace = h->trace, .folder = o->save_trace_path,
					   .interval_ns = o->trace_rearm ? o->trace_interval_ns : INT64_MAX,
					   .on_saved = h->on_saved, .context = h->saved_context };
	h->unseen.activity = &h->activity.activity;
	if (o->save_trace_path)
		activity_unseen_begin(&h->unseen);
	h->provider.nic = h->link.nic;
	add_duties(h);
	read_state_before(h);
	error = worker_start(&h->worker);
	if (error && o->trace_rearm) {
		warnx("--trace-rearm: saving the trace needs a CPU besides the measuring one, and rant has none (%s): "
		      "leave it out, or allow rant another CPU", strerror(-error));
		return error;
	}
	h->no_other_cpu = error == -ENODEV;
	if (error && error != -ENODEV)
		warnx("the housekeeping thread could not be started (%s), so this run has no progress, commands and "
		      "clock comparison: raise 'ulimit -u' and 'ulimit -n'", strerror(-error));
	return check_clocks(h, error);
}

/* ---- Before and after the measurement ---------------------------------------------------------------------------- */

static void read_setting(struct housekeeping *h, struct result_nic_setting *to)
{
	int setting[3];
	const int error = nic_read_setting(h->link.nic, setting);

	take_nic_setting(to, setting, error, h->exchange->options);
}

void housekeeping_read_before(struct housekeeping *h)
{
	activity_read(&h->activity.activity, &h->activity.start, false);
	read_setting(h, &h->exchange->result.nic.setting[0]);
	link_read(h->link.nic, &h->link.before);
}

void housekeeping_read_after(struct housekeeping *h)
{
	link_read(h->link.nic, &h->link.after);
	nic_provider_look(&h->provider);
	compare_clocks(h);
	activity_read(&h->activity.activity, &h->activity.end, false);
	read_setting(h, &h->exchange->result.nic.setting[1]);
}

void housekeeping_take(const struct housekeeping *h)
{
	struct result *result = &h->exchange->result;

	take_activity(&result->activity, &h->activity);
	take_nic(&result->nic, h->link.nic, &h->link);
	take_nic_provider(&result->nic, &h->provider);
	take_changes(&result->changes, &h->changes);
	take_clocks(&result->clocks, &h->clocks, result->began_ns);
}
