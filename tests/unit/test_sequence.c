/* build: wraps= sources= libs=-lm */
// SPDX-License-Identifier: GPL-2.0-or-later
/* Classification of sequence numbers, and loss by direction against a simulated network with known losses. */
#include "wire/sequence.c"

#include "util.h"

/* ---- The window -------------------------------------------------------------------------------------------------- */

static void what_is_64_behind_is_old_and_changes_nothing(void **state)
{
	struct sequence_window w = { 0 }, before;

	(void)state;
	assert_int_equal(sequence_note(&w, 1000), ORDER_NEXT);
	assert_int_equal(sequence_note(&w, 1000 - 63), ORDER_REORDERED);
	assert_int_equal(sequence_note(&w, 1000 - 63), ORDER_DUPLICATE);
	before = w;
	assert_int_equal(sequence_note(&w, 1000 - 64), ORDER_OLD);
	assert_int_equal(sequence_note(&w, 1000 - 64), ORDER_OLD);
	assert_int_equal(sequence_note(&w, 0), ORDER_OLD);
	assert_int_equal(sequence_note(&w, 1000U + 0x80000000U), ORDER_OLD);
	assert_int_equal(w.highest, before.highest);
	assert_true(w.seen == before.seen);
	assert_int_equal(w.noted, before.noted + 4);
	assert_int_equal(sequence_note(&w, 1000U + 0x7fffffffU), ORDER_NEXT);
}

static void moved_by_63_it_knows_the_last_and_by_64_none(void **state)
{
	struct sequence_window w = { 0 };

	(void)state;
	sequence_note(&w, UINT32_MAX - 10);
	assert_int_equal(sequence_note(&w, UINT32_MAX - 10 + 63), ORDER_NEXT);
	assert_int_equal(sequence_note(&w, UINT32_MAX - 10), ORDER_DUPLICATE);
	assert_int_equal(sequence_note(&w, UINT32_MAX - 9), ORDER_REORDERED);
	w = (struct sequence_window){ 0 };
	sequence_note(&w, UINT32_MAX - 10);
	assert_int_equal(sequence_note(&w, UINT32_MAX - 10 + 64), ORDER_NEXT);
	assert_int_equal(sequence_note(&w, UINT32_MAX - 10), ORDER_OLD);
	assert_int_equal(sequence_note(&w, UINT32_MAX - 9), ORDER_REORDERED);
}

/* Positions do not wrap here, and the model remembers all of them. */
static void random_numbers_against_a_model(void **state)
{
	enum { SPAN = 20000 };
	static bool seen[SPAN];
	unsigned reported[4] = { 0 };

	(void)state;
	for (int run = 0; run < 50; run++) {
		uint32_t zero = (uint32_t)util_random();
		struct sequence_window w = { 0 };
		int64_t highest = 200;

		memset(seen, 0, sizeof(seen));
		seen[highest] = true;
		sequence_note(&w, zero + (uint32_t)highest);
		while (highest < SPAN - 200) {
			int64_t p = highest - 63 + (int64_t)util_below(util_below(4) ? 66 : 200);
			enum order expected;

			if (util_below(10) == 0)
				p = highest - (int64_t)util_below(200);
			expected = p > highest ? ORDER_NEXT : p <= highest - 64 ? ORDER_OLD :
				   seen[p]     ? ORDER_DUPLICATE : ORDER_REORDERED;
			assert_int_equal(sequence_note(&w, zero + (uint32_t)p), expected);
			if (expected != ORDER_OLD)
				seen[p] = true;
			highest = p > highest ? p : highest;
			reported[expected]++;
		}
	}
	for (size_t i = 0; i < COUNT_OF(reported); i++)
		assert_true(reported[i] > 1000);
}

/* ---- Directions: by hand ----------------------------------------------------------------------------------------- */

/* Each reply is "probe:reply", with a + in front when the probe was answered before. */
struct story {
	const char *name, *replies;
	uint64_t sent;
	bool follow_up; /* proves the state */
	bool reported;
	uint64_t forward, backward, unknown;
	uint64_t reordered_forward, reordered_backward, duplicate_forward, duplicate_backward, restarts;
};

static void print(struct directions *d, const char *replies)
{
	unsigned long long probe, reply;
	char sign[2];
	int used;

	for (; sscanf(replies, " %1[+=]%llu:%llu%n", sign, &probe, &reply, &used) == 3; replies += used)
		directions_note(d, (uint32_t)probe, (uint32_t)reply, *sign == '+');
	assert_int_equal(strspn(replies, " "), strlen(replies));
}

static const struct story stories[] = {
	{ "nothing sent", "", .sent = 0 },
	{ "no reply at all", "", .sent = 7, .unknown = 7 },
	{ "no reply but a follow-up cannot be", "", .sent = 7, .follow_up = true, .reported = true, .unknown = 7 },
	{ "all is well, and nothing proven", "=0:0 =1:1 =2:2", .sent = 3 },
	{ "all is well, and proven", "=0:0 =1:1 =2:2", .sent = 3, .follow_up = true, .reported = true },
	{ "lost before the first, between and after the last", "=1:0 =2:1 =4:2 =6:4", .sent = 9, .reported = true,
	  .forward = 2, .backward = 1, .unknown = 2 },
	{ "lost backward only: equal numbers prove nothing", "=0:0 =3:3 =4:4", .sent = 5, .unknown = 2 },
	{ "lost backward only, proven by a follow-up", "=0:0 =3:3 =4:4", .sent = 5, .follow_up = true, .reported = true,
	  .backward = 2 },
	{ "lost backward before the first", "=3:3 =4:4", .sent = 5, .follow_up = true, .reported = true,
		.backward = 3 },
	{ "a peer whose count goes on from another run", "=2:500 =3:501 =5:503 =6:504", .sent = 7, .reported = true,
	  .backward = 1, .unknown = 2 },
	{ "a peer that begins at 1", "=0:1 =1:2 =3:3", .sent = 4, .reported = true, .forward = 1 },
	{ "a stateless peer, all kinds of disorder", "=0:0 =2:2 =1:1 +1:1 =9:9", .sent = 11, .unknown = 7 },
	{ "a request comes twice", "=0:0 =1:1 +1:2 =2:3", .sent = 3, .reported = true, .duplicate_forward = 1 },
	{ "and its second reply is lost", "=0:0 =1:1 =2:3", .sent = 3, .reported = true, .duplicate_forward = 1 },
	{ "and its first reply is lost", "=0:0 =1:2 =2:3", .sent = 3, .reported = true, .duplicate_forward = 1 },
	{ "a second reply and a request are lost: as a reply to it would be", "=0:0 =1:1 =3:3", .sent = 4,
	  .reported = true, .backward = 1, .follow_up = true },
	{ "a reply comes twice", "=0:0 +0:0 =2:1 +2:1", .sent = 3, .reported = true, .forward = 1,
	  .duplicate_backward = 2 },
	{ "replies change places", "=0:0 =2:2 =1:1 =4:3", .sent = 5, .reported = true, .forward = 1,
	  .reordered_backward = 1 },
	{ "requests change places", "=0:0 =2:1 =1:2 =3:3", .sent = 4, .reported = true, .reordered_forward = 1 },
	{ "the first requests change places", "=1:0 =0:1 =2:2", .sent = 3, .reported = true, .reordered_forward = 1 },
	{ "the first replies change places", "=1:1 =0:0 =3:2", .sent = 4, .reported = true, .forward = 1,
	  .reordered_backward = 1 },
	/* Or the second was reordered, and its reply lost: no number shows that. */
	{ "two requests are lost, and a second reply", "=2:0 =3:2", .sent = 4, .reported = true, .forward = 2,
	  .duplicate_forward = 1 },
	{ "an overtaken request where another was, too", "=2:0 =3:2 =6:4 =5:5 =7:6", .sent = 8, .reported = true,
	  .forward = 1,
	  .backward = 2, .reordered_forward = 1 },
	{ "a request and a second reply are lost: one gap", "=0:0 =1:1 +1:2 =2:3 =4:5", .sent = 5, .reported = true,
	  .unknown = 1, .duplicate_forward = 1 },
	{ "a request and a second reply are lost: two gaps", "=0:0 =2:1 =3:3 =4:4", .sent = 5, .reported = true,
	  .forward = 1,
	  .duplicate_forward = 1 },
	{ "a second reply is lost, and then another", "=0:0 =1:2 =2:3 =4:5", .sent = 5, .reported = true, .unknown = 1,
	  .duplicate_forward = 1 },
	{ "the first sign comes last", "=0:0 =2:2 =3:3 +3:4", .sent = 4, .reported = true, .unknown = 1,
	  .duplicate_forward = 1 },
	{ "a second reply comes late into a gap", "=0:0 =1:1 =3:3 =4:4 +1:2", .sent = 5, .reported = true, .forward = 1,
	  .duplicate_forward = 1, .follow_up = true },
	{ "a second reply does not part a gap", "=0:0 =1:1 +1:4 =4:5", .sent = 5, .reported = true, .unknown = 2,
	  .duplicate_forward = 1 },
	{ "one is late in its gap, and a second reply is lost", "=0:0 =2:1 =5:4 =4:3 =6:6", .sent = 7, .reported = true,
	  .forward = 1, .unknown = 1, .reordered_backward = 1, .duplicate_forward = 1 },
	{ "one was overtaken, and a second reply is lost", "=0:0 =2:1 =4:2 =3:3 =5:5 =6:6 +6:7", .sent = 7,
	  .reported = true,
	  .unknown = 1, .reordered_forward = 1, .duplicate_forward = 1 },
	{ "requests and then their replies change places", "=0:0 =1:2 =2:1 =3:3", .sent = 4, .reported = true,
	  .reordered_backward = 1 },
	{ "it begins again", "=0:0 =1:1 =3:2 =5:0 =7:2", .sent = 9, .reported = true, .forward = 2, .backward = 1,
	  .unknown = 1, .restarts = 1 },
	{ "it begins again, and the first replies are lost", "=0:0 =1:1 =2:2 =3:3 =9:2 =10:3", .sent = 11,
		.reported = true,
	  .forward = 3, .backward = 2, .restarts = 1 },
	{ "it begins again, and the first replies come late", "=0:0 =1:1 =2:2 =3:3 =9:2 =7:0 =8:1", .sent = 10,
	  .reported = true,
	  .forward = 3, .reordered_backward = 2, .restarts = 1 },
	{ "it begins again at once", "=0:0 =1:1 =2:0 =3:1", .sent = 4, .reported = true, .restarts = 1 },
	{ "it begins again, but not from 0", "=0:9 =1:10 =3:9 =4:10", .sent = 5, .reported = true, .unknown = 1,
	  .restarts = 1 },
	{ "it begins again, and a late reply of before comes", "=0:0 =4:4 =6:0 =2:2", .sent = 7, .reported = true,
	  .forward = 1, .backward = 2, .restarts = 1 },
	{ "of before, that was held up on its way there", "=0:0 =4:1 =6:0 =2:2", .sent = 7, .reported = true,
	  .forward = 3, .restarts = 1 },
	{ "a late reply of between", "=0:0 =4:1 =7:0 =5:2", .sent = 8, .reported = true, .forward = 4,
	  .restarts = 1 },
	{ "a counted reply, again", "=0:0 =4:1 =7:0 +4:1", .sent = 8, .reported = true, .forward = 5,
	  .restarts = 1 },
	{ "it begins again twice", "=0:0 =1:1 =2:0 =3:1 =5:2 =6:0", .sent = 7, .reported = true, .forward = 1,
	  .restarts = 2 },
	{ "a peer that always says 0", "=0:0 =1:0 =2:0 =4:0 =5:0", .sent = 6, .unknown = 1 },
	{ "a peer that also counts replies to others", "=0:0 =1:40 =2:80 =3:120 =5:200", .sent = 6, .unknown = 1 },
	{ "a peer whose count goes on, with the first in disorder", "=5:500 =2:502 =6:503", .sent = 7, .reported = true,
	  .forward = 1, .backward = 1, .unknown = 2, .reordered_forward = 1 },
	{ "a peer whose count wraps, with the first in disorder", "=6:0 =3:4294967295", .sent = 7, .reported = true,
	  .forward = 2, .unknown = 3, .reordered_backward = 1 },
	{ "more second replies than probes are lost", "=0:0 =1:1 =2:3 =4:6", .sent = 6, .reported = true, .unknown = 2,
	  .duplicate_forward = 2 },
	{ "again, of before", "=0:0 =2:2 =4:4 =7:0 +2:2", .sent = 8, .reported = true, .forward = 2, .backward = 2,
	  .restarts = 1 },
	{ "late, of before, by a number that had come", "=0:0 =2:1 =4:2 =6:0 =1:1", .sent = 8, .reported = true,
	  .forward = 3, .restarts = 1 },
	{ "late, by a number that had come", "=0:0 =2:1 =1:1", .sent = 3, .reported = true },
	{ "again, before anything was answered", "+3:3 =4:2", .sent = 5, .reported = true, .forward = 2,
		.backward = 2 },
	{ "more answers than probes", "=0:0 =1:1", .sent = 1, .follow_up = true, .reported = true },
	{ "numbers that wrap", "=4294967290:4294967295 =4294967295:4 =0:5 =2:6", .sent = 4294967301, .reported = true,
	  .forward = 1, .backward = 4, .unknown = 4294967292 },
};

static bool is_as_reported(const struct story *t, const struct directions *d)
{
	return d->reported == t->reported && d->lost_forward == t->forward && d->lost_backward == t->backward &&
	       d->lost_unknown == t->unknown && d->reordered_forward == t->reordered_forward &&
	       d->reordered_backward == t->reordered_backward && d->duplicate_forward == t->duplicate_forward &&
	       d->duplicate_backward == t->duplicate_backward && d->restarts == t->restarts;
}

static void losses_reported_by_hand(void **state)
{
	unsigned wrong = 0;

	(void)state;
	for (const struct story *t = stories; t < stories + COUNT_OF(stories); t++) {
		struct directions d = { 0 };

		if (t->follow_up)
			directions_stateful(&d);
		print(&d, t->replies);
		directions_finish(&d, t->sent);
		if (is_as_reported(t, &d))
			continue;
		wrong++;
		print_message("%s: told %d lost %d %d %d reordered %d %d duplicate %d %d restarts %d\n", t->name,
			      d.reported,
			      (int)d.lost_forward, (int)d.lost_backward, (int)d.lost_unknown, (int)d.reordered_forward,
			      (int)d.reordered_backward, (int)d.duplicate_forward, (int)d.duplicate_backward,
			      (int)d.restarts);
	}
	assert_int_equal(wrong, 0);
}

/* Probes 10 and 20 are not answered in time, and 100 is the last. */
static struct directions up_to_100(void)
{
	struct directions d = { 0 };
	uint32_t reply = 0;

	for (uint32_t probe = 0; probe <= 100; probe++)
		if (probe != 10 && probe != 20)
			directions_note(&d, probe, reply++, false);
	return d;
}

/* This far below, duplicate or new is unknown by number, but the probe shows it. */
static void what_is_too_old_goes_by_its_probe(void **state)
{
	struct directions d = up_to_100();

	(void)state;
	directions_note(&d, 101, 100, false); /* 99 is lost, or late */
	directions_note(&d, 5, 5, true);
	assert_int_equal(d.duplicate_backward, 1);
	for (uint32_t i = 0; i < 100; i++)
		directions_note(&d, 102 + i, 101 + i, false);
	directions_note(&d, 20, 99, false);
	assert_int_equal(d.reordered_backward, 1);
	directions_finish(&d, 202);
	assert_true(d.reported);
	assert_int_equal(d.lost_forward, 1);
	assert_int_equal(d.lost_backward + d.lost_unknown + d.restarts + d.duplicate_forward, 0);
}

static void what_contradicts_itself_is_unknown(void **state)
{
	struct directions d = up_to_100();

	(void)state;
	directions_note(&d, 10, 7, false); /* was the answer to 7 */
	directions_finish(&d, 101);
	assert_true(d.reported);
	assert_int_equal(d.lost_forward + d.lost_backward, 0);
	assert_int_equal(d.lost_unknown, 1);
}

static uint32_t some(unsigned thousandths, uint32_t most)
{
	return util_below(1000) < thousandths ? 1 + (uint32_t)util_below(util_below(50) ? 3 : most) : 0;
}

/* Requests that the reflector received and did not answer, as reported: from its start, also after a
 * restart, and past 65,535. */
static void what_was_discarded_there(void **state)
{
	uint64_t discarded = 0, restarts = 0;

	(void)state;
	for (int run = 0; run < 300; run++) {
		struct directions d = { 0 };
		uint64_t forward = 0, backward = 0, dropped = 0, begun_again = 0;
		uint32_t probe = 0, reply = 0, count = 0;

		directions_stateful(&d);
		for (unsigned i = 0; i < 200; i++) {
			const uint32_t f = some(300, 1000), b = some(300, 1000), c = some(300, UINT16_MAX);

			/* Only if the first reply shows it: a reply 64 below. */
			if (reply > b + 64 && util_below(50) == 0) {
				reply = count = 0;
				begun_again++;
			}
			probe += f + b + c;
			reply += b;
			count += c;
			directions_note(&d, probe++, reply, false);
			directions_discards(&d, reply++, (uint16_t)count, c ? DISCARD_OVER_RATE : 0);
			forward += f;
			backward += b;
			dropped += c;
		}
		directions_finish(&d, probe + 5);
		assert_int_equal(d.lost_forward, forward);
		assert_int_equal(d.lost_backward, backward);
		assert_int_equal(d.discarded, dropped);
		assert_int_equal(d.lost_unknown, 5);
		assert_int_equal(d.restarts, begun_again);
		assert_int_equal(d.discard_reasons, dropped ? DISCARD_OVER_RATE : 0);
		discarded += dropped;
		restarts += begun_again;
	}
	assert_true(discarded > 10 * UINT16_MAX && restarts > 100);
}

/* Requests dropped unread may be any missing in this gap, and in no other. */
static void what_was_not_read_there(void **state)
{
	struct directions d = { 0 };

	(void)state;
	directions_note(&d, 2, 0, false);
	directions_discards(&d, 0, 0, 0);
	/* two of the three did not arrive, or were dropped unread; one was discarded */
	directions_note(&d, 6, 2, false);
	directions_discards(&d, 2, 1, DISCARD_UNREAD | DISCARD_REFUSED);
	directions_note(&d, 9, 3, false);
	directions_discards(&d, 3, 1, DISCARD_REFUSED);
	directions_note(&d, 8, 1, false); /* overtaken: it reports less */
	directions_discards(&d, 1, 0, 0);
	directions_finish(&d, 10);
	assert_int_equal(d.discarded, 1);
	assert_int_equal(d.lost_unknown, 1);
	assert_int_equal(d.lost_forward, 4);
	assert_int_equal(d.lost_backward, 0);
	assert_int_equal(d.discard_reasons, DISCARD_UNREAD | DISCARD_REFUSED);
}

/* Stateless answers have no number of their own: loss during that time is unknown. */
static void answers_without_a_session(void **state)
{
	struct directions d = { 0 };

	(void)state;
	directions_stateless(&d, 0);
	directions_stateless(&d, 3);
	directions_note(&d, 5, 0, false); /* 4 did not arrive */
	directions_note(&d, 7, 2, false);
	directions_stateless(&d, 20);
	directions_note(&d, 22, 0, false);
	directions_note(&d, 23, 1, false);
	directions_finish(&d, 24);
	assert_true(d.reported);
	assert_int_equal(d.answered, 7);
	assert_int_equal(d.lost_forward, 2);
	assert_int_equal(d.lost_backward, 1);
	assert_int_equal(d.lost_unknown, 14);
	assert_int_equal(d.restarts, 1);
}

/* ---- Directions: a simulated network ----------------------------------------------------------------------------- */

enum { DIRTY_MAX = 4000, DELAY_MAX = 3000, PROBES = DIRTY_MAX + 2 * DELAY_MAX + 1 };
enum { COPIES_MAX = 3, EVENTS = PROBES * COPIES_MAX };

/* Chances in thousandths; delays in times between two probes. */
struct network {
	unsigned lost_forward, lost_backward, delayed_forward, delayed_backward, twice_forward, twice_backward;
	unsigned restarts; /* per request; the first answered request is never lost */
	unsigned delay;
	bool spares_doubles; /* no reply to a request that arrived twice is lost */
	/* No fault for the first probe, nor for the last probes until all earlier probes have arrived. */
	bool clean_ends;
};

struct packet {
	int64_t at; /* arrival */
	unsigned order; /* order of simultaneous events */
	unsigned epoch; /* of the reflector, from 0 */
	uint32_t probe, reply;
};

static struct packet requests[EVENTS], replies[EVENTS * COPIES_MAX];
static unsigned arrived[PROBES]; /* copies of the request */
static unsigned last_epoch[PROBES]; /* in which the last reply arrived */
static bool answered[PROBES];
static unsigned arrivals; /* requests that reached the reflector */

static int compare_packets(const void *a, const void *b)
{
	const struct packet *x = a, *y = b;

	return x->at != y->at ? (x->at > y->at) - (x->at < y->at) : (x->order > y->order) - (x->order < y->order);
}

static bool chance(unsigned thousandths)
{
	return util_below(1000) < thousandths;
}

static unsigned carry_copies(struct packet *queue, unsigned used, struct packet p, unsigned twice, unsigned delayed,
			     unsigned delay)
{
	unsigned copies = chance(twice) ? 2 + (unsigned)util_below(COPIES_MAX - 1) : 1;
	int64_t sent_at = p.at;

	for (unsigned i = 0; i < copies; i++) {
		p.at = sent_at + (chance(delayed) ? (int64_t)util_below(delay + 1) : 0);
		p.order = used;
		queue[used++] = p;
	}
	return used;
}

static bool is_clean(const struct network *n, uint32_t probe, uint32_t probes)
{
	return n->clean_ends && (probe == 0 || probe + 2 * n->delay + 1 >= probes);
}

/* Returns how many requests the reflector gets, in the order of their arrival. */
static unsigned carry_forward(const struct network *n, uint32_t probes)
{
	unsigned used = 0;

	memset(arrived, 0, sizeof(arrived));
	for (uint32_t i = 0; i < probes; i++) {
		struct packet p = { .at = i, .probe = i };
		unsigned before = used;

		if (is_clean(n, i, probes))
			used = carry_copies(requests, used, p, 0, 0, 0);
		else if (!chance(n->lost_forward))
			used = carry_copies(requests, used, p, n->twice_forward, n->delayed_forward, n->delay);
		arrived[i] = used - before;
	}
	qsort(requests, used, sizeof(requests[0]), compare_packets);
	arrivals = used;
	return used;
}

/* The same for the replies and the emitter. */
static unsigned carry_backward(const struct network *n, unsigned got, uint32_t probes)
{
	unsigned used = 0, epoch = 0;
	uint32_t next = 0;

	for (unsigned i = 0; i < got; i++) {
		struct packet p = requests[i];

		/* It takes longer than the distance of duplicates. */
		if (i && p.probe != requests[i - 1].probe && chance(n->restarts)) {
			next = 0;
			epoch++;
		}
		p.epoch = last_epoch[p.probe] = epoch;
		p.reply = next++;
		if (is_clean(n, p.probe, probes))
			used = carry_copies(replies, used, p, 0, 0, 0);
		else if ((n->spares_doubles && arrived[p.probe] > 1) || (n->restarts && p.reply == 0) ||
			 !chance(n->lost_backward))
			used = carry_copies(replies, used, p, n->twice_backward, n->delayed_backward, n->delay);
	}
	qsort(replies, used, sizeof(replies[0]), compare_packets);
	return used;
}

/* Passes the replies to the module. *proven: a number differed from the probe's. */
static void note_all(struct directions *d, unsigned got, bool *proven)
{
	memset(answered, 0, sizeof(answered));
	for (unsigned i = 0; i < got; i++) {
		const struct packet *p = &replies[i];

		directions_note(d, p->probe, p->reply, answered[p->probe]);
		answered[p->probe] = true;
		*proven |= p->probe != p->reply;
	}
}

/* Required results: up to the last answer every loss has its direction. Between two lives of the reflector
 * by the requests that reached the new instance. */
static struct directions truth(unsigned got, uint32_t probes)
{
	struct directions t = { 0 };
	uint32_t from = 0, to = 0;

	for (unsigned i = 0; i < got; i++) {
		const bool restarted = i && replies[i].epoch != replies[i - 1].epoch;

		t.restarts += restarted;
		from = to;
		to = replies[i].probe > to ? replies[i].probe : to;
		for (uint32_t probe = from; probe < to; probe++) {
			const bool got_it = arrived[probe] && (!restarted || last_epoch[probe] == replies[i].epoch);

			t.lost_forward += !answered[probe] && !got_it;
			t.lost_backward += !answered[probe] && got_it;
		}
	}
	for (uint32_t probe = 0; probe < probes; probe++)
		t.lost_unknown += !answered[probe];
	t.lost_unknown -= t.lost_forward + t.lost_backward;
	return t;
}

/* True if a request reached the reflector after a later request, and no answer shows any such case. */
static bool overtaken_unseen(const struct directions *d)
{
	uint32_t last = 0;

	for (unsigned i = 0; !d->overtaken && i < arrivals; i++) {
		if (requests[i].probe < last)
			return true;
		last = requests[i].probe;
	}
	return false;
}

static void assert_lost(const struct directions *d, const struct directions *t, uint32_t probes)
{
	uint64_t lost = 0;

	for (uint32_t probe = 0; probe < probes; probe++)
		lost += !answered[probe];
	assert_int_equal(d->lost_forward + d->lost_backward + d->lost_unknown, lost);
	assert_true(d->lost_forward <= lost && d->lost_backward <= lost && d->lost_unknown <= lost);
	if (!t)
		return;
	if (d->reported && !overtaken_unseen(d)) {
		assert_int_equal(d->lost_forward, t->lost_forward);
		assert_int_equal(d->lost_backward, t->lost_backward);
		assert_int_equal(d->restarts, t->restarts);
	} else if (!d->reported) {
		assert_int_equal(d->lost_unknown, lost);
		assert_int_equal(d->reordered_forward + d->reordered_backward + d->restarts, 0);
		assert_int_equal(d->duplicate_forward + d->duplicate_backward, 0);
	}
}

/* Returns the number of replies; *d is the module's result. */
static unsigned run_network(const struct network *n, uint32_t probes, struct directions *d)
{
	unsigned got = carry_backward(n, carry_forward(n, probes), probes);
	bool proven = util_below(2);

	*d = (struct directions){ 0 };
	if (proven)
		directions_stateful(d);
	note_all(d, got, &proven);
	directions_finish(d, probes);
	assert_int_equal(d->reported, proven);
	return got;
}

static void losses_are_exact_without_disorder(void **state)
{
	uint64_t forward = 0, backward = 0, unknown = 0;

	(void)state;
	for (int run = 0; run < 2000; run++) {
		struct network n = { .lost_forward = (unsigned)util_below(util_below(4) ? 30 : 900),
				     .lost_backward = (unsigned)util_below(util_below(4) ? 30 : 900) };
		uint32_t probes = 1 + (uint32_t)util_below(300);
		struct directions d;
		struct directions t = truth(run_network(&n, probes, &d), probes);

		assert_lost(&d, &t, probes);
		forward += d.lost_forward;
		backward += d.lost_backward;
		unknown += d.lost_unknown;
	}
	assert_true(forward > 1000 && backward > 1000 && unknown > 1000);
}

static void losses_are_exact_in_any_order(void **state)
{
	uint64_t reordered_forward = 0, reordered_backward = 0, unseen = 0;

	(void)state;
	for (int run = 0; run < 200; run++) {
		bool shuffled = util_below(2);
		/* A probe that was given up may be answered when thousands have passed it. */
		struct network n = { .clean_ends = true, .delay = shuffled ? 20 : DELAY_MAX };
		uint32_t probes = 2 + 2 * n.delay + (uint32_t)util_below(DIRTY_MAX);
		struct directions d;

		n.lost_forward = (unsigned)util_below(200);
		n.lost_backward = (unsigned)util_below(200);
		n.delayed_forward = (unsigned)util_below(shuffled ? 1000 : 50);
		n.delayed_backward = (unsigned)util_below(shuffled ? 1000 : 50);
		struct directions t = truth(run_network(&n, probes, &d), probes);

		assert_int_equal(t.lost_unknown, 0);
		assert_lost(&d, &t, probes);
		unseen += overtaken_unseen(&d);
		reordered_forward += d.reordered_forward;
		reordered_backward += d.reordered_backward;
	}
	assert_true(reordered_forward > 1000 && reordered_backward > 1000 && unseen < 10);
}

static unsigned distinct_replies(unsigned got)
{
	static bool seen[EVENTS];
	unsigned distinct = 0;

	memset(seen, 0, sizeof(seen));
	for (unsigned i = 0; i < got; i++) {
		distinct += !seen[replies[i].reply];
		seen[replies[i].reply] = true;
	}
	return distinct;
}

/* Duplicated replies are no evidence of loss. With duplicated requests whose replies all arrive, all are
 * counted. */
static void duplicates_are_exact(void **state)
{
	uint64_t duplicates[2] = { 0 }, backward[2] = { 0 };

	(void)state;
	for (int run = 0; run < 400; run++) {
		bool remote = run & 1;
		struct network n = { .clean_ends = true, .spares_doubles = true, .delay = 6 };
		uint32_t probes = 2 + 2 * n.delay + (uint32_t)util_below(DIRTY_MAX);
		struct directions d;
		unsigned distinct, probes_answered = 0;

		n.lost_forward = (unsigned)util_below(200);
		n.lost_backward = (unsigned)util_below(200);
		n.delayed_forward = n.delayed_backward = (unsigned)util_below(500);
		n.twice_forward = remote ? (unsigned)util_below(200) : 0;
		n.twice_backward = (unsigned)util_below(200);
		unsigned got = run_network(&n, probes, &d);
		struct directions t = truth(got, probes);

		assert_lost(&d, remote ? NULL : &t, probes);
		if (!d.reported || overtaken_unseen(&d))
			continue;
		distinct = distinct_replies(got);
		for (uint32_t probe = 0; probe < probes; probe++)
			probes_answered += answered[probe];
		assert_int_equal(d.duplicate_forward, distinct - probes_answered);
		assert_int_equal(d.duplicate_backward, got - distinct);
		duplicates[remote] += remote ? d.duplicate_forward : d.duplicate_backward;
		backward[remote] += d.duplicate_forward ? d.lost_backward : 0;
	}
	assert_true(duplicates[0] > 1000 && duplicates[1] > 1000);
	assert_int_equal(backward[0] + backward[1], 0);
}

/* Replies to duplicated requests are lost like others. */
static void no_direction_is_reported_more_than_it_lost(void **state)
{
	uint64_t forward = 0, unknown = 0, parted = 0, overtaken = 0, reported[2] = { 0 };

	(void)state;
	for (int run = 0; run < 5000; run++) {
		struct network n = { .clean_ends = true, .delay = 1 + (unsigned)util_below(5) };
		uint32_t probes = 2 + 2 * n.delay + (uint32_t)util_below(400);
		bool shuffled = util_below(2);
		struct directions d;

		n.lost_forward = (unsigned)util_below(200);
		n.lost_backward = (unsigned)util_below(200);
		n.delayed_forward = shuffled ? (unsigned)util_below(200) : 0;
		n.delayed_backward = util_below(2) ? (unsigned)util_below(200) : 0;
		n.twice_forward = (unsigned)util_below(util_below(4) ? 100 : 1000);
		n.restarts = shuffled || n.delayed_backward ? 0 : (unsigned)util_below(20);
		n.twice_backward = (unsigned)util_below(100);
		struct directions t = truth(run_network(&n, probes, &d), probes);

		assert_lost(&d, NULL, probes);
		if (!d.reported || !d.duplicate_forward || overtaken_unseen(&d)) {
			overtaken += overtaken_unseen(&d);
			continue;
		}
		assert_true(d.lost_forward <= t.lost_forward);
		assert_true(d.lost_backward <= t.lost_backward);
		reported[shuffled]++;
		parted += shuffled ? 0 : t.lost_forward;
		forward += shuffled ? 0 : d.lost_forward;
		unknown += d.lost_unknown;
	}
	/* Most forward losses are alone in their gap. */
	assert_true(reported[0] > 1000 && reported[1] > 1000 && unknown > 1000 && forward > parted / 2 &&
		    overtaken < 100);
}

static void losses_are_exact_between_restarts(void **state)
{
	uint64_t restarts = 0;

	(void)state;
	for (int run = 0; run < 200; run++) {
		struct network n = { .clean_ends = true, .restarts = 1 + (unsigned)util_below(20) };
		uint32_t probes = 2 + 2 * n.delay + (uint32_t)util_below(DIRTY_MAX);
		struct directions d;

		n.lost_forward = (unsigned)util_below(200);
		n.lost_backward = (unsigned)util_below(200);
		struct directions t = truth(run_network(&n, probes, &d), probes);

		assert_lost(&d, &t, probes);
		restarts += d.restarts;
	}
	assert_true(restarts > 1000);
}

/* With any events, and any peer, no probe is counted twice or left out. */
static void the_sum_is_always_right(void **state)
{
	(void)state;
	for (int run = 0; run < 1000; run++) {
		struct network n = { .delay = 1 + (unsigned)util_below(200), .clean_ends = util_below(2) };
		uint32_t probes = 1 + (uint32_t)util_below(500);
		struct directions d = { .stateful = util_below(2) };
		bool proven = false, hostile = util_below(3) == 0;

		n.lost_forward = (unsigned)util_below(500);
		n.lost_backward = (unsigned)util_below(500);
		n.delayed_forward = n.delayed_backward = (unsigned)util_below(1000);
		n.twice_forward = n.twice_backward = (unsigned)util_below(500);
		n.restarts = (unsigned)util_below(util_below(2) ? 20 : 1000);

		unsigned got = carry_backward(&n, carry_forward(&n, probes), probes);

		for (unsigned i = 0; hostile && i < got; i++)
			replies[i].reply = util_below(2) ? (uint32_t)util_random() : (uint32_t)util_below(1000);
		note_all(&d, got, &proven);
		directions_finish(&d, probes);
		assert_lost(&d, NULL, probes);
	}
}

/* ---- Directions: all that can happen to a few probes ------------------------------------------------------------- */

/* For each probe: a sign for each arrival at the reflector: that reply returned, or was lost. */
static const char *const fates[] = { "+", "", "-", "++", "+-", "-+", "--" };

enum { FATED = 6, PATTERNS = 7 * 7 * 7 * 7 * 7 * 7 };

struct fated {
	uint32_t probe, reply; /* the next numbers */
	bool doubled, sign; /* a request was duplicated; and the replies show it */
	uint64_t remote, back; /* lost */
	uint64_t gap_remote, gap_back; /* by the gaps, if nothing was duplicated */
	uint64_t probes, replies; /* missing in the gap so far */
	bool mixed; /* a gap lacks both */
};

static void end_gap(struct fated *f)
{
	f->sign |= f->replies > f->probes;
	f->mixed |= f->replies && f->probes;
	f->gap_remote += f->probes > f->replies ? f->probes - f->replies : 0;
	f->gap_back += f->probes < f->replies ? f->probes : f->replies;
	f->probes = f->replies = 0;
}

static void suffer(struct fated *f, struct directions *d, const char *fate)
{
	bool came = false;

	f->doubled |= strlen(fate) > 1;
	for (const char *copy = fate; *copy; copy++, f->reply++) {
		if (*copy == '-') {
			f->replies++;
			continue;
		}
		directions_note(d, f->probe, f->reply, came);
		if (came)
			f->sign = true;
		else
			end_gap(f);
		came = true;
	}
	f->remote += !came && !*fate;
	f->back += !came && *fate;
	f->probes += !came;
	f->probe++;
}

/* Between two probes to which nothing happens. */
static void every_pattern_of_lost_replies(void **state)
{
	unsigned signs = 0, doubled = 0;

	(void)state;
	for (unsigned pattern = 0; pattern < PATTERNS; pattern++) {
		struct directions d = { .stateful = true };
		struct fated f = { 0 };
		unsigned left = pattern;

		suffer(&f, &d, "+");
		for (int i = 0; i < FATED; i++, left /= COUNT_OF(fates))
			suffer(&f, &d, fates[left % COUNT_OF(fates)]);
		suffer(&f, &d, "+");
		directions_finish(&d, f.probe);
		assert_true(d.reported);
		assert_int_equal(d.lost_forward + d.lost_backward + d.lost_unknown, f.remote + f.back);
		assert_int_equal(d.lost_forward, f.gap_remote);
		assert_int_equal(d.lost_backward, f.sign ? 0 : f.gap_back);
		assert_true(d.lost_forward <= f.remote);
		/* Without a sign it is as if nothing had come twice. */
		assert_true(d.lost_backward <= f.back || (f.doubled && !f.sign));
		if (!f.doubled || !f.mixed)
			assert_int_equal(d.lost_forward, f.remote);
		if (!f.doubled)
			assert_int_equal(d.lost_backward, f.back);
		signs += f.sign;
		doubled += f.doubled;
	}
	assert_true(signs > PATTERNS / 2 && signs < doubled);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_64_behind_is_old_and_changes_nothing),
		cmocka_unit_test(moved_by_63_it_knows_the_last_and_by_64_none),
		cmocka_unit_test(random_numbers_against_a_model),
		cmocka_unit_test(losses_reported_by_hand),
		cmocka_unit_test(what_is_too_old_goes_by_its_probe), cmocka_unit_test(what_was_discarded_there),
		cmocka_unit_test(what_was_not_read_there), cmocka_unit_test(answers_without_a_session),
		cmocka_unit_test(what_contradicts_itself_is_unknown),
		cmocka_unit_test(losses_are_exact_without_disorder),
		cmocka_unit_test(losses_are_exact_in_any_order),
		cmocka_unit_test(duplicates_are_exact),
		cmocka_unit_test(no_direction_is_reported_more_than_it_lost),
		cmocka_unit_test(losses_are_exact_between_restarts),
		cmocka_unit_test(the_sum_is_always_right),
		cmocka_unit_test(every_pattern_of_lost_replies),
	};

	util_seed();
	return cmocka_run_group_tests_name("sequence", tests, NULL, NULL);
}
