/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a session costs in accesses to registers: one event on one unit of each type of a virtual
 * machine (tests/fuse), counted by the machine's own log. Rows of a table in Markdown.
 *
 *   accesses ROOT        in the machine's time and memory: tests/bench/accesses.sh
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "uncore.h"

struct cost {
	unsigned reads, writes, bytes;
};

static const char *root;

static void die(const char *what, const char *why)
{
	fprintf(stderr, "accesses: %s: %s\n", what, why);
	exit(1);
}

static FILE *open_file(const char *name, const char *mode)
{
	char path[4096];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", root, name);
	f = fopen(path, mode);
	if (!f)
		die(path, "cannot be opened");
	return f;
}

/* The log begins anew. */
static void forget(void)
{
	static const char *const lines[] = {"clear", "log all"};

	for (int i = 0; i < 2; i++) {
		FILE *f = open_file("control", "w");

		if (fprintf(f, "%s\n", lines[i]) < 0 || fclose(f) != 0)
			die(lines[i], "refused");
	}
}

/* What has been logged since. */
static struct cost cost_since(void)
{
	FILE *f = open_file("log", "r");
	struct cost sum = {0};
	char line[512], op[8];
	int bytes;

	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "%*s %*s %*s %7s %*s %*s %*s %d", op, &bytes) == 2) {
			*(strcmp(op, "read") == 0 ? &sum.reads : &sum.writes) += 1;
			sum.bytes += bytes > 0 ? (unsigned)bytes : 0;
		}
	fclose(f);
	forget();
	return sum;
}

static void put(struct cost c)
{
	printf(" %u + %u, %u |", c.reads, c.writes, c.bytes);
}

/* ---- what is measured */

/* The first event of a type that needs no more than a umask, on a unit; one that takes a programmable
 * counter, if there is any. */
static int choose(struct unc_platform *p, const struct unc_unit *unit, char *text, size_t size)
{
	const struct unc_event *event;
	const struct unc_umask *umask;
	struct unc_encoding e = {.size = sizeof(e)};

	for (int free_running = 0; free_running < 2; free_running++)
		for (size_t i = 0; (event = unc_event_get(p, i)); i++) {
			umask = event->needs_umask ? unc_umask_get(p, i, 0) : NULL;
			snprintf(text, size, "%s%d%s%s%s:socket=%d", event->type, unit->index,
				 strchr(event->spec, '.'), umask ? ":" : "",
				 umask ? umask->name : "", unit->socket);
			if (strcmp(event->type, unit->type->name) == 0 &&
			    event->free_running == free_running &&
			    unc_event_encode(p, text, &e) == 0 && !e.n_filters)
				return 1;
		}
	return 0;
}

/* Reads after so much of the machine's time. */
static void read_after(struct unc_session *s, long us)
{
	const struct timespec t = {.tv_nsec = us * 1000};
	struct unc_value v;

	nanosleep(&t, NULL);

	if (unc_session_read(s, &v, 1, sizeof(v)) < 0)
		die("read", unc_session_error(s));
	if (!(v.flags & UNC_VALUE_VALID))
		die("read", unc_session_reason(s, 0));
	put(cost_since());
}

static void measure(struct unc_platform *p, const char *spec)
{
	struct unc_session *s;
	int id;

	if (unc_session_new(p, 0, &s) < 0)
		die("session", unc_platform_error(p));
	if (unc_session_add(s, spec, &id) < 0)
		die(spec, unc_session_error(s));
	forget();
	if (unc_session_start(s) < 0)
		die(spec, unc_session_error(s));
	put(cost_since());
	read_after(s, 100);
	read_after(s, 2000);  /* controls are compared */
	read_after(s, 60000); /* and the unit proves that it counts */
	if (unc_session_stop(s) < 0)
		die(spec, unc_session_error(s));
	put(cost_since());
	unc_session_free(s);
}

int main(int argc, char **argv)
{
	const struct unc_type *last = NULL;
	const struct unc_unit *unit;
	char spec[UNC_SPEC_MAX];
	struct unc_options options = {.size = sizeof(options)};
	struct unc_platform *p;

	if (argc != 2) {
		fprintf(stderr, "usage: accesses ROOT\n");
		return 2;
	}
	options.sysroot = root = argv[1];
	forget();
	if (unc_platform_open(&options, &p) < 0)
		die("open", unc_open_error());
	printf("| %s | open | |", unc_platform_cpu(p)->name);
	put(cost_since());
	printf(" | | | |\n");
	for (size_t i = 0; (unit = unc_unit_get(p, i)); i++) {
		if (unit->type == last || !unit->available || !choose(p, unit, spec, sizeof(spec)))
			continue;
		last = unit->type;
		printf("| %s | %s | %s |", unc_platform_cpu(p)->name, unit->type->name,
		       unit->access);
		measure(p, spec);
		printf("\n");
	}
	unc_platform_close(p);
	return 0;
}
