/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Methods of units: by registers, or through the kernel's own driver. Discovery alone decides which
 * units exist: the driver has PMUs for some that do not.
 */
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "access/access_ways.h"
#include "base/text.h"
#include "host/perf_users.h"
#include "platform/platform.h"

/* ---- the kernel's PMUs */

static void no_pmu(const struct unc_table *t, const struct unc_tbl_type *type,
		   struct unc_error *err)
{
	const struct unc_tbl_kernel *row = unc_find_kernel(t, type, false);

	if (row && row->unavailable)
		unc_fail(err, UNC_ERR_UNAVAILABLE, "%s", unc_tbl_str(t, row->unavailable));
	else
		unc_fail(err, UNC_ERR_UNAVAILABLE, "the kernel has no PMU for %s units",
			 unc_tbl_str(t, type->name));
}

int unc_platform_pmu(const struct unc_platform *p, const struct unc_instance *u, unsigned pmu,
		     struct unc_kernel_place *place, struct unc_error *err)
{
	char name[UNC_KERNEL_NAME];
	struct unc_error why = {0};
	unsigned nth;
	int rc, typed;

	if (!unc_kernel_pmu(p->table, u->type, pmu, u->index, name, sizeof(name)))
		return UNC_ERR_NOT_FOUND;
	nth = unc_kernel_nth(p->table, u->type, pmu, u->index);
	rc = unc_kernel_find(p->access, name, u->socket, nth, place, err);
	if (rc != UNC_ERR_UNAVAILABLE ||
	    !unc_kernel_typed(p->table, u->type, pmu, u->index, name, sizeof(name)))
		return rc;
	typed = unc_kernel_find(p->access, name, u->socket, nth, place, &why);
	if (typed == UNC_ERR_UNAVAILABLE) /* the PMU is missed by its own name */
		return rc;
	if (err)
		*err = why;
	return typed;
}

/* Whether the driver numbers its PMUs as the table says. */
static int check_numbers(const struct unc_platform *p, const struct unc_instance *u, unsigned pmu,
			 struct unc_error *err)
{
	struct unc_kernel_place place;
	char last[UNC_KERNEL_NAME];

	if (!unc_kernel_last(p->table, u->type, pmu, last, sizeof(last)) ||
	    unc_kernel_find(p->access, last, u->socket, 0, &place, NULL) != UNC_ERR_UNAVAILABLE)
		return 0;
	return unc_fail(err, UNC_ERR_UNAVAILABLE,
			"without a PMU '%s' the kernel's driver numbers them in another way than "
			"is known",
			last);
}

/* Finds the PMUs of a unit. err: why one of them cannot be used, code 0 if all can. */
static void find_pmus(const struct unc_platform *p, const struct unc_instance *u,
		      struct unc_kernel_unit *kernel, struct unc_error *err)
{
	bool any = false;

	for (unsigned k = 0; k < UNC_KERNEL_PMUS; k++) {
		struct unc_error why = {0};
		int rc = unc_platform_pmu(p, u, k, &kernel->place[k], &why);

		if (rc == UNC_ERR_NOT_FOUND)
			continue;
		any = true;
		if (rc == 0 && check_numbers(p, u, k, &why) == 0)
			kernel->pmus |= (uint8_t)(1u << k);
		else if (!err->code)
			*err = why;
	}
	if (!any)
		no_pmu(p->table, &p->table->type[u->type], err);
}

/* Adds "kernel: WHY" before or after the reason about the registers. */
static void add_kernel_reason(struct unc_instance *u, bool before, const char *why)
{
	if (before)
		unc_instance_reason(u, "kernel: %s%s%s", why, *u->reason ? "; " : "", u->reason);
	else if (!u->available)
		unc_instance_also(u, "kernel: %s", why);
}

static int find_unit(struct unc_platform *p, struct unc_instance *u, struct unc_kernel_unit *kernel,
		     struct unc_error *err)
{
	struct unc_error why = {0};

	kernel->before = unc_kernel_before(p->access, u->part[0].space);
	kernel->moves = p->table->type[u->type].by_kernel;
	/* Only its registers show whether a doubtful unit is there. */
	if (unc_space_of_thread(u->part[0].space) || !u->part[0].exists ||
	    (u->doubtful && !u->direct))
		return 0;
	find_pmus(p, u, kernel, &why);
	if (why.code == UNC_ERR_MEMORY)
		return unc_fail(err, why.code, "%s", why.text);
	if (!kernel->pmus) {
		add_kernel_reason(u, kernel->before, why.text);
		return 0;
	}
	if (!u->direct) {
		kernel->registers = strdup(u->reason);
		if (!kernel->registers)
			return unc_no_memory(err);
		if (kernel->before)
			unc_instance_forget(u);
	}
	if (u->by_driver)
		unc_instance_also(u, "that it exists is what the kernel's driver says");
	u->available = true;
	return 0;
}

/* Whether the driver exists: without it the method counts as not chosen, unless it was chosen by its name. */
static bool has_driver(const struct unc_platform *p)
{
	const struct unc_ways *ways = unc_access_ways(p->access);
	struct unc_kernel_place place;
	bool any = ways->way[unc_ways_find(ways, &unc_access_kernel)].named ||
		   ways->way[unc_ways_find(ways, &unc_access_broker)].named;

	for (size_t i = 0; i < p->instances.n && !any; i++) {
		const struct unc_instance *u = &p->instances.unit[i];

		for (unsigned k = 0; k < UNC_KERNEL_PMUS && !any; k++) {
			int rc = unc_platform_pmu(p, u, k, &place, NULL);

			any = rc != UNC_ERR_NOT_FOUND && rc != UNC_ERR_UNAVAILABLE;
		}
	}
	return any;
}

int unc_platform_kernel(struct unc_platform *p, struct unc_error *err)
{
	int rc = 0;

	if (!unc_kernel_chosen(p->access) || !has_driver(p))
		return 0;
	p->kernel = calloc(p->instances.n + 1, sizeof(*p->kernel));
	if (!p->kernel)
		return unc_no_memory(err);
	for (size_t i = 0; i < p->instances.n && rc == 0; i++)
		rc = find_unit(p, &p->instances.unit[i], &p->kernel[i], err);
	return rc;
}

/* ---- methods of a unit, and of a code on it */

static bool has_kernel(const struct unc_platform *p, size_t instance)
{
	return p->kernel && p->kernel[instance].pmus;
}

const char *unc_platform_served(const struct unc_platform *p, size_t instance)
{
	const struct unc_instance *u = &p->instances.unit[instance];

	if (!p->access || !u->available)
		return "";
	if (has_kernel(p, instance) && (!u->direct || p->kernel[instance].before)) {
		const struct unc_kernel_unit *k = &p->kernel[instance];

		return (k->place[k->pmus & 1 ? 0 : 1].passed ? &unc_access_broker
							     : &unc_access_kernel)
			->name;
	}
	return unc_access_name(p->access, u->part[0].way);
}

/* Whether the unit has the registers of all filters of an event, which may be in another part;
 * reached: and can use them. */
static bool has_filters(const struct unc_platform *p, const struct unc_instance *u,
			const struct unc_code *code, bool reached)
{
	for (unsigned i = 0; i < code->n_filters; i++) {
		const struct unc_place *part = &u->part[p->table->reg[code->filter[i].reg].part];

		if (!(reached ? part->present : part->exists))
			return false;
	}
	return true;
}

/* Checks a code for a driver that does not know the unit's type: it passes on what its format
 * names, and no filter. */
static int check_typed(const struct unc_platform *p, const char *own, const char *typed,
		       const struct unc_kernel_code *code, struct unc_error *err)
{
	struct unc_kernel_event known = {0};
	int error = unc_events_format(p->fs, typed, &known);

	if (!error && !(code->config & ~known.config) && !code->config1 && !code->config2)
		return 0;
	return unc_fail(
		err, UNC_ERR_UNAVAILABLE,
		"the kernel's driver knows the unit as %s only, and drops bits 0x%llx of the "
		"control%s: a kernel that has %s is needed (Linux 6.8)",
		typed, (unsigned long long)(code->config & ~known.config),
		code->config1 || code->config2 ? " and all filters" : "", own);
}

/* Whether the running kernel passes on the whole code: for some bits its driver says so itself. */
static int check_carried(const struct unc_platform *p, size_t instance,
			 const struct unc_kernel_code *code, struct unc_error *err)
{
	const struct unc_instance *u = &p->instances.unit[instance];
	const char *name = p->kernel[instance].place[code->pmu].pmu;
	const struct unc_machine_events *events = p->machine->events;
	uint64_t bits = code->config &
			p->table->kernel[p->table->type[u->type].kernels.first + code->pmu].named;
	char own[UNC_KERNEL_NAME];

	if (unc_kernel_pmu(p->table, u->type, code->pmu, u->index, own, sizeof(own)) &&
	    strcmp(own, name) != 0)
		return check_typed(p, own, name, code, err);
	bits = events->umask ? bits & ~(bits ? events->umask(p->machine, name) : 0) : 0;
	if (!bits)
		return 0;
	return unc_fail(err, UNC_ERR_UNAVAILABLE,
			"the kernel's driver drops bits 0x%llx of the control: format/umask of %s "
			"does not name them",
			(unsigned long long)bits, name);
}

/* Whether the kernel counts a code on a unit. */
static int check_kernel(const struct unc_platform *p, size_t instance, const struct unc_code *code,
			struct unc_kernel_code *out, struct unc_error *err)
{
	int rc;

	if (!has_kernel(p, instance))
		return unc_fail(err, UNC_ERR_UNAVAILABLE, "%s",
				p->kernel ? "the kernel has no PMU for it that may be used"
					  : "it is not among the access methods that were chosen");
	if (!out->known && (rc = unc_kernel_encode(p->table, code, out, err)) < 0)
		return rc;
	if (!(p->kernel[instance].pmus >> out->pmu & 1))
		return unc_fail(err, UNC_ERR_UNAVAILABLE,
				"the kernel lacks the PMU that counts it");
	if ((rc = check_carried(p, instance, out, err)) < 0)
		return rc;
	if (!has_filters(p, &p->instances.unit[instance], code, false))
		return unc_fail(err, UNC_ERR_UNAVAILABLE,
				"its filter is in a part of the unit that was not found, and the "
				"driver leaves it out without an error");
	return 0;
}

unsigned unc_platform_methods(const struct unc_platform *p, size_t instance,
			      const struct unc_code *code, struct unc_kernel_code *kernel,
			      struct unc_error *err)
{
	const struct unc_instance *u = &p->instances.unit[instance];
	const char *registers = u->reason;
	struct unc_kernel_code own = {0};
	struct unc_error why = {0};
	unsigned methods = 0;

	if (u->direct && has_filters(p, u, code, true))
		methods |= UNC_BY_REGISTERS;
	if (check_kernel(p, instance, code, kernel ? kernel : &own, &why) == 0)
		methods |= UNC_BY_KERNEL;
	if (has_kernel(p, instance) && !u->direct)
		registers = p->kernel[instance].registers;
	if (methods == UNC_BY_REGISTERS)
		unc_fail(err, UNC_ERR_UNAVAILABLE, "kernel: %s", why.text);
	else if (!methods && has_kernel(p, instance))
		unc_fail(err, UNC_ERR_UNAVAILABLE, "kernel: %s; registers: %s", why.text,
			 registers);
	else if (methods != (UNC_BY_REGISTERS | UNC_BY_KERNEL))
		unc_fail(err, UNC_ERR_UNAVAILABLE, "%s", registers);
	return methods;
}

/* ---- codes */

static int compare_coded(const void *pa, const void *pb)
{
	const struct unc_coded *a = pa, *b = pb;
	int d = strcmp(a->name, b->name);

	return d ? d : (a->socket > b->socket) - (a->socket < b->socket);
}

/* Finds a code; the lock is held. NULL: it is not known yet. */
static const struct unc_coded *find_coded(const struct unc_platform *p, struct unc_coded *key,
					  int socket)
{
	const struct unc_coded *const *found;

	key->socket = socket;
	found = tfind(key, &p->codes, compare_coded);
	return found ? *found : NULL;
}

/* key: contains its name. */
static const struct unc_coded *add_coded(struct unc_platform *p, const struct unc_spec *spec,
					 int socket, const struct unc_coded *key,
					 struct unc_error *err)
{
	size_t size = strlen(key->name) + 1;
	struct unc_coded *new = calloc(1, sizeof(*new) + size);

	if (!new) {
		(void)unc_no_memory(err);
		return NULL;
	}
	memcpy(new->name, key->name, size);
	if (unc_spec_encode(p->table, spec, socket, unc_platform_nodes(p), &new->code, err) < 0) {
		free(new);
		return NULL;
	}
	new->socket = new->code.by_socket ? socket : -1;
	if (p->kernel)
		(void)unc_kernel_encode(p->table, &new->code, &new->kernel, NULL);
	if (!tsearch(new, &p->codes, compare_coded)) {
		free(new);
		(void)unc_no_memory(err);
		return NULL;
	}
	return new;
}

const struct unc_coded *unc_platform_code(struct unc_platform *p, const struct unc_spec *spec,
					  int socket, struct unc_error *err)
{
	_Alignas(struct unc_coded) char room[sizeof(struct unc_coded) + UNC_SPEC_MAX];
	struct unc_coded *key = (struct unc_coded *)room;
	const struct unc_coded *coded;

	if (unc_spec_format(p->table, spec, key->name, UNC_SPEC_MAX) < 0) {
		unc_fail(err, UNC_ERR_INVALID, "the canonical text is too long");
		return NULL;
	}
	pthread_mutex_lock(&p->lock);
	if (!(coded = find_coded(p, key, -1)) && !(coded = find_coded(p, key, socket)))
		coded = add_coded(p, spec, socket, key, err);
	pthread_mutex_unlock(&p->lock);
	return coded;
}

bool unc_platform_lacks(const void *platform, unsigned type)
{
	const struct unc_platform *p = platform;

	for (size_t i = 0; p->access && i < p->instances.n; i++)
		if (p->instances.unit[i].type == unc_type_pool(p->table, type))
			return false;
	return p->access != NULL;
}

/* ---- other users of the driver */

static bool has_pmu(const struct unc_platform *p, const char *name)
{
	const struct unc_machine_events *events = p->machine->events;
	char mask[256];
	uint32_t type;

	if (events)
		return events->find(p->machine, name, &type, mask, sizeof(mask)) == 0;
	return !p->machine->simulated &&
	       unc_fs_exists(p->fs, "/sys/bus/event_source/devices/%s", name);
}

bool unc_platform_has_driver(const struct unc_platform *p, const struct unc_instance *u)
{
	char name[UNC_KERNEL_NAME];
	bool has = false;

	for (unsigned k = 0; k < UNC_KERNEL_PMUS && !has; k++)
		has = (unc_kernel_pmu(p->table, u->type, k, u->index, name, sizeof(name)) &&
		       has_pmu(p, name)) ||
		      (unc_kernel_typed(p->table, u->type, k, u->index, name, sizeof(name)) &&
		       has_pmu(p, name));
	return has;
}

bool unc_platform_kernel_counts(const struct unc_platform *p)
{
	return p->access && !p->machine->simulated && unc_perf_may_count(p->fs);
}
