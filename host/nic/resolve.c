// SPDX-License-Identifier: GPL-2.0-or-later
/* Host names are resolved by getaddrinfo(3), from the sources of /etc/nsswitch.conf. */
#include "host/nic/resolve.h"

#include "host/file.h"
#include "host/nic/nic_inside.h"

#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define SLOW_MS 1000
#define FILE_BYTES 4096

/* ---- Progress message -------------------------------------------------------------------------------------------- */

struct startup_watchdog {
	const char *name;
	int done_fd; /* -1: no thread runs */
	pthread_t thread;
};

static void *print_if_slow(void *startup_watchdog)
{
	const struct startup_watchdog *p = startup_watchdog;
	struct pollfd done = { .fd = p->done_fd, .events = POLLIN };

	if (!poll(&done, 1, SLOW_MS))
		warnx("--address %s: still waiting for the address of this name (see 'getent ahosts %s'): Ctrl-C ends "
		      "it", p->name, p->name);
	return NULL;
}

/* Without a descriptor or a thread the wait prints nothing. */
static void begin_wait(struct startup_watchdog *p)
{
	p->done_fd = eventfd(0, EFD_CLOEXEC);
	if (p->done_fd >= 0 && pthread_create(&p->thread, NULL, print_if_slow, p)) {
		close(p->done_fd);
		p->done_fd = -1;
	}
}

static void end_wait(struct startup_watchdog *p)
{
	if (p->done_fd < 0)
		return;
	eventfd_write(p->done_fd, 1);
	pthread_join(p->thread, NULL);
	close(p->done_fd);
}

/* ---- Sources of the resolver ------------------------------------------------------------------------------------- */

/* The words after `key` of all lines that begin with `key`, separated by single blanks. */
static void take_words(char *text, const char *key, char *to, size_t bytes)
{
	char *line, *word, *lines, *words;
	size_t n = 0;

	*to = '\0';
	for (line = strtok_r(text, "\n", &lines); line; line = strtok_r(NULL, "\n", &lines)) {
		line[strcspn(line, "#")] = '\0';
		if (strncmp(line, key, strlen(key)))
			continue;
		for (word = strtok_r(line + strlen(key), " \t", &words); word && n < bytes;
		     word = strtok_r(NULL, " \t", &words))
			n += (size_t)snprintf(to + n, bytes - n, "%s%s", n ? " " : "", word);
	}
}

/* ": sources: files dns (192.0.2.1)", or nothing. getaddrinfo(3) does not report which source answered. */
static void write_sources(char *name_switch, char *resolver, char text[FILE_BYTES])
{
	char sources[FILE_BYTES / 4], servers[FILE_BYTES / 4];

	take_words(name_switch, "hosts:", sources, sizeof(sources));
	take_words(resolver, "nameserver", servers, sizeof(servers));
	snprintf(text, FILE_BYTES, "%s%s%s%s%s", *sources ? ": sources: " : "", sources,
		 *sources && *servers ? " (" : "", *sources ? servers : "", *sources && *servers ? ")" : "");
}

/* ---- The address ------------------------------------------------------------------------------------------------- */

static int say_failure(const char *name, int family, int error, int system_error)
{
	const char *of = family == AF_INET ? " an IPv4" : family == AF_INET6 ? " an IPv6" : " an";
	char name_switch[FILE_BYTES], resolver[FILE_BYTES], sources[FILE_BYTES];

	file_read("/etc/nsswitch.conf", name_switch, sizeof(name_switch));
	file_read("/etc/resolv.conf", resolver, sizeof(resolver));
	write_sources(name_switch, resolver, sources);
	warnx("--address %s: the resolver of this host has not found%s address: %s%s: see 'getent ahosts %s', or give "
	      "the address itself", name,
	      of, error == EAI_SYSTEM ? strerror(system_error) : gai_strerror(error), sources, name);
	return -ENOENT;
}

static bool get_address(const struct addrinfo *i, union address *a)
{
	*a = (union address){ .any.sa_family = AF_UNSPEC };
	if ((i->ai_family != AF_INET && i->ai_family != AF_INET6) || i->ai_addrlen > sizeof(*a))
		return false;
	memcpy(a, i->ai_addr, i->ai_addrlen);
	return true;
}

/* Returns the number of addresses. reached: the chosen address has a route through the interface. */
static int choose(const struct addrinfo *list, int index, union address *chosen, bool *reached)
{
	int count = 0;

	*reached = false;
	for (const struct addrinfo *i = list; i; i = i->ai_next) {
		union address a;

		if (!get_address(i, &a))
			continue;
		count++;
		if (*reached || (count > 1 && !nic_reaches(index, &a)))
			continue;
		*reached = count > 1 || nic_reaches(index, &a);
		*chosen = a;
	}
	return count;
}

int resolve_server(struct options *o)
{
	const int family = options_family(o);
	const struct addrinfo hints = { .ai_family = family, .ai_socktype = SOCK_DGRAM };
	struct startup_watchdog startup_watchdog = { .name = o->server_name };
	struct addrinfo *list = NULL;
	char text[INET6_ADDRSTRLEN];
	int error, count, system_error;
	bool reached;

	if (!o->server_name)
		return 0;
	begin_wait(&startup_watchdog);
	error = getaddrinfo(o->server_name, NULL, &hints, &list);
	system_error = errno;
	end_wait(&startup_watchdog);
	if (error)
		return say_failure(o->server_name, family, error, system_error);
	count = choose(list, o->interface ? (int)if_nametoindex(o->interface) : 0, &o->server, &reached);
	freeaddrinfo(list);
	if (!count)
		return say_failure(o->server_name, family, EAI_NONAME, 0);
	if (o->host_given && reached)
		return 0; /* the first line of the run names address and interface */
	inet_ntop(o->server.any.sa_family, o->server.any.sa_family == AF_INET6 ? (void *)&o->server.in6.sin6_addr :
									       (void *)&o->server.in.sin_addr, text,
										       sizeof(text));
	if (count == 1)
		warnx("--address %s: resolved to %s", o->server_name, text);
	else
		warnx("--address %s: resolved to %s, the first of its %d addresses%s%s", o->server_name, text, count,
		      reached ? " that is reached through " : ", none of which is reached through ",
		      o->interface ? o->interface : "any interface");
	return 0;
}
