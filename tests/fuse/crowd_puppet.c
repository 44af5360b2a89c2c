/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One that does what it is told, line by line on its standard input, and answers each with a line:
 *
 *   start EVENT...   "ok", or "error NAME: SENTENCE"
 *   read, stop       what the events have counted: a word for each, "right", "wrong:COUNT:SECONDS"
 *                    (by the rates of its arguments), "marked" with the sentence at the end of the
 *                    line
 *   sleep SECONDS    of the machine's time
 *   fork             a child that does nothing: its pid
 *   hold             from now on time stands still while it waits for a line
 */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "crowd.h"
#include "uncore.h"
#include "virtual_crowd.h"

#pragma weak virtual_clock_idle

enum { LINE = 4096 };

struct puppet {
	struct party *party;
	struct unc_platform *platform;
	struct unc_session *session;
	double rate[MAX_EVENTS];
	size_t n;
	bool holds;
};

static void __attribute__((format(printf, 1, 2))) answer(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	fflush(stdout);
}

static void answer_error(int rc, const char *sentence)
{
	answer("error %s: %s\n", unc_error_name(rc), sentence);
}

static int add(struct puppet *p, const char *spec)
{
	const struct party *party = p->party;
	int id;

	for (unsigned i = 0; i < party->n_events; i++)
		if (strcmp(party->event[i].spec, spec) == 0)
			p->rate[p->n] = party->event[i].rate;
	p->n++;
	return unc_session_add(p->session, spec, &id);
}

static void do_start(struct puppet *p, char *words)
{
	int rc;

	unc_session_free(p->session);
	p->session = NULL;
	p->n = 0;
	rc = unc_session_new(p->platform, 0, &p->session);
	for (char *next, *word = strtok_r(words, " ", &next); word && rc == 0 && p->n < MAX_EVENTS;
	     word = strtok_r(NULL, " ", &next))
		rc = add(p, word);
	if (rc == 0)
		rc = unc_session_start(p->session);
	if (rc < 0)
		answer_error(rc, unc_session_error(p->session));
	else
		answer("ok\n");
}

/* stop: the values are those of a stopped session. */
static void do_read(struct puppet *p, bool stop)
{
	struct unc_value v[MAX_EVENTS];
	const char *why = "";
	int rc = stop ? unc_session_stop(p->session) : 0;

	if (rc == 0)
		rc = unc_session_read(p->session, v, p->n, sizeof(*v));
	if (rc < 0) {
		answer_error(rc, unc_session_error(p->session));
		return;
	}
	for (size_t i = 0; i < p->n; i++) {
		/* What was lost and taken up again was measured for a part of the time. */
		bool right = fabs((double)v[i].count * v[i].share - p->rate[i] * v[i].seconds) <= 1;

		if (!(v[i].flags & UNC_VALUE_VALID) || v[i].flags & UNC_VALUE_PARTIAL) {
			why = v[i].flags & UNC_VALUE_VALID ? unc_session_partial(p->session, (int)i)
							   : unc_session_reason(p->session, (int)i);
			printf("%s ", *why ? "marked" : "wrong:no-reason");
		} else if (right) {
			printf("right ");
		} else if (v[i].flags & UNC_VALUE_LATE) {
			why = unc_session_reason(p->session, (int)i);
			printf("%s ", *why ? "marked" : "wrong:no-reason");
		} else {
			printf("wrong:%llu:%.9g ", (unsigned long long)v[i].count, v[i].seconds);
		}
	}
	answer("%s\n", why);
}

static void do_sleep(const char *seconds)
{
	double whole, part = modf(strtod(seconds, NULL), &whole);

	nanosleep(&(struct timespec){.tv_sec = (time_t)whole, .tv_nsec = lround(part * 1e9)}, NULL);
	answer("ok\n");
}

static void do_fork(void)
{
	pid_t pid = fork();

	if (pid == 0)
		for (;;) {
			if (virtual_clock_idle)
				virtual_clock_idle(1);
			pause();
		}
	answer("%d\n", (int)pid);
}

static void do_hold(struct puppet *p)
{
	p->holds = true;
	answer("ok\n");
}

static void obey(struct puppet *p, char *line)
{
	size_t n = strcspn(line, " \n");
	char *rest = line + n + (line[n] == ' ');

	line[strcspn(line, "\n")] = '\0';
	if (strncmp(line, "start ", 6) == 0)
		do_start(p, rest);
	else if (strcmp(line, "read") == 0 || strcmp(line, "stop") == 0)
		do_read(p, line[0] == 's');
	else if (strncmp(line, "sleep ", 6) == 0)
		do_sleep(rest);
	else if (strcmp(line, "fork") == 0)
		do_fork();
	else if (strcmp(line, "hold") == 0)
		do_hold(p);
	else
		answer("error: %s?\n", line);
}

static bool next_line(const struct puppet *p, char *line)
{
	bool idle = virtual_clock_idle && !p->holds, any;

	if (idle)
		virtual_clock_idle(1);
	any = fgets(line, LINE, stdin);
	if (idle)
		virtual_clock_idle(0);
	return any;
}

int crowd_puppet(struct party *party)
{
	struct unc_options options = {.size = sizeof(options), .sysroot = party->root};
	struct puppet p = {.party = party};
	char line[LINE];
	int rc = unc_platform_open(&options, &p.platform);

	if (rc < 0) {
		answer_error(rc, unc_open_error());
		return 1;
	}
	answer("ok\n");
	while (next_line(&p, line))
		obey(&p, line);
	unc_session_free(p.session);
	unc_platform_close(p.platform);
	return 0;
}
