/* SPDX-License-Identifier: BSD-3-Clause */
#include "access/access.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "access/access_pci.h"
#include "access/access_ways.h"
#include "access/fence.h"
#include "base/bits.h"
#include "host/fs.h"
#include "host/machine.h"

/* An allowed register: whether it is inside the fence, and which methods could read it. */
struct known {
	struct unc_reg reg;
	uint64_t write_mask;
	bool readable, inside;
	uint16_t tried;       /* bits 1 << way */
	int16_t unidentified; /* errno: why its PCI function could not be identified */
};

struct unc_access {
	struct unc_machine *machine;
	struct unc_ways ways;
	/* Sessions of several threads prepare at once. Running takes no lock. */
	pthread_mutex_t lock;
	struct known *known;
	size_t n;
	bool sorted;
	size_t last; /* where the last search for a register ended */
	struct unc_fence fence;
	uint64_t function; /* the PCI function identified last, and its vendor and device */
	uint32_t identity;
};

int unc_access_open(struct unc_machine *machine, const char *order, struct unc_access **out,
		    struct unc_error *err)
{
	struct unc_access *access = calloc(1, sizeof(*access));
	int rc;

	if (!access)
		return unc_no_memory(err);
	access->machine = machine;
	access->function = UINT64_MAX;
	pthread_mutex_init(&access->lock, NULL);
	rc = unc_ways_open(&access->ways, machine, order, err);
	if (rc < 0) {
		unc_access_close(access);
		return rc;
	}
	*out = access;
	return 0;
}

void unc_access_close(struct unc_access *access)
{
	if (!access)
		return;
	unc_ways_close(&access->ways);
	pthread_mutex_destroy(&access->lock);
	free(access->known);
	unc_fence_end(&access->fence);
	free(access);
}

const struct unc_ways *unc_access_ways(const struct unc_access *access)
{
	return &access->ways;
}

const char *unc_access_name(const struct unc_access *access, unsigned way)
{
	return way ? access->ways.way[way].methods->name : "";
}

/* Compares space, address and target; compare_known() adds the width, so that equal places are adjacent. */
static int compare_address(const struct unc_reg *a, const struct unc_reg *b)
{
	int order = unc_order(a->space, b->space);

	order = order ? order : unc_order(a->address, b->address);
	return order ? order : unc_order(a->target, b->target);
}

static int compare_known(const void *pa, const void *pb)
{
	const struct known *a = pa, *b = pb;
	int d = compare_address(&a->reg, &b->reg);

	return d ? d : (int)a->reg.width - (int)b->reg.width;
}

/* Sorts the registers. Rows of the same register (shared by units) are merged: it gets the rights of all. */
static void sort_known(struct unc_access *access)
{
	struct known *less;
	size_t n = 0;

	if (access->n)
		qsort(access->known, access->n, sizeof(access->known[0]), compare_known);
	for (size_t i = 0; i < access->n; i++) {
		const struct known *from = &access->known[i];

		if (n && compare_known(&access->known[n - 1], from) == 0) {
			access->known[n - 1].write_mask |= from->write_mask;
			access->known[n - 1].readable |= from->readable;
		} else {
			access->known[n++] = *from;
		}
	}
	access->n = n;
	access->sorted = true;
	less = realloc(access->known, (n + 1) * sizeof(*less));
	access->known = less ? less : access->known;
}

int unc_access_allow(struct unc_access *access, const struct unc_allowed *regs, size_t n,
		     struct unc_error *err)
{
	struct known *more;

	pthread_mutex_lock(&access->lock);
	more = realloc(access->known, (access->n + n + 1) * sizeof(*more));
	if (more) {
		access->known = more;
		for (size_t i = 0; i < n; i++)
			more[access->n++] = (struct known){.reg = regs[i].reg,
							   .write_mask = regs[i].write_mask,
							   .readable = regs[i].readable};
		access->sorted = false;
	}
	pthread_mutex_unlock(&access->lock);
	return more ? 0 : unc_no_memory(err);
}

struct unc_fence *unc_access_fence(struct unc_access *access)
{
	return &access->fence;
}

/* Returns the first allowed register of this place, or NULL. The registers of a unit are close together and
 * mostly in order, so the search begins at the last place, in steps that double. */
static struct known *find_place(struct unc_access *access, const struct unc_reg *reg)
{
	size_t low = 0, high = access->last;

	for (size_t step = 1;
	     high < access->n && compare_address(&access->known[high].reg, reg) < 0; step *= 2) {
		low = high + 1;
		high += step;
	}
	high = high < access->n ? high : access->n;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (compare_address(&access->known[middle].reg, reg) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	access->last = low;
	if (low < access->n && compare_address(&access->known[low].reg, reg) == 0)
		return &access->known[low];
	return NULL;
}

static void describe_register(const struct unc_reg *reg, char *buf, size_t size)
{
	uint64_t a = reg->address;

	if (reg->space == UNC_SPACE_MSR)
		snprintf(buf, size, "msr 0x%" PRIx64 " on cpu %u", a, reg->target);
	else if (reg->space == UNC_SPACE_PCI)
		snprintf(buf, size, "pci %s offset 0x%x", unc_pci_name(a).text, UNC_PCI_OFFSET(a));
	else if (unc_space_of_thread(reg->space))
		snprintf(buf, size, "%s 0x%" PRIx32 " on cpu %u", unc_space_name(reg->space),
			 (uint32_t)a, reg->target);
	else
		snprintf(buf, size, "%s 0x%" PRIx64, unc_space_name(reg->space), a);
}

/* ---- the fence */

/* Returns the device id of the Intel function that has the register; 0: no PCI function, or another vendor.
 * A function that cannot be identified is not prepared either; the back end knows why. */
static uint16_t identify_device(struct unc_access *access, struct known *known, uint32_t *identity)
{
	const struct unc_reg *reg = &known->reg;
	uint64_t function = UNC_PCI_FUNCTION(reg->address);

	if (reg->space != UNC_SPACE_PCI)
		return 0;
	known->unidentified = 0;
	if (access->function != function)
		known->unidentified =
			(int16_t)unc_pci_dword(access->machine->fs, function, &access->identity);
	access->function = known->unidentified ? UINT64_MAX : function;
	*identity = access->identity;
	return known->unidentified || (*identity & 0xffff) != 0x8086 ? 0
								     : (uint16_t)(*identity >> 16);
}

/* Refuses a register that the fence does not know, and removes bits that it does not allow, even if the
 * allowlist has them. */
static int check_fence(struct unc_access *access, struct known *known, const char *name,
		       struct unc_error *err)
{
	char of[32] = "";
	uint32_t identity = 0;
	uint64_t mask = 0;
	uint16_t device;

	if (known->inside || !access->machine->fenced)
		return 0;
	if (!access->fence.table)
		return unc_fail(err, UNC_ERR_DENIED,
				"%s is not accessed: no table of this CPU is compiled in", name);
	device = identify_device(access, known, &identity);
	if (known->unidentified)
		return 0;
	known->inside = unc_fence_has(&access->fence, &known->reg, device, &mask);
	known->write_mask &= mask;
	if (known->inside)
		return 0;
	if (identity)
		snprintf(of, sizeof(of), " of device %04x:%04x", identity & 0xffff, identity >> 16);
	return unc_fail(err, UNC_ERR_DENIED,
			"%s%s cannot be a register of a monitor, even if a table says so", name,
			of);
}

/* ---- the gate */

/* Returns the allowed register of this place and width; NULL: none. */
static struct known *find_allowed(struct unc_access *access, const struct unc_reg *reg)
{
	struct known *known = find_place(access, reg);

	for (; known && known < access->known + access->n && compare_address(&known->reg, reg) == 0;
	     known++)
		if (known->reg.width == reg->width)
			return known;
	return NULL;
}

/* The fast path: whether the fence has passed the register and the tables allow the operation. */
static bool is_permitted(const struct unc_access *access, const struct known *known,
			 const struct unc_reg_op *op)
{
	if (!known || !(known->inside || !access->machine->fenced))
		return false;
	return op->kind == UNC_OP_READ ? known->readable
				       : known->write_mask && !(op->value & ~known->write_mask);
}

static int check_op(struct unc_access *access, struct unc_reg_op *op, struct unc_error *err)
{
	struct known *known = find_allowed(access, &op->reg);
	const struct known *place = known ? known : find_place(access, &op->reg);
	char reg[80];
	int rc;

	if (op->reg.space < UNC_N_SPACES && is_permitted(access, known, op))
		return unc_ways_lead(&access->ways, &op->reg, err);
	describe_register(&op->reg, reg, sizeof(reg));
	if (!place || op->reg.space >= UNC_N_SPACES)
		return unc_fail(err, UNC_ERR_DENIED,
				"%s is not a register of this machine's monitors", reg);
	if (!known)
		return unc_fail(err, UNC_ERR_DENIED, "%s has %u bits, the access %u", reg,
				place->reg.width, op->reg.width);
	if ((rc = check_fence(access, known, reg, err)) < 0)
		return rc;
	if (op->kind == UNC_OP_READ && !known->readable)
		return unc_fail(err, UNC_ERR_DENIED, "%s is write-only", reg);
	if (op->kind != UNC_OP_READ && !known->write_mask)
		return unc_fail(err, UNC_ERR_DENIED, "%s is read-only", reg);
	if (op->kind != UNC_OP_READ && op->value & ~known->write_mask)
		return unc_fail(err, UNC_ERR_DENIED,
				"%s: value 0x%" PRIx64 " has bits outside of 0x%" PRIx64, reg,
				op->value, known->write_mask);
	return unc_ways_lead(&access->ways, &op->reg, err);
}

/* Opens what the operation needs; with `try`, reads a register that was never read before. An operation that
 * the fence has not passed must not run. */
static int prepare_one(struct unc_access *access, struct unc_reg_op *op, bool try,
		       struct unc_error *err)
{
	const struct unc_way *way = &access->ways.way[op->reg.way];
	struct known *known = find_allowed(access, &op->reg);
	int rc;

	unc_op_done(op, 0);
	op->tried = op->kind == UNC_OP_READ && (!try || known->tried >> op->reg.way & 1);
	op->low_only |= !(known->write_mask >> 32);
	rc = way->methods->prepare(way->backend, op, err);
	if (rc == 0 && op->kind == UNC_OP_READ && try)
		known->tried |= (uint16_t)(1u << op->reg.way);
	if (rc < 0 || known->inside || !access->machine->fenced)
		return rc;
	return unc_fail(err, UNC_ERR_DENIED, "pci %s cannot be identified: %s",
			unc_pci_name(op->reg.address).text, unc_fs_reason(known->unidentified));
}

/* Checks all operations, then prepares them; without `try` no register is read. */
static int prepare_all(struct unc_access *access, struct unc_reg_op *ops, size_t n, bool try,
		       struct unc_error *err)
{
	int rc = 0;

	pthread_mutex_lock(&access->lock);
	if (!access->sorted)
		sort_known(access);
	for (size_t i = 0; i < n && rc == 0; i++)
		rc = check_op(access, &ops[i], err);
	for (size_t i = 0; i < n && rc == 0; i++)
		rc = prepare_one(access, &ops[i], try, err);
	pthread_mutex_unlock(&access->lock);
	return rc;
}

int unc_access_prepare(struct unc_access *access, struct unc_reg_op *ops, size_t n,
		       struct unc_error *err)
{
	return prepare_all(access, ops, n, true, err);
}

/* Notes that these registers are readable: preparing them again only finds their files. */
static void note_tried(struct unc_access *access, const struct unc_reg_op *ops, size_t n)
{
	pthread_mutex_lock(&access->lock);
	for (size_t i = 0; i < n; i++)
		find_allowed(access, &ops[i].reg)->tried |= (uint16_t)(1u << ops[i].reg.way);
	pthread_mutex_unlock(&access->lock);
}

int unc_access_read(struct unc_access *access, struct unc_reg_op *ops, size_t n,
		    struct unc_error *err)
{
	int rc = prepare_all(access, ops, n, false, err);

	if (rc < 0)
		return rc;
	rc = unc_access_run(access, ops, n);
	if (rc < 0 && (rc = unc_access_prepare(access, ops, n, err)) == 0)
		rc = unc_access_run(access, ops, n);
	else if (rc == 0)
		note_tried(access, ops, n);
	return rc;
}

int unc_access_serves(struct unc_access *access, unsigned number, const struct unc_allowed *regs,
		      size_t n, struct unc_error *err)
{
	const struct unc_way *way = &access->ways.way[number];
	int rc = 0;

	pthread_mutex_lock(&access->lock);
	if (!access->sorted)
		sort_known(access);
	for (size_t i = 0; way->methods->serves && i < n && rc == 0; i++) {
		struct unc_reg_op op = {.reg = regs[i].reg,
					.kind = regs[i].readable ? UNC_OP_READ : UNC_OP_WRITE};

		op.reg.way = (uint8_t)number;
		rc = check_op(access, &op, err);
	}
	pthread_mutex_unlock(&access->lock);
	if (rc == 0 && way->absent.code)
		rc = unc_fail(err, way->absent.code, "%s", way->absent.text);
	return rc == 0 && way->methods->serves && n
		       ? way->methods->serves(way->backend, regs, n, err)
		       : rc;
}

int unc_access_run(struct unc_access *access, struct unc_reg_op *ops, size_t n)
{
	int failed = 0;

	for (size_t i = 0; i < n;) {
		const struct unc_way *way = &access->ways.way[ops[i].reg.way];
		size_t end = i + 1;

		while (end < n && ops[end].reg.way == ops[i].reg.way)
			end++;
		failed += way->methods->run(way->backend, ops + i, end - i);
		i = end;
	}
	return failed ? UNC_ERR_IO : 0;
}
