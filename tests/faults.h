/* SPDX-License-Identifier: BSD-3-Clause */
/* Faults within a test's own process, in the room's lines: fuse/room.h. */
#ifndef UNC_TEST_FAULTS_H
#define UNC_TEST_FAULTS_H

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "fuse/room.h"
#include "suite.h"

static struct room *faulty;
static bool any_faults;
static unsigned struck; /* accesses that failed or were cut, since the faults are these */

static inline void no_faults(void)
{
	if (faulty)
		CHECK_NUMBER(room_control(faulty, "clear", 5), 0);
	any_faults = false;
	struck = 0;
}

/* One more line: fail, short. */
__attribute__((format(printf, 1, 2))) static inline void fault_too(const char *format, ...)
{
	static const struct room_machine none;
	char lines[200];
	va_list args;

	va_start(args, format);
	vsnprintf(lines, sizeof(lines), format, args);
	va_end(args);
	if (!faulty)
		faulty = room_new(&none);
	CU_ASSERT_PTR_NOT_NULL_FATAL(faulty);
	CHECK_NUMBER(room_control(faulty, lines, strlen(lines)), 0);
	any_faults = true;
}

/* This line instead of those of before. */
#define faults(...) (no_faults(), fault_too(__VA_ARGS__))

/* Before an access. -1: it fails with this errno; *size may get less. */
static inline int fault_before(enum room_op op, const char *path, uint64_t offset, size_t *size)
{
	struct room_access access = {.op = op, .path = path, .offset = offset, .size = *size};
	int rc = any_faults ? room_before(faulty, &access) : 0;

	struck += rc < 0 || access.size < *size;
	*size = access.size;
	if (rc < 0)
		errno = -rc;
	return rc < 0 ? -1 : 0;
}

#endif
