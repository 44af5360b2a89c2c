/* SPDX-License-Identifier: BSD-3-Clause */
#include "machine/pci_list.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "host/fs.h"

enum { MOST = 16 << 20, IO_SPACE = 1, FLAGS = 0xf };

/* Parses the next hexadecimal number of a line and moves *at past it. */
static bool next_hex(const char **at, uint64_t *value)
{
	int used = 0;

	if (sscanf(*at, "%" SCNx64 "%n", value, &used) != 1)
		return false;
	*at += used;
	return true;
}

/* Parses a line: bus and devfn, vendor and device, interrupt; the starts of BARs and ROM, with the flags of
 * a BAR in the low bits; their sizes; the driver. */
static bool parse_line(const char *line, struct unc_pci_noted *out)
{
	uint64_t place, id, irq, start[UNC_PCI_BARS + 1], size;
	bool ok = next_hex(&line, &place) && next_hex(&line, &id) && next_hex(&line, &irq);

	for (int i = 0; ok && i <= UNC_PCI_BARS; i++)
		ok = next_hex(&line, &start[i]);
	*out = (struct unc_pci_noted){.bus_devfn = (uint16_t)place,
				      .vendor = (uint16_t)(id >> 16),
				      .device = (uint16_t)id};
	for (int i = 0; ok && i < UNC_PCI_BARS; i++) {
		uint64_t first = start[i] & ~(uint64_t)FLAGS;

		ok = next_hex(&line, &size);
		if (first && size && !(start[i] & IO_SPACE))
			out->memory[i] = (struct unc_pci_bar){first, first + size - 1};
	}
	return ok && place <= UINT16_MAX && id <= UINT32_MAX;
}

static int compare_noted(const void *pa, const void *pb)
{
	const struct unc_pci_noted *a = pa, *b = pb;

	return a->bus_devfn - b->bus_devfn;
}

/* Parses all lines. If a line is malformed, the list becomes empty. False: out of memory. */
static bool parse_lines(struct unc_pci_list *list, char *text)
{
	struct unc_pci_noted row, *added;
	char *save = NULL;

	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		if (!parse_line(line, &row)) {
			unc_pci_list_free(list);
			return true;
		}
		if (!(added = UNC_ADD_TO(list->row, list->n)))
			return false;
		*added = row;
	}
	if (list->n)
		qsort(list->row, list->n, sizeof(*list->row), compare_noted);
	return true;
}

bool unc_pci_list_read(const struct unc_fs *fs, struct unc_pci_list *list)
{
	static const char path[] = "/proc/bus/pci/devices";
	char *text;
	size_t size;
	int rc = unc_fs_whole(fs, path, MOST, &text, &size, NULL);
	bool ok;

	if (rc < 0)
		return rc != UNC_ERR_MEMORY;
	ok = parse_lines(list, text);
	free(text);
	return ok;
}

const struct unc_pci_noted *unc_pci_list_find(const struct unc_pci_list *list, const char *name)
{
	unsigned bus, device, function;
	struct unc_pci_noted *found;

	if (!list->n || sscanf(name, "%*x:%2x:%2x.%1o", &bus, &device, &function) != 3)
		return NULL;
	const struct unc_pci_noted want = {.bus_devfn =
						   (uint16_t)(bus << 8 | device << 3 | function)};
	found = bsearch(&want, list->row, list->n, sizeof(want), compare_noted);
	if (!found || (found > list->row && !compare_noted(found - 1, found)) ||
	    (found + 1 < list->row + list->n && !compare_noted(found, found + 1)))
		return NULL;
	return found;
}

void unc_pci_list_free(struct unc_pci_list *list)
{
	free(list->row);
	*list = (struct unc_pci_list){NULL, 0};
}
