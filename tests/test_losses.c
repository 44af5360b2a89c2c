/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One unit is lost, for each kind of unit (kinds.h; ALL=1: every unit type of every CPU): at the
 * start, in a run, at a change of the pass; and it comes back. What is about other units stays exact, a sum over the others says so and
 * how many they are, what is about this unit alone has no value and says why; when the cause is
 * gone the unit is taken up again, and all is as it was. What is exact is told by a twin of the
 * machine to which nothing happens, unit by unit: the rates of eventtables/CPU/workload.tbl are
 * constant.
 */
#include <math.h>
#include <stdarg.h>

#include "kinds.h"
#include "losing_kit.h"
#include "turns_kit.h"

/* For proofs that a unit counts, time passes while the library waits. */
#define SIM "%s,clock=wait%s"

enum { MAX_EVENTS = 12, MAX_UNITS = 512, TICK_MS = 1000, BACK_TICKS = 20, MAX_OTHERS = 16 };

/* An event of a type, and what each unit of it counts in a second. */
struct known {
	char base[UNC_SPEC_MAX];
	uint64_t ctl;
	bool sums; /* or the most of them is what they are together */
	double rate[MAX_UNITS];
};

/* A unit type of a machine. */
struct kind {
	const char *cpu;
	bool kernel; /* the kernel's driver counts */
	struct unc_platform *p, *twin;
	const struct unc_tbl_type *row;
	const char *name;
	const struct unc_instance *unit[MAX_UNITS];
	size_t n;
	struct known event[MAX_EVENTS];
	size_t n_events;
	const struct known *other; /* an event of another type, */
	double other_rate;         /* of all its units */
};

/* ---- what is right */

/* Of a rate, a second: it is that of five. */
#define RATE_ERROR 0.25

static bool counts_each(struct unc_platform *p, const char *text, double *rate, size_t n,
			double least)
{
	enum { SECONDS = 5 };
	struct unc_session *s = session(p, 0);
	static struct unc_value v[MAX_UNITS];
	int first, rc;
	size_t added;

	rc = unc_session_add_each(s, text, UNC_EACH_UNIT, &first, &added);
	bool ok = rc == 0 && added == n && unc_session_start(s) == 0;

	for (int i = 0; ok && i < SECONDS * 2; i++) {
		step(p, 500 * ms);
		ok = unc_session_read(s, v, n, sizeof(*v)) == 0;
	}
	for (size_t i = 0; ok && i < n; i++) {
		rate[i] = (double)v[i].count / v[i].seconds;
		ok = (v[i].flags & ~UNC_VALUE_FRESH) == UNC_VALUE_VALID && rate[i] >= least;
	}
	unc_session_free(s);
	return ok;
}

/* What counts on all units of the type. */
static void learn_event(struct kind *k, const struct unc_event *e, const char *umask, bool fixed,
			double least)
{
	struct known *known = &k->event[k->n_events];
	struct unc_encoding code = {.size = sizeof(code)};

	snprintf(known->base, sizeof(known->base), "%s%s%s", e->spec, umask ? ":" : "",
		 umask ? umask : "");
	known->sums = e->aggregate == UNC_AGGREGATE_SUM;
	if (unc_event_encode(k->p, known->base, &code) < 0 || (code.counter != NULL) != fixed ||
	    !counts_each(k->twin, known->base, known->rate, k->n, least))
		return;
	known->ctl = code.ctl;
	k->n_events++;
}

static void learn(struct kind *k, bool fixed, double least, size_t most)
{
	const struct unc_event *e;
	const struct unc_umask *u;

	for (size_t i = 0; (e = unc_event_get(k->p, i)) && k->n_events < most; i++) {
		if (strcmp(e->type, k->name) != 0 ||
		    (e->aggregate != UNC_AGGREGATE_SUM && e->aggregate != UNC_AGGREGATE_MAX))
			continue;
		u = unc_umask_get(k->p, i, 0);
		if (!e->needs_umask)
			learn_event(k, e, NULL, fixed, least);
		else if (u && u->standalone && !u->reason[0])
			learn_event(k, e, u->name, fixed, least);
	}
}

/* ---- one trial */

enum expected { WHOLE, LOST, EITHER };
enum { SUM, BAD, GOOD, ROLES };

struct trial {
	const struct kind *k;
	const char *cause, *moment;
	struct unc_session *s;
	size_t bad, good; /* units; good == bad: there is but one */
	unsigned passes, n_sets;
	struct {
		const struct known *event;
		int id[ROLES];
	} set[2]; /* the second is of the last pass */
	int other, n_items;
	unsigned reads;
	bool turns; /* passes take them by themselves */
	bool came; /* the cause: what is scaled, or lacks a thousandth and is not, may be in a value */
	bool failed; /* something was wrong: the rest says nothing new */
};

static void __attribute__((format(printf, 2, 3))) wrong(struct trial *t, const char *format, ...)
{
	const struct unc_instance *u = t->k->unit[t->bad];
	char text[512];
	va_list args;

	if (t->failed)
		return;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	printf("# %s%s, %s%u (socket %u) %s %s, read %u: %s\n", t->k->cpu,
	       t->k->kernel ? " by the kernel" : "", t->k->name, u->index, u->socket, t->cause,
	       t->moment, t->reads, text);
	CU_FAIL("a unit that is lost");
	t->failed = true;
}

static double expected(const struct trial *t, const struct known *event, int role, bool lost)
{
	double all = 0;

	if (role != SUM)
		return event->rate[role == BAD ? t->bad : t->good];
	for (size_t i = 0; i < t->k->n; i++) {
		double rate = lost && i == t->bad ? 0 : event->rate[i];

		all = event->sums ? all + rate : fmax(all, rate);
	}
	return all;
}

static const char *name_of(const struct trial *t, int id)
{
	static struct unc_item item;

	item = (struct unc_item){.size = sizeof(item)};
	return unc_session_item(t->s, id, &item) == 0 ? item.name : "?";
}

static bool names_unit(const struct trial *t, const char *text)
{
	const struct unc_instance *u = t->k->unit[t->bad];
	char name[96];

	snprintf(name, sizeof(name), "%s%u (socket %u)", t->k->name, u->index, u->socket);
	return strstr(text, name) != NULL;
}

/* All of the time that a value is about, and that it says of it. */
static double all_time(struct trial *t, int id, double seconds, double share, double wall)
{
	double all = share > 0 ? seconds / share : 0;

	/* A unit that is taken up again shows that it counts, which takes a moment. */
	if (fabs(all - wall) > 0.01)
		wrong(t, "%s: is of %g s of %g s, share %g", name_of(t, id), seconds, wall, share);
	return all;
}

/* What n units have counted, each of which shows whole counts at each look, scaled to all of the
 * time. */
static void check_exact(struct trial *t, int id, const struct unc_value *v, double rate, size_t n)
{
	double total, interval, all, looks = (double)(t->reads + 2) * t->passes, each = 1;
	double part = t->came && id != t->other ? rate / (double)n * 1e-3 : 0;

	if (v->flags & UNC_VALUE_UNPROVEN) /* it says so */
		return;
	unc_session_time(t->s, &total, &interval);
	all = all_time(t, id, v->seconds, v->share, total);
	if (t->passes > 1 || v->share < 1)
		each += looks / v->share;
	if (fabs((double)v->count - rate * all) >
	    (double)n * (each + RATE_ERROR * all) + part * all)
		wrong(t, "%s: total %.0f for %.0f (share %g, flags 0x%x)", name_of(t, id),
		      (double)v->count, rate * all, v->share, v->flags);
	if (t->passes > 1 || isnan(v->interval))
		return;
	all = all_time(t, id, v->interval_seconds, v->interval_share, interval);
	each = 2 + 2 / v->interval_share;
	if (fabs((double)v->delta - rate * all) >
	    (double)n * (each + RATE_ERROR * all) + part * all)
		wrong(t, "%s: interval %.0f for %.0f (share %g)", name_of(t, id), (double)v->delta,
		      rate * all, v->interval_share);
}

static void check_whole(struct trial *t, int id, const struct unc_value *v, double rate, size_t n)
{
	if (!(v->flags & UNC_VALUE_VALID) || v->flags & (UNC_VALUE_PARTIAL | UNC_VALUE_LOST)) {
		wrong(t, "%s: flags 0x%x for a whole value: %s", name_of(t, id), v->flags,
		      unc_session_reason(t->s, id));
		return;
	}
	if (v->units != v->of || v->of != n)
		wrong(t, "%s: %u of %u for %zu", name_of(t, id), v->units, v->of, n);
	if (*unc_session_partial(t->s, id))
		wrong(t, "%s: whole, and partial: %s", name_of(t, id),
		      unc_session_partial(t->s, id));
	check_exact(t, id, v, rate, n);
}

static int count_missing(void *user, const struct unc_unit *unit)
{
	(void)unit;
	++*(unsigned *)user;
	return 0;
}

/* Of the unit alone: it has no value. */
static void check_none(struct trial *t, int id, const struct unc_value *v)
{
	if (v->flags & UNC_VALUE_VALID || v->count || v->delta)
		wrong(t, "%s: %.0f is a value of nothing", name_of(t, id), (double)v->count);
	else if (!names_unit(t, unc_session_reason(t->s, id)))
		wrong(t, "%s: says not of which unit: '%s'", name_of(t, id),
		      unc_session_reason(t->s, id));
}

static void check_partial(struct trial *t, int id, const struct unc_value *v, double rate, size_t n)
{
	unsigned missing = 0;

	if (!(v->flags & UNC_VALUE_VALID) || !(v->flags & UNC_VALUE_PARTIAL)) {
		wrong(t, "%s: flags 0x%x for a partial sum: %s", name_of(t, id), v->flags,
		      unc_session_reason(t->s, id));
		return;
	}
	if (v->units != n - 1 || v->of != n)
		wrong(t, "%s: %u of %u for %zu of %zu", name_of(t, id), v->units, v->of, n - 1, n);
	if (!names_unit(t, unc_session_partial(t->s, id)))
		wrong(t, "%s: partial: '%s'", name_of(t, id), unc_session_partial(t->s, id));
	if (unc_session_missing(t->s, id, count_missing, &missing) != 0 || missing != 1)
		wrong(t, "%s: %u units are missing", name_of(t, id), missing);
	check_exact(t, id, v, rate, n - 1);
}

static void check_set(struct trial *t, unsigned at, const struct unc_value *v, bool lost)
{
	for (int role = 0; role < ROLES; role++) {
		int id = t->set[at].id[role];
		double rate = expected(t, t->set[at].event, role, lost);
		size_t n = role == SUM ? t->k->n : 1;

		if (id < 0)
			continue;
		if (!lost || role == GOOD)
			check_whole(t, id, &v[id], rate, n);
		else if (role == BAD || n == 1)
			check_none(t, id, &v[id]);
		else
			check_partial(t, id, &v[id], rate, n);
	}
}

static void rotate(struct trial *t)
{
	int rc = turn_pass(t->s);

	if (rc < 0)
		wrong(t, "rotate: %s", unc_session_error(t->s));
}

/* A second for each pass: controls are compared in a read if that was a second ago. */
static void tick(struct trial *t)
{
	if (t->turns) {
		let_time_pass(t->k->p, t->s, 2 * TICK_MS);
		return;
	}
	for (unsigned i = 0; i < t->passes; i++) {
		step(t->k->p, TICK_MS * ms);
		if (t->passes > 1)
			rotate(t);
	}
}

static bool look(struct trial *t, struct unc_value *v)
{
	int rc;

	t->reads++;
	rc = unc_session_read(t->s, v, (size_t)t->n_items, sizeof(*v));
	if (rc < 0) {
		wrong(t, "read: %s", unc_session_error(t->s));
		return false;
	}
	if (t->other >= 0)
		check_whole(t, t->other, &v[t->other], t->k->other_rate, v[t->other].of);
	return true;
}

/* Some time, and what comes of it: whether what is about the unit is whole. */
static bool count(struct trial *t, enum expected expected)
{
	struct unc_value v[MAX_ITEMS];
	unsigned lost = 0, unproven = 0;

	tick(t);
	if (t->failed || !look(t, v))
		return false;
	for (unsigned at = 0; at < t->n_sets; at++) {
		int bad = t->set[at].id[BAD];
		bool has = (v[bad].flags & UNC_VALUE_VALID) != 0;

		if (!has && expected == WHOLE)
			wrong(t, "it is lost: %s", unc_session_reason(t->s, bad));
		lost += !has;
		unproven += has && v[bad].flags & UNC_VALUE_UNPROVEN; /* it says so */
		check_set(t, at, v, !has);
	}
	if (!lost && !unproven && expected == LOST)
		wrong(t, "nothing is lost");
	return !lost;
}

/* The cause is gone: before long the unit is taken up again; until then all is as it was. */
static void come_back(struct trial *t)
{
	for (int i = 0; i < BACK_TICKS && !t->failed; i++)
		if (count(t, EITHER))
			return;
	wrong(t, "it is not taken up again: %s", unc_session_reason(t->s, t->set[0].id[BAD]));
}

/* ---- causes */

/* The registers of a role of the unit: what they hold. */
static void set_all(const struct kind *k, const struct unc_instance *u, uint8_t role,
		    uint64_t value)
{
	const struct unc_table *t = k->p->table;
	struct unc_sim *sim = unc_machine_sim(k->p->machine);
	struct unc_reg place;

	for (uint32_t i = k->row->regs.first; i < k->row->regs.first + k->row->regs.n; i++) {
		void *reg;

		if (t->reg[i].role != role || unc_instance_reg(t, u, i, &place, NULL) < 0 ||
		    !(reg = unc_sim_find(sim, &place)))
			continue;
		unc_sim_write(sim, reg, value);
	}
}

/* What somebody else counts. */
static uint64_t foreign(const struct kind *k)
{
	uint64_t ctl = k->event[k->n_events - 1].ctl;

	return k->n_events > 1 ? ctl : ctl ^ 0x100; /* another unit mask */
}

static bool take_all(const struct kind *k, const struct unc_instance *u)
{
	set_all(k, u, UNC_ROLE_CTL, foreign(k));
	return k->row->n_counters && k->row->first_ctl != UNC_NONE;
}

static void give_back(const struct kind *k, const struct unc_instance *u)
{
	set_all(k, u, UNC_ROLE_CTL, 0);
}

/* Bits of unit control that freeze the unit; 0: it cannot be frozen. */
static uint64_t freezing(const struct kind *k, uint64_t *running)
{
	const struct unc_table *t = k->p->table;
	uint64_t freeze = 0, enable = 0;

	for (uint32_t i = k->row->fields.first; i < k->row->fields.first + k->row->fields.n; i++) {
		const struct unc_tbl_field *f = &t->field[i];
		uint64_t bit = (uint64_t)1 << f->lo[0];

		if (k->row->unit_ctl == UNC_NONE || f->reg[0] != k->row->unit_ctl)
			continue;
		freeze |= f->role == UNC_IS_FREEZE ? bit : 0;
		enable |= f->role == UNC_IS_FREEZE_ENABLE ? bit : 0;
	}
	*running = enable;
	return freeze ? freeze | enable : 0;
}

/* Where nobody else counts it may be let go. */
static bool freeze(const struct kind *k, const struct unc_instance *u)
{
	uint64_t running, frozen = freezing(k, &running);

	set_all(k, u, UNC_ROLE_UNIT_CTL, frozen);
	return frozen != 0;
}

static void unfreeze(const struct kind *k, const struct unc_instance *u)
{
	uint64_t running;

	(void)freezing(k, &running);
	set_all(k, u, UNC_ROLE_UNIT_CTL, running);
}

static bool no_counters(const struct kind *k, const struct unc_instance *u)
{
	(void)k;
	(void)u;
	faults("fail read reg/counter* - EIO");
	return true;
}

static bool no_controls(const struct kind *k, const struct unc_instance *u)
{
	(void)u;
	faults("fail read reg/control - EIO");
	return k->row->first_ctl != UNC_NONE &&
	       !(k->p->table->reg[k->row->first_ctl].flags & UNC_REG_WO);
}

static bool no_unit_control(const struct kind *k, const struct unc_instance *u)
{
	(void)u;
	faults("fail read reg/unit-control - EIO");
	return k->row->unit_ctl != UNC_NONE;
}

static bool none_at_all(const struct kind *k, const struct unc_instance *u)
{
	(void)k;
	(void)u;
	faults("fail read reg/* - EIO\nfail write reg/* - EIO");
	return true;
}

static bool unwritable_controls(const struct kind *k, const struct unc_instance *u)
{
	(void)u;
	faults("fail write reg/control - EIO");
	return k->row->n_counters > 0;
}

static bool unwritable_counters(const struct kind *k, const struct unc_instance *u)
{
	(void)k;
	(void)u;
	faults("fail write reg/counter - EIO");
	return true;
}

static bool unopened(const struct kind *k, const struct unc_instance *u)
{
	(void)k;
	(void)u;
	faults("fail open event - EBUSY");
	return true;
}

static bool unread(const struct kind *k, const struct unc_instance *u)
{
	(void)k;
	(void)u;
	faults("fail read event - EIO");
	return true;
}

static bool ended(const struct kind *k, const struct unc_instance *u)
{
	(void)k;
	(void)u;
	faults("short event - 0");
	return true;
}

/* Pinned, as those of perf stat -e EVENT:D: as many as there are counters. */
static int others[MAX_OTHERS];
static size_t n_others;

static bool pinned(const struct kind *k, const struct unc_instance *u)
{
	struct perf_event_attr attr = losing_attr;

	(void)u;
	attr.pinned = 1;
	attr.disabled = 0;
	CU_ASSERT_FATAL(k->row->n_counters <= MAX_OTHERS);
	for (n_others = 0; n_others < k->row->n_counters; n_others++) {
		int cpu = (int)losing.kernel->place[0].cpu;
		int fd = losing_kernel->open(k->p->machine, &attr, cpu, -1);

		CU_ASSERT_FATAL(fd >= 0 && losing_kernel->enable(k->p->machine, fd) == 0);
		others[n_others] = fd;
	}
	return true;
}

static void unpinned(const struct kind *k, const struct unc_instance *u)
{
	(void)u;
	while (n_others > 0)
		losing_kernel->close(k->p->machine, others[--n_others]);
}

static void work_again(const struct kind *k, const struct unc_instance *u)
{
	(void)k;
	(void)u;
	no_faults();
}

enum moment { START = 1, RUN = 2, CHANGE = 4, ALWAYS = 7 };

static const struct cause {
	const char *name;
	bool (*come)(const struct kind *, const struct unc_instance *); /* false: it cannot */
	void (*go)(const struct kind *, const struct unc_instance *);
	bool kernel; /* of what the kernel's driver counts; else, of registers */
	int loses;   /* when the unit is lost: bits */
	int may;     /* when it may be lost or not: that depends on what of it is needed */
} causes[] = {
	{"of which somebody takes all counters", take_all, give_back, false, ALWAYS, 0},
	{"that is frozen", freeze, unfreeze, false, 0, RUN | CHANGE},
	{"whose counters cannot be read", no_counters, work_again, false, ALWAYS, 0},
	{"whose controls cannot be read", no_controls, work_again, false, START | CHANGE, RUN},
	{"whose unit control cannot be read", no_unit_control, work_again, false, 0, ALWAYS},
	{"whose controls cannot be written", unwritable_controls, work_again, false, START | CHANGE,
	 0},
	{"whose counters cannot be written", unwritable_counters, work_again, false, 0, ALWAYS},
	{"that does not answer", none_at_all, work_again, false, ALWAYS, 0},
	{"whose events cannot be opened", unopened, work_again, true, START, CHANGE},
	{"whose events cannot be read", unread, work_again, true, START | RUN, CHANGE},
	{"of which others of the kernel's users have all counters", pinned, unpinned, true, 0,
	 START},
	{"whose events have ended", ended, work_again, true, RUN, CHANGE},
};

/* ---- trials */

static int add_unit(struct trial *t, const char *base, const struct unc_instance *u)
{
	size_t n = strcspn(base, "."); /* "imc.CAS_COUNT:RD" */
	char name[UNC_SPEC_MAX];
	int id = -1;

	snprintf(name, sizeof(name), "%.*s%u%s:socket=%u", (int)n, base, u->index, base + n,
		 u->socket);
	if (unc_session_add(t->s, name, &id) < 0)
		wrong(t, "%s: %s", base, unc_session_error(t->s));
	t->n_items = id + 1;
	return id;
}

static void add_set(struct trial *t, const struct known *event)
{
	const struct kind *k = t->k;
	unsigned at = t->n_sets++;

	t->set[at].event = event;
	t->set[at].id[SUM] = add(t->s, event->base);
	t->set[at].id[BAD] = add_unit(t, event->base, k->unit[t->bad]);
	t->set[at].id[GOOD] = t->good == t->bad ? -1 : add_unit(t, event->base, k->unit[t->good]);
}

/* Events of which the last needs a pass of its own; false: the type has not as many. */
static bool add_passes(struct trial *t)
{
	const struct kind *k = t->k;
	int id;

	for (size_t i = 1; i + 1 < k->n_events; i++) { /* the last one is somebody else's */
		if (unc_session_add(t->s, k->event[i].base, &id) < 0)
			return false;
		t->n_items = id + 1;
		if (unc_session_passes(t->s) == 1)
			continue;
		t->passes = (unsigned)unc_session_passes(t->s);
		add_set(t, &k->event[i]);
		return (unsigned)unc_session_passes(t->s) == t->passes;
	}
	return false;
}

static bool begin(struct trial *t, bool passes)
{
	const struct kind *k = t->k;

	t->s = session(k->p, passes ? UNC_SESSION_ROTATE : 0);
	t->passes = 1;
	t->other = -1;
	if (k->other)
		t->n_items = (t->other = add(t->s, k->other->base)) + 1;
	add_set(t, &k->event[0]);
	if (passes && !add_passes(t))
		return false;
	losing_unit(k->p, k->unit[t->bad]);
	return true;
}

static bool started(struct trial *t)
{
	int rc = unc_session_start(t->s);

	if (rc < 0)
		wrong(t, "start: %s", unc_session_error(t->s));
	return rc == 0;
}

/* Whether a unit that is frozen alone is told by nothing but that it stands for a second: neither by its
 * unit control, nor by a clock. */
static bool hides(const struct kind *k, const struct cause *cause)
{
	const struct unc_table *t = k->p->table;
	const struct unc_range *events = &k->row->events;

	for (uint32_t i = events->first; i < events->first + events->n; i++)
		if (t->event[i].clock)
			return false;
	return cause->come == freeze && t->reg[k->row->unit_ctl].flags & UNC_REG_WO;
}

/* The cause comes, the unit is lost; the cause goes, the unit comes back. False: it cannot come. */
static bool lose(struct trial *t, const struct cause *cause, enum moment moment)
{
	const struct unc_instance *u = t->k->unit[t->bad];
	struct unc_value v[MAX_ITEMS];
	bool comes;

	if (moment != START && (!started(t) || !count(t, WHOLE) || !count(t, WHOLE)))
		return true;
	comes = t->came = cause->come(t->k, u);
	if (comes && moment == RUN &&
	    hides(t->k, cause)) { /* it may have counted in some of this */
		tick(t);
		look(t, v);
	}
	if (comes && (moment != START || started(t)))
		for (int i = 0; i < 3; i++)
			count(t, cause->loses & (int)moment ? LOST : EITHER);
	if (comes && moment == RUN && !t->failed && unc_session_reset(t->s) < 0)
		wrong(t, "reset: %s", unc_session_error(t->s));
	if (comes && moment == RUN) /* what is lost does not come back by that */
		count(t, cause->loses & (int)moment ? LOST : EITHER);
	cause->go(t->k, u);
	if (!comes || t->failed)
		return comes;
	come_back(t);
	count(t, WHOLE);
	count(t, WHOLE);
	if (unc_session_stop(t->s) < 0)
		wrong(t, "stop: %s", unc_session_error(t->s));
	return true;
}

static void end_trial(struct trial *t)
{
	no_faults();
	memset(&losing, 0, sizeof(losing));
	unc_session_free(t->s);
}

static void close_trial(struct trial *t, struct unc_platform *p)
{
	end_trial(t);
	unc_platform_close(p);
}

static bool one_trial(const struct kind *k, const struct cause *cause, enum moment moment)
{
	struct trial t = {.k = k, .cause = cause->name};
	struct snapshot before = snapshot(k->p);
	bool tried;

	t.moment = moment == START ? "at the start"
		   : moment == RUN ? "in a run"
				   : "at a change of the pass";
	t.bad = k->n / 2;
	t.good = t.bad == k->n - 1 ? 0 : k->n - 1;
	tried = begin(&t, moment == CHANGE) && lose(&t, cause, moment);
	end_trial(&t);
	if (k->kernel) /* its driver disables a counter, and lets it keep its event */
		free(before.value);
	else
		CHECK_RESTORED(k->p, before);
	return tried;
}

static void find_units(struct kind *k, unsigned type)
{
	k->n = 0;
	for (size_t i = 0; i < k->p->instances.n; i++) {
		const struct unc_instance *u = &k->p->instances.unit[i];

		if (u->type != type || !u->available)
			continue;
		CU_ASSERT_FATAL(k->n < MAX_UNITS);
		k->unit[k->n++] = u;
	}
}

/* A control that cannot be written where its turn ends goes on to count: without another counter,
 * as on unc, all of which a turn has, the unit stays left out until the session ends, and longer. */
static bool stays(const struct kind *k, const struct cause *cause, enum moment moment)
{
	return cause->come == unwritable_controls && moment == CHANGE && !strcmp(k->name, "unc");
}

static unsigned type_of(struct kind *k)
{
	unsigned n = 0;

	for (size_t i = 0; i < sizeof(causes) / sizeof(*causes); i++)
		for (int moment = START; moment <= CHANGE; moment *= 2)
			if (causes[i].kernel == k->kernel &&
			    (causes[i].loses | causes[i].may) & moment &&
			    !stays(k, &causes[i], (enum moment)moment))
				n += one_trial(k, &causes[i], (enum moment)moment);
	return n;
}

static struct unc_platform *open_machine(const char *cpu, bool kernel)
{
	char sim[80];
	struct unc_options options = {
		.size = sizeof(options), .sim = sim, .access = kernel ? "kernel" : ""};
	struct unc_platform *p = NULL;

	snprintf(sim, sizeof(sim), SIM, cpu, kernel ? ",kernel=on" : "");
	CU_ASSERT_FATAL(unc_platform_open(&options, &p) == 0);
	return p;
}

/* What counts on the type's units, the first `most` events. False: nothing. */
static bool learn_kind(struct kind *k, unsigned type, size_t most)
{
	k->row = &k->p->table->type[type];
	k->name = unc_tbl_str(k->p->table, k->row->name);
	if (unc_type_pool(k->p->table, type) != type)
		return false; /* a view of another's units */
	find_units(k, type);
	if (k->n)
		learn(k, false, 1e5, most);
	for (int fixed = 0; fixed < 2 && k->n && !k->n_events; fixed++)
		learn(k, fixed, 100, most);
	return k->n_events > 0;
}

/* The first event of another type, of those before it first, that counts on all its units. */
static void find_other(struct kind *k, unsigned type, struct kind *other)
{
	unsigned n = (unsigned)k->p->table->n_type;

	k->other = NULL;
	for (unsigned i = 1; i < n && !k->other; i++) {
		*other = (struct kind){
			.cpu = k->cpu, .kernel = k->kernel, .p = k->p, .twin = k->twin};
		if (learn_kind(other, (type + n - i) % n, 1))
			k->other = &other->event[0];
	}
	k->other_rate = 0;
	for (size_t i = 0; k->other && i < other->n; i++)
		k->other_rate = k->other->sums ? k->other_rate + k->other->rate[i]
					       : fmax(k->other_rate, k->other->rate[i]);
}

/* Types of one machine that stand for their kinds. */
struct tried {
	const char *cpu;
	bool kernel;
	const struct kinds_type *type;
	size_t n;
};

static void losses_of(const void *user)
{
	const struct tried *tried = user;
	struct unc_platform *p = open_machine(tried->cpu, tried->kernel),
			    *twin = open_machine(tried->cpu, tried->kernel);
	struct kind *k = calloc(2, sizeof(*k)); /* and the one of another type */

	CU_ASSERT_FATAL(k != NULL);
	for (size_t i = 0; i < tried->n; i++) {
		unsigned trials;

		*k = (struct kind){
			.cpu = tried->cpu, .kernel = tried->kernel, .p = p, .twin = twin};
		if (!learn_kind(k, tried->type[i].type, MAX_EVENTS)) {
			printf("# %s: nothing to count on %zu %s\n", k->cpu, k->n, k->name);
			CU_ASSERT(kinds_all() || !k->n);
			continue;
		}
		find_other(k, tried->type[i].type, k + 1);
		trials = type_of(k);
		printf("# %s%s: %zu %s, %u trials, %s\n", k->cpu, k->kernel ? " by the kernel" : "",
		       k->n, k->name, trials, k->event[0].base);
		CU_ASSERT(trials > 0);
	}
	free(k);
	unc_platform_close(p);
	unc_platform_close(twin);
}

/* A test for each machine that has some of the types. */
static void add_losses(bool kernel)
{
	static struct kinds_type type[2][KINDS_MAX];
	static struct tried tried[2 * UNC_TABLE_CPUS];
	static size_t n_tried;
	size_t n = kinds_pick(kernel ? kinds_driven : kinds_simulated, type[kernel]);

	for (size_t i = 0; i < n; i++) {
		const struct kinds_type *one = &type[kernel][i];

		if (i && one->cpu == one[-1].cpu) {
			tried[n_tried - 1].n++;
			continue;
		}
		tried[n_tried] = (struct tried){cases_cpu(one->cpu), kernel, one, 1};
		suite_add(losses_of, &tried[n_tried], "losses of %s%s", tried[n_tried].cpu,
			  kernel ? ", by the kernel's driver" : "");
		n_tried++;
	}
}

/* A property of units that makes the code branch is one of their kinds. */
static void test_kinds(void)
{
	CHECK_NUMBER(kinds_unknown(), 0);
}

/* ---- how often it is tried */

/* All types of a machine are as they are on its twin. */
static struct kind only_kind(const char *cpu, const char *type, struct unc_platform *p)
{
	struct kind k = {.cpu = cpu, .p = p, .twin = p};

	for (unsigned i = 0; i < p->table->n_type; i++)
		if (strcmp(unc_tbl_str(p->table, p->table->type[i].name), type) == 0) {
			k.row = &p->table->type[i];
			k.name = unc_tbl_str(p->table, k.row->name);
			find_units(&k, i);
		}
	learn(&k, false, 1e5, MAX_EVENTS);
	CU_ASSERT_FATAL(k.n > 1 && k.n_events > 1);
	return k;
}

/* Reads, each after 100 ms: in how many of them the unit is looked at. The longest time between two
 * of these is *longest, in reads. */
static unsigned tries(struct trial *t, unsigned reads, unsigned *longest)
{
	struct unc_value v[MAX_ITEMS];
	unsigned n = 0, last = 0;

	for (unsigned i = 0; i < reads && !t->failed; i++) {
		losing.prepared = 0;
		step(t->k->p, 100 * ms);
		if (!look(t, v) || !losing.prepared)
			continue;
		*longest = n && i - last > *longest ? i - last : *longest;
		last = i;
		n++;
	}
	return n;
}

/*
 * A unit that somebody has for minutes is tried each second at most, later on less often: it costs
 * the others nothing. One that comes and goes is not tried more often. It comes back in the end.
 */
static void test_pace(void)
{
	struct unc_platform *p = open_machine("sandybridge-ep", false);
	struct kind k = only_kind("sandybridge-ep", "imc", p);
	struct trial t = {.k = &k, .cause = "that somebody has", .moment = "for long"};
	unsigned first = 0, later = 0, n, m;

	t.bad = 1;
	CU_ASSERT_FATAL(begin(&t, false) && started(&t));
	count(&t, WHOLE);
	t.came = take_all(&k, k.unit[t.bad]);
	n = tries(&t, 100, &first);
	m = tries(&t, 3000, &later);
	printf("# tried %u times in 10 s, %u times in 300 s, after %.1f s at most\n", n, m,
	       later / 10.);
	CU_ASSERT(n >= 2 && n <= 10);
	CU_ASSERT(m >= 2 && m <= 60);
	CU_ASSERT(later > first);
	give_back(&k, k.unit[t.bad]);
	for (int i = 0; i < 4 && !t.failed && !count(&t, EITHER); i++)
		tries(&t, 300, &later);
	count(&t, WHOLE);
	CHECK_NUMBER(unc_session_stop(t.s), 0);
	/* Comes and goes. */
	CU_ASSERT_FATAL(started(&t));
	for (n = 0, m = 0; m < 40 && !t.failed; m++) {
		t.came = take_all(&k, k.unit[t.bad]);
		n += tries(&t, 5, &later);
		give_back(&k, k.unit[t.bad]);
		n += tries(&t, 5, &later);
	}
	printf("# comes and goes each second: tried %u times in 40 s\n", n);
	CU_ASSERT(n >= 2 && n <= 40);
	close_trial(&t, p);
}

/* What somebody else has set stays, where the session ends without the unit. */
static void test_end(void)
{
	struct unc_platform *p = open_machine("sandybridge-ep", false);
	struct kind k = only_kind("sandybridge-ep", "imc", p);
	struct trial t = {.k = &k, .cause = "that somebody has", .moment = "in the end"};
	struct snapshot before, taken, after;
	size_t differ = 0, kept = 0;

	t.bad = 1;
	before = snapshot(p);
	CU_ASSERT_FATAL(begin(&t, false) && started(&t));
	count(&t, WHOLE);
	t.came = take_all(&k, k.unit[t.bad]);
	taken = snapshot(p);
	for (int i = 0; i < 6; i++)
		count(&t, LOST);
	CHECK_NUMBER(unc_session_stop(t.s), 0);
	after = snapshot(p);
	for (size_t i = 0; i < after.n; i++) {
		kept += after.value[i] == foreign(&k) && taken.value[i] == foreign(&k);
		differ += after.value[i] != before.value[i];
	}
	CU_ASSERT(kept > 0);
	CHECK_NUMBER(differ, kept);
	free(before.value);
	free(taken.value);
	free(after.value);
	close_trial(&t, p);
}

/* Where passes take turns by themselves, the thread that lets them finds that the unit is lost. */
static void test_turns(void)
{
	struct unc_platform *p = open_machine("sandybridge-ep", false);
	struct kind k = only_kind("sandybridge-ep", "imc", p);
	struct trial t = {
		.k = &k, .cause = "that somebody has", .moment = "by turns", .turns = true};

	t.bad = 1;
	t.good = 2;
	CU_ASSERT_FATAL(begin(&t, true));
	CHECK_NUMBER(unc_session_turns(t.s, TICK_MS), 0);
	CU_ASSERT_FATAL(started(&t));
	count(&t, WHOLE);
	t.came = take_all(&k, k.unit[t.bad]);
	for (int i = 0; i < 3; i++)
		count(&t, LOST);
	give_back(&k, k.unit[t.bad]);
	come_back(&t);
	count(&t, WHOLE);
	CHECK_NUMBER(unc_session_stop(t.s), 0);
	close_trial(&t, p);
}

static struct unc_value sum_of(struct trial *t)
{
	struct unc_value v[MAX_ITEMS];

	tick(t);
	return look(t, v) ? v[t->set[0].id[SUM]] : (struct unc_value){0};
}

/* Two units are lost, and one comes back before the other. */
static void test_two(void)
{
	struct unc_platform *p = open_machine("sandybridge-ep", false);
	struct kind k = only_kind("sandybridge-ep", "imc", p);
	struct trial t = {
		.k = &k, .cause = "one of two", .moment = "in a run", .bad = 1, .good = 3};
	struct unc_value v = {0};

	CU_ASSERT_FATAL(begin(&t, false) && started(&t));
	count(&t, WHOLE);
	t.came = take_all(&k, k.unit[1]);
	count(&t, LOST);
	take_all(&k, k.unit[2]);
	for (int i = 0; i < 3; i++) {
		v = sum_of(&t);
		CHECK_NUMBER(v.flags & (UNC_VALUE_VALID | UNC_VALUE_PARTIAL),
			     UNC_VALUE_VALID | UNC_VALUE_PARTIAL);
		CHECK_NUMBER(v.units, k.n - 2);
		CHECK_NUMBER(v.of, k.n);
		CU_ASSERT(strstr(unc_session_partial(t.s, t.set[0].id[SUM]), " and 1 more: ") !=
			  NULL);
	}
	give_back(&k, k.unit[2]);
	for (int i = 0; i < BACK_TICKS && v.units < k.n - 1; i++)
		v = sum_of(&t);
	count(&t, LOST);
	give_back(&k, k.unit[1]);
	come_back(&t);
	count(&t, WHOLE);
	CHECK_NUMBER(unc_session_stop(t.s), 0);
	close_trial(&t, p);
}

int main(void)
{
	static const struct suite_test tests[] = {
		{"kinds know what units and sessions look at", test_kinds},
		{"how often a unit is tried", test_pace},
		{"the end without a unit", test_end},
		{"passes that take turns by themselves", test_turns},
		{"two units", test_two},
		{NULL, NULL},
	};

	add_losses(false);
	add_losses(true);
	return suite_run("losses", tests);
}
