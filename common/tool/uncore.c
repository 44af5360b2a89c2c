/* SPDX-License-Identifier: BSD-3-Clause */
/* The command `uncore`. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tool.h"

static int cmd_help(int argc, char **argv);
static int cmd_version(int argc, char **argv);

#define TABLES "  --tables DIR  event tables of a folder, on hardware too (see 'man uncore')\n"
#define COMMON "  -j      JSON\n  -v      notes of the library on stderr\n" TABLES
#define WITH_CPU "  -c CPU  tables of this CPU; without it, of the CPU of this machine\n" COMMON

static const struct command commands[] = {
	{"cpus", cmd_cpus, "CPUs that the library knows", "[-j]", COMMON},
	{"list", cmd_list, "events that can be counted", "[-c CPU] [-j] [PATTERN]",
	 "PATTERN: a part of the name, or a pattern with * ? [] for the whole name; in any case.\n"
	 "With -v, codes and control values too.\n\n" WITH_CPU},
	{"encode", cmd_encode, "what an event is in registers", "[-c CPU] [-j] EVENT",
	 "EVENT: [type[index].]EVENT[:UMASK]...[:field=value]...[:socket=N]\n"
	 "\"writes\" is what starts the first unit of the type.\n\n" WITH_CPU},
	{"registers", cmd_registers, "registers of all units of a socket", "[-c CPU] [-j]",
	 WITH_CPU},
	{"units", cmd_units, "units of this machine, and why one cannot be read", "[-c CPU] [-j]",
	 "  -c CPU  the units that a socket with this CPU may have\n" COMMON},
	{"metrics", cmd_metrics, "derived metrics", "[-c CPU] [-j] [PATTERN]",
	 "PATTERN: as for list. With -v, formulas and the events they need too.\n\n" WITH_CPU},
	{"eval", cmd_eval, "compute a metric from counts", "[-c CPU] [-j] METRIC EVENT=COUNT...",
	 "EVENT may be TIME (seconds), TSC (ticks) or TSC_HZ, too.\n\n" WITH_CPU},
	{"decode", cmd_decode, "the event and the fields in register values",
	 "[-c CPU] [-j] UNIT REGISTER=VALUE...",
	 "UNIT is a unit type, REGISTER one of its registers; CTL is the control of any "
	 "counter.\n\n" WITH_CPU},
	{"stat", cmd_stat, "count events and metrics",
	 "[-e EVENT,..] [-m METRIC,..] [-I MS] [-d S] [--every N [--freeze]] [--] [COMMAND ...]",
	 "Counts while COMMAND runs, for S seconds, or until Ctrl-C; without -e and -m, the\n"
	 "bytes read from and written to memory.\n\n"
	 "  -e EVENT,..     events, as for encode; may be repeated\n"
	 "  -m METRIC,..    metrics, NAME, typeN.NAME, with :socket=N; may be repeated\n"
	 "  -I MS           report every MS milliseconds\n"
	 "  -d S            end after S seconds\n"
	 "  --every N       report whenever the first event has counted N on one of its units\n"
	 "  --freeze        with it: freeze all counters of the socket at that moment\n"
	 "  -x SEP          values separated by SEP, for programs\n"
	 "  -o FILE         write the report to FILE\n"
	 "  --per-socket    each socket by itself\n"
	 "  --per-unit      each unit by itself\n"
	 "  -j              JSON, one object for each report\n"
	 "  -v              notes of the library on stderr\n"
	 "  --tables DIR    event tables of a folder, on hardware too (see 'man uncore')\n\n"
	 "A number that is not whole carries a mark: '7 of 8 units', '33 %' of the time; '-' is\n"
	 "no value, and stderr says why. The exit status is that of COMMAND, if there is one;\n"
	 "1 if another program took a counter away.\n"},
	{"doctor", cmd_doctor, "why counters can or cannot be read here", "[-j]",
	 "Tries what a start needs: one control that nobody uses is rewritten with its own value.\n"
	 "The exit status is 1 if anything needed is missing.\n\n" COMMON},
	{"help", cmd_help, "this, or the help of a command", "[COMMAND]", ""},
	{"version", cmd_version, "version of the library", "", ""},
};

enum { N_COMMANDS = sizeof(commands) / sizeof(commands[0]) };

const struct command *command_find(const char *name)
{
	for (size_t i = 0; i < N_COMMANDS; i++)
		if (strcmp(commands[i].name, name) == 0)
			return &commands[i];
	return NULL;
}

void command_help(const struct command *command)
{
	printf("uncore %s%s%s: %s\n", command->name, command->synopsis[0] ? " " : "",
	       command->synopsis, command->summary);
	if (command->help[0])
		printf("\n%s", command->help);
}

static void usage(void)
{
	puts("uncore COMMAND ...: the performance monitors of an Intel socket outside its cores\n");
	for (size_t i = 0; i < N_COMMANDS; i++)
		printf("  %-10s %s\n", commands[i].name, commands[i].summary);
	puts("\nSee 'uncore help COMMAND'. Try it without the hardware: "
	     "UNCORE_SIM=emerald-rapids uncore stat -d 1");
}

static int unknown(const char *name)
{
	return bad_input("unknown command '%s'; see 'uncore help'", name);
}

static int cmd_help(int argc, char **argv)
{
	if (argc > 2)
		return bad_input("help: one command at a time");
	if (argc < 2) {
		usage();
		return EXIT_SUCCESS;
	}
	const struct command *command = command_find(argv[1]);

	if (!command)
		return unknown(argv[1]);
	command_help(command);
	return EXIT_SUCCESS;
}

static int cmd_version(int argc, char **argv)
{
	if (argc > 1)
		return bad_input("version: unexpected argument '%s'", argv[1]);
	printf("uncore %s\n", unc_version());
	return EXIT_SUCCESS;
}

/* What the caller has closed is opened the wrong way round, so that no other file gets its number
 * and its use fails as before. */
static void occupy_stdio(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF &&
		    open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) < 0)
			exit(EXIT_FAILURE);
}

int main(int argc, char **argv)
{
	const struct command *command;
	const char *name = argc > 1 ? argv[1] : "help";

	occupy_stdio();
	if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
		name = "help";
	if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0)
		name = "version";
	command = command_find(name);
	if (!command)
		return unknown(name);
	if (argc == 1) {
		usage();
		return finish(EXIT_BAD_INPUT);
	}
	opterr = 0;
	return finish(command->run(argc - 1, argv + 1));
}
