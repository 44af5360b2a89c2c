/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The bounds. Loads through a large buffer: a prefetch may fetch a little more than is used, and page
 * tables are read, 8 bytes a page; refresh is no access. Whole lines stored past the caches need no read.
 * Links carry, beside the data, what moves ownership and directory. Addresses are spread evenly over
 * the channels of a socket's memory and the slices of its LLC. Clocks: their range on each CPU is in no
 * document that the tables go by.
 */
#include "verdict.h"

#include <math.h>

static const char twice[] =
	"a unit is missing, counts twice or does not exist, or a count is not so many bytes";
static const char crossed[] = "the event confuses reads and writes, or sockets are exchanged";
static const char other_socket[] =
	"what one socket counts is traffic of another: sockets are exchanged";
static const char not_home[] =
	"the event does not tell remote memory from local memory, or counts something else";
static const char not_carried[] =
	"the links count other units than data of so many bytes, or not on all of them";
static const char misses[] =
	"misses of the LLC are not the lines that memory was read for: code, umask "
	"or filter is wrong";
static const char no_ratio[] =
	"it is not a share: numerator and denominator count different things";
static const char uneven[] = "a unit counts something else than the others, or does not exist";

const struct row verify_rows[] = {
	{"memory_read_bytes", READS, false, HOME, BYTES, 0.97, 1.08, "bytes", twice},
	{"memory_read_bytes", READS, false, OTHERS, BYTES, -0.05, 0.10, "bytes", other_socket},
	{"memory_write_bytes", READS, false, HOME, BYTES, -0.05, 0.10, "bytes", crossed},
	{"memory_write_bytes", WRITES, false, HOME, BYTES, 0.97, 1.08, "bytes", twice},
	{"memory_write_bytes", WRITES, false, OTHERS, BYTES, -0.05, 0.10, "bytes", other_socket},
	{"memory_read_bytes", WRITES, false, HOME, BYTES, -0.05, 0.25, "bytes", crossed},
	{"memory_bandwidth", READS, false, HOME, BYTES, 0.97, 1.15, "bytes", twice},
	{"memory_utilization", READS, false, HOME, RATIO, 0, 1, "ratio", no_ratio},
	{"memory_read_latency_ns", READS, false, FROM, VALUE, 20, 2000, "ns",
	 "occupancy and inserts are not of the same requests, or the clock is another"},
	{"llc_lookups", READS, false, FROM, LINES, 0.80, 1.60, "bytes", misses},
	{"llc_misses", READS, false, FROM, LINES, 0.80, 1.15, "bytes", misses},
	{"llc_miss_ratio", READS, false, FROM, RATIO, 0.2, 1, "ratio", no_ratio},
	{"dram_page_hit_ratio", READS, false, HOME, RATIO, 0, 1, "ratio", no_ratio},
	{"uncore_frequency_hz", READS, false, FROM, VALUE, 0.4e9, 6e9, "hz",
	 "the clock is that of something else"},
	{"remote_access_ratio", READS, false, FROM, RATIO, 0, 0.35, "ratio", not_home},
	{"link_tx_bytes", READS, false, FROM, BYTES, -0.05, 0.15, "bytes", not_carried},
	{"memory_read_bytes", READS, true, HOME, BYTES, 0.97, 1.08, "bytes", other_socket},
	{"memory_read_bytes", READS, true, FROM, BYTES, -0.05, 0.10, "bytes", other_socket},
	{"remote_access_ratio", READS, true, FROM, RATIO, 0.65, 1.05, "ratio", not_home},
	{"link_tx_bytes", READS, true, HOME, BYTES, 0.95, 1.35, "bytes", not_carried},
	{"link_rx_bytes", READS, true, FROM, BYTES, 0.95, 1.35, "bytes", not_carried},
	{"link_utilization", READS, true, HOME, RATIO, 0, 1, "ratio", no_ratio},
	{"memory_write_bytes", WRITES, true, HOME, BYTES, 0.97, 1.08, "bytes", other_socket},
	{"memory_write_bytes", WRITES, true, FROM, BYTES, -0.05, 0.10, "bytes", other_socket},
	{"link_tx_bytes", WRITES, true, FROM, BYTES, 0.95, 1.35, "bytes", not_carried},
	{"link_rx_bytes", WRITES, true, HOME, BYTES, 0.95, 1.35, "bytes", not_carried},
	{"pcie_write_bytes", DEVICE, false, FROM, BYTES, 0.97, 1.10, "bytes",
	 "a count is not so many bytes, or devices' reads and writes are exchanged"},
	{"memory_read_bytes", READS, false, HOME, UNITS, 0.6, 1.5, "%", uneven},
	{"memory_write_bytes", WRITES, false, HOME, UNITS, 0.6, 1.5, "%", uneven},
	{"llc_misses", READS, false, FROM, UNITS, 0.6, 1.5, "%", uneven},
};
const size_t verify_n_rows = sizeof(verify_rows) / sizeof(verify_rows[0]);

const struct row verify_clock = {.of = RATE,
				 .least = 0.1e9,
				 .most = 6e9,
				 .unit = "hz",
				 .means = "the event is no clock"},
		 verify_units = {.of = UNITS,
				 .least = 0.98,
				 .most = 1.02,
				 .unit = "%",
				 .means = "a unit counts another clock, or does not exist"},
		 verify_pair = {
			 .of = PAIR,
			 .least = 0.99,
			 .most = 1.01,
			 .unit = "%",
			 .means = "they are of two clocks, or the fixed counter has other bits "
				  "than the table says"};

static double median_of(const struct reading *r)
{
	return r->value[r->n / 2];
}

/* Of the unit that is farthest from the median, its share of it. */
static double farthest(const struct reading *r)
{
	double low = r->value[0] / median_of(r), high = r->value[r->n - 1] / median_of(r);

	return high - 1 > 1 - low ? high : low;
}

struct verdict verify_judge(const struct row *row, const struct reading *r)
{
	double mean = (r->others[0] + r->others[1]) / 2,
	       blur = fabs(r->others[0] - r->others[1]) + mean / 8;
	double whole = r->bytes / (row->of == LINES ? 64 : 1);
	struct verdict v = {NOT_JUDGED, NAN, row->least, row->most, r->why};

	if (v.why || !r->n) {
		v.why = v.why ? v.why : "there is no such unit";
		return v;
	}
	if (row->of <= VALUE && !(blur < 0.25 && mean < 0.5)) {
		v.why = "this machine is too busy: other programs move half as much as this one, "
			"or their traffic changes by a quarter of it";
		return v;
	}
	switch (row->of) {
	case BYTES:
	case LINES:
		v.value = (r->value[0] / whole - mean) * r->bytes;
		v.least = (row->least - blur) * r->bytes;
		v.most = (row->most + blur) * r->bytes;
		break;
	case RATIO:
		v.value = r->value[0];
		v.least = row->least / (1 + mean) - blur;
		v.most = (row->most + mean) / (1 + mean) + blur;
		break;
	case VALUE:
		v.value = r->value[0];
		break;
	case RATE:
		v.value = median_of(r) / r->seconds;
		break;
	case UNITS:
		v.value = farthest(r);
		break;
	case PAIR:
		v.value = r->value[0] / r->value[1];
		break;
	}
	v.is = v.value >= v.least && v.value <= v.most ? RIGHT : WRONG;
	if (isnan(v.value)) {
		v.is = NOT_JUDGED;
		v.why = "no unit has counted anything";
	}
	return v;
}
