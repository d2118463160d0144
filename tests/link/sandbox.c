// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Runs a command under a filter of system calls as systemd makes it of a unit: those of the list are allowed, and with
 * them what SystemCallArchitectures=native, RestrictAddressFamilies=, RestrictNamespaces=, MemoryDenyWriteExecute= and
 * LockPersonality= say. All else is EPERM. Facts: systemd.exec(5).
 *
 * sandbox LIST FAMILY,... COMMAND... LIST: a file with a name a line; those that this machine does not have are left
 * out
 */
#include <err.h>
#include <errno.h>
#include <linux/sched.h>
#include <seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#define SPACES (CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET)

static scmp_filter_ctx filter;

static void must(int error, const char *what)
{
	if (error)
		errx(125, "%s: %s", what, strerror(-error));
}

static void allow(int call)
{
	must(seccomp_rule_add(filter, SCMP_ACT_ALLOW, call, 0), "a rule");
}

/* Only with these bits of this argument. */
static void allow_with(int call, unsigned argument, uint64_t bits, uint64_t value)
{
	must(seccomp_rule_add(filter, SCMP_ACT_ALLOW, call, 1, SCMP_CMP(argument, SCMP_CMP_MASKED_EQ, bits, value)),
	     "a rule");
}

static void allow_families(char *families)
{
	static const struct { const char *name; int number; } known[] = {
		{ "AF_INET", AF_INET }, { "AF_INET6", AF_INET6 }, { "AF_NETLINK", AF_NETLINK },
			{ "AF_PACKET", AF_PACKET },
		{ "AF_UNIX", AF_UNIX },
	};

	for (char *name = strtok(families, ","); name; name = strtok(NULL, ",")) {
		size_t i = 0;

		while (i < sizeof(known) / sizeof(known[0]) && strcmp(known[i].name, name))
			i++;
		if (i == sizeof(known) / sizeof(known[0]))
			errx(125, "%s: what family is that?", name);
		must(seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(socket), 1,
				      SCMP_A0(SCMP_CMP_EQ, (uint64_t)known[i].number)), name);
	}
}

/* What the other lines of the unit take away of this call; false: nothing. */
static int allow_some_of(const char *name, char *families)
{
	if (!strcmp(name, "socket")) {
		allow_families(families);
	} else if (!strcmp(name, "mmap")) {
		for (unsigned part = 0; part < 3; part++)
			allow_with(SCMP_SYS(mmap), 2, PROT_WRITE | PROT_EXEC,
				   part == 0 ? 0 : part == 1 ? PROT_WRITE : PROT_EXEC);
	} else if (!strcmp(name, "mprotect")) {
		allow_with(SCMP_SYS(mprotect), 2, PROT_EXEC, 0);
	} else if (!strcmp(name, "unshare")) {
		allow_with(SCMP_SYS(unshare), 0, SPACES, 0);
	} else if (!strcmp(name, "clone")) {
		allow_with(SCMP_SYS(clone), 0, SPACES, 0);
	} else if (!strcmp(name, "clone3")) { /* whose flags are in memory: libc then takes clone */
		must(seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0), name);
	} else {
		return !strcmp(name, "setns") || !strcmp(name, "personality") || !strcmp(name, "pkey_mprotect");
	}
	return 1;
}

int main(int argc, char **argv)
{
	char name[64];
	FILE *list;

	if (argc < 4 || !(list = fopen(argv[1], "re")))
		errx(125, "usage: sandbox LIST FAMILY,... COMMAND...");
	filter = seccomp_init(SCMP_ACT_ERRNO(EPERM));
	if (!filter)
		errx(125, "no memory");
	while (fscanf(list, "%63s", name) == 1) {
		const int call = seccomp_syscall_resolve_name(name);

		if (call >= 0 && !allow_some_of(name, argv[2]))
			allow(call);
	}
	fclose(list);
	must(seccomp_load(filter), "the filter");
	seccomp_release(filter);
	execvp(argv[3], argv + 3);
	err(127, "%s", argv[3]);
}
