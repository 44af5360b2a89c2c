/* SPDX-License-Identifier: BSD-3-Clause */
/* The commands counters, release, doctor and gather: how this node is. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "print.h"

#define COLUMNS "UNIT|>SOCKET|COUNTER|CONTROL|EVENT|OWNER|>USER|>PID|COMMAND|SINCE"

struct rows {
	struct printer printer;
	bool release; /* what came of it is shown */
	bool first;   /* of --force: what is about to be freed is being shown */
	size_t n, foreign, released;
};

static void begin(struct rows *r)
{
	print_list(&r->printer, NULL, TITLES, r->release ? COLUMNS "|RELEASED" : COLUMNS);
	r->n = r->foreign = r->released = 0;
}

/* UTC, as ISO 8601 has it. */
static void print_since(struct printer *p, double since)
{
	char text[CELL_MAX] = "";
	time_t seconds = (time_t)since;
	struct tm t;

	if (since > 0 && gmtime_r(&seconds, &t))
		strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &t);
	print_known(p, "since", "SINCE", text);
}

static int print_counter(void *user, const struct unc_counter *c)
{
	static const char *const owner[] = {
		[UNC_OWNER_LIBUNCORE] = "libuncore",
		[UNC_OWNER_KERNEL] = "kernel",
		[UNC_OWNER_FOREIGN] = "foreign",
		[UNC_OWNER_ORPHANED] = "orphaned",
	};
	struct rows *r = user;
	struct printer *p = &r->printer;

	r->n++;
	print_row(p);
	print_integer(p, "socket", "SOCKET", c->unit->socket);
	print_text(p, "unit", "UNIT", c->unit->type->name);
	print_integer(p, "index", "UNIT", c->unit->index);
	if (c->by)
		print_known(p, "counter", "COUNTER", ""); /* the kernel chooses it */
	else if (c->name)
		print_text(p, "counter", "COUNTER", c->name);
	else
		print_integer(p, "counter", "COUNTER", c->number);
	print_hex(p, "control", "CONTROL", c->control);
	print_text(p, "event", "EVENT", c->event);
	print_text(p, "owner", "OWNER", owner[c->owner]);
	if (c->uid >= 0)
		print_integer(p, "user", "USER", c->uid);
	else
		print_null(p, "user");
	if (c->pid)
		print_integer(p, "pid", "PID", c->pid);
	else
		print_null(p, "pid");
	print_known(p, "command", "COMMAND", c->command);
	print_since(p, c->since);
	if (c->by)
		print_text(p, "by", NULL, c->by);
	return 0;
}

/* Called twice for each: what is about to be freed is shown for --force alone, and not to
 * programs. */
static int print_released(void *user, const struct unc_counter *c)
{
	struct rows *r = user;
	bool done = c->release == UNC_RELEASE_DONE;

	if (c->release == UNC_RELEASE_FOUND) {
		if (r->first)
			print_counter(r, c);
		return 0;
	}
	if (r->first) {
		r->first = false;
		r->release = true;
		print_end(&r->printer);
		fflush(stdout);
		putchar('\n');
		begin(r);
	}
	print_counter(r, c);
	print_also(&r->printer, "RELEASED", done ? "yes" : "no: %s", c->reason);
	print_bool(&r->printer, "released", done);
	print_known(&r->printer, "reason", NULL, c->reason);
	r->released += done;
	r->foreign += !done && c->owner == UNC_OWNER_FOREIGN;
	return 0;
}

/* Ends the rows; the exit status. */
static int end(struct rows *r, struct unc_platform *p, int rc)
{
	print_end(&r->printer);
	return library_error(rc, unc_platform_error(p));
}

int cmd_counters(struct unc_platform *p, const struct args *args)
{
	struct rows r = {.n = 0};

	print_start(&r.printer, args, p);
	begin(&r);
	int rc = end(&r, p, unc_counters_walk(p, print_counter, &r));

	if (rc == 0)
		print_also(&r.printer, "", "\n%zu counter%s in use", r.n,
			   r.n == 1 ? " is" : "s are");
	return rc;
}

int cmd_release(struct unc_platform *p, const struct args *args)
{
	struct rows r = {.first = args->force && !args->json,
			 .release = !args->force || args->json};
	unsigned flags = args->force ? UNC_RELEASE_FORCE : 0;

	print_start(&r.printer, args, p);
	begin(&r);
	int rc = end(&r, p, unc_counters_release(p, flags, print_released, &r));

	if (rc == 0)
		print_also(&r.printer, "", "\n%zu of %zu counters in use %s released", r.released,
			   r.n, r.released == 1 ? "was" : "were");
	if (rc == 0 && r.foreign && !args->force)
		remark("note: %zu foreign counter%s: --force frees them", r.foreign,
		       r.foreign == 1 ? "" : "s");
	return rc;
}

/* ---- doctor */

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

/* ---- gather */

int cmd_gather(struct unc_platform *none, const struct args *args)
{
	struct unc_options options = {
		.size = sizeof(options), .tables = args->tables, .access = args->access};
	struct printer p;

	if (strcmp(args->word[0], "-") == 0)
		return bad_input("gather: needs the name of a file, not '-'");
	print_start(&p, args, none);
	print_list(&p, NULL, NO_TITLES, "FILE");
	int rc = unc_gather(&options, args->word[0]);

	if (rc == 0) {
		print_row(&p);
		print_text(&p, "file", "FILE", args->word[0]);
	}
	print_end(&p);
	if (rc == 0)
		print_also(&p, "",
			   "\nThe file describes this machine. It is text: look at it before you "
			   "send it. Reports go to %s.",
			   UNC_REPORT_TO);
	return library_error(rc, unc_open_error());
}
