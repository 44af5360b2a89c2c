/* SPDX-License-Identifier: BSD-3-Clause */
/* Who has programmed the counters in use, as `uncore counters` tells it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "doctor/doctor.h"

static int add(void *user, const struct unc_counter *counter)
{
	struct doctor_owners *o = user;
	struct doctor_owner *row = unc_grow(o->row, o->n, sizeof(*o->row));

	if (!row)
		return 1; /* what is not known is told so */
	o->row = row;
	row += o->n++;
	*row = (struct doctor_owner){.unit = counter->unit,
				     .number = counter->number,
				     .owner = counter->owner,
				     .pid = counter->pid};
	snprintf(row->command, sizeof(row->command), "%s", counter->command);
	o->dead += counter->owner == UNC_OWNER_DEAD;
	return 0;
}

void unc_doctor_owners(struct doctor *d, struct doctor_owners *out)
{
	*out = (struct doctor_owners){.n = 0};
	/* Where a unit cannot be read, or the ledger is busy, those of others are known. */
	(void)unc_counters_walk(d->platform, add, out);
}

const char *unc_doctor_owner(const struct doctor *d, const struct doctor_owners *o,
			     const struct unc_instance *u, int number, char *buf, size_t size)
{
	const struct unc_instances *all = &d->platform->instances;
	const struct unc_unit *unit = unc_unit_get(d->platform, (size_t)(u - all->unit));
	const struct doctor_owner *row = NULL;

	for (size_t i = 0; i < o->n && !row; i++)
		if (o->row[i].unit == unit && o->row[i].number == number)
			row = &o->row[i];
	if (!row || row->owner == UNC_OWNER_STRANGER)
		snprintf(buf, size, "who programmed it is not known");
	else if (row->owner == UNC_OWNER_LIBUNCORE)
		snprintf(buf, size, "pid %d (%s) counts with it", row->pid, row->command);
	else if (row->owner == UNC_OWNER_DEAD)
		snprintf(buf, size, "pid %d (%s), which is dead, has left it behind", row->pid,
			 row->command);
	else if (row->pid)
		snprintf(buf, size, "it may be the kernel's, for pid %d (%s)", row->pid,
			 row->command);
	else
		snprintf(buf, size, "it may be the kernel's");
	return buf;
}

const char *unc_doctor_dead(const struct doctor_owners *o, char *buf, size_t size)
{
	buf[0] = '\0';
	if (o->dead)
		snprintf(buf, size,
			 "; %u of those in use %s programmed by nobody who lives: run uncore "
			 "release",
			 o->dead, o->dead == 1 ? "is" : "are");
	return buf;
}
