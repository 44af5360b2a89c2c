/* SPDX-License-Identifier: BSD-3-Clause */
/* The table reader: cpus.tbl. */
#include "reader/table_build.h"

#include <string.h>

#include "base/grow.h"

static int read_cpuid(struct unc_table_reader *r, struct unc_tbl_cpuid *out)
{
	const char *list = unc_given(r, "models");
	char word[24];

	*out = (struct unc_tbl_cpuid){.family = r->w.cpu.family};
	for (const char *p = list; p;) {
		uint64_t model;

		if (!unc_list_next(&p, word, sizeof(word)))
			return unc_bad(r, "models=%s is not a list", list);
		if (!unc_parse_number(word, &model) || model > 0xff)
			return unc_bad(r, "model '%s' is not a number up to 0xff", word);
		if (out->n_models == sizeof(out->models) / sizeof(out->models[0]))
			return unc_bad(r, "too many models");
		out->models[out->n_models++] = (uint16_t)model;
	}
	if (r->w.cpu.steppings > 0xffff)
		return unc_bad(r, "steppings= has more than 0 to 15");
	out->steppings = (uint16_t)r->w.cpu.steppings;
	out->unmapped = r->w.cpu.unmapped;
	return 0;
}

/* A CPU that two lines are of; its stepping, -1: none that both have. */
static int stepping_of_both(const struct unc_tbl_cpuid *a, const struct unc_tbl_cpuid *b)
{
	unsigned both =
		(a->steppings ? a->steppings : 0xffffu) & (b->steppings ? b->steppings : 0xffffu);

	return a->family == b->family && both ? __builtin_ctz(both) : -1;
}

static int check_other(struct unc_table_reader *r, const struct unc_tbl_cpuid *cpuid,
		       const struct unc_table_cpu_line *other)
{
	int stepping = stepping_of_both(cpuid, &other->cpuid);

	for (unsigned i = 0; stepping >= 0 && i < cpuid->n_models; i++)
		for (unsigned k = 0; k < other->cpuid.n_models; k++)
			if (cpuid->models[i] == other->cpuid.models[k])
				return unc_bad(r,
					       "model 0x%02X stepping %d of family %u is that of "
					       "line %u, too",
					       (unsigned)cpuid->models[i], stepping,
					       (unsigned)cpuid->family, other->number);
	return 0;
}

/* A machine is of one line, whatever their order. */
static int add_cpu_line(struct unc_table_reader *r, const struct unc_tbl_cpuid *cpuid)
{
	struct unc_table_cpu_line *line;

	for (size_t i = 0; i < r->n_cpu_lines; i++) {
		int rc = check_other(r, cpuid, &r->cpu_line[i]);

		if (rc < 0)
			return rc;
	}
	if (!(line = UNC_ADD_TO(r->cpu_line, r->n_cpu_lines)))
		return unc_no_memory(r->err);
	*line = (struct unc_table_cpu_line){*cpuid, r->line->number};
	return 0;
}

int unc_end_cpu(struct unc_table_reader *r)
{
	const char *name = unc_given(r, "NAME");
	struct unc_tbl_cpuid cpuid;
	int rc = read_cpuid(r, &cpuid);
	bool ours = strcmp(name, r->cpu) == 0;

	if (rc < 0)
		return rc;
	if (ours && r->t.name)
		return unc_bad(r, "%s is described twice", name);
	if (r->n_cpu_lines == 0)
		r->first = ours;
	if ((rc = add_cpu_line(r, &cpuid)) < 0 || !ours)
		return rc;
	r->t.name = unc_add_string(r, name);
	if (unc_given(r, "folder"))
		r->t.folder = unc_add_string(r, unc_given(r, "folder"));
	if (unc_given(r, "alias"))
		r->t.alias = unc_add_string(r, unc_given(r, "alias"));
	r->t.title = unc_add_string(r, unc_given(r, "\"TITLE\""));
	*UNC_ADD(r, t, cpuid) = cpuid;
	r->t.discovery = r->w.cpu.discovery;
	return 0;
}

/* Of no CPU with tables; the table of the first keeps them for all. */
int unc_end_known(struct unc_table_reader *r)
{
	struct unc_tbl_cpuid cpuid;
	int rc = read_cpuid(r, &cpuid);

	if (rc < 0)
		return rc;
	if (!r->n_cpu_lines)
		return unc_bad(r, "known must come after the first cpu");
	if ((rc = add_cpu_line(r, &cpuid)) < 0)
		return rc;
	if (r->first)
		*UNC_ADD(r, t, known) =
			(struct unc_tbl_known){unc_add_string(r, unc_given(r, "\"TITLE\"")), cpuid};
	return 0;
}
