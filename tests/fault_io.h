/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * System calls on files that fail when a test wants it. A program that includes this has its own
 * open(), pread(), pwrite() and read(), and so have the libraries that it uses.
 */
#ifndef UNC_TEST_FAULT_IO_H
#define UNC_TEST_FAULT_IO_H

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum fault_call { FAULT_NONE, FAULT_OPEN, FAULT_AT, FAULT_READ };
enum { FAULT_ANYWHERE = -1, FAULT_FOR_EVER = -1 };

struct fault {
	enum fault_call call; /* FAULT_AT: pread() and pwrite() */
	const char *path;     /* what the path ends in */
	off_t offset;
	int error; /* errno value; 0: half of it is done */
	int times;
	off_t end; /* offsets up to here, this one not included; 0: the one offset */
};

static struct fault fault;
static unsigned io_calls; /* of those that this has, so far */

/* Whether this call is to fail now. */
static inline int fault_hits(enum fault_call call, const char *path, off_t offset)
{
	size_t n = strlen(path), tail = fault.path ? strlen(fault.path) : 0;

	if (fault.call != call || !fault.times || n < tail ||
	    strcmp(path + n - tail, fault.path) != 0 ||
	    (fault.offset != FAULT_ANYWHERE && fault.offset != offset &&
	     (offset < fault.offset || offset >= fault.end)))
		return 0;
	if (fault.times > 0)
		fault.times--;
	errno = fault.error;
	return 1;
}

static inline int fault_hits_fd(enum fault_call call, int fd, off_t offset)
{
	char link[40], path[1024];
	int saved = errno;
	ssize_t n;

	if (fault.call != call)
		return 0;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, sizeof(path) - 1);
	path[n < 0 ? 0 : n] = '\0';
	errno = saved;
	return fault_hits(call, path, offset);
}

int open(const char *path, int flags, ...)
{
	va_list args;
	int mode;

	io_calls++;
	if (fault_hits(FAULT_OPEN, path, FAULT_ANYWHERE))
		return -1;
	va_start(args, flags);
	mode = flags & O_CREAT ? va_arg(args, int) : 0;
	va_end(args);
	return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

/* What a library calls that is built with checks. */
int __open_2(const char *path, int flags);
int __open_2(const char *path, int flags)
{
	return open(path, flags, 0);
}

ssize_t pread(int fd, void *buf, size_t size, off_t offset)
{
	io_calls++;
	if (fault_hits_fd(FAULT_AT, fd, offset)) {
		if (fault.error)
			return -1;
		size /= 2;
	}
	return syscall(SYS_pread64, fd, buf, size, offset);
}

ssize_t pwrite(int fd, const void *buf, size_t size, off_t offset)
{
	io_calls++;
	if (fault_hits_fd(FAULT_AT, fd, offset)) {
		if (fault.error)
			return -1;
		size /= 2;
	}
	return syscall(SYS_pwrite64, fd, buf, size, offset);
}

ssize_t read(int fd, void *buf, size_t size)
{
	io_calls++;
	if (fault_hits_fd(FAULT_READ, fd, FAULT_ANYWHERE)) {
		if (fault.error)
			return -1;
		size = (size + 1) / 2;
	}
	return syscall(SYS_read, fd, buf, size);
}

#endif
