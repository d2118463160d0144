/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * --prove: do the NIC's timestamps follow the octets of a packet? A timestamp of the wire is taken at the start of the frame
 * (IEEE 1588-2019 section 7.3.4.1). On the path a frame is serialised again at the exit of each switch that stores it first, so
 * the network time (round trip less response) grows by a whole number of serialisations, 8 bits/speed for each octet: none
 * on a cable. The response then contains the rest of the probe, one serialisation. Timestamps of a completion or of the DMA
 * grow by the speed of a bus, or not at all.
 */
#ifndef ANALYSE_PROVE_FIT_H
#define ANALYSE_PROVE_FIT_H

#include "rant.h"

#define PROVE_POINTS_MAX 64
#define PROVE_SERIALISATIONS_MAX 8 /* both directions together; with more each slope fits one by chance */

struct prove_point {
	int64_t bytes, ns;
};

/* A slope and half of its 95 % interval. */
struct prove_slope {
	bool known;
	double ns_per_octet, bound;
};

/* The median of the slopes between all pairs of points (Theil and Sen), with the interval of Sen 1968: late packets that spoil
 * less than 29 % of the points do not move it much. Not known with points of fewer than three sizes. */
struct prove_slope prove_fit(const struct prove_point *point, unsigned points);

enum prove_verdict { PROVE_UNKNOWN, PROVE_WIRE, PROVE_NOT_WIRE };

/* The verdict and its line. speed_mbps 0: not known. */
enum prove_verdict prove_judge(const struct prove_slope *network, const struct prove_slope *response, int64_t speed_mbps,
			       char *text, size_t bytes);

#endif
