/* SPDX-License-Identifier: BSD-3-Clause */
/* Events as text: the canonical form. */
#include "base/text.h"
#include "encode/event.h"
#include "tables/table.h"

static void put_field(struct unc_buf *o, const struct unc_table *t, const struct unc_tbl_event *e,
		      const struct unc_spec_field *sf)
{
	const struct unc_tbl_field *f = &t->field[sf->field];
	const char *name = unc_tbl_str(t, f->name);
	uint16_t umask;

	if (sf->node)
		unc_put(o, ":%s=%s", name, sf->node == UNC_NODE_LOCAL ? "local" : "remote");
	else if (unc_field_max(f) == 1 && sf->value == 1 && !unc_umask_find(t, e, name, &umask))
		unc_put(o, ":%s", name);
	else if (sf->value < 10 || f->reg[0] == UNC_NONE)
		unc_put(o, ":%s=%llu", name, (unsigned long long)sf->value);
	else
		unc_put(o, ":%s=0x%llx", name, (unsigned long long)sf->value);
}

int unc_spec_format(const struct unc_table *t, const struct unc_spec *spec, char *buf, size_t size)
{
	struct unc_buf o = unc_buf(buf, size);

	unc_put(&o, "%s", unc_tbl_str(t, t->type[spec->type].name));
	if (spec->index >= 0)
		unc_put(&o, "%d", spec->index);
	unc_put(&o, ".%s", unc_tbl_str(t, t->event[spec->event].name));
	for (unsigned i = 0; i < spec->n_umasks; i++)
		unc_put(&o, ":%s", unc_tbl_str(t, t->umask[spec->umask[i]].name));
	for (unsigned i = 0; i < spec->n_fields; i++)
		put_field(&o, t, &t->event[spec->event], &spec->field[i]);
	if (spec->socket >= 0)
		unc_put(&o, ":socket=%d", spec->socket);
	return o.n < size ? 0 : UNC_ERR_RANGE;
}

int unc_spec_canonical(const struct unc_table *t, const char *text, char *buf, size_t size,
		       struct unc_error *err)
{
	struct unc_spec spec;
	struct unc_code code;
	int rc;

	if ((rc = unc_spec_parse(t, text, &spec, err)) < 0 ||
	    (rc = unc_spec_encode(t, &spec, 0, 2, &code, err)) < 0)
		return rc;
	rc = unc_spec_format(t, &spec, buf, size);
	return rc < 0 ? unc_fail(err, rc, "%s: the canonical text is too long", text) : 0;
}
