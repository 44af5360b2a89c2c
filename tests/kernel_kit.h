/* SPDX-License-Identifier: BSD-3-Clause */
/* Access method kernel on a machine of which a test makes the events. */
#ifndef UNC_TEST_KERNEL_KIT_H
#define UNC_TEST_KERNEL_KIT_H

#include <sched.h>
#include <stdarg.h>

#include "access/kernel.h"
#include "access_kit.h"
#include "host/cpu.h"
#include "host/machine.h"

static struct unc_machine_methods kernel_methods;
static struct unc_topology kernel_topology;

/* Two sockets of eight CPUs, in blocks. */
static inline void two_sockets(struct unc_topology *t)
{
	*t = (struct unc_topology){.n_sockets = 2};
	for (int i = 0; i < 16; i++) {
		t->order[i] = (uint16_t)i;
		t->cpu_socket[i] = (uint8_t)(i / 8 + 1);
	}
	for (int i = 0; i < 2; i++)
		t->socket[i] = (struct unc_socket){.package = i,
						   .cpu = 8 * i,
						   .cores = 8,
						   .cpus = 8,
						   .first = 8 * i,
						   .dies = 1};
}

/* As begin() of access_kit.h, with these events. */
static inline void kernel_begin(const char *root, const struct unc_machine_events *events,
				const char *order)
{
	CHECK_NUMBER(unc_fs_open(root, &fs, NULL), 0);
	CHECK_NUMBER(unc_machine_hardware(fs, &hardware, NULL), 0);
	kernel_methods = *hardware->methods;
	hardware->methods = &kernel_methods;
	hardware->events = events;
	memset(&err, 0, sizeof(err));
	CU_ASSERT_EQUAL_FATAL(unc_access_open(hardware, order, &gate, &err), 0);
	two_sockets(&kernel_topology);
	hardware->top = &kernel_topology;
}

static inline void kernel_end(void)
{
	end();
}

#endif
