/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside the room. Only room.c (what happens) and room_control.c (what is asked for) include this.
 */
#ifndef ROOM_INSIDE_H
#define ROOM_INSIDE_H

#include "delays.h"
#include "room.h"

enum { MAX_LINE = 1024, MAX_CPUS = 1024 };

enum rule_kind { RULE_FAIL, RULE_SHORT, RULE_VALUE, RULE_SIZE, RULE_TEXT, RULE_HIDE };

/* A fault that lasts. */
struct rule {
	enum rule_kind kind;
	enum room_op op;
	char *pattern;
	char *text;
	bool everywhere; /* at every offset */
	uint64_t offset;
	uint64_t value; /* of a register; a size; an errno */
	uint64_t skip, times;
};

/* An action that waits: for a time (count 0), or for an access. Or a process that stands still. */
struct trigger {
	char *action;
	char *pattern;
	uint64_t at, count;
	enum room_op op;
	bool after;
	bool due;
	pid_t stalled;
};

struct room {
	struct room_machine machine;
	struct rule *rule;
	size_t n_rules;
	struct trigger *trigger;
	size_t n_triggers;
	bool offline[MAX_CPUS];
	enum { LOG_OFF, LOG_WRITES, LOG_ALL } log;
	char *text;
	size_t length;
	uint64_t logged;
	uint64_t cost; /* ns of an access */
	struct delays delays;
	char *delayed; /* a pattern: these files */
	size_t clocks; /* open files /clock */
	char error[200];
};

/* -EINVAL; the sentence is kept for room_error(). */
int room_refuse(struct room *, const char *format, ...) __attribute__((format(printf, 2, 3)));
const char *room_op_name(enum room_op);
/* "2.5" in ns, exactly. */
bool room_seconds(const char *text, uint64_t *ns);
/* One action; pid: of the access that it waited for, 0: none. */
int room_act(struct room *, const char *line, pid_t pid);
/* The clock jumps to the end of the first stall, if nobody else can move it; `forced`: or will. */
void room_jump(struct room *, bool forced);
/* Forgets all rules, triggers, and the log; who stands still goes on. */
void room_clear(struct room *);

#endif
