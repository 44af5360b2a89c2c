/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A CPU that no table is for: what its discovery tables list of unit types that others have, so that
 * its first table can begin as a copy. Nothing but these tables, and what tells where they are, is read.
 */
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "doctor/doctor.h"
#include "machine/discover_walk.h"
#include "machine/hardware.h"

struct listed {
	struct doctor *d;
	const struct unc_table **table; /* the nearest first */
	size_t n_tables;
	struct unc_pmon *pmon;
	unsigned knows[UNC_TABLE_CPUS]; /* kinds that a table has a type for */
	unsigned kinds;
};

static void take_note(void *user, const char *text)
{
	unc_note(user, "discovery", "%s", text);
}

/* Records of one type and access. */
static bool is_kind(const struct unc_pmon_record *a, const struct unc_pmon_record *b)
{
	return a->type == b->type && a->access == b->access;
}

/* How many there are on all sockets. *first: the socket's own is the first of them all. */
static unsigned count_kind(const struct listed *l, const struct unc_pmon_record *kind, bool *first)
{
	const struct unc_pmon_record *seen = NULL;
	unsigned n = 0;

	for (int s = 0; s < l->d->topo.n_sockets; s++) {
		const struct unc_pmon_list *list = &l->pmon->socket[s];

		for (const struct unc_pmon_record *r = list->record; r < list->record + list->n;
		     r++) {
			seen = !seen && is_kind(r, kind) ? r : seen;
			n += is_kind(r, kind);
		}
	}
	*first = seen == kind;
	return n;
}

/* Where unit controls of a kind are on a socket: "0x2000 to 0x23f0 by 0x10, 0x2500". */
static void put_places(struct unc_buf *text, const struct unc_pmon_list *list,
		       const struct unc_pmon_record *kind)
{
	const struct unc_pmon_record *r = kind, *end = list->record + list->n;
	uint64_t last = 0, step = 0;
	unsigned run = 0;

	for (; r <= end; r++) {
		if (r < end && !is_kind(r, kind))
			continue;
		if (r < end && run && (run == 1 || r->address - last == step)) {
			step = r->address - last;
			run++;
		} else {
			if (run > 1)
				unc_put(text, " to 0x%" PRIx64 " by 0x%" PRIx64, last, step);
			if (r < end)
				unc_put(text, "%s0x%" PRIx64, run ? ", " : "", r->address);
			run = 1;
		}
		last = r < end ? r->address : 0;
	}
}

/* Units of a kind of PCI functions: "0c.0, 0d.0 offset 0x438". */
static void put_functions(struct unc_buf *text, const struct unc_pmon_list *list,
			  const struct unc_pmon_record *kind)
{
	for (const struct unc_pmon_record *r = kind; r < list->record + list->n; r++)
		if (is_kind(r, kind))
			unc_put(text, "%s%s", r == kind ? "" : ", ",
				unc_pci_name(r->address & ~(1ull << 31)).text);
	unc_put(text, " offset 0x%x", UNC_PCI_OFFSET(kind->address));
}

static void report_kind(struct listed *l, const struct unc_pmon_list *list,
			const struct unc_pmon_record *kind)
{
	static const char *const access[] = {"msr", "mmio", "pci"};
	struct doctor *d = l->d;
	struct unc_buf text;
	char buf[900];
	const struct unc_table *table;
	unsigned type;
	bool first, known;
	unsigned n = count_kind(l, kind, &first);

	if (!first)
		return;
	table = l->table[kind->type >> UNC_PMON_ANY_SHIFT];
	type = kind->type & ((1u << UNC_PMON_ANY_SHIFT) - 1);
	l->kinds++;
	for (size_t i = 0; i < l->n_tables; i++)
		l->knows[i] += unc_pmon_type(l->table[i], (unsigned)table->type[type].discovery,
					     kind, &known) >= 0;
	text = UNC_BUF(buf);
	unc_put(&text, "type %d, %s of %s", table->type[type].discovery, unc_type_name(table, type),
		unc_tbl_str(table, table->name));
	unc_put(&text,
		": %u unit%s; access %s, %u counters of %u bits, controls at +0x%x and "
		"counters at +0x%x of unit control, which on socket %d is at ",
		n, n == 1 ? "" : "s", access[kind->access], kind->n_controls, kind->width,
		kind->ctl, kind->ctr, (int)(list - l->pmon->socket));
	(kind->access == UNC_PMON_PCI ? put_functions : put_places)(&text, list, kind);
	unc_note(d, "discovery", "%s%s", buf, text.n >= sizeof(buf) ? "..." : "");
}

/* The table that has the most of the types; of several the nearest by model, or the first. */
static void report_nearest(struct listed *l)
{
	size_t best = 0;

	for (size_t i = 0; i < l->n_tables; i++)
		best = l->knows[i] > l->knows[best] ? i : best;
	if (l->kinds)
		unc_note(
			l->d, "discovery",
			"%s has %u of these %u unit types: a first table can begin as a copy of it",
			unc_tbl_str(l->table[best], l->table[best]->name), l->knows[best],
			l->kinds);
}

static bool may_list(const struct unc_bus *bus)
{
	for (size_t i = 0; i < bus->n_functions; i++)
		if (bus->function[i].device == UNC_PMON_DEVICE)
			return true;
	return false;
}

static int read_listed(struct listed *l, struct unc_bus *bus, struct unc_error *err)
{
	int rc = bus->methods->scan(bus, err);

	bus->closed = true;
	if (rc < 0 || !may_list(bus))
		return 0; /* there is nothing to tell of */
	rc = unc_pmon_listed(l->table, l->n_tables, &l->d->topo, bus, take_note, l->d, &l->pmon,
			     err);
	for (int s = 0; rc == 0 && s < l->d->topo.n_sockets; s++) {
		const struct unc_pmon_list *list = &l->pmon->socket[s];

		if (list->broken)
			unc_report(l->d, "discovery", false, "run it as root; else report it",
				   "not all discovery tables of socket %d can be read", s);
		for (size_t i = 0; i < list->n; i++)
			report_kind(l, list, &list->record[i]);
	}
	if (rc == 0)
		report_nearest(l);
	unc_pmon_free(l->pmon);
	return rc;
}

/* Of the CPUs of this family, the one with the nearest model: where tables name a kind alike. */
static bool find_relative(const struct unc_topology *top, struct unc_table *out)
{
	struct unc_table t;
	int best = INT_MAX;

	for (size_t i = 0; strcmp(top->vendor, "GenuineIntel") == 0 && unc_table_built(i, &t); i++)
		for (unsigned k = 0; t.cpuid->family == top->family && k < t.cpuid->n_models; k++) {
			int far = abs(t.cpuid->models[k] - top->model);

			if (far < best)
				*out = t;
			best = far < best ? far : best;
		}
	return best < INT_MAX;
}

static void put_nearest_first(struct listed *l)
{
	struct unc_table nearest;

	if (!find_relative(&l->d->topo, &nearest))
		return;
	for (size_t i = 0; i < l->n_tables; i++)
		if (l->table[i]->id == nearest.id) {
			const struct unc_table *first = l->table[0];

			l->table[0] = l->table[i];
			l->table[i] = first;
			return;
		}
}

void unc_doctor_listed(struct doctor *d)
{
	struct listed l = {.d = d};
	struct unc_machine *machine = NULL;
	struct unc_bus *bus = NULL;
	struct unc_error err = {0};
	int rc;

	if (strcmp(d->topo.vendor, "GenuineIntel") != 0)
		return;
	l.table = unc_tables(&l.n_tables);
	put_nearest_first(&l);
	rc = l.table ? unc_machine_hardware(d->fs, &machine, &err) : unc_no_memory(&err);
	if (rc == 0)
		rc = unc_bus_open_system(machine->fs, &bus, &err);
	if (rc == 0)
		rc = read_listed(&l, bus, &err);
	if (rc < 0)
		unc_report(d, "discovery", false, "run it as root", "%s", err.text);
	if (bus)
		bus->methods->close(bus);
	if (machine)
		machine->methods->close(machine);
	free(l.table);
}
