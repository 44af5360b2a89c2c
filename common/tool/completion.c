/* SPDX-License-Identifier: BSD-3-Clause */
/* Completion of command lines: all that shells ask for comes from the tables of commands and options, and from
 * those of the library. */
#include "completion.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "options.h"

struct completion {
	const struct command *commands, *command;
	const char *cpu, *tables, *first; /* what the words before say; `first`: no option */
	size_t words;                     /* so many are no options */
	const char *before, *wanted;      /* the last word: what stays, what is to be completed */
	size_t offered;
	struct unc_platform *platform; /* NULL: not open */
};

/* A candidate of three parts. */
static void offer(struct completion *c, const char *stem, const char *name, const char *end,
		  const char *what)
{
	char *word = must_print("%s%s", stem, name);

	if (strncasecmp(word, c->wanted, strlen(c->wanted)) == 0) {
		printf("%s%s%s\t%s\n", c->before, word, end, what);
		c->offered++;
	}
	free(word);
}

/* The tables of -c, of this machine, or with `any` of whatever CPU. */
static bool open_for(struct completion *c, bool any)
{
	struct unc_options options = {
		.size = sizeof(options),
		.sim = any || c->cpu ? "" : NULL,
		.cpu = any ? "*" : c->cpu,
		.tables = c->tables,
	};

	return c->platform || unc_platform_open(&options, &c->platform) == 0;
}

/* ---- names */

static void offer_commands(struct completion *c)
{
	for (const struct command *k = c->commands; k->name; k++)
		offer(c, "", k->name, "", k->summary);
}

static void offer_cpus(struct completion *c)
{
	const struct unc_cpu *cpu;

	for (size_t i = 0; open_for(c, true) && (cpu = unc_cpu_get(c->platform, i)) != NULL; i++)
		offer(c, "", cpu->name, "", cpu->title);
}

static void offer_groups(struct completion *c)
{
	const struct unc_group *g;

	for (size_t i = 0; open_for(c, false) && (g = unc_group_get(c->platform, i)) != NULL; i++)
		offer(c, "", g->name, "", g->desc);
}

static void offer_types(struct completion *c, const char *end)
{
	const struct unc_type *t;

	for (size_t i = 0; open_for(c, false) && (t = unc_type_get(c->platform, i)) != NULL; i++)
		offer(c, "", t->name, end, t->desc);
}

/* The type of which "imc3.": the part of the word that stays, and the type's name. False: none. */
struct stem {
	char text[64], type[64];
};

static bool stem_of(struct completion *c, struct stem *stem)
{
	const char *dot = strchr(c->wanted, '.');
	size_t n = dot ? (size_t)(dot - c->wanted) : 0, index;

	if (!dot || n + 2 > sizeof(stem->text))
		return false;
	snprintf(stem->text, sizeof(stem->text), "%.*s.", (int)n, c->wanted);
	snprintf(stem->type, sizeof(stem->type), "%.*s", (int)n, c->wanted);
	while (unc_type_find(c->platform, stem->type, &index) < 0) {
		if (n == 0 || !isdigit((unsigned char)stem->type[n - 1]))
			return false;
		stem->type[--n] = '\0';
	}
	snprintf(stem->type, sizeof(stem->type), "%s", unc_type_get(c->platform, index)->name);
	return true;
}

/* What may follow the last colon: umasks, fields, the socket. */
static void offer_behind_colon(struct completion *c, size_t event)
{
	const char *colon = strrchr(c->wanted, ':');
	char *text = must_print("%s%.*s", c->before, (int)(colon + 1 - c->wanted), c->wanted);
	struct completion behind = *c;
	const struct unc_umask *umask;
	const struct unc_field *field;

	behind.before = text;
	behind.wanted = colon + 1;
	for (size_t i = 0; (umask = unc_umask_get(c->platform, event, i)) != NULL; i++)
		if (!umask->reason[0])
			offer(&behind, "", umask->name, "", umask->desc);
	for (size_t i = 0; (field = unc_field_get(c->platform, event, i)) != NULL; i++)
		offer(&behind, "", field->name, "=", field->desc);
	offer(&behind, "", "socket=", "", "of one socket");
	c->offered = behind.offered;
	free(text);
}

static void offer_events(struct completion *c)
{
	const struct unc_event *e;
	struct stem stem;
	const char *colon;
	size_t event;

	if (!open_for(c, false))
		return;
	if (!strchr(c->wanted, '.')) {
		offer_types(c, ".");
		return;
	}
	if (!stem_of(c, &stem))
		return;
	colon = strchr(c->wanted, ':');
	if (colon) {
		const char *name = strchr(c->wanted, '.') + 1;
		char *whole = must_print("%s.%.*s", stem.type, (int)(colon - name), name);

		if (unc_event_find(c->platform, whole, &event) == 0)
			offer_behind_colon(c, event);
		free(whole);
		return;
	}
	for (size_t i = 0; (e = unc_event_get(c->platform, i)) != NULL; i++) {
		if (strcmp(e->type, stem.type) != 0)
			continue;
		if (!e->needs_umask)
			offer(c, stem.text, e->name, "", e->desc);
		if (e->n_umasks)
			offer(c, stem.text, e->name, ":", e->desc);
	}
}

/* Portable metrics, and the types that have some of their own; or those of one type. */
static void offer_metrics(struct completion *c)
{
	const char *last = "";
	const struct unc_metric *m;
	struct stem stem;
	bool of_type;

	if (!open_for(c, false))
		return;
	of_type = strchr(c->wanted, '.') != NULL;
	if (of_type && !stem_of(c, &stem))
		return;
	for (size_t i = 0; (m = unc_metric_get(c->platform, i)) != NULL; i++) {
		const char *dot = strchr(m->name, '.');

		if (of_type && dot && strcmp(m->of, stem.type) == 0)
			offer(c, stem.text, dot + 1, "", m->desc);
		else if (!of_type && !dot)
			offer(c, "", m->name, "", m->desc);
		else if (!of_type && dot && strcmp(m->of, last) != 0)
			offer(c, "", m->of, ".", "metrics of these units");
		if (dot)
			last = m->of;
	}
}

/* Options take either kind: the other one where the one that is asked for has nothing. */
static void offer_events_first(struct completion *c)
{
	offer_events(c);
	if (!c->offered)
		offer_metrics(c);
}

static void offer_metrics_first(struct completion *c)
{
	offer_metrics(c);
	if (!c->offered)
		offer_events(c);
}

/* ---- words behind a command */

static int offer_register(void *user, const struct unc_register *reg)
{
	struct completion *c = user;

	if (reg->index == 0 && strcmp(reg->unit, c->first) == 0)
		offer(c, "", reg->name, "=", reg->space);
	return 0;
}

static void offer_decode(struct completion *c)
{
	if (c->words == 0)
		offer_types(c, "");
	else if (open_for(c, false))
		unc_register_walk(c->platform, offer_register, c);
}

static void offer_eval(struct completion *c)
{
	const char *need;
	size_t index;

	if (c->words == 0) {
		offer_metrics(c);
		return;
	}
	if (!open_for(c, false) || unc_metric_find(c->platform, c->first, &index, NULL) < 0)
		return;
	for (size_t i = 0; (need = unc_metric_need(c->platform, index, i)) != NULL; i++)
		offer(c, "", need, "=", "event that it needs");
	offer(c, "", "TIME", "=", "seconds");
	offer(c, "", "TSC", "=", "ticks");
	offer(c, "", "TSC_HZ", "=", "ticks in a second");
	offer(c, "", "MEMORY_PEAK", "=", "bytes in a second");
}

static void offer_shells(struct completion *c)
{
	offer(c, "", "bash", "", "");
	offer(c, "", "zsh", "", "");
}

static void offer_access(struct completion *c)
{
	static const char *const methods[] = {"kernel", "msr",  "msr-safe", "pci",
					      "mmio",   "perf", "pmu",      "direct"};

	for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++)
		offer(c, "", methods[i], "", "access method");
}

static void say_files(struct completion *c)
{
	(void)c;
	puts(":files");
}

static void say_folders(struct completion *c)
{
	(void)c;
	puts(":folders");
}

/* By what the help calls a value or the words of a command. */
static const struct kind {
	const char *name;
	void (*offer)(struct completion *);
} kinds[] = {
	{"CPU", offer_cpus},
	{"EVENT,..", offer_events_first},
	{"METRIC,..", offer_metrics_first},
	{"GROUP,..", offer_groups},
	{"LIST", offer_access},
	{"DIR", say_folders},
	{"FILE", say_files},
	{"[WORD ...]", offer_metrics_first},
	{"EVENT", offer_events},
	{"METRIC EVENT=COUNT...", offer_eval},
	{"UNIT REGISTER=VALUE...", offer_decode},
	{"[GROUP]", offer_groups},
	{"[COMMAND]", offer_commands},
	{"bash|zsh", offer_shells},
};

static void offer_kind(struct completion *c, const char *name)
{
	bool list = strstr(name, ",..") || strcmp(name, "LIST") == 0;
	const char *comma = list ? strrchr(c->wanted, ',') : NULL; /* the last part */
	char *before = must_print("%s%.*s", c->before, comma ? (int)(comma + 1 - c->wanted) : 0,
				  c->wanted);
	struct completion part = *c;

	part.before = before;
	part.wanted = comma ? comma + 1 : c->wanted;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strcmp(kinds[i].name, name) == 0)
			kinds[i].offer(&part);
	c->platform = part.platform;
	free(before);
}

/* ---- options */

static void offer_options(struct completion *c)
{
	const struct option_row *row = NULL;

	while ((row = option_next(c->command, row)) != NULL)
		offer(c, "--", row->name, row->value ? "=" : "", row->help);
}

/* The option that a word is, and in *value what stands in the same word; NULL: it is none. Of letters in
 * one word the last one, or the first that takes a value. */
static const struct option_row *option_of(const struct completion *c, const char *word,
					  const char **value)
{
	const struct option_row *row = NULL, *found = NULL;
	size_t n = strcspn(word, "=");

	*value = NULL;
	if (strncmp(word, "--", 2) == 0) {
		while ((row = option_next(c->command, row)) != NULL)
			if (strlen(row->name) == n - 2 && strncmp(row->name, word + 2, n - 2) == 0)
				found = row;
		*value = word[n] ? word + n + 1 : NULL;
		return found;
	}
	for (const char *p = word + 1; *p && !(found && found->value); p++)
		for (found = NULL, row = NULL; (row = option_next(c->command, row)) != NULL;)
			if (row->letter == *p) {
				found = row;
				*value = p[1] && row->value ? p + 1 : NULL;
			}
	return found;
}

static void take(struct completion *c, const struct option_row *row, const char *value)
{
	if (strcmp(row->name, "cpu") == 0)
		c->cpu = value;
	if (strcmp(row->name, "tables") == 0)
		c->tables = value;
}

static void complete_last(struct completion *c, const char *word, bool options)
{
	const struct option_row *row;
	const char *value;
	char *before;

	c->wanted = word;
	if (!options || word[0] != '-') {
		offer_kind(c, c->command->words);
		return;
	}
	row = option_of(c, word, &value);
	if (!row || !row->value || !value) {
		offer_options(c);
		return;
	}
	before = must_print("%.*s", (int)(value - word), word);
	c->before = before;
	c->wanted = value;
	offer_kind(c, row->value);
	free(before);
}

/* The words of a command up to the last, which is to be completed. */
static void complete_words(struct completion *c, size_t n, char *const *words)
{
	const struct option_row *waiting = NULL; /* for its value */
	bool options = true;

	for (size_t i = 1; i + 1 < n; i++) {
		const char *word = words[i], *value;
		const struct option_row *row = NULL;

		if (waiting) {
			take(c, waiting, word);
			waiting = NULL;
		} else if (options && strcmp(word, "--") == 0) {
			options = false;
		} else if (options && word[0] == '-' && word[1]) {
			row = option_of(c, word, &value);
			if (row && row->value && value)
				take(c, row, value);
			else if (row && row->value)
				waiting = row;
		} else if (c->command->runs_command) {
			printf(":command %zu\n", i);
			return;
		} else if (c->words++ == 0) {
			c->first = word;
		}
	}
	if (waiting) {
		c->wanted = words[n - 1];
		offer_kind(c, waiting->value);
	} else if (c->command->runs_command && !(options && words[n - 1][0] == '-')) {
		printf(":command %zu\n", n - 1);
	} else {
		complete_last(c, words[n - 1], options);
	}
}

void complete(const struct command *commands, size_t n, char *const *words)
{
	struct completion c = {.commands = commands, .before = "", .wanted = n ? words[0] : ""};

	if (n <= 1) {
		offer_commands(&c);
		return;
	}
	for (const struct command *k = commands; k->name; k++)
		if (strcmp(k->name, words[0]) == 0)
			c.command = k;
	if (c.command)
		complete_words(&c, n, words);
	unc_platform_close(c.platform);
}

int cmd_completion(struct unc_platform *none, const struct args *args)
{
	const char *shell = args->word[0];

	(void)none;
	if (strcmp(shell, "bash") != 0 && strcmp(shell, "zsh") != 0)
		return bad_input("completion: no shell '%s'; there are bash and zsh", shell);
	fputs(strcmp(shell, "bash") == 0 ? completion_bash : completion_zsh, stdout);
	return EXIT_SUCCESS;
}
