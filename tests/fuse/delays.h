/* SPDX-License-Identifier: BSD-3-Clause */
/* A schedule of accesses that take long, drawn from a seed. */
#ifndef DELAYS_H
#define DELAYS_H

#include <stdbool.h>
#include <stdint.h>

struct delays {
	uint64_t state;   /* of chance; first the seed */
	uint64_t one_in;  /* accesses; 0: none */
	uint64_t longest; /* ns */
};

/* splitmix64 by Sebastiano Vigna, https://prng.di.unimi.it/splitmix64.c, public domain. */
static inline uint64_t delays_draw(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

/* Whether the next access takes long: so many ns before it or, half of them, behind it. */
static inline bool delays_next(struct delays *d, uint64_t *before, uint64_t *behind)
{
	*before = *behind = 0;
	if (!d->one_in || delays_draw(&d->state) % d->one_in != 0)
		return false;
	uint64_t ns = delays_draw(&d->state) % (d->longest + 1);

	*(delays_draw(&d->state) & 1 ? behind : before) = ns;
	return true;
}

#endif
