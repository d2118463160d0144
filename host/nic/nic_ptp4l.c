// SPDX-License-Identifier: GPL-2.0-or-later
/* Interfaces and domain of each ptp4l(8), by /proc/PID/cmdline and the configuration file of its option -f. */
#include "host/nic/nic_inside.h"

#include "host/file.h"

#include <ctype.h>
#include <dirent.h>
#include <err.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define WITH_ARGUMENT "fipl" /* short options of ptp4l that take a value */
#define DOMAIN "domainNumber"

static const char *proc = "/proc";

struct ptp4l {
	int pid;
	bool named; /* it uses the interface */
	long domain; /* -1: not on the command line */
	char file[PATH_MAX]; /* configuration file; empty: none */
};

static void take_letter(struct ptp4l *p, const struct nic *n, char letter, const char *value)
{
	if (letter == 'i')
		p->named |= !strcmp(value, n->name);
	else if (letter == 'f')
		snprintf(p->file, sizeof(p->file), "%s", value);
}

/* next: the following word, NULL: none. True: `next` is the value of `word`. */
static bool take_word(struct ptp4l *p, const struct nic *n, const char *word, const char *next)
{
	if (!strncmp(word, "--" DOMAIN "=", sizeof("--" DOMAIN)))
		p->domain = strtol(word + sizeof("--" DOMAIN), NULL, 0);
	if (word[0] != '-' || word[1] == '-') {
		if (!next || strcmp(word, "--" DOMAIN))
			return false;
		p->domain = strtol(next, NULL, 0);
		return true;
	}
	for (const char *letter = word + 1; *letter; letter++) {
		if (!strchr(WITH_ARGUMENT, *letter))
			continue;
		if (letter[1])
			take_letter(p, n, *letter, letter + 1);
		else if (next)
			take_letter(p, n, *letter, next);
		return !letter[1];
	}
	return false;
}

static void read_arguments(struct ptp4l *p, const struct nic *n)
{
	char path[64], text[8192];
	int bytes;

	snprintf(path, sizeof(path), "%s/%d/cmdline", proc, p->pid);
	bytes = file_read(path, text, sizeof(text));
	for (int at = 0; at < bytes;) {
		const int after = at + (int)strlen(text + at) + 1;
		const bool both = take_word(p, n, text + at, after < bytes ? text + after : NULL);

		at = both && after < bytes ? after + (int)strlen(text + after) + 1 : after;
	}
}

/* The section "[eth0]" names an interface; "domainNumber 24" is in the section [global]. */
static void read_configuration(struct ptp4l *p, const struct nic *n)
{
	char path[PATH_MAX + 64], line[256], name[64];
	long domain = 0;
	FILE *f;

	if (p->file[0] == '/')
		snprintf(path, sizeof(path), "%s/%d/root%s", proc, p->pid, p->file);
	else
		snprintf(path, sizeof(path), "%s/%d/cwd/%s", proc, p->pid, p->file);
	f = *p->file ? fopen(path, "re") : NULL;
	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, " [%63[^]]]", name) == 1)
			p->named |= !strcmp(name, n->name);
		sscanf(line, " " DOMAIN " %li", &domain);
	}
	if (f)
		fclose(f);
	if (p->domain < 0)
		p->domain = domain;
}

/* In another network namespace the same name is another interface. If the namespace cannot be read, it may be this
 * namespace: false. */
static bool is_elsewhere(int pid)
{
	char path[64];
	struct stat own, its;

	snprintf(path, sizeof(path), "%s/%d/ns/net", proc, pid);
	if (stat(path, &its))
		return false;
	snprintf(path, sizeof(path), "%s/self/ns/net", proc);
	return !stat(path, &own) && own.st_ino != its.st_ino;
}

static bool is_ptp4l(int pid)
{
	char path[64], comm[32];

	snprintf(path, sizeof(path), "%s/%d/comm", proc, pid);
	return file_read(path, comm, sizeof(comm)) > 0 && !strcmp(comm, "ptp4l\n");
}

static int check_one(int pid, const struct nic *n, int domain)
{
	struct ptp4l p = { .pid = pid, .domain = -1 };

	if (!is_ptp4l(pid) || is_elsewhere(pid))
		return 0;
	read_arguments(&p, n);
	read_configuration(&p, n);
	if (!p.named || p.domain != domain)
		return 0;
	warnx("--ptp-domain %d: ptp4l (%d) uses this domain on interface '%s' and would process the probes of rant: "
	      "give another --ptp-domain at both ends", domain, pid, n->name);
	return -EBUSY;
}

int nic_check_ptp4l(const struct nic *n, int domain)
{
	DIR *folder = opendir(proc);
	struct dirent *d;
	int error = 0;

	while (folder && !error && (d = readdir(folder)))
		if (isdigit((unsigned char)d->d_name[0]))
			error = check_one(atoi(d->d_name), n, domain);
	if (folder)
		closedir(folder);
	return error;
}
