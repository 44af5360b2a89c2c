/* SPDX-License-Identifier: BSD-3-Clause */
/* A machine of files, for what the simulated one does not show: how the socket of a bus is found.
 */
#ifndef UNC_TEST_COLUMNS_FILES_H
#define UNC_TEST_COLUMNS_FILES_H

#include "fake_root.h"

/* Makes the root. Two sockets of the CPU, where there is an entry for it; free with fake_free(). */
void columns_files(struct fake_root *, const char *cpu, int family, int model);

#endif
