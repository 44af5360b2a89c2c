/* SPDX-License-Identifier: BSD-3-Clause */
/* Verify: what was found, and whether a signal ends it. */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record.h"
#include "verify.h"

/* ---- signals wait, and are looked for: everything is put back on the way out */

static const int ends[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
enum { N_ENDS = sizeof(ends) / sizeof(ends[0]) };

void verify_block_signals(void)
{
	struct sigaction action;
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < N_ENDS; i++)
		if (sigaction(ends[i], NULL, &action) == 0 && action.sa_handler != SIG_IGN)
			sigaddset(&set, ends[i]); /* unless ignored, as under nohup */
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
}

int verify_stopped(void)
{
	sigset_t waiting;

	if (sigpending(&waiting) < 0)
		return 0;
	for (size_t i = 0; i < N_ENDS; i++)
		if (sigismember(&waiting, ends[i]))
			return ends[i];
	return 0;
}

/* ---- findings */

bool verify_fail(struct verify *v, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	char *text = must_format(format, args);
	va_end(args);
	free(v->why);
	v->why = text;
	return false;
}

static char *amount(double value, const char *unit)
{
	char buf[CELL_MAX];

	if (unit[0] == '%')
		return must_print("%.4g %%", 100 * value);
	return must_print("%s", strcmp(unit, "bytes") == 0 ? scaled(buf, value, "B")
							   : with_unit(buf, value, unit));
}

void verify_judge(struct verify *v, char *check, double value, double least, double most,
		  const char *unit, char *what)
{
	bool right = value >= least && value <= most;
	struct finding f = {.check = check, .verdict = right ? RIGHT : WRONG};

	if (isnan(value)) {
		f.verdict = NOT_JUDGED;
		f.reason = must_print("%s", v->why);
	} else {
		char *from = amount(fmax(least, 0), unit), *to = amount(most, unit);

		f.expected =
			least == most ? must_print("%s", to) : must_print("%s to %s", from, to);
		f.measured = amount(value, unit);
		f.reason = right ? NULL : must_print("%s", what);
		free(from);
		free(to);
	}
	free(what);
	v->finding = must_grow(v->finding, v->n, sizeof(*v->finding));
	v->finding[v->n++] = f;
	if (isatty(STDERR_FILENO))
		fprintf(stderr, "\r\033[K%zu checks: %.60s", v->n, check);
}

void verify_note(struct verify *v, char *text)
{
	char **reason = &v->finding[v->n - 1].reason;

	*reason = must_add(*reason, "%s%s", *reason ? "; " : "", text);
	free(text);
}
