/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A parser for files that people write: sections "[NAME]" or "[NAME ARGUMENT]" with lines
 * "key = value". "#" begins a comment at the start of a line and after a blank. Pure.
 */
#ifndef UNC_SECTIONS_H
#define UNC_SECTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

enum { UNC_SECTION_KEYS = 4, UNC_SECTION_LINES = 256 };

/* A section that a file may have; a row without a name ends the list. */
struct unc_section_rule {
	const char *name;
	bool argument; /* the section needs one */
	struct unc_section_key {
		const char *name;
		bool needed, often; /* the key is required; it may be repeated */
	} key[UNC_SECTION_KEYS];
};

/* A line of an older form of the file: its first word, and the section that replaces it. */
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
	const struct unc_section_old *old; /* a row without a word ends the list */
	char *next;                        /* the rest of the text; parsing changes it */
	unsigned line;
	/* the current section; its strings point into the text */
	const struct unc_section_rule *rule; /* NULL: the section is not known */
	bool outside;                        /* the line stands before the first section */
	const char *argument;
	unsigned at; /* the line that an error is about */
	struct unc_setting set[UNC_SECTION_LINES];
	size_t n;
};

/* Reads the next section. 1: it obeys its rule; 0: the end of the text. UNC_ERR_TABLE: the first fault
 * of the section, with path and line; the next call continues after that section. */
int unc_section_next(struct unc_sections *, struct unc_error *err);
/* Returns the first value of a key; NULL: none. The next unc_section_wrong() names the line of that value. */
const char *unc_section_value(struct unc_sections *, const char *key);
/* Puts path and line before the sentence in err; returns UNC_ERR_TABLE. */
int unc_section_wrong(const struct unc_sections *, struct unc_error *err);

#endif
