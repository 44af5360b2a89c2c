/* SPDX-License-Identifier: BSD-3-Clause */
#include "host/fs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/dump.h"

struct unc_fs {
	char prefix[PATH_MAX / 2]; /* "" for the real root, else without a slash at the end */
	struct unc_dump *dump;     /* replaces the root, or is being recorded; NULL: neither */
	unsigned users;
};

int unc_fs_open(const char *root, struct unc_fs **out, struct unc_error *err)
{
	struct unc_dump *dump = NULL;
	struct unc_fs *fs;
	struct stat st;
	size_t n;
	int rc;

	if (!root || !*root)
		root = "/";
	if (stat(root, &st) < 0)
		return unc_fail(err, unc_fs_error(errno), "root '%s': %s", root, strerror(errno));
	if (!S_ISDIR(st.st_mode) && !S_ISREG(st.st_mode))
		return unc_fail(err, UNC_ERR_NOT_FOUND, "root '%s' is not a directory", root);
	for (n = strlen(root); n && root[n - 1] == '/'; n--)
		continue;
	if (n >= sizeof(fs->prefix))
		return unc_fail(err, UNC_ERR_RANGE, "the path of the root is too long");
	if (n && (rc = unc_dump_load(root, NULL, &dump, err)) < 0)
		return rc;
	fs = calloc(1, sizeof(*fs));
	if (!fs) {
		unc_dump_free(dump);
		return unc_fail(err, UNC_ERR_MEMORY, "out of memory");
	}
	memcpy(fs->prefix, root, n);
	fs->dump = dump;
	fs->users = 1;
	*out = fs;
	return 0;
}

struct unc_fs *unc_fs_of_dump(struct unc_dump *dump)
{
	struct unc_fs *fs = dump && !dump->no_memory ? calloc(1, sizeof(*fs)) : NULL;

	if (!fs) {
		unc_dump_free(dump);
		return NULL;
	}
	dump->replays = true;
	/* A prefix: only the real root has none. */
	memcpy(fs->prefix, "/", sizeof("/"));
	fs->dump = dump;
	fs->users = 1;
	return fs;
}

struct unc_fs *unc_fs_share(struct unc_fs *fs)
{
	fs->users++;
	return fs;
}

void unc_fs_close(struct unc_fs *fs)
{
	if (!fs || --fs->users)
		return;
	unc_dump_free(fs->dump);
	free(fs);
}

struct unc_dump *unc_fs_record(struct unc_fs *fs)
{
	fs->dump = unc_dump_new();
	return fs->dump;
}

const struct unc_dump *unc_fs_replayed(const struct unc_fs *fs)
{
	return fs->dump && fs->dump->replays ? fs->dump : NULL;
}

const char *unc_fs_root(const struct unc_fs *fs)
{
	return *fs->prefix ? fs->prefix : "/";
}

bool unc_fs_is_real(const struct unc_fs *fs)
{
	return !*fs->prefix;
}

/* Sets errno for a path that is too long, as the system call with that path would. */
static int build_path(const struct unc_fs *fs, char *buf, size_t size, const char *format,
		      va_list args)
{
	const char *prefix = fs ? fs->prefix : "";
	int head = snprintf(buf, size, "%s%s", prefix, *format == '/' ? "" : "/"), tail = -1;

	if (head >= 0 && (size_t)head < size)
		tail = vsnprintf(buf + head, size - (size_t)head, format, args);
	if (tail >= 0 && (size_t)tail < size - (size_t)head)
		return 0;
	errno = ENAMETOOLONG;
	return UNC_ERR_RANGE;
}

/* Builds the path of the last arguments of a function, `format, ...`, in an array. */
#define PATH_OF(rc, fs, path, size, format)                                                        \
	do {                                                                                       \
		va_list args;                                                                      \
                                                                                                   \
		va_start(args, format);                                                            \
		rc = build_path(fs, path, size, format, args);                                     \
		va_end(args);                                                                      \
	} while (0)

int unc_fs_path(const struct unc_fs *fs, char *buf, size_t size, const char *format, ...)
{
	int rc;

	PATH_OF(rc, fs, buf, size, format);
	return rc;
}

static int open_path(const char *path, int flags)
{
	unsigned tries = 0;
	int fd;

	do
		fd = unc_above_stdio(open(path, flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
	while (fd < 0 && unc_try_again(errno, &tries));
	return fd < 0 ? unc_fs_error(errno) : fd;
}

static int open_regular(const char *path)
{
	int fd = open_path(path, O_RDONLY);
	struct stat st;

	if (fd < 0 || (fstat(fd, &st) == 0 && S_ISREG(st.st_mode)))
		return fd;
	close(fd);
	errno = UNC_FS_IRREGULAR;
	return UNC_ERR_IO;
}

/* Returns a descriptor that represents a recorded device. Nothing is written to it, because a process may
 * have a limit of file sizes. */
static int open_recorded(const struct unc_dump *dump, const char *name, bool write)
{
	int fd = unc_dump_held(dump, name, UNC_DUMP_DEVICE, write)
			 ? unc_above_stdio(memfd_create("libuncore-dump", MFD_CLOEXEC))
			 : -1;

	return fd < 0 ? unc_fs_error(errno) : fd;
}

/* Opens a file of the root, or of the dump that replaces it. */
static int open_in_root(const struct unc_fs *fs, const char *path, int flags, bool regular)
{
	const bool write = (flags & O_ACCMODE) != O_RDONLY;
	struct unc_dump *dump = fs ? fs->dump : NULL;
	const char *name = dump ? path + strlen(fs->prefix) : path;
	int fd, error;

	if (!dump)
		return regular ? open_regular(path) : open_path(path, flags);
	pthread_mutex_lock(&dump->lock);
	fd = dump->replays ? open_recorded(dump, name, write)
	     : regular     ? open_regular(path)
			   : open_path(path, flags);
	error = errno;
	if (!dump->replays && fd < 0)
		unc_dump_failed(dump, name, write, error);
	else if (!dump->replays)
		unc_dump_take(dump, fs->prefix, path);
	unc_dump_opened(dump, name, fd);
	pthread_mutex_unlock(&dump->lock);
	errno = error;
	return fd;
}

int unc_fs_descriptor(const struct unc_fs *fs, int flags, const char *format, ...)
{
	char path[PATH_MAX];
	int rc;

	PATH_OF(rc, fs, path, sizeof(path), format);
	return rc < 0 ? rc : open_in_root(fs, path, flags, false);
}

int unc_fs_regular(const struct unc_fs *fs, const char *format, ...)
{
	char path[PATH_MAX];
	int rc;

	PATH_OF(rc, fs, path, sizeof(path), format);
	return rc < 0 ? rc : open_in_root(fs, path, O_RDONLY, true);
}

static int read_recorded(const struct unc_fs *fs, const char *path, char *buf, size_t size)
{
	const struct unc_dump_entry *entry =
		unc_dump_held(fs->dump, path + strlen(fs->prefix), UNC_DUMP_FILE, false);
	size_t n;

	if (!entry)
		return unc_fs_error(errno);
	n = entry->size < size - 1 ? entry->size : size - 1;
	if (n)
		memcpy(buf, entry->data, n);
	n -= n && buf[n - 1] == '\n';
	buf[n] = '\0';
	return 0;
}

int unc_fs_text(const struct unc_fs *fs, char *buf, size_t size, const char *format, ...)
{
	char path[PATH_MAX];
	ssize_t got;
	size_t n = 0;
	int rc, fd, saved;

	PATH_OF(rc, fs, path, sizeof(path), format);
	if (rc < 0)
		return rc;
	if (fs && unc_fs_replayed(fs))
		return read_recorded(fs, path, buf, size);
	fd = open_in_root(fs, path, O_RDONLY, true);
	if (fd < 0)
		return fd;
	while ((got = unc_read_more(fd, buf + n, size - 1 - n)) > 0)
		n += (size_t)got;
	saved = errno;
	close(fd);
	n -= n && buf[n - 1] == '\n';
	buf[n] = '\0';
	errno = saved;
	return got < 0 ? unc_fs_error(saved) : 0;
}

int unc_fs_whole(const struct unc_fs *fs, const char *path, size_t most, char **text, size_t *size,
		 struct unc_error *err)
{
	const struct unc_dump_entry *entry;
	int fd;

	if (!unc_fs_replayed(fs)) {
		fd = unc_fs_regular(fs, "%s", path);
		return fd < 0 ? fd : unc_fs_rest(fd, path, most, text, size, err);
	}
	if (!(entry = unc_dump_held(fs->dump, path, UNC_DUMP_FILE, false)))
		return unc_fs_error(errno);
	*size = entry->size;
	if (!(*text = calloc(1, *size + 1)))
		return unc_no_memory(err);
	if (*size)
		memcpy(*text, entry->data, *size);
	return 0;
}

bool unc_fs_exists(const struct unc_fs *fs, const char *format, ...)
{
	struct unc_dump *dump = fs ? fs->dump : NULL;
	char path[PATH_MAX];
	size_t i = 0, n;
	bool exists;
	int rc;

	PATH_OF(rc, fs, path, sizeof(path), format);
	if (rc < 0 || !dump)
		return rc == 0 && access(path, F_OK) == 0;
	const char *name = path + strlen(fs->prefix);
	pthread_mutex_lock(&dump->lock);
	exists = dump->replays ? unc_dump_find(dump, name) || unc_dump_child(dump, name, &i, &n)
			       : access(path, F_OK) == 0;
	if (exists && !dump->replays)
		unc_dump_take(dump, fs->prefix, path);
	pthread_mutex_unlock(&dump->lock);
	return exists;
}

/* ---- folders and links */

/* Writes the names to `names`, each with a zero after it. */
static void list_recorded(const struct unc_dump *dump, const char *folder, FILE *names)
{
	const struct unc_dump_entry *entry = unc_dump_find(dump, folder);
	const char *name, *last = "";
	size_t i = 0, n, length = 0;

	while ((name = unc_dump_child(dump, folder, &i, &n))) {
		if (n != length || memcmp(name, last, n) != 0)
			fprintf(names, "%.*s%c", (int)n, name, '\0');
		last = name;
		length = n;
	}
	errno = length ? 0 : !entry ? ENOENT : entry->error[0];
}

static void list_folder(const char *path, FILE *names)
{
	const struct dirent *entry;
	DIR *dir = opendir(path);
	int error;

	if (!dir)
		return;
	while (errno = 0, (entry = readdir(dir)))
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			fprintf(names, "%s%c", entry->d_name, '\0');
	error = errno;
	closedir(dir);
	errno = error;
}

/* Returns *n pointers to the texts, in one block with copies of them. */
static char **split_names(const char *texts, size_t size, size_t *n)
{
	char **list, *text;

	*n = 0;
	for (size_t i = 0; i < size; i++)
		*n += !texts[i];
	list = malloc((*n + 1) * sizeof(*list) + size);
	if (!list)
		return NULL;
	text = memcpy(list + *n + 1, texts, size);
	for (size_t i = 0; i < *n; i++, text += strlen(text) + 1)
		list[i] = text;
	list[*n] = NULL;
	return list;
}

char **unc_fs_list(const struct unc_fs *fs, const char *format, ...)
{
	struct unc_dump *dump = fs->dump;
	char path[PATH_MAX], *text = NULL, **list;
	const char *name = path + strlen(fs->prefix);
	size_t size = 0, n = 0;
	FILE *names;
	int rc, error;

	PATH_OF(rc, fs, path, sizeof(path), format);
	if (rc < 0 || !(names = open_memstream(&text, &size)))
		return NULL;
	errno = 0;
	if (dump && dump->replays)
		list_recorded(dump, name, names);
	else
		list_folder(path, names);
	error = errno ? errno : ferror(names) ? ENOMEM : 0;
	error = fclose(names) == 0 && text ? error : ENOMEM;
	list = error ? NULL : split_names(text, size, &n);
	if (dump && !dump->replays && error)
		unc_dump_failed(dump, name, false, error);
	else if (dump && !dump->replays && list)
		unc_dump_list(dump, name, (const char *const *)list, n);
	free(text);
	errno = error || list ? error : ENOMEM;
	return list;
}

bool unc_fs_link(const struct unc_fs *fs, char *buf, size_t size, const char *format, ...)
{
	const struct unc_dump_entry *entry;
	char path[PATH_MAX];
	ssize_t n = -1;
	int rc;

	PATH_OF(rc, fs, path, sizeof(path), format);
	if (rc == 0 && fs->dump && fs->dump->replays) {
		entry = unc_dump_find(fs->dump, path + strlen(fs->prefix));
		if (entry && entry->kind == UNC_DUMP_LINK)
			n = snprintf(buf, size, "%s", entry->data);
		return n >= 0;
	}
	n = rc == 0 ? readlink(path, buf, size - 1) : -1;
	if (n < 0)
		return false;
	buf[n] = '\0';
	if (fs->dump) {
		pthread_mutex_lock(&fs->dump->lock);
		unc_dump_put(fs->dump, UNC_DUMP_LINK, path + strlen(fs->prefix), buf);
		pthread_mutex_unlock(&fs->dump->lock);
	}
	return true;
}

/* ---- devices */

static int transfer_in_dump(const struct unc_fs *fs, int fd, bool write, void *buf, size_t size,
			    uint64_t offset)
{
	struct unc_dump *dump = fs->dump;
	struct unc_dump_entry *device;
	int rc = ENODATA;

	pthread_mutex_lock(&dump->lock);
	device = (size_t)fd < dump->n_fd ? dump->of_fd[fd] : NULL;
	if (dump->replays && device)
		rc = unc_dump_again(device, write, buf, size, offset);
	else if (!dump->replays)
		rc = write ? unc_write_at(fd, buf, size, offset)
			   : unc_read_at(fd, buf, size, offset);
	if (!dump->replays && device)
		unc_dump_note(dump, device, write, buf, size, offset, rc);
	pthread_mutex_unlock(&dump->lock);
	return rc;
}

uint64_t unc_fs_size(const struct unc_fs *fs, int fd)
{
	struct unc_dump *dump = fs->dump;
	uint64_t size = 0;
	struct stat st;

	if (!unc_fs_replayed(fs))
		return fstat(fd, &st) == 0 ? (uint64_t)st.st_size : 0;
	pthread_mutex_lock(&dump->lock);
	if ((size_t)fd < dump->n_fd && dump->of_fd[fd])
		size = dump->of_fd[fd]->size;
	pthread_mutex_unlock(&dump->lock);
	return size;
}

int unc_fs_read_at(const struct unc_fs *fs, int fd, void *buf, size_t size, uint64_t offset)
{
	return fs->dump ? transfer_in_dump(fs, fd, false, buf, size, offset)
			: unc_read_at(fd, buf, size, offset);
}

int unc_fs_write_at(const struct unc_fs *fs, int fd, const void *buf, size_t size, uint64_t offset)
{
	return fs->dump ? transfer_in_dump(fs, fd, true, (void *)(uintptr_t)buf, size, offset)
			: unc_write_at(fd, buf, size, offset);
}

void unc_fs_note(const struct unc_fs *fs, int fd, bool write, const void *buf, size_t size,
		 uint64_t offset, int rc)
{
	struct unc_dump *dump = fs->dump;

	if (!dump || dump->replays)
		return;
	pthread_mutex_lock(&dump->lock);
	if ((size_t)fd < dump->n_fd && dump->of_fd[fd])
		unc_dump_note(dump, dump->of_fd[fd], write, buf, size, offset, rc);
	pthread_mutex_unlock(&dump->lock);
}

int unc_fs_asked(const struct unc_fs *fs, uint64_t number, int rc)
{
	struct unc_dump *dump = fs ? fs->dump : NULL;
	struct unc_dump_entry *entry;

	if (!dump)
		return rc;
	pthread_mutex_lock(&dump->lock);
	entry = unc_dump_entry(dump, "dev/perf", UNC_DUMP_DEVICE);
	if (entry && dump->replays) {
		rc = unc_dump_again(entry, true, NULL, 4, number);
		rc = rc == EROFS ? ENODATA : rc;
	} else if (entry) {
		entry->taken = true;
		unc_dump_note(dump, entry, true, NULL, 4, number, rc);
	}
	pthread_mutex_unlock(&dump->lock);
	return rc;
}
