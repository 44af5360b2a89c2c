/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Signals that end `uncore stat COMMAND`: what a terminal sends the command has got as well; all
 * others are handed on. The signal comes as if from the kernel or from a process, as the test says.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/tool/tool.h"
#include "suite.h"

/* Shared with the process that runs the command. */
static struct {
	int number,
		code; /* of the signal that comes at the first wait, and if need be at the next */
	int comes;    /* so often it came */
	int handed;   /* to the command */
} * seen;

int kill(pid_t pid, int number)
{
	if (number == seen->number)
		seen->handed++;
	return REAL(kill)(pid, number);
}

/* The signal; once it was handed on, the end of the command. */
int sigtimedwait(const sigset_t *set, siginfo_t *info, const struct timespec *timeout)
{
	(void)timeout;
	*info = (siginfo_t){0};
	if (seen->handed && waitid(P_ALL, 0, info, WEXITED | WNOWAIT) == 0)
		return SIGCHLD;
	info->si_code = seen->code;
	seen->comes++;
	CU_ASSERT(sigismember(set, seen->number) == 1);
	return sigismember(set, seen->number) == 1 ? seen->number : -1;
}

/* The exit status of `uncore stat ARGUMENT...` as the signal comes. */
static int run(char **argv, int argc)
{
	static const struct command command = {.name = "stat",
					       .run = cmd_stat,
					       .groups = REPORT | COUNT,
					       .max = SIZE_MAX,
					       .runs_command = true};
	static const int terminal[] = {SIGHUP, SIGINT, SIGQUIT};
	int status = -1;
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		setenv("UNCORE_SIM", "sandybridge-ep", 1);
		for (size_t i = 0; i < sizeof(terminal) / sizeof(terminal[0]); i++)
			signal(terminal[i], SIG_DFL); /* who started the test may not take them */
		if (!freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr))
			_exit(99);
		_exit(command_run(&command, argc, argv));
	}
	CU_ASSERT_FATAL(pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void test_command(void)
{
	static const struct {
		int number, code;
		bool handed;
	} rows[] = {
		{SIGINT, SI_KERNEL, false},   {SIGQUIT, SI_KERNEL, false},
		{SIGHUP, SI_KERNEL, false},   {SIGINT, SI_USER, true},
		{SIGQUIT, SI_USER, true},     {SIGHUP, SI_USER, true},
		{SIGTERM, SI_USER, true},     {SIGUSR1, SI_USER, true},
		{SIGUSR2, SI_QUEUE, true},    {SIGALRM, SI_KERNEL, true},
		{SIGALRM, SI_USER, true},     {SIGXCPU, SI_KERNEL, true},
		{SIGVTALRM, SI_KERNEL, true}, {SIGPROF, SI_KERNEL, true},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char *argv[] = {"stat", "sleep", "5", NULL};

		memset(seen, 0, sizeof(*seen));
		seen->number = rows[i].number;
		seen->code = rows[i].code;
		CHECK_NUMBER(run(argv, 3), 128 + rows[i].number);
		/* Not handed on, the second one ends us, whatever the command does. */
		CHECK_NUMBER(seen->handed, rows[i].handed);
		CHECK_NUMBER(seen->comes, rows[i].handed ? 1 : 2);
	}
}

static void test_alone(void)
{
	static const int numbers[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGUSR1,   SIGUSR2,
				      SIGALRM, SIGTERM, SIGXCPU, SIGVTALRM, SIGPROF};

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		char *argv[] = {"stat", NULL};

		memset(seen, 0, sizeof(*seen));
		seen->number = numbers[i];
		seen->code = i % 2 ? SI_KERNEL : SI_USER;
		CHECK_NUMBER(run(argv, 1), 0);
		CHECK_NUMBER(seen->comes, 1);
	}
}

int main(void)
{
	static const struct suite_test tests[] = {
		{"stat alone: any of them ends it with its report", test_alone},
		{"stat COMMAND: handed on, unless a terminal sent it", test_command},
		{NULL, NULL},
	};

	seen = mmap(NULL, sizeof(*seen), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	return seen == MAP_FAILED ? 99 : suite_run("stat_signals", tests);
}
