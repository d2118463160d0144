// SPDX-License-Identifier: GPL-2.0-or-later
/* Facts about this host. Sources: uname(2), proc(5), Documentation/ABI/testing/sysfs-devices-system-cpu and
 * sysfs-hypervisor-xen. */
#include "host/system.h"

#include "host/file.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/utsname.h>
#include <unistd.h>

/* Reads the first line of a file. False: the file cannot be read. */
static bool read_line(char *to, size_t bytes, const char *path)
{
	const int got = file_read(path, to, bytes);

	to[strcspn(to, "\n")] = 0;
	return got >= 0;
}

static void read_names(struct system *s)
{
	struct utsname names;

	if (uname(&names))
		return;
	snprintf(s->hostname, sizeof(s->hostname), "%s", names.nodename);
	snprintf(s->kernel, sizeof(s->kernel), "%s", names.release);
	snprintf(s->version, sizeof(s->version), "%s", names.version);
	snprintf(s->machine, sizeof(s->machine), "%s", names.machine);
}

/* Reads the entry of the first CPU only, and takes it for all CPUs. */
static void read_cpu(struct system *s)
{
	FILE *f = fopen("/proc/cpuinfo", "re");
	char line[4096];

	while (f && fgets(line, sizeof(line), f) && *line != '\n') {
		const char *value = strstr(line, ": ");

		if (!value)
			continue;
		line[strcspn(line, "\n")] = 0;
		if (!strncmp(line, "model name", 10))
			snprintf(s->cpu_model, sizeof(s->cpu_model), "%s", value + 2);
		/* x86: CPUID leaf 1, ECX bit 31, which hypervisors set and no processor does. */
		if (!strncmp(line, "flags", 5))
			s->is_virtual = optional_of(strstr(value, " hypervisor") != NULL);
	}
	if (f)
		fclose(f);
	if (read_line(s->hypervisor, sizeof(s->hypervisor), "/sys/hypervisor/type") && *s->hypervisor)
		s->is_virtual = optional_of(1);
}

static void read_command(struct system *s)
{
	int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
	ssize_t got = fd < 0 ? 0 : read(fd, s->command, sizeof(s->command));

	if (fd >= 0)
		close(fd);
	/* A longer command line is cut off, so it counts as not known. */
	s->command_bytes = got > 0 && got < (ssize_t)sizeof(s->command) && !s->command[got - 1] ? (size_t)got : 0;
}

void system_read(struct system *s, int cpu)
{
	const long online = sysconf(_SC_NPROCESSORS_ONLN);
	char path[96], text[8];

	*s = (struct system){ .command_bytes = 0 };
	if (online > 0)
		s->cpus_online = optional_of(online);
	read_names(s);
	read_cpu(s);
	read_command(s);
	if (read_line(text, sizeof(text), "/sys/kernel/realtime"))
		s->is_real_time = optional_of(*text == '1');
	else if (*s->version)
		s->is_real_time = optional_of(strstr(s->version, "PREEMPT_RT") != NULL);
	read_line(s->clocksource, sizeof(s->clocksource),
		  "/sys/devices/system/clocksource/clocksource0/current_clocksource");
	s->isolated_known = read_line(s->isolated, sizeof(s->isolated), "/sys/devices/system/cpu/isolated");
	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/cpufreq/scaling_governor", cpu);
	if (cpu >= 0)
		read_line(s->governor, sizeof(s->governor), path);
}
