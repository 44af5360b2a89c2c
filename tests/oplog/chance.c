/* SPDX-License-Identifier: BSD-3-Clause */
/* Chance that is the same in each run (LD_PRELOAD): of each process by its CHANCE. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

ssize_t getrandom(void *buf, size_t size, unsigned flags)
{
	static uint64_t state;
	const char *seed = getenv("CHANCE");
	unsigned char *to = buf;

	(void)flags;
	if (!state)
		state = seed ? strtoull(seed, NULL, 10) : 1;
	for (size_t i = 0; i < size; i++) {
		state = state * 6364136223846793005u + 1442695040888963407u;
		to[i] = (unsigned char)(state >> 56);
	}
	return (ssize_t)size;
}
