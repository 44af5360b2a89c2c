/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The load of the machine over time.
 *
 * With a constant load there is one phase without end. With load=live the machine works as the nodes of
 * a cluster do: in each 100 seconds it computes for 45, streams through memory for 20, copies for 20 and
 * rests for 15; all phases but the last are a little busier for half of their time. Each phase comes in
 * pieces, whose lengths and order are drawn anew for each 100 seconds. Every random number is a function
 * of the seed and of its purpose, so the counts at a given time depend on nothing else.
 *
 * All sockets change phase together, as the threads of a job do, but with different shares, which change from phase
 * to phase; the sum over the sockets is that of equal shares. The same holds for the units of a socket. The links
 * between sockets carry the same at both ends: there, each socket has the mean.
 */
#include <string.h>

#include "sim/sim_machine.h"

enum { ROUND_S = 100, MAX_PIECES = 21 };
static const uint64_t second = 1000000000;

/* level: share of the constant load. The longest piece of a phase is at most twice its shortest. */
static const struct {
	unsigned seconds, pieces;
	double level;
} phases[SIM_PHASES] = {
	{20, 4, 0.44},                /* computes */
	{25, 5, 0.36}, {10, 3, 0.95}, /* streams */
	{10, 3, 0.85}, {10, 2, 0.74}, /* copies */
	{10, 2, 0.66}, {15, 2, 0.03}, /* rests */
};

/* ---- random numbers: functions of seed and purpose, the same everywhere */

uint64_t unc_sim_mix(uint64_t x)
{
	x += 0x9e3779b97f4a7c15;
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
	x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
	return x ^ (x >> 31);
}

double unc_sim_noise(const char *name, uint64_t number)
{
	uint64_t hash = 0;

	for (; *name; name++)
		hash = unc_sim_mix(hash ^ (unsigned char)*name);
	return (double)(unc_sim_mix(hash ^ unc_sim_mix(number)) >> 11) / 9007199254740992.0;
}

/* The purpose of a random number. */
enum { FOR_LENGTH = 1, FOR_ORDER, FOR_NODE, FOR_SOCKET, FOR_SPREAD, FOR_UNIT };

static double draw(const struct unc_sim *sim, unsigned purpose, uint64_t number)
{
	return unc_sim_noise("", unc_sim_mix(sim->options.seed ^ unc_sim_mix(purpose)) ^ number);
}

/* ---- when */

struct piece {
	unsigned phase;
	uint64_t ns;
};

/* Cuts a phase of a round into pieces with weights of 1 to 2; the last one gets the rounding. */
static void cut_phase(const struct unc_sim *sim, uint64_t round, unsigned phase,
		      struct piece *piece)
{
	double weight[MAX_PIECES], sum = 0;
	uint64_t left = phases[phase].seconds * second;
	unsigned n = phases[phase].pieces;

	for (unsigned i = 0; i < n; i++) {
		weight[i] =
			1 + draw(sim, FOR_LENGTH, (round * SIM_PHASES + phase) * MAX_PIECES + i);
		sum += weight[i];
	}
	for (unsigned i = 0; i < n; i++) {
		double part = weight[i] / sum * phases[phase].seconds * (double)second;

		piece[i] = (struct piece){phase, i + 1 < n ? (uint64_t)part : left};
		left -= piece[i].ns;
	}
}

/* All pieces of a round, in their order. */
static void plan_round(const struct unc_sim *sim, uint64_t round, struct piece *piece)
{
	unsigned n = 0;

	for (unsigned phase = 0; phase < SIM_PHASES; phase++) {
		cut_phase(sim, round, phase, piece + n);
		n += phases[phase].pieces;
	}
	while (n > 1) {
		unsigned other = (unsigned)(draw(sim, FOR_ORDER, round * MAX_PIECES + n) * n);
		struct piece last = piece[--n];

		piece[n] = piece[other];
		piece[other] = last;
	}
}

unsigned unc_sim_phases(const struct unc_sim *sim)
{
	return sim->options.live ? SIM_PHASES : 1;
}

void unc_sim_spent(const struct unc_sim *sim, uint64_t now, uint64_t spent[SIM_PHASES])
{
	uint64_t round = now / (ROUND_S * second), left = now % (ROUND_S * second);
	struct piece piece[MAX_PIECES];

	if (!sim->options.live) {
		memset(spent, 0, SIM_PHASES * sizeof(*spent));
		spent[0] = now;
		return;
	}
	for (unsigned phase = 0; phase < SIM_PHASES; phase++)
		spent[phase] = round * phases[phase].seconds * second;
	plan_round(sim, round, piece);
	for (unsigned i = 0; i < MAX_PIECES; i++) {
		uint64_t part = left < piece[i].ns ? left : piece[i].ns;

		spent[piece[i].phase] += part;
		left -= part;
	}
}

/* ---- how much */

/* The place of a socket among the others in a phase: from -1 to 1, 0 on average. */
static double socket_rank(const struct unc_sim *sim, unsigned socket, unsigned phase)
{
	unsigned n = (unsigned)sim->top.n_sockets;
	unsigned place = (socket + (unsigned)(draw(sim, FOR_SOCKET, phase) * n)) % n;

	return n == 1 ? 0 : 1 - 2.0 * place / (n - 1);
}

double unc_sim_factor(const struct sim_block *block, unsigned phase, bool shared)
{
	const struct unc_sim *sim = block->sim;
	double level, spread;

	if (!sim->options.live)
		return sim->options.load;
	level = phases[phase].level * (0.6 + 0.4 * draw(sim, FOR_NODE, 0));
	spread = 0.15 + 0.1 * draw(sim, FOR_SPREAD, phase);
	level *= 0.75 + (shared ? 0 : spread * socket_rank(sim, block->socket, phase));
	return level * block->weight;
}

/* Units that count parts of one thing, or all of it, keep equal weights. */
double unc_sim_weight(const struct sim_block *block)
{
	const struct sim_type *type = block->type;
	const struct unc_sim *sim = block->sim;
	double own = 0, sum = 0;
	unsigned n = 0;

	if (!sim->options.live || type->row->cpus || type->row->share > 1)
		return 1;
	for (const struct sim_block *b = sim->block; b < sim->block + sim->n_blocks; b++) {
		double x = draw(sim, FOR_UNIT, type->number * UNC_MAX_PLACES + b->index);

		if (b->type != type || b->socket != block->socket)
			continue;
		sum += x;
		own = b == block ? x : own;
		n++;
	}
	return 1 + 0.08 * (own - sum / n);
}
