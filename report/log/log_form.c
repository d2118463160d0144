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

/* Wire stamps are if there are any, times of user space if they were asked for or are all there is. Of the other host, which
 * only a full log has, all are. */
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

/* Our own time then lost its source; of the other host's only what was told is missing. */
bool log_columns_unplaced(const struct log_columns *c, const struct sample *s)
{
	for (int i = 0; i < ALL_TIMES; i++)
		if (c->time[i] && !label_time(c->options->role, i)->wire &&
		    (i < THERE ? !s->source[i] : s->source[i] && !log_columns_has(c, s, i)))
			return true;
	return false;
}
