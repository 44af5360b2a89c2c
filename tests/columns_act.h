/* SPDX-License-Identifier: BSD-3-Clause */
/* What a row of columns.cases does with a CPU, in words: the verbs are in columns_act.c. */
#ifndef UNC_TEST_COLUMNS_ACT_H
#define UNC_TEST_COLUMNS_ACT_H

#include <stddef.h>

/*
 * Does `action` (commands, " & " between them) with the CPU `machine` ("NAME[,option=value].."), by
 * the tables in the folder `tables` ("": built-in), and writes what came out into buf.
 * "tables: SENTENCE" where the tables are refused, "refused: SENTENCE" where a command is, and that
 * is the last one then.
 */
void columns_act(const char *machine, const char *tables, const char *action, char *buf,
		 size_t size);

#endif
