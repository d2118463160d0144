// SPDX-License-Identifier: GPL-2.0-or-later
/* Checks of memory and tracing. */
#include "doctor/inside.h"

#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static void look_at_thp(struct check *c)
{
	struct check_file f;

	if (!CHECK_READ(c, &f, "/sys/kernel/mm/transparent_hugepage/enabled"))
		return;
	if (strstr(f.text, "[always]"))
		check_say(c, NOTE, f.path,
			  "the kernel may remap memory of running programs, except the large arrays of rant",
			  check_command(c, "echo madvise >%s", f.path), "always");
	else
		check_say(c, OK, f.path, NULL, NULL, "%.40s", f.text);
}

static void look_at_memlock(struct check *c)
{
	const char *where = "CapEff in /proc/self/status, getrlimit";
	unsigned long long capabilities;
	struct rlimit limit;
	struct check_file f;

	if (getrlimit(RLIMIT_MEMLOCK, &limit))
		return check_not_known(c, "getrlimit RLIMIT_MEMLOCK", errno);
	if (!check_capabilities(&f, &capabilities))
		return check_not_known(c, f.path, f.error);
	if ((capabilities & 1ULL << 14) || limit.rlim_cur == RLIM_INFINITY) /* CAP_IPC_LOCK */
		check_say(c, OK, where, NULL, NULL, "no limit for this process");
	else
		check_say(c, WARN, where, "access to unlocked memory may fault in the loop",
			  "ulimit -l unlimited, or run as root", "%llu kB may be locked",
			  (unsigned long long)limit.rlim_cur / 1024);
}

#define TRACEFS "/sys/kernel/tracing"

static void look_at_tracefs(struct check *c)
{
	char full[PATH_MAX];
	struct check_file f;

	check_full_path(full, TRACEFS "/trace_marker");
	if (access(full, W_OK))
		return check_say(c, NOTE, TRACEFS "/trace_marker", "rant cannot mark a spike in a trace",
				 errno == ENOENT ? "mount -t tracefs none " TRACEFS : "run as root",
				 "cannot be used: %s", strerror(errno));
	if (check_read(&f, TRACEFS "/current_tracer") && strcmp(f.text, "nop"))
		return check_say(c, NOTE, f.path, "tracing changes the measured latency",
				 "echo nop >" TRACEFS "/current_tracer", "tracer '%.30s' is on", f.text);
	if (check_read(&f, TRACEFS "/set_event") && *f.text)
		return check_say(c, NOTE, f.path, "tracing changes the measured latency", "echo >" TRACEFS "/set_event",
				 "events are on, the first is %.*s",
				 (int)strcspn(f.text, "\n") < 40 ? (int)strcspn(f.text, "\n") : 40, f.text);
	check_say(c, OK, TRACEFS, NULL, NULL,
		  "mounted, tracing is off, %s snapshots", check_exists(TRACEFS "/snapshot") ? "with" : "without");
}

const struct check_row check_memory_rows[] = {
	{ "Memory", "huge pages", look_at_thp, false },
	{ NULL, "memory lock", look_at_memlock, false },
	{ "Tracing", "tracefs", look_at_tracefs, false },
	{ NULL, NULL, NULL, false },
};
