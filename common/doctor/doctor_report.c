/* SPDX-License-Identifier: BSD-3-Clause */
/* What all checks of the doctor use. */
#include "doctor/doctor.h"

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
	d->stopped = d->fn(d->user, &result) != 0;
}

bool unc_doctor_any_unit(const struct doctor *d)
{
	for (size_t i = 0; i < d->platform->instances.n; i++)
		if (d->platform->instances.unit[i].available)
			return true;
	return false;
}
