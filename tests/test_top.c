/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The command top: frames of simulated machines, where time passes only as the test says. What these do in
 * a second is in eventtables/CPU/workload.tbl.
 */
#include <stdatomic.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/tool/record.h"
#include "common/tool/top.h"
#include "suite.h"

static _Atomic uint64_t clock_ns = 1000000000000000;

int clock_gettime(clockid_t id, struct timespec *ts)
{
	uint64_t ns = atomic_load(&clock_ns);

	(void)id;
	*ts = (struct timespec){(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
	return 0;
}

/* ---- frames */

static char out[1 << 16];
static struct unc_platform *platform;
static struct top top;

/* A frame of a terminal of so many columns; a terminal alone has escape codes. */
static const char *frame(const char *columns, bool terminal, bool unicode)
{
	struct top_screen screen = {.terminal = terminal, .unicode = unicode};
	FILE *file = tmpfile();
	int kept;

	CU_ASSERT_FATAL(file != NULL);
	setenv("COLUMNS", columns, 1);
	fflush(stdout);
	kept = dup(STDOUT_FILENO);
	dup2(fileno(file), STDOUT_FILENO);
	CU_ASSERT(top_draw(&top, &screen));
	dup2(kept, STDOUT_FILENO);
	close(kept);
	rewind(file);
	out[fread(out, 1, sizeof(out) - 1, file)] = '\0';
	fclose(file);
	return out;
}

/* Whether a frame has such a line, up to its end. */
static bool has_line(const char *line)
{
	char *with = malloc(strlen(line) + 3);
	bool found;

	sprintf(with, "\n%s\n", line);
	found = strstr(out, with) != NULL;
	if (!found)
		printf("# no line '%s' in: %.400s\n", line, out);
	free(with);
	return found;
}

static size_t count_of(const char *part)
{
	size_t n = 0;

	for (const char *p = out; (p = strstr(p, part)) != NULL; p += strlen(part))
		n++;
	return n;
}

/* Letters of the longest line. */
static size_t widest(void)
{
	size_t most = 0, at = 0;

	for (const char *p = out; *p; p++) {
		at = *p == '\n' ? 0 : at + (((unsigned char)*p & 0xc0) != 0x80);
		most = at > most ? at : most;
	}
	return most;
}

static void open_machine(const char *sim)
{
	struct unc_options options = {.size = sizeof(options), .sim = sim};

	CU_ASSERT_FATAL(unc_platform_open(&options, &platform) == 0);
}

static void start(const char *sim, const char *group)
{
	size_t index;

	open_machine(sim);
	top = (struct top){.group = NULL};
	CU_ASSERT_FATAL(unc_group_find(platform, group, &index) == 0);
	CU_ASSERT_FATAL(top_open(&top, platform, index) == NULL);
	CU_ASSERT_FATAL(unc_session_start(top.series.session) == 0);
}

static void stop(void)
{
	CU_ASSERT(unc_session_stop(top.series.session) == 0);
	top_close(&top);
	unc_platform_close(platform);
}

static void pass(double seconds)
{
	atomic_fetch_add(&clock_ns, (uint64_t)(1e9 * seconds));
	CU_ASSERT_FATAL(top_read(&top) == 0);
	CU_ASSERT_PTR_NULL(series_lost(&top.series));
}

/* Emerald Rapids, a socket in a second: 15.5355e8 lines of 64 bytes read, 99.43 GB, of 307.2 (8 channels of 4800 MT/s). */
static void test_frame(void)
{
	start("emerald-rapids,memory=4800", "OVERVIEW");
	pass(1);
	frame("80", false, false);
	CU_ASSERT(strncmp(out,
			  "uncore top  SIMULATED emerald-rapids, 2 sockets, OVERVIEW  1.000 s  ",
			  68) == 0);
	CU_ASSERT(has_line("memory_read_bytes:socket=0     99.43 GB/s  [||||||||                ]\n"
			   "    32.4 % of 307.2 GB/s"));
	CU_ASSERT(has_line(
		"memory_read_bytes:socket=1     99.43 GB/s  [||||||||                ]  32.4 %"));
	CU_ASSERT(
		has_line("llc_miss_ratio:socket=1            0.6192  [|||||||||||||||         ]"));
	CU_ASSERT(count_of(":socket=") == 24);
	CU_ASSERT(count_of("\033") == 0);
	frame("120", false, true);
	CU_ASSERT(has_line("memory_read_bytes:socket=1     99.43 GB/s  [███████▊                ]"
			   "                                         ▃  32.4 %"));
	stop();
}

static void test_sizes(void)
{
	static const char *const columns[] = {"60", "80", "100", "132", "200", "1000"};
	static const char *const groups[] = {"OVERVIEW", "MEM", "PCIE"};

	for (size_t g = 0; g < 3; g++) {
		start("emerald-rapids-devices,memory=4800", groups[g]);
		pass(1);
		for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
			for (int unicode = 0; unicode < 2; unicode++) {
				frame(columns[i], false, unicode);
				CU_ASSERT(widest() <= (size_t)atoi(columns[i]));
			}
		stop();
	}
}

static void test_terminal(void)
{
	start("emerald-rapids", "OVERVIEW");
	frame("80", true, false);
	CU_ASSERT_PTR_NULL(strstr(out, "memory_")); /* nothing was measured yet */
	pass(1);
	frame("80", true, false);
	size_t n = strlen(out);

	CU_ASSERT(strncmp(out, "\033[Huncore top", 13) == 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(out, "\n1 OVERVIEW  2 MEM  "));
	CU_ASSERT(n > 6 && strcmp(out + n - 6, "\033[K\033[J") == 0);
	for (const char *p = out; (p = strchr(p, '\n')) != NULL;
	     p++) /* the rest of each line is cleared */
		CU_ASSERT(p - out > 3 && strncmp(p - 3, "\033[K", 3) == 0);
	stop();
}

/* A letter for each second, the last minute of them, whatever the interval is. */
static void test_past(void)
{
	start("emerald-rapids", "LINK");
	for (int i = 0; i < 12; i++)
		pass(0.25);
	frame("160", false, false);
	CU_ASSERT(count_of(" 9999\n") == 4); /* of the busiest; link_utilization is a share */
	for (int i = 0; i < 100; i++)
		pass(1);
	frame("160", false, false);
	CU_ASSERT(count_of("]  999999999999999999999999999999999999999999999999999999999999\n") ==
		  4);
	stop();
}

/* Of 8 sockets each has a line. */
static void test_sockets(void)
{
	start("emerald-rapids,sockets=8", "OVERVIEW");
	pass(1);
	frame("80", false, false);
	CU_ASSERT(count_of("memory_read_bytes:socket=") == 8);
	CU_ASSERT(count_of("   99.43 GB/s  [||||||||||||||||||||||||]\n") == 8);
	stop();
}

/* Of each of 8 channels an eighth, by MEM, with no counter of its own. */
static void test_channels(void)
{
	start("emerald-rapids", "MEM");
	CU_ASSERT(unc_session_passes(top.series.session) == 1);
	pass(1);
	frame("80", false, false);
	CU_ASSERT(count_of("memory_read_bytes:unit=") == 16);
	CU_ASSERT(count_of("   12.43 GB/s  [||||") == 16);
	stop();
}

/* Of 0.6 and 0.4 of a stack's 0.625 and 0.72 GB/s (workload.tbl: 5 and 5.76 GB/s of a socket, on 8 stacks) the busier device comes first. */
static void test_devices(void)
{
	const char *more;

	start("emerald-rapids-devices", "PCIE");
	pass(1);
	frame("200", false, false);
	more = strstr(out, "(mlx5_0 eth0 ");
	CU_ASSERT_PTR_NOT_NULL_FATAL(more);
	CU_ASSERT_PTR_NOT_NULL(strstr(out, " 432.00 MB/s "));
	CU_ASSERT_PTR_NOT_NULL(strstr(strstr(out, " 432.00 MB/s "), " 288.00 MB/s "));
	CU_ASSERT_PTR_NOT_NULL(strstr(more, "of gen5 x4 (nvme"));
	stop();
}

/* A group that the machine does not have says why, and nothing is left open. */
static void test_no_page(void)
{
	size_t index;
	char *why;

	open_machine("sandybridge-ep");
	top = (struct top){.group = NULL};
	CU_ASSERT_FATAL(unc_group_find(platform, "CXL", &index) == 0);
	why = top_open(&top, platform, index);
	CU_ASSERT_PTR_NOT_NULL_FATAL(why);
	CU_ASSERT(strncmp(why, "group CXL: ", 11) == 0);
	free(why);
	top_close(&top);
	why = top_open(&top, platform, 8);
	CU_ASSERT_PTR_NOT_NULL_FATAL(why);
	CU_ASSERT_STRING_EQUAL(why, "there is no group 9");
	free(why);
	top_close(&top);
	unc_platform_close(platform);
}

/* A mark is a letter in each line that has it, and one line for all. */
static void test_marks(void)
{
	start("sandybridge-ep-no-imc3@1", "OVERVIEW");
	pass(1);
	frame("200", false, false);
	CU_ASSERT(count_of(" *\n") == 3); /* read, write, bandwidth of socket 1 */
	CU_ASSERT(count_of("\n* of fewer units: memory_read_bytes:socket=1 (and 2 more): 3 of 4 "
			   "units: imc3 (socket 1): ") == 1);
	top.series.number[0].mark[DOUBTS + 1] = top.series.number[3].mark[DOUBTS + 1] = true;
	top.series.number[4].mark[SCALED] = true;
	top.series.number[4].share = 0.5;
	frame("200", false, false);
	CU_ASSERT(count_of(" * !\n") == 1 && count_of(" !\n") == 2);
	CU_ASSERT(count_of("\n! late: memory_read_bytes:socket=0 (and 1 more): ") == 1);
	CU_ASSERT(count_of("\n~ scaled: memory_bandwidth:socket=0: measured 50 % of the time\n") ==
		  1);
	stop();
}

/* What is 0 is a number, in one line for all; a ratio of nothing has none. */
static void test_idle(void)
{
	start("emerald-rapids,load=0", "OVERVIEW");
	pass(1);
	frame("80", false, false);
	CU_ASSERT(count_of("\nmemory_read_bytes") == 0);
	CU_ASSERT(count_of("\nwithout traffic: memory_read_bytes:socket=0 (and 17 more)\n") == 1);
	CU_ASSERT(count_of("\n- no value: llc_miss_ratio:socket=0 (and 1 more): ") == 1);
	CU_ASSERT(count_of("\nllc_miss_ratio:socket=0              -\n") == 1);
	stop();
}

int main(void)
{
	static const struct suite_test tests[] = {
		{"a frame", test_frame},
		{"any width of the terminal", test_sizes},
		{"escape codes", test_terminal},
		{"the last minute", test_past},
		{"8 sockets", test_sockets},
		{"channels", test_channels},
		{"devices, the busiest first", test_devices},
		{"a group that is not there", test_no_page},
		{"marks", test_marks},
		{"an idle machine", test_idle},
		{NULL, NULL},
	};

	return suite_run("top", tests);
}
