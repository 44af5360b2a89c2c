/* SPDX-License-Identifier: BSD-3-Clause */
/* A register and an operation on it. The access layer knows nothing else. */
#ifndef UNC_REG_H
#define UNC_REG_H

#include <stdbool.h>
#include <stdint.h>

enum unc_space {
	UNC_SPACE_MSR,
	UNC_SPACE_PCI,
	UNC_SPACE_MMIO,
	UNC_SPACE_PMU,  /* performance monitor of an Itanium hardware thread */
	UNC_SPACE_PERF, /* counters of the kernel: perf_event_open */
	UNC_N_SPACES,
	UNC_SPACE_NONE = UNC_N_SPACES /* no register is known: only the kernel counts */
};

/*
 * address: MSR: the number. MMIO: the physical address. PCI: see UNC_PCI().
 *          PMU: UNC_PMU_*. PERF: the type of the events in 63:32, UNC_PERF_* in 31:0.
 * target:  MSR, PMU, PERF: the CPU to access it on. Others: 0.
 * width:   bits, 32 or 64. A 64-bit PCI register is two dwords, low half first
 *          in the address space.
 */
struct unc_reg {
	uint64_t address;
	uint32_t target;
	uint8_t space;
	uint8_t width;
	uint8_t way; /* the access method that serves the unit (access_ways.h); 0: not chosen yet */
};

/* A configuration register: domain 43:28, bus 27:20, device 19:15, function 14:12, offset 11:0. */
#define UNC_PCI(domain, bus, devfn, offset)                                                        \
	(((uint64_t)(domain) << 28) | ((uint64_t)(bus) << 20) | ((uint64_t)(devfn) << 12) |        \
	 (uint64_t)(offset))
#define UNC_PCI_DOMAIN(a) ((unsigned)((a) >> 28))
#define UNC_PCI_BUS(a) ((unsigned)((a) >> 20) & 0xffu)
#define UNC_PCI_DEVFN(a) ((unsigned)((a) >> 12) & 0xffu)
#define UNC_PCI_OFFSET(a) ((unsigned)(a)&0xfffu)
#define UNC_PCI_FUNCTION(a) ((a) & ~(uint64_t)0xfff)
#define UNC_DEVFN(device, function) (((unsigned)(device) << 3) | (unsigned)(function))

enum { UNC_PMU_PMC = 0x0, UNC_PMU_PMD = 0x100, UNC_PMU_IBR = 0x200, UNC_PMU_DBR = 0x300 };
/* i: config of event i; UNC_PERF_COUNT + i: its count; UNC_PERF_EXTRA + EVENT: config1 of events
 * whose config has the low byte EVENT. */
enum { UNC_PERF_CONFIG = 0x0, UNC_PERF_COUNT = 0x10, UNC_PERF_EXTRA = 0x100 };

enum unc_op_kind { UNC_OP_READ, UNC_OP_WRITE };

/*
 * One operation. The access layer fills `handle` once (unc_access_prepare) and
 * `value` (reads), `error` and `errno_value` on each run.
 */
struct unc_reg_op {
	struct unc_reg reg;
	uint8_t kind;
	bool tried : 1; /* the register was readable before: preparing it only finds its file */
	/* for 64 bits written as two dwords: the upper one has no writable bits, or already holds
	 * its value */
	bool low_only : 1;
	int16_t errno_value; /* errno value of a failure; 0: no failure */
	int32_t error;       /* 0 or UNC_ERR_* of this operation */
	uint64_t value;
	union {
		int fd;             /* MSR, PCI */
		volatile void *ptr; /* MMIO */
		void *sim;          /* simulated register */
		void *group;        /* a group of kernel events (kernel.h) */
	} handle;
};

/* Whether each hardware thread has its own registers in a space, reached by a system call. */
static inline bool unc_space_of_thread(int space)
{
	return space == UNC_SPACE_PMU || space == UNC_SPACE_PERF;
}

/* Returns the address for output: an MSR number, an offset in the PCI function, or a physical address. */
static inline uint64_t unc_reg_shown(const struct unc_reg *reg)
{
	return reg->space == UNC_SPACE_PCI    ? UNC_PCI_OFFSET(reg->address)
	       : reg->space == UNC_SPACE_PERF ? reg->address & UINT32_MAX
					      : reg->address;
}

/* Returns a PCI function as lspci prints it, "0000:7f:10.0". Use unc_pci_name(address).text as an
 * argument of a call. address: UNC_PCI(). */
struct unc_pci_name {
	char text[24];
};
struct unc_pci_name unc_pci_name(uint64_t address);

/* Stores the result of an operation, 0 or an errno value. For back ends; returns 1 for a failure. */
int unc_op_failed(struct unc_reg_op *op, int errno_value);
static inline int unc_op_done(struct unc_reg_op *op, int errno_value)
{
	if (errno_value)
		return unc_op_failed(op, errno_value);
	op->errno_value = 0;
	op->error = 0;
	return 0;
}

const char *unc_space_name(int space); /* "msr", "pci", "mmio", "pmu", "perf" */

#endif
