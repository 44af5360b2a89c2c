/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Units that somebody freezes and lets go between two looks: the clocks of their sockets tell. For
 * each CPU, and each type of units whose clocks are alike by the tables. What is right follows from
 * workload.tbl: each unit counts its clock.
 */
#include "built.h"
#include "session_kit.h"
#include "units/registers.h"

/* A machine, and a clock that is counted on all units of a type. */
struct world {
	struct unc_platform *p;
	struct unc_sim *sim;
	struct unc_session *s;
	const struct unc_table *t;
	const struct unc_tbl_type *type;
	char clock[UNC_SPEC_MAX];
	double hz;
};

static const struct unc_tbl_event *clock_of(const struct unc_table *t,
					    const struct unc_tbl_type *type)
{
	for (uint32_t i = 0; i < type->events.n; i++)
		if (t->event[type->events.first + i].alike)
			return &t->event[type->events.first + i];
	return NULL;
}

/* The clock of the units of a type, and whether a socket has more than one; 0: the machine has none. */
static double hz_of(const struct unc_table *t, const struct unc_tbl_type *type, bool *several)
{
	struct unc_workload built;
	const struct unc_workload *work = unc_sim_workload(t, &built);

	for (size_t i = 0; i < work->n_sim_unit; i++)
		if (work->sim_unit[i].type == type - t->type) {
			*several = unc_type_instances(t, work->sim_unit[i].type) != 1;
			return work->sim_unit[i].clock_hz;
		}
	return 0;
}

/* The machine has such units, each of which can be frozen, and another one with the same clock. */
static bool is_tested(const struct unc_table *t, const struct unc_tbl_type *type)
{
	const struct unc_tbl_event *clock = clock_of(t, type);
	bool several;

	return clock && type->steps_freeze.n && hz_of(t, type, &several) > 0 &&
	       (several || clock->alike == UNC_ALIKE_UCLK);
}

static struct world open_world(const struct unc_table *t, const struct unc_tbl_type *type,
			       const char *options)
{
	char text[96];
	struct world w = {.t = t, .type = type};
	bool several;

	snprintf(text, sizeof(text), "%s,clock=step%s", unc_tbl_str(t, t->name), options);
	w.p = machine(text);
	w.sim = unc_machine_sim(w.p->machine);
	w.s = session(w.p, 0);
	if (type)
		snprintf(w.clock, sizeof(w.clock), "%s.%s", unc_tbl_str(t, type->name),
			 unc_tbl_str(t, clock_of(t, type)->name));
	w.hz = type ? hz_of(t, type, &several) : 0;
	return w;
}

static void close_world(struct world *w)
{
	unc_session_free(w->s);
	unc_platform_close(w->p);
}

static void sleep_for(struct world *w, double seconds)
{
	step(w->p, (uint64_t)(seconds * 1e9 + 0.5));
}

/* The last unit of the type on a socket. */
static const struct unc_instance *unit_of(const struct world *w, unsigned socket)
{
	const struct unc_instance *u = NULL;

	for (size_t i = 0; i < w->p->instances.n; i++)
		if (w->p->instances.unit[i].socket == socket &&
		    &w->t->type[w->p->instances.unit[i].type] == w->type &&
		    w->p->instances.unit[i].available)
			u = &w->p->instances.unit[i];
	CU_ASSERT_FATAL(u != NULL);
	return u;
}

/* Does what the steps of a freeze do, or of its end. */
static void freeze(struct world *w, const struct unc_instance *u, bool on)
{
	const struct unc_range *steps = on ? &w->type->steps_freeze : &w->type->steps_unfreeze;
	struct unc_reg place;

	for (uint32_t i = 0; i < steps->n; i++) {
		const struct unc_tbl_step *one = &w->t->step[steps->first + i];

		CU_ASSERT_FATAL(unc_instance_reg(w->t, u, one->reg, &place, NULL) == 0);
		unc_sim_write(w->sim, unc_sim_find(w->sim, &place), one->value);
	}
}

/* A second, in which a unit is frozen for a part of it. */
static void freeze_for(struct world *w, const struct unc_instance *u, double part)
{
	sleep_for(w, 0.2);
	freeze(w, u, true);
	sleep_for(w, part);
	freeze(w, u, false);
	sleep_for(w, 0.8 - part);
}

/* The clock of a unit, for itself. */
static int add_unit(struct world *w, const struct unc_instance *u)
{
	char text[UNC_SPEC_MAX];

	snprintf(text, sizeof(text), "%s%u.%s:socket=%u", unc_tbl_str(w->t, w->type->name),
		 u->index, strchr(w->clock, '.') + 1, u->socket);
	return add(w->s, text);
}

/* Where a socket has one unit of the type, another has the same clock. */
static void add_others(struct world *w)
{
	add(w->s, w->clock);
	if (clock_of(w->t, w->type)->alike == UNC_ALIKE_UCLK)
		add(w->s, "ubox.UCLK");
}

static void check_frozen(struct world *w, int id, const struct unc_instance *u, unsigned percent)
{
	char want[UNC_SPEC_MAX + 160];

	CHECK_NUMBER(value_of(w->s, id).flags, UNC_VALUE_LOST);
	snprintf(want, sizeof(want),
		 "the clock of %s%u (socket %u) counted %u %% of what the others of socket %u did: "
		 "it was "
		 "frozen for a while",
		 unc_tbl_str(w->t, w->type->name), u->index, u->socket, percent, u->socket);
	const char *why = unc_session_reason(w->s, id);
	CHECK_TEXT(strstr(why, ": ") ? strstr(why, ": ") + 2 : why, want);
}

static void check_right(struct world *w, int id, double seconds)
{
	struct unc_value v = value_of(w->s, id);

	CHECK_TEXT(unc_session_reason(w->s, id), "");
	CHECK_NUMBER(v.flags, UNC_VALUE_VALID | UNC_VALUE_FRESH);
	CHECK_COUNT(v.count, w->hz * seconds, 1);
}

/* ---- each type of each CPU */

enum { MOST = 256 };

static struct of_type {
	const struct unc_table *t;
	const struct unc_tbl_type *type;
} all[MOST];

/* In the first interval, in a later one, after a reset, and before the end. */
static void test_unit(const void *user)
{
	static const double parts[] = {0.1, 0.33, 0.66};
	const struct of_type *of = user;

	for (int k = 0; k < 12; k++) {
		struct world w = open_world(of->t, of->type, "");
		const struct unc_instance *one = unit_of(&w, 1), *other = unit_of(&w, 0);
		int frozen = add_unit(&w, one), sound = add_unit(&w, other), when = k / 3;

		add_others(&w);
		start(w.s);
		if (when) {
			sleep_for(&w, 1);
			check_right(&w, frozen, 1);
		}
		if (when == 2)
			CHECK_NUMBER(unc_session_reset(w.s), 0);
		freeze_for(&w, one, parts[k % 3]);
		if (when == 3)
			CHECK_NUMBER(unc_session_stop(w.s), 0);
		check_frozen(&w, frozen, one, (unsigned)(100 - 100 * parts[k % 3]));
		check_right(&w, sound, when & 1 ? 2 : 1);
		close_world(&w);
	}
}

/* The kernel counts: what it gives has times of its own. */
static void test_by_the_kernel(void)
{
	const struct of_type *of = &all[0];
	struct world w = open_world(of->t, of->type, ",kernel=on");
	const struct unc_instance *one = unit_of(&w, 1);
	int frozen = add_unit(&w, one), sound = add_unit(&w, unit_of(&w, 0));

	add_others(&w);
	CHECK_TEXT(unc_unit_get(w.p, (size_t)(one - w.p->instances.unit))->access, "kernel");
	start(w.s);
	freeze_for(&w, one, 0.33);
	check_frozen(&w, frozen, one, 67);
	check_right(&w, sound, 1);
	close_world(&w);
}

/* ---- sockets */

/* Writes the bit that freezes all of a socket, or the one that lets it go. */
static void freeze_socket(struct world *w, unsigned socket, bool on)
{
	for (size_t i = 0; i < w->t->n_field; i++) {
		const struct unc_tbl_field *f = &w->t->field[i];
		unsigned role = on ? UNC_IS_FREEZE_SOCKET : UNC_IS_UNFREEZE_SOCKET;

		if (f->role == role)
			unc_sim_write(w->sim,
				      reg_of(w->p, "ubox", 0, socket,
					     unc_tbl_str(w->t, w->t->reg[f->reg[0]].name)),
				      unc_field_bits(f, f->reg[0]));
	}
}

/* A clock of other units of socket 1, which changes its frequency. */
static int add_changing(struct world *w)
{
	char text[UNC_SPEC_MAX] = "";

	for (size_t i = 0; i < MOST && all[i].t && !*text; i++)
		if (all[i].t == w->t && !clock_of(w->t, all[i].type)->steady)
			snprintf(text, sizeof(text), "%s.%s:socket=1",
				 unc_tbl_str(w->t, all[i].type->name),
				 unc_tbl_str(w->t, clock_of(w->t, all[i].type)->name));
	return add(w->s, text);
}

/* The clock of the memory is steady: what it lacks the socket may have lacked. Then nothing is
 * known of its other units, and all of the other socket. */
static void test_socket(const void *user)
{
	const struct of_type *of = user;
	struct world w = open_world(of->t, of->type, "");
	int clock = add_unit(&w, unit_of(&w, 1)), sound = add_unit(&w, unit_of(&w, 0)), memory,
	    other;
	char text[UNC_SPEC_MAX + 80];

	add_others(&w);
	memory = add(w.s, "imc.CAS_COUNT:RD:socket=1");
	other = add_changing(&w);
	start(w.s);
	sleep_for(&w, 1);
	check_right(&w, clock, 1);
	sleep_for(&w, 0.5);
	freeze_socket(&w, 1, true);
	sleep_for(&w, 0.33);
	freeze_socket(&w, 1, false);
	sleep_for(&w, 0.17);
	CHECK_NUMBER(value_of(w.s, memory).flags & UNC_VALUE_UNPROVEN, UNC_VALUE_UNPROVEN);
	CHECK_NUMBER(value_of(w.s, other).flags & UNC_VALUE_UNPROVEN, UNC_VALUE_UNPROVEN);
	CHECK_NUMBER(value_of(w.s, clock).flags & UNC_VALUE_UNPROVEN, UNC_VALUE_UNPROVEN);
	snprintf(text, sizeof(text),
		 "a clock of socket 1 that never changes counted 67 %% of what it did before: "
		 "imc%u (socket 1) "
		 "was frozen for a while, or asleep",
		 unit_of(&w, 1)->index);
	CHECK_TEXT(unc_session_reason(w.s, clock), text);
	check_right(&w, sound, 2);
	/* Who resets asks for what comes. */
	CHECK_NUMBER(unc_session_reset(w.s), 0);
	sleep_for(&w, 1);
	check_right(&w, clock, 1);
	close_world(&w);
}

/* ---- what is no freeze */

/* All clocks of a type slow down: so they would if the frequency changed. */
static void slow_down(struct world *w, uint64_t counts)
{
	for (size_t i = 0; i < w->s->units.n_reads; i++) {
		struct unc_slot *slot = &w->s->units.slot[w->s->units.read_slot[i]];
		struct unc_reg place;

		CU_ASSERT_FATAL(unc_instance_reg(w->t, &w->p->instances.unit[slot->instance],
						 slot->ctr, &place, NULL) == 0);
		void *reg = unc_sim_find(w->sim, &place);
		unc_sim_write(w->sim, reg, unc_sim_read(w->sim, reg) - counts);
	}
}

static void test_frequency(void)
{
	struct world w = open_world(all[0].t, all[0].type, "");
	int id = add_unit(&w, unit_of(&w, 1));

	add(w.s, w.clock);
	start(w.s);
	for (int k = 1; k <= 3; k++) {
		sleep_for(&w, 1);
		slow_down(&w, (uint64_t)(w.hz * 0.3));
		CHECK_COUNT(count_of(w.s, id), w.hz * 0.7 * k, 1);
		CHECK_TEXT(unc_session_reason(w.s, id), "");
	}
	close_world(&w);
}

/* A channel without modules has no clock. */
static void test_idle(void)
{
	struct world w = open_world(all[2].t, all[2].type, ",idle=imc1");
	int id = add(w.s, w.clock);

	for (int k = 0; k < 2; k++) {
		start(w.s);
		sleep_for(&w, 1);
		check_right(&w, id, 1);
		CHECK_NUMBER(unc_session_stop(w.s), 0);
	}
	close_world(&w);
}

/* In passes: a unit counts in its turns, whatever comes in between. */
static void test_turns(bool frozen)
{
	struct world w = open_world(all[0].t, all[0].type, "");
	const struct unc_instance *one = unit_of(&w, 1);
	int id;

	unc_session_free(w.s);
	w.s = session(w.p, UNC_SESSION_ROTATE);
	id = add_unit(&w, one);
	add(w.s, w.clock);
	add(w.s, "cbo.RING_AD_USED:UP_EVEN");
	add(w.s, "cbo.RING_AK_USED:UP_EVEN");
	add(w.s, "cbo.RING_BL_USED:UP_EVEN");
	CU_ASSERT_FATAL(unc_session_passes(w.s) == 2);
	start(w.s);
	for (int k = 0; k < 4; k++) {
		sleep_for(&w, 0.5);
		if (frozen && k == 2)
			freeze_for(&w, one, 0.33);
		CHECK_NUMBER(unc_session_rotate(w.s), 0);
	}
	if (frozen) {
		CHECK_NUMBER(value_of(w.s, id).flags & UNC_VALUE_LOST, UNC_VALUE_LOST);
	} else {
		CHECK_COUNT(count_of(w.s, id), w.hz * 2, 2);
		CHECK_TEXT(unc_session_reason(w.s, id), "");
	}
	close_world(&w);
}

static void test_turns_frozen(void)
{
	test_turns(true);
}

static void test_turns_sound(void)
{
	test_turns(false);
}

/* One unit, beside all of its type. */
static int start_beside(struct world *w, const struct unc_instance *one)
{
	int id = add_unit(w, one);

	add(w->s, w->clock);
	start(w->s);
	return id;
}

/* A read of one unit that comes 40 ms late, and what another counted less by then. */
static void test_delayed(void)
{
	struct world w = open_world(all[0].t, all[0].type, "");
	const struct unc_instance *one = unit_of(&w, 1);
	int id = start_beside(&w, one);
	struct unc_units *units = &w.s->units;

	sleep_for(&w, 0.1);
	CHECK_NUMBER(unc_units_read(units, UNC_ALL, NULL), 0);
	for (size_t i = 0; i < units->n_slots; i++)
		if (units->slot[i].instance != one - w.p->instances.unit) {
			units->slot[i].total += (uint64_t)(w.hz * 0.04);
			unc_slot_span(units, &units->slot[i])->total.to.width = 40 * ms;
		}
	unc_units_compare_clocks(units, 0);
	CHECK_NUMBER(units->flawed, 0);
	/* Another one of them is no better, and one without delays tells over all of the time. */
	freeze_for(&w, one, 0.33);
	CHECK_NUMBER(unc_units_read(units, UNC_ALL, NULL), 0);
	unc_units_compare_clocks(units, 0);
	CHECK_NUMBER(units->flawed, 1);
	CHECK_NUMBER(value_of(w.s, id).flags & UNC_VALUE_LOST, UNC_VALUE_LOST);
	close_world(&w);
}

/* A unit begins later than others, as one that was taken up again: from the next look on it is
 * compared. */
static void test_later(void)
{
	struct world w = open_world(all[0].t, all[0].type, "");
	const struct unc_instance *one = unit_of(&w, 1);
	int id = start_beside(&w, one);
	struct unc_units *units = &w.s->units;

	for (int k = 0; k < 2; k++) {
		sleep_for(&w, 0.5);
		CHECK_NUMBER(unc_units_read(units, UNC_ALL, NULL), 0);
		if (k)
			unc_units_compare_clocks(units, 0);
		else
			unc_clock_begin(units, &units->slot[0]);
	}
	check_right(&w, id, 1);
	freeze_for(&w, one, 0.33);
	check_frozen(&w, id, one, 67);
	close_world(&w);
}

/* In next to no time clocks differ by a count or two. */
static void test_short(void)
{
	for (uint64_t ns = 1; ns < 20; ns++) {
		struct world w = open_world(all[0].t, all[0].type, "");
		int id = add_unit(&w, unit_of(&w, 1));

		add_others(&w);
		step(w.p, 17 * ns);
		start(w.s);
		freeze(&w, unit_of(&w, 1), true);
		step(w.p, 1);
		freeze(&w, unit_of(&w, 1), false);
		step(w.p, ns);
		CHECK_NUMBER(unc_session_stop(w.s), 0);
		CHECK_NUMBER(value_of(w.s, id).flags & UNC_VALUE_LOST, 0);
		close_world(&w);
	}
}

/* A thread looks each second, where a clock can tell. */
static void test_watched(void)
{
	struct world w = open_world(all[0].t, all[0].type, "");

	add(w.s, "cbo.RING_AD_USED:UP_EVEN");
	start(w.s);
	CU_ASSERT(w.s->watch_seconds > 2);
	CHECK_NUMBER(unc_session_stop(w.s), 0);
	add(w.s, w.clock);
	start(w.s);
	CU_ASSERT(w.s->watch_seconds < 1.2);
	close_world(&w);
}

static const struct suite_test tests[] = {
	{"by the kernel's driver", test_by_the_kernel},
	{"the frequency changes", test_frequency},
	{"a unit without a clock", test_idle},
	{"in turns", test_turns_sound},
	{"frozen in one of its turns", test_turns_frozen},
	{"a look that is delayed", test_delayed},
	{"a unit that begins later", test_later},
	{"hardly any time", test_short},
	{"looks each second", test_watched},
	{NULL, NULL},
};

static bool freezes_sockets(const struct unc_table *t)
{
	for (size_t i = 0; i < t->n_field; i++)
		if (t->field[i].role == UNC_IS_UNFREEZE_SOCKET)
			return true;
	return false;
}

int main(void)
{
	size_t n, used = 0;
	const struct unc_table *const *tables = built_tables(&n);

	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < tables[i]->n_type && used < MOST; k++) {
			const struct unc_table *t = tables[i];
			const char *cpu = unc_tbl_str(t, t->name);
			const char *type = unc_tbl_str(t, t->type[k].name);

			if (!is_tested(t, &t->type[k]))
				continue;
			all[used] = (struct of_type){t, &t->type[k]};
			suite_add(test_unit, &all[used], "%s: %s", cpu, type);
			if (clock_of(t, &t->type[k])->steady && freezes_sockets(t))
				suite_add(test_socket, &all[used], "%s: a socket, by %s", cpu,
					  type);
			used++;
		}
	return suite_run("clocks", tests);
}
