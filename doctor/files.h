/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads small files of /proc, /sys and /dev. */
#ifndef DOCTOR_FILES_H
#define DOCTOR_FILES_H

#include "doctor/finding.h"
#include "rant.h"

struct check_file {
	char path[256]; /* for messages */
	char text[4096]; /* the first octets, without trailing blanks and newlines; empty after an error */
	size_t bytes; /* length of `text` */
	int error; /* errno; 0: the file was read */
};

/* Reads the file whose path the format makes. False: see f->error. */
__attribute__((format(printf, 2, 3)))
bool check_read(struct check_file *f, const char *format, ...);

/* The same; false after a finding that the file cannot be read. */
#define CHECK_READ(c, f, ...) (check_read((f), __VA_ARGS__) || (check_not_known((c), (f)->path, (f)->error), false))

/* True if the file contains a decimal integer and nothing else. check_number() adds a finding if not. */
bool check_number_in(const struct check_file *f, long long *value);
bool check_number(struct check *c, struct check_file *f, long long *value);

/* The effective capabilities of this process as bits, by "CapEff" in /proc/self/status. False: see f->error. */
bool check_capabilities(struct check_file *f, unsigned long long *capabilities);

/* The path of a file for other calls than check_read(), with the prefix of tests. */
void check_full_path(char full[PATH_MAX], const char *path);
bool check_exists(const char *path);

#endif
