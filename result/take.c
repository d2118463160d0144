// SPDX-License-Identifier: GPL-2.0-or-later
/* Results of objects of host/ as plain data. */
#include "result/take.h"

#include "host/process/hook.h"
#include "result/evidence.h"

#include <string.h>

void take_commands(struct result_commands *to, const struct hooks *from)
{
	to->commands = from->wanted->commands;
	memcpy(to->ran, from->ran, sizeof(to->ran));
	memcpy(to->failed, from->failed, sizeof(to->failed));
	memcpy(to->left_out, from->left_out, sizeof(to->left_out));
}
