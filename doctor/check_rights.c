// SPDX-License-Identifier: GPL-2.0-or-later
/* The doctor's check of what this process may do. Facts: capabilities(7), linux/capability.h. */
#include "doctor/facts.h"
#include "doctor/files.h"
#include "doctor/finding.h"
#include "doctor/rows.h"

#include <linux/capability.h>

/* What they are for: docs/privileges.md. Those that an option alone needs, and no file can give without danger, are not
 * here. */
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
		return check_cannot_tell(c, f.path, f.error);
	for (size_t i = 0; i < CHECK_COUNT(wanted); i++)
		if (!(capabilities & 1ULL << wanted[i].bit))
			text_add(lacks, sizeof(lacks), "%s%s", *lacks ? ", " : "", wanted[i].name);
	if (*lacks)
		check_say(c, NOTE, where, "what needs them is refused, or said to be left out",
			  "sudo, or setcap as in docs/privileges.md", "without %s", lacks);
	else
		check_say(c, OK, where, NULL, NULL, "all that rant makes use of");
}

const struct check_row check_rights_rows[] = {
	{ "Rights", "capabilities", look_at_capabilities, false },
	{ NULL, NULL, NULL, false },
};
