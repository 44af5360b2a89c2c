/* SPDX-License-Identifier: BSD-3-Clause */
/* A machine as a text file: writes and reads it. Its form is in dump.h. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "host/dump.h"
#include "host/fs.h"

enum { MOST_ENTRIES = 50000, MOST_BYTES = 64 << 20, WORDS = 5 };

static const char head[] = "uncore machine 1\n";

/* Those that opening and reading a file of the kernel ends with; any other is an EIO. */
#define NAMED(number)                                                                              \
	{                                                                                          \
		number, #number                                                                    \
	}
static const struct {
	int number;
	const char *name;
} reason[] = {{0, "OK"},
	      NAMED(ENOENT),
	      NAMED(EPERM),
	      NAMED(EIO),
	      NAMED(ENXIO),
	      NAMED(EACCES),
	      NAMED(ENODEV),
	      NAMED(EINVAL),
	      NAMED(EMFILE),
	      NAMED(EFBIG),
	      NAMED(EROFS),
	      NAMED(EBUSY),
	      NAMED(ENOMEM),
	      NAMED(ENODATA),
	      {EOPNOTSUPP, "ENOTSUP"},
	      {UNC_FS_IRREGULAR, "IRREGULAR"}};
enum { REASONS = sizeof(reason) / sizeof(reason[0]) };

static const char *error_name(int number)
{
	unsigned i = REASONS;

	while (i-- > 0 && reason[i].number != number)
		continue;
	return i < REASONS ? reason[i].name : "EIO";
}

/* -1: it is no name of an error. */
static int error_number(const char *name)
{
	unsigned i = REASONS;

	while (i-- > 0 && strcmp(reason[i].name, name) != 0)
		continue;
	return i < REASONS ? reason[i].number : -1;
}

/* ---- writing */

static void put_value(FILE *out, const char *path, const struct unc_dump_value *v)
{
	fprintf(out, "%s %s 0x%" PRIx64, v->write ? "write" : "value", path, v->offset);
	if (v->write || v->error)
		fprintf(out, " %s\n", error_name(v->error));
	else if (v->first == v->last)
		fprintf(out, " 0x%" PRIx64 "\n", v->first);
	else
		fprintf(out, " 0x%" PRIx64 " 0x%" PRIx64 "\n", v->first, v->last);
}

/* Nothing that a machine is known by is binary. */
static void put_file(FILE *out, const struct unc_dump_entry *e)
{
	const char *line = e->data, *end = e->data + e->size;

	if (e->size && memchr(line, '\0', e->size))
		return;
	fprintf(out, "file %s\n", e->path);
	while (line < end) {
		const char *stop = memchr(line, '\n', (size_t)(end - line));
		int n = (int)((stop ? stop : end) - line);

		fprintf(out, " %.*s\n", n, line);
		line += n + 1;
	}
}

static void put_entry(FILE *out, const struct unc_dump_entry *e)
{
	for (int w = 0; w < 2; w++)
		if (e->error[w])
			fprintf(out, "%s %s %s\n", w ? "unwritable" : "unreadable", e->path,
				error_name(e->error[w]));
	if (e->kind == UNC_DUMP_DEVICE)
		fprintf(out, "device %s %zu\n", e->path, e->size);
	for (size_t i = 0; i < e->n; i++)
		put_value(out, e->path, &e->value[i]);
	if (e->kind == UNC_DUMP_LINK)
		fprintf(out, "link %s %s\n", e->path, e->data);
	else if (e->kind == UNC_DUMP_FOLDER)
		fprintf(out, "dir %s\n", e->path);
	else if (e->kind == UNC_DUMP_FILE && e->taken && !e->error[0])
		put_file(out, e);
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
	char *whole = NULL;
	size_t size = 0;
	FILE *out = dump->no_memory ? NULL : open_memstream(&whole, &size);
	bool failed;
	int rc;

	if (!out)
		return unc_no_memory(err);
	fprintf(out, "%sfrom %s\n", head, dump->from);
	if (*dump->sim)
		fprintf(out, "simulated %s\n", dump->sim);
	fputs(dump->hardware ? "hardware\n" : "", out);
	for (size_t i = 0; i < dump->n; i++)
		if (!strpbrk(dump->entry[i]->path, " \n"))
			put_entry(out, dump->entry[i]);
	fputs("end\n", out);
	failed = ferror(out);
	failed |= fclose(out) != 0;
	rc = failed ? unc_no_memory(err) : make_file(file, whole, size, err);
	free(whole);
	return rc;
}

/* ---- reading: all that is in it is somebody else's word */

struct reader {
	struct unc_dump *dump;
	struct unc_dump_entry *file; /* whose lines follow */
	bool ended;
	const char *why; /* the line is refused */
};

static void append(struct reader *r, const char *line)
{
	size_t n = strlen(line);
	char *more = realloc(r->file->data, r->file->size + n + 2);

	r->dump->no_memory |= !more;
	if (!more)
		return;
	memcpy(more + r->file->size, line, n);
	memcpy(more + r->file->size + n, "\n", 2);
	r->file->data = more;
	r->file->size += n + 1;
}

/* Relative, and nowhere else than it seems. */
static bool is_inside(const char *path)
{
	for (size_t n; *path; path += n + (path[n] == '/')) {
		n = strcspn(path, "/");
		if (n == 0 || (n <= 2 && strncmp(path, "..", n) == 0) || strcmp(path + n, "/") == 0)
			return false;
	}
	return true;
}

/* The entry of a path, made if need be; NULL, and `why`. */
static struct unc_dump_entry *find_entry(struct reader *r, const char *path,
					 enum unc_dump_kind kind)
{
	struct unc_dump_entry *e = NULL;

	if (!is_inside(path))
		r->why = "the path leads outside";
	else if (r->dump->n >= MOST_ENTRIES)
		r->why = "there are too many paths";
	else if (!(e = unc_dump_entry(r->dump, path, kind)))
		r->why = "the path is too long";
	return e;
}

static void define(struct reader *r, const char *path, enum unc_dump_kind kind, const char *data,
		   uint64_t size)
{
	struct unc_dump_entry *e = find_entry(r, path, kind);

	if (!e)
		return;
	if (e->taken || (e->kind != kind && e->kind != UNC_DUMP_FOLDER))
		r->why = "the path is there twice";
	e->kind = kind;
	e->taken = true;
	e->size = (size_t)size;
	if (data && !r->why)
		r->dump->no_memory |= !(e->data = strdup(data));
	r->file = kind == UNC_DUMP_FILE ? e : NULL;
}

static void read_value(struct reader *r, char *const word[WORDS], bool write)
{
	struct unc_dump_entry *e = find_entry(r, word[1], UNC_DUMP_DEVICE);
	struct unc_dump_value value = {.write = write}, *v;

	if (!e)
		return;
	value.error = error_number(word[3]);
	if (e->kind != UNC_DUMP_DEVICE || !unc_parse_number(word[2], &value.offset)) {
		r->why = "it is no place of a device";
		return;
	}
	if (value.error < 0 && !write && unc_parse_number(word[3], &value.first))
		value.error = 0;
	value.last = value.first;
	if (value.error < 0 || (word[4] && !unc_parse_number(word[4], &value.last))) {
		r->why = "it is neither a value nor the name of an error";
		return;
	}
	v = unc_dump_value(r->dump, e, write, value.offset);
	if (v && v->error != -1)
		r->why = "the place is there twice";
	else if (v)
		*v = value;
}

static void read_failure(struct reader *r, char *const word[WORDS], bool write)
{
	int error = error_number(word[2]);
	struct unc_dump_entry *e =
		find_entry(r, word[1], unc_dump_device(word[1]) ? UNC_DUMP_DEVICE : UNC_DUMP_FILE);

	if (error <= 0)
		r->why = "it is not the name of an error";
	else if (e)
		e->error[write] = error;
}

static void read_words(struct reader *r, char *const word[WORDS], size_t n)
{
	static const struct {
		const char *key;
		size_t least, most;
	} form[] = {{"end", 1, 1},   {"hardware", 1, 1}, {"file", 2, 2},       {"dir", 2, 2},
		    {"link", 3, 3},  {"device", 3, 3},   {"unreadable", 3, 3}, {"unwritable", 3, 3},
		    {"value", 4, 5}, {"write", 4, 4}};
	enum {
		END,
		HARDWARE,
		FILE_,
		DIR,
		LINK,
		DEVICE,
		UNREADABLE,
		UNWRITABLE,
		VALUE,
		WRITE,
		KEYS
	};
	uint64_t size = 0;
	int key = 0;

	while (key < KEYS && strcmp(word[0], form[key].key) != 0)
		key++;
	if (key == KEYS || n < form[key].least || n > form[key].most ||
	    (key == DEVICE && (!unc_dump_device(word[1]) || !unc_parse_number(word[2], &size)))) {
		r->why = "it is no line of a machine";
		return;
	}
	r->ended = key == END;
	r->dump->hardware |= key == HARDWARE;
	if (key >= FILE_ && key <= DEVICE)
		define(r, word[1],
		       key == FILE_  ? UNC_DUMP_FILE
		       : key == DIR  ? UNC_DUMP_FOLDER
		       : key == LINK ? UNC_DUMP_LINK
				     : UNC_DUMP_DEVICE,
		       key == FILE_  ? ""
		       : key == LINK ? word[2]
				     : NULL,
		       size);
	else if (key == UNREADABLE || key == UNWRITABLE)
		read_failure(r, word, key == UNWRITABLE);
	else if (key >= VALUE)
		read_value(r, word, key == WRITE);
}

static void read_line(struct reader *r, char *line)
{
	char *word[WORDS + 1] = {NULL}, *next = NULL;
	size_t n = 0;

	if (r->ended)
		r->why = "something is behind its end";
	else if (*line == ' ' && r->file)
		append(r, line + 1);
	else if (strncmp(line, "from ", 5) == 0)
		snprintf(r->dump->from, sizeof(r->dump->from), "%s", line + 5);
	else if (strncmp(line, "simulated ", 10) == 0)
		snprintf(r->dump->sim, sizeof(r->dump->sim), "%s", line + 10);
	else {
		r->file = NULL;
		for (char *w = strtok_r(line, " ", &next); w && n <= WORDS; n++) {
			word[n] = w;
			w = strtok_r(NULL, " ", &next);
		}
		if (n)
			read_words(r, word, n);
	}
}

static int read_all(struct unc_dump *dump, const char *file, char *text, size_t size,
		    struct unc_error *err)
{
	struct reader r = {.dump = dump};
	unsigned number = 1;

	if (strncmp(text, head, sizeof(head) - 1) != 0)
		return unc_fail(err, UNC_ERR_NOT_FOUND,
				"root '%.200s' is neither a directory nor a machine of 'uncore "
				"gather'%s",
				file,
				strncmp(text, "libuncore-dump", 14) == 0
					? ", but a tar of an earlier version: gather it again"
					: "");
	for (char *line = text + sizeof(head) - 1, *end; line < text + size && !r.why;
	     line = end + 1) {
		number++;
		end = memchr(line, '\n', (size_t)(text + size - line));
		if (!end || memchr(line, '\0', (size_t)(end - line))) {
			r.why = end ? "a zero is in it" : "the line is cut";
			break;
		}
		*end = '\0';
		read_line(&r, line);
	}
	if (!r.why && !r.ended)
		r.why = "the last line of the file is not 'end': it is cut";
	return r.why ? unc_fail(err, UNC_ERR_INVALID, "%.200s:%u: %s", file, number, r.why) : 0;
}

int unc_dump_load(const char *path, struct unc_dump **out, struct unc_error *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), rc;
	struct unc_dump *dump;
	struct stat st;
	size_t size;
	char *text;

	*out = NULL;
	if (fd < 0)
		return unc_fail(err, unc_fs_error(errno), "root '%s': %s", path, strerror(errno));
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
		close(fd);
		return S_ISDIR(st.st_mode)
			       ? 0
			       : unc_fail(err, UNC_ERR_NOT_FOUND, "root '%.200s' is no file", path);
	}
	if ((rc = unc_fs_rest(fd, path, MOST_BYTES, &text, &size, err)) < 0)
		return rc;
	dump = unc_dump_new();
	rc = dump ? read_all(dump, path, text, size, err) : unc_no_memory(err);
	free(text);
	if (rc == 0 && dump->no_memory)
		rc = unc_no_memory(err);
	if (rc < 0) {
		unc_dump_free(dump);
		return rc;
	}
	dump->replays = true;
	*out = dump;
	return 0;
}
