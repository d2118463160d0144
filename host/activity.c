// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the machine was doing: counters that the kernel and the NIC keep anyway, read before and after, never between.
 * All of /proc is read by one parser of lines (a label, numbers, the rest), since lines can have thousands of columns.
 */
#include "host/activity.h"

#include "host/nic.h"
#include "host/nic_abilities.h"

#include <ctype.h>
#include <dirent.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/ethtool.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <unistd.h>

#define CPUS 8192 /* as many as Linux can have */
#define ROWS 1024 /* of /proc/interrupts */
#define VECTORS 2048 /* interrupts of one PCI function, at most (PCI 3.0: MSI-X table) */
#define VECTOR_CPUS 32 /* whose softirqs are told */
#define SINGLES 160 /* files with one number */
#define IDLE_STATES 10 /* CPUIDLE_STATE_MAX */
#define STATISTICS 16384 /* of a driver, told or not */
#define FILE_MAX_BYTES (64 << 20) /* of a file in /proc: the kernel's are far smaller, and an end must be there */
#define SMI_MSR 0x34 /* MSR_SMI_COUNT, Intel SDM volume 4 */
#define NONE UINT16_MAX

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const char *root = ""; /* the tests put another tree there */

enum group {
	GROUP_THREAD, GROUP_CPU, GROUP_INTERRUPTS, GROUP_SOFTIRQS, GROUP_VECTORS, GROUP_VECTOR_SOFTIRQS, GROUP_LINK,
	GROUP_STATISTICS, GROUP_STAMPS, GROUPS
};

enum kind { COUNT_64, COUNT_32, SUM_32 /* over the CPUs that are online */, LEVEL };

enum file { STATUS, SCHED, SCHEDSTAT, TASK_STAT, INTERRUPTS, SOFTIRQS, STAT, NET_DEV, MSR, FILES };

struct slot {
	char name[96];
	const char *unit;
	uint8_t group, kind;
	bool row; /* of /proc/interrupts: where there is none, it has never come */
	bool interrupts; /* the measuring CPU, when it is read */
};

struct row {
	char label[32];
	uint16_t cpu_slot, vector_slot;
};

struct text {
	int fd, c; /* c: the current character, or EOF */
	off_t at;
	size_t used, filled;
	int error;
	char buffer[4096];
};

struct line {
	char label[32], rest[160];
	unsigned numbers;
	bool odd; /* a number more than there are columns */
};

struct activity_inside {
	bool opening;
	int fd[FILES];
	char group[GROUPS][64];
	struct slot slot[ACTIVITY_COUNTERS];
	unsigned slots;
	struct row row[ROWS];
	unsigned rows, next_row;
	struct {
		int fd;
		uint16_t slot;
	} single[SINGLES];
	unsigned singles;
	unsigned vector[VECTORS], vectors; /* interrupt numbers that belong to the NIC, as sysfs lists them */
	char bus[ETHTOOL_BUSINFO_LEN]; /* "" if not known */
	int vector_cpu[VECTOR_CPUS];
	uint16_t vector_softirq[VECTOR_CPUS][2]; /* NET_RX, NET_TX */
	unsigned vector_cpus;
	struct ethtool_stats *statistics;
	size_t statistics_bytes; /* mapped */
	uint32_t statistics_count;
	struct {
		uint32_t index;
		uint16_t slot;
	} told[ACTIVITY_COUNTERS];
	unsigned tolds;
	uint16_t stamp_slot[3], smi_slot;
	uint16_t field_slot[32];
	uint16_t cpu_of[CPUS]; /* of a column */
	unsigned columns;
	uint64_t number[CPUS]; /* of a line */
	struct text text;
	struct line line;
	struct activity_reading first;
};

/* Single numbers in files of /proc. The label "@" is the interface, "#" the measuring CPU, NULL the first line. */
static const struct field {
	enum file file;
	const char *label;
	unsigned column;
	enum group group;
	enum kind kind;
	const char *name, *unit;
} fields[] = {
	{ STATUS, "voluntary_ctxt_switches", 0, GROUP_THREAD, COUNT_64, "voluntary context switches", "" },
	{ STATUS, "nonvoluntary_ctxt_switches", 0, GROUP_THREAD, COUNT_64, "involuntary context switches", "" },
	{ SCHED, "se.nr_migrations", 0, GROUP_THREAD, COUNT_64, "migrations to another CPU", "" },
	{ SCHEDSTAT, NULL, 0, GROUP_THREAD, COUNT_64, "waited for the CPU", "ns" },
	{ TASK_STAT, NULL, 6, GROUP_THREAD, COUNT_64, "minor page faults", "" },
	{ TASK_STAT, NULL, 8, GROUP_THREAD, COUNT_64, "major page faults", "" },
	{ TASK_STAT, NULL, 35, GROUP_THREAD, LEVEL, "runs on CPU", "" },
	{ STAT, "#", 7, GROUP_CPU, COUNT_64, "stolen by the hypervisor", "ms" },
	{ NET_DEV, "@", 2, GROUP_LINK, COUNT_64, "receive errors", "" },
	{ NET_DEV, "@", 3, GROUP_LINK, COUNT_64, "receive drops", "" },
	{ NET_DEV, "@", 4, GROUP_LINK, COUNT_64, "receive FIFO errors", "" },
	{ NET_DEV, "@", 5, GROUP_LINK, COUNT_64, "receive frame errors", "" },
	{ NET_DEV, "@", 10, GROUP_LINK, COUNT_64, "transmit errors", "" },
	{ NET_DEV, "@", 11, GROUP_LINK, COUNT_64, "transmit drops", "" },
	{ NET_DEV, "@", 12, GROUP_LINK, COUNT_64, "transmit FIFO errors", "" },
	{ NET_DEV, "@", 13, GROUP_LINK, COUNT_64, "collisions", "" },
	{ NET_DEV, "@", 14, GROUP_LINK, COUNT_64, "carrier errors", "" },
};

/* %d: the thread. */
static const struct {
	const char *path, *what;
	bool of_cpu;
} files[] = {
	[STATUS] = { "/proc/self/task/%d/status", "context switches", false },
	[SCHED] = { "/proc/self/task/%d/sched", "migrations", false },
	[SCHEDSTAT] = { "/proc/self/task/%d/schedstat", "time waited for the CPU", false },
	[TASK_STAT] = { "/proc/self/task/%d/stat", "page faults", false },
	[INTERRUPTS] = { "/proc/interrupts", "interrupts", false },
	[SOFTIRQS] = { "/proc/softirqs", "softirqs", false },
	[STAT] = { "/proc/stat", "time stolen by the hypervisor", true },
	[NET_DEV] = { "/proc/net/dev", "errors and drops of the interface", false },
};

/* ---- Small things ---------------------------------------------------------------------------------------------- */

__attribute__((format(printf, 2, 3))) static void note(struct activity *a, const char *format, ...)
{
	va_list ap;

	if (a->unreadables == ACTIVITY_UNREADABLE) {
		a->unreadables_left_out++;
		return;
	}
	va_start(ap, format);
	vsnprintf(a->unreadable[a->unreadables++], sizeof(a->unreadable[0]), format, ap);
	va_end(ap);
}

__attribute__((format(printf, 1, 2))) static int open_file(const char *format, ...)
{
	char path[PATH_MAX];
	size_t used = (size_t)snprintf(path, sizeof(path), "%s", root);
	va_list ap;
	int fd;

	if (used >= sizeof(path))
		return -ENAMETOOLONG;
	va_start(ap, format);
	vsnprintf(path + used, sizeof(path) - used, format, ap);
	va_end(ap);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	return fd < 0 ? -errno : fd;
}

/* What drivers and files say goes to a terminal. */
static void make_printable(char *text)
{
	for (; *text; text++)
		if (*text < ' ' || *text > '~')
			*text = '?';
}

__attribute__((format(printf, 5, 6))) static uint16_t add_slot(struct activity *a, enum group group, enum kind kind,
							       const char *unit, const char *format, ...)
{
	struct activity_inside *in = a->inside;
	struct slot *s = &in->slot[in->slots];
	va_list ap;

	if (in->slots == ACTIVITY_COUNTERS) {
		a->counters_left_out++;
		return NONE;
	}
	*s = (struct slot){ .unit = unit, .group = (uint8_t)group, .kind = (uint8_t)kind };
	va_start(ap, format);
	vsnprintf(s->name, sizeof(s->name), format, ap);
	va_end(ap);
	make_printable(s->name);
	return (uint16_t)in->slots++;
}

static void put(struct activity_reading *r, uint16_t slot, uint64_t value)
{
	if (slot == NONE)
		return;
	r->value[slot] = value;
	r->known[slot / 8] |= (uint8_t)(1 << slot % 8);
}

static bool is_known(const struct activity_reading *r, unsigned slot)
{
	return r->known[slot / 8] >> slot % 8 & 1;
}

/* ---- Lines of any length --------------------------------------------------------------------------------------- */

static void advance(struct text *t)
{
	if (t->used == t->filled) {
		ssize_t got = t->at < FILE_MAX_BYTES ? pread(t->fd, t->buffer, sizeof(t->buffer), t->at) : 0;

		if (got < 0)
			t->error = -errno;
		t->used = 0;
		t->filled = got < 0 ? 0 : (size_t)got;
		t->at += (off_t)t->filled;
	}
	t->c = t->used < t->filled ? (unsigned char)t->buffer[t->used++] : EOF;
}

/* False: nothing can be read. */
static bool begin(struct text *t, int fd)
{
	t->fd = fd;
	t->at = 0;
	t->used = t->filled = 0;
	t->error = 0;
	t->c = EOF;
	if (fd >= 0)
		advance(t);
	return t->c != EOF;
}

static bool is_blank(int c)
{
	return c == ' ' || c == '\t';
}

static bool at_end(const struct text *t)
{
	return t->c == '\n' || t->c == EOF;
}

/* A word, up to `stop` too; what does not fit is dropped. False: the line has no more. */
static bool read_word(struct text *t, char *word, size_t bytes, int stop, bool *cut)
{
	size_t n = 0;

	while (is_blank(t->c))
		advance(t);
	if (at_end(t))
		return false;
	for (*cut = false; !at_end(t) && !is_blank(t->c) && t->c != stop; advance(t)) {
		if (n + 1 < bytes)
			word[n++] = (char)t->c;
		else
			*cut = true;
	}
	word[n] = '\0';
	return true;
}

static bool parse_number(const char *word, uint64_t *number)
{
	char *end;

	if (!isdigit((unsigned char)word[0]))
		return false;
	errno = 0;
	*number = strtoull(word, &end, 10);
	return !errno && !*end;
}

static void append(struct line *l, const char *word)
{
	size_t used = strlen(l->rest);

	snprintf(l->rest + used, sizeof(l->rest) - used, "%s%s", used ? " " : "", word);
}

/* Reads a line: its label (empty if too long to be one of ours), up to `columns` numbers, the rest. False: the end. */
static bool read_line(struct activity_inside *in, unsigned columns)
{
	struct text *t = &in->text;
	struct line *l = &in->line;
	char word[sizeof(l->rest)];
	bool cut;

	if (t->c == EOF)
		return false;
	*l = (struct line){ .numbers = 0 };
	if (read_word(t, l->label, sizeof(l->label), ':', &cut) && cut)
		l->label[0] = '\0';
	while (is_blank(t->c))
		advance(t);
	if (t->c == ':')
		advance(t);
	while (read_word(t, word, sizeof(word), '\n', &cut)) {
		uint64_t number;

		if (l->rest[0] || cut || !parse_number(word, &number)) {
			append(l, word);
		} else if (l->numbers < columns) {
			in->number[l->numbers++] = number;
		} else {
			l->odd = true;
			append(l, word);
		}
	}
	advance(t); /* over the end of the line */
	return true;
}

/* "CPU0 CPU1 CPU5": which CPU each column is about. False: the file is of another form. */
static bool read_header(struct activity_inside *in)
{
	char word[24];
	bool cut;

	in->columns = 0;
	while (read_word(&in->text, word, sizeof(word), '\n', &cut)) {
		uint64_t cpu;

		if (cut || strncmp(word, "CPU", 3) || !parse_number(word + 3, &cpu) || cpu >= CPUS ||
		    in->columns == CPUS)
			return false;
		in->cpu_of[in->columns++] = (uint16_t)cpu;
	}
	advance(&in->text);
	return in->columns;
}

/* -1: it is not online. */
static int column_of(const struct activity_inside *in, int cpu)
{
	for (unsigned i = 0; i < in->columns; i++)
		if (in->cpu_of[i] == cpu)
			return (int)i;
	return -1;
}

/* ---- Files with one number ------------------------------------------------------------------------------------- */

/* The number a text begins with: of a list of CPUs the first one. */
static bool read_single(int fd, uint64_t *value)
{
	char text[32], *end;
	ssize_t got = pread(fd, text, sizeof(text) - 1, 0);

	if (got <= 0 || !isdigit((unsigned char)text[0]))
		return false;
	text[got] = '\0';
	errno = 0;
	*value = strtoull(text, &end, 10);
	/* A number that fills the text may go on behind it. */
	return !errno && (*end ? strchr("\n-, ", *end) != NULL : got < (ssize_t)sizeof(text) - 1);
}

/* Takes the file over. `slot` is its counter. */
static void add_single(struct activity *a, int fd, uint16_t slot)
{
	struct activity_inside *in = a->inside;

	if (slot == NONE || in->singles == SINGLES) {
		a->counters_left_out += slot != NONE;
		close(fd);
		return;
	}
	in->single[in->singles].fd = fd;
	in->single[in->singles++].slot = slot;
}

static void read_singles(struct activity_inside *in, struct activity_reading *r)
{
	uint64_t value;

	for (unsigned i = 0; i < in->singles; i++)
		if (!(r->measuring && in->slot[in->single[i].slot].interrupts) &&
		    read_single(in->single[i].fd, &value))
			put(r, in->single[i].slot, value);
}

/* ---- The thread, its CPU, the link: the fields ----------------------------------------------------------------- */

static void field_label(const struct activity *a, const struct field *f, char label[32])
{
	if (f->label && f->label[0] == '#')
		snprintf(label, 32, "cpu%d", a->cpu);
	else
		snprintf(label, 32, "%s", f->label && f->label[0] == '@' ? a->nic->name : f->label ? f->label : "");
}

static uint64_t in_unit(const struct field *f, uint64_t value)
{
	long ticks_per_s = sysconf(_SC_CLK_TCK);

	return f->file == STAT && ticks_per_s > 0 ? value * 1000 / (uint64_t)ticks_per_s : value;
}

/* "TID (name) S 1 2 3": the name may hold blanks and brackets, and some numbers are negative. */
static void read_task_stat(struct activity_inside *in, struct activity_reading *r)
{
	char text[1024], *at;
	ssize_t got = in->fd[TASK_STAT] < 0 ? -1 : pread(in->fd[TASK_STAT], text, sizeof(text) - 1, 0);

	if (got <= 0)
		return;
	text[got] = '\0';
	at = strrchr(text, ')');
	if (!at || at[1] != ' ' || !at[2])
		return;
	at += 3;
	for (unsigned column = 0; *at == ' '; column++) {
		unsigned long long value = strtoull(at + 1, &at, 10);

		for (size_t i = 0; i < COUNT(fields); i++)
			if (fields[i].file == TASK_STAT && fields[i].column == column)
				put(r, in->field_slot[i], value);
	}
}

static void read_fields(struct activity *a, struct activity_reading *r, enum file file)
{
	struct activity_inside *in = a->inside;
	char label[32];

	if (!begin(&in->text, in->fd[file]))
		return;
	while (read_line(in, 16)) {
		for (size_t i = 0; i < COUNT(fields); i++) {
			const struct field *f = &fields[i];

			if (f->file != file || f->column >= in->line.numbers)
				continue;
			field_label(a, f, label);
			if (!f->label || !strcmp(label, in->line.label))
				put(r, in->field_slot[i], in_unit(f, in->number[f->column]));
		}
	}
}

static void open_fields(struct activity *a)
{
	struct activity_inside *in = a->inside;

	for (enum file file = 0; file < COUNT(files); file++) {
		char path[64];

		if (files[file].of_cpu && a->cpu < 0)
			continue;
		/* The format is one of the table above. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
		snprintf(path, sizeof(path), files[file].path, (int)a->thread);
#pragma GCC diagnostic pop
		in->fd[file] = open_file("%s", path);
		if (in->fd[file] < 0)
			note(a, "%s (%s: %s)", files[file].what, path, strerror(-in->fd[file]));
	}
	for (size_t i = 0; i < COUNT(fields); i++)
		if (in->fd[fields[i].file] >= 0)
			in->field_slot[i] = add_slot(a, fields[i].group, fields[i].kind, fields[i].unit, "%s",
						     fields[i].name);
}

static void note_missing_fields(struct activity *a)
{
	const struct activity_inside *in = a->inside;

	for (size_t i = 0; i < COUNT(fields); i++)
		if (in->field_slot[i] != NONE && !is_known(&in->first, in->field_slot[i]))
			note(a, "%s (not in %s)", fields[i].name, strrchr(files[fields[i].file].path, '/'));
}

/* ---- Files of the CPU ------------------------------------------------------------------------------------------ */

static const struct {
	const char *path, *name, *unit;
	enum kind kind;
	bool optional; /* says little by its absence */
} cpu_files[] = {
	{ "cpufreq/scaling_cur_freq", "frequency", "kHz", LEVEL, false },
	{ "thermal_throttle/core_throttle_count", "core throttled by heat", "", COUNT_64, false },
	{ "thermal_throttle/core_throttle_total_time_ms", "core throttled by heat", "ms", COUNT_64, true },
	{ "thermal_throttle/package_throttle_count", "package throttled by heat", "", COUNT_64, false },
	{ "thermal_throttle/package_throttle_total_time_ms", "package throttled by heat", "ms", COUNT_64, true },
};

#define CPU_FOLDER "/sys/devices/system/cpu/cpu%d"

/* x86 asked the CPU itself for its frequency, by an interrupt, before the timer tick took samples of it. */
static bool frequency_interrupts(void)
{
#if defined(__x86_64__)
	struct utsname kernel;
	int major, minor;

	return uname(&kernel) || sscanf(kernel.release, "%d.%d", &major, &minor) != 2 || major < 5 ||
	       (major == 5 && minor < 18);
#else
	return false;
#endif
}

static void open_cpu_files(struct activity *a)
{
	for (size_t i = 0; i < COUNT(cpu_files); i++) {
		int fd = open_file(CPU_FOLDER "/%s", a->cpu, cpu_files[i].path);
		uint64_t value;
		uint16_t slot;

		if (fd >= 0 && !read_single(fd, &value)) {
			close(fd);
			fd = -EBADMSG;
		}
		if (fd < 0) {
			if (!cpu_files[i].optional)
				note(a, "%s (" CPU_FOLDER "/%s: %s)", cpu_files[i].name, a->cpu, cpu_files[i].path,
				     fd == -EBADMSG ? "holds no number" : strerror(-fd));
			continue;
		}
		slot = add_slot(a, GROUP_CPU, cpu_files[i].kind, cpu_files[i].unit, "%s", cpu_files[i].name);
		if (slot != NONE && cpu_files[i].kind == LEVEL)
			a->inside->slot[slot].interrupts = frequency_interrupts();
		add_single(a, fd, slot);
	}
}

static void open_idle_states(struct activity *a)
{
	for (int state = 0; state < IDLE_STATES; state++) {
		int name_fd = open_file(CPU_FOLDER "/cpuidle/state%d/name", a->cpu, state);
		int usage = open_file(CPU_FOLDER "/cpuidle/state%d/usage", a->cpu, state);
		int time = open_file(CPU_FOLDER "/cpuidle/state%d/time", a->cpu, state);
		char name[24] = "";
		ssize_t got = name_fd < 0 ? -1 : pread(name_fd, name, sizeof(name) - 1, 0);

		if (name_fd >= 0)
			close(name_fd);
		name[got > 0 ? strcspn(name, "\n") : 0] = '\0';
		if (usage >= 0)
			add_single(a, usage, add_slot(a, GROUP_CPU, COUNT_64, "", "idle state %d %s entered", state,
						      name));
		if (time >= 0)
			add_single(a, time, add_slot(a, GROUP_CPU, COUNT_64, "us", "idle state %d %s", state, name));
		if (usage < 0 && time < 0) {
			if (state == 0)
				note(a, "idle states (" CPU_FOLDER "/cpuidle/state0: %s)", a->cpu, strerror(-usage));
			return;
		}
	}
}

#if defined(__x86_64__)
static bool cpu_is_intel(struct activity_inside *in)
{
	int fd = open_file("/proc/cpuinfo");
	bool intel = false;

	if (begin(&in->text, fd))
		while (!intel && read_line(in, 0))
			intel = !strcmp(in->line.label, "vendor_id") && !strcmp(in->line.rest, "GenuineIntel");
	if (fd >= 0)
		close(fd);
	return intel;
}
#endif

static bool read_smi(const struct activity_inside *in, uint64_t *count)
{
	if (pread(in->fd[MSR], count, sizeof(*count), SMI_MSR) != sizeof(*count))
		return false;
	*count &= UINT32_MAX;
	return true;
}

static void open_smi(struct activity *a)
{
#if defined(__x86_64__)
	struct activity_inside *in = a->inside;
	uint64_t count;

	if (!cpu_is_intel(in)) {
		note(a, "SMI count (only CPUs of Intel have one)");
		return;
	}
	in->fd[MSR] = open_file("/dev/cpu/%d/msr", a->cpu);
	if (in->fd[MSR] < 0) {
		note(a, "SMI count (/dev/cpu/%d/msr: %s%s)", a->cpu, strerror(-in->fd[MSR]),
		     in->fd[MSR] == -ENOENT ? ": 'modprobe msr'" : "");
		return;
	}
	errno = 0;
	if (!read_smi(in, &count)) {
		note(a, "SMI count (/dev/cpu/%d/msr, MSR %#x: %s)", a->cpu, SMI_MSR, strerror(errno ? errno : EIO));
		return;
	}
	in->smi_slot = add_slot(a, GROUP_CPU, COUNT_32, "", "system management interrupts (SMI)");
	if (in->smi_slot != NONE)
		in->slot[in->smi_slot].interrupts = true;
#else
	(void)a;
#endif
}

static void open_cpu(struct activity *a)
{
	if (a->cpu < 0) {
		note(a, "interrupts, softirqs, frequency, idle states, SMI count of the measuring CPU (the thread is "
			"not bound to one: 'taskset -c CPU')");
		return;
	}
	open_cpu_files(a);
	open_idle_states(a);
	open_smi(a);
}

/* ---- Interrupts ------------------------------------------------------------------------------------------------ */

/* The name as a word of its own: "eth1" is not in "eth10-rx", nor in "veth1". */
static bool has_word(const char *text, const char *word)
{
	size_t n = strlen(word);

	for (const char *at = text; n && (at = strstr(at, word)); at++)
		if ((at == text || !isalnum((unsigned char)at[-1])) && !isalnum((unsigned char)at[n]))
			return true;
	return false;
}

static bool is_vector(const struct activity *a, uint64_t irq, const char *description)
{
	const struct activity_inside *in = a->inside;

	for (unsigned i = 0; i < in->vectors; i++)
		if (in->vector[i] == irq)
			return true;
	/* Another network namespace may have an interface of the same name: only where there is no list. */
	return !in->vectors && (has_word(description, a->nic->name) || has_word(description, in->bus));
}

/* What stands after the controller, the number there and the trigger: the names that drivers gave. */
static const char *action_of(const char *description)
{
	static const char *const triggers[] = { "-edge ", "-level ", "-fasteoi ", " Edge ", " Level " };

	for (size_t i = 0; i < COUNT(triggers); i++) {
		const char *at = strstr(description, triggers[i]);

		if (at)
			return at + strlen(triggers[i]);
	}
	return description;
}

/* Where its interrupts go: another CPU after than before explains much. */
static void open_affinity(struct activity *a, uint64_t irq, const char *action)
{
	struct activity_inside *in = a->inside;
	int fd = open_file("/proc/irq/%" PRIu64 "/effective_affinity_list", irq);
	uint64_t cpu;
	bool seen = false;

	if (fd < 0)
		fd = open_file("/proc/irq/%" PRIu64 "/smp_affinity_list", irq);
	if (fd < 0)
		return;
	if (read_single(fd, &cpu) && cpu < CPUS && (int)cpu != a->cpu) {
		for (unsigned i = 0; i < in->vector_cpus; i++)
			seen |= in->vector_cpu[i] == (int)cpu;
		if (!seen && in->vector_cpus < VECTOR_CPUS)
			in->vector_cpu[in->vector_cpus++] = (int)cpu;
		else if (!seen)
			a->counters_left_out += 2;
	}
	add_single(a, fd, add_slot(a, GROUP_VECTORS, LEVEL, "", "CPU of IRQ %" PRIu64 " %s", irq, action));
}

static uint16_t add_row_slot(struct activity *a, enum group group, enum kind kind, const char *name)
{
	uint16_t slot = add_slot(a, group, kind, "", "%s", name);

	if (slot != NONE)
		a->inside->slot[slot].row = true;
	return slot;
}

static void add_row(struct activity *a, bool of_all_cpus)
{
	struct activity_inside *in = a->inside;
	const struct line *l = &in->line;
	struct row *row = &in->row[in->rows++];
	const char *action = action_of(l->rest);
	char name[96];
	uint64_t irq;
	bool numbered = parse_number(l->label, &irq);

	*row = (struct row){ .cpu_slot = NONE, .vector_slot = NONE };
	memcpy(row->label, l->label, sizeof(row->label));
	snprintf(name, sizeof(name), "%s%s%s%s%.40s", numbered ? "IRQ " : "", l->label, of_all_cpus ? ", all CPUs" : "",
		 action[0] ? " " : "", action);
	if (a->cpu >= 0)
		row->cpu_slot = add_row_slot(a, GROUP_INTERRUPTS, COUNT_32, name);
	if (!numbered || !is_vector(a, irq, l->rest))
		return;
	row->vector_slot = add_row_slot(a, GROUP_VECTORS, SUM_32, name);
	if (in->opening)
		open_affinity(a, irq, action);
}

/* The row with the label of the line; they come in the same order each time. */
static struct row *find_row(struct activity *a, bool of_all_cpus)
{
	struct activity_inside *in = a->inside;

	for (unsigned i = 0; i < in->rows; i++) {
		struct row *row = &in->row[(in->next_row + i) % in->rows];

		if (!strcmp(row->label, in->line.label)) {
			in->next_row = (unsigned)(row - in->row) + 1;
			return row;
		}
	}
	if (in->rows == ROWS) {
		a->counters_left_out++;
		return NULL;
	}
	add_row(a, of_all_cpus);
	return &in->row[in->rows - 1];
}

static uint64_t sum(const struct activity_inside *in)
{
	uint64_t total = 0;

	for (unsigned i = 0; i < in->line.numbers; i++)
		total += in->number[i];
	return total;
}

static uint64_t hash_cpus(const struct activity_inside *in)
{
	uint64_t hash = in->columns;

	for (unsigned i = 0; i < in->columns; i++)
		hash = (hash ^ in->cpu_of[i]) * 0x9e3779b97f4a7c15ULL;
	return hash;
}

/* A CPU that goes or comes while the file is written leaves lines with another number of columns than the header has:
 * whose numbers they are cannot be told. */
static bool read_interrupts(struct activity *a, struct activity_reading *r)
{
	struct activity_inside *in = a->inside;
	int column;
	bool whole = true;

	if (!begin(&in->text, in->fd[INTERRUPTS]) || !read_header(in))
		return false;
	r->cpus = hash_cpus(in);
	column = column_of(in, a->cpu);
	in->next_row = 0;
	while (read_line(in, in->columns)) {
		const struct line *l = &in->line;
		/* "ERR: 0" */
		bool of_all_cpus = l->numbers == 1 && in->columns > 1 && !l->rest[0];
		struct row *row;

		if (!l->label[0] && !l->numbers && !l->rest[0])
			continue;
		if (!l->label[0] || l->odd ||
		    (l->numbers != in->columns && !of_all_cpus)) {
			whole = false;
			continue;
		}
		row = find_row(a, of_all_cpus);
		if (!row)
			continue;
		if (of_all_cpus || column >= 0)
			put(r, row->cpu_slot, in->number[of_all_cpus ? 0 : column]);
		put(r, row->vector_slot, sum(in));
	}
	r->rows = whole && !in->text.error && (column >= 0 || a->cpu < 0);
	return true;
}

/* ---- Softirqs -------------------------------------------------------------------------------------------------- */

static const char *const net_softirqs[] = { "NET_RX", "NET_TX" };

static void open_vector_softirqs(struct activity *a)
{
	struct activity_inside *in = a->inside;

	for (unsigned i = 0; i < in->vector_cpus; i++)
		for (int k = 0; k < 2; k++)
			in->vector_softirq[i][k] = add_slot(a, GROUP_VECTOR_SOFTIRQS, COUNT_32, "", "%s on CPU %d",
							    net_softirqs[k], in->vector_cpu[i]);
}

static void put_softirq(struct activity *a, struct activity_reading *r)
{
	struct activity_inside *in = a->inside;
	int column = column_of(in, a->cpu);

	if (in->line.numbers != in->columns || in->line.odd)
		return;
	for (unsigned i = 0; column >= 0 && i < in->slots; i++)
		if (in->slot[i].group == GROUP_SOFTIRQS && !strcmp(in->slot[i].name, in->line.label))
			put(r, (uint16_t)i, in->number[column]);
	for (int k = 0; k < 2; k++)
		for (unsigned i = 0; i < in->vector_cpus && !strcmp(in->line.label, net_softirqs[k]); i++) {
			int other = column_of(in, in->vector_cpu[i]);

			if (other >= 0)
				put(r, in->vector_softirq[i][k], in->number[other]);
		}
}

static bool read_softirqs(struct activity *a, struct activity_reading *r)
{
	struct activity_inside *in = a->inside;
	unsigned rows = 0;

	if (!begin(&in->text, in->fd[SOFTIRQS]) || !read_header(in))
		return false;
	for (; read_line(in, in->columns); rows++) {
		/* There are ten kinds, and they do not change. */
		if (in->opening && a->cpu >= 0 && in->line.label[0] && in->line.numbers == in->columns && rows < 32)
			add_slot(a, GROUP_SOFTIRQS, COUNT_32, "", "%s", in->line.label);
		put_softirq(a, r);
	}
	return true;
}

static void open_interrupts(struct activity *a)
{
	struct activity_inside *in = a->inside;
	unsigned vectors = 0;

	in->opening = true;
	if (in->fd[INTERRUPTS] >= 0 && !read_interrupts(a, &in->first))
		note(a, "interrupts (/proc/interrupts is of an unknown form)");
	else if (in->fd[INTERRUPTS] >= 0 && a->cpu >= 0 && column_of(in, a->cpu) < 0)
		note(a, "interrupts of CPU %d (not in /proc/interrupts)", a->cpu);
	else if (in->fd[INTERRUPTS] >= 0 && !in->first.rows)
		note(a, "some interrupts (lines of /proc/interrupts that cannot be read)");
	for (unsigned i = 0; i < in->rows; i++)
		vectors += in->row[i].vector_slot != NONE;
	if (in->fd[INTERRUPTS] >= 0 && !vectors)
		note(a, "interrupts of the NIC (no line of /proc/interrupts names '%s'%s%s)", a->nic->name,
		     in->bus[0] ? " or " : "", in->bus);
	open_vector_softirqs(a);
	if (in->fd[SOFTIRQS] >= 0 && !read_softirqs(a, &in->first))
		note(a, "softirqs (/proc/softirqs is of an unknown form)");
	in->opening = false;
}

/* ---- The NIC --------------------------------------------------------------------------------------------------- */

/* sysfs shows other network namespaces than this one after nsenter, but PCI devices are in none. */
static void find_vectors(struct activity *a)
{
	struct activity_inside *in = a->inside;
	struct ethtool_drvinfo info = { .cmd = ETHTOOL_GDRVINFO };
	char path[PATH_MAX];
	struct dirent *entry;
	uint64_t irq;
	DIR *folder;

	if (nic_ethtool(a->nic, &info))
		return;
	snprintf(in->bus, sizeof(in->bus), "%.*s", (int)sizeof(info.bus_info), info.bus_info);
	/* A file name and a word in a report: nothing else than addresses look like. */
	if (in->bus[strspn(in->bus, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ:._-")] ||
	    in->bus[0] == '.')
		in->bus[0] = '\0';
	if (!in->bus[0])
		return;
	snprintf(path, sizeof(path), "%s/sys/bus/pci/devices/%s/msi_irqs", root, in->bus);
	folder = opendir(path);
	while (folder && (entry = readdir(folder)))
		if (parse_number(entry->d_name, &irq) && irq <= UINT32_MAX && in->vectors < VECTORS)
			in->vector[in->vectors++] = (unsigned)irq;
	if (folder)
		closedir(folder);
}

/* Drivers have hundreds of counters, of which most count what went well. */
static bool tells_trouble(const char *name)
{
	static const char *const words[] = { "drop", "err", "miss", "discard", "stamp", "lost", "timeout", "skipped",
					     "overrun", "overflow", "fifo", "no_buf", "nobuf", "out_of_buf", "nodesc",
					     "no_desc", "late_cqe", "abort" };

	for (size_t i = 0; i < COUNT(words); i++)
		for (const char *at = name; (at = strcasestr(at, words[i])); at++)
			/* "interrupts", "deferred", "transferred" */
			if (strcmp(words[i], "err") || !strchr("tfTF", at > name ? at[-1] : 'x') ||
			    !strncasecmp(at, "error", 5))
				return true;
	return false;
}

/*
 * The kernel writes as many statistics as the driver has at that moment, whatever room there is, so that a driver that
 * gets more queues between two calls would overwrite memory: behind the room is a page that faults (EFAULT). Zeroed.
 */
static void *guarded_map(size_t bytes, size_t *mapped)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), whole = (bytes + page - 1) / page * page;
	char *start = mmap(NULL, whole + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (start == MAP_FAILED)
		return NULL;
	if (mprotect(start + whole, page, PROT_NONE)) {
		munmap(start, whole + page);
		return NULL;
	}
	*mapped = whole + page;
	return start;
}

/* How many statistics there are now, or -errno. */
static int64_t count_statistics(const struct nic *n)
{
	struct {
		struct ethtool_sset_info info;
		uint32_t count;
	} ask = { .info = { .cmd = ETHTOOL_GSSET_INFO, .sset_mask = 1ULL << ETH_SS_STATS } };
	int error = nic_ethtool(n, &ask.info);

	if (error)
		return error;
	return ask.info.sset_mask ? (int64_t)ask.count : -EOPNOTSUPP;
}

static int choose_statistics(struct activity *a)
{
	struct activity_inside *in = a->inside;
	size_t mapped;
	struct ethtool_gstrings *names = guarded_map(sizeof(*names) + (size_t)in->statistics_count * ETH_GSTRING_LEN,
						     &mapped);
	int error;

	if (!names)
		return -ENOMEM;
	*names = (struct ethtool_gstrings){ .cmd = ETHTOOL_GSTRINGS, .string_set = ETH_SS_STATS,
					    .len = in->statistics_count };
	error = nic_ethtool(a->nic, names);
	if (!error && names->len != in->statistics_count)
		error = -EAGAIN;
	for (uint32_t i = 0; !error && i < in->statistics_count; i++) {
		char name[ETH_GSTRING_LEN + 1];
		uint16_t slot;

		snprintf(name, sizeof(name), "%.*s", ETH_GSTRING_LEN,
			 (char *)names->data + (size_t)i * ETH_GSTRING_LEN);
		if (!tells_trouble(name))
			continue;
		slot = add_slot(a, GROUP_STATISTICS, COUNT_64, "", "%s", name);
		if (slot == NONE)
			continue;
		in->told[in->tolds].index = i;
		in->told[in->tolds++].slot = slot;
	}
	munmap(names, mapped);
	return error;
}

static void open_statistics(struct activity *a)
{
	struct activity_inside *in = a->inside;
	int64_t count = count_statistics(a->nic);
	int error = count < 0 ? (int)count : count == 0 ? -EOPNOTSUPP : count > STATISTICS ? -E2BIG : 0;

	if (!error) {
		in->statistics_count = (uint32_t)count;
		error = choose_statistics(a);
	}
	if (!error && in->tolds) {
		in->statistics = guarded_map(sizeof(*in->statistics) + (size_t)count * sizeof(uint64_t),
					     &in->statistics_bytes);
		error = in->statistics ? 0 : -ENOMEM;
	}
	if (error)
		note(a, "statistics of the NIC ('ethtool -S %s': %s)", a->nic->name, strerror(-error));
}

static void read_statistics(struct activity *a, struct activity_reading *r)
{
	struct activity_inside *in = a->inside;

	/* Another number than before: the names that were read are those of others. */
	if (!in->statistics || count_statistics(a->nic) != in->statistics_count)
		return;
	*in->statistics = (struct ethtool_stats){ .cmd = ETHTOOL_GSTATS, .n_stats = in->statistics_count };
	if (nic_ethtool(a->nic, in->statistics) || in->statistics->n_stats != in->statistics_count)
		return;
	for (unsigned i = 0; i < in->tolds; i++)
		put(r, in->told[i].slot, (uint64_t)in->statistics->data[in->told[i].index]);
}

static const char *const stamp_names[] = { "transmit stamps given", "transmit stamps lost", "transmit stamp errors" };

static void open_stamps(struct activity *a)
{
	struct nic_stamp_counts counts;
	int error = nic_read_stamp_counts(a->nic, &counts);

	if (error)
		note(a, "transmit stamps as the driver counts them (ethtool netlink: %s)", strerror(-error));
	for (unsigned i = 0; !error && i < COUNT(stamp_names); i++)
		if (counts.has >> i & 1)
			a->inside->stamp_slot[i] = add_slot(a, GROUP_STAMPS, COUNT_64, "", "%s", stamp_names[i]);
}

static void read_stamps(struct activity *a, struct activity_reading *r)
{
	const uint16_t *slot = a->inside->stamp_slot;
	struct nic_stamp_counts counts;

	if ((slot[0] == NONE && slot[1] == NONE && slot[2] == NONE) || nic_read_stamp_counts(a->nic, &counts))
		return;
	const uint64_t value[] = { counts.sent, counts.lost, counts.errors };

	for (unsigned i = 0; i < COUNT(value); i++)
		if (counts.has >> i & 1)
			put(r, slot[i], value[i]);
}

/* ---- All of it ------------------------------------------------------------------------------------------------- */

static void name_groups(struct activity *a)
{
	char (*group)[64] = a->inside->group;
	const size_t bytes = sizeof(group[0]);

	snprintf(group[GROUP_THREAD], bytes, "measuring thread");
	snprintf(group[GROUP_CPU], bytes, "CPU %d", a->cpu);
	snprintf(group[GROUP_INTERRUPTS], bytes, "interrupts on CPU %d", a->cpu);
	snprintf(group[GROUP_SOFTIRQS], bytes, "softirqs on CPU %d", a->cpu);
	snprintf(group[GROUP_VECTORS], bytes, "interrupts of %s, on all CPUs", a->nic->name);
	snprintf(group[GROUP_VECTOR_SOFTIRQS], bytes, "softirqs where %s interrupts", a->nic->name);
	snprintf(group[GROUP_LINK], bytes, "interface %s", a->nic->name);
	snprintf(group[GROUP_STATISTICS], bytes, "driver statistics of %s", a->nic->name);
	snprintf(group[GROUP_STAMPS], bytes, "stamps of %s", a->nic->name);
}

int activity_open(struct activity *a, const struct nic *n, pid_t thread, int cpu)
{
	struct activity_inside *in = calloc(1, sizeof(*in));

	*a = (struct activity){ .inside = in, .nic = n, .thread = thread, .cpu = cpu };
	if (!in) {
		warnx("no memory for the counters of the machine (%zu bytes): free some", sizeof(*in));
		return -ENOMEM;
	}
	for (int i = 0; i < FILES; i++)
		in->fd[i] = -1;
	memset(in->field_slot, 0xff, sizeof(in->field_slot));
	memset(in->stamp_slot, 0xff, sizeof(in->stamp_slot));
	in->smi_slot = NONE;
	name_groups(a);
	open_fields(a);
	open_cpu(a);
	find_vectors(a);
	open_interrupts(a);
	open_stamps(a);
	open_statistics(a); /* last: they may be more than there is room for */
	activity_read(a, &in->first, false);
	note_missing_fields(a);
	return 0;
}

void activity_read(struct activity *a, struct activity_reading *r, bool measuring)
{
	struct activity_inside *in = a->inside;
	uint64_t smi;

	memset(r, 0, sizeof(*r));
	r->measuring = measuring;
	if (!in)
		return;
	for (enum file file = 0; file < COUNT(files); file++)
		if (file == TASK_STAT)
			read_task_stat(in, r);
		else if (file != INTERRUPTS && file != SOFTIRQS)
			read_fields(a, r, file);
	read_interrupts(a, r);
	read_softirqs(a, r);
	read_singles(in, r);
	if (in->smi_slot != NONE && !measuring && read_smi(in, &smi))
		put(r, in->smi_slot, smi);
	read_stamps(a, r);
	read_statistics(a, r);
}

/* Kernel counters of interrupts are 32 bits wide. A wrap is a fall by nearly all of them. */
static bool wrapped(enum kind kind, uint64_t from, uint64_t to)
{
	return (kind == COUNT_32 || kind == SUM_32) && from - to > UINT32_MAX / 2 && from - to <= UINT32_MAX;
}

/* False: nothing changed. */
static bool compare(const struct slot *s, bool same_cpus, struct activity_difference *d)
{
	if (d->from == d->to)
		return false;
	if (s->kind == LEVEL) {
		d->change = ACTIVITY_CHANGED;
	} else if ((s->kind == SUM_32 && !same_cpus) || (d->to < d->from && !wrapped(s->kind, d->from, d->to))) {
		d->change = ACTIVITY_RESET;
	} else {
		d->change = ACTIVITY_COUNTED;
		d->delta = d->to < d->from ? d->to + UINT32_MAX + 1 - d->from : d->to - d->from;
	}
	return true;
}

static bool differs(const struct activity_inside *in, unsigned i, const struct activity_reading *before,
		    const struct activity_reading *after, struct activity_difference *d)
{
	const struct slot *s = &in->slot[i];
	bool had = is_known(before, i), has = is_known(after, i);

	if (s->interrupts && after->measuring) /* left out, not gone */
		return false;
	/* The kernel lists no interrupt that nobody asked for and that never came. */
	had |= s->row && before->rows;
	if (!had || (!has && s->row && before->value[i] == 0))
		return false;
	*d = (struct activity_difference){ .group = in->group[s->group], .name = s->name, .unit = s->unit,
					   .from = before->value[i], .to = after->value[i] };
	if (has)
		return compare(s, before->cpus == after->cpus, d);
	d->change = ACTIVITY_GONE;
	return true;
}

size_t activity_differences(const struct activity *a, const struct activity_reading *before,
			    const struct activity_reading *after, struct activity_difference *list, size_t max)
{
	const struct activity_inside *in = a->inside;
	struct activity_difference d;
	size_t found = 0;

	for (unsigned group = 0; in && group < GROUPS; group++)
		for (unsigned i = 0; i < in->slots; i++)
			if (in->slot[i].group == group && differs(in, i, before, after, &d) && found++ < max)
				list[found - 1] = d;
	return found;
}

void activity_close(struct activity *a)
{
	struct activity_inside *in = a->inside;

	if (!in)
		return;
	for (int i = 0; i < FILES; i++)
		if (in->fd[i] >= 0)
			close(in->fd[i]);
	for (unsigned i = 0; i < in->singles; i++)
		close(in->single[i].fd);
	if (in->statistics)
		munmap(in->statistics, in->statistics_bytes);
	free(in);
	a->inside = NULL;
}
