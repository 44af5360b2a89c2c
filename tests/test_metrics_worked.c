/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Worked examples of all metrics (tests/metrics/CPU.cases), and what the metrics of the simulated
 * machines must have to do with each other.
 */
#include "cases.h"
#include "metric_rows.h"
#include "session_kit.h"

enum { MAX_METRICS = 512 };

struct book {
	const char *cpu;
	struct unc_platform *platform;
	unsigned char seen[MAX_METRICS];
	unsigned values, reasons, alike, failed;
};

static void fail(struct book *b, const struct cases_row *row, const char *what, const char *got)
{
	printf("# %s:%u: %s: %s %s\n", row->file, row->line, row->field[0], what, got);
	b->failed++;
}

static int find_metric(const struct unc_platform *p, const char *name)
{
	const struct unc_metric *m;

	for (int i = 0; (m = unc_metric_get(p, (size_t)i)) && i < MAX_METRICS; i++)
		if (strcmp(m->name, name) == 0)
			return i;
	return -1;
}

static void check_reason(struct book *b, const struct cases_row *row, const struct unc_metric *m)
{
	double value = -1;
	int rc = unc_metric_eval(b->platform, row->field[0], NULL, 0, sizeof(struct unc_count),
				 &value);

	b->reasons++;
	if (m->available || rc != UNC_ERR_UNAVAILABLE || value != -1)
		fail(b, row, "is available", "");
	else if (!cases_match(m->reason, row->field[3]))
		fail(b, row, "the reason is", m->reason);
	else if (!strstr(unc_platform_error(b->platform), m->reason))
		fail(b, row, "the sentence is", unc_platform_error(b->platform));
}

static void check_value(struct book *b, const struct cases_row *row, unsigned metric)
{
	struct row_counts counts;
	char *end, text[64];
	double want = strtod(row->field[2], &end), got = -1;

	b->values++;
	if (row_read(row->field[1], &counts) < 0 || *end || end == row->field[2]) {
		fail(b, row, "cannot read the row", "");
		return;
	}
	if (unc_metric_eval(b->platform, row->field[0], counts.count, counts.n,
			    sizeof(*counts.count), &got) < 0) {
		fail(b, row, "error", unc_platform_error(b->platform));
		return;
	}
	snprintf(text, sizeof(text), "%.15g", got);
	if (!row_equals(got, want))
		fail(b, row, "is", text);
	const char *misread = row_misread(b->platform->table, metric, &counts);
	if (misread)
		fail(b, row, "is not made so of the units of", misread);
	/* Every count is needed: without it the metric is an error, never something else. */
	for (size_t i = 0; i < counts.n; i++) {
		struct unc_count kept = counts.count[i];

		counts.count[i] = counts.count[counts.n - 1];
		if (unc_metric_eval(b->platform, row->field[0], counts.count, counts.n - 1,
				    sizeof(*counts.count), &got) == 0)
			fail(b, row, "does without", kept.event);
		counts.count[i] = kept;
	}
}

/* Counts that cannot be of one time, or whose result is too large: no value, and why. */
static void check_none(struct book *b, const struct cases_row *row)
{
	struct row_counts counts;
	double value = 4711;
	int rc = row_read(row->field[1], &counts) < 0
			 ? 0
			 : unc_metric_eval(b->platform, row->field[0], counts.count, counts.n,
					   sizeof(*counts.count), &value);

	if (rc != UNC_ERR_RANGE || value != 4711)
		fail(b, row, "has a value, or another error:", unc_platform_error(b->platform));
	else if (!cases_match(unc_platform_error(b->platform), row->field[3]))
		fail(b, row, "the sentence is", unc_platform_error(b->platform));
}

/* In the tables: no CPU is like itself, no two are like each other. */
static bool stands_before(const char *one, const char *cpu)
{
	const char *next;

	for (size_t i = 0; (next = cases_cpu(i)) != NULL && strcmp(next, cpu) != 0; i++)
		if (strcmp(next, one) == 0)
			return true;
	return false;
}

/*
 * "like ; CPU": a CPU that shares tables has only examples of what differs; the formulas that are
 * those of the other have theirs.
 */
static void see_alike(struct book *b, const struct cases_row *row)
{
	struct unc_options options = {.size = sizeof(options), .cpu = row->field[1], .sim = ""};
	struct unc_platform *other;
	const struct unc_metric *m, *o;
	unsigned before = b->alike;

	if (row->n != 2 || !stands_before(row->field[1], b->cpu) ||
	    unc_platform_open(&options, &other) != 0) {
		fail(b, row, "no such CPU before this one:", row->field[1]);
		return;
	}
	for (size_t i = 0; (m = unc_metric_get(b->platform, i)) && i < MAX_METRICS; i++)
		for (size_t k = 0; (o = unc_metric_get(other, k)); k++)
			if (strcmp(m->name, o->name) == 0 && strcmp(m->formula, o->formula) == 0 &&
			    m->available == o->available) {
				b->seen[i]++;
				b->alike++;
			}
	unc_platform_close(other);
	if (b->alike == before)
		fail(b, row, "has no metric of", row->field[1]);
}

static void check_row(void *user, const struct cases_row *row)
{
	struct book *b = user;
	int metric = find_metric(b->platform, row->field[0]);

	if (strcmp(row->field[0], "like") == 0) {
		see_alike(b, row);
		return;
	}
	if (metric < 0 || row->n < 4) {
		fail(b, row, "no such metric, or no source", "");
		return;
	}
	b->seen[metric] += strcmp(row->field[2], "none") != 0;
	if (strcmp(row->field[2], "unavailable") == 0)
		check_reason(b, row, unc_metric_get(b->platform, (size_t)metric));
	else if (strcmp(row->field[2], "none") == 0)
		check_none(b, row);
	else
		check_value(b, row, (unsigned)metric);
}

/* Each metric of the CPU must have an example. */
static void check_book(const void *user)
{
	struct book b = {.cpu = user};
	struct unc_options options = {.size = sizeof(options), .cpu = b.cpu, .sim = ""};
	char file[64];
	size_t n = 0;

	snprintf(file, sizeof(file), "metrics/%s.cases", b.cpu);
	CU_ASSERT_FATAL(unc_platform_open(&options, &b.platform) == 0);
	CU_ASSERT_FATAL(cases_read(file, check_row, &b) > 0);
	CHECK_NUMBER(b.failed, 0);
	for (; unc_metric_get(b.platform, n) && n < MAX_METRICS; n++)
		if (!b.seen[n]) {
			printf("# no example of %s\n", unc_metric_get(b.platform, n)->name);
			CU_FAIL("a metric without an example");
		}
	printf("# %s: %u values, %u reasons, %u alike, for %zu metrics\n", file, b.values,
	       b.reasons, b.alike, n);
	CU_ASSERT(n < MAX_METRICS);
	unc_platform_close(b.platform);
}

static void check_files(const void *user)
{
	(void)user;
	CU_ASSERT(cases_cpu(0) != NULL);
	CHECK_NUMBER(cases_of_no_cpu("metrics", ".cases"), 0);
}

static void test_eval_errors(void)
{
	struct unc_platform *p = machine(SNB);
	struct unc_count counts[] = {{"imc.RPQ_INSERTS", 0}, {"imc.WPQ_INSERTS", 0}};
	double value = 4711;

	CU_ASSERT(unc_metric_eval(p, "imc.PCT_RD_REQUESTS", counts, 2, sizeof(*counts), &value) ==
		  UNC_ERR_RANGE);
	CHECK_TEXT(unc_platform_error(p), "imc.PCT_RD_REQUESTS: the denominator is 0");
	CU_ASSERT(unc_metric_eval(p, "imc.PCT_RD_REQUESTS", counts, 1, sizeof(*counts), &value) ==
		  UNC_ERR_NOT_FOUND);
	CHECK_TEXT(unc_platform_error(p), "imc.PCT_RD_REQUESTS needs a count of imc.WPQ_INSERTS");
	CU_ASSERT(unc_metric_eval(p, "imc.PCT_RD", counts, 2, sizeof(*counts), &value) ==
		  UNC_ERR_NOT_FOUND);
	CU_ASSERT(strncmp(unc_platform_error(p), "no metric imc.PCT_RD in sandybridge-ep", 38) ==
		  0);
	struct unc_count read = {"memory_read_bytes", 1};
	CU_ASSERT(unc_metric_eval(p, "uncore_frequency_hz", &read, 1, sizeof(read), &value) ==
		  UNC_ERR_NOT_FOUND);
	read.event = "ubox.UCLK";
	CU_ASSERT(unc_metric_eval(p, "uncore_frequency_hz", &read, 1, sizeof(read), &value) ==
		  UNC_ERR_NOT_FOUND);
	CHECK_TEXT(unc_platform_error(p), "uncore_frequency_hz needs TIME (seconds)");
	CU_ASSERT(value == 4711); /* untouched */
	counts[0].value = 3;
	counts[1].value = 1;
	CU_ASSERT(unc_metric_eval(p, "imc.PCT_RD_REQUESTS", counts, 2, sizeof(*counts), &value) ==
		  0);
	CU_ASSERT(value == 0.75);
	CHECK_TEXT(unc_platform_error(p), "");
	unc_platform_close(p);
}

/* ---- measured */

/* Metrics over all units, one unit, one socket; sum(), mean(), TSC and TIME. */
static void test_metrics(void)
{
	struct unc_platform *p = machine(SNB);
	struct unc_session *s = session(p, UNC_SESSION_ROTATE);
	int one = add(s, "imc3.MEM_BW_READS:socket=1"), unit = add(s, "imc3.MEM_BW_READS"),
	    socket = add(s, "IMC.mem_bw_reads:socket=0"), total = add(s, "imc.MEM_BW_TOTAL"),
	    os = add(s, "pcu.CYC_FREQ_OS_LTD"), hz = add(s, "uncore_frequency_hz"),
	    rpq = add(s, "imc.AVG_RPQ_LATENCY");
	/* workload.tbl, per second: reads and writes of a channel, requests to the LLC of a socket
	 */
	const double reads = (2.7e8 + 0.002e8) / 4, writes = 1.142e8 / 4, t = 0.1,
		     requests = 3.56e8 + 2.7e8 + 1.2e8 + 0.482e8, uclk_hz = 2.7e9, dclk_hz = 0.8e9;
	struct unc_value v[7];

	start(s);
	CHECK_NUMBER(unc_session_passes(s), 1);
	step(p, 100 * ms);
	CU_ASSERT_FATAL(unc_session_read(s, v, 7, sizeof(*v)) == 0);
	CHECK_NEAR(v[one].value, 64 * reads * t, 1e-6);
	CHECK_NEAR(v[unit].value, 2 * 64 * reads * t, 1e-6);
	CHECK_NEAR(v[socket].value, 4 * 64 * reads * t, 1e-6);
	CHECK_NEAR(v[total].value, (8 * reads + 8 * writes) * 64 * t, 1e-6);
	CHECK_NEAR(v[os].value, 0.7, 1e-6); /* of the clocks of both sockets */
	CHECK_NEAR(v[hz].value, uclk_hz, 1e-6);
	CHECK_NEAR(v[rpq].value, 25e-9 * dclk_hz, 1e-5); /* 25 ns */
	unc_session_stop(s);
	unc_session_free(s);
	s = session(p, 0);
	int tsc = add(s, "cbo.AVG_INGRESS_DEPTH"), uclk = add(s, "cbo.AVG_INGRESS_DEPTH_PER_UCLK");
	start(s);
	step(p, 100 * ms);
	CU_ASSERT_FATAL(unc_session_read(s, v, 2, sizeof(*v)) == 0);
	CHECK_NEAR(v[tsc].value, requests / 8 * 5e-9, 1e-5); /* of one CBo */
	CHECK_NEAR(v[uclk].value, requests / 8 * 5e-9, 1e-5);
	unc_session_free(s);
	check_quiet(p);
	unc_platform_close(p);
	p = machine(EMR);
	s = session(p, 0);
	int speed = add(s, "upi.UPI_SPEED");
	start(s);
	step(p, 100 * ms);
	CHECK_NEAR(value_of(s, speed).value, 20, 1e-9); /* GT/s: eight a clock of 2.5 GHz */
	unc_session_free(s);
	unc_platform_close(p);
}

/* ---- what must agree on one machine */

/* One number of one machine, measured by a session of its own: an event or a metric. */
static double measure(struct unc_platform *p, const char *what, bool metric)
{
	struct unc_session *s = session(p, UNC_SESSION_ROTATE);
	int id = metric ? add(s, what) : add(s, what);
	struct unc_value v = {0};

	start(s);
	for (int i = 0; i < unc_session_passes(s); i++) {
		struct unc_value all[MAX_ITEMS];

		if (i)
			CU_ASSERT(turn_pass(s) == 0);
		step(p, 100 * ms);
		CU_ASSERT(unc_session_read(s, all, MAX_ITEMS, sizeof(*all)) == 0);
		v = all[id];
	}
	/* With passes a total stands for the time of all of them. */
	double per_second = v.value * v.share / v.seconds;
	CU_ASSERT(v.flags & UNC_VALUE_VALID);
	unc_session_free(s);
	return metric && strstr(what, "ratio") ? v.value : per_second;
}

static double event(struct unc_platform *p, const char *text)
{
	return measure(p, text, false);
}

static void check_portable(struct unc_platform *p)
{
	struct unc_session *s = session(p, 0);
	int rd = add(s, "memory_read_bytes"), wr = add(s, "memory_write_bytes"),
	    bw = add(s, "memory_bandwidth");
	struct unc_value v[3];
	double ratio = measure(p, "llc_miss_ratio", true);

	start(s);
	step(p, 250 * ms);
	CU_ASSERT(unc_session_read(s, v, 3, sizeof(*v)) == 0);
	CHECK_NEAR(v[bw].value * v[bw].seconds, v[rd].value + v[wr].value, 1e-9);
	CU_ASSERT(v[rd].value > 0 && v[wr].value > 0);
	unc_session_free(s);
	CU_ASSERT(ratio > 0 && ratio < 1);
	CHECK_NEAR(ratio, measure(p, "llc_misses", true) / measure(p, "llc_lookups", true), 1e-3);
	ratio = measure(p, "dram_page_hit_ratio", true);
	CU_ASSERT(ratio > 0 && ratio < 1);
	ratio = measure(p, "remote_access_ratio", true);
	CU_ASSERT(ratio > 0 && ratio < 1);
	/* What one socket sends the other receives. */
	CHECK_NEAR(measure(p, "link_tx_bytes:socket=0", true),
		   measure(p, "link_rx_bytes:socket=1", true), 1e-6);
	CHECK_NEAR(measure(p, "link_tx_bytes:socket=1", true),
		   measure(p, "link_rx_bytes:socket=0", true), 1e-6);
	CHECK_NEAR(measure(p, "memory_read_bytes", true),
		   measure(p, "memory_read_bytes:socket=0", true) +
			   measure(p, "memory_read_bytes:socket=1", true),
		   1e-6);
}

static void test_snb_agrees(void)
{
	struct unc_platform *p = machine(SNB);
	double reads = measure(p, "memory_read_bytes", true) / 64,
	       writes = measure(p, "memory_write_bytes", true) / 64;

	check_portable(p);
	CHECK_NEAR(reads, event(p, "ha.REQUESTS:READS"), 0.01);
	CHECK_NEAR(writes, event(p, "ha.REQUESTS:WRITES"), 0.01);
	CHECK_NEAR(reads, event(p, "cbo.LLC_LOOKUP:DATA_READ:state=0x1"), 0.01);
	CHECK_NEAR(reads, event(p, "imc.RPQ_INSERTS"), 0.01);
	/* Written to memory: modified victims, streaming stores, PCIe past the LLC. */
	CHECK_NEAR(writes,
		   event(p, "cbo.LLC_VICTIMS:M_STATE") +
			   event(p, "cbo.TOR_INSERTS:OPCODE:opc=WCiLF") +
			   event(p, "cbo.TOR_INSERTS:OPCODE:opc=WCiL") +
			   event(p, "cbo.TOR_INSERTS:OPCODE:opc=PCIWiLF"),
		   0.01);
	/* A data response is 8 data flits of 8 bytes. */
	CHECK_NEAR(measure(p, "link_rx_bytes", true), measure(p, "qpi.DATA_FROM_QPI", true), 0.01);
	check_quiet(p);
	unc_platform_close(p);
}

static void test_ivb_agrees(void)
{
	struct unc_platform *p = machine("ivybridge-ep,clock=step");
	double reads = measure(p, "memory_read_bytes", true) / 64,
	       writes = measure(p, "memory_write_bytes", true) / 64;

	check_portable(p);
	CHECK_NEAR(reads, event(p, "ha.REQUESTS:READS"), 0.01);
	CHECK_NEAR(writes, event(p, "ha.REQUESTS:WRITES"), 0.01);
	CHECK_NEAR(reads,
		   event(p, "ha.REQUESTS:READS_LOCAL") + event(p, "ha.REQUESTS:READS_REMOTE"),
		   0.01);
	CHECK_NEAR(reads, event(p, "ha.IMC_READS:NORMAL"), 0.01);
	CHECK_NEAR(writes, event(p, "ha.IMC_WRITES:ALL"), 0.01);
	CHECK_NEAR(reads, event(p, "cbo.LLC_LOOKUP:DATA_READ:state=0x1"), 0.01);
	CHECK_NEAR(reads, event(p, "imc.RPQ_INSERTS"), 0.01);
	CHECK_NEAR(writes,
		   event(p, "cbo.LLC_VICTIMS:M_STATE") +
			   event(p, "cbo.TOR_INSERTS:OPCODE:opc=WCiLF") +
			   event(p, "cbo.TOR_INSERTS:OPCODE:opc=WCiL") +
			   event(p, "cbo.TOR_INSERTS:OPCODE:opc=PCIWiLF"),
		   0.01);
	CHECK_NEAR(measure(p, "link_rx_bytes", true), measure(p, "qpi.DATA_FROM_QPI", true), 0.01);
	CHECK_NEAR(measure(p, "pcie_read_bytes", true), 64 * event(p, "irp.TRANSACTIONS:READS"),
		   0.01);
	CHECK_NEAR(measure(p, "pcie_write_bytes", true), 64 * event(p, "irp.TRANSACTIONS:WRITES"),
		   0.01);
	CHECK_NEAR(event(p, "cbo.TOR_INSERTS:MISS_OPCODE:opc=DRd"),
		   event(p, "cbo.TOR_INSERTS:MISS_LOCAL_OPCODE:opc=DRd") +
			   event(p, "cbo.TOR_INSERTS:MISS_REMOTE_OPCODE:opc=DRd"),
		   0.001);
	check_quiet(p);
	unc_platform_close(p);
}

static void test_emr_agrees(void)
{
	struct unc_platform *p = machine(EMR);
	double reads = event(p, "imc.CAS_COUNT:RD"), writes = event(p, "imc.CAS_COUNT:WR");

	check_portable(p);
	CHECK_NEAR(reads, event(p, "m2m.IMC_READS:ALL"), 0.01);
	CHECK_NEAR(writes, event(p, "m2m.IMC_WRITES:ALL"), 0.01);
	CHECK_NEAR(measure(p, "memory_read_bytes", true), reads * 64, 1e-6);
	/* Requests that the home agents pass on */
	CHECK_NEAR(reads, event(p, "cha.IMC_READS_COUNT:NORMAL"), 0.01);
	/* Devices: lines in the TOR are bytes of the stacks. */
	CHECK_NEAR(measure(p, "pcie_read_bytes", true),
		   event(p, "cha.TOR_INSERTS:IO_PCIRDCUR") * 64, 0.01);
	CHECK_NEAR(measure(p, "pcie_write_bytes", true),
		   (event(p, "cha.TOR_INSERTS:IO_ITOM") +
		    event(p, "cha.TOR_INSERTS:IO_ITOMCACHENEAR")) *
			   64,
		   0.01);
	check_quiet(p);
	unc_platform_close(p);
}

/* Xeon Max: what the home agents pass on goes to DDR and to HBM, where a line is two column accesses. */
static void test_spr_agrees(void)
{
	struct unc_platform *p = machine("sapphire-rapids,clock=step");
	double reads = measure(p, "memory_read_bytes", true) / 64,
	       writes = measure(p, "memory_write_bytes", true) / 64,
	       hbm = event(p, "mchbm.CAS_COUNT:RD") / 2;

	check_portable(p);
	CHECK_NEAR(reads, event(p, "imc.CAS_COUNT:RD") + hbm, 1e-6);
	CHECK_NEAR(hbm, event(p, "m2hbm.IMC_READS:ALL"), 0.01);
	CHECK_NEAR(reads, event(p, "m2m.IMC_READS:ALL") + event(p, "m2hbm.IMC_READS:ALL"), 0.01);
	CHECK_NEAR(writes, event(p, "m2m.IMC_WRITES:ALL") + event(p, "m2hbm.IMC_WRITES:ALL"), 0.01);
	CHECK_NEAR(reads, event(p, "cha.IMC_READS_COUNT:NORMAL"), 0.01);
	CHECK_NEAR(measure(p, "mchbm.MEM_BW_TOTAL", true) + measure(p, "imc.MEM_BW_TOTAL", true),
		   (reads + writes) * 64, 1e-3);
	check_quiet(p);
	unc_platform_close(p);
}

int main(void)
{
	static const struct suite_test tests[] = {
		{"errors", test_eval_errors},
		{"measured", test_metrics},
		{"Sandy Bridge-EP agrees with itself", test_snb_agrees},
		{"Emerald Rapids agrees with itself", test_emr_agrees},
		{"Sapphire Rapids agrees with itself", test_spr_agrees},
		{"Ivy Bridge-EP agrees with itself", test_ivb_agrees},
		{NULL, NULL},
	};

	const char *cpu;

	suite_add(check_files, NULL, "every file of examples is of a CPU");
	for (size_t i = 0; (cpu = cases_cpu(i)) != NULL; i++)
		suite_add(check_book, cpu, "examples of %s", cpu);
	return suite_run("metrics, worked", tests);
}
