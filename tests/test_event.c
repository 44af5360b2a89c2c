/* SPDX-License-Identifier: BSD-3-Clause */
/* Texts of events on a made-up CPU (tests/tables_bad/good): spellings, values, exact sentences. */
#include <stdio.h>
#include <stdlib.h>

#include "encode/event.h"
#include "made.h"
#include "suite.h"

static const struct unc_table *table(void)
{
	static const struct unc_table *good;

	if (!good)
		good = made_table("testcpu");
	CU_ASSERT_PTR_NOT_NULL_FATAL(good);
	return good;
}

static int encode(const char *text, struct unc_spec *spec, struct unc_code *code, int socket,
		  struct unc_error *err)
{
	int rc = unc_spec_parse(table(), text, spec, err);

	return rc < 0 ? rc : unc_spec_encode(table(), spec, socket, 2, code, err);
}

static void good_texts(void)
{
	static const struct {
		const char *text, *canonical;
		uint64_t ctl, filter;
		uint32_t counters;
	} cases[] = {
		{"box.CLOCKTICKS", "box.CLOCKTICKS", 0x400000, 0, 3},
		{"BOX.clockTicks", "box.CLOCKTICKS", 0x400000, 0, 3},
		{"box::CLOCKTICKS", "box.CLOCKTICKS", 0x400000, 0, 3},
		{"CLOCKTICKS", "box.CLOCKTICKS", 0x400000, 0, 3},
		{"UNC_B_CLOCKTICKS", "box.CLOCKTICKS", 0x400000, 0, 3},
		{"box1.CLOCKTICKS", "box1.CLOCKTICKS", 0x400000, 0, 3},
		{"box.CLOCKTICKS:unit=1:socket=0", "box1.CLOCKTICKS:socket=0", 0x400000, 0, 3},
		{"box.MIXED:RD", "box.MIXED:RD", 0x400110, 0, 3},
		{"box.MIXED.RD", "box.MIXED:RD", 0x400110, 0, 3},
		{"UNC_B_MIXED.RD", "box.MIXED:RD", 0x400110, 0, 3},
		{"box.MIXT:RD", "box.MIXED:RD", 0x400110, 0, 3},
		{"box.MIXED:WR:RD", "box.MIXED:RD:WR", 0x400310, 0, 3},
		{"box.MIXED:RD:PART", "box.MIXED:RD:PART", 0x408110, 0, 3},
		{"box.MIXED:RD:edge:thresh=255", "box.MIXED:RD:edge:thresh=255", 0xff440110, 0, 3},
		{"box.MIXED:RD:e:t=0x14", "box.MIXED:RD:edge:thresh=20", 0x14440110, 0, 3},
		{"box.MIXED:RD:edge=0", "box.MIXED:RD:edge=0", 0x400110, 0, 3},
		{"box.MIXED:OPCODE:opc=DRd", "box.MIXED:OPCODE:opc=0x182", 0x400310, 0xc1000000, 3},
		{"box.MIXED:NODE:nid=2", "box.MIXED:NODE:nid=2", 0x404010, 0x800, 3},
		{"box.MIXED:RD:split=0x1f4", "box.MIXED:RD:split=0x1f4", 0x400110, 0x70000d, 3},
		{"box.PLAIN", "box.PLAIN", 0x400020, 0xc00, 1},
		{"box.PLAIN:nid=1", "box.PLAIN:nid=1", 0x400020, 0x400, 1},
		{"box.CHOICE", "box.CHOICE", 0x400130, 0, 2},
		{"box.CHOICE:B", "box.CHOICE:B", 0x400230, 0, 2},
		{"box.FREE", "box.FREE", 0, 0, 0},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct unc_error err = {0};
		struct unc_spec spec;
		struct unc_code code = {0};
		char text[UNC_SPEC_MAX] = "", again[UNC_SPEC_MAX] = "";

		printf("# %s\n", cases[i].text);
		CHECK_NUMBER(encode(cases[i].text, &spec, &code, 0, &err), 0);
		CHECK_TEXT(err.text, "");
		unc_spec_format(table(), &spec, text, sizeof(text));
		CHECK_TEXT(text, cases[i].canonical);
		CHECK_NUMBER(code.ctl, cases[i].ctl);
		CHECK_NUMBER(code.n_filters ? code.filter[0].value : 0, cases[i].filter);
		CHECK_NUMBER(code.counters, cases[i].counters);
		CHECK_NUMBER(unc_spec_canonical(table(), text, again, sizeof(again), &err), 0);
		CHECK_TEXT(again, text);
	}
}

static void nodes(void)
{
	struct unc_error err = {0};
	struct unc_spec spec;
	struct unc_code code;

	CHECK_NUMBER(encode("box.MIXED:NODE:nid=local", &spec, &code, 1, &err), 0);
	CHECK_NUMBER(code.filter[0].value, 2 << 10);
	CU_ASSERT(code.by_socket);
	CHECK_NUMBER(encode("box.MIXED:NODE:nid=remote", &spec, &code, 1, &err), 0);
	CHECK_NUMBER(code.filter[0].value, 1 << 10);
	CHECK_NUMBER(encode("box.MIXED:NODE:nid=3", &spec, &code, 1, &err), 0);
	CU_ASSERT_FALSE(code.by_socket);
}

#define WANT "want [type[index].]EVENT[:UMASK]...[:field=value]...[:socket=N]"

static void sentences(void)
{
	static const struct {
		const char *text;
		int code;
		const char *sentence;
	} cases[] = {
		{"", UNC_ERR_INVALID, "the event is empty; " WANT},
		{"box.CLOCKTICKS ", UNC_ERR_INVALID,
		 "'box.CLOCKTICKS ': a blank or unprintable letter in an event; " WANT},
		{"fox.CLOCKTICKS", UNC_ERR_NOT_FOUND,
		 "fox.CLOCKTICKS: no unit type fox; testcpu has box"},
		{"NONE", UNC_ERR_NOT_FOUND,
		 "NONE: no unit type of testcpu has such an event; " WANT},
		{"box.CLOKTICKS", UNC_ERR_NOT_FOUND,
		 "box.CLOKTICKS: no event CLOKTICKS in box; nearest is CLOCKTICKS"},
		{"box.QQQQQQQQ", UNC_ERR_NOT_FOUND, "box.QQQQQQQQ: no event QQQQQQQQ in box"},
		{"box.MIXED:RW", UNC_ERR_NOT_FOUND, "box.MIXED: no umask RW; nearest is RD"},
		{"box.MIXED.RW", UNC_ERR_NOT_FOUND, "box.MIXED: no umask RW; nearest is RD"},
		{"box.CLOCKTICKS:RD", UNC_ERR_NOT_FOUND,
		 "box.CLOCKTICKS: no umask RD; the event has none"},
		{"box.MIXED", UNC_ERR_INVALID,
		 "box.MIXED: a umask is needed: RD, WR, WHOLE, OPCODE, NODE"},
		{"box.MIXED:PART", UNC_ERR_INVALID,
		 "box.MIXED: umask PART counts nothing alone; add one that does"},
		{"box.MIXED:RD:WHOLE", UNC_ERR_INVALID,
		 "box.MIXED: umask WHOLE cannot be combined with RD"},
		{"box.MIXED:RD:rd", UNC_ERR_INVALID, "box.MIXED: umask rd is given twice"},
		{"box.MIXED:OPCODE", UNC_ERR_INVALID,
		 "box.MIXED: OPCODE needs a value of field opc"},
		{"box.MIXED:RD:opc=1", UNC_ERR_INVALID,
		 "box.MIXED: field opc has no effect with RD"},
		{"box.CLOCKTICKS:opc=1", UNC_ERR_NOT_FOUND,
		 "box.CLOCKTICKS: no field opc; it takes edge, thresh"},
		{"box.CLOCKTICKS:color=1", UNC_ERR_NOT_FOUND,
		 "box.CLOCKTICKS: no field color; it takes edge, thresh"},
		{"box.CLOCKTICKS:thresh=256", UNC_ERR_RANGE,
		 "box.CLOCKTICKS: thresh=256 does not fit; the limit is 255"},
		{"box.MIXED:OPCODE:opc=0x200", UNC_ERR_RANGE,
		 "box.MIXED: opc=0x200 does not fit; the limit is 511"},
		{"box.MIXED:RD:split=6", UNC_ERR_RANGE,
		 "box.MIXED: split=6 is not a multiple of 4, as the register needs"},
		{"box.CLOCKTICKS:thresh=x", UNC_ERR_INVALID,
		 "box.CLOCKTICKS: thresh=x is not a number"},
		{"box.MIXED:OPCODE:opc=Drx", UNC_ERR_INVALID,
		 "box.MIXED: opc=Drx is not a number or a name of the table"},
		{"box.CLOCKTICKS:thresh", UNC_ERR_INVALID,
		 "box.CLOCKTICKS: field thresh needs a value, as in thresh=1"},
		{"box.CLOCKTICKS:thresh=", UNC_ERR_INVALID,
		 "box.CLOCKTICKS: 'thresh=' is empty or has no value; " WANT},
		{"box.CLOCKTICKS:", UNC_ERR_INVALID,
		 "box.CLOCKTICKS: '' is empty or has no value; " WANT},
		{"box.CLOCKTICKS:thresh=1:t=2", UNC_ERR_INVALID,
		 "box.CLOCKTICKS: thresh is given twice"},
		{"box1.CLOCKTICKS:unit=1", UNC_ERR_INVALID, "box.CLOCKTICKS: unit is given twice"},
		{"box2.CLOCKTICKS", UNC_ERR_RANGE,
		 "box2.CLOCKTICKS: no such unit; a socket has at most box0 to box1"},
		{"box.CLOCKTICKS:socket=x", UNC_ERR_INVALID,
		 "box.CLOCKTICKS: socket=x is not a number"},
		{"box.CLOCKTICKS:socket=64", UNC_ERR_RANGE,
		 "box.CLOCKTICKS:socket=64: the socket does not fit; the limit is 63"},
		{"box.CLOCKTICKS:socket=99999999999999999999", UNC_ERR_RANGE,
		 "box.CLOCKTICKS:socket=99999999999999999999: the socket does not fit; the limit "
		 "is 63"},
		{"box.CLOCKTICKS:thresh=99999999999999999999", UNC_ERR_RANGE,
		 "box.CLOCKTICKS: thresh=99999999999999999999 does not fit; the limit is 255"},
		{"box.", UNC_ERR_INVALID, "box.: the unit type or the event is empty; " WANT},
		{".CLOCKTICKS", UNC_ERR_INVALID,
		 ".CLOCKTICKS: the unit type or the event is empty; " WANT},
		{":edge", UNC_ERR_INVALID, ":edge: the unit type or the event is empty; " WANT},
		{"box.MIXED::RD", UNC_ERR_INVALID, "box.MIXED: '' is empty or has no value; " WANT},
		{"box.FREE:edge", UNC_ERR_NOT_FOUND, "box.FREE: no umask edge; the event has none"},
		{"box.FREE:thresh=1", UNC_ERR_NOT_FOUND,
		 "box.FREE: no field thresh; it takes none"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct unc_error err = {0};
		struct unc_spec spec;
		struct unc_code code;

		CU_ASSERT_EQUAL(encode(cases[i].text, &spec, &code, 0, &err), cases[i].code);
		CHECK_TEXT(err.text, cases[i].sentence);
	}
}

static void long_texts(void)
{
	struct unc_error err = {0};
	struct unc_spec spec;
	char text[600];

	memset(text, 'x', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	CU_ASSERT_EQUAL(unc_spec_parse(table(), text, &spec, &err), UNC_ERR_INVALID);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "is longer than 255 letters"));
	text[255] = '\0';
	CU_ASSERT_EQUAL(unc_spec_parse(table(), text, &spec, &err), UNC_ERR_NOT_FOUND);
	memcpy(text, "box.", 4);
	CU_ASSERT_EQUAL(unc_spec_parse(table(), text, &spec, &err), UNC_ERR_NOT_FOUND);
}

/* Every prefix and every text with one letter changed is refused or encodes; nothing crashes. */
static void mangled_texts(void)
{
	static const char good[] = "box1.MIXED:RD:WR:edge:thresh=0x14:split=0x1f4:socket=1";
	struct unc_error err;
	struct unc_spec spec;
	struct unc_code code;
	char text[sizeof(good)];
	unsigned taken = 0;

	for (size_t n = 0; n < sizeof(good); n++) {
		memcpy(text, good, sizeof(good));
		text[n] = '\0';
		taken += encode(text, &spec, &code, 0, &err) == 0;
		for (int c = 1; c < 256; c++) {
			memcpy(text, good, sizeof(good));
			text[n] = n + 1 < sizeof(good) ? (char)c : '\0';
			taken += encode(text, &spec, &code, 0, &err) == 0;
		}
	}
	CU_ASSERT(taken > 50);
}

int main(void)
{
	static const struct suite_test tests[] = {
		{"spellings, values, canonical text", good_texts},
		{"masks of nodes differ by socket", nodes},
		{"exact sentences for bad input", sentences},
		{"long texts", long_texts},
		{"mangled texts", mangled_texts},
		{NULL, NULL},
	};
	int status = suite_run("event", tests);

	return status;
}
