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

#define ELEMENT(p)                                                                                 \
	_Generic((p), struct unc_range * : 4, uint8_t(*)[2] : 1, uint8_t(*)[16] : 1,               \
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
#define MEMBERS_cpuid M(cpuid.family) M(cpuid.n_models) M(cpuid.models) M(cpuid.steppings)
#define MEMBERS_known M(title) MEMBERS_cpuid
#define MEMBERS_metric M(name) M(formula) M(unit) M(desc) M(unavailable) M(type) M(kind)
#define MEMBERS_group M(name) M(desc) M(items) M(unavailable)
#define MEMBERS_group_item M(text)
#define FILTER(i) M(filter[i].reg) M(filter[i].value) M(filter[i].mask)
#define MEMBERS_rate M(type) M(counter) M(only_socket) M(n_filters) M(steady) M(shared) M(ctl) M(ctl_mask) FILTER(0) \
	FILTER(1) FILTER(2) FILTER(3) M(per_second) M(per_clock)
#define MEMBERS_sim_unit M(type) M(present) M(clock_hz) M(link)
/* Of the table itself what stands before its arrays. */
#define MEMBERS_head M(name) M(title) MEMBERS_cpuid M(discovery) \
	M(topology.ubox_id) M(topology.nodeid_offset) M(topology.map_offset) M(topology.buses) \
	M(topology.devfn) M(topology.inherit) M(id)
/* The same of a workload, behind the name of the CPU. */
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

/* Whether the rows of two tables are the same: all that their members hold. */
static bool same_rows(const struct member *m, size_t n_members, const void *one, const void *other,
		      size_t size, size_t n)
{
	for (size_t i = 0; i < n * n_members; i++) {
		const struct member *member = &m[i % n_members];
		size_t at = i / n_members * size + member->offset;

		if (memcmp((const char *)one + at, (const char *)other + at, member->size) != 0)
			return false;
	}
	return true;
}

static void print_rows(const char *kind, size_t table, const struct member *m, size_t n_members,
		       const void *rows, size_t size, size_t n)
{
	if (!in_order(m, n_members))
		printf("#error tablec: the members of %s are not those of its struct\n", kind);
	printf("static const struct unc_tbl_%s %s_%zu[] = {\n", kind, kind, table);
	for (size_t i = 0; i < n; i++) {
		printf("{");
		for (size_t k = 0; k < n_members; k++)
			print_member((const char *)rows + i * size, &m[k]);
		printf("},\n");
	}
	printf(n ? "};\n" : "{0}\n};\n");
}

/* CPUs that share a folder have many rows in common: an array that an earlier table has is that one. */
#define PRINT(of, get, row)                                                                        \
	static void print_##row(const struct unc_table *const *all, size_t n)                      \
	{                                                                                          \
		typedef struct unc_tbl_##row T;                                                    \
		static const struct member m[] = {MEMBERS_##row};                                  \
		const size_t n_members = sizeof(m) / sizeof(m[0]);                                 \
		const struct of *t = get(all[n]);                                                  \
                                                                                                   \
		for (size_t i = 0; i < n; i++)                                                     \
			if (get(all[i])->n_##row == t->n_##row &&                                  \
			    same_rows(m, n_members, get(all[i])->row, t->row, sizeof(T),           \
				      t->n_##row)) {                                               \
				printf("#define " #row "_%zu " #row "_%zu\n", n, i);               \
				return;                                                            \
			}                                                                          \
		print_rows(#row, n, m, n_members, t->row, sizeof(T), t->n_##row);                  \
	}
#define THE_TABLE(t) (t)
#define ITS_WORKLOAD(t) ((t)->workload)
#define PRINT_OF_TABLE(row) PRINT(unc_table, THE_TABLE, row)
#define PRINT_OF_WORKLOAD(row) PRINT(unc_workload, ITS_WORKLOAD, row)
UNC_TABLE_ARRAYS(PRINT_OF_TABLE)
UNC_WORKLOAD_ARRAYS(PRINT_OF_WORKLOAD)

static void print_table(const struct unc_table *const *all, size_t n)
{
	typedef struct unc_table T;
	static const struct member head[] = {MEMBERS_head};
	const struct unc_table *t = all[n];

#define PRINT_ARRAY(row) print_##row(all, n);
	UNC_TABLE_ARRAYS(PRINT_ARRAY)
	printf("static const struct unc_table table_%zu = {\n", n);
	for (size_t i = 0; i < sizeof(head) / sizeof(head[0]); i++)
		print_member((const char *)t, &head[i]);
	printf("\n.strings = strings, .n_strings = %zu,\n", t->n_strings);
#define NAME_ARRAY(row) printf("." #row " = " #row "_%zu, .n_" #row " = %zu,\n", n, t->n_##row);
	UNC_TABLE_ARRAYS(NAME_ARRAY)
	printf("};\n");
}

/* As unc_cpu_get() gives it. */
static void print_cpu(const struct unc_table *t, size_t n)
{
	printf("\t\t{strings + %u, strings + %u, %u, table_%zu.cpuid.models, %u, %zu, %zu, "
	       "%zu, %zu, %u},\n",
	       t->name, t->title, t->cpuid.family, n, t->cpuid.n_models, t->n_type, t->n_event,
	       t->n_umask, t->n_metric, t->cpuid.steppings);
}

static void print_cpus(const struct unc_table_set *set)
{
	printf("const struct unc_cpu *unc_table_cpus(size_t *n)\n{\n"
	       "\tstatic const struct unc_cpu all[] = {\n");
	for (size_t n = 0; n < set->n; n++)
		print_cpu(set->table[n], n);
	printf("\t};\n\n\t*n = %zu;\n\treturn all;\n}\n", set->n);
}

static void print_workload(const struct unc_table *const *all, size_t n)
{
	typedef struct unc_workload T;
	static const struct member head[] = {MEMBERS_work};
	const struct unc_workload *work = all[n]->workload;

#define PRINT_WORK(row) print_##row(all, n);
	UNC_WORKLOAD_ARRAYS(PRINT_WORK)
	printf("static const struct unc_workload workload_%zu = {\"%s\",", n, work->cpu);
	for (size_t i = 0; i < sizeof(head) / sizeof(head[0]); i++)
		print_member((const char *)work, &head[i]);
	printf("\n");
#define NAME_WORK(row) printf("." #row " = " #row "_%zu, .n_" #row " = %zu,\n", n, work->n_##row);
	UNC_WORKLOAD_ARRAYS(NAME_WORK)
	printf("};\n");
}

static void print_head(void)
{
	printf("/* SPDX-License-Identifier: BSD-3-Clause */\n/* Made by tablec from eventtables/; "
	       "do not edit. */\n#include \"tables/table.h\"\n"
	       "#pragma GCC diagnostic ignored \"-Wmissing-braces\"\n");
}

/* One of a kind for each CPU, and the function that gives all. */
static void print_each(const struct unc_table_set *set, const char *kind,
		       void (*print)(const struct unc_table *const *, size_t))
{
	for (size_t n = 0; n < set->n; n++)
		print(set->table, n);
	printf("const struct unc_%s *const *unc_%ss(size_t *n)\n{\n"
	       "\tstatic const struct unc_%s *const all[] = {",
	       kind, kind, kind);
	for (size_t n = 0; n < set->n; n++)
		printf("&%s_%zu, ", kind, n);
	printf("};\n\n\t*n = %zu;\n\treturn all;\n}\n", set->n);
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
	else if (workload) {
		print_head();
		print_each(&set, "workload", print_workload);
	} else {
		print_head();
		print_strings(set.table[set.n - 1]);
		print_each(&set, "table", print_table);
		print_cpus(&set);
	}
	unc_table_set_free(&set);
	return rc < 0 || ferror(stdout) || fflush(stdout) ? 1 : 0;
}
