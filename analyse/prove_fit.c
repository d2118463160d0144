// SPDX-License-Identifier: GPL-2.0-or-later
/* --prove: the slope of a time against the octets, and the verdict. */
#include "analyse/prove_fit.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#define SLOPES_MAX (PROVE_POINTS_MAX * (PROVE_POINTS_MAX - 1) / 2)
#define NORMAL_95 1.96 /* standard deviations of the normal distribution */
#define TOLERATED 0.1 /* error of a slope, and half of its interval, in serialisations */
/* Half intervals by which a slope differs for certain. With one, 5 % of the runs of a NIC without faults would have a fault
 * where the interval is wide, with two 0.15 %, with three 0.01 % (simulated). */
#define CERTAIN 3

static int compare_slopes(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

struct prove_slope prove_fit(const struct prove_point *point, unsigned points)
{
	double slope[SLOPES_MAX];
	unsigned n = 0, sizes = 0;

	for (unsigned i = 0; i < points; i++) {
		bool is_new = true;

		for (unsigned k = 0; k < i; k++) {
			const int64_t more_bytes = point[i].bytes - point[k].bytes;

			is_new &= more_bytes != 0;
			if (more_bytes)
				slope[n++] = (double)(point[i].ns - point[k].ns) / (double)more_bytes;
		}
		sizes += is_new;
	}
	if (sizes < 3)
		return (struct prove_slope){ .known = false };
	qsort(slope, n, sizeof(slope[0]), compare_slopes);

	/* Variance of Kendall's S without ties: sizes measured twice make the interval wider than needed. */
	const double spread = NORMAL_95 * sqrt((double)points * (points - 1) * (2 * points + 5) / 18);
	const double last = n - 1, low = fmax(0, floor((n - spread) / 2)), high = fmin(last, ceil((n + spread) / 2));

	return (struct prove_slope){ .known = true, .ns_per_octet = (slope[n / 2] + slope[(n - 1) / 2]) / 2,
				     .bound = (slope[(unsigned)high] - slope[(unsigned)low]) / 2 };
}

static enum prove_verdict judge_without_growth(const struct prove_slope *response, double octet_ns, char *text, size_t bytes)
{
	if (!response->known) {
		snprintf(text, bytes, "not known: the network time does not depend on the size, and the response time is not known");
		return PROVE_UNKNOWN;
	}
	if (response->ns_per_octet + CERTAIN * response->bound < (1 - TOLERATED) * octet_ns) {
		snprintf(text, bytes, "timestamps are not of the wire: network slope 0 and response slope %.2f ns/octet, at least "
			 "%.2f expected: the reflector's receive timestamp is taken after the whole frame",
			 response->ns_per_octet, octet_ns);
		return PROVE_NOT_WIRE;
	}
	if (response->ns_per_octet - response->bound < (1 - TOLERATED) * octet_ns) {
		snprintf(text, bytes, "not known: network slope 0, and response slope %.2f ns/octet (+-%.2f) is too uncertain "
			 "against %.2f", response->ns_per_octet, response->bound, octet_ns);
		return PROVE_UNKNOWN;
	}
	snprintf(text, bytes, "timestamps are of the wire: response slope %.2f ns/octet, at least %.2f expected, network slope 0 "
		 "(no switch that stores frames)", response->ns_per_octet, octet_ns);
	return PROVE_WIRE;
}

enum prove_verdict prove_judge(const struct prove_slope *network, const struct prove_slope *response, int64_t speed_mbps,
			       char *text, size_t bytes)
{
	const double octet_ns = speed_mbps > 0 ? 8000.0 / (double)speed_mbps : 0;
	double serialisations, error;

	if (!network->known || !octet_ns) {
		snprintf(text, bytes, "not known: %s", octet_ns ? "the network time is not known for three sizes" :
			 "the driver reports no link speed");
		return PROVE_UNKNOWN;
	}
	serialisations = fmin(fmax(round(network->ns_per_octet / octet_ns), 0), PROVE_SERIALISATIONS_MAX);
	error = fabs(network->ns_per_octet - serialisations * octet_ns);
	if (error > fmax(TOLERATED * octet_ns, CERTAIN * network->bound)) {
		snprintf(text, bytes, "timestamps are not of the wire, or a link on the path has another speed: slope %.2f ns/octet "
			 "(+-%.2f), a multiple of %.2f expected", network->ns_per_octet, network->bound, octet_ns);
		return PROVE_NOT_WIRE;
	}
	if (fmax(error, network->bound) > TOLERATED * octet_ns) {
		snprintf(text, bytes, "not known: slope %.2f ns/octet (+-%.2f) is too uncertain against %.2f at %" PRId64 " Mbit/s",
			 network->ns_per_octet, network->bound, octet_ns, speed_mbps);
		return PROVE_UNKNOWN;
	}
	if (!serialisations)
		return judge_without_growth(response, octet_ns, text, bytes);
	snprintf(text, bytes, "timestamps are of the wire: slope %.2f ns/octet, %.2f expected (%.0f serialisation%s of %.2f at %"
		 PRId64 " Mbit/s)", network->ns_per_octet, serialisations * octet_ns, serialisations,
		 serialisations > 1 ? "s" : "", octet_ns, speed_mbps);
	return PROVE_WIRE;
}
