/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The command stat: its report as text, and the mean of several runs. Rates are those of
 * eventtables/sandybridge-ep/workload.tbl: CBos have a clock of 2.7 GHz, of which the fastest is told.
 * Marks and times are those that the test makes.
 */
#include "common/tool/record.h"
#include "stat_kit.h"

/* ---- intervals */

static const char events[] = "-e imc.CAS_COUNT:RD";

/* 2 * (2.7e8 + 0.002e8) lines of 64 bytes a second: 34.59 GB/s */
static void test_intervals(void)
{
	CHECK_NUMBER(run(snb, "-I 100 -d 0.3 -m memory_read_bytes -e cbo.CLOCKTICKS"), 0);
	CHECK_TEXT(line(out, 3), "from 2001-09-09 03:16:40 +0130");
	CHECK_TEXT(line(out, 4), "");
	CHECK_TEXT(line(out, 5), "03:16:40.100  0.100 s");
	CHECK_PART(line(out, 6), "  memory_read_bytes  ");
	CHECK_PART(line(out, 6), " bytes  34.59 GB/s");
	CHECK_PART(line(out, 7), "  cbo.CLOCKTICKS     ");
	CHECK_PART(line(out, 7), "  2.70 G/s");
	CHECK_TEXT(line(out, 11), "03:16:40.300  0.300 s");
	CHECK_NUMBER(count_of(out, "\n"), 13);
	CHECK_NUMBER(run(snb, "-I 1000 -d 1 --per-unit -e cbo.CLOCKTICKS"), 0);
	CHECK_NUMBER(count_of(out, "\n  cbo"), 16);
}

static void test_sockets(void)
{
	CHECK_NUMBER(run(snb, "-I 1000 -d 1 --per-socket -e cbo.CLOCKTICKS"), 0);
	CHECK_TEXT(line(out, 5), "03:16:41  1.000 s");
	CHECK_PART(line(out, 6), "  cbo.CLOCKTICKS:socket=0  ");
	CHECK_PART(line(out, 7), "  cbo.CLOCKTICKS:socket=1  ");
	CHECK_NUMBER(count_of(out, "  2.70 G/s"), 2);
}

/* 20 h 43 min 20 s are left of the day. */
static void test_days(void)
{
	char command[64];

	snprintf(command, sizeof(command), "-I 3600000 -d 86400 %s", events);
	CHECK_NUMBER(run(snb, command), 0);
	CHECK_NUMBER(count_of(out, "2001-09-"), 2);
	CHECK_PART(out, "\n23:16:40  72000.000 s\n");
	CHECK_PART(out, "\n2001-09-10 00:16:40  75600.000 s\n");
	CHECK_PART(out, "\n01:16:40  79200.000 s\n");
}

/* No line is wider than the terminal: what does not fit stands below its line. */
static void test_narrow(void)
{
	setenv("COLUMNS", "58", 1);
	script.peak = 51.2e9;
	CHECK_NUMBER(run("sandybridge-ep-no-imc3@1", "-d 1 --per-socket -m memory_read_bytes"), 0);
	CHECK_TEXT(line(out, 3), "memory_read_bytes:socket=0  17,292,800,000 bytes");
	CHECK_TEXT(line(out, 4), "    17.29 GB/s");
	CHECK_TEXT(line(out, 5), "    33.8 % of 51.2 GB/s");
	CHECK_TEXT(line(out, 6), "memory_read_bytes:socket=1  12,969,600,000 bytes");
	CHECK_TEXT(line(out, 7), "    12.97 GB/s");
	CHECK_TEXT(line(out, 8), "    3 of 4 units");
	setenv("COLUMNS", "0x20", 1); /* no number: as if it were not there, 80 */
	CHECK_NUMBER(run(snb, "-d 1 -e cbo.CLOCKTICKS"), 0);
	CHECK_PART(line(out, 3), "  2.70 G/s");
	setenv("COLUMNS", "80", 1);
}

static void script_item(unsigned from, unsigned flags, const char *reason)
{
	script.from = from;
	script.flags = flags;
	script.reason = reason;
	script.share = 1 / 3.0;
}

/* Marks stand beside the number that they are about. */
static void test_marks(void)
{
	static const char partial[] = "sandybridge-ep-no-imc3@1";
	static const char command[] = "-I 1000 -d 3 -e imc.CAS_COUNT:RD,cbo.CLOCKTICKS";

	script_item(3, UNC_VALUE_VALID | UNC_VALUE_FRESH | UNC_VALUE_ESTIMATED,
		    ""); /* 1: announced */
	CHECK_NUMBER(run(partial, command), 0);
	CHECK_TEXT(strstr(line(out, 6), " M/s"), " M/s  7 of 8 units");
	CHECK_TEXT(strstr(line(out, 9), " M/s"), " M/s  7 of 8 units, 33 %");
	CHECK_TEXT(strstr(line(out, 10), "2.70 G"), "2.70 G/s");
	script_item(3, UNC_VALUE_FRESH, "a sentence");
	CHECK_NUMBER(run(partial, command), 0);
	CHECK_PART(line(out, 9), " -              7 of 8 units");
	CHECK_PART(err, "no value in 2 of 3 reports: a sentence");
	script_item(3, UNC_VALUE_VALID | UNC_VALUE_FRESH | UNC_VALUE_ESTIMATED, "");
	script.share = 0.004; /* is not nothing */
	CHECK_NUMBER(run(partial, command), 0);
	CHECK_TEXT(strstr(line(out, 9), " M/s"), " M/s  7 of 8 units, <1 %");
	script_item(3, UNC_VALUE_VALID | UNC_VALUE_FRESH | UNC_VALUE_INTERVAL_LATE, "why");
	CHECK_NUMBER(run(partial, command), 0);
	CHECK_TEXT(strstr(line(out, 9), " M/s"), " M/s  7 of 8 units, 33 %, late");
	script_item(2, UNC_VALUE_VALID | UNC_VALUE_FRESH | UNC_VALUE_LATE | UNC_VALUE_UNPROVEN,
		    "why");
	script.share = 1;
	CHECK_NUMBER(run(partial, "-d 1 -e imc.CAS_COUNT:RD,cbo.CLOCKTICKS"), 0);
	CHECK_PART(line(out, 3), " M/s  7 of 8 units, unproven, late");
	CHECK_NUMBER(count_of(out, "late"), 1);
}

/* ---- rates */

static void test_rates(void)
{
	CHECK_NUMBER(run(snb, "-d 2 -e cbo.CLOCKTICKS"), 0);
	CHECK_PART(line(out, 3), "cbo.CLOCKTICKS  5,400,");
	CHECK_PART(line(out, 3), "  2.70 G/s");
	CHECK_PART(line(out, 5), "2.000 s measured, from 2001-09-09 03:16:40 +0130");
	/* of what is not counted but is a ratio or a rate itself there is none */
	CHECK_NUMBER(run(snb, "-d 2 -m uncore_frequency_hz,llc_miss_ratio"), 0);
	CHECK_TEXT(line(out, 3), "uncore_frequency_hz  2.70 GHz");
	CHECK_NUMBER(count_of(out, "/s"), 0);
}

/* 2 * (mem_reads + stream_part) and 2 * mem_writes, 2.702e8 and 1.142e8 lines of 64 bytes a second: 34.59 and 14.62 GB/s, of
 * 2 * 51.2 GB/s (four channels of DDR3-1600) 33.8 and 14.3 %. */
static void test_peak(void)
{
	script.peak = 51.2e9;
	CHECK_NUMBER(run(snb, "-d 1 -m memory_read_bytes,memory_write_bytes,memory_bandwidth"), 0);
	CHECK_PART(line(out, 3), " bytes  34.59 GB/s  33.8 % of 102.4 GB/s");
	CHECK_TEXT(strstr(line(out, 4), " bytes"), " bytes  14.62 GB/s  14.3 %");
	CHECK_TEXT(line(out, 5), "memory_bandwidth                          49.20 GB/s  48.0 %");
	script.peak = 51.2e9;
	CHECK_NUMBER(run(snb, "-d 1 --per-socket -m memory_read_bytes -e imc.CAS_COUNT:RD"), 0);
	CHECK_NUMBER(count_of(out, "33.8 %"), 2);
	CHECK_NUMBER(count_of(out, "33.8 % of 51.2 GB/s"), 1);
	CHECK_NUMBER(count_of(out, "%"), 2);
	script.peak = 51.2e9;
	CHECK_NUMBER(run(snb, "-d 1 -m memory_read_bytes:socket=1"), 0);
	CHECK_NUMBER(count_of(out, "33.8 % of 51.2 GB/s"), 1);
	/* of a socket and of all there are two peaks */
	script.peak = 51.2e9;
	CHECK_NUMBER(run(snb, "-d 1 -m memory_read_bytes,memory_read_bytes:socket=1"), 0);
	CHECK_NUMBER(count_of(out, "33.8 % of 102.4 GB/s"), 1);
	CHECK_NUMBER(count_of(out, "33.8 % of 51.2 GB/s"), 1);
	script.peak = 51.2e9;
	CHECK_NUMBER(run(snb, "-I 1000 -d 2 -m memory_read_bytes -e cbo.CLOCKTICKS"), 0);
	CHECK_PART(line(out, 6), " bytes  34.59 GB/s  33.8 % of 102.4 GB/s");
	CHECK_PART(line(out, 9), " bytes  34.59 GB/s  33.8 % of 102.4 GB/s");
	CHECK_NUMBER(count_of(out, "%"), 2);
	/* of fewer channels than the peak is of there is no share */
	script.peak = 51.2e9;
	CHECK_NUMBER(run("sandybridge-ep-no-imc3@1", "-d 1"), 0);
	CHECK_NUMBER(count_of(out, "%"), 0);
	CHECK_NUMBER(count_of(out, "7 of 8 units"), 2);
	CHECK_NUMBER(run(snb, "-d 1"), 0);
	CHECK_NUMBER(count_of(out, "%"), 0);
}

/* ---- what is named */

static void test_either_kind(void)
{
	CHECK_NUMBER(run(snb, "-d 1 -j -e memory_read_bytes,imc3.CAS_COUNT:RD -m imc.ACT_COUNT"),
		     0);
	CHECK_PART(out, "\"events\":{\"imc3.CAS_COUNT:RD\":");
	CHECK_PART(out, ",\"imc.ACT_COUNT\":");
	CHECK_PART(out, "\"metrics\":{\"memory_read_bytes\":");
	CHECK_NUMBER(run(snb, "-d 1 -m memory_red_bytes"), 2);
	CHECK_PART(err, "nearest is memory_read_bytes");
	CHECK_NUMBER(run(snb, "-d 1 -m imc.CAS_CONT"), 2);
	CHECK_PART(err, "nearest is imc.CAS_COUNT");
}

/* In the order given, each number once. What this CPU or machine lacks is told
 * to those who ask; none of it is a failure. */
static void test_groups(void)
{
	CHECK_NUMBER(run(snb, "-d 1 -e cbo.CLOCKTICKS -g mem -m imc.ACT_COUNT,memory_read_bytes"),
		     0);
	CHECK_PART(line(out, 3), "cbo.CLOCKTICKS ");
	CHECK_PART(line(out, 4), "memory_read_bytes ");
	CHECK_NUMBER(count_of(out, "memory_read_bytes"), 1);
	CHECK_PART(out, "\nmemory_read_latency_ns ");
	CHECK_PART(out, "\nimc.ACT_COUNT ");
	CHECK_NUMBER(run(snb, "-d 1 -j -g LINK,L3"), 0);
	CHECK_PART(out, "{\"link_tx_bytes\":");
	CHECK_PART(out, ",\"llc_misses\":");
	CHECK_NUMBER(run("montecito", "-d 1 -g OVERVIEW"), 0);
	CHECK_TEXT(err, "");
	CHECK_NUMBER(count_of(out, "link_"), 0);
	CHECK_NUMBER(run("montecito", "-d 1 -j -g OVERVIEW"), 0);
	CHECK_TEXT(err, "");
	CHECK_PART(out, "\"link_tx_bytes\":null");
	CHECK_PART(strstr(out, "\"invalid\""),
		   "\"link_tx_bytes\":\"link_tx_bytes cannot be computed: "
		   "no links");
	/* what the machine lacks: one line, and rows for programs only */
	CHECK_NUMBER(run("sandybridge-ep-no-imc", "-d 1 -g OVERVIEW"), 0);
	CHECK_PART(err, "note: group OVERVIEW: not here: memory_read_bytes, memory_write_bytes, "
			"memory_bandwidth, memory_utilization: no imc unit can be read: ");
	CHECK_NUMBER(count_of(err, "\n"), 1);
	CHECK_NUMBER(count_of(out, "memory_"), 0);
	CHECK_NUMBER(run("sandybridge-ep-no-imc", "-d 1 -j -g OVERVIEW --per-socket"), 0);
	CHECK_NUMBER(count_of(err, "\n"), 1);
	CHECK_PART(out, "\"memory_read_bytes:socket=1\":null");
	CHECK_PART(strstr(out, "\"invalid\""), "\"memory_read_bytes:socket=1\":\"");
	CHECK_NUMBER(run("sandybridge-ep-no-imc", "-d 1 -j -g OVERVIEW --per-unit"), 0);
	CHECK_PART(strstr(out, "\"invalid\""), "\"memory_read_bytes\":\"");
	CHECK_NUMBER(run("montecito", "-d 1 -j -v -g OVERVIEW"), 0);
	CHECK_PART(err, "link_tx_bytes, link_rx_bytes, link_utilization: "
			"no links");
	CHECK_NUMBER(run("montecito", "-d 1 -j -g LINK"), 1);
	CHECK_PART(err, "uncore: group LINK: link_tx_bytes");
	CHECK_TEXT(out, "");
	CHECK_NUMBER(run(snb, "-d 1 -e mem"), 2);
	CHECK_PART(err, "mem is a group, no event or metric: -g mem");
	CHECK_NUMBER(run(snb, "-d 1 -g ME"), 2);
	CHECK_PART(err, "no group ME; nearest is MEM");
	CHECK_NUMBER(run(snb, "-d 1 -g MEM,,L3"), 2);
	CHECK_PART(err, "an empty name in 'MEM,,L3'");
	/* a socket without such units is one of many */
	CHECK_NUMBER(run("sandybridge-ep-no-qpi@1", "-d 1 -j -g LINK --per-socket"), 0);
	CHECK_PART(out, "\"link_tx_bytes:socket=1\":null");
}

/* ---- several runs */

/* Of 1, 1 and 1.3 the mean is 1.1; sqrt((0.1^2 + 0.1^2 + 0.2^2) / 2 / 3) is 0.1: 9.09 % of 1.1. */
static void longer_third(void)
{
	script.late_wait = 3;
	script.late = 0.3;
}

static void test_mean(void)
{
	longer_third();
	CHECK_NUMBER(run(snb, "-r 3 -d 1 -e cbo.CLOCKTICKS"), 0);
	CHECK_PART(line(out, 3), "cbo.CLOCKTICKS  2,970,"); /* 1.1 * 2.7e9 */
	CHECK_PART(line(out, 3), "  2.70 G/s  +- 9.09 %");
	CHECK_TEXT(line(out, 5), "3 runs of 1.100 s +- 9.09 %, from 2001-09-09 03:16:40 +0130");
	longer_third();
	CHECK_NUMBER(run(snb, "-r 3 -d 1 -j -e cbo.CLOCKTICKS"), 0);
	CHECK_NUMBER(count_of(out, "\n"), 1);
	CHECK_PART(out, "{\"time\":3.3,\"interval\":1.1,");
	CHECK_PART(out, "\"runs\":3,");
	CU_ASSERT_DOUBLE_EQUAL(number_in(out, "cbo.CLOCKTICKS"), 1.1 * 2.7e9, 100);
	CU_ASSERT_DOUBLE_EQUAL(number_in(strstr(out, "spread"), "cbo.CLOCKTICKS"), 0.1 / 1.1, 1e-5);
	longer_third();
	CHECK_NUMBER(run(snb, "-r 3 -d 1 -x, -e cbo.CLOCKTICKS"), 0);
	CHECK_PART(line(out, 2), ",reason,runs,spread");
	CHECK_PART(line(out, 3), ",count,1,16,16,,3,0.0909");
	CHECK_NUMBER(run(snb, "-r 1 -d 1 -x, -e cbo.CLOCKTICKS"), 0);
	CHECK_PART(line(out, 3), ",count,1,16,16,,1,");
	CU_ASSERT(line(out, 3)[strlen(line(out, 3)) - 1] == ',');
	CHECK_NUMBER(run(snb, "-r 1 -d 1 -e cbo.CLOCKTICKS"), 0);
	CHECK_PART(out, "\n1 run of 1.000 s, from");
	CHECK_NUMBER(count_of(out, "+-"), 0);
	/* nothing deviates from nothing, by no share of it */
	CHECK_NUMBER(run("sandybridge-ep,load=0", "-r 2 -d 1 -e imc.CAS_COUNT:RD"), 0);
	CHECK_PART(line(out, 3), "  0 /s  +- -");
}

/* A mean of the others would be one of something else. */
static void test_mean_missing(void)
{
	script_item(2, UNC_VALUE_FRESH, "a sentence"); /* until the second start */
	script.from = 1;
	CHECK_NUMBER(run(snb, "-r 3 -d 1 -e cbo.CLOCKTICKS,imc.CAS_COUNT:RD"), 0);
	CHECK_TEXT(line(out, 3), "cbo.CLOCKTICKS              -");
	CHECK_PART(line(out, 4), " M/s  +- 0.00 %");
	CHECK_PART(err, "uncore: cbo.CLOCKTICKS: no mean, for it has no value in 1 of 3 runs: a "
			"sentence\n");
	script_item(1, UNC_VALUE_LOST, "taken");
	CHECK_NUMBER(run(snb, "-r 3 -d 1 -j -e cbo.CLOCKTICKS"), 1);
	CHECK_PART(out, "\"cbo.CLOCKTICKS\":null");
	CHECK_PART(out, "\"invalid\":{\"cbo.CLOCKTICKS\":\"taken\"}");
}

/* A signal ends the run that it comes in. */
static void test_mean_stopped(void)
{
	script.stop_wait = 3;
	CHECK_NUMBER(run(snb, "-r 5 -d 1 -e cbo.CLOCKTICKS"), 0);
	CHECK_PART(out, "\n2 runs of 1.000 s +- 0.00 %, from");
	CHECK_TEXT(err, "uncore: run 3 of 5 was stopped: the report is of those before it\n");
	script.stop_wait = 1;
	CHECK_NUMBER(run(snb, "-r 5 -d 1 -e cbo.CLOCKTICKS"), 1);
	CHECK_TEXT(out, "");
	CHECK_TEXT(err, "uncore: run 1 of 5 was stopped: there is no report\n");
}

static void test_mean_refused(void)
{
	static const char *const rows[][2] = {
		{"-r 0 -d 1", "number of runs from 1, not '0'"},
		{"-r -1 -d 1", "number of runs from 1, not '-1'"},
		{"-r 2x -d 1", "number of runs from 1, not '2x'"},
		{"-r 2", "-r needs the length of a run: give a COMMAND, or -d"},
		{"-r 2 -d 1 -I 100", "omit -I"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		CHECK_NUMBER(run(snb, rows[i][0]), 2);
		CHECK_PART(err, rows[i][1]);
		CHECK_NUMBER(count_of(err, "\n"), 1);
	}
}

/* ---- texts in JSON */

/* A text as an object's only member. Static storage. */
static const char *json_of(const char *text)
{
	static char got[200];
	struct args args = {.json = true};
	struct record r;

	record_start(&r, &args, NULL);
	r.out = fmemopen(got, sizeof(got), "w");
	CU_ASSERT_FATAL(r.out != NULL);
	record_open(&r, NULL, '{');
	record_text(&r, "t", text);
	record_close(&r);
	fclose(r.out);
	return got;
}

/* What is no UTF-8 (RFC 3629, section 4) is replaced byte by byte; the rest is JSON's (RFC 8259, section 7). */
static void test_json_texts(void)
{
	static const struct {
		const char *text, *json;
	} rows[] = {
		{"a\"b\\c\n\t\x01\x7f", "a\\\"b\\\\c\\n\\t\\u0001\\u007f"},
		{"\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80",
		 "\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80"},
		{"\xe9t\xe9", "\\ufffdt\\ufffd"},
		{"\xe2\x82", "\\ufffd\\ufffd"},
		{"\xc0\x80", "\\ufffd\\ufffd"},
		{"\xe0\x9f\xbf", "\\ufffd\\ufffd\\ufffd"},
		{"\xed\xa0\x80", "\\ufffd\\ufffd\\ufffd"},
		{"\xf0\x8f\xbf\xbf", "\\ufffd\\ufffd\\ufffd\\ufffd"},
		{"\xf4\x90\x80\x80", "\\ufffd\\ufffd\\ufffd\\ufffd"},
		{"\xf5\x80", "\\ufffd\\ufffd"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char want[200];

		snprintf(want, sizeof(want), "{\"t\":\"%s\"}\n", rows[i].json);
		CHECK_TEXT(json_of(rows[i].text), want);
	}
}

int main(void)
{
	static const struct suite_test tests[] = {
		{"intervals", test_intervals},
		{"sockets are lines", test_sockets},
		{"when the day changes", test_days},
		{"narrow terminals", test_narrow},
		{"marks", test_marks},
		{"rates of what accumulates", test_rates},
		{"the share of what memory can move", test_peak},
		{"-e and -m take either kind", test_either_kind},
		{"groups", test_groups},
		{"-r: mean and spread", test_mean},
		{"-r: a number that was missing once", test_mean_missing},
		{"-r: stopped", test_mean_stopped},
		{"-r: what is refused", test_mean_refused},
		{"texts in JSON", test_json_texts},
		{NULL, NULL},
	};

	setenv("COLUMNS", "80", 1);
	return suite_run("stat text", tests);
}
