/* SPDX-License-Identifier: BSD-3-Clause */
#include "host/trust.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "host/dump.h"

enum { MOST_BYTES = 1 << 20 }; /* of a file written by hand */

bool unc_raised(void)
{
	return getauxval(AT_SECURE) != 0;
}

const char *const unc_variables[] = {"UNCORE_SIM", "UNCORE_SYSROOT", "UNCORE_ACCESS",
				     "UNCORE_RUN", "UNCORE_SITE",    NULL};

const char *unc_variable(bool raised, const char *name)
{
	const char *text = raised ? NULL : secure_getenv(name);

	return text && text[0] ? text : NULL;
}

int unc_trust_owner(int fd, const char *path, struct unc_error *err)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return unc_fail(err, UNC_ERR_IO, "%.200s: %s", path, strerror(errno));
	if (st.st_uid != 0)
		return unc_fail(err, UNC_ERR_DENIED,
				"%.200s belongs to user %u: a program with raised privileges takes "
				"only what belongs to root",
				path, (unsigned)st.st_uid);
	if (st.st_mode & (S_IWGRP | S_IWOTH))
		return unc_fail(err, UNC_ERR_DENIED,
				"%.200s may be written by others than root: a program with raised "
				"privileges does not take it",
				path);
	return 0;
}

int unc_trust_read(const char *path, int flags, bool roots, char **text, struct unc_error *err)
{
	/* O_NONBLOCK: a FIFO must not block. */
	int fd = open(path, flags | O_RDONLY | O_NONBLOCK | O_CLOEXEC), rc = 0;
	bool missing = errno == ENOENT || errno == ENOTDIR;
	struct stat st;
	size_t size;
	char *read;

	if (fd < 0)
		return unc_fail(err, missing ? UNC_ERR_NOT_FOUND : UNC_ERR_IO, "%s: %s", path,
				strerror(errno));
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		rc = unc_fail(err, UNC_ERR_IO, "%s is not a plain file", path);
	if (rc == 0 && roots)
		rc = unc_trust_owner(fd, path, err);
	if (rc < 0) {
		close(fd);
		return rc;
	}
	if ((rc = unc_fs_rest(fd, path, MOST_BYTES, &read, &size, err)) < 0)
		return rc;
	if (strlen(read) != size) {
		free(read);
		return unc_fail(err, UNC_ERR_IO, "%s: there is a NUL byte in it", path);
	}
	*text = read;
	return 0;
}

static int trust_folder(const char *path, struct unc_error *err)
{
	int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC), rc;

	if (fd < 0)
		return errno == ENOENT
			       ? 0
			       : unc_fail(err, UNC_ERR_DENIED, "%.200s: %s", path, strerror(errno));
	rc = unc_trust_owner(fd, path, err);
	close(fd);
	return rc;
}

int unc_trust_root(const char *root, struct unc_error *err)
{
	static const char *const inside[] = {"", "/dev", "/proc", "/sys"};
	char path[PATH_MAX];
	int rc = 0;

	for (unsigned i = 0; i < sizeof(inside) / sizeof(inside[0]) && rc == 0; i++) {
		if (snprintf(path, sizeof(path), "%s%s", root, inside[i]) >= (int)sizeof(path))
			return unc_fail(err, UNC_ERR_RANGE, "the path of the root is too long");
		rc = trust_folder(path, err);
	}
	return rc;
}

bool unc_fs_is_hardware(const struct unc_fs *fs)
{
	static const char *const device[] = {"/dev/mem", "/dev/cpu/0/msr"};
	char path[PATH_MAX];
	struct statfs where;
	struct stat st;

	if (unc_fs_is_real(fs))
		return true;
	for (unsigned i = 0; i < sizeof(device) / sizeof(device[0]); i++)
		if (unc_fs_path(fs, path, sizeof(path), "%s", device[i]) == 0 &&
		    stat(path, &st) == 0 && S_ISCHR(st.st_mode))
			return true;
	return unc_fs_path(fs, path, sizeof(path), "/sys/bus/pci/devices") == 0 &&
	       statfs(path, &where) == 0 && where.f_type == SYSFS_MAGIC;
}

bool unc_fs_of_hardware(const struct unc_fs *fs)
{
	const struct unc_dump *dump = unc_fs_replayed(fs);

	return dump ? dump->hardware : unc_fs_is_hardware(fs);
}
