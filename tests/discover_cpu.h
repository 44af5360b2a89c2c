/* SPDX-License-Identifier: BSD-3-Clause */
/* Which units the built-in tables find on machines made of files, by the public interface. */
#ifndef UNC_TEST_DISCOVER_CPU_H
#define UNC_TEST_DISCOVER_CPU_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake_root.h"
#include "suite.h"
#include "uncore.h"

static struct fake_root root;
static struct unc_platform *platform;

/* One CPU a socket, of Intel's family 6. */
static inline void fake_cpuinfo(unsigned model, unsigned stepping, unsigned sockets)
{
	char text[2048];
	size_t n = 0;

	for (unsigned s = 0; s < sockets; s++)
		n += (size_t)snprintf(text + n, sizeof(text) - n,
				      "processor : %u\nvendor_id : GenuineIntel\ncpu family : 6\n"
				      "model : %u\nmodel name : test\nstepping : %u\nflags : fpu\n"
				      "physical id : %u\ncore id : 0\n\n",
				      s, model, stepping, s);
	fake_text(fake_path(&root, "/proc/cpuinfo"), text);
}

/* The same with MSRs, where the stepping decides nothing. */
static inline void fake_cpus(unsigned model, unsigned sockets)
{
	fake_cpuinfo(model, 6, sockets);
	for (unsigned s = 0; s < sockets; s++)
		fake_size(fake_path(&root, "/dev/cpu/%u/msr", s), 0x10000);
}

/* A 64-bit MSR of a socket. */
static inline void fake_msr(unsigned socket, unsigned address, uint64_t value)
{
	fake_bytes(fake_path(&root, "/dev/cpu/%u/msr", socket), address, &value, sizeof(value));
}

static inline void machine_open(void)
{
	struct unc_options options = {.size = sizeof(options), .sysroot = root.path, .sim = ""};
	int rc = unc_platform_open(&options, &platform);

	if (rc < 0)
		printf("# %s\n", unc_open_error());
	CU_ASSERT_FATAL(rc == 0);
}

static inline void machine_close(void)
{
	unc_platform_close(platform);
	fake_free(&root);
}

/* NULL: the machine has no such unit, or it is not listed. */
static inline const struct unc_unit *unit(const char *type, int socket, int index)
{
	const struct unc_unit *u;

	for (size_t i = 0; (u = unc_unit_get(platform, i)); i++)
		if (!strcmp(u->type->name, type) && u->socket == socket && u->index == index)
			return u;
	return NULL;
}

static inline const char *place(const char *type, int socket, int index)
{
	const struct unc_unit *u = unit(type, socket, index);

	return u ? u->location : "none";
}

/* Units of a type on a socket that are listed, and how many of them can be used. */
static inline unsigned count(const char *type, int socket, bool available)
{
	const struct unc_unit *u;
	unsigned n = 0;

	for (size_t i = 0; (u = unc_unit_get(platform, i)); i++)
		n += !strcmp(u->type->name, type) && u->socket == socket &&
		     (!available || u->available);
	return n;
}

#endif
