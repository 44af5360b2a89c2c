/* SPDX-License-Identifier: BSD-3-Clause */
/* What the commands of `uncore` share. Only uncore.h is used of the library. */
#ifndef UNC_TOOL_H
#define UNC_TOOL_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#include "uncore.h"

enum { EXIT_BAD_INPUT = 2 };
enum { BY_SIGNAL = 128 }; /* exit status after signal N: 128 + N, as in a shell */
enum { ARGS_OK = -1 };    /* else the exit status */

/* ---- commands and options */

/* Which options a command takes; each takes those of EVERY. */
enum group {
	EVERY = 0,
	REPORT = 1,
	CPU = 2,
	COUNT = 4,
	MACHINE = 8,
	RELEASE = 16,
	WATCH = 32,
	VALUES = 64,
	VERIFY = 128,
	RAW = 256,
	TRAFFIC = 512
};

/* What -e, -m and -g ask for, in the order given. */
struct wish {
	bool group; /* else events and metrics */
	const char *list;
};

/* The options and words of a command. */
struct args {
	bool json, verbose, raw;
	const char *cpu;
	const char *access; /* methods, NULL: the library's choice */

	bool per_socket, per_unit, per_node, per_device, json_lines;
	bool force, values;
	const char *interval, *duration, *repeat, *number;
	const char *separator;     /* NULL: text for people, or JSON */
	const char *output;        /* file; NULL: stdout */
	const char *device;        /* of verify and traffic: a disk; NULL: none */
	const char *traffic;       /* of verify: the program that moves bytes; NULL: our own */
	const char *from, *memory; /* of traffic: NUMA nodes */
	bool writes, wait;
	struct wish *wish;
	size_t wishes;

	char **word; /* behind the options; NULL behind the last */
	size_t words;
};

/* What a command works on. */
enum opens {
	OPEN_NOTHING, /* the command opens itself what it needs */
	OPEN_TABLES,  /* of the CPU that -c names, without access to a machine; else this machine */
	OPEN_TABLES_ALONE, /* ... the tables without -c as well: the same on all machines */
	OPEN_ANY_TABLES,   /* tables of any CPU: the command lists them */
	OPEN_MACHINE,
	OPEN_NODE /* the machine; says if other sessions or some units are not known */
};

struct command {
	const char *name;
	/* Returns the exit status. */
	int (*run)(struct unc_platform *, const struct args *);
	enum opens opens;
	unsigned groups;
	size_t min, max;     /* words behind the options */
	bool runs_command;   /* these words are a command with options of its own */
	const char *words;   /* their names */
	const char *summary; /* one line for the list of commands */
	const char *help;
};

int cmd_cpus(struct unc_platform *, const struct args *);
int cmd_list(struct unc_platform *, const struct args *);
/* list_raw.c: the same for the scripts of completion. */
int list_raw(struct unc_platform *, const struct args *);
int cmd_units(struct unc_platform *, const struct args *);
int cmd_encode(struct unc_platform *, const struct args *);
int cmd_decode(struct unc_platform *, const struct args *);
int cmd_registers(struct unc_platform *, const struct args *);
int cmd_metrics(struct unc_platform *, const struct args *);
int cmd_eval(struct unc_platform *, const struct args *);
int cmd_stat(struct unc_platform *, const struct args *);
int cmd_top(struct unc_platform *, const struct args *);
int cmd_groups(struct unc_platform *, const struct args *);
int cmd_counters(struct unc_platform *, const struct args *);
int cmd_release(struct unc_platform *, const struct args *);
int cmd_traffic(struct unc_platform *, const struct args *);
int cmd_verify(struct unc_platform *, const struct args *);
int cmd_doctor(struct unc_platform *, const struct args *);
int cmd_gather(struct unc_platform *, const struct args *);

/* options.c: runs a command, whose name is argv[0]. Returns the exit status. */
int command_run(const struct command *, int argc, char **argv);
/* Its help, which `-h` prints too. */
void command_help(const struct command *);

/* ---- errors: one line on stderr; the result is the exit status */

int complain(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));
#define bad_input(...) complain(EXIT_BAD_INPUT, __VA_ARGS__)
#define failure(...) complain(EXIT_FAILURE, __VA_ARGS__)
/* No error: a line that the user should see. */
#define remark(...) complain(EXIT_SUCCESS, __VA_ARGS__)
/* The exit status for a result of the library; prints the sentence of an error (below 0). */
int library_error(int rc, const char *sentence);
/* Seconds of the monotonic clock. */
double now(void);
/* Sleeps for so many seconds; a signal ends the sleep. */
void pause_for(double seconds);
/* Ends the command: a report that could not be written is a failure. */
int finish(int status);

/* The value of an option: a number of `what` from 1, in decimal digits. ARGS_OK, or the exit
 * status. */
int whole_number(const char *command, const char *option, const char *what, const char *text,
		 uint64_t *out);
/* The same of a time from `least` to 1e9, to seconds. It is written as a number of `per` in a second
 * (1 or 1000), or with s or ms behind it. */
int time_between(const char *command, const char *option, double per, const char *text,
		 double least, double *out);

/* ---- memory: if there is none left, the program ends */

/* New memory (old is NULL) is zeroed. */
void *must_alloc(void *old, size_t n, size_t size);
/* Room for one more behind n elements of an array that is grown with nothing else. */
void *must_grow(void *array, size_t n, size_t size);
char *must_print(const char *format, ...) __attribute__((format(printf, 1, 2)));
char *must_format(const char *format, va_list) __attribute__((format(printf, 1, 0)));
/* `text` (NULL: "") and more behind it, in its place. */
char *must_add(char *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The next word of a list: "a, b, c". */
char *must_list(char *list, const char *word);

/* ---- the library */

/* Opens what a command works on. ARGS_OK, or the exit status after the sentence has been
 * printed. */
int open_platform(const struct args *, enum opens, struct unc_platform **out);
/* Opens a group of which at least one item can be counted. Prints on stderr what this machine lacks of
 * it; with verbose what its CPU lacks, too. 0, or the exit status. */
int open_group(struct unc_platform *, const char *name, bool verbose, const struct unc_group **out);

#endif
