// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The doctor's checks of what rant refuses before a run, besides what is wrong with stamps and link: the functions of
 * the run are asked themselves. They change nothing of the machine, and no packet is sent.
 */
#include "doctor/facts.h"
#include "doctor/finding.h"
#include "doctor/rows.h"
#include "host/nic/nic_reach.h"
#include "options.h"
#include "wire/socket.h"

#include <errno.h>
#include <string.h>

#define SENTENCE_BYTES 512

/* Asks, and keeps the line that would go to stderr, without the name of the program. (With glibc stderr is a variable;
 * there is one thread yet.) The result is that of `ask`. */
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

/* The sentence says what, and after a colon why or what to do. */
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

/* Of a reflector it finds its addresses too, which say of which families its sockets are. */
static int ask_address(struct check *c)
{
	return nic_check_reach(&c->nic, c->options);
}

static void look_at_address(struct check *c)
{
	bool emit = c->options->role == ROLE_EMIT;

	if (c->options->transport == TRANSPORT_L2)
		look_at(c, ask_address, "SIOCGIFHWADDR", "the interface is an Ethernet, and has one");
	else
		look_at(c, ask_address, emit ? "RTM_GETROUTE" : "RTM_GETADDR",
			emit ? "the server is reached through this interface" : "there is one");
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
	look_at(c, ask_socket, "setsockopt", "the kernel takes all options");
}

/* Not in the short form: a run that has come so far was not refused. */
const struct check_row check_refusals_rows[] = { /* "NIC" goes on */
	{ NULL, "address", look_at_address, true },
	{ NULL, "socket", look_at_socket, true },
	{ NULL, NULL, NULL, false },
};
