/* build: wraps= sources=report/text/label.c,@result,histogram.c libs=-lm */
// SPDX-License-Identifier: GPL-2.0-or-later
/* The sentence about freezing the traces of both hosts. */
#include "report/text/freeze.c"

#include "util.h"

static struct options options;
static struct result result = { .options = &options };
static const struct report report = { .options = &options, .result = &result };

static void assert_says(const char *expected)
{
	char text[FREEZE_TEXT_BYTES] = "";

	assert_true(freeze_is_shown(&report));
	freeze_say(text, sizeof(text), &report);
	assert_string_equal(text, expected);
}

static struct freeze_first *begin(enum role role, enum freeze_outcome outcome)
{
	memset(&result.freeze, 0, sizeof(result.freeze));
	options.role = role;
	options.allow_freeze = false;
	result.freeze.asked = 1;
	result.freeze.first = (struct freeze_first){ .outcome = outcome, .seq = 4711, .own_ns = optional_of(3100),
						     .probes = 12 };
	return &result.freeze.first;
}

static void an_emitter(void **state)
{
	struct freeze_first *f;

	(void)state;
	memset(&result.freeze, 0, sizeof(result.freeze));
	assert_false(freeze_is_shown(&report));
	f = begin(ROLE_EMIT, FREEZE_CONFIRMED);
	f->peer_ns = optional_of(214000);
	f->holds = optional_of(true);
	assert_says("Frozen: this host 3.1 us and the peer at most 214.0 us after breach #4711 was seen; the buffer has the "
		    "packet");
	f->holds = optional_of(false);
	result.freeze.left_out = 5;
	assert_says("Frozen: this host 3.1 us and the peer at most 214.0 us after breach #4711 was seen; the buffer no "
		    "longer had the packet: make it larger; not requested 5");
	result.freeze.left_out = 0;
	f->holds = (struct optional){ .known = false };
	result.freeze.asked = 7;
	result.freeze.confirmed = 6;
	assert_says("Frozen: this host 3.1 us and the peer at most 214.0 us after breach #4711 was seen; 6 of 7 requests "
		    "confirmed");
	begin(ROLE_EMIT, FREEZE_CONFIRMED)->own_ns = (struct optional){ .known = false };
	assert_says("Frozen: breach #4711 was seen; this host froze no trace; the peer froze, too");
	begin(ROLE_EMIT, FREEZE_DENIED);
	assert_says("Frozen: this host 3.1 us after breach #4711 was seen; the peer refused: see its --allow-freeze and "
		    "--trace-interval");
	begin(ROLE_EMIT, FREEZE_TAKEN);
	assert_says("Frozen: this host 3.1 us after breach #4711 was seen; the peer's trace was frozen at another breach: "
		    "see its --trace-rearm");
	begin(ROLE_EMIT, FREEZE_MARKED);
	assert_says("Frozen: this host 3.1 us after breach #4711 was seen; the peer marked it, but froze no trace: start it "
		    "with -T");
	begin(ROLE_EMIT, FREEZE_UNCONFIRMED);
	assert_says("Frozen: this host 3.1 us after breach #4711 was seen; the peer does not know the request (12 probes "
		    "asked)");
	result.freeze.peer_supports = true;
	assert_says("Frozen: this host 3.1 us after breach #4711 was seen; the peer did not confirm (12 probes asked)");
	begin(ROLE_EMIT, FREEZE_BY_PEER)->peer_ns = optional_of(40000);
	assert_says("Frozen: this host 3.1 us after the reflector's breach #4711 was reported, 40.0 us after it was seen "
		    "there");
}

static void assert_says_cause(const struct freeze_cause *c, const char *expected)
{
	char text[FREEZE_CAUSE_TEXT_BYTES] = "";

	begin(ROLE_EMIT, FREEZE_CONFIRMED)->cause = *c;
	assert_true(freeze_say_cause(text, sizeof(text), &report));
	assert_string_equal(text, expected);
}

static void the_cause_at_the_reflector(void **state)
{
	char text[FREEZE_CAUSE_TEXT_BYTES] = "";

	(void)state;
	assert_says_cause(&(struct freeze_cause){ .state = FREEZE_CAUSE_KNOWN, .class = OWNER_SOFTIRQ, .stage = 1,
						  .percent = 97, .cpu = { true, 1 }, .stage_ns = 512000, .ns = 498200,
						  .name = "TIMER" },
			  "Remote NIC-to-kernel 512.0 us: softirq TIMER on its CPU 1, 498.2 us, 97 % of the excess");
	assert_says_cause(&(struct freeze_cause){ .state = FREEZE_CAUSE_KNOWN, .class = CAUSE_NONE,
						  .stage_ns = 3100 },
			  "Remote NIC-to-app 3.1 us: not late");
	assert_says_cause(&(struct freeze_cause){ .state = FREEZE_CAUSE_NONE },
			  "Remote cause: not known: the peer reports no causes");
	assert_says_cause(&(struct freeze_cause){ .state = FREEZE_CAUSE_NO_TRACE },
			  "Remote cause: not known: the peer saved no trace: start it with --save-trace");
	for (enum freeze_outcome i = FREEZE_NONE; i < FREEZE_OUTCOMES; i++) {
		begin(ROLE_EMIT, i);
		assert_int_equal(freeze_say_cause(text, sizeof(text), &report), i == FREEZE_CONFIRMED || i == FREEZE_BY_PEER);
	}
	begin(ROLE_REFLECT, FREEZE_CONFIRMED);
	assert_false(freeze_say_cause(text, sizeof(text), &report));
}

static void a_reflector(void **state)
{
	struct freeze_first *f = begin(ROLE_REFLECT, FREEZE_CONFIRMED);

	(void)state;
	f->peer_ns = optional_of(214000);
	strcpy(result.freeze.emitter_name, "192.0.2.1");
	options.allow_freeze = true;
	result.freeze.refused = 3;
	result.freeze.occupied = 2;
	assert_says("Frozen: on request of 192.0.2.1, breach #4711, 3.1 us after the request was read, which was sent "
		    "214.0 us after the breach; refused 3; refused while frozen at another breach 2");
	f = begin(ROLE_REFLECT, FREEZE_MARKED);
	f->own_ns = (struct optional){ .known = false };
	assert_says("Frozen: on request of an emitter, breach #4711, marked without a trace");
	begin(ROLE_REFLECT, FREEZE_NONE);
	result.freeze.refused = 1;
	assert_says("Frozen: not on request of an emitter; refused 1: --allow-freeze allows it");
	begin(ROLE_REFLECT, FREEZE_NONE);
	result.freeze.announced = 2;
	assert_says("Frozen: not on request of an emitter; own breaches reported 2");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_emitter),
		cmocka_unit_test(the_cause_at_the_reflector), cmocka_unit_test(a_reflector),
	};

	return cmocka_run_group_tests_name("report_freeze", tests, NULL, NULL);
}
