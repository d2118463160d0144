/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The small files of /proc, /sys and /dev that the checks read. */
#ifndef DOCTOR_FILES_H
#define DOCTOR_FILES_H

#include "doctor/finding.h"
#include "rant.h"

struct check_file {
	char path[256]; /* as shown */
	char text[4096]; /* the beginning, without blanks and newlines at its end; empty when it cannot be read */
	size_t bytes;
	int error; /* errno */
};

/* Reads the file of that name. False: f->error. */
__attribute__((format(printf, 2, 3)))
bool check_read(struct check_file *f, const char *format, ...);

/* The same; false: it has been said that it cannot be read. */
#define CHECK_READ(c, f, ...) (check_read((f), __VA_ARGS__) || (check_cannot_tell((c), (f)->path, (f)->error), false))

/* A whole decimal number and nothing else. The second says so when it is none. */
bool check_number_in(const struct check_file *f, long long *value);
bool check_number(struct check *c, struct check_file *f, long long *value);

/* The effective capabilities of this process, a bit each, by "CapEff" in /proc/self/status. False: f->error. */
bool check_capabilities(struct check_file *f, unsigned long long *capabilities);

/* The real name of a file for calls other than check_read(); PATH_MAX octets. */
void check_full_path(char full[PATH_MAX], const char *path);
bool check_exists(const char *path);

#endif
