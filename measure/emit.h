/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The emitter's loop with one probe in flight (hot): send, receive, fetch. */
#ifndef MEASURE_EMIT_H
#define MEASURE_EMIT_H

#include "measure/exchange.h"

/* Sends probes until x->result.end. Called by exchange_run(), which sets x up. */
void emit_run(struct exchange *x);

#endif
