/* build: wraps=fopen,sched_getaffinity,sched_getcpu,sysconf sources=exchange.c,timestamping.c,packet.c,session.c,histogram.c,log.c,tracefs.c,pmc.c,clock.c libs=-lm */
// SPDX-License-Identifier: GPL-2.0-or-later
/* The housekeeping thread: where it may run, and what it draws. */
#include "watch.c"

#include "util.h"

#include <dirent.h>

/* ---- A machine of any shape ----------------------------------------------------------------------------------------- */

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
		int error = choose_cpus(&cpus);

		fake.on = false;
		for (size_t cpu = 0; cpu < 10; cpu++)
			if (CPU_ISSET(cpu, &cpus))
				sprintf(chosen + strlen(chosen), "%zu", cpu);
		if (error != (rows[i].chosen ? 0 : -ENODEV) || strcmp(chosen, rows[i].chosen ? rows[i].chosen : ""))
			fail_msg("%s: error %d, CPUs '%s'", rows[i].name, error, chosen);
	}
}

/* ---- The real thread ------------------------------------------------------------------------------------------------ */

static struct exchange exchange;

static void a_line_a_second_and_none_at_the_end(void **state)
{
	struct util_capture c;
	struct watch w = { .exchange = &exchange, .progress = true };
	char drawn[1024];

	(void)state;
	counter_add(&exchange.account.recorded, 12345);
	counter_add(&exchange.account.lost, 7);
	exchange.account.recent_max_ns = 4567;
	util_capture_begin(&c);
	int error = watch_start(&w);

	/* Its own clock says when it has drawn; it must have done so by then, or never will. */
	for (int i = 0; i < 500 && !error && atomic_load(&exchange.account.recent_max_ns); i++)
		usleep(10000);
	watch_stop(&w);
	util_capture_end(&c, drawn, sizeof(drawn));
	if (error == -ENODEV) {
		print_message("no CPU but this one may be used here\n");
		skip();
	}
	assert_int_equal(error, 0);
	assert_non_null(strstr(drawn, "1 s  12345 samples  12345/s  max 4.567 us  lost 7"));
	assert_string_equal(drawn + strlen(drawn) - 4, "\r\033[K");
	assert_int_equal(exchange.account.recent_max_ns, 0);
	watch_stop(&w); /* twice does no harm */
}

/* What the kernel says of the other thread of this process. */
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
	struct watch w = { .exchange = &exchange, .progress = true };
	int policy = -1;

	(void)state;
	assert_int_equal(__real_sched_getaffinity(0, sizeof(before), &before), 0);
	CPU_ZERO(&pinned);
	CPU_SET((size_t)sched_getcpu(), &pinned);
	sched_setaffinity(0, sizeof(pinned), &pinned);
	bool real_time = !sched_setscheduler(0, SCHED_FIFO, &priority);
	int error = watch_start(&w);

	CPU_ZERO(&thread);
	if (!error)
		read_thread(&thread, &policy);
	watch_stop(&w);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(the_cpus_that_are_left, real_machine),
		cmocka_unit_test_setup(a_line_a_second_and_none_at_the_end, real_machine),
		cmocka_unit_test_setup(it_never_runs_where_is_measured, real_machine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
