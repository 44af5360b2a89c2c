/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Simulated machines for tests: a library between a test and that under test. A test names them as users do, and
 * beside that
 *
 *   a broken machine of tests/broken, by the name that it has there
 *   kernel=on     its kernel has PMUs for the units (driver.h)
 *   rights=perf   the caller may open events of the kernel, but use no registers, nor read memory and more of
 *                 configuration space than 64 bytes; none: no events either
 *   cxl=on        the machine NAME-cxl, if there is one
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "driver.h"
#include "machine/simulator.h"
#include "sim_units.h"
#ifdef UNC_WRAPPED /* linked into a library whose calls ld(1) leads here */
int __real_unc_machine_simulated(const char *, const char *, const struct unc_table *const *,
				 size_t, struct unc_machine **, struct unc_error *);
int __wrap_unc_machine_simulated(const char *, const char *, const struct unc_table *const *,
				 size_t, struct unc_machine **, struct unc_error *);
#define unc_machine_simulated __wrap_unc_machine_simulated
#define REAL(f) __real_unc_machine_simulated
#else
#include "suite.h"
#endif
#include "tables/table.h"

/* What a test's text asks for beside what the simulator knows. */
struct wish {
	char name[200], spec[1000];
	bool kernel, perf, none, cxl;
};

static void read_spec(const char *spec, struct wish *wish)
{
	char copy[1000], *next = NULL, *word;

	*wish = (struct wish){.kernel = false};
	snprintf(copy, sizeof(copy), "%s", spec);
	word = strtok_r(copy, ",", &next);
	snprintf(wish->name, sizeof(wish->name), "%s", word ? word : "");
	while ((word = strtok_r(NULL, ",", &next))) {
		wish->kernel |= strcmp(word, "kernel=on") == 0;
		wish->perf |= strcmp(word, "rights=perf") == 0;
		wish->none |= strcmp(word, "rights=none") == 0;
		wish->cxl |= strcmp(word, "cxl=on") == 0;
		if (strncmp(word, "kernel=", 7) != 0 && strncmp(word, "rights=", 7) != 0 &&
		    strcmp(word, "cxl=on") != 0)
			snprintf(wish->spec + strlen(wish->spec),
				 sizeof(wish->spec) - strlen(wish->spec), ",%s", word);
	}
}

static bool is_built(const char *name)
{
	size_t size;

	return unc_sim_text(name, &size);
}

/* The lines of a machine of tests/broken; NULL: there is no such one. */
static char *broken(const char *name)
{
	const char *source = getenv("SRCDIR");
	char path[512], line[1000], *text = NULL;
	size_t size = 0;
	bool its = false;
	FILE *in, *out;

	snprintf(path, sizeof(path), "%s/tests/broken", source ? source : "..");
	if (!(in = fopen(path, "re")))
		return NULL;
	while (fgets(line, sizeof(line), in)) {
		char *end = line + strcspn(line, "\n");

		if (strncmp(line, "machine ", 8) == 0) {
			*end = '\0';
			its = strcmp(line + 8, name) == 0;
			out = its ? open_memstream(&text, &size) : NULL;
		} else if (its) {
			fputs(line, out);
			if (strcmp(line, "end\n") == 0) {
				fclose(out);
				break;
			}
		}
	}
	fclose(in);
	return text;
}

/* A file of a machine; the name of it, which is to be removed and freed. */
static char *file_of(const char *lines)
{
	char *path = strdup("/tmp/uncore-machine-XXXXXX");
	int fd = path ? mkstemp(path) : -1;
	FILE *out = fd < 0 ? NULL : fdopen(fd, "w");

	if (!out)
		abort();
	fprintf(out, "uncore machine 2\n%s", lines);
	fclose(out);
	return path;
}

/* ---- a caller without rights: the machine is whole, what he sees of it is not */

static int refuse(struct unc_backend *backend, struct unc_reg_op *op, struct unc_error *err)
{
	(void)backend;
	(void)op;
	return unc_fail(err, UNC_ERR_PERMISSION,
			"registers of the simulated machine: permission denied");
}

static int found_already(struct unc_machine *machine, const struct unc_instances *units,
			 struct unc_error *err)
{
	(void)machine, (void)units, (void)err;
	return 0;
}

static void hide_devices(const struct unc_dump *dump)
{
	for (size_t i = 0; i < dump->n; i++) {
		struct unc_dump_entry *e = dump->entry[i];
		const bool config = strncmp(e->path, "dev/", 4) != 0;

		if (e->kind != UNC_DUMP_DEVICE)
			continue;
		e->error[0] = config ? 0 : EACCES;
		e->error[1] = EACCES;
		while (config && e->n && e->value[e->n - 1].offset >= 64)
			e->n--;
	}
}

static void take_rights(struct unc_machine *machine)
{
	static struct unc_access_methods access;
	static const struct unc_access_methods *const list[] = {&access, NULL};
	static struct unc_machine_methods methods;
	struct unc_sim *sim = unc_machine_sim(machine);
	struct unc_error err;

	if (sim_units(sim, &err) < 0)
		abort();
	hide_devices(sim->dump);
	access = *machine->methods->access[0];
	access.prepare = refuse;
	methods = *machine->methods;
	methods.access = list;
	methods.found = found_already;
	machine->methods = &methods;
}

int unc_machine_simulated(const char *spec, const char *node, const struct unc_table *const *tables,
			  size_t n, struct unc_machine **out, struct unc_error *err)
{
	char *lines, *path = NULL, whole[1300], like[220];
	struct wish wish;
	int rc;

	read_spec(spec, &wish);
	snprintf(like, sizeof(like), "%s-cxl", wish.name);
	if (wish.cxl && is_built(like))
		strcat(wish.name, "-cxl");
	lines = is_built(wish.name) ? NULL : broken(wish.name);
	path = lines ? file_of(lines) : NULL;
	snprintf(whole, sizeof(whole), "%s%s", path ? path : wish.name, wish.spec);
	rc = REAL(unc_machine_simulated)(whole, node, tables, n, out, err);
	if (path)
		unlink(path);
	free(path);
	free(lines);
	if (rc < 0)
		return rc;
	if (wish.perf || wish.none)
		take_rights(*out);
	if (wish.kernel)
		driver_attach(*out, wish.none);
	return 0;
}
