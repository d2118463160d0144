/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The findings of --check as JSON. */
#ifndef DOCTOR_JSON_H
#define DOCTOR_JSON_H

#include <stdio.h>

struct options;

/* check_machine() with its findings in the file of --json, whose members docs/json.md describes. No file is left after
 * an error. */
int check_json(FILE *out, const struct options *o);

#endif
