/* SPDX-License-Identifier: BSD-3-Clause */
#include "reader/table_load.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "reader/table_build.h"

enum { MAX_FILE = 4 << 20 };

/* Opens a file, or a folder, that is trusted. A FIFO or a device is no table, and would hang us. */
static int open_trusted(const char *path, bool folder, unc_trust_fn trust, struct unc_error *err)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | (folder ? O_DIRECTORY : 0));
	struct stat st;
	int rc = 0;

	if (fd < 0)
		return unc_fail(err, UNC_ERR_IO, "%s: %s", path, strerror(errno));
	if (!folder && (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)))
		rc = unc_fail(err, UNC_ERR_IO, "%s is not a plain file", path);
	if (rc == 0 && trust)
		rc = trust(fd, path, err);
	if (rc < 0)
		close(fd);
	return rc < 0 ? rc : fd;
}

/* Reads a file whole; *text is the caller's to free. */
static int read_whole(const char *path, unc_trust_fn trust, char **text, size_t *size,
		      struct unc_error *err)
{
	int fd = open_trusted(path, false, trust, err);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "r");

	if (fd < 0)
		return fd;
	if (!f) {
		close(fd);
		return unc_no_memory(err);
	}
	*text = malloc(MAX_FILE + 1);
	*size = *text ? fread(*text, 1, MAX_FILE, f) : 0;
	int failed = ferror(f) || *size == MAX_FILE;
	fclose(f);
	if (!*text)
		return unc_no_memory(err);
	if (failed) {
		free(*text);
		return unc_fail(err, UNC_ERR_IO, "%s: cannot be read, or is larger than %d bytes",
				path, MAX_FILE);
	}
	return 0;
}

static int give(struct unc_table_reader *r, const char *path, unc_trust_fn trust,
		struct unc_error *err)
{
	char *text;
	size_t size;
	int rc = read_whole(path, trust, &text, &size, err);

	if (rc < 0)
		return rc;
	rc = unc_table_reader_file(r, path, text, size, err);
	free(text);
	return rc;
}

static int is_table(const struct dirent *entry)
{
	const char *dot = strrchr(entry->d_name, '.');

	return entry->d_name[0] != '.' && dot &&
	       (strcmp(dot, ".tbl") == 0 || strcmp(dot, ".events") == 0);
}

static int check_folder(const char *dir, unc_trust_fn trust, struct unc_error *err)
{
	int fd = open_trusted(dir, true, trust, err);

	if (fd >= 0)
		close(fd);
	return fd < 0 ? fd : 0;
}

static int give_folder(struct unc_table_reader *r, const char *dir, unc_trust_fn trust,
		       struct unc_error *err)
{
	struct dirent **entry;
	int n, rc = check_folder(dir, trust, err);

	if (rc < 0)
		return rc;
	n = scandir(dir, &entry, is_table, alphasort);
	if (n < 0)
		return unc_fail(err, UNC_ERR_IO, "%s: %s", dir, strerror(errno));
	for (int i = 0; i < n; i++) {
		char path[PATH_MAX];

		if (rc == 0 && snprintf(path, sizeof(path), "%s/%s", dir, entry[i]->d_name) <
				       (int)sizeof(path))
			rc = give(r, path, trust, err);
		free(entry[i]);
	}
	free(entry);
	return rc;
}

static int load_one(const char *dir, const char *cpu, const char *folder, unc_trust_fn trust,
		    struct unc_table_set *set, struct unc_error *err)
{
	char path[PATH_MAX];
	int rc;

	if (set->n == UNC_TABLE_CPUS)
		return unc_fail(err, UNC_ERR_TABLE, "%s: more than %d CPUs", dir, UNC_TABLE_CPUS);
	struct unc_table_reader **r = &set->reader[set->n];
	if ((rc = unc_table_reader_new(cpu, r, err)) < 0)
		return rc;
	(*r)->wrong = &set->wrong;
	if (set->n++)
		unc_table_reader_share(*r, set->reader[set->n - 2]);
	snprintf(path, sizeof(path), "%s/%s", dir, folder);
	if ((rc = give_folder(*r, dir, trust, err)) < 0 ||
	    (rc = give_folder(*r, path, trust, err)) < 0)
		return rc;
	return unc_table_reader_finish(*r, &set->table[set->n - 1], err);
}

int unc_table_set_load(const char *dir, struct unc_table_set *out, struct unc_error *err)
{
	int rc = unc_table_set_load_trusted(dir, NULL, out, err);

	if (out->wrong.n)
		*err = out->wrong.first;
	return out->wrong.n ? err->code : rc;
}

int unc_table_set_load_trusted(const char *dir, unc_trust_fn trust, struct unc_table_set *out,
			       struct unc_error *err)
{
	struct unc_line line = {0};
	char path[PATH_MAX], *text;
	size_t size;
	int rc;

	*out = (struct unc_table_set){.n = 0};
	if (trust && (rc = check_folder(dir, trust, err)) < 0)
		return rc;
	if (snprintf(path, sizeof(path), "%s/cpus.tbl", dir) >= (int)sizeof(path))
		return unc_fail(err, UNC_ERR_INVALID, "the path of the tables is too long");
	if ((rc = read_whole(path, trust, &text, &size, err)) < 0)
		return rc;
	/* Only the names are wanted here; the reader of each CPU checks the lines. */
	struct unc_lines lines = {.next = text, .end = text + size};
	while (rc == 0 && (rc = unc_line_next(&lines, &line, err)) > 0) {
		const struct unc_word *folder = unc_take(&line, UNC_WORD_KEY, "folder");
		const char *cpu = line.word[1].value;

		rc = 0;
		if (line.n >= 2 && !line.word[1].key && strcmp(line.word[0].value, "known") != 0)
			rc = load_one(dir, cpu, folder ? folder->value : cpu, trust, out, err);
	}
	free(text);
	for (size_t i = 0; i < out->n; i++)
		out->reader[i]->t.strings = out->reader[out->n - 1]->t.strings;
	if (rc == 0 && out->n == 0)
		return unc_fail(err, UNC_ERR_TABLE, "%s: describes no CPU", path);
	return rc;
}

void unc_table_set_free(struct unc_table_set *set)
{
	for (size_t i = 0; i < set->n; i++)
		unc_table_reader_free(set->reader[i]);
	set->n = 0;
}

int unc_site_load(const char *path, bool needed, unc_trust_fn trust, const struct unc_table *table,
		  struct unc_site *out, struct unc_wrong *wrong, struct unc_error *err)
{
	int rc;

	*out = (struct unc_site){.reader = NULL};
	if (!needed && access(path, F_OK) < 0 && (errno == ENOENT || errno == ENOTDIR))
		return 0;
	rc = unc_table_reader_new(unc_tbl_str(table, table->name), &out->reader, err);
	if (rc < 0)
		return rc;
	out->reader->wrong = wrong;
	if ((rc = give(out->reader, path, trust, err)) == 0)
		return unc_table_reader_site(out->reader, table, out, err);
	if (rc == UNC_ERR_MEMORY)
		return rc;
	out->peaks.why = *err;
	out->reader->err = err;
	return unc_note_wrong(out->reader);
}

void unc_site_free(struct unc_site *site)
{
	unc_table_reader_free(site->reader);
	*site = (struct unc_site){.reader = NULL};
}
