// SPDX-License-Identifier: GPL-2.0-or-later
/* Contents of a log record, independent of the format. */
#include "report/log/log_form.h"

#include "report/text/label.h"

const struct log_form log_forms[LOG_FORMATS] = {
	[LOG_TEXT] = { "text", true, log_text_begin, log_text_record },
	[LOG_CSV] = { "csv", true, log_csv_begin, log_csv_record },
	[LOG_NPY] = { "npy", false, log_npy_begin, log_npy_record },
};

const struct log_kind log_kinds[COLUMN_KINDS] = {
	[COLUMN_UNUSED] = { "", 0, 'V', 0, false },
	[COLUMN_SEQ] = { "SEQ", LOG_SEQ_WIDTH, 'u', 4, false },
	[COLUMN_LEFT_OUT] = { "LEFT_OUT", 0, 'u', 2, false }, /* text files have notes instead */
	[COLUMN_FLAGS] = { "FLAGS", LOG_FLAGS_WIDTH, 'u', 2, true },
	[COLUMN_TIME] = { NULL, LOG_TIME_WIDTH, 'i', 8, false },
	[COLUMN_LATENCY] = { NULL, LOG_LATENCY_WIDTH, 'i', 8, false },
	[COLUMN_TIME_THERE] = { NULL, LOG_TIME_WIDTH, 'i', 8, true },
	[COLUMN_RESPONSE] = { "RESPONSE", LOG_LATENCY_WIDTH, 'i', 8, true },
	[COLUMN_NETWORK] = { "NETWORK", LOG_LATENCY_WIDTH, 'i', 8, true },
	[COLUMN_POLL_GAP] = { "POLL_GAP", LOG_LATENCY_WIDTH, 'u', 4, true },
	[COLUMN_REMOTE_POLL_GAP] = { "REMOTE_POLL_GAP", LOG_LATENCY_WIDTH, 'u', 4, true },
	[COLUMN_KERNEL] = { NULL, LOG_TIME_WIDTH, 'i', 8, true },
	[COLUMN_REMOTE_KERNEL] = { NULL, LOG_TIME_WIDTH, 'i', 8, true },
	[COLUMN_KERNEL_TRANSMIT] = { NULL, LOG_TIME_WIDTH, 'i', 8, true },
};

/* Present columns: wire timestamps if they exist, user-space times if requested or if they are the only times. All
 * columns for the other host (full log only). */
static bool is_column(const struct options *o, int64_t remote, int i)
{
	const struct label_time *t = label_time(o->role, i);
	bool transmit = *t->direction == 't';
	const int64_t host = source_of_packets(time_is_remote(i) ? remote : o->stamp, transmit);

	if (t->kernel)
		return o->log_full && label_kernel_is_taken(t, o) &&
		       (host == SOURCE_HARDWARE || (host == SOURCE_KERNEL && transmit && !t->itself));
	if (time_is_remote(i))
		return o->log_full && !label_reported_twice(o->role, remote, i);
	if (t->wire)
		return o->stamp != SOURCE_USER && !(transmit && o->no_tx_stamps);
	return o->sw_timestamps || !options_on_wire(o);
}

void log_columns_choose(struct log_columns *c, const struct options *o, int64_t remote)
{
	*c = (struct log_columns){ .options = o, .remote = remote, .full = o->log_full };
	for (int i = 0; i < ALL_TIMES; i++)
		c->time[i] = is_column(o, remote, i);
	stages_of_role(o->role, options_on_wire(o), c->stages);
}

const char *log_columns_name(const struct log_columns *c, char *text, size_t bytes, int i)
{
	return label_name(text, bytes, c->options->role, i, time_is_remote(i) ? c->remote : c->options->stamp);
}

static void list_time(const struct log_columns *c, struct log_field *field, int i)
{
	field->has_values = c->time[i];
	log_columns_name(c, field->name, sizeof(field->name), i);
}

static void list_times(const struct log_columns *c, struct log_field *list, int first)
{
	for (int i = 0; i < TIMES; i++)
		list_time(c, &list[i], first + i);
}

unsigned log_columns_list(const struct log_columns *c, struct log_field list[LOG_FIELDS_MAX])
{
	unsigned n = 0;

	for (int kind = COLUMN_SEQ; kind < COLUMN_KERNEL_TRANSMIT + log_columns_transmit(c); kind++) {
		const bool times = kind == COLUMN_TIME || kind == COLUMN_TIME_THERE || kind == COLUMN_KERNEL_TRANSMIT;
		const char *name = kind == COLUMN_LATENCY ? label_roles[c->options->role].latency :
				   log_kinds[kind].name;
		const unsigned first = n;

		for (; n < first + (times ? TIMES : 1); n++) {
			list[n] = (struct log_field){ .kind = &log_kinds[kind],
						      .has_values = c->full || !log_kinds[kind].full };
			snprintf(list[n].name, sizeof(list[n].name), "%s", name ? name : "");
		}
		if (kind == COLUMN_KERNEL || kind == COLUMN_REMOTE_KERNEL)
			list_time(c, &list[first], KERNEL_RECEIVE + kind - COLUMN_KERNEL);
		if (times)
			list_times(c, list + first, kind == COLUMN_TIME ? 0 : kind == COLUMN_TIME_THERE ? REMOTE :
				   KERNEL_QUEUE);
	}
	return n;
}

/* True if a user-space time could not be converted: it has no source (local), or was reported without a value. */
bool log_columns_unconverted(const struct log_columns *c, const struct sample *s)
{
	for (int i = 0; i < KERNEL_RECEIVE; i++)
		if (c->time[i] && !label_time(c->options->role, i)->wire &&
		    (i < REMOTE ? !s->source[i] : s->source[i] && !log_columns_has(c, s, i)))
			return true;
	return false;
}
