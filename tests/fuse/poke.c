/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A neighbour: reads or writes a register of a machine under a root, as a program that knows
 * nothing of libuncore would.
 *
 *   poke FILE OFFSET [VALUE]     FILE: /dev/cpu/N/msr, .../config, or the machine's /memory
 *
 * An MSR has 8 bytes, a register of configuration space or memory 4. What is read is printed.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static uint64_t number(const char *text)
{
	char *end;
	uint64_t value;

	errno = 0;
	value = strtoull(text, &end, 0);
	if (end == text || *end || errno) {
		fprintf(stderr, "poke: '%s' is no number\n", text);
		exit(2);
	}
	return value;
}

int main(int argc, char **argv)
{
	uint64_t offset, value = 0;
	ssize_t done;

	if (argc < 3 || argc > 4) {
		fprintf(stderr, "usage: poke FILE OFFSET [VALUE]\n");
		return 2;
	}
	offset = number(argv[2]);
	size_t length = strlen(argv[1]);
	size_t size = length > 4 && strcmp(argv[1] + length - 4, "/msr") == 0 ? 8 : 4;
	int fd = open(argv[1], argc == 4 ? O_RDWR : O_RDONLY);

	if (argc == 4)
		value = number(argv[3]);
	done = fd < 0      ? -1
	       : argc == 4 ? pwrite(fd, &value, size, (off_t)offset)
			   : pread(fd, &value, size, (off_t)offset);
	if (done != (ssize_t)size) {
		fprintf(stderr, "poke: %s 0x%" PRIx64 ": %s\n", argv[1], offset,
			done < 0 ? strerror(errno) : "a short access");
		return 1;
	}
	if (argc == 3)
		printf("0x%" PRIx64 "\n", value);
	return 0;
}
