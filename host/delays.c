// SPDX-License-Identifier: GPL-2.0-or-later
/* Settings of this host that delay packets by a fixed time, by ethtool ioctls and sysfs. */
#include "host/delays.h"

#include "host/file.h"
#include "host/nic/nic.h"

#include <inttypes.h>
#include <net/if.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define IDLE_STATES 10 /* CPUIDLE_STATE_MAX */

/* The caller fills in the name and the cure. NULL: the delay is too short, or the list is full. */
static struct delay *add(struct delays *to, int64_t value_ns)
{
	struct delay *one = &to->delay[to->count];

	if (value_ns < DELAY_LEAST_NS || to->count == DELAYS_MAX)
		return NULL;
	to->count++;
	*one = (struct delay){ .value_ns = value_ns };
	return one;
}

static void add_coalescing(struct delays *to, const struct nic *nic, const char *name, uint32_t us)
{
	struct delay *one = add(to, us * NS_PER_US);

	if (!one)
		return;
	snprintf(one->name, sizeof(one->name), "%s %" PRIu32, name, us);
	snprintf(one->cure, sizeof(one->cure), "ethtool -C %s %s 0", nic->name, name);
}

__attribute__((format(printf, 2, 3)))
static bool read_number(int64_t *value, const char *format, ...)
{
	char path[128], text[32], *end;
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(path, sizeof(path), format, arguments);
	va_end(arguments);
	if (file_read(path, text, sizeof(text)) <= 0)
		return false;
	errno = 0;
	*value = strtoll(text, &end, 10);
	return !errno && end != text && (!*end || *end == '\n');
}

/* sysfs may show the interfaces of another network namespace. */
static bool is_in_sysfs(const struct nic *nic)
{
	int64_t index;

	return read_number(&index, "/sys/class/net/%s/ifindex", nic->name) && index == nic->index;
}

static void add_flush_timeout(struct delays *to, const struct nic *nic)
{
	struct delay *one;
	int64_t ns;

	if (!is_in_sysfs(nic) || !read_number(&ns, "/sys/class/net/%s/gro_flush_timeout", nic->name) ||
	    !(one = add(to, ns)))
		return;
	snprintf(one->name, sizeof(one->name), "gro_flush_timeout %" PRId64, ns);
	snprintf(one->cure, sizeof(one->cure), "echo 0 >/sys/class/net/%s/gro_flush_timeout", nic->name);
}

static void add_idle_states(struct delays *to, int cpu)
{
	for (int state = 0; state < IDLE_STATES; state++) {
		char path[96], name[24];
		int64_t us, disabled = 0;
		struct delay *one;

		if (!read_number(&us, "/sys/devices/system/cpu/cpu%d/cpuidle/state%d/latency", cpu, state))
			return;
		read_number(&disabled, "/sys/devices/system/cpu/cpu%d/cpuidle/state%d/disable", cpu, state);
		if (disabled || us > INT32_MAX || !(one = add(to, us * NS_PER_US)))
			continue;
		snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/cpuidle/state%d/name", cpu, state);
		file_read(path, name, sizeof(name));
		name[strcspn(name, "\n")] = '\0';
		snprintf(one->name, sizeof(one->name), "idle state %.16s, %" PRId64 " us exit latency", name, us);
		snprintf(one->cure, sizeof(one->cure), "run as root without --no-cpu-dma-latency");
	}
}

void delays_read(struct delays *to, const struct nic *nic, int cpu, bool sleeps)
{
	struct nic_details d;

	*to = (struct delays){ .count = 0 };
	nic_read_details(nic, &d);
	if (d.coalescing_known && !d.adaptive_receive)
		add_coalescing(to, nic, "rx-usecs", d.receive_us);
	if (d.coalescing_known && !d.adaptive_transmit)
		add_coalescing(to, nic, "tx-usecs", d.transmit_us);
	add_flush_timeout(to, nic);
	if (sleeps && cpu >= 0)
		add_idle_states(to, cpu);
}
