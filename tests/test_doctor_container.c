/* SPDX-License-Identifier: BSD-3-Clause */
/* The doctor in a container: what it is known by, and what it is told that is missing. */
#include <unistd.h>

#include "doctor_kit.h"

/* A machine whose CPU is Sandy Bridge-EP, hardware by a device that is open anyway. */
static void machine(void)
{
	fake_new(&root);
	sandybridge();
	CHECK_NUMBER(symlink("/dev/null", fake_path(&root, "/dev/mem")), 0);
}

static void link_to(const char *path, const char *target)
{
	remove(fake_path(&root, "%s", path));
	CHECK_NUMBER(symlink(target, fake_path(&root, "%s", path)), 0);
}

/* Numbers of the machine's own namespaces: Linux, include/linux/proc_ns.h, PROC_PID_INIT_INO
 * 0xEFFFFFFC, PROC_USER_INIT_INO 0xEFFFFFFD. */
static void namespaces(const char *pid, const char *user)
{
	link_to("/proc/self/ns/pid", pid);
	link_to("/proc/self/ns/user", user);
}

static void test_machine(void)
{
	machine();
	doctor(root.path, "");
	CHECK_TEXT(line_of("container"), ""); /* of a kernel that does not say */
	namespaces("pid:[4026531836]", "user:[4026531837]");
	doctor(root.path, "");
	CHECK_TEXT(line_of("container"), "");
	fake_free(&root);
}

static void test_known_by(void)
{
	machine();
	namespaces("pid:[4026532201]", "user:[4026531837]");
	doctor(root.path, "");
	CHECK_TEXT(line_of("container"), "ok container: this is a container (by its namespaces)");
	fake_text(fake_path(&root, "/run/systemd/container"), "systemd-nspawn\n");
	doctor(root.path, "");
	CHECK_TEXT(line_of("container"), "ok container: this is a container (systemd-nspawn)");
	namespaces("pid:[4026531836]", "user:[4026531837]"); /* --pid=host */
	fake_text(fake_path(&root, "/.dockerenv"), "");
	doctor(root.path, "");
	CHECK_TEXT(line_of("container"), "ok container: this is a container (docker)");
	fake_text(fake_path(&root, "/run/.containerenv"), "");
	doctor(root.path, "");
	CHECK_TEXT(line_of("container"), "ok container: this is a container (podman)");
	remove(fake_path(&root, "/dev/mem"));
	doctor(root.path, ""); /* a dump of a container is none */
	CHECK_TEXT(line_of("container"), "");
	fake_free(&root);
}

static void test_users(void)
{
	fake_new(&root);
	cpu("GenuineIntel", "Intel(R) Xeon(R) CPU X5570 @ 2.93GHz", 6, 26, "fpu");
	CHECK_NUMBER(symlink("/dev/null", fake_path(&root, "/dev/mem")), 0);
	namespaces("pid:[4026531836]", "user:[4026532300]");
	doctor(root.path, "");
	CHECK_TEXT(line_of("container"),
		   "FAIL container: this process has a user namespace of its own: its "
		   "capabilities do not reach registers -> start it as root of the machine, "
		   "without a user namespace (docker: --userns=host; podman: as root)");
	fake_text(fake_path(&root, "/run/.containerenv"), "");
	doctor(root.path, "");
	CU_ASSERT_PTR_NOT_NULL(strstr(line_of("container"),
				      "FAIL container: this container (podman) has a user "));
	fake_size(fake_path(&root, "/dev/cpu/0/msr"), 0x10000);
	doctor(root.path, ""); /* registers are reached all the same */
	CU_ASSERT(strncmp(line_of("container"), "ok container: ", 14) == 0);
	fake_free(&root);
}

/* No device: the module, or the container? */
static void test_no_device(void)
{
	machine();
	remove(fake_path(&root, "/dev/cpu/0/msr"));
	doctor(root.path, "");
	CHECK_TEXT(line_of("msr"), "FAIL msr: /dev/cpu/0/msr: no such file -> load the msr module: "
				   "modprobe msr");
	fake_text(fake_path(&root, "/sys/module/msr/parameters/allow_writes"), "on\n");
	doctor(root.path, "");
	CHECK_TEXT(line_of("msr"),
		   "FAIL msr: /dev/cpu/0/msr: no such file, but the msr module is loaded -> make "
		   "/dev the machine's devtmpfs; for a service, see PrivateDevices=");
	fake_text(fake_path(&root, "/.dockerenv"), "");
	doctor(root.path, "");
	CHECK_TEXT(line_of("msr"), "FAIL msr: /dev/cpu/0/msr: no such file, but the msr module is "
				   "loaded -> give the container the devices: --device /dev/cpu");
	remove(fake_path(&root, "/sys/module/msr/parameters/allow_writes"));
	rmdir(fake_path(&root, "/sys/module/msr/parameters"));
	rmdir(fake_path(&root, "/sys/module/msr"));
	doctor(root.path, "");
	CHECK_TEXT(line_of("msr"),
		   "FAIL msr: /dev/cpu/0/msr: no such file -> load the msr module on the machine "
		   "(modprobe msr), and give the container the devices: --device /dev/cpu");
	fake_free(&root);
}

int main(void)
{
	static const struct suite_test tests[] = {
		{"the machine itself is no container", test_machine},
		{"what a container is known by", test_known_by},
		{"a user namespace", test_users},
		{"no device: is it the module or the container?", test_no_device},
		{NULL, NULL},
	};

	return suite_run("doctor_container", tests);
}
