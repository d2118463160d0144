/* build: sources=report/headline.c,report/buckets.c,report/verdict_finding.c,report/log_file.c,report/log_mend.c,report/account.c,report/breach.c,report/clocks.c,report/clocks_there.c,report/echo.c,report/evidence.c,report/label.c,report/machine.c,host/place.c,report/part.c,report/statistics.c,report/variation.c,report/report.c,histogram.c,tracefs.c,host/trace_*.c,measure/[a-z]*.c,host/memory.c,wire/[a-z]*.c,host/activity*.c,host/clock*.c,host/nic*.c,host/pm*.c libs=-lm */
// SPDX-License-Identifier: GPL-2.0-or-later
/* The table of source ports: golden text, with numbers by hand. */
#include "report/source_ports.c"

#include "fake_report.h"

#define HEADER "  Port     Samples     Lost   There    Back     Median       99th        Max\n"
#define END "  Median and 99th within 1.6 %\n"

static struct source_port port[3];
static struct lane lane[3];

/* Three ports: round trips of 10, 12 (whose step begins at 11.904) and 20 us by the first; 11 us by the second, which lost two of three; none by the third. */
static void three_ports(void)
{
	static const int64_t us[] = { 10, 12, 20 };

	memset(port, 0, sizeof(port));
	for (unsigned i = 0; i < COUNT_OF(port); i++)
		lane[i].own_port = (uint16_t)(40000 + i);
	for (size_t i = 0; i < COUNT_OF(us); i++)
		variation_count(&port[0].rtt, (uint64_t)(us[i] * NS_PER_US));
	variation_count(&port[1].rtt, 11 * NS_PER_US);
	port[0].sent = port[1].sent = 3;
	port[1].lost = 2;
	options.role = ROLE_EMIT;
	exchange.port = port;
	exchange.ports = COUNT_OF(port);
	channel.port = lane;
	channel.ports = COUNT_OF(lane);
}

static void by_the_round_trip(void **state)
{
	(void)state;
	three_ports();
	assert_section("\nSource ports (us, of the round trip):\n",
		       HEADER
		       "  40000          3        0       -       -     11.904     20.000     20.000\n"
		       "  40001          1        2       -       -     11.000     11.000     11.000 *\n"
		       "  40002          0        0       -       -          -          -          -\n"
		       "  * the worst: the largest share of its probes was lost\n" END);
}

/* One is enough; and the worst is the one whose network is slow, not its round trip. */
static void by_the_network(void **state)
{
	(void)state;
	three_ports();
	port[1].lost = 0;
	variation_count(&port[0].network, 5 * NS_PER_US);
	variation_count(&port[1].network, 9 * NS_PER_US);
	port[0].directions = (struct directions){ .told = true, .lost_forward = 1, .lost_backward = 2 };
	assert_section("\nSource ports (us, of the network: RTT - response):\n",
		       HEADER
		       "  40000          3        0       1       2      5.000      5.000      5.000\n"
		       "  40001          1        0       -       -      9.000      9.000      9.000 *\n"
		       "  40002          0        0       -       -          -          -          -\n"
		       "  * the worst: its 99th percentile is the highest\n" END);
}

static void refused_sends(void **state)
{
	(void)state;
	three_ports();
	port[2].refused = 17;
	assert_section("  * the worst: the largest share of its probes was lost\n", END "  Port 40002: 17 sends were refused by the kernel\n");
}

static void nothing_was_sent(void **state)
{
	(void)state;
	three_ports();
	memset(port, 0, sizeof(port));
	assert_no(written(0), "the worst");
	exchange.port = NULL;
	exchange.ports = 0;
	assert_no(written(0), "Source ports");
}

#define ENDED(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ENDED(by_the_round_trip),
		ENDED(by_the_network),
		ENDED(refused_sends),
		ENDED(nothing_was_sent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
