/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a program with more rights than its user may take from that user. Rights are raised when the
 * kernel says so (AT_SECURE: set-user-id, set-group-id, file capabilities): the environment is then
 * that of somebody who could not do alone what the program can.
 */
#ifndef UNC_TRUST_H
#define UNC_TRUST_H

#include <stdbool.h>

#include "base/error.h"
#include "host/fs.h"

/* Of this process. Functions that depend on it take it as an argument, so that it can be tested. */
bool unc_raised(void);

/* The variables of the environment that are ignored where rights are raised; NULL ends the list. */
extern const char *const unc_variables[];

/* A variable of the environment; NULL if it is not set, is empty, or is not to be trusted. */
const char *unc_variable(bool raised, const char *name);

/* UNC_ERR_DENIED unless what is open belongs to root and nobody else may write it. */
int unc_trust_owner(int fd, const char *path, struct unc_error *err);

/* A plain file that a person wrote, as a text to be freed. flags: more of open(); roots: as above. UNC_ERR_NOT_FOUND:
 * it is not there; UNC_ERR_UNAVAILABLE, UNC_ERR_IO, UNC_ERR_MEMORY. */
int unc_trust_read(const char *path, int flags, bool roots, char **text, struct unc_error *err);

/* The same of a root that is not "/", and of the folders dev, proc and sys in it. */
int unc_trust_root(const char *root, struct unc_error *err);

/*
 * Whether registers under the root are those of a machine: "/", or another way to it (a container's
 * mount of the host, a link). Else it is a dump, files that nobody counts by.
 */
bool unc_fs_is_hardware(const struct unc_fs *);
/* The same of where a dump was made, if one stands for the root. */
bool unc_fs_of_hardware(const struct unc_fs *);

#endif
