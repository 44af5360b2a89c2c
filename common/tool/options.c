/* SPDX-License-Identifier: BSD-3-Clause */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "record.h"

struct option_row {
	enum group group;
	char letter; /* 0: none */
	const char *name;
	const char *value; /* what its value is; NULL: it has none */
	size_t at;         /* where in struct args: a bool, or a text; of -e, -m and -g: nowhere */
	const char *help;
};

#define AT(member) offsetof(struct args, member)

static const struct option_row rows[] = {
	{EVERY, 'h', "help", NULL, 0, "help of the command"},
	{REPORT, 'j', "json", NULL, AT(json),
	 "JSON, for programs; from stat, an object for each report"},
	{REPORT | WATCH, 'v', "verbose", NULL, AT(verbose),
	 "more of each row (list, metrics), and notes of the library on stderr"},
	{MACHINE, 0, "access", "LIST", AT(access),
	 "access methods, separated by commas, in the order of trial"},
	{CPU, 'c', "cpu", "CPU", AT(cpu),
	 "uses the tables of this CPU, as 'uncore cpus' names it; without it, of this machine's"},
	{COUNT, 'e', "event", "EVENT,..", 0,
	 "events, as for encode, or metrics; may be repeated, like -m and -g"},
	{COUNT, 'm', "metric", "METRIC,..", 0,
	 "metrics, as NAME or, for one unit, type<index>.NAME, also with :socket=; or events"},
	{COUNT, 'g', "group", "GROUP,..", 0,
	 "all items of a group, see 'uncore groups': MEM, L3, LINK, PCIE, ENERGY, ..."},
	{COUNT, 'I', "interval", "MS", AT(interval),
	 "a report every MS milliseconds, for that interval alone; without it, one at the end"},
	{COUNT, 'd', "duration", "S", AT(duration), "ends after S seconds; also 500ms"},
	{COUNT, 'r', "repeat", "N", AT(repeat),
	 "N runs of COMMAND, or of -d seconds: the mean of each number, and its spread"},
	{COUNT, 'x', "separator", "SEP", AT(separator), "values separated by SEP, for programs"},
	{COUNT, 0, "json-lines", NULL, AT(json_lines),
	 "a JSON object for each number, on a line of its own"},
	{COUNT, 'o', "output", "FILE", AT(output), "writes the report to FILE; - is stdout"},
	{COUNT, 0, "per-socket", NULL, AT(per_socket), "each socket by itself instead of the sum"},
	{COUNT, 0, "per-unit", NULL, AT(per_unit), "each unit by itself instead of the sum"},
	{COUNT, 0, "per-node", NULL, AT(per_node), "each NUMA node by itself instead of the sum"},
	{COUNT, 0, "per-device", NULL, AT(per_device),
	 "each PCIe device by itself, by its port; items without a port by socket"},
	{WATCH, 'I', "interval", "MS", AT(interval),
	 "a frame every MS milliseconds; without it, every 1000"},
	{WATCH, 'n', "number", "N", AT(number), "ends after N frames"},
	{RAW, 0, "raw", NULL, AT(raw),
	 "a name on each line, for completion; WORD is cpus, groups, types, metrics, events, or a "
	 "name, to list what may follow it"},
	{VALUES, 0, "values", NULL, AT(values),
	 "the value of each register of this machine, or why it is not known"},
	{VERIFY, 0, "device", "DEVICE", AT(device),
	 "reads a known number of bytes from this disk, as /dev/nvme0n1"},
	{VERIFY, 0, "traffic", "COMMAND", AT(traffic),
	 "a program that replaces 'uncore traffic', with the same options and answers"},
	{TRAFFIC, 0, "from", "NODES", AT(from),
	 "CPUs of these NUMA nodes, as 0 or 0-3,8; without it, of all"},
	{TRAFFIC, 0, "memory", "NODES", AT(memory),
	 "memory of these nodes; without it, of those of --from"},
	{TRAFFIC, 0, "writes", NULL, AT(writes), "stores past the caches instead of loads"},
	{TRAFFIC, 0, "device", "DEVICE", AT(device),
	 "reads a disk, as /dev/nvme0n1, instead of memory"},
	{TRAFFIC, 'd', "duration", "S", AT(duration), "for S seconds; without it, for 1"},
	{TRAFFIC, 0, "wait", NULL, AT(wait),
	 "prints 'ready', then moves bytes for the seconds that each line of stdin gives"},
	{VERIFY, 'o', "output", "FILE", AT(output),
	 "writes a report to FILE, in JSON: the checks, the CPU, the kernel and the version"},
	{RELEASE, 0, "force", NULL, AT(force),
	 "frees foreign counters as well, after showing them"},
};

enum { N_ROWS = sizeof(rows) / sizeof(rows[0]), LONG = 256, INDENT = 26 };

static bool takes_option(const struct command *command, const struct option_row *row)
{
	return row->group == EVERY || row->group & command->groups;
}

static const struct option_row *option_next(const struct command *command,
					    const struct option_row *last)
{
	for (const struct option_row *row = last ? last + 1 : rows; row < rows + N_ROWS; row++)
		if (takes_option(command, row))
			return row;
	return NULL;
}

/* ---- the parser */

/* The code that getopt_long() returns for an option. */
static int getopt_code(const struct option_row *row)
{
	return row->letter ? row->letter : LONG + (int)(row - rows);
}

static void option_take(struct args *args, const struct option_row *row, const char *value)
{
	void *member = (char *)args + row->at;

	if (row->letter && strchr("emg", row->letter)) {
		args->wish = must_grow(args->wish, args->wishes, sizeof(*args->wish));
		args->wish[args->wishes++] = (struct wish){row->letter == 'g', value};
	} else if (row->value) {
		*(const char **)member = value;
	} else {
		*(bool *)member = true;
	}
}

/* The long options that begin with `option`, if several do; or else the nearest one. */
static char *alternatives(const struct command *command, const char *option)
{
	size_t n = strcspn(option, "="), found = 0;
	char *name = must_print("%.*s", (int)n, option), *list = NULL;
	struct unc_nearest nearest = {.wanted = name};

	for (const struct option_row *row = NULL; (row = option_next(command, row)) != NULL;) {
		char *whole = must_print("--%s", row->name);

		if (n > 2 && strncmp(whole, name, n) == 0) {
			list = must_list(list, whole);
			found++;
		}
		if (n > 2)
			unc_nearest_try_short(&nearest, whole);
		free(whole);
	}
	char near[UNC_NEAR_MAX + 16];
	char *text = found > 1 ? must_print("; it could be %s", list)
			       : must_print("%s", unc_nearest_text(&nearest, near, sizeof(near)));

	free(name);
	free(list);
	return text;
}

/* For an option of perf: what to use instead; else NULL. */
static const char *instead_of(const struct command *command, const char *option)
{
	static const char *const perf[][3] = {
		{"-a", "--all-cpus", "without it, counts already cover the whole node"},
		{"-A", "--no-aggr", "--per-socket and --per-unit show each socket or unit"},
		{"-C", "--cpu", "counts cover the whole node; NAME:socket=N counts one socket"},
		{"-p", "--pid", "counts cover the whole node, not a process"},
		{"-t", "--tid", "counts cover the whole node, not a thread"},
		{"--append", "", "-o starts a new file, '-o - >>FILE' adds to one"}};
	size_t n = strcspn(option, "=");

	for (size_t i = 0; command->groups & COUNT && i < sizeof(perf) / sizeof(perf[0]); i++)
		if (strcmp(perf[i][0], option) == 0 ||
		    (strncmp(perf[i][1], option, n) == 0 && !perf[i][1][n]))
			return perf[i][2];
	return NULL;
}

/* Reports the word that getopt_long() refused, as the user wrote it. */
static int refuse_option(const struct command *command, int opt, char **argv)
{
	char letter[] = {'-', (char)optopt, '\0'}, *others;
	bool is_letter = optopt && strncmp(argv[optind - 1], "--", 2) != 0;
	const char *option = is_letter ? letter : argv[optind - 1];

	if (opt == ':')
		return bad_input("%s: option '%s' needs a value; see 'uncore help %s'",
				 command->name, option, command->name);
	if (instead_of(command, option))
		return bad_input("%s: there is no option '%s': %s", command->name, option,
				 instead_of(command, option));
	others = alternatives(command, option);
	bad_input("%s: unknown option '%s'%s; see 'uncore help %s'", command->name, option, others,
		  command->name);
	free(others);
	return EXIT_BAD_INPUT;
}

static int option_read(const struct command *command, int argc, char **argv,
		       const struct option_row **row)
{
	struct option longs[N_ROWS + 1] = {0};
	char letters[2 * N_ROWS + 3];
	size_t n_longs = 0, n = 0;
	int opt;

	if (command->runs_command)
		letters[n++] = '+';
	letters[n++] = ':';
	for (*row = NULL; (*row = option_next(command, *row)) != NULL;) {
		longs[n_longs++] = (struct option){(*row)->name, (*row)->value != NULL, NULL,
						   getopt_code(*row)};
		if ((*row)->letter)
			letters[n++] = (*row)->letter;
		if ((*row)->letter && (*row)->value)
			letters[n++] = ':';
	}
	letters[n] = '\0';
	opterr = 0;
	opt = getopt_long(argc, argv, letters, longs, NULL);
	while ((*row = option_next(command, *row)) != NULL &&
	       getopt_code(*row) != (opt == ':' ? optopt : opt))
		continue;
	return opt;
}

/* Whether a word is an option: if it is the value of another option, that value was forgotten. */
static bool is_option(const struct command *command, const char *word)
{
	size_t n = strcspn(word, "=");
	bool found = strcmp(word, "--") == 0;

	for (const struct option_row *row = NULL;
	     !found && word[0] == '-' && word[1] && (row = option_next(command, row)) != NULL;)
		found = word[1] == row->letter ||
			(n > 2 && word[1] == '-' && strncmp(row->name, word + 2, n - 2) == 0);
	return found;
}

/* ARGS_OK, or the exit status. */
static int args_parse(struct args *args, const struct command *command, int argc, char **argv)
{
	const struct option_row *row;
	int opt;

	while ((opt = option_read(command, argc, argv, &row)) != -1) {
		if (opt == '?' || opt == ':')
			return refuse_option(command, opt, argv);
		if (opt == 'h') {
			command_help(command);
			return EXIT_SUCCESS;
		}
		if (row->value && optarg == argv[optind - 1] && is_option(command, optarg))
			return bad_input("%s: option '%s' needs a value, and '%s' is an option; "
					 "see 'uncore help %s'",
					 command->name, argv[optind - 2], optarg, command->name);
		option_take(args, row, optarg);
	}
	args->word = argv + optind;
	args->words = (size_t)(argc - optind);
	return ARGS_OK;
}

int command_run(const struct command *command, int argc, char **argv)
{
	struct unc_platform *platform = NULL;
	struct args args = {0};
	int rc = args_parse(&args, command, argc, argv);

	if (rc == ARGS_OK && args.words < command->min)
		rc = bad_input("%s: an argument is missing: uncore %s %s", command->name,
			       command->name, command->words);
	if (rc == ARGS_OK && args.words > command->max)
		rc = bad_input("%s: unexpected argument '%s'; see 'uncore help %s'", command->name,
			       args.word[command->max], command->name);
	if (rc == ARGS_OK)
		rc = open_platform(&args, command->opens, &platform);
	if (rc == ARGS_OK)
		rc = command->run(platform, &args);
	unc_platform_close(platform);
	free(args.wish);
	return finish(rc);
}

/* ---- the help */

void command_help(const struct command *command)
{
	char *head = must_print("uncore %s%s%s%s: %s", command->name,
				command->groups ? " [OPTION]..." : "", command->words[0] ? " " : "",
				command->words, command->summary);

	fold(stdout, head, 0, 0);
	free(head);
	if (command->help[0]) {
		putchar('\n');
		fold(stdout, command->help, 0, 0);
	}
	putchar('\n');
	for (const struct option_row *row = NULL; (row = option_next(command, row)) != NULL;) {
		char letter[] = {'-', row->letter, ',', '\0'};
		int n = printf("  %s --%s %s", row->letter ? letter : "   ", row->name,
			       row->value ? row->value : "");

		fold(stdout, row->help, (size_t)n, INDENT);
	}
}
