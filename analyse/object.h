/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What was read as the object of --json: what is not known is null. */
#ifndef ANALYSE_OBJECT_H
#define ANALYSE_OBJECT_H

struct json;
struct outcome;

/* All members behind `seconds`, which by_second_begin_json() has begun; and its end. */
void object_write(struct json *j, const struct outcome *o);

/* The members of the first line of --jsonl, and of its last one. */
void object_write_first(struct json *j, const struct outcome *o);
void object_write_summary(struct json *j, const struct outcome *o);

#endif
