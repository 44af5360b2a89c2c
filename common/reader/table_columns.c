/* SPDX-License-Identifier: BSD-3-Clause */
/* The table reader: a line becomes a struct, by the rows of table_columns.inc. */
#include <stdio.h>
#include <string.h>

#include "base/nearest.h"
#include "reader/table_build.h"

/* flags of a column */
enum { NEEDED = 1, POSITIVE = 2, PLUS1 = 4, MSR = 8, PCI = 16, MMIO = 32, CPUS = 64 };

/* flags of a statement */
enum { ONCE = 1, TYPE = 2, SETTINGS_TOO = 4, SELF = TYPE | 8 };

enum kind {
	RAW,  /* the text itself, for the statement to look at */
	WORD, /* likewise, and it may have a "=" */
	TEXT,
	NUMBER,
	OFFSET, /* may be negative */
	REAL,   /* above 0 */
	FLAG,
	CHOICE,
	MASK,     /* of numbers */
	SET,      /* of numbers up to 127 */
	COUNTERS, /* of counters of the type */
	BITS,     /* of a dword */
	DEVICE,
	FIELD,
	REG,
	COUNTER,
	UNIT, /* a type */
	PART,
	BAR,
	FIELDS,
	SETTINGS,
	STEPS
};

#define S(...)
#define C(...)
#define W(list, words) WORDS_##list,
enum {
#include "reader/table_columns.inc"
};
#undef W
#define W(list, words) words,
static const char word_lists[][180] = {
#include "reader/table_columns.inc"
};
#undef W
#define W(...)
#undef S
#undef C

struct column {
	char name[18];
	uint8_t kind, flags;
	uint8_t size; /* of the member */
	int8_t fallback;
	uint16_t offset; /* in union unc_words */
	uint64_t limit;
};

#define S(...)
#define C(kind, words, name, member, flags, limit, fallback, help)                                 \
	{name,     kind,                                                                           \
	 flags,    sizeof(((union unc_words *)0)->words.member),                                   \
	 fallback, offsetof(union unc_words, words.member),                                        \
	 limit},
static const struct column columns[] = {
#include "reader/table_columns.inc"
};
#undef S
#undef C

/* The number of each statement's first column: LINE_n counts the columns, FIRST_x points at the
 * next. */
#define JOIN(a, b) a##b
#define LINE(n) JOIN(LINE_, n)
#define S(file, name, flags, end, help)                                                            \
	FIRST_##file##_##name, NEXT_##file##_##name = FIRST_##file##_##name - 1,
#define C(...) LINE(__LINE__),
enum {
#include "reader/table_columns.inc"
	N_COLUMNS
};
#undef S
#undef C

static const struct statement {
	char name[16];
	uint8_t file, flags;
	uint16_t first; /* column */
} statements[] = {
#define S(file, name, flags, end, help) {#name, UNC_FILE_##file, flags, FIRST_##file##_##name},
#define C(...)
#include "reader/table_columns.inc"
#undef S
};

/* What is done when all columns of a statement have been taken. */
static int (*const ends[])(struct unc_table_reader *) = {
#define S(file, name, flags, end, help) end,
#include "reader/table_columns.inc"
#undef S
#undef C
};

enum { N_STATEMENTS = sizeof(statements) / sizeof(statements[0]) };

/* ---- sentences */

static const char *statement_of(const struct column *c)
{
	const struct statement *s = statements;

	while (s + 1 < statements + N_STATEMENTS && columns + s[1].first <= c)
		s++;
	return s->name;
}

/* "key=value", or "statement 'value'" of a word in a place. */
static const char *said(const struct column *c, const char *text, char buf[256])
{
	if (c->name[0] >= 'a')
		snprintf(buf, 256, "%s=%s", c->name, text);
	else
		snprintf(buf, 256, "%s '%s'", statement_of(c), text);
	return buf;
}

static int bad(struct unc_table_reader *r, const struct column *c, const char *text,
	       const char *want)
{
	char buf[256];

	return unc_bad(r, "%s is not %s", said(c, text, buf), want);
}

static int missing(struct unc_table_reader *r, const struct column *c)
{
	if (c->name[0] >= 'a')
		return unc_bad(r, "%s= is missing", c->name);
	return unc_bad(r, "%s: %s is missing", statement_of(c), c->name);
}

/* ---- values */

static void store(struct unc_table_reader *r, const struct column *c, uint64_t value)
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

static int number(struct unc_table_reader *r, const struct column *c, const char *text,
		  uint64_t *value)
{
	uint64_t max = c->limit ? c->limit : unc_ones(8u * c->size);
	char buf[256];

	if (!unc_parse_number(text, value))
		return bad(r, c, text, "a number");
	if (*value > max)
		return unc_bad(r, "%s is larger than 0x%llx", said(c, text, buf),
			       (unsigned long long)max);
	if (!*value && (c->flags & POSITIVE))
		return unc_bad(r, "%s= must not be 0", c->name);
	*value += (c->flags & PLUS1) != 0;
	return 0;
}

static int offset(struct unc_table_reader *r, const struct column *c, const char *text,
		  uint64_t *value)
{
	bool negative = text[0] == '-';

	if (!unc_parse_number(text + negative, value) || *value > INT32_MAX)
		return bad(r, c, text, "an offset");
	*value = negative ? 0 - *value : *value;
	return 0;
}

static int choice(struct unc_table_reader *r, const struct column *c, const char *text,
		  uint64_t *value)
{
	const char *list = word_lists[c->limit];
	size_t length = strlen(text);
	char want[256];
	struct unc_buf buf = UNC_BUF(want);

	*value = (uint64_t)c->fallback;
	for (const char *p = list; *p; ++*value) {
		size_t n = strcspn(p, " ");

		if (n == length && strncmp(p, text, n) == 0)
			return 0;
		unc_put(&buf, "%s%.*s", p == list ? "" : p[n] ? ", " : " or ", (int)n, p);
		p += n + (p[n] == ' ');
	}
	return bad(r, c, text, want);
}

static int counters(struct unc_table_reader *r, const struct column *c, const char *text,
		    uint64_t *value)
{
	const struct unc_tbl_type *type = unc_current_type(r);
	const char *name = unc_tbl_str(&r->t, type->name);
	char buf[256];

	if (unc_parse_mask(text, value) && !(*value & ~(uint64_t)unc_type_counters(type)))
		return 0;
	if (type->n_counters == 0)
		return unc_bad(r, "%s: %s has no programmable counters", said(c, text, buf), name);
	return unc_bad(r, "%s: %s has counters %d-%d", said(c, text, buf), name, type->first,
		       type->first + type->n_counters - 1);
}

/* A row with this name among some of an array of structs that begin with their name; -1: none. */
static int find_row(const struct unc_table_reader *r, const void *rows, size_t size,
		    struct unc_range in, const char *name)
{
	unc_str at;

	for (uint32_t i = in.first; i < in.first + in.n; i++) {
		memcpy(&at, (const char *)rows + i * size, sizeof(at));
		if (unc_same(unc_tbl_str(&r->t, at), name))
			return (int)i;
	}
	return -1;
}

/* What a name stands for. */
static int reference(struct unc_table_reader *r, const struct column *c, const char *text,
		     uint64_t *value)
{
	const struct unc_tbl_type *type = r->type == UNC_NONE ? NULL : unc_current_type(r);
	static const char wants[][20] = {"a field above", "a register above", "",
					 "a unit type",   "a part above",     "a bar above"};
	int at = -1;

	switch (c->kind) {
	case FIELD:
		at = unc_find_field(&r->t, type, text);
		break;
	case REG:
		at = unc_find_reg(&r->t, type, text);
		break;
	case COUNTER:
		at = find_row(r, r->t.counter, sizeof(*r->t.counter), type->counters, text);
		break;
	case UNIT:
		at = unc_find_type(&r->t, text);
		break;
	case PART:
		at = find_row(r, r->t.part, sizeof(*r->t.part), type->parts, text);
		at = at < 0 ? at : at - (int)type->parts.first;
		break;
	default:
		at = find_row(r, r->t.bar, sizeof(*r->t.bar),
			      (struct unc_range){0, (uint32_t)r->t.n_bar}, text);
	}
	*value = (uint64_t)at;
	if (at >= 0 && at != UNC_NONE)
		return 0;
	if (c->kind == COUNTER)
		return unc_bad(r, "counter=%s: %s has no such counter", text,
			       unc_tbl_str(&r->t, type->name));
	return bad(r, c, text, wants[c->kind - FIELD]);
}

/* "0c.1" */
bool unc_parse_devfn(const char *text, uint64_t *devfn)
{
	unsigned device, function;
	int end = 0;

	if (sscanf(text, "%2x.%1u%n", &device, &function, &end) != 2 || text[end] || device > 31 ||
	    function > 7)
		return false;
	*devfn = UNC_DEVFN(device, function);
	return true;
}

/* The number that a text is in a column of one number. */
static int value_of(struct unc_table_reader *r, const struct column *c, const char *text,
		    uint64_t *value)
{
	unsigned high, low;

	switch (c->kind) {
	case NUMBER:
		return number(r, c, text, value);
	case OFFSET:
		return offset(r, c, text, value);
	case CHOICE:
		return choice(r, c, text, value);
	case TEXT:
		*value = unc_add_string(r, text);
		return 0;
	case MASK:
		return unc_parse_mask(text, value) && (!c->limit || *value <= c->limit)
			       ? 0
			       : bad(r, c, text,
				     c->limit == 0xff ? "a list of numbers up to 7"
						      : "a list of numbers");
	case COUNTERS:
		return counters(r, c, text, value);
	case BITS:
		if (!unc_parse_bits(text, &high, &low) || high > 31)
			return bad(r, c, text, "bits HIGH:LOW of a dword");
		*value = unc_ones(high + 1) & ~unc_ones(low);
		return 0;
	case DEVICE:
		return unc_parse_devfn(text, value)
			       ? 0
			       : bad(r, c, text, "DEVICE.FUNCTION in hexadecimal");
	default:
		return reference(r, c, text, value);
	}
}

/* ---- columns */

static int take_column(struct unc_table_reader *r, const struct column *c, const char *text)
{
	void *member = (char *)&r->w + c->offset;
	uint64_t value = 0;
	int rc;

	switch (c->kind) {
	case RAW:
	case WORD:
		*(const char **)member = text;
		return 0;
	case REAL:
		return unc_parse_double(text, member) && *(double *)member > 0
			       ? 0
			       : bad(r, c, text, "a number above 0");
	case SET:
		return unc_parse_set(text, member) ? 0
						   : bad(r, c, text, "a list of numbers up to 127");
	case FIELDS:
	case SETTINGS:
		return unc_add_list(r, c->name, text, c->kind == SETTINGS, member);
	default:
		rc = value_of(r, c, text, &value);
		if (rc == 0)
			store(r, c, value);
		return rc;
	}
}

/* What a member holds where its column is left out, if not 0. */
static void leave_out(struct unc_table_reader *r, const struct column *c)
{
	if (c->kind == FIELD || c->kind == REG || c->kind == COUNTER)
		store(r, c, UNC_NONE);
	else if (c->kind == NUMBER && c->fallback)
		store(r, c, (uint64_t)c->fallback);
}

static int read_column(struct unc_table_reader *r, const struct column *c)
{
	void *member = (char *)&r->w + c->offset;
	const char *text;

	if (c->kind == FLAG) {
		if (unc_take_flag(r->line, c->name))
			*(uint8_t *)member |= (uint8_t)c->limit;
		return 0;
	}
	if (c->kind == STEPS)
		return unc_read_steps(r, member);
	text = c->name[0] == '"'   ? unc_take_quoted(r->line)
	       : c->kind == WORD   ? unc_take_word(r->line)
	       : c->name[0] >= 'a' ? unc_take(r->line, c->name)
				   : unc_take_plain(r->line);
	if (text && (c->name[0] != '"' || text[0]))
		return take_column(r, c, text);
	leave_out(r, c);
	return c->flags & NEEDED ? missing(r, c) : 0;
}

/* Whether the column is of registers that are reached so. */
static bool applies(const struct unc_table_reader *r, const struct column *c)
{
	static const uint8_t how[] = {MSR, PCI, MMIO, CPUS, CPUS, 0};
	unsigned only = c->flags & (MSR | PCI | MMIO | CPUS);

	return !only || (only & how[r->space]);
}

static int read_columns(struct unc_table_reader *r, const struct statement *s)
{
	size_t end = s + 1 < statements + N_STATEMENTS ? s[1].first : N_COLUMNS;
	int rc = 0;

	for (size_t i = s->first; i < end && rc == 0; i++)
		if (applies(r, &columns[i]))
			rc = read_column(r, &columns[i]);
	return rc;
}

/* ---- statements */

/* Whether a file may have the statement: that of a site groups, too. */
static bool is_of(const struct statement *s, enum unc_table_part file)
{
	return s->file == file || (s->file == UNC_FILE_GROUPS && file == UNC_FILE_SITE);
}

static const struct statement *find(enum unc_table_part file, const char *word)
{
	for (const struct statement *s = statements; s < statements + N_STATEMENTS; s++)
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
	for (size_t i = 0; i < N_STATEMENTS; i++)
		if (is_of(&statements[i], file))
			unc_nearest_try(&nearest, statements[i].name);
	return unc_bad(r, "'%s' is not a statement of %s%s", word, names[file],
		       unc_nearest_text(&nearest, buf, sizeof(buf)));
}

/* Whether the statement may come here. */
static int check_place(struct unc_table_reader *r, const struct statement *s)
{
	uint64_t bit = (uint64_t)1 << (s - statements);
	uint64_t *seen = s->flags & TYPE ? &r->seen_in_type : &r->seen;

	_Static_assert(N_STATEMENTS <= 64, "one bit for each statement");
	if ((s->flags & TYPE) && r->type == UNC_NONE)
		return unc_bad(r, "'%s' before the first type", s->name);
	if ((s->flags & ONCE) && (*seen & bit))
		return unc_bad(r, "%s is given twice", s->name);
	*seen |= bit;
	return 0;
}

int unc_read_statement(struct unc_table_reader *r, enum unc_table_part file)
{
	const char *word = unc_take_plain(r->line);
	const struct statement *s = word ? find(file, word) : NULL;
	int rc;

	if (!s || word != r->line->word[0].value)
		return unknown(r, file, r->line->word[0].value);
	r->statement = s->name;
	if ((rc = check_place(r, s)) < 0)
		return rc;
	memset(&r->w, 0, sizeof(r->w));
	if ((s->flags & SELF) == SELF)
		r->w.type = *unc_current_type(r);
	if ((rc = read_columns(r, s)) < 0 || (rc = ends[s - statements](r)) < 0)
		return rc;
	if ((s->flags & SELF) == SELF)
		*unc_current_type(r) = r->w.type;
	return unc_words_done(r);
}

int unc_read_where(struct unc_table_reader *r)
{
	return read_columns(r, find(UNC_FILE_UNITS, "where"));
}

int unc_end_nothing(struct unc_table_reader *r)
{
	(void)r;
	return 0;
}
