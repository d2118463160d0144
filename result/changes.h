/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Changes of the machine during the run, each with its time. */
#ifndef RESULT_CHANGES_H
#define RESULT_CHANGES_H

#include "host/counters/changes.h"
#include "rant.h"

/* All zeros: none, or not looked for. */
struct result_changes {
	struct machine_change kept[MACHINE_CHANGES_KEPT]; /* the first */
	uint64_t count; /* also those that are not kept */
};

#endif
