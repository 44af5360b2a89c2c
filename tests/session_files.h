/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sessions on a machine of files, a Sandy Bridge-EP of one CPU, where nothing counts and registers
 * alone are looked at. Register numbers are those of Intel 327043-001 (table 2-8).
 */
#ifndef UNC_TEST_SESSION_FILES_H
#define UNC_TEST_SESSION_FILES_H

#include "fake_root.h"
#include "session_kit.h"

/* CBo 0 of socket 0: the control of counter 3. */
enum { CTL3 = 0xD13 };

/* On counter 3; in a file the bytes of registers overlap, and the third one of CTL3 is its own. */
static const char ticks[] = "cbo0.CLOCKTICKS:socket=0";

struct heard {
	char text[256];
	int n;
};

static inline void hear(void *user, enum unc_log_level level, const char *text)
{
	struct heard *heard = user;

	if (level != UNC_LOG_WARNING)
		return;
	snprintf(heard->text, sizeof(heard->text), "%s", text);
	heard->n++;
}

static struct fake_root root;

static inline void begin(bool with_journal)
{
	fake_new(&root);
	fake_text(fake_path(&root, "/proc/cpuinfo"),
		  "processor : 0\nvendor_id : GenuineIntel\ncpu family : 6\nmodel : 45\n"
		  "model name : x\nstepping : 7\nphysical id : 0\ncore id : 0\n");
	fake_size(fake_path(&root, "/dev/cpu/0/msr"), 0x2000);
	if (with_journal)
		CHECK_NUMBER(mkdir(fake_path(&root, "/run/libuncore"), 0755), 0);
}

static inline struct unc_platform *of_files(struct heard *heard)
{
	struct unc_options options = {.size = sizeof(options),
				      .sim = "",
				      .sysroot = root.path,
				      .log = hear,
				      .log_user = heard};
	struct unc_platform *p = NULL;

	if (unc_platform_open(&options, &p) < 0)
		printf("# %s\n", unc_open_error());
	CU_ASSERT_FATAL(p != NULL);
	*heard = (struct heard){.n = 0};
	return p;
}

static inline uint64_t file_at(uint64_t address)
{
	return fake_get(fake_path(&root, "/dev/cpu/0/msr"), address, 1);
}

#endif
