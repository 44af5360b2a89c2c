/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "record.h"

const char *grouped(char buf[CELL_MAX], uint64_t value)
{
	char digits[24];
	int n = snprintf(digits, sizeof(digits), "%" PRIu64, value);
	char *p = buf;

	for (int i = 0; i < n; i++) {
		if (i && (n - i) % 3 == 0)
			*p++ = ',';
		*p++ = digits[i];
	}
	*p = '\0';
	return buf;
}

const char *scaled(char buf[CELL_MAX], double value, const char *unit)
{
	static const char *const prefix[] = {"", "k", "M", "G", "T", "P", "E"};
	size_t i = 0;

	while (fabs(value) >= 999.995 && i + 1 < sizeof(prefix) / sizeof(prefix[0])) {
		value /= 1000;
		i++;
	}
	snprintf(buf, CELL_MAX, "%.*f %s%s", i == 0 && value == floor(value) ? 0 : 2, value,
		 prefix[i], unit);
	return buf;
}

const char *percent_text(char buf[CELL_MAX], double share)
{
	snprintf(buf, CELL_MAX, share < 0.01 ? "<1" : "%.0f", fmin(round(100 * share), 99));
	return buf;
}

/* How a unit of metrics is written behind numbers. */
static const char *unit_text(const char *unit)
{
	static const char *const text[][2] = {{"hz", "Hz"},
					      {"bytes_per_second", "B/s"},
					      {"count_per_second", "/s"},
					      {"count", ""}};

	for (size_t i = 0; i < sizeof(text) / sizeof(text[0]); i++)
		if (strcmp(unit, text[i][0]) == 0)
			return text[i][1];
	return unit;
}

const char *with_unit(char buf[CELL_MAX], double value, const char *unit)
{
	bool whole = value >= 0 && value < 0x1p63 && value == floor(value);
	char number[CELL_MAX];

	if (strcmp(unit, "ratio") == 0)
		snprintf(buf, CELL_MAX, "%.4f", value);
	else if (strcmp(unit, "hz") == 0 || strstr(unit, "_per_"))
		scaled(buf, value, unit_text(unit));
	else if (strcmp(unit, "count") == 0 && whole)
		grouped(buf, (uint64_t)value);
	else if (strcmp(unit, "bytes") == 0 && value >= 0 && value < 0x1p63)
		snprintf(buf, CELL_MAX, "%s %s", grouped(number, (uint64_t)llround(value)), unit);
	else
		snprintf(buf, CELL_MAX, "%.2f%s%s", value, *unit_text(unit) ? " " : "",
			 unit_text(unit));
	return buf;
}

const char *rate_text(char buf[CELL_MAX], double rate, const char *unit)
{
	char per_second[CELL_MAX];

	if (strstr(unit, "_per_second"))
		return with_unit(buf, rate, unit);
	snprintf(per_second, sizeof(per_second), "%s/s",
		 strcmp(unit, "bytes") == 0   ? "B"
		 : strcmp(unit, "count") == 0 ? ""
					      : unit);
	return scaled(buf, rate, per_second);
}

const char *clock_text(char buf[CELL_MAX], const char *format, const struct timespec *clock)
{
	struct tm local;

	localtime_r(&clock->tv_sec, &local);
	buf[strftime(buf, CELL_MAX, format, &local)] = '\0';
	return buf;
}

const char *bit_list(char buf[CELL_MAX], uint64_t mask)
{
	size_t n = 0;

	snprintf(buf, CELL_MAX, "-");
	for (unsigned i = 0; i < 64; i++) {
		unsigned first = i;

		if (!(mask >> i & 1))
			continue;
		while (i < 63 && mask >> (i + 1) & 1)
			i++;
		n += (size_t)snprintf(buf + n, CELL_MAX - n, n ? ",%u" : "%u", first);
		if (i > first && n < CELL_MAX)
			n += (size_t)snprintf(buf + n, CELL_MAX - n, "-%u", i);
		if (n >= CELL_MAX)
			break;
	}
	return buf;
}
