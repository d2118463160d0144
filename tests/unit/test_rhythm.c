/* build: sources=result/spikes.c libs=-lm */
// SPDX-License-Identifier: GPL-2.0-or-later
/* Rhythm: how many periods are found in noise, and how many of those that are there. Fixed seeds. */
#include "report/verdict/rhythm.c"
#include "report/verdict/rhythm_run.c"

#include "util.h"

#define RUNS 1000
#define SPIKES_MOST 1000

static double uniform(void)
{
	return ((double)(util_random() >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(void)
{
	return sqrt(-2 * log(uniform())) * cos(2 * M_PI * uniform());
}

struct run {
	int64_t times_ns[SPIKES_MOST];
	unsigned spikes;
	double length_s;
};

static void put(struct run *r, double at_s)
{
	if (r->spikes < SPIKES_MOST && at_s >= 0 && at_s < r->length_s)
		r->times_ns[r->spikes++] = (int64_t)(at_s * 1e9);
}

static bool find(struct rhythm *to, struct run *r, int64_t probe_ns)
{
	qsort(r->times_ns, r->spikes, sizeof(*r->times_ns), compare_ns);
	return rhythm_find(to, &(struct rhythm_times){ .spike_ns = r->times_ns, .spikes = r->spikes,
						       .until_ns = (int64_t)(r->length_s * 1e9), .probe_ns = probe_ns });
}

/* ---- Noise ------------------------------------------------------------------------------------------------------- */

static void put_uniform(struct run *r)
{
	for (unsigned i = 0; i < 300; i++)
		put(r, uniform() * r->length_s);
}

/* With few spikes all of them are easily in one phase of one of many periods. */
static void put_few(struct run *r)
{
	const unsigned n = RHYTHM_SPIKES + (unsigned)(util_random() % 10);

	for (unsigned i = 0; i < n; i++)
		put(r, uniform() * r->length_s);
}

static void put_poisson(struct run *r)
{
	const double gap_s = r->length_s / (30 + util_random() % 900);

	for (double at_s = 0; at_s < r->length_s; at_s -= gap_s * log(uniform()))
		put(r, at_s);
}

/* Bursts of any length, with many spikes in some of them. */
static void put_bursts(struct run *r)
{
	const unsigned bursts = 10 + (unsigned)(util_random() % 60);
	const double long_s = r->length_s * pow(10, -1 - 3 * uniform());

	for (unsigned i = 0; i < bursts; i++) {
		const double at_s = uniform() * r->length_s;
		const unsigned n = 1 + (unsigned)(util_random() % 20);

		for (unsigned k = 0; k < n; k++)
			put(r, at_s + uniform() * long_s);
	}
}

/* Bursts in which each probe is slow, so that the spikes in it are at equal distances. */
static void put_trains(struct run *r)
{
	const unsigned bursts = 10 + (unsigned)(util_random() % 30);
	const double step_s = (0.02 + 0.1 * uniform()) * r->length_s / 30;

	for (unsigned i = 0; i < bursts; i++) {
		const double at_s = uniform() * r->length_s;
		const unsigned n = 1 + (unsigned)(util_random() % 30);

		for (unsigned k = 0; k < n; k++)
			put(r, at_s + k * step_s);
	}
}

/* Times between spikes with a Pareto distribution whose mean is infinite. */
static void put_heavy_tail(struct run *r)
{
	double at_s = 0;

	for (unsigned i = 0; i < SPIKES_MOST && at_s < r->length_s; i++) {
		put(r, at_s);
		at_s += 0.0002 * r->length_s * pow(uniform(), -1 / 0.9);
	}
}

static void put_one_burst(struct run *r)
{
	const double from_s = uniform() * r->length_s * 0.9;
	const double long_s = 0.1 * r->length_s * uniform();

	for (unsigned i = 0; i < 400; i++)
		put(r, from_s + long_s * uniform());
}

static void put_trend(struct run *r)
{
	const double steep = 1 + 5 * uniform();

	for (unsigned i = 0; i < 600; i++)
		put(r, r->length_s * pow(uniform(), 1 / steep));
}

/* The rate is a random walk. */
static void put_wander(struct run *r)
{
	double rate = 0;

	for (unsigned i = 0; i < 500; i++) {
		rate = 0.98 * rate + 0.3 * normal();
		for (unsigned k = 0; k < 5; k++)
			if (uniform() < exp(rate) / 8)
				put(r, (i + uniform()) / 500 * r->length_s);
	}
}

static void noise(void **state)
{
	static const struct {
		const char *name;
		void (*put)(struct run *r);
	} kinds[] = { { "uniform", put_uniform },     { "few", put_few },
		      { "Poisson", put_poisson },     { "bursts", put_bursts },
		      { "trains", put_trains },	      { "heavy tail", put_heavy_tail },
		      { "one burst", put_one_burst }, { "trend", put_trend },
		      { "wandering rate", put_wander } };

	(void)state;
	for (unsigned k = 0; k < COUNT_OF(kinds); k++) {
		unsigned found = 0;

		for (unsigned i = 0; i < RUNS; i++) {
			struct run r = { .length_s = i % 100 ? 0.1 + 0.15 * uniform() : 2 };
			struct rhythm rhythm;

			kinds[k].put(&r);
			found += find(&rhythm, &r, 20000);
		}
		print_message("%s: %u of %u runs have a period\n", kinds[k].name, found, RUNS);
		assert_in_range(found, 0, RUNS / 100);
	}
}

/* ---- Periods ----------------------------------------------------------------------------------------------------- */

/* Spikes at each period with this share of it as jitter, without this share of them, and spikes at any time. */
static void put_period(struct run *r, double period_s, double jitter, double missing, unsigned others)
{
	const double offset_s = period_s * uniform();

	for (double at_s = offset_s; at_s < r->length_s; at_s += period_s)
		if (uniform() >= missing)
			put(r, at_s + jitter * period_s * (uniform() * 2 - 1));
	for (unsigned i = 0; i < others; i++)
		put(r, uniform() * r->length_s);
}

static void periods(void **state)
{
	static const struct {
		double period_s, length_s, jitter, missing;
		unsigned others, runs;
		int64_t probe_ns;
	} rows[] = {
		{ 0.001, 0.4, 0.1, 0.5, 0, 50, 20000 },	    { 0.001, 1, 0.1, 0.5, 0, 20, 20000 },
		{ 0.01024, 2, 0.1, 0.5, 0, 20, 20000 },	    { 0.01024, 10, 0.1, 0.5, 0, 3, 20000 },
		{ 0.01024, 2, 0, 0.5, 0, 20, 20000 },	    { 0.01024, 2, 0.1, 0, 200, 20, 20000 },
		{ 0.01024, 6, 0.01, 0.9, 0, 5, 20000 },    { 1, 200, 0.1, 0.5, 0, 20, 50000000 },
		{ 1, 100, 0.1, 0.5, 0, 20, 1000000 },	    { 1, 100, 0, 0.5, 0, 20, 10000000 },
		{ 0.004, 1, 0, 0.5, 0, 20, 1000000 },	    { 60, 7200, 0, 0, 0, 3, 10000000 },
	};

	(void)state;
	for (unsigned k = 0; k < COUNT_OF(rows); k++) {
		unsigned found = 0;

		for (unsigned i = 0; i < rows[k].runs; i++) {
			struct run r = { .length_s = rows[k].length_s };
			struct rhythm rhythm;

			put_period(&r, rows[k].period_s, rows[k].jitter, rows[k].missing, rows[k].others);
			if (!find(&rhythm, &r, rows[k].probe_ns))
				continue;
			found += fabs(rhythm.period_ns / 1e9 - rows[k].period_s) <= 0.001 * rows[k].period_s &&
				 rhythm.in_phase > (r.spikes - rows[k].others) * 0.8;
		}
		print_message("%g s in %g s, %.0f %% jitter, %.0f %% missing, %u others: %u of %u found within 0.1 %%\n",
			      rows[k].period_s, rows[k].length_s, 100 * rows[k].jitter, 100 * rows[k].missing,
			      rows[k].others, found, rows[k].runs);
		assert_int_equal(found, rows[k].runs);
	}
}

static bool has_period(struct run *r, int64_t probe_ns, double period_s)
{
	struct rhythm rhythm;

	return find(&rhythm, r, probe_ns) && fabs(rhythm.period_ns / 1e9 - period_s) <= 0.001 * period_s;
}

/* Each spike is five slow samples in a row. */
static void fundamental(void **state)
{
	struct run r = { .length_s = 2 };

	(void)state;
	for (double at_s = 0.003; at_s < r.length_s; at_s += 0.020)
		for (unsigned k = 0; k < 5; k++)
			put(&r, at_s + 0.0001 * k);
	assert_true(has_period(&r, 20000, 0.020));
	/* Half of each second spike is missing: twice the period has two phases. */
	r = (struct run){ .length_s = 4 };
	for (unsigned i = 0; i < 200; i++)
		if (i % 2 == 0 || uniform() < 0.5)
			put(&r, i * 0.020 + 0.007);
	assert_true(has_period(&r, 20000, 0.020));
	/* Without each second spike it is the period. */
	r = (struct run){ .length_s = 4 };
	for (unsigned i = 0; i < 200; i += 2)
		put(&r, i * 0.020 + 0.007);
	assert_true(has_period(&r, 20000, 0.040));
}

/* The correction: 400 frequencies in the octave of 1 s in 100 s, half as far apart as independent frequencies, in each
 * of 14 octaves. The spectrum may have up to twice as many. */
static void correction(void **state)
{
	struct stretch s = { .length_ns = 1e11, .stretches = 1 };

	(void)state;
	lay_out(&s, 1e6);
	assert_in_range(trials_of(&s, 1e9), 400 * 14, 800 * 14);
	assert_true(fabs(trials_of(&s, 1e8) / trials_of(&s, 1e9) - 10) < 1e-6);
	s.stretches = 3;
	assert_in_range(trials_of(&s, 1e9), 1200 * 14, 2400 * 14);
}

static void too_few(void **state)
{
	struct run r = { .length_s = 20 };
	struct rhythm rhythm;

	(void)state;
	assert_false(find(&rhythm, &r, 20000));
	for (unsigned i = 0; i < 19; i++)
		put(&r, i + 0.3);
	assert_false(find(&rhythm, &r, 20000));
	assert_int_equal(rhythm.of, 0);
	put(&r, 19.3);
	assert_true(has_period(&r, 20000, 1));
}

/* A rhythm of a part of the run is not that of the run; neither are fewer than ten periods. */
static void parts(void **state)
{
	struct run r = { .length_s = 20 };
	struct rhythm rhythm;

	(void)state;
	for (unsigned i = 0; i < 500; i++)
		put(&r, 5 + i * 0.010);
	assert_false(find(&rhythm, &r, 20000));
	r = (struct run){ .length_s = 1.8 };
	for (unsigned i = 0; i < 9; i++)
		for (unsigned k = 0; k < 20; k++)
			put(&r, i * 0.2 + k * 0.0001);
	assert_false(find(&rhythm, &r, 20000));
}

/* Probes at each millisecond: an eighth of them is slow. */
static void probes(void **state)
{
	struct run r = { .length_s = 4 };
	struct rhythm rhythm;
	unsigned found = 0;

	(void)state;
	for (unsigned i = 0; i < 500; i++)
		put(&r, (double)(util_random() % 4000) / 1000);
	assert_false(find(&rhythm, &r, NS_PER_MS));
	for (unsigned k = 0; k < 100; k++) {
		r = (struct run){ .length_s = 4 };
		for (unsigned i = 0; i < 4000; i++)
			if (util_random() % 8 == 0)
				put(&r, i / 1000.0);
		found += find(&rhythm, &r, NS_PER_MS);
	}
	assert_int_equal(found, 0);
	r = (struct run){ .length_s = 1 };
	for (unsigned i = 0; i < 500; i++)
		put(&r, i * 0.002);
	assert_true(has_period(&r, NS_PER_MS, 0.002));
	assert_false(find(&rhythm, &r, NS_PER_MS * 2));
}

/* The spectrum of three days ends at periods of four seconds. The stretch with most spikes has the short one. */
static void long_run(void **state)
{
	struct run r = { .length_s = 3 * 86400 };
	struct rhythm rhythm;
	struct timespec from, to;

	(void)state;
	for (unsigned i = 0; i < 300; i++)
		put(&r, r.length_s * uniform());
	for (unsigned i = 0; i < 400; i++)
		put(&r, 100000 + i * 0.16);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
	assert_true(find(&rhythm, &r, 20000));
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
	assert_in_range(rhythm.period_ns, 159840000, 160160000);
	print_message("three days: %.3f s of CPU time with sanitizers, %lld ns in %lld s\n",
		      to.tv_sec - from.tv_sec + (to.tv_nsec - from.tv_nsec) / 1e9, (long long)rhythm.period_ns,
		      (long long)(rhythm.during_ns / NS_PER_S));
}

/* ---- A run ------------------------------------------------------------------------------------------------------- */

static struct options options;
static struct histogram histogram;
static struct result result;

/* A sample each millisecond of 20 s. Those of every 25th are slow; `burst_ms` of each 25 are there. */
static void make_samples(unsigned burst_ms, bool by_chance)
{
	options = (struct options){ .keep_going = true };
	histogram = (struct histogram){ .count = 0 };
	memset(&result, 0, sizeof(result));
	result.options = &options;
	result.histogram = &histogram;
	for (unsigned i = 0; i < 20000; i++) {
		const bool slow = by_chance ? util_random() % 25 == 0 : i % 25 == 7;

		if (i % 25 >= burst_ms)
			continue;
		histogram.count++;
		spikes_add(&result.spikes, slow ? 100000 + util_random() % 100000 : 1000 + util_random() % 1000,
			   1700000000 * NS_PER_S + i * NS_PER_MS + (int64_t)(util_random() % 1000));
	}
}

static void runs(void **state)
{
	(void)state;
	make_samples(25, false);
	rhythm_judge(&result);
	assert_in_range(result.rhythm.period_ns, 24999000, 25001000);
	assert_int_equal(result.rhythm.of, 1000);
	assert_in_range(result.rhythm.in_phase, 800, 870); /* 800, and a quarter of the 200 others at most */
	assert_false(result.rhythm.has_suspects);
	/* Those above the threshold only. */
	options.threshold_ns = 100000;
	result.has_periods = true;
	rhythm_judge(&result);
	assert_int_equal(result.rhythm.of, 800);
	assert_int_equal(result.rhythm.in_phase, 800);
	assert_true(result.rhythm.has_suspects);
	options.threshold_ns = 200000;
	rhythm_judge(&result);
	assert_int_equal(result.rhythm.of, 0);
	/* The run ended at the first breach. */
	options.keep_going = false;
	rhythm_judge(&result);
	assert_int_equal(result.rhythm.of, 1000);
	result.spikes.of_several = true;
	rhythm_judge(&result);
	assert_int_equal(result.rhythm.of, 0);
}

/* The probes of the other host come in bursts of 25 ms: their rhythm is in all samples, and not of the spikes. */
static void rhythm_of_the_probes(void **state)
{
	(void)state;
	make_samples(6, true);
	rhythm_judge(&result);
	assert_int_equal(result.rhythm.of, 0);
	result.spikes.ordinary = 0;
	rhythm_judge(&result);
	assert_in_range(result.rhythm.period_ns, 24990000, 25010000);
}

/* A twentieth of few samples: half of a short run are not spikes. */
static void short_run(void **state)
{
	(void)state;
	make_samples(25, false);
	histogram.count = 2000;
	rhythm_judge(&result);
	assert_int_equal(result.rhythm.of, 100);
	histogram.count = 399;
	rhythm_judge(&result);
	assert_int_equal(result.rhythm.of, 0);
}

static void suspects(void **state)
{
	static const struct periods periods = {
		{ { "a", 10000000 }, { "b", 5006000 }, { "c", 1000000 }, { "d", 998000 },
		  { "e", 10011000 }, { "f", 3333333 } }, 6
	};
	struct rhythm r = { .period_ns = 10000000, .p = 3e-10, .in_phase = 312, .of = 340 };
	char said[RHYTHM_TEXT_BYTES] = "";

	(void)state;
	rhythm_say(said, sizeof(said), &r);
	assert_string_equal(said, "Spikes come every 10.000 ms (p < 1e-9), 312 of 340 in phase");
	find_suspects(&r, &periods, 0);
	assert_int_equal(r.suspects, 3);
	*said = '\0';
	rhythm_say(said, sizeof(said), &r);
	assert_string_equal(said, "Spikes come every 10.000 ms (p < 1e-9), 312 of 340 in phase: fits a, 10 x c, 3 x f");
	/* 998 us seen each millisecond beat every 499 ms. */
	r = (struct rhythm){ .period_ns = 499000000, .p = 1e-5, .in_phase = 30, .of = 40 };
	find_suspects(&r, &periods, NS_PER_MS);
	*said = '\0';
	rhythm_say(said, sizeof(said), &r);
	assert_string_equal(said, "Spikes come every 499.000 ms (p < 1e-4), 30 of 40 in phase: fits beat of --interval "
			    "with d");
	r = (struct rhythm){ .period_ns = 1234567890, .p = 1e-5, .in_phase = 30, .of = 40 };
	find_suspects(&r, &periods, 0);
	*said = '\0';
	rhythm_say(said, sizeof(said), &r);
	assert_string_equal(said, "Spikes come every 1.235 s (p < 1e-4), 30 of 40 in phase: no known period of this host "
			    "fits");
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(fundamental), cmocka_unit_test(too_few),
					    cmocka_unit_test(parts),	   cmocka_unit_test(probes),
					    cmocka_unit_test(long_run),	   cmocka_unit_test(periods),
					    cmocka_unit_test(noise),	   cmocka_unit_test(correction),
					    cmocka_unit_test(runs),	   cmocka_unit_test(rhythm_of_the_probes),
					    cmocka_unit_test(short_run),   cmocka_unit_test(suspects) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
