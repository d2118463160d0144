// SPDX-License-Identifier: GPL-2.0-or-later
/* Sets of CPUs, and lists of them as the kernel writes them: "0-2,7". */
#include "doctor/inside.h"

#include <ctype.h>
#include <string.h>
#include <stdlib.h>

/* The kernel writes "(null)" for a list that does not exist; older kernels write blanks before it. */
bool check_cpus_read(const char *text, cpu_set_t *cpus)
{
	CPU_ZERO(cpus);
	text += strspn(text, " ");
	if (!strcmp(text, "(null)"))
		return true;
	while (*text) {
		char *end;
		long first = strtol(text, &end, 10), last = first;

		if (end == text || !isdigit((unsigned char)*text))
			return false;
		if (*end == '-') {
			text = end + 1;
			last = strtol(text, &end, 10);
			if (end == text || !isdigit((unsigned char)*text))
				return false;
		}
		if (last < first || last >= CPU_SETSIZE)
			return false;
		for (long cpu = first; cpu <= last; cpu++)
			CPU_SET((size_t)cpu, cpus);
		if (*end && *end != ',')
			return false;
		text = *end ? end + 1 : end;
	}
	return true;
}

struct check_cpu_text check_cpus_text(const cpu_set_t *cpus)
{
	struct check_cpu_text t = { "" };
	size_t used = 0;

	for (int cpu = 0; cpu < CPU_SETSIZE && used < sizeof(t.text); cpu++) {
		int first = cpu;

		if (!CPU_ISSET((size_t)cpu, cpus))
			continue;
		while (cpu + 1 < CPU_SETSIZE && CPU_ISSET((size_t)cpu + 1, cpus))
			cpu++;
		used += (size_t)snprintf(t.text + used, sizeof(t.text) - used, first == cpu ? "%s%d" : "%s%d-%d",
					 used ? "," : "", first, cpu);
	}
	return t;
}

int check_first_cpu(const cpu_set_t *cpus)
{
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET((size_t)cpu, cpus))
			return cpu;
	return 0;
}

bool check_cpus_overlap(const cpu_set_t *a, const cpu_set_t *b)
{
	cpu_set_t both;

	CPU_AND(&both, a, b);
	return CPU_COUNT(&both) > 0;
}

bool check_cpus_within(const cpu_set_t *part, const cpu_set_t *whole)
{
	cpu_set_t both;

	CPU_AND(&both, part, whole);
	return CPU_EQUAL(&both, part);
}
