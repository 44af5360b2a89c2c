/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two small CPUs for the tests of the simulated machine. "alpha" has the registers of a few
 * units of the E5-2600 (Intel 327043-001): freeze with an enable, an enable bit in the control,
 * PCI functions, no discovery. "beta" has those of Emerald Rapids (Intel 817509-001): no enable
 * bits, status registers, discovery tables, MMIO. The rates are the test's own.
 */
#ifndef UNC_TEST_SIM_TABLES_H
#define UNC_TEST_SIM_TABLES_H

#include <stddef.h>
#include <stdio.h>

#include "sim/sim.h"
#include "suite.h"
#include "tables/table.h"

/* clang-format off */
#define WORDS(X) \
	X(alpha) X(beta) X(cbo) X(imc) X(ubox) X(qpi) X(pcu) X(cha) X(upi) X(cxl) X(iio) \
	X(match) X(BOX_CTL) X(UNIT_CTL) X(UNIT_STATUS) X(CTL0) X(CTL1) X(CTL2) X(CTL3) \
	X(CTR0) X(CTR1) X(CTR2) X(CTR3) X(FILTER) X(FIXED_CTL) X(FIXED_CTR) X(CORE_C3) \
	X(PKT_MATCH0) X(GLOBAL_CTL) X(GLOBAL_STATUS) X(BW_IN) X(BW_CLOCK) X(mem) X(ev_sel) \
	X(umask) X(ext) X(rst) X(edge) X(en) X(inv) X(thresh) X(opc) X(rst_ctrl) \
	X(rst_ctrs) X(frz) X(frz_en) X(fixed_rst) X(frz_all) X(CLOCKTICKS) \
	X(COUNTER0_OCCUPANCY) X(RxR_OCCUPANCY) X(BURST) X(IOCLK)
/* clang-format on */
#define WORD_MEMBER(w) char w[sizeof(#w)];
#define WORD_TEXT(w) #w,
static const struct words {
	char empty[1];
	WORDS(WORD_MEMBER)
} words = {"", WORDS(WORD_TEXT)};
#define W(w) ((unc_str)offsetof(struct words, w))

#define ONES(n) (((uint64_t)1 << (n)) - 1)
#define REG(n, at, bits, r, m, ...)                                                                \
	{                                                                                          \
		.name = W(n), .offset = (at), .width = (bits), .role = UNC_ROLE_##r,               \
		.write_mask = (m), __VA_ARGS__                                                     \
	}
#define FOUR(n, at, step, bits, r, m)                                                              \
	REG(n##0, at, bits, r, m, .number = 0), REG(n##1, (at) + (step), bits, r, m, .number = 1), \
		REG(n##2, (at) + 2 * (step), bits, r, m, .number = 2),                             \
		REG(n##3, (at) + 3 * (step), bits, r, m, .number = 3)
/* by the names of the fields */
enum {
	IS_ev_sel = 0,
	IS_umask = 0,
	IS_ext = 0,
	IS_opc = 0,
	IS_en = 0,
	IS_rst = UNC_IS_RESET,
	IS_fixed_rst = UNC_IS_RESET,
	IS_edge = UNC_IS_EDGE,
	IS_inv = UNC_IS_INVERT,
	IS_thresh = UNC_IS_THRESHOLD,
	IS_frz = UNC_IS_FREEZE,
	IS_frz_en = UNC_IS_FREEZE_ENABLE,
	IS_rst_ctrl = UNC_IS_RESET_CONTROLS,
	IS_rst_ctrs = UNC_IS_RESET_COUNTERS,
	IS_frz_all = UNC_IS_FREEZE_SOCKET
};
#define FIELD(n, r, low, bits)                                                                     \
	{                                                                                          \
		.name = W(n), .reg = {(r), UNC_NONE}, .lo = {(low), 0}, .width = {(bits), 0},      \
		.role = IS_##n                                                                     \
	}
#define CONTROL_FIELDS                                                                             \
	FIELD(ev_sel, UNC_NONE, 0, 8), FIELD(umask, UNC_NONE, 8, 8), FIELD(rst, UNC_NONE, 17, 1),  \
		FIELD(edge, UNC_NONE, 18, 1), FIELD(inv, UNC_NONE, 23, 1),                         \
		FIELD(thresh, UNC_NONE, 24, 8)
#define NO_REGS .first_ctl = UNC_NONE, .first_ctr = UNC_NONE
#define NO_FIELDS .f_event = UNC_NONE, .f_umask = UNC_NONE
#define RATE(t, value, mask, ...)                                                                  \
	{                                                                                          \
		.type = (t), .counter = UNC_NONE, .ctl = (value), .ctl_mask = (mask), __VA_ARGS__  \
	}
#define N(array) .n_##array

/* ---------------------------------------------------------------------- alpha */

enum { A_CBO, A_IMC, A_UBOX, A_QPI, A_PCU, A_TYPES };
/* registers */
enum {
	A_CBO_BOX,
	A_CBO_CTL,
	A_CBO_CTR = A_CBO_CTL + 4,
	A_CBO_FILTER = A_CBO_CTR + 4,
	A_IMC_BOX,
	A_IMC_CTL,
	A_IMC_CTR = A_IMC_CTL + 4,
	A_IMC_FIXED_CTL = A_IMC_CTR + 4,
	A_IMC_FIXED_CTR,
	A_UBOX_CTL,
	A_UBOX_CTR,
	A_UBOX_FIXED_CTL,
	A_UBOX_FIXED_CTR,
	A_QPI_BOX,
	A_QPI_CTL,
	A_QPI_CTR = A_QPI_CTL + 4,
	A_QPI_MATCH = A_QPI_CTR + 4,
	A_PCU_C3,
	A_REGS
};
/* fields */
enum {
	A_F_CBO,
	A_F_CBO_END = A_F_CBO + 12,
	A_F_IMC = A_F_CBO_END,
	A_F_IMC_END = A_F_IMC + 10,
	A_F_QPI = A_F_IMC_END,
	A_F_QPI_END = A_F_QPI + 11
};

#define A_CTL_MASK 0xFFC6FFFF

static const struct unc_tbl_reg alpha_reg[] = {
	REG(BOX_CTL, 0x04, 32, UNIT_CTL, 0x10103, .flags = UNC_REG_WO),
	FOUR(CTL, 0x10, 1, 32, CTL, A_CTL_MASK),
	FOUR(CTR, 0x16, 1, 64, CTR, ONES(44)),
	REG(FILTER, 0x14, 32, OTHER, 0xFFFFFC1F),
	REG(BOX_CTL, 0xF4, 32, UNIT_CTL, 0x10100, .flags = UNC_REG_WO),
	FOUR(CTL, 0xD8, 4, 32, CTL, A_CTL_MASK & ~0x20000),
	FOUR(CTR, 0xA0, 8, 64, CTR, ONES(48)),
	REG(FIXED_CTL, 0xF0, 32, FIXED_CTL, 0x480000),
	REG(FIXED_CTR, 0xD0, 64, FIXED_CTR, ONES(48)),
	REG(CTL0, 0x10, 32, CTL, A_CTL_MASK),
	REG(CTR0, 0x16, 64, CTR, ONES(44)),
	REG(FIXED_CTL, 0x08, 32, FIXED_CTL, 0x400000),
	REG(FIXED_CTR, 0x09, 64, FIXED_CTR, ONES(44)),
	REG(BOX_CTL, 0xF4, 32, UNIT_CTL, 0x10103, .flags = UNC_REG_WO),
	FOUR(CTL, 0xD8, 4, 32, CTL, A_CTL_MASK),
	FOUR(CTR, 0xA0, 8, 64, CTR, ONES(48)),
	REG(PKT_MATCH0, 0x228, 32, OTHER, 0x8003FFF8, .part = 1),
	REG(CORE_C3, 0x3FC, 64, FREE, 0, .flags = UNC_REG_RO | UNC_REG_ABS),
};

static const struct unc_tbl_field alpha_field[] = {
	CONTROL_FIELDS,
	FIELD(en, UNC_NONE, 22, 1),
	FIELD(opc, A_CBO_FILTER, 23, 9),
	FIELD(rst_ctrl, A_CBO_BOX, 0, 1),
	FIELD(rst_ctrs, A_CBO_BOX, 1, 1),
	FIELD(frz, A_CBO_BOX, 8, 1),
	FIELD(frz_en, A_CBO_BOX, 16, 1),
	CONTROL_FIELDS,
	FIELD(en, UNC_NONE, 22, 1),
	FIELD(fixed_rst, A_IMC_FIXED_CTL, 19, 1),
	FIELD(frz, A_IMC_BOX, 8, 1),
	FIELD(frz_en, A_IMC_BOX, 16, 1),
	CONTROL_FIELDS,
	FIELD(en, UNC_NONE, 22, 1),
	FIELD(rst_ctrl, A_QPI_BOX, 0, 1),
	FIELD(rst_ctrs, A_QPI_BOX, 1, 1),
	FIELD(frz, A_QPI_BOX, 8, 1),
	FIELD(frz_en, A_QPI_BOX, 16, 1),
};

static const struct unc_tbl_where alpha_where[] = {
	{.base = 0xD00},
	{.base = 0xD20},
	{.devfn = UNC_DEVFN(0x10, 0), .device_id = 0x3cb0},
	{.devfn = UNC_DEVFN(0x10, 1), .device_id = 0x3cb1},
	{.base = 0xC00},
	{.devfn = UNC_DEVFN(0x08, 2), .device_id = 0x3c41},
	{.devfn = UNC_DEVFN(0x08, 6), .device_id = 0x3c86},
	{.base = 0xC00},
};

static const struct unc_tbl_part alpha_part[] = {
	{.space = UNC_SPACE_MSR, .where = {0, 2}},
	{.space = UNC_SPACE_PCI, .where = {2, 2}},
	{.space = UNC_SPACE_MSR, .where = {4, 1}},
	{.space = UNC_SPACE_PCI, .where = {5, 1}},
	{.name = W(match), .space = UNC_SPACE_PCI, .where = {6, 1}},
	{.space = UNC_SPACE_MSR, .where = {7, 1}},
};

static const struct unc_tbl_counter alpha_counter[] = {
	{.name = W(FIXED_CTR),
	 .ctr = A_IMC_FIXED_CTR,
	 .ctl = A_IMC_FIXED_CTL,
	 .enable = 0x400000,
	 .width = 48},
	{.name = W(FIXED_CTR),
	 .ctr = A_UBOX_FIXED_CTR,
	 .ctl = A_UBOX_FIXED_CTL,
	 .enable = 0x400000,
	 .width = 44},
	{.name = W(CORE_C3), .ctr = A_PCU_C3, .ctl = UNC_NONE, .width = 64},
};

/* An occupancy in counter 0, which the others can look at. */
static const struct unc_tbl_lane alpha_lane[] = {{.counters = 0xF, .lead = 0}};

static const struct unc_tbl_event alpha_event[] = {
	{.name = W(CLOCKTICKS), .code = 0x00, .counter = UNC_NONE, .max_inc = 1},
	{.name = W(RxR_OCCUPANCY),
	 .code = 0x11,
	 .counter = UNC_NONE,
	 .max_inc = 20,
	 .counters = 0x1,
	 .lane = 1},
	{.name = W(COUNTER0_OCCUPANCY),
	 .code = 0x1F,
	 .counter = UNC_NONE,
	 .max_inc = 20,
	 .counters = 0xE,
	 .lane = 1},
	{.name = W(BURST), .code = 0x13, .counter = UNC_NONE, .max_inc = 4},
};

#define A_CONTROL .enable = 0x400000, .active = 0x400000
static const struct unc_tbl_type alpha_type[A_TYPES] = {
	[A_CBO] = {.name = W(cbo),
		   .parts = {0, 1},
		   .regs = {A_CBO_BOX, A_IMC_BOX},
		   .fields = {A_F_CBO, 12},
		   .events = {0, 4},
		   .lanes = {0, 1},
		   .first_ctl = A_CBO_CTL,
		   .first_ctr = A_CBO_CTR,
		   .unit_ctl = A_CBO_BOX,
		   .status = UNC_NONE,
		   .f_event = 0,
		   .f_umask = 1,
		   A_CONTROL,
		   .max_inc = 20,
		   .discovery = -1,
		   .n_counters = 4,
		   .width = 44},
	[A_IMC] = {.name = W(imc),
		   .parts = {1, 1},
		   .regs = {A_IMC_BOX, A_UBOX_CTL - A_IMC_BOX},
		   .fields = {A_F_IMC, 10},
		   .counters = {0, 1},
		   .first_ctl = A_IMC_CTL,
		   .first_ctr = A_IMC_CTR,
		   .unit_ctl = A_IMC_BOX,
		   .status = UNC_NONE,
		   .f_event = A_F_IMC,
		   .f_umask = A_F_IMC + 1,
		   A_CONTROL,
		   .max_inc = 1,
		   .discovery = -1,
		   .n_counters = 4,
		   .width = 48},
	[A_UBOX] = {.name = W(ubox),
		    .parts = {2, 1},
		    .regs = {A_UBOX_CTL, 4},
		    .fields = {A_F_CBO, 7},
		    .counters = {1, 1},
		    .first_ctl = A_UBOX_CTL,
		    .first_ctr = A_UBOX_CTR,
		    .unit_ctl = UNC_NONE,
		    .status = UNC_NONE,
		    .f_event = 0,
		    .f_umask = 1,
		    A_CONTROL,
		    .max_inc = 1,
		    .discovery = -1,
		    .n_counters = 1,
		    .width = 44},
	[A_QPI] = {.name = W(qpi),
		   .parts = {3, 2},
		   .regs = {A_QPI_BOX, A_PCU_C3 - A_QPI_BOX},
		   .fields = {A_F_QPI, 11},
		   .first_ctl = A_QPI_CTL,
		   .first_ctr = A_QPI_CTR,
		   .unit_ctl = A_QPI_BOX,
		   .status = UNC_NONE,
		   .f_event = A_F_QPI,
		   .f_umask = A_F_QPI + 1,
		   A_CONTROL,
		   .max_inc = 1,
		   .discovery = -1,
		   .n_counters = 4,
		   .width = 48},
	[A_PCU] = {.name = W(pcu),
		   .parts = {5, 1},
		   .regs = {A_PCU_C3, 1},
		   .counters = {2, 1},
		   NO_REGS,
		   .unit_ctl = UNC_NONE,
		   .status = UNC_NONE,
		   NO_FIELDS,
		   .discovery = -1},
};

static const struct unc_tbl_rate alpha_rate[] = {
	RATE(A_CBO, 0x0000, 0xFF, .per_second = 2e9),   /* CLOCKTICKS */
	RATE(A_CBO, 0x0011, 0xFF, .per_clock = 2.5),    /* RxR_OCCUPANCY */
	RATE(A_CBO, 0x0013, 0xFF, .per_second = 1e9),   /* BURST */
	RATE(A_CBO, 0x0135, 0xFFFF, .per_second = 1e6), /* TOR_INSERTS */
	{.type = A_CBO,
	 .counter = UNC_NONE,
	 .n_filters = 1,
	 .ctl = 0x0135,
	 .ctl_mask = 0xFFFF,
	 .filter = {{A_CBO_FILTER, 0x182u << 23, 0x1FFu << 23}},
	 .per_second = 3e6},
	RATE(A_CBO, 0x0137, 0xFFFF, .per_second = 1000), /* three umasks of one event */
	RATE(A_CBO, 0x0237, 0xFFFF, .per_second = 20000),
	RATE(A_CBO, 0x0437, 0xFFFF, .per_second = 400000),
	RATE(A_CBO, 0x8037, 0xFFFF, .per_second = 0), /* never happens here */
	RATE(A_CBO, 0x4037, 0xFFFF, .per_second = 0),
	RATE(A_CBO, 0x0038, 0x00FF, .per_second = 77e3),           /* whatever the umask ... */
	RATE(A_CBO, 0x0138, 0xFFFF, .per_second = 55e3),           /* ... but for this one */
	RATE(A_IMC, 0x0304, 0xFFFF, .per_second = 1e8),            /* CAS_COUNT.RD */
	RATE(A_QPI, 0x0038, 0xFF, .per_second = 1e5, .shared = 1), /* CTO_COUNT */
	{.type = A_QPI,
	 .counter = UNC_NONE,
	 .n_filters = 1,
	 .ctl = 0x38,
	 .ctl_mask = 0xFF,
	 .filter = {{A_QPI_MATCH, 0x1C00, 0x1E00}},
	 .per_second = 9e5},
};

static const struct unc_tbl_sim_unit alpha_sim_unit[] = {
	{A_CBO, {{0x3}}, 2e9, false}, {A_IMC, {{0x3}}, 8e8, false}, {A_UBOX, {{0x1}}, 2e9, false},
	{A_QPI, {{0x1}}, 1e9, true},  {A_PCU, {{0x1}}, 8e8, false},
};

static const struct unc_workload alpha_workload = {
	.machine = {.sockets = 2, .model = 45, .cores = 4, .tsc_hz = 2.5e9, .title = W(alpha)},
	.id = 1,
	.strings = words.empty,
	.rate = alpha_rate,
	N(rate) = sizeof(alpha_rate) / sizeof(alpha_rate[0]),
	.sim_unit = alpha_sim_unit,
	N(sim_unit) = A_TYPES,
};

static const struct unc_table alpha_table = {
	.name = W(alpha),
	.title = W(alpha),
	.cpuid = &(const struct unc_tbl_cpuid){.family = 6, .n_models = 1, .models = {45}},
	.discovery = UNC_DISCOVERY_FIXED,
	.topology = {0x3ce0, 0x40, 0x54, .devfn = UNC_DEVFN(0x0b, 0)},
	.strings = words.empty,
	.n_strings = sizeof(words),
	.where = alpha_where,
	N(where) = 8,
	.part = alpha_part,
	N(part) = 6,
	.reg = alpha_reg,
	N(reg) = A_REGS,
	.field = alpha_field,
	N(field) = A_F_QPI_END,
	.counter = alpha_counter,
	N(counter) = 3,
	.type = alpha_type,
	N(type) = A_TYPES,
	.event = alpha_event,
	N(event) = 4,
	.lane = alpha_lane,
	N(lane) = 1,
	.id = 1,
};

/* ----------------------------------------------------------------------- beta */

enum { B_CHA, B_IMC, B_UPI, B_CXL, B_IIO, B_TYPES };
enum {
	B_CHA_UNIT,
	B_CHA_STATUS,
	B_CHA_CTL,
	B_CHA_CTR = B_CHA_CTL + 4,
	B_CHA_FILTER = B_CHA_CTR + 4,
	B_IMC_UNIT,
	B_IMC_STATUS,
	B_IMC_CTL,
	B_IMC_CTR = B_IMC_CTL + 4,
	B_IMC_FIXED_CTL = B_IMC_CTR + 4,
	B_IMC_FIXED_CTR,
	B_UPI_UNIT,
	B_UPI_STATUS,
	B_UPI_CTL,
	B_UPI_CTR = B_UPI_CTL + 4,
	B_CXL_UNIT = B_UPI_CTR + 4,
	B_CXL_STATUS,
	B_CXL_CTL,
	B_CXL_CTR = B_CXL_CTL + 4,
	B_IIO_BW = B_CXL_CTR + 4,
	B_IIO_CLOCK,
	B_IIO_GLOBAL,
	B_IIO_GLOBAL_STATUS,
	B_REGS
};
enum { B_F_CHA, B_F_IMC = 10, B_F_UPI = 19, B_F_CXL = 28, B_F_IIO = 37, B_FIELDS };

#define B_UNIT_FIELDS(r) FIELD(frz, r, 0, 1), FIELD(rst_ctrl, r, 8, 1), FIELD(rst_ctrs, r, 9, 1)
#define B_CTL_MASK 0xFF9EFFFF
#define B_UNIT(at, bits) REG(UNIT_CTL, at, bits, UNIT_CTL, 0x301, .flags = UNC_REG_WO)
#define B_STATUS(at, bits) REG(UNIT_STATUS, at, bits, STATUS, 0xF, .flags = UNC_REG_W1C)

static const struct unc_tbl_reg beta_reg[] = {
	B_UNIT(0x0, 64),
	B_STATUS(0x1, 64),
	FOUR(CTL, 0x2, 1, 64, CTL, B_CTL_MASK | 0x7FFFFFFF00000000),
	FOUR(CTR, 0x8, 1, 64, CTR, ONES(48)),
	REG(FILTER, 0xE, 64, OTHER, 0x3FF),
	B_UNIT(0x0, 32),
	B_STATUS(0x5C, 32),
	FOUR(CTL, 0x40, 4, 32, CTL, B_CTL_MASK),
	FOUR(CTR, 0x8, 8, 64, CTR, ONES(48)),
	REG(FIXED_CTL, 0x54, 32, FIXED_CTL, 0x580000),
	REG(FIXED_CTR, 0x38, 64, FIXED_CTR, ONES(48)),
	B_UNIT(0x318, 32),
	B_STATUS(0x38C, 32),
	FOUR(CTL, 0x350, 8, 64, CTL, B_CTL_MASK),
	FOUR(CTR, 0x320, 8, 64, CTR, ONES(48)),
	B_UNIT(0x0, 32),
	B_STATUS(0x48, 32),
	FOUR(CTL, 0x10, 8, 64, CTL, B_CTL_MASK),
	FOUR(CTR, 0x50, 8, 64, CTR, ONES(48)),
	REG(BW_IN, 0x0, 64, FREE, 0, .flags = UNC_REG_RO),
	REG(BW_CLOCK, 0x1, 64, FREE, 0, .flags = UNC_REG_RO),
	REG(GLOBAL_CTL, 0x2FF0, 64, OTHER, 0x1, .flags = UNC_REG_ABS),
	REG(GLOBAL_STATUS, 0x2FF2, 64, OTHER, ~(uint64_t)0, .flags = UNC_REG_ABS | UNC_REG_W1C),
};

static const struct unc_tbl_field beta_field[] = {
	CONTROL_FIELDS,
	B_UNIT_FIELDS(B_CHA_UNIT),
	FIELD(ext, UNC_NONE, 32, 31),
	CONTROL_FIELDS,
	B_UNIT_FIELDS(B_IMC_UNIT),
	CONTROL_FIELDS,
	B_UNIT_FIELDS(B_UPI_UNIT),
	CONTROL_FIELDS,
	B_UNIT_FIELDS(B_CXL_UNIT),
	FIELD(frz_all, B_IIO_GLOBAL, 0, 1),
};

static const struct unc_tbl_where beta_where[] = {
	{.base = 0x2000},
	{.base = 0x2010},
	{.base = 0x2020},
	{.base = 0x2030},
	{.base = 0x22800, .bar_index = 0},
	{.base = 0x2A800, .bar_index = 0},
	{.base = 0x22800, .bar_index = 1},
	{.base = 0x2A800, .bar_index = 1},
	{.devfn = UNC_DEVFN(1, 1), .device_id = 0x3241},
	{.devfn = UNC_DEVFN(2, 1), .device_id = 0x3241},
	{.base = 0x3800},
};

static const struct unc_tbl_bar beta_bar[] = {
	{.name = W(mem),
	 .device_id = 0x3251,
	 .devfn = UNC_DEVFN(0, 1),
	 .count = 2,
	 .base_offset = 0xD0,
	 .offset = 0xD8,
	 .step = 4,
	 .base_shift = 23,
	 .shift = 12,
	 .base_mask = 0x1FFFFFFF,
	 .mask = 0x7FF,
	 .size = 0x40000},
};

static const struct unc_tbl_part beta_part[] = {
	{.space = UNC_SPACE_MSR, .where = {0, 4}},  {.space = UNC_SPACE_MMIO, .where = {4, 4}},
	{.space = UNC_SPACE_PCI, .where = {8, 2}},  {.space = UNC_SPACE_MMIO, .where = {10, 0}},
	{.space = UNC_SPACE_MSR, .where = {10, 1}},
};

static const struct unc_tbl_counter beta_counter[] = {
	{.name = W(FIXED_CTR),
	 .ctr = B_IMC_FIXED_CTR,
	 .ctl = B_IMC_FIXED_CTL,
	 .enable = 0x400000,
	 .width = 48},
	{.name = W(BW_IN), .ctr = B_IIO_BW, .ctl = UNC_NONE, .width = 48},
	{.name = W(BW_CLOCK), .ctr = B_IIO_CLOCK, .ctl = UNC_NONE, .width = 48},
};

static const struct unc_tbl_event beta_event[] = {
	{.name = W(CLOCKTICKS), .code = 0x01, .counter = UNC_NONE, .max_inc = 1},
	{.name = W(IOCLK), .counter = 2, .aggregate = UNC_AGGREGATE_MAX, .max_inc = 1},
};

#define B_TYPE(prefix, fields_at, fields_n)                                                        \
	.fields = {fields_at, fields_n}, .first_ctl = prefix##_CTL, .first_ctr = prefix##_CTR,     \
	.unit_ctl = prefix##_UNIT, .status = prefix##_STATUS, .f_event = fields_at,                \
	.f_umask = (fields_at) + 1, .active = 0xFF, .n_counters = 4, .width = 48, .max_inc = 1
static const struct unc_tbl_present beta_present[] = {{.mask = UINT64_MAX,
						       .id = 0x325b,
						       .offset = {0x9C, 0xA0},
						       .n_offsets = 2,
						       .n_devices = 1,
						       .devfn = {UNC_DEVFN(0x1e, 3)}}};
static const struct unc_tbl_type beta_type[B_TYPES] = {
	[B_CHA] = {.name = W(cha),
		   .parts = {0, 1},
		   .regs = {B_CHA_UNIT, B_IMC_UNIT},
		   .events = {0, 1},
		   .discovery = 0,
		   .presents = {0, 1},
		   B_TYPE(B_CHA, B_F_CHA, 10)},
	[B_IMC] = {.name = W(imc),
		   .parts = {1, 1},
		   .regs = {B_IMC_UNIT, B_UPI_UNIT - B_IMC_UNIT},
		   .counters = {0, 1},
		   .discovery = 6,
		   B_TYPE(B_IMC, B_F_IMC, 9)},
	[B_UPI] = {.name = W(upi),
		   .parts = {2, 1},
		   .regs = {B_UPI_UNIT, B_CXL_UNIT - B_UPI_UNIT},
		   .discovery = 8,
		   .unlisted = 1,
		   B_TYPE(B_UPI, B_F_UPI, 9)},
	[B_CXL] = {.name = W(cxl),
		   .parts = {3, 1},
		   .regs = {B_CXL_UNIT, B_IIO_BW - B_CXL_UNIT},
		   .discovery = 12,
		   B_TYPE(B_CXL, B_F_CXL, 9)},
	[B_IIO] = {.name = W(iio),
		   .parts = {4, 1},
		   .regs = {B_IIO_BW, 4},
		   .counters = {1, 2},
		   .events = {1, 1},
		   .fields = {B_F_IIO, 1},
		   .n_global = 1,
		   .global_status = {B_IIO_GLOBAL_STATUS},
		   NO_REGS,
		   .unit_ctl = UNC_NONE,
		   .status = UNC_NONE,
		   NO_FIELDS,
		   .discovery = -1},
};

static const struct unc_tbl_rate beta_rate[] = {
	RATE(B_CHA, 0x01, 0xFF, .per_second = 2e9),
	RATE(B_CHA, 0x000000200000FF34, 0xFFFFFFFF0000FFFF, .per_second = 5e7),
	RATE(B_CHA, 0x000000400000FF34, 0xFFFFFFFF0000FFFF, .per_second = 6e7),
	{.type = B_IIO, .counter = 1, .per_second = 1e6},
	{.type = B_IIO, .counter = 2, .per_second = 45e6},
};

static const struct unc_tbl_sim_unit beta_sim_unit[] = {
	{B_CHA, {{0xB}}, 2e9, false},   {B_IMC, {{0xF}}, 2.8e9, false},
	{B_UPI, {{0x3}}, 1.25e9, true}, {B_CXL, {{0x1}}, 1e9, false},
	{B_IIO, {{0x1}}, 5e8, false},
};

static const struct unc_workload beta_workload = {
	.machine = {.sockets = 2, .model = 0xCF, .cores = 8, .tsc_hz = 2e9, .title = W(beta)},
	.id = 2,
	.strings = words.empty,
	.rate = beta_rate,
	N(rate) = sizeof(beta_rate) / sizeof(beta_rate[0]),
	.sim_unit = beta_sim_unit,
	N(sim_unit) = B_TYPES,
};

static const struct unc_table beta_table = {
	.name = W(beta),
	.title = W(beta),
	.cpuid = &(const struct unc_tbl_cpuid){.family = 6, .n_models = 1, .models = {0xCF}},
	.discovery = UNC_DISCOVERY_TABLE,
	.topology = {0x3250, 0xC0, 0xD4},
	.strings = words.empty,
	.n_strings = sizeof(words),
	.where = beta_where,
	N(where) = 11,
	.present = beta_present,
	N(present) = 1,
	.bar = beta_bar,
	N(bar) = 1,
	.part = beta_part,
	N(part) = 5,
	.reg = beta_reg,
	N(reg) = B_REGS,
	.field = beta_field,
	N(field) = B_FIELDS,
	.counter = beta_counter,
	N(counter) = 3,
	.type = beta_type,
	N(type) = B_TYPES,
	.event = beta_event,
	N(event) = 2,
	.id = 2,
};

/* ------------------------------------------------------------------- machines */

static const struct unc_table *const sim_tables[] = {&alpha_table, &beta_table};
static const struct unc_workload *sim_workloads[] = {&alpha_workload, &beta_workload};

/* Before those of the simulator. */
bool unc_workload_built(size_t index, struct unc_workload *out)
{
	if (index >= 2)
		return REAL(unc_workload_built)(index - 2, out);
	*out = *sim_workloads[index];
	return true;
}

static inline struct unc_sim *machine(const char *spec)
{
	struct unc_sim *sim = NULL;
	struct unc_error err = {0};

	if (unc_sim_open(spec, "node", sim_tables, 2, &sim, &err) < 0) {
		printf("# %s: %s\n", spec, err.text);
		CU_FAIL_FATAL("machine opens");
	}
	return sim;
}

static inline void *find(struct unc_sim *sim, int space, unsigned cpu, uint64_t address,
			 unsigned width)
{
	struct unc_reg reg = {.address = address,
			      .target = cpu,
			      .space = (uint8_t)space,
			      .width = (uint8_t)width};

	return unc_sim_find(sim, &reg);
}

static inline void *need(struct unc_sim *sim, int space, unsigned cpu, uint64_t address,
			 unsigned width)
{
	void *reg = find(sim, space, cpu, address, width);

	if (!reg)
		printf("# no %u-bit register 0x%llx\n", width, (unsigned long long)address);
	CU_ASSERT_PTR_NOT_NULL_FATAL(reg);
	return reg;
}

static inline void *msr32(struct unc_sim *sim, uint64_t address)
{
	return need(sim, UNC_SPACE_MSR, 0, address, 32);
}

static inline void *msr64(struct unc_sim *sim, uint64_t address)
{
	return need(sim, UNC_SPACE_MSR, 0, address, 64);
}

static inline void *pci(struct unc_sim *sim, unsigned devfn, unsigned offset, unsigned width)
{
	return need(sim, UNC_SPACE_PCI, 0, UNC_PCI(0, 0x7f, devfn, offset), width);
}

static inline unsigned violations(const struct unc_sim *sim)
{
	return unc_sim_violations(sim, NULL, 0);
}

#endif
