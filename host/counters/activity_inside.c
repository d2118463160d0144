// SPDX-License-Identifier: GPL-2.0-or-later
/* The counters of an activity as its parsers fill them, and the list of unreadable counters. */
#include "host/counters/activity_inside.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <unistd.h>

const char *activity_root = "";

void activity_note(struct activity *a, const char *format, ...)
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

int activity_open_file(const char *format, ...)
{
	char path[PATH_MAX];
	size_t used = (size_t)snprintf(path, sizeof(path), "%s", activity_root);
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

/* Texts of drivers and files are printed to a terminal. */
static void make_printable(char *text)
{
	for (; *text; text++)
		if (*text < ' ' || *text > '~')
			*text = '?';
}

uint16_t activity_add_slot(struct activity *a, enum group group, enum kind kind, const char *unit,
			   const char *format, ...)
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

void activity_put(struct activity_reading *r, uint16_t slot, uint64_t value)
{
	if (slot == NONE)
		return;
	r->value[slot] = value;
	r->known[slot / 8] |= (uint8_t)(1 << slot % 8);
}

bool activity_is_known(const struct activity_reading *r, unsigned slot)
{
	return r->known[slot / 8] >> slot % 8 & 1;
}

void activity_add_single(struct activity *a, int fd, uint16_t slot)
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

void activity_read_singles(struct activity_inside *in, struct activity_reading *r)
{
	uint64_t value;

	for (unsigned i = 0; i < in->singles; i++)
		if (!(r->measuring && in->slot[in->single[i].slot].interrupts) &&
		    activity_text_single(in->single[i].fd, &value))
			activity_put(r, in->single[i].slot, value);
}
