/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sessions where memory runs out, at each allocation of a start, a read, a change of passes, a reset
 * and a stop: what is tried again works, and of ours nothing is left on the machine. And how much
 * of it a session has.
 */
#include <errno.h>
#include <malloc.h>
#include <stddef.h>

#include "session_kit.h"

#if !defined(__GLIBC__) || defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
int main(void)
{
	puts("1..0 # SKIP the allocator cannot be replaced here");
	return 0;
}
#else
/* The real ones, by the names that the GNU C library gives them for those who replace them. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *old, size_t size);
void __libc_free(void *old);

static long until = -1; /* allocations that still work; -1: all */
static bool failed;
static size_t in_use; /* bytes, of the one thread that this has */

static void *taken(void *p)
{
	in_use += malloc_usable_size(p);
	return p;
}

static bool fails(void)
{
	if (until < 0 || until-- > 0)
		return false;
	failed = true;
	errno = ENOMEM;
	return true;
}

void *malloc(size_t size)
{
	return fails() ? NULL : taken(__libc_malloc(size));
}

void *calloc(size_t n, size_t size)
{
	return fails() ? NULL : taken(__libc_calloc(n, size));
}

void *realloc(void *old, size_t size)
{
	size_t had = malloc_usable_size(old);
	void *p = fails() ? NULL : __libc_realloc(old, size);

	in_use -= p ? had : 0;
	return taken(p);
}

void free(void *old)
{
	in_use -= malloc_usable_size(old);
	__libc_free(old);
}

enum step { START, READ, ROTATE, RESET, STOP, STEPS };

static int do_step(struct unc_session *s, enum step step)
{
	struct unc_value v[MAX_ITEMS];

	switch (step) {
	case START:
		return unc_session_start(s);
	case READ:
		return unc_session_read(s, v, MAX_ITEMS, sizeof(*v));
	case ROTATE:
		return turn_pass(s);
	case RESET:
		return unc_session_reset(s);
	default:
		return unc_session_stop(s);
	}
}

/* In step `which` allocation n fails. Returns whether there is one. */
static bool run_short(struct unc_platform *p, const char *const *event, enum step which, long n)
{
	struct snapshot before = snapshot(p);
	struct unc_session *s = session(p, UNC_SESSION_ROTATE);

	while (*event)
		add(s, *event++);
	failed = false;
	for (int step = START; step < STEPS; step++) {
		until = step == (int)which ? n : -1;
		int rc = do_step(s, (enum step)step);

		until = -1;
		CU_ASSERT(rc == 0 || (rc == UNC_ERR_MEMORY && failed));
		if (rc < 0 && s->run &&
		    s->run->ended.code) { /* a change of passes has failed half-way */
			CHECK_NUMBER(unc_session_stop(s), rc);
			CHECK_NUMBER(do_step(s, START), 0);
		} else if (rc < 0) {
			CHECK_NUMBER(do_step(s, s->state == UNC_RUNNING ? (enum step)step : START),
				     0);
		}
		unc_sim_step(unc_machine_sim(p->machine), 60 * ms);
	}
	/* The kernel's driver leaves the event of a counter that it has stopped. */
	if (p->kernel)
		free(before.value);
	else
		CHECK_RESTORED(p, before);
	CHECK_NUMBER(counting(p), 0);
	check_quiet(p);
	unc_session_free(s);
	CHECK_NUMBER(held_registers(p), 0);
	return failed;
}

static void test_short(const char *sim, const char *const *event)
{
	struct unc_platform *p = machine(sim);
	long points = 0;

	for (int which = START; which < STEPS; which++)
		for (long n = 0; run_short(p, event, (enum step)which, n); n++)
			points++;
	CU_ASSERT(points > 15);
	unc_platform_close(p);
}

/* Two passes for the filter, an event that counts nothing, so that a clock runs. */
static void test_sandybridge(void)
{
	static const char *const event[] = {"cbo0.TOR_INSERTS:MISS_OPCODE:opc=0x182:socket=0",
					    "cbo0.TOR_INSERTS:OPCODE:opc=0x180:socket=0",
					    "cbo0.LLC_VICTIMS:MISS:socket=0", "imc0.DCLK:socket=0",
					    NULL};

	test_short("sandybridge-ep,clock=wait", event);
}

/* The same by the kernel's driver, and an event that it does not carry. */
static void test_kernel(void)
{
	static const char *const event[] = {"cbo0.TOR_INSERTS:MISS_OPCODE:opc=0x182:socket=0",
					    "cbo0.TOR_INSERTS:OPCODE:opc=0x180:socket=0",
					    "cbo0.LLC_VICTIMS:MISS:socket=0",
					    "imc0.DCLK:socket=0",
					    "pcu.DEMOTIONS_CORE0:socket=0",
					    NULL};

	test_short("sandybridge-ep,clock=wait,kernel=on", event);
}

/* Unit control is restored as found where nobody else counts. */
static void test_nehalem(void)
{
	static const char *const event[] = {"unc.LLC_MISS:READ:socket=0",
					    "unc.LLC_MISS:WRITE:socket=0", NULL};

	test_short("nehalem-ep,clock=wait", event);
}

/* Bytes that a session of an event takes while it counts. */
static size_t bytes_of(struct unc_platform *p, const char *event)
{
	struct unc_value v[MAX_ITEMS];
	size_t before = in_use, bytes;
	struct unc_session *s = session(p, 0);

	add(s, event);
	start(s);
	CHECK_NUMBER(unc_session_read(s, v, MAX_ITEMS, sizeof(*v)), 0);
	bytes = in_use - before;
	CHECK_NUMBER(unc_session_stop(s), 0);
	unc_session_free(s);
	return bytes;
}

/* A session takes memory for what it counts, not for what the machine has; so does the platform,
 * for what is asked for. */
static void test_proportion(void)
{
	size_t units = 0, one, all, opened;
	struct unc_platform *p = machine("emerald-rapids,clock=wait");
	const struct unc_unit *unit;

	for (size_t i = 0; (unit = unc_unit_get(p, i)); i++)
		units += strcmp(unit->type->name, "cha") == 0;
	bytes_of(p, "cha.CLOCKTICKS"); /* what is kept for others, too */
	one = bytes_of(p, "cha0.CLOCKTICKS:socket=0");
	all = bytes_of(p, "cha.CLOCKTICKS");
	printf("# one %zu, all of %zu units %zu bytes\n", one, units, all);
	CU_ASSERT(units > 60);
	CU_ASSERT(one < 40000);
	CU_ASSERT(all < one + 1500 * units);
	unc_platform_close(p);

	/* What nobody asks for is not there yet. */
	p = machine("emerald-rapids,clock=wait");
	opened = in_use;
	for (size_t i = 0; unc_event_get(p, i); i++)
		continue;
	CU_ASSERT(in_use > opened + 30000);
	unc_platform_close(p);
}

int main(void)
{
	static const struct suite_test tests[] = {
		{"in proportion to what counts", test_proportion},
		{"memory runs out, Sandy Bridge-EP", test_sandybridge},
		{"memory runs out, Nehalem-EP", test_nehalem},
		{"memory runs out, by the kernel", test_kernel},
		{NULL, NULL},
	};

	return suite_run("session, memory", tests);
}
#endif
