/* SPDX-License-Identifier: BSD-3-Clause */
/* The table reader: metrics.tbl and workload.tbl. */
#include "table_build.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "event.h"
#include "expr.h"

enum { MAX_TEXT = 1024, MAX_WORD = 24 };

/* ---- metrics.tbl */

/* Replaces {x} by a number or word. */
static bool expand(const char *text, const char *x, char *out, size_t size)
{
	size_t n = 0;

	while (*text && n + MAX_WORD < size) {
		if (strncmp(text, "{x}", 3) == 0) {
			n += (size_t)snprintf(out + n, size - n, "%s", x);
			text += 3;
		} else {
			out[n++] = *text++;
		}
	}
	out[n] = '\0';
	return *text == '\0';
}

/* "cha.LLC_MPI" -> type cha, LLC_MPI; a name without a known type is portable. */
static const char *split_name(const struct unc_table *t, const char *name, uint16_t *type)
{
	const char *dot = strchr(name, '.');
	char word[40];

	*type = UNC_NONE;
	if (!dot || (size_t)(dot - name) >= sizeof(word))
		return name;
	memcpy(word, name, (size_t)(dot - name));
	word[dot - name] = '\0';
	*type = unc_find_type(t, word);
	return *type == UNC_NONE ? NULL : dot + 1;
}

static bool have_metric(const struct unc_table *t, uint16_t type, const char *name)
{
	for (size_t i = 0; i < t->n_metric; i++)
		if (t->metric[i].type == type && unc_same(unc_tbl_str(t, t->metric[i].name), name))
			return true;
	return false;
}

static int check_unit(struct unc_table_reader *r, const char *unit)
{
	static const char *const units[] = {
		"bytes",           "count", "ratio", "ns", "clocks", "hz", "bytes_per_second",
		"count_per_second"};

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (strcmp(unit, units[i]) == 0)
			return 0;
	return unc_bad(r, "unit=%s is not a known unit", unit);
}

static int add_metric(struct unc_table_reader *r, const struct unc_words_metric *w, const char *x)
{
	struct unc_tbl_metric m = {0};
	char name[128], formula[MAX_TEXT], desc[MAX_TEXT];

	if (!expand(w->name, x, name, sizeof(name)) ||
	    !expand(w->formula, x, formula, sizeof(formula)) ||
	    !expand(w->desc, x, desc, sizeof(desc)))
		return unc_bad(r, "metric %s: a text is too long", w->name);
	const char *own = split_name(&r->t, name, &m.type);
	if (!own || !*own)
		return unc_bad(r, "metric %s: no such unit type", name);
	if (have_metric(&r->t, m.type, own))
		return unc_bad(r, "metric %s is described twice", name);
	m.name = unc_add_string(r, own);
	m.formula = unc_add_string(r, formula);
	m.unit = unc_add_string(r, w->unit);
	m.desc = unc_add_string(r, desc);
	m.unavailable = unc_add_string(r, w->unavailable ? w->unavailable : "");
	m.kind = w->kind;
	*unc_add_metric(r) = m;
	return 0;
}

/* x=: numbers and ranges, or words. */
static int add_metrics(struct unc_table_reader *r, const struct unc_words_metric *w,
		       const char *list)
{
	char word[MAX_WORD];
	uint64_t numbers;
	int rc = 0;

	if (unc_parse_mask(list, &numbers)) {
		for (unsigned x = 0; x < 64 && rc == 0; x++) {
			snprintf(word, sizeof(word), "%u", x);
			if (numbers >> x & 1)
				rc = add_metric(r, w, word);
		}
		return rc;
	}
	while (list && *list && rc == 0) {
		const char *rest = list;

		if (!unc_list_next(&list, word, sizeof(word)) || !word[0] ||
		    (word[0] >= '0' && word[0] <= '9'))
			return unc_bad(r, "x=%s is neither numbers up to 63 nor a list of words",
				       rest);
		rc = add_metric(r, w, word);
	}
	return rc;
}

int unc_end_metric(struct unc_table_reader *r)
{
	const struct unc_words_metric *w = &r->w.metric;
	int rc = check_unit(r, w->unit);

	if (rc < 0)
		return rc;
	if ((strstr(w->name, "{x}") != NULL) != (w->x != NULL))
		return unc_bad(r, "x= and {x} in the name belong together");
	return w->x ? add_metrics(r, w, w->x) : add_metric(r, w, "");
}

/* ---- workload.tbl */

struct let_env {
	const struct unc_table_reader *r;
	char text[40]; /* the number that a name stands for, as a formula */
};

static const char *let_formula(void *user, const char *name)
{
	struct let_env *env = user;

	for (size_t i = 0; i < env->r->n_lets; i++)
		if (strcmp(env->r->let[i].name, name) == 0) {
			snprintf(env->text, sizeof(env->text), "%.17g", env->r->let[i].value);
			return env->text;
		}
	return NULL;
}

static int let_event(void *user, const char *text, char *buf, size_t size, struct unc_error *err)
{
	(void)user;
	(void)buf;
	(void)size;
	return unc_fail(err, UNC_ERR_TABLE, "no number is called %s", text);
}

static int evaluate(struct unc_table_reader *r, const char *text, double *value,
		    struct unc_error *err)
{
	struct let_env env = {.r = r};
	struct unc_expr_env lookup = {let_formula, let_event, &env};
	struct unc_expr_vars vars = {NAN, NAN, NAN}; /* a workload has none of them */
	struct unc_expr *expr;
	int rc = unc_expr_parse(text, &lookup, &expr, err);

	if (rc < 0)
		return rc;
	rc = unc_expr_eval(expr, NULL, &vars, value);
	unc_expr_free(expr);
	if (rc < 0 || *value < 0)
		return unc_fail(err, UNC_ERR_TABLE, "\"%s\" is not a number of at least 0", text);
	return 0;
}

static int set_let(struct unc_table_reader *r, const char *name, double value, bool again,
		   struct unc_error *err)
{
	size_t i = 0;

	while (i < r->n_lets && strcmp(r->let[i].name, name) != 0)
		i++;
	if (i < r->n_lets && !again)
		return unc_fail(err, UNC_ERR_TABLE, "%s is given twice", name);
	if (i == UNC_MAX_LETS || strlen(name) >= sizeof(r->let[i].name))
		return unc_fail(err, UNC_ERR_TABLE, "too many numbers, or too long a name: %s",
				name);
	strcpy(r->let[i].name, name);
	r->let[i].value = value;
	r->n_lets += i == r->n_lets;
	return 0;
}

static bool equals_sign(const struct unc_word *w)
{
	return !w->quoted && strcmp(w->value, "=") == 0;
}

/* let NAME = EXPRESSION; the words of the expression are joined again. */
static int read_let(struct unc_table_reader *r, struct unc_line *line, struct unc_error *err)
{
	const char *name = unc_take_plain(line);
	char text[MAX_TEXT] = "";
	double value = 0;

	if (!name || line->n < 4 || !equals_sign(&line->word[2]))
		return unc_fail(err, UNC_ERR_TABLE, "want: let NAME = EXPRESSION");
	for (size_t i = 2; i < line->n; i++) {
		struct unc_word *w = &line->word[i];
		size_t at = strlen(text);

		if (w->key && w->used)
			continue; /* cpu= */
		w->used = true;
		if (w->key)
			return unc_fail(err, UNC_ERR_TABLE, "want: let NAME = EXPRESSION");
		if (i > 2)
			snprintf(text + at, sizeof(text) - at, "%s ", w->value);
	}
	int rc = evaluate(r, text, &value, err);
	return rc < 0 ? rc : set_let(r, name, value, false, err);
}

/* key=NUMBER. Missing: error if `needed`, else *value is left alone. Larger than max: error. */
static int unc_take_number(struct unc_line *line, const char *key, bool needed, uint64_t max,
			   uint64_t *value, struct unc_error *err)
{
	const char *text = unc_take(line, key);
	uint64_t v;

	if (!text)
		return needed ? unc_fail(err, UNC_ERR_TABLE, "%s= is missing", key) : 0;
	if (!unc_parse_number(text, &v))
		return unc_fail(err, UNC_ERR_TABLE, "%s=%s is not a number", key, text);
	if (v > max)
		return unc_fail(err, UNC_ERR_TABLE, "%s=%s is larger than 0x%llx", key, text,
				(unsigned long long)max);
	*value = v;
	return 0;
}

static int take_double(struct unc_line *line, const char *key, double *value, struct unc_error *err)
{
	const char *text = unc_take(line, key);

	if (!text || !unc_parse_double(text, value) || *value <= 0)
		return unc_fail(err, UNC_ERR_TABLE, "%s=%s is not a number above 0", key,
				text ? text : "");
	return 0;
}

static int read_machine(struct unc_table_reader *r, struct unc_line *line, struct unc_error *err)
{
	uint64_t sockets = 0, cores = 0, threads = 1, model = 0;
	const char *title = unc_take_quoted(line);
	int rc;

	if (r->work.machine.sockets || !title)
		return unc_fail(err, UNC_ERR_TABLE, "machine is given twice or has no title");
	if ((rc = unc_take_number(line, "sockets", true, 8, &sockets, err)) < 0 ||
	    (rc = unc_take_number(line, "cores", true, 1024, &cores, err)) < 0 ||
	    (rc = unc_take_number(line, "threads", false, 8, &threads, err)) < 0 ||
	    (rc = unc_take_number(line, "model", true, 255, &model, err)) < 0 ||
	    (rc = take_double(line, "tsc_hz", &r->work.machine.tsc_hz, err)) < 0)
		return rc;
	if (!sockets || !cores || !threads)
		return unc_fail(err, UNC_ERR_TABLE,
				"sockets=, cores= and threads= must be at least 1");
	r->work.machine.threads = (uint8_t)threads;
	r->work.machine.sockets = (uint8_t)sockets;
	r->work.machine.cores = (uint16_t)cores;
	r->work.machine.model = (uint8_t)model;
	r->work.machine.title = unc_add_string(r, title);
	return 0;
}

static int take_type(struct unc_table_reader *r, struct unc_line *line, uint16_t *type,
		     struct unc_error *err)
{
	const char *name = unc_take_plain(line);

	*type = name ? unc_find_type(&r->t, name) : UNC_NONE;
	return *type == UNC_NONE
		       ? unc_fail(err, UNC_ERR_TABLE, "no unit type '%s'", name ? name : "")
		       : 0;
}

static int read_unit(struct unc_table_reader *r, struct unc_line *line, struct unc_error *err)
{
	struct unc_tbl_sim_unit u = {0};
	int rc = take_type(r, line, &u.type, err);

	if (rc < 0)
		return rc;
	if (r->t.type[u.type].pool)
		return unc_fail(err, UNC_ERR_TABLE, "a view has no units of its own");
	const char *present = unc_take(line, "present");
	if (!present || !unc_parse_mask(present, &u.present))
		return unc_fail(err, UNC_ERR_TABLE, "present=%s is not a list of units",
				present ? present : "");
	for (size_t i = 0; i < r->work.n_sim_unit; i++)
		if (r->work.sim_unit[i].type == u.type)
			return unc_fail(err, UNC_ERR_TABLE, "this unit is described twice");
	if ((rc = take_double(line, "clock", &u.clock_hz, err)) < 0)
		return rc;
	*unc_add_sim_unit(r) = u;
	return 0;
}

static double clock_of(const struct unc_table_reader *r, uint16_t type)
{
	for (size_t i = 0; i < r->work.n_sim_unit; i++)
		if (r->work.sim_unit[i].type == unc_type_pool(&r->t, type))
			return r->work.sim_unit[i].clock_hz;
	return 0;
}

/* Bits of CTL that tell what is counted. A bit that comes with a field which any event takes only
 * says that the field is used. */
static uint64_t what_mask(const struct unc_table *t, const struct unc_tbl_type *type)
{
	uint64_t mask = 0, beside = unc_type_modifiers(t, type);

	for (uint32_t i = 0; i < type->fields.n; i++) {
		const struct unc_tbl_field *f = &t->field[type->fields.first + i];

		mask |= unc_field_bits(f, UNC_NONE);
		for (uint32_t k = 0; (f->flags & UNC_FIELD_USER) && k < f->with.n; k++)
			beside |= unc_field_bits(&t->field[t->set[f->with.first + k].field],
						 UNC_NONE);
	}
	return mask & ~beside;
}

static int add_rate(struct unc_table_reader *r, struct unc_tbl_rate *rate,
		    const struct unc_code *code, struct unc_error *err)
{
	if (code->n_filters > sizeof(rate->filter) / sizeof(rate->filter[0]))
		return unc_fail(err, UNC_ERR_TABLE, "a rate may depend on 4 filter registers");
	rate->counter = code->counter;
	rate->ctl_mask = what_mask(&r->t, &r->t.type[rate->type]);
	rate->ctl = code->ctl & rate->ctl_mask;
	rate->n_filters = (uint8_t)code->n_filters;
	for (unsigned i = 0; i < code->n_filters; i++)
		rate->filter[i] = (struct unc_tbl_rate_filter){
			code->filter[i].reg, code->filter[i].value, code->filter[i].mask};
	*unc_add_rate(r) = *rate;
	return 0;
}

static int read_rate(struct unc_table_reader *r, struct unc_line *line, bool per_clock,
		     struct unc_error *err)
{
	struct unc_tbl_rate rate = {.counter = UNC_NONE};
	struct unc_spec spec;
	struct unc_code code;
	char text[UNC_SPEC_MAX];
	double value = 0;
	int rc = take_type(r, line, &rate.type, err);

	if (rc < 0)
		return rc;
	const char *event = NULL, *expression = unc_take_quoted(line);
	for (size_t i = 2; i < line->n && !event; i++) {
		struct unc_word *w = &line->word[i];

		if (w->used)
			continue;
		/* "opc=0x182" in the event makes the word key=value: put it together again. */
		if (w->key)
			w->value[-1] = '=';
		event = w->key ? w->key : w->value;
		w->used = true;
	}
	if (!event || !expression)
		return unc_fail(err, UNC_ERR_TABLE, "want: rate TYPE EVENT \"expression\"");
	if (clock_of(r, rate.type) == 0)
		return unc_fail(err, UNC_ERR_TABLE, "the unit line of this type must come first");
	snprintf(text, sizeof(text), "%s.%s", unc_tbl_str(&r->t, r->t.type[rate.type].name), event);
	if ((rc = unc_spec_parse(&r->t, text, &spec, err)) < 0 ||
	    (rc = unc_spec_encode(&r->t, &spec, 0, r->work.machine.sockets, &code, err)) < 0 ||
	    (rc = set_let(r, "clock", clock_of(r, rate.type), true, err)) < 0 ||
	    (rc = evaluate(r, expression, &value, err)) < 0)
		return rc;
	rate.per_second = per_clock ? 0 : value;
	rate.per_clock = per_clock ? value : 0;
	if (!code.by_socket)
		return add_rate(r, &rate, &code, err);
	for (int socket = 0; socket < r->work.machine.sockets; socket++) {
		rate.only_socket = (uint8_t)(socket + 1);
		if ((rc = unc_spec_encode(&r->t, &spec, socket, r->work.machine.sockets, &code, err)) <
			    0 ||
		    (rc = add_rate(r, &rate, &code, err)) < 0)
			return rc;
	}
	return 0;
}

int unc_read_workload(struct unc_table_reader *r, struct unc_line *line, struct unc_error *err)
{
	const char *word = unc_take_plain(line);
	int rc;

	if (word && strcmp(word, "machine") == 0)
		rc = read_machine(r, line, err);
	else if (word && strcmp(word, "unit") == 0)
		rc = read_unit(r, line, err);
	else if (word && strcmp(word, "let") == 0)
		rc = read_let(r, line, err);
	else if (word && strcmp(word, "rate") == 0)
		rc = read_rate(r, line, false, err);
	else if (word && strcmp(word, "occupancy") == 0)
		rc = read_rate(r, line, true, err);
	else
		rc = unc_fail(err, UNC_ERR_TABLE,
			      "'%s' is not machine, unit, let, rate or occupancy",
			      line->word[0].value);
	return rc < 0 ? rc : unc_words_done(r);
}
