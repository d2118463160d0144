// SPDX-License-Identifier: GPL-2.0-or-later
/* The step of timestamps. */
#include "result/stamp_check.h"

#include <stdlib.h>

void stamp_check_step(struct stamp_check *c, int64_t ns)
{
	if (!c->steps_of++)
		c->first_ns = ns;
	else if (c->divisor_ns != 1)
		c->divisor_ns = common_divisor(c->divisor_ns, llabs(ns - c->first_ns));
}

struct optional stamp_check_step_ns(const struct stamp_check *c)
{
	return c->steps_of >= STAMP_STEP_LEAST && c->divisor_ns ? optional_of(c->divisor_ns) :
	       (struct optional){ .known = false };
}
