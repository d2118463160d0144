// SPDX-License-Identifier: GPL-2.0-or-later
/* The exit status of a run: a breach that ended it comes first, then what failed, then what cannot be trusted. */
#include "report/status.h"

#include "host/link.h"
#include "measure/exchange.h"
#include "options.h"

#include <err.h>
#include <errno.h>

enum status status_judge(const struct report *r, const struct verdict_facts *f, const char *server, int write_error)
{
	const struct account *a = &r->exchange->account;
	const struct options *o = r->options;

	if (counter_get(&a->breaches) && !o->keep_going)
		return STATUS_BREACH;
	if (f->link->after.error == -ENODEV) {
		warnx("interface '%s' was deleted during the run, or moved to another namespace: the report has what was "
		      "measured until then", o->interface);
		return STATUS_FAILED;
	}
	if (o->role == ROLE_EMIT && !counter_get(&a->answered)) {
		warnx("nothing was measured: %s port %d never answered", server, (int)o->port);
		return STATUS_FAILED;
	}
	if (r->exchange->end == END_GIVEN_UP) {
		warnx("gave up: %s port %d has not answered for %g s: the report has what was measured until then", server, (int)o->port,
		      (double)o->give_up_ns / NS_PER_S);
		return STATUS_FAILED;
	}
	if (counter_get(&a->unstamped) && !counter_get(&a->recorded)) {
		warnx("nothing was recorded: a stamp is missing from every exchange (see 'Missing stamps'): try %s",
		      o->stamp == SOURCE_HARDWARE ? "--stamp kernel" : "a --warmup, or --stamp user");
		return STATUS_FAILED;
	}
	if (write_error)
		return STATUS_FAILED;
	return verdict_fails(r->verdict, o->strict) ? STATUS_UNTRUSTED : STATUS_DONE;
}
