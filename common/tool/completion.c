/* SPDX-License-Identifier: BSD-3-Clause */
/* Completion of command lines: all that shells ask for comes from the tables of commands and
 * options, and from those of the library. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "options.h"

struct completion {
	const struct command *commands, *command;
	struct args args;          /* what the words before say: -c, --tables */
	const char *first;         /* the first that is no option; NULL: there is none */
	const char *word, *wanted; /* the last one, and the part of it that is to be completed */
	size_t offered;
	struct unc_platform *platform; /* NULL: not open */
};

/* A candidate, and what has to follow it. */
static void offer(struct completion *c, const char *name, const char *end, const char *what)
{
	if (strncasecmp(name, c->wanted, strlen(c->wanted)) != 0)
		return;
	printf("%.*s%s%s\t%s\n", (int)(c->wanted - c->word), c->word, name, end, what);
	c->offered++;
}

/* The tables of -c, of this machine, or with `any` of whatever CPU. */
static bool open_for(struct completion *c, bool any)
{
	const char *cpu = any ? "*" : c->args.cpu;
	struct unc_options options = {
		.size = sizeof(options),
		.sim = cpu ? "" : NULL,
		.cpu = cpu,
		.tables = c->args.tables,
	};

	return c->platform || unc_platform_open(&options, &c->platform) == 0;
}

/* ---- names */

static void offer_commands(struct completion *c)
{
	for (const struct command *k = c->commands; k->name; k++)
		offer(c, k->name, "", k->summary);
}

static void offer_cpus(struct completion *c)
{
	const struct unc_cpu *cpu;

	for (size_t i = 0; open_for(c, true) && (cpu = unc_cpu_get(c->platform, i)) != NULL; i++)
		offer(c, cpu->name, "", cpu->title);
}

static void offer_groups(struct completion *c)
{
	const struct unc_group *g;

	for (size_t i = 0; open_for(c, false) && (g = unc_group_get(c->platform, i)) != NULL; i++)
		offer(c, g->name, "", g->desc);
}

static void offer_types(struct completion *c, const char *end)
{
	const struct unc_type *t;

	for (size_t i = 0; open_for(c, false) && (t = unc_type_get(c->platform, i)) != NULL; i++)
		offer(c, t->name, end, t->desc);
}

/* The type of a word that begins as "imc3." does; what stands behind that is to be completed. NULL:
 * there is none. */
static const struct unc_type *behind_type(struct completion *c)
{
	const struct unc_type *t;

	for (size_t i = 0; (t = unc_type_get(c->platform, i)) != NULL; i++) {
		size_t n = strlen(t->name);

		if (strncasecmp(c->wanted, t->name, n) != 0)
			continue;
		n += strspn(c->wanted + n, "0123456789");
		if (c->wanted[n] == '.') {
			c->wanted += n + 1;
			return t;
		}
	}
	return NULL;
}

/* What may follow the last colon: umasks, fields, the socket. */
static void offer_behind_colon(struct completion *c, size_t event)
{
	const struct unc_umask *umask;
	const struct unc_field *field;

	c->wanted = strrchr(c->wanted, ':') + 1;
	for (size_t i = 0; (umask = unc_umask_get(c->platform, event, i)) != NULL; i++)
		if (!umask->reason[0])
			offer(c, umask->name, "", umask->desc);
	for (size_t i = 0; (field = unc_field_get(c->platform, event, i)) != NULL; i++)
		offer(c, field->name, "=", field->desc);
	offer(c, "socket=", "", "of one socket");
}

static void offer_events_of(struct completion *c, const struct unc_type *type)
{
	size_t event, n = strcspn(c->wanted, ":");
	const struct unc_event *e;

	if (c->wanted[n]) {
		char *name = must_print("%s.%.*s", type->name, (int)n, c->wanted);

		if (unc_event_find(c->platform, name, &event) == 0)
			offer_behind_colon(c, event);
		free(name);
		return;
	}
	for (size_t i = 0; (e = unc_event_get(c->platform, i)) != NULL; i++) {
		if (strcmp(e->type, type->name) != 0)
			continue;
		if (!e->needs_umask)
			offer(c, e->name, "", e->desc);
		if (e->n_umasks)
			offer(c, e->name, ":", e->desc);
	}
}

static void offer_events(struct completion *c)
{
	const struct unc_type *type;

	if (!strchr(c->wanted, '.'))
		offer_types(c, ".");
	else if (open_for(c, false) && (type = behind_type(c)) != NULL)
		offer_events_of(c, type);
}

/* Portable metrics, and the types that have some of their own; or those of one type. */
static void offer_metrics(struct completion *c)
{
	bool of_type = strchr(c->wanted, '.') != NULL;
	const struct unc_type *type = NULL;
	const struct unc_metric *m;
	const char *last = "";

	if (!open_for(c, false) || (of_type && !(type = behind_type(c))))
		return;
	for (size_t i = 0; (m = unc_metric_get(c->platform, i)) != NULL; i++) {
		const char *dot = strchr(m->name, '.');

		if (of_type && dot && strcmp(m->of, type->name) == 0)
			offer(c, dot + 1, "", m->desc);
		else if (!of_type && !dot)
			offer(c, m->name, "", m->desc);
		else if (!of_type && strcmp(m->of, last) != 0)
			offer(c, m->of, ".", "metrics of these units");
		if (dot)
			last = m->of;
	}
}

/* ---- words behind a command */

static int offer_register(void *user, const struct unc_register *reg)
{
	struct completion *c = user;

	if (reg->index == 0 && strcmp(reg->unit, c->first) == 0)
		offer(c, reg->name, "=", reg->space);
	return 0;
}

static void offer_decode(struct completion *c)
{
	if (!c->first)
		offer_types(c, "");
	else if (open_for(c, false))
		unc_register_walk(c->platform, offer_register, c);
}

static void offer_eval(struct completion *c)
{
	const char *need;
	size_t index;

	if (!c->first) {
		offer_metrics(c);
		return;
	}
	if (!open_for(c, false) || unc_metric_find(c->platform, c->first, &index, NULL) < 0)
		return;
	for (size_t i = 0; (need = unc_metric_need(c->platform, index, i)) != NULL; i++)
		offer(c, need, "=", "event that it needs");
	offer(c, "TIME", "=", "seconds");
	offer(c, "TSC", "=", "ticks");
	offer(c, "TSC_HZ", "=", "ticks in a second");
	offer(c, "MEMORY_PEAK", "=", "bytes in a second");
}

static void offer_shells(struct completion *c)
{
	offer(c, "bash", "", "");
	offer(c, "zsh", "", "");
}

static void offer_access(struct completion *c)
{
	static const char *const methods[] = {"kernel", "broker", "msr", "msr-safe", "pci",
					      "mmio",   "perf",   "pmu", "direct"};

	for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++)
		offer(c, methods[i], "", "access method");
}

/* By what the help calls a value or the words of a command. */
static const struct kind {
	const char *name;
	bool list; /* with commas; the last part is to be completed */
	void (*offer)(struct completion *);
	void (*second)(struct completion *); /* where the first has nothing: options take either */
	const char *shell;                   /* the shell knows them, and is told which */
} kinds[] = {
	{"CPU", false, offer_cpus, NULL, NULL},
	{"EVENT,..", true, offer_events, offer_metrics, NULL},
	{"METRIC,..", true, offer_metrics, offer_events, NULL},
	{"GROUP,..", true, offer_groups, NULL, NULL},
	{"LIST", true, offer_access, NULL, NULL},
	{"DIR", false, NULL, NULL, ":folders"},
	{"FILE", false, NULL, NULL, ":files"},
	{"DEVICE", false, NULL, NULL, ":files"},
	{"[WORD ...]", false, offer_metrics, offer_events, NULL},
	{"EVENT", false, offer_events, NULL, NULL},
	{"METRIC EVENT=COUNT...", false, offer_eval, NULL, NULL},
	{"UNIT REGISTER=VALUE...", false, offer_decode, NULL, NULL},
	{"[GROUP]", false, offer_groups, NULL, NULL},
	{"[COMMAND]", false, offer_commands, NULL, NULL},
	{"bash|zsh", false, offer_shells, NULL, NULL},
};

static void offer_kind(struct completion *c, const char *name)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		const struct kind *kind = &kinds[i];
		const char *comma = kind->list ? strrchr(c->wanted, ',') : NULL;
		const char *wanted = comma ? comma + 1 : c->wanted;

		if (strcmp(kind->name, name) != 0)
			continue;
		c->wanted = wanted;
		if (kind->offer)
			kind->offer(c);
		c->wanted = wanted;
		if (kind->second && !c->offered)
			kind->second(c);
		if (kind->shell)
			puts(kind->shell);
	}
}

/* ---- options */

static void offer_options(struct completion *c)
{
	const struct option_row *row = NULL;

	while ((row = option_next(c->command, row)) != NULL) {
		char *name = must_print("--%s", row->name);

		offer(c, name, row->value ? "=" : "", row->help);
		free(name);
	}
}

/* Notes the options of n words, the first of which is a name. Returns the last; *value: its value,
 * NULL if that is missing or it takes none. */
static const struct option_row *take_options(struct completion *c, size_t n, char **words,
					     const char **value)
{
	const struct option_row *row, *last = NULL;
	int opt;

	*value = NULL;
	optind = 0; /* begins anew */
	while ((opt = option_read(c->command, (int)n, words, &row)) != -1) {
		last = row;
		*value = optarg;
		if (row && opt != ':')
			option_take(&c->args, row, optarg);
	}
	return last;
}

/* The last of the words of a command. */
static void complete_words(struct completion *c, size_t n, char **words)
{
	char *alone[] = {words[0], words[n - 1], NULL};
	const char *value;
	const struct option_row *row = take_options(c, n - 1, words, &value);
	size_t first = (size_t)optind; /* behind the options */
	bool options = words[first - 1] == value || strcmp(words[first - 1], "--") != 0;

	c->word = c->wanted = words[n - 1];
	c->first = first < n - 1 ? words[first] : NULL;
	options &= c->word[0] == '-';
	if (row && row->value && !value) {
		offer_kind(c, row->value);
	} else if (c->command->runs_command && (c->first || !options)) {
		printf(":command %zu\n", first);
	} else if (!options) {
		offer_kind(c, c->command->words);
	} else if ((row = take_options(c, 2, alone, &value)) != NULL && value) {
		c->wanted = value;
		offer_kind(c, row->value);
	} else {
		offer_options(c);
	}
}

void complete(const struct command *commands, size_t n, char **words)
{
	struct completion c = {.commands = commands, .word = "", .wanted = ""};

	if (n <= 1) {
		if (n)
			c.word = c.wanted = words[0];
		offer_commands(&c);
		return;
	}
	for (const struct command *k = commands; k->name; k++)
		if (strcmp(k->name, words[0]) == 0)
			c.command = k;
	if (c.command)
		complete_words(&c, n, words);
	unc_platform_close(c.platform);
	free(c.args.wish);
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
