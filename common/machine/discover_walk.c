/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared functions of discovery: notes, new units, configuration space. */
#include <inttypes.h>
#include <stdio.h>

#include "base/grow.h"
#include "machine/discover_walk.h"

void unc_walk_note(const struct unc_walk *walk, const char *format, ...)
{
	char text[UNC_ERROR_MAX];

	if (!walk->note)
		return;
	UNC_FORMAT(text, format);
	walk->note(walk->user, text);
}

unsigned unc_walk_count(const struct unc_walk *walk, unsigned type, int socket, int index)
{
	unsigned n = 0;

	for (const struct unc_instance *u = walk->unit; u < walk->unit + walk->n; u++) {
		n += u->type == type && u->socket == socket &&
		     (index == UNC_ANY_INDEX || u->index == index);
	}
	return n;
}

struct unc_instance *unc_walk_add(struct unc_walk *walk, unsigned type, int socket, unsigned index)
{
	struct unc_instance *unit = UNC_ADD_TO(walk->unit, walk->n);

	if (!unit) {
		if (walk->no_memory)
			unc_instance_forget(&walk->none);
		walk->no_memory = true;
		unit = &walk->none;
	}
	*unit = (struct unc_instance){
		.type = (uint16_t)type,
		.socket = (uint16_t)socket,
		.index = (uint16_t)index,
		.status_position = -1,
		.reason = "",
	};
	return unit;
}

void unc_walk_lack(struct unc_walk *walk, unsigned type, int socket, unsigned index,
		   const char *format, ...)
{
	char text[UNC_REASON_MAX];

	UNC_FORMAT(text, format);
	unc_instance_reason(unc_walk_add(walk, type, socket, index), "%s", text);
}

const struct unc_pci_function *unc_walk_told(const struct unc_walk *walk,
					     const struct unc_pci_function *f)
{
	struct unc_pci_function *own = &walk->function[f - walk->function];

	if (!own->told && walk->bus->methods->tell)
		walk->bus->methods->tell(walk->bus, own);
	own->told = true;
	return own;
}

int unc_bus_config(struct unc_bus *bus, const struct unc_pci_function *f, unsigned offset,
		   uint32_t *value, struct unc_error *err)
{
	if (bus->closed && f->device != UNC_PMON_DEVICE)
		return unc_fail(err, UNC_ERR_DENIED,
				"pci %s is not read: no table of this CPU is compiled in",
				unc_function_name(f).text);
	return bus->methods->config(bus, f, offset, value, err);
}

static int bar_word(struct unc_bus *bus, const struct unc_pci_function *f, unsigned offset,
		    uint32_t *value, struct unc_error *err)
{
	uint64_t at = UNC_PCI(f->domain, f->bus, f->devfn, offset);
	struct unc_error why = {0};

	for (unsigned i = 0; i < bus->n_words; i++)
		if (bus->word[i].at == at) {
			*value = bus->word[i].value;
			return 0;
		}
	if (unc_bus_config(bus, f, offset, value, &why) < 0)
		return unc_fail(err, UNC_ERR_UNAVAILABLE, "%s", why.text);
	if (bus->n_words < UNC_BAR_WORDS) {
		bus->word[bus->n_words].at = at;
		bus->word[bus->n_words++].value = *value;
	}
	return 0;
}

int unc_bar_address(struct unc_bus *bus, const struct unc_pci_function *f,
		    const struct unc_tbl_bar *bar, unsigned element, uint64_t *address,
		    struct unc_error *err)
{
	unsigned offset = bar->offset + element * bar->step;
	uint32_t base, part = UINT32_MAX;
	int code = 0;

	if (bar_word(bus, f, bar->base_offset, &base, err) < 0)
		return UNC_ERR_UNAVAILABLE;
	if (base == UINT32_MAX || !(base & bar->base_mask)) {
		code = UNC_ERR_UNAVAILABLE;
		offset = bar->base_offset;
	} else if (bar_word(bus, f, offset, &part, err) < 0) {
		return UNC_ERR_UNAVAILABLE;
	} else if (part == UINT32_MAX || (element && !(part & bar->mask))) {
		/* The first element may be at the base itself; another element there is not filled in. */
		code = UNC_ERR_NOT_FOUND;
	}
	if (code)
		return unc_fail(err, code,
				"PCI function %02x.%x (8086:%04x) holds no address at 0x%x",
				bar->devfn >> 3u, bar->devfn & 7u, bar->device_id, offset);
	*address = ((uint64_t)(base & bar->base_mask) << bar->base_shift) +
		   ((uint64_t)(part & bar->mask) << bar->shift);
	return 0;
}

int unc_walk_cpu(const struct unc_walk *walk, int socket, struct unc_place *out,
		 struct unc_error *err)
{
	int cpu = walk->topo->socket[socket].cpu;

	if (cpu < 0)
		return unc_fail(err, UNC_ERR_UNAVAILABLE, UNC_NO_CPU);
	if (walk->topo->socket[socket].quiet)
		return unc_fail(err, UNC_ERR_UNAVAILABLE, UNC_QUIET_CPU);
	out->target = (uint32_t)cpu;
	return 0;
}

void unc_instance_locate(struct unc_instance *unit)
{
	const struct unc_place *place = &unit->part[0];
	uint64_t base = place->base;

	if (place->space == UNC_SPACE_MSR && !place->present)
		snprintf(unit->location, sizeof(unit->location), "msr 0x%" PRIx64, base);
	else if (place->space == UNC_SPACE_MSR)
		snprintf(unit->location, sizeof(unit->location), "msr 0x%" PRIx64 " on cpu %u",
			 base, place->target);
	else if (unc_space_of_thread(place->space))
		snprintf(unit->location, sizeof(unit->location), "%s of cpu %u",
			 unc_space_name(place->space), place->target);
	else if (place->space == UNC_SPACE_PCI)
		snprintf(unit->location, sizeof(unit->location), "pci %s", unc_pci_name(base).text);
	else
		snprintf(unit->location, sizeof(unit->location), "mmio 0x%" PRIx64, base);
}
