/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * told=PATH: what a traffic generator has moved on a simulated machine. What has to come out is
 * what was told: bytes of memory at the socket that has it, lines of 64 bytes in the LLC of the
 * socket whose threads asked, bytes on the links at both ends, and nothing elsewhere. A unit shows
 * whole counts only.
 */
#include <math.h>
#include <sys/mman.h>
#include <unistd.h>

#include "built.h"
#include "cases.h"
#include "session_kit.h"

static const double moved = 6.4e9; /* bytes, in a second */

struct told {
	int fd;
	struct unc_platform *p;
};

static void tell(const struct told *t, const char *text)
{
	CU_ASSERT_FATAL(write(t->fd, text, strlen(text)) == (ssize_t)strlen(text));
}

/* A machine that is told `text` before it is opened; NULL: it cannot be. */
static struct told open_told(const char *cpu, const char *options, const char *text)
{
	struct unc_options o = {.size = sizeof(o)};
	struct told t = {.fd = memfd_create("told", MFD_CLOEXEC)};
	char sim[128];

	CU_ASSERT_FATAL(t.fd >= 0);
	tell(&t, text);
	snprintf(sim, sizeof(sim), "%s,told=/proc/self/fd/%d%s", cpu, t.fd, options);
	o.sim = sim;
	if (unc_platform_open(&o, &t.p) < 0)
		t.p = NULL;
	return t;
}

static void close_told(struct told *t)
{
	if (t->p)
		unc_platform_close(t->p);
	close(t->fd);
}

/* A metric of a socket while something is told; NAN: it has none. */
static double counted(const struct told *t, const char *metric, int socket, const char *text)
{
	struct unc_session *s = session(t->p, 0);
	struct unc_value v = {0};
	char item[96];
	int id;

	snprintf(item, sizeof(item), "%s:socket=%d", metric, socket);
	if (unc_session_add(s, item, &id) == 0 && unc_session_passes(s) == 1) {
		start(s);
		tell(t, text);
		CU_ASSERT(unc_session_read(s, &v, 1, sizeof(v)) == 0);
	}
	unc_session_free(s);
	return v.flags & UNC_VALUE_VALID ? v.value : NAN;
}

/* ---- on every CPU, what was told and nothing else */

/* What is told in the second, and shares of the bytes at socket 0 and 1, of a metric times so
 * many bytes. */
static const struct {
	const char *line, *metric;
	double bytes, at[2];
} flows[] = {
	{"1000000000 0 0 6400000000 0\n", "memory_read_bytes", 1, {1, 0}},
	{"1000000000 0 0 6400000000 0\n", "memory_write_bytes", 1, {0, 0}},
	{"1000000000 0 0 6400000000 0\n", "llc_lookups", 64, {1, 0}},
	{"1000000000 0 0 6400000000 0\n", "llc_misses", 64, {1, 0}},
	{"1000000000 0 0 6400000000 0\n", "link_tx_bytes", 1, {0, 0}},
	{"1000000000 0 0 6400000000 0\n", "link_rx_bytes", 1, {0, 0}},
	{"1000000000 0 0 6400000000 0\n", "pcie_write_bytes", 1, {0, 0}},
	{"1000000000 0 1 6400000000 0\n", "memory_read_bytes", 1, {0, 1}},
	{"1000000000 0 1 6400000000 0\n", "memory_write_bytes", 1, {0, 0}},
	{"1000000000 0 1 6400000000 0\n", "link_tx_bytes", 1, {0, 1}},
	{"1000000000 0 1 6400000000 0\n", "link_rx_bytes", 1, {1, 0}},
	{"1000000000 1 1 0 6400000000\n", "memory_write_bytes", 1, {0, 1}},
	{"1000000000 1 1 0 6400000000\n", "memory_read_bytes", 1, {0, 0}},
	{"1000000000 1 0 0 6400000000\n", "memory_write_bytes", 1, {1, 0}},
	{"1000000000 1 0 0 6400000000\n", "link_tx_bytes", 1, {0, 1}},
	{"1000000000 1 0 0 6400000000\n", "link_rx_bytes", 1, {1, 0}},
	{"1000000000 1 1 0 0 6400000000\n", "pcie_write_bytes", 1, {0, 1}},
	{"1000000000 1 1 0 0 6400000000\n", "pcie_read_bytes", 1, {0, 0}},
	{"1000000000 1 1 0 0 6400000000\n", "memory_read_bytes", 1, {0, 0}},
	{"0 0 0 3200000000 0\n1000000000 1 0 3200000000 0\n", "memory_read_bytes", 1, {1, 0}},
	{"500000000 0 0 3200000000 0\n500000000 0 1 3200000000 0\n",
	 "memory_read_bytes",
	 1,
	 {0.5, 0.5}},
	{"1000000000 0 0 0 0\n", "memory_read_bytes", 1, {0, 0}},
};

static void conserved(const void *cpu)
{
	struct told t = open_told(cpu, ",sockets=2,load=0", "");
	unsigned seen = 0;

	CU_ASSERT_FATAL(t.p != NULL);
	for (size_t i = 0; i < sizeof(flows) / sizeof(flows[0]); i++)
		for (int socket = 0; socket < 2; socket++) {
			double want = moved * flows[i].at[socket],
			       is = flows[i].bytes *
				    counted(&t, flows[i].metric, socket, flows[i].line);

			if (isnan(is))
				continue;
			seen++;
			if (fabs(is - want) > 1e-6 * moved)
				printf("# %s of socket %d: %g, not %g: %s", flows[i].metric, socket,
				       is, want, flows[i].line);
			CU_ASSERT(fabs(is - want) <= 1e-6 * moved);
		}
	printf("# %u values\n", seen);
	CU_ASSERT(seen >= 2 * 12);
	check_quiet(t.p);
	close_told(&t);
}

/* Ratios stay in their range, and clocks what they are, whatever is moved. */
static void ratios(const void *cpu)
{
	struct told t = open_told(cpu, ",sockets=2,load=0", "");
	const char *local = "1000000000 0 0 6400000000 640000000\n",
		   *remote = "1000000000 0 1 6400000000 640000000\n";
	double latency = counted(&t, "memory_read_latency_ns", 0, local),
	       pages = counted(&t, "dram_page_hit_ratio", 0, local),
	       clock = counted(&t, "uncore_frequency_hz", 0, local),
	       near = counted(&t, "remote_access_ratio", 0, local),
	       far = counted(&t, "remote_access_ratio", 0, remote);

	CU_ASSERT(latency >= 20 && latency <= 2000);
	CU_ASSERT(pages >= 0 && pages <= 1);
	CHECK_NEAR(clock, counted(&t, "uncore_frequency_hz", 0, "1000000000 0 0 0 0\n"), 1e-6);
	CU_ASSERT(isnan(near) || (near >= 0 && near < 0.35 && far > 0.65 && far <= 1));
	close_told(&t);
}

/* ---- beside a load, by the kernel, over time */

static void beside(void)
{
	struct told t = open_told("skylake-sp", ",load=0.5", "");
	const char *idle = "1000000000 0 0 0 0\n", *reads = "1000000000 0 0 6400000000 0\n";
	double before = counted(&t, "memory_read_bytes", 0, idle);

	CU_ASSERT(before > 0);
	CHECK_NEAR(counted(&t, "memory_read_bytes", 0, reads), before + moved, 1e-6);
	CHECK_NEAR(counted(&t, "memory_read_bytes", 0, idle), before, 1e-6);
	close_told(&t);
	t = open_told("emerald-rapids", ",load=0,kernel=on,rights=perf", "");
	CHECK_NEAR(counted(&t, "memory_read_bytes", 0, reads), moved, 1e-6);
	close_told(&t);
	t = open_told("skylake-sp", ",load=live,seed=3", "");
	CU_ASSERT(counted(&t, "memory_read_bytes", 0, reads) > moved);
	close_told(&t);
}

/* One half of the channels is the first node's, the other one the second's: 8 of Emerald Rapids,
 * 64 bytes a count. Without a node a line is on all of them, and so is what other units count. */
static void nodes(void)
{
	static const struct {
		const char *line;
		double at[2];
	} lines[] = {{"1000000000 0 0 6400000000 0 0 1\n", {25e6, 0}},
		     {"1000000000 1 0 6400000000 0 0 2\n", {0, 25e6}},
		     {"1000000000 0 0 6400000000 0 0 0\n", {12.5e6, 12.5e6}},
		     {"1000000000 0 0 6400000000 0\n", {12.5e6, 12.5e6}}};
	struct told t = open_told("emerald-rapids", ",load=0,split=imc", "");

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		CU_ASSERT(fabs(counted(&t, "imc3.CAS_COUNT:RD", 0, lines[i].line) -
			       lines[i].at[0]) < 100);
		CU_ASSERT(fabs(counted(&t, "imc4.CAS_COUNT:RD", 0, lines[i].line) -
			       lines[i].at[1]) < 100);
		CHECK_NEAR(counted(&t, "memory_read_bytes", 0, lines[i].line), moved, 1e-6);
	}
	CHECK_NEAR(counted(&t, "llc_misses", 0, lines[0].line), moved / 64, 1e-6);
	close_told(&t);
}

static uint64_t now_of(const struct told *t)
{
	return unc_sim_time(unc_machine_sim(t->p->machine));
}

static void clock_moves(void)
{
	struct told t = open_told("skylake-sp", "", "7 0 0 0 0\n");

	CU_ASSERT_FATAL(t.p != NULL);
	CHECK_NUMBER(now_of(&t), 7);
	tell(&t, "0 0 0 64 0\n3 0 1 64");
	CHECK_NUMBER(now_of(&t), 7);
	tell(&t, " 0 64\n5 1 1 0 0\n");
	CHECK_NUMBER(now_of(&t), 15);
	for (int i = 0; i < 1000; i++) /* more than is read at once */
		tell(&t, "1000 1 1 1000000 1000000 1000000\n");
	CHECK_NUMBER(now_of(&t), 1000015);
	close_told(&t);
}

/* ---- lines that are none */

static void malformed(void)
{
	static const char want[] =
		"told=: line 1 is not NS SOCKET HOME READ WRITTEN [PCIE [NODE]]: \"%s\"";
	static const char *const lines[] = {
		"1 0 0 0", "1 0 0 0 0 0 0 0", "1 0 0 0 x",  "1 0 0 -1 0",
		"",        "1  0 0 0 0",      "1 0 0 0 0 ", "1 0 0 0x10 0",
		"nothing", "1 0 0 0 1.5",     "1,0 0 0 0",  "1 0 0 99999999999999999999 0"};
	char text[160], told[64];

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		snprintf(told, sizeof(told), "%s\n", lines[i]);
		struct told t = open_told("skylake-sp", "", told);

		CU_ASSERT(t.p == NULL);
		snprintf(text, sizeof(text), want, lines[i]);
		if (!strstr(unc_open_error(), text))
			printf("# %s\n", unc_open_error());
		CU_ASSERT(strstr(unc_open_error(), text) != NULL);
		close_told(&t);
	}
	struct told t = open_told("skylake-sp", "", "1 0 2 0 0\n");

	CU_ASSERT(t.p == NULL);
	CU_ASSERT(strstr(unc_open_error(), "told=: line 1: this machine has the sockets 0 to 1") !=
		  NULL);
	close_told(&t);
	t = open_told("skylake-sp", "", "1 0 1 0 0 0 3\n");
	CU_ASSERT(t.p == NULL);
	CU_ASSERT(strstr(unc_open_error(), "told=: line 1: a socket has the nodes 1 to 1") != NULL);
	close_told(&t);
}

/* While a session counts: it has no numbers from there on, and no new one begins. */
static void malformed_later(void)
{
	struct told t = open_told("skylake-sp", "", "");
	struct unc_session *s = session(t.p, 0), *next = session(t.p, 0);
	struct unc_value v = {0};

	add(s, "memory_read_bytes:socket=0");
	add(next, "memory_read_bytes:socket=1");
	start(s);
	tell(&t, "1000 0 0 6400 0\n1000 0 0 6400\n1000 0 0 6400 0\n");
	int rc = unc_session_read(s, &v, 1, sizeof(v));

	CU_ASSERT(rc < 0 || !(v.flags & UNC_VALUE_VALID));
	CHECK_NUMBER(now_of(&t), 1000);
	CU_ASSERT(unc_session_start(next) < 0);
	if (!strstr(unc_session_error(next), "told=: line 2 is not NS SOCKET HOME"))
		printf("# %s\n", unc_session_error(next));
	CU_ASSERT(strstr(unc_session_error(next), "told=: line 2 is not NS SOCKET HOME") != NULL);
	unc_session_free(next);
	unc_session_free(s);
	close_told(&t);
}

static void refused(void)
{
	static const struct {
		const char *sim, *text;
	} bad[] = {
		{"skylake-sp,told=/nowhere/at/all",
		 "told=/nowhere/at/all: No such file or directory"},
		{"skylake-sp,told=/dev", "told=/dev: not a file"},
		{"skylake-sp,clock=step,told=/dev/null", "told=/dev/null: not a file"},
	};
	struct unc_options o = {.size = sizeof(o)};
	struct unc_platform *p;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		o.sim = bad[i].sim;
		CU_ASSERT(unc_platform_open(&o, &p) < 0);
		CU_ASSERT(strstr(unc_open_error(), bad[i].text) != NULL);
	}
	struct told t = open_told("skylake-sp", ",clock=wait", "");

	CU_ASSERT(t.p == NULL);
	CU_ASSERT(strstr(unc_open_error(), "clock= cannot be given") != NULL);
	close_told(&t);
}

/* ---- machines that are wrong on purpose */

static void wrong(void)
{
	const char *reads = "1000000000 0 0 6400000000 0\n";
	struct told t = open_told("skylake-sp", ",load=0,twice=imc0", "");

	CHECK_NEAR(counted(&t, "memory_read_bytes", 0, reads), moved * 7 / 6, 1e-6);
	close_told(&t);
	t = open_told("skylake-sp", ",load=0,exchanged=imc", "");
	CHECK_NEAR(counted(&t, "memory_read_bytes", 1, reads), moved, 1e-6);
	CU_ASSERT(counted(&t, "memory_read_bytes", 0, reads) == 0);
	close_told(&t);
}

int main(void)
{
	static const struct suite_test tests[] = {
		{"beside a load, and by the kernel", beside},
		{"nodes of a socket", nodes},
		{"the clock moves by the lines alone", clock_moves},
		{"lines that are none", malformed},
		{"lines that are none, later", malformed_later},
		{"what cannot be told", refused},
		{"machines that are wrong on purpose", wrong},
		{NULL, NULL},
	};
	size_t n;
	const struct unc_table *const *tables = built_tables(&n);

	for (size_t i = 0; i < n; i++) {
		const char *cpu = unc_tbl_str(tables[i], tables[i]->name);

		if (strcmp(cpu, "montecito") ==
		    0) /* nobody can tell it anything: no memory controller */
			continue;
		suite_add(conserved, cpu, "%s: what was told, where it was, and no more", cpu);
		suite_add(ratios, cpu, "%s: ratios and clocks", cpu);
	}
	return suite_run("sim_told", tests);
}
