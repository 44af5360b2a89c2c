/* SPDX-License-Identifier: BSD-3-Clause */
#include "host/cpu.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"

#define CPUINFO "/proc/cpuinfo"

enum { CPUINFO_MAX = 64 << 20 };

/* A logical CPU. */
struct row {
	int cpu, package, die, core; /* -1: not known */
};

struct rows {
	bool online[UNC_MAX_CPUS];
	struct row row[UNC_MAX_CPUS]; /* first by CPU number; later the online CPUs by socket */
	int n;
};

/* The caller frees *text. */
static int read_cpuinfo(const struct unc_fs *fs, char **text, struct unc_error *err)
{
	struct unc_error why = {0};
	size_t size;
	int rc = unc_fs_whole(fs, CPUINFO, CPUINFO_MAX, text, &size, &why);

	if (rc < 0 && !why.code)
		return unc_fail(err, UNC_ERR_UNAVAILABLE, CPUINFO " cannot be read: %s",
				unc_fs_reason(errno));
	return rc < 0 ? unc_fail(err, rc, "%s", why.text) : 0;
}

/* Splits the next line, "key : value", off *text; false at the end. Without a colon both are "". */
static bool next_pair(char **text, const char **key, const char **value)
{
	char *line = strsep(text, "\n"), *colon = line ? strchr(line, ':') : NULL;

	*key = *value = "";
	if (colon) {
		*value = colon + 1 + strspn(colon + 1, " \t");
		while (colon > line && (colon[-1] == ' ' || colon[-1] == '\t'))
			colon--;
		*colon = '\0';
		*key = line;
	}
	return line != NULL;
}

static bool whole_int(const char *text, int *out)
{
	char *end;
	long v;

	errno = 0;
	v = strtol(text, &end, 10);
	if (errno || end == text || *end || v < -1 || v > 1 << 24)
		return false;
	*out = (int)v;
	return true;
}

static bool contains_word(const char *text, const char *word)
{
	size_t n = strlen(word);

	for (const char *p = text; (p = strstr(p, word)); p += n)
		if ((p == text || p[-1] == ' ') && (p[n] == ' ' || !p[n]))
			return true;
	return false;
}

/* Parses a line that is the same for all processors. Returns the key if its number is bad, else NULL. */
static const char *parse_identity(struct unc_topology *t, const char *key, const char *value,
				  unsigned *seen)
{
	if (!strcmp(key, "vendor_id") || !strcmp(key, "vendor")) { /* "vendor" on Itanium */
		snprintf(t->vendor, sizeof(t->vendor), "%s", value);
		*seen |= 1;
	} else if (!strcmp(key, "CPU implementer")) { /* an ARM CPU: it has no table */
		snprintf(t->vendor, sizeof(t->vendor), "ARM %.8s", value);
		*seen |= 7;
	} else if (!strcmp(key, "cpu family") || !strcmp(key, "family")) {
		*seen |= 2;
		/* Old kernels print a name (families: guide 308065-001, table 2-1). */
		value = !strcmp(value, "Itanium 2") ? "31"
			: !strcmp(value, "Itanium") ? "7"
						    : value;
		return whole_int(value, &t->family) ? NULL : key;
	} else if (!strcmp(key, "model")) {
		*seen |= 4;
		return whole_int(value, &t->model) ? NULL : key;
	} else if (!strcmp(key, "stepping")) {
		if (!whole_int(value, &t->stepping))
			t->stepping = -1; /* "unknown" is legal */
	} else if (!strcmp(key, "model name")) {
		snprintf(t->model_name, sizeof(t->model_name), "%s", value);
	} else if (!strcmp(key, "flags")) {
		t->hypervisor = contains_word(value, "hypervisor");
	}
	return NULL;
}

/* Parses /proc/cpuinfo: identity from the first block, package and core from each block. Changes
 * the text. */
static int parse_cpuinfo(char *text, struct unc_topology *t, struct rows *rows,
			 struct unc_error *err)
{
	unsigned seen = 0, blocks = 0;
	struct row *row = NULL;
	const char *key, *value;

	t->stepping = -1;
	while (next_pair(&text, &key, &value)) {
		const char *bad = blocks <= 1 ? parse_identity(t, key, value, &seen) : NULL;
		bool ok = !bad;
		int cpu;

		if (!strcmp(key, "processor")) {
			ok = whole_int(value, &cpu) && cpu >= 0 && cpu < UNC_MAX_CPUS;
			if (ok) {
				row = &rows->row[cpu];
				rows->online[cpu] = true;
				blocks++;
			}
		} else if (row && !strcmp(key, "physical id")) {
			ok = whole_int(value, &row->package);
		} else if (row && !strcmp(key, "core id")) {
			ok = whole_int(value, &row->core);
		}
		if (!ok)
			return unc_fail(err, UNC_ERR_UNAVAILABLE,
					"/proc/cpuinfo: '%s' is not a number: '%.40s'", key, value);
	}
	if (seen != 7)
		return unc_fail(err, UNC_ERR_UNAVAILABLE, "/proc/cpuinfo: no line '%s'",
				!(seen & 1)   ? "vendor_id"
				: !(seen & 2) ? "cpu family"
					      : "model");
	if (!blocks)
		return unc_fail(err, UNC_ERR_UNAVAILABLE, "/proc/cpuinfo: no line 'processor'");
	return 0;
}

bool unc_cpu_list(const char *text, bool cpus[UNC_MAX_CPUS])
{
	unsigned first, last;

	for (; unc_range_next(&text, UNC_MAX_CPUS, &first, &last); text++) {
		memset(cpus + first, true, last - first + 1);
		if (*text != ',')
			return *text == '\0';
	}
	return false;
}

/* Adds the CPUs of a list of the kernel. A list without CPUs is missing, empty or "(null)". */
static void add_cpu_list(const struct unc_fs *fs, const char *name, bool cpus[UNC_MAX_CPUS])
{
	bool list[UNC_MAX_CPUS] = {false};
	char text[4096];

	if (unc_fs_text(fs, text, sizeof(text), "/sys/devices/system/cpu/%s", name) < 0 ||
	    !unc_cpu_list(text, list))
		return;
	for (int cpu = 0; cpu < UNC_MAX_CPUS; cpu++)
		cpus[cpu] |= list[cpu];
}

/* Reads which CPUs are online. If the list is missing, /proc/cpuinfo decides: it has online CPUs only. */
static int read_online(const struct unc_fs *fs, struct rows *rows, struct unc_error *err)
{
	static const char path[] = "/sys/devices/system/cpu/online";
	char text[4096];
	int rc = unc_fs_text(fs, text, sizeof(text), "%s", path);

	if (rc < 0 && rc != UNC_ERR_NOT_FOUND)
		return unc_fail(err, UNC_ERR_UNAVAILABLE, "%s cannot be read: %s", path,
				unc_fs_reason(errno));
	if (rc == 0)
		memset(rows->online, 0, sizeof(rows->online));
	if (rc == 0 && !unc_cpu_list(text, rows->online))
		return unc_fail(err, UNC_ERR_UNAVAILABLE,
				"%s: '%.40s' is not a list of CPUs like 0-3,8", path, text);
	for (int cpu = 0; cpu < UNC_MAX_CPUS; cpu++)
		if (rows->online[cpu])
			rows->row[rows->n++] = rows->row[cpu];
	return 0;
}

/* Reads a number below cpuN/topology. If the file does not exist, *value is unchanged. */
static int topology_number(const struct unc_fs *fs, int cpu, const char *name, int *value,
			   struct unc_error *err)
{
	char text[64];
	int rc = unc_fs_text(fs, text, sizeof(text), "/sys/devices/system/cpu/cpu%d/topology/%s",
			     cpu, name);

	if (rc == UNC_ERR_NOT_FOUND)
		return 0;
	if (rc == 0 && whole_int(text, &rc)) {
		if (rc >= 0)
			*value = rc; /* -1: the kernel does not know */
		return 0;
	}
	return unc_fail(err, UNC_ERR_UNAVAILABLE, "/sys/devices/system/cpu/cpu%d/topology/%s: %s",
			cpu, name, rc < 0 ? unc_fs_reason(errno) : "not a number");
}

static int read_topology(const struct unc_fs *fs, struct rows *rows, struct unc_error *err)
{
	int known = 0;

	for (struct row *row = rows->row; row < rows->row + rows->n; row++) {
		int rc = topology_number(fs, row->cpu, "die_id", &row->die, err);

		/* /proc/cpuinfo has the same numbers: sysfs is read only for those that it lacks. */
		if (rc == 0 && row->package < 0)
			rc = topology_number(fs, row->cpu, "physical_package_id", &row->package,
					     err);
		if (rc == 0 && row->core < 0)
			rc = topology_number(fs, row->cpu, "core_id", &row->core, err);
		if (rc < 0)
			return rc;
		known += row->package >= 0;
	}
	for (struct row *row = rows->row; row < rows->row + rows->n; row++) {
		if (row->package < 0 && known)
			return unc_fail(err, UNC_ERR_UNAVAILABLE,
					"cpu %d: neither sysfs (physical_package_id) nor "
					"/proc/cpuinfo (physical id) tells its socket",
					row->cpu);
		if (row->package < 0)
			row->package = 0; /* a kernel for one processor has no package id */
		if (row->core < 0)
			row->core = row->cpu;
	}
	return 0;
}

static int compare_cpu_rows(const void *pa, const void *pb)
{
	const struct row *a = pa, *b = pb;

	if (a->package != b->package)
		return a->package - b->package;
	if (a->die != b->die)
		return a->die - b->die;
	if (a->core != b->core)
		return a->core - b->core;
	return a->cpu - b->cpu;
}

static int count_sockets(struct rows *rows, struct unc_topology *t, struct unc_error *err)
{
	const struct row *last = NULL;

	qsort(rows->row, (size_t)rows->n, sizeof(rows->row[0]), compare_cpu_rows);
	for (int i = 0; i < rows->n; i++) {
		const struct row *row = &rows->row[i];
		bool package = !last || last->package != row->package;
		bool die = package || last->die != row->die;
		bool core = die || last->core != row->core;
		struct unc_socket *socket;

		if (package) {
			if (t->n_sockets == UNC_MAX_SOCKETS)
				return unc_fail(err, UNC_ERR_UNAVAILABLE, "more than %d sockets",
						UNC_MAX_SOCKETS);
			t->socket[t->n_sockets++] = (struct unc_socket){
				.package = row->package, .cpu = row->cpu, .first = i};
		}
		socket = &t->socket[t->n_sockets - 1];
		socket->cpus++;
		socket->dies += die;
		socket->cores += core;
		if (row->cpu < socket->cpu)
			socket->cpu = row->cpu;
		t->cpu_socket[row->cpu] = (uint8_t)t->n_sockets;
		t->order[i] = (uint16_t)row->cpu;
		last = row;
	}
	return 0;
}

/* Reads the size of each socket's L3 from one of its CPUs. */
static void read_caches(const struct unc_fs *fs, struct unc_topology *t)
{
	char text[32], unit;

	for (struct unc_socket *socket = t->socket; socket < t->socket + t->n_sockets; socket++) {
		if (unc_fs_text(fs, text, sizeof(text),
				"/sys/devices/system/cpu/cpu%d/cache/index3/size",
				socket->cpu) < 0 ||
		    sscanf(text, "%d%c", &socket->cache, &unit) != 2 || unit != 'K' ||
		    socket->cache < 0)
			socket->cache = 0;
	}
}

/* Whether each core has one thread online: SMT is off, or its threads were taken offline one by one. */
static bool siblings_off(const struct unc_fs *fs)
{
	char control[32] = "", active[8] = "";

	unc_fs_text(fs, control, sizeof(control), "/sys/devices/system/cpu/smt/control");
	unc_fs_text(fs, active, sizeof(active), "/sys/devices/system/cpu/smt/active");
	return strcmp(control, "off") == 0 || strcmp(control, "forceoff") == 0 ||
	       (strcmp(control, "on") == 0 && strcmp(active, "0") == 0);
}

static int count_hidden_cpus(const struct unc_fs *fs, const struct unc_topology *t)
{
	bool present[UNC_MAX_CPUS] = {false};
	int n = 0;

	add_cpu_list(fs, "present", present);
	for (int cpu = 0; cpu < UNC_MAX_CPUS; cpu++)
		n += present[cpu] && !t->cpu_socket[cpu];
	if (siblings_off(fs))
		for (int i = 0; i < t->n_sockets; i++)
			n -= t->socket[i].cpus;
	return n > 0 ? n : 0;
}

/* ---- CPUs that must not be interrupted */

/* Reads the CPUs that this thread is bound to; none if it may run on all online CPUs. */
static void read_bound(const struct unc_topology *t, bool bound[UNC_MAX_CPUS])
{
	cpu_set_t set[UNC_MAX_CPUS / CPU_SETSIZE];
	bool all = true;

	if (sched_getaffinity(0, sizeof(set), set) < 0)
		return;
	for (int cpu = 0; cpu < UNC_MAX_CPUS; cpu++) {
		bound[cpu] = CPU_ISSET_S(cpu, sizeof(set), set);
		all &= bound[cpu] || !t->cpu_socket[cpu];
	}
	if (all)
		memset(bound, 0, UNC_MAX_CPUS * sizeof(*bound));
}

/* Chooses the CPU of each socket: the lowest that is not quiet, else the lowest quiet one that the
 * program is bound to. */
static void choose_cpus(const struct unc_fs *fs, struct unc_topology *t)
{
	bool quiet[UNC_MAX_CPUS] = {false}, bound[UNC_MAX_CPUS] = {false};

	add_cpu_list(fs, "isolated", quiet);
	add_cpu_list(fs, "nohz_full", quiet);
	read_bound(t, bound);
	for (int cpu = 0; cpu < UNC_MAX_CPUS; cpu++)
		t->cpu_quiet[cpu] = quiet[cpu] && !bound[cpu];
	for (struct unc_socket *socket = t->socket; socket < t->socket + t->n_sockets; socket++) {
		int best = -1;

		for (int k = socket->first; k < socket->first + socket->cpus; k++) {
			int cpu = t->order[k];

			if (!t->cpu_quiet[cpu] && (best < 0 || quiet[best] > quiet[cpu] ||
						   (cpu < best && quiet[best] == quiet[cpu])))
				best = cpu;
		}
		socket->quiet = best < 0;
		socket->cpu = best < 0 ? socket->cpu : best;
	}
}

int unc_topology_read(const struct unc_fs *fs, struct unc_topology *out, struct unc_error *err)
{
	struct unc_topology *t = calloc(1, sizeof(*t));
	struct rows *rows = calloc(1, sizeof(*rows));
	char *text = NULL;
	int rc;

	if (!t || !rows) {
		rc = unc_fail(err, UNC_ERR_MEMORY, "out of memory");
		goto done;
	}
	for (int cpu = 0; cpu < UNC_MAX_CPUS; cpu++)
		rows->row[cpu] = (struct row){.cpu = cpu, .package = -1, .core = -1};
	rc = read_cpuinfo(fs, &text, err);
	if (rc == 0)
		rc = parse_cpuinfo(text, t, rows, err);
	if (rc == 0)
		rc = read_online(fs, rows, err);
	if (rc == 0)
		rc = read_topology(fs, rows, err);
	if (rc == 0)
		rc = count_sockets(rows, t, err);
	if (rc == 0) {
		t->hidden = count_hidden_cpus(fs, t);
		choose_cpus(fs, t);
		read_caches(fs, t);
	}
	if (rc == 0 || t->n_sockets == UNC_MAX_SOCKETS)
		*out = *t;
done:
	free(text);
	free(rows);
	free(t);
	return rc;
}

int unc_topology_unseen(const struct unc_topology *t)
{
	int most = 1;

	for (int i = 0; i < t->n_sockets; i++)
		most = t->socket[i].cpus > most ? t->socket[i].cpus : most;
	return t->hidden / most;
}

int unc_topology_package(const struct unc_topology *t, int package)
{
	for (int i = 0; i < t->n_sockets; i++)
		if (t->socket[i].package == package)
			return i;
	return -1;
}

int unc_topology_add(struct unc_topology *t, int package, struct unc_error *err)
{
	int at = 0;

	if (unc_topology_package(t, package) >= 0)
		return 0;
	if (t->n_sockets == UNC_MAX_SOCKETS)
		return unc_fail(err, UNC_ERR_RANGE, "more than %d sockets", UNC_MAX_SOCKETS);
	while (at < t->n_sockets && t->socket[at].package < package)
		at++;
	memmove(&t->socket[at + 1], &t->socket[at],
		(size_t)(t->n_sockets - at) * sizeof(t->socket[0]));
	t->socket[at] = (struct unc_socket){.package = package, .cpu = -1};
	t->n_sockets++;
	for (int cpu = 0; cpu < UNC_MAX_CPUS; cpu++)
		t->cpu_socket[cpu] = (uint8_t)(t->cpu_socket[cpu] + (t->cpu_socket[cpu] > at));
	return 0;
}

int unc_topology_socket(const struct unc_topology *t, int cpu)
{
	if (cpu < 0 || cpu >= UNC_MAX_CPUS)
		return -1;
	if (!t->cpu_socket[cpu] && t->n_sockets == 1)
		return 0; /* the CPU is offline */
	return t->cpu_socket[cpu] - 1;
}

int unc_topology_cpu(const struct unc_topology *t, int socket, unsigned i)
{
	const struct unc_socket *s = &t->socket[socket];

	return i < (unsigned)s->cpus ? t->order[s->first + (int)i] : -1;
}

int unc_topology_sibling(const struct unc_topology *t, uint32_t cpu, unsigned i)
{
	int socket = t ? unc_topology_socket(t, (int)cpu) : -1;

	return socket < 0 ? -1 : unc_topology_cpu(t, socket, i);
}

void unc_lockdown_read(const struct unc_fs *fs, char mode[32])
{
	char text[128] = "", *open, end;

	(void)unc_fs_text(fs, text, sizeof(text), "/sys/kernel/security/lockdown");
	open = strchr(text, '[');
	if (!open || sscanf(open, "[%31[^]]%c", mode, &end) != 2 || end != ']')
		mode[0] = '\0';
}
