/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Verify: the portable metrics, while a known number of bytes is moved. What is counted before it and
 * after it is what others move, and is taken off.
 *
 * The bounds. Loads through a large buffer: a prefetch may fetch a little more than is used, and
 * page tables are read, 8 bytes a page; refresh is no access. Whole lines stored past the caches need
 * no read. Links carry, beside the data, what moves ownership and directory.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "verify.h"

enum at { FROM, HOME, OTHERS };
enum of {
	BYTES, /* `scale` of them are one count */
	PLAIN  /* a value in its own unit, whatever is moved */
};

struct row {
	const char *metric;
	enum flow_kind kind;
	bool remote;
	enum at at;
	enum of of;
	double scale, least, most;
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
	{"memory_read_bytes", READS, false, HOME, BYTES, 1, 0.97, 1.08, twice},
	{"memory_read_bytes", READS, false, OTHERS, BYTES, 1, -0.05, 0.10, other_socket},
	{"memory_write_bytes", READS, false, HOME, BYTES, 1, -0.05, 0.10, crossed},
	{"memory_write_bytes", WRITES, false, HOME, BYTES, 1, 0.97, 1.08, twice},
	{"memory_write_bytes", WRITES, false, OTHERS, BYTES, 1, -0.05, 0.10, other_socket},
	{"memory_read_bytes", WRITES, false, HOME, BYTES, 1, -0.05, 0.25, crossed},
	{"memory_bandwidth", READS, false, HOME, BYTES, 1, 0.97, 1.15, twice},
	{"memory_utilization", READS, false, HOME, PLAIN, 1, 0, 1, no_ratio},
	{"memory_read_latency_ns", READS, false, FROM, PLAIN, 1, 20, 2000,
	 "occupancy and inserts are not of the same requests, or the clock is another"},
	{"llc_lookups", READS, false, FROM, BYTES, 64, 0.80, 1.60, misses},
	{"llc_misses", READS, false, FROM, BYTES, 64, 0.80, 1.15, misses},
	{"llc_miss_ratio", READS, false, FROM, PLAIN, 1, 0.2, 1, no_ratio},
	{"dram_page_hit_ratio", READS, false, HOME, PLAIN, 1, 0, 1, no_ratio},
	{"uncore_frequency_hz", READS, false, FROM, PLAIN, 1, 0.4e9, 6e9,
	 "the clock is that of something else"},
	{"remote_access_ratio", READS, false, FROM, PLAIN, 1, 0, 0.35, not_home},
	{"link_tx_bytes", READS, false, FROM, BYTES, 1, -0.05, 0.15, not_carried},
	{"memory_read_bytes", READS, true, HOME, BYTES, 1, 0.97, 1.08, other_socket},
	{"memory_read_bytes", READS, true, FROM, BYTES, 1, -0.05, 0.10, other_socket},
	{"remote_access_ratio", READS, true, FROM, PLAIN, 1, 0.65, 1.05, not_home},
	{"link_tx_bytes", READS, true, HOME, BYTES, 1, 0.95, 1.35, not_carried},
	{"link_rx_bytes", READS, true, FROM, BYTES, 1, 0.95, 1.35, not_carried},
	{"link_utilization", READS, true, HOME, PLAIN, 1, 0, 1, no_ratio},
	{"memory_write_bytes", WRITES, true, HOME, BYTES, 1, 0.97, 1.08, other_socket},
	{"memory_write_bytes", WRITES, true, FROM, BYTES, 1, -0.05, 0.10, other_socket},
	{"link_tx_bytes", WRITES, true, FROM, BYTES, 1, 0.95, 1.35, not_carried},
	{"link_rx_bytes", WRITES, true, HOME, BYTES, 1, 0.95, 1.35, not_carried},
	{"pcie_write_bytes", DEVICE, false, FROM, BYTES, 1, 0.97, 1.10,
	 "a count is not so many bytes, or devices' reads and writes are exchanged"},
};
enum { N_ROWS = sizeof(rows) / sizeof(rows[0]) };

/* ---- one check */

/* What the number is made of: "imc.CAS_COUNT:RD, and the formula in metrics.tbl". */
static char *doubtful(struct verify *v, const char *metric)
{
	size_t index;
	char *list = NULL;
	const char *need;

	if (unc_metric_find(v->platform, metric, &index, NULL) < 0)
		return must_print("%s", metric);
	for (size_t i = 0; (need = unc_metric_need(v->platform, index, i)); i++)
		list = must_list(list, need);
	return must_add(list, " (events) and %s (metrics.tbl)", metric);
}

static char *name_of(const struct row *row, const struct flow *flow, int socket)
{
	static const char *const what[] = {[READS] = "reads", [WRITES] = "writes"};

	if (row->kind == DEVICE)
		return must_print("%s of socket %d while a device writes", row->metric, socket);
	return must_print("%s of socket %d while socket %d %s memory of %d", row->metric, socket,
			  flow->from, what[row->kind], flow->home);
}

/* traffic: what others move beside a value that is no traffic itself. */
static void judge(struct verify *v, const struct row *row, const struct flow *flow,
		  const struct probe *probe, const struct probe *traffic, int socket)
{
	char *check = name_of(row, flow, socket), *doubt = doubtful(v, row->metric), *what;
	double share, blur, value, whole = probe->moved.bytes;
	const char *unit = "bytes";
	size_t index;

	if (row->of == BYTES) {
		share = verify_share(v, probe, socket, row->scale, &blur);
		value = share * whole;
		what = must_print("%.2f of what was moved: %s; in doubt: %s", share, row->means,
				  doubt);
	} else {
		share = verify_share(v, traffic, flow->home, 1, &blur);
		value = isnan(share) ? NAN : verify_value(v, probe, socket);
		what = must_print("%s; in doubt: %s", row->means, doubt);
		whole = 1;
		blur = 0;
		if (unc_metric_find(v->platform, row->metric, &index, NULL) == 0)
			unit = unc_metric_get(v->platform, index)->unit;
	}
	verify_judge(v, check, value, (row->least - blur) * whole, (row->most + blur) * whole, unit,
		     what);
	free(doubt);
}

/* ---- all checks of a flow */

static bool is_of(const struct row *row, enum flow_kind kind, bool remote)
{
	return row->kind == kind && row->remote == remote;
}

static struct probe *probe_of(struct probe *p, size_t n, const char *metric)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(p[i].text, metric) == 0)
			return &p[i];
	return p; /* of a flow whose rows have no need of it */
}

/* A probe for each metric of the rows that are meant. */
static size_t probes(struct probe *p, enum flow_kind kind, bool remote)
{
	size_t n = 0;

	for (size_t i = 0; i < N_ROWS; i++) {
		bool have = !is_of(&rows[i], kind, remote);

		for (size_t k = 0; k < n; k++)
			have |= strcmp(p[k].text, rows[i].metric) == 0;
		if (!have)
			p[n++] = (struct probe){.text = rows[i].metric, .per = UNC_EACH_SOCKET};
	}
	return n;
}

static void run_flow(struct verify *v, const struct flow *flow)
{
	struct probe p[N_ROWS];
	bool remote = flow->from != flow->home;
	size_t n = probes(p, flow->kind, remote);
	bool done = verify_count(v, flow, p, n);

	for (size_t i = 0; i < N_ROWS; i++) {
		const struct row *row = &rows[i];

		if (!is_of(row, flow->kind, remote))
			continue;
		for (int s = 0; s < v->sockets; s++) {
			bool meant = row->at == FROM   ? s == flow->from
				     : row->at == HOME ? s == flow->home
						       : s != flow->from && s != flow->home;

			if (meant && done)
				judge(v, row, flow, probe_of(p, n, row->metric),
				      probe_of(p, n, "memory_read_bytes"), s);
			else if (meant)
				verify_judge(v, name_of(row, flow, s), NAN, 0, 0, "", NULL);
		}
	}
	verify_free(p, n);
}

void verify_metrics(struct verify *v)
{
	for (enum flow_kind kind = READS; kind <= DEVICE; kind++)
		for (int s = 0; s < v->sockets && !verify_stopped(); s++) {
			int next = (s + 1) % v->sockets;

			run_flow(v, &(struct flow){kind, s, s});
			if (next != s && kind != DEVICE)
				run_flow(v, &(struct flow){kind, s, next});
		}
	verify_fail(v, "a device reads memory when it is written to, which this does not do");
	verify_judge(v, must_print("pcie_read_bytes"), NAN, 0, 0, "", NULL);
	verify_fail(v, "there is one socket");
	if (v->sockets == 1)
		verify_judge(v, must_print("remote memory and links"), NAN, 0, 0, "", NULL);
}
