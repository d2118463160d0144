/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Declarations shared by the files of the fake kernel; tests include only fake_kernel.h. */
#ifndef FAKE_INSIDE_H
#define FAKE_INSIDE_H

#include "rant.h"
#include "fake_kernel.h"

#define FAKE_WIRE_DELAY_NS 700 /* from sendmsg to the wire */
#define FAKE_HMAC_AT 96 /* RFC 8762 section 4.4 */

/* ---- fake_script.c: scripted events ------------------------------------------------------------------------------ */

#define FAKE_MORE_MAX 8

struct fake_fate {
	bool lost, twice, bad_tlv, large, tx_none, tx_twice, tx_asleep, no_id;
	int64_t late_ns, twice_ns, latency_ns, step_ns, set_ns, tx_slow_ns, stop_ns;
	int64_t tx_id, tx_time_ns;
	enum fake_rx rx;
	enum fake_entry tx;
	bool lost_backward_count, asked_twice, restarted, no_t2, no_clock, no_t2_user, no_bound, no_tlvs, bad_tlvs,
		bad_integrity,
		follow_zero;
	int64_t lost_which, delayed_ns, asked_ns, response_ns, stepped_ns, follow_number, padding_bytes;
	uint8_t follow_method, ttl, tos;
	int send_error, recv_error;
	unsigned send_times, set_times, extras, tx_extras, tx_extra_ids;
	enum fake_extra extra[FAKE_MORE_MAX];
	enum fake_entry tx_extra[FAKE_MORE_MAX];
	int64_t tx_extra_id[FAKE_MORE_MAX];
};

struct fake_fate fake_fate_of(uint32_t number);

/* ---- fake_kernel.c: deliveries and their times ------------------------------------------------------------------- */

/* Both roles: error queue entries of a packet. A plausible wrong time would be visible in the latency. */
void fake_put_stamps(const struct fake_fate *f, uint32_t id, int64_t wire_ns);

/* The receive timestamp, with rx_stamped. */
void fake_control_arrival(struct fake_message *m, enum fake_rx rx);
void fake_put_error(int error, int64_t at_ns);

/* CLOCK_REALTIME is set when it has been read so often; 0: now. */
void fake_set_after(int64_t set_ns, unsigned reads);

/* ---- fake_account.c: expected counters --------------------------------------------------------------------------- */

/* A message is about to be delivered, from the receive queue and from the error queue. */
void fake_expect_datagram(const struct fake_message *m);
void fake_expect_stamp(const struct fake_message *m);

/* An attempt to send; then, if it is successful, the packet that is sent. */
void fake_expect_attempt(void);
struct fake_packet *fake_record_sent(uint32_t number, const struct fake_fate *f);

/* Nothing more can become of packet n. ended: since the run is over. */
void fake_conclude(uint64_t n, bool ended);

/* The packet being sent is the closing probe. */
bool fake_run_is_over(void);

/* ---- fake_reflector.c: the peer of an emitter -------------------------------------------------------------------- */

/* A probe leaves; and those that have arrived by now are answered. */
void fake_probe_sent(const uint8_t *probe, size_t bytes, uint32_t id, const struct fake_fate *f);
void fake_peer_reflects(void);

/* ---- fake_emitter.c: the peers of a reflector -------------------------------------------------------------------- */

/* A reply leaves, and is checked; or the kernel has refused it. */
void fake_reply_sent(const uint8_t *reply, size_t bytes, uint32_t id, const struct fake_fate *f);
void fake_request_refused(uint32_t number);
void fake_reply_refused(uint32_t number);

/* The probes of all peers are alike but for the SSID. */
struct packet_plan fake_plan_of(unsigned peer);

/* ---- Shared by both peers ---------------------------------------------------------------------------------------- */

static inline bool fake_joins(void)
{
	return fake.plan && fake.plan->stages;
}

static inline void fake_put_be(uint8_t *p, uint64_t v, unsigned octets)
{
	while (octets--) {
		p[octets] = (uint8_t)v;
		v >>= 8;
	}
}

static inline uint32_t fake_get_be32(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static inline enum fake_verdict fake_verdict_of(enum fake_extra extra)
{
	if (extra == EXTRA_UNVERIFIED)
		return UNVERIFIED;
	return extra < EXTRA_BOTH_ROLES ? MALFORMED : FOREIGN;
}

#endif
