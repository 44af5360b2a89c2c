/* SPDX-License-Identifier: BSD-3-Clause */
/* What registers of units hold: unc_register_read() on simulated machines. */
#include "session_kit.h"

/* ---- the registers of a unit that were told */

enum { MOST = 128 };

struct told {
	struct row {
		char name[32], reason[160];
		uint64_t value, address;
		int known;
	} row[MOST];
	size_t n, stop;
};

static int take(void *user, const struct unc_register *reg)
{
	struct told *t = user;
	struct row *row = &t->row[t->n < MOST ? t->n : MOST - 1];

	snprintf(row->name, sizeof(row->name), "%s", reg->name);
	snprintf(row->reason, sizeof(row->reason), "%s", reg->reason);
	row->value = reg->value;
	row->address = reg->address;
	row->known = reg->known;
	return ++t->n == t->stop ? 7 : 0;
}

static const struct unc_unit *unit_of(struct unc_platform *p, const char *type, int socket,
				      int index)
{
	const struct unc_unit *unit;

	for (size_t i = 0; (unit = unc_unit_get(p, i)); i++)
		if (strcmp(unit->type->name, type) == 0 && unit->socket == socket &&
		    unit->index == index)
			return unit;
	CU_FAIL_FATAL("no such unit");
	return NULL;
}

static const struct row *row_of(const struct told *t, const char *name)
{
	static const struct row none = {.name = "none"};

	for (size_t i = 0; i < t->n; i++)
		if (strcmp(t->row[i].name, name) == 0)
			return &t->row[i];
	printf("# no register %s\n", name);
	CU_FAIL("no such register");
	return &none;
}

/* ---- Intel 327043-001: CAS_COUNT has code 4, RD is umask 3, en is bit 22; counters are taken from the
 * top, and the controls of the iMC are at 0xd8 to 0xe4 */

static void test_session(void)
{
	struct unc_platform *p = machine(SNB);
	struct unc_session *s = session(p, 0);
	const struct unc_unit *unit = unit_of(p, "imc", 1, 2);
	struct told before = {.n = 0}, during = {.n = 0}, after = {.n = 0};

	CHECK_NUMBER(unc_register_read(p, unit, take, &before), 0);
	CHECK_TEXT(unc_platform_error(p), "");
	add(s, "imc2.CAS_COUNT:RD:socket=1");
	start(s);
	step(p, 10 * ms);
	CHECK_NUMBER(unc_register_read(p, unit, take, &during), 0);
	CHECK_NUMBER(row_of(&before, "CTL3")->value, 0);
	CHECK_NUMBER(row_of(&before, "CTL3")->known, 1);
	CHECK_NUMBER(row_of(&during, "CTL3")->address, 0xe4);
	CHECK_NUMBER(row_of(&during, "CTL3")->value, 0x400304);
	CHECK_NUMBER(row_of(&during, "CTL2")->value, 0);
	CU_ASSERT(row_of(&during, "CTR3")->value > 0);
	CHECK_NUMBER(unc_session_stop(s), 0);
	CHECK_NUMBER(unc_register_read(p, unit, take, &after), 0);
	CHECK_NUMBER(after.n, before.n);
	for (size_t i = 0; i < after.n; i++)
		if (strncmp(after.row[i].name, "CTR", 3) != 0 &&
		    strcmp(after.row[i].name, "FIXED") != 0)
			CHECK_NUMBER(after.row[i].value, before.row[i].value);
	unc_session_free(s);
	check_quiet(p);
	unc_platform_close(p);
}

/* ---- every register of every CPU */

/* Those of the tables, which are one socket's, come in the same order and at the same places. */
struct listed {
	const struct unc_unit *unit;
	const struct told *told;
	size_t n;
	bool differs;
};

static int compare(void *user, const struct unc_register *reg)
{
	struct listed *l = user;

	if (strcmp(reg->unit, l->unit->type->name) != 0 || reg->index != l->unit->index)
		return 0;
	l->differs |= l->n >= l->told->n || strcmp(l->told->row[l->n].name, reg->name) != 0 ||
		      l->told->row[l->n].address != reg->address;
	l->differs |= reg->known || reg->value || *reg->reason || reg->socket != -1;
	l->n++;
	return 0;
}

static void check_unit(struct unc_platform *p, const struct unc_unit *unit)
{
	struct told t = {.n = 0};
	struct listed l = {.unit = unit, .told = &t};
	int rc = unc_register_read(p, unit, take, &t);

	if (rc < 0)
		printf("# %s%d: %s\n", unit->type->name, unit->index, unc_platform_error(p));
	CHECK_NUMBER(rc, 0);
	CU_ASSERT(t.n > 0 && t.n <= MOST);
	for (size_t i = 0; i < t.n && i < MOST; i++) {
		const char *reason = t.row[i].reason;

		CU_ASSERT(t.row[i].known == !*reason);
		if (*reason && strcmp(reason, "it is write-only") != 0 &&
		    strcmp(reason, "it has a value only while the unit is frozen") != 0) {
			printf("# %s%d: %s: %s\n", unit->type->name, unit->index, t.row[i].name,
			       reason);
			CU_FAIL("a register that cannot be read");
		}
	}
	CHECK_NUMBER(unc_register_walk(p, compare, &l), 0);
	CHECK_NUMBER(l.differs, 0);
	CU_ASSERT(l.n == 0 || l.n == t.n);
}

static void test_every(void)
{
	const struct unc_cpu *cpu;
	unsigned units = 0;

	for (size_t i = 0; (cpu = unc_cpu_get(NULL, i)); i++) {
		const struct unc_unit *unit;
		char sim[64];

		snprintf(sim, sizeof(sim), "%s,clock=step", cpu->name);
		struct unc_platform *p = machine(sim);
		for (size_t k = 0; (unit = unc_unit_get(p, k)); k++, units++)
			check_unit(p, unit);
		check_quiet(p);
		unc_platform_close(p);
	}
	CU_ASSERT(units > 0);
}

/* ---- what cannot be read */

static void test_unavailable(void)
{
	struct unc_options listing = {.size = sizeof(listing), .cpu = "sandybridge-ep"};
	struct unc_platform *p = machine("sandybridge-ep-no-imc1,clock=step");
	const struct unc_unit *unit = unit_of(p, "imc", 0, 1);
	struct unc_unit other = *unit;
	struct told t = {.n = 0};

	CHECK_NUMBER(unc_register_read(p, unit, take, &t), UNC_ERR_UNAVAILABLE);
	CU_ASSERT(*unit->reason);
	CHECK_TEXT(unc_platform_error(p), unit->reason);
	other.socket = 9;
	CHECK_NUMBER(unc_register_read(p, &other, take, &t), UNC_ERR_NOT_FOUND);
	CHECK_TEXT(unc_platform_error(p), "the machine has no unit imc1 on socket 9");
	CHECK_NUMBER(t.n, 0);
	unc_platform_close(p);
	CHECK_NUMBER(unc_platform_open(&listing, &p), 0);
	CHECK_NUMBER(unc_register_read(p, unc_unit_get(p, 0), take, &t), UNC_ERR_UNAVAILABLE);
	CHECK_TEXT(unc_platform_error(p), "the platform was opened for listing only");
	CHECK_NUMBER(t.n, 0);
	unc_platform_close(p);
	p = machine("emerald-rapids,clock=step,kernel=on,rights=perf");
	unit = unit_of(p, "imc", 0, 1);
	CHECK_NUMBER(unit->available, 1);
	CHECK_NUMBER(unc_register_read(p, unit, take, &t), UNC_ERR_UNAVAILABLE);
	CU_ASSERT(*unc_platform_error(p));
	CHECK_NUMBER(t.n, 0);
	unc_platform_close(p);
}

static void test_stop(void)
{
	struct unc_platform *p = machine(SNB);
	struct told t = {.stop = 2};

	CHECK_NUMBER(unc_register_read(p, unc_unit_get(p, 0), take, &t), 7);
	CHECK_NUMBER(t.n, 2);
	CHECK_TEXT(unc_platform_error(p), "");
	unc_platform_close(p);
}

int main(void)
{
	static const struct suite_test tests[] = {
		{"what a session programs and restores", test_session},
		{"every register of every CPU", test_every},
		{"units whose registers cannot be read", test_unavailable},
		{"the walk can be ended", test_stop},
		{NULL, NULL},
	};

	return suite_run("registers", tests);
}
