// SPDX-License-Identifier: GPL-2.0-or-later
/* Meaning of the column names of a log. log_kinds[] and report/text/label.c define the names. */
#include "analyse/log_names.h"

#include "options.h"
#include "report/text/label.h"
#include "result/stages.h"

bool log_names_add(struct log_names *n, const char *name, size_t bytes)
{
	struct log_column *c = &n->column[n->columns];

	if (n->columns == LOG_COLUMNS_MAX || bytes >= sizeof(c->name))
		return false;
	*c = (struct log_column){ .kind = COLUMN_UNUSED };
	memcpy(c->name, name, bytes);
	n->columns++;
	return true;
}

static const struct log_column *find(const struct log_names *n, const char *name)
{
	for (unsigned i = 0; i < n->columns; i++)
		if (!strcmp(n->column[i].name, name))
			return &n->column[i];
	return NULL;
}

static enum source source_named(const char *suffix)
{
	for (int i = SOURCE_USER; i < SOURCES; i++)
		if (!strcmp(suffix, label_stamps[i].suffix))
			return (enum source)i;
	return SOURCE_NONE;
}

/* Sets the source of the wire stamps of the host that has these two times. False: the two differ. A kernel's time
 * beside the NIC's timestamp is none of them. */
static bool find_wire(const struct log_names *n, const char *digits, enum source *wire)
{
	*wire = SOURCE_USER;
	for (unsigned i = 0; i < n->columns; i++) {
		const char *name = n->column[i].name;
		const enum source source = name[0] == 'T' && name[1] && strchr(digits, name[1]) && name[2] == '_' ?
					   source_named(name + 3) : SOURCE_NONE;

		if (source == SOURCE_NONE || source == SOURCE_USER)
			continue;
		if (*wire == SOURCE_HARDWARE && source == SOURCE_KERNEL)
			continue;
		if (*wire != SOURCE_USER && *wire != source && !(*wire == SOURCE_KERNEL && source == SOURCE_HARDWARE))
			return false;
		*wire = source;
	}
	return true;
}

/* The log of a reflector has no times of the emitter. */
static bool set_time(struct log_names *n, struct log_column *c)
{
	const enum source source = source_named(c->name + 3);

	for (int i = 0; i < ALL_TIMES; i++) {
		if (n->role == ROLE_REFLECT && time_is_remote(i))
			continue;

		const struct label_time *t = label_time(n->role, i);
		const bool transmit = t->suffix && !strcmp(c->name + 3, t->suffix);
		const enum source host = time_is_remote(i) ? n->remote : n->stamp;
		const bool kernel = source == SOURCE_KERNEL && host == SOURCE_HARDWARE;
		/* Only for the other host: without wire timestamps the times of its program take their place. */
		const bool wire = source != SOURCE_USER || (time_is_remote(i) && n->remote == SOURCE_USER);

		if (strncmp(c->name, t->name, 2) || (t->suffix && !transmit) ||
		    (!t->suffix && (source == SOURCE_NONE || t->kernel != kernel || (!kernel && t->wire != wire))))
			continue;
		if (n->has[i] || (!time_is_remote(i) && source == SOURCE_LOCAL))
			return false;
		c->kind = COLUMN_TIME;
		c->time = (uint8_t)i;
		c->source = transmit ? SOURCE_KERNEL : source;
		return n->has[i] = true;
	}
	return false;
}

static enum log_column_kind kind_named(const struct log_names *n, const char *name)
{
	if (!strcmp(name, label_roles[n->role].latency))
		return COLUMN_LATENCY;
	for (int kind = COLUMN_SEQ; kind < COLUMN_KINDS; kind++)
		if (log_kinds[kind].name && !strcmp(name, log_kinds[kind].name))
			return (enum log_column_kind)kind;
	return COLUMN_UNUSED;
}

static bool set_column(struct log_names *n, struct log_column *c)
{
	if (!*c->name)
		return true; /* octets of an array without a column name */
	if (find(n, c->name) != c)
		return false;
	c->kind = kind_named(n, c->name);
	return c->kind != COLUMN_UNUSED || (c->name[0] == 'T' && c->name[1] && c->name[2] == '_' && set_time(n, c));
}

const char *log_names_read(struct log_names *n)
{
	const bool emits = find(n, "RTT");
	enum source local, remote;
	bool on_wire;

	if (!find(n, "SEQ") || (!emits && !find(n, "RESPONSE")))
		return "are not those of a log: SEQ, RTT or RESPONSE is missing";
	n->role = emits ? ROLE_EMIT : ROLE_REFLECT;
	n->full = emits && find(n, "FLAGS");
	if (!find_wire(n, emits ? "14" : "23", &local) || !find_wire(n, emits ? "23" : "14", &remote))
		return "have stamps of several kinds at one host";
	n->stamp = local;
	n->remote = remote;
	for (unsigned i = 0; i < n->columns; i++)
		if (!set_column(n, &n->column[i]))
			return "are not those of a log: a column is unknown or duplicated";
	/* With timestamps of the kernel they are the times at the driver: see sample_note_driver(). */
	n->has[KERNEL_DRIVER] |= n->has[KERNEL_QUEUE] && local == SOURCE_KERNEL;
	n->has[REMOTE_KERNEL_DRIVER] |= n->has[REMOTE_KERNEL_QUEUE] && remote == SOURCE_KERNEL;
	on_wire = emits ? n->has[EMIT_T1_WIRE] && n->has[EMIT_T4_WIRE] :
			  n->has[REFLECT_T2_WIRE] && n->has[REFLECT_T3_WIRE];
	stages_latency_times(n->role, on_wire, &n->from, &n->to);
	if (!n->has[n->from] || !n->has[n->to] || (emits && local != SOURCE_USER && !on_wire))
		return "are not those of a log: a time of the latency is missing";
	return NULL;
}

void log_names_options(const struct log_names *n, struct options *o)
{
	const bool emits = n->role == ROLE_EMIT;

	o->role = n->role;
	o->stamp = n->stamp;
	o->plain = emits && !n->full;
	o->log_full = n->full;
	o->no_tx_stamps = !emits && n->stamp != SOURCE_USER && !n->has[REFLECT_T3_WIRE];
	o->sw_timestamps = emits ? n->has[EMIT_T1_USER] || n->has[EMIT_T4_USER] || n->has[REMOTE + REFLECT_T2_USER] :
				   n->has[REFLECT_T2_USER] || n->has[REFLECT_T3_USER];
	o->stages.detail = n->has[KERNEL_QUEUE] || n->has[REMOTE_KERNEL_QUEUE] ? STAGES_FULL :
			   n->has[KERNEL_RECEIVE] ? STAGES_KERNEL : STAGES_NIC;
	o->interface = NULL;
}
