/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of PCI functions by libpci, which only this file needs. */
#include "platform/pci_names.h"

#ifdef HAVE_LIBPCI
#include <dlfcn.h>
#include <limits.h>
#include <pci/pci.h>
#include <setjmp.h>
#include <string.h>

#include "host/fs.h"

/* libpci ends the process if pci.ids is broken or memory runs out, unless its error function does
 * not return. That function gets no context. */
static _Thread_local jmp_buf *failed;

static void PCI_NONRET jump_back(char *text, ...)
{
	(void)text;
	longjmp(*failed, 1);
}

static void ignore(char *text, ...)
{
	(void)text;
}

static void load_library(struct unc_pci_names *names, const struct unc_fs *fs)
{
	bool elsewhere = fs && !unc_fs_is_real(fs);
	struct pci_access *(*alloc)(void);
	char path[PATH_MAX];

	names->tried = true;
	if (elsewhere && (unc_fs_path(fs, path, sizeof(path), "/usr/share/misc/pci.ids") < 0 ||
			  !unc_fs_exists(fs, "/usr/share/misc/pci.ids")))
		return;
	names->library = dlopen("libpci.so.3", RTLD_NOW | RTLD_LOCAL);
	if (!names->library)
		return;
	*(void **)&alloc = dlsym(names->library, "pci_alloc");
	names->access = alloc ? alloc() : NULL;
	if (!names->access)
		return;
	names->access->error = jump_back;
	names->access->warning = names->access->debug = ignore;
	if (elsewhere) {
		void (*set_path)(struct pci_access *, char *, int);

		*(void **)&set_path = dlsym(names->library, "pci_set_name_list_path");
		set_path(names->access, strdup(path), 1);
	}
}

void unc_pci_names_free(struct unc_pci_names *names)
{
	void (*cleanup)(struct pci_access *);

	if (names->access) {
		*(void **)&cleanup = dlsym(names->library, "pci_cleanup");
		cleanup(names->access);
	}
	if (names->library)
		dlclose(names->library);
}

void unc_pci_name_of(struct unc_pci_names *names, const struct unc_fs *fs, unsigned vendor,
		     unsigned device, char *buf, size_t size)
{
	char *(*lookup)(struct pci_access *, char *, int, int, ...);
	jmp_buf here;

	*buf = '\0';
	if (!names->tried)
		load_library(names, fs);
	if (!names->access || names->broken)
		return;
	*(void **)&lookup = dlsym(names->library, "pci_lookup_name");
	failed = &here;
	if (setjmp(here)) {
		names->broken = true;
		*buf = '\0';
	} else if (lookup && !lookup(names->access, buf, (int)size,
				     PCI_LOOKUP_VENDOR | PCI_LOOKUP_DEVICE | PCI_LOOKUP_NO_NUMBERS |
					     PCI_LOOKUP_NO_HWDB,
				     (int)vendor, (int)device)) {
		*buf = '\0';
	}
}
#else
void unc_pci_names_free(struct unc_pci_names *names)
{
	(void)names;
}

void unc_pci_name_of(struct unc_pci_names *names, const struct unc_fs *fs, unsigned vendor,
		     unsigned device, char *buf, size_t size)
{
	(void)names;
	(void)fs;
	(void)vendor;
	(void)device;
	if (size)
		*buf = '\0';
}
#endif
