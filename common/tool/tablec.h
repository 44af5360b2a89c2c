/* SPDX-License-Identifier: BSD-3-Clause */
/* What the parts of tablec share. */
#ifndef TABLEC_H
#define TABLEC_H

/* Prints each column on a line: FILE STATEMENT COLUMN KIND needed|optional. FILE * is every file. */
void tablec_columns(void);
/* Prints the grammar tables of eventtables/README.md. */
void tablec_grammar(void);

#endif
