/* SPDX-License-Identifier: BSD-3-Clause */
#include "kinds.h"

#include <ctype.h>
#include <dirent.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "encode/event.h"
#include "sim/sim.h"

/* ---- what a type is to the code */

typedef void put_fn(struct unc_buf *, const struct unc_table *, const struct unc_tbl_type *);

static void put_spaces(struct unc_buf *b, const struct unc_table *t, const struct unc_tbl_type *y)
{
	for (unsigned i = 0; i < y->parts.n; i++)
		unc_put(b, "%s%s", i ? "+" : "", unc_space_name(t->part[y->parts.first + i].space));
}

static void put_counters(struct unc_buf *b, const struct unc_table *t, const struct unc_tbl_type *y)
{
	(void)t;
	unc_put(b, "%u of %u bits", y->n_counters, y->width);
}

/* Each width once; free-running counters have no control. */
static void put_fixed(struct unc_buf *b, const struct unc_table *t, const struct unc_tbl_type *y)
{
	uint64_t seen[2] = {0};
	unsigned n = 0;

	for (unsigned i = 0; i < y->counters.n; i++) {
		const struct unc_tbl_counter *c = &t->counter[y->counters.first + i];
		bool runs = c->ctl == UNC_NONE;
		uint64_t bit = (uint64_t)1 << (c->width - 1);

		if (!(seen[runs] & bit))
			unc_put(b, "%s%s of %u", n++ ? ", " : "", runs ? "free" : "fixed",
				c->width);
		seen[runs] |= bit;
	}
	if (!n)
		unc_put(b, "none");
}

static void put_reg(struct unc_buf *b, const struct unc_table *t, uint16_t reg)
{
	if (reg == UNC_NONE)
		unc_put(b, "none");
	else
		unc_put(b, "%u bits, flags 0x%x", t->reg[reg].width, t->reg[reg].flags);
}

static void put_ctl(struct unc_buf *b, const struct unc_table *t, const struct unc_tbl_type *y)
{
	put_reg(b, t, y->first_ctl);
}

static void put_ctr(struct unc_buf *b, const struct unc_table *t, const struct unc_tbl_type *y)
{
	put_reg(b, t, y->n_counters ? y->first_ctr : UNC_NONE);
}

static void put_first(struct unc_buf *b, const struct unc_table *t, const struct unc_tbl_type *y)
{
	(void)t;
	unc_put(b, "%u", y->first);
}

static void put_unit_ctl(struct unc_buf *b, const struct unc_table *t, const struct unc_tbl_type *y)
{
	put_reg(b, t, y->unit_ctl);
}

static void put_steps(struct unc_buf *b, const struct unc_table *t, const struct unc_range *steps)
{
	static const char *const words[] = {
		[UNC_STEP_WRITE] = "write",       [UNC_STEP_FILTERS] = "filters",
		[UNC_STEP_CONTROLS] = "controls", [UNC_STEP_PRELOAD] = "preload",
		[UNC_STEP_RESTORE] = "restore",   [UNC_STEP_FOUND] = "found"};

	for (unsigned i = 0; i < steps->n; i++)
		unc_put(b, " %s", words[t->step[steps->first + i].kind]);
	unc_put(b, ";");
}

static void put_all_steps(struct unc_buf *b, const struct unc_table *t,
			  const struct unc_tbl_type *y)
{
	put_steps(b, t, &y->steps_start);
	put_steps(b, t, &y->steps_stop);
}

static void put_freeze(struct unc_buf *b, const struct unc_table *t, const struct unc_tbl_type *y)
{
	put_steps(b, t, &y->steps_freeze);
	put_steps(b, t, &y->steps_unfreeze);
}

static void put_socket(struct unc_buf *b, const struct unc_table *t, const struct unc_tbl_type *y)
{
	(void)t;
	unc_put(b, "%u of the socket%s", y->n_global, y->has_unfreeze ? ", unfreezes it" : "");
}

static void put_exclusive(struct unc_buf *b, const struct unc_table *t,
			  const struct unc_tbl_type *y)
{
	(void)t;
	unc_put(b, "%s", y->exclusive ? "yes" : "no");
}

static void put_enable(struct unc_buf *b, const struct unc_table *t, const struct unc_tbl_type *y)
{
	(void)t;
	unc_put(b, "%s", !y->enable ? "none" : y->enable == y->active ? "is use" : "one of those");
}

static void put_lanes(struct unc_buf *b, const struct unc_table *t, const struct unc_tbl_type *y)
{
	bool same = false;

	for (unsigned i = 0; i < y->lanes.n; i++)
		same |= t->lane[y->lanes.first + i].same != 0;
	unc_put(b, "%s", !y->lanes.n ? "no" : same ? "with bits of the lead" : "yes");
}

/* Registers that qualify what is counted. */
static void put_filters(struct unc_buf *b, const struct unc_table *t, const struct unc_tbl_type *y)
{
	unsigned n = 0, flags = 0, parts = 0;
	bool busy = false;

	for (unsigned i = y->fields.first; i < (unsigned)(y->fields.first + y->fields.n); i++) {
		uint16_t reg = t->field[i].reg[0];

		if (reg == UNC_NONE || t->reg[reg].role != UNC_ROLE_OTHER)
			continue;
		n++;
		flags |= t->reg[reg].flags;
		parts |= 1u << t->reg[reg].part;
		busy |= t->reg[reg].busy != 0;
	}
	if (n)
		unc_put(b, "flags 0x%x, parts 0x%x%s", flags, parts, busy ? ", busy" : "");
	else
		unc_put(b, "none");
}

/* Registers that several units have. */
static void put_shared(struct unc_buf *b, const struct unc_table *t, const struct unc_tbl_type *y)
{
	bool each = false, one = false;

	for (unsigned i = y->regs.first; i < (unsigned)(y->regs.first + y->regs.n); i++) {
		each |= t->reg[i].per_unit != 0;
		one |= (t->reg[i].flags & UNC_REG_ABS) != 0;
	}
	unc_put(b, "%s%s", one ? "of the socket" : "no", each ? ", side by side" : "");
}

static void put_once(struct unc_buf *b, const struct unc_table *t, const struct unc_tbl_type *y)
{
	bool once = false;

	for (unsigned i = 0; i < y->fields.n; i++)
		once |= (t->field[y->fields.first + i].flags & UNC_FIELD_ONCE) != 0;
	unc_put(b, "%s", once ? "yes" : "no");
}

/* Clocks tell whether a unit counts: on a counter of its own or any; stopped by an event. */
static void put_clocks(struct unc_buf *b, const struct unc_table *t, const struct unc_tbl_type *y)
{
	bool own = false, any = false, stops = false;

	for (unsigned i = y->events.first; i < (unsigned)(y->events.first + y->events.n); i++) {
		const struct unc_tbl_event *e = &t->event[i];

		own |= e->clock && e->counter != UNC_NONE;
		any |= e->clock && e->counter == UNC_NONE;
		stops |= e->stops != 0;
	}
	unc_put(b, "%s%s%s%s", own || any ? "yes" : "no", own ? ", fixed" : "",
		any ? ", programmed" : "", stops ? ", stopped" : "");
}

static void put_cpus(struct unc_buf *b, const struct unc_table *t, const struct unc_tbl_type *y)
{
	(void)t;
	unc_put(b, "%s%s", y->cpus ? "each CPU" : "no", y->share > 1 ? ", in shares" : "");
}

static void put_kernel(struct unc_buf *b, const struct unc_table *t, const struct unc_tbl_type *y)
{
	if (!y->kernels.n)
		unc_put(b, "none");
	for (unsigned i = 0; i < y->kernels.n; i++) {
		const struct unc_tbl_kernel *k = &t->kernel[y->kernels.first + i];
		bool filters = false;

		for (size_t j = 0; j < sizeof(k->config) / sizeof(*k->config); j++)
			filters |= k->config[j] != UNC_NONE;
		unc_put(b, "%s%s%s%s", i ? ", " : "", k->unavailable ? "not" : "yes",
			k->free ? " free-running" : "", filters ? " with filters" : "");
	}
}

/*
 * What units/ and session/ look at. Of a kind is what makes a unit another machine: types that
 * differ there are never the same. The rest are branches by themselves: of each at least one type
 * of each value is tried, whatever else it is. And what is no branch, and why.
 */
static const struct property {
	const char *name;
	enum { OF_KIND, BY_ITSELF, NONE } is;
	put_fn *put;
	const char *words; /* members of the table's rows, constants */
} properties[] = {
	{"in", OF_KIND, put_spaces,
	 "parts space UNC_SPACE_MSR UNC_SPACE_PCI UNC_SPACE_MMIO UNC_SPACE_PERF"},
	{"counters", OF_KIND, put_counters, "n_counters width"},
	{"others", OF_KIND, put_fixed, "counters ctl ctr UNC_ROLE_FIXED_CTL"},
	{"number of the first", BY_ITSELF, put_first, "first number"},
	{"controls", BY_ITSELF, put_ctl, "first_ctl role flags UNC_ROLE_CTL"},
	{"counter registers", BY_ITSELF, put_ctr, "UNC_REG_SEXT"},
	{"unit control", OF_KIND, put_unit_ctl, "unit_ctl UNC_ROLE_UNIT_CTL UNC_REG_WO"},
	{"steps", BY_ITSELF, put_all_steps,
	 "steps_start steps_stop UNC_STEP_WRITE UNC_STEP_FILTERS "
	 "UNC_STEP_CONTROLS UNC_STEP_PRELOAD UNC_STEP_RESTORE UNC_STEP_FOUND"},
	{"freezes", OF_KIND, put_freeze, "steps_freeze steps_unfreeze"},
	{"global status", BY_ITSELF, put_socket, "n_global has_unfreeze"},
	{"exclusive", OF_KIND, put_exclusive, "exclusive"},
	{"enabled", BY_ITSELF, put_enable, "enable active"},
	{"lanes", OF_KIND, put_lanes, "lanes lane lead same set"},
	{"filters", OF_KIND, put_filters,
	 "fields part busy UNC_ROLE_OTHER UNC_REG_W1C UNC_REG_FROZEN"},
	{"shared registers", OF_KIND, put_shared, "regs"},
	{"once", BY_ITSELF, put_once, "UNC_FIELD_ONCE"},
	{"clocks", BY_ITSELF, put_clocks, "clock stops counter"},
	{"of each CPU", OF_KIND, put_cpus, "cpus share"},
	{"kernel", BY_ITSELF, put_kernel, "kernel config unavailable"},
	{"words of a sentence", NONE, NULL, "name title desc"},
	{"values that are written or compared", NONE, NULL,
	 "base code event f_event f_umask events mask write_mask unfreeze unfreeze_value"},
	{"bounds of a count", NONE, NULL, "max_inc"},
	{"sums of units, in test_session_run", NONE, NULL, "aggregate"},
	{"PCIe ports, in test_stacks", NONE, NULL, "ports"},
	{"what others than types have", NONE, NULL, "type"},
};

enum { N_PROPERTIES = sizeof(properties) / sizeof(*properties) };

static void put_property(struct unc_buf *b, size_t i, const struct unc_table *t, unsigned type)
{
	unc_put(b, "%s: ", properties[i].name);
	properties[i].put(b, t, &t->type[type]);
}

const char *kinds_text(const struct unc_table *t, unsigned type, char text[KINDS_TEXT])
{
	struct unc_buf b = unc_buf(text, KINDS_TEXT);

	for (size_t i = 0; i < N_PROPERTIES; i++)
		if (properties[i].is == OF_KIND) {
			unc_put(&b, "%s", i ? "; " : "");
			put_property(&b, i, t, type);
		}
	return text;
}

/* ---- what an event is to the code */

uint64_t kinds_mixed(uint64_t hash, const void *data, size_t n)
{
	for (size_t i = 0; i < n; i++) /* FNV-1a */
		hash = (hash ^ ((const unsigned char *)data)[i]) * 1099511628211u;
	return hash;
}

/* Bits of the control beside the event's code and umask: what else the event sets. */
static bool has_more(const struct unc_table *t, const struct unc_tbl_type *type, uint64_t ctl)
{
	uint64_t plain = type->enable | type->active;

	if (type->f_event != UNC_NONE)
		plain |= unc_field_bits(&t->field[type->f_event], UNC_NONE);
	if (type->f_umask != UNC_NONE)
		plain |= unc_field_bits(&t->field[type->f_umask], UNC_NONE);
	return (ctl & ~plain) != 0;
}

uint64_t kinds_shape(const struct unc_table *t, const struct unc_encoding *e)
{
	const struct unc_tbl_event *event = &t->event[e->event];
	const struct unc_tbl_type *type = &t->type[event->type];
	char kind[KINDS_TEXT];
	unsigned more[] = {(unsigned)e->aggregate,
			   (unsigned)e->n_filters,
			   event->lane != 0,
			   event->set,
			   event->clock,
			   event->stops,
			   has_more(t, type, e->ctl)};
	uint64_t hash;

	kinds_text(t, unc_type_pool(t, event->type), kind);
	hash = kinds_mixed(KINDS_HASH, kind, strlen(kind));
	hash = kinds_mixed(hash, &e->counters, sizeof(e->counters));
	hash = kinds_mixed(hash, more, sizeof(more));
	for (size_t i = 0; i < e->n_filters; i++)
		hash = kinds_mixed(hash, e->filters[i].reg, strlen(e->filters[i].reg));
	return e->counter ? kinds_mixed(hash, e->counter, strlen(e->counter)) : hash;
}

/* ---- what the simulated machines have */

/* What units of a type count that often, by what their control says. */
static unsigned rates_of(const struct unc_workload *w, unsigned type, double least)
{
	unsigned n = 0;

	for (size_t i = 0; i < w->n_load; i++) {
		const struct unc_tbl_load *r = &w->load[i];

		n += r->type == type && !r->cxl && (r->per_second >= least || r->per_clock > 0);
	}
	return n;
}

static bool has_units(const struct unc_workload *w, unsigned type)
{
	for (size_t i = 0; i < w->n_sim_unit; i++)
		if (w->sim_unit[i].type == type)
			return true;
	return false;
}

static unsigned simulated(const struct unc_table *t, unsigned type, double least)
{
	struct unc_workload built;
	const struct unc_workload *w = unc_sim_workload(t, &built);

	return w && (has_units(w, type) || t->type[type].cpus) ? rates_of(w, type, least) : 0;
}

bool kinds_simulated(const struct unc_table *t, unsigned type)
{
	return simulated(t, type, 100) > 0;
}

bool kinds_driven(const struct unc_table *t, unsigned type)
{
	const struct unc_range *rows = &t->type[type].kernels;
	bool driven = false;

	for (unsigned i = 0; i < rows->n; i++)
		driven |= !t->kernel[rows->first + i].unavailable;
	return driven && kinds_simulated(t, type);
}

/* ---- which types stand for the others */

bool kinds_all(void)
{
	const char *all = getenv("ALL");

	return all && strcmp(all, "1") == 0;
}

enum { MAX_VALUES = 256, MAX_CPUS = UNC_TABLE_CPUS };

/* The types there are, and what has been picked of them. */
static struct pool {
	struct one {
		size_t cpu;
		unsigned type;
		char text[KINDS_TEXT];
		unsigned alike;      /* of its kind */
		bool picked, served; /* its kind has one */
	} one[KINDS_MAX];
	size_t n;
	unsigned used[MAX_CPUS];
	char value[MAX_VALUES]
		  [KINDS_TEXT]; /* that picked types have, of properties by themselves */
	size_t n_values;
} pool;

static void find_types(bool (*suits)(const struct unc_table *, unsigned type))
{
	const struct unc_table *t;

	memset(&pool, 0, sizeof(pool));
	for (size_t cpu = 0; (t = cases_table(cpu)) != NULL; cpu++)
		for (unsigned i = 0; i < t->n_type && pool.n < KINDS_MAX && cpu < MAX_CPUS; i++) {
			struct one *one = &pool.one[pool.n];

			if (unc_type_pool(t, i) != i || (suits && !suits(t, i)))
				continue; /* a view of another's units */
			*one = (struct one){.cpu = cpu, .type = i};
			kinds_text(t, i, one->text);
			pool.n++;
		}
	for (size_t i = 0; i < pool.n; i++)
		for (size_t k = 0; k < pool.n; k++)
			pool.one[i].alike += strcmp(pool.one[i].text, pool.one[k].text) == 0;
}

static bool has_value(const char *value)
{
	for (size_t i = 0; i < pool.n_values; i++)
		if (strcmp(pool.value[i], value) == 0)
			return true;
	return false;
}

static void value_of_property(const struct one *one, size_t property, char value[KINDS_TEXT])
{
	struct unc_buf b = unc_buf(value, KINDS_TEXT);

	put_property(&b, property, cases_table(one->cpu), one->type);
}

/* How many values a type has that no picked one has; the first of them. */
static unsigned new_values(const struct one *one, char first[KINDS_TEXT])
{
	char value[KINDS_TEXT];
	unsigned n = 0;

	for (size_t i = 0; i < N_PROPERTIES; i++) {
		if (properties[i].is != BY_ITSELF)
			continue;
		value_of_property(one, i, value);
		if (!has_value(value) && n++ == 0)
			snprintf(first, KINDS_TEXT, "%s", value);
	}
	return n;
}

static unsigned with_value(const char *value)
{
	char its[KINDS_TEXT];
	unsigned n = 0;

	for (size_t i = 0; i < pool.n; i++)
		for (size_t k = 0; k < N_PROPERTIES; k++) {
			if (properties[k].is != BY_ITSELF)
				continue;
			value_of_property(&pool.one[i], k, its);
			n += strcmp(its, value) == 0;
		}
	return n;
}

static void pick(struct one *one)
{
	for (size_t i = 0; i < N_PROPERTIES; i++) {
		char value[KINDS_TEXT];

		if (properties[i].is != BY_ITSELF)
			continue;
		value_of_property(one, i, value);
		if (!has_value(value) && pool.n_values < MAX_VALUES)
			memcpy(pool.value[pool.n_values++], value, sizeof(value));
	}
	for (size_t i = 0; i < pool.n; i++)
		pool.one[i].served |= strcmp(pool.one[i].text, one->text) == 0;
	one->picked = true;
	pool.used[one->cpu]++;
}

/* A type on which little counts cannot be tried in several passes. */
static bool is_rich(const struct one *one)
{
	const struct unc_table *t = cases_table(one->cpu);

	return simulated(t, one->type, 1e5) > t->type[one->type].n_counters + 2u;
}

/* A trial on a type of a hundred units costs as much as those on ten others. */
static bool is_huge(const struct one *one)
{
	return unc_type_instances(cases_table(one->cpu), one->type) > 64;
}

/* Whether a type is to stand for its kind rather than another one. */
static bool is_better(const struct one *a, const struct one *b)
{
	char ignored[KINDS_TEXT];
	unsigned x = new_values(a, ignored), y = new_values(b, ignored);

	if (is_rich(a) != is_rich(b))
		return is_rich(a);
	if (is_huge(a) != is_huge(b))
		return is_huge(b);
	return x != y ? x > y : pool.used[a->cpu] < pool.used[b->cpu];
}

/* The best of those of which none has been picked for its kind, the rarest kind first, for there is
 * no choice; NULL: all kinds have one. */
static struct one *next_of_kind(void)
{
	struct one *best = NULL;

	for (size_t i = 0; i < pool.n; i++) {
		struct one *one = &pool.one[i];

		if (one->served)
			continue;
		if (!best || one->alike < best->alike ||
		    (strcmp(one->text, best->text) == 0 && is_better(one, best)))
			best = one;
	}
	return best;
}

static struct one *next_with_value(char value[KINDS_TEXT])
{
	struct one *best = NULL;
	char ignored[KINDS_TEXT];

	for (size_t i = 0; i < pool.n; i++)
		if (!pool.one[i].picked && new_values(&pool.one[i], ignored) > 0 &&
		    (!best || is_better(&pool.one[i], best)))
			best = &pool.one[i];
	if (best)
		new_values(best, value);
	return best;
}

static int compare(const void *a, const void *b)
{
	const struct kinds_type *x = a, *y = b;

	if (x->cpu != y->cpu)
		return x->cpu < y->cpu ? -1 : 1;
	return x->type < y->type ? -1 : x->type > y->type;
}

static void take(struct kinds_type *out, struct one *one, unsigned stands_for, const char *text)
{
	*out = (struct kinds_type){.cpu = one->cpu, .type = one->type, .stands_for = stands_for};
	snprintf(out->text, sizeof(out->text), "%s", text);
	pick(one);
}

size_t kinds_pick(bool (*suits)(const struct unc_table *, unsigned type),
		  struct kinds_type out[KINDS_MAX])
{
	struct one *one;
	char value[KINDS_TEXT];
	size_t n = 0;

	find_types(suits);
	for (size_t i = 0; kinds_all() && i < pool.n; i++)
		take(&out[n++], &pool.one[i], 1, pool.one[i].text);
	while ((one = next_of_kind()) != NULL)
		take(&out[n++], one, one->alike, one->text);
	while ((one = next_with_value(value)) != NULL)
		take(&out[n++], one, with_value(value), value);
	qsort(out, n, sizeof(*out), compare);
	for (size_t i = 0; i < n && !kinds_all(); i++) {
		const struct unc_table *t = cases_table(out[i].cpu);

		printf("# %s %s stands for %u types: %s\n", cases_cpu(out[i].cpu),
		       unc_type_name(t, out[i].type), out[i].stands_for, out[i].text);
	}
	return n;
}

bool kinds_cpu(size_t cpu)
{
	const struct unc_table *t = cases_table(cpu);

	return kinds_all() || !t->folder;
}

/* ---- whether the kinds have all that the code looks at */

struct words {
	char word[512][48];
	size_t n;
};

static bool is_among(const struct words *w, const char *word)
{
	for (size_t i = 0; i < w->n; i++)
		if (strcmp(w->word[i], word) == 0)
			return true;
	return false;
}

static void add_word(struct words *w, const char *word)
{
	if (!is_among(w, word) && w->n < sizeof(w->word) / sizeof(*w->word))
		snprintf(w->word[w->n++], sizeof(*w->word), "%s", word);
}

static char *read_source(const char *dir, const char *name)
{
	const char *source = getenv("SRCDIR");
	char path[512];
	char *text = calloc(1, 1 << 20);
	size_t n;

	snprintf(path, sizeof(path), "%s/common/%s/%s", source ? source : ".", dir, name);
	FILE *f = fopen(path, "r");
	if (!f || !text) {
		printf("# cannot read %s\n", path);
		free(text);
		return NULL;
	}
	n = fread(text, 1, (1 << 20) - 1, f);
	text[n] = '\0';
	fclose(f);
	/* Without comments. */
	for (char *at = text, *end; (at = strstr(at, "/*")) != NULL;) {
		end = strstr(at, "*/");
		memset(at, ' ', end ? (size_t)(end + 2 - at) : strlen(at));
	}
	return text;
}

static bool in_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* The next word at or behind `at`; its end, or NULL. */
static char *next_word(char **at, char word[48])
{
	char *s = *at, *end;

	while (*s && !in_word(*s))
		s++;
	for (end = s; in_word(*end); end++)
		continue;
	snprintf(word, 48, "%.*s", (int)(end - s), s);
	*at = s;
	return end > s ? end : NULL;
}

/* Members of a struct: words before [ , or ; */
static void add_members(struct words *w, const char *header, const char *row)
{
	char name[64], word[48];
	char *at, *stop, *end;

	snprintf(name, sizeof(name), "struct unc_tbl_%s {", row);
	at = strstr(header, name);
	stop = at ? strstr(at, "\n};") : NULL;
	if (!stop) {
		printf("# there is no %s}\n", name);
		add_word(w, "(no struct)");
		return;
	}
	for (at += strlen(name); (end = next_word(&at, word)) && end < stop; at = end)
		if (strchr("[,;", *end) && !isdigit((unsigned char)*word))
			add_word(w, word);
}

/* What a source names of them, as members, and of constants of the tables. */
static void add_named(struct words *named, char *text, const struct words *members)
{
	static const char *const constants[] = {"UNC_REG_",    "UNC_FIELD_", "UNC_STEP_",
						"UNC_SPACE_",  "UNC_ROLE_",  "UNC_IS_",
						"UNC_FREEZES_"};
	char word[48];

	for (char *at = text, *end; (end = next_word(&at, word)); at = end) {
		bool member = at > text && (at[-1] == '.' || (at[-1] == '>' && at[-2] == '-'));

		if (member && is_among(members, word))
			add_word(named, word);
		for (size_t i = 0; i < sizeof(constants) / sizeof(*constants); i++)
			if (strncmp(word, constants[i], strlen(constants[i])) == 0)
				add_word(named, word);
	}
}

static int read_room(const char *dir, const struct words *members, struct words *named)
{
	const char *source = getenv("SRCDIR");
	char path[512];
	struct dirent *entry;
	int files = 0;

	snprintf(path, sizeof(path), "%s/common/%s", source ? source : ".", dir);
	DIR *d = opendir(path);
	while (d && (entry = readdir(d)) != NULL) {
		size_t n = strlen(entry->d_name);
		char *text;

		if (n < 3 || strcmp(entry->d_name + n - 2, ".c") != 0 ||
		    !(text = read_source(dir, entry->d_name)))
			continue;
		add_named(named, text, members);
		free(text);
		files++;
	}
	if (d)
		closedir(d);
	return files;
}

static bool has_property(const char *word)
{
	size_t n = strlen(word);

	for (size_t i = 0; i < N_PROPERTIES; i++)
		for (const char *at = properties[i].words; (at = strstr(at, word)) != NULL; at += n)
			if ((at == properties[i].words || at[-1] == ' ') &&
			    (at[n] == ' ' || !at[n]))
				return true;
	return false;
}

/* A property that all types share tells nothing apart: what puts it is wrong. */
static unsigned tells_nothing(void)
{
	unsigned n = 0;

	find_types(NULL);
	for (size_t i = 0; i < N_PROPERTIES; i++) {
		char first[KINDS_TEXT], value[KINDS_TEXT];
		bool differs = false;

		for (size_t k = 0; properties[i].put && k < pool.n; k++) {
			value_of_property(&pool.one[k], i, k ? value : first);
			differs |= k && strcmp(value, first) != 0;
		}
		if (properties[i].put && !differs) {
			printf("# %s: the same for all types\n", properties[i].name);
			n++;
		}
	}
	return n;
}

unsigned kinds_unknown(void)
{
	static const char *const rows[] = {"type", "reg",  "counter", "event",
					   "lane", "part", "kernel"};
	static struct words members, named;
	char *header = read_source("tables", "table.h");
	unsigned unknown = 0;

	for (size_t i = 0; header && i < sizeof(rows) / sizeof(*rows); i++)
		add_members(&members, header, rows[i]);
	free(header);
	if (!members.n || !read_room("units", &members, &named) ||
	    !read_room("session", &members, &named))
		return 1;
	for (size_t i = 0; i < named.n; i++)
		if (!has_property(named.word[i])) {
			printf("# %s of the tables is looked at, and no property of a kind: "
			       "tests/kinds.c\n",
			       named.word[i]);
			unknown++;
		}
	return unknown + tells_nothing();
}
