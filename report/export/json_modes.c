// SPDX-License-Identifier: GPL-2.0-or-later
/* Modes of the latency and its stages. */
#include "report/export/json_parts.h"
#include "report/text/report.h"
#include "report/text/sections.h"
#include "report/verdict/teeth.h"
#include "result/result.h"

static void put_mode(struct json *j, const struct modes *all, const struct mode *m)
{
	json_row(j, NULL);
	json_integer(j, "value_ns", m->value_ns);
	json_count(j, "samples", m->samples);
	json_real(j, "percent", modes_percent(all, m), 3);
	json_end(j);
}

static void put_cause(struct json *j, const struct delay *cause)
{
	if (!json_object_if(j, "cause", cause))
		return;
	json_text(j, "setting", cause->name);
	json_integer(j, "delay_ns", cause->value_ns);
	json_text(j, "cure", cause->cure);
	json_end(j);
}

static void put_tooth(struct json *j, const struct report *r, const struct tooth *t)
{
	char label[48], name[JSON_NAME_BYTES];

	json_object(j, NULL);
	json_text(j, "metric", json_name(name, sizeof(name), teeth_name(label, sizeof(label), r, t), "_ns"));
	json_count(j, "modes", t->modes.count);
	json_array(j, "largest");
	for (unsigned i = 0; i < t->modes.kept; i++)
		put_mode(j, &t->modes, &t->modes.mode[i]);
	json_end(j);
	json_integer_if(j, "distance_ns", t->modes.distance_ns, t->modes.distance_ns);
	put_cause(j, t->cause);
	json_end(j);
}

void json_modes(struct json *j, const struct report *r)
{
	if (!r->teeth) {
		json_null(j, "modes");
		return;
	}
	json_array(j, "modes");
	for (unsigned i = 0; i < r->teeth->count; i++)
		put_tooth(j, r, &r->teeth->tooth[i]);
	json_end(j);
}
