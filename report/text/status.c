// SPDX-License-Identifier: GPL-2.0-or-later
/* Exit status of a run: first a breach that ended it, then errors, then the verdict. */
#include "report/text/status.h"

#include "options.h"
#include "result/result.h"

#include <err.h>
#include <errno.h>
#include <stdlib.h>

/* No probe was answered in time: the most specific explanation by the counters. */
static void print_nothing(const struct report *r, const char *server)
{
	const struct account *a = &r->result->account;

	if (counter_get(&a->unverified))
		warnx("nothing was measured: %s answers, but the HMAC of its replies is wrong or missing: does it have "
		      "this --key?",
		      server);
	else if (counter_get(&a->late))
		warnx("nothing was measured: %s answers, but always after --timeout: give a longer --timeout", server);
	else if (counter_get(&a->malformed) || counter_get(&a->foreign))
		warnx("nothing was measured: %s answers, but is not a STAMP reflector: no packet was a reply to "
		      "our probes",
		      server);
	else if (counter_get(&a->port_closed))
		warnx("nothing was measured: no program listens on %s (ICMP port unreachable): start a reflector there, or "
		      "give its "
		      "--port", server);
	else
		warnx("nothing was measured: %s never answered", server);
}

/* With --quiet no report has printed this. */
static void print_quiet(const struct verdict *v)
{
	size_t bytes;
	char *text = NULL;
	FILE *out = open_memstream(&text, &bytes);

	if (out) {
		verdict_write(out, v);
		fclose(out);
	}
	warnx("the measurement is %s", text ? text : verdict_levels[v->level]);
	free(text);
}

/* A reflector without requests that is ended by a signal has not failed. */
static bool was_only_waiting(const struct report *r)
{
	const struct result *result = r->result;

	return r->options->role == ROLE_REFLECT && result->end == END_SIGNAL && !counter_get(&result->account.received);
}

enum status status_judge(const struct report *r, const char *server, int write_error)
{
	const struct account *a = &r->result->account;
	const struct options *o = r->options;

	if (counter_get(&a->breaches) && !o->keep_going)
		return STATUS_BREACH;
	if (r->result->nic.after.error == -ENODEV) {
		warnx("interface '%s' was deleted during the run, or moved to another namespace: the report has what "
		      "was "
		      "measured until then", o->interface);
		return STATUS_FAILED;
	}
	if (o->role == ROLE_EMIT && !counter_get(&a->answered)) {
		print_nothing(r, server);
		return STATUS_FAILED;
	}
	if (r->result->placing.refused)
		return STATUS_FAILED; /* after its message */
	if (r->result->end == END_GIVEN_UP) {
		warnx("gave up: %s has not answered for %g s: the report has what was measured until then", server,
		      (double)o->give_up_ns / NS_PER_S);
		return STATUS_FAILED;
	}
	if (counter_get(&a->unstamped) && !counter_get(&a->recorded)) {
		warnx("nothing was recorded: a stamp is missing from every exchange (see 'Missing stamps'): try %s",
		      options_by_nic(o) ? "--stamp kernel" : "a --warmup, or --stamp user");
		return STATUS_FAILED;
	}
	if (write_error)
		return STATUS_FAILED;
	if (was_only_waiting(r) || !verdict_fails(r->verdict, o->strict))
		return STATUS_DONE;
	if (o->quiet)
		print_quiet(r->verdict);
	return STATUS_UNTRUSTED;
}
