/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What was read as the object of --json: what is not known is null. */
#ifndef RESULTS_OBJECT_H
#define RESULTS_OBJECT_H

struct json;
struct outcome;

void object_write(struct json *j, const struct outcome *o);

#endif
