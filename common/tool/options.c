/* SPDX-License-Identifier: BSD-3-Clause */
#include "options.h"

#include <ctype.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"

#define AT(member) offsetof(struct args, member)

static const struct option_row rows[] = {
	{EVERY, 'h', "help", NULL, 0, "help of the command", ""},
	{MANUAL, 0, "man", NULL, AT(manual),
	 "the source of this page from here to MARKS, of which the manual is built", ""},
	{REPORT, 'j', "json", NULL, AT(json),
	 "JSON, for programs; of stat an object for each report",
	 "Register values are strings of hexadecimal digits with 0x; what is not known is null."},
	{REPORT | WATCH, 'v', "verbose", NULL, AT(verbose),
	 "more of each row (list, metrics), and notes of the library on stderr", ""},
	{REPORT | WATCH, 0, "tables", "DIR", AT(tables),
	 "event tables of a folder in place of those compiled in, on hardware too",
	 "What is no register of a monitor by what is compiled in stays out of reach. Where the "
	 "command has more rights than its user, the folder and its files must belong to root and "
	 "be writable by nobody else."},
	{MACHINE, 0, "access", "LIST", AT(access),
	 "access methods with commas between them, in the order in which they are tried",
	 "Wins over UNCORE_ACCESS; see ACCESS."},
	{CPU, 'c', "cpu", "CPU", AT(cpu),
	 "the CPU whose tables are meant, as 'uncore cpus' names it; without it, that of this "
	 "machine",
	 "Other names that people give it are accepted, as in UNCORE_SIM: spr, icx, skylake, ..."},
	{COUNT, 'e', "event", "EVENT,..", 0,
	 "events, as for encode, or metrics; may be repeated, as -m and -g",
	 "They are counted and shown in the order given."},
	{COUNT, 'm', "metric", "METRIC,..", 0,
	 "metrics, NAME or, of one unit, type<index>.NAME, either with :socket=; or events", ""},
	{COUNT, 'g', "group", "GROUP,..", 0,
	 "all of a group, as 'uncore groups' lists them: MEM, L3, LINK, PCIE, ENERGY, ...",
	 "What of it this CPU or machine does not have, 'uncore groups' tells, and -v on stderr."},
	{COUNT, 'I', "interval", "MS", AT(interval),
	 "a report every MS milliseconds, of that interval alone; without it, one at the end",
	 "500ms or 0.5s is accepted, too. As text, each line has the time of day. The titles come "
	 "again on each screen of a terminal, else every 25 reports. The moments are "
	 "counted from the start: a report that comes late shortens the next interval, not the "
	 "series. The time and length shown are those measured. What remains at the end is "
	 "reported if it is 10 milliseconds or longer and each pass was measured in it. Whether "
	 "somebody else has taken a counter is looked at before each report; whether its unit is "
	 "frozen before the first one after 50 milliseconds: with shorter intervals those before "
	 "it may be too small."},
	{COUNT, 'd', "duration", "S", AT(duration), "ends after S seconds; or 500ms", ""},
	{COUNT, 'r', "repeat", "N", AT(repeat),
	 "N runs of COMMAND, or of -d seconds: the mean of each number, and how sure it is",
	 "Behind +- stands the standard deviation of the mean, in percent of it: of values x with "
	 "the mean m, sqrt(sum((x - m)^2) / (N - 1) / N) / m. In JSON and with -x it is called "
	 "spread and is a share, 0.01 for 1 percent. Rates are those of the mean number in the "
	 "mean time. A number that was missing in one run has no mean. A run that ends with a "
	 "status other than 0, or is stopped, is the last, and not counted; its status is that of "
	 "stat."},
	{COUNT, 'x', "separator", "SEP", AT(separator), "values separated by SEP, for programs",
	 "A row for each number: time (seconds since the start), clock (of the day, ISO 8601), "
	 "interval (seconds), socket, unit (both empty where it is of all of them), name, value, "
	 "measure (what it is measured in), share (of the interval in which it was measured, up to "
	 "1), units, of (how many units were counted, of how many) and reason (why there is no "
	 "value, or which units are missing). With -r, runs and spread come behind them. The first "
	 "row has "
	 "these names; before it, a line that begins with # says so if the machine is simulated. A "
	 "value that is not known is '-', other fields are empty then. Any SEP will do, of several "
	 "letters too, but for quotes and ends of lines; '\\et' is a tab. A field is quoted as RFC "
	 "4180 says, where SEP or a quote is in it."},
	{COUNT, 0, "json-lines", NULL, AT(json_lines),
	 "a JSON object for each number, on a line of its own",
	 "Its members are the columns of -x, and simulated; what is not known is null."},
	{COUNT, 'o', "output", "FILE", AT(output), "writes the report to FILE; - is stdout",
	 "Without it, the report is on stdout; beside a COMMAND, whose stdout is its own, on "
	 "stderr, but for -j, which stays on stdout."},
	{COUNT, 0, "per-socket", NULL, AT(per_socket), "each socket by itself instead of the sum",
	 "One that has no such unit shows '-'."},
	{COUNT, 0, "per-unit", NULL, AT(per_unit), "each unit by itself instead of the sum",
	 "One that cannot be read shows '-'. A metric that has no value of a unit is by socket."},
	{COUNT, 0, "per-node", NULL, AT(per_node), "each NUMA node by itself instead of the sum",
	 "What is known of sockets only shows '-' where a socket has several."},
	{COUNT, 0, "per-device", NULL, AT(per_device),
	 "each PCIe device by itself, by the port that it is below; what has no port by socket",
	 "Devices with one port are told together. Of a stack of which the root bus is not known, "
	 "each "
	 "port."},
	{WATCH, 'I', "interval", "MS", AT(interval),
	 "a frame every MS milliseconds; 1000 without it", ""},
	{WATCH, 'n', "number", "N", AT(number), "ends after N frames", ""},
	{VALUES, 0, "values", NULL, AT(values),
	 "what the registers of this machine hold, or why that is not known",
	 "A register is read once. A unit that cannot be used has one line, with the reason. JSON "
	 "has \"socket\", \"value\" and \"reason\" as well."},
	{VERIFY, 0, "device", "DEVICE", AT(device),
	 "a disk, as /dev/nvme0n1, from which a known number of bytes is read",
	 "It is read past the page cache, for a quarter of a second a socket, and not written. On "
	 "a "
	 "simulated machine it is only told of."},
	{VERIFY, 'o', "output", "FILE", AT(output),
	 "writes a report to FILE, in JSON: the checks, and which CPU, kernel and version it was",
	 "It is a file to send: it has no name of the host and no number of its own."},
	{RELEASE, 0, "force", NULL, AT(force), "frees foreign counters as well, after showing them",
	 "A counter is foreign that neither the ledger of the node nor the kernel knows: perhaps "
	 "of a program that runs (PCM, LIKWID) and loses it, perhaps of one that has ended. Where "
	 "the ledger cannot be used nothing is freed by force."},
};

enum { N_ROWS = sizeof(rows) / sizeof(rows[0]), LONG = 256, INDENT = 26, WIDTH = 80 };

static bool takes(const struct command *command, const struct option_row *row)
{
	return row->group == EVERY || row->group & command->groups;
}

const struct option_row *option_next(const struct command *command, const struct option_row *last)
{
	for (const struct option_row *row = last ? last + 1 : rows; row < rows + N_ROWS; row++)
		if (takes(command, row))
			return row;
	return NULL;
}

/* ---- the parser */

/* What getopt_long() gives for an option. */
static int code_of(const struct option_row *row)
{
	return row->letter ? row->letter : LONG + (int)(row - rows);
}

void option_take(struct args *args, const struct option_row *row, const char *value)
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

/* Long options that begin so, as far as there are several; or else the one that is nearest. */
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

/* Options of perf that people try, and what is right instead. */
static const char *instead_of(const struct command *command, const char *option)
{
	static const char *const perf[][3] = {
		{"-a", "--all-cpus", "counts are of the whole node without it"},
		{"-A", "--no-aggr", "--per-socket and --per-unit show each by itself"},
		{"-C", "--cpu",
		 "counts are of the whole node, or with :socket=N behind a name of one socket"},
		{"-p", "--pid", "counts are of the whole node, not of a process"},
		{"-t", "--tid", "counts are of the whole node, not of a thread"},
		{"--append", "", "-o starts a new file, '-o - >>FILE' adds to one"}};
	size_t n = strcspn(option, "=");

	for (size_t i = 0; command->groups & COUNT && i < sizeof(perf) / sizeof(perf[0]); i++)
		if (strcmp(perf[i][0], option) == 0 ||
		    (strncmp(perf[i][1], option, n) == 0 && !perf[i][1][n]))
			return perf[i][2];
	return NULL;
}

/* What getopt_long() stumbled over, as the user wrote it. */
static int stumbled(const struct command *command, int opt, char **argv)
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

int option_read(const struct command *command, int argc, char **argv, const struct option_row **row)
{
	struct option longs[N_ROWS + 1] = {0};
	char letters[2 * N_ROWS + 3];
	size_t n_longs = 0, n = 0;
	int opt;

	if (command->runs_command)
		letters[n++] = '+';
	letters[n++] = ':';
	for (*row = NULL; (*row = option_next(command, *row)) != NULL;) {
		longs[n_longs++] =
			(struct option){(*row)->name, (*row)->value != NULL, NULL, code_of(*row)};
		if ((*row)->letter)
			letters[n++] = (*row)->letter;
		if ((*row)->letter && (*row)->value)
			letters[n++] = ':';
	}
	letters[n] = '\0';
	opterr = 0;
	opt = getopt_long(argc, argv, letters, longs, NULL);
	while ((*row = option_next(command, *row)) != NULL &&
	       code_of(*row) != (opt == ':' ? optopt : opt))
		continue;
	return opt;
}

/* Whether a word is an option: as the value of another one, that value has been forgotten. */
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
			return stumbled(command, opt, argv);
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

/* Words from column `at` on, in lines that begin at column `indent`. */
static void print_wrapped(const char *text, size_t at, size_t indent)
{
	for (size_t n; *text; text += n + (text[n] == ' ')) {
		n = strcspn(text, " ");
		if (at > indent && at + 1 + n > WIDTH) {
			putchar('\n');
			at = 0;
		}
		int blanks = at < indent ? (int)(indent - at) : at > indent;

		printf("%*s%.*s", blanks, "", (int)n, text);
		at += (size_t)blanks + n;
	}
	putchar('\n');
}

void command_help(const struct command *command)
{
	printf("uncore %s%s%s%s: %s\n", command->name, command->groups ? " [OPTION]..." : "",
	       command->words[0] ? " " : "", command->words, command->summary);
	if (command->help[0]) {
		putchar('\n');
		print_wrapped(command->help, 0, 0);
	}
	putchar('\n');
	for (const struct option_row *row = NULL; (row = option_next(command, row)) != NULL;) {
		char letter[] = {'-', row->letter, ',', '\0'};
		int n = printf("  %s --%s %s", row->letter ? letter : "   ", row->name,
			       row->value ? row->value : "");

		print_wrapped(row->help, (size_t)n, INDENT);
	}
}

/* ---- the manual */

/* Text in which a hyphen is a minus, as options have it. */
static void manual_text(const char *text)
{
	for (; *text; text++)
		printf(*text == '-' ? "\\-" : "%c", *text);
}

/* "what it is", and the sentences behind it. */
static void manual_sentences(const char *first, const char *more)
{
	printf("\n%c", toupper((unsigned char)first[0]));
	manual_text(first + 1);
	fputs(more[0] ? ". " : ".", stdout);
	manual_text(more);
	putchar('\n');
}

static void manual_option(const struct option_row *row)
{
	fputs(".TP\n\\fB", stdout);
	if (row->letter)
		printf("\\-%c, ", row->letter);
	fputs("\\-\\-", stdout);
	manual_text(row->name);
	printf("\\fR \\fI%s\\fR", row->value ? row->value : "");
	manual_sentences(row->help, row->more);
}

void print_manual(const struct command *commands)
{
	puts(".SH COMMANDS");
	for (const struct command *c = commands; c->name; c++) {
		printf(".TP\n\\fB%s\\fR %s", c->name, c->words);
		manual_sentences(c->summary, c->help);
	}
	puts(".SH OPTIONS");
	for (size_t i = 0; i < N_ROWS; i++) {
		char *list = NULL;

		for (const struct command *c = commands; c->name; c++)
			if (takes(c, &rows[i]))
				list = must_list(list, c->name);
		if (i == 0 || rows[i].group != rows[i - 1].group)
			printf("%sOf %s:\n", i ? ".PP\n" : "",
			       rows[i].group == EVERY ? "every command" : list);
		free(list);
		manual_option(&rows[i]);
	}
}
