/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Verify: what is counted while a known number of bytes is moved, and what it has to be. What is
 * counted before it and after it is what others move, and is taken off.
 *
 * The bounds. Loads through a large buffer: a prefetch may fetch a little more than is used, and
 * page tables are read, 8 bytes a page; refresh is no access. Whole lines stored past the caches
 * need no read. Links carry, beside the data, what moves ownership and directory. Addresses are
 * spread evenly over the channels of a socket's memory and the slices of its LLC.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "verify.h"

enum at { FROM, HOME, OTHERS };
enum of {
	BYTES,
	LINES, /* of 64 bytes */
	RATIO, /* of which others have one of their own, from 0 to 1 */
	PLAIN, /* a value in its own unit, whatever is moved, and by whom */
	UNITS  /* the units of a socket, for each event that the metric is made of */
};
enum { MOST_PROBES = 64, MOST_NEEDS = 8 };

struct row {
	const char *metric;
	enum flow_kind kind;
	bool remote;
	enum at at;
	enum of of;
	double least, most;
	const char *means;
};

static const char *const twice =
	"a unit is missing, counts twice or is none, or a count is not so many bytes";
static const char *const crossed =
	"the event tells reads from writes wrongly, or sockets are exchanged";
static const char *const other_socket =
	"what one socket counts is traffic of another: sockets are exchanged";
static const char *const not_home =
	"memory of another socket is not told from the own one, or the event counts another thing";
static const char *const not_carried =
	"the links count other units than data of so many bytes, or not on all of them";
static const char *const misses = "misses of the LLC are not the lines that memory was read for: "
				  "code, umask or filter is wrong";
static const char *const no_ratio =
	"it is no share: numerator and denominator count different things";

static const struct row rows[] = {
	{"memory_read_bytes", READS, false, HOME, BYTES, 0.97, 1.08, twice},
	{"memory_read_bytes", READS, false, OTHERS, BYTES, -0.05, 0.10, other_socket},
	{"memory_write_bytes", READS, false, HOME, BYTES, -0.05, 0.10, crossed},
	{"memory_write_bytes", WRITES, false, HOME, BYTES, 0.97, 1.08, twice},
	{"memory_write_bytes", WRITES, false, OTHERS, BYTES, -0.05, 0.10, other_socket},
	{"memory_read_bytes", WRITES, false, HOME, BYTES, -0.05, 0.25, crossed},
	{"memory_bandwidth", READS, false, HOME, BYTES, 0.97, 1.15, twice},
	{"memory_utilization", READS, false, HOME, RATIO, 0, 1, no_ratio},
	{"memory_read_latency_ns", READS, false, FROM, PLAIN, 20, 2000,
	 "occupancy and inserts are not of the same requests, or the clock is another"},
	{"llc_lookups", READS, false, FROM, LINES, 0.80, 1.60, misses},
	{"llc_misses", READS, false, FROM, LINES, 0.80, 1.15, misses},
	{"llc_miss_ratio", READS, false, FROM, RATIO, 0.2, 1, no_ratio},
	{"dram_page_hit_ratio", READS, false, HOME, RATIO, 0, 1, no_ratio},
	{"uncore_frequency_hz", READS, false, FROM, PLAIN, 0.4e9, 6e9,
	 "the clock is that of something else"},
	{"remote_access_ratio", READS, false, FROM, RATIO, 0, 0.35, not_home},
	{"link_tx_bytes", READS, false, FROM, BYTES, -0.05, 0.15, not_carried},
	{"memory_read_bytes", READS, true, HOME, BYTES, 0.97, 1.08, other_socket},
	{"memory_read_bytes", READS, true, FROM, BYTES, -0.05, 0.10, other_socket},
	{"remote_access_ratio", READS, true, FROM, RATIO, 0.65, 1.05, not_home},
	{"link_tx_bytes", READS, true, HOME, BYTES, 0.95, 1.35, not_carried},
	{"link_rx_bytes", READS, true, FROM, BYTES, 0.95, 1.35, not_carried},
	{"link_utilization", READS, true, HOME, RATIO, 0, 1, no_ratio},
	{"memory_write_bytes", WRITES, true, HOME, BYTES, 0.97, 1.08, other_socket},
	{"memory_write_bytes", WRITES, true, FROM, BYTES, -0.05, 0.10, other_socket},
	{"link_tx_bytes", WRITES, true, FROM, BYTES, 0.95, 1.35, not_carried},
	{"link_rx_bytes", WRITES, true, HOME, BYTES, 0.95, 1.35, not_carried},
	{"pcie_write_bytes", DEVICE, false, FROM, BYTES, 0.97, 1.10,
	 "a count is not so many bytes, or devices' reads and writes are exchanged"},
	{"memory_read_bytes", READS, false, HOME, UNITS, 0.6, 1.5, NULL},
	{"memory_write_bytes", WRITES, false, HOME, UNITS, 0.6, 1.5, NULL},
	{"llc_misses", READS, false, FROM, UNITS, 0.6, 1.5, NULL},
};
enum { N_ROWS = sizeof(rows) / sizeof(rows[0]) };

/* ---- one check */

/* What the number is made of: "imc.CAS_COUNT:RD, and the formula in metrics.tbl". */
static char *doubtful(struct verify *v, const char *metric)
{
	char *list = NULL;
	const char *need;

	for (size_t i = 0; (need = verify_need(v, metric, i)); i++)
		list = must_list(list, need);
	return list ? must_add(list, " (events) and %s (metrics.tbl)", metric)
		    : must_print("%s", metric);
}

static char *name_of(const struct row *row, const struct flow *flow, int socket)
{
	static const char *const what[] = {[READS] = "reads", [WRITES] = "writes"};

	if (row->kind == DEVICE)
		return must_print("%s of socket %d while a device writes", row->metric, socket);
	return must_print("%s of socket %d while socket %d %s memory of %d", row->metric, socket,
			  flow->from, what[row->kind], flow->home);
}

/* A number of bytes, or of lines. */
static void judge_share(struct verify *v, const struct row *row, const struct flow *flow,
			const struct probe *probe, int socket)
{
	char *doubt = doubtful(v, row->metric);
	double blur, whole = probe->moved.bytes,
		     share = verify_share(v, probe, socket, row->of == LINES ? 64 : 1, &blur);

	verify_judge(
		v, name_of(row, flow, socket), share * whole, (row->least - blur) * whole,
		(row->most + blur) * whole, "bytes",
		must_print("%.2f of what was moved: %s; in doubt: %s", share, row->means, doubt));
	free(doubt);
}

/* A value that is not of bytes: beside too much of others' it tells nothing of this. */
static void judge_plain(struct verify *v, const struct row *row, const struct flow *flow,
			const struct probe *probe, int socket)
{
	char *doubt = doubtful(v, row->metric);
	double mean, blur, value = NAN, least = row->least, most = row->most;
	size_t index;

	if (verify_weigh(v, probe->others, &mean, &blur))
		value = verify_value(v, probe, socket);
	if (row->of == RATIO) {
		least = least / (1 + mean) - blur;
		most = (most + mean) / (1 + mean) + blur;
	}
	const char *unit = unc_metric_find(v->platform, row->metric, &index, NULL) == 0
				   ? unc_metric_get(v->platform, index)->unit
				   : "";

	verify_judge(v, name_of(row, flow, socket), value, least, most, unit,
		     must_print("%s; in doubt: %s", row->means, doubt));
	free(doubt);
}

/* ---- all checks of a flow */

static bool is_of(const struct row *row, const struct flow *flow)
{
	return row->kind == flow->kind && row->remote == (flow->from != flow->home);
}

static bool is_at(const struct row *row, const struct flow *flow, int socket)
{
	return row->at == FROM   ? socket == flow->from
	       : row->at == HOME ? socket == flow->home
				 : socket != flow->from && socket != flow->home;
}

/* The text that is counted for a row, or one of them; NULL: there is none more. */
static const char *text_of(struct verify *v, const struct row *row, size_t i)
{
	if (row->of == UNITS)
		return i < MOST_NEEDS ? verify_need(v, row->metric, i) : NULL;
	return i == 0 ? row->metric : NULL;
}

/* The probe that counts it; it is made if there is none. */
static struct probe *probe_of(struct probe *p, size_t *n, const struct row *row, const char *text)
{
	unsigned per = row->of == UNITS ? UNC_EACH_UNIT : UNC_EACH_SOCKET;
	size_t i = 0;

	while (i < *n && (p[i].per != per || strcmp(p[i].text, text) != 0))
		i++;
	if (i == *n)
		p[(*n)++] = (struct probe){.text = text, .per = per, .weighed = true};
	return &p[i];
}

static void judge(struct verify *v, const struct row *row, const struct flow *flow,
		  const struct probe *probe, int socket)
{
	if (row->of == UNITS)
		verify_agree(v, probe, socket, row->least, row->most);
	else if (row->of == BYTES || row->of == LINES)
		judge_share(v, row, flow, probe, socket);
	else
		judge_plain(v, row, flow, probe, socket);
}

static void run_flow(struct verify *v, const struct flow *flow)
{
	struct probe p[MOST_PROBES];
	const char *text;
	size_t n = 0;

	for (const struct row *row = rows; row < rows + N_ROWS; row++)
		for (size_t i = 0; is_of(row, flow) && (text = text_of(v, row, i)); i++)
			probe_of(p, &n, row, text);
	bool done = verify_count(v, flow, p, n);

	for (const struct row *row = rows; row < rows + N_ROWS; row++)
		for (int s = 0; s < v->sockets && is_of(row, flow); s++)
			for (size_t i = 0; is_at(row, flow, s) && (text = text_of(v, row, i));
			     i++) {
				if (done)
					judge(v, row, flow, probe_of(p, &n, row, text), s);
				else if (row->of != UNITS)
					verify_judge(v, name_of(row, flow, s), NAN, 0, 0, "", NULL);
			}
	verify_free(p, n);
}

void verify_rows(struct verify *v)
{
	static const char *const unmoved[] = {"pcie_outbound_read_bytes",
					      "pcie_outbound_write_bytes", "cxl_read_bytes",
					      "cxl_write_bytes"};

	for (enum flow_kind kind = READS; kind <= DEVICE; kind++)
		for (int s = 0; s < v->sockets && !verify_stopped(); s++) {
			int next = (s + 1) % v->sockets;

			run_flow(v, &(struct flow){kind, s, s, 0});
			if (next != s && kind != DEVICE)
				run_flow(v, &(struct flow){kind, s, next, 0});
		}
	verify_fail(v, "a device reads memory when it is written to, which this does not do");
	verify_judge(v, must_print("pcie_read_bytes"), NAN, 0, 0, "", NULL);
	verify_fail(v, "nothing here moves a known number of bytes between cores and devices or "
		       "CXL memory");
	for (size_t i = 0; i < sizeof(unmoved) / sizeof(unmoved[0]); i++)
		verify_judge(v, must_print("%s", unmoved[i]), NAN, 0, 0, "", NULL);
	verify_fail(v, "there is one socket");
	if (v->sockets == 1)
		verify_judge(v, must_print("remote memory and links"), NAN, 0, 0, "", NULL);
}
