/* SPDX-License-Identifier: BSD-3-Clause */
/* What the commands of `uncore` share. Only uncore.h is used of the library. */
#ifndef UNC_TOOL_H
#define UNC_TOOL_H

#include <getopt.h>
#include <stdbool.h>
#include <stddef.h>

#include "uncore.h"

enum { EXIT_BAD_INPUT = 2 };

/* A command: its arguments follow argv[0], which is its name. Returns the exit status. */
struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *summary;  /* one line for the list of commands */
	const char *synopsis; /* behind "uncore NAME" */
	const char *help;
};

int cmd_cpus(int argc, char **argv);
int cmd_list(int argc, char **argv);
int cmd_units(int argc, char **argv);
int cmd_encode(int argc, char **argv);
int cmd_decode(int argc, char **argv);
int cmd_registers(int argc, char **argv);
int cmd_metrics(int argc, char **argv);
int cmd_eval(int argc, char **argv);
int cmd_stat(int argc, char **argv);
int cmd_doctor(int argc, char **argv);

/* NULL if there is no such command. */
const struct command *command_find(const char *name);
void command_help(const struct command *);

/* ---- errors: one line on stderr; the result is the exit status */

int bad_input(const char *format, ...) __attribute__((format(printf, 1, 2)));
int failure(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* No error: a line that the user should see. */
void remark(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* An error of the library, with its sentence. */
int library_error(int error, const char *sentence);
/* Ends the command: a report that could not be written is a failure. */
int finish(int status);

/* Out of memory ends the program. */
void *must_alloc(void *old, size_t n, size_t size);
char *must_print(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* ---- options */

struct args {
	bool json;
	bool verbose;
	const char *cpu;
	const char *tables; /* folder, NULL: the library's choice */
};

enum { ARGS_TABLES = 256 }; /* an option without a letter */
enum { ARGS_OK = -1 }; /* else the exit status */

/*
 * Parses the options that all commands know (-j -v -h --tables; -c if `with_cpu`) and moves the
 * others behind them to argv[optind]. Between `min` and `max` of these must be there.
 */
int args_parse(struct args *, int argc, char **argv, bool with_cpu, int min, int max);
/* For option `opt` of getopt_long(): one that is common, or an error. ARGS_OK to go on. */
int args_option(struct args *, int opt, char **argv);
#define ARGS_SHORT ":jvhc:"
/* clang-format off */
#define ARGS_LONG                                                                                  \
	{"json", no_argument, NULL, 'j'}, {"verbose", no_argument, NULL, 'v'},                     \
	{"help", no_argument, NULL, 'h'}, {"cpu", required_argument, NULL, 'c'},                   \
	{"tables", required_argument, NULL, ARGS_TABLES}
/* clang-format on */

/* ---- the library */

/*
 * Opens the tables of the CPU that -c names, without access to any machine; without -c,
 * the machine. ARGS_OK, or the exit status after the sentence has been printed.
 */
int open_tables(const struct args *, struct unc_platform **out);
/* Opens the machine. */
int open_machine(const struct args *, struct unc_platform **out);
/* The line that says that nothing here is measured; none if the platform is real. */
void print_label(const struct unc_platform *);
/* Index of a metric by name, without regard to case; UNC_ERR_NOT_FOUND. */
int find_metric(const struct unc_platform *, const char *name, size_t *index);
/* A part of the name or, with * ? [], a pattern for all of it; NULL matches every name. */
bool name_matches(const char *pattern, const char *name);

/* ---- pieces of JSON that several commands have */

struct json;
/* "counters" and "counter" (the fixed or free-running one) */
void json_counters(struct json *, const struct unc_encoding *);
/* "filters": empty if their values are not determined */
void json_filters(struct json *, const struct unc_encoding *, bool determined);

#endif
