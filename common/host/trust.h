/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a program with more rights than its user accepts from that user. Rights are raised if the kernel
 * sets AT_SECURE (set-user-id, set-group-id, file capabilities): the environment then comes from a user
 * without the rights of the program.
 */
#ifndef UNC_TRUST_H
#define UNC_TRUST_H

#include <stdbool.h>

#include "base/error.h"
#include "host/fs.h"

/* Whether this process has raised rights. Other functions get it as an argument, for tests. */
bool unc_raised(void);

/* The environment variables that are ignored if rights are raised; NULL ends the list. */
extern const char *const unc_variables[];

/* Returns an environment variable; NULL: not set, empty, or not trusted. */
const char *unc_variable(bool raised, const char *name);

/* UNC_ERR_DENIED: the open file does not belong to root, or other users may write it. */
int unc_trust_owner(int fd, const char *path, struct unc_error *err);

/* Reads a plain file into *text, which the caller frees. flags: added to those of open(); roots: call
 * unc_trust_owner(). UNC_ERR_NOT_FOUND: no such file; UNC_ERR_UNAVAILABLE, UNC_ERR_IO, UNC_ERR_MEMORY. */
int unc_trust_read(const char *path, int flags, bool roots, char **text, struct unc_error *err);

/* Checks as unc_trust_owner() a root that is not "/", and its folders dev, proc and sys. */
int unc_trust_root(const char *root, struct unc_error *err);

/*
 * Whether registers under the root are those of a real machine: "/", or another path to it (a mount of
 * the host in a container, a link). Otherwise the root is a dump, whose files do not count.
 */
bool unc_fs_is_hardware(const struct unc_fs *);
/* The same; if a dump replaces the root: whether the dump was recorded on hardware. */
bool unc_fs_of_hardware(const struct unc_fs *);

#endif
