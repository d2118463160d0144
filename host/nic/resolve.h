/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Resolves the name of the server to an address. */
#ifndef HOST_NIC_RESOLVE_H
#define HOST_NIC_RESOLVE_H

#include "options.h"

/*
 * Sets o->server from the name o->server_name, if given: the first address in the order of the resolver (RFC 6724), of
 * the requested family, that has a route through o->interface; without such an address the first, and a later line
 * names the missing route. One line on stderr names the address, except with o->host_given, where the first line of the
 * run does. An earlier line is printed if the resolver takes over a second. A signal ends the program meanwhile. 0, or
 * -errno after one line with the error of the resolver and its sources. To be called before anything is opened: the
 * resolver may open descriptors and keep them.
 */
int resolve_server(struct options *o);

#endif
