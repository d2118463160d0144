/* build: wraps=seccomp_init sources=host/process/signals.c,host/process/privileges.c,host/process/worker.c,host/process/loop.c,host/process/memory.c libs=-lpthread */
// SPDX-License-Identifier: GPL-2.0-or-later
/* The filter: its permitted calls, the end of a process at a forbidden call, and steps outside of it. */
#include "host/process/seccomp.c"

#include "host/process/loop.h"
#include "host/process/privileges.h"
#include "host/process/signals.h"
#include "golden.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>

#ifdef WITH_SECCOMP

static bool no_memory;

scmp_filter_ctx __real_seccomp_init(uint32_t action);
scmp_filter_ctx __wrap_seccomp_init(uint32_t action);
scmp_filter_ctx __wrap_seccomp_init(uint32_t action)
{
	return no_memory ? NULL : __real_seccomp_init(action);
}

static char said[1024]; /* by the child, on stderr */
static int reported[2]; /* a pipe: results of the child */
static char tales[64];

static void print(char c)
{
	if (write(reported[1], &c, 1) < 0)
		_exit(90);
}

static void clean_up(void)
{
	print('c');
}

static void read_all(int fd, char *text, size_t bytes)
{
	ssize_t got;

	while (bytes > 1 && (got = read(fd, text, bytes - 1)) > 0) {
		text += got;
		bytes -= (size_t)got;
	}
	*text = 0;
}

/* In the measuring thread, under the filter, if there is one. */
static int begin_and(void *body)
{
	if (privileges_give_up())
		_exit(91);
	seccomp_begin();
	return ((int (*)(void))body)();
}

/* As of waitpid(2), of a process that does this: `before` in the main thread; `body` in the measuring one; `after` in
 * the main one, with the result of `body`. */
static int in_child(void (*before)(void), int (*body)(void), void (*after)(int result))
{
	int err[2], status;
	pid_t pid;

	assert_int_equal(pipe(err) | pipe(reported), 0);
	fflush(NULL);
	pid = fork();
	if (!pid) {
		dup2(err[1], STDERR_FILENO);
		close(err[1]);
		close(err[0]);
		close(reported[0]);
		signals_catch(clean_up);
		before();
		if (loop_open())
			_exit(93);
		after(loop_run(begin_and, (void *)body));
		_exit(92);
	}
	close(err[1]);
	close(reported[1]);
	read_all(err[0], said, sizeof(said));
	read_all(reported[0], tales, sizeof(tales));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	close(err[0]);
	close(reported[0]);
	return status;
}

static int seccomp_mode(void)
{
	char text[4096], *at;
	int fd = open("/proc/thread-self/status", O_RDONLY);
	ssize_t got = read(fd, text, sizeof(text) - 1);

	close(fd);
	if (got < 0)
		return -1;
	text[got] = 0;
	at = strstr(text, "\nSeccomp:\t");
	return at ? atoi(at + 10) : -1;
}

static void want_filter(void)
{
	seccomp_open(true);
}

static void end_with(int result)
{
	loop_close();
	_exit(result);
}

/* ---- Permitted calls --------------------------------------------------------------------------------------------- */

static int fd, zero;

static void open_all(void)
{
	fd = socket(AF_INET, SOCK_DGRAM, 0);
	zero = open("/dev/zero", O_RDWR);
	seccomp_open(true);
}

static int use_all(void)
{
	struct timespec t, at_once = { 0 };
	struct pollfd p = { .fd = -1 };
	struct msghdr m = { .msg_iovlen = 0 };
	int one = 1;
	struct rusage usage;
	char c = 0;

	if (sendmsg(fd, &m, MSG_DONTWAIT) >= 0 || errno != EDESTADDRREQ)
		return 1;
	if (recvmsg(fd, &m, MSG_DONTWAIT) >= 0 || errno != EAGAIN)
		return 2;
	if (syscall(SYS_clock_gettime, CLOCK_REALTIME, &t) || ppoll(&p, 1, &at_once, NULL))
		return 3;
	if (read(zero, &c, 1) != 1 || write(zero, &c, 1) != 1 || pread(zero, &c, 1, 0) != 1 ||
	    pwrite(zero, &c, 1, 0) != 1)
		return 4;
	if (setsockopt(fd, SOL_IP, IP_RECVTOS, &one, sizeof(one)) ||
	    setsockopt(fd, SOL_SOCKET, SO_PRIORITY, &one, sizeof(one)) ||
	    getrusage(RUSAGE_THREAD, &usage))
		return 5;
	return 7;
}

static void what_the_loop_needs_goes_through(void **state)
{
	int status = in_child(open_all, use_all, end_with);

	(void)state;
	assert_string_equal(said, "");
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 7);
}

/* ---- Forbidden calls --------------------------------------------------------------------------------------------- */

static int ask_for_parent(void)
{
	syscall(SYS_getppid);
	print('!');
	return 0;
}

static int open_a_file(void)
{
	print(open("/dev/null", O_RDONLY) < 0 ? '-' : '!');
	return 0;
}

static int run_a_program(void)
{
	execl("/bin/true", "true", (char *)NULL);
	print('!');
	return 0;
}

static int open_a_socket(void)
{
	print(socket(AF_INET, SOCK_STREAM, 0) < 0 ? '-' : '!');
	return 0;
}

static int set_another_level(void)
{
	int one = 1;

	setsockopt(0, SOL_SOCKET, SO_REUSEPORT, &one, sizeof(one));
	print('!');
	return 0;
}

static int end_the_process(void)
{
	syscall(SYS_exit_group, 0);
	return 0;
}

static void the_rest_ends_the_program(void **state)
{
	static const struct {
		int (*body)(void);
		int number;
	} rows[] = {
		{ ask_for_parent, SYS_getppid }, { open_a_file, SYS_openat }, { run_a_program, SYS_execve },
		{ open_a_socket, SYS_socket }, { set_another_level, SYS_setsockopt },
			{ end_the_process, SYS_exit_group },
	};
	char number[96];

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		int status = in_child(want_filter, rows[i].body, end_with);

		snprintf(number, sizeof(number),
			 "rant: the measuring thread asked for a forbidden system call, number %04d\n",
			 rows[i].number);
		assert_string_equal(said, number);
		assert_string_equal(tales, "c"); /* the NIC is put back, outside */
		assert_true(WIFSIGNALED(status));
		assert_int_equal(WTERMSIG(status), SIGSYS);
	}
}

/* ---- Outside ----------------------------------------------------------------------------------------------------- */

static int held[2];
static pid_t main_thread;

static void hold(void)
{
	main_thread = gettid();
	print(seccomp_mode() == 0 ? 'n' : 'y');
	if (pipe2(held, O_NONBLOCK))
		_exit(1);
	seccomp_open(true);
}

static int say_which(void)
{
	print(loop_thread() != main_thread ? 't' : 'm');
	return 5;
}

static void end_outside(int result)
{
	char c;

	print(seccomp_mode() == 0 ? 'o' : 'f');
	/* The files are open here, and nowhere else: the last process to close the pipe ends it. */
	print(fcntl(held[1], F_GETFD) >= 0 ? 'h' : '-');
	close(held[1]);
	print(read(held[0], &c, 1) == 0 ? 'e' : 'w');
	print(result == 5 ? '5' : '-');
	/* A signal is taken here now. */
	raise(SIGTERM);
	print('s');
	loop_close();
	_exit(3);
}

static void what_comes_after_is_outside(void **state)
{
	int status = in_child(hold, say_which, end_outside);

	(void)state;
	assert_string_equal(said, "");
	assert_string_equal(tales, "ntohe5s");
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 3);
}

static void be_signalled(void)
{
	struct timespec pause = { .tv_nsec = 600 * NS_PER_MS };
	pid_t me = getpid();

	if (!fork()) {
		nanosleep(&pause, NULL);
		kill(me, SIGTERM);
		nanosleep(&pause, NULL);
		kill(me, SIGINT);
		_exit(0);
	}
	seccomp_open(true);
}

static int sleep_on(void)
{
	for (;;)
		ppoll(NULL, 0, NULL, NULL);
	return 0;
}

static void a_second_signal_cleans_up_outside(void **state)
{
	int status = in_child(be_signalled, sleep_on, end_with);

	(void)state;
	assert_string_equal(said, "");
	assert_string_equal(tales, "c");
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGINT);
}

/* ---- None -------------------------------------------------------------------------------------------------------- */

static void want_it_without_memory(void)
{
	no_memory = true;
	seccomp_open(true);
}

static void do_not_want_it(void)
{
	seccomp_open(false);
}

static int go_without(void)
{
	print(seccomp_mode() == 0 && getppid() ? 'n' : 'y');
	return 0;
}

static void one_that_cannot_be_made_is_said(void **state)
{
	int status = in_child(want_it_without_memory, go_without, end_with);

	(void)state;
	golden_line(said);
	assert_string_equal(tales, "n");
	assert_int_equal(status, 0);
}

static void one_that_is_not_wanted_is_none(void **state)
{
	int status = in_child(do_not_want_it, go_without, end_with);

	(void)state;
	assert_string_equal(said, "");
	assert_string_equal(tales, "n");
	assert_int_equal(status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_the_loop_needs_goes_through), cmocka_unit_test(the_rest_ends_the_program),
		cmocka_unit_test(what_comes_after_is_outside), cmocka_unit_test(a_second_signal_cleans_up_outside),
		cmocka_unit_test(one_that_cannot_be_made_is_said), cmocka_unit_test(one_that_is_not_wanted_is_none),
	};

	return golden_run(tests);
}

#else

static void without_libseccomp_there_is_none(void **state)
{
	(void)state;
	assert_null(seccomp_library());
	seccomp_open(true);
	seccomp_begin();
	assert_true(getppid() >= 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(without_libseccomp_there_is_none) };

	return cmocka_run_group_tests_name("filter", tests, NULL, NULL);
}

#endif
