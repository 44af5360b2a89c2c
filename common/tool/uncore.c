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
	 "Counts while COMMAND runs, for the time given, or until a signal ends it (any but KILL "
	 "puts the counters back first); without -e, -m and -g, the bytes read from and written to "
	 "memory. Beside a COMMAND the report is on stderr. What adds up over time has its rate "
	 "beside it; traffic of memory its share of the peak, where the machine tells that. "
	 "UNCORE_SIM=CPU is a simulated machine. A number that is not whole carries a mark: '7 of "
	 "8 units', '33 %' of the time, 'late', 'unproven'; '-' is no value, never 0, and stderr "
	 "says why. What does not fit into the counters at once is measured in passes, one after "
	 "the other, and scaled to the whole time; a note on stderr says so. An interval in which "
	 "not every pass was measured is not reported, nor is the one after it: some of its "
	 "numbers are of both. The exit status is that of COMMAND, if there is one; 1 if another "
	 "program took a counter away."},
	{"top", cmd_top, OPEN_MACHINE, WATCH | MACHINE, 0, 0, false, "",
	 "live view of sockets, memory channels and devices",
	 "The items of a group ('uncore groups') as lines, as of stat: of each socket; of MEM each "
	 "channel, of PCIE each device, the busiest first. A bar is the share of the peak, or of "
	 "what the busiest line of the item did in the last minute, which stands behind it where "
	 "there is room. Lines without traffic are told in one. Keys: q ends, 1 to 9 are the "
	 "groups, OVERVIEW first; arrows scroll. '-' is no value, '*' goes without some units, "
	 "'?' is not proven to count, '!' is late, '~' is scaled, having been measured in passes: "
	 "the last lines say why. Without a terminal frames come one after the other, as wide as "
	 "COLUMNS says, or 80."},
	{"list", cmd_list, OPEN_TABLES, REPORT | CPU | RAW, 0, SIZE_MAX, false, "[WORD ...]",
	 "list metrics and events, all or those that match the words",
	 "Each WORD must be in the name or the description, whatever its case; one with * ? [] is "
	 "a pattern for the whole name. Metrics come first, those that mean the same on every CPU "
	 "before the CPU's own, then events with a line for each unit mask; of both, what has the "
	 "words in its name first. NAME:.. is an event of which only the description has them: "
	 "'list NAME' shows its masks. NAME:field=.. counts only with a value for that field. With "
	 "-v, formulas, codes and control values too, and what rests on a related CPU's guide "
	 "alone. With -j events alone, and those found by their description only if no name is."},
	{"metrics", cmd_metrics, OPEN_TABLES, REPORT | CPU | MACHINE, 0, SIZE_MAX, false,
	 "[WORD ...]", "list derived metrics, and why one is not available",
	 "WORD: as for list. With -v, formulas and the events they need too."},
	{"groups", cmd_groups, OPEN_TABLES, REPORT | CPU | MACHINE, 0, 1, false, "[GROUP]",
	 "list sets of metrics and events that are measured together",
	 "What this CPU has of each, what is missing and why, and in how many passes it is "
	 "counted: one means all at once. A site adds its own in /etc/libuncore/site.conf."},
	{"doctor", cmd_doctor, OPEN_NOTHING, REPORT | MACHINE, 0, 0, false, "",
	 "check why counters can or cannot be read here, and what to do",
	 "Looks at rights, drivers, lockdown, units that are missing where others of their type "
	 "are there, counters that others use and what they count, what is frozen. Tries what a "
	 "start needs: in each space of registers and on each socket one control of a unit that "
	 "nobody uses is written with the value that is in it. Notes are 'ok'. The exit status is "
	 "1 if anything needed is missing."},
	{"gather", cmd_gather, OPEN_NOTHING, REPORT | MACHINE, 1, 1, false, "FILE",
	 "save a description of this machine to a file, for a bug report",
	 "FILE gets what discovery and doctor read in /proc, /sys and /dev, the devices of PCIe "
	 "stacks, and what the registers of monitors hold; what could not be read is there with "
	 "the reason. It is text, without names of machines, users and programs. "
	 "With UNCORE_SYSROOT=FILE units, doctor, counters, registers --values and decode "
	 "show the recorded machine; nothing counts. It looks as doctor does, and writes what that "
	 "writes."},
	{"verify", cmd_verify, OPEN_NOTHING, REPORT | MACHINE | VERIFY, 0, 0, false, "",
	 "check the counts of this machine against known memory traffic",
	 "For a minute or two 'uncore traffic' reads a known number of bytes, and writes it past "
	 "the "
	 "caches, in the memory of each socket and over the links; monitors are programmed as by "
	 "stat, "
	 "and put back, after Ctrl-C too. Shown are the checks that are not right, with what was "
	 "expected, what was measured, and behind -> what it would mean and which row of the "
	 "tables is "
	 "in doubt, or why it is not judged; of those that are right how many there are, or with "
	 "-v "
	 "all of them. What others move is measured before and after, and taken off. The exit "
	 "status "
	 "is 1 if anything is wrong. A simulated machine is not judged: its rates come from the "
	 "tables."},
	{"traffic", cmd_traffic, OPEN_NOTHING, TRAFFIC, 0, 0, false, "",
	 "move a known number of bytes: reads or writes of memory, or of a disk",
	 "A thread on each core of some NUMA nodes loads from a buffer that is far larger than the "
	 "LLC, or stores past the caches. Printed is 'moved BYTES SECONDS'. The buffer takes a "
	 "tenth "
	 "of the free memory at most."},
	{"cpus", cmd_cpus, OPEN_ANY_TABLES, REPORT, 0, 0, false, "", "list the supported CPUs", ""},
	{"units", cmd_units, OPEN_TABLES, REPORT | CPU | MACHINE, 0, 0, false, "",
	 "list the units of this machine, how they are read, and why one cannot be read",
	 "With -c, the units that a socket with this CPU may have."},
	{"counters", cmd_counters, OPEN_NODE, REPORT | MACHINE, 0, 0, false, "",
	 "list the counters in use, what they count, and who owns them",
	 "OWNER is libuncore (a session that runs, by the journal of the node), orphaned (a "
	 "session "
	 "that was killed; the next one, or 'uncore release', restores what it had found), kernel "
	 "(its driver, for a program with perf events; with the pid where there is only one such "
	 "program) or foreign (neither). SINCE is in UTC. Nothing is written."},
	{"release", cmd_release, OPEN_NODE, REPORT | MACHINE | RELEASE, 0, 0, false, "",
	 "free counters that ended processes left behind",
	 "Restores what they had found, lets units and sockets go on that they have frozen, and "
	 "shows the counters that were in use with what came of each. Counters of the kernel and "
	 "of sessions that run are never touched. The exit status is 1 if something could not be "
	 "freed."},
	{"encode", cmd_encode, OPEN_TABLES_ALONE, REPORT | CPU, 1, 1, false, "EVENT",
	 "show the register values of an event",
	 "EVENT: [type[index].]EVENT[:UMASK]...[:field=value]...[:socket=N]. \"writes\" is what "
	 "starts the first unit of the type; an event that counts only beside another one has a "
	 "note instead."},
	{"decode", cmd_decode, OPEN_TABLES, REPORT | CPU, 2, 17, false, "UNIT REGISTER=VALUE...",
	 "show the event and the fields behind register values",
	 "UNIT is a unit type, REGISTER one of its registers; CTL is the control of any counter. "
	 "One control at a time, with the filters that it depends on. Bits that read back as 0 "
	 "need not be as they were written."},
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
