/* SPDX-License-Identifier: BSD-3-Clause */
#include "host/smbios.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TABLE "/sys/firmware/dmi/tables/DMI"

enum { MAX_TABLE = 1 << 20 };

/* Structures, and fields of that of a memory device, by their offsets (DSP0134, 7.18). */
enum { MEMORY_DEVICE = 17, END_OF_TABLE = 127, HEADER = 4 };
enum {
	SIZE = 0x0C,
	FORM_FACTOR = 0x0E,
	MEMORY_TYPE = 0x12,
	TYPE_DETAIL = 0x13,
	SPEED = 0x20, /* that it is configured to */
	TECHNOLOGY = 0x28,
	EXTENDED_SPEED = 0x58,
	ALL_FIELDS = 0x5C /* since 3.3, where speeds are transfers without doubt */
};
enum { ROM = 0x08, EPROM = 0x0C, NON_VOLATILE = 0x1F, HBM = 0x20, HBM2 = 0x21, HBM3 = 0x24 };
enum { NON_VOLATILE_DETAIL = 1 << 12, NVDIMM_N = 4, OPTANE = 7, CXL_CARD = 0x10 };

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

struct device {
	const uint8_t *at;
	size_t length;
};

/* A field; 0 where the structure ends before it. */
static uint32_t field(const struct device *d, size_t offset, size_t size)
{
	uint32_t value = 0;

	for (size_t i = size; offset + size <= d->length && i-- > 0;)
		value = value << 8 | d->at[offset + i];
	return value;
}

static int unknown(struct unc_error *err, const char *why)
{
	return unc_fail(err, UNC_ERR_UNAVAILABLE, "%s", why);
}

/* Persistent memory, firmware chips, and what is behind a link: none of the channels' DRAM. */
static bool is_none(const struct device *d)
{
	uint32_t type = field(d, MEMORY_TYPE, 1), technology = field(d, TECHNOLOGY, 1);

	return !field(d, SIZE, 2) || (type >= ROM && type <= EPROM) || type == NON_VOLATILE ||
	       (field(d, TYPE_DETAIL, 2) & NON_VOLATILE_DETAIL) ||
	       (technology >= NVDIMM_N && technology <= OPTANE) ||
	       field(d, FORM_FACTOR, 1) == CXL_CARD;
}

static int speed_of(const struct device *d, unsigned *speed, struct unc_error *err)
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

static int add_device(const struct device *d, struct unc_smbios_memory *m, struct unc_error *err)
{
	unsigned speed = 0;
	int rc;

	if (is_none(d))
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

/* The end of the texts behind a structure's fields: two zeros. 0: there is none. */
static size_t texts_end(const uint8_t *table, size_t from, size_t size)
{
	for (size_t i = from; i + 1 < size; i++)
		if (!table[i] && !table[i + 1])
			return i + 2;
	return 0;
}

int unc_smbios_memory(const uint8_t *table, size_t size, struct unc_smbios_memory *out,
		      struct unc_error *err)
{
	struct unc_smbios_memory m = {0};
	size_t at = 0;
	int rc = 0;

	while (rc == 0) {
		struct device d = {table + at, size - at >= HEADER ? table[at + 1] : 0u};
		size_t end = d.length >= HEADER && d.length <= size - at
				     ? texts_end(table, at + d.length, size)
				     : 0;

		if (!end)
			return unknown(err, "its SMBIOS table is broken");
		if (d.at[0] == END_OF_TABLE)
			break;
		if (d.at[0] == MEMORY_DEVICE)
			rc = add_device(&d, &m, err);
		at = end;
	}
	if (rc == 0 && !m.modules)
		rc = unknown(err, "SMBIOS lists no modules");
	if (rc == 0)
		*out = m;
	return rc;
}

static int read_table(int fd, uint8_t **table, size_t *size, struct unc_error *err)
{
	uint8_t *bytes = malloc(MAX_TABLE);
	ssize_t n = 1;

	if (!bytes)
		return unc_fail(err, UNC_ERR_MEMORY, "out of memory");
	for (*size = 0; n > 0 && *size<MAX_TABLE; *size += n> 0 ? (size_t)n : 0)
		n = unc_read_more(fd, bytes + *size, MAX_TABLE - *size);
	if (n < 0 || *size == MAX_TABLE) {
		free(bytes);
		return unc_fail(err, UNC_ERR_UNAVAILABLE, "%s cannot be read: %s", TABLE,
				n < 0 ? unc_fs_reason(errno) : "it is too large");
	}
	*table = bytes;
	return 0;
}

int unc_smbios_read(const struct unc_fs *fs, struct unc_smbios_memory *out, struct unc_error *err)
{
	int fd = unc_fs_regular(fs, TABLE), rc;
	uint8_t *table = NULL;
	size_t size = 0;

	if (fd == UNC_ERR_PERMISSION)
		return unc_fail(err, fd, TABLE " is for root only");
	if (fd < 0)
		return unc_fail(err, UNC_ERR_UNAVAILABLE, TABLE ": %s", unc_fs_reason(errno));
	rc = read_table(fd, &table, &size, err);
	close(fd);
	if (rc < 0)
		return rc;
	rc = unc_smbios_memory(table, size, out, err);
	free(table);
	return rc;
}
