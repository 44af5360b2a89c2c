/* SPDX-License-Identifier: BSD-3-Clause */
/* Doctor: reporting, and the survey of units that all checks use. */
#include "doctor/doctor.h"

#include <string.h>

void unc_report(struct doctor *d, const char *check, bool ok, const char *remedy,
		const char *format, ...)
{
	char detail[2 * UNC_ERROR_MAX];
	struct unc_check result = {.check = check, .ok = ok, .detail = detail};

	if (d->stopped)
		return;
	UNC_FORMAT(detail, format);
	result.remedy = ok ? "" : remedy;
	d->failed += !ok;
	d->stopped = d->fn && d->fn(d->user, &result) != 0;
}

struct unc_doctor_unit unc_doctor_unit(const struct doctor *d, const struct unc_instance *u)
{
	struct unc_doctor_unit unit;

	snprintf(unit.text, sizeof(unit.text), "%.40s%u of socket %u",
		 unc_type_name(d->table, u->type), u->index, u->socket);
	return unit;
}

void unc_doctor_survey(struct doctor *d)
{
	const struct unc_platform *p = d->platform;
	struct unc_survey *s = &d->units;
	uint32_t reached = 0, plain = 0;

	d->table = p->table;
	for (size_t i = 0; i < p->table->n_part; i++)
		s->spaces |= 1u << p->table->part[i].space;
	if (p->table->discovery == UNC_DISCOVERY_TABLE)
		s->spaces |= 1u << UNC_SPACE_MMIO;
	for (size_t i = 0; i < p->instances.n; i++) {
		const struct unc_instance *u = &p->instances.unit[i];
		uint8_t space = u->part[0].space;
		bool kernel = p->kernel && p->kernel[i].pmus;

		s->available += u->available;
		reached |= (uint32_t)u->available << space;
		if (strcmp(unc_platform_served(p, i), unc_space_name(space)) == 0)
			plain |= 1u << space; /* a space and its own method have one name */
		if (unc_space_of_thread(space)) {
			s->threads++;
			s->threads_available += u->available;
			s->thread = u->available || s->thread ? s->thread : u;
			continue;
		}
		s->n++;
		s->kernel += kernel;
		s->both += kernel && u->direct;
		s->told += u->by_driver;
		s->unknown += u->unknown;
	}
	s->bypassed = reached & ~plain;
	s->rawio = s->spaces & ~s->bypassed & (1u << UNC_SPACE_MSR | 1u << UNC_SPACE_MMIO);
	s->admin = s->spaces & ~s->bypassed & 1u << UNC_SPACE_PCI;
}
