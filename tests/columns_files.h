/* SPDX-License-Identifier: BSD-3-Clause */
/* A machine of files, for what the simulated one does not show: how the socket of a bus is found.
 */
#ifndef UNC_TEST_COLUMNS_FILES_H
#define UNC_TEST_COLUMNS_FILES_H

#include <stdbool.h>

#include "fake_root.h"

/* Makes the root: two sockets of the CPU. Free with fake_free(). False: there is no entry for it. */
bool columns_files(struct fake_root *, const char *cpu);

#endif
