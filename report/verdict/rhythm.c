// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The period of spikes, from their times alone.
 *
 * A Fourier transform of the times gives candidates: frequencies whose power, relative to the median power of the
 * frequencies around, is improbable. Each candidate is then tested by the H-test (de Jager, Swanepoel and Raubenheimer
 * 1989; probability by de Jager and Buesching 2010) over up to 20 harmonics. Spikes that come in bursts are not
 * independent, so that the power of a harmonic is divided by the power of the sums over blocks of time instead of the
 * number of spikes: a burst within a block counts as one spike. The probability is multiplied by the number of
 * frequencies tried in an octave, and by the number of octaves. Bursts that are longer than a block, and in which each
 * probe is slow, have a rhythm each, but no common phase: most long blocks of the run have to agree in phase.
 */
#include "report/verdict/rhythm.h"

#include <math.h>
#include <stdlib.h>

#define BINS_MAX (1u << 19)
#define BINS_EACH 4 /* in the shortest period */
#define HARMONICS 20
#define CANDIDATES 8
#define BLOCKS 64
#define LONG_BLOCKS 16
#define LEAST_AGREEMENT 0.625 /* of the long blocks */
#define WINDOW 0.25 /* of a period: spikes in it are in phase */
#define LEAST_EXCESS 0.15 /* share of the spikes that are in phase, above that of all samples */
#define LEAST_P 1e-99 /* which still is a number in JSON of any reader */
#define TENTHS 7 /* of the time, with a spike in phase */

struct complex_number {
	float re, im;
};

/* A stretch of the run, and the spikes in it. */
struct stretch {
	const struct rhythm_times *run;
	const int64_t *times_ns;
	unsigned spikes;
	int64_t from_ns;
	double length_ns;
	double least_ns, most_ns; /* periods that are tried */
	double probe_ns;
	double octaves; /* of periods */
	double stretches; /* of the run, that are searched */
	unsigned bins;
	double bin_ns;
};

/* ---- The spectrum ------------------------------------------------------------------------------------------------ */

static void reverse_bits(struct complex_number *x, unsigned n)
{
	for (unsigned i = 0, j = 0; i < n; i++) {
		unsigned bit = n >> 1;

		if (i < j) {
			const struct complex_number kept = x[i];

			x[i] = x[j];
			x[j] = kept;
		}
		for (; j & bit; bit >>= 1)
			j ^= bit;
		j |= bit;
	}
}

/* In place, n a power of two (Cooley and Tukey 1965). root: exp(-2 pi i k / n) for k below n / 2. */
static void transform(struct complex_number *x, unsigned n, const struct complex_number *root)
{
	reverse_bits(x, n);
	for (unsigned half = 1; half < n; half *= 2)
		for (unsigned from = 0; from < n; from += 2 * half)
			for (unsigned k = 0; k < half; k++) {
				const struct complex_number w = root[k * (n / 2 / half)];
				struct complex_number *a = &x[from + k], *b = a + half;
				const float re = b->re * w.re - b->im * w.im, im = b->re * w.im + b->im * w.re;

				b->re = a->re - re;
				b->im = a->im - im;
				a->re += re;
				a->im += im;
			}
}

static int compare_floats(const void *a, const void *b)
{
	const float x = *(const float *)a, y = *(const float *)b;

	return (x > y) - (x < y);
}

/* The power of noise: that of white noise, or more where spikes that come in bursts make more of it. */
static double noise_of(const struct complex_number *x, unsigned from, unsigned to)
{
	float some[256];
	const unsigned step = (to - from + 255) / 256;
	unsigned n = 0;

	for (unsigned i = from; i < to; i += step)
		some[n++] = x[i].re;
	qsort(some, n, sizeof(*some), compare_floats);
	return fmax(1, some[n / 2] / (2 * M_LN2)); /* the median of a chi-squared variable of two degrees of freedom */
}

/* Leaves the power relative to the noise in .im. */
static void whiten(const struct stretch *s, struct complex_number *x)
{
	const unsigned end = s->bins / 2;

	for (unsigned i = 0; i < end; i++)
		x[i].re = 2 * (x[i].re * x[i].re + x[i].im * x[i].im) / (float)s->spikes;
	for (unsigned from = 1; from < end;) {
		unsigned to = from + (from / 4 > 64 ? from / 4 : 64);
		double noise;

		to = to + 64 > end ? end : to;
		noise = noise_of(x, from, to);
		for (; from < to; from++)
			x[from].im = (float)(x[from].re / noise);
	}
}

/* False: no memory. */
static bool get_spectrum(const struct stretch *s, struct complex_number *x)
{
	struct complex_number *root = malloc(s->bins / 2 * sizeof(*root));

	if (!root)
		return false;
	for (unsigned k = 0; k < s->bins / 2; k++)
		root[k] = (struct complex_number){ (float)cos(2 * M_PI * k / s->bins), -(float)sin(2 * M_PI * k / s->bins) };
	for (unsigned i = 0; i < s->spikes; i++)
		x[(unsigned)((double)(s->times_ns[i] - s->from_ns) / s->bin_ns)].re++;
	transform(x, s->bins, root);
	free(root);
	whiten(s, x);
	return true;
}

/* ---- One period -------------------------------------------------------------------------------------------------- */

/* Harmonics of this period that are below half the frequency of the probes. */
static unsigned harmonics_of(const struct stretch *s, double period_ns)
{
	const double most = s->probe_ns > 0 ? period_ns / (2 * s->probe_ns) : HARMONICS;

	return most < 1 ? 1 : most > HARMONICS ? HARMONICS : (unsigned)most;
}

static double trials_of(const struct stretch *s, double period_ns)
{
	/* The frequencies between those of the spectrum, which the refinement tries, count as many again. */
	return fmax(1, 2 * s->bins * s->bin_ns / period_ns) * s->octaves * s->stretches;
}

struct sum {
	double re, im;
};

/* Sums of the spikes of a block, and of all blocks, for each harmonic. */
struct sums {
	struct sum block[HARMONICS], all[HARMONICS];
	double power[HARMONICS]; /* sum over the blocks */
};

static void end_block(struct sums *sums, unsigned harmonics)
{
	for (unsigned k = 0; k < harmonics; k++) {
		struct sum *b = &sums->block[k];

		sums->all[k].re += b->re;
		sums->all[k].im += b->im;
		sums->power[k] += b->re * b->re + b->im * b->im;
		*b = (struct sum){ 0 };
	}
}

/* For each harmonic the power of all spikes, relative to that of the sums over blocks: 1 on average in noise, and the
 * number of blocks if all have the same sum. */
static void get_powers(const struct stretch *s, double period_ns, double block_ns, unsigned harmonics, double *power)
{
	struct sums sums = { .power = { 0 } };
	double end_ns = 0;

	for (unsigned i = 0; i < s->spikes; i++) {
		const double at_ns = (double)(s->times_ns[i] - s->from_ns), cycles = at_ns / period_ns;
		const double phase = 2 * M_PI * (cycles - floor(cycles)), c = cos(phase), d = sin(phase);
		struct sum w = { c, d };

		if (at_ns >= end_ns) {
			end_block(&sums, harmonics);
			end_ns = (floor(at_ns / block_ns) + 1) * block_ns;
		}
		for (unsigned k = 0; k < harmonics; k++) {
			sums.block[k].re += w.re;
			sums.block[k].im += w.im;
			w = (struct sum){ w.re * c - w.im * d, w.re * d + w.im * c };
		}
	}
	end_block(&sums, harmonics);
	for (unsigned k = 0; k < harmonics; k++) {
		const struct sum *a = &sums.all[k];

		power[k] = sums.power[k] > 0 ? (a->re * a->re + a->im * a->im) / sums.power[k] : 0;
	}
}

static double h_test(const struct stretch *s, double period_ns, unsigned harmonics)
{
	double power[HARMONICS], z = 0, h = 0;

	get_powers(s, period_ns, fmax(period_ns, s->length_ns / BLOCKS), harmonics, power);
	for (unsigned k = 0; k < harmonics; k++) {
		z += 2 * power[k];
		h = fmax(h, z - 4 * k);
	}
	return h;
}

static bool long_blocks_agree(const struct stretch *s, double period_ns)
{
	const double block_ns = fmax(period_ns, s->length_ns / LONG_BLOCKS);
	double power;

	get_powers(s, period_ns, block_ns, 1, &power);
	return power >= LEAST_AGREEMENT * s->length_ns / block_ns;
}

/* The period nearby with the largest H of 1 or 2 harmonics. */
static double refine(const struct stretch *s, double period_ns)
{
	const unsigned harmonics = harmonics_of(s, period_ns) < 2 ? 1 : 2;
	double best_ns = period_ns, most = -1;

	for (int i = -10; i <= 10; i++) {
		const double each_ns = 1 / (1 / period_ns + i / (16 * s->length_ns));
		const double h = h_test(s, each_ns, harmonics);

		if (h > most) {
			most = h;
			best_ns = each_ns;
		}
	}
	return best_ns;
}

static int compare_doubles(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

struct window {
	unsigned in_phase;
	double from; /* 0 ... 1, of a period */
};

/* The quarter of the period that has most spikes. */
static struct window window_of(const struct stretch *s, double period_ns, double *phase)
{
	struct window best = { .in_phase = 0 };

	for (unsigned i = 0; i < s->spikes; i++) {
		const double cycles = (double)(s->times_ns[i] - s->from_ns) / period_ns;

		phase[i] = cycles - floor(cycles);
	}
	qsort(phase, s->spikes, sizeof(*phase), compare_doubles);
	for (unsigned i = 0, end = 0; i < s->spikes; i++) {
		while (end < i + s->spikes &&
		       phase[end % s->spikes] + (end >= s->spikes) - phase[i] <= WINDOW)
			end++;
		if (end - i > best.in_phase)
			best = (struct window){ .in_phase = end - i, .from = phase[i] };
	}
	return best;
}

static double excess_of(const struct stretch *s, double period_ns, double *phase)
{
	return window_of(s, period_ns, phase).in_phase / (double)s->spikes - WINDOW;
}

/*
 * The fundamental: the longest period at which the spikes are in one phase. At a half, a third ... of the true period
 * they are so too; at two, three ... periods they are in two, three ... phases. May be longer than the longest period
 * that is tried.
 */
static double fundamental_of(const struct stretch *s, double period_ns, double *phase)
{
	static const unsigned primes[] = { 2, 3, 5, 7, 11, 13, 17, 19 };
	double excess = excess_of(s, period_ns, phase);

	for (unsigned i = 0; i < sizeof(primes) / sizeof(primes[0]);) {
		const double shorter_ns = period_ns / primes[i], now = excess_of(s, shorter_ns, phase);

		if (shorter_ns < s->least_ns || now < 1.2 * excess + 0.02) {
			i++;
			continue;
		}
		period_ns = shorter_ns;
		excess = now;
	}
	for (unsigned i = 0; i < sizeof(primes) / sizeof(primes[0]);) {
		const double longer_ns = period_ns * primes[i];

		if (longer_ns <= s->length_ns / RHYTHM_PERIODS && excess_of(s, longer_ns, phase) >= 0.9 * excess)
			period_ns = longer_ns;
		else
			i++;
	}
	return period_ns;
}

/* The slope of the line through the times of the spikes in phase, over their number of the period. */
static double slope_of(const struct stretch *s, double period_ns, double *phase)
{
	const struct window w = window_of(s, period_ns, phase);
	double k_sum = 0, off_sum = 0, kk = 0, k_off = 0, variance;

	for (unsigned i = 0; i < s->spikes; i++) {
		const double cycles = (double)(s->times_ns[i] - s->from_ns) / period_ns - w.from, k = floor(cycles);
		const double off = cycles - k;

		if (off > WINDOW)
			continue;
		k_sum += k;
		off_sum += off;
		kk += k * k;
		k_off += k * off;
	}
	variance = kk - k_sum * k_sum / w.in_phase;
	return variance > 0 ? period_ns * (1 + (k_off - k_sum * off_sum / w.in_phase) / variance) : period_ns;
}

/* True if the spikes in phase are in most of the stretch, and in enough periods. */
static bool is_everywhere(const struct stretch *s, double period_ns, const struct window *w)
{
	bool has_tenth[10] = { false };
	double last = -1;
	unsigned periods = 0, tenths = 0;

	for (unsigned i = 0; i < s->spikes; i++) {
		const double at_ns = (double)(s->times_ns[i] - s->from_ns), cycles = at_ns / period_ns - w->from;

		if (cycles - floor(cycles) > WINDOW)
			continue;
		periods += floor(cycles) > last;
		last = floor(cycles);
		has_tenth[(unsigned)(10 * at_ns / s->length_ns) % 10] = true;
	}
	for (unsigned i = 0; i < 10; i++)
		tenths += has_tenth[i];
	return tenths >= TENTHS && periods >= RHYTHM_PERIODS;
}

/* True if more spikes than other samples are in the window, or than times at random. */
static bool is_beyond_chance(const struct stretch *s, double period_ns, const struct window *w)
{
	const struct rhythm_times *t = s->run;
	const double share = (double)w->in_phase / s->spikes;
	double chance = WINDOW, in_phase = 0;

	for (unsigned i = 0; i < t->ordinary; i++) {
		const double cycles = (double)(t->ordinary_ns[i] - s->from_ns) / period_ns - w->from;

		in_phase += cycles - floor(cycles) <= WINDOW;
	}
	if (t->ordinary)
		chance = fmax(chance, in_phase / t->ordinary);
	return share - chance >= LEAST_EXCESS && share - chance >= 4 * sqrt(chance * (1 - chance) / s->spikes);
}

/* Tests a frequency of the spectrum. */
static bool judge(struct rhythm *to, const struct stretch *s, double period_ns, double *phase)
{
	struct window w;
	double p;

	period_ns = refine(s, period_ns);
	period_ns = fundamental_of(s, period_ns, phase);
	/* H itself would follow the noise in the higher harmonics. */
	for (unsigned i = 0; i < 2; i++)
		period_ns = slope_of(s, period_ns, phase);
	if (period_ns < s->least_ns || period_ns > s->most_ns)
		return false;
	p = exp(-0.4 * h_test(s, period_ns, harmonics_of(s, period_ns))) * trials_of(s, period_ns);
	w = window_of(s, period_ns, phase);
	if (p > RHYTHM_P || !is_beyond_chance(s, period_ns, &w) || !is_everywhere(s, period_ns, &w) ||
	    !long_blocks_agree(s, period_ns))
		return false;
	*to = (struct rhythm){ .period_ns = llround(period_ns),
				.p = fmax(p, LEAST_P), .in_phase = w.in_phase, .of = s->spikes };
	return true;
}

/* ---- All periods ------------------------------------------------------------------------------------------------- */

#define LEAST_SCORE 10 /* below that nothing is significant after RHYTHM_P */

struct candidate {
	unsigned index; /* in the spectrum */
	double score;
};

static void keep_candidate(struct candidate c[CANDIDATES], unsigned index, double score)
{
	unsigned at = CANDIDATES;

	for (unsigned i = 0; i < CANDIDATES; i++)
		if (c[i].index && index - c[i].index <= 4) {
			/* The same line. */
			if (score <= c[i].score)
				return;
			at = i + 1;
			break;
		}
	if (score <= c[at - 1].score)
		return;
	for (at--; at && c[at - 1].score < score; at--)
		c[at] = c[at - 1];
	c[at] = (struct candidate){ .index = index, .score = score };
}

static double period_of(const struct stretch *s, unsigned index)
{
	return s->bins * s->bin_ns / index;
}

static void scan(const struct stretch *s, const struct complex_number *x, struct candidate c[CANDIDATES])
{
	for (unsigned i = 1; i < s->bins / 2 && period_of(s, i) >= s->least_ns; i++) {
		const double period_ns = period_of(s, i);
		double score = x[i].im;

		if (period_ns > s->most_ns)
			continue;
		if (2 * i < s->bins / 2 && harmonics_of(s, period_ns) >= 2)
			score = fmax(score, (double)x[i].im + x[2 * i].im - 4);
		/* Between two frequencies of the spectrum H may be larger. */
		if (score > LEAST_SCORE && exp(-0.4 * 1.5 * score) * trials_of(s, period_ns) < RHYTHM_P)
			keep_candidate(c, i, score);
	}
}

static bool search(struct rhythm *to, const struct stretch *s)
{
	struct complex_number *x = calloc(s->bins, sizeof(*x));
	double *phase = malloc(s->spikes * sizeof(*phase));
	struct candidate c[CANDIDATES] = { { .index = 0 } };
	bool found = false;

	if (x && phase && get_spectrum(s, x)) {
		scan(s, x, c);
		for (unsigned i = 0; i < CANDIDATES && c[i].index; i++) {
			struct rhythm one;

			if (judge(&one, s, period_of(s, c[i].index), phase) && (!found || one.p < to->p)) {
				*to = one;
				found = true;
			}
		}
	}
	free(phase);
	free(x);
	return found;
}

/* The bins have twice the length of the stretch, so that two frequencies are half as far apart as independent
 * frequencies. */
static void lay_out(struct stretch *s, double least_ns)
{
	s->bin_ns = fmax(least_ns / BINS_EACH, 2 * s->length_ns / (BINS_MAX - 1));
	s->least_ns = fmax(least_ns, BINS_EACH * s->bin_ns);
	s->most_ns = fmin(RHYTHM_MOST_NS, s->length_ns / RHYTHM_PERIODS);
	s->octaves = ceil(log2(s->most_ns / s->least_ns)) + 1;
	for (s->bins = 64; s->bins * s->bin_ns < 2 * s->length_ns; s->bins *= 2)
		;
}

/* Moves the beginning of the stretch to where it has most spikes. */
static void move(struct stretch *s)
{
	const int64_t *times_ns = s->run->spike_ns;
	const unsigned spikes = s->run->spikes;
	unsigned end = 0;

	s->spikes = 0;
	for (unsigned i = 0; i < spikes && (double)times_ns[i] + s->length_ns <= (double)s->run->until_ns; i++) {
		while (end < spikes && (double)(times_ns[end] - times_ns[i]) < s->length_ns)
			end++;
		if (end - i > s->spikes) {
			s->spikes = end - i;
			s->times_ns = times_ns + i;
			s->from_ns = times_ns[i];
		}
	}
}

bool rhythm_find(struct rhythm *to, const struct rhythm_times *t)
{
	const double least_ns = fmax(RHYTHM_LEAST_NS, 2 * (double)t->probe_ns) * 0.999;
	const double shortest_ns = least_ns / BINS_EACH * (BINS_MAX - 1) / 2;
	struct stretch s = { .run = t, .times_ns = t->spike_ns, .spikes = t->spikes, .from_ns = t->from_ns,
			     .length_ns = (double)(t->until_ns - t->from_ns), .probe_ns = (double)t->probe_ns,
			     .stretches = 1 };

	*to = (struct rhythm){ .of = 0 };
	if (t->spikes < RHYTHM_SPIKES || t->spike_ns[0] < t->from_ns || t->spike_ns[t->spikes - 1] >= t->until_ns)
		return false;
	for (double l = s.length_ns; l > shortest_ns; l /= 8)
		s.stretches++;
	for (;;) {
		lay_out(&s, least_ns);
		if (s.most_ns > s.least_ns && search(to, &s)) {
			to->from_ns = s.from_ns - t->from_ns;
			to->during_ns = (int64_t)s.length_ns;
			return true;
		}
		if (s.length_ns <= shortest_ns)
			return false;
		s.length_ns = fmax(s.length_ns / 8, shortest_ns);
		move(&s);
		if (s.spikes < RHYTHM_SPIKES)
			return false;
	}
}
