/* SPDX-License-Identifier: BSD-3-Clause */
/* Registers that were written, and what they held before. */
#include "machine.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void machine_remember(struct machine *m, const char *path, uint64_t offset, void *reg)
{
	const struct sim_reg *known = reg;
	struct written *more;

	if (known->counter && known->counter->ctr == known) /* it counts */
		return;
	for (size_t i = 0; i < m->n_written; i++)
		if (m->written[i].reg == reg)
			return;
	more = realloc(m->written, (m->n_written + 1) * sizeof(*more));
	if (!more)
		abort();
	m->written = more;
	more[m->n_written++] = (struct written){.reg = reg,
						.path = strdup(path),
						.offset = offset,
						.before = unc_sim_read(m->sim, reg)};
}

void machine_forget(struct machine *m)
{
	for (size_t i = 0; i < m->n_written; i++)
		free(m->written[i].path);
	free(m->written);
	free(m->left);
	m->written = NULL;
	m->left = NULL;
	m->n_written = 0;
}

const char *machine_left(struct machine *m, size_t *size)
{
	enum { LINE = 200 };
	char *text = realloc(m->left, m->n_written * LINE + 1);

	if (!text)
		abort();
	m->left = text;
	*size = 0;
	for (size_t i = 0; i < m->n_written; i++) {
		const struct written *w = &m->written[i];
		uint64_t now = unc_sim_read(m->sim, w->reg);

		if (now != w->before)
			*size += (size_t)snprintf(text + *size, LINE,
						  "%s 0x%" PRIx64 " 0x%" PRIx64 " 0x%" PRIx64 "\n",
						  w->path, w->offset, now, w->before);
	}
	return text;
}
