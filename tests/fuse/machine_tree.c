/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the simulated machine has below /sys of devices, as files. In memory files of a function stand below
 * its name in /sys/bus/pci/devices, which is a link to where the kernel has them: below /sys/devices/pci*.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/fs.h"
#include "machine.h"

static bool is_function(const char *name)
{
	unsigned domain, bus, device, function;
	int used = 0;

	return sscanf(name, "%x:%x:%x.%x%n", &domain, &bus, &device, &function, &used) == 4 &&
	       (!name[used] || name[used] == '/');
}

/* The place in memory; *folder: of what is a link there, the kernel's own folder is asked for. */
static const char *place_of(const char *path, char buf[512], bool *folder)
{
	const char *last = NULL;

	*folder = false;
	if (strncmp(path, "/sys/devices/pci", 16) != 0)
		return path;
	for (const char *slash = strchr(path + 16, '/'); slash; slash = strchr(slash + 1, '/'))
		last = is_function(slash + 1) ? slash + 1 : last;
	*folder = !last || !strchr(last, '/') || strncmp(strchr(last, '/'), "/pci", 4) == 0;
	snprintf(buf, 512, "/sys/bus/pci/devices/%s", last ? last : "");
	return buf;
}

bool machine_tree(const struct machine *m, const char *path, struct node *node)
{
	char buf[512], **list;
	bool folder;
	const char *place = place_of(path, buf, &folder);

	if (strncmp(path, "/sys/", 5) != 0)
		return false;
	node->kind = DIRECTORY;
	if (folder)
		return true;
	if (unc_fs_link(m->sim->tree, node->text, sizeof(node->text), "%s", place)) {
		node->kind = LINK;
		return true;
	}
	if (unc_fs_text(m->sim->tree, node->text, sizeof(node->text) - 1, "%s", place) == 0) {
		node->kind = TEXT;
		strcat(node->text, "\n");
		return true;
	}
	list = unc_fs_list(m->sim->tree, "%s", place);
	free(list);
	node->kind = list ? DIRECTORY : NONE;
	return list;
}

char **machine_tree_list(const struct machine *m, const char *path)
{
	char buf[512];
	bool folder;

	return unc_fs_list(m->sim->tree, "%s", place_of(path, buf, &folder));
}
