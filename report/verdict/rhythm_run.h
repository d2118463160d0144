/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rhythm of a run: the samples that are spikes, their period, and periodic work of the host that fits it. */
#ifndef REPORT_VERDICT_RHYTHM_RUN_H
#define REPORT_VERDICT_RHYTHM_RUN_H

#include "rant.h"

struct result;
struct rhythm;

#define RHYTHM_TEXT_BYTES 512

/*
 * Finds the period of the slow samples of a run: those above the threshold on the latency with --continue, else the
 * slowest 1,000, or the slowest twentieth of fewer samples than 20,000. Suspects are the periods of the result.
 */
void rhythm_judge(struct result *r);

/* "Spikes come every 10.000 ms (p < 1e-8), 312 of 340 in phase: fits 10 x timer tick (CONFIG_HZ 1000)"; there must be
 * a rhythm. */
void rhythm_say(char *text, size_t bytes, const struct rhythm *r);

#endif
