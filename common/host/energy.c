/* SPDX-License-Identifier: BSD-3-Clause */
/* Joules by perf_event_open: Linux arch/x86/events/rapl.c, drivers/powercap/intel_rapl_common.c. */
#include "host/energy.h"

#include <errno.h>
#include <string.h>

#include "base/text.h"
#include "host/cpu.h"
#include "host/events.h"
#include "host/fs.h"
#include "host/perf_users.h"

static const char pmu[] = "power";
static const char devices[] = "/sys/bus/event_source/devices";
static const char *const names[UNC_N_ENERGY] = {"energy-pkg", "energy-ram"};

static int fail_missing(const char *what, int error, struct unc_error *err)
{
	return unc_fail(err, UNC_ERR_UNAVAILABLE, "the kernel's PMU power has no %s: %s", what,
			error == ENOENT ? "this CPU has no such domain, or its driver (rapl, or "
					  "intel_rapl_tpmi) does not know it"
					: unc_fs_reason(error));
}

/* "event=0x02", and joules of a count. */
static int read_event(const struct unc_fs *fs, const char *name, uint64_t *config, double *scale,
		      struct unc_error *err)
{
	static const char begin[] = "event=";
	char text[64];

	if (unc_fs_text(fs, text, sizeof(text), "%s/%s/events/%s", devices, pmu, name) < 0)
		return fail_missing(name, errno, err);
	if (strncmp(text, begin, sizeof(begin) - 1) != 0 ||
	    !unc_parse_number(text + sizeof(begin) - 1, config) || *config > 0xff)
		return unc_fail(err, UNC_ERR_UNAVAILABLE,
				"the kernel's PMU power: %s is '%s', which is not event=N", name,
				text);
	if (unc_fs_text(fs, text, sizeof(text), "%s/%s/events/%s.unit", devices, pmu, name) < 0 ||
	    strcmp(text, "Joules") != 0)
		return unc_fail(err, UNC_ERR_UNAVAILABLE,
				"the kernel's PMU power does not say that %s is in Joules", name);
	if (unc_fs_text(fs, text, sizeof(text), "%s/%s/events/%s.scale", devices, pmu, name) < 0)
		return fail_missing(name, errno, err);
	if (!unc_parse_double(text, scale) || !(*scale > 0 && *scale <= 1))
		return unc_fail(err, UNC_ERR_UNAVAILABLE,
				"the kernel's PMU power: the scale of %s is '%s'", name, text);
	return 0;
}

static int find_cpu(const struct unc_topology *top, int socket, const char *mask)
{
	bool cpus[UNC_MAX_CPUS] = {false};

	for (int cpu = 0; unc_cpu_list(mask, cpus) && cpu < UNC_MAX_CPUS; cpu++)
		if (cpus[cpu] && unc_topology_socket(top, cpu) == socket)
			return cpu;
	return -1;
}

static int fail_open(struct unc_machine *machine, const char *name, int cpu, int error,
		     struct unc_error *err)
{
	if (error == EACCES || error == EPERM)
		return unc_perf_refused(machine->fs, error, err);
	return unc_fail(err, UNC_ERR_UNAVAILABLE, "perf_event_open of power/%s/ on cpu %d: %s",
			name, cpu, strerror(error));
}

int unc_energy_open(struct unc_machine *machine, const struct unc_topology *top, int socket,
		    enum unc_energy_domain domain, struct unc_energy *out, struct unc_error *err)
{
	const struct unc_machine_events *events = machine->events;
	struct unc_energy energy = {.fd = -1};
	struct unc_kernel_event event = {0};
	struct perf_event_attr attr;
	char mask[4096];
	uint32_t type;
	int rc, cpu;

	if (!events || !machine->fs)
		return unc_fail(
			err, UNC_ERR_UNAVAILABLE,
			"a simulated machine has no energy: the kernel's PMU power tells it");
	if ((rc = events->find(machine, pmu, &type, mask, sizeof(mask))) != 0)
		return unc_fail(err, UNC_ERR_UNAVAILABLE, "the kernel has no PMU power: %s",
				rc == ENOENT
					? "its driver (rapl, or intel_rapl_tpmi) is not loaded "
					  "or does not know this CPU"
					: unc_fs_reason(rc));
	if ((rc = read_event(machine->fs, names[domain], &event.config, &energy.scale, err)) < 0)
		return rc;
	if (!unc_events_type(type) || (cpu = find_cpu(top, socket, mask)) < 0)
		return unc_fail(err, UNC_ERR_UNAVAILABLE,
				"the kernel's PMU power (type %u) has no CPU of socket %d: %.40s",
				type, socket, mask);
	attr = unc_events_attr(type, &event, true, false);
	energy.fd = events->open(machine, &attr, cpu, -1);
	if (energy.fd < 0)
		return fail_open(machine, names[domain], cpu, errno, err);
	if (events->enable(machine, energy.fd) < 0) {
		rc = fail_open(machine, names[domain], cpu, errno, err);
		events->close(machine, energy.fd);
		return rc;
	}
	*out = energy;
	return 0;
}

void unc_energy_read(struct unc_machine *machine, struct unc_energy *energy)
{
	const uint64_t moment = 1000000;
	uint64_t before = unc_machine_now(machine);
	struct {
		uint64_t n, enabled, running, count;
	} r;
	long got = machine->events->read(machine, energy->fd, &r, sizeof(r));

	energy->error = got < 0 ? errno : got != (long)sizeof(r) || r.n != 1 ? EIO : 0;
	if (energy->error)
		return;
	/* All CPUs of its socket went offline: the event goes on giving its old count. */
	if (energy->seen_ns && r.enabled == energy->enabled && before - energy->seen_ns > moment)
		energy->error = ENODEV;
	energy->enabled = r.enabled;
	energy->seen_ns = unc_machine_now(machine);
	energy->joules += (double)(r.count - energy->count) * energy->scale;
	energy->count = r.count;
}

void unc_energy_close(struct unc_machine *machine, struct unc_energy *energy)
{
	machine->events->close(machine, energy->fd);
	energy->fd = -1;
}
