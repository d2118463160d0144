/* SPDX-License-Identifier: GPL-2.0-or-later */
/* "rant HOST": the interface of the route, and the best timestamp source of that interface. */
#ifndef HOST_NIC_NIC_BEST_H
#define HOST_NIC_NIC_BEST_H

#include "options.h"
#include "rant.h"

struct nic;

/* For an emitter without --interface: sets o->interface to the interface of the route to o->server; `name` stores the
 * text. 0, or -errno after one line. Does nothing for a reflector, or if an interface was given. */
int nic_choose_interface(struct options *o, char name[IFNAMSIZ]);

/*
 * Replaces STAMP_BEST in o->stamp: SOURCE_HARDWARE if the NIC can stamp the packets of these options, and is set up for
 * this or can be set up and restored by this process; else SOURCE_KERNEL. `why` receives the reason, as the end of a
 * sentence. Changes no setting. 0, or -errno after one line: the interface does not exist.
 */
int nic_choose_stamp(struct options *o, char why[static 256]);

/* nic_stamp() after nic_choose_stamp() chose SOURCE_HARDWARE. A driver may refuse although it lists the setting: then
 * one more line, and o->stamp is SOURCE_KERNEL. */
void nic_stamp_best(struct nic *n, struct options *o);

/* The first line of "rant HOST": the interface, the timestamp source, and the reason for it. server: its address as
 * text. */
void nic_print_choice(const struct options *o, const char *server, const char *why);

#endif
