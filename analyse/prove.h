/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --prove: what the timestamps of a NIC are worth, by real packets. */
#ifndef ANALYSE_PROVE_H
#define ANALYSE_PROVE_H

struct options;

/* Measures with this program as a child, one run after the other, each of which restores the settings of the NIC. About
 * 30 s. Writes the table, and with --json the object. server: address of the reflector without a port; NULL: no peer.
 * Returns the exit status: 0 of the wire, 3 not of the wire, 1 not known or not possible. */
int prove_main(const struct options *o, const char *server);

#endif
