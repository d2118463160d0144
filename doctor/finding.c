// SPDX-License-Identifier: GPL-2.0-or-later
/* Prints findings, one line each, and counts them. */
#include "doctor/inside.h"

#include <stdarg.h>
#include <string.h>

#define LINE_BYTES 1024

static const char *const finding_names[FINDINGS] = { "ok", "note", "warn", "fail" };

/* Replaces control characters, which names of programs, drivers and interfaces may contain. */
static void print_clean(FILE *out, char *line)
{
	for (char *p = line; *p; p++)
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			*p = '?';
	fprintf(out, "%s\n", line);
}

static void report(struct check *c, enum finding f, const char *what, const char *where, const char *why,
		   const char *cure)
{
	if (c->print)
		c->print(c->context, &(struct check_reported){ finding_names[f], c->of_interface ? c->nic.name : NULL,
							       c->row->subject, what, where, why, cure });
}

void check_say(struct check *c, enum finding f, const char *where, const char *why, const char *cure,
	       const char *format, ...)
{
	char what[LINE_BYTES / 2], line[LINE_BYTES];
	va_list ap;

	c->found[f]++;
	if ((!c->out && !c->print) || (c->brief && f < WARN))
		return;
	va_start(ap, format);
	vsnprintf(what, sizeof(what), format, ap);
	va_end(ap);
	report(c, f, what, where, why, cure);
	if (!c->out)
		return;
	snprintf(line, sizeof(line), "%-4s  %s: %s (%s)%s%s%s%s", finding_names[f], c->row->subject, what, where,
		 why ? ": " : "", why ? why : "", cure ? ": " : "", cure ? cure : "");
	print_clean(c->out, line);
}

void check_not_known(struct check *c, const char *where, int error)
{
	char line[LINE_BYTES];

	c->found[NOTE]++;
	if (c->brief)
		return;
	report(c, NOTE, "unknown", where, strerror(error), NULL);
	if (!c->out)
		return;
	snprintf(line, sizeof(line), "%-4s  %s: unknown (%s: %s)", finding_names[NOTE], c->row->subject, where,
		 strerror(error));
	print_clean(c->out, line);
}

const char *check_command(struct check *c, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(c->command, sizeof(c->command), format, ap);
	va_end(ap);
	return c->command;
}
