// SPDX-License-Identifier: GPL-2.0-or-later
/* The results of --prove as JSON. */
#include "analyse/prove_inside.h"
#include "report/export/json_parts.h"

static const char *const times[TIMES_OF_SIZE] = { [TIME_RTT] = "rtt", [TIME_RESPONSE] = "response", [TIME_NETWORK] = "network" };

static void put_sizes(struct json *j, const struct prove_sizes *s)
{
	json_array(j, "sizes");
	for (int i = 0; i < PROVE_SIZES && s->bytes[i]; i++) {
		json_row(j, NULL);
		json_integer(j, "octets", s->bytes[i]);
		json_optional(j, "rtt_ns", s->median_ns[i][TIME_RTT]);
		json_optional(j, "response_ns", s->median_ns[i][TIME_RESPONSE]);
		json_optional(j, "network_ns", s->median_ns[i][TIME_NETWORK]);
		json_end(j);
	}
	json_end(j);
}

static void put_slopes(struct json *j, const struct prove_results *r)
{
	json_object(j, "slopes");
	for (int i = 0; i < TIMES_OF_SIZE; i++) {
		const struct prove_slope *s = &r->sizes.slope[i];

		if (!json_object_if(j, times[i], s->known))
			continue;
		json_real(j, "ns_per_octet", s->ns_per_octet, 3);
		json_real(j, "bound_ns_per_octet", s->bound, 3);
		json_end(j);
	}
	json_end(j);
}

static void put_rate(struct json *j, const struct prove_rate *r)
{
	static const char *const ends[] = { [RATE_HIGHEST] = "highest", [RATE_MISSING] = "missing", [RATE_LOST] = "lost",
					    [RATE_FAILED] = "failed" };

	if (!json_object_if(j, "rate", r->end != RATE_NOT_TRIED))
		return;
	json_integer(j, "complete_per_s", r->complete_per_s);
	json_text(j, "end", ends[r->end]);
	json_integer_if(j, "next_per_s", r->end == RATE_MISSING, r->next_per_s);
	json_integer_if(j, "missing", r->end == RATE_MISSING, r->missing);
	json_end(j);
}

static void put_packets(struct json *j, const char *name, const struct prove_packets *list, unsigned count)
{
	json_array(j, name);
	for (unsigned i = 0; i < count; i++) {
		const struct prove_packets *c = &list[i];
		const bool counted = !*c->why;

		json_row(j, NULL);
		json_text(j, "name", c->name);
		json_text(j, "granted_filter", *c->granted ? c->granted : NULL);
		json_integer_if(j, "sent", counted, c->sent);
		json_integer_if(j, "transmit_timestamps", counted, c->transmit_stamps);
		json_integer_if(j, "replies", counted, c->replies);
		json_integer_if(j, "receive_timestamps", counted, c->receive_stamps);
		json_text(j, "failure", counted ? NULL : c->why);
		json_end(j);
	}
	json_end(j);
}

void prove_write_json(struct json *j, const struct prove_results *r)
{
	static const char *const verdicts[] = { [PROVE_UNKNOWN] = "not_known", [PROVE_WIRE] = "of_the_wire",
						[PROVE_NOT_WIRE] = "not_of_the_wire" };

	json_object(j, NULL);
	json_origin(j);
	json_object(j, "proof");
	json_text(j, "interface", r->interface);
	json_text(j, "reflector", r->server);
	json_text(j, "transport", r->transport);
	json_text(j, "verdict", verdicts[r->verdict]);
	json_text(j, "words", r->text);
	json_integer_if(j, "speed_mbps", r->speed_mbps > 0, r->speed_mbps);
	put_sizes(j, &r->sizes);
	put_slopes(j, r);
	put_rate(j, &r->rate);
	put_packets(j, "packets", r->kind, PROVE_KINDS);
	put_packets(j, "filters", r->filter, r->filters);
	json_end(j);
	json_end(j);
}
