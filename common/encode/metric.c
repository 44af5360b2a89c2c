/* SPDX-License-Identifier: BSD-3-Clause */
#include "encode/metric.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "encode/event.h"

const char *unc_metric_split(const struct unc_table *t, const char *name, uint16_t *type)
{
	const char *dot = strchr(name, '.');
	char word[UNC_SPEC_MAX];

	*type = UNC_NONE;
	if (!dot)
		return name;
	snprintf(word, sizeof(word), "%.*s", (int)(dot - name), name);
	*type = unc_find_type(t, word);
	return *type == UNC_NONE ? NULL : dot + 1;
}

int unc_metric_index(const struct unc_table *t, const char *name)
{
	uint16_t type;
	const char *own = unc_metric_split(t, name, &type);

	for (unsigned i = 0; own && i < t->n_metric; i++)
		if (t->metric[i].type == type && unc_same(unc_tbl_str(t, t->metric[i].name), own))
			return (int)i;
	return -1;
}

/* ---- formulas */

struct names {
	const struct unc_table *table;
	unc_lacks_fn lacks;
	const void *machine;
};

static const char *metric_formula(void *user, const char *name)
{
	const struct unc_table *t = ((const struct names *)user)->table;
	int metric = unc_metric_index(t, name);

	return metric < 0 ? NULL : unc_tbl_str(t, t->metric[metric].formula);
}

static int event_text(void *user, const char *text, char *buf, size_t size, struct unc_error *err)
{
	return unc_spec_canonical(((const struct names *)user)->table, text, buf, size, err);
}

static bool lacks_event(void *user, const char *event)
{
	const struct names *names = user;
	struct unc_spec spec;

	return names->lacks && unc_spec_parse(names->table, event, &spec, NULL) == 0 &&
	       names->lacks(names->machine, spec.type);
}

int unc_formula_parse(const struct unc_table *t, unsigned metric, unc_lacks_fn lacks,
		      const void *machine, struct unc_expr **out, struct unc_error *err)
{
	struct names names = {t, lacks, machine};
	struct unc_expr_env env = {metric_formula, event_text, lacks_event, &names};

	return unc_expr_parse(unc_tbl_str(t, t->metric[metric].formula), &env, out, err);
}
