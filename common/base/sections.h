/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Files that people write: sections, "[NAME]" or "[NAME ARGUMENT]", and lines "key = value" below
 * each. "#" begins a comment at the beginning of a line and behind a blank. Pure.
 */
#ifndef UNC_SECTIONS_H
#define UNC_SECTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

enum { UNC_SECTION_KEYS = 4, UNC_SECTION_LINES = 256 };

/* A section that a file may have; the row behind the last has no name. */
struct unc_section_rule {
	const char *name;
	bool argument; /* it has one */
	struct unc_section_key {
		const char *name;
		bool needed, often; /* at least once; more than once */
	} key[UNC_SECTION_KEYS];
};

/* A line of the form that the file had before: its first word, and what says the same now. */
struct unc_section_old {
	const char *word, *now;
};

struct unc_setting {
	const char *key, *value;
	unsigned line;
};

struct unc_sections {
	const char *path;
	const char *has; /* "site.conf has [group NAME], [memory]": in sentences */
	const struct unc_section_rule *rules;
	const struct unc_section_old *old; /* the row behind the last has no word */
	char *next;                        /* the text from here on; it is changed */
	unsigned line;
	/* the section that was read; its texts stand in that text */
	const struct unc_section_rule *rule; /* NULL: none that is known */
	bool outside;                        /* it is what stands before the first */
	const char *argument;
	unsigned at; /* the line that a sentence is about */
	struct unc_setting set[UNC_SECTION_LINES];
	size_t n;
};

/* 1: the next section has been read, and has what its rule wants; 0: the end. UNC_ERR_TABLE: the
 * first thing that is wrong with it, with path and line; the next call goes on behind it. */
int unc_section_next(struct unc_sections *, struct unc_error *err);
/* The first value of a key; NULL: the section has none. The next sentence is about its line. */
const char *unc_section_value(struct unc_sections *, const char *key);
/* Puts path and line before a sentence; returns its code. */
int unc_section_wrong(const struct unc_sections *, struct unc_error *err);

#endif
