/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How fast a counter counts.
 *
 * What is counted. A row of workload.tbl fits a control value when the bits it names agree, in
 * the control register and in its filter register. Of several the one with the most bits named
 * wins. A umask that no row names whole is taken apart: rows of the same event whose umask bits
 * are disjoint add up, and each bit that is left counts at a small rate of its own, as do events
 * without any row: 0.01 % to 1 % of the unit's clock, from a hash of unit type, code, umask and
 * extension bits, so that it is the same everywhere and every time. Ports of a stack that no row names
 * together add up, where rows name each.
 *
 * Load. Clocks do not slow down with the traffic: fixed counters, rates within 1 % of the unit's
 * clock, and free-running counters that the events call clocks (aggregate=max) are not scaled.
 * All else is, occupancies too, so that a latency (occupancy / arrivals) stays what it was.
 *
 * Threshold, invert, edge. With a threshold t the counter counts clocks in which the increment
 * is t or more. The increments of a unit are taken as independent from clock to clock and
 * geometric, cut off at the largest increment n of the event: P(X >= t) = q^t for t <= n, 0
 * above, with q such that the mean q + q^2 + ... + q^n is the rate per clock. So the histogram
 * over all thresholds adds up to the plain count, a 0/1 event gives its own count at threshold 1,
 * and more than n is never seen. A clock is 1 in every clock. Invert gives the other clocks,
 * 1 - P. Edge gives the rises: P (1 - P) per clock for independent clocks, and as many falls.
 * Without a threshold invert and edge change nothing: they come after the comparison. The second
 * pair that a power control unit has for its occupancies does the same.
 */
#include <string.h>

#include "sim/sim_machine.h"

/* Share of the clock that an event without a row counts. A umask is the sum of its bits. */
static double own_share(const char *type, uint64_t ctl, uint64_t umask_bits)
{
	double share = 0;

	if (!umask_bits)
		return 1e-4 + unc_sim_noise(type, ctl) * 9.9e-3;
	for (; umask_bits; umask_bits &= umask_bits - 1)
		share += 1e-4 + unc_sim_noise(type, ctl | (umask_bits & -umask_bits)) * 1.15e-3;
	return share > 1e-2 ? 1e-2 : share;
}

static double row_rate(const struct sim_type *type, const struct unc_tbl_rate *row)
{
	return row->per_clock > 0 ? row->per_clock * type->clock : row->per_second;
}

static bool is_clock(const struct sim_type *type, double rate)
{
	return rate > 0.99 * type->clock && rate < 1.01 * type->clock;
}

/* Traffic as a share of that in the tables: of the socket, and the mean of all sockets. */
struct traffic {
	double own, shared;
};

static double loaded_rate(const struct sim_block *block, const struct unc_tbl_rate *row,
			  const struct traffic *traffic)
{
	double rate = row_rate(block->type, row);

	if (row->cxl && !block->sim->cxl)
		return 0;
	if (row->steady || is_clock(block->type, rate))
		return rate;
	return rate * (row->shared ? traffic->shared : traffic->own);
}

static int named(const struct unc_tbl_rate *row)
{
	int n = __builtin_popcountll(row->ctl_mask);

	for (unsigned i = 0; i < row->n_filters; i++)
		n += __builtin_popcountll(row->filter[i].mask);
	return n;
}

static bool filter_fits(const struct sim_block *block, const struct unc_tbl_rate *row)
{
	if (row->only_socket && row->only_socket != block->socket + 1)
		return false;
	for (unsigned i = 0; i < row->n_filters; i++) {
		const struct unc_tbl_rate_filter *f = &row->filter[i];
		uint64_t value = unc_sim_reg(block, f->reg)->value;

		if ((value & f->mask) != f->value)
			return false;
	}
	return true;
}

/* The row of programmable counters that names most of a control value; NULL: none fits. */
static const struct unc_tbl_rate *best_row(const struct sim_block *block, uint64_t ctl)
{
	const struct unc_tbl_rate *best = NULL;

	for (size_t i = 0; i < block->type->n_rates; i++) {
		const struct unc_tbl_rate *row = block->type->rate[i];

		if (row->counter == UNC_NONE && (ctl & row->ctl_mask) == row->ctl &&
		    filter_fits(block, row) && (!best || named(row) > named(best)))
			best = row;
	}
	return best;
}

/* The row that covers most of the umask bits in `left`, and no others, of the same event. */
static const struct unc_tbl_rate *best_piece(const struct sim_block *block, uint64_t ctl,
					     uint64_t left)
{
	const struct unc_tbl_rate *best = NULL;
	uint64_t umask = block->type->umask;

	for (size_t i = 0; i < block->type->n_rates; i++) {
		const struct unc_tbl_rate *row = block->type->rate[i];
		uint64_t piece = row->ctl & umask;

		if (row->counter != UNC_NONE || (row->ctl_mask & umask) != umask || !piece ||
		    (piece & ~left) || ((ctl ^ row->ctl) & row->ctl_mask & ~umask) ||
		    !filter_fits(block, row))
			continue;
		int gain = !best ? 1
				 : __builtin_popcountll(piece) -
					   __builtin_popcountll(best->ctl & umask);
		if (gain > 0 || (gain == 0 && named(row) > named(best)))
			best = row;
	}
	return best;
}

/* The rows of the ports that a control value selects, where no row names these together. */
static bool sum_of_ports(const struct sim_block *block, uint64_t ctl, const struct traffic *traffic,
			 double *sum)
{
	const struct unc_tbl_rate *row = best_row(block, ctl);
	uint64_t all = block->type->ports, left = ctl & all;

	if (!(left & (left - 1)) || (row && (row->ctl_mask & all) == all))
		return false;
	for (*sum = 0; left; left &= left - 1) {
		row = best_row(block, (ctl & ~all) | (left & -left));
		if (!row || (row->ctl_mask & all) != all)
			return false;
		*sum += loaded_rate(block, row, traffic);
	}
	return true;
}

/* Counts per second of what a control value selects. */
static double selected_rate(const struct sim_block *block, uint64_t ctl,
			    const struct traffic *traffic)
{
	const struct sim_type *type = block->type;
	const char *name = unc_tbl_str(block->sim->table, type->row->name);
	const struct unc_tbl_rate *row = best_row(block, ctl), *piece;
	uint64_t left = ctl & type->umask, other = ctl & ~type->modifiers & ~type->umask;
	bool apart = false;
	double sum = 0;

	if (sum_of_ports(block, ctl, traffic, &sum))
		return sum;
	if (row && (!left || (row->ctl_mask & type->umask) == type->umask))
		return loaded_rate(block, row, traffic);
	while ((piece = best_piece(block, ctl, left))) {
		sum += loaded_rate(block, piece, traffic);
		left &= ~piece->ctl;
		apart = true;
	}
	if (row && !apart)
		return loaded_rate(block, row, traffic);
	if (left || !apart)
		sum += own_share(name, other, left) * type->clock *
		       (type->link ? traffic->shared : traffic->own);
	return sum;
}

/* Largest increment per clock of the event that a control value selects. */
static uint32_t max_increment(const struct sim_block *block, uint64_t ctl)
{
	const struct unc_table *table = block->sim->table;
	const struct unc_tbl_type *type = block->type->row;
	uint32_t max = type->max_inc ? type->max_inc : 1, best = 0;

	if (type->f_event == UNC_NONE)
		return max;
	uint64_t code = unc_field_of(&table->field[type->f_event], ctl);
	for (size_t i = 0; i < table->n_event; i++) {
		const struct unc_tbl_event *event = &table->event[i];
		bool fits = event->code == code && event->counter == UNC_NONE &&
			    unc_type_pool(table, event->type) == block->type->number;

		for (const struct unc_tbl_set *s = NULL;
		     fits && (s = UNC_NEXT(table, set, event->fields.sets, s));)
			fits = table->field[s->field].reg[0] != UNC_NONE ||
			       unc_field_of(&table->field[s->field], ctl) == s->value;
		if (fits && event->max_inc && event->fields.sets.n >= best) {
			best = event->fields.sets.n + 1;
			max = event->max_inc;
		}
	}
	return max;
}

static double power(double q, uint64_t n)
{
	double result = 1;

	for (; n; n >>= 1, q *= q)
		if (n & 1)
			result *= q;
	return result;
}

/* P(increment >= threshold) for a mean increment per clock. */
static double chance_to_reach(double mean, uint32_t max, uint64_t threshold)
{
	double low = 0, high = 1;

	if (threshold > max || mean <= 0)
		return 0;
	if (mean >= max)
		return 1;
	for (int i = 0; i < 60; i++) {
		double q = (low + high) / 2;

		if (q * (1 - power(q, max)) / (1 - q) < mean)
			low = q;
		else
			high = q;
	}
	return power(low, threshold);
}

/* Applies threshold, invert and edge to a rate; clock: it is one at any load. */
static double modified_rate(const struct sim_block *block, uint64_t ctl, double rate, bool clock,
			    uint32_t max)
{
	const struct sim_type *type = block->type;
	const struct unc_tbl_field *reach = type->field[UNC_IS_THRESHOLD],
				   *states = type->field[UNC_IS_STATES];
	uint64_t threshold = reach ? unc_field_of(reach, ctl) : 0;
	double p;

	/* Line states are alike. */
	if (states && unc_field_of(states, ctl))
		rate *= __builtin_popcountll(unc_field_of(states, ctl)) / 4.0;
	if (ctl & type->bits[UNC_IS_BOTH_THREADS])
		rate *= 2;
	if (!threshold)
		return rate;
	threshold += (reach->flags & UNC_FIELD_EXCEEDS) != 0;
	if (clock)
		p = threshold == 1;
	else
		p = chance_to_reach(rate / type->clock, max, threshold);
	if (ctl & type->bits[UNC_IS_EDGE])
		return p * (1 - p) * type->clock;
	return (ctl & type->bits[UNC_IS_INVERT] ? 1 - p : p) * type->clock;
}

/* A fixed counter is a clock unless a row says more; a free-running one without row is noise. */
static double named_rate(const struct sim_block *block, const struct sim_counter *counter,
			 const struct traffic *traffic)
{
	const struct unc_table *table = block->sim->table;
	const struct sim_type *type = block->type;
	uint16_t number = (uint16_t)(counter->row - table->counter);
	const char *name = unc_tbl_str(table, type->row->name);
	const struct unc_tbl_rate *row = NULL;
	bool clock = counter->ctl != NULL;

	for (size_t i = 0; i < type->n_rates; i++)
		if (type->rate[i]->counter == number)
			row = type->rate[i];
	for (const struct unc_tbl_event *e = NULL;
	     !clock && (e = UNC_NEXT(table, event, type->row->events, e));)
		clock = e->counter == number && e->aggregate == UNC_AGGREGATE_MAX;
	if (row)
		return clock ? row_rate(type, row) : loaded_rate(block, row, traffic);
	if (counter->ctl)
		return type->clock;
	return own_share(name, number, 0) * type->clock *
	       (clock        ? 1
		: type->link ? traffic->shared
			     : traffic->own);
}

bool unc_sim_enabled(const struct sim_block *block, const struct sim_counter *counter)
{
	if (!counter->ctl)
		return true;
	if (counter->enabled_by_unit &&
	    !(unc_sim_reg(block, block->type->row->unit_ctl)->value & counter->enabled_by_unit))
		return false;
	return (counter->ctl->value & counter->enable) == counter->enable &&
	       (!counter->active || counter->ctl->value & counter->active);
}

/* Whether a counter counts the event of counter 0 of its block. */
static bool follows_lead(const struct sim_block *block, const struct sim_counter *counter)
{
	const struct sim_type *type = block->type;

	return type->has_follow && counter->number > 0 &&
	       (counter->ctl->value & type->code) == type->follow;
}

static struct traffic traffic_of(const struct sim_block *block, unsigned cause)
{
	return (struct traffic){unc_sim_factor(block, cause, false),
				unc_sim_factor(block, cause, true)};
}

static void select_named(const struct sim_block *block, struct sim_counter *counter)
{
	for (unsigned i = 0; i < unc_sim_phases(block->sim); i++) {
		struct traffic traffic = traffic_of(block, i);

		counter->raw[i] = counter->selected[i] = named_rate(block, counter, &traffic);
	}
}

void unc_sim_select(struct sim_block *block, struct sim_counter *counter)
{
	static const struct traffic full = {1, 1};
	const struct sim_counter *lead = &block->counter[0];
	uint64_t ctl, counted;

	if (counter->row) {
		if (counter->selected[0] <= 0)
			select_named(block, counter);
		return;
	}
	ctl = counted = counter->ctl->value;
	bool follow = follows_lead(block, counter);
	if (follow)
		counted = lead->ctl->value;
	bool clock = is_clock(block->type, selected_rate(block, counted, &full));
	uint32_t max = max_increment(block, counted);
	for (unsigned i = 0; i < unc_sim_phases(block->sim); i++) {
		struct traffic traffic = traffic_of(block, i);

		if (!follow)
			counter->raw[i] = selected_rate(block, ctl, &traffic);
		else
			counter->raw[i] = unc_sim_enabled(block, lead) ? lead->raw[i] : 0;
		counter->selected[i] = modified_rate(block, ctl, counter->raw[i], clock, max);
	}
}
