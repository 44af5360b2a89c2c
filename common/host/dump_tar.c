/* SPDX-License-Identifier: BSD-3-Clause */
/* The dump of a machine as a tar (ustar, POSIX.1-1988), or as a folder with what is in one. */
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "host/dump.h"
#include "host/fs.h"

enum { BLOCK = 512, NAME = 100, MOST_ENTRIES = 20000, MOST_BYTES = 64 << 20 };

static const char label[] = "libuncore-dump", version[] = "version 1", failures[] = "errors",
		  values[] = ".values";

/* Those that opening and reading a file of the kernel ends with; any other is an EIO. */
static const struct {
	int number;
	const char *name;
} reason[] = {{ENOENT, "ENOENT"},   {EPERM, "EPERM"},        {EIO, "EIO"},
	      {ENXIO, "ENXIO"},     {EACCES, "EACCES"},      {ENODEV, "ENODEV"},
	      {EINVAL, "EINVAL"},   {EMFILE, "EMFILE"},      {EFBIG, "EFBIG"},
	      {EROFS, "EROFS"},     {EBUSY, "EBUSY"},        {ENOMEM, "ENOMEM"},
	      {ENODATA, "ENODATA"}, {EOPNOTSUPP, "ENOTSUP"}, {UNC_FS_IRREGULAR, "IRREGULAR"}};
enum { REASONS = sizeof(reason) / sizeof(reason[0]) };

static const char *error_name(int number)
{
	for (unsigned i = 0; i < REASONS; i++)
		if (reason[i].number == number)
			return reason[i].name;
	return "EIO";
}

/* 0: it is no name of an error. */
static int errno_of(const char *name)
{
	for (unsigned i = 0; i < REASONS; i++)
		if (strcmp(reason[i].name, name) == 0)
			return reason[i].number;
	return 0;
}

struct header {
	char name[NAME], mode[8], uid[8], gid[8], size[12], time[12], sum[8], type, link[NAME];
	char magic[8], user[32], group[32], major[8], minor[8], prefix[155], pad[12];
};

static unsigned sum_of(const struct header *h)
{
	const unsigned char *byte = (const unsigned char *)h;
	unsigned sum = 0;

	for (size_t i = 0; i < sizeof(*h); i++)
		sum += i >= offsetof(struct header, sum) && i < offsetof(struct header, type)
			       ? ' '
			       : byte[i];
	return sum;
}

/* ---- writing */

/* An entry begins with room for its header, which end_entry() fills in. Returns where. */
static long begin_entry(FILE *tar)
{
	static const char room[BLOCK];
	long start = ftell(tar);

	fwrite(room, BLOCK, 1, tar);
	return start;
}

static void end_entry(FILE *tar, long start, const char *name, char type, const char *link)
{
	static const char zeros[BLOCK];
	struct header h = {.type = type, .magic = "ustar\00000"};
	const long size = ftell(tar) - start - BLOCK, beyond = size % BLOCK;

	memcpy(h.name, name, strnlen(name, sizeof(h.name)));
	memcpy(h.link, link, strnlen(link, sizeof(h.link)));
	snprintf(h.mode, sizeof(h.mode), "%07o", type == '5' ? 0755u : 0644u);
	memcpy(h.uid, "0000000", 8);
	memcpy(h.gid, "0000000", 8);
	memcpy(h.time, "00000000000", 12);
	snprintf(h.size, sizeof(h.size), "%011o", (unsigned)size);
	snprintf(h.sum, sizeof(h.sum), "%06o", sum_of(&h));
	h.sum[7] = ' ';
	fwrite(zeros, beyond ? (size_t)(BLOCK - beyond) : 0, 1, tar);
	const long end = ftell(tar);
	fseek(tar, start, SEEK_SET);
	fwrite(&h, sizeof(h), 1, tar);
	fseek(tar, end, SEEK_SET);
}

/* What cannot be a file: how it is labelled, and what could not be opened. */
static void put_head(FILE *tar, const struct unc_dump *dump)
{
	long start = begin_entry(tar);

	fprintf(tar, "%s\nfrom %s\n", version, dump->from);
	if (*dump->sim)
		fprintf(tar, "simulated %s\n", dump->sim);
	if (dump->hardware)
		fprintf(tar, "hardware\n");
	end_entry(tar, start, label, '0', "");
	start = begin_entry(tar);
	for (size_t i = 0; i < dump->n; i++)
		for (int w = 0; w < 2; w++)
			if (dump->entry[i]->error[w])
				fprintf(tar, "%s %s %s\n", w ? "write" : "read",
					error_name(dump->entry[i]->error[w]), dump->entry[i]->path);
	end_entry(tar, start, failures, '0', "");
}

static void put_values(FILE *tar, const struct unc_dump_entry *entry)
{
	fprintf(tar, "size %zu\n", entry->size);
	for (size_t i = 0; i < entry->n; i++) {
		const struct unc_dump_value *v = &entry->value[i];

		fprintf(tar, "%s0x%" PRIx64, v->write ? "write " : "", v->offset);
		if (v->error || v->write)
			fprintf(tar, " %s\n", v->error ? error_name(v->error) : "0");
		else if (v->first == v->last)
			fprintf(tar, " 0x%" PRIx64 "\n", v->first);
		else
			fprintf(tar, " 0x%" PRIx64 " 0x%" PRIx64 "\n", v->first, v->last);
	}
}

static void put_entry(FILE *tar, const struct unc_dump_entry *entry)
{
	static const struct {
		char type;
		const char *end; /* of its name */
	} form[] = {[UNC_DUMP_FILE] = {'0', ""},
		    [UNC_DUMP_FOLDER] = {'5', "/"},
		    [UNC_DUMP_LINK] = {'2', ""},
		    [UNC_DUMP_DEVICE] = {'0', values}};
	char name[PATH_MAX];
	long start;

	if (entry->kind == UNC_DUMP_FILE && entry->error[0])
		return; /* among the failures */
	snprintf(name, sizeof(name), "%s%s", entry->path, form[entry->kind].end);
	start = begin_entry(tar);
	if (entry->kind == UNC_DUMP_DEVICE)
		put_values(tar, entry);
	else if (entry->kind == UNC_DUMP_FILE && entry->size)
		fwrite(entry->data, entry->size, 1, tar);
	end_entry(tar, start, name, form[entry->kind].type,
		  entry->kind == UNC_DUMP_LINK ? entry->data : "");
}

/* A file of its own; what is not whole is removed again. */
static int make_file(const char *file, const char *whole, size_t size, struct unc_error *err)
{
	int fd = open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666), error;

	if (fd < 0)
		return unc_fail(err, UNC_ERR_IO, "%.200s cannot be made: %s%s", file,
				strerror(errno),
				errno == EEXIST ? "; remove it, or give another name" : "");
	error = unc_write_at(fd, whole, size, 0);
	if (close(fd) < 0 && !error)
		error = errno;
	if (!error)
		return 0;
	unlink(file);
	return unc_fail(err, UNC_ERR_IO, "%.200s cannot be written: %s", file,
			strerror(error == EAGAIN ? ENOSPC : error));
}

int unc_dump_save(const struct unc_dump *dump, const char *file, struct unc_error *err)
{
	static const char end[2 * BLOCK];
	char *whole = NULL;
	size_t size = 0;
	FILE *tar = dump->no_memory ? NULL : open_memstream(&whole, &size);
	bool failed;
	int rc;

	if (!tar)
		return unc_no_memory(err);
	put_head(tar, dump);
	for (size_t i = 0; i < dump->n; i++)
		put_entry(tar, dump->entry[i]);
	fwrite(end, sizeof(end), 1, tar);
	failed = ferror(tar);
	failed |= fclose(tar) != 0;
	rc = failed ? unc_no_memory(err) : make_file(file, whole, size, err);
	free(whole);
	return rc;
}

/* ---- reading: all that is in it is somebody else's word */

static int bad(struct unc_error *err, const char *file, const char *why)
{
	return unc_fail(err, UNC_ERR_INVALID, "%.200s is no dump that can be replayed: %s", file,
			why);
}

/* Relative, and nowhere else than it seems. */
static bool is_inside(const char *path)
{
	if (!*path || *path == '/')
		return false;
	for (const char *at = path; *at; at += strcspn(at, "/"), at += *at == '/') {
		size_t n = strcspn(at, "/");

		if (n == 0 || (n == 1 && *at == '.') || (n == 2 && at[0] == '.' && at[1] == '.'))
			return false;
	}
	return true;
}

static const char *read_label(struct unc_dump *dump, char *text)
{
	char *save = NULL, *line = strtok_r(text, "\n", &save);

	if (!line || strcmp(line, version) != 0)
		return "it is of another version";
	while ((line = strtok_r(NULL, "\n", &save)))
		if (strncmp(line, "from ", 5) == 0)
			snprintf(dump->from, sizeof(dump->from), "%s", line + 5);
		else if (strncmp(line, "simulated ", 10) == 0)
			snprintf(dump->sim, sizeof(dump->sim), "%s", line + 10);
		else if (strcmp(line, "hardware") == 0)
			dump->hardware = true;
	return NULL;
}

static const char *read_failures(struct unc_dump *dump, char *text)
{
	char *save = NULL, *next = NULL;

	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		const char *how = strtok_r(line, " ", &next), *name = strtok_r(NULL, " ", &next);
		const char *path = next;
		int error = name ? errno_of(name) : 0;

		if (!error || !path || !is_inside(path))
			return "a line of `errors` is not understood";
		unc_dump_failed(dump, path, strcmp(how, "write") == 0, error);
		struct unc_dump_entry *entry = unc_dump_find(dump, path);
		if (entry)
			entry->taken = false; /* its values may follow */
	}
	return NULL;
}

/* OFFSET VALUE [LAST], OFFSET ERRNO, write OFFSET ERRNO|0. */
static bool read_value(struct unc_dump *dump, struct unc_dump_entry *entry, char *line)
{
	bool write = strncmp(line, "write ", 6) == 0;
	char *next = NULL, *word = strtok_r(write ? line + 6 : line, " ", &next);
	struct unc_dump_value *v;
	uint64_t offset;

	if (!word || !unc_parse_number(word, &offset) || !(word = strtok_r(NULL, " ", &next)) ||
	    !(v = unc_dump_value(dump, entry, write, offset)) || v->error != -1)
		return false;
	v->error = errno_of(word);
	if (v->error)
		return true;
	if (!unc_parse_number(word, &v->first))
		return false;
	v->last = v->first;
	word = strtok_r(NULL, " ", &next);
	return !word || unc_parse_number(word, &v->last);
}

static const char *read_values(struct unc_dump *dump, const char *path, char *text)
{
	char *save = NULL, *line = strtok_r(text, "\n", &save);
	struct unc_dump_entry *entry = unc_dump_entry(dump, path, UNC_DUMP_DEVICE);
	uint64_t size;

	if (!entry || entry->taken || !unc_dump_device(path) || !line ||
	    strncmp(line, "size ", 5) != 0 || !unc_parse_number(line + 5, &size))
		return "values of what is no device";
	entry->taken = true;
	entry->kind = UNC_DUMP_DEVICE;
	entry->size = (size_t)size;
	while ((line = strtok_r(NULL, "\n", &save)))
		if (!read_value(dump, entry, line))
			return "a value is not understood";
	return NULL;
}

/* The file, folder or link behind a path; text is consumed. NULL, or why it is refused. */
static const char *add(struct unc_dump *dump, const char *inside, char type, char *text,
		       size_t size)
{
	size_t n = strlen(inside);
	struct unc_dump_entry *entry;
	char path[NAME], *copy;

	if (dump->n > MOST_ENTRIES)
		return "it has too many entries";
	n -= type == '5' && n && inside[n - 1] == '/';
	snprintf(path, sizeof(path), "%.*s", (int)n, inside);
	if (n >= NAME || !is_inside(path))
		return "a path in it leads outside";
	if (strcmp(path, label) == 0)
		return type == '0' ? read_label(dump, text) : "libuncore-dump cannot be read";
	if (type == '0' && strcmp(path, failures) == 0)
		return read_failures(dump, text);
	if (type == '0' && n > sizeof(values) &&
	    strcmp(path + n - sizeof(values) + 1, values) == 0) {
		path[n - sizeof(values) + 1] = '\0';
		return read_values(dump, path, text);
	}
	if (type == '2' && strchr(text, '/'))
		return "a link in it leads elsewhere";
	entry = unc_dump_find(dump, path);
	if (entry && entry->taken)
		return "a path is in it twice";
	entry = unc_dump_entry(dump, path, UNC_DUMP_FILE);
	if (!entry || !(copy = realloc(entry->data, size + 1)))
		return "there is no memory for it";
	entry->data = memcpy(copy, text, size + 1);
	entry->kind = type == '5' ? UNC_DUMP_FOLDER : type == '2' ? UNC_DUMP_LINK : UNC_DUMP_FILE;
	entry->taken = true;
	entry->size = size;
	return NULL;
}

/* A field of digits to the base 8. */
static bool octal(const char *field, size_t n, uint64_t *out)
{
	size_t i = 0;

	for (*out = 0; i < n && field[i] >= '0' && field[i] <= '7'; i++)
		*out = *out << 3 | (uint64_t)(field[i] - '0');
	return i > 0 && (i == n || field[i] == '\0' || field[i] == ' ');
}

/* The entry at *at, which is moved behind it. */
static const char *read_entry(struct unc_dump *dump, char *whole, size_t size, size_t *at)
{
	struct header h;
	char path[sizeof(h.name) + 1] = "", link[sizeof(h.link) + 1] = "", kept;
	uint64_t length, sum;
	const char *why;

	memcpy(&h, whole + *at, sizeof(h));
	if (memcmp(h.magic, "ustar", 6) != 0 || !octal(h.sum, sizeof(h.sum), &sum) ||
	    sum != sum_of(&h) || !octal(h.size, sizeof(h.size), &length))
		return "it is no tar of ours, or damaged";
	if ((h.type != '0' && h.type != '2' && h.type != '5') || *h.prefix)
		return "something in it is neither a file nor a folder";
	*at += BLOCK;
	if (length > size - *at || (h.type != '0' && length))
		return "it is cut short";
	memcpy(path, h.name, sizeof(h.name));
	memcpy(link, h.link, sizeof(h.link));
	kept = whole[*at + length]; /* texts end with a zero while they are read */
	whole[*at + length] = '\0';
	if (h.type == '2')
		why = add(dump, path, h.type, link, strlen(link));
	else
		why = add(dump, path, h.type, whole + *at, (size_t)length);
	whole[*at + length] = kept;
	*at += (length + BLOCK - 1) / BLOCK * BLOCK;
	return why;
}

static const char *read_tar(struct unc_dump *dump, char *whole, size_t size)
{
	const char *why = NULL;
	size_t at = 0;

	while (!why && at + BLOCK <= size && whole[at])
		why = read_entry(dump, whole, size, &at);
	if (!why && at + (size_t)2 * BLOCK > size)
		return "it is cut short";
	for (; !why && at < size; at++)
		if (whole[at])
			why = "something is behind its end";
	return why;
}

static int load_tar(struct unc_dump *dump, int fd, const char *file, struct unc_error *err)
{
	struct stat st;
	char *whole;
	const char *why;
	size_t size;
	int rc;

	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size > MOST_BYTES) {
		close(fd);
		return bad(err, file, "it is larger than 64 MiB, or no file");
	}
	if ((rc = unc_fs_rest(fd, file, (size_t)2 * MOST_BYTES, &whole, &size, err)) < 0)
		return rc;
	if (size < BLOCK || strncmp(whole, label, BLOCK) != 0)
		rc = unc_fail(err, UNC_ERR_NOT_FOUND,
			      "root '%.200s' is neither a directory nor a dump of uncore gather",
			      file);
	else if ((why = read_tar(dump, whole, size)))
		rc = bad(err, file, why);
	free(whole);
	return rc;
}

/* ---- a folder with what was in one */

static const char *load_file(struct unc_dump *dump, const FTSENT *file, const char *path)
{
	int fd = open(file->fts_accpath, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	const char *why;
	char *text;
	size_t size;

	if (fd < 0 || unc_fs_rest(fd, path, MOST_BYTES, &text, &size, NULL) < 0)
		return "a file of it cannot be read";
	why = add(dump, path, '0', text, size);
	free(text);
	return why;
}

static const char *load_entry(struct unc_dump *dump, const FTSENT *entry, const char *path)
{
	char link[NAME] = "", nothing[] = "";

	switch (entry->fts_info) {
	case FTS_D:
		return *path ? add(dump, path, '5', nothing, 0) : NULL;
	case FTS_DP:
		return NULL;
	case FTS_SL:
	case FTS_SLNONE:
		if (readlink(entry->fts_accpath, link, sizeof(link) - 1) < 0)
			return "a link is broken";
		return add(dump, path, '2', link, strlen(link));
	case FTS_F:
		return load_file(dump, entry, path);
	default:
		return entry->fts_info == FTS_DNR ? "a folder of it cannot be read"
						  : "a file of it cannot be read";
	}
}

static int label_first(const FTSENT **a, const FTSENT **b)
{
	return (strcmp((*b)->fts_name, label) == 0) - (strcmp((*a)->fts_name, label) == 0);
}

static int load_folder(struct unc_dump *dump, const char *root, struct unc_error *err)
{
	char *const roots[] = {(char *)root, NULL};
	FTS *tree = fts_open(roots, FTS_PHYSICAL | FTS_COMFOLLOW | FTS_NOCHDIR, label_first);
	const char *why = tree ? NULL : "a folder of it cannot be read";
	const FTSENT *entry;

	while (!why && (entry = fts_read(tree))) {
		const char *path = entry->fts_path + strlen(root);

		why = load_entry(dump, entry, path + strspn(path, "/"));
	}
	if (tree)
		fts_close(tree);
	return why ? bad(err, root, why) : 0;
}

int unc_dump_load(const char *path, struct unc_dump **out, struct unc_error *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), rc;
	struct unc_dump *dump = NULL;
	struct stat st;

	*out = NULL;
	if (fd < 0)
		return unc_fail(err, unc_fs_error(errno), "root '%s': %s", path, strerror(errno));
	const bool folder = fstat(fd, &st) == 0 && S_ISDIR(st.st_mode);
	const bool none = folder && faccessat(fd, label, F_OK, 0) < 0;

	if (!none)
		dump = unc_dump_new();
	if (folder || !dump)
		close(fd);
	if (!dump)
		return none ? 0 : unc_no_memory(err);
	rc = folder ? load_folder(dump, path, err) : load_tar(dump, fd, path, err);
	if (rc == 0 && dump->no_memory)
		rc = unc_no_memory(err);
	dump->replays = true;
	if (rc < 0)
		unc_dump_free(dump);
	else
		*out = dump;
	return rc;
}
