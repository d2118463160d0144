// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The doctor prints one line for each finding, with its source, and changes nothing. A value that cannot be read is
 * reported as unknown, neither good nor bad. This file has the order of the tables and calls their checks.
 */
#include "doctor/check.h"

#include "doctor/inside.h"
#include "host/nic/nic.h"
#include "host/nic/nic_best.h"
#include "options.h"

#include <err.h>
#include <errno.h>
#include <string.h>

/* In the order of the output. The first six concern one interface, the others the host. */
static const struct check_row *const tables[] = {
	check_stamps_rows, check_link_rows, check_napi_rows, check_refusals_rows, check_clocks_rows,
	check_interrupts_rows, check_placement_rows, check_core_rows, check_kernel_rows, check_memory_rows,
	check_privileges_rows,
};

#define TABLES_OF_INTERFACE 6

static void look_at_tables(struct check *c, size_t first, size_t end)
{
	for (size_t i = first; i < end; i++) {
		c->of_interface = i < TABLES_OF_INTERFACE;
		for (c->row = tables[i]; c->row->subject; c->row++) {
			if (c->row->group && c->out && !c->brief)
				fprintf(c->out, "%s%s:\n", c->row == tables[0] ? "" : "\n", c->row->group);
			if (!c->row->slow || !c->brief)
				c->row->look(c);
		}
	}
}

static void look_at_all(struct check *c)
{
	look_at_tables(c, 0, CHECK_COUNT(tables));
}

static void plural(char text[static 32], unsigned n, const char *one, const char *many)
{
	snprintf(text, 32, "%u %s", n, n == 1 ? one : many);
}

/* Static: too large for the stack, whose memory a run locks. A process uses either --check or the short form. */
static struct check checked;

/* The number of failures, or -errno after one line. */
static int print_sum(const struct check *c, FILE *out)
{
	char notes[32], warnings[32], failures[32];
	int error;

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

/* Forgets the facts of the interface before. */
static void look_at_interface(struct check *c, const struct options *o, const struct nic *n)
{
	struct check next = { .out = c->out, .print = c->print, .context = c->context, .options = o, .nic = *n };

	memcpy(next.found, c->found, sizeof(next.found));
	*c = next;
	check_gather(c);
	look_at_tables(c, 0, TABLES_OF_INTERFACE);
}

static bool any(const struct check *c)
{
	return c->found[OK] || c->found[NOTE] || c->found[WARN] || c->found[FAIL];
}

/* With the timestamp source that "rant HOST" would choose for it. False: the interface is down, or gone. */
static bool look_at_one_of_several(struct check *c, const struct options *of_all, const char *name)
{
	static struct options o; /* used by the checks of the host after this returns */
	struct options own = *of_all;
	char why[256];
	struct nic n;

	own.interface = name;
	if (nic_find(&n, name))
		return false;
	if (!(n.flags & IFF_UP) || nic_choose_stamp(&own, why)) {
		if (c->out)
			fprintf(c->out, "Interface %s: down, not checked\n", name);
		nic_close(&n);
		return false;
	}
	o = own;
	if (c->out)
		fprintf(c->out, "%sInterface %s: --stamp %s%s%s\n\n", any(c) ? "\n" : "", name,
			o.stamp == SOURCE_HARDWARE ? "hardware" : o.stamp == SOURCE_KERNEL ? "kernel" :
			o.stamp == SOURCE_RECEIVE ? "receive" : "user",
			*why ? ": " : "", why);
	look_at_interface(c, &o, &n);
	nic_close(&n);
	return true;
}

/* Every interface that is up, then the host once. The loopback only where there is nothing else. */
static int check_all_interfaces(struct check *c)
{
	struct if_nameindex *list = if_nameindex();
	const struct options *const o = c->options;
	int looked_at = 0;

	for (const struct if_nameindex *i = list; i && i->if_index; i++)
		if (strcmp(i->if_name, "lo"))
			looked_at += look_at_one_of_several(c, o, i->if_name);
	if (!looked_at)
		looked_at = look_at_one_of_several(c, o, "lo");
	if_freenameindex(list);
	if (!looked_at) {
		warnx("no interface is up: 'ip link' lists them, 'ip link set IFACE up' starts one");
		return -ENODEV;
	}
	look_at_tables(c, TABLES_OF_INTERFACE, CHECK_COUNT(tables));
	return print_sum(c, c->out);
}

int check_machine(FILE *out, check_print_fn *print, void *context, const struct options *o)
{
	struct check *const c = &checked;
	int error;

	*c = (struct check){ .out = out, .print = print, .context = context, .options = o };
	if (!o->interface)
		return check_all_interfaces(c);
	error = nic_find(&c->nic, o->interface);
	if (error)
		return error;
	check_gather(c);
	look_at_all(c);
	nic_close(&c->nic);
	return print_sum(c, out);
}

static void look_briefly(struct check *c, const struct nic *n)
{
	c->brief = true;
	c->nic = *n;
	c->nic.changed = false; /* the copy of the caller restores the setting */
	check_gather(c);
	look_at_all(c);
}

void check_short(FILE *out, const struct options *o, const struct nic *n)
{
	checked = (struct check){ .out = out, .options = o };
	look_briefly(&checked, n);
}

void check_print(check_print_fn *print, void *context, const struct options *o, const struct nic *n)
{
	checked = (struct check){ .print = print, .context = context, .options = o };
	look_briefly(&checked, n);
}
