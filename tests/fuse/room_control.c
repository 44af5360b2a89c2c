/* SPDX-License-Identifier: BSD-3-Clause */
/* The room's actions, and the lines of /control that ask for them: see room.h. */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "room_inside.h"

enum { MAX_WORDS = 16 };

struct words {
	char *word[MAX_WORDS];
	size_t n;
};

static const char *const op_names[] = {"open", "read", "write", "stat", NULL};

const char *room_op_name(enum room_op op)
{
	return op_names[op];
}

int room_refuse(struct room *room, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(room->error, sizeof(room->error), format, args);
	va_end(args);
	return -EINVAL;
}

/* ---- words */

static bool number(const char *text, uint64_t *out)
{
	char *end;

	errno = 0;
	*out = text ? strtoull(text, &end, 0) : 0;
	return text && end != text && !*end && !errno && *text != '-';
}

/* Seconds with up to nine decimals, exactly. */
bool room_seconds(const char *text, uint64_t *ns)
{
	char *end;
	uint64_t whole = text ? strtoull(text, &end, 10) : 0, part = 0, unit = 100000000;

	if (!text || end == text || whole > 10000000000)
		return false;
	if (*end == '.')
		for (end++; *end >= '0' && *end <= '9'; end++, unit /= 10)
			part += (uint64_t)(*end - '0') * unit;
	*ns = whole * 1000000000 + part;
	return !*end;
}

static bool operation(const char *text, enum room_op *op)
{
	for (int i = 0; text && op_names[i]; i++)
		if (strcmp(text, op_names[i]) == 0) {
			*op = (enum room_op)i;
			return true;
		}
	return false;
}

static bool error_number(const char *text, uint64_t *out)
{
	static const struct {
		const char *name;
		int value;
	} known[] = {
		{"EPERM", EPERM},   {"ENOENT", ENOENT}, {"EINTR", EINTR},   {"EIO", EIO},
		{"ENXIO", ENXIO},   {"EAGAIN", EAGAIN}, {"ENOMEM", ENOMEM}, {"EACCES", EACCES},
		{"EBUSY", EBUSY},   {"ENODEV", ENODEV}, {"EINVAL", EINVAL}, {"ENFILE", ENFILE},
		{"EMFILE", EMFILE}, {"EROFS", EROFS},
	};

	for (size_t i = 0; text && i < sizeof(known) / sizeof(known[0]); i++)
		if (strcmp(text, known[i].name) == 0) {
			*out = (uint64_t)known[i].value;
			return true;
		}
	return number(text, out) && *out > 0 && *out < 134;
}

static int signal_number(const char *text)
{
	static const struct {
		const char *name;
		int value;
	} known[] = {
		{"KILL", SIGKILL}, {"STOP", SIGSTOP}, {"CONT", SIGCONT}, {"TERM", SIGTERM},
		{"INT", SIGINT},   {"HUP", SIGHUP},   {"USR1", SIGUSR1}, {"USR2", SIGUSR2},
		{"QUIT", SIGQUIT}, {"ALRM", SIGALRM}, {"XCPU", SIGXCPU},
	};

	for (size_t i = 0; text && i < sizeof(known) / sizeof(known[0]); i++)
		if (strcmp(text, known[i].name) == 0)
			return known[i].value;
	return 0;
}

/* ---- rules */

static struct rule *add_rule(struct room *room, enum rule_kind kind, const char *pattern)
{
	struct rule *larger = realloc(room->rule, (room->n_rules + 1) * sizeof(*larger));

	if (!larger)
		return NULL;
	room->rule = larger;
	larger += room->n_rules;
	*larger = (struct rule){.kind = kind, .pattern = strdup(pattern), .times = UINT64_MAX};
	if (!larger->pattern)
		return NULL;
	room->n_rules++;
	return larger;
}

static bool offset_of(const char *text, struct rule *rule)
{
	rule->everywhere = text && strcmp(text, "-") == 0;
	return rule->everywhere || number(text, &rule->offset);
}

/* [times N] [after N] from word i on. */
static bool limits(const struct words *w, size_t i, struct rule *rule)
{
	for (; i + 1 < w->n; i += 2) {
		uint64_t *where = strcmp(w->word[i], "times") == 0   ? &rule->times
				  : strcmp(w->word[i], "after") == 0 ? &rule->skip
								     : NULL;

		if (!where || !number(w->word[i + 1], where))
			return false;
	}
	return i == w->n;
}

/* Takes back the rule that was added last. */
static int bad_rule(struct room *room, const char *usage)
{
	free(room->rule[--room->n_rules].pattern);
	return room_refuse(room, "usage: %s", usage);
}

static int do_fail(struct room *room, const struct words *w)
{
	static const char usage[] =
		"fail open|read|write|stat PATTERN OFFSET ERRNO [times N] [after N]";
	struct rule *rule;

	if (w->n < 5)
		return room_refuse(room, "usage: %s", usage);
	if (!(rule = add_rule(room, RULE_FAIL, w->word[2])))
		return -ENOMEM;
	if (!operation(w->word[1], &rule->op) || !offset_of(w->word[3], rule) ||
	    !error_number(w->word[4], &rule->value) || !limits(w, 5, rule))
		return bad_rule(room, usage);
	return 0;
}

/* short, value: PATTERN OFFSET NUMBER; size: PATTERN NUMBER */
static int do_number(struct room *room, const struct words *w)
{
	bool size = strcmp(w->word[0], "size") == 0, is_short = strcmp(w->word[0], "short") == 0;
	const char *usage = size ? "size PATTERN BYTES"
				 : "short|value PATTERN OFFSET NUMBER [times N] [after N]";
	size_t at = size ? 2 : 3;
	struct rule *rule;

	if (w->n <= at)
		return room_refuse(room, "usage: %s", usage);
	rule = add_rule(room, size ? RULE_SIZE : is_short ? RULE_SHORT : RULE_VALUE, w->word[1]);
	if (!rule)
		return -ENOMEM;
	if ((!size && !offset_of(w->word[2], rule)) || !number(w->word[at], &rule->value) ||
	    !(is_short ? limits(w, at + 1, rule) : w->n == at + 1))
		return bad_rule(room, usage);
	return 0;
}

static int do_text(struct room *room, const struct words *w)
{
	struct rule *rule;
	char text[MAX_LINE] = "";
	size_t n = 0;

	if (w->n < 3)
		return room_refuse(room, "usage: text PATH TEXT...");
	for (size_t i = 2; i < w->n; i++)
		for (const char *c = i > 2 ? " " : "", *rest = w->word[i]; *c || *rest;) {
			bool line = !*c && rest[0] == '\\' && rest[1] == 'n';

			text[n++] = line ? '\n' : *c ? *c : *rest;
			rest += *c ? 0 : 1 + line;
			c += *c != '\0';
		}
	text[n++] = '\n';
	if (!(rule = add_rule(room, RULE_TEXT, w->word[1])))
		return -ENOMEM;
	return (rule->text = strdup(text)) ? 0 : -ENOMEM;
}

static int do_hide(struct room *room, const struct words *w)
{
	if (w->n != 2)
		return room_refuse(room, "usage: hide PATH");
	return add_rule(room, RULE_HIDE, w->word[1]) ? 0 : -ENOMEM;
}

/* ---- other actions */

static int do_hotplug(struct room *room, const struct words *w)
{
	uint64_t cpu;

	if (w->n != 2 || !number(w->word[1], &cpu) || cpu >= MAX_CPUS ||
	    cpu >= room->machine.cpus(room->machine.user))
		return room_refuse(room, "usage: offline|online CPU");
	room->offline[cpu] = strcmp(w->word[0], "offline") == 0;
	return 0;
}

static int do_poke(struct room *room, const struct words *w)
{
	uint64_t offset, value, size;
	int rc;

	if (w->n < 4 || w->n > 5 || !number(w->word[2], &offset) || !number(w->word[3], &value))
		return room_refuse(room, "usage: poke PATH OFFSET VALUE [BYTES]");
	size = strncmp(w->word[1], "/dev/cpu/", 9) == 0 ? 8 : 4;
	if (w->n == 5 && (!number(w->word[4], &size) || (size != 4 && size != 8)))
		return room_refuse(room, "poke: 4 or 8 bytes, not '%s'", w->word[4]);
	rc = room->machine.poke(room->machine.user, w->word[1], offset, value, size);
	return rc < 0 ? room_refuse(room, "poke: no register at %s 0x%" PRIx64, w->word[1], offset)
		      : 0;
}

static int do_signal(struct room *room, const struct words *w, pid_t pid)
{
	int value = w->n >= 2 ? signal_number(w->word[1]) : 0;
	uint64_t given = 0;

	if (!value || w->n > 3 || (w->n == 3 && !number(w->word[2], &given)))
		return room_refuse(
			room, "usage: signal KILL|STOP|CONT|TERM|INT|HUP|USR1|USR2|QUIT|ALRM|XCPU "
			      "[PID]");
	if (w->n == 3)
		pid = (pid_t)given;
	if (pid <= 1)
		return room_refuse(room, "signal: no process");
	return kill(pid, value) == 0 ? 0 : room_refuse(room, "signal: %s", strerror(errno));
}

static int do_log(struct room *room, const struct words *w)
{
	static const char *const words[] = {"off", "writes", "all"};

	for (int i = 0; w->n == 2 && i < 3; i++)
		if (strcmp(w->word[1], words[i]) == 0) {
			room->log = i == 0 ? LOG_OFF : i == 1 ? LOG_WRITES : LOG_ALL;
			return 0;
		}
	return room_refuse(room, "usage: log off|writes|all");
}

static int do_delays(struct room *room, const struct words *w)
{
	bool off = w->n == 2 && strcmp(w->word[1], "off") == 0;
	struct delays d = {0};
	char *pattern = NULL;

	if (!off &&
	    (w->n < 4 || w->n > 5 || !number(w->word[1], &d.state) ||
	     !number(w->word[2], &d.one_in) || !d.one_in || !room_seconds(w->word[3], &d.longest) ||
	     !room->machine.steps(room->machine.user)))
		return room_refuse(room, "usage: delays SEED ONE_IN LONGEST [PATTERN], with "
					 "clock=step; delays off");
	if (!off && !(pattern = strdup(w->n == 5 ? w->word[4] : "*")))
		return -ENOMEM;
	free(room->delayed);
	room->delayed = pattern;
	room->delays = d;
	return 0;
}

void room_clear(struct room *room)
{
	for (size_t i = 0; i < room->n_rules; i++) {
		free(room->rule[i].pattern);
		free(room->rule[i].text);
	}
	for (size_t i = 0; i < room->n_triggers; i++) {
		if (room->trigger[i].stalled)
			kill(room->trigger[i].stalled, SIGCONT);
		free(room->trigger[i].action);
		free(room->trigger[i].pattern);
	}
	room->n_rules = room->n_triggers = 0;
	memset(room->offline, 0, sizeof(room->offline));
	room->length = 0;
	room->logged = room->cost = 0;
	room->log = LOG_OFF;
	free(room->delayed);
	room->delayed = NULL;
	room->delays = (struct delays){0};
}

static int do_clear(struct room *room, const struct words *w)
{
	if (w->n != 1)
		return room_refuse(room, "usage: clear|reset");
	bool reset = strcmp(w->word[0], "reset") == 0;

	room_clear(room);
	return reset ? room->machine.reset(room->machine.user) : 0;
}

static int do_cost(struct room *room, const struct words *w)
{
	if (w->n != 2 || !room_seconds(w->word[1], &room->cost))
		return room_refuse(room, "usage: cost SECONDS");
	return 0;
}

static int do_advance(struct room *room, const struct words *w)
{
	return w->n == 2 ? room_advance(room, w->word[1], strlen(w->word[1]))
			 : room_refuse(room, "usage: advance SECONDS");
}

/* Keeps the rest of the line for later, as it was written. */
static int add_trigger(struct room *room, const struct trigger *wanted, const char *pattern,
		       const char *action)
{
	struct trigger *larger = realloc(room->trigger, (room->n_triggers + 1) * sizeof(*larger));

	if (!larger)
		return -ENOMEM;
	room->trigger = larger;
	larger += room->n_triggers;
	*larger = *wanted;
	larger->pattern = strdup(pattern);
	larger->action = strdup(action);
	if (larger->pattern && larger->action) {
		room->n_triggers++;
		return 0;
	}
	free(larger->pattern);
	free(larger->action);
	return -ENOMEM;
}

/* Its access is answered, but it runs no further. */
static int do_stall(struct room *room, const struct words *w, pid_t pid)
{
	struct trigger end = {0};
	uint64_t given = (uint64_t)pid;

	if (w->n < 2 || w->n > 3 || !room_seconds(w->word[1], &end.at) ||
	    (w->n == 3 && !number(w->word[2], &given)) || !room->machine.steps(room->machine.user))
		return room_refuse(room, "usage: stall SECONDS [PID], with clock=step");
	end.stalled = (pid_t)given;
	if (end.stalled <= 1 || kill(end.stalled, SIGSTOP) < 0)
		return room_refuse(room, "stall: no process");
	end.at += room->machine.time(room->machine.user);
	if (add_trigger(room, &end, "", "") < 0) {
		kill(end.stalled, SIGCONT);
		return -ENOMEM;
	}
	room_jump(room, false);
	return 0;
}

/* ---- lines */

static void split(char *line, struct words *w)
{
	char *next = NULL;

	w->n = 0;
	for (char *word = strtok_r(line, " \t", &next); word && w->n < MAX_WORDS;
	     word = strtok_r(NULL, " \t", &next))
		w->word[w->n++] = word;
}

static int act(struct room *room, const struct words *w, pid_t pid)
{
	static const struct {
		const char *name;
		int (*run)(struct room *, const struct words *);
	} actions[] = {
		{"fail", do_fail},       {"short", do_number},   {"value", do_number},
		{"size", do_number},     {"text", do_text},      {"hide", do_hide},
		{"offline", do_hotplug}, {"online", do_hotplug}, {"poke", do_poke},
		{"log", do_log},         {"clear", do_clear},    {"reset", do_clear},
		{"advance", do_advance}, {"cost", do_cost},      {"delays", do_delays},
	};

	if (w->n && strcmp(w->word[0], "signal") == 0)
		return do_signal(room, w, pid);
	if (w->n && strcmp(w->word[0], "stall") == 0)
		return do_stall(room, w, pid);
	for (size_t i = 0; w->n && i < sizeof(actions) / sizeof(actions[0]); i++)
		if (strcmp(w->word[0], actions[i].name) == 0)
			return actions[i].run(room, w);
	return room_refuse(room, "'%s' is no action", w->n ? w->word[0] : "");
}

int room_act(struct room *room, const char *line, pid_t pid)
{
	char copy[MAX_LINE];
	struct words w;

	snprintf(copy, sizeof(copy), "%s", line);
	split(copy, &w);
	return act(room, &w, pid);
}

static int control_line(struct room *room, const char *line)
{
	char copy[MAX_LINE];
	struct trigger t = {0};
	struct words w;

	if (strlen(line) >= sizeof(copy))
		return room_refuse(room, "the line is too long");
	snprintf(copy, sizeof(copy), "%s", line);
	split(copy, &w);
	if (w.n == 0 || w.word[0][0] == '#')
		return 0;
	if (strcmp(w.word[0], "at") == 0) {
		if (w.n < 3 || !room_seconds(w.word[1], &t.at) ||
		    !room->machine.steps(room->machine.user))
			return room_refuse(room, "usage: at SECONDS ACTION, with clock=step");
		return add_trigger(room, &t, "", line + (w.word[2] - copy));
	}
	t.after = strcmp(w.word[0], "after") == 0;
	if (!t.after && strcmp(w.word[0], "before") != 0)
		return act(room, &w, 0);
	if (w.n < 5 || !number(w.word[1], &t.count) || !t.count || !operation(w.word[2], &t.op))
		return room_refuse(room, "usage: before|after N open|read|write PATTERN ACTION");
	return add_trigger(room, &t, w.word[3], line + (w.word[4] - copy));
}

int room_control(struct room *room, const char *lines, size_t size)
{
	char *copy = strndup(lines, size), *rest = copy, *line;
	int rc = copy ? 0 : -ENOMEM;

	room->error[0] = '\0';
	while (rc == 0 && (line = strsep(&rest, "\n")))
		rc = control_line(room, line);
	free(copy);
	return rc;
}

const char *room_error(const struct room *room)
{
	return room->error;
}
