/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Stages of an exchange and their medians. For report/ only. */
#ifndef REPORT_TEXT_STAGE_H
#define REPORT_TEXT_STAGE_H

#include "histogram.h"
#include "rant.h"
#include "result/result.h"

struct report;

/* A stage, or all of the round trip. */
struct part {
	char name[40], formula[48];
	int index; /* enum stage_index; STAGES: all of it */
	struct stage stage;
	struct percentile usual; /* median; value_ns INT64_MAX: not known */
	/* Values of one sample, set by the caller that compares them with the median. */
	bool known, candidate; /* its value is there; it may be to blame, since no other candidate has it in it */
	int64_t value_ns;
};

#define PARTS_MAX (STAGES + 1)

/* Sets the name and the formula of stage s. */
void stage_name(struct part *p, const struct report *r, const struct stage *s);

/* The median. INT64_MAX: a single sample cannot be compared with itself. */
struct percentile stage_typical(const struct histogram *h);

/* True if stage s, which has index i, has samples; stages that the peer does not report have none. */
bool stage_is_collected(const struct report *r, int i, const struct stage *s);

/* True if an emitter has the stages within the response. */
bool stage_is_split(const struct report *r);

/* The parts that are collected, in the order of their index. An emitter that has any has all of the round trip as the
 * last one, since the others may not explain all of it. Returns how many. */
int stage_find(const struct report *r, struct part parts[PARTS_MAX]);

/* The parts of one sample that its own times tell, with their values, and all of the round trip of an emitter where
 * these do not join: for a thread beside the run, which may not read the histograms while they are written, so that
 * what is usual is not known (INT64_MAX). Returns how many. */
int stage_of_sample(const struct report *r, const struct sample *s, struct part parts[PARTS_MAX]);

#endif
