/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The explanation of a breach as plain data, for the outputs. */
#ifndef EXPLAIN_WHY_H
#define EXPLAIN_WHY_H

#include "explain/cause.h"

/* Fills *w from the results of evidence_open() and cause_find(). */
void why_take(struct why *w, const struct cause *c, const struct evidence *e);

/* The name of an owner; empty: its class has none. Without a number that differs between breaches with the same cause. */
void why_owner_name(char name[CAUSE_NAME_BYTES], const struct evidence *e, const struct owner *o);

#endif
