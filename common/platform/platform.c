/* SPDX-License-Identifier: BSD-3-Clause */
#include "platform/platform.h"

#include <limits.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "access/fence.h"
#include "base/abi.h"
#include "base/nearest.h"
#include "base/text.h"
#include "encode/event.h"
#include "host/dump.h"
#include "host/trust.h"
#include "journal/journal.h"
#include "machine/hardware.h"
#include "machine/simulator.h"
#include "machine/stack_map.h"

/* Per thread: a platform that did not open cannot store its sentence. */
static _Thread_local struct unc_error open_error;

const char *unc_open_error(void)
{
	return open_error.text;
}

int unc_open_fail(const struct unc_error *err)
{
	open_error = *err;
	return err->code;
}

const char *unc_platform_error(const struct unc_platform *p)
{
	return p->error.text;
}

void unc_platform_log(const struct unc_platform *p, enum unc_log_level level, const char *format,
		      ...)
{
	char text[UNC_ERROR_MAX];

	if (!p->log)
		return;
	UNC_FORMAT(text, format);
	p->log(p->log_user, level, text);
}

int unc_platform_keep(struct unc_platform *p, const struct unc_error *err)
{
	pthread_mutex_lock(&p->lock);
	if (err->code)
		p->error = *err;
	else
		unc_error_clear(&p->error);
	pthread_mutex_unlock(&p->lock);
	return err->code;
}

int unc_platform_fail(struct unc_platform *p, int code, const char *format, ...)
{
	char text[UNC_ERROR_MAX];
	struct unc_error err;

	UNC_FORMAT(text, format);
	unc_fail(&err, code, "%s", text);
	return unc_platform_keep(p, &err);
}

static void log_note(void *user, const char *text)
{
	unc_platform_log(user, UNC_LOG_WARNING, "%s", text);
}

/* ---- time */

void unc_platform_now(const struct unc_platform *p, uint64_t *ns, uint64_t *tsc)
{
	p->machine->methods->now(p->machine, ns, tsc);
}

bool unc_platform_pause(const struct unc_platform *p, uint64_t ns)
{
	return p->machine->methods->pause(p->machine, ns);
}

double unc_platform_tsc_hz(const struct unc_platform *p)
{
	uint64_t ns, tsc;

	if (p->machine->tsc_hz > 0)
		return p->machine->tsc_hz;
	unc_platform_now(p, &ns, &tsc);
	return ns > p->opened_ns ? (double)(tsc - p->opened_tsc) * 1e9 / (double)(ns - p->opened_ns)
				 : 0;
}

/* ---- opening */

/* The given option, else the variable; NULL: neither. */
static const char *option_or_variable(const char *given, bool raised, const char *variable)
{
	if (given)
		return given[0] ? given : NULL;
	return unc_variable(raised, variable);
}

/* Logs environment variables that are ignored because the process is privileged. */
static void log_ignored(struct unc_platform *p)
{
	for (const char *const *name = unc_variables; p->raised && *name; name++)
		if (getenv(*name))
			unc_platform_log(p, UNC_LOG_WARNING,
					 "%s is ignored: the program runs with raised privileges",
					 *name);
}

const struct unc_table **unc_tables(size_t *n)
{
	const struct unc_table **all = malloc(UNC_TABLE_CPUS * (sizeof(*all) + sizeof(**all)));
	struct unc_table *view = all ? (struct unc_table *)(all + UNC_TABLE_CPUS) : NULL;

	for (*n = 0; all && *n < UNC_TABLE_CPUS && unc_table_built(*n, &view[*n]); (*n)++)
		all[*n] = &view[*n];
	return all;
}

void unc_cpu_names(char *buf, size_t size)
{
	struct unc_buf list = unc_buf(buf, size);
	struct unc_table t;

	for (size_t i = 0; unc_table_built(i, &t); i++)
		unc_put_word(&list, unc_tbl_str(&t, t.name));
}

static int table_by_name(const char *name, struct unc_table *out, struct unc_error *err)
{
	char names[400], near[80];
	struct unc_nearest nearest;

	unc_nearest_start(&nearest, name);
	for (size_t i = 0; unc_table_built(i, out); i++) {
		if (strcmp(name, "*") == 0 || unc_cpu_is(out, name))
			return 0;
		unc_nearest_try_short(&nearest, unc_tbl_str(out, out->name));
	}
	unc_cpu_names(names, sizeof(names));
	return unc_fail(err, UNC_ERR_NOT_FOUND, "no CPU %.60s%s; there are tables for %s", name,
			unc_nearest_text(&nearest, near, sizeof(near)), names);
}

static bool is_cpu(const struct unc_topology *top, const struct unc_tbl_cpuid *cpuid)
{
	return unc_cpuid_is(cpuid, top->vendor, top->family, top->model, top->stepping);
}

/* "Intel(R) Xeon(R) ..., family 6 model 0x55 stepping 4" */
static void write_identity(const struct unc_topology *top, char *buf, size_t size)
{
	struct unc_buf text = unc_buf(buf, size);

	unc_put(&text, "%s, family %d model 0x%x",
		top->model_name[0] ? top->model_name : top->vendor, top->family,
		(unsigned)top->model);
	if (top->stepping >= 0)
		unc_put(&text, " stepping %d", top->stepping);
	if (top->hypervisor)
		unc_put(&text, ", in a virtual machine");
}

/* Finds the table of a CPU; false: there is none. */
static bool find_table(const struct unc_topology *top, struct unc_table *out)
{
	for (size_t i = 0; unc_table_built(i, out); i++)
		if (is_cpu(top, out->cpuid))
			return true;
	return false;
}

static int table_by_cpu(const struct unc_topology *top, struct unc_table *out,
			struct unc_error *err)
{
	const char *simulates = "";
	char names[400], cpu[120];

	if (find_table(top, out))
		return 0;
	for (size_t i = 0; strcmp(simulates, UNC_EXAMPLE_CPU) != 0 && unc_table_built(i, out); i++)
		simulates = unc_tbl_str(out, out->name);
	unc_cpu_names(names, sizeof(names));
	write_identity(top, cpu, sizeof(cpu));
	unc_table_built(0, out);
	for (size_t i = 0; i < out->n_known; i++)
		if (is_cpu(top, &out->known[i].cpuid))
			return unc_fail(err, UNC_ERR_UNAVAILABLE,
					"%s: no table yet (%s); there are tables for %s, and "
					"UNCORE_SIM=%s simulates one",
					unc_tbl_str(out, out->known[i].title), cpu, names,
					simulates);
	return unc_fail(err, UNC_ERR_UNAVAILABLE,
			"this CPU (%s) has no uncore monitors that are known here; there are "
			"tables for %s, and UNCORE_SIM=%s simulates one",
			cpu, names, simulates);
}

/* Whether the site says that a unit does not exist. */
static bool is_declared_absent(const struct unc_platform *p, const struct unc_instance *u)
{
	const char *type = unc_type_name(p->table, u->type);
	char name[64];

	snprintf(name, sizeof(name), "%.40s%u", type, u->index);
	for (size_t i = 0; i < p->site.n_units; i++) {
		const struct unc_site_units *line = &p->site.units[i];

		if (!line->map.clusters &&
		    (unc_same(line->unit, type) || unc_same(line->unit, name)) &&
		    (line->socket < 0 || line->socket == u->socket))
			return true;
	}
	return false;
}

/* Drops units that do not exist, so that they are not missing; a unit that answers does exist. */
static void drop_absent(struct unc_platform *p)
{
	size_t n = 0;

	for (size_t i = 0; i < p->instances.n; i++) {
		struct unc_instance *u = &p->instances.unit[i];

		if (u->available || u->part[0].exists || !is_declared_absent(p, u))
			p->instances.unit[n++] = *u;
		else
			unc_instance_forget(u);
	}
	p->instances.n = n;
}

/* Whether the table has registers: on a CPU without a table all units are the kernel's. */
static bool has_registers(const struct unc_table *t)
{
	return t->n_type && !t->type[0].by_kernel;
}

static int find_units(struct unc_platform *p, struct unc_error *err)
{
	struct unc_bus *bus = NULL;
	int rc = unc_bus_open_system(p->machine->fs, &bus, err);

	if (rc < 0)
		return rc;
	bus->gate = p->access;
	rc = unc_discover(p->table, &p->topology, bus, log_note, p, &p->instances, err);
	if (rc == 0 && p->machine->fenced)
		rc = unc_fence_windows(p->table, &p->instances, bus, p->fs, p->access, err);
	bus->methods->close(bus);
	return rc;
}

static int open_machine(struct unc_platform *p, const char *order, struct unc_error *err)
{
	int rc;

	if ((rc = unc_access_open(p->machine, order, &p->access, err)) < 0)
		return rc;
	p->machine->top = &p->topology;
	if (p->machine->fenced)
		rc = unc_fence_begin(unc_access_fence(p->access), p->table, err);
	if (rc == 0 && has_registers(p->table))
		rc = find_units(p, err);
	if (rc == 0)
		rc = unc_named_add(&p->named, &p->instances, err);
	if (rc == 0 && p->machine->methods->found)
		rc = p->machine->methods->found(p->machine, &p->instances, err);
	if (rc == 0)
		rc = unc_stack_allow(p->table, &p->topology, p->access, err);
	if (rc < 0)
		return rc;
	rc = unc_instances_probe(p->table, &p->instances, p->access, err);
	drop_absent(p);
	return rc < 0 ? rc : unc_platform_kernel(p, err);
}

/* Makes the units of the tables, as if on socket 0, for listing and encoding. */
static int nominal_units(struct unc_platform *p, struct unc_error *err)
{
	const struct unc_table *t = p->table;
	size_t n = 0;

	for (unsigned i = 0; i < t->n_type; i++)
		n += unc_type_instances(t, i) ? unc_type_instances(t, i) : 1;
	p->instances.unit = calloc(n, sizeof(*p->instances.unit));
	if (!p->instances.unit)
		return unc_no_memory(err);
	for (unsigned i = 0; i < t->n_type; i++) {
		unsigned count = unc_type_instances(t, i) ? unc_type_instances(t, i) : 1;

		for (unsigned k = 0; !t->type[i].pool && k < count; k++)
			unc_instance_nominal(t, i, k, &p->instances.unit[p->instances.n++]);
	}
	return 0;
}

/* Whether the options name only a CPU: its tables are listed, and no machine is touched. */
static bool only_listing(const struct unc_options *o)
{
	return o->cpu && o->cpu[0] && !(o->sim && o->sim[0]);
}

const char *unc_platform_sim(const struct unc_options *o, bool raised, const struct unc_fs *fs)
{
	const char *sim = option_or_variable(o->sim, raised, "UNCORE_SIM");
	const struct unc_dump *dump = unc_fs_replayed(fs);

	return sim || !dump || !*dump->sim ? sim : dump->sim;
}

static int choose_machine(struct unc_platform *p, const struct unc_options *o,
			  struct unc_error *err)
{
	const char *sim = only_listing(o) ? NULL : unc_platform_sim(o, p->raised, p->fs);
	const struct unc_table **built;
	char node[256];
	size_t n;
	int rc;

	if (!sim)
		return unc_machine_hardware(p->fs, &p->machine, err);
	if (unc_fs_text(p->fs, node, sizeof(node), "proc/sys/kernel/hostname") < 0)
		node[0] = '\0'; /* a root without this file is a node without a name */
	if (!(built = unc_tables(&n)))
		return unc_no_memory(err);
	rc = unc_machine_simulated(sim, node, built, n, &p->machine, err);
	free(built);
	return rc;
}

/* If no discovery table lists units, a package is a socket. */
static int check_dies(const struct unc_table *t, const struct unc_topology *top,
		      struct unc_error *err)
{
	for (int i = 0; t->discovery != UNC_DISCOVERY_TABLE && i < top->n_sockets; i++)
		if (top->socket[i].dies > 1)
			return unc_fail(err, UNC_ERR_UNAVAILABLE,
					"package %d of this %s has %d dies: packages of several "
					"dies, as Cascade Lake-AP (Xeon Platinum 9200), are not "
					"supported",
					top->socket[i].package, unc_tbl_str(t, t->title),
					top->socket[i].dies);
	return 0;
}

static int choose_table(struct unc_platform *p, const struct unc_options *o, struct unc_error *err)
{
	struct unc_error why = {0}, unknown = {0};
	int rc = 0, known = 0;

	p->table = &p->own;
	if (only_listing(o))
		return table_by_name(o->cpu, &p->own, err);
	if (p->machine->table)
		p->table = p->machine->table;
	if (p->machine->table && o->cpu && o->cpu[0] &&
	    !unc_same(o->cpu, unc_tbl_str(p->table, p->table->name)))
		return unc_fail(err, UNC_ERR_INVALID,
				"option cpu is %.60s, but the simulated machine is %s", o->cpu,
				unc_tbl_str(p->table, p->table->name));
	if (p->machine->top)
		p->topology = *p->machine->top;
	else
		rc = unc_topology_read(p->machine->fs, &p->topology, &why);
	if (!p->machine->table && (rc == 0 || p->topology.n_sockets))
		known = table_by_cpu(&p->topology, &p->own, &unknown);
	if (known < 0 && rc < 0)
		return unc_fail(err, known, "%s", unknown.text);
	if (rc < 0)
		return unc_fail(err, rc, "%s", why.text);
	if (p->machine->table)
		return 0;
	if ((rc = unc_named_read(p->fs, &p->topology, known < 0 ? NULL : p->table, &p->named,
				 err)) < 0)
		return rc;
	if (p->named.table)
		p->table = p->named.table;
	else if (known < 0)
		return unc_fail(err, known, "%s", unknown.text);
	return known < 0 ? 0 : check_dies(p->table, &p->topology, err);
}

int unc_platform_root(const struct unc_options *o, bool raised, struct unc_fs **out,
		      struct unc_error *err)
{
	const char *root = option_or_variable(o->sysroot, raised, "UNCORE_SYSROOT");
	int rc = raised && root && strcmp(root, "/") != 0 ? unc_trust_root(root, err) : 0;

	return rc < 0 ? rc : unc_fs_open(root, out, err);
}

/* The first mistake in the site's file is the sentence of the open; the other sections are used. */
static void report_mistake(struct unc_platform *p)
{
	struct unc_buf text = UNC_BUF(open_error.text);
	const struct unc_wrong *wrong = &p->site.wrong;

	unc_error_clear(&open_error);
	if (!wrong->n)
		return;
	unc_put(&text, "%s: left out", wrong->first.text);
	if (wrong->n > 1)
		unc_put(&text, ", as %u more are", wrong->n - 1);
	unc_platform_log(p, UNC_LOG_WARNING, "%s", open_error.text);
}

static int open_platform(struct unc_platform *p, const struct unc_options *o, struct unc_error *err)
{
	const char *order = option_or_variable(o->access, p->raised, "UNCORE_ACCESS");
	int rc;

	log_ignored(p);
	if (!p->fs && (rc = unc_platform_root(o, p->raised, &p->fs, err)) < 0)
		return rc;
	if ((rc = choose_machine(p, o, err)) < 0 || (rc = choose_table(p, o, err)) < 0 ||
	    (rc = unc_site_read(p, only_listing(o) || p->machine->simulated, err)) < 0)
		return rc;
	rc = only_listing(o) ? nominal_units(p, err) : open_machine(p, order, err);
	if (rc < 0)
		return rc;
	unc_platform_now(p, &p->opened_ns, &p->opened_tsc);
	if ((rc = unc_describe(p, err)) < 0)
		return rc;
	unc_peaks_find(p);
	return unc_describe_groups(p, err);
}

/* Maps a page that is empty in a forked process (Linux 4.14), so that the test costs one read. */
static void mark_process(struct unc_platform *p)
{
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	void *page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	p->pid = getpid();
	if (page == MAP_FAILED)
		return;
	if (madvise(page, size, MADV_WIPEONFORK) < 0) {
		munmap(page, size);
		return;
	}
	p->here = page;
	*p->here = 1;
}

int unc_platform_open(const struct unc_options *options, struct unc_platform **out)
{
	return unc_platform_open_as(options, unc_raised(), out);
}

int unc_platform_open_as(const struct unc_options *options, bool raised, struct unc_platform **out)
{
	return unc_platform_open_under(NULL, options, raised, out);
}

int unc_platform_open_under(struct unc_fs *fs, const struct unc_options *options, bool raised,
			    struct unc_platform **out)
{
	struct unc_options o = {0};
	pthread_condattr_t monotonic;
	struct unc_platform *p;

	unc_error_clear(&open_error);
	if (options &&
	    unc_struct_in(&o, sizeof(o), options, options->size, "unc_options", &open_error) < 0)
		return UNC_ERR_INVALID;
	p = calloc(1, sizeof(*p));
	if (!p)
		return unc_no_memory(&open_error);
	pthread_mutex_init(&p->lock, NULL);
	pthread_mutex_init(&p->program, NULL);
	pthread_mutex_init(&p->runs.lock, NULL);
	pthread_mutex_init(&p->watch.lock, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&p->watch.wake, &monotonic);
	pthread_condattr_destroy(&monotonic);
	mark_process(p);
	p->log = o.log;
	p->log_user = o.log_user;
	p->raised = raised;
	p->fs = fs ? unc_fs_share(fs) : NULL;
	p->journal = unc_journal_new();
	int rc = p->journal ? open_platform(p, &o, &open_error) : unc_no_memory(&open_error);
	if (rc < 0) {
		unc_platform_close(p);
		return rc;
	}
	report_mistake(p);
	*out = p;
	return 0;
}

void unc_platform_close(struct unc_platform *p)
{
	if (!p)
		return;
	unc_describe_groups_free(p);
	unc_describe_free(p);
	unc_access_close(p->access);
	for (size_t i = 0; p->kernel && i < p->instances.n; i++)
		free(p->kernel[i].registers);
	unc_instances_free(&p->instances);
	unc_named_free(&p->named);
	free(p->kernel);
	free(p->nodes);
	free(p->devices);
	unc_machine_close(p->machine);
	unc_fs_close(p->fs);
	unc_site_free(&p->site);
	unc_pci_names_free(&p->pci_names);
	unc_journal_free(p->journal);
	tdestroy(p->codes, free);
	/* In a forked process a thread that is not here may hold them. */
	if (unc_platform_here(p)) {
		pthread_cond_destroy(&p->watch.wake);
		pthread_mutex_destroy(&p->watch.lock);
		pthread_mutex_destroy(&p->runs.lock);
		pthread_mutex_destroy(&p->program);
		pthread_mutex_destroy(&p->lock);
	}
	if (p->here)
		munmap((void *)(uintptr_t)p->here, (size_t)sysconf(_SC_PAGESIZE));
	free(p);
}

int unc_platform_simulated(const struct unc_platform *p)
{
	return p->machine->simulated;
}

const char *unc_platform_replayed(const struct unc_platform *p)
{
	const struct unc_dump *dump = unc_fs_replayed(p->fs);

	return dump ? dump->from : "";
}

int unc_platform_sockets(const struct unc_platform *p)
{
	return p->access ? p->topology.n_sockets : 0;
}
