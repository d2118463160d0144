/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From the options to what every probe of a run has in common, and to the table of senders. */
#ifndef WIRE_PLAN_H
#define WIRE_PLAN_H

#include "options.h"
#include "wire/packet.h"
#include "wire/session.h"

/* Fills *plan, with a random SSID. It asks for no follow_ups: those are the caller's to add. `key` stays the caller's;
 * NULL: unauthenticated. 0, or -EINVAL after one line: an emitter's --size cannot be had. */
int plan_probes(struct packet_plan *plan, const struct options *o, const struct hmac *key);

/* A reflector's table of senders, empty, with places that nobody can guess; an emitter has none (s may be NULL). 0, or
 * -EIO after one line. */
int plan_sessions(struct sessions *s, const struct options *o);

#endif
