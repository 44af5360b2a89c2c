/* SPDX-License-Identifier: BSD-3-Clause */
/* The command doctor. */
#include <stdio.h>
#include <stdlib.h>

#include "print.h"

static int print_check(void *user, const struct unc_check *check)
{
	struct printer *p = user;

	print_row(p);
	print_also(p, "STATUS", check->ok ? "ok" : "FAIL");
	print_text(p, "check", "CHECK", check->check);
	print_bool(p, "ok", check->ok);
	print_text(p, "detail", "DETAIL", check->detail);
	if (!check->ok && check->remedy[0]) {
		print_line(p);
		print_also(p, "DETAIL", "-> ");
	}
	print_known(p, "remedy", "DETAIL", check->remedy);
	return 0;
}

int cmd_doctor(struct unc_platform *none, const struct args *args)
{
	struct unc_options options = {
		.size = sizeof(options), .tables = args->tables, .access = args->access};
	struct unc_platform *platform;
	struct printer p;

	print_start(&p, args, none);
	if (!args->json && unc_platform_open(&options, &platform) == 0) {
		print_label(platform);
		unc_platform_close(platform);
	}
	print_list(&p, NULL, NO_TITLES, "STATUS|CHECK|DETAIL");
	int failed = unc_doctor(&options, print_check, &p);

	print_end(&p);
	if (failed < 0)
		return library_error(failed, unc_open_error());
	if (failed == 0)
		print_also(&p, "", "\nEverything needed is there.");
	else
		print_also(&p, "",
			   "\n%d of the checks failed; behind each -> is what to do about it.",
			   failed);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
