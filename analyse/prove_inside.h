/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The results of --prove, for prove.c and prove_json.c. */
#ifndef ANALYSE_PROVE_INSIDE_H
#define ANALYSE_PROVE_INSIDE_H

#include "analyse/prove_fit.h"
#include "rant.h"

#define PROVE_WHY_BYTES 300

/* ---- prove.c ------------------------------------------------------------------------------------------------------- */

#define PROVE_SIZES 9

enum { TIME_RTT, TIME_RESPONSE, TIME_NETWORK, TIMES_OF_SIZE };

struct prove_sizes {
	int bytes[PROVE_SIZES]; /* of the STAMP packet, ascending */
	struct optional median_ns[PROVE_SIZES][TIMES_OF_SIZE]; /* the mean of those of the rounds */
	struct prove_point point[TIMES_OF_SIZE][PROVE_POINTS_MAX];
	unsigned points[TIMES_OF_SIZE];
	struct prove_slope slope[TIMES_OF_SIZE];
	bool remote_by_nic; /* T2 and T3 of all runs */
	int64_t replies;
};

struct prove_rate {
	/* Why no higher rate was tried. */
	enum prove_rate_end { RATE_NOT_TRIED, RATE_HIGHEST, RATE_MISSING, RATE_LOST, RATE_FAILED } end;
	int64_t complete_per_s; /* the highest rate at which every timestamp came */
	int64_t next_per_s, missing; /* RATE_MISSING: timestamps at the next rate */
};

/* The counts of a run. */
struct prove_packets {
	const char *name; /* kind of packets, or the receive filter that was asked for */
	char granted[24]; /* the receive filter that the driver set; empty: not known */
	bool tried;
	char why[PROVE_WHY_BYTES]; /* the reason for which it was not counted; empty: counted */
	int64_t sent, transmit_stamps, replies, receive_stamps;
};

#define PROVE_KINDS 4
#define PROVE_FILTERS_MAX 32

struct prove_results {
	const char *interface, *server; /* server NULL: no reflector */
	const char *transport; /* of the sizes, the rate and the filters */
	int64_t speed_mbps, mtu_bytes; /* 0: not known */
	struct prove_sizes sizes;
	struct prove_rate rate;
	struct prove_packets kind[PROVE_KINDS], filter[PROVE_FILTERS_MAX];
	unsigned filters; /* 0: not tried */
	enum prove_verdict verdict;
	char text[PROVE_WHY_BYTES + 40]; /* the verdict in words */
};

/* ---- prove_json.c -------------------------------------------------------------------------------------------------- */

struct json;

/* The whole object. */
void prove_write_json(struct json *j, const struct prove_results *r);

#endif
