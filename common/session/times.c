/* SPDX-License-Identifier: BSD-3-Clause */
/* Sessions: the time of a value, and what was counted in it. */
#include <math.h>

#include "session/session.h"

bool unc_takes_turns(const struct unc_session *s)
{
	return s->ms && s->n_passes > 1;
}

static struct unc_stretch stretch(const struct unc_session *s, const struct unc_totals *from,
				  const struct unc_totals *to, uint64_t ns, bool interval)
{
	bool parts = s->n_passes > 1 || s->last.flawed;
	uint64_t begin = from->width, end = to->width;

	return (struct unc_stretch){
		.from = from,
		.to = to,
		.interval = interval,
		.even = !parts && begin + end <= ns / 1000,
		.slow = parts || begin > ns / 100 || end > ns / 100,
		.parts = parts,
		.all = (double)(int64_t)ns * 1e-9,
		.ns = ns,
	};
}

struct unc_stretch unc_since_start(const struct unc_session *s)
{
	return stretch(s, &s->start, &s->last, s->last.ns - s->start.ns, false);
}

struct unc_stretch unc_last_interval(const struct unc_session *s,
				     const struct unc_session_item *item)
{
	uint64_t ns = s->end.ns - s->begin.ns;

	return stretch(s, &s->begin, &s->end, s->n_passes > 1 && item ? item->interval : ns, true);
}

struct unc_time unc_time_of(const struct unc_stretch *of, size_t set)
{
	const struct unc_point *from = &of->from->point[set], *to = &of->to->point[set];

	return (struct unc_time){.ran = to->time.ran - from->time.ran,
				 .idle = to->time.idle - from->time.idle,
				 .blur = to->time.blur - from->time.blur + from->look.width};
}

/* Whether a time differs from the whole by no more than a thousandth. */
static bool is_whole(uint64_t ran, const struct unc_stretch *of)
{
	return ran - of->ns + of->ns / 1000 <= 2 * (of->ns / 1000);
}

/* Whether a set has counted for only a part of the time: it began later, or was lost meanwhile. */
static bool is_part(const struct unc_session *s, size_t set, const struct unc_stretch *of)
{
	const struct unc_point *now = &s->last.point[set];

	return now->gap || now->lapse || !of->from->point[set].begun;
}

double unc_seconds_of(const struct unc_session *s, size_t set, const struct unc_stretch *of)
{
	struct unc_time time = unc_time_of(of, set);

	if ((s->run->set[set].pass != UNC_EVERY_PASS || is_part(s, set, of)) &&
	    !is_whole(time.ran, of))
		return fmin(of->all, (double)time.ran * 1e-9);
	return time.idle ? of->all * (double)time.ran / (double)(time.ran + time.idle) : of->all;
}

uint64_t unc_unsure(const struct unc_stretch *of, size_t set)
{
	struct unc_time time = unc_time_of(of, set);
	uint64_t ns = time.blur + of->to->point[set].look.width;

	if (time.ran >= of->ns / 2)
		return ns;
	if (!time.ran) /* in parts it waits for its pass, or has no value */
		return of->parts ? 0 : of->ns;
	return (uint64_t)((double)of->ns * (double)ns / (double)time.ran);
}

double unc_if_late(uint64_t took, const struct unc_stretch *of)
{
	return of->slow && took > of->ns / 100 ? (double)took * 1e-9 : 0;
}

/* A count whose time differs by less than a thousandth is not scaled, unless counting was
 * interrupted, or began, in it. */
struct unc_weight unc_weigh(const struct unc_session *s, size_t set, const struct unc_stretch *of)
{
	uint64_t ran = unc_time_of(of, set).ran;
	bool exact = of->even || !ran || (!is_part(s, set, of) && is_whole(ran, of));

	return (struct unc_weight){.scale = exact ? 1 : of->all * 1e9 / (double)ran,
				   .late = of->slow ? unc_if_late(unc_unsure(of, set), of) : 0};
}

/* ---- passes */

/* The shortest time, in ns, for which a pass must be measured to stand for the whole time. */
static uint64_t least_measured(const struct unc_session *s, bool interval)
{
	const uint64_t first_turn = 2000000, turn = s->run->turn_ns;

	if (!unc_takes_turns(s))
		return 1;
	return (interval || turn < first_turn ? turn : first_turn) / 2;
}

bool unc_session_measured(const struct unc_session *s, unsigned pass)
{
	return s->last.passed[pass] - s->end.passed[pass] >= least_measured(s, true);
}

uint64_t unc_session_waits_for(const struct unc_session *s, const struct unc_session_item *item)
{
	uint64_t passes = 0;

	for (unsigned i = 0; i < s->n_passes && s->n_passes > 1; i++)
		if (s->last.passed[i] - s->start.passed[i] < least_measured(s, false))
			passes |= (uint64_t)1 << i;
	return passes & item->waits;
}

/* An item is complete, and its interval ends, when each of its passes was measured; with one pass, at each read. */
bool unc_session_complete(const struct unc_session *s, const struct unc_session_item *item)
{
	return s->n_passes == 1 || item->seen == item->waits;
}

/* ---- what was counted */

uint64_t unc_scaled(uint64_t count, double scale)
{
	return scale == 1 ? count : (uint64_t)((double)count * scale + 0.5);
}

uint64_t unc_aggregate(const struct unc_session *s, const struct unc_measure *m,
		       const struct unc_stretch *of, double *exact)
{
	uint64_t sum = 0, max = 0;
	uint32_t n = 0;

	for (uint32_t i = 0; i < m->n_wants; i++) {
		uint32_t counter = s->run->at[m->want[i]], set = s->run->of[counter];
		uint64_t value = of->to->count[counter] - of->from->count[counter];

		if (of->parts && s->without[set])
			continue;
		n++;
		if (!of->even)
			value = unc_scaled(value, unc_weigh(s, set, of).scale);
		sum += value;
		max = value > max ? value : max;
	}
	if (m->aggregate == UNC_AGGREGATE_MAX)
		sum = max;
	*exact = m->aggregate == UNC_MEASURE_MEAN ? (double)sum / n : (double)sum;
	return sum;
}

const char *unc_session_evaluate(struct unc_session *s, const struct unc_session_item *item,
				 const struct unc_stretch *of, double *value)
{
	struct unc_expr_vars vars = {.tsc_hz = unc_platform_tsc_hz(s->platform),
				     .time = of->all,
				     .memory_peak = item->memory_peak};

	vars.tsc = vars.time * vars.tsc_hz;
	for (uint32_t i = 0; i < item->n_measures; i++)
		unc_aggregate(s, &s->measure[item->measure[i]], of, &s->scratch[i]);
	return unc_expr_eval(item->expr, s->scratch, &vars, value);
}
