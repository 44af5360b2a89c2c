/* SPDX-License-Identifier: BSD-3-Clause */
/* Units: slots with their registers, and the words for units in sentences. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "encode/decode.h"
#include "units/inside.h"

int unc_units_init(struct unc_units *s, struct unc_platform *p)
{
	*s = (struct unc_units){.platform = p};
	if (!unc_platform_here(p))
		return UNC_ERR_STATE; /* its lock may be held by a thread that is not here */
	unc_platform_fail(p, UNC_OK, "%s", ""); /* what the call before has left */
	s->wanted = calloc(p->instances.n + 1, sizeof(*s->wanted));
	if (!s->wanted)
		return unc_platform_fail(p, UNC_ERR_MEMORY, "out of memory");
	for (size_t i = 0; i < p->instances.n; i++)
		s->wanted[i].head = UNC_END;
	return 0;
}

uint16_t unc_slot_register(const struct unc_table *t, const struct unc_slot *slot, unsigned counter)
{
	if (slot->code.counter != UNC_NONE)
		return t->counter[slot->code.counter].ctr;
	return unc_type_ctr(&t->type[slot->code.type], counter);
}

unsigned unc_slot_width(const struct unc_table *t, const struct unc_slot *slot)
{
	if (slot->code.counter != UNC_NONE)
		return t->counter[slot->code.counter].width;
	return t->type[slot->code.type].width;
}

const struct unc_code_filter *unc_slot_filter(const struct unc_slot *slot, uint16_t reg)
{
	for (unsigned i = 0; i < slot->code.n_filters; i++)
		if (slot->code.filter[i].reg == reg)
			return &slot->code.filter[i];
	return NULL;
}

uint16_t unc_units_control(const struct unc_units *s, const struct unc_slot *slot)
{
	const struct unc_table *t = s->platform->table;
	const struct unc_tbl_type *type = &t->type[unc_type_pool(t, slot->code.type)];

	if (slot->code.counter != UNC_NONE)
		return t->counter[slot->code.counter].ctl;
	return unc_type_ctl(type, t->reg[slot->ctr].number);
}

bool unc_units_active(const struct unc_units *s, const struct unc_slot *slot)
{
	return slot->counts != UNC_IN_ITS_TURNS || unc_units_turns(s, slot) >> s->turn & 1;
}

size_t unc_units_slots_of(const struct unc_units *s, uint32_t instance, enum unc_extent extent,
			  uint32_t *out)
{
	size_t n = 0;

	/* The list has the newest first. */
	for (int i = s->wanted[instance].head; i != UNC_END && n < UNC_MAX_CODES;
	     i = s->slot[i].next) {
		if (extent == UNC_TURN && !unc_units_active(s, &s->slot[i]))
			continue;
		memmove(out + 1, out, n++ * sizeof(*out));
		out[0] = (uint32_t)i;
	}
	return n;
}

static uint64_t ran_for(const struct unc_units *s, const struct unc_slot *slot)
{
	return unc_slot_span(s, slot)->total.time.ran;
}

struct unc_slot *unc_units_next_short(struct unc_units *s, uint32_t instance,
				      const struct unc_slot *last)
{
	struct unc_slot *best = NULL;

	for (int i = s->wanted[instance].head; i != UNC_END; i = s->slot[i].next) {
		struct unc_slot *slot = &s->slot[i];
		uint64_t ran = ran_for(s, slot);
		bool behind =
			!last || ran > ran_for(s, last) || (ran == ran_for(s, last) && slot < last);

		/* The list has the newest first. */
		if (behind && (!best || ran < ran_for(s, best)))
			best = slot;
	}
	return best;
}

void unc_slot_part(struct unc_units *s, struct unc_slot *slot)
{
	uint32_t self = (uint32_t)(slot - s->slot), heir = self;

	slot->span = *unc_slot_span(s, slot);
	if (slot->leader != self)
		s->slot[slot->leader].n_led--;
	slot->leader = self;
	for (size_t i = 0; i < s->n_reads && slot->n_led; i++) {
		struct unc_slot *other = &s->slot[s->read_slot[i]];

		if (other == slot || other->leader != self)
			continue;
		if (heir == self) { /* who leads is read first */
			heir = s->read_slot[i];
			other->span = slot->span;
		} else {
			s->slot[heir].n_led++;
		}
		other->leader = heir;
		slot->n_led--;
	}
}

/* Whether a slot that is read comes behind its leader, or is it, between the same stamps. */
static bool is_led(const struct unc_units *s, const struct unc_stamp *stamp, size_t read)
{
	uint32_t leader = s->slot[s->read_slot[read]].leader;
	size_t i = stamp->first;

	while (i < read && s->read_slot[i] != leader)
		i++;
	return s->read_slot[i] == leader;
}

void unc_units_part_reads(struct unc_units *s)
{
	const struct unc_stamp *stamp = s->stamp;

	for (size_t i = 0; i < s->n_reads; i++) {
		if (i == stamp[1].first)
			stamp++;
		if (!is_led(s, stamp, i))
			unc_slot_part(s, &s->slot[s->read_slot[i]]);
	}
}

void unc_units_find_leaders(struct unc_units *s)
{
	const struct unc_stamp *stamp = s->stamp;

	for (size_t i = 0; i < s->n_reads && s->n_turns == 1; i++) {
		struct unc_slot *slot = &s->slot[s->read_slot[i]];

		if (i == stamp[1].first)
			stamp++;
		if (!s->wanted[slot->instance].by->timed)
			slot->leader = s->read_slot[stamp->first];
		s->slot[slot->leader].n_led += slot != &s->slot[slot->leader];
	}
}

size_t unc_units_reads_end(const struct unc_units *s, size_t first)
{
	uint32_t instance = s->slot[s->read_slot[first]].instance;
	size_t end = first + 1;

	while (end < s->n_reads && s->slot[s->read_slot[end]].instance == instance)
		end++;
	return end;
}

struct unc_claim *unc_units_claimed(const struct unc_units *s, const struct unc_instance *u)
{
	for (size_t i = 0; i < s->n_claims; i++)
		if (s->claim[i].instance == u)
			return &s->claim[i];
	return NULL;
}

struct unc_unit_name unc_unit_name(const struct unc_units *s, const struct unc_instance *u)
{
	struct unc_unit_name name;

	snprintf(name.text, sizeof(name.text), "%s%u (socket %u)",
		 unc_type_name(s->platform->table, u->type), u->index, u->socket);
	return name;
}

const char *unc_unit_event_text(const struct unc_units *s, const struct unc_instance *u,
				uint64_t ctl, const struct unc_code_filter *filters, size_t n,
				char *buf, size_t size)
{
	struct unc_spec spec;

	snprintf(buf, size, " = ");
	if (unc_code_decode(s->platform->table, u->type, ctl, filters, n, &spec, NULL) < 0 ||
	    unc_spec_format(s->platform->table, &spec, buf + 3, size - 3) < 0)
		buf[0] = '\0';
	return buf;
}

/* Bits of a control that decide what is counted. Others may be written only, or do something once.
 */
static uint64_t deciding_bits(const struct unc_table *t, const struct unc_tbl_type *type,
			      uint16_t reg)
{
	uint64_t bits = type->enable | type->active;

	if (t->reg[reg].role != UNC_ROLE_CTL)
		return UINT64_MAX;
	for (int i = 0; i < 2; i++) {
		uint16_t at = i ? type->f_umask : type->f_event;
		const struct unc_tbl_field *f = at == UNC_NONE ? NULL : &t->field[at];

		for (int k = 0; f && k < 2 && f->width[k]; k++)
			if (f->reg[k] == UNC_NONE)
				bits |= (f->width[k] < 64 ? ((uint64_t)1 << f->width[k]) - 1
							  : UINT64_MAX)
					<< f->lo[k];
	}
	return bits;
}

uint64_t unc_telling_bits(const struct unc_table *t, const struct unc_instance *u, uint16_t reg,
			  uint64_t value)
{
	return t->reg[reg].write_mask & ~(value & ~deciding_bits(t, &t->type[u->type], reg));
}
