/* build: wraps=getpwnam sources= libs= */
// SPDX-License-Identifier: GPL-2.0-or-later
/* Capabilities and the user, each in a process of its own; without root there is little to take. */
#include "host/process/privileges.c"

#include "golden.h"

#include <pthread.h>
#include <sys/wait.h>

#define SOMEBODY 65531

static struct passwd somebody = { .pw_name = (char *)"somebody", .pw_uid = SOMEBODY, .pw_gid = SOMEBODY };
static int lookup_error;

struct passwd *__wrap_getpwnam(const char *name);
struct passwd *__wrap_getpwnam(const char *name)
{
	errno = lookup_error;
	return strcmp(name, "somebody") ? NULL : &somebody;
}

static char folder[] = "/tmp/rant-rights-XXXXXX";

static const char *in_folder(const char *name)
{
	static char path[2][128];
	static int turn;

	turn = !turn;
	snprintf(path[turn], sizeof(path[turn]), "%s/%s", folder, name);
	return path[turn];
}

static int set_up(void **state)
{
	(void)state;
	strcpy(folder, "/tmp/rant-rights-XXXXXX");
	assert_non_null(mkdtemp(folder));
	assert_int_equal(chmod(folder, 0755), 0);
	lookup_error = 0;
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	unlink(in_folder("file"));
	return rmdir(folder);
}

static bool is_root(void)
{
	return !geteuid() && (read_capabilities().effective & BIT(CAP_SYS_ADMIN));
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

/* stderr of `body` is then in said[]. */
static char said[1024];

static int in_child(int (*body)(void))
{
	int err[2], status;
	pid_t pid;

	assert_int_equal(pipe(err), 0);
	fflush(NULL);
	pid = fork();
	if (!pid) {
		dup2(err[1], STDERR_FILENO);
		_exit(body());
	}
	close(err[1]);
	read_all(err[0], said, sizeof(said));
	close(err[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

/* ---- Dropping ---------------------------------------------------------------------------------------------------- */

/* 0: this thread has these and no others, and gets no more. */
static int has_only(uint64_t keep)
{
	struct capabilities c = read_capabilities();

	if (c.effective != keep || c.permitted != keep || c.inheritable)
		return 10;
	if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1)
		return 11;
	for (unsigned long i = 0; i <= CAP_LAST_CAP; i++)
		if (prctl(PR_CAPBSET_READ, i, 0, 0, 0) == 1)
			return 12;
	return 0;
}

static int drop_all(void)
{
	const struct privileges r = { .keep = 0 };

	return privileges_drop(&r) ? 1 : has_only(0);
}

static int drop_but_nic(void)
{
	struct privileges r = { .keep = 0 };

	if (privileges_plan(&r, &(struct privileges_needs){ .nic = true }) || privileges_drop(&r))
		return 1;
	return has_only(BIT(CAP_NET_ADMIN));
}

static int drop_beside(void)
{
	struct privileges r = { .keep = BIT(CAP_NET_ADMIN) | BIT(CAP_DAC_OVERRIDE) };

	privileges_drop_beside(&r);
	return has_only(BIT(CAP_DAC_OVERRIDE));
}

/* In a thread, and the others keep theirs. */
static void *give_up(void *result)
{
	*(int *)result = privileges_give_up() ? 1 : has_only(0);
	return NULL;
}

static int give_up_in_thread(void)
{
	const uint64_t before = read_capabilities().effective;
	pthread_t thread;
	int result = 9;

	if (pthread_create(&thread, NULL, give_up, &result) || pthread_join(thread, NULL) || result)
		return result;
	return read_capabilities().effective == before && !prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) ? 0 : 2;
}

static void only_what_the_nic_needs_is_kept(void **state)
{
	(void)state;
	if (!is_root())
		skip();
	assert_int_equal(in_child(drop_all), 0);
	assert_int_equal(in_child(drop_but_nic), 0);
	assert_int_equal(in_child(drop_beside), 0);
	assert_int_equal(in_child(give_up_in_thread), 0);
}

/* An absent capability cannot be kept: no error. */
static int drop_of_nothing(void)
{
	const struct privileges r = { .keep = BIT(CAP_NET_ADMIN) };
	const struct capabilities none = { 0 };

	if (set_capabilities(&none))
		return 1;
	if (privileges_drop(&r))
		return 2;
	return read_capabilities().permitted || prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1;
}

static void without_capabilities_there_is_nothing_to_drop(void **state)
{
	(void)state;
	assert_int_equal(in_child(drop_of_nothing), 0);
	assert_string_equal(said, "");
}

/* ---- The user ---------------------------------------------------------------------------------------------------- */

static int become(void)
{
	struct privileges r;
	struct stat s;
	int fd = open(in_folder("file"), O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	gid_t groups[32];

	if (chown(folder, SOMEBODY, SOMEBODY) || privileges_open(&r, "somebody") ||
	    privileges_plan(&r, &(struct privileges_needs){ .nic = true, .file[0] = { "log", in_folder("file") },
						    .files = 1 }) || privileges_give(&r, "log", fd) ||
	    privileges_drop(&r))
		return 1;
	if (getuid() != SOMEBODY || geteuid() != SOMEBODY || getgid() != SOMEBODY || getegid() != SOMEBODY)
		return 2;
	if (fstat(fd, &s) || s.st_uid != SOMEBODY || s.st_gid != SOMEBODY)
		return 3;
	for (int n = getgroups(COUNT_OF(groups), groups); n > 0; n--)
		if (groups[n - 1] == 0)
			return 4;
	if (!setuid(0))
		return 5;
	return has_only(BIT(CAP_NET_ADMIN));
}

static void becomes_another_user(void **state)
{
	(void)state;
	if (!is_root())
		skip();
	assert_int_equal(in_child(become), 0);
	assert_string_equal(said, "");
}

static int nobody_of_this_name(void)
{
	struct privileges r;

	return -privileges_open(&r, "who");
}

static int without_setuid(void)
{
	const struct capabilities none = { 0 };
	struct privileges r;

	set_capabilities(&none);
	return -privileges_open(&r, "somebody");
}

static void a_user_that_cannot_be_is_refused(void **state)
{
	(void)state;
	assert_int_equal(in_child(nobody_of_this_name), ENOENT);
	golden_line(said);
	lookup_error = EIO;
	assert_int_equal(in_child(nobody_of_this_name), EIO);
	golden_line(said);
	lookup_error = 0;
	assert_int_equal(in_child(without_setuid), EPERM);
	golden_line(said);
}

/* ---- Kept privileges --------------------------------------------------------------------------------------------- */

static struct privileges_needs needs;
static const char *user;
static uint64_t expected;

/* 0: planned as expected, and this thread is as before. */
static int plan(void)
{
	const struct capabilities before = read_capabilities();
	struct privileges r;
	int error;

	if (privileges_open(&r, user))
		return 100;
	error = privileges_plan(&r, &needs);
	if (error)
		return -error;
	if (read_capabilities().effective != before.effective || setfsuid((uid_t)-1) != 0 || setfsgid((gid_t)-1) != 0)
		return 101;
	return r.keep == expected ? 0 : 102;
}

static void expect_kept(const char *who, uint64_t keep)
{
	user = who;
	expected = keep;
	assert_int_equal(in_child(plan), 0);
	assert_string_equal(said, "");
}

/* Which of the two may set a priority depends on the available privileges. */
static int plan_without_net_admin(void)
{
	struct privileges r = { .keep = 0 };

	return keep_only(BIT(CAP_NET_RAW) | BIT(CAP_NET_BIND_SERVICE)) || privileges_plan(&r, &needs) ||
		privileges_drop(&r) ||
	       has_only(BIT(CAP_NET_RAW));
}

static void a_priority_is_set_by_capability(void **state)
{
	(void)state;
	if (!is_root())
		skip();
	needs = (struct privileges_needs){ .priority = true };
	expect_kept(NULL, BIT(CAP_NET_ADMIN));
	assert_int_equal(in_child(plan_without_net_admin), 0);
}

/* ---- Folders ----------------------------------------------------------------------------------------------------- */

static void expect_refused(const char *text)
{
	user = "somebody";
	assert_int_equal(in_child(plan), EACCES);
	assert_non_null(strstr(said, text));
}

/* Root without capabilities may not write into the folder of another. */
static void a_folder_of_others_is_written_by_capability(void **state)
{
	char own[64];

	(void)state;
	if (!is_root())
		skip();
	snprintf(own, sizeof(own), "%s", in_folder("log"));
	needs = (struct privileges_needs){ .file[0] = { "log", own }, .files = 1 };
	expect_kept(NULL, 0);
	expect_refused("--log: user somebody may not write to /tmp/rant-rights-");
	assert_int_equal(chown(folder, SOMEBODY, SOMEBODY), 0);
	expect_kept(NULL, BIT(CAP_DAC_OVERRIDE));
	expect_kept("somebody", 0);
	needs = (struct privileges_needs){ .save_path = folder, .trace_path = "/", .nic = true };
	expect_kept(NULL, BIT(CAP_DAC_OVERRIDE) | BIT(CAP_NET_ADMIN));
	expect_refused("--save-trace: user somebody may not write to /: leave out --user or --save-trace\n");
	needs = (struct privileges_needs){ .trace_path = "/proc/x", .trace_made = true };
	expect_refused("--trace-marker: user somebody may not write to /proc: to remove the instance");
	needs.trace_made = false;
	expect_kept("somebody", 0);
}

static void a_file_of_others_in_a_sticky_folder(void **state)
{
	char file[64];

	(void)state;
	if (!is_root())
		skip();
	snprintf(file, sizeof(file), "%s", in_folder("file"));
	needs = (struct privileges_needs){ .file[0] = { "log", file }, .files = 1 };
	assert_int_equal(chown(folder, 65530, 65530) | chmod(folder, 01777), 0);
	expect_kept(NULL, 0);
	expect_kept("somebody", 0);
	close(open(file, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
	expect_kept(NULL, 0);
	expect_refused("/file: choose another place\n");
	assert_int_equal(chown(file, 65529, 65529), 0);
	expect_kept(NULL, BIT(CAP_DAC_OVERRIDE) | BIT(CAP_FOWNER));
}

static void the_folder_of_a_file(void **state)
{
	static const char *const rows[][2] = { { "log", "." }, { "/log", "/" }, { "a/log", "a" },
					       { "/a/b/log", "/a/b" } };
	char path[PATH_MAX];

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		folder_of(&(struct folder){ .path = rows[i][0], .is_file = true }, path);
		assert_string_equal(path, rows[i][1]);
		folder_of(&(struct folder){ .path = rows[i][0] }, path);
		assert_string_equal(path, rows[i][0]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
		TEST(only_what_the_nic_needs_is_kept), TEST(without_capabilities_there_is_nothing_to_drop),
		TEST(becomes_another_user), TEST(a_user_that_cannot_be_is_refused),
		TEST(a_priority_is_set_by_capability), TEST(a_folder_of_others_is_written_by_capability),
		TEST(a_file_of_others_in_a_sticky_folder),
		TEST(the_folder_of_a_file),
	};

	return golden_run(tests);
}
