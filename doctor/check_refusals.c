// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Checks of the refusals at the start of a run, besides timestamps and link. They call the functions of the run itself,
 * which change nothing and send no packet at this point.
 */
#include "doctor/inside.h"
#include "host/nic/nic_reach.h"
#include "options.h"
#include "wire/socket.h"

#include <errno.h>
#include <string.h>

#define SENTENCE_BYTES 512

/* Calls `ask` and catches its line for stderr, without the name of the program. (In glibc stderr is a variable; the
 * process has one thread at this point.) Returns the result of `ask`. */
static int listen_to(int (*ask)(struct check *), struct check *c, char sentence[SENTENCE_BYTES])
{
	char line[SENTENCE_BYTES] = "";
	FILE *out = fmemopen(line, sizeof(line), "w"), *before = stderr;
	const char *text;
	int error;

	if (out)
		stderr = out;
	error = ask(c);
	stderr = before;
	if (out)
		fclose(out);
	line[strcspn(line, "\n")] = '\0';
	text = strstr(line, ": ");
	snprintf(sentence, SENTENCE_BYTES, "%s", text ? text + 2 : strerror(-error));
	return error;
}

/* The caught line has the problem, and after a colon the reason or the cure. */
static void look_at(struct check *c, int (*ask)(struct check *), const char *where, const char *good)
{
	char sentence[SENTENCE_BYTES], *cure;

	if (!listen_to(ask, c, sentence))
		return check_say(c, OK, where, NULL, NULL, "%s", good);
	cure = strstr(sentence, ": ");
	if (cure) {
		*cure = '\0';
		cure += 2;
	}
	check_say(c, FAIL, where, "rant will not start", cure, "%s", sentence);
}

/* For a reflector this also finds the addresses of the interface, which decide the families of its sockets. */
static int ask_address(struct check *c)
{
	return nic_check_reach(&c->nic, c->options);
}

static void look_at_address(struct check *c)
{
	bool emit = c->options->role == ROLE_EMIT;

	if (c->options->transport == TRANSPORT_L2)
		look_at(c, ask_address, "SIOCGIFHWADDR", "the interface is an Ethernet and has an address");
	else
		look_at(c, ask_address, emit ? "RTM_GETROUTE" : "RTM_GETADDR",
			emit ? "the reflector is reached through this interface" : "the interface has an address");
}

static int ask_socket(struct check *c)
{
	struct channel channel = CHANNEL_CLOSED;
	int error = socket_open(&channel, c->options, &c->nic);

	if (!error)
		socket_close(&channel);
	return error;
}

static void look_at_socket(struct check *c)
{
	look_at(c, ask_socket, "setsockopt", "the kernel accepts all options");
}

/* Not in the short form: a run that reaches it was not refused. */
const struct check_row check_refusals_rows[] = { /* in the group "NIC" */
	{ NULL, "address", look_at_address, true },
	{ NULL, "socket", look_at_socket, true },
	{ NULL, NULL, NULL, false },
};
