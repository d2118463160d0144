/* build: wraps=fopen,sched_getaffinity,sched_getcpu,sysconf,pthread_create,unshare,trace_is_frozen,trace_save,trace_rearm sources=@result,report/text/progress.c,wire/packet.c,wire/tlv*.c,wire/timestamping.c,wire/peer_socket.c,wire/hmac.c,wire/session.c,wire/allow.c,wire/sequence.c,histogram.c,tracefs.c,host/trace/trace_*.c,host/counters/pmc.c,host/process/memory.c,host/clock/clock*.c libs=-lm */
// SPDX-License-Identifier: GPL-2.0-or-later
/* The housekeeping thread: its CPUs, and its duties: the progress line, reported breaches, when a trace is
 * saved. */
#include "host/process/worker.c"

#include "golden.h"
#include "host/trace/trace_save.h"
#include "report/text/progress.h"
#include "result/breach.h"
#include "tracefs.h"
#include "wire/socket.h"

#include <dirent.h>
#include <fcntl.h>

/* The exchange here does not send. */
int socket_want_tos(struct channel *c)
{
	(void)c;
	return 0;
}

int socket_want_kernel_times(struct channel *c)
{
	(void)c;
	return 0;
}

int socket_want_detail(struct channel *c)
{
	(void)c;
	return 0;
}

/* ---- A machine of any shape -------------------------------------------------------------------------------------- */

static struct {
	bool on;
	long cpus;
	const char *isolated; /* NULL: the file is absent */
	const char *mine; /* CPUs of the measuring thread, one digit each */
	int current;
} fake;

FILE *__real_fopen(const char *path, const char *mode);
FILE *__wrap_fopen(const char *path, const char *mode);
FILE *__wrap_fopen(const char *path, const char *mode)
{
	if (!fake.on)
		return __real_fopen(path, mode);
	assert_string_equal(path, "/sys/devices/system/cpu/isolated");
	return fake.isolated ? fmemopen((void *)fake.isolated, strlen(fake.isolated), "r") : NULL;
}

int __real_sched_getaffinity(pid_t pid, size_t bytes, cpu_set_t *cpus);
int __wrap_sched_getaffinity(pid_t pid, size_t bytes, cpu_set_t *cpus);
int __wrap_sched_getaffinity(pid_t pid, size_t bytes, cpu_set_t *cpus)
{
	if (!fake.on)
		return __real_sched_getaffinity(pid, bytes, cpus);
	CPU_ZERO(cpus);
	for (const char *c = fake.mine; *c; c++)
		CPU_SET((size_t)(*c - '0'), cpus);
	return 0;
}

int __real_sched_getcpu(void);
int __wrap_sched_getcpu(void);
int __wrap_sched_getcpu(void)
{
	return fake.on ? fake.current : __real_sched_getcpu();
}

long __real_sysconf(int name);
long __wrap_sysconf(int name);
long __wrap_sysconf(int name)
{
	return fake.on && name == _SC_NPROCESSORS_CONF ? fake.cpus : __real_sysconf(name);
}

static int real_machine(void **state)
{
	(void)state;
	fake.on = false;
	return 0;
}

static void the_cpus_that_are_left(void **state)
{
	static const struct {
		const char *name;
		long cpus;
		const char *isolated, *mine;
		int current;
		const char *chosen; /* NULL: none */
	} rows[] = {
		{ "two, pinned to one", 2, "\n", "0", 0, "1" },
		{ "two, pinned to the other", 2, "\n", "1", 1, "0" },
		{ "no list of isolated CPUs", 2, NULL, "1", 1, "0" },
		{ "wider than the mask of taskset", 4, "\n", "2", 2, "013" },
		{ "pinned to an isolated one, others isolated too", 8, "2-5,7\n", "3", 3, "016" },
		{ "one isolated CPU", 4, "3\n", "3", 3, "012" },
		{ "not pinned: not where it is now", 4, "\n", "0123", 2, "013" },
		{ "only one CPU", 1, "\n", "0", 0, NULL },
		{ "all others isolated", 4, "1-3\n", "0", 0, NULL },
		{ "more isolated than there are", 2, "1-4095\n", "0", 0, NULL },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		cpu_set_t cpus;
		char chosen[16] = "";

		fake.on = true;
		fake.cpus = rows[i].cpus;
		fake.isolated = rows[i].isolated;
		fake.mine = rows[i].mine;
		fake.current = rows[i].current;
		int error = worker_choose_cpus(&cpus);

		fake.on = false;
		for (size_t cpu = 0; cpu < 10; cpu++)
			if (CPU_ISSET(cpu, &cpus))
				sprintf(chosen + strlen(chosen), "%zu", cpu);
		if (error != (rows[i].chosen ? 0 : -ENODEV) || strcmp(chosen, rows[i].chosen ? rows[i].chosen : ""))
			fail_msg("%s: error %d, CPUs '%s'", rows[i].name, error, chosen);
	}
}

/* ---- The real thread --------------------------------------------------------------------------------------------- */

static struct result result;

#define PERIOD_NS (100 * NS_PER_MS)

static void it_does_less_when_nothing_comes(void **state)
{
	const struct worker_duty often = { .period_ns = 100 * NS_PER_MS, .early = 2 },
					seldom = { .period_ns = 3 * NS_PER_S };
	_Atomic bool idle = false;
	struct worker w = { .idle = &idle };

	(void)state;
	assert_int_equal(gap_ns(&w, &often, 2), 100 * NS_PER_MS);
	idle = true;
	assert_int_equal(gap_ns(&w, &often, 1), 10 * NS_PER_MS);
	assert_int_equal(gap_ns(&w, &often, 2), 500 * NS_PER_MS);
	assert_int_equal(gap_ns(&w, &seldom, 0), 3 * NS_PER_S);
	w.idle_ns = 200 * NS_PER_MS;
	assert_int_equal(gap_ns(&w, &often, 2), 200 * NS_PER_MS);
	w.idle_ns = 0;
	w.idle = NULL;
	assert_int_equal(gap_ns(&w, &often, 2), 100 * NS_PER_MS);
}

static void draw(void *context)
{
	struct result *r = context;

	progress_draw("1.0 s  12345 samples");
	atomic_store(&r->account.recent_max_ns, 0);
}

static struct worker progress_watch(void)
{
	struct worker w = { .duties = 0 };

	worker_add(&w, (struct worker_duty){ NS_PER_S, .act = draw, .context = &result });
	return w;
}

static void a_line_a_second_and_none_at_the_end(void **state)
{
	struct util_capture c;
	struct worker w = progress_watch();
	char drawn[1024];

	(void)state;
	result.account.recent_max_ns = 4567;
	util_capture_begin(&c);
	int error = worker_start(&w);

	/* Its own clock says when it has drawn; it must have done so by then, or never will. */
	for (int i = 0; i < 500 && !error && atomic_load(&result.account.recent_max_ns); i++)
		usleep(10000);
	worker_stop(&w);
	progress_end();
	util_capture_end(&c, drawn, sizeof(drawn));
	if (error == -ENODEV) {
		print_message("no CPU but this one may be used here\n");
		skip();
	}
	assert_int_equal(error, 0);
	assert_non_null(strstr(drawn, "1.0 s  12345 samples"));
	assert_string_equal(drawn + strlen(drawn) - 4, "\r\033[K");
	assert_int_equal(result.account.recent_max_ns, 0);
	worker_stop(&w); /* twice does no harm */
}

/* State of the other thread of this process, from the kernel. */
static void read_thread(cpu_set_t *cpus, int *policy)
{
	DIR *d = opendir("/proc/self/task");
	struct dirent *e;

	while ((e = readdir(d))) {
		pid_t id = atoi(e->d_name);

		if (id > 0 && id != getpid()) {
			assert_int_equal(__real_sched_getaffinity(id, sizeof(*cpus), cpus), 0);
			*policy = sched_getscheduler(id);
		}
	}
	closedir(d);
}

static void it_never_runs_where_is_measured(void **state)
{
	const struct sched_param priority = { .sched_priority = 1 };
	cpu_set_t before, pinned, thread;
	struct worker w = progress_watch();
	int policy = -1;

	(void)state;
	assert_int_equal(__real_sched_getaffinity(0, sizeof(before), &before), 0);
	CPU_ZERO(&pinned);
	CPU_SET((size_t)sched_getcpu(), &pinned);
	sched_setaffinity(0, sizeof(pinned), &pinned);
	bool real_time = !sched_setscheduler(0, SCHED_FIFO, &priority);
	int error = worker_start(&w);

	CPU_ZERO(&thread);
	if (!error)
		read_thread(&thread, &policy);
	worker_stop(&w);
	sched_setscheduler(0, SCHED_OTHER, &(struct sched_param){ .sched_priority = 0 });
	sched_setaffinity(0, sizeof(before), &before);
	if (error == -ENODEV || !real_time) {
		print_message("one CPU only, or no permission for SCHED_FIFO\n");
		skip();
	}
	assert_int_equal(error, 0);
	assert_true(CPU_COUNT(&thread) > 0);
	CPU_AND(&pinned, &pinned, &thread);
	assert_int_equal(CPU_COUNT(&pinned), 0);
	assert_int_equal(policy, SCHED_OTHER);
}

static unsigned begun_at; /* in the order of calls; 0: never */
static unsigned calls;
static pid_t begun_by;

static void begin_thread(void *context)
{
	begun_by = gettid();
	begun_at = ++*(unsigned *)context;
}

static void count_call(void *context)
{
	++*(unsigned *)context;
}

/* Privileges that a thread gives up must be given up before it does anything. */
static void its_beginning_comes_first(void **state)
{
	struct worker w = { .begin = begin_thread, .context = &calls };

	(void)state;
	worker_add(&w, (struct worker_duty){ NS_PER_MS, .early = 1000, .at_end = true, .act = count_call,
					   .context = &calls });
	int error = worker_start(&w);

	for (int i = 0; i < 500 && !error && calls < 2; i++)
		usleep(10000);
	worker_stop(&w);
	if (error == -ENODEV) {
		print_message("no CPU but this one may be used here\n");
		skip();
	}
	assert_int_equal(error, 0);
	assert_int_equal(begun_at, 1);
	assert_int_not_equal(begun_by, gettid());
}

/* ---- The end of the thread, and its files ------------------------------------------------------------------------ */

static struct {
	unsigned turns, turns_at_end, ends;
	pid_t ended_by, turned_by;
	int file, opened; /* opened: by the thread */
	bool had_file;
} life;

static void turn(void *context)
{
	(void)context;
	life.turns++;
	life.turned_by = gettid();
}

static void end_thread(void *context)
{
	*(unsigned *)context += 1;
	life.ended_by = gettid();
	life.turns_at_end = life.turns;
	life.had_file = fcntl(life.file, F_GETFD) >= 0;
	life.opened = open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static int unshare_error;

int __real_unshare(int what);
int __wrap_unshare(int what);
int __wrap_unshare(int what)
{
	assert_int_equal(what, CLONE_FILES);
	errno = unshare_error;
	return unshare_error ? -1 : __real_unshare(what);
}

static struct worker life_watch(void)
{
	struct worker w = { .end = end_thread, .context = &life.ends };

	memset(&life, 0, sizeof(life));
	unshare_error = 0;
	worker_add(&w, (struct worker_duty){ NS_PER_MS, .act = turn, .context = &life });
	return w;
}

/* By the thread itself, when it does nothing else any more; and not without one. */
static void its_end_comes_last(void **state)
{
	struct worker w = life_watch();

	(void)state;
	worker_stop(&w);
	assert_int_equal(life.ends, 0);
	int error = worker_start(&w);

	if (error == -ENODEV) {
		print_message("no CPU but this one may be used here\n");
		skip();
	}
	assert_int_equal(error, 0);
	worker_stop(&w);
	assert_int_equal(life.ends, 1);
	assert_int_equal(life.turns_at_end, life.turns);
	assert_int_not_equal(life.ended_by, gettid());
	if (life.turns)
		assert_int_equal(life.ended_by, life.turned_by);
	worker_stop(&w);
	assert_int_equal(life.ends, 1);
}

/* From worker_start() on: a file closed here stays open there, and a file opened there is not open here. */
static void it_has_files_of_its_own(void **state)
{
	struct worker w = life_watch();

	(void)state;
	life.file = open("/dev/null", O_RDONLY | O_CLOEXEC);
	int error = worker_start(&w);

	if (error == -ENODEV) {
		print_message("no CPU but this one may be used here\n");
		skip();
	}
	assert_int_equal(error, 0);
	assert_false(w.shares_files);
	close(life.file);
	worker_stop(&w);
	assert_true(life.had_file);
	assert_int_equal(fcntl(life.file, F_GETFD), -1);
	assert_true(life.opened >= 0);
	assert_int_equal(fcntl(life.opened, F_GETFD), -1);
}

static void without_files_of_its_own_it_says_so(void **state)
{
	struct util_capture c;
	struct worker w = life_watch();
	char said[512];

	(void)state;
	unshare_error = EPERM;
	life.file = open("/dev/null", O_RDONLY | O_CLOEXEC);
	util_capture_begin(&c);
	int error = worker_start(&w);

	util_capture_end(&c, said, sizeof(said));
	unshare_error = 0;
	if (error == -ENODEV) {
		print_message("no CPU but this one may be used here\n");
		skip();
	}
	/* The line is there, and this is known, when worker_start() returns. */
	assert_true(w.shares_files);
	golden_line(said);
	worker_stop(&w);
	assert_true(life.had_file);
	assert_int_equal(close(life.opened), 0);
	close(life.file);
}

/* ---- Reported breaches ------------------------------------------------------------------------------------------- */

/* Calls of the hook, in order. */
static struct {
	_Atomic unsigned calls;
	uint64_t number[256];
	struct sample s[256];
	bool by_caller[256];
	pthread_t caller;
} reported;

static void on_breach(void *context, const struct sample *s, uint64_t number)
{
	unsigned n = reported.calls;

	assert_ptr_equal(context, &reported);
	assert_true(n < COUNT_OF(reported.number));
	reported.number[n] = number;
	reported.s[n] = *s;
	reported.by_caller[n] = pthread_equal(pthread_self(), reported.caller);
	reported.calls = n + 1;
}

/* As the measuring thread does it: breach n has sequence number 1000 + n. */
static void breach(unsigned times)
{
	counter *breaches = &result.account.breaches;

	for (; times; times--) {
		uint64_t n = counter_get(breaches);

		result.kept[n % BREACHES_KEPT] = (struct sample){ .seq = (uint32_t)(1000 + n),
								  .latency_ns = (int64_t)n };
		atomic_store_explicit(breaches, n + 1, memory_order_release);
	}
}

static struct breach_printer printer;

static struct worker fresh_worker(void)
{
	struct worker w = { .duties = 0 };

	memset(&result, 0, sizeof(result));
	memset(&reported, 0, sizeof(reported));
	reported.caller = pthread_self();
	printer = (struct breach_printer){ .result = &result, .act = on_breach, .context = &reported };
	worker_add(&w, (struct worker_duty){ PERIOD_NS, .at_end = true, .act = breach_print, .context = &printer });
	return w;
}

static void assert_reported(unsigned from, unsigned to, uint64_t first_number)
{
	for (unsigned i = from; i < to; i++) {
		assert_int_equal(reported.number[i], first_number + i - from);
		assert_int_equal(reported.s[i].seq, 1000 + reported.number[i]);
		assert_int_equal(reported.s[i].latency_ns, reported.number[i]);
	}
}

static void breaches_are_reported_in_order_and_once(void **state)
{
	(void)state;
	fresh_worker();
	breach_print(&printer);
	assert_int_equal(reported.calls, 0);
	breach(3);
	breach_print(&printer);
	assert_int_equal(reported.calls, 3);
	breach_print(&printer);
	assert_int_equal(reported.calls, 3);
	breach(1);
	breach_print(&printer);
	assert_int_equal(reported.calls, 4);
	assert_reported(0, 4, 0);
	assert_int_equal(printer.missed, 0);
}

/* The last place of the ring may be written just then, so one less than BREACHES_KEPT can be relied on. */
static void breaches_that_came_too_fast_are_counted(void **state)
{
	static const unsigned rows[] = { 1, BREACHES_KEPT - 1, BREACHES_KEPT, BREACHES_KEPT + 1,
					 3 * BREACHES_KEPT + 5 };

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		unsigned kept = rows[i] < BREACHES_KEPT ? rows[i] : BREACHES_KEPT - 1;

		fresh_worker();
		breach(rows[i]);
		breach_print(&printer);
		assert_int_equal(reported.calls, kept);
		assert_int_equal(printer.missed, rows[i] - kept);
		assert_reported(0, kept, rows[i] - kept);
		breach(2);
		breach_print(&printer);
		assert_int_equal(reported.calls, kept + 2);
		assert_reported(kept, kept + 2, rows[i]);
		assert_int_equal(printer.missed, rows[i] - kept);
	}
}

static void the_thread_prints_and_the_caller_prints_the_rest(void **state)
{
	struct worker w = fresh_worker();
	unsigned by_thread;

	(void)state;
	int error = worker_start(&w);

	if (error == -ENODEV) {
		print_message("no CPU but this one may be used here\n");
		skip();
	}
	assert_int_equal(error, 0);
	breach(2);
	/* It is the thread that must do this; without it nothing comes however long it is waited for. */
	for (int i = 0; i < 500 && reported.calls < 2; i++)
		usleep(10000);
	by_thread = reported.calls;
	/* Ended, but for the bookkeeping: later breaches are not seen. */
	eventfd_write(w.stop_fd, 1);
	pthread_join(w.thread, NULL);
	close(w.stop_fd);
	w.running = false;
	breach(3);
	worker_stop(&w);
	assert_int_equal(by_thread, 2);
	assert_int_equal(reported.calls, 5);
	assert_reported(0, 5, 0);
	for (unsigned i = 0; i < 5; i++)
		assert_int_equal(reported.by_caller[i], i >= 2);
	worker_stop(&w);
	assert_int_equal(reported.calls, 5);
}

/* Between the last round of the thread and its end. */
static void a_breach_at_the_very_end_is_reported(void **state)
{
	(void)state;
	for (int i = 0; i < 20; i++) {
		struct worker w = fresh_worker();
		int error = worker_start(&w);

		if (error == -ENODEV) {
			print_message("no CPU but this one may be used here\n");
			skip();
		}
		assert_int_equal(error, 0);
		breach(1);
		worker_stop(&w);
		assert_int_equal(reported.calls, 1);
		assert_int_equal(printer.missed, 0);
	}
}

static void without_a_thread_the_caller_prints_all(void **state)
{
	struct worker w = fresh_worker();

	(void)state;
	breach(2); /* as when there was no other CPU */
	worker_stop(&w);
	assert_int_equal(reported.calls, 2);
	assert_reported(0, 2, 0);
	assert_true(reported.by_caller[0]);
}

static void without_a_hook_nothing_is_reported(void **state)
{
	struct worker w = fresh_worker();

	(void)state;
	w.duties = 0;
	breach(2 * BREACHES_KEPT);
	worker_stop(&w);
	assert_int_equal(reported.calls, 0);
	assert_int_equal(printer.missed, 0);
}

/* ---- Saving a trace and switching it on again -------------------------------------------------------------------- */

static struct {
	bool on;
	bool frozen;
	int save_result, rearm_error;
	unsigned saves, rearms;
	const struct trace *trace;
	char last[8]; /* the calls in order: s and r */
} fake_trace;

static void note_call(char c)
{
	size_t n = strlen(fake_trace.last);

	if (n < sizeof(fake_trace.last) - 1)
		fake_trace.last[n] = c;
}

bool __real_trace_is_frozen(const struct trace *t);
bool __wrap_trace_is_frozen(const struct trace *t);
bool __wrap_trace_is_frozen(const struct trace *t)
{
	if (!fake_trace.on)
		return __real_trace_is_frozen(t);
	assert_ptr_equal(t, fake_trace.trace);
	return fake_trace.frozen;
}

int __wrap_trace_save(struct trace *t, const char *where, struct trace_saved *saved);
int __wrap_trace_save(struct trace *t, const char *where, struct trace_saved *saved)
{
	assert_true(fake_trace.on && fake_trace.frozen);
	assert_string_equal(where, "/folder");
	note_call('s');
	fake_trace.saves++;
	if (fake_trace.save_result < 0)
		return fake_trace.save_result;
	t->unsaved = false;
	t->saves++;
	saved->spike_cpu = optional_of((int64_t)fake_trace.saves);
	snprintf(saved->path, sizeof(saved->path), "/folder/a/rant-%u", t->saves);
	return fake_trace.save_result;
}

int __wrap_trace_rearm(struct trace *t);
int __wrap_trace_rearm(struct trace *t)
{
	assert_true(fake_trace.on && fake_trace.frozen && !t->unsaved);
	note_call('r');
	fake_trace.rearms++;
	if (!fake_trace.rearm_error)
		fake_trace.frozen = false;
	return fake_trace.rearm_error;
}

#define INTERVAL_NS (10 * NS_PER_S)
#define UPTIME_NS (1000 * NS_PER_S)

static struct trace trace;
static struct trace_keeper keeper;

static struct worker trace_watch(void)
{
	struct worker w = { .duties = 0 };

	memset(&result, 0, sizeof(result));
	memset(&fake_trace, 0, sizeof(fake_trace));
	memset(&trace, 0, sizeof(trace));
	fake_trace.on = true;
	fake_trace.trace = &trace;
	fake_trace.save_result = 1;
	keeper = (struct trace_keeper){ .trace = &trace, .folder = "/folder", .interval_ns = INTERVAL_NS };
	worker_add(&w, (struct worker_duty){ PERIOD_NS, .act = trace_keep_now, .context = &keeper });
	return w;
}

static void freeze(void)
{
	fake_trace.frozen = true;
	trace.unsaved = true;
}

static int real_trace(void **state)
{
	fake_trace.on = false;
	return real_machine(state);
}

static void an_armed_trace_is_left_alone(void **state)
{
	(void)state;
	trace_watch();
	trace_keep(&keeper, UPTIME_NS);
	trace.unsaved = true; /* belongs to the measuring thread while it is armed */
	trace_keep(&keeper, 2 * UPTIME_NS);
	assert_string_equal(fake_trace.last, "");
	assert_int_equal(keeper.rearmed_ns, 0);
}

static void without_a_trace_nothing_is_asked(void **state)
{
	(void)state;
	trace_watch();
	freeze();
	keeper.trace = NULL;
	trace_keep(&keeper, UPTIME_NS);
	assert_string_equal(fake_trace.last, "");
}

static void a_frozen_trace_is_saved_and_switched_on(void **state)
{
	(void)state;
	trace_watch();
	freeze();
	trace_keep(&keeper, UPTIME_NS);
	assert_string_equal(fake_trace.last, "sr");
	assert_false(fake_trace.frozen);
	assert_int_equal(keeper.error, 0);
	assert_int_equal(keeper.saved.spike_cpu.value, 1);
	trace_keep(&keeper, UPTIME_NS + 1);
	assert_string_equal(fake_trace.last, "sr");
}

static void the_second_is_saved_at_once_and_switched_on_in_time(void **state)
{
	(void)state;
	trace_watch();
	freeze();
	trace_keep(&keeper, UPTIME_NS);
	freeze();
	trace_keep(&keeper, UPTIME_NS + 1);
	assert_string_equal(fake_trace.last, "srs");
	assert_int_equal(keeper.saved.spike_cpu.value, 2);
	trace_keep(&keeper, UPTIME_NS + INTERVAL_NS - 1);
	assert_string_equal(fake_trace.last, "srs"); /* saved once, though it is still frozen */
	assert_true(fake_trace.frozen);
	trace_keep(&keeper, UPTIME_NS + INTERVAL_NS);
	assert_string_equal(fake_trace.last, "srsr");
	assert_false(fake_trace.frozen);
	/* The next interval counts from then. */
	freeze();
	trace_keep(&keeper, UPTIME_NS + 2 * INTERVAL_NS - 1);
	assert_string_equal(fake_trace.last, "srsrs");
	trace_keep(&keeper, UPTIME_NS + 2 * INTERVAL_NS);
	assert_string_equal(fake_trace.last, "srsrsr");
}

static char explained[64];

static void on_saved(void *context, const struct trace_record *breach, const char *path)
{
	assert_ptr_equal(context, &keeper);
	assert_ptr_equal(breach, &trace.last);
	assert_true(fake_trace.frozen); /* what happens is explained before the trace is lost */
	snprintf(explained, sizeof(explained), "%s", path ? path : "not saved");
}

/* At a reflector that explains its traces, but does not switch tracing on again. */
static void a_saved_trace_is_reported_and_stays_frozen(void **state)
{
	(void)state;
	trace_watch();
	keeper.interval_ns = INT64_MAX;
	keeper.on_saved = on_saved;
	keeper.context = &keeper;
	freeze();
	trace_keep(&keeper, UPTIME_NS);
	assert_string_equal(fake_trace.last, "s");
	assert_string_equal(explained, keeper.saved.path);
	assert_true(fake_trace.frozen);
	*explained = '\0';
	trace_keep(&keeper, UPTIME_NS + INTERVAL_NS);
	assert_string_equal(explained, ""); /* once */
	trace_watch();
	keeper.on_saved = on_saved;
	keeper.context = &keeper;
	freeze();
	fake_trace.save_result = -ENOSPC;
	trace_keep(&keeper, UPTIME_NS);
	assert_string_equal(explained, "not saved");
}

/* The list has the last traces, with the keys of their breaches. */
static void saved_traces_are_listed(void **state)
{
	(void)state;
	trace_watch();
	for (uint32_t i = 0; i < TRACES_KEPT + 3; i++) {
		freeze();
		trace.last.seq = 100 + i;
		trace.last.latency_ns = 1000 + i;
		if (i < TRACES_KEPT + 2)
			trace_keep(&keeper, UPTIME_NS + i * INTERVAL_NS);
		else
			trace_keep_last(&keeper);
	}
	assert_int_equal(trace.saves, TRACES_KEPT + 3);
	assert_string_equal(keeper.kept[2].name, "rant-67");
	assert_int_equal(keeper.kept[2].seq, 100 + TRACES_KEPT + 2);
	assert_int_equal(keeper.kept[2].latency_ns, 1000 + TRACES_KEPT + 2);
	assert_string_equal(keeper.kept[3].name, "rant-4");
	assert_int_equal(keeper.kept[3].seq, 103);
	/* A trace that cannot be saved is not in the list. */
	freeze();
	fake_trace.save_result = -ENOSPC;
	trace_keep_last(&keeper);
	assert_string_equal(keeper.kept[3].name, "rant-4");
	assert_string_equal(keeper.kept[2].name, "rant-67");
}

static void what_could_not_be_saved_stays_frozen(void **state)
{
	(void)state;
	trace_watch();
	freeze();
	fake_trace.save_result = -ENOSPC;
	trace_keep(&keeper, UPTIME_NS);
	assert_int_equal(keeper.error, -ENOSPC);
	assert_true(fake_trace.frozen && trace.unsaved);
	fake_trace.save_result = 1; /* space again: but losses in between are not known */
	trace_keep(&keeper, UPTIME_NS + 2 * INTERVAL_NS);
	assert_string_equal(fake_trace.last, "s");
	assert_int_equal(keeper.error, -ENOSPC);
}

static void what_could_not_be_switched_on_is_not_tried_again(void **state)
{
	(void)state;
	trace_watch();
	freeze();
	fake_trace.rearm_error = -EIO;
	trace_keep(&keeper, UPTIME_NS);
	assert_int_equal(keeper.error, -EIO);
	assert_int_equal(keeper.saved.spike_cpu.value, 1);
	fake_trace.rearm_error = 0;
	trace_keep(&keeper, UPTIME_NS + 2 * INTERVAL_NS);
	assert_string_equal(fake_trace.last, "sr");
}

/* The thread itself, and not the caller of stop: a trace is the caller's then. */
static void the_thread_saves_during_the_run(void **state)
{
	struct worker w = trace_watch();

	(void)state;
	freeze();
	int error = worker_start(&w);

	if (error == -ENODEV) {
		print_message("no CPU but this one may be used here\n");
		skip();
	}
	for (int i = 0; i < 500 && !error && *(volatile unsigned *)&fake_trace.rearms == 0; i++)
		usleep(10000);
	worker_stop(&w);
	assert_int_equal(error, 0);
	assert_string_equal(fake_trace.last, "sr");
	freeze();
	worker_stop(&w);
	assert_string_equal(fake_trace.last, "sr");
}

/* ---- When there is a thread -------------------------------------------------------------------------------------- */

static unsigned threads_started;

int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *argument);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *argument);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *argument)
{
	threads_started++;
	return __real_pthread_create(thread, attributes, start, argument);
}

static int open_files(void)
{
	DIR *d = opendir("/proc/self/fd");
	int n = 0;

	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

static void note_turn(void *turn)
{
	++*(unsigned *)turn;
}

/* Each that is due, and once. */
static void all_duties_that_are_due(void **state)
{
	unsigned turns[3] = { 0 };
	struct worker w = { .duties = 0 };
	struct schedule s = { .calls = { 0 } };

	(void)state;
	for (size_t i = 0; i < COUNT_OF(turns); i++)
		worker_add(&w, (struct worker_duty){ .act = note_turn, .context = &turns[i],
						   .period_ns = 3600 * NS_PER_S });
	do_duties(&w, &s);
	do_duties(&w, &s);
	for (size_t i = 0; i < COUNT_OF(turns); i++)
		assert_int_equal(turns[i], 1);
}

static void a_thread_only_for_duties(void **state)
{
	struct worker without = { .duties = 0 };
	struct worker with[] = { progress_watch(), fresh_worker(), trace_watch() };
	int files = open_files();

	(void)state;
	threads_started = 0;
	assert_int_equal(worker_start(&without), 0);
	assert_false(without.running);
	assert_int_equal(threads_started, 0);
	worker_stop(&without);
	for (unsigned i = 0; i < COUNT_OF(with); i++) {
		int error = worker_start(&with[i]);

		if (error == -ENODEV) {
			print_message("no CPU but this one may be used here\n");
			skip();
		}
		assert_int_equal(error, 0);
		assert_true(with[i].running);
		assert_int_equal(threads_started, i + 1);
		worker_stop(&with[i]);
		assert_false(with[i].running);
	}
	assert_int_equal(open_files(), files);
}

static void without_duties_no_other_cpu_is_needed(void **state)
{
	struct worker w = { .duties = 0 };

	(void)state;
	fake.on = true;
	fake.cpus = 1;
	fake.isolated = "\n";
	fake.mine = "0";
	fake.current = 0;
	int idle = worker_start(&w);

	w = progress_watch();
	int busy = worker_start(&w);

	fake.on = false;
	assert_int_equal(idle, 0);
	assert_int_equal(busy, -ENODEV);
	assert_false(w.running);
	worker_stop(&w);
}

static void a_watch_that_was_never_filled_may_be_stopped(void **state)
{
	struct worker w = { .running = false };

	(void)state;
	worker_stop(&w);
	assert_false(w.running);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(the_cpus_that_are_left, real_machine),
		cmocka_unit_test(it_does_less_when_nothing_comes),
		cmocka_unit_test_setup(a_line_a_second_and_none_at_the_end, real_machine),
		cmocka_unit_test_setup(it_never_runs_where_is_measured, real_machine),
		cmocka_unit_test_setup(its_beginning_comes_first, real_machine),
		cmocka_unit_test_setup(its_end_comes_last, real_machine),
		cmocka_unit_test_setup(it_has_files_of_its_own, real_machine),
		cmocka_unit_test_setup(without_files_of_its_own_it_says_so, real_machine),
		cmocka_unit_test_setup(breaches_are_reported_in_order_and_once, real_machine),
		cmocka_unit_test_setup(breaches_that_came_too_fast_are_counted, real_machine),
		cmocka_unit_test_setup(the_thread_prints_and_the_caller_prints_the_rest, real_machine),
		cmocka_unit_test_setup(a_breach_at_the_very_end_is_reported, real_machine),
		cmocka_unit_test_setup(without_a_thread_the_caller_prints_all, real_machine),
		cmocka_unit_test_setup(without_a_hook_nothing_is_reported, real_machine),
		cmocka_unit_test(all_duties_that_are_due),
		cmocka_unit_test_setup(a_thread_only_for_duties, real_trace),
		cmocka_unit_test_setup(without_duties_no_other_cpu_is_needed, real_machine),
		cmocka_unit_test_setup(a_watch_that_was_never_filled_may_be_stopped, real_machine),
		cmocka_unit_test(an_armed_trace_is_left_alone),
		cmocka_unit_test(without_a_trace_nothing_is_asked),
		cmocka_unit_test(a_frozen_trace_is_saved_and_switched_on),
		cmocka_unit_test(the_second_is_saved_at_once_and_switched_on_in_time),
		cmocka_unit_test(a_saved_trace_is_reported_and_stays_frozen),
		cmocka_unit_test(saved_traces_are_listed),
		cmocka_unit_test(what_could_not_be_saved_stays_frozen),
		cmocka_unit_test(what_could_not_be_switched_on_is_not_tried_again),
		cmocka_unit_test(the_thread_saves_during_the_run),
	};

	return golden_run(tests);
}
