/* SPDX-License-Identifier: BSD-3-Clause */
#include "reader/solve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Steps; halvings of one that makes it worse; what a logarithm may move at once; the difference
 * that slopes are taken from. */
enum { STEPS = 200, HALVINGS = 30 };
static const double reach = 2, difference = 1e-6, enough = 1e-13;

struct room {
	double *slope;  /* m rows of n */
	double *system; /* m rows of m + 1 */
	double *x, *low, *high, *miss;
};

/* Sum of the squares; infinite where one has no value. */
static double badness(const struct unc_solve *s, const double *x, double *miss)
{
	double sum = 0;

	s->miss(s->user, x, miss);
	for (size_t i = 0; i < s->m; i++)
		sum += miss[i] * miss[i];
	return isfinite(sum) ? sum : INFINITY;
}

static void take_slopes(const struct unc_solve *s, const struct room *w)
{
	for (size_t k = 0; k < s->n; k++) {
		double x = s->x[k];

		s->x[k] = x - difference;
		s->miss(s->user, s->x, w->low);
		s->x[k] = x + difference;
		s->miss(s->user, s->x, w->high);
		s->x[k] = x;
		for (size_t i = 0; i < s->m; i++)
			w->slope[i * s->n + k] = (w->high[i] - w->low[i]) / (2 * difference);
	}
}

/* Of slope * ease * slope', one column more: the misses. A little is added to the diagonal: values
 * that follow from each other leave it singular. */
static void make_system(const struct unc_solve *s, const struct room *w)
{
	for (size_t i = 0; i < s->m; i++) {
		double *row = &w->system[i * (s->m + 1)];

		for (size_t j = 0; j < s->m; j++) {
			row[j] = i == j ? 1e-9 : 0;
			for (size_t k = 0; k < s->n; k++)
				row[j] += w->slope[i * s->n + k] * s->ease[k] *
					  w->slope[j * s->n + k];
		}
		row[s->m] = w->miss[i];
	}
}

/* Gauss; the matrix is positive, so that no rows need to change places. */
static void eliminate(double *system, size_t m)
{
	for (size_t i = 0; i < m; i++) {
		const double *from = &system[i * (m + 1)];

		for (size_t j = 0; j < m; j++) {
			double *row = &system[j * (m + 1)], factor = row[i] / from[i];

			for (size_t k = i; k <= m && j != i; k++)
				row[k] -= factor * from[k];
		}
	}
}

/* The step, to w->x. */
static void take_step(const struct unc_solve *s, const struct room *w)
{
	double largest = reach;

	make_system(s, w);
	eliminate(w->system, s->m);
	for (size_t k = 0; k < s->n; k++) {
		double sum = 0;

		for (size_t i = 0; i < s->m; i++) {
			const double *row = &w->system[i * (s->m + 1)];

			sum += w->slope[i * s->n + k] * row[s->m] / row[i];
		}
		w->x[k] = s->ease[k] * sum;
		largest = fmax(largest, fabs(w->x[k]));
	}
	for (size_t k = 0; k < s->n; k++)
		w->x[k] *= reach / largest;
}

/* Goes the step, or the part of it that makes it better; false: none does. */
static bool go(const struct unc_solve *s, const struct room *w, double *bad)
{
	for (int i = 0; i < HALVINGS; i++) {
		for (size_t k = 0; k < s->n; k++)
			w->low[k] = s->x[k] - ldexp(w->x[k], -i);
		double now = badness(s, w->low, w->miss);

		if (now < *bad) {
			memcpy(s->x, w->low, s->n * sizeof(*s->x));
			*bad = now;
			return true;
		}
	}
	return false;
}

static void solve(const struct unc_solve *s, const struct room *w)
{
	double bad = badness(s, s->x, w->miss);

	for (int i = 0; i < STEPS && isfinite(bad) && bad > enough * enough; i++) {
		take_slopes(s, w);
		take_step(s, w);
		if (!go(s, w, &bad))
			return;
	}
}

bool unc_solve(const struct unc_solve *s)
{
	size_t more = s->n > s->m ? s->n : s->m;
	double *all = calloc(s->m * s->n + s->m * (s->m + 1) + 4 * more + 1, sizeof(*all));
	struct room w = {.slope = all};

	if (!all)
		return false;
	w.system = w.slope + s->m * s->n;
	w.x = w.system + s->m * (s->m + 1);
	w.low = w.x + more;
	w.high = w.low + more;
	w.miss = w.high + more;
	solve(s, &w);
	free(all);
	return true;
}
