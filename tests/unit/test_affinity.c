/* build: wraps=sched_setaffinity,sched_setscheduler,sched_getscheduler,sched_getparam,sched_getaffinity sources= libs= */
// SPDX-License-Identifier: GPL-2.0-or-later
/* Where the measuring thread is put, by a kernel that takes it, refuses it, or says yes and does not. */
#include "host/process/affinity.c"

#include "golden.h"

static struct {
	int refuse_cpu, refuse_priority, refuse_reading; /* errno */
	bool deaf; /* it says yes, and nothing happens */
	cpu_set_t cpus;
	int policy, priority;
} fake;

int __wrap_sched_setaffinity(pid_t pid, size_t bytes, const cpu_set_t *cpus);
int __wrap_sched_setaffinity(pid_t pid, size_t bytes, const cpu_set_t *cpus)
{
	(void)pid, (void)bytes;
	errno = fake.refuse_cpu;
	if (!errno && !fake.deaf)
		fake.cpus = *cpus;
	return errno ? -1 : 0;
}

int __wrap_sched_setscheduler(pid_t pid, int policy, const struct sched_param *p);
int __wrap_sched_setscheduler(pid_t pid, int policy, const struct sched_param *p)
{
	(void)pid;
	errno = fake.refuse_priority;
	if (!errno && !fake.deaf) {
		fake.policy = policy;
		fake.priority = p->sched_priority;
	}
	return errno ? -1 : 0;
}

int __wrap_sched_getscheduler(pid_t pid);
int __wrap_sched_getscheduler(pid_t pid)
{
	(void)pid;
	errno = fake.refuse_reading;
	return errno ? -1 : fake.policy;
}

int __wrap_sched_getparam(pid_t pid, struct sched_param *p);
int __wrap_sched_getparam(pid_t pid, struct sched_param *p)
{
	(void)pid;
	p->sched_priority = fake.priority;
	return 0;
}

int __wrap_sched_getaffinity(pid_t pid, size_t bytes, cpu_set_t *cpus);
int __wrap_sched_getaffinity(pid_t pid, size_t bytes, cpu_set_t *cpus)
{
	(void)pid, (void)bytes;
	*cpus = fake.cpus;
	return 0;
}

static char said[512], text[AFFINITY_TEXT_BYTES];

/* As taskset -c 1,2 chrt -r 7 leave it. */
static int take(int64_t cpu, int64_t fifo, struct affinity *p)
{
	const struct options o = { .cpu = cpu, .fifo = fifo };
	struct util_capture capture;
	int error;

	CPU_ZERO(&fake.cpus);
	CPU_SET(1, &fake.cpus);
	CPU_SET(2, &fake.cpus);
	fake.policy = SCHED_RR | SCHED_RESET_ON_FORK;
	fake.priority = 7;
	util_capture_begin(&capture);
	error = affinity_read(p, &o);
	util_capture_end(&capture, said, sizeof(said));
	golden("%s", said);
	return error;
}

static void what_taskset_and_chrt_said_stays(void **state)
{
	struct affinity p;

	(void)state;
	memset(&fake, 0, sizeof(fake));
	assert_int_equal(take(-1, 0, &p), 0);
	golden("%s\n", affinity_text(&p, text));
}

static void what_is_asked_for_comes_before_it(void **state)
{
	struct affinity p;

	(void)state;
	memset(&fake, 0, sizeof(fake));
	assert_int_equal(take(3, 0, &p), 0);
	golden("%s\n", affinity_text(&p, text));
	assert_int_equal(take(-1, 22, &p), 0);
	golden("%s\n", affinity_text(&p, text));
	assert_int_equal(take(0, 99, &p), 0);
	golden("%s\n", affinity_text(&p, text));
	assert_int_equal(take(CPU_SETSIZE - 1, 1, &p), 0);
	golden("%s\n", affinity_text(&p, text));
}

static void what_is_refused_is_said(void **state)
{
	struct affinity p;

	(void)state;
	memset(&fake, 0, sizeof(fake));
	fake.refuse_cpu = EINVAL;
	assert_int_equal(take(77, 5, &p), -EINVAL);
	assert_ptr_equal(strchr(said, '\n'), said + strlen(said) - 1);
	assert_int_equal(p.policy, SCHED_RR); /* nothing more was tried */
	fake.refuse_cpu = EPERM;
	assert_int_equal(take(2, 0, &p), -EPERM);
	fake.refuse_cpu = 0;
	fake.refuse_priority = EPERM;
	assert_int_equal(take(2, 22, &p), -EPERM);
}

static void what_the_kernel_does_not_do_is_seen(void **state)
{
	struct affinity p;

	(void)state;
	memset(&fake, 0, sizeof(fake));
	fake.deaf = true;
	assert_int_equal(take(2, 0, &p), -EIO);
	assert_int_equal(take(-1, 22, &p), -EIO);
}

static void what_cannot_be_read_is_not_known(void **state)
{
	struct affinity p;

	(void)state;
	memset(&fake, 0, sizeof(fake));
	fake.refuse_reading = ENOSYS;
	assert_int_equal(take(-1, 0, &p), 0);
	golden("%s\n", affinity_text(&p, text));
	p = (struct affinity){ .cpus = 1, .cpu = 4, .policy = 6 };
	golden("%s\n", affinity_text(&p, text));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_taskset_and_chrt_said_stays),
		cmocka_unit_test(what_is_asked_for_comes_before_it),
		cmocka_unit_test(what_is_refused_is_said),
		cmocka_unit_test(what_the_kernel_does_not_do_is_seen),
		cmocka_unit_test(what_cannot_be_read_is_not_known),
	};

	util_seed();
	return golden_run(tests);
}
