/* SPDX-License-Identifier: BSD-3-Clause */
/* What the parser, the help, the manual and the completion say of options is in one table. */
#ifndef UNC_OPTIONS_H
#define UNC_OPTIONS_H

#include "tool.h"

struct option_row {
	enum group group;
	char letter; /* 0: none */
	const char *name;
	const char *value; /* what its value is; NULL: it has none */
	size_t at;         /* where in struct args: a bool, or a text; of -e, -m and -g: nowhere */
	const char *help;
	const char *more; /* sentences of the manual behind it; "" if there are none */
};

/* The option behind `last` (NULL: the first) that a command takes; NULL: there is none. */
const struct option_row *option_next(const struct command *, const struct option_row *last);
/* What getopt_long() gives for the words of a command, and in *row the option that it is about; NULL:
 * of none. */
int option_read(const struct command *, int argc, char **argv, const struct option_row **row);
/* Notes an option, and its value if it has one. */
void option_take(struct args *, const struct option_row *, const char *value);

/* ---- completion.c */

/* The scripts that cmd_completion() prints: common/tool/completion. */
extern const char completion_bash[], completion_zsh[];

/*
 * What the last of n words behind "uncore" could become: a line each, WORD, a tab and what it is.
 * Not by us, but by the shell, complete:
 *   :files, :folders  their names
 *   :command N        a command and its arguments, from word N (from 0) on
 * Never an error: what is not known has no candidates. commands: the last has no name.
 */
void complete(const struct command *commands, size_t n, char **words);

#endif
