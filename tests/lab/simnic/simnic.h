/* SPDX-License-Identifier: GPL-2.0 */
/* What can be set at the simulated NICs, and what is counted on them: simnic.c, which alone includes it, says what
 * for. */
#ifndef SIMNIC_SIMNIC_H
#define SIMNIC_SIMNIC_H

#include <linux/ethtool.h>
#include <linux/module.h>

/* ---- Parameters ------------------------------------------------------------------------------------------------- */

#define PARAM(type, name, value, text)     \
	static type name = value;          \
	module_param(name, type, 0644);    \
	MODULE_PARM_DESC(name, text)

#define SIMS 3 /* at most */
#define PARAM_EACH(name, text)                             \
	static long name[SIMS];                            \
	module_param_array(name, long, NULL, 0644);        \
	MODULE_PARM_DESC(name, text)

static uint devices = 2;
module_param(devices, uint, 0444);
MODULE_PARM_DESC(devices, "2, or 3 for another emitter");

static uint truth_rows;
module_param(truth_rows, uint, 0444);
MODULE_PARM_DESC(truth_rows, "exchanges of which /dev/simnic_truth has the times, by sequence number; 0: none");

PARAM(uint, port, 862, "UDP port of the reflector");
PARAM(bool, authenticated, false, "replies are those of authenticated mode");
PARAM(long, epoch_ns, 1600000000000000000, "true time of exchange 0");
PARAM(long, period_ns, 100000, "true time from one exchange to the next; 0: real time");
PARAM(bool, live, false, "with period_ns 0: T3 is when the reply is really sent, plus response_ns");
PARAM(long, before_ns, 0, "from the send to the wire");
PARAM(long, wire_ns, 1000, "wire, probe");
PARAM(long, wire_back_ns, -1, "wire, reply; -1: as wire_ns");
PARAM(long, third_ns, 0, "wire, each way, of sim2's exchanges: so much more");
PARAM(long, response_ns, 5000, "from the probe's end at the wire to the reply's");
PARAM(long, after_ns, 0, "real delay of delivery after the receive stamp");

PARAM(uint, vary_stage, 1, "as spike_stage, 0..3");
PARAM(uint, vary_steps, 0, "");
PARAM(long, vary_ns, 1, "");

PARAM(uint, from, 0, "first sequence number that faults hit");
PARAM(uint, directions, 3, "of faults: 1 probes, 2 replies, 3 both");
PARAM(bool, alternate, false, "with directions 3: every other hit is on the probe, the others on the reply");
PARAM(uint, spike_every, 0, "");
PARAM(long, spike_ns, 0, "may be negative");
PARAM(uint, spike_stage, 1, "0 before, 1 wire there, 2 response, 3 wire back, 4 after (delivery only)");
PARAM(uint, drop_every, 0, "");
PARAM(uint, drop_reply, 0, "1, 2: of the replies to one probe only the first or the second");
PARAM(uint, dup_every, 0, "");
PARAM(uint, reorder_every, 0, "hold the packet until the next STAMP packet has passed");
PARAM(uint, hold_ms, 1000, "or until then");
PARAM(uint, tx_stamp_missing_every, 0, "");
PARAM(uint, tx_stamp_late_every, 0, "");
PARAM(uint, late_us, 0, "how late");
PARAM(uint, tx_stamp_twice_every, 0, "");
PARAM(uint, tx_stamp_delay_us, 0, "of every transmit stamp; 0: given within the send");
PARAM(uint, rx_stamp_missing_every, 0, "");
PARAM(uint, kernel_stamp_missing_every, 0, "transmit timestamps of the kernel, of sequence numbers");
PARAM(bool, kernel_stamp_after, false, "Y: those are taken after the one of the NIC, as by drivers that do it on completion");
PARAM(long, quantum, 1, "hardware stamps are multiples of it");
PARAM(uint, stale, 0, "hardware stamps that are those of the packet before, in stale_on");
PARAM(uint, stale_on, 3, "1 transmit stamps, 2 receive stamps, 3 both");
PARAM(long, back_ns, 0, "with stale: earlier than the stamp before by this");
PARAM(long, constant, 0, "added to each hardware stamp");
PARAM(long, ns_per_kilo_octet, 0, "wire, each way: for 1000 octets of the frame");
PARAM(long, completion_per_kilo_octet, 0, "transmit stamps are later by this for 1000 octets of the frame");
PARAM_EACH(stamp_slots, "no transmit stamp while so many are outstanding; 0: always");

PARAM_EACH(irq_cpu, "CPU of its interrupts plus one; 0: the poll runs on the CPU of the sender");
PARAM(bool, filter_all, true, "N: only PTP packets can be stamped on receipt, ALL answers ERANGE");
PARAM_EACH(filter_dead, "receive filter that is listed and granted but stamps nothing, as HWTSTAMP_FILTER_*");
PARAM(bool, rx_only, false, "Y: no transmitted packet is stamped, TX_ON answers ERANGE");
PARAM(bool, has_phc, true, "N: no hardware clock and no hardware stamps are told by ethtool");
PARAM(bool, phc_unreadable, false, "Y: the hardware clock is there, but its reading answers EOPNOTSUPP, as that of gve");
PARAM_EACH(phc_offset_ns, "");
PARAM_EACH(drift_ppb, "");
#define STEP_AT_NEXT -2
PARAM(long, step_at, -1, "sequence number of the exchange in which a clock steps; -2: the next one");
PARAM(long, step_ns, 0, "by this");
PARAM(uint, step_where, 0,
      "0 the emitter's between T1 and T4, 1 the reflector's between T2 and T3, 2 and 3 before T1 and T2");
PARAM(uint, step_times, 1, "in so many exchanges, one after another");
PARAM(uint, read_error_every, 0, "reads of a PHC that fail; 1: all");
PARAM(int, read_error, 16, "with this errno");
#define READ_BUDGET_MAX 256
PARAM(uint, read_budget, 0, "reads of a PHC that are accepted in any second, at most 256; EBUSY beyond; 0: all");
PARAM(uint, reads_refused, 0, "for that; counted here");

static char driver[ETHTOOL_BUSINFO_LEN] = KBUILD_MODNAME;
module_param_string(driver, driver, sizeof(driver), 0644);
MODULE_PARM_DESC(driver, "name that ethtool reports");

#define HOLD_MS_MAX 60000

/* By step_where. The clock of the sender steps before its stamp, that of the receiver after it. */
static const struct step_assign {
	bool probe, after;
} step_assign[] = { { false, true }, { false, false }, { true, false }, { true, true } };

/* ---- Counts, of "ethtool -S" and of the parameter state ---------------------------------------------------------- */

enum count {
	STAMP_PROBES, STAMP_REPLIES, OTHERS, SPIKES, DROPPED, DUPLICATED, REORDERED, HELD_TO_LIMIT,
	TX_STAMPS, TX_STAMP_OFF, TX_STAMP_MISSING, TX_STAMP_LATE, TX_STAMP_TWICE, TX_SKIPPED,
	RX_STAMPS, RX_STAMP_OFF, RX_STAMP_MISSING, UNDELIVERED, SETTINGS, COUNTS
};

static const char count_names[COUNTS][ETH_GSTRING_LEN] = {
	[STAMP_PROBES] = "stamp_probes_sent",
	[STAMP_REPLIES] = "stamp_replies_sent",
	[OTHERS] = "others_sent",
	[SPIKES] = "spikes",
	[DROPPED] = "dropped",
	[DUPLICATED] = "duplicated",
	[REORDERED] = "reordered",
	[HELD_TO_LIMIT] = "held_to_limit",
	[TX_STAMPS] = "tx_stamps", /* packets that got one, now or later */
	[TX_STAMP_OFF] = "tx_stamp_off", /* asked for while the device was set to OFF */
	[TX_STAMP_MISSING] = "tx_stamp_missing",
	[TX_STAMP_LATE] = "tx_stamp_late",
	[TX_STAMP_TWICE] = "tx_stamp_twice",
	[TX_SKIPPED] = "tx_hwtstamp_skipped",
	[RX_STAMPS] = "rx_stamps",
	[RX_STAMP_OFF] = "rx_stamp_off", /* STAMP packets that the filter did not stamp */
	[RX_STAMP_MISSING] = "rx_stamp_missing",
	[UNDELIVERED] = "undelivered", /* the peer was down, or there was no memory */
	[SETTINGS] = "hwtstamp_settings", /* successful SIOCSHWTSTAMP */
};

#endif
