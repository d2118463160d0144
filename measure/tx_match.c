// SPDX-License-Identifier: GPL-2.0-or-later
/* Matching and validation of transmit timestamps (hot): rare cases. */
#include "measure/tx_match.h"

/* A refused packet may have left its id in the error queue. The id of the last packet that requested it
 * comes after it. */
void tx_match_learn_id(struct exchange *x, uint32_t id)
{
	struct peer_socket *at = x->channel->at;

	if (!at->id_due || x->flight[at->asked_key & x->flight_mask].key != at->asked_key)
		return;
	at->ids_ahead = id - at->asked_key;
	for (uint32_t key = at->asked_key; key != at->last_key + 1; key++) {
		struct flight *f = &x->flight[key & x->flight_mask];

		if (f->peer_socket != at->number || f->unasked || f->state == FLIGHT_NONE)
			continue;
		f->id = id++;
		if (x->port)
			source_port_note_id(x, f);
	}
	at->next_id = id;
	at->id_doubted = at->id_open = false;
}

struct flight *tx_match_search(struct exchange *x, uint32_t id)
{
	struct flight *f = x->port ? source_port_flight(x, id) : NULL;

	if (f || x->channel->at->id_by_message)
		return f;
	/* With --stamp-every it is the oldest that waits for a timestamp, or soon after it. */
	for (uint32_t i = 0; i <= x->flight_mask; i++) {
		f = &x->flight[(x->window.stamp_key + i) & x->flight_mask];
		if (f->id == id && f->peer_socket == x->channel->at->number && f->state != FLIGHT_NONE)
			return f;
	}
	return NULL;
}

/* With entries of many packets at the entry of the queueing discipline, that of the packet which requested its id: the
 * kernel takes the time during the send, so it lies between the times of two sends. */
static bool is_of_asked(const struct exchange *x, int64_t time_ns, unsigned user)
{
	const struct peer_socket *at = x->channel->at;
	const struct flight *f = &x->flight[at->asked_key & x->flight_mask];
	const struct flight *next = &x->flight[(at->asked_key + 1) & x->flight_mask];

	if (!at->id_open || f->key != at->asked_key || time_ns < f->sample.time_ns[user])
		return false;
	return x->next_key == at->asked_key + 1 || next->key != at->asked_key + 1 ||
	       time_ns <= next->sample.time_ns[user];
}

void tx_match_kernel(struct exchange *x, const struct departure *d, unsigned at, unsigned user)
{
	struct flight *f;
	int64_t after_ns;

	if (at == KERNEL_QUEUE && is_of_asked(x, d->time_ns, user))
		tx_match_learn_id(x, d->id);
	f = tx_match_flight_of(x, d->id);
	after_ns = f ? d->time_ns - f->sample.time_ns[user] : -1;
	if (!f || (f->state == FLIGHT_WAITING && exchange_checks_stamps(x) && (uint64_t)after_ns > ODD_NS &&
		   (after_ns < 0 || d->time_ns > clock_read_ns(CLOCK_REALTIME)))) {
		counter_add(&x->result.account.stamp_unmatched, 1);
		stamp_doubt(x->channel, x->channel->at);
		return;
	}
	/* Too late for its sample, whose missing times are counted when it is concluded. */
	if (f->state != FLIGHT_WAITING)
		return;
	/* Of stacked devices each has a queueing discipline: the last is that of the NIC. */
	if (at == KERNEL_DRIVER && f->sample.source[at]) {
		counter_add(&x->result.account.stamp_duplicate, 1);
		return;
	}
	f->sample.time_ns[at] = d->time_ns;
	f->sample.source[at] = SOURCE_KERNEL;
}

/* Reads the NIC's clock. False: it cannot be read, its readings have a limit, or it contradicts the relation of the
 * clocks, which is then unusable until the next comparison; *set: the clock was stepped since the last comparison. */
static bool read_phc(const struct exchange *x, int64_t *now_ns, bool *set)
{
	int64_t least_ns, most_ns, least_bound_ns, most_bound_ns;
	const int64_t before_ns = clock_read_ns(CLOCK_REALTIME);
	struct timespec t;

	/* The housekeeping thread shares a limit with other rants: a reading of this thread would exceed it. */
	if (x->clocks->phc_fd < 0 || x->clocks->budget.reads_per_s ||
	    clock_gettime(clock_of_fd(x->clocks->phc_fd), &t))
		return false;
	*now_ns = t.tv_sec * NS_PER_S + t.tv_nsec;
	if (!clock_to_phc(x->clocks, before_ns, &least_ns, &least_bound_ns) ||
	    !clock_to_phc(x->clocks, clock_read_ns(CLOCK_REALTIME), &most_ns, &most_bound_ns))
		return false;
	*set = *now_ns < least_ns - least_bound_ns || *now_ns > most_ns + most_bound_ns;
	return !*set;
}

/* The reflector's clock was stepped since the last comparison, within this response or before it: if
 * within, the time beyond the program's part is not the few microseconds of the kernel's receive and send
 * path. */
static bool is_within(const struct flight *f, int64_t stamp_ns)
{
	const int64_t *ns = f->sample.time_ns;

	return f->sample.source[REFLECT_T2_WIRE] && f->sample.source[REFLECT_T2_USER] &&
	       (uint64_t)((stamp_ns - ns[REFLECT_T2_WIRE]) - (ns[REFLECT_T3_USER] - ns[REFLECT_T2_USER])) > ODD_NS;
}

bool tx_match_explains(struct exchange *x, struct flight *f, int64_t stamp_ns, int64_t sent_ns, int64_t bound_ns)
{
	bool set = false;
	int64_t now_ns;

	if (x->clocks && !x->places) {
		if (!read_phc(x, &now_ns, &set)) {
			/* An emitter's round trip is checked when it has all its times. */
			f->set = set && x->options->role == ROLE_REFLECT && is_within(f, stamp_ns);
			return true;
		}
	} else {
		f->set = exchange_checks_realtime(x) && sample_was_spoilt(x, f);
		if (f->set)
			return true;
		now_ns = clock_read_ns(CLOCK_REALTIME);
	}
	return stamp_ns >= sent_ns - bound_ns && stamp_ns <= now_ns;
}
