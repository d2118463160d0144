/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The reflector's order of verbs (hot): receive, send, fetch. */
#ifndef MEASURE_REFLECT_H
#define MEASURE_REFLECT_H

#include "measure/exchange.h"

/* Answers until x->result.end. For exchange_run(), which has set x up. */
void reflect_run(struct exchange *x);

#endif
