// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads the settings, the origin and the verdict of a run from its JSON. */
#include "analyse/runs.h"

#include "analyse/blocks.h"
#include "analyse/outcome.h"
#include "analyse/run_parts.h"
#include "report/export/json_parts.h"
#include "report/text/label.h"

#include <err.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

int run_refuse(const char *path, const char *member, const char *why)
{
	warnx("%s: %s %s: give a file that --json has written", path, member, why);
	return -EINVAL;
}

bool run_count(const struct tree *t, int64_t *count)
{
	*count = 0;
	return !t || (tree_integer(t, count) && *count >= 0 && *count <= RUN_COUNT_MAX);
}

bool run_take_number(uint64_t *to, const struct tree *t)
{
	int64_t n = 0;

	if (t && (!tree_integer(t, &n) || n < 0))
		return false;
	*to = (uint64_t)n;
	return true;
}

bool run_take_u32(uint32_t *to, const struct tree *t)
{
	uint64_t n;

	if (!run_take_number(&n, t) || n > UINT32_MAX)
		return false;
	*to = (uint32_t)n;
	return true;
}

int run_index_of(const struct tree *t, const char *const list[], int first, int end)
{
	const char *text = tree_text(t);

	for (int i = first; text && i < end; i++)
		if (!strcmp(text, list[i]))
			return i;
	return -1;
}

bool run_is_true(const struct tree *t)
{
	bool yes;

	return tree_is_bool(t, &yes) && yes;
}

bool run_take_time(int64_t *ns, const struct tree *t)
{
	return tree_integer(t, ns) && *ns > -(INT64_MAX / 4) && *ns < INT64_MAX / 4;
}

bool run_take_time_or_0(int64_t *ns, const struct tree *t)
{
	*ns = 0;
	return !t || run_take_time(ns, t);
}

void run_take_text(char *to, size_t bytes, const struct tree *t)
{
	const char *text = tree_text(t);

	snprintf(to, bytes, "%s", text ? text : "");
	for (; *to; to++)
		*to = text_shown(*to);
}

/* ---- Settings ---------------------------------------------------------------------------------------------------- */

#define OPTION "configuration.options."

/* Settings that must be equal in runs that are compared or put together: the metric, its stamps, the packets and their
 * schedule. Host, address, CPU and duration may differ. docs/results.md lists the settings. `name` is for messages:
 * the option, where one sets it. */
static const struct setting {
	const char *path, *name;
} settings[] = {
	{ "run.role", "role" },
	{ "run.stamp", "--stamp" },
	{ "run.latency", "latency" },
	{ "statistics.rtt_ns.histogram.bucket_ns", "bucket width" },
	{ "statistics.rtt_ns.histogram.overflow_from_ns", "--overflow" },
	{ "accounts.reflector_stamps.stamp", "reflector's --stamp" },
	{ OPTION "stamp", "--stamp" },
	{ OPTION "transport", "--transport" },
	{ OPTION "size_bytes", "--size" },
	{ OPTION "plain", "--plain" },
	{ OPTION "dscp", "--dscp" },
	{ OPTION "priority", "--priority" },
	{ OPTION "source_ports", "--source-ports" },
	{ OPTION "ttl", "--ttl" },
	{ OPTION "interval_ns", "--interval" },
	{ OPTION "window", "--window" },
	{ OPTION "stamp_every", "--stamp-every" },
	{ OPTION "pacing", "--pacing" },
	{ OPTION "jitter_percent", "--jitter" },
	{ OPTION "poisson", "--poisson" },
	{ OPTION "timeout_ns", "--timeout" },
	{ OPTION "sw_timestamps", "--sw-timestamps" },
	{ OPTION "no_tx_ts", "--no-tx-ts" },
	{ OPTION "synced_ns", "--synced" },
	{ OPTION "overflow_ns", "--overflow" },
};

#define SETTINGS (sizeof(settings) / sizeof(settings[0]))

_Static_assert(SETTINGS <= READ_SETTINGS_MAX, "struct read holds each setting");

static bool read_setting(struct read_setting *s, const struct tree *t, const char *path)
{
	bool yes;

	*s = (struct read_setting){ .path = path };
	if (!t)
		return true;
	if (tree_is_bool(t, &yes)) {
		s->kind = SETTING_BOOL;
		s->number = yes;
		return true;
	}
	if (tree_integer(t, &s->number)) {
		s->kind = SETTING_NUMBER;
		return true;
	}
	s->kind = SETTING_TEXT;
	s->text = tree_copy_text(t);
	return s->text;
}

static bool is_same(const struct read_setting *a, const struct read_setting *b)
{
	return a->kind == b->kind && a->number == b->number && (a->kind != SETTING_TEXT || !strcmp(a->text, b->text));
}

/* A time as an option is given: in the largest unit that has no decimals. */
static void time_text(char text[64], int64_t ns)
{
	static const struct {
		int64_t ns;
		const char *name;
	} units[] = { { NS_PER_S, "s" }, { NS_PER_MS, "ms" }, { NS_PER_US, "us" }, { 1, "ns" } };
	size_t i = 0;

	while (ns % units[i].ns)
		i++;
	snprintf(text, 64, "%" PRId64 "%s", ns / units[i].ns, units[i].name);
}

static bool is_time(const char *path)
{
	const size_t length = strlen(path);

	return length > 3 && !strcmp(path + length - 3, "_ns");
}

/* Printable, without a line feed. */
static const char *value_text(char text[64], const struct read_setting *s)
{
	if (s->kind == SETTING_NULL)
		snprintf(text, 64, "not set");
	else if (s->kind == SETTING_BOOL)
		snprintf(text, 64, "%s", s->number ? "on" : "off");
	else if (s->kind == SETTING_NUMBER && is_time(s->path))
		time_text(text, s->number);
	else if (s->kind == SETTING_NUMBER)
		snprintf(text, 64, "%" PRId64, s->number);
	else
		snprintf(text, 64, "%.60s", s->text);
	for (char *c = text; *c; c++)
		*c = text_shown(*c);
	return text;
}

static const char *name_of(const char *path)
{
	size_t i = 0;

	while (strcmp(settings[i].path, path))
		i++;
	return settings[i].name;
}

/* An option that two members hold, --stamp or --overflow, is listed once. */
static void note_difference(char text[RUNS_DIFFERENCES_BYTES], const struct read_setting *a,
			    const struct read_setting *b)
{
	char one[64], other[64], line[192];

	if (is_same(a, b))
		return;
	snprintf(line, sizeof(line), "%s %s and %s", name_of(a->path), value_text(one, a), value_text(other, b));
	if (!strstr(text, line))
		text_add(text, RUNS_DIFFERENCES_BYTES, "%s%s", *text ? ", " : "", line);
}

static int refuse_differences(const char *a_path, const char *b_path, const char *differences, const char *cure)
{
	if (!*differences)
		return 0;
	warnx("%s and %s: %s: the settings differ: %s", a_path, b_path, differences, cure);
	return -EINVAL;
}

void runs_differences(char text[RUNS_DIFFERENCES_BYTES], const struct outcome *a, const struct outcome *b)
{
	*text = '\0';
	for (unsigned i = 0; i < a->read.settings && i < b->read.settings; i++)
		note_difference(text, &a->read.setting[i], &b->read.setting[i]);
}

bool runs_are_alike(const struct outcome *a, const struct outcome *b)
{
	char differences[RUNS_DIFFERENCES_BYTES];

	runs_differences(differences, a, b);
	return !refuse_differences(a->read.file[0].path, b->read.file[0].path, differences,
				   "measure both in the same way, or give --anyway");
}

/* The first run sets them. */
static int add_settings(struct outcome *o, const struct tree *root, const char *path)
{
	struct read *read = &o->read;
	const bool first = !read->settings;
	char differences[RUNS_DIFFERENCES_BYTES] = "";

	for (size_t i = 0; i < SETTINGS; i++) {
		const char *const member = settings[i].path;
		struct read_setting one;

		if (!read_setting(&one, tree_at(root, member), member))
			return run_refuse(path, member, "is neither a number nor a text");
		if (first) {
			read->setting[read->settings++] = one;
		} else {
			note_difference(differences, &read->setting[i], &one);
			free(one.text);
		}
	}
	return refuse_differences(read->file[0].path, path, differences, "only runs with the same settings add up");
}

static enum source stamp_named(const char *text)
{
	for (int i = SOURCE_USER; text && i < HOST_SOURCES; i++)
		if (label_stamps[i].option && !strcmp(text, label_stamps[i].option))
			return (enum source)i;
	return SOURCE_NONE;
}

static bool flag(const struct tree *root, const char *path)
{
	return run_is_true(tree_at(root, path));
}

/* Takes the options of the report from the first run. The latency must have the name that this version gives it,
 * so that its times are known. */
static int take_options(struct outcome *o, const struct tree *root, const char *path)
{
	const char *role = tree_text(tree_at(root, "run.role")), *latency = tree_text(tree_at(root, "run.latency"));
	const char *transport = tree_text(tree_at(root, OPTION "transport"));
	const char *details = tree_text(tree_at(root, OPTION "stages"));
	const char *pacing = tree_text(tree_at(root, OPTION "pacing"));
	struct options *to = &o->options;
	char wanted[OUTCOME_FORMULA_BYTES];
	int64_t n;

	to->role = role && !strcmp(role, role_name(ROLE_EMIT)) ? ROLE_EMIT : ROLE_REFLECT;
	if (!role || strcmp(role, role_name(to->role)))
		return run_refuse(path, "run.role", "is not valid");
	to->stamp = stamp_named(tree_text(tree_at(root, OPTION "stamp")));
	to->no_tx_stamps = flag(root, OPTION "no_tx_ts");
	to->sw_timestamps = flag(root, OPTION "sw_timestamps");
	to->plain = flag(root, OPTION "plain");
	to->stages.detail = !details || !strcmp(details, "nic") ? STAGES_NIC :
			    !strcmp(details, "kernel") ? STAGES_KERNEL : STAGES_FULL;
	to->keep_going = flag(root, OPTION "continue");
	/* the other transports are equal for a report */
	to->transport = transport && !strcmp(transport, "icmp") ? TRANSPORT_ICMP : TRANSPORT_UDP;
	to->pacing = pacing && !strcmp(pacing, "sleep") ? PACING_SLEEP : pacing && !strcmp(pacing, "spin") ? PACING_SPIN :
		     PACING_HYBRID;
	to->poisson = flag(root, OPTION "poisson");
	to->jitter_percent = run_count(tree_at(root, OPTION "jitter_percent"), &n) ? n : 0;
	to->seed = run_count(tree_at(root, OPTION "seed"), &n) ? n : 0;
	to->interval_ns = run_count(tree_at(root, OPTION "interval_ns"), &n) ? n : 0;
	to->stamp_every = run_count(tree_at(root, OPTION "stamp_every"), &n) && n ? n : 1;
	to->synced_ns = tree_integer(tree_at(root, OPTION "synced_ns"), &n) ? n : -1;
	to->interface = NULL;
	if (to->stamp == SOURCE_NONE)
		return run_refuse(path, OPTION "stamp", "is not valid");
	label_latency(to, wanted, sizeof(wanted));
	return latency && !strcmp(latency, wanted) ? 0 :
	       run_refuse(path, "run.latency", "is not that of its role and stamps");
}

/* ---- The verdict ------------------------------------------------------------------------------------------------- */

static int level_named(const char *text)
{
	for (int i = VERDICT_TRUSTED; text && i <= VERDICT_VOID; i++)
		if (!strcmp(text, verdict_levels[i]))
			return i;
	return -1;
}

static char *copy(const struct tree *t)
{
	return strdup(tree_text(t) ? tree_text(t) : "");
}

static int add_reason(struct outcome *o, const struct tree *t, const char *path)
{
	struct read_reason *more = realloc(o->read.reason, (o->read.reasons + 1) * sizeof(*more)), *r;

	if (!more)
		return -ENOMEM;
	o->read.reason = more;
	r = &o->read.reason[o->read.reasons++];
	*r = (struct read_reason){ .path = path, .name = copy(tree_member(t, "name")),
				      .found = copy(tree_member(t, "found")),
				      .why = copy(tree_member(t, "why")),
				      .id = copy(tree_member(t, "id")), .unit = copy(tree_member(t, "unit")),
				      .level = level_named(tree_text(tree_member(t, "level"))) };
	if (r->level < 0 || !run_count(tree_member(t, "number"), &r->number) ||
	    !run_count(tree_member(t, "limit"), &r->limit))
		return run_refuse(path, "verdict.reasons", "has a reason without its numbers");
	return r->name && r->found && r->why && r->id && r->unit ? 0 : -ENOMEM;
}

/* "stamps are missing (3 of 9); ..." */
static char *found_words(const struct outcome *o, unsigned from)
{
	size_t bytes = 1, at = 0;
	char *text;

	for (unsigned i = from; i < o->read.reasons; i++)
		bytes += strlen(o->read.reason[i].name) + strlen(o->read.reason[i].found) + 5;
	text = from < o->read.reasons ? calloc(1, bytes) : NULL;
	for (unsigned i = from; text && i < o->read.reasons; i++)
		at += (size_t)snprintf(text + at, bytes - at, "%s%s (%s)", i > from ? "; " : "", o->read.reason[i].name,
				       o->read.reason[i].found);
	for (char *c = text; c && *c; c++)
		*c = text_shown(*c);
	return text;
}

static int add_verdict(struct outcome *o, const struct tree *root, struct read_file *f)
{
	const struct tree *verdict = tree_member(root, "verdict"), *reasons = tree_member(verdict, "reasons");
	const unsigned from = o->read.reasons;
	int level;

	if (!verdict)
		return 0;
	level = level_named(tree_text(tree_member(verdict, "level")));
	if (level < 0)
		return run_refuse(f->path, "verdict.level", "is not valid");
	for (size_t i = 0; i < tree_length(reasons); i++) {
		int error = add_reason(o, tree_item(reasons, i), f->path);

		if (error)
			return error;
	}
	f->level = optional_of(level);
	f->found = found_words(o, from);
	if (!o->report.verdict || level > (int)o->verdict.level)
		o->verdict.level = (enum verdict_level)level;
	o->report.verdict = &o->verdict;
	return 0;
}

/* ---- The whole --------------------------------------------------------------------------------------------------- */

static int check_version(const struct tree *root, const char *path)
{
	const char *format = tree_text(tree_member(root, "format"));
	int64_t version;

	if (!format || strcmp(format, "rant")) {
		warnx("%s: is not JSON of rant: give a file that --json has written", path);
		return -EINVAL;
	}
	if (!tree_integer(tree_member(root, "schema_version"), &version) || version < 1)
		return run_refuse(path, "schema_version", "is not valid");
	if (version <= JSON_SCHEMA_VERSION)
		return 0;
	warnx("%s: has schema version %" PRId64 ", and this rant reads up to %d: use a newer rant", path, version,
	      JSON_SCHEMA_VERSION);
	return -EINVAL;
}

static int add_duration(struct outcome *o, const struct tree *root, struct read_file *f)
{
	const struct tree *duration = tree_at(root, "run.duration_ns");
	struct result *result = &o->result;
	int64_t ns;

	if (!run_count(duration, &ns))
		return run_refuse(f->path, "run.duration_ns", "is not a time");
	o->read.has_duration = duration && (o->read.has_duration || f == o->read.file);
	result->started = true;
	result->ended_ns += ns;
	return 0;
}

static int take_text(char **to, const struct tree *t)
{
	*to = tree_copy_text(t);
	return tree_text(t) && !*to ? -ENOMEM : 0;
}

static int take_number(struct optional *to, const struct tree *t, const struct read_file *f, const char *name)
{
	int64_t n;

	if (!t)
		return 0;
	if (!tree_integer(t, &n) || n < 0)
		return run_refuse(f->path, name, "is out of range");
	*to = optional_of(n);
	return 0;
}

/* Members that are kept for each run and not summed. */
static int take_origin(struct read_file *f, const struct tree *root)
{
	int error = take_text(&f->hostname, tree_at(root, "host.hostname"));

	if (!error)
		error = take_text(&f->interface, tree_at(root, "run.interface"));
	if (!error)
		error = take_number(&f->began_unix_ns, tree_at(root, "run.began_unix_ns"), f, "run.began_unix_ns");
	if (!error)
		error = take_number(&f->slots, tree_at(root, "schedule.slots"), f, "schedule.slots");
	return error ? error : take_number(&f->missed, tree_at(root, "schedule.missed"), f, "schedule.missed");
}

/* Members of a single run. Several runs have none of them. */
static int take_members(struct read *read, const struct tree *root)
{
	static const char *const paths[] = {
		"run", "verdict.not_judged", "verdict.tracing", "configuration", "host", "nic", "findings",
		"findings_left_out",
	};

	_Static_assert(sizeof(paths) / sizeof(paths[0]) <= READ_MEMBERS, "struct read holds each member");
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		struct read_member *const to = &read->member[i];
		const struct tree *from = read->files == 1 ? tree_at(root, paths[i]) : NULL;

		free(to->json);
		*to = (struct read_member){ paths[i], tree_json(from) };
		if (from && !to->json)
			return -ENOMEM;
	}
	return 0;
}

/* The schedule and the window of a single emitter, and the thread of any single run. */
static int take_schedule(struct outcome *o, const struct tree *root, const struct read_file *f)
{
	const struct tree *window = tree_member(root, "window");
	struct result *r = &o->result;

	r->window = (struct window_use){ .by_nic = options_by_nic(&o->options) && !options_place_sent(&o->options) };
	if (o->read.files > 1) {
		*r->affinity.text = '\0';
		return 0;
	}
	run_take_text(r->affinity.text, sizeof(r->affinity.text), tree_at(root, "configuration.granted.measuring_thread"));
	counter_add(&r->slots, (uint64_t)f->slots.value);
	counter_add(&r->missed, (uint64_t)f->missed.value);
	r->window.stamps_limited = run_is_true(tree_member(window, "transmit_stamps_limited"));
	return run_take_u32(&r->window.most, tree_member(window, "most")) &&
	       run_take_u32(&r->window.reached, tree_member(window, "reached")) &&
	       run_take_u32(&r->window.stamps_most, tree_member(window, "transmit_stamps_at_once")) ? 0 :
	       run_refuse(f->path, "window", "is not valid");
}

static int add_seconds(struct blocks *blocks, const struct tree *seconds, struct read_file *f)
{
	const uint32_t runs = blocks->runs;
	int error = blocks_read(blocks, seconds, f->path);

	if (blocks->runs > runs)
		f->run = runs + 1;
	return error;
}

static int add_all(struct outcome *o, const struct tree *root, struct read_file *f, struct blocks *blocks)
{
	int error = check_version(root, f->path);

	if (!error)
		error = add_settings(o, root, f->path);
	if (!error && f == o->read.file)
		error = take_options(o, root, f->path);
	f->role = o->options.role;
	if (!error)
		error = take_members(&o->read, root);
	if (!error)
		error = take_origin(f, root);
	if (!error)
		error = take_schedule(o, root, f);
	if (!error)
		error = add_duration(o, root, f);
	if (!error)
		error = run_add_statistics(o, root, f);
	if (!error)
		error = run_add_accounts(o, root, f->path);
	if (!error)
		error = add_verdict(o, root, f);
	if (!error)
		error = run_take_rhythm(o, root, f->path);
	if (!error)
		error = run_take_clocks(o, root, f->path);
	if (!error)
		error = run_take_breaches(o, root, f->path);
	if (!error)
		error = run_take_freeze(o, root, f->path);
	if (!error)
		error = run_take_activity(o, root, f->path);
	if (!error)
		error = run_take_delays(o, root, f->path);
	if (!error)
		error = run_take_evidence(o, root, f->path);
	if (!error && blocks)
		error = add_seconds(blocks, tree_member(root, "seconds"), f);
	if (error == -ENOMEM)
		warnx("%s: no memory for its contents", f->path);
	return error;
}

int runs_add(struct outcome *o, FILE *file, struct read_file *f, struct blocks *blocks)
{
	struct tree *root = tree_read(file, f->path);
	int error = root ? add_all(o, root, f, blocks) : -EINVAL;

	tree_free(root);
	return error;
}
