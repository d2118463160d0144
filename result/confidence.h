/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Accuracy of the percentiles of the latency, from the scatter of blocks of the run. */
#ifndef RESULT_CONFIDENCE_H
#define RESULT_CONFIDENCE_H

#include "rant.h"
#include "result/percentiles.h"

#define CONFIDENCE_BLOCKS_LEAST 30

struct confidence {
	unsigned blocks; /* below CONFIDENCE_BLOCKS_LEAST: nothing is known by blocks */
	unsigned block_s; /* seconds in each */
	/* Number of independent samples that would know the share at or below each percentile as well. */
	int64_t effective[PERCENTILES]; /* by enum percentile_index */
	bool has_width; /* the next is known */
	double width; /* of the percentile of --until-known, see confidence_width() */
};

#endif
