/* SPDX-License-Identifier: BSD-3-Clause */
/* The files of the machine: which machine it is, and the values of its registers. */
#include <stdio.h>
#include <string.h>

#include "base/nearest.h"
#include "base/text.h"
#include "host/fs.h"
#include "sim/sim_machine.h"

/* ---- which machine */

const char *unc_sim_text(const char *name, size_t *size)
{
	const char *known, *text;

	for (size_t i = 0; (text = unc_machine_text(i, &known, size)); i++)
		if (unc_same(known, name))
			return text;
	return NULL;
}

/* The built-in machine of this name, or of this CPU, with the wanted number of sockets. */
static const char *choose_machine(const char *name, const struct unc_table *const *tables, size_t n,
				  uint64_t sockets, char chosen[80], size_t *size)
{
	const char *text;

	for (size_t i = 0; i < n; i++)
		if (unc_cpu_is(tables[i], name))
			name = unc_tbl_str(tables[i], tables[i]->name);
	snprintf(chosen, 80, "%s-%us", name, (unsigned)sockets);
	if (sockets && (text = unc_sim_text(chosen, size)))
		return text;
	snprintf(chosen, 80, "%s", name);
	return unc_sim_text(name, size);
}

static int fail_unknown_machine(const char *name, const struct unc_table *const *tables, size_t n,
				struct unc_error *err)
{
	char list[400], near[80];
	struct unc_buf names = UNC_BUF(list);
	struct unc_nearest nearest;

	unc_nearest_start(&nearest, name);
	for (size_t i = 0; i < n; i++) {
		unc_put_word(&names, unc_tbl_str(tables[i], tables[i]->name));
		unc_nearest_try_short(&nearest, unc_tbl_str(tables[i], tables[i]->name));
		if (unc_cpu_is(tables[i], name))
			return unc_fail(
				err, UNC_ERR_UNAVAILABLE,
				"%s has no simulated machine: its tables have no file %s.machine",
				name, name);
	}
	return unc_fail(
		err, UNC_ERR_NOT_FOUND,
		"there is no simulated machine '%s'%s; there are: %s, and machines of 'uncore "
		"gather' by their path, like ./FILE",
		name, unc_nearest_text(&nearest, near, sizeof(near)), list);
}

static int load_machine(struct unc_sim *sim, const char *name,
			const struct unc_table *const *tables, size_t n, struct unc_error *err)
{
	const bool is_path = strchr(name, '/');
	struct unc_dump *dump = NULL;
	const char *text = NULL;
	char chosen[80];
	size_t size;
	int rc;

	if (is_path)
		rc = unc_dump_load(name, unc_sim_text, &dump, err);
	else if ((text = choose_machine(name, tables, n, sim->options.sockets, chosen, &size)))
		rc = unc_dump_read(chosen, text, size, unc_sim_text, &dump, err);
	else
		rc = fail_unknown_machine(name, tables, n, err);
	if (rc < 0 && is_path)
		unc_error_prefix(err, "simulated machine");
	if (rc < 0)
		return rc;
	if (dump && *dump->sim) {
		rc = unc_fail(err, UNC_ERR_INVALID,
			      "simulated machine: %.200s only names another one: UNCORE_SIM=%.200s",
			      name, dump->sim);
		unc_dump_free(dump);
		return rc;
	}
	if (!dump)
		return unc_fail(err, UNC_ERR_INVALID,
				"simulated machine: %.200s is a folder, no file of 'uncore gather'",
				name);
	sim->dump = dump;
	sim->fs = unc_fs_of_dump(dump);
	return sim->fs ? 0 : unc_no_memory(err);
}

/* ---- its table */

const struct unc_workload *unc_sim_workload(const struct unc_table *table,
					    struct unc_workload *built)
{
	for (size_t i = 0; unc_workload_built(i, built); i++)
		if (built->id == table->id)
			return built;
	return NULL;
}

static int find_machine_table(struct unc_sim *sim, const char *name,
			      const struct unc_table *const *tables, size_t n,
			      struct unc_error *err)
{
	const struct unc_topology *top = &sim->top;

	for (size_t i = 0; i < n; i++) {
		if (!unc_cpuid_is(tables[i]->cpuid, top->vendor, top->family, top->model,
				  top->stepping))
			continue;
		sim->table_of = *tables[i];
		sim->table = &sim->table_of;
		sim->work = unc_sim_workload(sim->table, &sim->work_of);
		name = unc_tbl_str(sim->table, sim->table->name);
		if (!sim->work)
			return unc_fail(err, UNC_ERR_UNAVAILABLE,
					"the simulator was built with other tables of %s than the "
					"library: install both from one build",
					name);
		return sim->work->n_sim_unit ? 0
					     : unc_fail(err, UNC_ERR_UNAVAILABLE,
							"%s has no simulated machine: its tables "
							"have no workload.tbl, which "
							"scripts/make-workload makes",
							name);
	}
	return unc_fail(
		err, UNC_ERR_UNAVAILABLE,
		"simulated machine %.200s: no tables are for its CPU (%.60s, family %d model 0x%x)",
		name, top->model_name[0] ? top->model_name : top->vendor, top->family,
		(unsigned)top->model);
}

int unc_sim_files(struct unc_sim *sim, const char *name, const struct unc_table *const *tables,
		  size_t n, struct unc_error *err)
{
	int rc = load_machine(sim, name, tables, n, err);

	if (rc < 0 || (rc = unc_topology_read(sim->fs, &sim->top, err)) < 0 ||
	    (rc = find_machine_table(sim, name, tables, n, err)) < 0)
		return rc;
	if (sim->options.sockets && sim->options.sockets != (uint64_t)sim->top.n_sockets)
		return unc_fail(
			err, UNC_ERR_INVALID,
			"simulated machine: sockets=%u: %.200s has %d, and there is no machine "
			"%s-%us",
			(unsigned)sim->options.sockets, name, sim->top.n_sockets, name,
			(unsigned)sim->options.sockets);
	sim->cxl = unc_fs_exists(sim->fs, "/sys/bus/cxl/devices/mem0");
	return 0;
}

/* ---- places */

/* The file of any CPU of the socket: a machine has the MSRs of a socket in one of them. */
static const struct unc_dump_entry *find_msr_file(const struct unc_sim *sim, uint32_t cpu)
{
	const int socket = unc_topology_socket(&sim->top, (int)cpu);
	const struct unc_dump_entry *file = NULL;
	char path[40];

	for (unsigned i = 0; socket >= 0 && !file; i++) {
		const int other = unc_topology_cpu(&sim->top, socket, i);

		if (other < 0)
			break;
		snprintf(path, sizeof(path), "dev/cpu/%d/msr", other);
		file = unc_dump_find(sim->dump, path);
	}
	return file;
}

static const struct unc_dump_entry *find_file(const struct unc_sim *sim, const struct unc_reg *reg)
{
	char path[64];

	if (reg->space == UNC_SPACE_MSR)
		return find_msr_file(sim, reg->target);
	if (reg->space == UNC_SPACE_MMIO)
		return unc_dump_find(sim->dump, "dev/mem");
	snprintf(path, sizeof(path), "sys/bus/pci/devices/%s/config",
		 unc_pci_name(UNC_PCI_FUNCTION(reg->address)).text);
	return unc_dump_find(sim->dump, path);
}

/* As find_file(), and remembers the last file: registers of one function or CPU are looked up in sequence. */
static const struct unc_dump_entry *find_file_again(struct unc_sim *sim, const struct unc_reg *reg)
{
	const uint64_t key = reg->space == UNC_SPACE_PCI   ? UNC_PCI_FUNCTION(reg->address)
			     : reg->space == UNC_SPACE_MSR ? reg->target
							   : 0;

	if (sim->file.space != reg->space || sim->file.key != key || !sim->file.entry) {
		sim->file.entry = find_file(sim, reg);
		sim->file.space = reg->space;
		sim->file.key = key;
	}
	return sim->file.entry;
}

bool unc_sim_place(struct unc_sim *sim, const struct unc_reg *reg,
		   const struct unc_dump_entry **file, uint64_t *value)
{
	const bool msr = reg->space == UNC_SPACE_MSR;
	const uint64_t offset =
		reg->space == UNC_SPACE_PCI ? UNC_PCI_OFFSET(reg->address) : reg->address;

	*file = NULL;
	*value = 0;
	if (!msr && reg->space != UNC_SPACE_PCI && reg->space != UNC_SPACE_MMIO)
		return true;
	if (!(*file = find_file_again(sim, reg)))
		return false;
	for (unsigned at = 0; at < reg->width; at += msr ? 64 : 32) {
		const struct unc_dump_value *v = unc_dump_at(*file, offset + at / 8);

		if (!v || v->error)
			return false;
		*value |= v->first << at;
	}
	return true;
}
