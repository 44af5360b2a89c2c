/* SPDX-License-Identifier: BSD-3-Clause */
/* The state of a row of columns.cases, and the verbs of columns_list.c: all say in `out` what came out. */
#ifndef UNC_TEST_COLUMNS_WORLD_H
#define UNC_TEST_COLUMNS_WORLD_H

#include "base/text.h"
#include "columns_files.h"
#include "platform/platform.h"

enum { MAX_SESSIONS = 4, MAX_WORDS = 8 };

struct world {
	struct unc_platform *p;
	struct unc_session *session[MAX_SESSIONS]; /* the last one is worked with */
	size_t n_sessions, n_items;
	struct fake_root root; /* of a machine of files */
	const char *tables;
	bool failed;
	struct unc_buf out;
	char note[256];        /* the last one when the machine was opened */
	char *word[MAX_WORDS]; /* of the command; "" beyond them */
};

void world_refuse(struct world *, const char *sentence);
void world_blank(struct world *);
void world_say_word(struct world *, const char *word);
void world_say_number(struct world *, const char *name, uint64_t value);

void world_encode(struct world *);
void world_kernel(struct world *);
void world_decode(struct world *);
void world_fields(struct world *);
void world_register(struct world *);
void world_type(struct world *);
void world_event(struct world *);
void world_metric(struct world *);
void world_eval(struct world *);
void world_cpu(struct world *);
void world_name(struct world *);
void world_open(struct world *);

#endif
