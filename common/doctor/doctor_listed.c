/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An unsupported CPU: the unit types in its discovery tables that the table of another CPU knows, so
 * that its first table can begin as a copy. Reads the discovery tables and their location only.
 */
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "doctor/doctor.h"
#include "machine/discover_walk.h"

struct listed {
	struct doctor *d;
	struct unc_topology *topo;
	const struct unc_table **table; /* the nearest first */
	size_t n_tables;
	struct unc_pmon *pmon;
	unsigned knows[UNC_TABLE_CPUS]; /* for each table: kinds for which it has a type */
	unsigned kinds;
};

static void note_text(void *user, const char *text)
{
	unc_note(user, "discovery", "%s", text);
}

/* Whether two records have the same type and access: one kind. */
static bool is_same_kind(const struct unc_pmon_record *a, const struct unc_pmon_record *b)
{
	return a->type == b->type && a->access == b->access;
}

/* The next record of the same kind on the socket; `end`: none. */
static const struct unc_pmon_record *next_alike(const struct unc_pmon_record *r,
						const struct unc_pmon_record *end)
{
	const struct unc_pmon_record *next = r + 1;

	while (next < end && !is_same_kind(next, r))
		next++;
	return next;
}

/* Writes the addresses of a kind's unit controls on a socket: "0x2000 to 0x23f0 by 0x10, 0x2500";
 * for PCI functions "0c.0, 0d.0 offset 0x438". */
static void put_places(struct unc_buf *text, const struct unc_pmon_record *kind,
		       const struct unc_pmon_record *end)
{
	const struct unc_pmon_record *first = kind, *last;

	if (kind->access == UNC_PMON_PCI) {
		for (; first < end; first = next_alike(first, end))
			unc_put_word(text, unc_pci_name(first->address & ~(1ull << 31)).text);
		unc_put(text, " offset 0x%x", UNC_PCI_OFFSET(kind->address));
		return;
	}
	for (; first < end; first = next_alike(last, end)) {
		const struct unc_pmon_record *next = next_alike(first, end);
		uint64_t step = next < end ? next->address - first->address : 0;

		for (last = first; next < end && next->address - last->address == step;
		     next = next_alike(last, end))
			last = next;
		unc_put(text, "%s0x%" PRIx64, first == kind ? "" : ", ", first->address);
		if (last != first)
			unc_put(text, " to 0x%" PRIx64 " by 0x%" PRIx64, last->address, step);
	}
}

/* Reports a kind, counted over all sockets, with its addresses on the first socket that has it. */
static void report_kind(struct listed *l, const struct unc_pmon_list *list,
			const struct unc_pmon_record *kind)
{
	static const char *const access[] = {"msr", "mmio", "pci"};
	const struct unc_table *table = l->table[kind->type >> UNC_PMON_ANY_SHIFT];
	unsigned type = kind->type & ((1u << UNC_PMON_ANY_SHIFT) - 1);
	int number = table->type[type].discovery;
	char buf[900];
	struct unc_buf text = UNC_BUF(buf);
	const struct unc_pmon_record *first = NULL;
	unsigned n = 0;
	bool known;

	for (const struct unc_pmon_list *all = l->pmon->socket;
	     all < l->pmon->socket + l->topo->n_sockets; all++)
		for (const struct unc_pmon_record *r = all->record; r < all->record + all->n; r++)
			if (is_same_kind(r, kind) && n++ == 0)
				first = r;
	if (first != kind)
		return; /* the kind was reported with that record */
	l->kinds++;
	for (size_t i = 0; i < l->n_tables; i++)
		l->knows[i] += unc_pmon_type(l->table[i], (unsigned)number, kind, &known) >= 0;
	unc_put(&text,
		"type %d, %s of %s: %u unit%s; access %s, %u counters of %u bits, controls at "
		"+0x%x and counters at +0x%x of unit control, which on socket %d is at ",
		number, unc_type_name(table, type), unc_tbl_str(table, table->name), n,
		n == 1 ? "" : "s", access[kind->access], kind->n_controls, kind->width, kind->ctl,
		kind->ctr, (int)(list - l->pmon->socket));
	put_places(&text, kind, list->record + list->n);
	unc_note(l->d, "discovery", "%s%s", buf, text.n >= sizeof(buf) ? "..." : "");
}

/* Reports all kinds, and the table that knows most of them; in a tie the nearest model, or the first. */
static void report_kinds(struct listed *l)
{
	size_t best = 0;

	for (int s = 0; s < l->topo->n_sockets; s++) {
		const struct unc_pmon_list *list = &l->pmon->socket[s];

		if (list->broken)
			unc_report(l->d, "discovery", false, "run it as root; else report it",
				   "not all discovery tables of socket %d can be read", s);
		for (size_t i = 0; i < list->n; i++)
			report_kind(l, list, &list->record[i]);
	}
	for (size_t i = 0; i < l->n_tables; i++)
		best = l->knows[i] > l->knows[best] ? i : best;
	if (l->kinds)
		unc_note(
			l->d, "discovery",
			"%s has %u of these %u unit types: a first table can begin as a copy of it",
			unc_tbl_str(l->table[best], l->table[best]->name), l->knows[best],
			l->kinds);
}

/* Whether the machine has a function with discovery tables. Nothing is read from other functions. */
static bool may_list(struct unc_bus *bus)
{
	struct unc_error err = {0};
	size_t i = 0;

	if (bus->methods->scan(bus, &err) < 0)
		return false;
	bus->closed = true;
	while (i < bus->n_functions && bus->function[i].device != UNC_PMON_DEVICE)
		i++;
	return i < bus->n_functions;
}

/* Puts the table of the same family with the nearest model first: it wins where tables tie. */
static void put_nearest_first(struct listed *l)
{
	const struct unc_topology *top = l->topo;
	int least = INT_MAX;
	size_t nearest = 0;

	for (size_t i = 0; i < l->n_tables; i++) {
		const struct unc_table *t = l->table[i];

		for (unsigned k = 0; t->cpuid->family == top->family && k < t->cpuid->n_models; k++)
			if (abs(t->cpuid->models[k] - top->model) < least) {
				least = abs(t->cpuid->models[k] - top->model);
				nearest = i;
			}
	}
	const struct unc_table *first = l->table[0];
	l->table[0] = l->table[nearest];
	l->table[nearest] = first;
}

void unc_doctor_listed(struct doctor *d, struct unc_topology *topo)
{
	struct listed l = {.d = d, .topo = topo};
	struct unc_bus *bus = NULL;
	struct unc_error err = {0};
	int rc;

	l.table = unc_tables(&l.n_tables);
	rc = l.table ? unc_bus_open_system(d->fs, &bus, &err) : unc_no_memory(&err);
	if (rc == 0 && may_list(bus)) {
		put_nearest_first(&l);
		rc = unc_pmon_listed(l.table, l.n_tables, topo, bus, note_text, d, &l.pmon, &err);
		if (rc == 0)
			report_kinds(&l);
		unc_pmon_free(l.pmon);
	}
	if (rc < 0)
		unc_report(d, "discovery", false, "run it as root", "%s", err.text);
	if (bus)
		bus->methods->close(bus);
	free(l.table);
}
