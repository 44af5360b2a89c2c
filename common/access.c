/* SPDX-License-Identifier: BSD-3-Clause */
#include "access.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Every back end there is. The simulated machine comes last: it serves all spaces. */
static const struct unc_access_methods *const registry[] = {
	&unc_access_msr, &unc_access_pci,  &unc_access_mmio,
	&unc_access_pmu, &unc_access_perf, &unc_access_sim,
};

struct unc_access {
	const struct unc_access_methods *methods[UNC_N_SPACES];
	struct unc_backend *backend[UNC_N_SPACES];
	bool simulated; /* one back end stands for all spaces */
	/* Sessions of different threads prepare at the same time. Running takes no lock. */
	pthread_mutex_t lock;
	struct unc_allowed *allowed;
	size_t n, size;
	bool sorted;
};

static int open_backends(struct unc_access *access, struct unc_fs *fs, struct unc_sim *sim,
			 struct unc_error *err)
{
	for (size_t i = 0; i < sizeof(registry) / sizeof(registry[0]); i++) {
		const struct unc_access_methods *methods = registry[i];
		struct unc_backend *backend;
		int rc;

		if ((methods == &unc_access_sim) != (sim != NULL))
			continue;
		rc = methods->open(fs, sim, &backend, err);
		if (rc < 0)
			return rc;
		for (int space = 0; space < UNC_N_SPACES; space++)
			if (sim || space == methods->space) {
				access->methods[space] = methods;
				access->backend[space] = backend;
			}
	}
	return 0;
}

int unc_access_open(struct unc_fs *fs, struct unc_sim *sim, struct unc_access **out,
		    struct unc_error *err)
{
	struct unc_access *access = calloc(1, sizeof(*access));
	int rc;

	if (!access)
		return unc_fail(err, UNC_ERR_MEMORY, "out of memory");
	access->simulated = sim != NULL;
	pthread_mutex_init(&access->lock, NULL);
	rc = open_backends(access, fs, sim, err);
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
	for (int space = 0; space < UNC_N_SPACES; space++)
		if (access->backend[space] && (space == 0 || !access->simulated))
			access->methods[space]->close(access->backend[space]);
	pthread_mutex_destroy(&access->lock);
	free(access->allowed);
	free(access);
}

int unc_op_done(struct unc_reg_op *op, int errno_value)
{
	op->errno_value = (int16_t)errno_value;
	switch (errno_value) {
	case 0:
		op->error = 0;
		break;
	case EPERM:
	case EACCES:
		op->error = UNC_ERR_PERMISSION;
		break;
	case EBUSY:
		op->error = UNC_ERR_BUSY;
		break;
	default:
		op->error = UNC_ERR_IO;
	}
	return errno_value != 0;
}

/* Orders by space, address and target; width last, so that equal places are neighbours. */
static int compare_place(const struct unc_reg *a, const struct unc_reg *b)
{
	if (a->space != b->space)
		return a->space < b->space ? -1 : 1;
	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	if (a->target != b->target)
		return a->target < b->target ? -1 : 1;
	return 0;
}

static int compare_allowed(const void *pa, const void *pb)
{
	const struct unc_allowed *a = pa, *b = pb;
	int d = compare_place(&a->reg, &b->reg);

	return d ? d : (int)a->reg.width - (int)b->reg.width;
}

/* Sorts; a register given several times (shared by units) may be what any of them says. */
static void sort_allowed(struct unc_access *access)
{
	size_t n = 0;

	if (access->n)
		qsort(access->allowed, access->n, sizeof(access->allowed[0]), compare_allowed);
	for (size_t i = 0; i < access->n; i++) {
		const struct unc_allowed *from = &access->allowed[i];

		if (n && compare_allowed(&access->allowed[n - 1], from) == 0) {
			access->allowed[n - 1].write_mask |= from->write_mask;
			access->allowed[n - 1].readable |= from->readable;
		} else {
			access->allowed[n++] = *from;
		}
	}
	access->n = n;
	access->sorted = true;
}

int unc_access_allow(struct unc_access *access, const struct unc_allowed *regs, size_t n,
		     struct unc_error *err)
{
	int rc = 0;

	pthread_mutex_lock(&access->lock);
	if (access->size - access->n < n) {
		size_t size = 2 * access->size + n;
		void *more = realloc(access->allowed, size * sizeof(access->allowed[0]));

		if (!more) {
			rc = unc_fail(err, UNC_ERR_MEMORY, "out of memory");
			goto done;
		}
		access->allowed = more;
		access->size = size;
	}
	if (n) {
		memcpy(access->allowed + access->n, regs, n * sizeof(regs[0]));
		access->n += n;
		access->sorted = false;
	}
done:
	pthread_mutex_unlock(&access->lock);
	return rc;
}

/* First allowed register of this place, or NULL. */
static const struct unc_allowed *find_place(const struct unc_access *access,
					    const struct unc_reg *reg)
{
	size_t low = 0, high = access->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (compare_place(&access->allowed[middle].reg, reg) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	if (low < access->n && compare_place(&access->allowed[low].reg, reg) == 0)
		return &access->allowed[low];
	return NULL;
}

static void describe(const struct unc_reg *reg, char *buf, size_t size)
{
	uint64_t a = reg->address;

	if (reg->space == UNC_SPACE_MSR)
		snprintf(buf, size, "msr 0x%" PRIx64 " on cpu %u", a, reg->target);
	else if (reg->space == UNC_SPACE_PCI)
		snprintf(buf, size, "pci %04x:%02x:%02x.%x offset 0x%x", UNC_PCI_DOMAIN(a),
			 UNC_PCI_BUS(a), UNC_PCI_DEVFN(a) >> 3, UNC_PCI_DEVFN(a) & 7,
			 UNC_PCI_OFFSET(a));
	else if (unc_space_of_thread(reg->space))
		snprintf(buf, size, "%s 0x%" PRIx32 " on cpu %u", unc_space_name(reg->space),
			 (uint32_t)a, reg->target);
	else
		snprintf(buf, size, "%s 0x%" PRIx64, unc_space_name(reg->space), a);
}

static int check(const struct unc_access *access, const struct unc_reg_op *op,
		 struct unc_error *err)
{
	const struct unc_allowed *allowed = find_place(access, &op->reg), *end;
	const struct unc_allowed *place = allowed;
	char reg[80];

	describe(&op->reg, reg, sizeof(reg));
	if (!allowed || op->reg.space >= UNC_N_SPACES)
		return unc_fail(err, UNC_ERR_DENIED, "%s is no register of this machine's monitors",
				reg);
	end = access->allowed + access->n;
	while (allowed < end && compare_place(&allowed->reg, &op->reg) == 0 &&
	       allowed->reg.width != op->reg.width)
		allowed++;
	if (allowed == end || compare_place(&allowed->reg, &op->reg) != 0)
		return unc_fail(err, UNC_ERR_DENIED, "%s has %u bits, the access %u", reg,
				place->reg.width, op->reg.width);
	if (op->kind == UNC_OP_READ && !allowed->readable)
		return unc_fail(err, UNC_ERR_DENIED, "%s is write-only", reg);
	if (op->kind == UNC_OP_READ)
		return 0;
	if (!allowed->write_mask)
		return unc_fail(err, UNC_ERR_DENIED, "%s is read-only", reg);
	if (op->value & ~allowed->write_mask)
		return unc_fail(err, UNC_ERR_DENIED,
				"%s: value 0x%" PRIx64 " has bits outside of 0x%" PRIx64, reg,
				op->value, allowed->write_mask);
	return 0;
}

int unc_access_prepare(struct unc_access *access, struct unc_reg_op *ops, size_t n,
		       struct unc_error *err)
{
	int rc = 0;

	pthread_mutex_lock(&access->lock);
	if (!access->sorted)
		sort_allowed(access);
	for (size_t i = 0; i < n && rc == 0; i++)
		rc = check(access, &ops[i], err);
	for (size_t i = 0; i < n && rc == 0; i++) {
		unsigned space = ops[i].reg.space;

		unc_op_done(&ops[i], 0);
		rc = access->methods[space]->prepare(access->backend[space], &ops[i], err);
	}
	pthread_mutex_unlock(&access->lock);
	return rc;
}

int unc_access_run(struct unc_access *access, struct unc_reg_op *ops, size_t n)
{
	int failed = 0;

	for (size_t i = 0; i < n;) {
		unsigned space = ops[i].reg.space;
		size_t end = i + 1;

		while (end < n && (access->simulated || ops[end].reg.space == space))
			end++;
		failed += access->methods[space]->run(access->backend[space], ops + i, end - i);
		i = end;
	}
	return failed ? UNC_ERR_IO : 0;
}
