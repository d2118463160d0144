// SPDX-License-Identifier: GPL-2.0-or-later
/* How an object of rant begins: what it is, and who wrote it. */
#include "report/export/json_parts.h"

#include "report/text/version.h"

void json_origin(struct json *j)
{
	json_text(j, "format", "rant");
	json_integer(j, "schema_version", JSON_SCHEMA_VERSION);
	json_text(j, "rant_version", RANT_VERSION);
	json_text(j, "rant_commit", version_commit());
}
