/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The time line of a breach for a picture: the member `timeline` of --explain --json. */
#ifndef EXPLAIN_TIMELINE_H
#define EXPLAIN_TIMELINE_H

#include "explain/cause.h"

struct json;

#define TIMELINE_SPANS_MAX 20000 /* of all CPUs; further spans are counted */
#define TIMELINE_EVENTS 10 /* the last before the end of the late stage */

/* Writes the object. *c: of cause_find(), also if it has found no cause: then c->stage is NULL. */
void timeline_write(struct json *j, const struct evidence *e, const struct owners *o, const struct cause *c);

#endif
