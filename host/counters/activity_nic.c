// SPDX-License-Identifier: GPL-2.0-or-later
/* Counters of the NIC driver: statistics by ethtool, and timestamps delivered and lost. */
#include "host/counters/activity_inside.h"

#include "host/nic/nic.h"
#include "host/nic/nic_abilities.h"

#include <errno.h>
#include <linux/ethtool.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define STATISTICS 16384 /* most statistics of a driver, reported or not */

/* ---- Statistics ------------------------------------------------------------------------------------------------ */

/* Drivers have hundreds of counters, most of which count regular events. */
static bool prints_trouble(const char *name)
{
	static const char *const words[] = { "drop", "err", "miss", "discard", "stamp", "lost", "timeout", "skipped",
					     "overrun", "overflow", "fifo", "no_buf", "nobuf", "out_of_buf", "nodesc",
					     "no_desc", "late_cqe", "abort" };

	for (size_t i = 0; i < COUNT(words); i++)
		for (const char *at = name; (at = strcasestr(at, words[i])); at++)
			/* "interrupts", "deferred", "transferred" */
			if (strcmp(words[i], "err") || !strchr("tfTF", at > name ? at[-1] : 'x') ||
			    !strncasecmp(at, "error", 5))
				return true;
	return false;
}

/*
 * The kernel writes as many statistics as the driver has at that moment, without regard to the size of the buffer, so a
 * driver that gets more queues between two calls would overwrite memory: the page after the buffer faults (EFAULT).
 * The buffer is zeroed.
 */
static void *guarded_map(size_t bytes, size_t *mapped)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), whole = (bytes + page - 1) / page * page;
	char *start = mmap(NULL, whole + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (start == MAP_FAILED)
		return NULL;
	if (mprotect(start + whole, page, PROT_NONE)) {
		munmap(start, whole + page);
		return NULL;
	}
	*mapped = whole + page;
	return start;
}

/* Present number of statistics, or -errno. */
static int64_t count_statistics(const struct nic *n)
{
	union {
		struct ethtool_sset_info info;
		uint8_t with_count[sizeof(struct ethtool_sset_info) + sizeof(uint32_t)];
	} ask = { .info = { .cmd = ETHTOOL_GSSET_INFO, .sset_mask = 1ULL << ETH_SS_STATS } };
	int error = nic_ethtool(n, &ask.info);

	if (error)
		return error;
	return ask.info.sset_mask ? (int64_t)ask.info.data[0] : -EOPNOTSUPP;
}

static int choose_statistics(struct activity *a)
{
	struct activity_inside *in = a->inside;
	size_t mapped;
	struct ethtool_gstrings *names = guarded_map(sizeof(*names) + (size_t)in->statistics_count * ETH_GSTRING_LEN,
						     &mapped);
	int error;

	if (!names)
		return -ENOMEM;
	*names = (struct ethtool_gstrings){ .cmd = ETHTOOL_GSTRINGS, .string_set = ETH_SS_STATS,
					    .len = in->statistics_count };
	error = nic_ethtool(a->nic, names);
	if (!error && names->len != in->statistics_count)
		error = -EAGAIN;
	for (uint32_t i = 0; !error && i < in->statistics_count; i++) {
		char name[ETH_GSTRING_LEN + 1];
		uint16_t slot;

		snprintf(name, sizeof(name), "%.*s", ETH_GSTRING_LEN,
			 (char *)names->data + (size_t)i * ETH_GSTRING_LEN);
		if (!prints_trouble(name))
			continue;
		slot = activity_add_slot(a, GROUP_STATISTICS, COUNT_64, "", "%s", name);
		if (slot == NONE)
			continue;
		in->reported[in->reported_count].index = i;
		in->reported[in->reported_count++].slot = slot;
	}
	munmap(names, mapped);
	return error;
}

static void open_statistics(struct activity *a)
{
	struct activity_inside *in = a->inside;
	int64_t count = count_statistics(a->nic);
	int error = count < 0 ? (int)count : count == 0 ? -EOPNOTSUPP : count > STATISTICS ? -E2BIG : 0;

	if (!error) {
		in->statistics_count = (uint32_t)count;
		error = choose_statistics(a);
	}
	if (!error && in->reported_count) {
		in->statistics = guarded_map(sizeof(*in->statistics) + (size_t)count * sizeof(uint64_t),
					     &in->statistics_bytes);
		error = in->statistics ? 0 : -ENOMEM;
	}
	if (error)
		activity_note(a, "statistics of the NIC ('ethtool -S %s': %s)", a->nic->name, strerror(-error));
}

static void read_statistics(struct activity *a, struct activity_reading *r)
{
	struct activity_inside *in = a->inside;

	/* The number has changed, so the names that were read do not match the values. */
	if (!in->statistics || count_statistics(a->nic) != in->statistics_count)
		return;
	*in->statistics = (struct ethtool_stats){ .cmd = ETHTOOL_GSTATS, .n_stats = in->statistics_count };
	if (nic_ethtool(a->nic, in->statistics) || in->statistics->n_stats != in->statistics_count)
		return;
	for (unsigned i = 0; i < in->reported_count; i++)
		activity_put(r, in->reported[i].slot, (uint64_t)in->statistics->data[in->reported[i].index]);
}

/* ---- Stamps ---------------------------------------------------------------------------------------------------- */

static const char *const stamp_names[] = { "transmit stamps given", "transmit stamps lost", "transmit stamp errors" };

static void open_stamps(struct activity *a)
{
	struct nic_stamp_counts counts;
	int error = nic_read_stamp_counts(a->nic, &counts);

	if (error)
		activity_note(a, "transmit stamps as the driver counts them (ethtool netlink: %s)", strerror(-error));
	for (unsigned i = 0; !error && i < COUNT(stamp_names); i++)
		if (counts.has >> i & 1)
			a->inside->stamp_slot[i] = activity_add_slot(a, GROUP_STAMPS, COUNT_64, "", "%s",
								     stamp_names[i]);
}

static void read_stamps(struct activity *a, struct activity_reading *r)
{
	const uint16_t *slot = a->inside->stamp_slot;
	struct nic_stamp_counts counts;

	if ((slot[0] == NONE && slot[1] == NONE && slot[2] == NONE) || nic_read_stamp_counts(a->nic, &counts))
		return;
	const uint64_t value[] = { counts.sent, counts.lost, counts.errors };

	for (unsigned i = 0; i < COUNT(value); i++)
		if (counts.has >> i & 1)
			activity_put(r, slot[i], value[i]);
}

/* ---- Both ------------------------------------------------------------------------------------------------------ */

void activity_nic_open(struct activity *a)
{
	open_stamps(a);
	open_statistics(a); /* last: the driver may have more than fit */
}

void activity_nic_read(struct activity *a, struct activity_reading *r)
{
	read_stamps(a, r);
	read_statistics(a, r);
}

void activity_nic_close(struct activity_inside *in)
{
	if (in->statistics)
		munmap(in->statistics, in->statistics_bytes);
}
