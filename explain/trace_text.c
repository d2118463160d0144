// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The kernel's text of a trace. Facts: kernel/trace/trace_output.c (the beginning of a line), include/trace/events/
 * and arch/x86/include/asm/trace/ (TP_printk of each event), kernel/trace/trace.c (print_lat_help_header()).
 */
#include "explain/trace_text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- Names ------------------------------------------------------------------------------------------------------- */

#define SLOTS (2 * TRACE_TEXT_NAMES_MAX)
#define UNKNOWN_NAME 1

struct trace_text_names {
	uint32_t count;
	uint32_t slot[SLOTS]; /* index of a name + 1; 0: free */
	char name[TRACE_TEXT_NAMES_MAX][TRACE_TEXT_NAME_BYTES];
};

const char *trace_text_name(const struct trace_text *t, uint32_t name)
{
	return t->names && name < t->names->count ? t->names->name[name] : "?";
}

static uint32_t intern(struct trace_text_names *n, const char *text, size_t bytes)
{
	char name[TRACE_TEXT_NAME_BYTES] = "";
	uint32_t hash = 2166136261u, i; /* FNV-1a */

	if (bytes >= sizeof(name))
		bytes = sizeof(name) - 1;
	for (size_t k = 0; k < bytes; k++) {
		name[k] = (unsigned char)text[k] < 0x80 ? text_shown(text[k]) : '?';
		hash = (hash ^ (unsigned char)name[k]) * 16777619u;
	}
	for (i = hash % SLOTS; n->slot[i]; i = (i + 1) % SLOTS)
		if (!strcmp(n->name[n->slot[i] - 1], name))
			return n->slot[i] - 1;
	if (n->count == TRACE_TEXT_NAMES_MAX)
		return UNKNOWN_NAME;
	memcpy(n->name[n->count], name, sizeof(name));
	n->slot[i] = ++n->count;
	return n->count - 1;
}

uint32_t trace_text_intern(struct trace_text *t, const char *text, size_t bytes)
{
	return intern(t->names, text, bytes);
}

/* ---- Fields of a line -------------------------------------------------------------------------------------------- */

/* Reads digits; *at is set after them. False: no digit, or above `max`. */
static bool read_digits(const char **at, uint64_t max, uint64_t *value)
{
	const char *from = *at;

	for (*value = 0; **at >= '0' && **at <= '9'; ++*at) {
		*value = *value * 10 + (uint64_t)(**at - '0');
		if (*value > max)
			return false;
	}
	return *at > from;
}

/* The text after "key" in the arguments of an event, at a beginning of a word; NULL: not there. */
static const char *find_field(const char *arguments, const char *key)
{
	const size_t bytes = strlen(key);

	for (const char *at = strstr(arguments, key); at; at = strstr(at + bytes, key))
		if (at == arguments || at[-1] == ' ' || at[-1] == '[')
			return at + bytes;
	return NULL;
}

/* The last occurrence: names of tasks are chosen by programs and may contain the text of a field. */
static const char *find_last(const char *from, const char *to, const char *key)
{
	const size_t bytes = strlen(key);

	for (const char *at = to - bytes; at >= from; at--)
		if (!memcmp(at, key, bytes))
			return at;
	return NULL;
}

/* A number after "key", which may be negative, as the kernel stores it in 32 bits. */
static bool read_field(const char *arguments, const char *key, int32_t *value)
{
	const char *at = find_field(arguments, key);
	const bool negative = at && *at == '-';
	uint64_t number;

	if (!at)
		return false;
	at += negative;
	if (!read_digits(&at, UINT32_MAX, &number))
		return false;
	*value = (int32_t)(uint32_t)(negative ? -number : number);
	return true;
}

static uint32_t intern_field(struct trace_text *t, const char *arguments, const char *key, const char *end)
{
	const char *at = find_field(arguments, key);

	return at ? intern(t->names, at, strcspn(at, end)) : UNKNOWN_NAME;
}

/* ---- Arguments of events ----------------------------------------------------------------------------------------- */

static bool read_irq(struct trace_text *t, struct event *e, const char *arguments)
{
	e->name = intern_field(t, arguments, "name=", "\n"); /* it may contain spaces */
	return read_field(arguments, "irq=", &e->number) && e->number >= 0;
}

static bool read_vector(struct trace_text *t, struct event *e, const char *arguments)
{
	(void)t;
	if (!read_field(arguments, "vector=", &e->number))
		e->number = 0;
	return true;
}

/* "ipi_entry: (Function call interrupts)" of arm64. */
static bool read_ipi(struct trace_text *t, struct event *e, const char *arguments)
{
	e->name = *arguments == '(' ? intern(t->names, arguments + 1, strcspn(arguments + 1, ")")) : UNKNOWN_NAME;
	return true;
}

static bool read_softirq(struct trace_text *t, struct event *e, const char *arguments)
{
	e->name = intern_field(t, arguments, "action=", "]");
	return read_field(arguments, "vec=", &e->number) && e->number >= 0 && e->number < 32;
}

/* "perf_event_nmi_handler() delta_ns: 1234 handled: 1" */
static bool read_nmi(struct trace_text *t, struct event *e, const char *arguments)
{
	const char *at = find_field(arguments, "delta_ns: ");
	uint64_t delta_ns;

	e->name = intern(t->names, arguments, strcspn(arguments, "( "));
	if (!at || !read_digits(&at, INT32_MAX, &delta_ns))
		return false;
	e->number = (int32_t)delta_ns;
	return true;
}

static bool read_task(struct trace_text *t, struct event *e, const char *name, const char *pid, const char *prio)
{
	uint64_t number;

	e->name = intern(t->names, name, (size_t)(pid - name));
	pid = strchr(pid, '=') + 1;
	if (!read_digits(&pid, INT32_MAX, &number))
		return false;
	e->number = (int32_t)number;
	prio = strchr(prio, '=') + 1;
	e->prio = (int16_t)(*prio == '-' ? -1 : read_digits(&prio, 1000, &number) ? (int16_t)number : 120);
	return true;
}

/* "prev_comm=A prev_pid=1 prev_prio=120 prev_state=R ==> next_comm=B next_pid=2 next_prio=120" */
static bool read_switch(struct trace_text *t, struct event *e, const char *arguments)
{
	static const char next[] = " ==> next_comm=";
	const char *end = arguments + strlen(arguments);
	const char *prio = find_last(arguments, end, " next_prio=");
	const char *pid = prio ? find_last(arguments, prio, " next_pid=") : NULL;
	const char *name = pid ? find_last(arguments, pid, next) : NULL;

	if (!name)
		return false;
	return read_task(t, e, name + strlen(next), pid, prio);
}

/* "comm=A pid=1 prio=120 target_cpu=000"; older kernels have "success=1" before target_cpu. */
static bool read_waking(struct trace_text *t, struct event *e, const char *arguments)
{
	const char *end = arguments + strlen(arguments);
	const char *prio = find_last(arguments, end, " prio=");
	const char *pid = prio ? find_last(arguments, prio, " pid=") : NULL;

	if (!pid || strncmp(arguments, "comm=", 5))
		return false;
	return read_task(t, e, arguments + 5, pid, prio);
}

static bool read_idle(struct trace_text *t, struct event *e, const char *arguments)
{
	(void)t;
	return read_field(arguments, "state=", &e->number) && e->number >= -1 && e->number < 100;
}

static bool read_function(struct trace_text *t, struct event *e, const char *arguments)
{
	e->name = intern_field(t, arguments, "function=", " \n");
	return true;
}

/* "work struct 00000000a6db6585: function linkwatch_event" */
static bool read_work(struct trace_text *t, struct event *e, const char *arguments)
{
	e->name = intern_field(t, arguments, "function ", " \n");
	return true;
}

/* "napi poll on napi struct P for device NAME work 1 budget 64" */
static bool read_poll(struct trace_text *t, struct event *e, const char *arguments)
{
	e->name = intern_field(t, arguments, "device ", " \n");
	return read_field(arguments, "work ", &e->number);
}

static bool read_device(struct trace_text *t, struct event *e, const char *arguments)
{
	e->name = intern_field(t, arguments, "dev=", " \n");
	return true;
}

static bool read_ready(struct trace_text *t, struct event *e, const char *arguments)
{
	(void)t;
	return read_field(arguments, "protocol=", &e->number);
}

static bool read_nothing(struct trace_text *t, struct event *e, const char *arguments)
{
	(void)t, (void)e, (void)arguments;
	return true;
}

static const struct trace_event_row rows[] = {
	{ "irq", "irq_handler_entry", EVENT_IRQ_ENTRY, read_irq, NULL },
	{ "irq", "irq_handler_exit", EVENT_IRQ_EXIT, read_irq, NULL },
	{ "irq", "softirq_raise", EVENT_SOFTIRQ_RAISE, read_softirq, NULL },
	{ "irq", "softirq_entry", EVENT_SOFTIRQ_ENTRY, read_softirq, NULL },
	{ "irq", "softirq_exit", EVENT_SOFTIRQ_EXIT, read_softirq, NULL },
	{ "irq_vectors", "local_timer_entry", EVENT_VECTOR_ENTRY, read_vector, "local timer" },
	{ "irq_vectors", "local_timer_exit", EVENT_VECTOR_EXIT, read_vector, "local timer" },
	{ "irq_vectors", "reschedule_entry", EVENT_VECTOR_ENTRY, read_vector, "reschedule" },
	{ "irq_vectors", "reschedule_exit", EVENT_VECTOR_EXIT, read_vector, "reschedule" },
	{ "irq_vectors", "call_function_entry", EVENT_VECTOR_ENTRY, read_vector, "call function" },
	{ "irq_vectors", "call_function_exit", EVENT_VECTOR_EXIT, read_vector, "call function" },
	{ "irq_vectors", "call_function_single_entry", EVENT_VECTOR_ENTRY, read_vector, "call function single" },
	{ "irq_vectors", "call_function_single_exit", EVENT_VECTOR_EXIT, read_vector, "call function single" },
	{ "irq_vectors", "irq_work_entry", EVENT_VECTOR_ENTRY, read_vector, "irq work" },
	{ "irq_vectors", "irq_work_exit", EVENT_VECTOR_EXIT, read_vector, "irq work" },
	{ "irq_vectors", "thermal_apic_entry", EVENT_VECTOR_ENTRY, read_vector, "thermal" },
	{ "irq_vectors", "thermal_apic_exit", EVENT_VECTOR_EXIT, read_vector, "thermal" },
	{ "irq_vectors", "threshold_apic_entry", EVENT_VECTOR_ENTRY, read_vector, "threshold" },
	{ "irq_vectors", "threshold_apic_exit", EVENT_VECTOR_EXIT, read_vector, "threshold" },
	{ "irq_vectors", "deferred_error_apic_entry", EVENT_VECTOR_ENTRY, read_vector, "deferred error" },
	{ "irq_vectors", "deferred_error_apic_exit", EVENT_VECTOR_EXIT, read_vector, "deferred error" },
	{ "irq_vectors", "error_apic_entry", EVENT_VECTOR_ENTRY, read_vector, "error" },
	{ "irq_vectors", "error_apic_exit", EVENT_VECTOR_EXIT, read_vector, "error" },
	{ "irq_vectors", "spurious_apic_entry", EVENT_VECTOR_ENTRY, read_vector, "spurious" },
	{ "irq_vectors", "spurious_apic_exit", EVENT_VECTOR_EXIT, read_vector, "spurious" },
	{ "irq_vectors", "x86_platform_ipi_entry", EVENT_VECTOR_ENTRY, read_vector, "platform" },
	{ "irq_vectors", "x86_platform_ipi_exit", EVENT_VECTOR_EXIT, read_vector, "platform" },
	{ "ipi", "ipi_entry", EVENT_VECTOR_ENTRY, read_ipi, NULL },
	{ "ipi", "ipi_exit", EVENT_VECTOR_EXIT, read_ipi, NULL },
	{ "nmi", "nmi_handler", EVENT_NMI, read_nmi, NULL },
	{ "sched", "sched_switch", EVENT_SWITCH, read_switch, NULL },
	{ "sched", "sched_waking", EVENT_WAKING, read_waking, NULL },
	{ "power", "cpu_idle", EVENT_IDLE, read_idle, NULL },
	{ "timer", "hrtimer_expire_entry", EVENT_HRTIMER_ENTRY, read_function, NULL },
	{ "timer", "hrtimer_expire_exit", EVENT_HRTIMER_EXIT, read_nothing, NULL },
	{ "timer", "timer_expire_entry", EVENT_TIMER_ENTRY, read_function, NULL },
	{ "timer", "timer_expire_exit", EVENT_TIMER_EXIT, read_nothing, NULL },
	{ "irq", "tasklet_entry", EVENT_TIMER_ENTRY, read_function, NULL },
	{ "irq", "tasklet_exit", EVENT_TIMER_EXIT, read_nothing, NULL },
	{ "irq", "tasklet_hi_entry", EVENT_TIMER_ENTRY, read_function, NULL },
	{ "irq", "tasklet_hi_exit", EVENT_TIMER_EXIT, read_nothing, NULL },
	{ "workqueue", "workqueue_execute_start", EVENT_WORK_START, read_work, NULL },
	{ "workqueue", "workqueue_execute_end", EVENT_WORK_END, read_nothing, NULL },
	{ "napi", "napi_poll", EVENT_NAPI_POLL, read_poll, NULL },
	{ "net", "netif_receive_skb_entry", EVENT_RECEIVE, read_device, NULL },
	{ "net", "napi_gro_receive_entry", EVENT_RECEIVE, read_device, NULL },
	{ "net", "net_dev_queue", EVENT_QUEUE, read_device, NULL },
	{ "net", "net_dev_start_xmit", EVENT_XMIT, read_device, NULL },
	{ "net", "net_dev_xmit", EVENT_XMIT_END, read_device, NULL },
	{ "sock", "sk_data_ready", EVENT_DATA_READY, read_ready, NULL },
	{ "skb", "consume_skb", EVENT_CONSUME, read_nothing, NULL },
};

const struct trace_event_row *trace_text_row(size_t n)
{
	return n < sizeof(rows) / sizeof(rows[0]) ? &rows[n] : NULL;
}

/* ---- Lines ------------------------------------------------------------------------------------------------------- */

/* State while a file is read. */
struct reader {
	struct trace_text *t;
	size_t space; /* elements of t->event */
	int64_t last_ns;
	uint32_t lost[TRACE_TEXT_CPUS_MAX]; /* events lost before the next event of a CPU; 0: none */
};

static int grow(struct reader *r)
{
	struct trace_text *t = r->t;

	if (t->count < r->space)
		return 0;
	if (r->space == TRACE_TEXT_EVENTS_MAX) {
		const size_t half = TRACE_TEXT_EVENTS_MAX / 2;

		memmove(t->event, t->event + half, (t->count - half) * sizeof(*t->event));
		t->count -= half;
		t->dropped += half;
		return 0;
	}

	const size_t space = r->space ? 2 * r->space : 4096;
	struct event *more = realloc(t->event, space * sizeof(*more));

	if (!more)
		return -ENOMEM;
	t->event = more;
	r->space = space;
	return 0;
}

static int add_event(struct reader *r, const struct event *e)
{
	const int error = grow(r);

	if (error)
		return error;
	r->t->event[r->t->count++] = *e;
	r->t->kinds |= 1ULL << e->kind;
	return 0;
}

static void read_header(struct trace_text *t, const char *line)
{
	static const char clock[] = "# Trace clock: ", buffer[] = "# Buffer: ", lost[] = ", of all CPUs: ";
	static const char kernel[] = "# Kernel: ";
	const char *at;
	uint64_t number;

	if (!strncmp(line, clock, strlen(clock))) {
		snprintf(t->clock, sizeof(t->clock), "%.*s", (int)strcspn(line + strlen(clock), " \n"),
			 line + strlen(clock));
		for (char *c = t->clock; *c; c++)
			*c = text_shown(*c);
	}
	t->x86 |= !strncmp(line, kernel, strlen(kernel)) && strstr(line, "x86_64");
	if (strncmp(line, buffer, strlen(buffer)))
		return;
	at = line + strlen(buffer);
	if (read_digits(&at, UINT32_MAX, &number))
		t->buffer_kib = number;
	at = strstr(line, lost);
	if (at && (at += strlen(lost), read_digits(&at, INT64_MAX / 10, &number))) {
		t->lost_known = true;
		t->lost_before = number;
	}
}

/* "CPU:1 [LOST 123 EVENTS]", before the next line of this CPU; without a number the kernel does not know it. */
static bool read_lost(struct reader *r, const char *line)
{
	uint64_t cpu, lost = 1;
	const char *at = line + 4;

	if (strncmp(line, "CPU:", 4) || !read_digits(&at, TRACE_TEXT_CPUS_MAX - 1, &cpu) ||
	    strncmp(at, " [LOST ", 7))
		return false;
	at += 7;
	if (!read_digits(&at, INT32_MAX, &lost) || !lost)
		lost = 1;
	r->lost[cpu] = (uint32_t)lost;
	r->t->lost += lost;
	return true;
}

/* The beginning of a line, "%16s-%-7d [%03d] FLAGS SECONDS.MICROSECONDS: ". Returns the text after it; NULL: it is
 * not such a line. */
static const char *read_begin(struct trace_text *t, struct event *e, const char *line)
{
	const char *task = line, *dash, *bracket, *at;
	uint64_t number, fraction;

	/* A name has at most 15 octets, with blanks before it, and may contain '-'. */
	dash = strlen(line) > 17 && line[16] == '-' ? line + 16 : NULL;
	if (!dash)
		return NULL;
	at = dash + 1;
	if (!read_digits(&at, INT32_MAX, &number))
		return NULL;
	e->pid = (int32_t)number;
	bracket = strchr(at, '['); /* "(  tgid) " may be before it */
	if (!bracket)
		return NULL;
	task += strspn(task, " ");
	e->task = intern(t->names, task, (size_t)(dash > task ? dash - task : 0));
	at = bracket + 1;
	if (!read_digits(&at, TRACE_TEXT_CPUS_MAX - 1, &number) || *at++ != ']')
		return NULL;
	e->cpu = (uint16_t)number;
	at += strspn(at, " ");
	if (*at < '0' || *at > '9') { /* the option irq-info prints flags */
		const size_t flags = strcspn(at, " \n");

		if (flags < 4 || flags > 8) /* five since 5.17 */
			return NULL;
		e->irqs = at[0];
		e->context = at[2];
		at += flags;
		at += strspn(at, " ");
	}
	if (!read_digits(&at, INT64_MAX / NS_PER_S - 1, &number) || *at++ != '.')
		return NULL;

	const char *point = at;

	if (!read_digits(&at, 999999, &fraction) || at != point + 6 || strncmp(at, ": ", 2))
		return NULL;
	e->ns = (int64_t)number * NS_PER_S + (int64_t)fraction * NS_PER_US;
	return at + 2;
}

void trace_text_note_marker(struct trace_text *t, const struct event *e, const char *text)
{
	struct trace_marker *m = !strncmp(text, "RANT_BREACH ", 12) ? &t->breach :
				 !strncmp(text, "RANT_TEST_START ", 16) ? &t->start : NULL;

	if (!m)
		return;
	*m = (struct trace_marker){ .ns = e->ns, .pid = e->pid, .cpu = e->cpu };
	snprintf(m->task, sizeof(m->task), "%s", trace_text_name(t, e->task));
	snprintf(m->text, sizeof(m->text), "%.*s", (int)strcspn(text, "\n"), text);
}

/* True: the arguments have been read into *e. */
static bool read_arguments(struct trace_text *t, struct event *e, const char *event)
{
	const size_t bytes = strcspn(event, ": \n");
	const char *arguments = event + bytes;

	if (strncmp(arguments, ": ", 2) && strcmp(arguments, ":\n") && strcmp(arguments, ":"))
		return false;
	arguments += arguments[1] == ' ' ? 2 : 1;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (strlen(rows[i].event) != bytes || memcmp(rows[i].event, event, bytes))
			continue;
		e->kind = (uint8_t)rows[i].kind;
		e->name = rows[i].name ? intern(t->names, rows[i].name, strlen(rows[i].name)) : 0;
		return rows[i].read(t, e, arguments);
	}
	if (!strncmp(arguments, "RANT_", 5)) {
		e->kind = EVENT_PRINT;
		trace_text_note_marker(t, e, arguments);
		return true;
	}
	t->unknown++;
	return true;
}

static int read_line(struct reader *r, const char *line)
{
	struct trace_text *t = r->t;
	struct event e = { .kind = EVENT_OTHER };
	const char *event;
	int error = 0;

	if (*line == '#') {
		read_header(t, line);
		return 0;
	}
	if (*line == '\n' || !*line || read_lost(r, line))
		return 0;
	event = read_begin(t, &e, line);
	if (!event || e.ns < r->last_ns || !read_arguments(t, &e, event)) {
		t->malformed++;
		return 0;
	}
	r->last_ns = e.ns;
	if (r->lost[e.cpu]) {
		error = add_event(r, &(struct event){ .ns = e.ns, .cpu = e.cpu, .kind = EVENT_LOST, .pid = e.pid,
						      .task = e.task, .number = (int32_t)r->lost[e.cpu] });
		r->lost[e.cpu] = 0;
	}
	return error ? error : add_event(r, &e);
}

int trace_text_read(struct trace_text *t, FILE *file)
{
	struct reader *r = calloc(1, sizeof(*r));
	char line[TRACE_TEXT_LINE_BYTES];
	bool whole = true; /* the previous part ended a line */
	int error = 0;

	*t = (struct trace_text){ .names = calloc(1, sizeof(*t->names)), .resolution_ns = TRACE_TEXT_NS };
	if (!r || !t->names) {
		free(r);
		return -ENOMEM;
	}
	r->t = t;
	r->last_ns = INT64_MIN;
	intern(t->names, "", 0);
	intern(t->names, "?", 1);
	rewind(file);
	while (!error && fgets(line, sizeof(line), file)) {
		const bool ends = strchr(line, '\n');

		/* The last line of a truncated file is not complete. */
		if (!ends && feof(file))
			t->cut_off = true;
		else if (whole)
			error = read_line(r, line);
		whole = ends;
	}
	free(r);
	return error;
}

size_t trace_text_first(const struct trace_text *t, int64_t ns)
{
	size_t low = 0, high = t->count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (t->event[middle].ns < ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

void trace_text_free(struct trace_text *t)
{
	free(t->event);
	free(t->names);
	*t = (struct trace_text){ 0 };
}
