// SPDX-License-Identifier: GPL-2.0-or-later
/* Replies to probes that are no longer in flight (hot): late, duplicated or foreign; and outages. */
#include "measure/probe.h"

#define LOST_ANSWERED (-1) /* not a sequence number */

void probe_remember_lost(struct exchange *x, uint32_t seq)
{
	x->emit.lost[x->emit.lost_total++ % LOST_REMEMBERED] = (struct lost_probe){ .seq = seq,
										    .t1 = *probe_t1(x, seq) };
}

/* NULL: not timed out, or too long ago to be remembered. */
static struct lost_probe *find_lost(struct exchange *x, uint32_t seq)
{
	uint64_t known = x->emit.lost_total < LOST_REMEMBERED ? x->emit.lost_total : LOST_REMEMBERED;

	for (uint64_t i = 0; i < known; i++) {
		struct lost_probe *lost = &x->emit.lost[(x->emit.lost_total - 1 - i) % LOST_REMEMBERED];

		if (lost->seq == seq)
			return lost;
	}
	return NULL;
}

/* True for a reply to a probe that is no longer in flight. A sender that sees no probes can guess its
 * number, but not its T1. If that T1 is no longer remembered, the SSID is compared. */
static bool is_old_reply(const struct exchange *x, uint32_t seq, const struct lost_probe *lost)
{
	const uint8_t *packet = x->channel->datagram;

	if (x->next_key - seq <= x->emit.t1_mask + 1)
		return packet_has_t1(packet, x->emit.t1[seq & x->emit.t1_mask], x->key);
	return lost ? packet_has_t1(packet, lost->t1, x->key) : x->emit.reply.ssid == x->plan->ssid;
}

void probe_prepare(struct exchange *x)
{
	packet_prepare(x->emit.probe, x->plan);
	x->emit.probe_bytes = packet_plan_bytes(x->plan);
}

void probe_note_outage(struct exchange *x)
{
	const int64_t ns = x->now_ns - x->result.outages.since_ns, give_up_ns = x->options->give_up_ns;

	if (ns >= SILENCE_NS && counter_get(&x->result.account.answered) &&
	    !atomic_load_explicit(&x->result.outages.long_since_ns, memory_order_relaxed))
		outage_publish(&x->result.outages, x->emit.highest_answered);
	if (give_up_ns && ns >= give_up_ns && !x->result.end && !x->closing)
		x->result.end = END_GIVEN_UP;
}

void probe_take_old_reply(struct exchange *x)
{
	const uint32_t seq = x->emit.reply.sender_seq;
	struct lost_probe *lost = find_lost(x, seq);
	struct account *a = &x->result.account;

	if (!is_old_reply(x, seq, lost)) {
		counter_add(&a->foreign, 1);
		return;
	}
	probe_note_ssid(x);
	counter_add(&a->reordered, probe_is_behind(x, seq));
	counter_add(lost ? &a->late : &a->duplicate, 1);
	if (lost)
		lost->seq = LOST_ANSWERED;
	join_again(x, !lost);
}
