// SPDX-License-Identifier: GPL-2.0-or-later
/* A breach as variables for a command. */
#include "report/text/report.h"

#include "options.h"
#include "report/text/label.h"
#include "result/result.h"
#include "result/stages.h"

#include <inttypes.h>
#include <stdarg.h>

struct environment {
	char *text, *end;
	char **entry;
};

__attribute__((format(printf, 2, 3)))
static void put_variable(struct environment *e, const char *format, ...)
{
	va_list arguments;
	int bytes;

	va_start(arguments, format);
	bytes = vsnprintf(e->text, (size_t)(e->end - e->text), format, arguments);
	va_end(arguments);
	if (bytes < 0 || bytes >= e->end - e->text)
		return;
	*e->entry++ = e->text;
	e->text += bytes + 1;
}

/* Metrics of an emitter in addition to the round trip; a reflector's sample has no such times. */
static void put_metrics(struct environment *e, const struct report *r, const struct sample *s)
{
	struct stage stages[STAGES];
	int64_t value_ns;

	stages_of_role(ROLE_EMIT, options_on_wire(r->options), stages);
	if (stages_value(&stages[STAGE_RESPONSE], s, &value_ns))
		put_variable(e, "RANT_RESPONSE_NS=%" PRId64, value_ns);
	if (stages_value(&stages[STAGE_NETWORK], s, &value_ns))
		put_variable(e, "RANT_NETWORK_NS=%" PRId64, value_ns);
}

void report_environment(const struct report *r, const struct sample *s, uint64_t number,
			char text[REPORT_ENVIRONMENT_BYTES], char *environment[REPORT_ENVIRONMENT_MAX])
{
	static const char *const metrics[] = { [METRIC_RTT] = "rtt", [METRIC_RESPONSE] = "response",
					       [METRIC_NETWORK] = "network" };
	const struct options *o = r->options;
	const int64_t remote = r->result->remote;
	struct environment e = { text, text + REPORT_ENVIRONMENT_BYTES, environment };

	put_variable(&e, "RANT_ROLE=%s", role_name(o->role));
	put_variable(&e, "RANT_INTERFACE=%s", o->interface);
	put_variable(&e, "RANT_NUMBER=%" PRIu64, number + 1);
	put_variable(&e, "RANT_SEQ=%" PRIu32, s->seq);
	put_variable(&e, "RANT_LATENCY_NS=%" PRId64, s->latency_ns);
	put_variable(&e, "RANT_THRESHOLD_NS=%" PRId64, o->threshold_ns);
	put_variable(&e, "RANT_THRESHOLD_ON=%s", o->role == ROLE_EMIT ? metrics[o->threshold_on] : "response");
	put_metrics(&e, r, s);
	for (int i = 0; i < ALL_TIMES; i++) {
		char name[16], digit[32] = "";

		if (label_has_time(o->role, remote, s, i) && !label_reported_twice(o->role, remote, i))
			put_variable(&e, "RANT_%s=%s", label_time_name(name, sizeof(name), r, i),
				     label_time_digits(digit + sizeof(digit) - 1, s->time_ns[i]));
	}
	*e.entry = NULL;
}
