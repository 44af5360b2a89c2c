/* SPDX-License-Identifier: BSD-3-Clause */
/* What a text names, and "this event, there". Names and numbers of units: eventtables. */
#include <ctype.h>

#include "base/nearest.h"
#include "base/text.h"
#include "encode/event.h"
#include "encode/name.h"
#include "session_kit.h"

static unsigned searches; /* for what is nearest */

void unc_nearest_start(struct unc_nearest *nearest, const char *wanted)
{
	searches++;
	REAL(unc_nearest_start)(nearest, wanted);
}

static size_t index_of_event(const struct unc_platform *p, const char *spec)
{
	for (size_t i = 0; unc_event_get(p, i); i++)
		if (strcmp(unc_event_get(p, i)->spec, spec) == 0)
			return i;
	return SIZE_MAX;
}

/* The event of a text, whatever its place; SIZE_MAX: it is none. */
static size_t find_event(struct unc_platform *p, const char *text)
{
	struct unc_item item = {.size = sizeof(item)};

	return unc_item_find(p, text, &item) == 0 && item.event ? item.index : SIZE_MAX;
}

/* A name in letters of the other case, and with one more. */
static void mangle(char out[UNC_SPEC_MAX + 1], const char *name, const char *more)
{
	size_t n = 0;

	for (; *name; name++)
		out[n++] = (char)(isupper((unsigned char)*name) ? tolower((unsigned char)*name)
								: toupper((unsigned char)*name));
	strcpy(out + n, more);
}

static unsigned find_umasks(const struct unc_table *t, const struct unc_tbl_event *e)
{
	char word[UNC_SPEC_MAX], text[UNC_SPEC_MAX + 1];
	unsigned wrong = 0;

	for (uint32_t i = 0; i < e->umasks.n; i++) {
		const struct unc_tbl_umask *u = &t->umask[e->umasks.first + i];
		const char *names = u->alias ? unc_tbl_str(t, u->alias) : NULL;
		const char *own = unc_tbl_str(t, u->name);
		uint16_t found;

		do {
			mangle(text, own, "");
			wrong += !unc_umask_find(t, e, text, &found) ||
				 found != e->umasks.first + i || !unc_umask_find(t, e, own, &found);
			mangle(text, own, "~");
			wrong += unc_umask_find(t, e, text, &found);
			own = word;
		} while (names && unc_list_next(&names, word, sizeof(word)));
	}
	return wrong;
}

/* Each event and umask of all CPUs is found by its names in letters of any case, and by no other. */
static void test_all(void)
{
	const struct unc_cpu *cpu;

	for (size_t c = 0; (cpu = unc_cpu_get(NULL, c)) != NULL; c++) {
		struct unc_platform *p = machine(cpu->name);
		char text[UNC_SPEC_MAX + 1];
		unsigned wrong = 0;

		for (size_t i = 0; i < p->table->n_event; i++) {
			const char *spec = unc_event_get(p, i)->spec;

			mangle(text, spec, "");
			wrong += find_event(p, text) != i || find_event(p, spec) != i;
			mangle(text, spec, "~");
			wrong += find_event(p, text) != SIZE_MAX;
			wrong += find_umasks(p->table, &p->table->event[i]);
		}
		CHECK_NUMBER(wrong, 0);
		unc_platform_close(p);
	}
}

/* What is found needs no sentence on what was not: a metric is no event. */
static void test_no_search(void)
{
	static const char *const texts[] = {"memory_read_bytes", "imc3.MEM_BW_READS:socket=1",
					    "imc.CAS_COUNT:RD", "cha.TOR_INSERTS:IA_HIT:thresh=1"};
	struct unc_item item = {.size = sizeof(item)};
	struct unc_platform *p = machine(EMR);
	struct unc_session *s;
	int id;

	CHECK_NUMBER(unc_session_new(p, UNC_SESSION_ROTATE, &s), 0);
	searches = 0;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		CHECK_NUMBER(unc_item_find(p, texts[i], &item), 0);
		CHECK_NUMBER(unc_session_add(s, texts[i], &id), 0);
	}
	CHECK_NUMBER(searches, 0);
	CHECK_NUMBER(unc_item_find(p, "memory_read_byte", &item), UNC_ERR_NOT_FOUND);
	CHECK_NUMBER(searches, 1);
	unc_session_free(s);
	unc_platform_close(p);
}

static const struct metric_row {
	const char *text;
	int rc;
	const char *name; /* or the sentence */
	int socket, index;
} metric_rows[] = {
	{"memory_read_bytes", 0, "memory_read_bytes", -1, -1},
	{"Memory_Read_Bytes:socket=1", 0, "memory_read_bytes", 1, -1},
	{"imc.MEM_BW_READS", 0, "imc.MEM_BW_READS", -1, -1},
	{"imc3.MEM_BW_READS", 0, "imc.MEM_BW_READS", -1, 3},
	{"imc3.mem_bw_reads:socket=0x1", 0, "imc.MEM_BW_READS", 1, 3},
	{"imc127.MEM_BW_READS", 0, "imc.MEM_BW_READS", -1, 127},
	{"memory_read_bytes:socket=zz", UNC_ERR_INVALID,
	 "memory_read_bytes: 'socket=zz' is not socket=N with N up to 63", 0, 0},
	{"memory_read_bytes:socket=-5", UNC_ERR_INVALID,
	 "memory_read_bytes: 'socket=-5' is not socket=N with N up to 63", 0, 0},
	{"imc3.MEM_BW_READS:socket=1junk", UNC_ERR_INVALID,
	 "imc3.MEM_BW_READS: 'socket=1junk' is not socket=N with N up to 63", 0, 0},
	{"memory_read_bytes:foo=1", UNC_ERR_INVALID,
	 "memory_read_bytes: 'foo=1' is no place of a metric: socket=N, node=N, port=N, unit=N or "
	 "device=NAME",
	 0, 0},
};

static void test_metrics(void)
{
	struct unc_platform *p = machine(EMR);

	for (size_t i = 0; i < sizeof(metric_rows) / sizeof(metric_rows[0]); i++) {
		const struct metric_row *row = &metric_rows[i];
		struct unc_item item = {.size = sizeof(item)};

		CHECK_NUMBER(unc_item_find(p, row->text, &item), row->rc);
		CHECK_TEXT(row->rc ? unc_platform_error(p) : item.metric->name, row->name);
		if (row->rc)
			continue;
		CHECK_NUMBER(item.at.socket, row->socket);
		CHECK_NUMBER(item.at.index, row->index);
	}
	unc_platform_close(p);
}

/* What a text names, of either kind. */
static const struct item_row {
	const char *text;
	int rc;
	const char *base; /* or the sentence */
	const char *units_of;
	int socket, index;
} item_rows[] = {
	{"memory_read_bytes", 0, "memory_read_bytes", NULL, -1, -1},
	{"MEMORY_READ_BYTES:socket=1", 0, "memory_read_bytes", NULL, 1, -1},
	{"imc3.mem_bw_reads", 0, "imc.MEM_BW_READS", "imc", -1, 3},
	{"imc.cas_count.rd", 0, "imc.CAS_COUNT:RD", "imc", -1, -1},
	{"imc3.CAS_COUNT:RD:edge:socket=1", 0, "imc.CAS_COUNT:RD:edge", "imc", 1, 3},
	{"UNC_CHA_CLOCKTICKS", 0, "cha.CLOCKTICKS", "cha", -1, -1},
	/* neither: the nearest of both kinds */
	{"memory_read_byte", UNC_ERR_NOT_FOUND,
	 "no metric or event memory_read_byte in emerald-rapids; nearest is memory_read_bytes",
	 NULL, 0, 0},
	{"imc.MEM_BW_REDS", UNC_ERR_NOT_FOUND,
	 "no metric or event imc.MEM_BW_REDS in emerald-rapids; nearest is imc.MEM_BW_READS", NULL,
	 0, 0},
	{"imc3.CAS_CONT:RD:socket=0", UNC_ERR_NOT_FOUND,
	 "no metric or event imc.CAS_CONT in emerald-rapids; nearest is imc.CAS_COUNT", NULL, 0, 0},
	{"CAS_CONT", UNC_ERR_NOT_FOUND,
	 "no metric or event CAS_CONT in emerald-rapids; nearest is imc.CAS_COUNT", NULL, 0, 0},
	{"qqqqqqqq", UNC_ERR_NOT_FOUND, "no metric or event qqqqqqqq in emerald-rapids", NULL, 0,
	 0},
	/* an event, but for something */
	{"imc.CAS_COUNT:RX", UNC_ERR_NOT_FOUND, "imc.CAS_COUNT: no umask RX; nearest is RD", NULL,
	 0, 0},
	{"imc.CAS_COUNT.RX", UNC_ERR_NOT_FOUND, "imc.CAS_COUNT: no umask RX; nearest is RD", NULL,
	 0, 0},
	{"UNC_CHA_CLOCKTICK", UNC_ERR_NOT_FOUND,
	 "cha.CLOCKTICK: no event CLOCKTICK in cha; nearest is CLOCKTICKS", NULL, 0, 0},
	{"inc.CAS_COUNT:RD", UNC_ERR_NOT_FOUND,
	 "inc.CAS_COUNT:RD: no unit type inc; emerald-rapids has cha, imc, mc, m2m, upi, m3upi, "
	 "iio, irp, m2pcie, pcu, mdf, cxlcm, cxldp, ubox, m2hbm, mchbm",
	 NULL, 0, 0},
	{"memory_read_bytes:socket=2", UNC_ERR_RANGE,
	 "memory_read_bytes:socket=2: this machine has sockets 0 to 1", NULL, 0, 0},
	{"memory_read_bytes:foo=1", UNC_ERR_INVALID,
	 "memory_read_bytes: 'foo=1' is no place of a metric: socket=N, node=N, port=N, unit=N or "
	 "device=NAME",
	 NULL, 0, 0},
	{"", UNC_ERR_INVALID,
	 "the event is empty; want [type[index].]EVENT[:UMASK]...[:field=value]...[:socket=N]",
	 NULL, 0, 0},
};

static void check_item(struct unc_platform *p, const struct item_row *row)
{
	struct unc_item item = {.size = sizeof(item)};

	CHECK_NUMBER(unc_item_find(p, row->text, &item), row->rc);
	CHECK_TEXT(unc_platform_error(p), row->rc ? row->base : "");
	if (row->rc)
		return;
	CHECK_TEXT(item.base, row->base);
	CHECK_TEXT(item.units_of ? item.units_of : "", row->units_of ? row->units_of : "");
	CHECK_NUMBER(item.at.socket, row->socket);
	CHECK_NUMBER(item.at.index, row->index);
	CU_ASSERT_FATAL(!item.metric != !item.event);
	if (item.metric) {
		CU_ASSERT_PTR_EQUAL(item.metric, unc_metric_get(p, item.index));
	} else {
		CU_ASSERT_PTR_EQUAL(item.event, unc_event_get(p, item.index));
		CU_ASSERT(strncmp(row->base, item.event->spec, strlen(item.event->spec)) == 0);
	}
}

static void test_items(void)
{
	struct unc_platform *p = machine(EMR);

	for (size_t i = 0; i < sizeof(item_rows) / sizeof(item_rows[0]); i++)
		check_item(p, &item_rows[i]);
	unc_platform_close(p);
}

/* Montecito's bus has no units of its own: those of the type `core` count its events. */
static void test_item_of_view(void)
{
	struct unc_platform *p = machine("montecito,clock=step");
	struct unc_item item = {.size = sizeof(item)};

	CHECK_NUMBER(unc_item_find(p, "bus.BUS_ALL:ANY", &item), 0);
	CHECK_TEXT(item.event->type, "bus");
	CHECK_TEXT(item.units_of, "core");
	unc_platform_close(p);
}

/* Names of CPUs are shortened by people. */
static void test_cpus(void)
{
	static const char *const rows[][2] = {
		{"emerald", "no CPU emerald; nearest is emerald-rapids; there are tables for "},
		{"Sapphire-Rapid",
		 "no CPU Sapphire-Rapid; nearest is sapphire-rapids; there are tables for "},
		{"ivb", "no CPU ivb; nearest is ivybridge-ep; there are tables for "},
		{"hasswell-ep", "no CPU hasswell-ep; nearest is haswell-ep; there are tables for "},
		{"q", "no CPU q; there are tables for "},
		{"qqqq", "no CPU qqqq; there are tables for "},
		/* of two CPUs: no alias */
		{"icelake", "no CPU icelake; nearest is icelake-sp; there are tables for "},
		{"broadwell", "no CPU broadwell; nearest is broadwell-ep; there are tables for "},
	};
	struct unc_platform *p = NULL;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct unc_options o = {.size = sizeof(o), .cpu = rows[i][0]};

		CHECK_NUMBER(unc_platform_open(&o, &p), UNC_ERR_NOT_FOUND);
		if (strncmp(unc_open_error(), rows[i][1], strlen(rows[i][1])) != 0)
			CHECK_TEXT(unc_open_error(), rows[i][1]);
	}
	struct unc_options sim = {.size = sizeof(sim), .sim = "emerald"};
	CHECK_NUMBER(unc_platform_open(&sim, &p), UNC_ERR_NOT_FOUND);
	static const char wanted[] = "there is no simulated machine 'emerald'; nearest is "
				     "emerald-rapids; there are: ";
	if (strncmp(unc_open_error(), wanted, strlen(wanted)) != 0)
		CHECK_TEXT(unc_open_error(), wanted);
	CU_ASSERT_PTR_NULL(p);
}

/* What people call CPUs: perfmon's mapfile.csv has folders (SPR) and files (icelakex_uncore.json) of these
 * names for models of these families. */
static void test_cpu_aliases(void)
{
	static const char *const rows[][2] = {
		{"jkt", "sandybridge-ep"},    {"IVT", "ivybridge-ep"},
		{"haswellx", "haswell-ep"},   {"bdx", "broadwell-ep"},
		{"bdw-de", "broadwell-de"},   {"skylake", "skylake-sp"},
		{"SKX", "skylake-sp"},        {"clx", "cascadelake-sp"},
		{"icx", "icelake-sp"},        {"icelakex", "icelake-sp"},
		{"snr", "snow-ridge"},        {"spr", "sapphire-rapids"},
		{"emr", "emerald-rapids"},    {"gnr", "granite-rapids"},
		{"srf", "sierra-forest"},     {"cwf", "clearwater-forest"},
		{"GrandRidge", "grand-ridge"}};
	struct unc_platform *p = NULL;

	for (size_t i = 0; i < 2 * sizeof(rows) / sizeof(rows[0]); i++) {
		struct unc_options o = {.size = sizeof(o)};

		*(i % 2 ? &o.sim : &o.cpu) = rows[i / 2][0];
		CU_ASSERT_FATAL(unc_platform_open(&o, &p) == 0);
		CHECK_TEXT(unc_platform_cpu(p)->name, rows[i / 2][1]);
		unc_platform_close(p);
	}
}

/* None is a name or an alias of two. */
static void test_cpu_alias_of_one(void)
{
	struct unc_table one, other;
	char word[64];

	for (size_t i = 0; unc_table_built(i, &one); i++) {
		const char *list = one.alias ? unc_tbl_str(&one, one.alias) : NULL;

		CU_ASSERT(!unc_cpu_is(&one, "") && unc_cpu_is(&one, unc_tbl_str(&one, one.name)));
		while (list && unc_list_next(&list, word, sizeof(word)))
			for (size_t k = 0; unc_table_built(k, &other); k++)
				CU_ASSERT(unc_cpu_is(&other, word) == (i == k));
	}
}

/* Portable metrics come first, and in one order on all CPUs. */
static void test_order(void)
{
	const struct unc_cpu *cpu;
	char first[1024] = "", names[1024];

	for (size_t c = 0; (cpu = unc_cpu_get(NULL, c)); c++) {
		struct unc_options options = {.size = sizeof(options), .cpu = cpu->name};
		struct unc_buf list = UNC_BUF(names);
		const struct unc_metric *m;
		struct unc_platform *p = NULL;
		bool others = false;

		CU_ASSERT_FATAL(unc_platform_open(&options, &p) == 0);
		for (size_t i = 0; (m = unc_metric_get(p, i)); i++) {
			bool portable = strcmp(m->of, "portable") == 0;

			CU_ASSERT(!portable || !others);
			others |= !portable;
			if (portable)
				unc_put_word(&list, m->name);
		}
		if (!*first)
			strcpy(first, names);
		CHECK_TEXT(names, first);
		CU_ASSERT(strncmp(names, "memory_read_bytes, memory_write_bytes, ", 39) == 0);
		unc_platform_close(p);
	}
}

/* An encoding tells the event, and its text without the place. */
static void test_encoding(void)
{
	struct unc_platform *p = machine(SNB);
	struct unc_encoding e = {.size = sizeof(e)};

	CHECK_NUMBER(unc_event_encode(p, "cbo3.tor_inserts:MISS_OPCODE:opc=DRd:socket=1", &e), 0);
	CHECK_TEXT(e.name, "cbo3.TOR_INSERTS:MISS_OPCODE:opc=0x182:socket=1");
	CHECK_TEXT(e.base, "cbo.TOR_INSERTS:MISS_OPCODE:opc=0x182");
	CHECK_NUMBER(e.event, index_of_event(p, "cbo.TOR_INSERTS"));
	/* Texts are made for who has room for them. */
	struct unc_encoding few = {.size = offsetof(struct unc_encoding, name), .name = "none"};
	CHECK_NUMBER(unc_event_encode(p, "cbo3.tor_inserts:MISS_OPCODE:opc=DRd:socket=1", &few), 0);
	CHECK_NUMBER(few.ctl, e.ctl);
	CHECK_NUMBER(few.filters[0].value, e.filters[0].value);
	CHECK_TEXT(few.name, "none");
	unc_platform_close(p);
}

/* eventtables/sandybridge-ep: cbo.events and ha.events, needs=. */
static void test_needs(void)
{
	struct unc_platform *p = machine(SNB);
	size_t tor = index_of_event(p, "cbo.TOR_INSERTS"),
	       ha = index_of_event(p, "ha.ADDR_OPC_MATCH");
	const struct unc_field *f;
	const struct unc_umask *u;
	int number = -1;

	for (int i = 0; (u = unc_umask_get(p, tor, (size_t)i)); i++)
		if (strcmp(u->name, "NID_OPCODE") == 0)
			number = i;
	CU_ASSERT_FATAL(number >= 0);
	f = unc_event_need(p, tor, number, 0);
	CU_ASSERT_FATAL(f != NULL);
	CHECK_TEXT(f->name, "opc");
	CHECK_NUMBER(f->needed, 1);
	f = unc_event_need(p, tor, number, 1);
	CU_ASSERT_FATAL(f != NULL);
	CHECK_TEXT(f->name, "nid");
	CU_ASSERT_PTR_NULL(unc_event_need(p, tor, number, 2));
	CU_ASSERT_PTR_NULL(
		unc_event_need(p, tor, -1, 0)); /* it needs a umask, and fields only then */
	f = unc_event_need(p, ha, -1, 1);
	CU_ASSERT_FATAL(f != NULL);
	CHECK_TEXT(f->name, "opc");
	CU_ASSERT_PTR_NULL(unc_event_need(p, ha, 1000, 0));
	CU_ASSERT_PTR_NULL(unc_event_need(p, SIZE_MAX, -1, 0));
	unc_platform_close(p);
}

/* No metric is an event too: unc_session_add() takes either. */
static void test_apart(void)
{
	const struct unc_cpu *cpu;

	for (size_t c = 0; (cpu = unc_cpu_get(NULL, c)); c++) {
		struct unc_options options = {.size = sizeof(options), .cpu = cpu->name};
		const struct unc_metric *m;
		struct unc_platform *p = NULL;
		struct unc_spec spec;

		CU_ASSERT_FATAL(unc_platform_open(&options, &p) == 0);
		for (size_t i = 0; (m = unc_metric_get(p, i)); i++) {
			bool both = unc_spec_parse(p->table, m->name, &spec, NULL) == 0;

			if (both)
				printf("# %s: %s\n", cpu->name, m->name);
			CU_ASSERT(!both);
		}
		unc_platform_close(p);
	}
}

static void test_partial(void)
{
	struct unc_platform *p = machine("sandybridge-ep-no-imc3,clock=step");
	struct unc_session *s = session(p, 0);
	const char *text;

	add(s, "memory_read_bytes");
	add(s, "memory_read_bytes:socket=1");
	add(s, "cbo.CLOCKTICKS");
	text = unc_session_partial(s, 0);
	CU_ASSERT(strncmp(text, "imc3 (socket 0) and 1 more: PCI function 10.5 ", 46) == 0);
	text = unc_session_partial(s, 1);
	CU_ASSERT(strncmp(text, "imc3 (socket 1): PCI function 10.5 ", 35) == 0);
	CHECK_TEXT(unc_session_partial(s, 2), "");
	CHECK_TEXT(unc_session_partial(s, 3), "");
	CHECK_TEXT(unc_session_partial(s, -1), "");
	unc_session_free(s);
	unc_platform_close(p);
}

/* Six nodes, three a socket. Ports are bits of the mask of IIO events: public event file of Granite Rapids,
 * UNC_IIO_DATA_REQ_OF_CPU.MEM_READ.PART0 to PART7. */
static void test_on_machine(void)
{
	static const struct {
		const char *text, *name; /* what it is, or why it is none */
		int rc, socket, node, port;
	} rows[] = {
		{"MEMORY_READ_BYTES:Node=4", "memory_read_bytes:node=4", 0, 1, 4, -1},
		{"imc.CAS_COUNT_SCH0:node=1:ALL", "imc.CAS_COUNT_SCH0:ALL:node=1", 0, 0, 1, -1},
		{"memory_read_bytes:node=4:socket=1", "memory_read_bytes:socket=1:node=4", 0, 1, 4,
		 -1},
		{"pcie_read_bytes:unit=3:port=2", "pcie_read_bytes:port=2:unit=3", 0, -1, -1, 2},
		{"iio3.DATA_REQ_OF_CPU:MEM_READ.PART0:port=7",
		 "iio3.DATA_REQ_OF_CPU:MEM_READ.PART0:ch_mask=128", 0, -1, -1, -1},
		{"memory_read_bytes:node=6",
		 "memory_read_bytes:node=6: this machine has nodes 0 to 5, not 6", UNC_ERR_RANGE, 0,
		 0, 0},
		{"memory_read_bytes:node=4:socket=0",
		 "memory_read_bytes:node=4:socket=0: node 4 is of socket 1", UNC_ERR_INVALID, 0, 0,
		 0},
		{"memory_read_bytes:node=x",
		 "memory_read_bytes: 'node=x' is not node=N with N up to 4095", UNC_ERR_INVALID, 0,
		 0, 0},
		{"memory_read_bytes:node=1:node=1",
		 "memory_read_bytes:node=1:node=1: node is given twice", UNC_ERR_INVALID, 0, 0, 0},
		{"pcie_read_bytes:port=8", "pcie_read_bytes: 'port=8' is not port=N with N up to 7",
		 UNC_ERR_INVALID, 0, 0, 0},
		{"iio.DATA_REQ_OF_CPU:MEM_READ.PART0:port=8",
		 "iio.DATA_REQ_OF_CPU: port=8 does not fit: a stack has ports 0 to 7",
		 UNC_ERR_RANGE, 0, 0, 0},
		{"iio.DATA_REQ_OF_CPU:MEM_READ.PART0:ch_mask=1:port=1",
		 "iio.DATA_REQ_OF_CPU: port= and ch_mask= are both given: one says it",
		 UNC_ERR_INVALID, 0, 0, 0},
		{"pcie_read_bytes:device=", "pcie_read_bytes:device=: device= is empty",
		 UNC_ERR_INVALID, 0, 0, 0},
		{"pcie_read_bytes:device=0000:70:00.0:device=a",
		 "pcie_read_bytes:device=0000:70:00.0:device=a: device= is given twice",
		 UNC_ERR_INVALID, 0, 0, 0},
	};
	struct unc_platform *p = machine("granite-rapids-snc3,clock=step");

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct unc_item item = {.size = sizeof(item)};

		CHECK_NUMBER(unc_item_find(p, rows[i].text, &item), rows[i].rc);
		CHECK_TEXT(rows[i].rc ? unc_platform_error(p) : item.name, rows[i].name);
		if (rows[i].rc)
			continue;
		CHECK_NUMBER(item.at.socket, rows[i].socket);
		CHECK_NUMBER(item.node, rows[i].node);
		CHECK_NUMBER(item.port, rows[i].port);
	}
	unc_platform_close(p);
}

/* "As lspci writes them": domain, bus, device below 32, function below 8. */
static void test_addresses(void)
{
	char out[UNC_DEVICE_MAX];
	static const char *const none[] = {"mlx5_0",     "70:20.0",       "70:00.8",
					   "0000:70:00", "0000::70:00.0", ""};

	CU_ASSERT(unc_name_address("0000:70:00.0", out));
	CHECK_TEXT(out, "0000_70_00_0");
	CU_ASSERT(unc_name_address("70:1f.7", out));
	CHECK_TEXT(out, "0000_70_1f_7");
	CU_ASSERT(unc_name_address("10000_01_00_0", out));
	CHECK_TEXT(out, "10000_01_00_0");
	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
		CU_ASSERT(!unc_name_address(none[i], out));
}

int main(void)
{
	static const struct suite_test tests[] = {
		{"events and umasks of all CPUs, in letters of any case", test_all},
		{"what is found is not looked for among others", test_no_search},
		{"metrics are found, and their places", test_metrics},
		{"a text names an event or a metric", test_items},
		{"the units of a view are another type's", test_item_of_view},
		{"the nearest CPU", test_cpus},
		{"CPUs as people call them", test_cpu_aliases},
		{"such a name is that of one CPU", test_cpu_alias_of_one},
		{"portable metrics come first", test_order},
		{"nodes and ports of a machine", test_on_machine},
		{"addresses of PCI functions", test_addresses},
		{"an encoding names its event", test_encoding},
		{"fields that are needed", test_needs},
		{"metrics and events have different names", test_apart},
		{"what a sum goes without, as a sentence", test_partial},
		{NULL, NULL},
	};

	return suite_run("name", tests);
}
