// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What this user may do with another process: attaches to each of its threads and lets it go, opens their memory, takes
 * descriptors.
 *
 *   look_into PID      prints one line: how many of each
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static long is_open(int fd)
{
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static long attach(pid_t thread)
{
	if (ptrace(PTRACE_SEIZE, thread, NULL, NULL))
		return 0;
	/* It may be let go only while it stands. */
	if (!ptrace(PTRACE_INTERRUPT, thread, NULL, NULL) && waitpid(thread, NULL, __WALL) == thread)
		ptrace(PTRACE_DETACH, thread, NULL, NULL);
	return 1;
}

int main(int argc, char **argv)
{
	const char *pid = argc == 2 ? argv[1] : "";
	const int process = (int)syscall(SYS_pidfd_open, atoi(pid), 0);
	long attached = 0, memory = 0, descriptors = 0;
	char path[300];

	snprintf(path, sizeof(path), "/proc/%.20s/task", pid);
	DIR *tasks = opendir(path);

	if (!tasks || process < 0)
		err(1, "%s", path);
	for (struct dirent *d; (d = readdir(tasks));) {
		if (d->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "/proc/%.20s/task/%s/mem", pid, d->d_name);
		memory += is_open(open(path, O_RDWR));
		attached += attach(atoi(d->d_name));
	}
	closedir(tasks);
	for (int fd = 0; fd < 64; fd++)
		descriptors += is_open((int)syscall(SYS_pidfd_getfd, process, fd, 0));
	printf("attached=%ld memory=%ld descriptors=%ld\n", attached, memory, descriptors);
	return 0;
}
