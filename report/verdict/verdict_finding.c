// SPDX-License-Identifier: GPL-2.0-or-later
/* Text of a finding, and of the verdict. */
#include "report/verdict/verdict_inside.h"

const char *verdict_comma(const struct verdict_finding *found)
{
	return *found->text ? ", " : "";
}

const char *const verdict_levels[] = { [VERDICT_TRUSTED] = "trusted", [VERDICT_DOUBTFUL] = "doubtful",
				       [VERDICT_VOID] = "void" };

void verdict_write(FILE *out, const struct verdict *v)
{
	fputs(verdict_levels[v->level], out);
	for (unsigned i = 0; i < v->reasons; i++)
		fprintf(out, "%s%s%s (%s)", i ? "; " : ": ", v->reason[i].name, v->reason[i].more, v->reason[i].text);
}
