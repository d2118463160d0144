/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who is answered (hot). */
#ifndef WIRE_ALLOW_H
#define WIRE_ALLOW_H

#include "options.h"
#include "rant.h"

/* Is the peer in one of the prefixes? They are compared one by one, at most ALLOW_MAX. */
bool allow_has(const struct allow_list *list, const union address *peer);

#endif
