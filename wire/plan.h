/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Derives the packet plan of a run and the session table from the options. */
#ifndef WIRE_PLAN_H
#define WIRE_PLAN_H

#include "options.h"
#include "wire/packet.h"
#include "wire/session.h"

/* Fills *plan, with a random SSID and without follow_ups, which the caller may add. `key` belongs to the
 * caller; NULL: unauthenticated. 0, or -EINVAL after one line: an emitter's --size is not possible. */
int plan_probes(struct packet_plan *plan, const struct options *o, const struct hmac *key);

/* Initialises a reflector's session table with a secret hash key; s may be NULL (emitter). 0, or -EIO after
 * one line. */
int plan_sessions(struct sessions *s, const struct options *o);

#endif
