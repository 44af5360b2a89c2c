/* SPDX-License-Identifier: BSD-3-Clause */
/* Positive numbers with which functions of them have values that are given. */
#ifndef UNC_SOLVE_H
#define UNC_SOLVE_H

#include <stdbool.h>
#include <stddef.h>

struct unc_solve {
	size_t n, m;  /* numbers looked for, and values given */
	double *x;    /* logarithm of each number: where to begin, and what was found */
	double *ease; /* how readily each number moves, 1 or less */
	/* How far each value is from the one given, 0: it is that. NAN: it has none there. */
	void (*miss)(void *user, const double *x, double *miss);
	void *user;
};

/*
 * Newton's method on logarithms. There are more numbers than values: each step is the smallest that
 * does it, so that numbers which play the same part stay equal. Where no numbers have all values,
 * what is found has them nearly. false: out of memory.
 */
bool unc_solve(const struct unc_solve *);

#endif
