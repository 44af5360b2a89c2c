/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The simulated machine: options, clock, and the calls of sim.h. See sim_machine.h for the rest.
 *
 *   sockets=N      1 .. 8; default: as the table says
 *   load=X         0 .. 1, traffic; clocks stay as they are. Default 1
 *   clock=wall     time passes (default);  clock=step  it moves by unc_sim_step() only;
 *                  clock=wait  by that, and while the library waits
 *   discovery=     ok (default); none: no discovery device; truncated: the memory ends among the
 *                  unit records; garbage: noise instead of a table; noupi: no UPI, M3UPI records
 *   hide=TYPE      the firmware hides the units of a type (hide=TYPE.PART: a part of them;
 *                  TYPE3: one of each socket, TYPE3@1: of socket 1, TYPE@1: all of socket 1):
 *                  PCI functions are not there, other registers fault. May be repeated
 *   idle=TYPE      nothing drives the clock of the units, as with hide=: an empty memory channel
 *   wrap=soon      all counters hold 1000000 less than where they wrap; those that a session writes
 *                  then begin in the middle of their range
 *   kernel=on      its kernel has PMUs for the units, see sim_kernel.c; off (default): it has none
 *   rights=perf    the caller may open events of the kernel, but use no registers, nor read memory and
 *                  more of configuration space than 64 bytes; none: no events either; all (default)
 *   base=S         the machine has been up for S seconds when it is opened: TSC and
 *                  free-running counters do not start at 0
 */
#include "sim/sim.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/text.h"
#include "sim/sim_machine.h"

static const uint64_t second = 1000000000;

enum { SLICE_KB = 2560 };

/* ---- options */

static int bad_option(struct unc_error *err, const char *name, const char *value,
		      const char *possible)
{
	return unc_fail(err, UNC_ERR_INVALID, "simulated machine: %s=%s: possible is %s", name,
			value, possible);
}

/* One of the words; -1: none of them. */
static int word_of(const char *value, const char *const *words)
{
	for (int i = 0; words[i]; i++)
		if (strcmp(value, words[i]) == 0)
			return i;
	return -1;
}

static int set_sockets(struct unc_sim *sim, const char *value, struct unc_error *err)
{
	uint64_t n;

	if (!unc_parse_number(value, &n) || n < 1 || n > SIM_MAX_SOCKETS)
		return bad_option(err, "sockets", value, "1 to 8");
	sim->options.sockets = (int)n;
	return 0;
}

static int set_load(struct unc_sim *sim, const char *value, struct unc_error *err)
{
	double load;

	if (!unc_parse_double(value, &load) || !(load >= 0 && load <= 1))
		return bad_option(err, "load", value, "0 to 1, like 0.5");
	sim->options.load = load;
	return 0;
}

static int set_clock(struct unc_sim *sim, const char *value, struct unc_error *err)
{
	static const char *const words[] = {"wall", "step", "wait", NULL};
	int word = word_of(value, words);

	if (word < 0)
		return bad_option(err, "clock", value, "wall, step or wait");
	sim->options.step = word != 0;
	sim->options.wait = word == 2;
	return 0;
}

static int set_discovery(struct unc_sim *sim, const char *value, struct unc_error *err)
{
	static const char *const words[] = {"ok", "none", "truncated", "garbage", "noupi", NULL};
	int word = word_of(value, words);

	if (word < 0)
		return bad_option(err, "discovery", value, "ok, none, truncated, garbage or noupi");
	if (word > 0 && sim->table->discovery != UNC_DISCOVERY_TABLE)
		return unc_fail(err, UNC_ERR_INVALID,
				"simulated machine: discovery=%s: %s has no discovery tables",
				value, unc_tbl_str(sim->table, sim->table->name));
	sim->options.discovery = (enum sim_discovery)word;
	return 0;
}

/* What follows the type's name: [INDEX][@SOCKET][.PART]. */
static bool hidden_where(const struct unc_table *table, const struct unc_tbl_type *type,
			 const char *text, struct sim_hidden *hidden)
{
	const struct unc_tbl_part *part = &table->part[type->parts.first];
	char *end = (char *)(uintptr_t)text;

	if (*text >= '0' && *text <= '9')
		hidden->index = (int)strtol(text, &end, 10);
	if (*end == '@' && end[1] >= '0' && end[1] <= '9')
		hidden->socket = (int)strtol(end + 1, &end, 10);
	for (uint32_t p = 1; p < type->parts.n && *end == '.'; p++)
		if (strcmp(end + 1, unc_tbl_str(table, part[p].name)) == 0) {
			hidden->part = (int)p;
			return true;
		}
	return *end == '\0';
}

static int choose_units(struct unc_sim *sim, const char *option, const char *value, bool idle,
			struct unc_error *err)
{
	const struct unc_table *table = sim->table;
	struct sim_hidden *hidden = &sim->options.hidden[sim->options.n_hidden];
	char list[256];
	struct unc_buf names = UNC_BUF(list);

	if (sim->options.n_hidden == SIM_MAX_HIDDEN)
		return unc_fail(err, UNC_ERR_INVALID,
				"simulated machine: %s= may be given %d times", option,
				SIM_MAX_HIDDEN);
	for (size_t i = 0; i < table->n_type; i++) {
		const struct unc_tbl_type *type = &table->type[i];
		const char *name = unc_tbl_str(table, type->name);
		size_t length = strlen(name);

		unc_put_word(&names, name);
		if (strncmp(name, value, length) != 0 ||
		    (value[length] >= 'a' && value[length] <= 'z'))
			continue;
		*hidden = (struct sim_hidden){.type = (uint16_t)unc_type_pool(table, (unsigned)i),
					      .part = -1,
					      .index = -1,
					      .socket = -1,
					      .idle = idle};
		if (!hidden_where(table, type, value + length, hidden))
			return unc_fail(err, UNC_ERR_INVALID,
					"simulated machine: %s=%s: want %s[INDEX][@SOCKET][.PART] "
					"with a part that the type has",
					option, value, name);
		sim->options.n_hidden++;
		return 0;
	}
	return unc_fail(err, UNC_ERR_INVALID,
			"simulated machine: %s=%s: no such unit type; there are: %s", option, value,
			list);
}

static int set_hide(struct unc_sim *sim, const char *value, struct unc_error *err)
{
	return choose_units(sim, "hide", value, false, err);
}

static int set_idle(struct unc_sim *sim, const char *value, struct unc_error *err)
{
	return choose_units(sim, "idle", value, true, err);
}

static int set_wrap(struct unc_sim *sim, const char *value, struct unc_error *err)
{
	if (strcmp(value, "soon") != 0)
		return bad_option(err, "wrap", value, "soon");
	sim->options.wrap_soon = true;
	return 0;
}

static int set_kernel(struct unc_sim *sim, const char *value, struct unc_error *err)
{
	static const char *const words[] = {"off", "on", NULL};
	int word = word_of(value, words);

	if (word < 0)
		return bad_option(err, "kernel", value, "on or off");
	sim->options.kernel = word == 1;
	return 0;
}

static int set_rights(struct unc_sim *sim, const char *value, struct unc_error *err)
{
	static const char *const words[] = {"all", "perf", "none", NULL};
	int word = word_of(value, words);

	if (word < 0)
		return bad_option(err, "rights", value, "all, perf or none");
	sim->options.registers = word == 0;
	sim->options.events = word <= 1;
	return 0;
}

static int set_base(struct unc_sim *sim, const char *value, struct unc_error *err)
{
	uint64_t seconds;

	if (!unc_parse_number(value, &seconds) || seconds > second)
		return bad_option(err, "base", value, "0 to 1000000000 seconds");
	sim->options.base = seconds * second;
	return 0;
}

static int set_option(struct unc_sim *sim, char *word, struct unc_error *err)
{
	static const struct {
		const char *name;
		int (*set)(struct unc_sim *, const char *, struct unc_error *);
	} options[] = {
		{"sockets", set_sockets},     {"load", set_load}, {"clock", set_clock},
		{"discovery", set_discovery}, {"hide", set_hide}, {"idle", set_idle},
		{"wrap", set_wrap},           {"base", set_base}, {"kernel", set_kernel},
		{"rights", set_rights},
	};
	char *value = strchr(word, '=');

	if (value) {
		*value++ = '\0';
		for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
			if (strcmp(word, options[i].name) == 0)
				return options[i].set(sim, value, err);
		value[-1] = '=';
	}
	return unc_fail(
		err, UNC_ERR_INVALID,
		"simulated machine: unknown option '%s'; options are sockets=1..8, "
		"load=0..1, clock=wall|step|wait, discovery=ok|none|truncated|garbage|noupi, "
		"hide=TYPE, idle=TYPE, wrap=soon, base=SECONDS, kernel=on|off, "
		"rights=all|perf|none",
		word);
}

/* ---- opening and closing */

const struct unc_workload *unc_sim_workload(const struct unc_table *table)
{
	const char *name = unc_tbl_str(table, table->name);
	size_t n;
	const struct unc_workload *const *all = unc_workloads(&n);

	if (table->workload)
		return table->workload;
	for (size_t i = 0; i < n; i++)
		if (strcmp(all[i]->cpu, name) == 0 && all[i]->id == table->id)
			return all[i];
	return NULL;
}

static int find_table(struct unc_sim *sim, const char *cpu, const struct unc_table *const *tables,
		      size_t n, struct unc_error *err)
{
	char list[256];
	struct unc_buf names = UNC_BUF(list);

	for (size_t i = 0; i < n; i++) {
		const char *name = unc_tbl_str(tables[i], tables[i]->name);

		unc_put_word(&names, name);
		if (strcmp(name, cpu) != 0)
			continue;
		sim->table = tables[i];
		sim->work = unc_sim_workload(sim->table);
		return sim->work
			       ? 0
			       : unc_fail(
					 err, UNC_ERR_UNAVAILABLE,
					 "the simulator was built with other tables of %s than the "
					 "library: install both from one build",
					 name);
	}
	return unc_fail(err, UNC_ERR_NOT_FOUND, "there is no simulated machine '%s'; there are: %s",
			cpu, list);
}

static uint64_t monotonic(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * second + (uint64_t)t.tv_nsec;
}

static int open_machine(struct unc_sim *sim, char *text, const struct unc_table *const *tables,
			size_t n, struct unc_error *err)
{
	char *next = NULL, *word = strtok_r(text, ",", &next);
	int rc = find_table(sim, word ? word : "", tables, n, err);

	if (rc < 0)
		return rc;
	sim->options.sockets = sim->work->machine.sockets;
	sim->options.load = 1;
	sim->options.registers = sim->options.events = true;
	while ((word = strtok_r(NULL, ",", &next)))
		if ((rc = set_option(sim, word, err)) < 0)
			return rc;
	if ((rc = unc_sim_build(sim, err)) < 0)
		return rc;
	return unc_sim_bus_build(sim, err);
}

int unc_sim_open(const char *spec, const struct unc_table *const *tables, size_t n,
		 struct unc_sim **out, struct unc_error *err)
{
	struct unc_sim *sim = calloc(1, sizeof(*sim));
	char *text = strdup(spec ? spec : "");
	int rc = UNC_ERR_MEMORY;

	if (!sim || !text) {
		unc_fail(err, rc, "out of memory");
		free(sim);
		free(text);
		return rc;
	}
	pthread_mutex_init(&sim->lock, NULL);
	rc = open_machine(sim, text, tables, n, err);
	free(text);
	if (rc < 0) {
		unc_sim_close(sim);
		return rc;
	}
	sim->opened = monotonic();
	*out = sim;
	return 0;
}

void unc_sim_close(struct unc_sim *sim)
{
	if (!sim)
		return;
	for (size_t i = 0; sim->type && i < sim->table->n_type; i++)
		free(sim->type[i].rate);
	unc_sim_bus_free(sim);
	free(sim->type);
	free(sim->block);
	free(sim->reg);
	free(sim->counter);
	free(sim->index);
	pthread_mutex_destroy(&sim->lock);
	free(sim);
}

/* ---- what it is */

const struct unc_table *unc_sim_table(const struct unc_sim *sim)
{
	return sim->table;
}

/* Whether units of a type are counted one by one: those that have a slice of the cache. */
static bool has_slices(const struct unc_table *t, const struct unc_tbl_type *type)
{
	for (uint32_t i = 0; i < type->presents.n; i++) {
		const struct unc_tbl_present *row = &t->present[type->presents.first + i];

		if (row->last || ((row->msr || row->n_offsets) && row->tells != UNC_TELLS_ALL))
			return true;
	}
	return false;
}

/* KiB of the last level cache of a socket. */
static int cache_of(const struct unc_sim *sim, int socket)
{
	int n = 0;

	for (size_t i = 0; i < sim->n_blocks; i++)
		n += sim->block[i].socket == socket &&
		     has_slices(sim->table, sim->block[i].type->row) && sim->block[i].reg[0].exists;
	return n * SLICE_KB;
}

static int lowest_stepping(const struct unc_table *t)
{
	return t->cpuid.steppings ? __builtin_ctz(t->cpuid.steppings) : 0;
}

void unc_sim_topology(const struct unc_sim *sim, struct unc_topology *out)
{
	const struct unc_tbl_machine *machine = &sim->work->machine;

	*out = (struct unc_topology){.vendor = "GenuineIntel",
				     .family = sim->table->cpuid.family,
				     .model = machine->model,
				     .stepping = lowest_stepping(sim->table),
				     .n_sockets = sim->options.sockets};
	snprintf(out->model_name, sizeof(out->model_name), "%s",
		 unc_tbl_str(sim->table, machine->title));
	int cpus = unc_sim_cpus(sim);
	for (int i = 0; i < sim->options.sockets; i++)
		out->socket[i] = (struct unc_socket){.package = i,
						     .cpu = i * cpus,
						     .cores = machine->cores,
						     .cpus = cpus,
						     .cache = cache_of(sim, i),
						     .dies = 1,
						     .first = i * cpus};
	for (int i = 0; i < cpus * sim->options.sockets && i < UNC_MAX_CPUS; i++)
		out->order[i] = (uint16_t)i;
}

int unc_sim_cpus(const struct unc_sim *sim)
{
	return sim->work->machine.cores *
	       (sim->work->machine.threads ? sim->work->machine.threads : 1);
}

struct unc_bus *unc_sim_bus(struct unc_sim *sim)
{
	return &sim->bus.bus;
}

/* ---- time */

uint64_t unc_sim_time(const struct unc_sim *sim)
{
	return sim->options.step ? atomic_load(&sim->stepped) : monotonic() - sim->opened;
}

uint64_t unc_sim_uptime(const struct unc_sim *sim)
{
	return sim->options.base + unc_sim_time(sim);
}

uint64_t unc_sim_tsc(const struct unc_sim *sim)
{
	return (uint64_t)((double)unc_sim_uptime(sim) * 1e-9 * sim->work->machine.tsc_hz);
}

void unc_sim_step(struct unc_sim *sim, uint64_t ns)
{
	if (sim->options.step)
		atomic_fetch_add(&sim->stepped, ns);
}

bool unc_sim_steps(const struct unc_sim *sim)
{
	return sim->options.step;
}

bool unc_sim_wait(struct unc_sim *sim, uint64_t ns)
{
	if (sim->options.wait)
		unc_sim_step(sim, ns);
	return sim->options.wait;
}

/* ---- registers */

void *unc_sim_find(struct unc_sim *sim, const struct unc_reg *reg)
{
	struct unc_reg place = *reg;

	if (reg->space == UNC_SPACE_MSR)
		place.target = reg->target / (unsigned)unc_sim_cpus(sim);
	return unc_sim_at(sim, &place);
}

void unc_sim_run(struct unc_sim *sim, struct unc_reg_op *ops, size_t n)
{
	pthread_mutex_lock(&sim->lock);
	uint64_t now = unc_sim_uptime(sim); /* under the lock: time does not run backwards */
	unc_sim_overflows(sim, now);
	for (size_t i = 0; i < n; i++) {
		if (ops[i].kind == UNC_OP_READ)
			ops[i].value = unc_sim_reg_read(ops[i].handle.sim, now);
		else
			unc_sim_reg_write(ops[i].handle.sim, ops[i].value, now);
		ops[i].error = ops[i].errno_value = 0;
	}
	pthread_mutex_unlock(&sim->lock);
}

uint64_t unc_sim_read(struct unc_sim *sim, void *reg)
{
	struct unc_reg_op op = {.kind = UNC_OP_READ, .handle.sim = reg};

	unc_sim_run(sim, &op, 1);
	return op.value;
}

void unc_sim_write(struct unc_sim *sim, void *reg, uint64_t value)
{
	struct unc_reg_op op = {.kind = UNC_OP_WRITE, .value = value, .handle.sim = reg};

	unc_sim_run(sim, &op, 1);
}

bool unc_sim_counts(const void *reg)
{
	const struct sim_reg *r = reg;

	return r->counter && r->counter->ctr == r;
}

/* ---- violations */

void unc_sim_violation(const struct sim_reg *reg, const char *format, ...)
{
	const struct sim_block *block = reg->block;
	struct unc_sim *sim = block->sim;
	char what[96];
	va_list args;

	va_start(args, format);
	vsnprintf(what, sizeof(what), format, args);
	va_end(args);
	snprintf(sim->violation, sizeof(sim->violation), "socket %u %s%u %s: %s", block->socket,
		 unc_tbl_str(sim->table, block->type->row->name), block->index,
		 unc_tbl_str(sim->table, reg->row->name), what);
	sim->violations++;
}

unsigned unc_sim_violations(const struct unc_sim *sim, char *last, size_t size)
{
	pthread_mutex_t *lock = (pthread_mutex_t *)(uintptr_t)&sim->lock;

	pthread_mutex_lock(lock);
	unsigned n = sim->violations;
	if (last && size)
		snprintf(last, size, "%s", sim->violation);
	pthread_mutex_unlock(lock);
	return n;
}
