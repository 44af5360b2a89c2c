/* SPDX-License-Identifier: BSD-3-Clause */
/* The log has at most one line a user and minute, with all that was given and refused in it. */
#include <inttypes.h>
#include <stdio.h>

#include "broker/broker.h"

static const uint64_t minute = 60000000000;

static void write_line(struct broker *b, struct user *u)
{
	broker_log(u->refused ? 5 : 6, "uid=%u pid=%d given=%u refused=%u last: %s",
		   (unsigned)u->uid, (int)u->pid, u->given, u->refused, u->last);
	u->logged = b->clock;
	u->given = u->refused = 0;
}

static bool is_line_due(const struct broker *b, const struct user *u)
{
	return !u->logged || b->clock - u->logged >= minute;
}

/* Logs the first request after a quiet minute at once; later ones wait for audit_write(). */
static void note_request(struct broker *b, struct user *u, pid_t pid)
{
	u->pid = pid;
	if (is_line_due(b, u))
		write_line(b, u);
}

void audit_given(struct broker *b, const struct grant *g)
{
	struct user *u = grants_user(b, g->uid);

	u->given += g->set.n;
	snprintf(u->last, sizeof(u->last),
		 "cpu=%u %s/config=0x%" PRIx64 ",config1=0x%" PRIx64 ",config2=0x%" PRIx64 "/",
		 g->set.cpu, g->set.pmu, g->set.event[0].config, g->set.event[0].config1,
		 g->set.event[0].config2);
	note_request(b, u, g->pid);
}

void audit_refused(struct broker *b, uid_t uid, pid_t pid, const char *why)
{
	struct user *u = grants_known(b, uid);

	if (!u) { /* users that are not served share one entry */
		u = &b->strangers;
		u->uid = uid;
	}
	u->refused++;
	snprintf(u->last, sizeof(u->last), "%s", why);
	note_request(b, u, pid);
}

uint64_t audit_write(struct broker *b, bool all)
{
	uint64_t next = UINT64_MAX;

	for (unsigned i = 0; i <= MAX_USERS; i++) {
		struct user *u = i < MAX_USERS ? &b->user[i] : &b->strangers;

		if (!u->given && !u->refused)
			continue;
		if (all || is_line_due(b, u))
			write_line(b, u);
		else if (u->logged + minute - b->clock < next)
			next = u->logged + minute - b->clock;
	}
	return next;
}
