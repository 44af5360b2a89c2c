/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * LD_PRELOAD: what a process asks of a machine without a system call, answered by a simulated one
 * (fuse_machine): registers in mapped memory, and the TSC.
 *
 *   VIRTUAL_MACHINE=ROOT   the root of the machine; without it nothing changes. For this process
 *                          only, not for the programs that it starts
 *
 * A mapping of ROOT/dev/mem that may be written (one to read only is a copy of the moment, which
 * does for tables) can neither be read nor written: the access faults, the handler fetches
 * the eight bytes from ROOT/memory, lets the one instruction run on them (trap flag), and carries
 * to the machine what it wrote. How much that was shows by a pattern that was there before, so a
 * store must not depend on what it overwrites, as stores to registers do not. rdtsc faults as well
 * (PR_SET_TSC). One thread at a time is in such an access. Elsewhere than on x86-64 this does
 * nothing.
 */
#if !defined(__x86_64__)
typedef int nothing_to_do_here;
#else
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

enum { MAX_REGIONS = 1024, PAGE = 4096, PAGE_FAULT_WRITE = 2, TRAP_FLAG = 0x100 };

static const uint64_t pattern = 0xa5c396e15a3c691e;

static int memory = -1, tsc = -1;
static char mapped_file[4096]; /* ROOT/dev/mem, as /proc tells it */

static struct region {
	uintptr_t start;
	size_t length;
	off_t offset;
} region[MAX_REGIONS];
static size_t n_regions;

/* The access that is under way, from its fault to its trap. */
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static struct {
	uintptr_t word;
	off_t offset;
	bool write;
} access_now;

static void __attribute__((noreturn)) give_up(const char *why)
{
	dprintf(STDERR_FILENO, "live_machine: %s: %s\n", why, strerror(errno));
	_exit(125);
}

/* ---- mappings */

static const struct region *region_of(uintptr_t at)
{
	for (size_t i = 0; i < n_regions; i++)
		if (at >= region[i].start && at - region[i].start < region[i].length)
			return &region[i];
	return NULL;
}

static bool is_memory(int fd)
{
	char link[40], path[sizeof(mapped_file)];

	if (memory < 0 || fd < 0)
		return false;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	ssize_t n = readlink(link, path, sizeof(path) - 1);

	path[n > 0 ? n : 0] = '\0';
	return n > 0 && strcmp(path, mapped_file) == 0;
}

static void *real_mmap(void *at, size_t length, int access, int flags, int fd, off_t offset)
{
	return (void *)syscall(SYS_mmap, at, length, access, flags, fd, offset);
}

void *mmap(void *at, size_t length, int access, int flags, int fd, off_t offset)
{
	if (!(access & PROT_WRITE) || !is_memory(fd))
		return real_mmap(at, length, access, flags, fd, offset);
	void *map = real_mmap(NULL, length, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (map == MAP_FAILED)
		return map;
	pthread_mutex_lock(&turn);
	if (n_regions == MAX_REGIONS)
		give_up("too many mappings");
	region[n_regions++] = (struct region){(uintptr_t)map, length, offset};
	pthread_mutex_unlock(&turn);
	return map;
}

void *mmap64(void *at, size_t length, int access, int flags, int fd, off_t offset)
{
	return mmap(at, length, access, flags, fd, offset);
}

int munmap(void *at, size_t length)
{
	pthread_mutex_lock(&turn);
	for (size_t i = 0; i < n_regions; i++)
		if (region[i].start == (uintptr_t)at)
			region[i] = region[--n_regions];
	pthread_mutex_unlock(&turn);
	return (int)syscall(SYS_munmap, at, length);
}

/* ---- accesses */

/* rdtsc, rdtscp: the TSC of the machine; the processor's number is 0. */
static bool emulate_tsc(ucontext_t *context)
{
	greg_t *reg = context->uc_mcontext.gregs;
	const unsigned char *code = (const unsigned char *)reg[REG_RIP];
	bool plain = code[0] == 0x0f && code[1] == 0x31;
	bool with_cpu = code[0] == 0x0f && code[1] == 0x01 && code[2] == 0xf9;
	char text[32];

	if (!plain && !with_cpu)
		return false;
	ssize_t n = pread(tsc, text, sizeof(text) - 1, 0);

	if (n <= 0)
		give_up("the TSC");
	text[n] = '\0';
	uint64_t now = strtoull(text, NULL, 10);

	reg[REG_RAX] = (greg_t)(now & UINT32_MAX);
	reg[REG_RDX] = (greg_t)(now >> 32);
	if (with_cpu)
		reg[REG_RCX] = 0;
	reg[REG_RIP] += plain ? 2 : 3;
	return true;
}

static void *page_of(uintptr_t at)
{
	return (void *)(at & ~(uintptr_t)(PAGE - 1));
}

static void on_fault(int number, siginfo_t *info, void *user)
{
	ucontext_t *context = user;
	uintptr_t at = (uintptr_t)info->si_addr;
	const struct region *in = info->si_code == SEGV_ACCERR ? region_of(at) : NULL;
	int before = errno;

	if (!in) {
		if (info->si_code != SI_KERNEL || !emulate_tsc(context))
			signal(number, SIG_DFL); /* it comes again */
		errno = before;
		return;
	}
	pthread_mutex_lock(&turn);
	access_now.write = context->uc_mcontext.gregs[REG_ERR] & PAGE_FAULT_WRITE;
	access_now.word = access_now.write ? at : at & ~(uintptr_t)7;
	access_now.offset = in->offset + (off_t)(access_now.word - in->start);
	if (mprotect(page_of(at), PAGE, PROT_READ | PROT_WRITE) < 0)
		give_up("mprotect");
	if (access_now.write)
		memcpy((void *)access_now.word, &pattern,
		       PAGE - access_now.word % PAGE < 8 ? 4 : 8);
	else if (pread(memory, (void *)access_now.word, 8, access_now.offset) != 8)
		give_up("a read of memory");
	context->uc_mcontext.gregs[REG_EFL] |= TRAP_FLAG;
	errno = before;
}

/* The instruction has run. */
static void on_trap(int number, siginfo_t *info, void *user)
{
	ucontext_t *context = user;
	uint32_t half[2] = {0, (uint32_t)(pattern >> 32)};
	int before = errno;

	(void)number;
	(void)info;
	context->uc_mcontext.gregs[REG_EFL] &= ~(greg_t)TRAP_FLAG;
	if (access_now.write) {
		memcpy(half, (const void *)access_now.word,
		       PAGE - access_now.word % PAGE < 8 ? 4 : 8);
		size_t size = half[1] == (uint32_t)(pattern >> 32) ? 4 : 8;

		/* A bus takes a write that nobody wants. */
		if (pwrite(memory, half, size, access_now.offset) < 0 && errno != EIO)
			give_up("a write of memory");
	}
	if (mprotect(page_of(access_now.word), PAGE, PROT_NONE) < 0)
		give_up("mprotect");
	pthread_mutex_unlock(&turn);
	errno = before;
}

/* ---- signals: a fault that is blocked would be the end */

static int mask(int how, const sigset_t *set, sigset_t *old)
{
	sigset_t less;

	if (set && memory >= 0 && how != SIG_UNBLOCK) {
		less = *set;
		sigdelset(&less, SIGSEGV);
		sigdelset(&less, SIGTRAP);
		set = &less;
	}
	return syscall(SYS_rt_sigprocmask, how, set, old, (size_t)(_NSIG / 8)) < 0 ? errno : 0;
}

int pthread_sigmask(int how, const sigset_t *restrict set, sigset_t *restrict old)
{
	return mask(how, set, old);
}

int sigprocmask(int how, const sigset_t *restrict set, sigset_t *restrict old)
{
	int rc = mask(how, set, old);

	errno = rc ? rc : errno;
	return rc ? -1 : 0;
}

/* ---- beginning */

/* A program starts before it could answer: what a child becomes has the real TSC. */
static void in_child(void)
{
	prctl(PR_SET_TSC, PR_TSC_ENABLE);
}

static int open_file(const char *root, const char *name, char path[4096])
{
	char text[4096];

	if (!realpath(root, path) ||
	    snprintf(text, sizeof(text), "%s/%s", path, name) >= (int)sizeof(text))
		give_up(root);
	memcpy(path, text, sizeof(text));
	return open(path, O_RDWR | O_CLOEXEC);
}

static void __attribute__((constructor)) begin(void)
{
	const char *root = getenv("VIRTUAL_MACHINE");
	struct sigaction fault = {.sa_flags = SA_SIGINFO}, trap = fault;
	char path[4096];

	if (!root || !*root)
		return;
	tsc = open_file(root, "tsc", path);
	memory = open_file(root, "memory", path);
	if (tsc < 0 || memory < 0)
		give_up(root);
	memcpy(mapped_file, path, sizeof(path));
	memcpy(strrchr(mapped_file, '/'), "/dev/mem", sizeof("/dev/mem"));
	fault.sa_sigaction = on_fault;
	trap.sa_sigaction = on_trap;
	sigfillset(&fault.sa_mask);
	sigdelset(&fault.sa_mask, SIGTRAP);
	trap.sa_mask = fault.sa_mask;
	if (sigaction(SIGSEGV, &fault, NULL) < 0 || sigaction(SIGTRAP, &trap, NULL) < 0 ||
	    pthread_atfork(NULL, NULL, in_child) || prctl(PR_SET_TSC, PR_TSC_SIGSEGV) < 0)
		give_up("signals");
	unsetenv("VIRTUAL_MACHINE");
}
#endif
