/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The command top: frames of numbers that the test makes up, letter by letter; and what it measures
 * on a simulated machine, where time passes only as the test says. What the simulated machines do in
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

/* What top_draw() writes. */
static const char *drawn(const struct top_view *v, const struct top_screen *s)
{
	FILE *file = tmpfile();
	int kept;

	CU_ASSERT_FATAL(file != NULL);
	fflush(stdout);
	kept = dup(STDOUT_FILENO);
	dup2(fileno(file), STDOUT_FILENO);
	CU_ASSERT(top_draw(v, s));
	dup2(kept, STDOUT_FILENO);
	close(kept);
	rewind(file);
	out[fread(out, 1, sizeof(out) - 1, file)] = '\0';
	fclose(file);
	return out;
}

static bool same(const char *got, const char *wanted)
{
	if (strcmp(got, wanted) != 0)
		printf("# got:\n%s\n# wanted:\n%s\n", got, wanted);
	return strcmp(got, wanted) == 0;
}

static size_t letters(const char *text, size_t n)
{
	size_t count = 0;

	for (size_t i = 0; i < n; i++)
		count += ((unsigned char)text[i] & 0xc0) != 0x80;
	return count;
}

/* Lines of a frame without escape codes; those that are longer than `width` fail. */
static int lines_within(const char *text, size_t width)
{
	int lines = 0;

	for (size_t n; *text; text += n + (text[n] != '\0'), lines++) {
		n = strcspn(text, "\n");
		CU_ASSERT(letters(text, n) <= width);
	}
	return lines;
}

enum { READ, WRITE, ALL, MISS, LINK, COLUMNS };

static const struct unc_metric metrics[COLUMNS] = {
	{.name = "memory_read_bytes", .unit = "bytes", .kind = UNC_METRIC_TOTAL},
	{.name = "memory_write_bytes", .unit = "bytes", .kind = UNC_METRIC_TOTAL},
	{.name = "memory_bandwidth", .unit = "bytes_per_second", .kind = UNC_METRIC_GAUGE},
	{.name = "llc_miss_ratio", .unit = "ratio", .kind = UNC_METRIC_GAUGE},
	{.name = "link_tx_bytes", .unit = "bytes", .kind = UNC_METRIC_TOTAL},
};

/* Two sockets with two channels each, and what the view points to. */
struct made_up {
	struct number number[3 * COLUMNS + 2 * 4];
	size_t column[COLUMNS];
	struct top_channel channel[4];
	struct top_view view;
};

static struct number number(double value)
{
	return (struct number){.valid = true, .value = value, .seconds = 1};
}

static struct number of_channel(int i, double value)
{
	struct number n = number(value);

	n.item.units_of = "imc";
	n.item.at = (struct unc_target){.socket = i / 2, .index = i % 2};
	return n;
}

static struct made_up *make_up(void)
{
	static const double gb[3][COLUMNS] = {{30e9, 10e9, 40e9, 0.25, 1e9},
					      {15e9, 5e9, 20e9, 0.5, 2e9},
					      {45e9, 15e9, 60e9, 0.375, 3e9}};
	static struct made_up m;

	memset(&m, 0, sizeof(m));
	for (size_t i = 0; i < COLUMNS; i++) {
		m.column[i] = 3 * i;
		for (size_t row = 0; row < 3; row++) {
			struct number *n = &m.number[3 * i + row];

			*n = number(gb[row][i]);
			n->item.metric = &metrics[i];
			strcpy(n->item.base, metrics[i].name);
		}
	}
	for (int i = 0; i < 4; i++) {
		size_t at = 3 * COLUMNS + 2 * (size_t)i;

		m.channel[i] = (struct top_channel){at, at + 1};
		m.number[at] = of_channel(i, i < 2 ? 15e9 : 7.5e9);
		m.number[at + 1] = of_channel(i, i < 2 ? 5e9 : 2.5e9);
	}
	m.view = (struct top_view){.machine = "made-up",
				   .clock = "12:34:56",
				   .seconds = 1,
				   .passes = 1,
				   .sockets = 2,
				   .rows = 3,
				   .columns = COLUMNS,
				   .column = m.column,
				   .number = m.number,
				   .memory = true,
				   .read = READ,
				   .write = WRITE,
				   .all = ALL,
				   .share = -1,
				   .channels = 4,
				   .channel = m.channel};
	return &m;
}

/* No peak is known: bars are of the busiest socket, 40 GB/s, and of the busiest channel, 20. */
static void test_frame(void)
{
	struct made_up *m = make_up();
	struct top_screen screen = {.width = 80};

	CU_ASSERT(same(
		drawn(&m->view, &screen),
		"uncore top  made-up, 2 sockets                                 1.000 s  12:34:56\n"
		"\n"
		"memory  read    write     GB/s   of the busiest\n"
		"0      30.00    10.00    40.00  [||||||||||||||||||||||||]\n"
		"1      15.00     5.00    20.00  [||||||||||||            ]\n"
		"all    45.00    15.00    60.00\n"
		"\n"
		"         llc     link\n"
		"        miss       tx\n"
		"           %     GB/s\n"
		"0       25.0     1.00\n"
		"1       50.0     2.00\n"
		"all     37.5     3.00\n"
		"\n"
		"socket 0      read   write GB/s       socket 1      read   write GB/s\n"
		"imc0     15.00    5.00 [||||||||||]   imc0      7.50    2.50 [|||||     ]\n"
		"imc1     15.00    5.00 [||||||||||]   imc1      7.50    2.50 [|||||     ]\n"
		"\n"));
}

/* Of 80, 40 and 120 GB/s: 50 %, 50 % and 50 %; a channel of half a socket's peak has 40 and 20
 * GB/s. */
static void test_peak(void)
{
	struct made_up *m = make_up();
	struct top_screen screen = {.width = 80, .height = 16};

	m->number[3 * READ + 0].peak = 80e9;
	m->number[3 * READ + 1].peak = 40e9;
	m->number[3 * READ + 2].peak = 120e9;
	CU_ASSERT(same(
		drawn(&m->view, &screen),
		"uncore top  made-up, 2 sockets                                 1.000 s  12:34:56\n"
		"\n"
		"memory  read    write     GB/s   of the peak                     channels\n"
		"0      30.00    10.00    40.00  [||||||||||||            ]  50 % 55\n"
		"1      15.00     5.00    20.00  [||||||||||||            ]  50 % 55\n"
		"all    45.00    15.00    60.00  [||||||||||||            ]  50 %\n"
		"\n"
		"         llc     link\n"
		"        miss       tx\n"
		"           %     GB/s\n"
		"0       25.0     1.00\n"
		"1       50.0     2.00\n"
		"all     37.5     3.00\n"
		"\n"));
	screen.unicode = true; /* 4 and 4.5 eighths of a letter are the fifth of 8 levels */
	CU_ASSERT_PTR_NOT_NULL(
		strstr(drawn(&m->view, &screen), "[████████████            ]  50 % ▅▅\n"));
	m->number[3 * READ + 0].peak =
		64e9; /* 40 of 64: 15 of 24 letters; 20 of 32 a channel: level 5 of 8 */
	CU_ASSERT_PTR_NOT_NULL(
		strstr(drawn(&m->view, &screen), "[███████████████         ]  62 % ▆▆\n"));
	screen.no_channels = true;
	CU_ASSERT_PTR_NULL(strstr(drawn(&m->view, &screen), "channels"));
}

/* Of an interval of half a second: what adds up is shown per second, a bandwidth as it is. */
static void test_interval(void)
{
	struct made_up *m = make_up();
	struct top_screen screen = {.width = 80};
	const char *text;

	for (size_t i = 0; i < 3 * COLUMNS + 2 * 4; i++)
		m->number[i].seconds = 0.5;
	for (size_t row = 0; row < 3; row++)
		m->number[3 * ALL + row].value *= 2;
	text = drawn(&m->view, &screen);
	CU_ASSERT_PTR_NOT_NULL(
		strstr(text, "0      60.00    20.00    80.00  [||||||||||||||||||||||||]\n"));
	CU_ASSERT_PTR_NOT_NULL(
		strstr(text, "1      30.00    10.00    40.00  [||||||||||||            ]\n"));
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "0       25.0     2.00\n")); /* a ratio */
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "imc0     30.00   10.00 [||||||||||]"));
}

/* What is not valid is '-' and never 0, and so is what is made of it. */
static void test_marks(void)
{
	struct made_up *m = make_up();
	struct top_screen screen = {.width = 80};
	const char *text;

	m->number[3 * READ + 0].valid = false;
	m->number[3 * READ + 0].value = 0;
	m->number[3 * ALL + 0].valid = false;
	m->number[3 * WRITE + 1].mark[PARTIAL] = m->number[3 * ALL + 1].mark[PARTIAL] = true;
	m->number[3 * WRITE + 1].mark[UNPROVEN] = true; /* one letter, of the gravest */
	m->number[3 * LINK + 1].mark[SCALED] = true;
	m->number[3 * READ + 2].mark[LATE] = m->number[3 * ALL + 2].mark[LATE] = true;
	m->number[3 * LINK + 2].mark[LATE] = m->number[3 * LINK + 2].mark[SCALED] = true;
	m->number[3 * MISS + 2].mark[UNPROVEN] = m->number[3 * MISS + 2].mark[LATE] = true;
	m->number[m->channel[3].write].valid = false;
	snprintf(m->view.note[NO_VALUE], TOP_NOTE, "- no value: because");
	snprintf(m->view.note[PARTIAL], TOP_NOTE, "* of fewer units: because");
	text = drawn(&m->view, &screen);
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "0          -    10.00        -\n"));
	CU_ASSERT_PTR_NOT_NULL(
		strstr(text, "1      15.00     5.00*   20.00* [||||||||||||||||||||||||]\n"));
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "all    45.00!   15.00    60.00!\n"));
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "1       50.0     2.00~\n"));
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "all     37.5?    3.00!\n"));
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "imc1      7.50       -\n"));
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "- no value: because\n* of fewer units: because\n"));
	screen.height = 15;
	CU_ASSERT_PTR_NOT_NULL(strstr(drawn(&m->view, &screen), " 5-\n")); /* 10 of 20 GB/s */
}

/* Whatever the terminal: no line is wider, no frame higher, and what is left out is told. */
static void test_sizes(void)
{
	struct made_up *m = make_up();

	snprintf(m->view.note[NO_VALUE], TOP_NOTE,
		 "- no value: a long story that needs some lines");
	for (int width = 1; width <= 120; width++) {
		struct top_screen screen = {.width = width, .unicode = true};

		CU_ASSERT(lines_within(drawn(&m->view, &screen), (size_t)width) > 5);
		screen.help = true;
		lines_within(drawn(&m->view, &screen), (size_t)width);
		screen.help = false;
		for (screen.height = 1; screen.height < 40; screen.height++)
			CU_ASSERT(lines_within(drawn(&m->view, &screen), (size_t)width) <=
				  screen.height + 1); /* the line behind a frame */
	}
	struct top_screen narrow = {.width = 20};

	CU_ASSERT_PTR_NOT_NULL(strstr(drawn(&m->view, &narrow), "\n1 column more where"));
	struct top_screen low = {.width = 80, .height = 10};

	/* without empty lines 1 + 4 + 6, and one note: 9 are shown */
	CU_ASSERT_PTR_NOT_NULL(strstr(drawn(&m->view, &low), "\n... 3 more lines\n"));
}

static void test_terminal(void)
{
	struct made_up *m = make_up();
	struct top_screen screen = {.width = 80, .height = 24, .terminal = true};
	const char *text = drawn(&m->view, &screen);
	size_t n = strlen(text);

	CU_ASSERT(strncmp(text, "\033[Huncore top", 13) == 0);
	CU_ASSERT(n > 6 && strcmp(text + n - 6, "\033[K\033[J") == 0);
	for (const char *p = text; (p = strchr(p, '\n')) != NULL;
	     p++) /* the rest of each line is cleared */
		CU_ASSERT(p - text > 3 && strncmp(p - 3, "\033[K", 3) == 0);
	m->view.seconds = 0; /* nothing was measured yet */
	CU_ASSERT_PTR_NULL(strstr(drawn(&m->view, &screen), "memory"));
}

/* ---- what is measured */

static struct top start(struct unc_platform **platform, const char *sim)
{
	struct unc_options options = {.size = sizeof(options), .sim = sim};
	struct top top = {.view.seconds = 0};

	CU_ASSERT_FATAL(unc_platform_open(&options, platform) == 0);
	CU_ASSERT_FATAL(top_open(&top, *platform, &(struct top_page){.group = "OVERVIEW"}) == 0);
	CU_ASSERT_FATAL(unc_session_start(top.series.session) == 0);
	return top;
}

static void stop(struct top *top, struct unc_platform *platform)
{
	CU_ASSERT(unc_session_stop(top->series.session) == 0);
	top_close(top);
	unc_platform_close(platform);
}

/* A column in a row, as a rate. */
static double rate(const struct top_view *v, size_t column, size_t row)
{
	const struct number *n = &v->number[v->column[column] + row];

	return n->value / n->seconds;
}

/* A second later. */
static const struct top_view *second(struct top *top)
{
	atomic_fetch_add(&clock_ns, 1000000000);
	CU_ASSERT_FATAL(top_read(top) == 0);
	CU_ASSERT_PTR_NULL(series_lost(&top->series));
	return &top->view;
}

static bool near(double value, double wanted)
{
	if (fabs(value - wanted) > 1e-6 * wanted)
		printf("# %.9g in place of %.9g\n", value, wanted);
	return fabs(value - wanted) <= 1e-6 * wanted;
}

/* Emerald Rapids, a socket in a second: 15.5355e8 lines of 64 bytes read on 8 channels
 * (tests/integration/ kill.sh), of which each has an eighth. */
static void test_measured(void)
{
	struct unc_platform *platform;
	struct top top = start(&platform, "emerald-rapids,sockets=8");
	const struct top_view *v;
	struct top_screen screen = {.width = 80, .height = 24};

	second(&top);
	v = second(&top);
	CU_ASSERT(v->passes == 1 && v->sockets == 8 && v->rows == 9 && v->simulated);
	CU_ASSERT(near(v->seconds, 1));
	CU_ASSERT_FATAL(v->read == 0 && v->write == 1 && v->channels == 64);
	for (size_t row = 0; row < 8; row++)
		CU_ASSERT(near(rate(v, 0, row), 15.5355e8 * 64));
	CU_ASSERT(near(rate(v, 0, 8), 8 * 15.5355e8 * 64));
	for (size_t i = 0; i < v->channels; i++) {
		const struct number *read = &v->number[v->channel[i].read];

		CU_ASSERT(read->valid && v->number[v->channel[i].write].valid);
		CU_ASSERT(near(read->value / read->seconds, 15.5355e8 * 64 / 8));
	}
	for (size_t i = 0; i < MARKS; i++)
		CU_ASSERT_STRING_EQUAL(v->note[i], "");
	/* 8 sockets in 24 lines of 80: all of them, with their channels */
	const char *text = drawn(v, &screen);

	CU_ASSERT(lines_within(text, 80) <= 25);
	for (int i = 0; i < 8; i++) {
		char row[40];

		snprintf(row, sizeof(row), "\n%d      99.43    32.", i);
		CU_ASSERT_PTR_NOT_NULL(strstr(text, row));
		snprintf(row, sizeof(row), "\n%d      19.", i);
		CU_ASSERT_PTR_NOT_NULL(strstr(text, row));
	}
	CU_ASSERT_PTR_NOT_NULL(strstr(text, " 99999999\n"));
	CU_ASSERT_PTR_NULL(strstr(text, "more"));
	stop(&top, platform);
}

/* The firmware tells 4800 MT/s: 8 channels of 8 bytes are 307.2 GB/s a socket. The share is written
 * once. */
static void test_known_peak(void)
{
	struct unc_platform *platform;
	struct top top = start(&platform, "emerald-rapids,memory=4800");
	const struct top_view *v = second(&top);
	struct top_screen screen = {.width = 80};
	const char *text = drawn(v, &screen);

	for (size_t row = 0; row < 3; row++)
		CU_ASSERT(near(v->number[v->column[v->read] + row].peak,
			       row < 2 ? 307.2e9 : 614.4e9));
	CU_ASSERT_PTR_NOT_NULL(strstr(text, " of 307.2 GB/s each\n"));
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "]  43 %\n")); /* 132.2 of 307.2 */
	CU_ASSERT_PTR_NULL(strstr(text, "more"));
	stop(&top, platform);
	top = start(&platform, "emerald-rapids,sockets=1,memory=4800");
	text = drawn(second(&top), &screen);
	CU_ASSERT_PTR_NOT_NULL(strstr(text, " of 307.2 GB/s\n"));
	stop(&top, platform);
}

/* Of 0.6 and 0.4 of a stack's 0.625 and 0.72 GB/s (workload.tbl: 5 and 5.76 GB/s of a socket, on 8 stacks) the busier device comes first. */
static void test_devices(void)
{
	struct top_page page = {.group = "PCIE", .title = "PCIe devices", .per = UNC_EACH_DEVICE};
	struct unc_options options = {.size = sizeof(options), .sim = "emerald-rapids,devices=on"};
	struct top_screen screen = {.width = 100};
	struct top top = {.view.seconds = 0};
	struct unc_platform *platform;
	const struct top_view *v;
	const char *text, *more;

	CU_ASSERT_FATAL(unc_platform_open(&options, &platform) == 0);
	CU_ASSERT_FATAL(top_open(&top, platform, &page) == 0);
	CU_ASSERT_FATAL(unc_session_start(top.series.session) == 0);
	v = second(&top);
	CU_ASSERT(v->devices && v->rows > 16);
	text = drawn(v, &screen);
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "  PCIe devices "));
	CU_ASSERT_PTR_NULL(strstr(text, "devi ")); /* no place in a title */
	more = strstr(text, "mlx5_0 eth0");
	CU_ASSERT_PTR_NOT_NULL_FATAL(more);
	CU_ASSERT_PTR_NOT_NULL(strstr(more, "0.43"));
	CU_ASSERT_PTR_NOT_NULL(strstr(more, "nvme")); /* which is less busy */
	CU_ASSERT_PTR_NOT_NULL(strstr(strstr(more, "nvme"), "0.29"));
	stop(&top, platform);
}

/* A group that the machine does not have says why, and nothing is left open. */
static void test_no_page(void)
{
	struct top_page page = {.group = "CXL", .title = "CXL memory"};
	struct unc_options options = {.size = sizeof(options), .sim = "sandybridge-ep"};
	struct top top = {.view.seconds = 0};
	struct unc_platform *platform;

	CU_ASSERT_FATAL(unc_platform_open(&options, &platform) == 0);
	CU_ASSERT(top_open(&top, platform, &page) != 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(top.why, "group CXL: "));
	top_close(&top);
	unc_platform_close(platform);
}

/* A channel that the firmware hides has no bar, and the sums go without it. */
static void test_hidden(void)
{
	struct unc_platform *platform;
	struct top top = start(&platform, "sandybridge-ep,hide=imc3@1");
	const struct top_view *v = second(&top);
	const struct number *read = &v->number[v->column[0]]; /* of sockets 0 and 1 */

	CU_ASSERT(read[1].valid && read[1].mark[PARTIAL] && !read[0].mark[PARTIAL]);
	CU_ASSERT_FATAL(v->channels == 8);
	CU_ASSERT(v->number[v->channel[7].read].item.at.index == 3);
	CU_ASSERT(!v->number[v->channel[7].read].valid);
	CU_ASSERT(v->number[v->channel[6].read].valid);
	CU_ASSERT_PTR_NOT_NULL(
		strstr(v->note[PARTIAL],
		       "* of fewer units: memory_read_bytes:socket=1: 3 of 4 units: imc3"));
	stop(&top, platform);
}

/* Units of a type, if a socket has several of them. */
static size_t units_abreast(const struct unc_platform *platform, const char *type)
{
	const struct unc_unit *unit, *last = NULL;
	size_t n = 0;
	bool several = false;

	for (size_t i = 0; (unit = unc_unit_get(platform, i)) != NULL; i++) {
		if (strcmp(unit->type->name, type) != 0)
			continue;
		several |= last && last->socket == unit->socket;
		last = unit;
		n++;
	}
	return several ? n : 0;
}

/* Units that count what is read from memory: each its own share, several on a socket. */
static size_t units_that_read(struct unc_platform *platform)
{
	struct unc_encoding e = {.size = sizeof(e)};
	char last[64] = "";
	const char *need;
	size_t metric, n = 0;

	CU_ASSERT_FATAL(unc_metric_find(platform, "memory_read_bytes", &metric, NULL) == 0);
	for (size_t i = 0; (need = unc_metric_need(platform, metric, i)) != NULL; i++) {
		CU_ASSERT_FATAL(unc_event_encode(platform, need, &e) == 0);
		if (e.aggregate == UNC_AGGREGATE_SUM && strcmp(e.units_of, last) != 0)
			n += units_abreast(platform, e.units_of);
		snprintf(last, sizeof(last), "%s", e.units_of);
	}
	return n;
}

/* On each CPU they are the channels, and what these read together is what all sockets have read. */
static void test_channels(void)
{
	struct unc_options options = {.size = sizeof(options), .sim = "", .cpu = "*"};
	struct unc_platform *tables, *platform;
	const struct unc_cpu *cpu;
	size_t with_channels = 0;

	CU_ASSERT_FATAL(unc_platform_open(&options, &tables) == 0);
	for (size_t i = 0; (cpu = unc_cpu_get(tables, i)) != NULL; i++) {
		struct top top = start(&platform, cpu->name);
		const struct top_view *v = second(&top);
		double sum = 0;

		for (size_t k = 0; k < v->channels; k++) {
			const struct number *read = &v->number[v->channel[k].read];

			CU_ASSERT(read->valid && v->number[v->channel[k].write].valid);
			sum += read->value / read->seconds;
		}
		if (v->channels != units_that_read(platform))
			printf("# %s: its channels need TYPE.MEM_BW_READS and TYPE.MEM_BW_WRITES\n",
			       cpu->name);
		CU_ASSERT_EQUAL(v->channels, units_that_read(platform));
		CU_ASSERT(v->channels == 0 || near(sum, rate(v, 0, v->rows - 1)));
		CU_ASSERT(v->passes == 1);
		with_channels += v->channels > 0;
		stop(&top, platform);
	}
	CU_ASSERT(with_channels > 5); /* all but those of which a socket counts as one unit */
	unc_platform_close(tables);
}

/* A group that the CPU has; one whose ratio has no denominator when nothing happens. */
static void test_idle(void)
{
	struct unc_platform *platform;
	struct top top = start(&platform, "emerald-rapids,load=0");
	const struct top_view *v = second(&top);

	CU_ASSERT(v->number[v->column[0]].valid &&
		  rate(v, 0, 0) == 0); /* nothing is read: that is a number */
	CU_ASSERT(strncmp(v->note[NO_VALUE], "- no value: llc_miss_ratio:socket=0: ", 37) == 0);
	stop(&top, platform);
}

int main(void)
{
	static const struct suite_test tests[] = {
		{"a frame, letter by letter", test_frame},
		{"the peak of the memory", test_peak},
		{"an interval of another length", test_interval},
		{"marks", test_marks},
		{"any size of the terminal", test_sizes},
		{"escape codes", test_terminal},
		{"what is measured on 8 sockets", test_measured},
		{"the firmware tells the peak", test_known_peak},
		{"a page of devices", test_devices},
		{"a page of what is not there", test_no_page},
		{"a hidden channel", test_hidden},
		{"channels of each CPU", test_channels},
		{"an idle machine", test_idle},
		{NULL, NULL},
	};

	return suite_run("top", tests);
}
