/* SPDX-License-Identifier: BSD-3-Clause */
/* The command stat: intervals, passes, marks, and what programs read of it. */
#include "stat_kit.h"

/* More events of one unit than it has counters (Intel 327043-001, section 2.5: four). */
static const char passes[] =
	"imc.CAS_COUNT:RD,imc.CAS_COUNT:WR,imc.ACT_COUNT,imc.PRE_COUNT:PAGE_MISS,"
	"imc.CAS_COUNT,imc.PRE_COUNT:PAGE_CLOSE";

/* ---- time */

static void test_intervals(void)
{
	CHECK_NUMBER(run(snb, "-j -I 100 -d 20"), 0);
	CHECK_NUMBER(count_of(out, "\n"), 200);
	CHECK_NUMBER(count_of(out, "\"interval\":0.1,"), 200);
	CHECK_PART(line(out, 200), "{\"time\":20,\"interval\":0.1,");
	CHECK_TEXT(err, "");
}

/* Its interval is longer, the next one shorter; deadlines that went by are not made up for. */
static void test_late(void)
{
	script.late_wait = 3;
	script.late = 0.03;
	CHECK_NUMBER(run(snb, "-j -I 100 -d 1"), 0);
	CHECK_NUMBER(count_of(out, "\n"), 10);
	CHECK_PART(line(out, 3), "{\"time\":0.33,\"interval\":0.13,");
	CHECK_PART(line(out, 4), "{\"time\":0.4,\"interval\":0.07,");
	CHECK_PART(line(out, 10), "{\"time\":1,\"interval\":0.1,");
	script.late_wait = 3;
	script.late = 0.43;
	CHECK_NUMBER(run(snb, "-j -I 100 -d 1"), 0);
	CHECK_NUMBER(count_of(out, "\n"), 6);
	CHECK_PART(line(out, 3), "{\"time\":0.73,\"interval\":0.53,");
	CHECK_PART(line(out, 4), "{\"time\":0.8,\"interval\":0.07,");
	CHECK_PART(line(out, 6), "{\"time\":1,\"interval\":0.1,");
	/* Late beyond the end: the last interval is what it is. */
	script.late_wait = 9;
	script.late = 5;
	CHECK_NUMBER(run(snb, "-j -I 100 -d 1"), 0);
	CHECK_NUMBER(count_of(out, "\n"), 9);
	CHECK_PART(line(out, 9), "{\"time\":5.9,\"interval\":5.1,");
}

static void test_last_interval(void)
{
	CHECK_NUMBER(run(snb, "-j -I 100 -d 0.25"), 0);
	CHECK_NUMBER(count_of(out, "\n"), 3);
	CHECK_PART(line(out, 3), "{\"time\":0.25,\"interval\":0.05,");
	CHECK_NUMBER(run(snb, "-j -I 100 -d 0.205"), 0);
	CHECK_NUMBER(count_of(out, "\n"), 2); /* 5 ms are too short */
	script.stop_wait = 3;
	CHECK_NUMBER(run(snb, "-j -I 100 -d 9"), 0);
	CHECK_NUMBER(count_of(out, "\n"), 3);
	CHECK_PART(line(out, 3), "{\"time\":0.25,\"interval\":0.05,");
	CHECK_NUMBER(run(snb, "-j -I 100 -d 0.005"), 0);
	CHECK_TEXT(out, "");
	CHECK_PART(err, "note: no interval is reported, because none was long enough for a count");
}

static void run_passes(const char *options)
{
	char arguments[512];

	snprintf(arguments, sizeof(arguments), "-j %s -e %s -m uncore_frequency_hz", options,
		 passes);
	CHECK_NUMBER(run(snb, arguments), 0);
	CHECK_PART(err, "needs 2 passes: the counters are too few for all events at once");
}

/* What is measured half of the time is scaled to all of it; the clock of the CBos fits always. */
static void check_passes(const char *json, double seconds)
{
	double rate = 1e-6 * number_in(json, "imc.CAS_COUNT:RD") / seconds;

	CU_ASSERT_DOUBLE_EQUAL(number_in(json, "interval"), seconds, 1e-9);
	/* CAS_COUNT is that of RD and WR: section 2.5. The rates of the simulated machine are
	 * constant. */
	CU_ASSERT_DOUBLE_EQUAL(1e-6 * number_in(json, "imc.CAS_COUNT") / seconds,
			       rate + 1e-6 * number_in(json, "imc.CAS_COUNT:WR") / seconds,
			       0.05 * rate);
	json = strstr(json, "\"share\":{");
	CU_ASSERT_FATAL(json != NULL);
	CU_ASSERT_DOUBLE_EQUAL(number_in(json, "imc.CAS_COUNT"), 0.5, 1e-3);
	/* The second pass has two counters left for the four events of the first. */
	CU_ASSERT(!strstr(json, "imc.CAS_COUNT:RD") ||
		  number_in(json, "imc.CAS_COUNT:RD") >= 0.5 - 1e-3);
	CU_ASSERT(strstr(json, "uncore_frequency_hz") == NULL);
}

static void test_passes_total(void)
{
	run_passes("-d 5");
	CHECK_NUMBER(count_of(out, "\n"), 1);
	CU_ASSERT_DOUBLE_EQUAL(number_in(out, "time"), 5, 1e-9);
	check_passes(out, 5);
}

static void test_passes_intervals(void)
{
	run_passes("-I 100 -d 2");
	CHECK_NUMBER(count_of(out, "\n"), 20);
	for (unsigned i = 1; i <= 20; i++) {
		CHECK_NUMBER(count_of(line(out, i), "null"), 0);
		check_passes(line(out, i), 0.1);
	}
	CU_ASSERT_DOUBLE_EQUAL(number_in(line(out, 20), "time"), 2, 1e-9);
}

/* No interval without a turn of each pass. */
static void test_passes_incomplete(void)
{
	/* 120 ms: one slice of 50 ms less 30 is not a round. */
	run_passes("-I 100 -d 0.12");
	CHECK_NUMBER(count_of(out, "\n"), 1);
	/* Who oversleeps the end of an interval makes it longer; of the next a turn is left. */
	script.late_wait = 2;
	script.late = 0.06;
	run_passes("-I 100 -d 0.3");
	CHECK_NUMBER(count_of(out, "\n"), 2);
	CU_ASSERT_DOUBLE_EQUAL(number_in(line(out, 2), "time"), 0.26, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(number_in(line(out, 2), "interval"), 0.16, 1e-9);
	/* From 0.19 to 0.2 there was one pass: what the other counts until 0.3 is of both. */
	script.late_wait = 1;
	script.late = 0.09;
	run_passes("-I 100 -d 0.5");
	CHECK_NUMBER(count_of(out, "\n"), 3);
	CU_ASSERT_DOUBLE_EQUAL(number_in(line(out, 1), "time"), 0.19, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(number_in(line(out, 2), "time"), 0.4, 1e-9);
	check_passes(line(out, 2), 0.1);
	check_passes(line(out, 3), 0.1);
	script.stop_wait = 1;
	run_passes("-I 100 -d 9");
	CHECK_TEXT(out, "");
	CHECK_PART(err, "none was long enough for all passes");
}

/* What ended the turns is one line, though stop and the read behind it both tell. */
static void test_turn_fails(void)
{
	char arguments[512];

	snprintf(arguments, sizeof(arguments), "-j -d 1 -e %s", passes);
	script.turn_fails = true;
	CHECK_NUMBER(run(snb, arguments), 1);
	CHECK_NUMBER(count_of(err, "\n"), 2); /* the first says that there are two passes */
	CHECK_TEXT(out, "");
}

/* ---- marks */

static const char *const taken = "imc2 (socket 0), CTL1: taken over, it counts \"ACT\", now";

static void lose(unsigned from, const char *reason)
{
	script.from = from;
	script.id = 1;
	script.flags = UNC_VALUE_LOST;
	script.reason = reason;
}

static const char lossy[] = "-e imc.CAS_COUNT:RD,imc.CAS_COUNT:WR";

static int run_lossy(const char *options)
{
	char arguments[512];

	snprintf(arguments, sizeof(arguments), "%s %s", options, lossy);
	return run(snb, arguments);
}

static void test_lost_interval(void)
{
	lose(2, taken);
	script.to = 2;
	CHECK_NUMBER(run_lossy("-j -I 100 -d 0.5"), 1);
	CHECK_NUMBER(count_of(out, "\n"), 5);
	CHECK_NUMBER(count_of(out, "\"imc.CAS_COUNT:WR\":null"), 1);
	CHECK_PART(line(out, 2), "\"imc.CAS_COUNT:WR\":null");
	CHECK_PART(line(out, 2),
		   "\"invalid\":{\"imc.CAS_COUNT:WR\":\"imc2 (socket 0), CTL1: taken over, it "
		   "counts \\\"ACT\\\", now\"}");
	CHECK_NUMBER(count_of(out, "invalid"), 1);
	CHECK_PART(line(out, 5), "{\"time\":0.5,\"interval\":0.1,");
	CU_ASSERT(number_in(line(out, 3), "imc.CAS_COUNT:WR") > 0);
	CHECK_NUMBER(count_of(err, "\n"), 2);
	CHECK_PART(err,
		   "uncore: imc.CAS_COUNT:WR: imc2 (socket 0), CTL1: taken over, it counts "
		   "\"ACT\", now; lost counters are retried until they can be claimed again\n");
	CHECK_PART(err,
		   "uncore: imc.CAS_COUNT:WR: no value in 1 of 5 reports: imc2 (socket 0), CTL1");
}

/* A counter that is no longer ours may show only at the stop. */
static void test_lost_at_stop(void)
{
	lose(1, taken);
	CHECK_NUMBER(run_lossy("-d 0.5"), 1);
	CHECK_NUMBER(count_of(out, "imc.CAS_COUNT:WR            -\n"), 1);
	CHECK_PART(out, "0.500 s measured");
	CHECK_PART(err, "uncore: imc.CAS_COUNT:WR: no value: imc2 (socket 0), CTL1: taken over");
	lose(3, taken);
	CHECK_NUMBER(run_lossy("-j -I 100 -d 0.3"), 1);
	CHECK_PART(line(out, 3), "\"imc.CAS_COUNT:WR\":null");
	lose(4, taken);
	CHECK_NUMBER(run_lossy("-j -I 100 -d 0.305"), 1);
	CHECK_NUMBER(count_of(out, "\n"), 3);
	CHECK_NUMBER(count_of(out, "null"), 0);
	CHECK_PART(err, "imc.CAS_COUNT:WR: no value after the last report: imc2 (socket 0)");
}

/* A denominator of 0 is no failure. */
static void test_without_value(void)
{
	lose(2, "the denominator is 0");
	script.flags = UNC_VALUE_FRESH;
	CHECK_NUMBER(run_lossy("-j -I 100 -d 0.5"), 0);
	CHECK_NUMBER(count_of(out, "null"), 4);
	CHECK_PART(line(out, 5), "\"invalid\":{\"imc.CAS_COUNT:WR\":\"the denominator is 0\"}");
	CHECK_TEXT(err, "uncore: imc.CAS_COUNT:WR: no value in 4 of 5 reports: the denominator "
			"is 0\n");
}

/* What every row of a report at half a second begins with. */
#define HALF "0.5,2001-09-09T03:16:40.500000+01:30,0.5,"

static void test_separated(void)
{
	lose(1, taken);
	CHECK_NUMBER(run_lossy("-x, -d 0.5"), 1);
	CHECK_TEXT(line(out, 1), "# SIMULATED sandybridge-ep");
	CHECK_TEXT(line(out, 2),
		   "time,clock,interval,socket,unit,name,value,measure,share,units,of,"
		   "reason");
	CHECK_PART(line(out, 3), HALF ",,imc.CAS_COUNT:RD,");
	CHECK_PART(line(out, 3), ",count,1,8,8,");
	CHECK_TEXT(line(out, 4),
		   HALF ",,imc.CAS_COUNT:WR,-,count,,8,8,\"imc2 (socket 0), CTL1: taken over, it "
			"counts \"\"ACT\"\", now\"");
	lose(1, "a sentence");
	CHECK_NUMBER(run_lossy("-x; -d 0.5"), 1);
	CHECK_TEXT(line(out, 4),
		   "0.5;2001-09-09T03:16:40.500000+01:30;0.5;;;imc.CAS_COUNT:WR;-;count"
		   ";;8;8;a sentence");
	lose(1, "tab");
	CHECK_NUMBER(run_lossy("-x\\t -d 0.5"), 1);
	CHECK_PART(line(out, 4), "\timc.CAS_COUNT:WR\t-\tcount\t\t8\t8\ttab");
	/* Who looks for "bb" in "xbbb" finds it too early. */
	lose(1, "xb");
	CHECK_NUMBER(run_lossy("-xbb -d 0.5"), 1);
	CHECK_PART(line(out, 4), "bb-bbcountbbbb8bb8bb\"xb\"");
	lose(1, "bx");
	CHECK_NUMBER(run_lossy("-xbb -d 0.5"), 1);
	CHECK_PART(line(out, 4), "bb-bbcountbbbb8bb8bbbx");
}

static void test_separator_refused(void)
{
	static const char *const rows[] = {"-x\"", "-xa\"b", "-x\n", "-x\r", "-x,\n"};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		CHECK_NUMBER(run(snb, rows[i]), 2);
		CHECK_TEXT(out, "");
		CHECK_NUMBER(count_of(err, "\n"), 1);
		CHECK_PART(err, "needs a separator without quotes and line ends");
	}
	CHECK_NUMBER(run(snb, "-x, --json-lines"), 2);
	CHECK_PART(err, "one of -j, --json-lines and -x");
}

/* Seconds since the start, time of day and place: of a report of the second interval. */
static void test_json_lines(void)
{
	lose(2, "a sentence");
	CHECK_NUMBER(run("sandybridge-ep,sockets=1",
			 "--json-lines -I 100 -d 0.2 --per-unit -e imc.CAS_COUNT:RD"),
		     1);
	CHECK_NUMBER(count_of(out, "\n"), 8); /* section 2.5: four channels */
	CHECK_PART(
		line(out, 5),
		"{\"time\":0.2,\"clock\":\"2001-09-09T03:16:40.200000+01:30\",\"interval\":0.1,"
		"\"simulated\":true,\"socket\":0,\"unit\":\"imc0\",\"name\":\"imc.CAS_COUNT:RD\","
		"\"value\":");
	CHECK_PART(line(out, 5), ",\"measure\":\"count\",\"share\":1,\"units\":1,\"of\":1,"
				 "\"reason\":null}");
	CHECK_PART(line(out, 6),
		   "\"unit\":\"imc1\",\"name\":\"imc.CAS_COUNT:RD\",\"value\":null,\"measure\":"
		   "\"count\",\"share\":null,\"units\":1,\"of\":1,\"reason\":\"a sentence\"}");
}

static void share(double share)
{
	lose(1, "");
	script.flags = UNC_VALUE_VALID | UNC_VALUE_FRESH | UNC_VALUE_ESTIMATED;
	script.share = share;
}

static void test_share(void)
{
	share(1 / 3.0);
	CHECK_NUMBER(run_lossy("-j -d 0.5"), 0);
	CHECK_PART(out, ",\"share\":{\"imc.CAS_COUNT:WR\":0.333333}}\n");
	share(1 / 3.0);
	CHECK_NUMBER(run_lossy("-j -I 100 -d 0.1"), 0);
	CHECK_PART(out, ",\"share\":{\"imc.CAS_COUNT:WR\":0.333333}}\n");
	share(1 / 3.0);
	CHECK_NUMBER(run_lossy("-x, -d 0.5"), 0);
	CHECK_PART(line(out, 4), ",count,0.333333,8,8,");
	share(1 / 3.0);
	CHECK_NUMBER(run_lossy("-d 0.5"), 0);
	CHECK_NUMBER(count_of(out, "  33 %\n"), 1);
	share(0.9999);
	CHECK_NUMBER(run_lossy("-d 0.5"), 0);
	CHECK_NUMBER(count_of(out, "  99 %\n"), 1);
}

/* From a read on, counters are not read at one time. */
static void late(unsigned from, unsigned marks)
{
	lose(from, "read over 40 ms of an interval of 100 ms");
	script.flags = UNC_VALUE_VALID | UNC_VALUE_FRESH | marks;
	script.share = 1;
}

#define LATE_JSON ",\"late\":{\"imc.CAS_COUNT:WR\":\"read over 40 ms of an interval of 100 ms\"}}\n"

/* The mark is the interval's with -I, else the total's. */
static void test_late_read(void)
{
	late(1, UNC_VALUE_LATE);
	CHECK_NUMBER(run_lossy("-j -d 0.5"), 0);
	CHECK_PART(out, LATE_JSON);
	CHECK_TEXT(err,
		   "uncore: imc.CAS_COUNT:WR: late: read over 40 ms of an interval of 100 ms\n");
	late(1, UNC_VALUE_LATE);
	CHECK_NUMBER(run_lossy("-j -I 100 -d 0.5"), 0);
	CHECK_NUMBER(count_of(out, "\"late\""), 0);
	CHECK_TEXT(err, "");
	late(1, UNC_VALUE_INTERVAL_LATE);
	CHECK_NUMBER(run_lossy("-j -d 0.5"), 0);
	CHECK_NUMBER(count_of(out, "\"late\""), 0);
	CHECK_TEXT(err, "");
	late(3, UNC_VALUE_INTERVAL_LATE);
	CHECK_NUMBER(run_lossy("-j -I 100 -d 0.5"), 0);
	CHECK_NUMBER(count_of(out, LATE_JSON), 3);
	CHECK_NUMBER(count_of(out, "null"), 0);
	CHECK_TEXT(line(err, 1),
		   "uncore: imc.CAS_COUNT:WR: late: read over 40 ms of an interval of "
		   "100 ms");
	CHECK_TEXT(line(err, 2), "uncore: imc.CAS_COUNT:WR: late in 3 of 5 reports");
	CHECK_NUMBER(count_of(err, "\n"), 2);
	late(1, UNC_VALUE_LATE); /* in the first run: the others are started anew */
	CHECK_NUMBER(run_lossy("-j -r 3 -d 0.5"), 0);
	CHECK_PART(out, ",\"late\":{\"imc.CAS_COUNT:WR\":\"read over 40 ms");
	CHECK_NUMBER(count_of(err, "\n"), 1);
}

static void test_late_rows(void)
{
	late(1, UNC_VALUE_LATE);
	CHECK_NUMBER(run_lossy("-x, -d 0.5"), 0);
	CHECK_PART(line(out, 4), ",count,1,8,8,read over 40 ms of an interval of 100 ms");
	CU_ASSERT(line(out, 3)[strlen(line(out, 3)) - 1] == ',');
	late(1, UNC_VALUE_INTERVAL_LATE);
	CHECK_NUMBER(run("sandybridge-ep,sockets=1",
			 "--json-lines -I 100 -d 0.2 --per-unit -e imc.CAS_COUNT:RD"),
		     0);
	CHECK_PART(line(out, 6), "\"unit\":\"imc1\",\"name\":\"imc.CAS_COUNT:RD\",\"value\":");
	CHECK_PART(line(out, 6),
		   "\"of\":1,\"reason\":\"read over 40 ms of an interval of 100 ms\"}");
	CHECK_NUMBER(count_of(out, "\"reason\":null"), 6);
	/* a mark does not hide another: the first read tells how many units there are */
	late(2, UNC_VALUE_UNPROVEN | UNC_VALUE_LATE);
	script.flags |= UNC_VALUE_PARTIAL;
	script.id = 0;
	CHECK_NUMBER(run("sandybridge-ep-no-imc3@1", "-x, -d 0.5 -e imc.CAS_COUNT:RD"), 0);
	CHECK_PART(line(out, 3), ",7,8,\"imc3 (socket 1): PCI function");
	CHECK_PART(line(out, 3), "; read over 40 ms of an interval of 100 ms; read over 40 ms");
	late(2, UNC_VALUE_UNPROVEN | UNC_VALUE_LATE);
	script.id = 0;
	CHECK_NUMBER(run("sandybridge-ep-no-imc3@1", "-j -d 0.5 -e imc.CAS_COUNT:RD"), 0);
	CHECK_PART(out, ",\"partial\":{\"imc.CAS_COUNT:RD\":{\"units\":7,\"of\":8,");
	CHECK_PART(out, ",\"unproven\":{\"imc.CAS_COUNT:RD\":\"read over");
	CHECK_PART(out, ",\"late\":{\"imc.CAS_COUNT:RD\":\"read over");
}

/* What is read at the start, only to know the number of units, is no report. */
static void test_late_unreported(void)
{
	late(1, UNC_VALUE_LATE | UNC_VALUE_INTERVAL_LATE);
	script.id = 0;
	script.to = 1;
	CHECK_NUMBER(run("sandybridge-ep-no-imc3@1", "-j -d 0.5 -e imc.CAS_COUNT:RD"), 0);
	CHECK_NUMBER(count_of(out, "\"late\""), 0);
	CHECK_NUMBER(count_of(err, "late"), 0);
	/* what has no value is not late */
	late(1, UNC_VALUE_LATE);
	script.flags = UNC_VALUE_FRESH | UNC_VALUE_LATE;
	CHECK_NUMBER(run_lossy("-j -d 0.5"), 0);
	CHECK_PART(out, ",\"invalid\":{\"imc.CAS_COUNT:WR\":\"read over");
	CHECK_NUMBER(count_of(out, "\"late\""), 0);
}

/* What is not of the interval is not shown as if it were. */
static void test_not_fresh(void)
{
	share(1);
	script.flags = UNC_VALUE_VALID;
	CHECK_NUMBER(run_lossy("-j -I 100 -d 0.5"), 0);
	CHECK_TEXT(out, "");
	share(1);
	script.flags = UNC_VALUE_VALID;
	CHECK_NUMBER(run_lossy("-j -d 0.5"), 0);
	CHECK_NUMBER(count_of(out, "\n"), 1);
}

/* Two intervals of no traffic: the ratio has no value, neither since start nor in the interval. */
static void test_idle(void)
{
	CHECK_NUMBER(run("sandybridge-ep,load=0", "-j -I 100 -d 0.2 -m dram_page_hit_ratio"), 0);
	CHECK_NUMBER(count_of(out, "\"dram_page_hit_ratio\":null"), 2);
	CHECK_NUMBER(count_of(out, "\"invalid\":{\"dram_page_hit_ratio\":\"the denominator is 0"),
		     2);
	CHECK_NUMBER(count_of(err, "\n"), 1);
	CHECK_PART(err, "uncore: dram_page_hit_ratio: no value: the denominator is 0");
}

/* ---- units that are not there */

#define REASON                                                                                     \
	"PCI function 10.5 (8086:3cb5) is not visible: hidden by the BIOS, or this machine has "   \
	"none"

static void test_partial(void)
{
	CHECK_NUMBER(run("sandybridge-ep-no-imc3@1", "-d 0.5"), 0);
	CHECK_TEXT(err, "uncore: memory_read_bytes, memory_write_bytes: 7 of 8 units: imc3 (socket "
			"1): " REASON "\n");
	CHECK_NUMBER(count_of(out, "B/s  7 of 8 units\n"), 2);
	CHECK_NUMBER(run("sandybridge-ep-no-imc3@1", "-j -d 0.5 --per-socket -m memory_read_bytes"),
		     0);
	CHECK_PART(out, ",\"partial\":{\"memory_read_bytes:socket=1\":{\"units\":3,\"of\":4,"
			"\"reason\":\"imc3 (socket 1): " REASON "\"}}}\n");
	CHECK_NUMBER(run("sandybridge-ep-no-imc3@1", "-x, -d 0.5 -m memory_read_bytes"), 0);
	CHECK_PART(line(out, 3), ",bytes,1,7,8,\"imc3 (socket 1): " REASON "\"");
	CHECK_NUMBER(run("sandybridge-ep-no-imc3", "-d 0.5 -e cbo.CLOCKTICKS -m memory_read_bytes"),
		     0);
	CHECK_TEXT(err,
		   "uncore: memory_read_bytes: 6 of 8 units: imc3 (socket 0) and 1 more: " REASON
		   "\n");
	CHECK_NUMBER(count_of(out, "units"), 1);
}

static void test_one_socket_lacks(void)
{
	static const char sim[] = "sandybridge-ep-no-imc@1";

	CHECK_NUMBER(run(sim, "-d 0.5 --per-socket -e imc.CAS_COUNT:RD"), 0);
	CHECK_PART(line(err, 1),
		   "uncore: imc.CAS_COUNT:RD:socket=1: no such unit can be read: PCI function");
	CHECK_NUMBER(count_of(err, "\n"), 1);
	CHECK_PART(line(out, 3), "imc.CAS_COUNT:RD:socket=0  ");
	CHECK_PART(line(out, 4), "imc.CAS_COUNT:RD:socket=1  ");
	CHECK_PART(line(out, 4), "         -");
	CHECK_NUMBER(run(sim, "-j -d 0.5 --per-socket -e imc.CAS_COUNT:RD"), 0);
	CHECK_PART(out, "\"imc.CAS_COUNT:RD:socket=1\":null}");
	CHECK_PART(out, "\"invalid\":{\"imc.CAS_COUNT:RD:socket=1\":\"no such unit can be read: "
			"PCI function");
	CHECK_NUMBER(run(sim, "-x, -d 0.5 --per-socket -e imc.CAS_COUNT:RD"), 0);
	CHECK_PART(line(out, 4),
		   HALF "1,,imc.CAS_COUNT:RD,-,count,,,,\"no such unit can be read: ");
	CHECK_NUMBER(run(sim, "-d 0.5 --per-socket -e imc.CAS_COUNT:RD:socket=1"), 1);
	CHECK_NUMBER(count_of(err, "\n"), 1);
	CHECK_NUMBER(run("sandybridge-ep-no-imc", "-d 0.5 --per-socket -e imc.CAS_COUNT:RD"), 1);
	CHECK_NUMBER(count_of(err, "\n"), 1);
	CHECK_NUMBER(run("sandybridge-ep-no-imc3@1", "-j -d 0.5 --per-unit -e imc.CAS_COUNT:RD"),
		     0);
	CHECK_NUMBER(count_of(out, "null"), 1);
	CHECK_PART(out, "\"imc3.CAS_COUNT:RD:socket=1\":null");
	CHECK_PART(
		out,
		"\"invalid\":{\"imc3.CAS_COUNT:RD:socket=1\":\"no such unit can be read: " REASON);
	CHECK_NUMBER(run("sandybridge-ep-no-imc", "-d 0.5 --per-unit -e imc.CAS_COUNT:RD"), 1);
	CHECK_NUMBER(run(snb, "-d 0.5 --per-unit -e imc7.CAS_COUNT:RD"), 2);
	CHECK_PART(err, "imc0 to imc3");
}

int main(void)
{
	static const struct suite_test tests[] = {
		{"-I 100 -d 20 is 200 intervals", test_intervals},
		{"who wakes up late", test_late},
		{"the last interval", test_last_interval},
		{"passes: a total", test_passes_total},
		{"passes: intervals", test_passes_intervals},
		{"passes: an interval without a full round", test_passes_incomplete},
		{"passes: a turn that fails", test_turn_fails},
		{"lost in an interval: null, status 1, no new start", test_lost_interval},
		{"lost, found at the stop", test_lost_at_stop},
		{"a denominator of 0 is no failure", test_without_value},
		{"separated values: marks and quotes", test_separated},
		{"separators that cannot be", test_separator_refused},
		{"lines of JSON", test_json_lines},
		{"the share of the time", test_share},
		{"late: intervals, totals, runs", test_late_read},
		{"late: rows, beside other marks", test_late_rows},
		{"late: not in a report", test_late_unreported},
		{"what is not of the interval", test_not_fresh},
		{"an idle machine", test_idle},
		{"partial sums", test_partial},
		{"a socket or unit without", test_one_socket_lacks},
		{NULL, NULL},
	};

	return suite_run("stat", tests);
}
