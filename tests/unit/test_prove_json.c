// SPDX-License-Identifier: GPL-2.0-or-later
/* build: wraps= sources=report/export/json.c,report/text/label.c,result/stages.c libs= */
/* prove_json.c: each member, known and not known. */
#include "analyse/prove_json.c"

#include "golden.h"

void json_origin(struct json *j)
{
	json_text(j, "format", "rant");
}

static int collect(void *context, const char *from, size_t bytes)
{
	strncat(context, from, bytes);
	return 0;
}

static char text[16384];

static void make(const struct prove_results *r)
{
	static struct json j;

	*text = '\0';
	json_begin(&j, collect, text, false);
	prove_write_json(&j, r);
	assert_int_equal(json_finish(&j), 0);
}

static void all_is_known(void **state)
{
	(void)state;
	make(&(struct prove_results){ .interface = "eth0", .server = "192.0.2.1", .transport = "udp", .speed_mbps = 1000,
		.sizes = { .bytes = { 112, 1400 }, .median_ns = { { { true, 1 }, { true, 2 }, { true, 3 } }, { { true, 4 } } },
			   .slope = { { true, 16.0004, 0.01 }, { true, -0.5, 0.25 }, { true, 16, 0 } } },
		.rate = { .end = RATE_MISSING, .complete_per_s = 10000, .next_per_s = 20000, .missing = 7 },
		.kind = { { .name = "STAMP in UDP", .granted = "all", .tried = true, .sent = 1, .transmit_stamps = 2,
			    .replies = 3, .receive_stamps = 4 } },
		.filter = { { .name = "ptpv2-sync", .granted = "ptpv2-event", .tried = true, .sent = 20, .transmit_stamps = 20,
			      .replies = 20 }, { .name = "ntp-all", .tried = true, .why = "refuses \"it\"" } },
		.filters = 2, .verdict = PROVE_WIRE, .text = "timestamps are of the wire" });
	golden("%s", text);
}

static void nothing_is_known(void **state)
{
	(void)state;
	make(&(struct prove_results){ .interface = "eth0", .transport = "l2", .verdict = PROVE_UNKNOWN, .text = "not known" });
	golden("%s", text);
}

static void each_end_of_the_rate_has_a_word(void **state)
{
	static const char *const words[] = { [RATE_HIGHEST] = "\"highest\"", [RATE_MISSING] = "\"missing\"", [RATE_LOST] = "\"lost\"",
					     [RATE_FAILED] = "\"failed\"" };
	char line[32];

	(void)state;
	for (enum prove_rate_end i = RATE_HIGHEST; i <= RATE_FAILED; i++) {
		make(&(struct prove_results){ .rate = { .end = i } });
		snprintf(line, sizeof(line), "\"end\": %s,\n", words[i]);
		assert_non_null(strstr(text, line));
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_is_known),
		cmocka_unit_test(nothing_is_known),
		cmocka_unit_test(each_end_of_the_rate_has_a_word),
	};

	return golden_run(tests);
}
