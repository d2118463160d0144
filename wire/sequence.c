// SPDX-License-Identifier: GPL-2.0-or-later
/* Sequence numbers (hot): their classification, and the loss by direction from probe and reply numbers. */
#include "wire/sequence.h"

#define WINDOW 64 /* bits of sequence_window.seen */

enum order sequence_note(struct sequence_window *w, uint32_t seq)
{
	uint32_t ahead = seq - w->highest, behind = w->highest - seq;

	if (w->noted++ == 0) {
		w->highest = seq;
		w->seen = 1;
		return ORDER_NEXT;
	}
	if (ahead != 0 && ahead <= INT32_MAX) {
		w->seen = ahead < WINDOW ? w->seen << ahead | 1 : 1;
		w->highest = seq;
		return ORDER_NEXT;
	}
	if (behind < WINDOW) {
		uint64_t bit = 1ULL << behind;
		bool before = w->seen & bit;

		w->seen |= bit;
		return before ? ORDER_DUPLICATE : ORDER_REORDERED;
	}
	return ORDER_OLD;
}

/* ---- Loss by direction ------------------------------------------------------------------------------------------- */

#define HIDDEN_SLACK 64 /* replies; see can_report() */

/* Unwraps a number: its position nearest to `near`. */
static int64_t place(int64_t near, uint32_t seq)
{
	return near + (int32_t)(seq - (uint32_t)near);
}

/* Returns the minimum number of the missing probes that did not arrive: each other probe lost its reply. */
static int64_t note_gap(struct directions *d, struct directions_gap gap)
{
	int64_t probes = gap.after_probe - gap.before_probe - 1, replies = gap.after_reply - gap.before_reply - 1;

	if (probes && replies)
		d->gaps[d->gaps_noted++ % DIRECTIONS_GAPS] = gap;
	return probes > replies ? probes - replies : 0;
}

/* True if this probe and its reply are missing in the same gap. Then the results of note_gap() stay valid. */
static bool fits_gap(const struct directions *d, int64_t probe, int64_t reply)
{
	for (uint64_t i = 0; i < d->gaps_noted && i < DIRECTIONS_GAPS; i++) {
		const struct directions_gap *gap = &d->gaps[i];

		if (gap->before_probe < probe && probe < gap->after_probe)
			return gap->before_reply < reply && reply < gap->after_reply;
	}
	return false;
}

static void begin_segment(struct directions *d, int64_t probe, uint32_t reply_seq)
{
	const int64_t origin = d->origin;

	d->begun = true;
	d->gaps_noted = 0;
	d->now = (struct directions_segment){ .origin = origin, .first_probe = probe, .last_probe = probe,
					      .first_reply = reply_seq, .last_reply = reply_seq, .probes = 1,
					      .replies = 1, .gap_reply = reply_seq };
	/* As in close_segment(). */
	if (reply_seq <= probe - origin)
		d->now.lost_forward = d->now.last_gap = note_gap(d,
								 (struct directions_gap){ origin - 1, probe, -1,
											  reply_seq });
	d->begins = probe;
	d->begins_reply = reply_seq;
	d->window.noted = 0;
	sequence_note(&d->window, reply_seq);
}

/* Adds up the losses between the first and the last number. */
static void close_segment(struct directions *d)
{
	struct directions_segment *g = &d->now;

	/* RFC 8972 numbers the replies of a session from 0, so the direction of losses before the first
	 * answer is known too. */
	if (g->first_reply >= 0 && g->first_reply <= g->first_probe - g->origin) {
		g->first_reply = 0;
		g->first_probe = g->origin;
	}

	int64_t unanswered = g->last_probe - g->first_probe + 1 - g->probes;
	int64_t unseen = g->last_reply - g->first_reply + 1 - g->replies;

	if (unanswered < 0 || unseen < 0)
		return; /* unknown kind of counting */
	/* More replies than probes are missing: second replies to duplicated requests. */
	if (unseen > unanswered) {
		d->hidden += (uint64_t)(unseen - unanswered);
		unseen = unanswered;
	}
	int64_t forward = unanswered - unseen, certain = g->lost_forward > forward ? g->lost_forward : forward;
	const int64_t discarded = g->discarded < forward ? g->discarded : forward;
	const int64_t unread = g->maybe_unread < forward - discarded ? g->maybe_unread : forward - discarded;

	d->lost_backward += (uint64_t)unseen;
	d->discarded += (uint64_t)discarded;
	d->lost_forward += (uint64_t)(forward - discarded - unread);
	certain = (certain < unanswered ? certain : unanswered) - discarded - unread;
	d->by_gap += (uint64_t)certain;
}

static void end_count(struct directions *d)
{
	close_segment(d);
	d->before = d->now;
	d->origin = d->before.last_probe + 1;
	d->counted = true;
}

/* A probe sent before the restart was answered by the earlier count: it is removed from the losses in which
 * it was counted. If it is after the last answer of that count, it was counted as a loss of the new count. */
static void note_earlier(struct directions *d, int64_t probe, uint32_t reply_seq)
{
	uint64_t *lost = place(d->before.last_reply, reply_seq) <= d->before.last_reply ? &d->lost_backward :
											    &d->lost_forward;

	if (probe >= d->now.origin)
		d->now.probes++;
	else if (probe < d->before.last_probe && *lost)
		--*lost;
	d->overtaken = true; /* its gap is unknown by now */
}

static void count_disorder(struct directions *d, enum order order, bool behind, bool again)
{
	if (again && (order == ORDER_NEXT || order == ORDER_REORDERED))
		d->duplicate_forward++;
	else if (again)
		d->duplicate_backward++;
	else if (order == ORDER_REORDERED || order == ORDER_OLD)
		d->reordered_backward++;
	else if (order == ORDER_NEXT && behind)
		d->reordered_forward++;
}

/* Later than all before in both directions. */
static void note_next(struct directions *d, int64_t probe, int64_t reply)
{
	struct directions_segment *g = &d->now;

	g->last_gap = 0;
	if (probe - g->last_probe != 1 || reply - g->gap_reply != 1)
		g->last_gap = note_gap(d, (struct directions_gap){ g->last_probe, probe, g->gap_reply, reply });
	g->lost_forward += g->last_gap;
	g->probes++;
	g->replies++;
	g->last_probe = probe;
	g->last_reply = g->gap_reply = reply;
}

static void note_other(struct directions *d, int64_t probe, int64_t reply, enum order order, bool again)
{
	struct directions_segment *g = &d->now;
	bool behind = probe < g->last_probe;

	count_disorder(d, order, behind, again);
	if (again) {
		/* Numbers missing before a second reply belong to the gap that continues after it. */
		g->gap_reply += order == ORDER_NEXT;
		d->overtaken |= order == ORDER_NEXT && behind;
	} else if (order == ORDER_DUPLICATE || !fits_gap(d, probe, reply)) {
		d->overtaken = true;
	}
	g->probes += !again;
	g->replies += order == ORDER_NEXT || order == ORDER_REORDERED || (order == ORDER_OLD && !again);
	g->first_probe = probe < g->first_probe ? probe : g->first_probe;
	g->last_probe = probe > g->last_probe ? probe : g->last_probe;
	g->first_reply = reply < g->first_reply ? reply : g->first_reply;
	g->last_reply = reply > g->last_reply ? reply : g->last_reply;
}

/* A probe from before the probe that showed the restart: a new count begins at 0, and its first numbers
 * were missing. */
static bool is_of_new_count(const struct directions *d, int64_t probe, uint32_t reply_seq)
{
	return probe >= d->now.origin && reply_seq < d->begins_reply;
}

void directions_note(struct directions *d, uint32_t sender_seq, uint32_t reply_seq, bool again)
{
	int64_t probe = place(d->now.last_probe, sender_seq), reply = place(d->now.last_reply, reply_seq);
	bool ahead = probe > d->now.last_probe;

	d->stateful |= reply_seq != sender_seq;
	d->answered += !again;
	if (!d->begun) {
		if (again)
			return;
		d->restarts += d->counted;
		begin_segment(d, probe, reply_seq);
		return;
	}
	if (d->restarts && probe < d->begins && !is_of_new_count(d, probe, reply_seq)) {
		if (!again)
			note_earlier(d, probe, reply_seq);
		return;
	}
	enum order order = sequence_note(&d->window, reply_seq);

	/* If a probe later than all answered probes gets a number already used or far below, the reflector
	 * restarted. A new number slightly below is not a restart: both directions may have reordered
	 * packets. */
	if (ahead && (order == ORDER_DUPLICATE || order == ORDER_OLD)) {
		end_count(d);
		d->restarts++;
		begin_segment(d, probe, reply_seq);
	} else if (ahead && order == ORDER_NEXT && !again) {
		note_next(d, probe, reply);
	} else {
		note_other(d, probe, reply, order, again);
	}
}

void directions_discards(struct directions *d, uint32_t reply_seq, uint16_t discarded, uint8_t reasons)
{
	struct directions_segment *g = &d->now;
	const uint16_t more = (uint16_t)(discarded - g->discarded);
	const int64_t rest = g->last_gap - more;

	/* A reordered reply reports an earlier state. */
	if ((uint32_t)g->last_reply != reply_seq)
		return;
	g->discarded += more;
	if (reasons & DISCARD_UNREAD && rest > 0)
		g->maybe_unread += rest;
	g->last_gap = 0;
	d->discard_reasons |= reasons;
}

void directions_stateless(struct directions *d, uint32_t sender_seq)
{
	const int64_t probe = place(d->now.last_probe, sender_seq);

	d->answered++;
	if (d->begun)
		end_count(d);
	d->begun = false;
	if (probe >= d->origin)
		d->origin = probe + 1;
}

void directions_stateful(struct directions *d)
{
	d->stateful = true;
}

/* Numbers that decrease at every other reply are not a count. Numbers far above the number that loss and
 * duplicates explain also count replies to other senders. */
static bool can_report(const struct directions *d, uint64_t lost)
{
	return d->stateful && d->restarts <= d->answered / 2 && d->hidden <= HIDDEN_SLACK + lost + d->duplicate_forward;
}

/* A gap with more missing replies than probes hides a second reply. After one, any missing reply may be a
 * second reply. */
static void leave_unreported(struct directions *d)
{
	if (!d->overtaken) {
		d->hidden += d->by_gap - d->lost_forward;
		d->lost_forward = d->by_gap;
	}
	if (d->hidden || d->duplicate_forward)
		d->lost_backward = 0;
}

void directions_finish(struct directions *d, uint64_t sent)
{
	uint64_t lost = sent > d->answered ? sent - d->answered : 0;

	if (d->begun)
		close_segment(d);
	d->reported = can_report(d, lost);
	if (d->reported) {
		leave_unreported(d);
		d->duplicate_forward += d->hidden;
	} else {
		d->lost_forward = d->lost_backward = d->discarded = 0;
		d->reordered_forward = d->reordered_backward = 0;
		d->duplicate_forward = d->duplicate_backward = 0;
		d->restarts = 0;
	}
	/* Contradicting replies must not make the sum exceed the losses. */
	if (d->lost_forward > lost)
		d->lost_forward = lost;
	if (d->lost_backward > lost - d->lost_forward)
		d->lost_backward = lost - d->lost_forward;
	if (d->discarded > lost - d->lost_forward - d->lost_backward)
		d->discarded = lost - d->lost_forward - d->lost_backward;
	d->lost_unknown = lost - d->lost_forward - d->lost_backward - d->discarded;
}
