/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * NUMA nodes: units are those of simulated machines, nodes those of files of the shape that Linux has
 * (Documentation/ABI/stable/sysfs-devices-node: cpulist has the CPUs that are online). Clusters are
 * counted as nodes with CPUs of a package that share one L3 (Linux resctrl, snc_get_config()). The map
 * of Granite Rapids: Linux tools/perf/arch/x86/util/pmu.c, snc2_map and snc3_map; CHAs there: number /
 * (CHAs / clusters). Two sockets: Granite Rapids with CPUs 0-251 and 252-503, 12 channels and 126 CHAs
 * each; Emerald Rapids with CPUs 0-31 and 32-63 (workload.tbl).
 */
#include <stdio.h>
#include <stdlib.h>

#include "fake_root.h"
#include "host/fs.h"
#include "platform/platform.h"
#include "suite.h"

static struct fake_root root;
static struct unc_platform *platform;

/* ---- a machine */

/* nodes: "0:0-15 1:16-31 4:", of CPUs, and the sockets' L3: "0-31 32-63". */
static void write_nodes(const char *online, const char *nodes, const char *caches)
{
	char cpus[64];
	int number, used, cpu;

	fake_new(&root);
	fake_text(fake_path(&root, "/sys/devices/system/node/online"), online);
	for (const char *p = nodes; sscanf(p, " %d:%n", &number, &used) == 1; p += strlen(cpus)) {
		p += used;
		if (sscanf(p, "%63[^ ]", cpus) != 1)
			cpus[0] = '\0';
		fake_text(fake_path(&root, "/sys/devices/system/node/node%d/cpulist", number),
			  cpus);
	}
	for (const char *p = caches; sscanf(p, " %63s%n", cpus, &used) == 1; p += used)
		for (const char *q = nodes; (q = strchr(q, ':')); q++) {
			int first = atoi(cpus), last = atoi(strchr(cpus, '-') + 1);

			if (sscanf(q, ":%d", &cpu) == 1 && cpu >= first && cpu <= last)
				fake_text(fake_path(&root,
						    "/sys/devices/system/cpu/cpu%d/cache/index3/"
						    "shared_cpu_list",
						    cpu),
					  cpus);
		}
}

static void open_machine(const char *sim)
{
	struct unc_options options = {.size = sizeof(options), .sim = sim};
	struct unc_error err;

	CU_ASSERT_FATAL(unc_platform_open(&options, &platform) == 0);
	unc_fs_close(platform->fs);
	CU_ASSERT_FATAL(unc_fs_open(root.path, &platform->fs, &err) == 0);
	platform->machine->fs = platform->fs; /* as far as nodes go */
}

static void close_machine(void)
{
	unc_platform_close(platform);
	fake_free(&root);
	unsetenv("UNCORE_SITE");
}

/* "0=0.0 1=0.1 8=-1.-1": number, socket, cluster. */
static const char *nodes(void)
{
	static char text[256];
	const struct unc_node *node;
	size_t n = 0;

	text[0] = '\0';
	for (size_t i = 0; (node = unc_node_get(platform, i)); i++) {
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%d=%d.%d", i ? " " : "",
				      node->number, node->socket, node->cluster);
		CU_ASSERT_EQUAL(node->reason[0] == '\0', node->socket >= 0 && node->cluster >= 0);
	}
	return text;
}

/* The nodes of units of a type, or why there is none; "0 1 1": one after the other. */
static const char *owners(const char *type, int socket)
{
	static char text[1024];
	struct unc_error err;
	size_t n = 0;

	text[0] = '\0';
	for (size_t i = 0; i < platform->instances.n; i++) {
		const struct unc_instance *u = &platform->instances.unit[i];
		int node;

		if (u->socket != socket ||
		    strcmp(unc_type_name(platform->table, u->type), type) != 0)
			continue;
		node = unc_numa_owner(platform, i, &err);
		if (node < 0)
			return strcpy(text, err.text);
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%d", n ? " " : "", node);
	}
	return text;
}

static const char *socket_of(int node)
{
	static struct unc_error err;
	int socket = unc_numa_socket(platform, node, &err);

	if (socket < 0)
		return err.text;
	snprintf(err.text, sizeof(err.text), "%d", socket);
	return err.text;
}

/* ---- one node a socket */

static void test_sockets(void)
{
	write_nodes("0-1\n", "0:0-31 1:32-63", "");
	open_machine("emerald-rapids");
	CHECK_TEXT(nodes(), "0=0.0 1=1.0");
	CHECK_TEXT(owners("imc", 0), "0 0 0 0 0 0 0 0");
	CHECK_TEXT(owners("upi", 1), "1 1 1");
	CHECK_TEXT(socket_of(1), "1");
	CHECK_TEXT(socket_of(2), "this machine has nodes 0 to 1, not 2");
	CHECK_TEXT(socket_of(-1), "this machine has nodes 0 to 1, not -1");
	close_machine();
}

/* Numbers have gaps, sockets come in another order, nodes of CXL or HBM have no CPUs. */
static void test_gaps(void)
{
	write_nodes("0,2,8-9\n", "0:32-63 2:0-31 8: 9:", "");
	open_machine("emerald-rapids");
	CHECK_TEXT(nodes(), "0=1.0 2=0.0 8=-1.-1 9=-1.-1");
	CHECK_TEXT(owners("upi", 0), "2 2 2");
	CHECK_TEXT(owners("upi", 1), "0 0 0");
	CHECK_TEXT(socket_of(1), "this machine has nodes 0, 2, 8, 9, not 1");
	CHECK_TEXT(socket_of(8), "node 8: it has no CPUs, like memory of CXL or on the package, "
				 "so its socket is not known");
	close_machine();
}

/* ---- clusters */

#define SHARED(units) units " units are known by socket only; sub-NUMA clusters are on"
#define GNR_CACHES "0-251 252-503"

static void check_chas(unsigned each, unsigned clusters)
{
	struct unc_error err;
	unsigned seen = 0;

	for (size_t i = 0; i < platform->instances.n; i++) {
		const struct unc_instance *u = &platform->instances.unit[i];

		if (strcmp(unc_type_name(platform->table, u->type), "cha") != 0)
			continue;
		CHECK_NUMBER(unc_numa_owner(platform, i, &err),
			     u->socket * clusters + u->index / each);
		seen++;
	}
	CHECK_NUMBER(seen, 2 * each * clusters);
}

static void test_three(void)
{
	write_nodes("0-5\n", "0:0-83 1:84-167 2:168-251 3:252-335 4:336-419 5:420-503", GNR_CACHES);
	open_machine("granite-rapids");
	CHECK_TEXT(nodes(), "0=0.0 1=0.1 2=0.2 3=1.0 4=1.1 5=1.2");
	CHECK_TEXT(owners("imc", 0), "1 1 0 0 2 2 1 1 0 0 2 2");
	CHECK_TEXT(owners("imc", 1), "4 4 3 3 5 5 4 4 3 3 5 5");
	check_chas(42, 3);
	CHECK_TEXT(owners("upi", 0), SHARED("upi"));
	CHECK_TEXT(owners("b2cmi", 0), SHARED("b2cmi"));
	CHECK_TEXT(socket_of(4), "1");
	close_machine();
}

static void test_two(void)
{
	write_nodes("0-4\n", "0:0-125 1:126-251 2:252-377 3:378-503 4:", GNR_CACHES);
	open_machine("granite-rapids-no-imc8-11");
	CHECK_TEXT(nodes(), "0=0.0 1=0.1 2=1.0 3=1.1 4=-1.-1");
	check_chas(63, 2);
	for (size_t i = 0; i < platform->instances.n; i++) {
		static const int snc2[] = {1, 1, 0, 0, 1, 1, 0, 0};
		const struct unc_instance *u = &platform->instances.unit[i];
		struct unc_error err;

		if (strcmp(unc_type_name(platform->table, u->type), "imc") != 0)
			continue;
		if (u->index < 8)
			CHECK_NUMBER(unc_numa_owner(platform, i, &err),
				     2 * u->socket + snc2[u->index]);
		else /* which a machine of two clusters has not */
			CHECK_NUMBER(unc_numa_owner(platform, i, &err), UNC_ERR_UNAVAILABLE);
	}
	close_machine();
}

/* perf knows no map for four: memory controllers of no node, CHAs do not come out even. */
static void test_four(void)
{
	write_nodes("0-7\n",
		    "0:0-62 1:63-125 2:126-188 3:189-251 4:252-314 5:315-377 6:378-440 7:441-503",
		    GNR_CACHES);
	open_machine("granite-rapids");
	CHECK_TEXT(nodes(), "0=0.0 1=0.1 2=0.2 3=0.3 4=1.0 5=1.1 6=1.2 7=1.3");
	CHECK_TEXT(
		owners("imc", 1),
		"which memory controllers belong to which of the 4 sub-NUMA clusters of this CPU "
		"is not public; `uncore verify` measures it and prints the lines for site.conf");
	CHECK_TEXT(owners("cha", 0),
		   "the map of cha units to the 4 sub-NUMA clusters of a socket has "
		   "no cha0");
	close_machine();
}

/* ---- what the site says */

#define EMR_FOUR "0:0-7 1:8-15 2:16-23 3:24-31 4:32-39 5:40-47 6:48-55 7:56-63"

static void write_site(const char *text)
{
	fake_text(fake_path(&root, "/site.conf"), text);
	setenv("UNCORE_SITE", fake_path(&root, "/site.conf"), 1);
}

static void test_site(void)
{
	write_nodes("0-7\n", EMR_FOUR, "0-31 32-63");
	write_site("[nodes imc]\nsocket = 1\nclusters = 0,0,1,1,2,2,3,3\n"
		   "[nodes IMC]\nclusters = 3,3,2,2,1,1,0,0\n"
		   "[nodes cha]\ncpu = granite-rapids\nclusters = 0,-,1\n"
		   "[nodes m2m]\nclusters = 0,1,-,3,2\n"
		   "[nodes upi]\nclusters = 0,1,0\n");
	open_machine("emerald-rapids");
	CHECK_TEXT(owners("imc", 0), "3 3 2 2 1 1 0 0");
	CHECK_TEXT(owners("imc", 1), "4 4 5 5 6 6 7 7");
	CHECK_TEXT(owners("cha", 0), SHARED("cha"));
	CHECK_TEXT(owners("m2m", 0),
		   "the map of m2m units to the 4 sub-NUMA clusters of a socket has "
		   "no m2m2");
	CHECK_TEXT(owners("upi", 0), SHARED("upi")); /* a line for two clusters */
	close_machine();
	/* The site has the last word. */
	write_nodes("0-3\n", "0:0-125 1:126-251 2:252-377 3:378-503", GNR_CACHES);
	write_site("[nodes imc]\nclusters = 0,1,0,1,0,1,0,1,0,1,0,1\n");
	open_machine("granite-rapids");
	CHECK_TEXT(owners("imc", 1), "2 3 2 3 2 3 2 3 2 3 2 3");
	close_machine();
}

/* A simulated machine is another one than that of the site's own file. */
static void test_site_of_another(void)
{
	struct unc_options options = {.size = sizeof(options), .sim = "emerald-rapids"};

	write_nodes("0-7\n", EMR_FOUR, "0-31 32-63");
	fake_text(fake_path(&root, "/etc/libuncore/site.conf"),
		  "[nodes imc]\nclusters = 0,0,1,1,2,2,3,3\n");
	options.sysroot = root.path;
	CU_ASSERT_FATAL(unc_platform_open(&options, &platform) == 0);
	CHECK_NUMBER(platform->site.n_units, 0);
	close_machine();
}

static void test_wrong_lines(void)
{
	static const struct {
		const char *text, *sentence;
	} rows[] = {
		{"[nodes]\nclusters = 0,1\n",
		 ":1: '[nodes]' begins no section; site.conf has [group NAME], [memory], [nodes "
		 "TYPE], [absent]"},
		{"[nodes imc]\n", ":1: [nodes] has no line clusters = ..."},
		{"[nodes imc]\nclusters = 0,8\n",
		 ":2: clusters = 0,8 is not a list of clusters 0 to 7, or -"},
		{"[nodes imc]\nclusters = 0,,1\n",
		 ":2: clusters = 0,,1 is not a list of clusters 0 to 7, or -"},
		{"[nodes imc]\nclusters = 0-1\n",
		 ":2: clusters = 0-1 is not a list of clusters 0 to 7, or -"},
		{"[nodes imc]\nclusters = 0,0\n",
		 ":2: clusters = 0,0: a map has two clusters or more, and units of each"},
		{"[nodes imc]\nclusters = 0,2\n",
		 ":2: clusters = 0,2: a map has two clusters or more, and units of each"},
		{"[nodes imc]\nclusters = in_order\n",
		 ":2: clusters = in_order is not a list of clusters 0 to 7, or -"},
		{"[nodes imc]\nclusters = 0,1\nsocket = 64\n",
		 ":3: socket = 64 is not a number up to 63; without the line it is each"},
		{"[nodes imc]\nclusters = 0,1\n[nodes IMC]\nclusters = 1,0\n",
		 ":4: IMC is given twice"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct unc_options options = {.size = sizeof(options), .sim = "emerald-rapids"};
		char expected[512];

		fake_new(&root);
		write_site(rows[i].text);
		snprintf(expected, sizeof(expected), "%s/site.conf%s: left out", root.path,
			 rows[i].sentence);
		CU_ASSERT_FATAL(unc_platform_open(&options, &platform) == 0);
		CHECK_TEXT(unc_open_error(), expected);
		close_machine();
	}
}

/* ---- what is not known */

struct refused {
	const char *name, *online, *nodes, *caches;
	const char *seen, *socket, *owner; /* of node 0, of an imc of socket 0 */
};

static void check_refused(const void *user)
{
	const struct refused *r = user;

	write_nodes(r->online, r->nodes, r->caches);
	open_machine("emerald-rapids");
	CHECK_TEXT(nodes(), r->seen);
	CHECK_TEXT(socket_of(0), r->socket);
	CHECK_TEXT(owners("imc", 0), r->owner);
	close_machine();
}

#define COD                                                                                        \
	"socket 0 has several nodes, and more than one L3 (Cluster on Die, or several dies): no "  \
	"map of its units is known"
#define UNEVEN "socket 0 has 2 nodes with CPUs, socket 1 has 1: CPUs that are offline may hide one"
#define ONE                                                                                        \
	"it has CPUs of socket 0 and of socket 1: the firmware or the kernel reports them as one " \
	"node"
#define NO_CACHE "socket 0 has several nodes, and the kernel does not tell which CPUs share its L3"

static const struct refused refused[] = {
	{"Cluster on Die", "0-3\n", "0:0-15 1:16-31 2:32-47 3:48-63", "0-15 16-31 32-47 48-63",
	 "0=0.-1 1=0.-1 2=1.-1 3=1.-1", "node 0: " COD, COD},
	{"a package disagrees", "0-2\n", "0:0-15 1:16-31 2:32-63", "0-31 32-63",
	 "0=0.-1 1=0.-1 2=1.-1", "node 0: " UNEVEN, UNEVEN},
	{"all CPUs of a cluster are offline", "0-3\n", "0:0-15 1:16-31 2:32-47 3:", "0-31 32-63",
	 "0=0.-1 1=0.-1 2=1.-1 3=-1.-1", "node 0: " UNEVEN, UNEVEN},
	{"one node of all sockets", "0\n", "0:0-63", "", "0=-1.-1", "node 0: " ONE, "node 0: " ONE},
	{"the L3 is not told", "0-3\n", "0:0-15 1:16-31 2:32-47 3:48-63", "",
	 "0=0.-1 1=0.-1 2=1.-1 3=1.-1", "node 0: " NO_CACHE, NO_CACHE},
	{"a list that is none", "zero\n", "", "", "",
	 "/sys/devices/system/node/online: 'zero' is not a list like 0-3,8",
	 "/sys/devices/system/node/online: 'zero' is not a list like 0-3,8"},
};

static void test_no_nodes(void)
{
	static const char sentence[] = "the kernel reports no NUMA nodes: "
				       "/sys/devices/system/node/online: No such file or directory";

	fake_new(&root);
	open_machine("emerald-rapids");
	CHECK_TEXT(socket_of(0), sentence);
	CHECK_TEXT(owners("imc", 0), sentence);
	CU_ASSERT_PTR_NULL(unc_node_get(platform, 0));
	close_machine();
}

/* Some CPUs of a cluster are offline: the kernel leaves them out, nothing is divided. */
static void test_offline(void)
{
	write_nodes("0-3\n", "0:3 1:16-31 2:32-47 3:48-62", "0-31 32-63");
	open_machine("emerald-rapids");
	CHECK_TEXT(nodes(), "0=0.0 1=0.1 2=1.0 3=1.1");
	close_machine();
}

static void test_listing(void)
{
	struct unc_options options = {.size = sizeof(options), .cpu = "granite-rapids"};
	struct unc_error err;

	CU_ASSERT_FATAL(unc_platform_open(&options, &platform) == 0);
	CU_ASSERT_PTR_NULL(unc_node_get(platform, 0));
	CHECK_NUMBER(unc_numa_socket(platform, 0, &err), UNC_ERR_UNAVAILABLE);
	CHECK_TEXT(err.text, "NUMA nodes are not known: the platform was opened for listing only");
	unc_platform_close(platform);
}

int main(void)
{
	static const struct suite_test tests[] = {
		{"a node a socket", test_sockets},
		{"numbers with gaps, nodes without CPUs", test_gaps},
		{"two clusters", test_two},
		{"three clusters", test_three},
		{"four clusters", test_four},
		{"the site's map", test_site},
		{"the site's own file is not of a simulated machine", test_site_of_another},
		{"lines of the site that are wrong", test_wrong_lines},
		{"CPUs that are offline", test_offline},
		{"the kernel tells of no nodes", test_no_nodes},
		{"listing only", test_listing},
		{NULL, NULL},
	};

	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
		suite_add(check_refused, &refused[i], "%s", refused[i].name);
	return suite_run("numa", tests);
}
