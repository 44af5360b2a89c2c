/* SPDX-License-Identifier: BSD-3-Clause */
/* The command doctor. */
#include <stdio.h>
#include <stdlib.h>

#include "json.h"
#include "output.h"
#include "tool.h"

static int check_json(void *user, const struct unc_check *check)
{
	struct json *j = user;

	json_object(j, NULL);
	json_text(j, "check", check->check);
	json_bool(j, "ok", check->ok);
	json_text(j, "detail", check->detail);
	json_text_or_null(j, "remedy", check->remedy);
	json_end(j);
	return 0;
}

static int check_text(void *user, const struct unc_check *check)
{
	TABLE_ROW(user, check->ok ? "ok" : "FAIL", check->check, check->detail);
	if (!check->ok && check->remedy[0]) {
		char *remedy = must_print("-> %s", check->remedy);

		TABLE_ROW(user, "", "", remedy);
		free(remedy);
	}
	return 0;
}

static int verdict(int failed)
{
	if (failed < 0)
		return library_error(failed, unc_open_error());
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

static int doctor_text(const struct unc_options *options)
{
	struct table *t = table_new("lll");
	struct unc_platform *platform;
	int failed;

	if (unc_platform_open(options, &platform) == 0) {
		print_label(platform);
		unc_platform_close(platform);
	}
	failed = unc_doctor(options, check_text, t);
	table_print(t);
	table_free(t);
	if (failed == 0)
		puts("\nEverything needed is there.");
	else if (failed > 0)
		printf("\n%d of the checks failed: counters cannot be read, or not all of them.\n",
		       failed);
	return verdict(failed);
}

static int doctor_json(const struct unc_options *options)
{
	struct json j;
	int failed;

	json_start(&j, stdout);
	json_array(&j, NULL);
	failed = unc_doctor(options, check_json, &j);
	json_end(&j);
	return verdict(failed);
}

int cmd_doctor(int argc, char **argv)
{
	struct args args;
	int rc = args_parse(&args, argc, argv, false, 0, 0);

	if (rc != ARGS_OK)
		return rc;
	struct unc_options options = {.size = sizeof(options), .tables = args.tables};

	return args.json ? doctor_json(&options) : doctor_text(&options);
}
