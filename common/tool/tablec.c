/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tablec: the build-time compiler of event tables. Reads and checks a folder and prints C.
 *   tablec DIR > table_data.c     compiles
 *   tablec --workload DIR > sim_data.c
 *                                 compiles the workloads, for the simulator
 *   tablec --check DIR            only reads, prints what there is
 *   tablec --grammar              the grammar of the tables, as eventtables/README.md has it
 *   tablec --columns              the same for programs: FILE STATEMENT COLUMN KIND needed|optional
 */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "reader/table_load.h"
#include "tablec.h"

/* ---- what structs are made of */

struct member {
	uint16_t offset, size;
	uint8_t element; /* bytes of one of an array, or of a number of a range */
	char kind;       /* 'u', 'i': integers; 'd': double */
};

enum { MAX_KINDS = 32 }; /* of rows */

#define ELEMENT(p)                                                                                 \
	_Generic((p), struct unc_range * : 2, uint8_t(*)[2] : 1, uint8_t(*)[16] : 1,               \
		 uint8_t(*)[32] : 1, uint16_t(*)[2] : 2, uint16_t(*)[4] : 2, uint16_t(*)[8] : 2,   \
		 uint64_t(*)[2] : 8, struct unc_bits * : 8, default                                \
		 : sizeof(*(p)))
#define KIND(p) _Generic((p), double * : 'd', int16_t * : 'i', int32_t * : 'i', default : 'u')
#define M(m) {offsetof(T, m), sizeof(((T *)0)->m), ELEMENT(&((T *)0)->m), KIND(&((T *)0)->m)},

/* The members of each struct of table.h in their order. That none is missing is seen by in_order()
 * and by the compiler of what is printed (-Wmissing-field-initializers). */
/* clang-format off */
#define MEMBERS_where M(base) M(device_id) M(devfn) M(bar) M(bar_index) M(optional) M(group)
#define MEMBERS_present M(mask) M(msr) M(id) M(last) M(offset) M(n_offsets) M(tells) M(none) M(per) \
	M(n_devices) M(devfn)
#define MEMBERS_bar M(name) M(device_id) M(devfn) M(count) M(base_offset) M(offset) M(step) \
	M(base_shift) M(shift) M(base_mask) M(mask) M(size)
#define MEMBERS_part M(name) M(space) M(where)
#define MEMBERS_reg M(name) M(offset) M(per_unit) M(write_mask) M(base) M(busy) M(part) M(role) \
	M(number) M(nth) M(width) M(flags)
#define MEMBERS_field M(name) M(desc) M(reg) M(lo) M(width) M(shift) M(flags) M(role) \
	M(counters) M(max_inc) M(needs) M(mask) M(like) M(default_value) M(min) M(with) M(values)
#define MEMBERS_value M(name) M(desc) M(value)
#define MEMBERS_set M(field) M(given) M(value)
#define MEMBERS_step M(kind) M(reg) M(value)
#define MEMBERS_counter M(name) M(ctr) M(ctl) M(enable) M(freeze) M(status_bit) M(global_bit) \
	M(width) M(kernel)
#define MEMBERS_lane M(name) M(counters) M(lead) M(same)
#define MEMBERS_forbid M(why) M(sets)
#define MEMBERS_bundle M(name) M(sets)
#define MEMBERS_kernel M(name) M(unavailable) M(bits) M(named) M(config) M(number) M(free)
#define MEMBERS_kernel_filter M(ctl) M(mask) M(bits)
#define MEMBERS_kernel_counters M(counters) M(code)
#define MEMBERS_overflow M(overflow.set) M(overflow.status) M(overflow.clear) M(overflow.global) \
	M(overflow.bit) M(overflow.freezes) M(overflow.known)
#define MEMBERS_type M(name) M(title) M(desc) M(public_prefix) M(parts) M(regs) M(fields) \
	M(steps_start) M(steps_join) M(steps_stop) M(steps_leave) M(steps_freeze) M(steps_unfreeze) \
	M(counters) M(lanes) M(forbids) M(bundles) M(kernels) M(kernel_filters) M(kernel_counters) \
	M(events) M(names) M(pool) M(partner) M(global_status) M(unfreeze) \
	M(n_global) M(has_unfreeze) M(unfreeze_value) MEMBERS_overflow M(first_ctl) M(first_ctr) \
	M(unit_ctl) M(status) M(f_event) M(f_umask) M(enable) M(active) M(exclusive) M(max_inc) \
	M(discovery) M(presents) M(unlisted) M(distrusted) M(functions) M(cpus) M(share) M(first) \
	M(n_counters) M(width) M(memory) M(channels)
#define MEMBERS_fields M(fields.sets) M(fields.needs) M(fields.uses) M(fields.defaults)
#define MEMBERS_umask M(name) M(desc) M(alias) MEMBERS_fields \
	M(unavailable) M(counter) M(flags) M(aggregate)
#define MEMBERS_event M(name) M(desc) M(alias) M(umasks) MEMBERS_fields \
	M(counters) M(doubtful) M(counter) M(type) M(max_inc) M(code) M(lane) M(set) \
	M(aggregate) M(clock) M(alike) M(steady) M(estimate)
#define MEMBERS_event_name M(name) M(event)
#define CPUID(at) M(at family) M(at n_models) M(at models) M(at steppings)
#define MEMBERS_cpuid CPUID()
#define MEMBERS_known M(title) CPUID(cpuid.)
#define MEMBERS_metric M(name) M(formula) M(unit) M(desc) M(unavailable) M(type) M(kind)
#define MEMBERS_group M(name) M(desc) M(items) M(unavailable)
#define MEMBERS_group_item M(text)
#define FILTER(i) M(filter[i].reg) M(filter[i].value) M(filter[i].mask)
#define MEMBERS_rate M(type) M(counter) M(only_socket) M(n_filters) M(steady) M(shared) M(ctl) M(ctl_mask) FILTER(0) \
	FILTER(1) FILTER(2) FILTER(3) M(per_second) M(per_clock)
#define MEMBERS_sim_unit M(type) M(present) M(clock_hz) M(link)
/* Of the table itself what stands before its pointers and arrays. */
#define MEMBERS_head M(name) M(title) M(discovery) \
	M(topology.ubox_id) M(topology.nodeid_offset) M(topology.map_offset) M(topology.buses) \
	M(topology.devfn) M(topology.inherit) M(id)
/* The same of a workload. */
#define MEMBERS_work M(id) M(machine.sockets) M(machine.model) M(machine.cores) \
	M(machine.threads) M(machine.tsc_hz) M(machine.title)
/* clang-format on */

/* ---- C */

/* Of all tables: those of one are the first of the next one's. */
static void print_strings(const struct unc_table *t)
{
	printf("static const char strings[] =\n");
	for (size_t at = 0; at < t->n_strings; at += strlen(t->strings + at) + 1) {
		putchar('"');
		for (const char *p = t->strings + at; *p; p++) {
			if (*p == '"' || *p == '\\')
				putchar('\\');
			if (*p == '?')
				fputs("\\077", stdout);
			else if ((unsigned char)*p < ' ' || (unsigned char)*p >= 0x7f)
				printf("\\%03o", (unsigned char)*p);
			else
				putchar(*p);
		}
		/* the last one is terminated by the compiler */
		printf(at + strlen(t->strings + at) + 1 < t->n_strings ? "\\0\"\n" : "\"");
	}
	printf(";\n");
}

static void print_member(const char *row, const struct member *m)
{
	for (const char *at = row + m->offset; at < row + m->offset + m->size; at += m->element)
		if (m->kind == 'd')
			printf("%.17g,", *(const double *)at);
		else if (m->kind == 'i')
			printf("%d,", m->size == 2 ? *(const int16_t *)at : *(const int32_t *)at);
		else if (m->element == 8)
			printf("0x%llx,", (unsigned long long)*(const uint64_t *)at);
		else if (m->element == 4)
			printf("%lu,", (unsigned long)*(const uint32_t *)at);
		else
			printf("%d,",
			       m->element == 2 ? *(const uint16_t *)at : *(const uint8_t *)at);
}

/* Whether each member stands behind the one before it, with padding at most between them. */
static bool in_order(const struct member *m, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		size_t end = (size_t)m[i - 1].offset + m[i - 1].size;

		if (m[i].offset < end || m[i].offset >= end + sizeof(uint64_t))
			return false;
	}
	return true;
}

/* ---- arrays of all tables, or workloads: one behind the other */

/* What rows of a kind are made of, and where their owner, a table or workload, has them. */
struct kind {
	const char *name;
	const struct member *member;
	size_t n_members, size;
	size_t rows, n; /* offsets of the owner's members */
};

#define KIND_IN(of, row)                                                                           \
	static struct kind kind_##row(void)                                                        \
	{                                                                                          \
		typedef struct unc_tbl_##row T;                                                    \
		static const struct member m[] = {MEMBERS_##row};                                  \
                                                                                                   \
		return (struct kind){#row,                                                         \
				     m,                                                            \
				     sizeof(m) / sizeof(m[0]),                                     \
				     sizeof(T),                                                    \
				     offsetof(struct of, row),                                     \
				     offsetof(struct of, n_##row)};                                \
	}
#define KIND_OF_TABLE(row) KIND_IN(unc_table, row)
#define KIND_OF_WORKLOAD(row) KIND_IN(unc_workload, row)
UNC_TABLE_ARRAYS(KIND_OF_TABLE)
UNC_WORKLOAD_ARRAYS(KIND_OF_WORKLOAD)

static const char *rows_of(const struct kind *k, const char *owner)
{
	return *(const char *const *)(owner + k->rows);
}

static size_t count_of(const struct kind *k, const char *owner)
{
	return *(const size_t *)(owner + k->n);
}

/* Whether all that the members of their rows hold is the same. */
static bool same_rows(const struct kind *k, const char *one, const char *other)
{
	size_t n = count_of(k, one);

	for (size_t i = 0; n == count_of(k, other) && i < n * k->n_members; i++) {
		const struct member *m = &k->member[i % k->n_members];
		size_t at = i / k->n_members * k->size + m->offset;

		if (memcmp(rows_of(k, one) + at, rows_of(k, other) + at, m->size) != 0)
			return false;
	}
	return n == count_of(k, other);
}

static void print_members(const char *row, const struct member *m, size_t n)
{
	printf("{");
	for (size_t i = 0; i < n; i++)
		print_member(row, &m[i]);
}

/* The rows of all owners, and first[i], where those of each begin. CPUs that share a folder have many in
 * common: what an earlier one has is not printed again. */
static void print_array(const struct kind *k, const char *const *owner, size_t n, size_t *first)
{
	size_t rows = 0;

	if (!in_order(k->member, k->n_members))
		printf("#error tablec: the members of %s are not those of its struct\n", k->name);
	printf("static const struct unc_tbl_%s all_%s[] = {\n", k->name, k->name);
	for (size_t i = 0; i < n; i++) {
		size_t same = 0;

		while (!same_rows(k, owner[same], owner[i]))
			same++;
		first[i] = same < i ? first[same] : rows;
		for (size_t at = 0; same == i && at < count_of(k, owner[i]); at++, rows++) {
			print_members(rows_of(k, owner[i]) + at * k->size, k->member, k->n_members);
			printf("},\n");
		}
	}
	printf(rows ? "};\n" : "{0}\n};\n");
}

/* The arrays, and unc_WHAT_built(): it has heads, which are all but the pointers, and what these are. */
static void print_built(const char *what, const char *const *owner, size_t n,
			const struct member *head, size_t n_head, const struct kind *kind,
			size_t n_kinds)
{
	size_t first[MAX_KINDS][UNC_TABLE_CPUS];

	for (size_t k = 0; k < n_kinds; k++)
		print_array(&kind[k], owner, n, first[k]);
	printf("bool unc_%s_built(size_t index, struct unc_%s *out)\n{\n"
	       "\tstatic const struct unc_%s head[] = {\n",
	       what, what, what);
	for (size_t i = 0; i < n; i++) {
		print_members(owner[i], head, n_head);
		for (size_t k = 0; k < n_kinds; k++)
			printf(".n_%s = %zu,", kind[k].name, count_of(&kind[k], owner[i]));
		printf("},\n");
	}
	printf("};\n\tstatic const uint32_t first[][%zu] = {\n", n_kinds);
	for (size_t i = 0; i < n; i++) {
		printf("{");
		for (size_t k = 0; k < n_kinds; k++)
			printf("%zu,", first[k][i]);
		printf("},\n");
	}
	printf("};\n\n\tif (index >= %zu)\n\t\treturn false;\n\t*out = head[index];\n", n);
	for (size_t k = 0; k < n_kinds; k++)
		printf("\tout->%s = all_%s + first[index][%zu];\n", kind[k].name, kind[k].name, k);
}

static void print_tables(const struct unc_table_set *set)
{
	typedef struct unc_table T;
	static const struct member head[] = {MEMBERS_head};
#define KIND_ROW(row) kind_##row(),
	const struct kind kinds[] = {UNC_TABLE_ARRAYS(KIND_ROW)};
	const struct unc_table *last = set->table[set->n - 1];
	const char *table[UNC_TABLE_CPUS];

	for (size_t i = 0; i < set->n; i++)
		table[i] = (const char *)set->table[i];
	print_strings(last);
	print_built("table", table, set->n, head, sizeof(head) / sizeof(head[0]), kinds,
		    sizeof(kinds) / sizeof(kinds[0]));
	printf("\tout->strings = strings;\n\tout->n_strings = %zu;\n\treturn true;\n}\n",
	       last->n_strings);
}

static void print_workloads(const struct unc_table_set *set)
{
	typedef struct unc_workload T;
	static const struct member head[] = {MEMBERS_work};
	const struct kind kinds[] = {UNC_WORKLOAD_ARRAYS(KIND_ROW)};
	const char *work[UNC_TABLE_CPUS];

	for (size_t i = 0; i < set->n; i++)
		work[i] = (const char *)set->table[i]->workload;
	print_built("workload", work, set->n, head, sizeof(head) / sizeof(head[0]), kinds,
		    sizeof(kinds) / sizeof(kinds[0]));
	printf("\treturn true;\n}\n");
}

static void print_head(void)
{
	printf("/* SPDX-License-Identifier: BSD-3-Clause */\n/* Made by tablec from eventtables/; "
	       "do not edit. */\n#include \"tables/table.h\"\n"
	       "#pragma GCC diagnostic ignored \"-Wmissing-braces\"\n");
}

static void print_counts(const struct unc_table_set *set)
{
	for (size_t n = 0; n < set->n; n++) {
		const struct unc_table *t = set->table[n];
		size_t before = n ? set->table[n - 1]->n_strings : 0;

		printf("%s: %zu types, %zu events, %zu umasks, %zu metrics, %zu rates, %zu bytes "
		       "of text\n",
		       unc_tbl_str(t, t->name), t->n_type, t->n_event, t->n_umask, t->n_metric,
		       t->workload->n_rate, t->n_strings - before);
	}
}

int main(int argc, char **argv)
{
	struct unc_table_set set;
	struct unc_error err = {0};
	bool check = argc == 3 && strcmp(argv[1], "--check") == 0;
	bool workload = argc == 3 && strcmp(argv[1], "--workload") == 0;
	bool grammar = argc == 2 && strcmp(argv[1], "--grammar") == 0;
	bool columns = argc == 2 && strcmp(argv[1], "--columns") == 0;

	if (argc != 2 + (check || workload)) {
		fprintf(stderr, "usage: tablec [--check|--workload] DIR, tablec --grammar or "
				"--columns\n");
		return 2;
	}
	if (grammar || columns) {
		(grammar ? tablec_grammar : tablec_columns)();
		return fflush(stdout) ? 1 : 0;
	}
	int rc = unc_table_set_load(argv[argc - 1], &set, &err);
	if (rc < 0)
		fprintf(stderr, "tablec: %s\n", err.text);
	else if (check)
		print_counts(&set);
	else {
		print_head();
		(workload ? print_workloads : print_tables)(&set);
	}
	unc_table_set_free(&set);
	return rc < 0 || ferror(stdout) || fflush(stdout) ? 1 : 0;
}
