// SPDX-License-Identifier: GPL-2.0-or-later
/* build: wraps= sources=options.c,options/[a-mo-z]*.c libs= */
/* Numbers on the command line: the ends of each range, and random texts against a slow second parser. */
#include "options/number.c"

#include "options_bench.h"

#include <inttypes.h>
#include <regex.h>

#define NUMBER_TEXT_MAX 64

/* The smallest difference between two arguments, in the stored unit. */
static int64_t step_of(const struct option_row *row)
{
	int64_t step = row->unit_size;

	for (int i = 0; i < row->decimals; i++) {
		assert_int_equal(step % 10, 0);
		step /= 10;
	}
	return step;
}

static void write_number(char *text, const struct option_row *row, int64_t value)
{
	int64_t size = value < 0 ? -value : value;
	int length = snprintf(text, NUMBER_TEXT_MAX, "%s%" PRId64, value < 0 ? "-" : "", size / row->unit_size);

	if (row->decimals)
		snprintf(text + length, NUMBER_TEXT_MAX - (size_t)length, ".%0*" PRId64, row->decimals,
			 size % row->unit_size / step_of(row));
}

/* The other options keep the rules between options at a boundary. */
static void assert_boundary(const struct option_row *row, int64_t value, bool good_value)
{
	char name[NUMBER_TEXT_MAX], text[NUMBER_TEXT_MAX];
	const char *role = strstr(row->help, "reflector: ") ? NULL :
			   strcmp(row->name, "once-silence") ? "--address=127.0.0.1" : "--once";
	const bool ptp = !strcmp(row->name, "ptp-domain"), seed = !strcmp(row->name, "seed"),
			 chance = seed || !strcmp(row->name, "jitter");
	const char *const args[ARGS] = { E, "-b", "0.001", "-o", "10000000", "-l", "f", name, text, role,
					 ptp ? "--transport=ptp" : chance ? "--interval=10" :
					 !strcmp(row->name, "stamp-every") ? "--window=9" : NULL,
						 seed ? "--poisson" : NULL };
	const char *const words[WORDS] = { name, "is out of range: give ", phrase_allowed(row).text };
	struct options o;

	snprintf(name, sizeof(name), "--%s", row->name);
	write_number(text, row, value);
	if (!good_value) {
		assert_refused(args, words, 2);
		return;
	}
	if (parse(&o, args))
		print_args(args);
	if ((row->bare_min && value < row->bare_min) || (row->bare_max && value > row->bare_max))
		assert_non_null(strstr(said, "write the unit"));
	else
		assert_string_equal(said, "");
	assert_int_equal(*(int64_t *)((char *)&o + row->offset), value);
}

static void test_boundaries(void **state)
{
	int numbers = 0;

	(void)state;
	for (const struct option_row *row = option_table; row < option_table + option_rows; row++) {
		if (row->kind != KIND_NUMBER)
			continue;
		numbers++;
		assert_true(row->min < row->max);
		assert_boundary(row, row->min, true);
		if (!row->zero || row->min != step_of(row))
			assert_boundary(row, row->min - step_of(row), false);
		assert_boundary(row, row->max, true);
		assert_boundary(row, row->max + step_of(row), false);
	}
	assert_int_equal(numbers, 33);
}

static uint64_t random_state;

static uint64_t random_below(uint64_t limit)
{
	uint64_t z = random_state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return (z ^ (z >> 31)) % limit;
}

static char random_of(const char *alphabet)
{
	return alphabet[random_below(strlen(alphabet))];
}

static void random_digits(char *text, size_t most)
{
	size_t length = random_below(most + 1);

	text += strlen(text);
	while (length--)
		*text++ = random_of("0123456789");
	*text = '\0';
}

static void random_text(char *text, const struct option_row *row)
{
	int64_t edge = random_below(2) ? row->min : row->max;
	size_t length;

	*text = '\0';
	switch (random_below(4)) {
	case 0: /* characters of numbers, and some others */
		length = random_below(8);
		for (size_t i = 0; i < length; i++)
			text[i] = random_of("0123456789..-+eExX ,\t\n_");
		text[length] = '\0';
		break;
	case 1: /* a number, often with too many digits */
		random_digits(text, 22);
		if (random_below(2)) {
			strcat(text, ".");
			random_digits(text, 5);
		}
		break;
	case 2: /* near an end of the range */
		write_number(text, row, edge + (int64_t)(random_below(7) - 3) * step_of(row));
		break;
	case 3: /* an end of the range with one character replaced */
		write_number(text, row, edge);
		text[random_below(strlen(text))] = random_of("0123456789.-+eExX ");
		break;
	}
}

static int compare_digits(const char *a, const char *b)
{
	a += strspn(a, "0");
	b += strspn(b, "0");
	return strlen(a) != strlen(b) ? (strlen(a) > strlen(b)) - (strlen(a) < strlen(b)) : strcmp(a, b);
}

/* A second parser: a regular expression, and numbers compared as strings of digits. */
static enum number oracle(const regex_t *number, const struct option_row *row, const char *text, int64_t *value)
{
	char digits[2 * NUMBER_TEXT_MAX], min[NUMBER_TEXT_MAX], max[NUMBER_TEXT_MAX];
	const char *point = strchr(text, '.');
	int places = point ? (int)strlen(point + 1) : 0;

	if (regexec(number, text, 0, NULL, 0))
		return NUMBER_MALFORMED;
	if (places > row->decimals)
		return NUMBER_TOO_FINE;
	if (*text == '-')
		return NUMBER_OUT_OF_RANGE;
	snprintf(digits, sizeof(digits), "%.*s%s%.*s", (int)strcspn(text, "."), text, point ? point + 1 : "",
		 row->decimals - places, "000000");
	snprintf(min, sizeof(min), "%" PRId64, row->min / step_of(row));
	snprintf(max, sizeof(max), "%" PRId64, row->max / step_of(row));
	if (compare_digits(digits, min) < 0 || compare_digits(digits, max) > 0)
		return NUMBER_OUT_OF_RANGE;
	*value = strtoll(digits, NULL, 10) * step_of(row);
	return NUMBER_GOOD;
}

static void test_numbers_against_oracle(void **state)
{
	const char *seed = getenv("SEED");
	uint64_t verdicts[4] = { 0 };
	regex_t number;

	(void)state;
	random_state = seed ? strtoull(seed, NULL, 0) : (uint64_t)clock_read_ns(CLOCK_REALTIME);
	print_message("SEED=%" PRIu64 "\n", random_state);
	assert_int_equal(regcomp(&number, "^-?([0-9]*[.])?[0-9]+$", REG_EXTENDED | REG_NOSUB), 0);
	for (int i = 0; i < 200000; i++) {
		const struct option_row *row = &option_table[random_below(option_rows)];
		int64_t got = -12345, want = -12345; /* unchanged when the text is refused */
		char text[NUMBER_TEXT_MAX];
		enum number verdict;

		if (row->kind != KIND_NUMBER)
			continue;
		random_text(text, row);
		verdict = oracle(&number, row, text, &want);
		verdicts[verdict]++;
		if (number_read(row, text, &got) != verdict || got != want)
			fail_msg("--%s '%s': %d, %" PRId64 ", but should be %d, %" PRId64, row->name, text,
				 number_read(row, text, &got), got, verdict, want);
	}
	regfree(&number);
	/* Each verdict occurred. */
	for (int i = 0; i < 4; i++)
		assert_true(verdicts[i] > 1000);
}

/* Each time is read exactly in every unit that can express it. */
static void test_units_say_the_same(void **state)
{
	unsigned tried = 0;

	(void)state;
	for (int i = 0; i < 200000; i++) {
		const struct option_row *row = &option_table[random_below(option_rows)];
		const struct time_unit *unit = &time_units[random_below((uint64_t)TIME_UNITS)];
		const int64_t fine_ns = unit->ns / option_power_of_ten(unit->decimals);
		int64_t want, ns, got = -12345;
		char text[NUMBER_TEXT_MAX];
		int length;

		if (!row->ns)
			continue;
		want = row->min + (int64_t)random_below((uint64_t)(row->max - row->min + 1));
		ns = want * row->ns;
		if (ns % fine_ns)
			continue;
		length = snprintf(text, sizeof(text), "%" PRId64, ns / unit->ns);
		if (unit->decimals)
			length += snprintf(text + length, sizeof(text) - (size_t)length, ".%0*" PRId64, unit->decimals,
					   ns % unit->ns / fine_ns);
		snprintf(text + length, sizeof(text) - (size_t)length, "%s", unit->name);
		if (number_read(row, text, &got) != NUMBER_GOOD || got != want)
			fail_msg("--%s '%s': %" PRId64 ", but should be %" PRId64, row->name, text, got, want);
		tried++;
	}
	assert_true(tried > 5000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_boundaries),
		cmocka_unit_test(test_numbers_against_oracle),
		cmocka_unit_test(test_units_say_the_same),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
