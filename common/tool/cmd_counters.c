/* SPDX-License-Identifier: BSD-3-Clause */
/* The commands counters, release, doctor and gather: the state of this node. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "record.h"

static const struct column counter_columns[] = {{CELL("unit", "UNIT")},
						{CELL("index", "UNIT")},
						{NUMBER("socket", "SOCKET")},
						{CELL("counter", "COUNTER")},
						{CELL("control", "CONTROL")},
						{CELL("event", "EVENT")},
						{CELL("owner", "OWNER")},
						{NUMBER("user", "USER")},
						{NUMBER("pid", "PID")},
						{CELL("command", "COMMAND")},
						{CELL("since", "SINCE")},
						{FOLD("is_released", "RELEASED")},
						{0}};

struct rows {
	struct record record;
	bool first; /* of --force: what is about to be freed is being shown */
	size_t n, foreign, released;
};

static void begin_rows(struct rows *r)
{
	record_list(&r->record, NULL, counter_columns);
	r->n = r->foreign = r->released = 0;
}

/* UTC, as ISO 8601 has it. */
static void put_since(struct record *p, double since)
{
	char text[CELL_MAX] = "";
	time_t seconds = (time_t)since;
	struct tm t;

	if (since > 0 && gmtime_r(&seconds, &t))
		strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &t);
	record_known(p, "since", text);
}

static int put_counter(void *user, const struct unc_counter *c)
{
	static const char *const owner[] = {
		[UNC_OWNER_LIBUNCORE] = "libuncore",
		[UNC_OWNER_KERNEL] = "kernel",
		[UNC_OWNER_FOREIGN] = "foreign",
		[UNC_OWNER_ORPHANED] = "orphaned",
	};
	struct rows *r = user;
	struct record *p = &r->record;

	r->n++;
	record_row(p);
	record_integer(p, "socket", c->unit->socket);
	record_text(p, "unit", c->unit->type->name);
	record_integer(p, "index", c->unit->index);
	if (c->by)
		record_known(p, "counter", ""); /* the kernel chooses it */
	else if (c->name)
		record_text(p, "counter", c->name);
	else
		record_integer(p, "counter", c->number);
	record_hex(p, "control", c->control);
	record_text(p, "event", c->event);
	record_text(p, "owner", owner[c->owner]);
	if (c->uid >= 0)
		record_integer(p, "user", c->uid);
	else
		record_null(p, "user");
	if (c->pid)
		record_integer(p, "pid", c->pid);
	else
		record_null(p, "pid");
	record_known(p, "command", c->command);
	put_since(p, c->since);
	if (c->by)
		record_text(p, "by", c->by);
	return 0;
}

/* Called twice for each counter: before it is freed (shown only with --force, and only to people), and after. */
static int put_released(void *user, const struct unc_counter *c)
{
	struct rows *r = user;
	bool done = c->release == UNC_RELEASE_DONE;

	if (c->release == UNC_RELEASE_FOUND) {
		if (r->first)
			put_counter(r, c);
		return 0;
	}
	if (r->first) {
		r->first = false;
		record_end(&r->record);
		fflush(stdout);
		putchar('\n');
		begin_rows(r);
	}
	put_counter(r, c);
	record_also(&r->record, "is_released", done ? "yes" : "no: %s", c->reason);
	record_bool(&r->record, "released", done);
	record_known(&r->record, "reason", c->reason);
	r->released += done;
	r->foreign += !done && c->owner == UNC_OWNER_FOREIGN;
	return 0;
}

/* Ends the rows; the exit status. */
static int end_rows(struct rows *r, struct unc_platform *p, int rc)
{
	record_end(&r->record);
	return library_error(rc, unc_platform_error(p));
}

int cmd_counters(struct unc_platform *p, const struct args *args)
{
	struct rows r = {.n = 0};

	record_start(&r.record, args, p);
	begin_rows(&r);
	int rc = end_rows(&r, p, unc_counters_walk(p, put_counter, &r));

	if (rc == 0)
		record_line(&r.record, "%s%zu counter%s in use", r.n ? "\n" : "", r.n,
			    r.n == 1 ? " is" : "s are");
	return rc;
}

int cmd_release(struct unc_platform *p, const struct args *args)
{
	struct rows r = {.first = args->force && !args->json};
	unsigned flags = args->force ? UNC_RELEASE_FORCE : 0;

	record_start(&r.record, args, p);
	begin_rows(&r);
	int rc = end_rows(&r, p, unc_counters_release(p, flags, put_released, &r));

	if (rc == 0)
		record_line(&r.record, "%s%zu of %zu counters in use %s released", r.n ? "\n" : "",
			    r.released, r.n, r.released == 1 ? "was" : "were");
	if (rc == 0 && r.foreign && !args->force)
		remark("note: %zu foreign counter%s: --force frees them", r.foreign,
		       r.foreign == 1 ? "" : "s");
	return rc;
}

/* ---- doctor */

static const struct column check_columns[] = {{CELL("status", "")},
					      {CELL("check", "")},
					      {FOLD("detail", "")},
					      {BELOW("remedy", "-> ")},
					      {0}};

static int put_check(void *user, const struct unc_check *check)
{
	struct record *p = user;

	record_row(p);
	record_also(p, "status", check->ok ? "ok" : "FAIL");
	record_text(p, "check", check->check);
	record_bool(p, "ok", check->ok);
	record_text(p, "detail", check->detail);
	record_known(p, "remedy", check->remedy);
	return 0;
}

int cmd_doctor(struct unc_platform *none, const struct args *args)
{
	struct unc_options options = {.size = sizeof(options), .access = args->access};
	struct unc_platform *platform;
	struct record p;

	record_start(&p, args, none);
	if (!args->json && unc_platform_open(&options, &platform) == 0) {
		print_label(platform);
		unc_platform_close(platform);
	}
	record_list(&p, NULL, check_columns);
	int failed = unc_doctor(&options, put_check, &p);

	record_end(&p);
	if (failed < 0)
		return library_error(failed, unc_open_error());
	if (failed == 0)
		record_line(&p, "\nEverything needed is there.");
	else
		record_line(&p,
			    "\n%d of the checks failed; the text after each -> says what to do "
			    "about it.",
			    failed);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* ---- gather */

static const struct column gathered_columns[] = {{CELL("file", "FILE")}, {0}};

int cmd_gather(struct unc_platform *none, const struct args *args)
{
	struct unc_options options = {.size = sizeof(options), .access = args->access};
	struct record p;

	if (strcmp(args->word[0], "-") == 0)
		return bad_input("gather: needs the name of a file, not '-'");
	record_start(&p, args, none);
	record_list(&p, NULL, gathered_columns);
	int rc = unc_gather(&options, args->word[0]);

	if (rc == 0) {
		record_row(&p);
		record_text(&p, "file", args->word[0]);
	}
	record_end(&p);
	if (rc == 0)
		record_line(&p,
			    "\nThe file describes this machine. It is text: look at it before you "
			    "send it. Reports go to %s.",
			    UNC_REPORT_TO);
	return library_error(rc, unc_open_error());
}
