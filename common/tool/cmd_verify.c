/* SPDX-License-Identifier: BSD-3-Clause */
/* The command verify: which checks there are, in which order, and their report. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "record.h"
#include "verify.h"

/* ---- the checks */

static void run_checks(struct verify *v)
{
	/* What a stop leaves comes first: else what the others leave would be what was found. */
	static void (*const checks[])(struct verify *) = {
		verify_restored, verify_clocks, verify_counters, verify_rows,
		verify_filters,  verify_nodes,  verify_killed,
	};

	for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]) && !verify_stopped(); i++)
		checks[i](v);
	if (isatty(STDERR_FILENO))
		fputs("\r\033[K", stderr);
}

/* ---- the report */

static const char *const verdicts[] = {
	[RIGHT] = "right", [WRONG] = "wrong", [NOT_JUDGED] = "not judged"};

static const struct column finding_columns[] = {
	{CELL("verdict", "VERDICT")},   {CELL("expected", "EXPECTED")},
	{CELL("measured", "MEASURED")}, {FOLD("check", "CHECK")},
	{BELOW("reason", "-> ")},       {0}};

static void put_findings(const struct verify *v, struct record *r, const char *key)
{
	record_list(r, key, finding_columns);
	for (size_t i = 0; i < v->n; i++) {
		const struct finding *f = &v->finding[i];

		record_row(r);
		record_text(r, "check", f->check);
		record_known(r, "expected", f->expected ? f->expected : "");
		record_known(r, "measured", f->measured ? f->measured : "");
		record_text(r, "verdict", verdicts[f->verdict]);
		record_known(r, "reason", f->reason ? f->reason : "");
	}
	record_end(r);
}

/* "msr, mmio": the methods that serve units. */
static char *methods_of(const struct verify *v)
{
	const struct unc_unit *u;
	char *list = NULL;

	for (size_t i = 0; (u = unc_unit_get(v->platform, i)); i++)
		if (u->available && !(list && strstr(list, u->access)))
			list = must_list(list, u->access);
	return list ? list : must_print("none");
}

/* Into the file that was opened: what somebody else needs to judge the findings; not which machine it
 * was. */
static int write_file(const struct verify *v, const struct args *args, int fd)
{
	struct args json = {.json = true};
	struct utsname kernel;
	struct record r;
	char *methods = methods_of(v);

	uname(&kernel);
	record_start(&r, &json, v->platform);
	r.out = fdopen(dup(fd), "w");
	if (!r.out)
		return failure("cannot write '%s': %s", args->output, strerror(errno));
	record_open(&r, NULL, '{');
	record_text(&r, "cpu", unc_platform_cpu(v->platform)->name);
	record_bool(&r, "simulated", unc_platform_simulated(v->platform));
	record_integer(&r, "sockets", v->sockets);
	record_text(&r, "kernel", kernel.release);
	record_text(&r, "architecture", kernel.machine);
	record_text(&r, "version", unc_version());
	record_text(&r, "access", methods);
	put_findings(v, &r, "checks");
	record_close(&r);
	free(methods);
	return fclose(r.out) == 0 ? EXIT_SUCCESS
				  : failure("cannot write '%s': %s", args->output, strerror(errno));
}

static int report(const struct verify *v, const struct args *args, int fd)
{
	size_t count[3] = {0};
	struct record r;

	for (size_t i = 0; i < v->n; i++)
		count[v->finding[i].verdict]++;
	record_start(&r, args, v->platform);
	put_findings(v, &r, NULL);
	record_line(&r, "\n%zu right, %zu wrong, %zu not judged", count[RIGHT], count[WRONG],
		    count[NOT_JUDGED]);
	int rc = fd >= 0 ? write_file(v, args, fd) : EXIT_SUCCESS;

	if (fd >= 0 && rc == EXIT_SUCCESS)
		record_line(&r, "\n%s: reports go to %s.", args->output, UNC_REPORT_TO);
	return count[WRONG] ? EXIT_FAILURE : rc;
}

/* ---- the machine */

/* A simulated machine is opened so that it can be told what is moved. */
static int open_machine(struct verify *v, const struct args *args)
{
	const char *sim = getenv("UNCORE_SIM");
	int *fd = must_alloc(NULL, 1, sizeof(*fd));
	char *told = sim && *sim ? verify_told_machine(sim, fd) : NULL;

	v->args = args;
	v->mover = told ? &verify_told : &verify_load;
	v->of_mover = told ? fd : NULL;
	if (told)
		setenv("UNCORE_SIM", told, 1);
	else
		free(fd);
	free(told);
	int rc = open_platform(args, OPEN_MACHINE, &v->platform);

	if (rc == ARGS_OK)
		v->sockets = unc_platform_sockets(v->platform);
	return rc;
}

static void close_machine(struct verify *v)
{
	for (size_t i = 0; i < v->n; i++) {
		free(v->finding[i].check);
		free(v->finding[i].expected);
		free(v->finding[i].measured);
		free(v->finding[i].reason);
	}
	free(v->finding);
	free(v->why);
	v->mover->end(v);
	unc_platform_close(v->platform);
}

int cmd_verify(struct unc_platform *none, const struct args *args)
{
	struct verify v = {.platform = none};
	int rc, fd = -1;

	if (args->output && strcmp(args->output, "-") == 0)
		return bad_input("verify: option '-o' needs a file, not '-'; -j is on stdout");
	if (args->output && (fd = open(args->output, O_WRONLY | O_CREAT | O_TRUNC, 0666)) < 0)
		return failure("cannot write '%s': %s", args->output, strerror(errno));
	verify_block_signals();
	rc = open_machine(&v, args);
	if (rc == ARGS_OK) {
		run_checks(&v);
		rc = verify_stopped() ? BY_SIGNAL + verify_stopped() : report(&v, args, fd);
	}
	close_machine(&v);
	if (fd >= 0)
		close(fd);
	return rc;
}
