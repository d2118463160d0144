/* SPDX-License-Identifier: GPL-2.0-or-later */
/* "rant HOST": the interface of the route, and the best timestamp source of that interface. Changes no setting. */
#ifndef HOST_NIC_NIC_BEST_H
#define HOST_NIC_NIC_BEST_H

#include "options.h"
#include "rant.h"

/* For an emitter without --interface: sets o->interface to the interface of the route to o->server; `name` stores the
 * text. 0, or -errno after one line. Does nothing for a reflector, or if an interface was given. */
int nic_choose_interface(struct options *o, char name[IFNAMSIZ]);

/*
 * Replaces STAMP_BEST in o->stamp: SOURCE_HARDWARE if the NIC can stamp the packets of these options, and is set up for
 * this or can be set up and restored by this process; else SOURCE_KERNEL. `why` receives the reason, as the end of a
 * sentence. Changes no setting. 0, or -errno after one line: the interface does not exist.
 */
int nic_choose_stamp(struct options *o, char why[static 256]);

#endif
