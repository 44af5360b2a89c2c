/* SPDX-License-Identifier: BSD-3-Clause */
#include "host/smbios.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define TABLE "/sys/firmware/dmi/tables/DMI"

enum { MAX_TABLE = 1 << 20 };

/* Structures (DSP0134, 6.1.2), and fields by their offsets: of an array, which are the slots of a
 * board or of a card (7.17), and of a memory device, which is a slot (7.18). */
enum { MEMORY_ARRAY = 16, MEMORY_DEVICE = 17, END_OF_TABLE = 127, HEADER = 4, HANDLE = 2 };
enum { LOCATION = 0x04, USE = 0x05, DEVICES = 0x0D };
enum { CXL_CARD = 0xA4, VIDEO = 4, CACHE = 7 };
enum {
	ARRAY = 0x04,
	SIZE = 0x0C,
	LOCATOR = 0x10,
	BANK = 0x11,
	MEMORY_TYPE = 0x12,
	TYPE_DETAIL = 0x13,
	SPEED = 0x20, /* that it is configured to */
	TECHNOLOGY = 0x28,
	EXTENDED_SPEED = 0x58,
	ALL_FIELDS = 0x5C /* since 3.3, where speeds are transfers without doubt */
};
enum { ROM = 0x08, EPROM = 0x0C, NON_VOLATILE = 0x1F, HBM = 0x20, HBM2 = 0x21, HBM3 = 0x24 };
enum { NON_VOLATILE_DETAIL = 1 << 12, NVDIMM_N = 4, OPTANE = 7 };

/* Modules of which a channel is 8 bytes wide, with their speeds. Firmware has written clocks where
 * transfers belong, which are twice as many: from `clear` on the number can be no clock. */
static const struct kind {
	uint8_t type;
	uint16_t least, most, clear; /* MT/s */
} kinds[] = {
	{0x18, 800, 2400, 1200},    /* DDR3 */
	{0x1A, 1600, 3200, 1601},   /* DDR4 */
	{0x22, 3200, 12800, 12800}, /* DDR5 */
};

enum { MAX_ARRAYS = 64, MAX_SLOTS = 1024, PER_CHANNEL = 3 /* modules */ };

/* A structure; behind its fields are its texts, which two zeros end. */
struct structure {
	const uint8_t *at;
	size_t length;
};

struct slot {
	const char *locator, *bank;
	bool filled; /* by a module of DRAM */
};

struct inventory {
	uint16_t elsewhere[MAX_ARRAYS]; /* arrays that are not behind the channels */
	size_t n_elsewhere, n_slots;
	unsigned told; /* slots, by the arrays */
	struct slot slot[MAX_SLOTS];
	struct unc_smbios_memory found;
};

/* A field; 0 where the structure ends before it. */
static uint32_t field(const struct structure *d, size_t offset, size_t size)
{
	uint32_t value = 0;

	for (size_t i = size; offset + size <= d->length && i-- > 0;)
		value = value << 8 | d->at[offset + i];
	return value;
}

/* The text that a field names by its number; "" for none. */
static const char *text_of(const struct structure *d, size_t offset)
{
	const char *text = (const char *)d->at + d->length;
	uint32_t number = field(d, offset, 1);

	if (!number)
		return "";
	while (--number > 0 && *text)
		text += strlen(text) + 1;
	return text;
}

static int unknown(struct unc_error *err, const char *why)
{
	return unc_fail(err, UNC_ERR_UNAVAILABLE, "%s", why);
}

static bool is_firmware(const struct structure *d)
{
	uint32_t type = field(d, MEMORY_TYPE, 1);

	return type >= ROM && type <= EPROM;
}

/* Nothing, or persistent memory. */
static bool holds_no_dram(const struct structure *d)
{
	uint32_t technology = field(d, TECHNOLOGY, 1);

	return !field(d, SIZE, 2) || field(d, MEMORY_TYPE, 1) == NON_VOLATILE ||
	       (field(d, TYPE_DETAIL, 2) & NON_VOLATILE_DETAIL) ||
	       (technology >= NVDIMM_N && technology <= OPTANE);
}

static int speed_of(const struct structure *d, unsigned *speed, struct unc_error *err)
{
	const struct kind *k = kinds, *end = kinds + sizeof(kinds) / sizeof(kinds[0]);
	uint32_t type = field(d, MEMORY_TYPE, 1), value = field(d, SPEED, 2);

	if (type == HBM || type == HBM2 || type == HBM3)
		return unknown(err, "the machine has memory on the package (HBM)");
	while (k < end && k->type != type)
		k++;
	if (k == end)
		return unknown(err, "SMBIOS lists memory that is not DDR3, DDR4 or DDR5");
	if (value == 0xffff)
		value = field(d, EXTENDED_SPEED, 4) & 0x7fffffff;
	if (!value)
		return unknown(err, "SMBIOS does not tell the speed that the modules run at");
	if (value < k->least || value > k->most || (value < k->clear && d->length < ALL_FIELDS))
		return unc_fail(err, UNC_ERR_UNAVAILABLE,
				"SMBIOS tells a speed of %u, which may be clocks in place of "
				"transfers",
				value);
	*speed = value;
	return 0;
}

/* ---- structures */

/* What is behind a link, and what is no memory of programs, is none of the channels'. */
static int add_array(struct inventory *v, const struct structure *d, struct unc_error *err)
{
	uint32_t use = field(d, USE, 1);

	if (field(d, LOCATION, 1) != CXL_CARD && (use < VIDEO || use > CACHE)) {
		v->told += field(d, DEVICES, 2);
		return 0;
	}
	if (v->n_elsewhere == MAX_ARRAYS)
		return unknown(err, "SMBIOS lists too many cards with memory");
	v->elsewhere[v->n_elsewhere++] = (uint16_t)field(d, HANDLE, 2);
	return 0;
}

static bool is_elsewhere(const struct inventory *v, const struct structure *d)
{
	for (size_t i = 0; i < v->n_elsewhere; i++)
		if (v->elsewhere[i] == field(d, ARRAY, 2))
			return true;
	return false;
}

static int add_device(struct inventory *v, const struct structure *d, struct unc_error *err)
{
	struct unc_smbios_memory *m = &v->found;
	struct slot slot = {text_of(d, LOCATOR), text_of(d, BANK), !holds_no_dram(d)};
	unsigned speed = 0;
	int rc;

	if (is_firmware(d) || is_elsewhere(v, d))
		return 0;
	if (v->n_slots == MAX_SLOTS)
		return unknown(err, "SMBIOS lists too many slots");
	v->slot[v->n_slots++] = slot;
	if (!slot.filled)
		return 0;
	if ((rc = speed_of(d, &speed, err)) < 0)
		return rc;
	if (m->modules && m->speed != speed)
		return unc_fail(err, UNC_ERR_UNAVAILABLE,
				"the modules run at different speeds: %u and %u MT/s", m->speed,
				speed);
	m->speed = speed;
	m->modules++;
	return 0;
}

/* The structure at a place, and where the next one is: behind the two zeros that end its texts. 0:
 * it is broken. */
static size_t read_structure(const uint8_t *table, size_t at, size_t size, struct structure *d)
{
	*d = (struct structure){table + at, size - at >= HEADER ? table[at + 1] : 0u};
	for (size_t i = at + d->length; d->length >= HEADER && i + 1 < size; i++)
		if (!table[i] && !table[i + 1])
			return i + 2;
	return 0;
}

typedef int adder(struct inventory *, const struct structure *, struct unc_error *);

/* Structures of a type, in no order that the standard would promise. */
static int add_all(struct inventory *v, unsigned type, adder *add, const uint8_t *table,
		   size_t size, struct unc_error *err)
{
	int rc = 0;

	for (size_t at = 0; rc == 0;) {
		struct structure d;
		size_t end = read_structure(table, at, size, &d);

		if (!end)
			return unknown(err, "its SMBIOS table is broken");
		if (d.at[0] == END_OF_TABLE)
			break;
		if (d.at[0] == type)
			rc = add(v, &d, err);
		at = end;
	}
	return rc;
}

/* ---- channels */

/* What names the channel of a slot: the locator or the bank without the number of the slot that it
 * ends with (CPU0_DIMM_A1, NODE 0 CHANNEL 0 DIMM 0), or the whole bank (P0 CHANNEL A). */
enum naming { BY_LOCATOR, BY_BANK, BY_WHOLE_BANK, NAMINGS };

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static size_t name_of(const struct slot *slot, enum naming naming, const char **name)
{
	size_t n;

	*name = naming == BY_LOCATOR ? slot->locator : slot->bank;
	n = strlen(*name);
	if (naming == BY_WHOLE_BANK)
		return n;
	if (!n || !is_digit((*name)[n - 1]))
		return 0;
	while (n && is_digit((*name)[n - 1]))
		n--;
	return n;
}

static bool same_channel(const struct slot *a, const struct slot *b, enum naming naming)
{
	const char *one, *other;
	size_t n = name_of(a, naming, &one);

	return n == name_of(b, naming, &other) && memcmp(one, other, n) == 0;
}

/* Do the names tell as many channels, with as many modules in each? */
static bool named_alike(const struct inventory *v, enum naming naming, unsigned channels)
{
	unsigned names = 0;

	for (size_t i = 0; i < v->n_slots; i++) {
		unsigned modules = 0;
		const char *name;
		bool first = true;

		if (!name_of(&v->slot[i], naming, &name))
			return false;
		for (size_t k = 0; k < v->n_slots; k++)
			if (same_channel(&v->slot[i], &v->slot[k], naming)) {
				first = first && k >= i;
				modules += v->slot[k].filled;
			}
		names += first;
		if (modules != v->found.modules / channels)
			return false;
	}
	return names == channels;
}

/* A channel without a module moves nothing: the number of modules does not tell, as a channel may
 * have two while its neighbour has none. All slots filled tell, or their names. */
static int check_spread(const struct inventory *v, unsigned channels, struct unc_error *err)
{
	unsigned modules = v->found.modules;
	size_t slots = v->told > v->n_slots ? v->told : v->n_slots;

	if (modules % channels || modules / channels > PER_CHANNEL)
		return unc_fail(err, UNC_ERR_UNAVAILABLE,
				"SMBIOS lists %u modules, which do not fill %u channels alike",
				modules, channels);
	if (modules == slots)
		return 0;
	for (enum naming naming = BY_LOCATOR; naming < NAMINGS; naming++)
		if (named_alike(v, naming, channels))
			return 0;
	return unc_fail(err, UNC_ERR_UNAVAILABLE,
			"SMBIOS lists %u modules in %zu slots, whose names do not tell that they "
			"fill %u channels alike",
			modules, slots, channels);
}

int unc_smbios_memory(const uint8_t *table, size_t size, unsigned channels,
		      struct unc_smbios_memory *out, struct unc_error *err)
{
	struct inventory *v = calloc(1, sizeof(*v));
	int rc;

	if (!v)
		return unc_fail(err, UNC_ERR_MEMORY, "out of memory");
	if ((rc = add_all(v, MEMORY_ARRAY, add_array, table, size, err)) == 0)
		rc = add_all(v, MEMORY_DEVICE, add_device, table, size, err);
	if (rc == 0 && !v->found.modules)
		rc = unknown(err, "SMBIOS lists no modules");
	if (rc == 0)
		rc = check_spread(v, channels, err);
	if (rc == 0)
		*out = v->found;
	free(v);
	return rc;
}

/* ---- the file */

int unc_smbios_read(const struct unc_fs *fs, unsigned channels, struct unc_smbios_memory *out,
		    struct unc_error *err)
{
	struct unc_error why = {0};
	char *table = NULL;
	size_t size = 0;
	int rc = unc_fs_whole(fs, TABLE, MAX_TABLE, &table, &size, &why);

	if (rc == UNC_ERR_PERMISSION && !why.code)
		return unc_fail(err, rc, TABLE " is for root only");
	if (rc < 0)
		return why.code ? unc_fail(err, rc, "%s", why.text)
				: unc_fail(err, UNC_ERR_UNAVAILABLE, TABLE ": %s",
					   unc_fs_reason(errno));
	rc = unc_smbios_memory((uint8_t *)table, size, channels, out, err);
	free(table);
	return rc;
}
