// SPDX-License-Identifier: GPL-2.0-or-later
/* What the names of a log's columns tell. report/log/log_form.c is the other side of it. */
#include "analyse/log_names.h"

#include "options.h"
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
	static const struct {
		const char *suffix;
		enum source source;
	} all[] = { { "SW", SOURCE_USER }, { "KERNEL", SOURCE_KERNEL }, { "HW", SOURCE_HARDWARE }, { "LOCAL", SOURCE_LOCAL } };

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (!strcmp(suffix, all[i].suffix))
			return all[i].source;
	return SOURCE_NONE;
}

/* Of T1 to T4 with a wire stamp and one of the program: where each stands in a sample. */
static uint8_t time_index(enum role role, char digit, bool wire)
{
	static const uint8_t emit[2] = { EMIT_T1_USER, EMIT_T4_USER }, emit_wire[2] = { EMIT_T1_WIRE, EMIT_T4_WIRE };
	const unsigned base = role == ROLE_EMIT ? THERE : 0;

	if (digit == '1' || digit == '4')
		return (wire ? emit_wire : emit)[digit == '4'];
	if (digit == '2')
		return (uint8_t)(base + (wire ? REFLECT_T2_WIRE : REFLECT_T2_USER));
	return (uint8_t)(base + (wire ? REFLECT_T3_WIRE : REFLECT_T3_USER));
}

/* Sets the source of the wire stamps of the host that has these two times. False: the two differ. */
static bool find_wire(const struct log_names *n, const char *digits, enum source *wire)
{
	*wire = SOURCE_USER;
	for (unsigned i = 0; i < n->columns; i++) {
		const char *name = n->column[i].name;
		const enum source source = name[0] == 'T' && name[1] && strchr(digits, name[1]) && name[2] == '_' ?
					   source_named(name + 3) : SOURCE_NONE;

		if (source == SOURCE_NONE || source == SOURCE_USER)
			continue;
		if (*wire != SOURCE_USER && *wire != source)
			return false;
		*wire = source;
	}
	return true;
}

/* A time of a program is one on the wire where there are no others, of the other host alone. */
static bool set_time(struct log_names *n, struct log_column *c)
{
	const char digit = c->name[1];
	const bool own = (digit == '1' || digit == '4') == (n->role == ROLE_EMIT);
	const enum source source = source_named(c->name + 3);
	const bool wire = source != SOURCE_USER || (!own && n->there == SOURCE_USER);

	if (source == SOURCE_NONE || (own && source == SOURCE_LOCAL) || (n->role == ROLE_REFLECT && !own))
		return false;
	c->kind = COLUMN_TIME;
	c->time = time_index(n->role, digit, wire);
	c->source = source;
	if (n->has[c->time])
		return false;
	n->has[c->time] = true;
	return true;
}

static bool set_column(struct log_names *n, struct log_column *c)
{
	static const struct {
		const char *name;
		enum log_column_kind kind;
	} words[] = { { "SEQ", COLUMN_SEQ }, { "RTT", COLUMN_LATENCY }, { "RESPONSE", COLUMN_RESPONSE }, { "NETWORK", COLUMN_NETWORK },
		      { "FLAGS", COLUMN_FLAGS }, { "LEFT_OUT", COLUMN_LEFT_OUT } };

	if (!*c->name)
		return true; /* octets of an array that have no name */
	if (find(n, c->name) != c)
		return false;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (!strcmp(c->name, words[i].name))
			c->kind = words[i].kind;
	if (c->kind == COLUMN_RESPONSE && n->role == ROLE_REFLECT)
		c->kind = COLUMN_LATENCY;
	if (c->kind != COLUMN_UNUSED)
		return true;
	return c->name[0] == 'T' && c->name[1] >= '1' && c->name[1] <= '4' && c->name[2] == '_' && set_time(n, c);
}

const char *log_names_read(struct log_names *n)
{
	const bool emits = find(n, "RTT");
	enum source here, there;
	bool on_wire;

	if (!find(n, "SEQ") || (!emits && !find(n, "RESPONSE")))
		return "are not those of a log: SEQ, RTT or RESPONSE is missing";
	n->role = emits ? ROLE_EMIT : ROLE_REFLECT;
	n->full = emits && find(n, "FLAGS");
	if (!find_wire(n, emits ? "14" : "23", &here) || !find_wire(n, emits ? "23" : "14", &there))
		return "have stamps of several kinds at one host";
	n->stamp = here;
	n->there = there;
	for (unsigned i = 0; i < n->columns; i++)
		if (!set_column(n, &n->column[i]))
			return "are not those of a log: one is unknown or there twice";
	on_wire = emits ? n->has[EMIT_T1_WIRE] && n->has[EMIT_T4_WIRE] : n->has[REFLECT_T2_WIRE] && n->has[REFLECT_T3_WIRE];
	stages_latency_times(n->role, on_wire, &n->from, &n->to);
	if (!n->has[n->from] || !n->has[n->to] || (emits && here != SOURCE_USER && !on_wire))
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
	o->sw_timestamps = emits ? n->has[EMIT_T1_USER] || n->has[EMIT_T4_USER] || n->has[THERE + REFLECT_T2_USER] :
				   n->has[REFLECT_T2_USER] || n->has[REFLECT_T3_USER];
	o->interface = NULL;
}
