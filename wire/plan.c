// SPDX-License-Identifier: GPL-2.0-or-later
/* Common contents of the probes of a run, and the check of --size. */
#include "wire/plan.h"

#include <err.h>
#include <errno.h>
#include <string.h>
#include <sys/random.h>

static int check_size(const struct packet_plan *plan)
{
	struct packet_plan bare = *plan; /* without padding */
	size_t bytes = packet_plan_bytes(plan);

	if (!plan->bytes || bytes == plan->bytes)
		return 0;
	bare.bytes = 0;
	warnx("--size %zu: the probe takes %zu octets and padding 4 or more: give %zu, or a larger number", plan->bytes,
	      packet_plan_bytes(&bare), bytes);
	return -EINVAL;
}

static int plan_random(void *to, size_t bytes)
{
	if (getrandom(to, bytes, 0) == (ssize_t)bytes)
		return 0;
	warnx("no random numbers for the table of senders: getrandom: %s: let rant call it", strerror(errno));
	return -EIO;
}

int plan_sessions(struct sessions *s, const struct options *o)
{
	uint64_t secret[SESSION_SECRETS];

	if (o->role == ROLE_EMIT)
		return 0;
	if (plan_random(secret, sizeof(secret)))
		return -EIO;
	sessions_init(s, (uint32_t)o->sessions, o->rate_limit, secret);
	return 0;
}

int plan_probes(struct packet_plan *plan, const struct options *o, const struct hmac *key)
{
	/* Only the rant TLV reports whether the reflector's clock was set, and whether timestamps that are
	 * not the NIC's are the kernel's or the program's. */
	*plan = (struct packet_plan){ .key = key, .stages = options_joined(o),
				      .software = options_joined(o),
				      .t2_user = o->sw_timestamps,
				      .t2_kernel = options_kernel_times(o),
				      .kernel_every = options_joined(o) && options_queue_times(o) ?
				      (uint32_t)o->stages.every : 0,
				      .follow_ups = options_joined(o) && o->window > 1 ? FOLLOW_UPS_MAX : 0,
				      .freeze = options_joined(o) && o->freeze_peer,
				      .class_of_service = o->dscp >= 0 && !options_echoes(o),
				      .dscp = (uint8_t)(o->dscp > 0 ? o->dscp : 0),
				      .bytes = (size_t)o->size_bytes };
	/* 0 means: without an SSID (RFC 8972 section 3). */
	while (!plan->ssid && getrandom(&plan->ssid, sizeof(plan->ssid), 0) == sizeof(plan->ssid))
		;
	return o->role == ROLE_EMIT ? check_size(plan) : 0;
}
