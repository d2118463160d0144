/* build: sources=report/text/label.c,histogram.c,@result libs= */
// SPDX-License-Identifier: GPL-2.0-or-later
/* The writer of JSON: escapes, nesting, and errors that persist. */
#include "report/export/json.c"

#include <setjmp.h>
#include <stdlib.h>

#include <cmocka.h>

static char got[100000];
static size_t bytes_got, fails_after = SIZE_MAX;
static unsigned calls;

static int take(void *context, const char *from, size_t bytes)
{
	assert_ptr_equal(context, got);
	calls++;
	if (bytes_got + bytes > fails_after)
		return -ENOSPC;
	assert_true(bytes_got + bytes < sizeof(got));
	memcpy(got + bytes_got, from, bytes);
	got[bytes_got += bytes] = 0;
	return 0;
}

static struct json j;

static void begin(bool in_a_line)
{
	bytes_got = calls = 0;
	fails_after = SIZE_MAX;
	*got = 0;
	json_begin(&j, take, got, in_a_line);
}

static void assert_text(const char *text, const char *want)
{
	begin(true);
	json_text(&j, NULL, text);
	assert_int_equal(json_finish(&j), 0);
	assert_string_equal(got, want);
}

static void escapes(void **state)
{
	(void)state;
	assert_text("", "\"\"\n");
	assert_text("a\"b\\c/", "\"a\\\"b\\\\c/\"\n");
	assert_text("\n\t\x01\x1f\x7f", "\"\\u000a\\u0009\\u0001\\u001f\x7f\"\n");
	assert_text("\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80", "\"\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80\"\n");
	assert_text(NULL, "null\n");
}

#define FFFD "\xef\xbf\xbd"

static void what_is_no_utf8_is_replaced(void **state)
{
	(void)state;
	assert_text("a\xff", "\"a" FFFD "\"\n");
	assert_text("\x80z", "\"" FFFD "z\"\n");
	assert_text("\xc3", "\"" FFFD "\"\n"); /* cut off: octets behind the end are not read */
	assert_text("\xe2\x82", "\"" FFFD FFFD "\"\n");
	assert_text("\xf0\x9f\x98", "\"" FFFD FFFD FFFD "\"\n");
	assert_text("\xc0\xaf", "\"" FFFD FFFD "\"\n"); /* longer than it must be */
	assert_text("\xe0\x80\xaf", "\"" FFFD FFFD FFFD "\"\n");
	assert_text("\xed\xa0\x80", "\"" FFFD FFFD FFFD "\"\n"); /* a surrogate */
	assert_text("\xed\x9f\xbf", "\"\xed\x9f\xbf\"\n");
	assert_text("\xf4\x90\x80\x80", "\"" FFFD FFFD FFFD FFFD "\"\n"); /* beyond U+10FFFF */
	assert_text("\xf4\x8f\xbf\xbf", "\"\xf4\x8f\xbf\xbf\"\n");
	assert_text("\xf5\x80", "\"" FFFD FFFD "\"\n");
	assert_text("\xc3(", "\"" FFFD "(\"\n");
}

static void nesting(void **state)
{
	(void)state;
	begin(false);
	json_object(&j, NULL);
	json_object(&j, "empty");
	json_end(&j);
	json_array(&j, "list");
	json_integer(&j, NULL, -1);
	json_pair(&j, NULL);
	json_count(&j, NULL, 1);
	json_object(&j, NULL);
	json_bool(&j, "deep", true);
	json_end(&j);
	json_end(&j);
	json_end(&j);
	json_null(&j, "last");
	json_end(&j);
	assert_int_equal(json_finish(&j), 0);
	assert_string_equal(got,
			    "{\n\t\"empty\": {},\n\t\"list\": [\n\t\t-1,\n\t\t[1,{\"deep\":true}]\n\t],\n\t\"last\": "
			    "null\n}\n");
}

/* Long lists, each element in a line of its own, and written at once. */
static void rows(void **state)
{
	(void)state;
	begin(false);
	json_object(&j, NULL);
	json_array(&j, "list");
	for (int i = 0; i < 2; i++) {
		json_row(&j, NULL);
		json_integer(&j, "a", i);
		json_pair(&j, "b");
		json_end(&j);
		json_end(&j);
		json_flush(&j);
		assert_int_equal(calls, i + 1);
		assert_string_equal(strrchr(got, '\n'), i ? "\n\t\t{\"a\":1,\"b\":[]}" : "\n\t\t{\"a\":0,\"b\":[]}");
	}
	json_end(&j);
	json_null(&j, "last");
	json_end(&j);
	assert_int_equal(json_finish(&j), 0);
	assert_string_equal(got,
			    "{\n\t\"list\": [\n\t\t{\"a\":0,\"b\":[]},\n\t\t{\"a\":1,\"b\":[]}\n\t],\n\t\"last\": "
			    "null\n}\n");
}

static void in_a_line_each(void **state)
{
	(void)state;
	begin(true);
	for (int i = 0; i < 2; i++) {
		json_object(&j, NULL);
		json_array(&j, "a");
		json_integer(&j, NULL, i);
		json_integer(&j, NULL, i);
		json_end(&j);
		json_bool(&j, "b", false);
		json_end(&j);
	}
	assert_int_equal(json_finish(&j), 0);
	assert_string_equal(got, "{\"a\":[0,0],\"b\":false}\n{\"a\":[1,1],\"b\":false}\n");
}

static void numbers(void **state)
{
	(void)state;
	begin(true);
	json_array(&j, NULL);
	json_integer(&j, NULL, INT64_MIN);
	json_integer(&j, NULL, INT64_MAX);
	json_integer(&j, NULL, 0);
	json_count(&j, NULL, UINT64_MAX);
	json_real(&j, NULL, 1.0 / 3, 3);
	json_real(&j, NULL, -2.5e-9, 1);
	json_real(&j, NULL, NAN, 3);
	json_real(&j, NULL, INFINITY, 3);
	json_real(&j, NULL, -INFINITY, 0);
	json_real(&j, NULL, 1e21, 0);
	json_end(&j);
	assert_int_equal(json_finish(&j), 0);
	assert_string_equal(got,
			    "[-9223372036854775808,9223372036854775807,0,18446744073709551615,0.333,-0.0,null,null,null,"
				 "1000000000000000000000]\n");
	begin(true);
	json_real(&j, NULL, -1.7976931348623157e308, 6);
	assert_int_equal(json_finish(&j), 0);
	assert_int_equal(strlen(got), 1 + 309 + 1 + 6 + 1);
}

/* Longer than a block, so that the text is written in parts. */
static void long_texts(void **state)
{
	static char text[3 * JSON_BLOCK_BYTES];

	(void)state;
	memset(text, 'x', sizeof(text) - 1);
	begin(true);
	json_text(&j, NULL, text);
	assert_int_equal(json_finish(&j), 0);
	assert_int_equal(bytes_got, sizeof(text) - 1 + 3);
	assert_int_equal(calls, 4);
	assert_int_equal(strspn(got + 1, "x"), sizeof(text) - 1);
}

static void an_error_stays(void **state)
{
	static char text[JSON_BLOCK_BYTES];
	unsigned after;

	(void)state;
	memset(text, 'x', sizeof(text) - 1);
	begin(true);
	fails_after = JSON_BLOCK_BYTES;
	json_array(&j, NULL);
	json_text(&j, NULL, text);
	json_text(&j, NULL, text);
	after = calls;
	fails_after = SIZE_MAX; /* there is space again: the part in between is missing all the same */
	json_text(&j, NULL, text);
	json_end(&j);
	assert_int_equal(json_finish(&j), -ENOSPC);
	assert_int_equal(calls, after);
	assert_int_equal(bytes_got, JSON_BLOCK_BYTES);
}

static void what_is_not_valid_is_an_error(void **state)
{
	(void)state;
	begin(true);
	json_object(&j, NULL);
	assert_int_equal(json_finish(&j), -EINVAL); /* not ended */
	begin(true);
	json_end(&j);
	assert_int_equal(json_finish(&j), -EINVAL);
	begin(true);
	json_object(&j, NULL);
	json_integer(&j, NULL, 1); /* without a name */
	json_end(&j);
	assert_int_equal(json_finish(&j), -EINVAL);
	begin(true);
	json_array(&j, NULL);
	json_integer(&j, "name", 1);
	json_end(&j);
	assert_int_equal(json_finish(&j), -EINVAL);
	begin(true);
	for (int i = 0; i <= JSON_DEPTH; i++)
		json_array(&j, NULL);
	for (int i = 0; i < JSON_DEPTH; i++)
		json_end(&j);
	assert_int_equal(json_finish(&j), -EINVAL);
}

static void names_of_labels(void **state)
{
	char name[40], small[8];

	(void)state;
	assert_string_equal(json_name(name, sizeof(name), "App-to-NIC", "_ns"), "app_to_nic_ns");
	assert_string_equal(json_name(name, sizeof(name), "Forward, variation", "_ns"), "forward_variation_ns");
	assert_string_equal(json_name(name, sizeof(name), "T1_HW", "_ns"), "t1_hw_ns");
	assert_string_equal(json_name(name, sizeof(name), "Bad TLVs", ""), "bad_tlvs");
	assert_string_equal(json_name(name, sizeof(name), " (x) ", ""), "x");
	assert_string_equal(json_name(small, sizeof(small), "long label", "_ns"), "long_la");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(escapes),
		cmocka_unit_test(what_is_no_utf8_is_replaced),
		cmocka_unit_test(nesting),
		cmocka_unit_test(rows),
		cmocka_unit_test(in_a_line_each),
		cmocka_unit_test(numbers),
		cmocka_unit_test(long_texts),
		cmocka_unit_test(an_error_stays),
		cmocka_unit_test(what_is_not_valid_is_an_error),
		cmocka_unit_test(names_of_labels),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
