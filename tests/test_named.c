/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * PMUs that the kernel names and no table knows: the machines of tests/named, as folders. What an event must be for
 * the kernel follows from its format: "config:0-7,32-35" takes the low eight bits of a value, then four, there. That
 * they count: integration/named.sh.
 */
#include <ctype.h>

#include "cases.h"
#include "encode/event.h"
#include "encode/kernel.h"
#include "fake_root.h"
#include "platform/platform.h"
#include "suite.h"

/* ---- folders */

static const char *pmu_path(const struct fake_root *root, const char *pmu, const char *file,
			    const char *name)
{
	return fake_path(root, "/sys/bus/event_source/devices/%s/%s%s", pmu, file, name);
}

static void put_cpus(const struct fake_root *root, const char *line)
{
	char vendor[32], family[16], model[16], text[1 << 16] = "", name[100];
	unsigned cpus, sockets, n = 0;
	int end = 0;

	CU_ASSERT_FATAL(sscanf(line, "cpu %31s %15s %15s %u %u %n", vendor, family, model, &cpus,
			       &sockets, &end) == 5);
	for (unsigned i = 0; i < cpus; i++) {
		unsigned socket = i / (cpus / sockets);

		snprintf(name, sizeof(name), "%u\n", socket);
		fake_text(fake_path(root,
				    "/sys/devices/system/cpu/cpu%u/topology/"
				    "physical_package_id",
				    i),
			  name);
		n += (unsigned)snprintf(text + n, sizeof(text) - n, "processor\t: %u\n", i);
		if (strcmp(vendor, "ARM") == 0)
			n += (unsigned)snprintf(text + n, sizeof(text) - n,
						"CPU implementer\t: %s\nCPU part\t: %s\n\n", family,
						model);
		else
			n += (unsigned)snprintf(
				text + n, sizeof(text) - n,
				"vendor_id\t: %s\ncpu family\t: %s\nmodel\t\t: %s\nmodel name\t: "
				"%s\n"
				"stepping\t: 2\nphysical id\t: %u\ncore id\t\t: %u\n\n",
				vendor, family, model, line + end, socket, i);
	}
	fake_text(fake_path(root, "/proc/cpuinfo"), text);
	snprintf(text, sizeof(text), "0-%u\n", cpus - 1);
	fake_text(fake_path(root, "/sys/devices/system/cpu/online"), text);
}

static void make_root(struct fake_root *root, const char *tree)
{
	char path[300], line[300], word[16], name[64], value[200], pmu[64] = "", type[16];
	const char *top = getenv("SRCDIR");
	FILE *f;

	fake_new(root);
	snprintf(path, sizeof(path), "%s/tests/named/%s.tree", top ? top : ".", tree);
	CU_ASSERT_PTR_NOT_NULL_FATAL(f = fopen(path, "r"));
	while (fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = '\0';
		if (*line == '#')
			continue;
		if (strncmp(line, "cpu ", 4) == 0) {
			put_cpus(root, line);
			continue;
		}
		CU_ASSERT_FATAL(sscanf(line, "%15s %63s %199s", word, name, value) == 3);
		if (strcmp(word, "pmu") == 0) {
			CU_ASSERT_FATAL(sscanf(line, "pmu %63s %15s %199s", pmu, type, value) == 3);
			fake_text(pmu_path(root, pmu, "type", ""), type);
			fake_text(pmu_path(root, pmu, "cpumask", ""),
				  strcmp(value, "-") == 0 ? "\n" : value);
		} else {
			fake_text(pmu_path(root, pmu, *word == 'f' ? "format/" : "events/", name),
				  value);
		}
	}
	fclose(f);
}

static struct unc_platform *open_root(const struct fake_root *root)
{
	struct unc_options options = {.size = sizeof(options), .sysroot = root->path};
	struct unc_platform *p = NULL;

	if (unc_platform_open(&options, &p) < 0)
		printf("# %s\n", unc_open_error());
	CU_ASSERT_PTR_NOT_NULL_FATAL(p);
	return p;
}

/* ---- what the kernel is asked for */

struct code {
	const char *tree, *text, *name;
	uint64_t config, config1, config2;
};

static const struct code codes[] = {
	{"client", "uncore_imc_free_running.data_read", NULL, 0x20ff, 0, 0},
	{"client", "uncore_imc_free_running_1/data_write/", "uncore_imc_free_running1.data_write",
	 0x30ff, 0, 0},
	{"client", "uncore_clock/clockticks/", "uncore_clock.clockticks", 0xff, 0, 0},
	{"client", "uncore_cbox.RAW:event=0x34:umask=0x11:edge=1:threshold=3",
	 "uncore_cbox.RAW:edge:event=52:threshold=3:umask=17", 0x3041134, 0, 0},
	{"client", "uncore_arb/event=0x80,umask=1,inv/", "uncore_arb.RAW:event=128:inv:umask=1",
	 0x800180, 0, 0},
	{"epyc", "amd_df.RAW:event=0x1f87:umask=0x3", "amd_df.RAW:event=8071:umask=3",
	 0x0800000f00000387, 0, 0},
	{"epyc", "amd_df/event=0x87,umask=0x3/", "amd_df.RAW:event=135:umask=3", 0x387, 0, 0},
	{"epyc", "amd_l3/event=0x04,umask=0xff,enallslices,enallcores,threadmask=3/",
	 "amd_l3.RAW:enallcores:enallslices:event=4:threadmask=3:umask=255", 0x0300c0000000ff04, 0,
	 0},
	{"epyc", "amd_umc_12/event=0x0a,rdwrmask=1/", "amd_umc12.RAW:event=10:rdwrmask=1", 0x10a, 0,
	 0},
	{"arm", "arm_cmn.hnf_cache_miss", NULL, 0x10005, 0, 0},
	{"arm", "arm_cmn_1/hnf_mc_reqs,nodeid=0x24,bynodeid=1/",
	 "arm_cmn1.hnf_mc_reqs:bynodeid:nodeid=36", 0x24800d0005, 0, 0},
	{"arm",
	 "arm_cmn.RAW:type=0x7770:wp_dev_sel=2:wp_chn_sel=3:wp_grp=1:wp_val=0x8000000180000001:"
	 "wp_mask=0xfffffffffffffffe",
	 NULL, 0x011a000000007770, 0x8000000180000001, 0xfffffffffffffffe},
	{"arm", "arm_dsu/l3d_cache_refill/", "arm_dsu.l3d_cache_refill", 0x2a, 0, 0},
	{"diamond", "uncore_hamvf/event=0x05,umask=0xffffffffa5/",
	 "uncore_hamvf.RAW:event=5:umask=1099511627685", 0xffffffff0000a505, 0, 0},
	{"diamond", "uncore_imc_1/event=0x05,umask=0xcf,thresh=0x201/",
	 "uncore_imc1.RAW:event=5:thresh=513:umask=207", 0x10080cf05, 0, 0},
	{"diamond", "uncore_pcie6_0/event=1,vc_sel=0x80,port_sel=0xff,tx_sel/",
	 "uncore_pcie60.RAW:event=1:port_sel=255:tx_sel:vc_sel=128", 0x00ff804000000001, 0, 0},
	{"cxl", "cxl_pmu_mem.s2m_drs_memdata", NULL, 0x1e98002400000001, 0, 0},
	{"cxl", "cxl_pmu_mem1.0/s2m_drs_memdata/", "cxl_pmu_mem1.s2m_drs_memdata",
	 0x1e98002400000001, 0, 0},
	{"cxl",
	 "cxl_pmu_mem0.0/vid=0x1e98,gid=0x24,mask=0x5,threshold=3,invert,hdm=0x8001,hdm_filter_en/",
	 "cxl_pmu_mem0.RAW:gid=36:hdm=0x8001:hdm_filter_en:invert:mask=5:threshold=3:vid=7832",
	 0x1e98002400000005, 0x50003, 0x8001},
};

static void check_code(struct unc_platform *p, const struct code *row)
{
	const char *name = row->name ? row->name : row->text;
	struct unc_item item = {.size = sizeof(item)};
	struct unc_kernel_code k = {.known = false};
	struct unc_error err = {0};
	struct unc_code code;
	struct unc_spec spec;

	CHECK_TEXT(unc_item_find(p, row->text, &item) == 0 ? "" : unc_platform_error(p), "");
	if (row->name)
		CHECK_TEXT(item.name, name);
	CHECK_NUMBER(unc_spec_parse(p->table, item.name, &spec, &err), 0);
	CHECK_NUMBER(unc_spec_encode(p->table, &spec, 0, 1, &code, &err), 0);
	CHECK_NUMBER(unc_kernel_encode(p->table, &code, &k, &err), 0);
	CHECK_TEXT(err.text, "");
	CHECK_NUMBER(k.config, row->config);
	CHECK_NUMBER(k.config1, row->config1);
	CHECK_NUMBER(k.config2, row->config2);
}

static void test_codes(void)
{
	struct unc_platform *p = NULL;
	struct fake_root root;

	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
		if (!i || strcmp(codes[i].tree, codes[i - 1].tree) != 0) {
			make_root(&root, codes[i].tree);
			p = open_root(&root);
			fake_free(&root);
		}
		check_code(p, &codes[i]);
		if (i + 1 == sizeof(codes) / sizeof(codes[0]) ||
		    strcmp(codes[i].tree, codes[i + 1].tree) != 0)
			unc_platform_close(p);
	}
}

/* ---- units */

static void check_units(const char *tree, const char *expected)
{
	struct fake_root root;
	struct unc_platform *p;
	const struct unc_unit *u;
	char text[1000] = "";
	size_t n = 0;

	make_root(&root, tree);
	p = open_root(&root);
	for (size_t i = 0; (u = unc_unit_get(p, i)) != NULL; i++) {
		if (p->table->type[unc_find_type(p->table, u->type->name)].by_kernel)
			n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s %d %d:%d",
					      n ? ", " : "", u->type->name, u->index, u->socket,
					      u->type->counters);
		CU_ASSERT(!u->available && *u->reason);
	}
	CHECK_TEXT(text, expected);
	unc_platform_close(p);
	fake_free(&root);
}

/* TYPE INDEX SOCKET:COUNTERS: one for each CPU of the masks. */
static void test_units(void)
{
	check_units("client", "uncore_arb 0 0:2, uncore_cbox 0 0:2, uncore_clock 0 0:1, "
			      "uncore_imc 0 0:4, uncore_imc 1 0:4, "
			      "uncore_imc_free_running 0 0:32, uncore_imc_free_running 1 0:32");
	check_units("epyc", "amd_df 0 0:4, amd_l3 0 0:6, amd_l3 1 0:6, amd_umc 0 0:4, "
			    "amd_umc 1 0:4, amd_umc 12 0:4");
	check_units("arm", "arm_cmn 0 0:4, arm_cmn 1 1:4, arm_dsu 0 0:6");
	check_units("diamond", "uncore_cxlcm 0 0:2, uncore_cxlcm 0 1:2, uncore_hamvf 0 0:2, "
			       "uncore_hamvf 0 1:2, uncore_imc 0 0:4, uncore_imc 1 0:4, "
			       "uncore_imc 0 1:4, uncore_imc 1 1:4, uncore_pcie6 0 0:2, "
			       "uncore_pcie6 0 1:2");
	/* What the tables of Granite Rapids have is not taken again, by its name or by its number. */
	check_units("cxl", "cxl_pmu_mem 0 0:2, cxl_pmu_mem 1 1:2");
}

/* Units of a PMU with several CPUs of a socket: which of these. */
static void test_several(void)
{
	struct fake_root root;
	struct unc_platform *p;
	char name[UNC_KERNEL_NAME];
	unsigned type;

	make_root(&root, "epyc");
	p = open_root(&root);
	type = unc_find_type(p->table, "amd_l3");
	for (unsigned i = 0; i < 2; i++) {
		CU_ASSERT(unc_kernel_pmu(p->table, type, 0, i, name, sizeof(name)));
		CHECK_TEXT(name, "amd_l3");
		CHECK_NUMBER(unc_kernel_nth(p->table, type, 0, i), i);
	}
	CU_ASSERT(!unc_kernel_pmu(p->table, type, 0, 2, name, sizeof(name)));
	unc_platform_close(p);
	fake_free(&root);
}

/* More CPUs of a socket than a type has places: each unit that is there has its own CPU, the rest is left out. */
static void test_many(void)
{
	struct fake_root root;
	struct unc_platform *p;
	unsigned type;

	fake_new(&root);
	put_cpus(&root, "cpu AuthenticAMD 25 1 300 1 AMD EPYC");
	fake_text(pmu_path(&root, "amd_l3", "type", ""), "13");
	fake_text(pmu_path(&root, "amd_l3", "cpumask", ""), "0-299");
	fake_text(pmu_path(&root, "amd_l3", "format/", "event"), "config:0-7");
	p = open_root(&root);
	type = unc_find_type(p->table, "amd_l3");
	CHECK_NUMBER(p->instances.n, UNC_MAX_PLACES);
	for (unsigned i = 0; i < UNC_MAX_PLACES; i++)
		CHECK_NUMBER(unc_kernel_nth(p->table, type, 0, i), i);
	CHECK_NUMBER(p->named.n_left, 1);
	unc_platform_close(p);
	fake_free(&root);
}

/* ---- metrics */

static const struct unc_metric *metric_of(struct unc_platform *p, const char *name)
{
	const struct unc_metric *m;

	for (size_t i = 0; (m = unc_metric_get(p, i)) != NULL; i++)
		if (strcmp(m->name, name) == 0)
			return m;
	return NULL;
}

static void check_metric(const char *tree, const char *name, const char *formula)
{
	struct fake_root root;
	struct unc_platform *p;
	const struct unc_metric *m;

	make_root(&root, tree);
	p = open_root(&root);
	m = metric_of(p, name);
	CHECK_TEXT(m ? m->formula : "none", formula);
	unc_platform_close(p);
	fake_free(&root);
}

/* 6.103515625e-5 MiB are 64 bytes, a line (uncore_snb.c). */
static void test_metrics(void)
{
	check_metric("client", "uncore_imc_free_running.data_read_bytes",
		     "uncore_imc_free_running.data_read * 6.103515625e-5 * 1048576");
	check_metric("client", "memory_read_bytes", "uncore_imc_free_running.data_read_bytes");
	check_metric("client", "memory_bandwidth",
		     "(memory_read_bytes + memory_write_bytes) / TIME");
	check_metric("client", "llc_lookups", "0");
	check_metric("epyc", "memory_read_bytes", "0");
	/* Tables of a CPU have their own. */
	check_metric("cxl", "cxl_read_bytes", "cxlcm.RxC_PACK_BUF_INSERTS:MEM_DATA * 64");
}

/* Where they do not, its memory tells: Haswell-EP has no CXL by its tables. */
static void test_cxl(void)
{
	struct fake_root root;
	struct unc_platform *p;

	make_root(&root, "cxl");
	put_cpus(&root, "cpu GenuineIntel 6 63 2 2 Intel(R) Xeon(R) CPU E5-2680 v3");
	p = open_root(&root);
	CHECK_TEXT(metric_of(p, "cxl_read_bytes")->formula, "cxl_pmu_mem.s2m_drs_memdata * 64");
	CHECK_TEXT(metric_of(p, "cxl_write_bytes")->formula,
		   "(cxl_pmu_mem.m2s_rwd_memwr + cxl_pmu_mem.m2s_rwd_memwrptl) * 64");
	/* Its uncore_type_4_0 is of no type that these tables have. */
	CHECK_NUMBER(unc_platform_cpu(p)->n_kernel, 2);
	unc_platform_close(p);
	fake_free(&root);
}

/* ---- folders that lie */

static const struct {
	const char *text, *says;
} lies[] = {
	{"uncore_core.RAW:event=1", "uncore_core: its type, 4, is one of the kernel's own events"},
	{"uncore_atom/event=1/", "uncore_atom: its type, 10, is that of cpu_atom, too"},
	{"uncore_twice.RAW:event=1", "format/umask is 'config:8-15,15-20': it has a bit twice"},
	{"uncore_nowhere.RAW:event=1", "uncore_nowhere: its cpumask, '', is not a list"},
	{"uncore_elsewhere.RAW:event=1", "its cpumask, '99', has no CPU that is online"},
	{"uncore_words.RAW:event=1", "its cpumask, 'all', is not a list of CPUs like 0,8"},
	{"uncore_bits.RAW:event=1", "'config:0-64': it is not a list of bits like config:0-7,32"},
	{"uncore_typeless.RAW:event=1", "uncore_typeless: its type is not a number"},
	{"uncore_bare.RAW:event=1", "uncore_bare: its format/ has no fields"},
	{"uncore_lines.RAW:event=1", "uncore_lines: its format/ has a file of several lines"},
	{"uncore_imc.unknown", "says 'umask=2', which is no field of its format/"},
	{"uncore_imc.toolarge", "says 'event=0x100', which does not fit into its field"},
	{"uncore_imc.nonumber", "says 'event=x', which has no number: RAW takes one"},
	{"uncore_imc.noscale_bytes", "no metric or event uncore_imc.noscale_bytes"},
	{"uncore_imc.RAW:event=1:port=1", "port= is of events of PCIe stacks"},
	{"uncore_imc.RAW:event=1:wide=1", "no field wide"},
	{"uncore_imc.RAW:event=1:four=1", "no field four"},
	{"uncore_imc_1/event=1/",
	 "uncore_imc_1: its name or format/ is not as that of uncore_imc_0"},
	{"uncore_imc_128/event=1/", "uncore_imc_128: its number is above 127"},
};

static void test_lies(void)
{
	struct unc_item item = {.size = sizeof(item)};
	struct fake_root root;
	struct unc_platform *p;

	make_root(&root, "lying");
	fake_text(pmu_path(&root, "uncore_lines", "type", ""), "30");
	fake_text(pmu_path(&root, "uncore_lines", "cpumask", ""), "0");
	fake_text(pmu_path(&root, "uncore_lines", "format/", "event"), "config:0-7\nsecond");
	p = open_root(&root);
	for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++)
		if (unc_item_find(p, lies[i].text, &item) == 0 ||
		    !strstr(unc_platform_error(p), lies[i].says)) {
			printf("# %s: %s\n", lies[i].text, unc_platform_error(p));
			CU_FAIL("another sentence");
		}
	CHECK_NUMBER(unc_item_find(p, "uncore_imc.works", &item), 0);
	CHECK_NUMBER(p->table->n_type, 1);
	unc_platform_close(p);
	fake_free(&root);
}

/* ---- nothing to take */

static void test_nothing(void)
{
	struct unc_options options = {.size = sizeof(options)};
	struct unc_platform *p = NULL;
	struct fake_root root;

	fake_new(&root);
	put_cpus(&root, "cpu AuthenticAMD 25 1 2 1 AMD EPYC 7543");
	options.sysroot = root.path;
	CHECK_NUMBER(unc_platform_open(&options, &p), UNC_ERR_UNAVAILABLE);
	CU_ASSERT(strstr(unc_open_error(), "no uncore monitors that are known here") != NULL);
	fake_text(pmu_path(&root, "cpu", "type", ""), "4");
	fake_text(pmu_path(&root, "cpu", "format/", "event"), "config:0-7");
	CHECK_NUMBER(unc_platform_open(&options, &p), UNC_ERR_UNAVAILABLE);
	fake_free(&root);
	/* A CPU with tables keeps them, as they are compiled in. */
	make_root(&root, "typed");
	p = open_root(&root);
	CU_ASSERT(p->table == &p->own && !p->named.table && !p->named.n_left);
	unc_platform_close(p);
	fake_free(&root);
}

/* All that the tables have is found by its name in the table that was extended. */
static void test_extended(void)
{
	struct fake_root root;
	struct unc_platform *p;
	const struct unc_table *t;

	make_root(&root, "cxl");
	p = open_root(&root);
	t = p->table;
	CU_ASSERT(t == p->named.table && t->n_type == p->own.n_type + 1);
	for (uint32_t i = 0; i < t->n_type; i++) {
		const struct unc_tbl_type *type = &t->type[i];
		const char *name = unc_type_name(t, i);

		CHECK_NUMBER(UNC_FIND_NAMED(t, type, ((struct unc_range){0, (uint16_t)t->n_type}),
					    name, strlen(name)),
			     i);
		for (uint32_t k = type->events.first; k < type->events.first + type->events.n;
		     k++) {
			name = unc_event_name(t, k);
			CHECK_NUMBER(UNC_FIND_NAMED(t, event, type->events, name, strlen(name)), k);
		}
	}
	unc_platform_close(p);
	fake_free(&root);
}

int main(void)
{
	static const struct suite_test tests[] = {
		{"what the kernel is asked for", test_codes},
		{"units", test_units},
		{"several units of a PMU", test_several},
		{"more CPUs than places", test_many},
		{"metrics", test_metrics},
		{"metrics of CXL memory", test_cxl},
		{"folders that lie", test_lies},
		{"nothing to take", test_nothing},
		{"a table that is extended", test_extended},
		{NULL, NULL},
	};

	return suite_run("PMUs that the kernel names", tests);
}
