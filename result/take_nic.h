/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Copies the results of the NIC as plain data, see result/take.h. */
#ifndef RESULT_TAKE_NIC_H
#define RESULT_TAKE_NIC_H

struct link_watch;
struct nic;
struct options;
struct result_nic;
struct result_nic_setting;

/* Without `details` and `setting`. */
void take_nic(struct result_nic *to, const struct nic *from, const struct link_watch *link);

/* A timestamp setting by nic_read_setting(), with its result. */
void take_nic_setting(struct result_nic_setting *to, const int setting[3], int error, const struct options *o);

#endif
