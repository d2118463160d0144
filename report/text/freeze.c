// SPDX-License-Identifier: GPL-2.0-or-later
/* Text about freezing the traces of both hosts. */
#include "report/text/freeze.h"

#include "options.h"
#include "report/text/label.h"
#include "report/text/report.h"
#include "result/causes.h"
#include "result/result.h"

#include <inttypes.h>

#define add(...) text_add(text, bytes, __VA_ARGS__)

bool freeze_is_shown(const struct report *r)
{
	const struct result_freeze *z = &r->result->freeze;

	return z->first.outcome || counter_get(&z->asked) || counter_get(&z->announced);
}

static void add_holds(char *text, size_t bytes, const struct freeze_first *first)
{
	if (first->holds.known && first->holds.value)
		add("; the buffer has the packet");
	if (first->holds.known && !first->holds.value)
		add("; the buffer no longer had the packet: make it larger");
}

static void add_count(char *text, size_t bytes, const char *name, uint64_t count)
{
	if (count)
		add("; %s %" PRIu64, name, count);
}

/* The reason why the reflector did not freeze, and the remedy. */
static void add_refusal(char *text, size_t bytes, const struct result_freeze *z)
{
	const struct freeze_first *first = &z->first;

	switch (first->outcome) {
	case FREEZE_CONFIRMED:
		if (!first->peer_ns.known)
			add("; the peer froze, too");
		break;
	case FREEZE_MARKED:
		add("; the peer marked it, but froze no trace: start it with -T");
		break;
	case FREEZE_DENIED:
		add("; the peer refused: see its --allow-freeze and --trace-interval");
		break;
	case FREEZE_TAKEN:
		add("; the peer's trace was frozen at another breach: see its --trace-rearm");
		break;
	default:
		if (z->peer_supports)
			add("; the peer did not confirm (%" PRIu32 " probes asked)", first->probes);
		else
			add("; the peer does not know the request (%" PRIu32 " probes asked)", first->probes);
	}
}

static void say_emitter(char *text, size_t bytes, const struct result_freeze *z)
{
	const struct freeze_first *first = &z->first;
	const bool of_peer = first->outcome == FREEZE_BY_PEER;

	const bool peer = !of_peer && first->peer_ns.known;

	if (first->own_ns.known)
		add("this host %.1f us%s", label_us(first->own_ns.value), peer ? " and " : "");
	if (peer)
		add("the peer at most %.1f us", label_us(first->peer_ns.value));
	add("%s", first->own_ns.known || peer ? " after " : "");
	add("%sbreach #%" PRIu32 " was %s", of_peer ? "the reflector's " : "", first->seq, of_peer ? "reported" : "seen");
	if (of_peer && first->peer_ns.known)
		add(", %.1f us after it was seen there", label_us(first->peer_ns.value));
	if (!first->own_ns.known)
		add("; this host froze no trace");
	add_holds(text, bytes, first);
	if (!of_peer)
		add_refusal(text, bytes, z);
	if (counter_get(&z->asked) > 1)
		add("; %" PRIu64 " of %" PRIu64 " requests confirmed", counter_get(&z->confirmed),
		    counter_get(&z->asked));
	add_count(text, bytes, "not requested", counter_get(&z->left_out));
}

static void say_reflector(char *text, size_t bytes, const struct report *r)
{
	const struct result_freeze *z = &r->result->freeze;
	const struct freeze_first *first = &z->first;
	const uint64_t refused = counter_get(&z->refused);

	if (first->outcome) {
		add("on request of %s, breach #%" PRIu32, *z->emitter_name ? z->emitter_name : "an emitter", first->seq);
		if (first->own_ns.known)
			add(", %.1f us after the request was read", label_us(first->own_ns.value));
		else
			add(", marked without a trace");
		if (first->peer_ns.known)
			add(", which was sent %.1f us after the breach", label_us(first->peer_ns.value));
		add_holds(text, bytes, first);
	} else {
		add("not on request of an emitter");
	}
	add_count(text, bytes, "refused", refused);
	if (refused && !r->options->allow_freeze)
		add(": --allow-freeze allows it");
	add_count(text, bytes, "refused while frozen at another breach", counter_get(&z->occupied));
	add_count(text, bytes, "own breaches reported", counter_get(&z->announced));
}

void freeze_say(char *text, size_t bytes, const struct report *r)
{
	add("Frozen: ");
	if (r->options->role == ROLE_EMIT)
		say_emitter(text, bytes, &r->result->freeze);
	else
		say_reflector(text, bytes, r);
}

static void add_cause(char *text, size_t bytes, const struct freeze_cause *c)
{
	add("Remote %s %.1f us: %s", freeze_stages[c->stage].text, label_us(c->stage_ns), cause_words[c->class].text);
	if (*c->name)
		add(" %s", c->name);
	if (c->cpu.known)
		add(" on its CPU %" PRId64, c->cpu.value);
	if (c->ns)
		add(", %.1f us", label_us(c->ns));
	if (c->percent)
		add(", %d %% of the excess", c->percent);
}

bool freeze_say_cause(char *text, size_t bytes, const struct report *r)
{
	static const char *const reasons[FREEZE_CAUSE_STATES] = {
		[FREEZE_CAUSE_NONE] = "the peer reports no causes",
		[FREEZE_CAUSE_PENDING] = "the peer had not explained its trace within 1 s after the run",
		[FREEZE_CAUSE_NO_TRACE] = "the peer saved no trace: start it with --save-trace",
		[FREEZE_CAUSE_NOT_EXPLAINED] = "the peer could not explain its trace: see its report",
		[FREEZE_CAUSE_REFUSED] = "the peer refused: see its --allow-freeze",
		[FREEZE_CAUSE_INVALID] = "the answer of the peer is not valid",
	};
	const struct freeze_first *first = &r->result->freeze.first;

	if (r->options->role != ROLE_EMIT || (first->outcome != FREEZE_CONFIRMED && first->outcome != FREEZE_BY_PEER))
		return false;
	if (first->cause.state == FREEZE_CAUSE_KNOWN)
		add_cause(text, bytes, &first->cause);
	else
		add("Remote cause: not known: %s", reasons[first->cause.state]);
	return true;
}
