// SPDX-License-Identifier: GPL-2.0-or-later
/* Check of the capabilities of this process: capabilities(7), linux/capability.h. */
#include "doctor/inside.h"

#include <linux/capability.h>

/* docs/privileges.md has the use of each. Capabilities that a single option needs, and that are dangerous as file
 * capabilities, are left out. */
static const struct {
	int bit;
	const char *name;
} wanted[] = {
	{ CAP_NET_ADMIN, "cap_net_admin" }, { CAP_NET_RAW, "cap_net_raw" },
		  { CAP_NET_BIND_SERVICE, "cap_net_bind_service" },
	{ CAP_SYS_NICE, "cap_sys_nice" },   { CAP_IPC_LOCK, "cap_ipc_lock" }, { CAP_SETPCAP, "cap_setpcap" },
};

static void look_at_capabilities(struct check *c)
{
	const char *where = "CapEff in /proc/self/status";
	unsigned long long capabilities;
	char lacks[160] = "";
	struct check_file f;

	if (!check_capabilities(&f, &capabilities))
		return check_not_known(c, f.path, f.error);
	for (size_t i = 0; i < CHECK_COUNT(wanted); i++)
		if (!(capabilities & 1ULL << wanted[i].bit))
			text_add(lacks, sizeof(lacks), "%s%s", *lacks ? ", " : "", wanted[i].name);
	if (*lacks)
		check_say(c, NOTE, where, "options that need them are refused or reported as ignored",
			  "sudo, or setcap as in docs/privileges.md", "without %s", lacks);
	else
		check_say(c, OK, where, NULL, NULL, "all that rant uses");
}

const struct check_row check_privileges_rows[] = {
	{ "Rights", "capabilities", look_at_capabilities, false },
	{ NULL, NULL, NULL, false },
};
