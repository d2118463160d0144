/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Stages of an exchange and their medians. For report/ only. */
#ifndef REPORT_TEXT_STAGE_H
#define REPORT_TEXT_STAGE_H

#include "histogram.h"
#include "rant.h"
#include "result/result.h"

struct report;

/* A stage, or the whole round trip. */
struct part {
	char name[40], formula[48];
	int index; /* enum stage_index; STAGES: the whole round trip */
	struct stage stage;
	struct percentile usual; /* median; value_ns INT64_MAX: not known */
	/* Values of one sample, set by the caller that compares them with the median. */
	bool known, candidate; /* value_ns is known; may be blamed, since no other candidate contains this stage */
	int64_t value_ns;
};

#define PARTS_MAX (STAGES + 1)

/* Sets the name and the formula of stage s. */
void stage_name(struct part *p, const struct report *r, const struct stage *s);

/* The median. value_ns INT64_MAX for a single sample, which cannot be compared with itself. */
struct percentile stage_typical(const struct histogram *h);

/* True if stage s, which has index i, has samples; stages that the peer does not report have none. */
bool stage_is_collected(const struct report *r, int i, const struct stage *s);

/* True if an emitter has the stages within the response. */
bool stage_is_split(const struct report *r);

/* The collected stages, in the order of their index. For an emitter with stages the whole round trip follows as the
 * last element, since the stages may not explain all of it. Returns the number of elements. */
int stage_find(const struct report *r, struct part parts[PARTS_MAX]);

/* The stages that follow from the times of one sample, with their values, and the whole round trip of an emitter if
 * these do not cover it. For other threads during the run, which must not read the histograms while they are written,
 * so the medians are not known (INT64_MAX). Returns the number of elements. */
int stage_of_sample(const struct report *r, const struct sample *s, struct part parts[PARTS_MAX]);

#endif
