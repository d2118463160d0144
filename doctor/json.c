// SPDX-License-Identifier: GPL-2.0-or-later
/* The findings of --check as JSON. */
#include "doctor/json.h"

#include "doctor/check.h"
#include "options.h"
#include "report/export/json.h"
#include "report/export/json_parts.h"
#include "report/log/log_file.h"

static void put_finding(void *json, const struct check_reported *r)
{
	struct json *j = json;

	json_row(j, NULL);
	json_text(j, "interface", r->interface);
	json_finding(j, r);
	json_end(j);
}

int check_json(FILE *out, const struct options *o)
{
	static struct json j;
	struct log_file file = { .fd = -1 };
	int fails, error = log_file_open_of(&file, "json", o->json_path);

	if (error)
		return error;
	json_begin(&j, log_file_put, &file, false);
	json_object(&j, NULL);
	json_origin(&j);
	json_object(&j, "check");
	json_array(&j, "findings");
	fails = check_machine(out, put_finding, &j, o);
	if (fails < 0) {
		log_file_discard(&file);
		return fails;
	}
	json_end(&j);
	json_end(&j);
	json_end(&j);
	json_finish(&j);
	error = log_file_finish(&file);
	return error ? error : fails;
}
