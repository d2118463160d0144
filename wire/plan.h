/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From the options to what every probe of a run has in common. */
#ifndef WIRE_PLAN_H
#define WIRE_PLAN_H

#include "options.h"
#include "wire/packet.h"

/* Fills *plan, with a random SSID. It asks for no follow_ups: those are the caller's to add. `key` stays the caller's; NULL:
 * unauthenticated. 0, or -EINVAL after one line: an emitter's --size cannot be had. */
int plan_probes(struct packet_plan *plan, const struct options *o, const struct hmac *key);

/* Fills `to` with what nobody can guess. 0, or -EIO after one line. */
int plan_random(void *to, size_t bytes);

#endif
