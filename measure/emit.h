/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The emitter's order of verbs (hot): send, receive, fetch. */
#ifndef MEASURE_EMIT_H
#define MEASURE_EMIT_H

#include "measure/exchange.h"

/* Probes until x->result.end. For exchange_run(), which has set x up. */
void emit_run(struct exchange *x);

#endif
