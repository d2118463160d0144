/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sorts values during a run: qsort(3) is slow, and may map memory and give it back, which interrupts the measuring
 * CPU. */
#ifndef REPORT_TEXT_ORDER_H
#define REPORT_TEXT_ORDER_H

#include "rant.h"

/* Sorts n values of 0 .. max_ns in ascending order. spare: memory for n values. Returns the array of the two that holds
 * the sorted values. */
int64_t *order_values(int64_t *value_ns, int64_t *spare, size_t n, int64_t max_ns);

#endif
