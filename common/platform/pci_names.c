/* SPDX-License-Identifier: BSD-3-Clause */
/* The names that libpci gives functions, from the file that it takes them from: pci.ids. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/fs.h"
#include "platform/pci_names.h"

enum { MOST = 16 << 20 };

void unc_pci_names_read(const struct unc_fs *fs, struct unc_pci_names *names)
{
	/* Debian, Fedora */
	static const char *const paths[] = {"/usr/share/misc/pci.ids", "/usr/share/hwdata/pci.ids"};
	size_t size;
	int fd = -1;

	names->text = NULL;
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]) && fd < 0; i++)
		if ((fd = unc_fs_regular(fs, "%s", paths[i])) >= 0 &&
		    unc_fs_rest(fd, paths[i], MOST, &names->text, &size, NULL) < 0)
			names->text = NULL;
}

void unc_pci_names_free(struct unc_pci_names *names)
{
	free(names->text);
}

/* The line that begins with this, from *at on and before one that begins with less indentation: its
 * name behind the number. */
static const char *name_in(const char **at, const char *number)
{
	size_t n = strlen(number), tabs = strspn(number, "\t");

	for (const char *line = *at; line && *line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, number, n) == 0 && line[n] == ' ') {
			*at = line + strcspn(line, "\n");
			return line + n + strspn(line + n, " ");
		}
		if (*line && *line != '#' && *line != '\n' && strspn(line, "\t") < tabs)
			break;
	}
	return NULL;
}

bool unc_pci_name_of(const struct unc_pci_names *names, unsigned vendor, unsigned device, char *buf,
		     size_t size)
{
	const char *at = names->text, *of_vendor, *of_device;
	char number[8];

	*buf = '\0';
	snprintf(number, sizeof(number), "%04x", vendor & 0xffff);
	if (!at || !(of_vendor = name_in(&at, number)))
		return false;
	snprintf(number, sizeof(number), "\t%04x", device & 0xffff);
	of_device = name_in(&at, number);
	if (of_device)
		snprintf(buf, size, "%.*s %.*s", (int)strcspn(of_vendor, "\n"), of_vendor,
			 (int)strcspn(of_device, "\n"), of_device);
	return of_device;
}
