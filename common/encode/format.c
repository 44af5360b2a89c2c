/* SPDX-License-Identifier: BSD-3-Clause */
/* Events as text: the canonical form. */
#include "base/text.h"
#include "encode/event.h"
#include "tables/table.h"

static void put_part(struct unc_buf *o, char sign, const char *text)
{
	if (o->n + 1 < o->size)
		o->text[o->n] = sign;
	o->n++;
	unc_put_text(o, text);
}

static void put_field(struct unc_buf *o, const struct unc_table *t, const struct unc_tbl_event *e,
		      const struct unc_spec_field *sf)
{
	const struct unc_tbl_field *f = &t->field[sf->field];
	const char *name = unc_tbl_str(t, f->name);
	uint16_t umask;

	put_part(o, ':', name);
	if (sf->node) {
		put_part(o, '=', sf->node == UNC_NODE_LOCAL ? "local" : "remote");
	} else if (unc_field_max(f) != 1 || sf->value != 1 || unc_umask_find(t, e, name, &umask)) {
		bool decimal = sf->value < 10 || f->reg[0] == UNC_NONE;

		unc_put_text(o, decimal ? "=" : "=0x");
		unc_put_number(o, sf->value, decimal ? 10 : 16);
	}
}

int unc_spec_format(const struct unc_table *t, const struct unc_spec *spec, char *buf, size_t size)
{
	struct unc_buf o = unc_buf(buf, size);

	unc_put_text(&o, unc_type_name(t, spec->type));
	if (spec->index >= 0)
		unc_put_number(&o, (uint64_t)spec->index, 10);
	put_part(&o, '.', unc_event_name(t, spec->event));
	for (unsigned i = 0; i < spec->n_umasks; i++)
		put_part(&o, ':', unc_umask_name(t, spec->umask[i]));
	for (unsigned i = 0; i < spec->n_fields; i++)
		put_field(&o, t, &t->event[spec->event], &spec->field[i]);
	if (spec->socket >= 0) {
		unc_put_text(&o, ":socket=");
		unc_put_number(&o, (uint64_t)spec->socket, 10);
	}
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
