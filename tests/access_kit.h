/* SPDX-License-Identifier: BSD-3-Clause */
/* The back ends that go through the kernel, for tests: test_access_kernel.c, _perf.c. */
#ifndef UNC_TEST_ACCESS_KIT_H
#define UNC_TEST_ACCESS_KIT_H

#include <dirent.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>

#include "access/access.h"
#include "host/fs.h"
#include "machine/hardware.h"
#include "suite.h"

static struct unc_fs *fs;
static struct unc_machine *hardware;
static struct unc_access *gate;
static struct unc_error err;

/* Descriptors that are open, that of the folder included. */
static inline unsigned descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	unsigned n = 0;

	CU_ASSERT_FATAL(dir != NULL);
	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

static inline struct unc_reg_op read_of(struct unc_reg reg)
{
	return (struct unc_reg_op){.reg = reg, .kind = UNC_OP_READ};
}

static inline struct unc_reg_op write_of(struct unc_reg reg, uint64_t value)
{
	return (struct unc_reg_op){.reg = reg, .kind = UNC_OP_WRITE, .value = value};
}

/* ---- perf_event_open */

static inline struct unc_reg event(uint32_t type, uint32_t number, int cpu)
{
	return (struct unc_reg){(uint64_t)type << 32 | number, (uint32_t)cpu, UNC_SPACE_PERF, 64,
				0};
}

static inline struct unc_reg config(uint32_t i, int cpu)
{
	return event(PERF_TYPE_SOFTWARE, UNC_PERF_CONFIG + i, cpu);
}

static inline struct unc_reg count(uint32_t i, int cpu)
{
	return event(PERF_TYPE_SOFTWARE, UNC_PERF_COUNT + i, cpu);
}

static inline struct unc_reg extra(uint32_t low, int cpu)
{
	return event(PERF_TYPE_SOFTWARE, UNC_PERF_EXTRA + low, cpu);
}

static inline void allow(struct unc_reg reg, uint64_t mask)
{
	struct unc_allowed allowed = {reg, mask, true};

	CHECK_NUMBER(unc_access_allow(gate, &allowed, 1, NULL), 0);
}

/* Four events a CPU, and the config1 of the first 16 codes. */
static inline void allow_events(int cpu)
{
	for (uint32_t i = 0; i < 16; i++) {
		if (i < 4) {
			allow(config(i, cpu), UINT64_MAX);
			allow(count(i, cpu), 0);
		}
		allow(extra(i, cpu), UINT64_MAX);
	}
}

/* Back ends serve whatever they are given. What may be given is the fence's: test_fence.c. */
static inline void begin(const char *root)
{
	CHECK_NUMBER(unc_fs_open(root, &fs, NULL), 0);
	CHECK_NUMBER(unc_machine_hardware(fs, &hardware, NULL), 0);
	hardware->fenced = false;
	CHECK_NUMBER(unc_access_open(hardware, NULL, &gate, NULL), 0);
}

static inline void end(void)
{
	unc_access_close(gate);
	hardware->methods->close(hardware);
	unc_fs_close(fs);
}

/* Prepares and runs one operation; its error. */
static inline int run_one(struct unc_reg_op *op)
{
	memset(&err, 0, sizeof(err));
	if (unc_access_prepare(gate, op, 1, &err) < 0) {
		printf("# %s\n", err.text);
		CU_FAIL("refused");
		return err.code;
	}
	int rc = unc_access_run(gate, op, 1);
	CHECK_NUMBER(rc, op->error ? UNC_ERR_IO : 0);
	return op->error;
}

static inline uint64_t value_of(struct unc_reg reg)
{
	struct unc_reg_op op = read_of(reg);

	op.value = 0x5555; /* has to be replaced */
	CHECK_NUMBER(run_one(&op), 0);
	return op.value;
}

static inline int set(struct unc_reg reg, uint64_t value)
{
	struct unc_reg_op op = write_of(reg, value);

	return run_one(&op);
}

/* Prepares one operation and checks how it is refused; text NULL: it is not. */
static inline void refused(int line, struct unc_reg_op op, int code, const char *text)
{
	memset(&err, 0, sizeof(err));
	suite_number(line, (unsigned long long)unc_access_prepare(gate, &op, 1, &err),
		     (unsigned long long)code);
	suite_text(line, err.text, text ? text : "");
}
#define REFUSED(op, code, text) refused(__LINE__, op, code, text)

#endif
