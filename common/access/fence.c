/* SPDX-License-Identifier: BSD-3-Clause */
#include "access/fence.h"

#include <stdlib.h>

#include "base/grow.h"

int unc_fence_space(const struct unc_fence *fence, const struct unc_fence_block *block)
{
	return unc_type_part(fence->table, block->type, block->part)->space;
}

const struct unc_tbl_reg *unc_fence_reg(const struct unc_fence *fence,
					const struct unc_fence_block *block, uint32_t *i,
					uint64_t *first, uint64_t *last)
{
	const struct unc_range *regs = &fence->table->type[block->type].regs;
	int space = unc_fence_space(fence, block);

	while (*i < regs->n) {
		const struct unc_tbl_reg *reg = &fence->table->reg[regs->first + (*i)++];

		if (reg->part != block->part)
			continue;
		*first = *last = unc_reg_at(reg, space, block->base, block->index);
		if (space == UNC_SPACE_PCI || space == UNC_SPACE_MMIO)
			*last += reg->width / 8u - 1;
		return reg;
	}
	return NULL;
}

void unc_fence_add(struct unc_fence *fence, const struct unc_fence_block *block)
{
	const struct unc_tbl_reg *reg;
	uint64_t first, last;

	for (uint32_t i = 0; (reg = unc_fence_reg(fence, block, &i, &first, &last));) {
		struct unc_fence_row *row = UNC_ADD_TO(fence->row, fence->n);

		fence->no_memory |= !row;
		if (!row)
			return;
		*row = (struct unc_fence_row){.at = first,
					      .mask = reg->write_mask,
					      .device = block->device,
					      .space = (uint8_t)unc_fence_space(fence, block),
					      .width = first == last ? 0 : reg->width};
	}
	fence->sorted = false;
}

void unc_fence_places(const struct unc_fence *fence, unc_fence_fn fn, void *user)
{
	const struct unc_table *t = fence->table;

	for (unsigned i = 0; t && i < t->n_type; i++)
		for (unsigned p = 0; p < t->type[i].parts.n; p++) {
			const struct unc_tbl_part *part = unc_type_part(t, i, p);
			const struct unc_tbl_where *w;

			for (uint32_t k = 0; (w = unc_part_place(t, part, k)); k++)
				fn(user,
				   (struct unc_fence_block){
					   .index = k, .type = (uint16_t)i, .part = (uint16_t)p},
				   w);
		}
}

/* Hardware threads have their registers at the same addresses: one thread is enough. A function without a
 * known id is added when the discovery table lists it. */
static void add_fixed_place(void *user, struct unc_fence_block block,
			    const struct unc_tbl_where *where)
{
	int space = unc_fence_space(user, &block);

	block.base = where->base;
	block.device = where->device_id;
	if (space != UNC_SPACE_MMIO && !(unc_space_of_thread(space) && block.index) &&
	    !(space == UNC_SPACE_PCI && !where->device_id))
		unc_fence_add(user, &block);
}

int unc_fence_begin(struct unc_fence *fence, const struct unc_table *t, struct unc_error *err)
{
	fence->table = t;
	unc_fence_places(fence, add_fixed_place, fence);
	return fence->no_memory ? unc_no_memory(err) : 0;
}

void unc_fence_end(struct unc_fence *fence)
{
	free(fence->row);
	*fence = (struct unc_fence){.table = NULL};
}

/* Orders by space, device and address. */
static int compare_fence_rows(const void *pa, const void *pb)
{
	const struct unc_fence_row *a = pa, *b = pb;

	int order = unc_order(a->space, b->space);

	order = order ? order : unc_order(a->device, b->device);
	return order ? order : unc_order(a->at, b->at);
}

bool unc_fence_has(struct unc_fence *fence, const struct unc_reg *reg, uint16_t device,
		   uint64_t *mask)
{
	const struct unc_fence_row want = {
		.at = reg->space == UNC_SPACE_PCI ? UNC_PCI_OFFSET(reg->address) : reg->address,
		.device = device,
		.space = reg->space};
	size_t low = 0, high;
	bool found = false;

	*mask = 0;
	if (!fence->sorted && fence->n)
		qsort(fence->row, fence->n, sizeof(*fence->row), compare_fence_rows);
	fence->sorted = true;
	for (high = fence->n; low < high;) {
		size_t middle = low + (high - low) / 2;

		if (compare_fence_rows(&fence->row[middle], &want) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < fence->n && compare_fence_rows(&fence->row[low], &want) == 0; low++)
		if (!fence->row[low].width || fence->row[low].width == reg->width) {
			*mask |= fence->row[low].mask;
			found = true;
		}
	/* MSRs that give the number of units, or their buses, may be read. */
	for (size_t i = 0; !found && fence->table && i < fence->table->n_present; i++)
		found = reg->space == UNC_SPACE_MSR && want.at &&
			fence->table->present[i].msr == want.at;
	for (size_t i = 0; !found && fence->table && i < fence->table->n_map; i++)
		found = reg->space == UNC_SPACE_MSR && want.at &&
			fence->table->map[i].msr == want.at;
	return found;
}
