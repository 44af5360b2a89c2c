/* SPDX-License-Identifier: BSD-3-Clause */
/* What happens in the room: time, accesses, and what waits for them. See room.h. */
#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "room_inside.h"

/* ---- triggers */

/* Takes the trigger away and does what it waited to do. */
static void fire(struct room *room, size_t i, pid_t pid)
{
	struct trigger t = room->trigger[i];

	memmove(&room->trigger[i], &room->trigger[i + 1],
		(--room->n_triggers - i) * sizeof(*room->trigger));
	if (t.stalled)
		kill(t.stalled, SIGCONT);
	else if (room_act(room, t.action, pid) < 0)
		fprintf(stderr, "fuse_machine: '%s': %s\n", t.action, room->error);
	free(t.action);
	free(t.pattern);
}

/* The first action up to `end`; n_triggers: none. */
static size_t first_until(const struct room *room, uint64_t end)
{
	size_t first = room->n_triggers;

	for (size_t i = 0; i < room->n_triggers; i++)
		if (!room->trigger[i].count && room->trigger[i].at <= end &&
		    (first == room->n_triggers || room->trigger[i].at < room->trigger[first].at))
			first = i;
	return first;
}

/* Moves the clock to `end`; with `next`, only to what happens next. */
static void advance(struct room *room, uint64_t end, bool next)
{
	void *user = room->machine.user;

	for (;;) {
		size_t first = first_until(room, end);
		bool last = first == room->n_triggers;
		uint64_t now = room->machine.time(user);
		uint64_t until = last ? end : room->trigger[first].at;

		room->machine.step(user, until > now ? until - now : 0);
		if (last)
			return;
		fire(room, first, 0);
		if (next && until > now)
			return;
	}
}

void room_jump(struct room *room, bool forced)
{
	uint64_t first = UINT64_MAX;
	size_t stalled = 0;

	for (size_t i = 0; i < room->n_triggers; i++)
		if (room->trigger[i].stalled) {
			stalled++;
			first = room->trigger[i].at < first ? room->trigger[i].at : first;
		}
	if (stalled && (forced || room->clocks <= stalled))
		advance(room, first, false);
}

void room_clock(struct room *room, bool opened)
{
	room->clocks += opened ? 1 : -(size_t)1;
	if (!opened)
		room_jump(room, false);
}

int room_advance(struct room *room, const char *text, size_t size)
{
	void *user = room->machine.user;
	bool next = size && *text == '='; /* only to what happens next */
	char copy[32];
	uint64_t end;

	if (size && *text == '-') {
		room_jump(room, true);
		return 0;
	}
	snprintf(copy, sizeof(copy), "%.*s", (int)(size < 31 ? size : 31) - next, text + next);
	copy[strcspn(copy, "\n")] = '\0';
	if (!room_seconds(copy, &end))
		return room_refuse(room, "'%s' are no seconds, like 2.5", copy);
	if (!room->machine.steps(user))
		return room_refuse(
			room, "the clock of this machine is the wall's: open it with clock=step");
	advance(room, next ? end : room->machine.time(user) + end, next);
	return 0;
}

/* All count the access before any acts. */
static void fire_access(struct room *room, const struct room_access *access, bool after)
{
	for (size_t i = 0; i < room->n_triggers; i++) {
		struct trigger *t = &room->trigger[i];

		t->due = t->count && t->after == after && t->op == access->op &&
			 (t->op == ROOM_OPEN || access->reg) &&
			 fnmatch(t->pattern, access->path, 0) == 0 && --t->count == 0;
	}
	for (size_t i = 0; i < room->n_triggers;)
		if (room->trigger[i].due) {
			fire(room, i, access->pid);
			i = 0; /* the list may be another one now */
		} else {
			i++;
		}
}

/* ---- accesses */

static bool concerns(const struct rule *rule, enum rule_kind kind, const char *path,
		     uint64_t offset)
{
	return rule->kind == kind && (rule->everywhere || rule->offset == offset) &&
	       fnmatch(rule->pattern, path, 0) == 0;
}

/* Is it the rule's turn? */
static bool strikes(struct rule *rule)
{
	if (rule->skip) {
		rule->skip--;
		return false;
	}
	return rule->times && rule->times--;
}

static void take(struct room *room, uint64_t ns)
{
	if (ns)
		advance(room, room->machine.time(room->machine.user) + ns, false);
}

void room_pass(struct room *room)
{
	take(room, room->cost);
}

/* Whether the schedule has something for this access. */
static void delay(struct room *room, struct room_access *access)
{
	uint64_t before;

	if (room->delayed && fnmatch(room->delayed, access->path, 0) == 0 &&
	    delays_next(&room->delays, &before, &access->later))
		take(room, before);
}

int room_before(struct room *room, struct room_access *access)
{
	if (access->reg) {
		room_pass(room);
		delay(room, access);
	}
	fire_access(room, access, false);
	for (size_t i = 0; i < room->n_rules; i++) {
		struct rule *rule = &room->rule[i];

		if (rule->op == access->op &&
		    concerns(rule, RULE_FAIL, access->path, access->offset) && strikes(rule))
			return -(int)rule->value;
		if ((access->op == ROOM_READ || access->op == ROOM_WRITE) &&
		    concerns(rule, RULE_SHORT, access->path, access->offset) &&
		    rule->value < access->size && strikes(rule))
			access->size = (size_t)rule->value;
	}
	return 0;
}

static void log_access(struct room *room, const struct room_access *access, int result)
{
	uint64_t now = room->machine.time(room->machine.user);
	char line[512], *larger;
	int n = snprintf(
		line, sizeof(line),
		"%" PRIu64 " %" PRIu64 ".%09" PRIu64 " %d %s %s 0x%" PRIx64 " 0x%" PRIx64 " %d\n",
		room->logged + 1, now / 1000000000, now % 1000000000, (int)access->pid,
		room_op_name(access->op), access->path, access->offset, access->value, result);

	if (n < 0 || (size_t)n >= sizeof(line) ||
	    !(larger = realloc(room->text, room->length + (size_t)n)))
		return;
	memcpy(larger + room->length, line, (size_t)n);
	room->text = larger;
	room->length += (size_t)n;
	room->logged++;
}

void room_after(struct room *room, const struct room_access *access, int result)
{
	if (access->reg && ((room->log == LOG_ALL && access->op != ROOM_OPEN) ||
			    (room->log == LOG_WRITES && access->op == ROOM_WRITE)))
		log_access(room, access, result);
	take(room, access->later);
	fire_access(room, access, true);
}

/* ---- what the files are like */

/* The last rule of a kind for a place. */
static const struct rule *rule_of(const struct room *room, enum rule_kind kind, const char *path,
				  uint64_t offset)
{
	for (size_t i = room->n_rules; i-- > 0;)
		if (concerns(&room->rule[i], kind, path, offset))
			return &room->rule[i];
	return NULL;
}

bool room_hidden(const struct room *room, const char *path)
{
	for (size_t i = 0; i < room->n_rules; i++) {
		const struct rule *rule = &room->rule[i];
		size_t length = strlen(rule->pattern);

		if (rule->kind == RULE_HIDE && strncmp(path, rule->pattern, length) == 0 &&
		    (!path[length] || path[length] == '/'))
			return true;
	}
	return false;
}

bool room_offline(const struct room *room, unsigned cpu)
{
	return cpu < MAX_CPUS && room->offline[cpu];
}

const char *room_text(const struct room *room, const char *path)
{
	const struct rule *rule = rule_of(room, RULE_TEXT, path, 0);

	return rule ? rule->text : NULL;
}

bool room_text_below(const struct room *room, const char *path)
{
	size_t length = strlen(path);

	for (size_t i = 0; i < room->n_rules; i++)
		if (room->rule[i].kind == RULE_TEXT &&
		    strncmp(room->rule[i].pattern, path, length) == 0 &&
		    room->rule[i].pattern[length] == '/')
			return true;
	return false;
}

bool room_value(const struct room *room, const char *path, uint64_t offset, uint64_t *value)
{
	const struct rule *rule = rule_of(room, RULE_VALUE, path, offset);

	if (rule)
		*value = rule->value;
	return rule;
}

uint64_t room_size(const struct room *room, const char *path, uint64_t size)
{
	const struct rule *rule = rule_of(room, RULE_SIZE, path, 0);

	return rule && rule->value < size ? rule->value : size;
}

const char *room_log(const struct room *room, size_t *size)
{
	*size = room->length;
	return room->text;
}

/* ---- opening and closing */

struct room *room_new(const struct room_machine *machine)
{
	struct room *room = calloc(1, sizeof(*room));

	if (room)
		room->machine = *machine;
	return room;
}

void room_free(struct room *room)
{
	if (!room)
		return;
	room_clear(room);
	free(room->rule);
	free(room->trigger);
	free(room->text);
	free(room);
}
