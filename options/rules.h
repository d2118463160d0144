/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rules that concern two options, or all. */
#ifndef OPTIONS_RULES_H
#define OPTIONS_RULES_H

#include "options/table.h"

/* 0, or -EINVAL after one line on stderr for the first rule that is broken. Warns of options without effect, and of
 * times that are absurd in their default unit. */
int options_check_rules(const struct parse *p);

#endif
