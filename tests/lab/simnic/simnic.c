// SPDX-License-Identifier: GPL-2.0
/*
 * simnic: a back-to-back pair of simulated NICs, sim0 and sim1, whose hardware timestamps are computed, not measured.
 * What a program prints of them can be compared with the truth to the nanosecond, whatever the machine does to time.
 * Loaded with devices=3 there is sim2, too: what it sends goes to sim1, which sends to it what has its address, and all
 * else to sim0.
 *
 * The unit is the exchange: a STAMP probe (UDP to `port`) and its reply (UDP from `port`), both with the sequence
 * number n of the probe, over IPv4 or IPv6; or an ICMP or ICMPv6 echo with a STAMP probe as data, and what comes back.
 * Its four true times are fixed when the probe is sent, from the parameters of that moment:
 *
 * 	T1 = base + before_ns base = epoch_ns + n * period_ns, or with period_ns 0 the clock as the probe is sent
 * 
 * 	T2 = T1 + wire_ns
 * 	T3 = T2 + response_ns
 * 	T4 = T3 + wire_back_ns          (-1: as wire_ns)
 *
 * Where the probe is sim2's, each wire takes third_ns more.
 *
 * With live=Y (and period_ns 0) T3 is not fixed in advance: it is response_ns after the reply was really sent, so that
 * what programs and the machine do in between shows; T2 is not after the delivery if wire_ns is short.
 *
 * With ns_per_kilo_octet each wire takes longer by the length of the frame (a reply has that of its probe); with
 * completion_per_kilo_octet a transmit stamp is later by it, as one of the completion.
 *
 * with vary_ns * ((n * 2654435761 mod 2^32 >> 16) % vary_steps) more at stage vary_stage, so that there is something to
 * sort, and spike_ns more at stage spike_stage (0 before, 1 there, 2 response, 3 back) where n is hit by spike_every;
 * stage 4 and after_ns hold the delivery of a packet back for real, after its stamp: they must not show in hardware
 * stamps.
 *
 * "ethtool -C sim1 rx-usecs N" moderates the reflector's interrupts: the response to each other probe takes N us more.
 *
 * "irq_cpu" of a device is the CPU that its interrupts take plus one, by a call function interrupt; 0: the driver of the
 * sender schedules the poll on its own CPU. Work that takes a CPU from a packet: simnic_plant.h.
 *
 * With phy=1 each device has a PHY that timestamps, too: simnic_phy.h.
 *
 * Each device sees true time t by its own PHC. With period_ns
 * 	phc(t) = t + phc_offset_ns[device] + steps + (t - epoch_ns) * drift_ppb[device] / 10^9      rounded to zero
 * so that a test can compute each stamp; with period_ns 0 the PHC that /dev/ptpN reads, which adjfine and drift_ppb
 * steer. Steps: settime and adjtime; "DEVICE NS" written to the parameter `step`; and step_ns at the place step_where
 * of exchange step_at and the step_times - 1 after it. A drift of -10^9 is a clock that stands.
 *
 * Faults hit STAMP packets by sequence number: "X_every = m" hits n with n >= from and n % m == m - 1, in the
 * directions that `directions` names (1 probes, 2 replies; spikes belong to exchanges). What was really done is counted
 * in "ethtool -S", on the device that sent the packet; rx_stamp_* and reordered on the receiving device; and in the
 * parameter `state`, for shells that have no time to start programs. `state` has also the first exchange of an emitter
 * that was dropped since drop_every was 0: lost_seq, and lost_t1, its T1 as it was stamped. All other parameters but
 * `devices` and `phy` may be changed at any time; those of type array are "sim0,sim1,sim2".
 */
#include "simnic.h"
#include "simnic_clock.h"
#include "simnic_phy.h"
#include "simnic_plant.h"
#include "simnic_truth.h"

#include <linux/etherdevice.h>
#include <linux/ethtool.h>
#include <linux/hrtimer.h>
#include <linux/icmp.h>
#include <linux/icmpv6.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/module.h>
#include <linux/net_tstamp.h>
#include <linux/netdevice.h>
#include <linux/ptp_classify.h>
#include <linux/ptp_clock_kernel.h>
#include <linux/udp.h>
#include <linux/version.h>
#include <net/ip.h>

static bool is_hit(unsigned int every, u32 seq)
{
	return every && seq >= from && seq % every == every - 1;
}

/* ---- Devices ----------------------------------------------------------------------------------------------------- */

struct sim {
	struct net_device *dev;
	struct sim *peer;
	struct clock clock;
	struct napi_struct napi;
	struct sk_buff_head arrived;
	call_single_data_t interrupt;
	atomic64_t counts[COUNTS];
	int tx_type, rx_filter;
	u32 rx_usecs; /* coalescing time, see above */

	spinlock_t lock; /* of the rest */
	struct hrtimer timer;
	struct list_head events; /* by time */
	unsigned int outstanding; /* transmit stamps */
	bool running;

	u64 last_tx, last_rx; /* stamps of STAMP packets; the transmit path of one sender has each */
	u32 last_seq; /* STAMP; only the transmit path has these two */
	unsigned int copies; /* with this number, one after the other */

	/* an exchange of this emitter, probe or reply, since drop_every was 0; under script_lock, as the first */
	bool lost;
	u32 lost_seq;
	u64 lost_t1; /* as it was stamped */
};

static struct sim *sims[SIMS];

static void count(struct sim *s, enum count c)
{
	atomic64_inc(&s->counts[c]);
}

/* Lines "DEVICE NAME: VALUE", as ethtool names them. */
static int state_get(char *text, const struct kernel_param *kp)
{
	int bytes = 0;

	for (int index = 0; index < SIMS; index++) {
		struct sim *s = sims[index];

		if (!s)
			continue;
		bytes += scnprintf(text + bytes, PAGE_SIZE - bytes, "%d tx_type: %d\n%d rx_filter: %d\n", index,
				   s->tx_type,
				   index, s->rx_filter);
		for (int i = 0; i < COUNTS; i++)
			bytes += scnprintf(text + bytes, PAGE_SIZE - bytes, "%d %s: %lld\n", index, count_names[i],
					   (s64)atomic64_read(&s->counts[i]));
		if (s->lost)
			bytes += scnprintf(text + bytes, PAGE_SIZE - bytes, "%d lost_seq: %u\n%d lost_t1: %llu\n",
					   index, s->lost_seq, index,
					   s->lost_t1);
	}
	return bytes;
}

static const struct kernel_param_ops state_ops = { .get = state_get };
module_param_cb(state, &state_ops, NULL, 0444);
MODULE_PARM_DESC(state, "what each device is set to, and has counted");

static int step_set(const char *text, const struct kernel_param *kp)
{
	unsigned int index;
	long long ns;

	if (sscanf(text, "%u %lld", &index, &ns) != 2 || index >= SIMS)
		return -EINVAL;
	if (!sims[index])
		return -ENODEV;
	clock_step(&sims[index]->clock, ns);
	return 0;
}

static const struct kernel_param_ops step_ops = { .set = step_set };
module_param_cb(step, &step_ops, NULL, 0200);
MODULE_PARM_DESC(step, "\"DEVICE NS\": the clock steps now");

/* ---- The script: the true times of exchanges --------------------------------------------------------------------- */

#define EXCHANGES 4096 /* remembered */

struct exchange {
	bool known, scripted, live;
	u32 seq;
	s64 epoch;
	s64 delay[4]; /* before each of the times */
	s64 time[4]; /* T1 .. T4 */
	struct sim *emitter;
};

static struct exchange exchanges[SIMS][EXCHANGES]; /* by their emitters */
static DEFINE_SPINLOCK(script_lock);

static struct exchange script_write(u32 seq, struct sim *emitter)
{
	const unsigned int stage = READ_ONCE(spike_stage);
	const s64 period = READ_ONCE(period_ns), back = READ_ONCE(wire_back_ns);
	const s64 more = emitter->clock.index == 2 ? READ_ONCE(third_ns) : 0;
	const bool spike = is_hit(READ_ONCE(spike_every), seq);
	struct exchange x = { .known = true, .scripted = period, .live = !period && READ_ONCE(live), .seq = seq,
			      .epoch = READ_ONCE(epoch_ns), .emitter = emitter,
			      .delay = { READ_ONCE(before_ns), READ_ONCE(wire_ns) + more, READ_ONCE(response_ns),
					 (back < 0 ? READ_ONCE(wire_ns) : back) + more } };
	const unsigned int steps = READ_ONCE(vary_steps), vary_at = READ_ONCE(vary_stage);
	const s64 vary = steps ? READ_ONCE(vary_ns) * (((seq * 2654435761U) >> 16) % steps) : 0;
	const s64 moderation = seq & 1 ? READ_ONCE(sims[1]->rx_usecs) * NSEC_PER_USEC : 0;
	s64 t = period ? x.epoch + seq * period : true_now();

	x.delay[2] += moderation;

	for (int i = 0; i < 4; i++) {
		x.delay[i] += (spike && stage == i ? READ_ONCE(spike_ns) : 0) + (vary_at == i ? vary : 0);
		x.time[i] = t += x.delay[i];
	}
	if (spike)
		count(emitter, SPIKES);
	return x;
}

/* Of a probe: written now. Of a reply: as the probe wrote it. */
static struct exchange script_of(struct sim *emitter, bool probe, u32 seq)
{
	struct exchange *kept = &exchanges[emitter->clock.index][seq % EXCHANGES], x;

	spin_lock_bh(&script_lock);
	if (probe || !kept->known || kept->seq != seq)
		*kept = script_write(seq, emitter);
	x = *kept;
	spin_unlock_bh(&script_lock);
	return x;
}

/* ---- Packets ---------------------------------------------------------------------------------------------------- */

struct packet {
	struct sim *to;
	bool stamp, probe, ptp; /* a STAMP packet; a probe; a packet that a PTP-only filter stamps */
	u32 seq;
	u32 bytes; /* of the frame */
	u64 tx, rx; /* hardware stamps */
	struct plant *plant; /* NULL: none */
};

static void read_seq(const struct sk_buff *skb, int at, struct packet *p)
{
	__be32 buffer, *seq = skb_header_pointer(skb, at, sizeof(buffer), &buffer);

	if (!seq)
		return;
	p->stamp = true;
	p->seq = be32_to_cpu(*seq);
}

/* Octets 0..3 of a probe are its sequence number; a reply has it at 24..27, in authenticated mode at 48..51 (RFC
 * 8762). */
static void read_stamp(const struct sk_buff *skb, int at, struct packet *p)
{
	read_seq(skb, at + (p->probe ? 0 : READ_ONCE(authenticated) ? 48 : 24), p);
}

/* What comes back of an echo is the probe itself. Any echo of these types is taken for one; IPv4 and IPv6 have the same
 * header. */
static void read_echo(const struct sk_buff *skb, int at, u8 request, u8 reply, struct packet *p)
{
	struct icmphdr buffer, *icmp = skb_header_pointer(skb, at, sizeof(buffer), &buffer);

	if (!icmp || (icmp->type != request && icmp->type != reply))
		return;
	p->probe = icmp->type == request;
	read_seq(skb, at + sizeof(*icmp), p);
}

/* A message of PTP, IEEE 1588: an event (its type is below 4) of version 2; a STAMP packet in it is a TLV
 * (docs/protocol.md). */
static void read_ptp(const struct sk_buff *skb, int at, struct packet *p)
{
	u8 head_buffer[2], *head = skb_header_pointer(skb, at, sizeof(head_buffer), head_buffer); /* type, version */
	__be16 tlv_buffer, *tlv = skb_header_pointer(skb, at + 44, sizeof(tlv_buffer), &tlv_buffer);

	if (!head || (head[1] & 0xf) != 2)
		return;
	p->ptp = (head[0] & 0xf) < 4;
	p->probe = tlv && *tlv == htons(0x2024);
	if (p->probe || (tlv && *tlv == htons(0x2025)))
		read_stamp(skb, at + 48, p); /* behind the TLV's type and length */
}

static void read_udp(const struct sk_buff *skb, int at, struct packet *p)
{
	struct udphdr buffer, *udp = skb_header_pointer(skb, at, sizeof(buffer), &buffer);

	if (!udp)
		return;
	at += sizeof(*udp);
	if (udp->dest == htons(PTP_EV_PORT)) {
		read_ptp(skb, at, p);
		return;
	}
	p->probe = udp->dest == htons(READ_ONCE(port));
	if (p->probe || udp->source == htons(READ_ONCE(port)))
		read_stamp(skb, at, p);
}

static void read_ipv4(const struct sk_buff *skb, struct packet *p)
{
	struct iphdr buffer, *ip = skb_header_pointer(skb, ETH_HLEN, sizeof(buffer), &buffer);

	if (!ip || ip->frag_off & htons(IP_OFFSET))
		return;
	if (ip->protocol == IPPROTO_ICMP)
		read_echo(skb, ETH_HLEN + ip->ihl * 4, ICMP_ECHO, ICMP_ECHOREPLY, p);
	if (ip->protocol == IPPROTO_UDP)
		read_udp(skb, ETH_HLEN + ip->ihl * 4, p);
}

/* Without extension headers. */
static void read_ipv6(const struct sk_buff *skb, struct packet *p)
{
	struct ipv6hdr buffer, *ip = skb_header_pointer(skb, ETH_HLEN, sizeof(buffer), &buffer);

	if (!ip)
		return;
	if (ip->nexthdr == IPPROTO_ICMPV6)
		read_echo(skb, ETH_HLEN + sizeof(*ip), ICMPV6_ECHO_REQUEST, ICMPV6_ECHO_REPLY, p);
	if (ip->nexthdr == IPPROTO_UDP)
		read_udp(skb, ETH_HLEN + sizeof(*ip), p);
}

static void read_packet(const struct sim *s, const struct sk_buff *skb, struct packet *p)
{
	struct ethhdr buffer, *eth = skb_header_pointer(skb, 0, sizeof(buffer), &buffer);

	memset(p, 0, sizeof(*p));
	p->to = s->peer;
	p->bytes = skb->len;
	if (!eth)
		return;
	if (s == sims[1] && sims[2] && ether_addr_equal(eth->h_dest, sims[2]->dev->dev_addr))
		p->to = sims[2];
	switch (eth->h_proto) {
	case htons(ETH_P_1588):
		read_ptp(skb, ETH_HLEN, p);
		break;
	case htons(ETH_P_IP):
		read_ipv4(skb, p);
		break;
	case htons(ETH_P_IPV6):
		read_ipv6(skb, p);
		break;
	}
}

/* A fault of a packet, where `directions` has it. */
static bool is_struck(unsigned int every, const struct packet *p)
{
	return is_hit(every, p->seq) && (!READ_ONCE(alternate) || (p->seq / every & 1) == !p->probe);
}

/* Is it time for a step of the script, before or after the packet is stamped on its way out? Once, although a
 * duplicated probe has two replies. */
static void script_step(struct sim *s, const struct packet *p, bool after)
{
	const struct step_assign *place = &step_assign[READ_ONCE(step_where) % ARRAY_SIZE(step_assign)];

	const long at = READ_ONCE(step_at);

	if ((at != p->seq && at != STEP_AT_NEXT) || place->probe != p->probe || place->after != after ||
	    cmpxchg(&step_at, at, READ_ONCE(step_times) > 1 ? (long)p->seq + 1 : -1L) != at)
		return;
	step_times -= step_times > 1;
	clock_step(after ? &p->to->clock : &s->clock, READ_ONCE(step_ns));
}

/* What a driver makes of a true stamp. */
static u64 spoil(u64 stamp, u64 *last, bool is_stale)
{
	const long step = READ_ONCE(quantum);

	stamp += READ_ONCE(constant);
	if (step > 1)
		stamp -= stamp % step;
	if (is_stale && *last)
		stamp = *last - READ_ONCE(back_ns);
	return *last = stamp;
}

static s64 for_octets(const struct packet *p, s64 per_kilo_octet)
{
	return p->bytes * per_kilo_octet / 1000;
}

static void compute_stamps(struct sim *s, struct packet *p, bool faulty)
{
	const s64 serial = for_octets(p, READ_ONCE(ns_per_kilo_octet));
	const bool is_stale = faulty && is_struck(READ_ONCE(stale), p);
	struct exchange x;
	s64 t;

	if (!p->stamp) {
		t = true_now();
		p->tx = clock_read_at(&s->clock, t);
		p->rx = clock_read_at(&p->to->clock, t + READ_ONCE(wire_ns));
		return;
	}
	x = script_of(p->probe ? s : p->to, p->probe, p->seq);
	/* All after the wire of the probe is later by its octets, and T4 by those of the reply, too. */
	for (int i = 1; i < 4; i++)
		x.time[i] += i == 3 ? 2 * serial : serial;
	if (x.live && !p->probe) {
		x.time[2] = true_now() + x.delay[2];
		x.time[3] = x.time[2] + x.delay[3] + serial;
	}
	script_step(s, p, false);
	p->tx = clock_stamp(&s->clock, x.time[p->probe ? 0 : 2] + for_octets(p, READ_ONCE(completion_per_kilo_octet)),
			    x.scripted, x.epoch);
	script_step(s, p, true);
	p->rx = clock_stamp(&p->to->clock, x.time[p->probe ? 1 : 3], x.scripted, x.epoch);
	p->tx = spoil(p->tx, &s->last_tx, is_stale && READ_ONCE(stale_on) & 1);
	p->rx = spoil(p->rx, &p->to->last_rx, is_stale && READ_ONCE(stale_on) & 2);
}

/* ---- What happens later ------------------------------------------------------------------------------------------ */

struct event {
	struct list_head node;
	ktime_t due;
	enum { GIVE_STAMP, DELIVER, RELEASE } what;
	struct sk_buff *skb;
	u64 stamp;
	unsigned int times;
};

static void give_stamp(struct sk_buff *skb, u64 stamp, unsigned int times)
{
	struct skb_shared_hwtstamps stamps = { .hwtstamp = ns_to_ktime(stamp) };

	while (times--)
		skb_tstamp_tx(skb, &stamps);
}

static void on_interrupt(void *data)
{
	struct sim *s = data;

	napi_schedule(&s->napi);
}

static void receive(struct sim *s, struct sk_buff *skb)
{
	const long cpu = READ_ONCE(irq_cpu[s->clock.index]) - 1;

	skb_queue_tail(&s->arrived, skb);
	if (cpu < 0 || cpu >= nr_cpu_ids)
		napi_schedule(&s->napi);
	else
		smp_call_function_single_async(cpu, &s->interrupt); /* -EBUSY: one is on its way */
}

static void arm(struct sim *s)
{
	struct event *first = list_first_entry_or_null(&s->events, struct event, node);

	if (first)
		hrtimer_start(&s->timer, first->due, HRTIMER_MODE_ABS_SOFT);
}

/* Takes the skb; false: it was not taken. */
static bool later(struct sim *s, int what, struct sk_buff *skb, u64 after, u64 stamp, unsigned int times)
{
	struct event *e = kmalloc(sizeof(*e), GFP_ATOMIC), *other;
	struct list_head *place = &s->events;
	bool taken = false;

	if (!e)
		return false;
	*e = (struct event){ .due = ktime_add_ns(ktime_get(), after), .what = what, .skb = skb, .stamp = stamp,
			     .times = times };
	spin_lock_bh(&s->lock);
	if (s->running) {
		list_for_each_entry_reverse(other, &s->events, node)
			if (other->due <= e->due) {
				place = &other->node;
				break;
			}
		list_add(&e->node, place);
		s->outstanding += what == GIVE_STAMP;
		arm(s);
		taken = true;
	}
	spin_unlock_bh(&s->lock);
	if (!taken)
		kfree(e);
	return taken;
}

static enum hrtimer_restart on_timer(struct hrtimer *timer)
{
	struct sim *s = container_of(timer, struct sim, timer);
	struct event *e, *next;
	LIST_HEAD(due);
	ktime_t now;

	spin_lock_bh(&s->lock);
	now = ktime_get();
	list_for_each_entry_safe(e, next, &s->events, node) {
		if (e->due > now)
			break;
		list_move_tail(&e->node, &due);
	}
	if (s->running)
		arm(s);
	spin_unlock_bh(&s->lock);

	list_for_each_entry_safe(e, next, &due, node) {
		if (e->what == GIVE_STAMP) {
			/* Its place is free before anybody can know of the stamp, as in drivers
			 * (igb_ptp_tx_hwtstamp()). */
			spin_lock_bh(&s->lock);
			s->outstanding--;
			spin_unlock_bh(&s->lock);
			give_stamp(e->skb, e->stamp, e->times);
			dev_consume_skb_any(e->skb);
		} else {
			if (e->what == RELEASE)
				count(s, HELD_TO_LIMIT);
			receive(s, e->skb);
		}
		kfree(e);
	}
	return HRTIMER_NORESTART;
}

/* A STAMP packet of this sender has passed: what of it was held for that follows. */
static void release_held(struct sim *s, const struct sim *from)
{
	struct event *e, *next;
	LIST_HEAD(held);

	spin_lock_bh(&s->lock);
	list_for_each_entry_safe(e, next, &s->events, node)
		if (e->what == RELEASE && ether_addr_equal(eth_hdr(e->skb)->h_source, from->dev->dev_addr))
			list_move_tail(&e->node, &held);
	spin_unlock_bh(&s->lock);
	list_for_each_entry_safe(e, next, &held, node) {
		count(s, REORDERED);
		receive(s, e->skb);
		kfree(e);
	}
}

/* ---- Send -------------------------------------------------------------------------------------------------------- */

static bool stamps_receipt(const struct sim *s, const struct packet *p)
{
	const int filter = READ_ONCE(s->rx_filter);

	if (filter == READ_ONCE(filter_dead[s->clock.index]))
		return false;
	switch (filter) {
	case HWTSTAMP_FILTER_NONE:
		return false;
	case HWTSTAMP_FILTER_ALL:
		return true;
	default:
		return p->ptp;
	}
}

/* In front of the packet, in the same poll: copies of it with an ethertype that no protocol has. */
static void add_others(struct sim *to, const struct sk_buff *skb, struct plant *p)
{
	for (unsigned int i = 0; i < min(READ_ONCE(plant_packets), OTHERS_MAX); i++) {
		struct sk_buff *other = skb_copy(skb, GFP_ATOMIC);

		if (!other)
			return;
		other->protocol = htons(ETH_P_802_EX1);
		skb_queue_tail(&to->arrived, other);
	}
	smp_store_release(&plant_now, p);
}

static void deliver(struct sim *from, const struct sk_buff *skb, const struct packet *p, bool faulty)
{
	struct sim *to = p->to;
	struct sk_buff *copy = skb_copy(skb, GFP_ATOMIC);
	const bool spiked = p->stamp && READ_ONCE(spike_stage) == 4 && is_hit(READ_ONCE(spike_every), p->seq);
	s64 delay = READ_ONCE(after_ns) + (spiked ? READ_ONCE(spike_ns) : 0);
	struct sk_buff *clone;

	/* It frees the copy when it fails: the peer is down, or the packet too long. */
	if (!copy || __dev_forward_skb(to->dev, copy) != NET_RX_SUCCESS) {
		count(from, UNDELIVERED);
		return;
	}
	if (!stamps_receipt(to, p)) {
		if (p->stamp)
			count(to, RX_STAMP_OFF);
	} else if (faulty && is_struck(READ_ONCE(rx_stamp_missing_every), p)) {
		count(to, RX_STAMP_MISSING);
	} else {
		skb_hwtstamps(copy)->hwtstamp = ns_to_ktime(p->rx);
		count(to, RX_STAMPS);
	}
	copy->mark = p->stamp ? truth_mark(p->probe, p->seq) : 0;
	if (faulty && is_struck(READ_ONCE(reorder_every), p) &&
	    later(to, RELEASE, copy, min_t(u64, READ_ONCE(hold_ms), HOLD_MS_MAX) * NSEC_PER_MSEC, 0, 0))
		return;
	if (delay > 0 && later(to, DELIVER, copy, delay, 0, 0))
		return;
	if (p->plant && p->plant->kind == PLANT_PACKETS)
		add_others(to, copy, p->plant);
	clone = p->plant && p->plant->kind == PLANT_READ ? skb_clone(copy, GFP_ATOMIC) : NULL;
	receive(to, copy);
	if (clone)
		plant_when_read(p->plant, clone);
	if (p->stamp)
		release_held(to, from);
}

static bool is_busy(struct sim *s, long slots)
{
	bool busy;

	spin_lock_bh(&s->lock);
	busy = slots && s->outstanding >= slots;
	spin_unlock_bh(&s->lock);
	return busy;
}

/* The hardware's part of a transmit stamp. `give` says how often it comes and how late. */
static bool takes_stamp(struct sim *s, struct sk_buff *skb, const struct packet *p, bool faulty, unsigned int *times,
			u64 *after)
{
	if (!(skb_shinfo(skb)->tx_flags & SKBTX_HW_TSTAMP))
		return false;
	if (READ_ONCE(s->tx_type) != HWTSTAMP_TX_ON) {
		count(s, TX_STAMP_OFF);
		return false;
	}
	if (is_busy(s, READ_ONCE(stamp_slots[s->clock.index]))) {
		count(s, TX_SKIPPED);
		return false;
	}
	skb_shinfo(skb)->tx_flags |= SKBTX_IN_PROGRESS;
	*times = 1;
	*after = (u64)READ_ONCE(tx_stamp_delay_us) * NSEC_PER_USEC;
	if (faulty && is_struck(READ_ONCE(tx_stamp_missing_every), p)) {
		count(s, TX_STAMP_MISSING);
		*times = 0;
		return true;
	}
	if (faulty && is_struck(READ_ONCE(tx_stamp_late_every), p)) {
		count(s, TX_STAMP_LATE);
		*after += (u64)READ_ONCE(late_us) * NSEC_PER_USEC;
	}
	if (faulty && is_struck(READ_ONCE(tx_stamp_twice_every), p)) {
		count(s, TX_STAMP_TWICE);
		*times = 2;
	}
	count(s, TX_STAMPS);
	return true;
}

static void note_lost(struct sim *emitter, const struct packet *p)
{
	const struct exchange x = script_of(emitter, false, p->seq);
	const u64 t1 = p->probe ? p->tx : clock_stamp(&emitter->clock, x.time[0], x.scripted, x.epoch);

	spin_lock_bh(&script_lock);
	if (!emitter->lost || (s32)(p->seq - emitter->lost_seq) < 0) {
		emitter->lost_seq = p->seq;
		emitter->lost_t1 = t1;
		emitter->lost = true;
	}
	spin_unlock_bh(&script_lock);
}

static netdev_tx_t sim_start_xmit(struct sk_buff *skb, struct net_device *dev)
{
	struct sim *s = netdev_priv(dev);
	unsigned int times = 0;
	struct packet p;
	bool faulty, by_kernel;
	u64 after = 0;
	const s64 from_ns = truth_rows ? truth_now(&s->clock) : 0;

	read_packet(s, skb, &p);
	faulty = p.stamp && READ_ONCE(directions) & (p.probe ? 1 : 2);
	count(s, !p.stamp ? OTHERS : p.probe ? STAMP_PROBES : STAMP_REPLIES);
	dev->stats.tx_packets++;
	dev->stats.tx_bytes += skb->len;

	if (p.stamp)
		p.plant = plant_before(p.probe, p.seq);
	takes_stamp(s, skb, &p, faulty, &times, &after);
	by_kernel = !faulty || !is_struck(READ_ONCE(kernel_stamp_missing_every), &p);
	if (by_kernel && !READ_ONCE(kernel_stamp_after))
		skb_tx_timestamp(skb); /* the kernel's, before the wire */
	plant_stamped(p.plant);
	compute_stamps(s, &p, faulty);
	if (p.stamp)
		truth_sent(truth_of(truth_mark(p.probe, p.seq)), &s->clock, from_ns, p.tx);
	if (times && !after)
		give_stamp(skb, p.tx, times);
	else if (times && !later(s, GIVE_STAMP, skb_get(skb), after, p.tx, times))
		dev_kfree_skb_any(skb); /* the reference for the stamp */
	if (by_kernel && READ_ONCE(kernel_stamp_after))
		skb_tx_timestamp(skb);

	if (!READ_ONCE(drop_every))
		s->lost = false;
	s->copies = p.stamp && s->last_seq == p.seq ? s->copies + 1 : 1;
	s->last_seq = p.seq;
	if (faulty && is_struck(READ_ONCE(drop_every), &p) &&
	    (p.probe || !READ_ONCE(drop_reply) || s->copies == READ_ONCE(drop_reply))) {
		count(s, DROPPED);
		note_lost(p.probe ? s : p.to, &p);
	} else {
		deliver(s, skb, &p, faulty);
		if (faulty && is_struck(READ_ONCE(dup_every), &p)) {
			count(s, DUPLICATED);
			deliver(s, skb, &p, false);
		}
	}
	dev_consume_skb_any(skb);
	return NETDEV_TX_OK;
}

/* Without GRO where the truth is noted: it would keep packets to the end of the poll. */
static void pass_on(struct sim *s, struct sk_buff *skb)
{
	struct truth *t = truth_of(skb->mark);
	const s64 stamp = ktime_to_ns(skb_hwtstamps(skb)->hwtstamp);
	s64 from_ns;

	skb->mark = 0;
	if (!truth_rows) {
		napi_gro_receive(&s->napi, skb);
		return;
	}
	from_ns = truth_now(&s->clock);
	netif_receive_skb(skb);
	truth_got(t, &s->clock, from_ns, stamp);
}

static int sim_poll(struct napi_struct *napi, int budget)
{
	struct sim *s = container_of(napi, struct sim, napi);
	struct sk_buff *skb;
	int work = 0;

	while (work < budget && (skb = skb_dequeue(&s->arrived))) {
		s->dev->stats.rx_packets++;
		s->dev->stats.rx_bytes += skb->len;
		if (skb->protocol == htons(ETH_P_802_EX1))
			plant_other();
		else
			plant_others_end();
		pass_on(s, skb);
		work++;
	}
	if (work < budget && napi_complete_done(napi, work) && !skb_queue_empty(&s->arrived))
		napi_schedule(napi);
	return work;
}

static int sim_open(struct net_device *dev)
{
	struct sim *s = netdev_priv(dev);

	spin_lock_bh(&s->lock);
	s->running = true;
	spin_unlock_bh(&s->lock);
	napi_enable(&s->napi);
	netif_carrier_on(dev);
	netif_start_queue(dev);
	return 0;
}

static int sim_stop(struct net_device *dev)
{
	struct sim *s = netdev_priv(dev);
	struct event *e, *next;
	LIST_HEAD(left);

	netif_stop_queue(dev);
	spin_lock_bh(&s->lock);
	s->running = false;
	list_splice_init(&s->events, &left);
	spin_unlock_bh(&s->lock);
	hrtimer_cancel(&s->timer); /* it may have taken some: then it has dealt with them */
	list_for_each_entry_safe(e, next, &left, node) {
		kfree_skb(e->skb);
		kfree(e);
	}
	spin_lock_bh(&s->lock);
	s->outstanding = 0;
	spin_unlock_bh(&s->lock);
	napi_disable(&s->napi);
	skb_queue_purge(&s->arrived);
	return 0;
}

/* ---- Setting of the stamps --------------------------------------------------------------------------------------- */

/* The kernel has checked that the values exist. */
static int grant(struct sim *s, int tx_type, int *rx_filter)
{
	if (tx_type != HWTSTAMP_TX_OFF && (tx_type != HWTSTAMP_TX_ON || READ_ONCE(rx_only)))
		return -ERANGE;
	switch (*rx_filter) {
	case HWTSTAMP_FILTER_NONE:
		break;
	case HWTSTAMP_FILTER_ALL:
		if (!READ_ONCE(filter_all))
			return -ERANGE;
		break;
	case HWTSTAMP_FILTER_PTP_V2_L4_EVENT ... HWTSTAMP_FILTER_PTP_V2_DELAY_REQ:
		*rx_filter = HWTSTAMP_FILTER_PTP_V2_EVENT;
		break;
	default:
		return -ERANGE;
	}
	WRITE_ONCE(s->tx_type, tx_type);
	WRITE_ONCE(s->rx_filter, *rx_filter);
	count(s, SETTINGS);
	return 0;
}

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 6, 0)
static int sim_hwtstamp_get(struct net_device *dev, struct kernel_hwtstamp_config *c)
{
	struct sim *s = netdev_priv(dev);

	c->flags = 0;
	c->tx_type = s->tx_type;
	c->rx_filter = s->rx_filter;
	return 0;
}

static int sim_hwtstamp_set(struct net_device *dev, struct kernel_hwtstamp_config *c, struct netlink_ext_ack *extack)
{
	return grant(netdev_priv(dev), c->tx_type, &c->rx_filter);
}
#else
static int sim_eth_ioctl(struct net_device *dev, struct ifreq *r, int request)
{
	struct sim *s = netdev_priv(dev);
	struct hwtstamp_config c = { .tx_type = s->tx_type, .rx_filter = s->rx_filter };
	int error;

	if (request == SIOCSHWTSTAMP) {
		if (copy_from_user(&c, r->ifr_data, sizeof(c)))
			return -EFAULT;
		error = grant(s, c.tx_type, &c.rx_filter);
		if (error)
			return error;
	} else if (request != SIOCGHWTSTAMP) {
		return -EOPNOTSUPP;
	}
	return copy_to_user(r->ifr_data, &c, sizeof(c)) ? -EFAULT : 0;
}
#endif

/* ---- ethtool ----------------------------------------------------------------------------------------------------- */

static void sim_get_drvinfo(struct net_device *dev, struct ethtool_drvinfo *info)
{
	strscpy(info->driver, driver, sizeof(info->driver));
	info->driver[strcspn(info->driver, "\n")] = '\0'; /* of echo */
}

static int sim_get_sset_count(struct net_device *dev, int set)
{
	return set == ETH_SS_STATS ? COUNTS : -EOPNOTSUPP;
}

static void sim_get_strings(struct net_device *dev, u32 set, u8 *text)
{
	if (set == ETH_SS_STATS)
		memcpy(text, count_names, sizeof(count_names));
}

static void sim_get_ethtool_stats(struct net_device *dev, struct ethtool_stats *stats, u64 *value)
{
	struct sim *s = netdev_priv(dev);

	for (int i = 0; i < COUNTS; i++)
		value[i] = atomic64_read(&s->counts[i]);
}

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 11, 0)
static int sim_get_ts_info(struct net_device *dev, struct kernel_ethtool_ts_info *info)
#else
static int sim_get_ts_info(struct net_device *dev, struct ethtool_ts_info *info)
#endif
{
	struct sim *s = netdev_priv(dev);

	info->so_timestamping = SOF_TIMESTAMPING_TX_SOFTWARE | SOF_TIMESTAMPING_RX_SOFTWARE | SOF_TIMESTAMPING_SOFTWARE;
	info->phc_index = -1;
	if (!READ_ONCE(has_phc))
		return 0;
	info->so_timestamping |= SOF_TIMESTAMPING_RX_HARDWARE | SOF_TIMESTAMPING_RAW_HARDWARE |
				 (READ_ONCE(rx_only) ? 0 : SOF_TIMESTAMPING_TX_HARDWARE);
	info->phc_index = ptp_clock_index(s->clock.ptp);
	info->tx_types = BIT(HWTSTAMP_TX_OFF) | (READ_ONCE(rx_only) ? 0 : BIT(HWTSTAMP_TX_ON));
	info->rx_filters = BIT(HWTSTAMP_FILTER_NONE) | BIT(HWTSTAMP_FILTER_PTP_V2_EVENT) |
			   (READ_ONCE(filter_all) ? BIT(HWTSTAMP_FILTER_ALL) : 0);
	return 0;
}

static int sim_get_link_ksettings(struct net_device *dev, struct ethtool_link_ksettings *settings)
{
	settings->base.speed = SPEED_1000;
	settings->base.duplex = DUPLEX_FULL;
	settings->base.port = PORT_OTHER;
	return 0;
}

#if LINUX_VERSION_CODE >= KERNEL_VERSION(5, 15, 0)
#define COALESCE_MORE , struct kernel_ethtool_coalesce *kernel, struct netlink_ext_ack *ack
#else
#define COALESCE_MORE
#endif

static int sim_get_coalesce(struct net_device *dev, struct ethtool_coalesce *c COALESCE_MORE)
{
	const struct sim *s = netdev_priv(dev);

	c->rx_coalesce_usecs = READ_ONCE(s->rx_usecs);
	return 0;
}

static int sim_set_coalesce(struct net_device *dev, struct ethtool_coalesce *c COALESCE_MORE)
{
	struct sim *s = netdev_priv(dev);

	WRITE_ONCE(s->rx_usecs, c->rx_coalesce_usecs);
	return 0;
}

static const struct ethtool_ops sim_ethtool_ops = {
	.supported_coalesce_params = ETHTOOL_COALESCE_RX_USECS,
	.get_coalesce = sim_get_coalesce,
	.set_coalesce = sim_set_coalesce,
	.get_drvinfo = sim_get_drvinfo,
	.get_link = ethtool_op_get_link,
	.get_link_ksettings = sim_get_link_ksettings,
	.get_sset_count = sim_get_sset_count,
	.get_strings = sim_get_strings,
	.get_ethtool_stats = sim_get_ethtool_stats,
	.get_ts_info = sim_get_ts_info,
};

static const struct net_device_ops sim_netdev_ops = {
	.ndo_open = sim_open,
	.ndo_stop = sim_stop,
	.ndo_start_xmit = sim_start_xmit,
	.ndo_validate_addr = eth_validate_addr,
	.ndo_set_mac_address = eth_mac_addr,
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 6, 0)
	.ndo_hwtstamp_get = sim_hwtstamp_get,
	.ndo_hwtstamp_set = sim_hwtstamp_set,
#else
	.ndo_eth_ioctl = sim_eth_ioctl,
#endif
};

/* ---- Load and unload --------------------------------------------------------------------------------------------- */

static struct sim *sim_make(int index)
{
	const u8 address[ETH_ALEN] = { 0x02, 's', 'i', 'm', 0, index };
	struct net_device *dev = alloc_netdev(sizeof(struct sim), "sim%d", NET_NAME_ENUM, ether_setup);
	struct sim *s;

	if (!dev)
		return NULL;
	s = netdev_priv(dev);
	s->dev = dev;
	spin_lock_init(&s->lock);
	skb_queue_head_init(&s->arrived);
	INIT_CSD(&s->interrupt, on_interrupt, s);
	INIT_LIST_HEAD(&s->events);
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 13, 0)
	hrtimer_setup(&s->timer, on_timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_SOFT);
#else
	hrtimer_init(&s->timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_SOFT);
	s->timer.function = on_timer;
#endif
	dev->netdev_ops = &sim_netdev_ops;
	dev->ethtool_ops = &sim_ethtool_ops;
	eth_hw_addr_set(dev, address);
	netif_napi_add(dev, &s->napi, sim_poll);
	return s;
}

/* All devices leave before one is freed: each delivers to others. One in another namespace leaves from there. */
static void close_all(int registered)
{
	for (int i = 0; i < registered; i++)
		unregister_netdev(sims[i]->dev);
	kick_all_cpus_sync(); /* no interrupt is on its way any more */
	phys_close();
	for (int i = 0; i < SIMS; i++) {
		if (!sims[i])
			continue;
		if (!IS_ERR_OR_NULL(sims[i]->clock.ptp))
			ptp_clock_unregister(sims[i]->clock.ptp);
		skb_queue_purge(&sims[i]->arrived); /* the other may have sent while this device went down */
		free_netdev(sims[i]->dev);
		sims[i] = NULL;
	}
}

static int __init simnic_init(void)
{
	int error = devices < 2 || devices > SIMS ? -EINVAL : 0, registered = 0;

	if (!error)
		error = truth_open();
	if (error)
		return error;
	real_minus_raw = (s64)ktime_get_real_ns() - (s64)ktime_get_raw_ns();
	for (int i = 0; i < devices && !error; i++) {
		sims[i] = sim_make(i);
		error = sims[i] ? clock_open(&sims[i]->clock, "sim", i) : -ENOMEM;
	}
	for (int i = 0; i < devices && !error; i++)
		sims[i]->peer = sims[i != 1];
	if (!error)
		error = phys_open();
	for (int i = 0; i < devices && !error; i++)
		error = phy_join(sims[i]->dev, i);
	for (int i = 0; i < devices && !error; i++) {
		error = register_netdev(sims[i]->dev);
		registered += !error;
	}
	if (!error)
		error = plant_init();
	if (error) {
		close_all(registered);
		truth_close();
	}
	return error;
}

static void __exit simnic_exit(void)
{
	close_all(devices);
	plant_close();
	truth_close();
}

module_init(simnic_init);
module_exit(simnic_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("A pair of simulated NICs whose hardware timestamps are computed");
