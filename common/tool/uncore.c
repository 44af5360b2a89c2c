/* SPDX-License-Identifier: BSD-3-Clause */
/* The command `uncore`. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/nearest.h"
#include "record.h"
#include "tool.h"

static int cmd_help(struct unc_platform *, const struct args *);
static int cmd_version(struct unc_platform *, const struct args *);

static const struct command commands[] = {
	{"stat", cmd_stat, OPEN_NOTHING, REPORT | COUNT | MACHINE, 0, SIZE_MAX, true,
	 "[--] [COMMAND ...]", "count events and metrics",
	 "Counts while COMMAND runs, for the time given, or until a signal ends it. Any signal "
	 "but KILL restores the counters first. Without -e, -m and -g, stat counts the bytes "
	 "read from and written to memory. With a COMMAND, the report is on stderr. A total has "
	 "its rate beside it. Memory traffic has its share of the peak, if the machine tells the "
	 "peak. UNCORE_SIM=CPU is a simulated machine. A number that is not whole carries a "
	 "mark: '7 of 8 units', '33 %' of the time, 'late', 'unproven'. The mark '-' is no "
	 "value, never 0, and stderr says why. Events that do not fit into the counters at once "
	 "are measured in passes and scaled to the whole time; a note on stderr says so. An "
	 "interval in which a pass was not measured is not reported. Nor is the next interval, "
	 "because some of its numbers belong to both. The exit status is that of COMMAND, if "
	 "there is one; 1 if another program took a counter away."},
	{"top", cmd_top, OPEN_MACHINE, WATCH | MACHINE, 0, 0, false, "",
	 "live view of sockets, memory channels and devices",
	 "Shows the items of a group ('uncore groups') as lines, as stat does: each socket, each "
	 "channel for MEM, each device for PCIE, the busiest first. A bar is the share of the "
	 "peak, or of the maximum of the item's busiest line in the last minute. If there is "
	 "room, the last minute stands behind the bar. One line stands for all lines without "
	 "traffic. Keys: q ends, 1 to 9 select the groups, OVERVIEW first; arrows scroll. Marks: "
	 "'-' is no value, '*' lacks some units, '?' is unproven, '!' is late, '~' is measured "
	 "in passes and scaled. The last lines say why. Without a terminal, the frames follow "
	 "each other, as wide as COLUMNS says, or 80."},
	{"list", cmd_list, OPEN_TABLES, REPORT | CPU | RAW, 0, SIZE_MAX, false, "[WORD ...]",
	 "list metrics and events, all or those that match the words",
	 "Each WORD must be in the name or the description, in any case. A WORD with * ? [] is a "
	 "pattern for the whole name. Metrics come first: those that mean the same on every CPU "
	 "before the CPU's own. Events follow, with a line for each umask. Among metrics and "
	 "among events, those with the words in the name come first. NAME:.. is an event with "
	 "the words in its description alone: 'list NAME' shows its umasks. NAME:field=.. counts "
	 "only with a value for that field. With -v, list also shows formulas, codes and control "
	 "values, and which rows rest on a related CPU's guide alone. With -j, it lists events "
	 "alone, and uses the description only if no name matches."},
	{"metrics", cmd_metrics, OPEN_TABLES, REPORT | CPU | MACHINE, 0, SIZE_MAX, false,
	 "[WORD ...]", "list derived metrics, and why one is not available",
	 "WORD: as for list. With -v, it also shows formulas and the events that they need."},
	{"groups", cmd_groups, OPEN_TABLES, REPORT | CPU | MACHINE, 0, 1, false, "[GROUP]",
	 "list sets of metrics and events that are measured together",
	 "Shows the items of each group that this CPU has, the missing items with the reason, "
	 "and the number of passes. One pass means that all are counted at once. A site adds its "
	 "own groups in /etc/libuncore/site.conf."},
	{"doctor", cmd_doctor, OPEN_NOTHING, REPORT | MACHINE, 0, 0, false, "",
	 "check why counters can or cannot be read here, and what to do",
	 "Checks rights, drivers and lockdown. Looks for units that are missing although others "
	 "of their type are there, counters that others use and what they count, and frozen "
	 "units. Tries the writes that a start needs: in each register space and on each socket, "
	 "it writes one control of an unused unit with the value that the control has. Notes are "
	 "'ok'. The exit status is 1 if anything needed is missing."},
	{"gather", cmd_gather, OPEN_NOTHING, REPORT | MACHINE, 1, 1, false, "FILE",
	 "save a description of this machine to a file, for a bug report",
	 "FILE gets what discovery and doctor read in /proc, /sys and /dev, the devices of PCIe "
	 "stacks, and the registers of the monitors. If something could not be read, FILE has "
	 "the reason. FILE is text, without names of machines, users and programs. With "
	 "UNCORE_SYSROOT=FILE, the commands units, doctor, counters, registers --values and "
	 "decode show the recorded machine; nothing counts. gather checks as doctor does, and "
	 "writes the same registers."},
	{"verify", cmd_verify, OPEN_NOTHING, REPORT | MACHINE | VERIFY, 0, 0, false, "",
	 "check the counts of this machine against known memory traffic",
	 "For a minute or two, 'uncore traffic' reads a known number of bytes, and writes it "
	 "past the caches, in the memory of each socket and over the links. Monitors are "
	 "programmed as by stat, and restored, after Ctrl-C too. The report shows the checks "
	 "that are not right, with the expected and the measured number. The text behind -> says "
	 "what the result would mean and which row of the tables is in doubt, or why the check "
	 "is not judged. The checks that are right are counted, or listed with -v. The traffic "
	 "of other programs is measured before and after, and subtracted. The exit status is 1 "
	 "if anything is wrong. A simulated machine is not judged, because its rates come from "
	 "the tables."},
	{"traffic", cmd_traffic, OPEN_NOTHING, TRAFFIC, 0, 0, false, "",
	 "move a known number of bytes: reads or writes of memory, or of a disk",
	 "A thread on each core of some NUMA nodes loads from a buffer that is far larger than "
	 "the LLC, or stores past the caches. It prints 'moved BYTES SECONDS'. The buffer takes "
	 "at most a tenth of the free memory."},
	{"cpus", cmd_cpus, OPEN_ANY_TABLES, REPORT, 0, 0, false, "", "list the supported CPUs", ""},
	{"units", cmd_units, OPEN_TABLES, REPORT | CPU | MACHINE, 0, 0, false, "",
	 "list the units of this machine, how they are read, and why one cannot be read",
	 "With -c, it lists the units that a socket with this CPU may have."},
	{"counters", cmd_counters, OPEN_NODE, REPORT | MACHINE, 0, 0, false, "",
	 "list the counters in use, what they count, and who owns them",
	 "OWNER is libuncore, orphaned, kernel or foreign. libuncore is a running session in the "
	 "journal of the node. orphaned is a session that was killed; the next session, or "
	 "'uncore release', restores what it had found. kernel is the kernel's driver, for a "
	 "program with perf events; the pid is shown if there is only one such program. foreign "
	 "is none of these. SINCE is in UTC. Nothing is written."},
	{"release", cmd_release, OPEN_NODE, REPORT | MACHINE | RELEASE, 0, 0, false, "",
	 "free counters that ended processes left behind",
	 "Restores what the ended processes had found, and unfreezes the units and sockets that "
	 "they froze. Shows the counters that were in use, and the result for each. Counters of "
	 "the kernel and of running sessions are never touched. The exit status is 1 if "
	 "something could not be freed."},
	{"encode", cmd_encode, OPEN_TABLES_ALONE, REPORT | CPU, 1, 1, false, "EVENT",
	 "show the register values of an event",
	 "EVENT: [type[index].]EVENT[:UMASK]...[:field=value]...[:socket=N]. The \"writes\" "
	 "start the first unit of the type. An event that counts only beside another one has a "
	 "note instead."},
	{"decode", cmd_decode, OPEN_TABLES, REPORT | CPU, 2, 17, false, "UNIT REGISTER=VALUE...",
	 "show the event and the fields behind register values",
	 "UNIT is a unit type, and REGISTER is one of its registers; CTL is the control of any "
	 "counter. Give one control at a time, with the filters that it depends on. Bits that "
	 "read back as 0 may have been written differently."},
	{"eval", cmd_eval, OPEN_TABLES, REPORT | CPU, 1, SIZE_MAX, false, "METRIC EVENT=COUNT...",
	 "compute a metric from the counts of its events",
	 "EVENT: also TIME (s), TSC (ticks), TSC_HZ, MEMORY_PEAK."},
	{"registers", cmd_registers, OPEN_TABLES, REPORT | CPU | VALUES, 0, 0, false, "",
	 "list the monitor registers of all units of a socket", ""},
	{"help", cmd_help, OPEN_NOTHING, 0, 0, 1, false, "[COMMAND]",
	 "show this list, or the help of a command", ""},
	{"version", cmd_version, OPEN_NOTHING, 0, 0, 0, false, "",
	 "show the version, and where to report problems", ""},
	{.name = NULL},
};

/* NULL if there is no such command. */
static const struct command *command_find(const char *name)
{
	for (const struct command *c = commands; c->name; c++)
		if (strcmp(c->name, name) == 0)
			return c;
	return NULL;
}

/* What a newcomer wants comes first. */
static void usage(void)
{
	fold(stdout,
	     "uncore: measures what an Intel server CPU does outside its cores: memory, last level "
	     "cache, links between sockets, PCIe",
	     0, 0);
	puts("\n"
	     "  uncore stat                   memory traffic of this node, until Ctrl-C\n"
	     "  uncore stat -g MEM -- ./app   memory traffic and latency while ./app runs\n"
	     "  uncore top                    live view of sockets and memory channels\n"
	     "  uncore list memory            metrics and events about memory\n"
	     "  uncore doctor                 why counters cannot be read here, and what to do\n\n"
	     "Without the hardware: UNCORE_SIM=emerald-rapids uncore top\n\n"
	     "Commands ('uncore help COMMAND' explains one):\n");
	for (const struct command *c = commands; c->name; c++)
		fold(stdout, c->summary, (size_t)printf("  %-10s ", c->name), 13);
	puts("\nReport problems to " UNC_REPORT_TO ".");
}

static int unknown(const char *name)
{
	struct unc_nearest nearest = {.wanted = name};
	char near[UNC_NEAR_MAX + 16];

	for (const struct command *c = commands; c->name; c++)
		unc_nearest_try_short(&nearest, c->name);
	return bad_input("unknown command '%s'%s; see 'uncore help'", name,
			 unc_nearest_text(&nearest, near, sizeof(near)));
}

static int cmd_help(struct unc_platform *none, const struct args *args)
{
	const struct command *command = args->words ? command_find(args->word[0]) : NULL;

	(void)none;
	if (args->words && !command)
		return unknown(args->word[0]);
	if (command)
		command_help(command);
	else
		usage();
	return EXIT_SUCCESS;
}

static int cmd_version(struct unc_platform *none, const struct args *args)
{
	(void)none;
	(void)args;
	printf("uncore %s\nReport problems to %s.\n", unc_version(), UNC_REPORT_TO);
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
	return command_run(command, argc - 1, argv + 1);
}
