/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a program that is compiled today has in it of uncore.h, and what the library owes to one
 * that was compiled with another header.
 */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "session_kit.h"

/* ---- layout: a change here is a new UNC_API_VERSION */

#if UINTPTR_MAX == UINT64_MAX
struct member {
	const char *name;
	size_t is, was;
};

#define AT(type, member, offset)                                                                   \
	{                                                                                          \
		"offset of " #type "." #member, offsetof(struct type, member), offset              \
	}
#define SIZE(type, size)                                                                           \
	{                                                                                          \
		"size of " #type, sizeof(struct type), size                                        \
	}

/* Version 2.0, by the rules of the LP64 ABIs: each member at the next multiple of its size. What
 * the program allocates, then what the library does. */
/* clang-format off */
static const struct member members[] = {
	AT(unc_options, size, 0), AT(unc_options, sysroot, 8), AT(unc_options, sim, 16),
	AT(unc_options, cpu, 24), AT(unc_options, log, 32), AT(unc_options, log_user, 40),
	AT(unc_options, access, 48), SIZE(unc_options, 56),

	AT(unc_filter, reg, 0), AT(unc_filter, value, 8), AT(unc_filter, mask, 16),
	SIZE(unc_filter, 24),
	AT(unc_encoding, size, 0), AT(unc_encoding, type, 8), AT(unc_encoding, units_of, 16),
	AT(unc_encoding, index, 24), AT(unc_encoding, socket, 28), AT(unc_encoding, ctl, 32),
	AT(unc_encoding, counters, 40), AT(unc_encoding, counter, 48),
	AT(unc_encoding, event_code, 56), AT(unc_encoding, aggregate, 60),
	AT(unc_encoding, filters, 64), AT(unc_encoding, n_filters, 256),
	AT(unc_encoding, name, 264), AT(unc_encoding, base, 520), AT(unc_encoding, event, 776),
	SIZE(unc_encoding, 784),
	AT(unc_target, socket, 0), AT(unc_target, index, 4), SIZE(unc_target, 8),

	AT(unc_item, size, 0), AT(unc_item, metric, 8), AT(unc_item, event, 16),
	AT(unc_item, index, 24), AT(unc_item, units_of, 32), AT(unc_item, at, 40),
	AT(unc_item, error, 48), AT(unc_item, base, 52), AT(unc_item, name, 308),
	AT(unc_item, node, 564), AT(unc_item, port, 568), AT(unc_item, device, 572),
	AT(unc_item, ports, 612), AT(unc_item, label, 616), SIZE(unc_item, 776),

	AT(unc_qualifier, size, 0), AT(unc_qualifier, kind, 8), AT(unc_qualifier, unavailable, 12),
	AT(unc_qualifier, key, 16), AT(unc_qualifier, text, 24), AT(unc_qualifier, desc, 280),
	SIZE(unc_qualifier, 1048),
	AT(unc_news, id, 0), AT(unc_news, kind, 4), AT(unc_news, begins, 8), AT(unc_news, text, 16), AT(unc_news, mark, 24),
	AT(unc_mark, flag, 0), AT(unc_mark, interval, 4), AT(unc_mark, letter, 8), AT(unc_mark, key, 16), AT(unc_mark, what, 24), SIZE(unc_mark, 32),

	AT(unc_register_value, reg, 0), AT(unc_register_value, value, 8),
	SIZE(unc_register_value, 16),
	AT(unc_count, event, 0), AT(unc_count, value, 8), SIZE(unc_count, 16),

	AT(unc_value, count, 0), AT(unc_value, delta, 8), AT(unc_value, value, 16),
	AT(unc_value, interval, 24), AT(unc_value, seconds, 32),
	AT(unc_value, interval_seconds, 40), AT(unc_value, share, 48),
	AT(unc_value, interval_share, 56), AT(unc_value, units, 64), AT(unc_value, of, 68),
	AT(unc_value, flags, 72), AT(unc_value, late, 80), AT(unc_value, interval_late, 88),
	AT(unc_value, lacked, 96), SIZE(unc_value, 104),

	AT(unc_cpu, name, 0), AT(unc_cpu, title, 8), AT(unc_cpu, family, 16),
	AT(unc_cpu, models, 24), AT(unc_cpu, n_models, 32), AT(unc_cpu, n_units, 40),
	AT(unc_cpu, n_events, 48), AT(unc_cpu, n_umasks, 56), AT(unc_cpu, n_metrics, 64),
	AT(unc_cpu, steppings, 72), AT(unc_cpu, n_kernel, 80),
	AT(unc_type, name, 0), AT(unc_type, title, 8), AT(unc_type, desc, 16),
	AT(unc_type, counters, 24), AT(unc_type, counter_width, 28), AT(unc_type, units, 32),
	AT(unc_type, units_of, 40),
	AT(unc_unit, type, 0), AT(unc_unit, socket, 8), AT(unc_unit, index, 12),
	AT(unc_unit, location, 16), AT(unc_unit, available, 24), AT(unc_unit, reason, 32),
	AT(unc_umask, name, 0), AT(unc_umask, desc, 8), AT(unc_umask, standalone, 16),
	AT(unc_umask, combinable, 20), AT(unc_umask, reason, 24), AT(unc_umask, guide, 32),
	AT(unc_event, type, 0), AT(unc_event, name, 8), AT(unc_event, spec, 16),
	AT(unc_event, desc, 24), AT(unc_event, n_umasks, 32), AT(unc_event, needs_umask, 40),
	AT(unc_event, aggregate, 44), AT(unc_event, free_running, 48),
	AT(unc_event, guide, 56),
	AT(unc_field, name, 0), AT(unc_field, desc, 8), AT(unc_field, max, 16),
	AT(unc_field, width, 24), AT(unc_field, needed, 28), AT(unc_field, min, 32),
	AT(unc_metric, name, 0), AT(unc_metric, of, 8), AT(unc_metric, formula, 16),
	AT(unc_metric, unit, 24), AT(unc_metric, kind, 32), AT(unc_metric, desc, 40),
	AT(unc_metric, passes, 48), AT(unc_metric, available, 52), AT(unc_metric, reason, 56),
	AT(unc_group, name, 0), AT(unc_group, desc, 8), AT(unc_group, n_items, 16),
	AT(unc_group, items, 24), AT(unc_group, passes, 32), AT(unc_group, available, 36),
	AT(unc_group, reason, 40),
	AT(unc_node, number, 0), AT(unc_node, socket, 4), AT(unc_node, cluster, 8),
	AT(unc_node, reason, 16),
	AT(unc_operation, unit, 0), AT(unc_operation, socket, 8), AT(unc_operation, index, 12),
	AT(unc_operation, reg, 16), AT(unc_operation, space, 24), AT(unc_operation, address, 32),
	AT(unc_operation, location, 40), AT(unc_operation, width, 48), AT(unc_operation, write, 52),
	AT(unc_operation, value, 56),
	AT(unc_register, unit, 0), AT(unc_register, index, 8), AT(unc_register, name, 16),
	AT(unc_register, space, 24), AT(unc_register, address, 32), AT(unc_register, width, 40),
	AT(unc_register, device, 48), AT(unc_register, device_id, 56), AT(unc_register, bar, 64),
	AT(unc_register, socket, 72), AT(unc_register, known, 76), AT(unc_register, value, 80),
	AT(unc_register, reason, 88),
	AT(unc_counter, unit, 0), AT(unc_counter, number, 8), AT(unc_counter, name, 16),
	AT(unc_counter, control, 24), AT(unc_counter, event, 32), AT(unc_counter, owner, 40),
	AT(unc_counter, pid, 44), AT(unc_counter, command, 48), AT(unc_counter, since, 56),
	AT(unc_counter, release, 64), AT(unc_counter, reason, 72),
	AT(unc_check, check, 0), AT(unc_check, ok, 8), AT(unc_check, detail, 16),
	AT(unc_check, remedy, 24),
};
/* clang-format on */

static void test_layout(void)
{
	for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
		if (members[i].is != members[i].was)
			printf("# %s: %zu, was %zu\n", members[i].name, members[i].is,
			       members[i].was);
		CU_ASSERT(members[i].is == members[i].was);
	}
}
#else
static void test_layout(void)
{
	suite_skip("the layout is that of 64 bits");
}
#endif

/* ---- versions */

static void test_version(void)
{
	CHECK_NUMBER(unc_api_version(), UNC_API_VERSION);
	CHECK_NUMBER(UNC_API_VERSION, 0x30000);
	CU_ASSERT(UNC_API_SERVES(unc_api_version()));
	CU_ASSERT(UNC_API_SERVES(UNC_API_VERSION + 1)); /* has more functions */
	CU_ASSERT(!UNC_API_SERVES(UNC_API_VERSION + 0x10000));
	CU_ASSERT(!UNC_API_SERVES(UNC_API_VERSION - 1));
}

/* ---- programs that were compiled earlier, and later */

/* as if that were all */
struct early_value {
	uint64_t count, delta;
	double value;
};
struct late_value {
	struct unc_value known;
	uint64_t later;
};

static void test_values(void)
{
	struct unc_platform *p = machine(EMR);
	struct unc_session *s = session(p, 0);
	struct early_value early[4];
	struct late_value late[4];
	struct unc_value v[4];

	add(s, "imc.CAS_COUNT:RD");
	add(s, "cha.CLOCKTICKS");
	add(s, "memory_read_bytes");
	start(s);
	step(p, 10 * ms);
	CHECK_NUMBER(unc_session_stop(s), 0);
	memset(early, 0x55, sizeof(early));
	memset(late, 0x55, sizeof(late));
	CHECK_NUMBER(unc_session_read(s, v, 3, sizeof(v[0])), 0);
	CHECK_NUMBER(unc_session_read(s, (struct unc_value *)early, 4, sizeof(early[0])), 0);
	CHECK_NUMBER(unc_session_read(s, &late[0].known, 4, sizeof(late[0])), 0);
	for (int i = 0; i < 3; i++) {
		CU_ASSERT(v[i].flags & UNC_VALUE_VALID && v[i].value > 0);
		CU_ASSERT(memcmp(&early[i], &v[i], sizeof(early[i])) == 0);
		CU_ASSERT(memcmp(&late[i].known, &v[i], sizeof(v[i])) == 0);
		CHECK_NUMBER(late[i].later, 0);
	}
	CHECK_NUMBER(early[3].count, 0x5555555555555555); /* behind the last item */
	CHECK_NUMBER(late[3].later, 0x5555555555555555);
	CHECK_NUMBER(unc_session_read(s, v, 3, 0), UNC_ERR_INVALID);
	CHECK_TEXT(unc_session_error(s), "size is 0; it has to be sizeof(struct unc_value)");
	CHECK_NUMBER(unc_session_read(s, v, 3, 1 << 20), UNC_ERR_INVALID);
	CHECK_NUMBER(unc_session_read(s, NULL, 0, 0), 0);
	unc_session_free(s);
	unc_platform_close(p);
}

static void test_encoding(void)
{
	struct unc_platform *p = machine(EMR);
	struct {
		size_t size;
		const char *type, *units_of;
		int index, socket;
		uint64_t ctl;
		uint64_t guard;
	} early = {.size = offsetof(struct unc_encoding, counters), .guard = 7};
	struct {
		struct unc_encoding known;
		const char *later;
	} late = {.known.size = sizeof(late), .later = "?"};
	struct unc_encoding e = {.size = sizeof(e)};

	CHECK_NUMBER(unc_event_encode(p, "imc3.CAS_COUNT:RD:socket=1", &e), 0);
	CHECK_NUMBER(unc_event_encode(p, e.name, (struct unc_encoding *)&early), 0);
	CHECK_NUMBER(unc_event_encode(p, e.name, &late.known), 0);
	CHECK_NUMBER(early.size, offsetof(struct unc_encoding, counters));
	CHECK_TEXT(early.type, "imc");
	CHECK_NUMBER(early.index, 3);
	CHECK_NUMBER(early.socket, 1);
	CHECK_NUMBER(early.ctl, e.ctl);
	CHECK_NUMBER(early.guard, 7);
	CHECK_NUMBER(late.known.size, sizeof(late));
	CHECK_TEXT(late.known.name, e.name);
	CU_ASSERT_PTR_NULL(late.later);
	e.size = 0;
	CHECK_NUMBER(unc_event_encode(p, "imc.CAS_COUNT:RD", &e), UNC_ERR_INVALID);
	CHECK_TEXT(unc_platform_error(p), "size is 0; it has to be sizeof(struct unc_encoding)");
	unc_platform_close(p);
}

static void test_item(void)
{
	struct unc_platform *p = machine(EMR);
	struct {
		size_t size;
		const struct unc_metric *metric;
		uint64_t guard;
	} early = {.size = offsetof(struct unc_item, event), .guard = 7};
	struct {
		struct unc_item known;
		const char *later;
	} late = {.known.size = sizeof(late), .later = "?"};
	struct unc_item none = {0};

	CHECK_NUMBER(unc_item_find(p, "memory_read_bytes", (struct unc_item *)&early), 0);
	CHECK_TEXT(early.metric->name, "memory_read_bytes");
	CHECK_NUMBER(early.guard, 7);
	CHECK_NUMBER(unc_item_find(p, "memory_read_bytes", &late.known), 0);
	CHECK_NUMBER(late.known.size, sizeof(late));
	CU_ASSERT_PTR_NULL(late.later);
	CHECK_NUMBER(unc_item_find(p, "memory_read_bytes", &none), UNC_ERR_INVALID);
	CHECK_TEXT(unc_platform_error(p), "size is 0; it has to be sizeof(struct unc_item)");
	unc_platform_close(p);
}

/* The same in what a program gives. */
static void test_options(void)
{
	struct {
		size_t size;
		const char *sysroot, *sim;
	} early = {.size = sizeof(early), .sim = EMR};
	struct {
		struct unc_options known;
		void *later;
	} late = {.known = {.size = sizeof(late), .sim = EMR}};
	struct unc_platform *p = NULL;

	CHECK_NUMBER(unc_platform_open((struct unc_options *)&early, &p), 0);
	CHECK_TEXT(unc_platform_cpu(p)->name, "emerald-rapids");
	unc_platform_close(p);
	CHECK_NUMBER(unc_platform_open(&late.known, &p), 0);
	unc_platform_close(p);
	p = NULL;
	late.later = &late;
	CHECK_NUMBER(unc_platform_open(&late.known, &p), UNC_ERR_INVALID);
	CU_ASSERT_PTR_NOT_NULL(strstr(unc_open_error(),
				      "struct unc_options: a member is set that this "
				      "libuncore does not know"));
	CU_ASSERT_PTR_NULL(p);
	early.size = sizeof(early.size) - 1;
	CHECK_NUMBER(unc_platform_open((struct unc_options *)&early, &p), UNC_ERR_INVALID);
	CHECK_TEXT(unc_open_error(), "size is 7; it has to be sizeof(struct unc_options)");
	/* Half of `sim` is no pointer. */
	early.size = sizeof(early) - 4;
	CHECK_NUMBER(unc_platform_open((struct unc_options *)&early, &p), UNC_ERR_INVALID);
	CHECK_TEXT(unc_open_error(), "size is 20; it has to be sizeof(struct unc_options)");
}

/* Nothing is written to a buffer without a byte. */
static void test_no_room(void)
{
	struct unc_register_value ctl = {"CTL", 0x400304};
	struct unc_platform *p = machine(SNB);
	char text[2] = "ab";

	CHECK_NUMBER(unc_event_decode(p, "imc", &ctl, 1, sizeof(ctl), text, 0), UNC_ERR_RANGE);
	CHECK_NUMBER(text[0], 'a');
	CHECK_NUMBER(unc_event_decode(p, "imc", &ctl, 1, sizeof(ctl), NULL, 0), UNC_ERR_RANGE);
	CHECK_NUMBER(unc_event_decode(p, "imc", &ctl, 1, sizeof(ctl), text, 1), UNC_ERR_RANGE);
	CHECK_NUMBER(text[0], '\0');
	CHECK_NUMBER(text[1], 'b');
	unc_platform_close(p);
}

static int no_check(void *user, const struct unc_check *check)
{
	(void)check;
	++*(int *)user;
	return 0;
}

static void test_doctor(void)
{
	struct unc_options options = {.size = sizeof(options), .sim = EMR};
	int calls = 0;

	CHECK_NUMBER(unc_doctor(&options, NULL, NULL), UNC_ERR_INVALID);
	CHECK_TEXT(unc_open_error(), "nobody listens: fn is NULL");
	options.size = 1;
	CHECK_NUMBER(unc_doctor(&options, no_check, &calls), UNC_ERR_INVALID);
	CHECK_TEXT(unc_open_error(), "size is 1; it has to be sizeof(struct unc_options)");
	CHECK_NUMBER(calls, 0);
}

static void test_arrays(void)
{
	struct unc_platform *p = machine(SNB);
	struct late_count {
		struct unc_count known;
		const void *later;
	} counts[] = {{.known = {"imc.CAS_COUNT:RD", 300}}, {.known = {"imc.CAS_COUNT:WR", 100}}};
	struct late_register {
		struct unc_register_value known;
		const void *later;
	} regs[] = {{.known = {"CTL", 0x400304}}};
	char text[UNC_SPEC_MAX];
	double value = 0;

	/* A read brings a line of 64 bytes. */
	CHECK_NUMBER(unc_metric_eval(p, "memory_read_bytes", &counts[0].known, 2, sizeof(counts[0]),
				     &value),
		     0);
	CU_ASSERT_DOUBLE_EQUAL(value, 300 * 64, 0);
	counts[1].later = counts;
	CHECK_NUMBER(unc_metric_eval(p, "memory_read_bytes", &counts[0].known, 2, sizeof(counts[0]),
				     &value),
		     UNC_ERR_INVALID);
	CU_ASSERT_PTR_NOT_NULL(strstr(unc_platform_error(p), "struct unc_count: a member is set"));
	CHECK_NUMBER(unc_metric_eval(p, "memory_read_bytes", &counts[0].known, 2, 1, &value),
		     UNC_ERR_INVALID);
	CHECK_NUMBER(
		unc_event_decode(p, "imc", &regs[0].known, 1, sizeof(regs[0]), text, sizeof(text)),
		0);
	CHECK_TEXT(text, "imc.CAS_COUNT:RD");
	regs[0].later = regs;
	CHECK_NUMBER(
		unc_event_decode(p, "imc", &regs[0].known, 1, sizeof(regs[0]), text, sizeof(text)),
		UNC_ERR_INVALID);
	CHECK_TEXT(text, "");
	unc_platform_close(p);
}

/* ---- descriptors */

static void test_cpus(void)
{
	struct unc_options any = {.size = sizeof(any), .cpu = "*"};
	const struct unc_cpu *cpu, *same;
	struct unc_platform *p = NULL;
	size_t n = 0;

	CHECK_NUMBER(unc_platform_open(&any, &p), 0);
	for (; (cpu = unc_cpu_get(NULL, n)); n++) {
		same = unc_cpu_get(p, n);
		CU_ASSERT_FATAL(same != NULL);
		CHECK_TEXT(same->name, cpu->name);
		CU_ASSERT(cpu->n_models > 0 && cpu->n_units > 0 && cpu->n_events > 0);
		if (strcmp(cpu->name, unc_platform_cpu(p)->name) == 0) {
			CHECK_NUMBER(cpu->n_umasks, unc_platform_cpu(p)->n_umasks);
			CHECK_NUMBER(cpu->n_metrics, unc_platform_cpu(p)->n_metrics);
			CHECK_NUMBER(cpu->models[0], unc_platform_cpu(p)->models[0]);
		}
	}
	CU_ASSERT(n > 1);
	CU_ASSERT_PTR_NULL(unc_cpu_get(p, n));
	unc_platform_close(p);
}

static void test_descriptors(void)
{
	struct unc_platform *p = machine(EMR);
	size_t n = unc_platform_cpu(p)->n_events;

	for (size_t i = 0; i < n; i++) {
		const struct unc_event *e = unc_event_get(p, i);

		if (e->n_umasks) {
			CU_ASSERT_PTR_NOT_NULL(unc_umask_get(p, i, e->n_umasks - 1));
			CU_ASSERT_PTR_EQUAL(unc_umask_get(p, i, 0), unc_umask_get(p, i, 0));
		}
		CU_ASSERT_PTR_NULL(unc_umask_get(p, i, e->n_umasks));
	}
	CU_ASSERT_PTR_NULL(unc_umask_get(p, n, 0));
	CU_ASSERT_PTR_NULL(unc_field_get(p, n, 0));
	CU_ASSERT_PTR_NULL(unc_event_get(p, n));
	unc_platform_close(p);
}

/* The fields that an event takes: of a memory controller those of its control that the user may set, edge
 * detection, inversion and the threshold (Intel 327043-001, table 2-61). */
static void test_fields(void)
{
	static const char *const want[] = {"edge", "inv", "thresh"};
	struct unc_platform *p = machine(SNB);
	struct unc_item item = {.size = sizeof(item)};
	const struct unc_field *f;
	size_t n = 0;

	CU_ASSERT_FATAL(unc_item_find(p, "imc.ACT_COUNT", &item) == 0 && item.event);
	for (; (f = unc_field_get(p, item.index, n)); n++) {
		CHECK_TEXT(f->name, n < 3 ? want[n] : "none");
		CHECK_NUMBER(f->width, n < 2 ? 1 : 8);
		CHECK_NUMBER(f->needed, 0);
	}
	CHECK_NUMBER(n, 3);
	unc_platform_close(p);
}

/* ---- fork */

static int in_child(struct unc_platform *p, bool listed)
{
	struct unc_register_value ctl = {"CTL", 0x400304};
	struct unc_encoding e = {.size = sizeof(e)};
	char text[UNC_SPEC_MAX] = "?";
	struct unc_item item = {.size = sizeof(item)};
	int wrong = 0;
	size_t index;
	double value;

	wrong |= unc_event_encode(p, "imc.CAS_COUNT:RD", &e) != UNC_ERR_STATE;
	wrong |= unc_event_decode(p, "imc", &ctl, 1, sizeof(ctl), text, sizeof(text)) !=
		 UNC_ERR_STATE;
	wrong |= text[0] != '\0';
	wrong |= unc_register_decode(p, "imc", "CTL", 0, NULL, NULL) != UNC_ERR_STATE;
	wrong |= unc_metric_eval(p, "memory_read_bytes", NULL, 0, sizeof(struct unc_count),
				 &value) != UNC_ERR_STATE;
	wrong |= unc_item_find(p, "imc.CAS_COUNT:RD", &item) != UNC_ERR_STATE;
	wrong |= unc_group_find(p, "MEM", &index) != UNC_ERR_STATE;
	wrong |= unc_memory_peak(p, -1, &value) != UNC_ERR_STATE;
	wrong |= (unc_group_get(p, 0) != NULL) != listed;
	wrong |= unc_counters_walk(p, NULL, NULL) != UNC_ERR_STATE;
	wrong |= unc_register_read(p, unc_unit_get(p, 0), NULL, NULL) != UNC_ERR_STATE;
	wrong |= unc_counters_release(p, 0, NULL, NULL) != UNC_ERR_STATE;
	wrong |= !unc_event_get(p, 0) || !unc_type_get(p, 0) || !unc_unit_get(p, 0);
	wrong |= (unc_field_get(p, 0, 0) != NULL) != listed;
	wrong |= (unc_metric_get(p, 0) != NULL) != listed;
	wrong |= (unc_node_get(p, 0) != NULL) != listed;
	unc_platform_close(p);
	return wrong;
}

static void test_fork(void)
{
	struct unc_platform *p = machine(SNB);

	for (int listed = 0; listed < 2; listed++) {
		int status;
		pid_t child;

		if (listed) {
			CU_ASSERT_PTR_NOT_NULL(unc_field_get(p, 0, 0));
			CU_ASSERT_PTR_NOT_NULL(unc_metric_get(p, 0));
			CU_ASSERT_PTR_NOT_NULL(unc_node_get(p, 0));
			CU_ASSERT_PTR_NOT_NULL(unc_group_get(p, 0));
		}
		/* As if a thread that is not in the child were inside of a call. */
		pthread_mutex_lock(&p->lock);
		child = fork();
		if (child == 0)
			_exit(in_child(p, listed));
		pthread_mutex_unlock(&p->lock);
		CU_ASSERT_FATAL(child > 0);
		CHECK_NUMBER(waitpid(child, &status, 0), child);
		CHECK_NUMBER(status, 0);
	}
	unc_platform_close(p);
}

int main(void)
{
	static const struct suite_test tests[] = {
		{"the layout of every public struct", test_layout},
		{"which library serves which program", test_version},
		{"values in shorter and longer structs", test_values},
		{"encodings in shorter and longer structs", test_encoding},
		{"items in shorter and longer structs", test_item},
		{"options in shorter and longer structs", test_options},
		{"buffers without room", test_no_room},
		{"an error of the doctor has a sentence", test_doctor},
		{"arrays of shorter and longer structs", test_arrays},
		{"CPUs of a platform, and built in", test_cpus},
		{"descriptors end, and stay where they are", test_descriptors},
		{"fields of an event", test_fields},
		{"a forked process is told, and does not hang", test_fork},
		{NULL, NULL},
	};

	return suite_run("abi", tests);
}
