/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The module msr-safe in place of the kernel, for tests: ioctl() of the program is ours. What it
 * does is written in the README of https://github.com/LLNL/msr-safe ("ERRORS",
 * "/dev/cpu/msr_batch") and in its msr_batch.c: the whole list is checked first, and nothing is run
 * if anything is refused; then all is run, and the first error is that of the call.
 */
#ifndef UNC_TEST_MSR_SAFE_H
#define UNC_TEST_MSR_SAFE_H

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>

enum { MODULE_CPUS = 8, MODULE_MSRS = 0x2000 };

static struct {
	bool on;
	int error; /* of each call, whatever is asked */
	unsigned calls, ops;
	unsigned long request; /* of the last call */
	uint32_t version;
	bool offline[MODULE_CPUS];
	bool denied[MODULE_MSRS];     /* not on the allowlist */
	bool absent[MODULE_MSRS];     /* faults */
	uint64_t locked[MODULE_MSRS]; /* bits outside of the write mask */
	uint64_t value[MODULE_MSRS];
	uint32_t written[64]; /* numbers, in order */
	unsigned n_written;
} module;

struct module_op {
	uint16_t cpu, isrdmsr;
	int32_t err;
	uint32_t msr;
	uint64_t msrdata, wmask;
};

struct module_list {
	uint32_t numops, version;
	struct module_op *ops;
};

static inline int module_check(struct module_op *op)
{
	op->err = 0;
	if (op->cpu >= MODULE_CPUS || module.offline[op->cpu])
		return op->err = -ENXIO;
	if (op->msr >= MODULE_MSRS || module.denied[op->msr])
		return op->err = -EACCES;
	op->wmask = ~module.locked[op->msr];
	return op->err = !op->isrdmsr && !op->wmask ? -EROFS : 0;
}

static inline int module_run(struct module_op *op)
{
	uint64_t *value = &module.value[op->msr];

	if (module.absent[op->msr])
		return op->err = -EIO;
	if (op->isrdmsr) {
		op->msrdata = *value;
	} else {
		*value = (*value & ~op->wmask) | (op->msrdata & op->wmask);
		module.written[module.n_written++ % 64] = op->msr;
	}
	return 0;
}

int ioctl(int fd, unsigned long request, ...)
{
	struct module_list *list;
	va_list args;
	int error = 0;

	va_start(args, request);
	list = va_arg(args, void *);
	va_end(args);
	if (!module.on)
		return REAL(ioctl)(fd, request, list);
	module.calls++;
	module.request = request;
	module.version = list->version;
	module.ops += list->numops;
	error = -module.error;
	for (uint32_t i = 0; i < list->numops && !module.error; i++) {
		int rc = module_check(&list->ops[i]);

		error = rc ? rc : error;
	}
	for (uint32_t i = 0, go = error == 0; go && i < list->numops; i++) {
		int rc = module_run(&list->ops[i]);

		error = error ? error : rc;
	}
	errno = -error;
	return error ? -1 : 0;
}

static inline void module_load(void)
{
	memset(&module, 0, sizeof(module));
	module.on = true;
}

#endif
