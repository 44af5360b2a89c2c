/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A formula is compiled to the code of a small stack machine. How deep the
 * stack gets is known when it is compiled, so that evaluating needs neither
 * allocation nor a check.
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
	OP_TIME,
	OP_TSC,
	OP_TSC_HZ,
	OP_MEMORY_PEAK,
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
	uint32_t ref;
	double number;
};

struct unc_expr {
	struct op *code;
	size_t n_code;
	struct unc_expr_ref *refs;
	size_t n_refs;
};

/* A text that is being read: the formula itself, or that of a metric named in one. */
struct frame {
	const char *text;
	const char *p;
	size_t column;    /* of the token being looked at, from 1 */
	const char *name; /* of the metric; NULL for the formula itself */
	struct frame *outer;
};

struct parser {
	struct unc_expr *expr;
	const struct unc_expr_env *env;
	struct unc_error *err;
	struct frame *frame;
	locale_t c_locale; /* the host program's may want a decimal comma */
	int nesting;
	int stack;
};

static int parse_sum(struct parser *);

/* Says where the error is: "column N: ", and for a metric put in, the way to it. */
static int place(struct parser *p, int code)
{
	for (struct frame *f = p->frame; f; f = f->outer) {
		unc_error_prefix(p->err, "column %zu", f->column);
		if (f->name)
			unc_error_prefix(p->err, "metric %s", f->name);
	}
	return code;
}

#define FAIL(p, ...) place((p), unc_fail((p)->err, UNC_ERR_INVALID, __VA_ARGS__))

static char look(struct parser *p)
{
	struct frame *f = p->frame;

	while (isspace((unsigned char)*f->p))
		f->p++;
	f->column = (size_t)(f->p - f->text) + 1;
	return *f->p;
}

static bool accept(struct parser *p, char c)
{
	if (look(p) != c)
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

static int missing(struct parser *p, const char *what)
{
	char c = look(p);

	if (c == '\0')
		return FAIL(p, "%s is missing at the end", what);
	return FAIL(p, "%s is missing before '%.16s'", what, p->frame->p);
}

static int expect(struct parser *p, char c)
{
	char what[] = {'\'', c, '\'', '\0'};

	return accept(p, c) ? 0 : missing(p, what);
}

/* Room for one more element of an array; NULL if out of memory. */
static int emit(struct parser *p, struct op op)
{
	struct unc_expr *e = p->expr;

	if (op.kind < OP_ADD)
		p->stack++;
	else if (op.kind < OP_NEGATE)
		p->stack--;
	if (p->stack > MAX_STACK)
		return FAIL(p, "too many values at once (at most %d)", MAX_STACK);
	if (e->n_code == MAX_CODE)
		return FAIL(p, "too long with the metrics it names put in (at most %d operations)",
			    MAX_CODE);
	struct op *code = unc_grow(e->code, e->n_code, sizeof(*code));

	if (!code)
		return unc_fail(p->err, UNC_ERR_MEMORY, "out of memory");
	e->code = code;
	e->code[e->n_code++] = op;
	return 0;
}

static int emit_kind(struct parser *p, enum op_kind kind)
{
	return emit(p, (struct op){.kind = (uint8_t)kind});
}

static int enter(struct parser *p)
{
	if (p->nesting == MAX_NESTING)
		return FAIL(p, "nested too deeply (at most %d levels)", MAX_NESTING);
	p->nesting++;
	return 0;
}

static const char *digits_end(const char *s)
{
	while (isdigit((unsigned char)*s))
		s++;
	return s;
}

/* End of the number that starts at s; NULL if it is malformed. */
static const char *number_end(const char *s)
{
	const char *end;

	if (s[0] == '0' && (s[1] == 'x' || s[1] == 'X')) {
		end = s + 2;
		while (isxdigit((unsigned char)*end))
			end++;
		return end > s + 2 && !is_name(*end) ? end : NULL;
	}
	end = digits_end(s);
	if (*end == '.')
		end = digits_end(end + 1);
	if (end == s + 1 && *s == '.')
		return NULL;
	if (*end == 'e' || *end == 'E') {
		const char *exponent = end + 1 + (end[1] == '+' || end[1] == '-');

		end = digits_end(exponent);
		if (end == exponent)
			return NULL;
	}
	return is_name(*end) ? NULL : end;
}

static int parse_number(struct parser *p)
{
	const char *start = p->frame->p, *end = number_end(start);

	if (!end) {
		end = start;
		while (is_name(*end))
			end++;
		return FAIL(p, "'%.*s' is not a number", (int)(end - start), start);
	}
	double value = strtod_l(start, NULL, p->c_locale);

	if (!isfinite(value))
		return FAIL(p, "number %.*s is too large", (int)(end - start), start);
	p->frame->p = end;
	return emit(p, (struct op){.kind = OP_NUMBER, .number = value});
}

/* Takes a name; the text stays where it is, look() has set its column. */
static int take_name(struct parser *p, char *buf, size_t size)
{
	const char *start = p->frame->p;
	size_t n = 0;

	while (is_name(start[n]))
		n++;
	if (n >= size)
		return FAIL(p, "name longer than %zu characters", size - 1);
	memcpy(buf, start, n);
	buf[n] = '\0';
	p->frame->p = start + n;
	return 0;
}

static int add_ref(struct parser *p, const char *event, int aggregate)
{
	struct unc_expr *e = p->expr;
	size_t i;

	for (i = 0; i < e->n_refs; i++)
		if (e->refs[i].aggregate == aggregate && strcmp(e->refs[i].event, event) == 0)
			break;
	if (i == e->n_refs) {
		struct unc_expr_ref *refs = unc_grow(e->refs, i, sizeof(*refs));
		char *copy;

		if (!refs)
			return unc_fail(p->err, UNC_ERR_MEMORY, "out of memory");
		e->refs = refs;
		copy = strdup(event);
		if (!copy)
			return unc_fail(p->err, UNC_ERR_MEMORY, "out of memory");
		e->refs[e->n_refs++] = (struct unc_expr_ref){copy, aggregate};
	}
	return emit(p, (struct op){.kind = OP_REF, .ref = (uint32_t)i});
}

static int parse_event(struct parser *p, const char *text, int aggregate, bool optional)
{
	char event[UNC_SPEC_MAX];
	int rc = p->env->canonical(p->env->user, text, event, sizeof(event), p->err);

	if (rc < 0)
		return place(p, rc);
	if (optional && p->env->lacks && p->env->lacks(p->env->user, event))
		return emit(p, (struct op){.kind = OP_NUMBER, .number = 0});
	return add_ref(p, event, aggregate);
}

/* A metric that is being put in already may not be put in again. */
static int check_cycle(struct parser *p, const char *name)
{
	struct frame *inner = p->frame, *f = inner;
	const char *through = inner->name;

	while (f && !(f->name && unc_same(f->name, name)))
		f = f->outer;
	if (!f)
		return 0;
	while (p->frame->outer) /* the place that matters is the one in the formula itself */
		p->frame = p->frame->outer;
	if (f == inner)
		return FAIL(p, "metric %s refers to itself", name);
	return FAIL(p, "metric %s refers to itself through %s", name, through);
}

static int parse_whole(struct parser *p)
{
	int rc = parse_sum(p);

	if (rc == 0 && look(p) != '\0')
		return FAIL(p, "unexpected '%.16s'", p->frame->p);
	return rc;
}

static int parse_metric(struct parser *p, const char *name, const char *formula)
{
	struct frame frame = {formula, formula, 1, name, p->frame};
	int rc = check_cycle(p, name);

	if (rc == 0)
		rc = enter(p);
	if (rc == 0) {
		p->frame = &frame;
		rc = parse_whole(p);
		p->frame = frame.outer;
		p->nesting--;
	}
	return rc;
}

static int parse_two(struct parser *p, enum op_kind kind)
{
	int rc = parse_sum(p);

	if (rc == 0)
		rc = expect(p, ',');
	if (rc == 0)
		rc = parse_sum(p);
	return rc ? rc : emit_kind(p, kind);
}

/* sum(), mean(), optional(). */
static int parse_of_event(struct parser *p, const char *function, int aggregate, bool optional)
{
	char name[UNC_SPEC_MAX];

	if (!is_name_start(look(p)))
		return FAIL(p, "%s() takes the name of an event", function);
	int rc = take_name(p, name, sizeof(name));

	return rc ? rc : parse_event(p, name, aggregate, optional);
}

/* The opening parenthesis has been taken. */
static int parse_function(struct parser *p, const char *name, size_t column)
{
	int rc = enter(p);

	if (rc)
		return rc;
	if (strcmp(name, "round") == 0) {
		rc = parse_sum(p);
		if (rc == 0)
			rc = emit_kind(p, OP_ROUND);
	} else if (strcmp(name, "positive") == 0) {
		rc = parse_sum(p);
		if (rc == 0)
			rc = emit_kind(p, OP_POSITIVE);
	} else if (strcmp(name, "max") == 0) {
		rc = parse_two(p, OP_MAX);
	} else if (strcmp(name, "min") == 0) {
		rc = parse_two(p, OP_MIN);
	} else if (strcmp(name, "sum") == 0) {
		rc = parse_of_event(p, name, UNC_EXPR_SUM, false);
	} else if (strcmp(name, "mean") == 0) {
		rc = parse_of_event(p, name, UNC_EXPR_MEAN, false);
	} else if (strcmp(name, "optional") == 0) {
		rc = parse_of_event(p, name, UNC_EXPR_AS_EVENT, true);
	} else {
		p->frame->column = column;
		rc = FAIL(p,
			  "no function %s; there are round, max, min, positive, sum, mean and "
			  "optional",
			  name);
	}
	p->nesting--;
	return rc ? rc : expect(p, ')');
}

static int parse_name(struct parser *p)
{
	static const struct {
		const char *name;
		enum op_kind kind;
	} built_in[] = {{"TIME", OP_TIME},
			{"TSC", OP_TSC},
			{"TSC_HZ", OP_TSC_HZ},
			{"MEMORY_PEAK", OP_MEMORY_PEAK}};
	char name[UNC_SPEC_MAX];
	size_t column = p->frame->column;
	int rc = take_name(p, name, sizeof(name));

	if (rc)
		return rc;
	if (accept(p, '('))
		return parse_function(p, name, column);
	p->frame->column = column;
	for (size_t i = 0; i < sizeof(built_in) / sizeof(built_in[0]); i++)
		if (strcmp(name, built_in[i].name) == 0)
			return emit_kind(p, built_in[i].kind);
	const char *formula = p->env->formula(p->env->user, name);

	if (formula)
		return parse_metric(p, name, formula);
	return parse_event(p, name, UNC_EXPR_AS_EVENT, false);
}

static int parse_value(struct parser *p)
{
	char c = look(p);

	if (isdigit((unsigned char)c) || c == '.')
		return parse_number(p);
	if (is_name_start(c))
		return parse_name(p);
	if (c != '(' && c != '-')
		return missing(p, "a value");
	int rc = enter(p);

	if (rc)
		return rc;
	p->frame->p++;
	if (c == '-') {
		rc = parse_value(p);
		if (rc == 0)
			rc = emit_kind(p, OP_NEGATE);
	} else {
		rc = parse_sum(p);
		if (rc == 0)
			rc = expect(p, ')');
	}
	p->nesting--;
	return rc;
}

/* Parts with one of two operators between them. */
static int parse_chain(struct parser *p, int (*part)(struct parser *), const char signs[2],
		       enum op_kind first, enum op_kind second)
{
	int rc = part(p);

	while (rc == 0) {
		enum op_kind kind = look(p) == signs[1] ? second : first;

		if (!accept(p, signs[0]) && !accept(p, signs[1]))
			return 0;
		rc = part(p);
		if (rc == 0)
			rc = emit_kind(p, kind);
	}
	return rc;
}

static int parse_product(struct parser *p)
{
	return parse_chain(p, parse_value, "*/", OP_MULTIPLY, OP_DIVIDE);
}

static int parse_sum(struct parser *p)
{
	return parse_chain(p, parse_product, "+-", OP_ADD, OP_SUBTRACT);
}

int unc_expr_parse(const char *text, const struct unc_expr_env *env, struct unc_expr **out,
		   struct unc_error *err)
{
	struct frame frame = {text, text, 1, NULL, NULL};
	struct parser p = {.env = env, .err = err, .frame = &frame};
	int rc = UNC_ERR_MEMORY;

	p.expr = calloc(1, sizeof(*p.expr));
	p.c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
	if (p.expr && p.c_locale)
		rc = parse_whole(&p);
	else
		unc_fail(err, UNC_ERR_MEMORY, "out of memory");
	if (p.c_locale)
		freelocale(p.c_locale);
	if (rc == 0)
		*out = p.expr;
	else
		unc_expr_free(p.expr);
	return rc;
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

static double leaf(const struct op *op, const double *refs, const struct unc_expr_vars *vars)
{
	switch (op->kind) {
	case OP_REF:
		return refs[op->ref];
	case OP_TIME:
		return vars->time;
	case OP_TSC:
		return vars->tsc;
	case OP_TSC_HZ:
		return vars->tsc_hz;
	case OP_MEMORY_PEAK:
		return vars->memory_peak;
	default:
		return op->number;
	}
}

static double combine(uint8_t kind, double a, double b)
{
	switch (kind) {
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
	default:
		return a < b ? a : b;
	}
}

unsigned unc_expr_uses(const struct unc_expr *e)
{
	unsigned uses = 0;

	for (size_t i = 0; i < e->n_code; i++)
		uses |= e->code[i].kind == OP_TIME          ? UNC_EXPR_TIME
			: e->code[i].kind == OP_TSC         ? UNC_EXPR_TSC
			: e->code[i].kind == OP_TSC_HZ      ? UNC_EXPR_TSC_HZ
			: e->code[i].kind == OP_MEMORY_PEAK ? UNC_EXPR_MEMORY_PEAK
							    : 0;
	return uses;
}

/* An operation on what lies on top of the stack, which begins at `at`. NULL, or why there is no
 * value. */
static const char *apply(uint8_t kind, double *at)
{
	double a = at[0], b = at[1];

	if (kind == OP_DIVIDE && b == 0)
		return "the denominator is 0";
	if (kind == OP_POSITIVE && a < 0)
		return "the result is negative, which counts of one time cannot make it";
	at[0] = kind == OP_NEGATE     ? -a
		: kind == OP_ROUND    ? round(a)
		: kind == OP_POSITIVE ? a
				      : combine(kind, a, b);
	return NULL;
}

/* NULL, or why there is no value. */
static const char *run(const struct unc_expr *e, const double *refs,
		       const struct unc_expr_vars *vars, double *out)
{
	double stack[MAX_STACK + 1] = {0};
	size_t top = 0; /* values on the stack */

	for (size_t i = 0; i < e->n_code; i++) {
		const struct op *op = &e->code[i];
		const char *why = NULL;

		if (op->kind < OP_ADD) {
			stack[top++] = leaf(op, refs, vars);
		} else {
			top -= op->kind < OP_NEGATE;
			why = apply(op->kind, &stack[top - 1]);
		}
		/* At once: max(0, x / 0) must not hide it. */
		if (!why && !isfinite(stack[top - 1]))
			why = "the result overflows";
		if (why)
			return why;
	}
	*out = stack[0];
	return NULL;
}

int unc_expr_eval(const struct unc_expr *e, const double *refs, const struct unc_expr_vars *vars,
		  double *out)
{
	return run(e, refs, vars, out) ? UNC_ERR_RANGE : 0;
}

const char *unc_expr_why(const struct unc_expr *e, const double *refs,
			 const struct unc_expr_vars *vars)
{
	double value;

	return run(e, refs, vars, &value);
}
