/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNC_COMPLETION_H
#define UNC_COMPLETION_H

#include "tool.h"

/* The scripts that cmd_completion() prints: common/tool/completion. */
extern const char completion_bash[], completion_zsh[];

/*
 * What the last of n words behind "uncore" could become: a line each, WORD, a tab and what it is.
 * Not by us, but by the shell, complete:
 *   :files, :folders  their names
 *   :command N        a command and its arguments, from word N (from 0) on
 * Never an error: what is not known has no candidates. commands: the last has no name.
 */
void complete(const struct command *commands, size_t n, char *const *words);

#endif
