// SPDX-License-Identifier: GPL-2.0-or-later
/* The measuring CPU: frequency, throttling and idle states by sysfs, number of SMIs by an MSR. */
#include "host/counters/activity_inside.h"

#include <errno.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#define IDLE_STATES 10 /* CPUIDLE_STATE_MAX */
#define SMI_MSR 0x34 /* MSR_SMI_COUNT, Intel SDM volume 4 */

static const struct {
	const char *path, *name, *unit;
	enum kind kind;
	bool optional; /* its absence is not reported */
} cpu_files[] = {
	{ "cpufreq/scaling_cur_freq", "frequency", "kHz", LEVEL, false },
	{ "thermal_throttle/core_throttle_count", "core throttled by heat", "", COUNT_64, false },
	{ "thermal_throttle/core_throttle_total_time_ms", "core throttled by heat", "ms", COUNT_64, true },
	{ "thermal_throttle/package_throttle_count", "package throttled by heat", "", COUNT_64, false },
	{ "thermal_throttle/package_throttle_total_time_ms", "package throttled by heat", "ms", COUNT_64, true },
};

#define CPU_FOLDER "/sys/devices/system/cpu/cpu%d"

/* Before the timer tick sampled the frequency (Linux 5.18), x86 read it by an interrupt of that CPU. */
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
		int fd = activity_open_file(CPU_FOLDER "/%s", a->cpu, cpu_files[i].path);
		uint64_t value;
		uint16_t slot;

		if (fd >= 0 && !activity_text_single(fd, &value)) {
			close(fd);
			fd = -EBADMSG;
		}
		if (fd < 0) {
			if (!cpu_files[i].optional)
				activity_note(a, "%s (" CPU_FOLDER "/%s: %s)", cpu_files[i].name, a->cpu,
					      cpu_files[i].path, fd == -EBADMSG ? "holds no number" : strerror(-fd));
			continue;
		}
		slot = activity_add_slot(a, GROUP_CPU, cpu_files[i].kind, cpu_files[i].unit, "%s", cpu_files[i].name);
		if (slot != NONE && cpu_files[i].kind == LEVEL)
			a->inside->slot[slot].interrupts = frequency_interrupts();
		activity_add_single(a, fd, slot);
	}
}

static void open_idle_states(struct activity *a)
{
	for (int state = 0; state < IDLE_STATES; state++) {
		int name_fd = activity_open_file(CPU_FOLDER "/cpuidle/state%d/name", a->cpu, state);
		int usage = activity_open_file(CPU_FOLDER "/cpuidle/state%d/usage", a->cpu, state);
		int time = activity_open_file(CPU_FOLDER "/cpuidle/state%d/time", a->cpu, state);
		char name[24] = "";
		ssize_t got = name_fd < 0 ? -1 : pread(name_fd, name, sizeof(name) - 1, 0);

		if (name_fd >= 0)
			close(name_fd);
		name[got > 0 ? strcspn(name, "\n") : 0] = '\0';
		if (usage >= 0)
			activity_add_single(a, usage, activity_add_slot(a, GROUP_CPU, COUNT_64, "",
									"idle state %d %s entered", state, name));
		if (time >= 0)
			activity_add_single(a, time, activity_add_slot(a, GROUP_CPU, COUNT_64, "us",
								       "idle state %d %s", state, name));
		if (usage < 0 && time < 0) {
			if (state == 0)
				activity_note(a, "idle states (" CPU_FOLDER "/cpuidle/state0: %s)", a->cpu,
					      strerror(-usage));
			return;
		}
	}
}

#if defined(__x86_64__)
static bool cpu_is_intel(struct activity_inside *in)
{
	int fd = activity_open_file("/proc/cpuinfo");
	bool intel = false;

	if (activity_text_begin(&in->text, fd))
		while (!intel && activity_text_line(&in->text, 0))
			intel = !strcmp(in->text.line.label, "vendor_id") &&
				!strcmp(in->text.line.rest, "GenuineIntel");
	if (fd >= 0)
		close(fd);
	return intel;
}
#endif

bool activity_cpu_smi(const struct activity_inside *in, uint64_t *count)
{
	if (in->fd[MSR] < 0)
		return false;
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
		activity_note(a, "SMI count (only CPUs of Intel have one)");
		return;
	}
	in->fd[MSR] = activity_open_file("/dev/cpu/%d/msr", a->cpu);
	if (in->fd[MSR] < 0) {
		activity_note(a, "SMI count (/dev/cpu/%d/msr: %s%s)", a->cpu, strerror(-in->fd[MSR]),
			      in->fd[MSR] == -ENOENT ? ": 'modprobe msr'" : "");
		return;
	}
	errno = 0;
	if (!activity_cpu_smi(in, &count)) {
		activity_note(a, "SMI count (/dev/cpu/%d/msr, MSR %#x: %s)", a->cpu, SMI_MSR,
			      strerror(errno ? errno : EIO));
		return;
	}
	in->smi_slot = activity_add_slot(a, GROUP_CPU, COUNT_32, "", "system management interrupts (SMI)");
	if (in->smi_slot != NONE)
		in->slot[in->smi_slot].interrupts = true;
#else
	(void)a;
#endif
}

void activity_cpu_open(struct activity *a)
{
	if (a->cpu < 0) {
		activity_note(a, "interrupts, softirqs, frequency, idle states, SMI count of the measuring CPU (the "
			      "thread is not bound to one: 'taskset -c CPU')");
		return;
	}
	open_cpu_files(a);
	open_idle_states(a);
	open_smi(a);
}

void activity_cpu_read(struct activity_inside *in, struct activity_reading *r)
{
	uint64_t smi;

	if (in->smi_slot != NONE && !r->measuring && activity_cpu_smi(in, &smi))
		activity_put(r, in->smi_slot, smi);
}
