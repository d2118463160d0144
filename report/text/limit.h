/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Times that --stamp receive limits in one direction. A kernel takes the timestamp of a sent packet before the NIC
 * sends the packet. So a round trip is at most as long as printed, a response at least, and the network, the difference
 * of the two, at most; each within the bound of the clocks of the hosts that place their sent packets.
 */
#ifndef REPORT_TEXT_LIMIT_H
#define REPORT_TEXT_LIMIT_H

#include "rant.h"

struct report;

/* LIMIT_LATENCY: of the latency of the role, the round trip or the response. */
enum limit_of { LIMIT_LATENCY, LIMIT_RESPONSE, LIMIT_NETWORK, LIMITS };

/* "at most" or "at least"; NULL: the time is not limited so, and has no bound. */
const char *limit_words(const struct report *r, enum limit_of of);

/* The bound; not known: limit_words() is NULL, or a saved run does not have it. */
struct optional limit_bound_ns(const struct report *r, enum limit_of of);

/* Error of the placed transmit times of this host: the largest bound, or a clock fault that was found later. */
struct optional limit_placed_ns(const struct report *r);

/* The limit of a stage (enum stage_index), for limit_words(); LIMITS: it has none. */
enum limit_of limit_of_stage(const struct report *r, int stage);

/* Adds ", at most" to the name of such a time. */
void limit_add(char *text, size_t bytes, const struct report *r, enum limit_of of);

/* Writes "at most, +-412 ns", at most 48 bytes; an empty text if the time has no limit. Returns text. */
const char *limit_text(char *text, size_t bytes, const struct report *r, enum limit_of of);

#endif
