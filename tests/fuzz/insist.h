/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Conditions in a fuzzer: checked also where assert() is compiled out. */
#ifndef INSIST_H
#define INSIST_H

#include <stdio.h>
#include <stdlib.h>

#define INSIST(condition) \
	do { \
		if (!(condition)) { \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
			abort(); \
		} \
	} while (0)

#endif
