/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --allow: source addresses that a reflector replies to (hot). */
#ifndef WIRE_ALLOW_H
#define WIRE_ALLOW_H

#include "options.h"
#include "rant.h"

/* True if an allowed prefix contains the peer's address. Linear search, at most ALLOW_MAX comparisons. */
bool allow_has(const struct allow_list *list, const union address *peer);

#endif
