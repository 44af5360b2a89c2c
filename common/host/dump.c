/* SPDX-License-Identifier: BSD-3-Clause */
#include "host/dump.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/grow.h"
#include "host/fs.h"

enum { MOST = 16 << 20 };

struct unc_dump *unc_dump_new(void)
{
	struct unc_dump *dump = calloc(1, sizeof(*dump));

	if (dump)
		pthread_mutex_init(&dump->lock, NULL);
	return dump;
}

void unc_dump_empty(struct unc_dump_entry *entry)
{
	free(entry->data);
	free(entry->value);
	*entry = (struct unc_dump_entry){.path = entry->path, .kind = entry->kind};
}

static void free_entry(struct unc_dump_entry *entry)
{
	unc_dump_empty(entry);
	free(entry->path);
	free(entry);
}

void unc_dump_remove(struct unc_dump *dump, size_t index)
{
	free_entry(dump->entry[index]);
	dump->n--;
	memmove(dump->entry + index, dump->entry + index + 1,
		(dump->n - index) * sizeof(struct unc_dump_entry *));
}

void unc_dump_free(struct unc_dump *dump)
{
	for (size_t i = 0; dump && i < dump->n; i++)
		free_entry(dump->entry[i]);
	if (dump) {
		free(dump->entry);
		free(dump->of_fd);
		pthread_mutex_destroy(&dump->lock);
	}
	free(dump);
}

/* ---- entries */

static const char *relative(const char *path)
{
	return path + strspn(path, "/");
}

/* Returns the index of a path, or the index at which it would be inserted. */
static size_t entry_index(const struct unc_dump *dump, const char *path)
{
	size_t low = 0, high = dump->n;

	/* Most paths come in order. */
	if (high && strcmp(dump->entry[high - 1]->path, path) < 0)
		return high;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (strcmp(dump->entry[middle]->path, path) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct unc_dump_entry *unc_dump_find(const struct unc_dump *dump, const char *path)
{
	path = relative(path);
	size_t i = entry_index(dump, path);

	return i < dump->n && strcmp(dump->entry[i]->path, path) == 0 ? dump->entry[i] : NULL;
}

static void *set_no_memory(struct unc_dump *dump)
{
	dump->no_memory = true;
	return NULL;
}

struct unc_dump_entry *unc_dump_entry(struct unc_dump *dump, const char *path,
				      enum unc_dump_kind kind)
{
	struct unc_dump_entry *entry = unc_dump_find(dump, path), **more;

	path = relative(path);
	if (entry || !*path || strlen(path) >= PATH_MAX)
		return entry;
	if (!(more = unc_grow(dump->entry, dump->n, sizeof(struct unc_dump_entry *))))
		return set_no_memory(dump);
	dump->entry = more;
	if (!(entry = calloc(1, sizeof(*entry))) || !(entry->path = strdup(path))) {
		free(entry);
		return set_no_memory(dump);
	}
	entry->kind = kind;
	size_t i = entry_index(dump, path);
	memmove(more + i + 1, more + i, (dump->n - i) * sizeof(struct unc_dump_entry *));
	more[i] = entry;
	dump->n++;
	return entry;
}

void unc_dump_put(struct unc_dump *dump, enum unc_dump_kind kind, const char *path,
		  const char *data)
{
	struct unc_dump_entry *entry = unc_dump_entry(dump, path, kind);

	if (!entry || entry->data)
		return;
	entry->kind = kind;
	entry->taken = true;
	entry->size = strlen(data);
	dump->no_memory |= !(entry->data = strdup(data));
}

bool unc_dump_device(const char *path)
{
	size_t n = strlen(path);

	path = relative(path);
	return strncmp(path, "dev/", 4) == 0 ||
	       (strncmp(path, "sys/bus/pci/devices/", 20) == 0 && n > 7 &&
		strcmp(path + strlen(path) - 7, "/config") == 0);
}

const char *unc_dump_child(const struct unc_dump *dump, const char *folder, size_t *i,
			   size_t *length)
{
	size_t n;

	folder = relative(folder);
	n = strlen(folder);
	if (*i == 0)
		*i = entry_index(dump, folder);
	for (; *i < dump->n && strncmp(dump->entry[*i]->path, folder, n) == 0; ++*i) {
		const char *name = dump->entry[*i]->path + n;

		if (*name == '/' && name[1]) {
			*length = strcspn(name + 1, "/");
			++*i;
			return name + 1;
		}
	}
	return NULL;
}

/* Whether a file belongs to a process or holds the machine's name: a dump has none of these. */
static bool is_private(const char *path)
{
	return (strncmp(path, "proc/", 5) == 0 && path[5] >= '0' && path[5] <= '9') ||
	       strcmp(path, "proc/sys/kernel/hostname") == 0;
}

/* ---- recording */

static int read_content(struct unc_dump_entry *entry, const char *path)
{
	struct unc_error err;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), rc;

	if (fd < 0)
		return errno;
	errno = 0;
	rc = unc_fs_rest(fd, path, MOST, &entry->data, &entry->size, &err);
	return rc < 0 ? errno ? errno : EFBIG : 0;
}

void unc_dump_take(struct unc_dump *dump, const char *root, const char *path)
{
	const char *name = path + strlen(root);
	struct unc_dump_entry *entry;
	struct stat st;
	int error = lstat(path, &st) < 0 ? errno : 0;

	name = relative(name);
	if (is_private(name) || error == ENOENT || error == ENOTDIR)
		return;
	if (!error && stat(path, &st) == 0 && S_ISDIR(st.st_mode)) {
		unc_dump_entry(dump, name, UNC_DUMP_FOLDER);
		return;
	}
	entry = unc_dump_entry(dump, name, UNC_DUMP_FILE);
	if (!entry || entry->taken)
		return;
	entry->taken = true;
	entry->kind = unc_dump_device(name) ? UNC_DUMP_DEVICE : UNC_DUMP_FILE;
	if (entry->kind == UNC_DUMP_DEVICE) {
		entry->size = error || !S_ISREG(st.st_mode) ? 0 : (size_t)st.st_size;
		return;
	}
	entry->error[0] = error ? error : read_content(entry, path);
}

void unc_dump_list(struct unc_dump *dump, const char *path, const char *const *name, size_t n)
{
	char child[PATH_MAX];

	unc_dump_entry(dump, path, UNC_DUMP_FOLDER);
	for (size_t i = 0; i < n; i++) {
		snprintf(child, sizeof(child), "%s/%s", path, name[i]);
		unc_dump_entry(dump, child, UNC_DUMP_FOLDER);
	}
}

void unc_dump_failed(struct unc_dump *dump, const char *path, bool write, int error)
{
	struct unc_dump_entry *entry;

	if (error == ENOENT || error == ENOTDIR || is_private(relative(path)))
		return;
	entry = unc_dump_entry(dump, path, unc_dump_device(path) ? UNC_DUMP_DEVICE : UNC_DUMP_FILE);
	if (entry) {
		entry->taken |= !write;
		entry->error[write] = error;
	}
}

void unc_dump_opened(struct unc_dump *dump, const char *path, int fd)
{
	struct unc_dump_entry **more = dump->of_fd;
	size_t n = dump->n_fd;

	if (fd < 0)
		return;
	if ((size_t)fd >= n) {
		n = (size_t)fd + 64;
		more = realloc(dump->of_fd, n * sizeof(struct unc_dump_entry *));
		if (!more) {
			dump->no_memory = true;
			return;
		}
		memset(more + dump->n_fd, 0, (n - dump->n_fd) * sizeof(struct unc_dump_entry *));
	}
	dump->of_fd = more;
	dump->n_fd = n;
	more[fd] = unc_dump_device(path) ? unc_dump_find(dump, path) : NULL;
}

/* ---- values */

static size_t value_size(const struct unc_dump_entry *entry)
{
	size_t n = strlen(entry->path);

	return n > 4 && strcmp(entry->path + n - 4, "/msr") == 0 ? 8 : 4;
}

static size_t value_index(const struct unc_dump_entry *entry, bool write, uint64_t offset)
{
	size_t low = 0, high = entry->n;

	if (high && entry->value[high - 1].offset < offset)
		return high;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct unc_dump_value *v = &entry->value[middle];

		if (v->offset < offset || (v->offset == offset && v->write < write))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static struct unc_dump_value *find_value(const struct unc_dump_entry *entry, bool write,
					 uint64_t offset)
{
	size_t i = value_index(entry, write, offset);
	struct unc_dump_value *v = entry->value + i;

	return i < entry->n && v->offset == offset && v->write == write ? v : NULL;
}

struct unc_dump_value *unc_dump_at(const struct unc_dump_entry *entry, uint64_t offset)
{
	return find_value(entry, false, offset);
}

struct unc_dump_value *unc_dump_value(struct unc_dump *dump, struct unc_dump_entry *entry,
				      bool write, uint64_t offset)
{
	size_t i = value_index(entry, write, offset);
	struct unc_dump_value *more = find_value(entry, write, offset);

	if (more)
		return more;
	if (!(more = unc_grow(entry->value, entry->n, sizeof(*more))))
		return set_no_memory(dump);
	entry->value = more;
	memmove(more + i + 1, more + i, (entry->n++ - i) * sizeof(*more));
	more[i] = (struct unc_dump_value){.offset = offset, .write = write, .error = -1};
	return &more[i];
}

int unc_dump_note(struct unc_dump *dump, struct unc_dump_entry *entry, bool write, const void *buf,
		  size_t size, uint64_t offset, int rc)
{
	const size_t step = value_size(entry);

	for (size_t done = 0; done < size; done += step) {
		struct unc_dump_value *v = unc_dump_value(dump, entry, write, offset + done);
		uint64_t value = 0;

		if (!v)
			break;
		if (!write && rc == 0)
			memcpy(&value, (const char *)buf + done, step);
		if (v->error)
			v->first = value; /* the value is new, or readable for the first time */
		v->last = value;
		v->error = rc;
	}
	return rc;
}

int unc_dump_again(struct unc_dump_entry *entry, bool write, void *buf, size_t size,
		   uint64_t offset)
{
	const size_t step = value_size(entry);

	for (size_t done = 0; done < size; done += step) {
		struct unc_dump_value *v = find_value(entry, write, offset + done);

		if (!v || v->error)
			return v ? v->error : write ? EROFS : ENODATA;
		if (!buf)
			continue;
		if (!write)
			memcpy((char *)buf + done, v->again ? &v->last : &v->first, step);
		v->again = true;
	}
	return 0;
}

const struct unc_dump_entry *unc_dump_held(const struct unc_dump *dump, const char *path,
					   enum unc_dump_kind kind, bool write)
{
	const struct unc_dump_entry *entry = unc_dump_find(dump, path);

	errno = !entry ? ENOENT : entry->kind == kind ? entry->error[write] : UNC_FS_IRREGULAR;
	return errno ? NULL : entry;
}
