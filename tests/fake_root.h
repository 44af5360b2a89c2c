/* SPDX-License-Identifier: BSD-3-Clause */
/* A machine made of files below a temporary folder: /proc, /sys and /dev as a test wants them. */
#ifndef UNC_TEST_FAKE_ROOT_H
#define UNC_TEST_FAKE_ROOT_H

#include <fcntl.h>
#include <ftw.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct fake_root {
	char path[256];
};

static inline void fake_die(const char *what)
{
	perror(what);
	exit(99);
}

static inline void fake_new(struct fake_root *root)
{
	const char *tmp = getenv("TMPDIR");

	snprintf(root->path, sizeof(root->path), "%s/uncore-test-XXXXXX", tmp ? tmp : "/tmp");
	if (!mkdtemp(root->path) || chmod(root->path, 0755) < 0)
		fake_die("mkdtemp");
}

static inline int fake_unlink(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static inline void fake_free(struct fake_root *root)
{
	nftw(root->path, fake_unlink, 16, FTW_DEPTH | FTW_PHYS);
}

/* "root/path"; the folders above it are made. Static storage. */
static inline const char *fake_path(const struct fake_root *root, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
static inline const char *fake_path(const struct fake_root *root, const char *format, ...)
{
	static char path[1024];
	size_t n = strlen(root->path);
	va_list args;

	memcpy(path, root->path, n);
	va_start(args, format);
	vsnprintf(path + n, sizeof(path) - n, format, args);
	va_end(args);
	for (char *p = path + n + 1; (p = strchr(p, '/')); p++) {
		*p = '\0';
		mkdir(path, 0755);
		*p = '/';
	}
	return path;
}

/* Writes size bytes at an offset of a file; makes it if need be. */
static inline void fake_bytes(const char *path, uint64_t offset, const void *data, size_t size)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);

	if (fd < 0 || pwrite(fd, data, size, (off_t)offset) != (ssize_t)size)
		fake_die(path);
	close(fd);
}

static inline void fake_text(const char *path, const char *text)
{
	remove(path);
	fake_bytes(path, 0, text, strlen(text));
}

/* A sparse file of this size. */
static inline void fake_size(const char *path, uint64_t size)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);

	if (fd < 0 || ftruncate(fd, (off_t)size) < 0)
		fake_die(path);
	close(fd);
}

static inline uint64_t fake_get(const char *path, uint64_t offset, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	uint64_t value = 0;

	if (fd < 0 || pread(fd, &value, size, (off_t)offset) != (ssize_t)size)
		fake_die(path);
	close(fd);
	return value;
}

/* ------------------------------------------------------------------- PCI functions */

static inline const char *fake_config(const struct fake_root *root, unsigned bus, unsigned device,
				      unsigned function)
{
	return fake_path(root, "/sys/bus/pci/devices/0000:%02x:%02x.%x/config", bus, device,
			 function);
}

static inline void fake_put(const struct fake_root *root, unsigned bus, unsigned device,
			    unsigned function, unsigned offset, uint32_t value)
{
	fake_bytes(fake_config(root, bus, device, function), offset, &value, sizeof(value));
}

/* A function of Intel's; size 4096, or 256 where the extended space is not reachable. */
static inline void fake_function(const struct fake_root *root, unsigned bus, unsigned device,
				 unsigned function, unsigned id, unsigned size)
{
	fake_size(fake_config(root, bus, device, function), size);
	fake_put(root, bus, device, function, 0, 0x8086u | (uint32_t)id << 16);
}

/* How many are open of the lowest descriptors. */
static inline int fake_descriptors(void)
{
	int n = 0;

	for (int fd = 0; fd < 256; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

/* Drops root's rights over files and takes them back, so that refusals can be tested. */
static inline void fake_drop(void)
{
	if (getuid() == 0 && seteuid(65534) < 0)
		fake_die("seteuid");
}

static inline void fake_regain(void)
{
	if (getuid() == 0 && seteuid(0) < 0)
		fake_die("seteuid");
}

#endif
