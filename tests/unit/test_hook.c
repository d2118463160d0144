/* build: wraps=posix_spawn,poll,malloc sources=host/process/privileges.c libs= */
// SPDX-License-Identifier: GPL-2.0-or-later
/* Commands at a breach: inherited settings, started commands, counts, and waiting at the end. */
#include "host/process/hook.c"

#include "options.h"
#include "golden.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>

/* ---- Faults, off by default -------------------------------------------------------------------------------------- */

static struct {
	int spawn_error; /* errno: of every start */
	bool no_memory;
	/* of the shell, which corrects some inherited settings by itself: arguments of /bin/cp */
	char *const *instead;
	/* Instead of sleeping: */
	bool quick;
	int polls, asked_ms;
	void (*on_third)(void);
} fake;

int __real_posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *hooks,
		       const posix_spawnattr_t *attributes, char *const argv[], char *const envp[]);
int __wrap_posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *hooks,
		       const posix_spawnattr_t *attributes, char *const argv[], char *const envp[]);
int __wrap_posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *hooks,
		       const posix_spawnattr_t *attributes, char *const argv[], char *const envp[])
{
	if (fake.instead)
		return __real_posix_spawn(pid, "/bin/cp", hooks, attributes, fake.instead, envp);
	if (!fake.spawn_error)
		return __real_posix_spawn(pid, path, hooks, attributes, argv, envp);
	*pid = 4194304; /* POSIX: it may hold anything then */
	return fake.spawn_error;
}

int __real_poll(struct pollfd *p, nfds_t n, int limit_ms);
int __wrap_poll(struct pollfd *p, nfds_t n, int limit_ms);
int __wrap_poll(struct pollfd *p, nfds_t n, int limit_ms)
{
	if (!fake.quick)
		return __real_poll(p, n, limit_ms);
	fake.asked_ms += limit_ms;
	if (++fake.polls == 3 && fake.on_third)
		fake.on_third();
	return 0;
}

void *__real_malloc(size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__wrap_malloc(size_t bytes)
{
	return fake.no_memory ? NULL : __real_malloc(bytes);
}

/* ---- A folder for the output of the commands --------------------------------------------------------------------- */

static char folder[] = "/tmp/rant-action-XXXXXX", command[BREACH_COMMANDS_MAX][256];
static struct breach_hooks wanted;
static struct hooks a;
static int fifo_fd; /* a command that reads a line from it waits until release() */
static char *const nothing[] = { NULL };

static const char *in_folder(const char *name)
{
	static char path[64];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

static int set_up(void **state)
{
	(void)state;
	memset(&fake, 0, sizeof(fake));
	memset(&wanted, 0, sizeof(wanted));
	memset(&a, 0, sizeof(a));
	a.wanted = &wanted;
	strcpy(folder, "/tmp/rant-action-XXXXXX");
	assert_non_null(mkdtemp(folder));
	golden_hide("FOLDER", folder);
	assert_int_equal(mkfifo(in_folder("fifo"), 0600), 0);
	fifo_fd = open(in_folder("fifo"), O_RDWR | O_CLOEXEC);
	assert_true(fifo_fd >= 0);
	return 0;
}

/* `words` with %s where the folder goes. */
__attribute__((format(printf, 1, 0)))
static void want(const char *words)
{
	int i = wanted.commands++;

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	snprintf(command[i], sizeof(command[i]), words, folder, folder);
#pragma GCC diagnostic pop
	wanted.command[i] = command[i];
}

static void release(void)
{
	assert_int_equal(write(fifo_fd, "\n", 1), 1);
}

/* However long it takes; not yet noted. */
static void wait_for_end(int i)
{
	siginfo_t info;

	assert_int_equal(waitid(P_PID, (id_t)a.pid[i], &info, WEXITED | WNOWAIT), 0);
}

static void wait_for_all(void)
{
	for (int i = 0; i < wanted.commands; i++)
		if (a.pid[i])
			wait_for_end(i);
	hooks_reap(&a);
}

/* After each test: no child is left, dead or alive. */
static int tear_down(void **state)
{
	(void)state;
	close(fifo_fd);
	unlink(in_folder("fifo"));
	unlink(in_folder("out"));
	assert_int_equal(rmdir(folder), 0);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
	return 0;
}

static const char *output(void)
{
	static char text[65536];
	FILE *f = fopen(in_folder("out"), "re");
	size_t bytes = f ? fread(text, 1, sizeof(text) - 1, f) : 0;

	if (f)
		fclose(f);
	text[bytes] = '\0';
	return text;
}

static int lines_with(const char *text, const char *start)
{
	int n = 0;

	for (const char *at = text; (at = strstr(at, start)); at++)
		n += at == text || at[-1] == '\n';
	return n;
}

/* ---- Inputs of a command ----------------------------------------------------------------------------------------- */

static void no_capability_goes_to_a_command(void **state)
{
	char status[4096];
	ssize_t got;
	int fd;

	(void)state;
	want("cat /proc/self/status > %s/out");
	hooks_run(&a, nothing);
	wait_for_all();
	const char *all = output();

	assert_int_equal(a.failed[0], 0);
	assert_int_equal(lines_with(all, "NoNewPrivs:\t1\n"), 1);
	assert_int_equal(lines_with(all, "CapPrm:\t0000000000000000\n"), 1);
	assert_int_equal(lines_with(all, "CapEff:\t0000000000000000\n"), 1);
	assert_int_equal(lines_with(all, "CapAmb:\t0000000000000000\n"), 1);
	/* They are still here, for the NIC. */
	fd = open("/proc/thread-self/status", O_RDONLY | O_CLOEXEC);
	got = read(fd, status, sizeof(status) - 1);
	close(fd);
	assert_true(got > 0);
	status[got] = 0;
	assert_int_equal(lines_with(status, "NoNewPrivs:\t0\n"), 1);
	if (!geteuid())
		assert_int_equal(lines_with(status, "CapEff:\t0000000000000000\n"), 0);
}

static void the_breach_is_in_the_environment(void **state)
{
	char *const more[] = { (char *)"RANT_SEQ=7", (char *)"RANT_LATENCY_NS=123456", NULL };

	(void)state;
	setenv("RANT_SEQ", "8", 1);
	setenv("RANT_T1_HW", "1.5", 1); /* there is no such time in this breach */
	setenv("RANTED", "stays", 1);
	setenv("OTHER", "RANT_SEQ=9", 1);
	want("env > %s/out");
	hooks_run(&a, more);
	wait_for_all();
	const char *all = output();

	assert_int_equal(lines_with(all, "RANT_SEQ="), 1);
	assert_int_equal(lines_with(all, "RANT_SEQ=7\n"), 1);
	assert_int_equal(lines_with(all, "RANT_LATENCY_NS=123456\n"), 1);
	assert_int_equal(lines_with(all, "RANT_T1_HW"), 0);
	assert_int_equal(lines_with(all, "RANTED=stays\n"), 1);
	assert_int_equal(lines_with(all, "OTHER=RANT_SEQ=9\n"), 1);
	assert_string_equal(getenv("RANT_SEQ"), "8"); /* ours is as it was */
	unsetenv("RANT_SEQ");
	unsetenv("RANT_T1_HW");
	unsetenv("RANTED");
	unsetenv("OTHER");
	assert_int_equal(a.ran[0], 1);
	assert_int_equal(a.failed[0], 0);
}

static unsigned long long mask_in(const char *status, const char *name)
{
	const char *at = strstr(status, name);

	assert_non_null(at);
	return strtoull(at + strlen(name), NULL, 16);
}

static void signals_are_as_in_a_shell(void **state)
{
	const unsigned long long ignored_in_rant = 1ULL << (SIGPIPE - 1) | 1ULL << (SIGXFSZ - 1);
	char out[64], *const copy[] = { (char *)"cp", (char *)"/proc/self/status", out, NULL };
	sigset_t all, before;

	(void)state;
	snprintf(out, sizeof(out), "%s", in_folder("out"));
	fake.instead = copy;
	want("true");
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	hooks_run(&a, nothing);
	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	wait_for_all();
	assert_int_equal(mask_in(output(), "\nSigBlk:"), 0);
	assert_int_equal(mask_in(output(), "\nSigIgn:") & ignored_in_rant, 0);
}

static void it_is_never_a_real_time_process(void **state)
{
	const struct sched_param priority = { .sched_priority = 1 };
	int rt_priority = -1, policy = -1;

	(void)state;
	want("cat /proc/self/stat > %s/out");
	bool real_time = !sched_setscheduler(0, SCHED_FIFO, &priority);

	if (real_time)
		hooks_run(&a, nothing);
	sched_setscheduler(0, SCHED_OTHER, &(struct sched_param){ .sched_priority = 0 });
	if (!real_time) {
		print_message("no permission for SCHED_FIFO\n");
		skip();
	}
	wait_for_all();
	/* Fields 40 and 41 of proc(5); the third is the first behind the name. */
	const char *at = strrchr(output(), ')');

	assert_non_null(at);
	for (int field = 2; field < 40 && at; field++)
		at = strchr(at + 1, ' ');
	assert_non_null(at);
	assert_int_equal(sscanf(at, "%d %d", &rt_priority, &policy), 2);
	assert_int_equal(policy, SCHED_OTHER);
	assert_int_equal(rt_priority, 0);
}

static void it_is_a_line_for_the_shell(void **state)
{
	(void)state;
	want("a='one  two'; echo \"$a\" three | tr o 0 > %s/out && echo $# >> %s/out");
	hooks_run(&a, nothing);
	wait_for_all();
	assert_string_equal(output(), "0ne  tw0 three\n0\n");
}

/* ---- Which are started ------------------------------------------------------------------------------------------- */

static void every_command_at_every_breach(void **state)
{
	char *const more[] = { (char *)"RANT_NUMBER=1", NULL };
	const char *all;

	(void)state;
	want("echo first $RANT_NUMBER >> %s/out");
	want("echo second $RANT_NUMBER >> %s/out");
	want("echo third $RANT_NUMBER >> %s/out");
	for (int i = 0; i < 2; i++) {
		hooks_run(&a, more);
		wait_for_all();
	}
	all = output();
	assert_int_equal(lines_with(all, "first 1\n"), 2);
	assert_int_equal(lines_with(all, "second 1\n"), 2);
	assert_int_equal(lines_with(all, "third 1\n"), 2);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(a.ran[i], 2);
		assert_int_equal(a.failed[i] + a.left_out[i], 0);
	}
}

static void as_many_as_may_be_given(void **state)
{
	(void)state;
	for (int i = 0; i < BREACH_COMMANDS_MAX; i++)
		want("echo line >> %s/out");
	hooks_run(&a, nothing);
	wait_for_all();
	assert_int_equal(lines_with(output(), "line\n"), BREACH_COMMANDS_MAX);
}

static void no_command_at_all(void **state)
{
	(void)state;
	hooks_run(&a, nothing);
	hooks_reap(&a);
	fake.quick = true;
	hooks_finish(&a);
	assert_int_equal(fake.polls, 0);
}

static void one_that_still_runs_is_not_started_again(void **state)
{
	(void)state;
	want("read line < %s/fifo; echo slow >> %s/out");
	want("echo quick >> %s/out");
	hooks_run(&a, nothing);
	pid_t slow = a.pid[0];

	wait_for_end(1);
	for (int i = 0; i < 3; i++) {
		hooks_run(&a, nothing);
		assert_int_equal(a.pid[0], slow);
		wait_for_end(1);
	}
	assert_int_equal(a.left_out[0], 3);
	assert_int_equal(a.ran[0], 0);
	release();
	wait_for_end(0);
	hooks_run(&a, nothing); /* it has ended, though nobody has noted it yet */
	assert_int_equal(a.left_out[0], 3);
	assert_int_equal(a.ran[0], 1);
	release();
	wait_for_all();
	assert_int_equal(a.ran[0], 2);
	assert_int_equal(a.ran[1], 5);
	assert_int_equal(a.failed[0] + a.failed[1] + a.left_out[1], 0);
	assert_int_equal(lines_with(output(), "slow\n"), 2);
	assert_int_equal(lines_with(output(), "quick\n"), 5);
}

/* ---- Counts ------------------------------------------------------------------------------------------------------ */

static void a_status_or_a_signal_is_a_failure(void **state)
{
	static const struct {
		const char *words;
		unsigned failed;
	} rows[] = {
		{ "exit 0", 0 }, { "exit 1", 1 }, { "exit 255", 1 }, { "kill -9 $$", 1 }, { "kill -15 $$", 1 },
		{ "%s/absent", 1 }, { ":", 0 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++)
		want(rows[i].words);
	struct util_capture c;
	char said[512];

	util_capture_begin(&c);
	hooks_run(&a, nothing);
	wait_for_all();
	util_capture_end(&c, said, sizeof(said));
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		if (a.ran[i] != 1 || a.failed[i] != rows[i].failed || a.pid[i])
			fail_msg("%s: ran %u, failed %u, pid %d", wanted.command[i], a.ran[i], a.failed[i],
				 (int)a.pid[i]);
	}
	/* The shell names the command that it cannot find; rant adds nothing. */
	assert_null(strstr(said, "--on-breach"));
}

static int count_lines(const char *text)
{
	int n = 0;

	for (; *text; text++)
		n += *text == '\n';
	return n;
}

static void assert_reported_once_for_each(void)
{
	struct util_capture c;
	char said[1024];

	util_capture_begin(&c);
	for (int i = 0; i < 3; i++)
		hooks_run(&a, nothing);
	util_capture_end(&c, said, sizeof(said));
	memset(&fake, 0, sizeof(fake));
	golden("%s", said);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(a.failed[i], 3);
		assert_int_equal(a.ran[i] + a.left_out[i], 0);
		assert_int_equal(a.pid[i], 0);
	}
}

static void what_cannot_be_started_is_reported_once(void **state)
{
	(void)state;
	want("true");
	want("false");
	fake.spawn_error = EAGAIN;
	assert_reported_once_for_each();
	/* The next breach tries again. */
	hooks_run(&a, nothing);
	wait_for_all();
	assert_int_equal(a.ran[0], 1);
	assert_int_equal(a.failed[0], 3);
}

static void without_memory_nothing_is_started(void **state)
{
	(void)state;
	want("true");
	want("false");
	fake.no_memory = true;
	assert_reported_once_for_each();
}

static void a_long_command_is_named_by_its_beginning(void **state)
{
	struct util_capture c;
	char said[1024];

	(void)state;
	want("echo 34567890123456789012345678901234567890123456789012345678901234567890 the end");
	fake.spawn_error = ENOMEM;
	util_capture_begin(&c);
	hooks_run(&a, nothing);
	util_capture_end(&c, said, sizeof(said));
	golden_line(said);
}

/* A command may have lines; the message about it is one. */
static void a_command_of_lines_is_named_in_one(void **state)
{
	struct util_capture c;
	char said[1024], process[32];

	(void)state;
	want("read line < %s/fifo\n#\t\033[2J\x7f\xc3\xa9");
	fake.spawn_error = ENOMEM;
	util_capture_begin(&c);
	hooks_run(&a, nothing);
	util_capture_end(&c, said, sizeof(said));
	golden_line(said);
	fake.spawn_error = 0;
	hooks_run(&a, nothing);
	fake.quick = true;
	snprintf(process, sizeof(process), "process %d", a.pid[0]);
	golden_hide("process PID", process);
	util_capture_begin(&c);
	hooks_finish(&a);
	util_capture_end(&c, said, sizeof(said));
	golden_line(said);
	fake.quick = false;
	release();
	wait_for_all();
}

/* ---- The end of the run ------------------------------------------------------------------------------------------ */

static void release_and_wait(void)
{
	release();
	wait_for_end(0);
}

static void the_end_waits_for_one_that_is_soon_done(void **state)
{
	struct util_capture c;
	char said[512];

	(void)state;
	want("read line < %s/fifo; echo done > %s/out");
	want("exit 0");
	hooks_run(&a, nothing);
	wait_for_end(1);
	fake.quick = true;
	fake.on_third = release_and_wait;
	util_capture_begin(&c);
	hooks_finish(&a);
	util_capture_end(&c, said, sizeof(said));
	assert_string_equal(said, "");
	assert_int_equal(fake.polls, 3);
	assert_int_equal(a.ran[0], 1);
	assert_int_equal(a.pid[0], 0);
	assert_string_equal(output(), "done\n");
}

static void the_end_names_those_that_still_run(void **state)
{
	struct util_capture c;
	char said[512], expected[128];

	(void)state;
	want("read line < %s/fifo");
	want("exit 1");
	want("read line < %s/fifo; exit 2");
	hooks_run(&a, nothing);
	wait_for_end(1);
	fake.quick = true;
	util_capture_begin(&c);
	hooks_finish(&a);
	util_capture_end(&c, said, sizeof(said));
	assert_int_equal(fake.asked_ms, 5000);
	assert_int_equal(count_lines(said), 2);
	for (int i = 0; i < 3; i += 2) {
		snprintf(expected, sizeof(expected), "exec:%s: still runs after 5 s, as process %d\n", command[i],
			 (int)a.pid[i]);
		assert_non_null(strstr(said, expected));
	}
	assert_int_equal(a.failed[1], 1);
	assert_int_equal(a.ran[0] + a.ran[2], 0);
	release();
	release();
	wait_for_all();
	assert_int_equal(a.ran[0] + a.ran[2], 2);
}

static void a_command_that_ends_is_noted_only_once(void **state)
{
	(void)state;
	want("exit 1");
	hooks_run(&a, nothing);
	wait_for_end(0);
	for (int i = 0; i < 3; i++)
		hooks_reap(&a);
	assert_int_equal(a.ran[0], 1);
	assert_int_equal(a.failed[0], 1);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(no_capability_goes_to_a_command),
		TEST(the_breach_is_in_the_environment),
		TEST(signals_are_as_in_a_shell),
		TEST(it_is_never_a_real_time_process),
		TEST(it_is_a_line_for_the_shell),
		TEST(every_command_at_every_breach),
		TEST(as_many_as_may_be_given),
		TEST(no_command_at_all),
		TEST(one_that_still_runs_is_not_started_again),
		TEST(a_status_or_a_signal_is_a_failure),
		TEST(what_cannot_be_started_is_reported_once),
		TEST(without_memory_nothing_is_started),
		TEST(a_long_command_is_named_by_its_beginning),
		TEST(a_command_of_lines_is_named_in_one),
		TEST(the_end_waits_for_one_that_is_soon_done),
		TEST(the_end_names_those_that_still_run),
		TEST(a_command_that_ends_is_noted_only_once),
	};

	return golden_run(tests);
}
