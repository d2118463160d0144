/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The cause of a breach for the emitter at the other end (docs/protocol.md, type 245). */
#ifndef EXPLAIN_EXPLAIN_PEER_H
#define EXPLAIN_EXPLAIN_PEER_H

#include "rant.h"

struct trace_record;

/* Housekeeping thread: explains a saved trace for the replies of the loop, as on_saved() of struct trace_keeper. The
 * context is a struct freeze_causes. */
void explain_for_peer(void *causes, const struct trace_record *breach, const char *path);

#endif
