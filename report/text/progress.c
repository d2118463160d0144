// SPDX-License-Identifier: GPL-2.0-or-later
/* The line of progress. A terminal that does not accept it misses only that line. */
#include "report/text/progress.h"

#include "options.h"

#include <err.h>
#include <inttypes.h>
#include <stdarg.h>
#include <unistd.h>

#define WIPE "\r\033[K"

static void put(const char *line, int bytes)
{
	if (write(STDERR_FILENO, line, (size_t)bytes) < 0)
		return;
}

void progress_draw(const char *text)
{
	char line[200];

	put(line, snprintf(line, sizeof(line), WIPE "%s", text));
}

/* Prints a line on stderr, where a line of progress may be. */
__attribute__((format(printf, 1, 2)))
static void say(const char *format, ...)
{
	va_list arguments;

	if (isatty(STDERR_FILENO))
		put(WIPE, sizeof(WIPE) - 1);
	va_start(arguments, format);
	vwarnx(format, arguments);
	va_end(arguments);
}

static double seconds_since(int64_t since_ns)
{
	return (double)(clock_read_ns(CLOCK_MONOTONIC) - since_ns) / NS_PER_S;
}

void progress_print_outage(void *progress)
{
	struct progress *p = progress;
	struct outages *o = &p->result->outages;
	const int64_t since_ns = atomic_load_explicit(&o->long_since_ns, memory_order_acquire);

	if (since_ns == p->gone_since_ns)
		return;
	if (p->gone_since_ns)
		say("%s answers again, after %.1f s", p->server, seconds_since(p->gone_since_ns));
	if (since_ns)
		say("no answer from %s for %.0f s, last at #%" PRIu32 "; still trying", p->server,
		    seconds_since(since_ns),
		    atomic_load_explicit(&o->long_after, memory_order_relaxed));
	p->gone_since_ns = since_ns;
}

void progress_print_link(void *progress, bool up)
{
	struct progress *p = progress;
	const char *interface = p->result->options->interface;

	if (!up)
		say("the link of %s went down; still trying", interface);
	else if (p->down_since_ns)
		say("the link of %s is up again, after %.1f s", interface, seconds_since(p->down_since_ns));
	else
		say("the link of %s is up", interface);
	p->down_since_ns = up ? 0 : clock_read_ns(CLOCK_MONOTONIC);
}

void progress_print_move(void *progress, int index)
{
	const struct progress *p = progress;
	char name[IF_NAMESIZE];

	say("%s sends by %s now: stamps of its NIC would be of another clock", p->result->options->interface,
	    index && if_indextoname((unsigned)index, name) ? name : "none of its members");
}

void progress_end(void)
{
	put(WIPE, sizeof(WIPE) - 1);
}

static void print_silence_of_echo(const char *server, uint64_t refused)
{
	if (refused)
		warnx("no answer from %s after 3 s; the kernel refused %" PRIu64 " sends: a router reports by ICMP that "
										 "it cannot be reached, or "
		      "sending is not possible; still trying", server, refused);
	else
		warnx("no answer from %s after 3 s: it does not answer echoes (a firewall, net.ipv4.icmp_echo_ignore_all), "
		      "a wrong address, or no "
		      "ARP entry (see 'ip neigh'); still trying", server);
}

void progress_print_silence(const struct options *o, const char *server, uint64_t refused)
{
	if (options_echoes(o))
		print_silence_of_echo(server, refused);
	else if (refused)
		warnx("no answer from %s after 3 s; the kernel refused %" PRIu64 " sends: no reflector runs there "
		      "(ICMP port unreachable), or sending is not possible; still trying", server, refused);
	else
		warnx("no answer from %s after 3 s: %s%s; still trying", server,
		      o->transport == TRANSPORT_L2 ?
		      "no reflector running there with --transport l2 and this --ptp-domain, a wrong address, or a "
						     "switch that keeps PTP messages to itself" :
		      options_in_ptp(o)		   ?
			      "no reflector running there with --transport ptp and this --ptp-domain, a wrong address, "
			      "a "
						     "firewall, a switch that keeps PTP messages to itself, or no ARP "
						     "entry (see 'ip neigh')" :
						     "no reflector running, a wrong address or port, a firewall, no "
						     "ARP entry (see 'ip neigh')",
		      o->key_path ? ", another --key there, or its --allow" : ", or a --key or an --allow there");
}
