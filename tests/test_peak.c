/* SPDX-License-Identifier: BSD-3-Clause */
/* What memory can move, by the word of a site, and a site's file. */
#include <sys/wait.h>

#include "columns_files.h"
#include "encode/schedule.h"
#include "session_kit.h"

/* ---- machines of files: two sockets of four channels each */

static struct unc_platform *open_root(const struct fake_root *root, const char *sim)
{
	struct unc_options o = {.size = sizeof(o), .sysroot = root->path, .sim = sim};
	struct unc_platform *p = NULL;

	if (unc_platform_open(&o, &p) < 0)
		printf("# %s\n", unc_open_error());
	return p;
}

/* The peak of a socket (-1: all), or why not. */
static void check_peak(const struct fake_root *root, const char *sim, int socket, double wanted,
		       const char *sentence)
{
	struct unc_platform *p = open_root(root, sim);
	double peak = 0;

	CU_ASSERT_PTR_NOT_NULL_FATAL(p);
	CHECK_NUMBER(unc_memory_peak(p, socket, &peak), sentence ? UNC_ERR_UNAVAILABLE : 0);
	CU_ASSERT_DOUBLE_EQUAL(peak, wanted, 0);
	CHECK_TEXT(unc_platform_error(p), sentence ? sentence : "");
	unc_platform_close(p);
}

#define NOT_KNOWN(socket)                                                                          \
	"what the memory of socket " #socket " can move is not known: peak in [memory] of "        \
	"/etc/libuncore/site.conf tells it"

static void test_machine(void)
{
	struct fake_root root;
	struct unc_platform *p;
	double peak;

	CU_ASSERT_FATAL(columns_files(&root, "sandybridge-ep"));
	check_peak(&root, "", -1, 0, NOT_KNOWN(0));
	check_peak(&root, "", 1, 0, NOT_KNOWN(1));
	p = open_root(&root, "");
	CHECK_NUMBER(unc_memory_peak(p, 2, &peak), UNC_ERR_RANGE);
	CHECK_TEXT(unc_platform_error(p), "this machine has sockets 0 to 1, not 2");
	CHECK_NUMBER(unc_memory_peak(p, -2, &peak), UNC_ERR_RANGE);
	unc_platform_close(p);
	fake_free(&root);
}

/* ---- the site */

static void write_site(const struct fake_root *root, const char *text)
{
	const char *path = fake_path(root, "/etc/libuncore/site.conf");

	unlink(path);
	fake_text(path, text);
}

static void test_site_peaks(void)
{
	struct fake_root root;

	CU_ASSERT_FATAL(columns_files(&root, "sandybridge-ep"));
	write_site(&root, "[memory]\nsocket = 1\npeak = 60e9\n");
	check_peak(&root, "", 1, 60e9, NULL);
	check_peak(&root, "", 0, 0, NOT_KNOWN(0));
	check_peak(&root, "", -1, 0, NOT_KNOWN(0));
	write_site(&root, "[memory]\npeak = 40e9\n[memory]\nsocket = 0\npeak = 10e9\n");
	check_peak(&root, "", -1, 50e9, NULL);
	write_site(&root, "[memory]\npeak = 40e9\ncpu = haswell-ep\n");
	check_peak(&root, "", 0, 0, NOT_KNOWN(0));
	write_site(&root, "[memory]\ncpu = !haswell-ep,ivybridge-ep\npeak = 40e9\n"
			  "[memory]\ncpu = haswell-ep\npeak = 50e9\n");
	check_peak(&root, "", 0, 40e9, NULL);
	/* A simulated machine is another one, but for a file that is named. */
	write_site(&root, "[memory]\npeak = 40e9\n");
	check_peak(&root, SNB, 0, 0,
		   "what the memory of socket 0 can move is not known: the simulated machine was "
		   "not given the speed of its memory (memory=MT/s)");
	setenv("UNCORE_SITE", fake_path(&root, "/etc/libuncore/site.conf"), 1);
	check_peak(&root, SNB, 0, 40e9, NULL);
	unsetenv("UNCORE_SITE");
	fake_free(&root);
}

/* Units of a type that are listed on a machine whose site says this. */
static size_t listed(const struct fake_root *root, const char *type, const char *site)
{
	struct unc_options o = {.size = sizeof(o), .sysroot = root->path, .sim = ""};
	struct unc_platform *p;
	const struct unc_unit *u;
	size_t n = 0;

	write_site(root, site);
	CHECK_NUMBER(unc_platform_open(&o, &p), 0);
	for (size_t i = 0; (u = unc_unit_get(p, i)); i++)
		n += strcmp(u->type->name, type) == 0;
	unc_platform_close(p);
	return n;
}

/* The machine shows a channel of each socket, imc3: the others are missing, until the site says that they
 * do not exist. What shows is there, whatever it says. */
static void test_site_absent(void)
{
	struct fake_root root;

	CU_ASSERT_FATAL(columns_files(&root, "sandybridge-ep"));
	CHECK_NUMBER(listed(&root, "imc", ""), 8);
	CHECK_NUMBER(listed(&root, "imc", "[absent]\nunit = imc0\nsocket = 0\n"), 7);
	CHECK_NUMBER(listed(&root, "imc", "[absent]\nunit = imc0\nsocket = 1\n"), 7);
	CHECK_NUMBER(listed(&root, "imc", "[absent]\nsocket = 0\nunit = imc0\nunit = IMC1\n"), 6);
	CHECK_NUMBER(listed(&root, "imc", "[absent]\nunit = imc2\n"), 6);
	CHECK_NUMBER(listed(&root, "imc", "[absent]\nunit = imc3\n"), 8);
	CHECK_NUMBER(listed(&root, "imc", "[absent]\nunit = imc0\nunit = imc@\n"), 8);
	CHECK_NUMBER(listed(&root, "imc", "[absent]\nunit = imc\n"), 2);
	CHECK_NUMBER(listed(&root, "imc",
			    "[absent]\ncpu = haswell-ep\nunit = imc0\n[absent]\nunit = upi0\n"),
		     8);
	fake_free(&root);
}

/* As a user: exit status 0 where the file that is root's alone costs no more than what is in it. */
static int goes_on(const struct fake_root *root)
{
	struct unc_platform *p;
	double peak;

	if (setresgid(65534, 65534, 65534) < 0 || setresuid(65534, 65534, 65534) < 0)
		return 2;
	p = open_root(root, "");
	if (!p || unc_memory_peak(p, 0, &peak) != UNC_ERR_UNAVAILABLE)
		return 3;
	return !strstr(unc_open_error(), "/etc/libuncore/site.conf: Permission denied: left out") ||
	       !strstr(unc_platform_error(p), "/etc/libuncore/site.conf: Permission denied");
}

static void test_unreadable_site(void)
{
	struct fake_root root;
	int status = -1;

	if (geteuid() != 0) {
		suite_skip("only root can become somebody else");
		return;
	}
	CU_ASSERT_FATAL(columns_files(&root, "sandybridge-ep"));
	write_site(&root, "[memory]\npeak = 60e9\n");
	CU_ASSERT(chmod(fake_path(&root, "/etc/libuncore/site.conf"), 0600) == 0);
	pid_t child = fork();
	if (child == 0)
		_exit(goes_on(&root));
	CHECK_NUMBER(waitpid(child, &status, 0), child);
	CHECK_NUMBER(status, 0);
	fake_free(&root);
}

/* Without a file the site says nothing; one that is there and cannot be read is named, whoever asks. */
static void test_broken_site(void)
{
	struct fake_root root;
	struct unc_platform *p;

	CU_ASSERT_FATAL(columns_files(&root, "sandybridge-ep"));
	fake_text(fake_path(&root, "/etc/libuncore"), "no folder");
	p = open_root(&root, "");
	CU_ASSERT_FATAL(p != NULL);
	CU_ASSERT_PTR_NULL(strstr(unc_open_error(), "site.conf"));
	unc_platform_close(p);
	CU_ASSERT(unlink(fake_path(&root, "/etc/libuncore")) == 0);
	write_site(&root, "");
	const char *path = fake_path(&root, "/etc/libuncore/site.conf");
	CU_ASSERT(unlink(path) == 0 && symlink("site.conf", path) == 0);
	p = open_root(&root, "");
	CU_ASSERT_FATAL(p != NULL);
	CU_ASSERT_PTR_NOT_NULL(strstr(
		unc_open_error(), "/etc/libuncore/site.conf: Too many levels of symbolic links"));
	unc_platform_close(p);
	CU_ASSERT(unlink(path) == 0 && mkfifo(path, 0644) == 0);
	p = open_root(&root, "");
	CU_ASSERT_FATAL(p != NULL);
	CU_ASSERT_PTR_NOT_NULL(strstr(unc_open_error(), "/site.conf is not a plain file"));
	unc_platform_close(p);
	CU_ASSERT(unlink(path) == 0);
	fake_bytes(path, 0, "[memory]\npeak = 4\0e9\n", 21);
	p = open_root(&root, "");
	CU_ASSERT_FATAL(p != NULL);
	CU_ASSERT_PTR_NOT_NULL(strstr(unc_open_error(), "/site.conf: there is a NUL byte in it"));
	unc_platform_close(p);
	fake_free(&root);
}

static void test_site_groups(void)
{
	struct fake_root root;
	struct unc_platform *p;
	const struct unc_group *g;
	size_t index = 0;

	fake_new(&root);
	write_site(&root, "[group OURS]\ntitle = what we look at\nitem = memory_read_bytes\n"
			  "item = cha.CLOCKTICKS\nitem = imc.CAS_COUNT:RD\n");
	p = open_root(&root, SNB);
	CU_ASSERT_PTR_NOT_NULL_FATAL(p);
	CHECK_NUMBER(unc_group_find(p, "ours", &index), 0);
	CHECK_NUMBER(index, 7); /* behind those of the library */
	g = unc_group_get(p, index);
	CHECK_TEXT(g->desc, "what we look at");
	CHECK_NUMBER(g->n_items, 2); /* in a cluster of several CPUs some lack an item */
	CHECK_TEXT(g->items[1], "imc.CAS_COUNT:RD");
	CHECK_TEXT(g->items[2], "cha.CLOCKTICKS");
	CU_ASSERT_PTR_NULL(g->items[3]);
	CHECK_NUMBER(g->passes, 1);
	CU_ASSERT(strncmp(g->reason, "cha.CLOCKTICKS: cha.CLOCKTICKS: no unit type cha; ", 50) ==
		  0);
	CU_ASSERT_PTR_NULL(unc_group_get(p, 8));
	unc_platform_close(p);
	struct unc_options o = {.size = sizeof(o), .sysroot = root.path, .cpu = "haswell-ep"};
	CHECK_NUMBER(unc_platform_open(&o, &p), 0);
	CHECK_NUMBER(unc_group_find(p, "OURS", &index), 0);
	unc_platform_close(p);
	fake_free(&root);
}

/* What a group of the site is. */
static void check_group(const char *items, bool available, int passes, const char *reason)
{
	struct unc_platform *p;
	const struct unc_group *g;
	struct fake_root root;
	size_t index = 0;

	fake_new(&root);
	write_site(&root, items);
	p = open_root(&root, SNB);
	CU_ASSERT_PTR_NOT_NULL_FATAL(p);
	CHECK_NUMBER(unc_group_find(p, "OURS", &index), 0);
	g = unc_group_get(p, index);
	CHECK_NUMBER(g->available, available);
	CHECK_NUMBER(g->passes, passes);
	CHECK_TEXT(g->reason, reason);
	unc_platform_close(p);
	fake_free(&root);
}

/* Items, and so many opcodes, of which a CBo compares one at a time. */
static const char *opcodes(const char *items, unsigned n)
{
	static char text[8192];
	size_t at =
		(size_t)snprintf(text, sizeof(text), "[group OURS]\ntitle = opcodes\n%s", items);

	for (unsigned i = 0; i < n; i++)
		at += (size_t)snprintf(text + at, sizeof(text) - at,
				       "item = cbo.TOR_INSERTS:OPCODE:opc=%u\n", 0x180 + i);
	return text;
}

/* A channel has four counters: a metric needs no other one for an event that is there. */
static void test_passes_of_groups(void)
{
	char reason[80];

	check_group(
		"[group OURS]\ntitle = one pass\nitem = memory_read_bytes\nitem = "
		"imc.CAS_COUNT:RD\n"
		"item = imc.CAS_COUNT:WR\nitem = imc.ACT_COUNT\nitem = imc.PRE_COUNT:PAGE_MISS\n",
		true, 1, "");
	check_group(
		"[group OURS]\ntitle = two\nitem = memory_read_bytes\nitem = imc.CAS_COUNT:ALL\n"
		"item = imc.CAS_COUNT:WR\nitem = imc.ACT_COUNT\nitem = imc.PRE_COUNT:PAGE_MISS\n",
		true, 2, "");
	check_group(opcodes("", UNC_MAX_CODES), true, UNC_MAX_CODES, "");
	check_group(
		opcodes("item = memory_read_bytes\nitem = imc.CAS_COUNT:RD\n", UNC_MAX_CODES - 1),
		true, UNC_MAX_CODES - 1, "");
	snprintf(reason, sizeof(reason), "it needs more than %d events at once", UNC_MAX_CODES);
	check_group(opcodes("", UNC_MAX_CODES + 1), false, 0, reason);
}

/* FILE is put before each. */
#define HAS "; site.conf has [group NAME], [memory], [nodes TYPE], [absent]"
#define OURS "[group OURS]\ntitle = ours\n"
#define NAMES " needs a name that none of the library's has, of up to 31 letters, digits, _ and -"

static const char *const broken_sites[][2] = {
	{"[group MEM]\ntitle = ours\nitem = memory_read_bytes\n", ":1: [group MEM]" NAMES},
	{"[group two words]\ntitle = ours\nitem = llc_misses\n", ":1: [group two words]" NAMES},
	{"[group]\ntitle = ours\n", ":1: '[group]' begins no section" HAS},
	{"[groop OURS]\ntitle = ours\n", ":1: '[groop OURS]' begins no section" HAS},
	{"[memory 1]\npeak = 1e9\n", ":1: '[memory 1]' begins no section" HAS},
	{"[memory\npeak = 1e9\n", ":1: '[memory' begins no section" HAS},
	{"\n[]\n", ":2: '[]' begins no section" HAS},
	{"peak = 1e9\npeak = fast\n", ":1: 'peak = 1e9' begins no section" HAS},
	{OURS, ":1: [group] has no line item = ..."},
	{"[group OURS]\nitem = llc_misses\n", ":1: [group] has no line title = ..."},
	{OURS "item = imc.CAS_COUNT:RD:WR\n",
	 ":3: item = imc.CAS_COUNT:RD:WR: imc.CAS_COUNT: umask RD cannot be combined with WR"},
	{OURS "item = imc3.CAS_COUNT:RD:socket=0\n",
	 ":3: item = imc3.CAS_COUNT:RD:socket=0: a group names no place"},
	{OURS "item = imc.CAS_COUNT:RD\nitem = IMC.cas_count:rd\n",
	 ":4: item = imc.CAS_COUNT:RD is given twice"},
	{OURS "title = too # and a comment\nitem = llc_misses\n", ":3: title is given twice"},
	{OURS "item llc_misses\n", ":3: 'item llc_misses' is not key = value"},
	{OURS "item =\n", ":3: item = has no value"},
	{OURS "= llc_misses\n", ":3: '= llc_misses' is not key = value"},
	{OURS "socket = 1\n",
	 ":3: 'socket' is not a key of [group]; its keys are cpu, title, item"},
	{OURS "item = llc_misses\n" OURS "item = llc_misses\n", ":4: [group OURS] is given twice"},
	{"[memory]\n", ":1: [memory] has no line peak = ..."},
	{"[memory]\nsocket = all\npeak = 1e9\n",
	 ":2: socket = all is not a number up to 63; without the line it is each"},
	{"[memory]\npeak = 1e9\nsocket = 64\n",
	 ":3: socket = 64 is not a number up to 63; without the line it is each"},
	{"[memory]\npeak = 281.6\n",
	 ":2: peak = 281.6 is none that a socket can have: 1e8 to 1e14 (bytes a second, not MB or "
	 "GB)"},
	{"[memory]\npeak = fast\n",
	 ":2: peak = fast is none that a socket can have: 1e8 to 1e14 (bytes a second, not MB or "
	 "GB)"},
	{"[memory]\npeak = 1e9\nsocket = 0\n[memory]\nsocket = 0\npeak = 2e9\n",
	 ":6: peak is given twice for a socket"},
	{"[absent]\n", ":1: [absent] has no line unit = ..."},
	{"[absent]\nunit = upi2@1\n", ":2: 'upi2@1' is no unit, like upi2, and no type"},
	{"[absent]\nunit = upi2\nsocket = 64\n",
	 ":3: socket = 64 is not a number up to 63; without the line it is each"},
	{"[absent]\nunit = upi2\nunit = UPI2\n", ":3: UPI2 is given twice"},
	/* of before there were sections: the first line alone */
	{"# ours\ngroup OURS \"ours\"\nitem memory_read_bytes\nmemory_peak socket=0\n",
	 ":2: 'group OURS \"ours\"' is of an older form: it is now [group NAME], title = TEXT, "
	 "item "
	 "= NAME, in lines of their own"},
	{"memory_peak socket=each bytes_per_second=1e9\n",
	 ":1: 'memory_peak socket=each bytes_per_second=1e9' is of an older form: it is now "
	 "[memory], peak = BYTES_PER_SECOND, in lines of their own"},
	{"nodes unit=imc clusters=0,1\n", ":1: 'nodes unit=imc clusters=0,1' is of an older form: "
					  "it is now [nodes TYPE], clusters = "
					  "LIST, in lines of their own"},
	{"absent upi2\n", ":1: 'absent upi2' is of an older form: it is now [absent], unit = UNIT, "
			  "in lines of their own"},
};

static void count_warning(void *user, enum unc_log_level level, const char *text)
{
	unsigned *told = user;

	*told += level == UNC_LOG_WARNING && strcmp(text, unc_open_error()) == 0;
}

static int count_failed(void *user, const struct unc_check *check)
{
	const char *sentence = user;

	if (check->ok)
		return 0;
	CHECK_TEXT(check->check, "site");
	CU_ASSERT(strncmp(check->detail, sentence, strlen(sentence)) == 0);
	CU_ASSERT(check->remedy[0] != '\0');
	return 0;
}

/* One warning, which the doctor fails for, and all else is as it is without the file: two groups, of
 * the library and of the file, and a metric. */
static void check_left_out(const struct unc_options *o, const char *sentence, bool named)
{
	struct unc_options options = *o;
	const struct unc_group *g;
	struct unc_platform *p = NULL;
	char wanted[1024];
	unsigned told = 0;
	size_t index = 0;

	options.log = count_warning;
	options.log_user = &told;
	CHECK_NUMBER(unc_platform_open(&options, &p), 0);
	CU_ASSERT_PTR_NOT_NULL_FATAL(p);
	snprintf(wanted, sizeof(wanted), "%s: left out", sentence);
	CHECK_TEXT(unc_open_error(), wanted);
	CHECK_NUMBER(told, 1);
	CHECK_NUMBER(unc_group_find(p, "OVERVIEW", &index), 0);
	CU_ASSERT(unc_group_get(p, index)->available);
	CHECK_NUMBER(unc_group_find(p, "GOOD", &index), named ? 0 : UNC_ERR_NOT_FOUND);
	if (named)
		CHECK_NUMBER(unc_group_get(p, index)->n_items, 1);
	if (unc_group_find(p, "OURS", &index) == 0) { /* whole, or not to be had */
		g = unc_group_get(p, index);
		CHECK_NUMBER(g->n_items, 0);
		CHECK_TEXT(g->reason, sentence);
	}
	unc_platform_close(p);
	snprintf(wanted, sizeof(wanted), "%s: ignored, 1 in all", sentence);
	if (o->sim)
		CHECK_NUMBER(unc_doctor(o, count_failed, wanted), 1);
}

static void test_broken_sites(void)
{
	static const char good[] =
		"[group GOOD]\ntitle = what is right\nitem = memory_read_bytes\n";
	struct fake_root root;
	struct unc_options o = {.size = sizeof(o), .sim = SNB};
	char path[512], sentence[1024], text[1024];

	fake_new(&root);
	o.sysroot = root.path;
	snprintf(path, sizeof(path), "%s/etc/libuncore/site.conf", root.path);
	for (size_t i = 0; i < sizeof(broken_sites) / sizeof(broken_sites[0]); i++) {
		snprintf(text, sizeof(text), "%s%s", broken_sites[i][0], good);
		write_site(&root, text);
		snprintf(sentence, sizeof(sentence), "%s%s", path, broken_sites[i][1]);
		check_left_out(&o, sentence, !strstr(sentence, "older version"));
	}
	fake_free(&root);
	o.sysroot = NULL;
	setenv("UNCORE_SITE", "/nonexistent/site.conf", 1);
	check_left_out(&o, "/nonexistent/site.conf: No such file or directory", false);
	unsetenv("UNCORE_SITE");
}

/* A group is whole or cannot be had, with the first reason; what a file tells of the memory is whole or
 * not used. Of several wrong sections the first is told. */
static void test_half_sites(void)
{
	static const char why[] = "what the memory of socket 1 can move is not known: ";
	struct fake_root root;
	struct unc_platform *p;
	char sentence[1024];
	size_t index = 0;

	CU_ASSERT_FATAL(columns_files(&root, "sandybridge-ep"));
	write_site(&root, "[memory]\nsocket = 1\npeak = 60e9\n" OURS "item = memory_read_bytes\n"
			  "itm = memory_write_bytes\nitem = imc.CAS_COUNT:RD:WR\n"
			  "[group GOOD]\ntitle = good\nitem = imc.CAS_COUNT:RD\n"
			  "[memory]\nsocket = 0\npeak = fast\n"
			  "[group LAST\nitem = memory_read_bytes");
	p = open_root(&root, "");
	CU_ASSERT_PTR_NOT_NULL_FATAL(p);
	snprintf(sentence, sizeof(sentence),
		 "%s/etc/libuncore/site.conf:7: 'itm' is not a key of [group]; its keys are cpu, "
		 "title, "
		 "item: "
		 "left out, as 2 more are",
		 root.path);
	CHECK_TEXT(unc_open_error(), sentence);
	CHECK_NUMBER(unc_group_find(p, "OURS", &index), 0);
	CHECK_NUMBER(unc_group_get(p, index)->available, 0);
	*strstr(sentence, ": left out") = '\0';
	CHECK_TEXT(unc_group_get(p, index)->reason, sentence);
	CHECK_NUMBER(unc_group_find(p, "GOOD", &index), 0);
	CHECK_NUMBER(unc_group_get(p, index)->n_items, 1);
	CHECK_NUMBER(unc_group_find(p, "LAST", &index), UNC_ERR_NOT_FOUND);
	unc_platform_close(p);
	snprintf(sentence, sizeof(sentence),
		 "%s%s/etc/libuncore/site.conf:14: peak = fast is none that a socket can have: 1e8 "
		 "to 1e14 (bytes a second, not MB or GB)",
		 why, root.path);
	check_peak(&root, "", 1, 0, sentence);
	fake_free(&root);
}

/* The file of before has another name, and is looked for only where there is none of the new name. What
 * is wrong in a section for other CPUs is told, and costs nothing here. */
static void test_old_name(void)
{
	struct fake_root root;
	struct unc_options o = {.size = sizeof(o), .sim = SNB};
	char sentence[600];
	const char *old;

	fake_new(&root);
	o.sysroot = root.path;
	old = fake_path(&root, "/etc/libuncore/site.tbl");
	fake_text(old, "absent upi2\n");
	snprintf(sentence, sizeof(sentence),
		 "%s/etc/libuncore/site.tbl:1: 'absent upi2' is of an older form: it is now "
		 "[absent], "
		 "unit = UNIT, in lines of their own",
		 root.path);
	check_left_out(&o, sentence, false);
	fake_text(old, OURS "item = memory_read_bytes\n");
	snprintf(sentence, sizeof(sentence),
		 "%s/etc/libuncore/site.tbl:1: this file is site.conf now: rename it", root.path);
	check_left_out(&o, sentence, false);
	write_site(&root, "[group GOOD]\ntitle = right\nitem = memory_read_bytes\n"
			  "[group GOOD]\ncpu = haswell-ep\ntitle = wrong\nitme = llc_misses\n");
	snprintf(sentence, sizeof(sentence),
		 "%s/etc/libuncore/site.conf:7: 'itme' is not a key of [group]; its keys are cpu, "
		 "title, "
		 "item",
		 root.path);
	check_left_out(&o, sentence, true);
	fake_free(&root);
}

/* A program with raised rights takes only what is root's, and no variable. */
static void test_trusted_site(void)
{
	struct fake_root root;
	struct unc_options o = {.size = sizeof(o), .cpu = "sandybridge-ep"};
	struct unc_platform *p = NULL;
	size_t index;

	if (geteuid() != 0) {
		suite_skip("only root has files that are root's");
		return;
	}
	fake_new(&root);
	o.sysroot = root.path;
	write_site(&root, "[group OURS]\ntitle = ours\nitem = memory_read_bytes\n");
	setenv("UNCORE_SITE", "/nonexistent", 1);
	CHECK_NUMBER(unc_platform_open_as(&o, true, &p), 0);
	CHECK_NUMBER(unc_group_find(p, "OURS", &index), 0);
	CHECK_TEXT(unc_open_error(), "");
	unc_platform_close(p);
	unsetenv("UNCORE_SITE");
	CU_ASSERT(chmod(fake_path(&root, "/etc/libuncore/site.conf"), 0666) == 0);
	CHECK_NUMBER(unc_platform_open_as(&o, true, &p), 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(unc_open_error(),
				      "/etc/libuncore/site.conf may be written by "
				      "others than root"));
	CHECK_NUMBER(unc_group_find(p, "OURS", &index), UNC_ERR_NOT_FOUND);
	unc_platform_close(p);
	fake_free(&root);
}

/* ---- the metric: of a socket its peak, of all the sum. Eight channels of DDR5-5600 a socket. */

static void test_utilization(void)
{
	struct unc_platform *p = machine("emerald-rapids,clock=step,memory=5600");
	struct unc_session *s = session(p, 0);
	double peak = 0, all = 0;
	struct unc_value v[4];

	CHECK_NUMBER(unc_memory_peak(p, 1, &peak), 0);
	CU_ASSERT_DOUBLE_EQUAL(peak, 8 * 8 * 5600e6, 0);
	CHECK_NUMBER(unc_memory_peak(p, -1, &all), 0);
	CU_ASSERT_DOUBLE_EQUAL(all, 2 * peak, 0);
	add(s, "memory_bandwidth");
	add(s, "memory_bandwidth:socket=1");
	add(s, "memory_utilization");
	add(s, "memory_utilization:socket=1");
	start(s);
	step(p, 100 * ms);
	CHECK_NUMBER(unc_session_read(s, v, 4, sizeof(v[0])), 0);
	CU_ASSERT(v[0].value > 0 && v[1].value > 0);
	CU_ASSERT_DOUBLE_EQUAL(v[2].value, v[0].value / all, 1e-12);
	CU_ASSERT_DOUBLE_EQUAL(v[3].value, v[1].value / peak, 1e-12);
	CHECK_NUMBER(unc_session_stop(s), 0);
	unc_session_free(s);
	unc_platform_close(p);
}

static void test_unknown(void)
{
	static const char why[] =
		"what the memory of socket 0 can move is not known: the simulated "
		"machine was not given the speed of its memory (memory=MT/s)";
	struct unc_platform *p = machine(EMR);
	struct unc_session *s = session(p, 0);
	char sentence[300];
	struct unc_item item = {.size = sizeof(item)};
	int id = 7;

	CHECK_NUMBER(unc_item_find(p, "memory_utilization", &item), 0);
	CHECK_NUMBER(item.metric->available, 0);
	CHECK_NUMBER(item.metric->passes, 0);
	CHECK_TEXT(item.metric->reason, why);
	snprintf(sentence, sizeof(sentence), "memory_utilization: %s", why);
	CHECK_NUMBER(unc_session_add(s, "memory_utilization", &id), UNC_ERR_UNAVAILABLE);
	CHECK_TEXT(unc_session_error(s), sentence);
	CHECK_NUMBER(id, 7);
	unc_session_free(s);
	unc_platform_close(p);
}

/* Of a CPU that is only listed it is a metric like the others, but no machine tells a peak. */
static void test_listed(void)
{
	struct unc_options o = {.size = sizeof(o), .cpu = "emerald-rapids"};
	struct unc_platform *p = NULL;
	struct unc_item item = {.size = sizeof(item)};
	double peak;

	CU_ASSERT_FATAL(unc_platform_open(&o, &p) == 0);
	CHECK_NUMBER(unc_item_find(p, "memory_utilization", &item), 0);
	CHECK_NUMBER(item.metric->available, 1);
	CHECK_NUMBER(unc_memory_peak(p, -1, &peak), UNC_ERR_UNAVAILABLE);
	CHECK_TEXT(unc_platform_error(p), "what the memory can move is not known: the platform was "
					  "opened for listing only");
	unc_platform_close(p);
}

/* HBM beside the modules: Xeon Max, of which nothing tells the HBM's speed. */
static void test_hbm(void)
{
	struct unc_platform *p = machine("sapphire-rapids,clock=step,memory=4800");
	double peak = 0;

	CHECK_NUMBER(unc_memory_peak(p, 0, &peak), UNC_ERR_UNAVAILABLE);
	CHECK_TEXT(unc_platform_error(p), "what the memory of socket 0 can move is not known: the "
					  "machine has memory on the package (HBM)");
	unc_platform_close(p);
	/* Emerald Rapids has none, but only its discovery tables say so. */
	p = machine("emerald-rapids-no-discovery,clock=step,memory=4800");
	CHECK_NUMBER(unc_memory_peak(p, 0, &peak), UNC_ERR_UNAVAILABLE);
	CHECK_TEXT(unc_platform_error(p),
		   "what the memory of socket 0 can move is not known: it may have memory on the "
		   "package (HBM): only the discovery tables, which cannot be used, "
		   "show whether there is one");
	unc_platform_close(p);
}

int main(void)
{
	static const struct suite_test tests[] = {
		{"a peak that nobody tells", test_machine},
		{"the site tells peaks", test_site_peaks},
		{"the site tells what is absent", test_site_absent},
		{"the site adds groups", test_site_groups},
		{"passes of a site's groups", test_passes_of_groups},
		{"a broken site file costs what is wrong in it", test_broken_sites},
		{"of a site file nothing is used by halves", test_half_sites},
		{"the file of before", test_old_name},
		{"a site file for root only", test_unreadable_site},
		{"a site's file that is none", test_broken_site},
		{"whom a program with raised rights believes", test_trusted_site},
		{"memory_utilization is of its socket's peak", test_utilization},
		{"without a peak there is no share of it", test_unknown},
		{"a CPU that is only listed", test_listed},
		{"memory on the package", test_hbm},
		{NULL, NULL},
	};

	return suite_run("peak", tests);
}
