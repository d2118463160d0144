// SPDX-License-Identifier: GPL-2.0-or-later
/* The words of a finding. */
#include "report/verdict_finding.h"

#include <stdarg.h>
#include <string.h>

void verdict_say(struct verdict_finding *found, const char *format, ...)
{
	size_t used = strlen(found->text);
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(found->text + used, sizeof(found->text) - used, format, arguments);
	va_end(arguments);
}

const char *verdict_comma(const struct verdict_finding *found)
{
	return *found->text ? ", " : "";
}
