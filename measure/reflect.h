/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The reflector's loop (hot): receive, send, fetch. */
#ifndef MEASURE_REFLECT_H
#define MEASURE_REFLECT_H

#include "measure/exchange.h"

/* Answers requests until x->result.end. Called by exchange_run(), which sets x up. */
void reflect_run(struct exchange *x);

#endif
