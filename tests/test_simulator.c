/* SPDX-License-Identifier: BSD-3-Clause */
/* Loading the simulator: from an absolute path, of this library's own build, with a sentence else.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "machine/simulator.h"
#include "suite.h"

/* The sentence of what is loaded from a file of the build folder; "": it was loaded. */
static const char *loaded(const char *name, int wanted, struct unc_error *err)
{
	const struct unc_simulator *simulator = NULL;
	const char *build = getenv("BUILD");
	void *library = NULL;
	char path[4096];

	*err = (struct unc_error){0};
	snprintf(path, sizeof(path), "%s/%s", build ? build : ".", name);
	CHECK_NUMBER(unc_simulator_load(path, &library, &simulator, err), wanted);
	CU_ASSERT((simulator != NULL) == (wanted == 0));
	CU_ASSERT((library != NULL) == (wanted == 0));
	if (library)
		dlclose(library);
	return err->text;
}

static void test_own(void)
{
	struct unc_error err;

	CHECK_TEXT(loaded("common/.libs/libuncore-sim.so", 0, &err), "");
}

static void test_missing(void)
{
	struct unc_error err;

	CU_ASSERT_PTR_NOT_NULL(strstr(
		loaded("common/.libs/libuncore-none.so", UNC_ERR_UNAVAILABLE, &err),
		"a simulated machine needs the simulator beside the library, which `make install` "
		"puts there: "));
	CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "libuncore-none.so"));
}

static void test_other(void)
{
	static const char wanted[] =
		" is not the simulator of libuncore " UNC_VERSION ": install both from one build";
	struct unc_error err;

	CU_ASSERT_PTR_NOT_NULL(strstr(
		loaded("tests/.libs/other_simulator.so", UNC_ERR_UNAVAILABLE, &err), wanted));
	/* An object that is no simulator at all. */
	CU_ASSERT_PTR_NOT_NULL(
		strstr(loaded("common/.libs/libuncore.so", UNC_ERR_UNAVAILABLE, &err), wanted));
}

static void test_relative(void)
{
	const struct unc_simulator *simulator = NULL;
	struct unc_error err = {0};
	void *library = NULL;

	CHECK_NUMBER(
		unc_simulator_load("common/.libs/libuncore-sim.so", &library, &simulator, &err),
		UNC_ERR_DENIED);
	CHECK_TEXT(err.text,
		   "the simulator common/.libs/libuncore-sim.so is not loaded: the library's "
		   "own path must be absolute (LD_LIBRARY_PATH)");
}

/* It is looked for beside the library: in this static program beside the program, where there is none. */
static void test_beside(void)
{
	struct unc_machine *machine = NULL;
	struct unc_error err = {0};
	char path[4096], want[4200];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);

	CU_ASSERT_FATAL(n > 0);
	path[n] = '\0';
	*strrchr(path, '/') = '\0';
	snprintf(want, sizeof(want), ": %.4000s/libuncore-sim.so: ", path);
	CHECK_NUMBER(unc_machine_simulated("emerald-rapids", NULL, NULL, 0, &machine, &err),
		     UNC_ERR_UNAVAILABLE);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.text, want));
}

int main(void)
{
	static const struct suite_test tests[] = {
		{"the one of this build is loaded", test_own},
		{"one that is missing", test_missing},
		{"one of another build, and what is no simulator", test_other},
		{"a relative path", test_relative},
		{"beside the program", test_beside},
		{NULL, NULL},
	};

	return suite_run("simulator", tests);
}
