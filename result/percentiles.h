/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The percentiles of reports and files. */
#ifndef RESULT_PERCENTILES_H
#define RESULT_PERCENTILES_H

/* In ascending order. The row of each is in label_percentiles[]. */
enum percentile_index {
	PERCENTILE_50, PERCENTILE_90, PERCENTILE_95, PERCENTILE_99, PERCENTILE_99_9, PERCENTILE_99_99,
	PERCENTILE_99_999, PERCENTILE_99_9999, PERCENTILES,
};

#endif
