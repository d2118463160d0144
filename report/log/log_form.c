// SPDX-License-Identifier: GPL-2.0-or-later
/* What a record of the log has, whatever the form. */
#include "report/log/log_form.h"

#include "report/log/log_npy.h"
#include "report/log/log_text.h"
#include "report/text/label.h"

const struct log_form log_forms[LOG_FORMATS] = {
	[LOG_TEXT] = { "text", true, log_text_begin, log_text_record },
	[LOG_CSV] = { "csv", true, log_csv_begin, log_csv_record },
	[LOG_NPY] = { "npy", false, log_npy_begin, log_npy_record },
};

const struct log_kind log_kinds[COLUMN_KINDS] = {
	[COLUMN_UNUSED] = { "", 0, 'V', 0, false },
	[COLUMN_SEQ] = { "SEQ", LOG_SEQ_WIDTH, 'u', 4, false },
	[COLUMN_LEFT_OUT] = { "LEFT_OUT", 0, 'u', 2, false }, /* a text has notes */
	[COLUMN_FLAGS] = { "FLAGS", LOG_FLAGS_WIDTH, 'u', 2, true },
	[COLUMN_TIME] = { NULL, LOG_TIME_WIDTH, 'i', 8, false },
	[COLUMN_LATENCY] = { NULL, LOG_LATENCY_WIDTH, 'i', 8, false },
	[COLUMN_TIME_THERE] = { NULL, LOG_TIME_WIDTH, 'i', 8, true },
	[COLUMN_RESPONSE] = { "RESPONSE", LOG_LATENCY_WIDTH, 'i', 8, true },
	[COLUMN_NETWORK] = { "NETWORK", LOG_LATENCY_WIDTH, 'i', 8, true },
};

/* Wire stamps are if there are any, times of user space if they were asked for or are all there is. Of the other host,
 * which only a full log has, all are. */
static bool is_column(const struct options *o, int64_t there, int i)
{
	const struct label_time *t = label_time(o->role, i);
	bool transmit = *t->direction == 't';

	if (i >= THERE)
		return o->log_full && !label_told_twice(o->role, there, i);
	if (t->wire)
		return o->stamp != SOURCE_USER && !(transmit && o->no_tx_stamps);
	return o->sw_timestamps || !options_on_wire(o);
}

void log_columns_choose(struct log_columns *c, const struct options *o, int64_t there)
{
	*c = (struct log_columns){ .options = o, .there = there, .full = o->log_full };
	for (int i = 0; i < ALL_TIMES; i++)
		c->time[i] = is_column(o, there, i);
	stages_of_role(o->role, options_on_wire(o), c->stages);
}

const char *log_columns_name(const struct log_columns *c, char *text, size_t bytes, int i)
{
	return label_name(text, bytes, c->options->role, i, i < THERE ? c->options->stamp : c->there);
}

static void list_times(const struct log_columns *c, struct log_field *list, int first)
{
	for (int i = 0; i < TIMES; i++) {
		list[i].has_values = c->time[first + i];
		log_columns_name(c, list[i].name, sizeof(list[i].name), first + i);
	}
}

unsigned log_columns_list(const struct log_columns *c, struct log_field list[LOG_FIELDS_MAX])
{
	unsigned n = 0;

	for (int kind = COLUMN_SEQ; kind < COLUMN_KINDS; kind++) {
		const bool times = kind == COLUMN_TIME || kind == COLUMN_TIME_THERE;
		const char *name = kind == COLUMN_LATENCY ? label_roles[c->options->role].latency :
				   log_kinds[kind].name;
		const unsigned first = n;

		for (; n < first + (times ? TIMES : 1); n++) {
			list[n] = (struct log_field){ .kind = &log_kinds[kind],
						      .has_values = c->full || !log_kinds[kind].full };
			snprintf(list[n].name, sizeof(list[n].name), "%s", name ? name : "");
		}
		if (times)
			list_times(c, list + first, kind == COLUMN_TIME ? 0 : THERE);
	}
	return n;
}

/* Our own time then lost its source; of the other host's only what was told is missing. */
bool log_columns_unplaced(const struct log_columns *c, const struct sample *s)
{
	for (int i = 0; i < ALL_TIMES; i++)
		if (c->time[i] && !label_time(c->options->role, i)->wire &&
		    (i < THERE ? !s->source[i] : s->source[i] && !log_columns_has(c, s, i)))
			return true;
	return false;
}
