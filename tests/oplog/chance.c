/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Chance that is the same in each run (LD_PRELOAD): of each process by its CHANCE. Few bits of it are
 * set, so that what is made of it stays the same where code begins to look at others of them.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

ssize_t getrandom(void *buf, size_t size, unsigned flags)
{
	static unsigned calls;
	const char *number = getenv("CHANCE");
	unsigned char *to = buf;

	(void)flags;
	memset(buf, 0, size);
	/* Above bit 31: the place where a counter begins. Neighbours never have the same. */
	if (size)
		to[size > 4 ? 4 : 0] = (2 * calls++ + (number ? (unsigned)atoi(number) : 0)) % 32;
	return (ssize_t)size;
}
