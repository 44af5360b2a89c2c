/* SPDX-License-Identifier: BSD-3-Clause */
/* The table reader: a line becomes a struct, by the rows of table_columns.inc. */
#include <stdio.h>
#include <string.h>

#include "base/nearest.h"
#include "reader/table_build.h"

#define F(name, value, text) name = value,
enum {
#include "reader/table_columns.inc"
};

#define K(kind, value, want) kind,
enum kind {
#include "reader/table_columns.inc"
};

#define K(kind, value, want) want,
static const char wants[][32] = {
#include "reader/table_columns.inc"
};

#define W(list, words) WORDS_##list,
enum {
#include "reader/table_columns.inc"
};

#define W(list, words) words,
static const char word_lists[][180] = {
#include "reader/table_columns.inc"
};

#define S(file, name, flags, end, help) NUMBER_##file##_##name,
enum {
#include "reader/table_columns.inc"
	N_STATEMENTS
};

/* A statement, or one of the columns behind it. */
static const struct row {
	char name[18];
	uint8_t kind, flags;
	uint8_t size; /* of the member */
	int8_t fallback;
	uint16_t offset; /* in struct unc_words */
	uint64_t limit;  /* of a statement: its number */
	uint8_t file;    /* of a statement */
} rows[] = {
#define S(file, name, flags, end, help)                                                            \
	{#name, STATEMENT, flags, 0, 0, 0, NUMBER_##file##_##name, UNC_FILE_##file},
#define C(kind, name, member, flags, limit, fallback, help)                                        \
	{name,     kind,                                                                           \
	 flags,    sizeof(((struct unc_words *)0)->member),                                        \
	 fallback, offsetof(struct unc_words, member),                                             \
	 limit,    0},
#define R(kind, name, flags, help) {name, kind, flags, 0, 0, 0, 0, 0},
#include "reader/table_columns.inc"
};

static const struct row *const rows_end = rows + sizeof(rows) / sizeof(rows[0]);

/* ---- sentences */

static const char *statement_of(const struct row *c)
{
	while (c->kind != STATEMENT)
		c--;
	return c->name;
}

/* "key=value", or "statement 'value'" of a word in a place. */
static const char *said(const struct row *c, const char *text, char buf[256])
{
	if (c->name[0] >= 'a')
		snprintf(buf, 256, "%s=%s", c->name, text);
	else
		snprintf(buf, 256, "%s '%s'", statement_of(c), text);
	return buf;
}

static int bad(struct unc_table_reader *r, const struct row *c, const char *text, const char *want)
{
	char buf[256];

	return unc_bad(r, "%s is not %s", said(c, text, buf), want);
}

static int missing(struct unc_table_reader *r, const struct row *c)
{
	if (c->name[0] >= 'a')
		return unc_bad(r, "%s= is missing", c->name);
	return unc_bad(r, "%s: %s is missing", statement_of(c), c->name);
}

/* ---- values */

static void store(struct unc_table_reader *r, const struct row *c, uint64_t value)
{
	void *at = (char *)&r->w + c->offset;

	if (c->size == 1)
		*(uint8_t *)at = (uint8_t)value;
	else if (c->size == 2)
		*(uint16_t *)at = (uint16_t)value;
	else if (c->size == 4)
		*(uint32_t *)at = (uint32_t)value;
	else
		*(uint64_t *)at = value;
}

static int choice(struct unc_table_reader *r, const struct row *c, const char *text)
{
	const char *list = word_lists[c->limit];
	size_t length = strlen(text);
	uint64_t value = (uint64_t)c->fallback;
	char want[256];
	struct unc_buf buf = UNC_BUF(want);

	for (const char *p = list; *p; value++) {
		size_t n = strcspn(p, " ");

		if (n == length && strncmp(p, text, n) == 0) {
			store(r, c, value);
			return 0;
		}
		unc_put(&buf, "%s%.*s", p == list ? "" : p[n] ? ", " : " or ", (int)n, p);
		p += n + (p[n] == ' ');
	}
	return bad(r, c, text, want);
}

static int counters(struct unc_table_reader *r, const struct row *c, const char *text)
{
	const struct unc_tbl_type *type = unc_current_type(r);
	const char *name = unc_tbl_str(&r->t, type->name);
	uint64_t mask;
	char buf[256];

	if (unc_parse_mask(text, &mask) && !(mask & ~(uint64_t)unc_type_counters(type))) {
		store(r, c, mask);
		return 0;
	}
	if (type->n_counters == 0)
		return unc_bad(r, "%s: %s has no programmable counters", said(c, text, buf), name);
	return unc_bad(r, "%s: %s has counters %d-%d", said(c, text, buf), name, type->first,
		       type->first + type->n_counters - 1);
}

/* The number that a text stands for, or that of the row with this name; false: there is none. */
static bool value_of(struct unc_table_reader *r, const struct row *c, const char *text,
		     uint64_t *value)
{
	static const struct unc_tbl_type none = {0};
	const struct unc_tbl_type *type = r->type == UNC_NONE ? &none : unc_current_type(r);
	const struct unc_range bars = {0, (uint16_t)r->t.n_bar};
	unsigned high, low;
	bool right;

	switch (c->kind) {
	case NUMBER:
		return unc_parse_number(text, value);
	case OFFSET:
		right = unc_parse_number(text + (text[0] == '-'), value) && *value <= INT32_MAX;
		*value = text[0] == '-' ? 0 - *value : *value;
		return right;
	case TEXT:
		*value = unc_add_string(r, text);
		return true;
	case MASK:
		return unc_parse_mask(text, value) && (!c->limit || *value <= c->limit);
	case BITS:
		right = unc_parse_bits(text, &high, &low) && high <= 31;
		*value = right ? unc_ones(high + 1) & ~unc_ones(low) : 0;
		return right;
	case DEVICE:
		return unc_parse_devfn(text, value);
	case FIELD:
		*value = unc_find_field(&r->t, type, text);
		break;
	case REG:
		*value = unc_find_reg(&r->t, type, text);
		break;
	case COUNTER:
		*value = UNC_FIND(&r->t, counter, type->counters, text);
		break;
	case UNIT:
		*value = unc_find_type(&r->t, text);
		break;
	case PART:
		*value = UNC_FIND(&r->t, part, type->parts, text);
		break;
	default:
		*value = UNC_FIND(&r->t, bar, bars, text);
	}
	return *value != UNC_NONE;
}

/* ---- columns */

/* A column of one number. */
static int take_value(struct unc_table_reader *r, const struct row *c, const char *text)
{
	uint64_t value = 0, max = c->limit ? c->limit : unc_ones(8u * c->size);
	char buf[256];

	if (!value_of(r, c, text, &value)) {
		if (c->kind == COUNTER)
			return unc_bad(r, "counter=%s: %s has no such counter", text,
				       unc_type_name(&r->t, r->type));
		return bad(r, c, text,
			   c->kind == MASK && c->limit ? "a list of numbers up to 7"
						       : wants[c->kind]);
	}
	if (c->kind == NUMBER && value > max)
		return unc_bad(r, "%s is larger than 0x%llx", said(c, text, buf),
			       (unsigned long long)max);
	if (c->kind == NUMBER && !value && (c->flags & POSITIVE))
		return unc_bad(r, "%s= must not be 0", c->name);
	if (c->kind == PART)
		value -= unc_current_type(r)->parts.first;
	store(r, c, value + ((c->flags & PLUS1) != 0));
	return 0;
}

static int take_column(struct unc_table_reader *r, const struct row *c, const char *text)
{
	void *member = (char *)&r->w + c->offset;

	switch (c->kind) {
	case RAW:
	case WORD:
		return 0;
	case REAL:
		return unc_parse_double(text, member) && *(double *)member > 0
			       ? 0
			       : bad(r, c, text, wants[REAL]);
	case SET:
		return unc_parse_set(text, member) ? 0 : bad(r, c, text, wants[SET]);
	case FIELDS:
	case SETTINGS:
		return unc_add_list(r, c->name, text, c->kind == SETTINGS, member);
	case CHOICE:
		return choice(r, c, text);
	case COUNTERS:
		return counters(r, c, text);
	default:
		return take_value(r, c, text);
	}
}

/* What a member holds where its column is left out, if not 0. */
static void leave_out(struct unc_table_reader *r, const struct row *c)
{
	if (c->kind == FIELD || c->kind == REG || c->kind == COUNTER)
		store(r, c, UNC_NONE);
	else if (c->kind == NUMBER && c->fallback)
		store(r, c, (uint64_t)c->fallback);
}

static struct unc_word *take_word(struct unc_table_reader *r, const struct row *c)
{
	return unc_take(r->line,
			c->name[0] == '"'  ? UNC_WORD_QUOTED
			: c->kind == WORD  ? UNC_WORD_ANY
			: c->name[0] < 'a' ? UNC_WORD_PLAIN
			: c->kind == FLAG  ? UNC_WORD_FLAG
					   : UNC_WORD_KEY,
			c->name);
}

static int read_column(struct unc_table_reader *r, const struct row *c)
{
	void *member = (char *)&r->w + c->offset;
	struct unc_word *word;

	if (c->kind == STEPS)
		return unc_read_steps(r, member);
	word = take_word(r, c);
	if (!word || (word->quoted && !word->value[0])) {
		leave_out(r, c);
		return c->flags & NEEDED ? missing(r, c) : 0;
	}
	if (c->kind == FLAG) {
		*(uint8_t *)member |= (uint8_t)c->limit;
		return 0;
	}
	if (word->key && c->kind == WORD) { /* as it was written */
		word->value[-1] = '=';
		word->value = word->key;
	}
	word->key = (char *)(uintptr_t)c->name;
	return take_column(r, c, word->value);
}

/* Whether the column is of registers that are reached so. */
static bool applies(const struct unc_table_reader *r, const struct row *c)
{
	static const uint8_t how[] = {MSR, PCI, MMIO, CPUS, CPUS, 0};
	unsigned only = c->flags & (MSR | PCI | MMIO | CPUS);

	return !only || (only & how[r->space]);
}

/* ---- statements */

/* Whether a file may have the statement: that of a site groups, too. */
static bool is_of(const struct row *s, enum unc_table_part file)
{
	return s->kind == STATEMENT &&
	       (s->file == file || (s->file == UNC_FILE_GROUPS && file == UNC_FILE_SITE));
}

static const struct row *find(enum unc_table_part file, const char *word)
{
	for (const struct row *s = rows; s < rows_end; s++)
		if (is_of(s, file) && strcmp(s->name, word) == 0)
			return s;
	return NULL;
}

static int unknown(struct unc_table_reader *r, enum unc_table_part file, const char *word)
{
	static const char names[][16] = {"",
					 "cpus.tbl",
					 "units.tbl",
					 "TYPE.events",
					 "portable.tbl",
					 "metrics.tbl",
					 "groups.tbl",
					 "a site's file",
					 "workload.tbl"};
	struct unc_nearest nearest;
	char buf[64];

	unc_nearest_start(&nearest, word);
	for (const struct row *s = rows; s < rows_end; s++)
		if (is_of(s, file))
			unc_nearest_try(&nearest, s->name);
	return unc_bad(r, "'%s' is not a statement of %s%s", word, names[file],
		       unc_nearest_text(&nearest, buf, sizeof(buf)));
}

/* Whether the statement may come here. */
static int check_place(struct unc_table_reader *r, const struct row *s)
{
	uint64_t bit = (uint64_t)1 << s->limit;
	uint64_t *seen = s->flags & TYPE ? &r->seen_in_type : &r->seen;

	_Static_assert(N_STATEMENTS <= 64, "one bit for each statement");
	if ((s->flags & TYPE) && r->type == UNC_NONE)
		return unc_bad(r, "'%s' before the first type", s->name);
	if ((s->flags & ONCE) && (*seen & bit))
		return unc_bad(r, "%s is given twice", s->name);
	*seen |= bit;
	return 0;
}

/* What is done when all columns of a statement have been taken. */
static int end(struct unc_table_reader *r, const struct row *s)
{
#define S(file, name, flags, end, help)                                                            \
	case NUMBER_##file##_##name:                                                               \
		return end(r);
	switch (s->limit) {
#include "reader/table_columns.inc"
	}
	return 0;
}

static int read_columns(struct unc_table_reader *r, const struct row *s)
{
	int rc = 0;

	for (const struct row *c = s + 1; c < rows_end && c->kind != STATEMENT && rc == 0; c++)
		if (applies(r, c))
			rc = read_column(r, c);
	return rc < 0 ? rc : end(r, s);
}

int unc_read_statement(struct unc_table_reader *r, enum unc_table_part file)
{
	struct unc_word *word = unc_take(r->line, UNC_WORD_PLAIN, NULL);
	const struct row *s = word == r->line->word ? find(file, word->value) : NULL;
	int rc;

	if (!s)
		return unknown(r, file, r->line->word[0].value);
	r->statement = s->name;
	if ((rc = check_place(r, s)) < 0)
		return rc;
	memset(&r->w, 0, sizeof(r->w));
	if ((s->flags & SELF) == SELF)
		r->w.type = *unc_current_type(r);
	rc = read_columns(r, s);
	if (rc == 0 && (s->flags & AND_WHERE))
		rc = read_columns(r, find(UNC_FILE_UNITS, "where"));
	if (rc == 0 && (s->flags & SELF) == SELF)
		*unc_current_type(r) = r->w.type;
	return rc;
}

int unc_end_nothing(struct unc_table_reader *r)
{
	(void)r;
	return 0;
}
