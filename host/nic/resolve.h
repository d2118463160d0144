/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The address of a host that is given by its name. */
#ifndef HOST_NIC_RESOLVE_H
#define HOST_NIC_RESOLVE_H

#include "options.h"

/*
 * Makes o->server of o->server_name, if that is one: of the addresses in the order of the resolver (RFC 6724), and of
 * the one family that was asked for, if any, the first that has a route through o->interface; if none has, the first,
 * of which is said later what is missing. One line on stderr says which it is; before that one more, when the resolver
 * takes over a second. A signal ends the program meanwhile. 0, or -errno after one line with what the resolver said,
 * and whom it asks. Before anything is opened: the resolver may open and keep what it wants.
 */
int resolve_server(struct options *o);

#endif
