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
#include <stdlib.h>
#include <string.h>

#include "reader/table_load.h"
#include "tablec.h"

/* ---- what structs are made of */

/* The numbers of each struct of table.h in their order, in the letters of Python's module `struct`: B, H, I
 * and Q have 1, 2, 4 and 8 bytes, h and i are signed, d is a double; how many stands before. A range is 2H.
 * What is not as its struct is seen by the size, and by the compiler of what is printed. */
#define LAYOUT_cpuid "12H"
#define LAYOUT_where "QH5B"
#define LAYOUT_present "QI4H21B"
#define LAYOUT_map "3I6H20B"
#define LAYOUT_endpoint "H3B"
#define LAYOUT_bar "IH2B3H2B3I"
#define LAYOUT_part "IB2H"
#define LAYOUT_reg "I2i3Q6B"
#define LAYOUT_field "2I2H7B2I3H2Q4H"
#define LAYOUT_value "2IQ"
#define LAYOUT_set "2HQ"
#define LAYOUT_step "2HQ"
#define LAYOUT_counter "I2HQBH"
#define LAYOUT_lane "2IBQ"
#define LAYOUT_forbid "I2H"
#define LAYOUT_bundle "I2H"
#define LAYOUT_kernel "2I2Q4H33B"
#define LAYOUT_kernel_filter "4Q"
#define LAYOUT_kernel_counters "IH"
#define LAYOUT_nodes "129B"
#define LAYOUT_type "4I40HQ5H2BQ6H3QIh6H14B"
#define LAYOUT_fields "8H"
#define LAYOUT_umask "4I2H2B"
#define LAYOUT_event "3I10H2I2HI2H8B"
#define LAYOUT_slot "H"
#define LAYOUT_metric "5IHB"
#define LAYOUT_group "2I2HI"
#define LAYOUT_group_item "I"
#define LAYOUT_known "I" LAYOUT_cpuid
#define LAYOUT_filter "H2Q"
#define LAYOUT_rate "2H5B2Q" LAYOUT_filter LAYOUT_filter LAYOUT_filter LAYOUT_filter "9d"
#define LAYOUT_sim_unit "H2QdB"
/* Of a table and of a workload what stands before the pointers. */
#define HEAD_OF_TABLE "4I5H2BQ"
#define HEAD_OF_WORKLOAD "2BHBdIQ"

/* Bytes of a number, and what its place in a struct is a multiple of. */
#define LETTER(letter, type) [letter] = {sizeof(type), _Alignof(type)}
static const struct {
	uint8_t size, align;
} letters[] = {
	LETTER('B', uint8_t), LETTER('H', uint16_t), LETTER('I', uint32_t), LETTER('Q', uint64_t),
	LETTER('h', int16_t), LETTER('i', int32_t),  LETTER('d', double),
};

enum { MAX_KINDS = 32 }; /* of rows */

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

static void print_number(FILE *out, char letter, const char *at)
{
	if (letter == 'd')
		fprintf(out, "%.17g,", *(const double *)at);
	else if (letter == 'Q')
		fprintf(out, "0x%llx,", (unsigned long long)*(const uint64_t *)at);
	else if (letter == 'I')
		fprintf(out, "%lu,", (unsigned long)*(const uint32_t *)at);
	else if (letter == 'i')
		fprintf(out, "%ld,", (long)*(const int32_t *)at);
	else
		fprintf(out, "%d,",
			letter == 'H'   ? *(const uint16_t *)at
			: letter == 'h' ? *(const int16_t *)at
					: *(const uint8_t *)at);
}

/* The beginning of an initializer of a struct, of which only `bytes` may be printed. */
static void print_struct(FILE *out, const char *layout, const char *from, size_t bytes)
{
	size_t at = 0;

	fputc('{', out);
	for (char *letter; *layout; layout = letter + 1) {
		unsigned long n = strtoul(layout, &letter, 10);
		size_t size = letters[(int)*letter].size, align = letters[(int)*letter].align;

		at = (at + align - 1) / align * align;
		for (n = letter == layout ? 1 : n; n && at + size <= bytes; n--, at += size)
			print_number(out, *letter, from + at);
	}
	if (at > bytes || bytes - at >= sizeof(uint64_t))
		fputs("\n#error tablec: this is not the layout of the struct\n", out);
}

/* ---- arrays of all tables, or workloads: one behind the other */

/* Rows of a kind, and where their owner, a table or workload, has them. */
struct kind {
	const char *name, *layout;
	size_t size;
	size_t rows, n; /* offsets of the owner's members */
};

/* What there is one of for each CPU: a table, a workload. */
struct family {
	const char *name, *head;
	size_t bytes; /* of the head */
	const struct kind *kind;
	size_t n_kinds;
};

#define KIND_IN(of, row)                                                                           \
	{#row, LAYOUT_##row, sizeof(struct unc_tbl_##row), offsetof(struct of, row),               \
	 offsetof(struct of, n_##row)},
#define KIND_OF_TABLE(row) KIND_IN(unc_table, row)
#define KIND_OF_WORKLOAD(row) KIND_IN(unc_workload, row)
#define FAMILY(name, head, first, kinds)                                                           \
	{                                                                                          \
#name, head, offsetof(struct unc_##name, first), kinds,                            \
			sizeof(kinds) / sizeof(kinds[0])                                           \
	}
static const struct kind of_table[] = {UNC_TABLE_ARRAYS(KIND_OF_TABLE)};
static const struct kind of_workload[] = {UNC_WORKLOAD_ARRAYS(KIND_OF_WORKLOAD)};
static const struct family tables = FAMILY(table, HEAD_OF_TABLE, workload, of_table);
static const struct family workloads = FAMILY(workload, HEAD_OF_WORKLOAD, rate, of_workload);

static size_t count_of(const struct kind *k, const char *owner)
{
	return *(const size_t *)(owner + k->n);
}

/* The rows of an owner as text, to be freed. */
static char *text_of(const struct kind *k, const char *owner)
{
	const char *row = *(const char *const *)(owner + k->rows);
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	for (size_t i = 0; out && i < count_of(k, owner); i++) {
		print_struct(out, k->layout, row + i * k->size, k->size);
		fputs("},\n", out);
	}
	if (!out || fclose(out) != 0) {
		perror("tablec");
		exit(1);
	}
	return text;
}

/* The rows of all owners, and first[i], where those of each begin. CPUs that share a folder have many in
 * common: what an earlier one has is not printed again. */
static void print_array(const struct kind *k, const char *const *owner, size_t n, size_t *first)
{
	char *text[UNC_TABLE_CPUS];
	size_t rows = 0;

	printf("static const struct unc_tbl_%s all_%s[] = {\n", k->name, k->name);
	for (size_t i = 0; i < n; i++) {
		size_t same = 0;

		text[i] = text_of(k, owner[i]);
		while (strcmp(text[same], text[i]) != 0)
			same++;
		first[i] = same < i ? first[same] : rows;
		rows += same < i ? 0 : count_of(k, owner[i]);
		fputs(same < i ? "" : text[i], stdout);
	}
	printf(rows ? "};\n" : "{0}\n};\n");
	for (size_t i = 0; i < n; i++)
		free(text[i]);
}

/* The arrays, and unc_NAME_built(): it has heads, which are all but the pointers, and what these are. */
static void print_built(const struct family *f, const char *const *owner, size_t n)
{
	size_t first[MAX_KINDS][UNC_TABLE_CPUS] = {{0}};

	for (size_t k = 0; k < f->n_kinds; k++)
		print_array(&f->kind[k], owner, n, first[k]);
	printf("bool unc_%s_built(size_t index, struct unc_%s *out)\n{\n"
	       "\tstatic const struct unc_%s head[] = {\n",
	       f->name, f->name, f->name);
	for (size_t i = 0; i < n; i++) {
		print_struct(stdout, f->head, owner[i], f->bytes);
		for (size_t k = 0; k < f->n_kinds; k++)
			printf(".n_%s = %zu,", f->kind[k].name, count_of(&f->kind[k], owner[i]));
		printf("},\n");
	}
	printf("};\n\tstatic const uint32_t first[][%zu] = {\n", f->n_kinds);
	for (size_t i = 0; i < n; i++) {
		printf("{");
		for (size_t k = 0; k < f->n_kinds; k++)
			printf("%zu,", first[k][i]);
		printf("},\n");
	}
	printf("};\n\n\tif (index >= %zu)\n\t\treturn false;\n\t*out = head[index];\n", n);
	for (size_t k = 0; k < f->n_kinds; k++)
		printf("\tout->%s = all_%s + first[index][%zu];\n", f->kind[k].name,
		       f->kind[k].name, k);
}

static void print_all(const struct unc_table_set *set, bool workload)
{
	const struct unc_table *last = set->table[set->n - 1];
	const char *owner[UNC_TABLE_CPUS];

	for (size_t i = 0; i < set->n; i++)
		owner[i] = workload ? (const char *)set->table[i]->workload
				    : (const char *)set->table[i];
	printf("/* SPDX-License-Identifier: BSD-3-Clause */\n/* Made by tablec from eventtables/; "
	       "do not edit. */\n#include \"tables/table.h\"\n"
	       "#pragma GCC diagnostic ignored \"-Wmissing-braces\"\n");
	if (!workload)
		print_strings(last);
	print_built(workload ? &workloads : &tables, owner, set->n);
	if (!workload)
		printf("\tout->strings = strings;\n\tout->n_strings = %zu;\n", last->n_strings);
	printf("\treturn true;\n}\n");
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
	else
		print_all(&set, workload);
	unc_table_set_free(&set);
	return rc < 0 || ferror(stdout) || fflush(stdout) ? 1 : 0;
}
