/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A formula is compiled to the code of a small stack machine. The compiler knows the depth of the stack, so
 * that evaluation needs neither allocation nor a check.
 */
#include "encode/expr.h"

#include <ctype.h>
#include <locale.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/text.h"

enum {
	MAX_NESTING = 64,  /* parentheses, signs and metrics within metrics */
	MAX_STACK = 64,    /* values waiting for their operation */
	MAX_CODE = 1 << 14 /* operations: metrics put into metrics can grow without bound */
};

enum op_kind {
	OP_NUMBER,
	OP_REF,
	OP_VARIABLE,
	OP_ADD,
	OP_SUBTRACT,
	OP_MULTIPLY,
	OP_DIVIDE,
	OP_MAX,
	OP_MIN,
	OP_NEGATE,
	OP_ROUND,
	OP_POSITIVE /* no value where it is negative */
};

struct op {
	uint8_t kind;
	uint32_t ref; /* number of the reference, or of the variable */
	double number;
};

struct unc_expr {
	struct op *code;
	size_t n_code;
	struct unc_expr_ref *refs;
	size_t n_refs;
	unsigned uses;
};

/* In the order of the bits UNC_EXPR_TIME .. */
static const struct {
	char name[16];
	uint8_t at; /* in struct unc_expr_vars */
} variables[] = {
	{"TIME", offsetof(struct unc_expr_vars, time)},
	{"TSC", offsetof(struct unc_expr_vars, tsc)},
	{"TSC_HZ", offsetof(struct unc_expr_vars, tsc_hz)},
	{"MEMORY_PEAK", offsetof(struct unc_expr_vars, memory_peak)},
};

static const struct function {
	char name[10];
	uint8_t values,
		kind; /* how many it takes, and what is done with them; 0: it takes an event */
	int aggregate;
} functions[] = {
	{"round", 1, OP_ROUND, 0},
	{"max", 2, OP_MAX, 0},
	{"min", 2, OP_MIN, 0},
	{"positive", 1, OP_POSITIVE, 0},
	{"sum", 0, 0, UNC_EXPR_SUM},
	{"mean", 0, 0, UNC_EXPR_MEAN},
	{"optional", 0, 0, UNC_EXPR_AS_EVENT},
};

/* A text that is being read: the formula itself, or that of a metric named in one. */
struct frame {
	const char *text;
	const char *p;
	size_t column;    /* of the token being looked at, from 1 */
	const char *name; /* of the metric; NULL for the formula itself */
	struct frame *outer;
};

/* After an error the text seems to end, and no other error is reported. */
struct parser {
	struct unc_expr *expr;
	const struct unc_expr_env *env;
	struct unc_error *err;
	int rc;
	struct frame *frame;
	locale_t c_locale; /* the host program's may want a decimal comma */
	int nesting;
	int stack;
};

static void parse_sum(struct parser *);

/* Prefixes the place to an error that has its sentence: "column N: ", and for a metric put in, the path to it. */
static void prefix_place(struct parser *p, int code)
{
	p->rc = code;
	for (struct frame *f = p->frame; f; f = f->outer) {
		unc_error_prefix(p->err, "column %zu", f->column);
		if (f->name)
			unc_error_prefix(p->err, "metric %s", f->name);
	}
}

static void fail_at(struct parser *, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void fail_at(struct parser *p, const char *format, ...)
{
	char text[UNC_ERROR_MAX];

	if (p->rc)
		return;
	UNC_FORMAT(text, format);
	prefix_place(p, unc_fail(p->err, UNC_ERR_INVALID, "%s", text));
}

static char next_char(struct parser *p)
{
	struct frame *f = p->frame;

	if (p->rc)
		return '\0';
	while (isspace((unsigned char)*f->p))
		f->p++;
	f->column = (size_t)(f->p - f->text) + 1;
	return *f->p;
}

static bool take_char(struct parser *p, char c)
{
	if (next_char(p) != c)
		return false;
	p->frame->p++;
	return true;
}

static bool is_name_start(char c)
{
	return isalpha((unsigned char)c) || c == '_';
}

static bool is_name(char c)
{
	return isalnum((unsigned char)c) || (c && strchr("_.:=|[]", c));
}

static void fail_missing(struct parser *p, const char *what)
{
	if (next_char(p) == '\0')
		fail_at(p, "%s is missing at the end", what);
	else
		fail_at(p, "%s is missing before '%.16s'", what, p->frame->p);
}

static void expect_char(struct parser *p, char c)
{
	char what[] = {'\'', c, '\'', '\0'};

	if (!take_char(p, c))
		fail_missing(p, what);
}

/* Values that an operation adds to the stack. */
static int grows_by(uint8_t kind)
{
	return kind < OP_ADD ? 1 : kind < OP_NEGATE ? -1 : 0;
}

static void emit(struct parser *p, struct op op)
{
	struct unc_expr *e = p->expr;
	struct op *added;

	p->stack += grows_by(op.kind);
	if (p->stack > MAX_STACK)
		fail_at(p, "too many values at once (at most %d)", MAX_STACK);
	if (e->n_code == MAX_CODE)
		fail_at(p, "too long with the metrics it names put in (at most %d operations)",
			MAX_CODE);
	if (p->rc)
		return;
	if ((added = UNC_ADD_TO(e->code, e->n_code)))
		*added = op;
	else
		p->rc = unc_no_memory(p->err);
}

static void enter_nesting(struct parser *p)
{
	if (p->nesting++ == MAX_NESTING)
		fail_at(p, "nested too deeply (at most %d levels)", MAX_NESTING);
}

static size_t name_length(const char *s)
{
	size_t n = 0;

	while (is_name(s[n]))
		n++;
	return n;
}

/* Whether a number ends there, decimal or hexadecimal; the latter has no fraction. */
static bool is_number(const char *start, const char *end)
{
	bool hex = start[0] == '0' && (start[1] == 'x' || start[1] == 'X');

	return end > start && !is_name(*end) && !(hex && start + strcspn(start, ".pP") < end);
}

static void parse_number(struct parser *p)
{
	const char *start = p->frame->p;
	char *end;
	double value = strtod_l(start, &end, p->c_locale);

	p->frame->p = end;
	if (!is_number(start, end))
		fail_at(p, "'%.*s' is not a number", (int)name_length(start), start);
	else if (!isfinite(value))
		fail_at(p, "number %.*s is too large", (int)(end - start), start);
	emit(p, (struct op){.kind = OP_NUMBER, .number = value});
}

/* Takes a name; the text stays where it is, next_char() has set its column. */
static void take_name(struct parser *p, char buf[UNC_SPEC_MAX])
{
	size_t n = name_length(p->frame->p);

	buf[0] = '\0';
	if (n >= UNC_SPEC_MAX) {
		fail_at(p, "name longer than %d characters", UNC_SPEC_MAX - 1);
		return;
	}
	memcpy(buf, p->frame->p, n);
	buf[n] = '\0';
	p->frame->p += n;
}

static void add_ref(struct parser *p, const char *event, int aggregate)
{
	struct unc_expr *e = p->expr;
	size_t i = 0;

	while (i < e->n_refs &&
	       (e->refs[i].aggregate != aggregate || strcmp(e->refs[i].event, event) != 0))
		i++;
	if (i == e->n_refs) {
		struct unc_expr_ref *ref = UNC_ADD_TO(e->refs, e->n_refs);

		if (!ref || !(ref->event = strdup(event))) {
			p->rc = unc_no_memory(p->err);
			return;
		}
		ref->aggregate = aggregate;
	}
	emit(p, (struct op){.kind = OP_REF, .ref = (uint32_t)i});
}

static void parse_event(struct parser *p, const char *text, int aggregate, bool optional)
{
	char event[UNC_SPEC_MAX];
	int rc = p->rc ? 0 : p->env->canonical(p->env->user, text, event, sizeof(event), p->err);

	if (rc < 0)
		prefix_place(p, rc);
	if (p->rc)
		return;
	if (optional && p->env->lacks && p->env->lacks(p->env->user, event))
		emit(p, (struct op){.kind = OP_NUMBER, .number = 0});
	else
		add_ref(p, event, aggregate);
}

/* A metric that is being put in already may not be put in again. */
static void check_cycle(struct parser *p, const char *name)
{
	struct frame *inner = p->frame, *f = inner;
	const char *through = inner->name;

	while (f && !(f->name && unc_same(f->name, name)))
		f = f->outer;
	if (!f)
		return;
	while (p->frame->outer) /* the place that matters is the one in the formula itself */
		p->frame = p->frame->outer;
	if (f == inner)
		fail_at(p, "metric %s refers to itself", name);
	else
		fail_at(p, "metric %s refers to itself through %s", name, through);
}

static void parse_whole(struct parser *p)
{
	parse_sum(p);
	if (next_char(p) != '\0')
		fail_at(p, "unexpected '%.16s'", p->frame->p);
}

static void parse_metric(struct parser *p, const char *name, const char *formula)
{
	struct frame frame = {formula, formula, 1, name, p->frame};

	check_cycle(p, name);
	enter_nesting(p);
	p->frame = &frame;
	parse_whole(p);
	p->frame = frame.outer;
	p->nesting--;
}

/* The opening parenthesis has been taken. */
static void parse_function(struct parser *p, const struct function *f)
{
	char name[UNC_SPEC_MAX];

	enter_nesting(p);
	for (unsigned i = 0; i < f->values; i++) {
		if (i)
			expect_char(p, ',');
		parse_sum(p);
	}
	if (f->values) {
		emit(p, (struct op){.kind = f->kind});
	} else if (is_name_start(next_char(p))) {
		take_name(p, name);
		parse_event(p, name, f->aggregate, f->aggregate == UNC_EXPR_AS_EVENT);
	} else {
		fail_at(p, "%s() takes the name of an event", f->name);
	}
	p->nesting--;
	expect_char(p, ')');
}

static void parse_name(struct parser *p)
{
	char name[UNC_SPEC_MAX];
	size_t column = p->frame->column;

	take_name(p, name);
	bool called = take_char(p, '(');
	for (size_t i = 0; called && i < sizeof(functions) / sizeof(functions[0]); i++)
		if (strcmp(name, functions[i].name) == 0) {
			parse_function(p, &functions[i]);
			return;
		}
	p->frame->column = column;
	if (called)
		fail_at(p,
			"no function %s; there are round, max, min, positive, sum, mean and "
			"optional",
			name);
	for (uint32_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++)
		if (strcmp(name, variables[i].name) == 0) {
			p->expr->uses |= 1u << i;
			emit(p, (struct op){.kind = OP_VARIABLE, .ref = i});
			return;
		}
	const char *formula = p->rc ? NULL : p->env->formula(p->env->user, name);
	if (formula)
		parse_metric(p, name, formula);
	else
		parse_event(p, name, UNC_EXPR_AS_EVENT, false);
}

static void parse_value(struct parser *p)
{
	char c = next_char(p);

	if (isdigit((unsigned char)c) || c == '.') {
		parse_number(p);
	} else if (is_name_start(c)) {
		parse_name(p);
	} else if (c == '-' || c == '(') {
		enter_nesting(p);
		p->frame->p++;
		if (c == '-') {
			parse_value(p);
			emit(p, (struct op){.kind = OP_NEGATE});
		} else {
			parse_sum(p);
			expect_char(p, ')');
		}
		p->nesting--;
	} else {
		fail_missing(p, "a value");
	}
}

/* Parts with one of two operators between them. */
static void parse_chain(struct parser *p, void (*part)(struct parser *), const char signs[2],
			enum op_kind first, enum op_kind second)
{
	part(p);
	for (char c; (c = next_char(p)) && (c == signs[0] || c == signs[1]);) {
		p->frame->p++;
		part(p);
		emit(p, (struct op){.kind = (uint8_t)(c == signs[0] ? first : second)});
	}
}

static void parse_product(struct parser *p)
{
	parse_chain(p, parse_value, "*/", OP_MULTIPLY, OP_DIVIDE);
}

static void parse_sum(struct parser *p)
{
	parse_chain(p, parse_product, "+-", OP_ADD, OP_SUBTRACT);
}

int unc_expr_parse(const char *text, const struct unc_expr_env *env, struct unc_expr **out,
		   struct unc_error *err)
{
	struct frame frame = {text, text, 1, NULL, NULL};
	struct parser p = {.env = env, .err = err, .frame = &frame};

	p.expr = calloc(1, sizeof(*p.expr));
	p.c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
	if (p.expr && p.c_locale)
		parse_whole(&p);
	else
		p.rc = unc_no_memory(err);
	if (p.c_locale)
		freelocale(p.c_locale);
	if (p.rc == 0)
		*out = p.expr;
	else
		unc_expr_free(p.expr);
	return p.rc;
}

void unc_expr_free(struct unc_expr *e)
{
	if (!e)
		return;
	for (size_t i = 0; i < e->n_refs; i++)
		free((char *)e->refs[i].event);
	free(e->refs);
	free(e->code);
	free(e);
}

size_t unc_expr_refs(const struct unc_expr *e)
{
	return e->n_refs;
}

const struct unc_expr_ref *unc_expr_ref(const struct unc_expr *e, size_t index)
{
	return index < e->n_refs ? &e->refs[index] : NULL;
}

unsigned unc_expr_uses(const struct unc_expr *e)
{
	return e->uses;
}

static double apply_op(const struct op *op, double a, double b, const double *refs,
		       const struct unc_expr_vars *vars)
{
	switch (op->kind) {
	case OP_NUMBER:
		return op->number;
	case OP_REF:
		return refs[op->ref];
	case OP_VARIABLE:
		return *(const double *)((const char *)vars + variables[op->ref].at);
	case OP_ADD:
		return a + b;
	case OP_SUBTRACT:
		return a - b;
	case OP_MULTIPLY:
		return a * b;
	case OP_DIVIDE:
		return a / b;
	case OP_MAX:
		return a > b ? a : b;
	case OP_MIN:
		return a < b ? a : b;
	case OP_NEGATE:
		return -a;
	case OP_ROUND:
		return round(a);
	default:
		return a;
	}
}

const char *unc_expr_eval(const struct unc_expr *e, const double *refs,
			  const struct unc_expr_vars *vars, double *out)
{
	double stack[MAX_STACK + 2] = {0},
				 *at = stack; /* the last value; none is below the first */

	for (const struct op *op = e->code; op < e->code + e->n_code; op++) {
		at += grows_by(op->kind);
		if (op->kind == OP_DIVIDE && at[1] == 0)
			return "the denominator is 0";
		if (op->kind == OP_POSITIVE && *at < 0)
			return "the result is negative, which is impossible for counts of one time";
		*at = apply_op(op, at[0], at[1], refs, vars);
		/* At once: max(0, x / 0) must not hide it. */
		if (!isfinite(*at))
			return "the result overflows";
	}
	*out = *at;
	return NULL;
}
