/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What sessions do to the registers, and ask of the kernel, of a machine in memory. Compiled by oplog with
 * the libraries of a build, whose calls of the simulator are written down here (--wrap).
 *
 *   in_memory MACHINE    lines of standard input are done, and written before what they do (,kernel=on: its kernel counts):
 *     a|b start EVENT...     a session of its own; a|b turns EVENT... one that may have several passes
 *     a|b read|next|reset|stop
 *     sleep SECONDS
 */
#include <inttypes.h>
#include <linux/perf_event.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../driver.h"
#include "base/reg.h"
#include "platform/platform.h"
#include "session/session.h"
#include "sim/sim.h"
#include "sim/sim_machine.h"
#include "uncore.h"

enum { LINE = 4096, MAX_ITEMS = 64 };

/* ---- what is written down */

void __real_unc_sim_run(struct unc_sim *, struct unc_reg_op *, size_t);
void __wrap_unc_sim_run(struct unc_sim *, struct unc_reg_op *, size_t);
void __wrap_unc_sim_run(struct unc_sim *sim, struct unc_reg_op *ops, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct unc_reg *reg = &ops[i].reg;

		printf("%s %s %u 0x%" PRIx64 " %u", ops[i].kind == UNC_OP_WRITE ? "write" : "read",
		       unc_space_name(reg->space), (unsigned)reg->target, reg->address,
		       (unsigned)reg->width);
		if (ops[i].kind == UNC_OP_WRITE)
			printf(" 0x%" PRIx64 "%s", ops[i].value, ops[i].low_only ? " low" : "");
		printf("\n");
	}
	__real_unc_sim_run(sim, ops, n);
}

/* The kernel's events of the machine, as they were. */
static const struct unc_machine_events *events;

static int log_open(struct unc_machine *machine, const struct perf_event_attr *attr, int cpu,
		    int group)
{
	int fd = events->open(machine, attr, cpu, group);

	printf("open type %u config 0x%" PRIx64 " 0x%" PRIx64 " 0x%" PRIx64
	       " cpu %d group %d: %d\n",
	       (unsigned)attr->type, (uint64_t)attr->config, (uint64_t)attr->config1,
	       (uint64_t)attr->config2, cpu, group, fd < 0 ? -1 : fd);
	return fd;
}

static int log_enable(struct unc_machine *machine, int fd)
{
	printf("enable %d\n", fd);
	return events->enable(machine, fd);
}

static long log_read(struct unc_machine *machine, int fd, void *buf, size_t size)
{
	printf("read event %d\n", fd);
	return events->read(machine, fd, buf, size);
}

static void log_close(struct unc_machine *machine, int fd)
{
	printf("close %d\n", fd);
	events->close(machine, fd);
}

int __real_unc_machine_simulated(const char *, const char *, const struct unc_table *const *,
				 size_t, struct unc_machine **, struct unc_error *);
int __wrap_unc_machine_simulated(const char *, const char *, const struct unc_table *const *,
				 size_t, struct unc_machine **, struct unc_error *);
int __wrap_unc_machine_simulated(const char *spec, const char *node,
				 const struct unc_table *const *tables, size_t n,
				 struct unc_machine **out, struct unc_error *err)
{
	static struct unc_machine_events logged;
	const char *kernel = strstr(spec, ",kernel=on");
	char own[200];
	int rc;

	snprintf(own, sizeof(own), "%.*s%s", (int)(kernel ? kernel - spec : 150), spec,
		 kernel ? kernel + strlen(",kernel=on") : "");
	rc = __real_unc_machine_simulated(own, node, tables, n, out, err);
	if (rc < 0 || !kernel)
		return rc;
	driver_attach(*out, false);
	events = (*out)->events;
	logged = *events;
	logged.open = log_open;
	logged.enable = log_enable;
	logged.read = log_read;
	logged.close = log_close;
	(*out)->events = &logged;
	return rc;
}

/* ---- what is done */

static int start(struct unc_platform *p, unsigned flags, char *events, struct unc_session **s)
{
	int id, rc;

	unc_session_free(*s);
	*s = NULL;
	rc = unc_session_new(p, flags, s);
	for (char *next, *word = strtok_r(events, " ", &next); word && rc == 0;
	     word = strtok_r(NULL, " ", &next))
		rc = unc_session_add(*s, word, &id);
	return rc < 0 ? rc : unc_session_start(*s);
}

static int act(struct unc_platform *p, struct unc_session **s, char *words)
{
	struct unc_value v[MAX_ITEMS];
	size_t n = strcspn(words, " ");
	char *rest = words + n + (words[n] == ' ');

	if (strncmp(words, "start ", 6) == 0)
		return start(p, 0, rest, s);
	if (strncmp(words, "turns ", 6) == 0)
		return start(p, UNC_SESSION_ROTATE, rest, s);
	if (strcmp(words, "read") == 0)
		return unc_session_read(*s, v, MAX_ITEMS, sizeof(*v));
	if (strcmp(words, "next") == 0)
		return unc_run_turn((*s)->run, &(*s)->error);
	if (strcmp(words, "reset") == 0)
		return unc_session_reset(*s);
	return unc_session_stop(*s);
}

int main(int argc, char **argv)
{
	struct unc_session *session[2] = {NULL, NULL};
	struct unc_options options = {.size = sizeof(options)};
	struct unc_platform *p;
	char line[LINE];

	if (argc != 2) {
		fprintf(stderr, "usage: in_memory MACHINE\n");
		return 2;
	}
	options.sim = argv[1];
	printf("== opening\n");
	if (unc_platform_open(&options, &p) < 0) {
		fprintf(stderr, "in_memory: %s\n", unc_open_error());
		return 1;
	}
	while (fgets(line, sizeof(line), stdin)) {
		int rc = 0;

		line[strcspn(line, "\n")] = '\0';
		printf("== %s\n", line);
		if (strncmp(line, "sleep ", 6) == 0)
			unc_sim_step(unc_machine_sim(p->machine),
				     (uint64_t)llround(strtod(line + 6, NULL) * 1e9));
		else
			rc = act(p, &session[line[0] == 'b'], line + 2);
		if (rc < 0)
			printf("%s\n", unc_error_name(rc));
	}
	unc_session_free(session[0]);
	unc_session_free(session[1]);
	unc_platform_close(p);
	return 0;
}
