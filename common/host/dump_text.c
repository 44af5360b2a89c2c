/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes and reads a machine as a text file. dump.h has the format. */
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "host/dump.h"
#include "host/fs.h"

enum { MOST_ENTRIES = 50000, MOST_BYTES = 64 << 20, WORDS = 4 };

static const char head[] = "uncore machine 2";

/* Errors of opening and reading files of the kernel; any other becomes EIO. */
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
	for (unsigned i = 0; i < REASONS; i++)
		if (reason[i].number == number)
			return reason[i].name;
	return "EIO";
}

/* Returns -1 for an unknown name. */
static int error_number(const char *name)
{
	for (unsigned i = 0; i < REASONS; i++)
		if (strcmp(reason[i].name, name) == 0)
			return reason[i].number;
	return -1;
}

/* ---- writing */

static void write_value(FILE *out, const struct unc_dump_value *v)
{
	fprintf(out, " 0x%" PRIx64, v->offset);
	if (v->write || v->error)
		fprintf(out, "%s %s\n", v->write ? " write" : "", error_name(v->error));
	else if (v->first == v->last)
		fprintf(out, " 0x%" PRIx64 "\n", v->first);
	else
		fprintf(out, " 0x%" PRIx64 " 0x%" PRIx64 "\n", v->first, v->last);
}

/* Skips binary files: no file that describes a machine is binary. */
static void write_content(FILE *out, const struct unc_dump_entry *e)
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

static void write_entry(FILE *out, const struct unc_dump_entry *e)
{
	for (int w = 0; w < 2; w++)
		if (e->error[w])
			fprintf(out, "%s %s %s\n", w ? "unwritable" : "unreadable", e->path,
				error_name(e->error[w]));
	if (e->kind == UNC_DUMP_DEVICE)
		fprintf(out, "device %s %zu\n", e->path, e->size);
	for (size_t i = 0; i < e->n; i++)
		write_value(out, &e->value[i]);
	if (e->kind == UNC_DUMP_LINK)
		fprintf(out, "link %s %s\n", e->path, e->data);
	else if (e->kind == UNC_DUMP_FOLDER)
		fprintf(out, "dir %s\n", e->path);
	else if (e->kind == UNC_DUMP_FILE && e->taken && !e->error[0])
		write_content(out, e);
}

/* Creates a new file; removes it again if it cannot be written whole. */
static int create_file(const char *file, const char *whole, size_t size, struct unc_error *err)
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
	fprintf(out, "%s\nfrom %s\n", head, dump->from);
	if (*dump->sim)
		fprintf(out, "simulated %s\n", dump->sim);
	fputs(dump->hardware ? "hardware\n" : "", out);
	for (size_t i = 0; i < dump->n; i++)
		if (!strpbrk(dump->entry[i]->path, " \n"))
			write_entry(out, dump->entry[i]);
	fputs("end\n", out);
	failed = ferror(out);
	failed |= fclose(out) != 0;
	rc = failed ? unc_no_memory(err) : create_file(file, whole, size, err);
	free(whole);
	return rc;
}

/* ---- reading: the text is not trusted */

struct reader {
	struct unc_dump *dump;
	unc_dump_like_fn *like;       /* NULL: "like" is refused */
	struct unc_dump_entry *entry; /* the file or device whose lines follow */
	bool differs; /* "like" was read: lines now replace those of the other machine */
	bool ended;
	const char *why; /* why the line is refused; NULL: it is not */
};

static int read_lines(struct reader *, char *text, size_t size, unsigned *number);

static char *copy_text(const char *text, size_t size)
{
	char *copy = malloc(size + 1);

	return copy ? memcpy(copy, text, size) : NULL;
}

static void append_line(struct reader *r, const char *line)
{
	size_t n = strlen(line);
	char *more = realloc(r->entry->data, r->entry->size + n + 2);

	r->dump->no_memory |= !more;
	if (!more)
		return;
	memcpy(more + r->entry->size, line, n);
	memcpy(more + r->entry->size + n, "\n", 2);
	r->entry->data = more;
	r->entry->size += n + 1;
}

/* Whether a path is relative, without "." and "..", and stays below the root. */
static bool is_inside(const char *path)
{
	for (size_t n; *path; path += n + (path[n] == '/')) {
		n = strcspn(path, "/");
		if (n == 0 || (n <= 2 && strncmp(path, "..", n) == 0) || strcmp(path + n, "/") == 0)
			return false;
	}
	return true;
}

/* Finds or creates the entry of a path; NULL, and `why`. */
static struct unc_dump_entry *entry_of_path(struct reader *r, const char *path,
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

/* Returns the next entry from *i on whose path, or a folder of it, matches the pattern. */
static struct unc_dump_entry *next_match(const struct unc_dump *dump, const char *pattern,
					 size_t *i)
{
	for (; *i < dump->n; ++*i)
		if (fnmatch(pattern, dump->entry[*i]->path, FNM_PATHNAME | FNM_LEADING_DIR) == 0)
			return dump->entry[(*i)++];
	return NULL;
}

static bool is_path_pattern(const struct reader *r, const char *path)
{
	return r->differs && strpbrk(path, "*?[");
}

/* Truncates the devices that match a pattern to `size`. */
static void truncate_devices(struct reader *r, const char *pattern, uint64_t size)
{
	struct unc_dump_entry *e;
	size_t i = 0;

	while ((e = next_match(r->dump, pattern, &i))) {
		e->size = (size_t)size;
		while (e->n && e->value[e->n - 1].offset >= size)
			e->n--;
	}
}

static void define_path(struct reader *r, const char *path, enum unc_dump_kind kind,
			const char *data, uint64_t size)
{
	struct unc_dump_entry *e = entry_of_path(r, path, kind);

	if (!e)
		return;
	if (!r->differs && (e->taken || (e->kind != kind && e->kind != UNC_DUMP_FOLDER)))
		r->why = "the path is given twice";
	if (r->differs && (e->kind != kind || kind == UNC_DUMP_FILE))
		unc_dump_empty(e);
	e->kind = kind;
	e->taken = true;
	e->size = (size_t)size;
	if (data && !r->why) {
		free(e->data);
		r->dump->no_memory |= !(e->data = strdup(data));
	}
	r->entry = kind == UNC_DUMP_FILE || kind == UNC_DUMP_DEVICE ? e : NULL;
}

/* Reads a line of a device: an offset, or after "like" a range FIRST-LAST of offsets that the device has. */
static void read_device_value(struct reader *r, char *const word[WORDS], size_t n)
{
	const bool write = n == 3 && strcmp(word[1], "write") == 0;
	struct unc_dump_value value = {.write = write}, *v;
	char *last = r->differs ? strchr(word[0], '-') : NULL;
	const char *what = word[write ? 2 : 1];
	uint64_t end;

	if (last)
		*last++ = '\0';
	if (n < 2 || !unc_parse_number(word[0], &value.offset) ||
	    (last && !unc_parse_number(last, &end))) {
		r->why = "it is not an offset of a device";
		return;
	}
	value.error = error_number(what);
	if (value.error < 0 && !write && unc_parse_number(what, &value.first))
		value.error = 0;
	value.last = value.first;
	if (value.error < 0 || n > 3 ||
	    (n == 3 && !write && !unc_parse_number(word[2], &value.last))) {
		r->why = "it is neither a value nor the name of an error";
		return;
	}
	for (size_t i = 0; last && i < r->entry->n; i++)
		if (r->entry->value[i].offset >= value.offset && r->entry->value[i].offset <= end &&
		    r->entry->value[i].write == write) {
			const uint64_t at = r->entry->value[i].offset;

			r->entry->value[i] = value;
			r->entry->value[i].offset = at;
		}
	v = last ? NULL : unc_dump_value(r->dump, r->entry, write, value.offset);
	if (v && v->error != -1 && !r->differs)
		r->why = "the offset is given twice";
	else if (v)
		*v = value;
}

static void read_failure(struct reader *r, char *const word[WORDS], bool write)
{
	int error = error_number(word[2]);
	struct unc_dump_entry *e;
	size_t i = 0;

	if (error <= 0) {
		r->why = "it is not the name of an error";
	} else if (is_path_pattern(r, word[1])) {
		while ((e = next_match(r->dump, word[1], &i)))
			e->error[write] = error;
	} else if ((e = entry_of_path(r, word[1],
				      unc_dump_device(word[1]) ? UNC_DUMP_DEVICE
							       : UNC_DUMP_FILE))) {
		e->error[write] = error;
	}
}

static void hide_paths(struct reader *r, const char *pattern)
{
	size_t i = 0, before = r->dump->n;

	while (next_match(r->dump, pattern, &i))
		unc_dump_remove(r->dump, --i);
	if (r->dump->n == before)
		r->why = "there is nothing to hide";
}

/* Reads the machine that the "like" line names; later lines replace parts of it. */
static void read_base_machine(struct reader *r, const char *name)
{
	struct reader base = {.dump = r->dump, .like = r->like};
	size_t size = 0;
	const char *text = r->like && !r->dump->n ? r->like(name, &size) : NULL;
	char *copy = text ? copy_text(text, size) : NULL;
	unsigned number = 0;

	r->differs = true;
	r->dump->no_memory |= text && !copy;
	if (!text)
		r->why = "no machine has that name";
	else if (copy && read_lines(&base, copy, size, &number) < 0)
		r->why = base.why;
	free(copy);
}

static void read_words(struct reader *r, char *const word[WORDS], size_t n)
{
	static const struct {
		const char *key;
		size_t words;
	} form[] = {{"end", 1},        {"hardware", 1},  {"like", 2}, {"hide", 2},
		    {"file", 2},       {"dir", 2},       {"link", 3}, {"device", 3},
		    {"unreadable", 3}, {"unwritable", 3}};
	enum { END, HARDWARE, LIKE, HIDE, FILE_, DIR, LINK, DEVICE, UNREADABLE, UNWRITABLE, KEYS };
	uint64_t size = 0;
	int key = 0;

	while (key < KEYS && strcmp(word[0], form[key].key) != 0)
		key++;
	if (key == KEYS || n != form[key].words || (key == HIDE && !r->differs) ||
	    (key == DEVICE && (!unc_dump_device(word[1]) || !unc_parse_number(word[2], &size)))) {
		r->why = "it is not a line of a machine file";
		return;
	}
	r->ended = key == END;
	r->dump->hardware |= key == HARDWARE;
	if (key == LIKE)
		read_base_machine(r, word[1]);
	else if (key == HIDE)
		hide_paths(r, word[1]);
	else if (key == DEVICE && is_path_pattern(r, word[1]))
		truncate_devices(r, word[1], size);
	else if (key >= FILE_ && key <= DEVICE)
		define_path(r, word[1],
			    key == FILE_  ? UNC_DUMP_FILE
			    : key == DIR  ? UNC_DUMP_FOLDER
			    : key == LINK ? UNC_DUMP_LINK
					  : UNC_DUMP_DEVICE,
			    key == FILE_  ? ""
			    : key == LINK ? word[2]
					  : NULL,
			    size);
	else if (key >= UNREADABLE)
		read_failure(r, word, key == UNWRITABLE);
}

/* Parses a hexadecimal number as write_value() writes it. Returns the rest of the text; NULL: no number. */
static const char *parse_hex(const char *text, uint64_t *out)
{
	unsigned digits = 0;

	if (text[0] != '0' || text[1] != 'x')
		return NULL;
	for (*out = 0, text += 2; digits <= 16; text++, digits++) {
		const unsigned c = (unsigned char)*text;

		if (c - '0' < 10)
			*out = *out << 4 | (c - '0');
		else if (c - 'a' < 6)
			*out = *out << 4 | (c - 'a' + 10);
		else
			break;
	}
	return digits && digits <= 16 ? text : NULL;
}

/* Reads a line "OFFSET VALUE" with a higher offset than before, as nearly all lines are. */
static bool read_plain_value(struct reader *r, const char *line)
{
	struct unc_dump_value value = {0}, *v;

	if (!(line = parse_hex(line, &value.offset)) || *line != ' ' ||
	    !(line = parse_hex(line + 1, &value.first)) || *line)
		return false;
	value.last = value.first;
	if (r->entry->n && r->entry->value[r->entry->n - 1].offset >= value.offset)
		return false;
	if ((v = unc_dump_value(r->dump, r->entry, false, value.offset)))
		*v = value;
	return true;
}

static void read_line(struct reader *r, char *line)
{
	const bool inside = *line == ' ' && r->entry;
	char *word[WORDS + 1] = {NULL}, *next = NULL;
	size_t n = 0;

	if (r->ended && *line != '#')
		r->why = "a line follows 'end'";
	if (r->why || *line == '#')
		return;
	if (inside && r->entry->kind == UNC_DUMP_DEVICE && read_plain_value(r, line + 1))
		return;
	if (inside && r->entry->kind == UNC_DUMP_FILE) {
		append_line(r, line + 1);
	} else if (strncmp(line, "from ", 5) == 0) {
		snprintf(r->dump->from, sizeof(r->dump->from), "%s", line + 5);
	} else if (strncmp(line, "simulated ", 10) == 0) {
		snprintf(r->dump->sim, sizeof(r->dump->sim), "%s", line + 10);
	} else {
		for (char *w = strtok_r(line, " ", &next); w && n <= WORDS; n++) {
			word[n] = w;
			w = strtok_r(NULL, " ", &next);
		}
		if (inside && n) {
			read_device_value(r, word, n);
		} else if (n) {
			r->entry = NULL;
			read_words(r, word, n);
		}
	}
}

/* Returns 0, or -1 and `why`. */
static int read_lines(struct reader *r, char *text, size_t size, unsigned *number)
{
	for (char *line = text, *end; line < text + size && !r->why; line = end + 1) {
		++*number;
		end = memchr(line, '\n', (size_t)(text + size - line));
		if (!end || memchr(line, '\0', (size_t)(end - line))) {
			r->why = end ? "a zero is in it" : "the line is cut";
			break;
		}
		*end = '\0';
		if (*number == 1 && strcmp(line, head) != 0)
			r->why = "it is not the first line of a file of 'uncore gather'";
		else if (*number > 1)
			read_line(r, line);
	}
	if (!r->why && !r->ended)
		r->why = "the last line of the file is not 'end': it is cut";
	return r->why ? -1 : 0;
}

int unc_dump_read(const char *name, const char *text, size_t size, unc_dump_like_fn *like,
		  struct unc_dump **out, struct unc_error *err)
{
	struct reader r = {.dump = unc_dump_new(), .like = like};
	char *copy = copy_text(text, size);
	unsigned number = 0;
	int rc = 0;

	if (!r.dump || !copy)
		rc = unc_no_memory(err);
	else if (read_lines(&r, copy, size, &number) < 0)
		rc = unc_fail(err, UNC_ERR_INVALID, "%.200s:%u: %s", name, number, r.why);
	else if (r.dump->no_memory)
		rc = unc_no_memory(err);
	free(copy);
	if (rc < 0) {
		unc_dump_free(r.dump);
		return rc;
	}
	r.dump->replays = true;
	*out = r.dump;
	return 0;
}

int unc_dump_load(const char *path, unc_dump_like_fn *like, struct unc_dump **out,
		  struct unc_error *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), rc;
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
	if (strncmp(text, head, sizeof(head) - 1) != 0 || text[sizeof(head) - 1] != '\n')
		rc = unc_fail(err, UNC_ERR_NOT_FOUND,
			      "root '%.200s' is neither a directory nor a file of 'uncore "
			      "gather'%s",
			      path,
			      strncmp(text, "libuncore-dump", 14) == 0 ||
					      strncmp(text, "uncore machine ", 15) == 0
				      ? ", but one of another version: gather it again"
				      : "");
	else
		rc = unc_dump_read(path, text, size, like, out, err);
	free(text);
	return rc;
}
