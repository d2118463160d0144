/* build: sources= libs= */
// SPDX-License-Identifier: GPL-2.0-or-later
/* Duties of the housekeeping thread by option, and a run without that thread. */
#include "measure/housekeeping.c"

#include "util.h"

/* ---- Functions of other modules ---------------------------------------------------------------------------------- */

static void (*added[WORKER_DUTIES_MAX])(void *context);
static unsigned duties, comparisons, dropped, provider_looks;
static int start_error, open_error;
static uint32_t limit;
static struct nic_driver driver = { .reads_per_s = 7 };
static bool driver_is_known, moved;

void worker_add(struct worker *w, struct worker_duty duty)
{
	(void)w;
	assert_true(duties < WORKER_DUTIES_MAX);
	added[duties++] = duty.act;
}

int worker_start(struct worker *w)
{
	assert_string_equal(w->name, "rant-watch");
	assert_int_equal(comparisons, 1); /* before the thread may compare the clocks */
	return start_error;
}

int clock_open_limited(struct clock_watch *c, int phc_index, uint32_t reads_per_s)
{
	(void)phc_index;
	limit = reads_per_s;
	c->phc_fd = open_error ? -1 : 3;
	if (open_error)
		snprintf(c->why, sizeof(c->why), "no clock of its own");
	return open_error;
}

void clock_use_packets(struct clock_watch *c, struct clock_packets *packets)
{
	c->packets = packets;
}

int clock_measure(struct clock_watch *c, uint64_t mark)
{
	(void)c;
	(void)mark;
	comparisons++;
	return 0;
}

void nic_read_stamper_driver(const struct nic *n, char name[NIC_DRIVER_BYTES])
{
	(void)n;
	*name = '\0';
}

const struct nic_driver *nic_driver_find(const char *name, uint32_t rx_filters)
{
	(void)name;
	(void)rx_filters;
	return driver_is_known ? &driver : NULL;
}

void exchange_drop_clocks(struct exchange *x)
{
	x->clocks = NULL;
	dropped++;
}

bool take_clocks_moved(const struct clock_watch *clocks)
{
	(void)clocks;
	return moved;
}

void take_nic(struct result_nic *to, const struct nic *from, const struct link_watch *link)
{
	(void)link;
	memcpy(to->name, from->name, sizeof(to->name));
}

void take_nic_provider(struct result_nic *to, const struct nic_provider_watch *from)
{
	to->provider_changes = from->changes;
}

void nic_provider_look(void *watch)
{
	const struct nic_provider_watch *w = watch;

	assert_non_null(w->nic);
	provider_looks++;
}

void take_changes(struct result_changes *to, const struct machine_changes *from)
{
	to->count = from->count;
}

void take_clocks(struct result_clocks *to, const struct clock_watch *from, int64_t began_ns)
{
	(void)from;
	to->late_ns = began_ns;
}

void machine_changes_open(struct machine_changes *c, const char *interface, int cpu)
{
	(void)interface;
	c->cpu = cpu;
}

void breach_print(void *printer)
{
	(void)printer;
}

void trace_keep_now(void *keeper)
{
	(void)keeper;
}

void link_look(void *worker)
{
	(void)worker;
}

void machine_changes_look(void *changes)
{
	(void)changes;
}

void exchange_collect(struct exchange *x)
{
	(void)x;
}

void signals_end_now(void)
{
}

static struct {
	int64_t value_ns;
	bool measuring;
	unsigned calls;
} noted;

void activity_story_breach(struct activity_story *s, int64_t value_ns, uint64_t mark, bool measuring)
{
	(void)s;
	(void)mark;
	noted.value_ns = value_ns;
	noted.measuring = measuring;
	noted.calls++;
}

static char order[64]; /* of readings */

void activity_read(struct activity *a, struct activity_reading *r, bool measuring)
{
	(void)a;
	(void)r;
	assert_false(measuring);
	strcat(order, "activity ");
}

int nic_read_setting(const struct nic *n, int setting[3])
{
	(void)n;
	memset(setting, 0, 3 * sizeof(*setting));
	strcat(order, "setting ");
	return 0;
}

void take_nic_setting(struct result_nic_setting *to, const int setting[3], int error, const struct options *o)
{
	(void)setting;
	(void)o;
	to->known = !error;
}

void link_read(const struct nic *n, struct link_state *s)
{
	(void)n;
	s->up = true;
	strcat(order, "link ");
}

void take_activity(struct result_activity *to, const struct activity_story *from)
{
	(void)from;
	to->is_read = true;
}

static int64_t looked_ns, looked_latency_ns;
static bool frozen;

void activity_unseen_begin(struct unseen_watch *w)
{
	assert_non_null(w->activity);
	assert_int_equal(duties, 0); /* before another thread may read */
	strcat(order, "unseen ");
}

void activity_unseen_look(struct unseen_watch *w, int64_t breach_ns, int64_t latency_ns)
{
	(void)w;
	looked_ns = breach_ns;
	looked_latency_ns = latency_ns;
	strcat(order, "look ");
}

bool trace_is_frozen(const struct trace *t)
{
	(void)t;
	return frozen;
}

static void print_outage(void *context)
{
	(void)context;
}

/* ---- A run ------------------------------------------------------------------------------------------------------- */

static struct options options;
static struct exchange x;
static struct housekeeping h;
static struct histogram stage;
static const struct nic nic = { .name = "eth1", .can.phc_index = 3 };
static char said[400];

static int a_run(void **state)
{
	(void)state;
	options = (struct options){ .stamp = SOURCE_HARDWARE };
	memset(&x, 0, sizeof(x));
	memset(&h, 0, sizeof(h));
	x.options = x.result.options = &options;
	x.result.stage[0] = &stage;
	h.exchange = &x;
	h.link.nic = &nic;
	h.print_outage = print_outage;
	duties = comparisons = dropped = limit = 0;
	start_error = open_error = 0;
	driver_is_known = moved = false;
	return 0;
}

static int start(void)
{
	struct util_capture c;
	int error;

	housekeeping_open_clocks(&h, &nic);
	comparisons = 0;
	util_capture_begin(&c);
	error = housekeeping_start(&h);
	util_capture_end(&c, said, sizeof(said));
	return error;
}

#define assert_duties(...) do {                                                       \
		void (*const wanted[])(void *context) = { __VA_ARGS__ };              \
		assert_int_equal(duties, COUNT_OF(wanted));                           \
		for (unsigned i_ = 0; i_ < COUNT_OF(wanted); i_++)                    \
			assert_true(added[i_] == wanted[i_]);                         \
	} while (0)

static void duties_of_a_plain_reflector(void **state)
{
	(void)state;
	options.role = ROLE_REFLECT;
	assert_int_equal(start(), 0);
	assert_duties(link_look, nic_provider_look, compare_clocks, collect);
	assert_string_equal(said, "");
	assert_false(h.no_other_cpu);
	assert_string_equal(x.result.nic.name, "eth1"); /* known from the begin on */
	assert_true(h.link.on_gone == signals_end_now);
	assert_int_equal(dropped, 0);
}

static void timestamps_of_the_kernel_have_no_provider(void **state)
{
	(void)state;
	options.role = ROLE_REFLECT;
	options.stamp = SOURCE_KERNEL;
	assert_int_equal(start(), 0);
	assert_duties(link_look, compare_clocks, collect);
}

static void all_duties_in_their_order(void **state)
{
	(void)state;
	options.threshold_ns = options.trace_rearm = true;
	h.notes_changes = true;
	assert_int_equal(start(), 0);
	assert_duties(breach_print, trace_keep_now, link_look, nic_provider_look, print_outage, compare_clocks,
		      collect, machine_changes_look);
}

/* What the kernel does not see is read before the trace is saved. */
static void readings_for_a_saved_trace(void **state)
{
	static struct trace trace = { .last = { .entered_ns = 77, .latency_ns = 5 } };

	(void)state;
	*order = '\0';
	options.threshold_ns = options.trace_rearm = true;
	options.save_trace_path = "/tmp";
	h.trace = &trace;
	assert_int_equal(start(), 0);
	assert_string_equal(order, "unseen ");
	assert_duties(breach_print, look_unseen, trace_keep_now, link_look, nic_provider_look, print_outage, compare_clocks,
		      collect);
	frozen = false;
	assert_ptr_equal(housekeeping_look_unseen(&h), &h.unseen);
	assert_string_equal(order, "unseen ");
	look_unseen(&h);
	assert_int_equal(looked_ns, 0);
	frozen = true;
	housekeeping_look_unseen(&h);
	assert_int_equal(looked_ns, 77);
	assert_int_equal(looked_latency_ns, 5);
	frozen = false;
}

/* ---- Breaches, and the readings before and after ------------------------------------------------------------------ */

static uint64_t breach_seen;

static void on_breach(void *context, const struct sample *s, uint64_t number)
{
	assert_ptr_equal(context, &breach_seen);
	assert_int_equal(s->seq, 9);
	assert_int_equal(noted.calls, 1); /* the activity is read before a command runs */
	breach_seen = number;
}

static void a_breach(void **state)
{
	const struct sample s = { .seq = 9, .latency_ns = 77 };

	(void)state;
	options.threshold_ns = 50;
	options.keep_going = true;
	h.on_breach = on_breach;
	h.breach_context = &breach_seen;
	memset(&noted, 0, sizeof(noted));
	assert_int_equal(start(), 0);
	assert_ptr_equal(h.breaches.result, &x.result);
	h.breaches.act(h.breaches.context, &s, 4);
	assert_int_equal(noted.value_ns, 77);
	assert_true(noted.measuring);
	assert_int_equal(breach_seen, 4);
}

static void readings_before_and_after(void **state)
{
	(void)state;
	*order = '\0';
	housekeeping_read_before(&h);
	assert_string_equal(order, "activity setting link ");
	assert_true(x.result.nic.setting[0].known && !x.result.nic.setting[1].known);
	assert_true(h.link.before.up && !h.link.after.up);
	comparisons = provider_looks = 0;
	h.provider.nic = &nic;
	*order = '\0';
	housekeeping_read_after(&h);
	assert_string_equal(order, "link activity setting ");
	assert_int_equal(comparisons, 1);
	assert_int_equal(provider_looks, 1); /* the last change */
	assert_true(x.result.nic.setting[1].known && h.link.after.up);
}

/* ---- Clocks ------------------------------------------------------------------------------------------------------ */

static void the_clocks_of_a_nic_that_stamps(void **state)
{
	static const uint8_t stamps[] = { SOURCE_HARDWARE, SOURCE_KERNEL, SOURCE_RECEIVE };

	for (size_t i = 0; i < COUNT_OF(stamps); i++)
		for (int fails = 0; fails < 2; fails++) {
			const bool kernel = stamps[i] == SOURCE_KERNEL;
			/* Packets limit the offset of a clock that cannot be read, if the NIC timestamps both ways. */
			const bool packets = fails && stamps[i] == SOURCE_HARDWARE;
			const bool converts = !kernel && (!fails || packets);

			a_run(state);
			options.stamp = stamps[i];
			open_error = fails ? -ENOENT : 0;
			driver_is_known = kernel;
			housekeeping_open_clocks(&h, &nic);
			assert_ptr_equal(x.packets, packets ? &h.packets : NULL);
			assert_ptr_equal(h.clocks.packets, x.packets);
			assert_int_equal(x.clocks != NULL, converts);
			assert_int_equal(x.result.converted, converts);
			assert_ptr_equal(x.watched, &h.clocks);
			assert_int_equal(limit, kernel ? 7 : 0);
			assert_int_equal(comparisons, 1);
		}
}

static void a_clock_that_was_set(void **state)
{
	(void)state;
	compare_clocks(&h);
	assert_false(x.result.clocks_moved);
	moved = true;
	compare_clocks(&h);
	moved = false;
	compare_clocks(&h);
	assert_true(x.result.clocks_moved); /* for the rest of the run */
}

static void results_after_the_run(void **state)
{
	(void)state;
	h.changes.count = 3;
	x.result.began_ns = 5;
	housekeeping_take(&h);
	assert_int_equal(x.result.changes.count, 3);
	assert_int_equal(x.result.clocks.late_ns, 5);
	assert_string_equal(x.result.nic.name, "eth1");
	assert_true(x.result.activity.is_read);
}

/* ---- Without a thread -------------------------------------------------------------------------------------------- */

static void without_a_thread(void **state)
{
	static const struct {
		int start_error, open_error, stamp;
		bool stages, drops;
		const char *why, *says;
	} rows[] = {
		{ -ENODEV, 0, SOURCE_HARDWARE, true, true, "no CPU but the measuring one may be used", "" },
		{ -ENODEV, 0, SOURCE_HARDWARE, false, true, "", "" },
		{ -EAGAIN, 0, SOURCE_HARDWARE, true, true, "could not be started", "raise 'ulimit -u'" },
		{ -ENODEV, -ENOENT, SOURCE_HARDWARE, true, true, "no CPU but the measuring one may be used", "" },
		{ 0, -ENOENT, SOURCE_HARDWARE, true, false, "", "" }, /* packets give the relation */
		{ -ENODEV, -ENOENT, SOURCE_KERNEL, true, false, "", "" },
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		a_run(state);
		start_error = rows[i].start_error;
		open_error = rows[i].open_error;
		options.stamp = rows[i].stamp;
		x.result.stage[0] = rows[i].stages ? &stage : NULL;
		assert_int_equal(start(), 0);
		assert_int_equal(dropped, rows[i].drops);
		assert_non_null(strstr(x.result.no_stages, rows[i].why));
		assert_int_equal(!*x.result.no_stages, !*rows[i].why);
		assert_non_null(strstr(said, rows[i].says));
		assert_int_equal(!*said, !*rows[i].says);
		assert_int_equal(h.no_other_cpu, rows[i].start_error == -ENODEV);
	}
}

static void receive_timestamps_need_a_clock_that_can_be_read(void **state)
{
	(void)state;
	options.stamp = SOURCE_RECEIVE;
	open_error = -ENOENT;
	assert_int_equal(start(), -EOPNOTSUPP);
	assert_non_null(strstr(said, "no clock of its own; receive timestamps limit the offset of its clock from one "
				     "side only: use --stamp kernel"));
}

static void a_trace_cannot_be_rearmed_without_a_thread(void **state)
{
	(void)state;
	options.trace_rearm = true;
	start_error = -ENODEV;
	assert_int_equal(start(), -ENODEV);
	assert_non_null(strstr(said, "--trace-rearm: saving the trace needs a CPU besides the measuring one"));
	assert_int_equal(dropped, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(duties_of_a_plain_reflector, a_run),
		cmocka_unit_test_setup(timestamps_of_the_kernel_have_no_provider, a_run),
		cmocka_unit_test_setup(all_duties_in_their_order, a_run),
		cmocka_unit_test_setup(readings_for_a_saved_trace, a_run),
		cmocka_unit_test_setup(a_breach, a_run),
		cmocka_unit_test_setup(readings_before_and_after, a_run),
		cmocka_unit_test_setup(the_clocks_of_a_nic_that_stamps, a_run),
		cmocka_unit_test_setup(a_clock_that_was_set, a_run),
		cmocka_unit_test_setup(results_after_the_run, a_run),
		cmocka_unit_test_setup(without_a_thread, a_run),
		cmocka_unit_test_setup(receive_timestamps_need_a_clock_that_can_be_read, a_run),
		cmocka_unit_test_setup(a_trace_cannot_be_rearmed_without_a_thread, a_run),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
