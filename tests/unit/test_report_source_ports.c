/* build: sources=@report libs=-lm */
// SPDX-License-Identifier: GPL-2.0-or-later
/* The table of source ports: golden text, with numbers by hand. */
#include "report/text/source_ports.c"

#include "fake_report.h"

static struct source_port port[3];
static struct result_port after[3];

static void show(void)
{
	result.ports_by_network = source_ports_result(after, port, COUNT_OF(port));
	show_report();
}

/* Three ports: round trips of 10, 12 (whose step begins at 11.904) and 20 us by the first; 11 us by the second, which
 * lost two of three; none by the third. */
static void three_ports(void)
{
	static const int64_t us[] = { 10, 12, 20 };

	memset(port, 0, sizeof(port));
	for (unsigned i = 0; i < COUNT_OF(port); i++)
		port[i].number = (uint16_t)(40000 + i);
	for (size_t i = 0; i < COUNT_OF(us); i++)
		ipdv_count(&port[0].rtt, (uint64_t)(us[i] * NS_PER_US));
	ipdv_count(&port[1].rtt, 11 * NS_PER_US);
	port[0].sent = port[1].sent = 3;
	port[1].lost = 2;
	options.role = ROLE_EMIT;
	result.port = after;
	result.ports = COUNT_OF(port);
	result.strays = (struct optional){ .known = false };
}

static void by_the_round_trip(void **state)
{
	(void)state;
	three_ports();
	show();
	port[0].lost = 9;
	port[0].sent = 12;
	show();
}

/* One is enough; and the worst is the port with the slow network, not with the slow round trip. */
static void by_the_network(void **state)
{
	(void)state;
	three_ports();
	port[1].lost = 0;
	ipdv_count(&port[0].network, 5 * NS_PER_US);
	ipdv_count(&port[1].network, 9 * NS_PER_US);
	port[0].directions = (struct directions){ .reported = true, .lost_forward = 1, .lost_backward = 2 };
	show();
}

static void refused_sends(void **state)
{
	(void)state;
	three_ports();
	port[2].refused = 17;
	show();
}

static void nothing_was_sent(void **state)
{
	(void)state;
	three_ports();
	for (unsigned i = 0; i < COUNT_OF(port); i++)
		port[i] = (struct source_port){ .number = port[i].number };
	show();
	result.ports = 0;
	result.strays = optional_of(0);
	show();
}

#define ENDED(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_report_of_an_empty_run),
		ENDED(by_the_round_trip),
		ENDED(by_the_network),
		ENDED(refused_sends),
		ENDED(nothing_was_sent),
	};

	return golden_run(tests);
}
