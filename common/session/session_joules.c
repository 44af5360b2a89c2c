/* SPDX-License-Identifier: BSD-3-Clause */
/* Sessions: the energy that a formula names, which the kernel counts and no unit. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/energy.h"
#include "session/session.h"

struct unc_joules {
	size_t n;
	struct moment {
		uint64_t ns;
		double joules;
	} began, before, last; /* at the start, where the last interval began and ended */
	struct unc_energy socket[];
};

static void close_joules(struct unc_machine *machine, struct unc_joules *j)
{
	for (size_t i = 0; j && i < j->n; i++)
		unc_energy_close(machine, &j->socket[i]);
	free(j);
}

/* Those of one socket, or of all. */
static int open_joules(struct unc_platform *p, int socket, enum unc_energy_domain domain,
		       struct unc_joules **out, struct unc_error *err)
{
	int first = socket < 0 ? 0 : socket, end = socket < 0 ? p->topology.n_sockets : socket + 1;
	struct unc_joules *j = calloc(1, sizeof(*j) + (size_t)(end - first) * sizeof(j->socket[0]));
	int rc = j ? 0 : unc_no_memory(err);

	for (int i = first; i < end && rc == 0; i++) {
		rc = unc_energy_open(p->machine, &p->topology, i, domain, &j->socket[j->n], err);
		j->n += rc == 0;
	}
	if (rc < 0)
		close_joules(p->machine, j);
	else
		*out = j;
	return rc;
}

int unc_joules_open(struct unc_platform *p, const struct unc_expr *expr, int socket,
		    struct unc_joules **out, struct unc_error *err)
{
	int rc = 0;

	for (unsigned i = 0; i < UNC_N_ENERGY && rc == 0 && p->access; i++)
		if (unc_expr_uses(expr) & (unsigned)UNC_EXPR_PACKAGE_ENERGY << i)
			rc = open_joules(p, socket, (enum unc_energy_domain)i, &out[i], err);
	if (rc < 0)
		unc_joules_close(p, out);
	return rc;
}

void unc_joules_close(struct unc_platform *p, struct unc_joules **joules)
{
	for (unsigned i = 0; i < UNC_N_ENERGY; i++) {
		close_joules(p->machine, joules[i]);
		joules[i] = NULL;
	}
}

size_t unc_joules_sockets(struct unc_joules *const *joules)
{
	for (unsigned i = 0; i < UNC_N_ENERGY; i++)
		if (joules[i])
			return joules[i]->n;
	return 0;
}

/* NAN: a socket could not be read. */
static struct moment read_joules(struct unc_machine *machine, struct unc_joules *j)
{
	struct moment now = {.ns = unc_machine_now(machine)};

	for (size_t i = 0; i < j->n; i++) {
		unc_energy_read(machine, &j->socket[i]);
		now.joules += j->socket[i].error ? NAN : j->socket[i].joules;
	}
	return now;
}

void unc_joules_read(struct unc_session *s, bool begins)
{
	for (size_t i = 0; i < s->n_items; i++)
		for (unsigned k = 0; k < UNC_N_ENERGY; k++) {
			struct unc_joules *j = s->item[i].joules[k];

			if (!j)
				continue;
			j->before = j->last;
			j->last = read_joules(s->platform->machine, j);
			if (begins)
				j->began = j->before = j->last;
		}
}

static double between(const struct moment *from, const struct moment *to, double seconds)
{
	double own = (double)(to->ns - from->ns) * 1e-9;

	return own > 0 ? (to->joules - from->joules) * seconds / own : NAN;
}

void unc_joules_fill(struct unc_joules *const *joules, bool interval, double seconds,
		     struct unc_expr_vars *vars)
{
	double *const var[UNC_N_ENERGY] = {&vars->package_energy, &vars->dram_energy};

	for (unsigned i = 0; i < UNC_N_ENERGY; i++)
		if (joules[i])
			*var[i] = between(interval ? &joules[i]->before : &joules[i]->began,
					  &joules[i]->last, seconds);
}

bool unc_joules_lost(struct unc_joules *const *joules, struct unc_error *err)
{
	for (unsigned i = 0; i < UNC_N_ENERGY; i++)
		for (size_t k = 0; joules[i] && k < joules[i]->n; k++)
			if (joules[i]->socket[k].error) {
				int error = joules[i]->socket[k].error;

				unc_fail(err, UNC_ERR_IO,
					 "the kernel's PMU power could not be read: %s",
					 error == ENODEV ? "all CPUs of a socket went offline"
							 : strerror(error));
				return true;
			}
	return false;
}
