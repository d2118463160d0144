// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The doctor: one line per finding, each with the place where it was read. It changes nothing. What cannot be read is
 * said to be so, and never taken as good or bad. Here: the order of the tables, and going through them.
 */
#include "doctor/check.h"

#include "doctor/facts.h"
#include "doctor/finding.h"
#include "doctor/rows.h"
#include "host/nic/nic.h"
#include "options.h"

#include <err.h>
#include <errno.h>
#include <string.h>

/* In the order of the lines. */
static const struct check_row *const tables[] = {
	check_stamps_rows, check_link_rows, check_refusals_rows, check_clocks_rows, check_interrupts_rows,
	check_placement_rows, check_core_rows, check_kernel_rows, check_memory_rows, check_rights_rows,
};

static void look_at_all(struct check *c)
{
	for (size_t i = 0; i < CHECK_COUNT(tables); i++) {
		for (c->row = tables[i]; c->row->subject; c->row++) {
			if (c->row->group && c->out && !c->brief)
				fprintf(c->out, "%s%s:\n", c->row == tables[0] ? "" : "\n", c->row->group);
			if (!c->row->slow || !c->brief)
				c->row->look(c);
		}
	}
}

static void plural(char text[static 32], unsigned n, const char *one, const char *many)
{
	snprintf(text, 32, "%u %s", n, n == 1 ? one : many);
}

/* Too large for a stack, and in memory that a run locks: so one for both ways to look, of which a program goes one. */
static struct check checked;

int check_machine(FILE *out, const struct options *o)
{
	struct check *const c = &checked;
	char notes[32], warnings[32], failures[32];
	int error;

	*c = (struct check){ .out = out, .options = o };
	error = nic_find(&c->nic, o->interface);
	if (error)
		return error;
	check_gather(c);
	look_at_all(c);
	nic_close(&c->nic);
	plural(notes, c->found[NOTE], "note", "notes");
	plural(warnings, c->found[WARN], "warning", "warnings");
	plural(failures, c->found[FAIL], "failure", "failures");
	if (!out)
		return (int)c->found[FAIL];
	fprintf(out, "\n%u ok, %s, %s, %s\n", c->found[OK], notes, warnings, failures);
	if (fflush(out) || ferror(out)) {
		error = errno ? -errno : -EIO;
		warnx("the findings could not be written to stdout: %s", strerror(-error));
		return error;
	}
	return (int)c->found[FAIL];
}

static void look_briefly(struct check *c, const struct nic *n)
{
	c->brief = true;
	c->nic = *n;
	c->nic.changed = false; /* what was changed is put back from the other one */
	check_gather(c);
	look_at_all(c);
}

void check_short(FILE *out, const struct options *o, const struct nic *n)
{
	checked = (struct check){ .out = out, .options = o };
	look_briefly(&checked, n);
}

void check_tell(void (*tell)(void *context, const struct check_told *told), void *context, const struct options *o,
		const struct nic *n)
{
	checked = (struct check){ .tell = tell, .context = context, .options = o };
	look_briefly(&checked, n);
}
