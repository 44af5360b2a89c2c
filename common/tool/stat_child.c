/* SPDX-License-Identifier: BSD-3-Clause */
#include "stat_child.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "stat.h"

enum { NOT_FOUND = 127, NOT_RUN = 126 }; /* exit statuses, as of a shell */

/* In the child: waits until counting has begun, then becomes the command. */
static void become_command(const struct child *c, int parent)
{
	char go;

	sigaction(SIGPIPE, &c->on_pipe, NULL);
	sigaction(SIGXFSZ, &c->on_size, NULL);
	sigprocmask(SIG_SETMASK, &c->signals, NULL);
	if (c->out >= 0)
		dup2(c->out, STDOUT_FILENO);
	if (read(parent, &go, 1) == 1) { /* else counting did not begin */
		execvp(c->word[0], c->word);
		int error = errno;

		if (write(parent, &error, sizeof(error)) < 0)
			_exit(NOT_RUN);
	}
	_exit(NOT_RUN);
}

int child_start(struct child *c)
{
	int pair[2];

	c->pid = -1;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0)
		c->pid = fork();
	if (c->pid < 0) {
		c->pid = 0;
		return failure("cannot run %s: %s", c->word[0], strerror(errno));
	}
	if (c->pid == 0) {
		close(pair[0]);
		become_command(c, pair[1]);
	}
	close(pair[1]);
	c->held = pair[0];
	return 0;
}

void child_abandon(struct child *c)
{
	if (!c->pid)
		return;
	close(c->held);
	waitpid(c->pid, NULL, 0);
	c->pid = 0;
}

int child_release(struct child *c)
{
	int error = 0;

	if (!c->pid)
		return 0;
	/* The socket is closed when the command runs; else the reason comes through it. */
	if (write(c->held, "g", 1) != 1 || read(c->held, &error, sizeof(error)) <= 0)
		error = 0;
	if (error == 0) {
		close(c->held);
		return 0;
	}
	child_abandon(c);
	failure("cannot run %s: %s", c->word[0], strerror(error));
	return error == ENOENT ? NOT_FOUND : NOT_RUN;
}

bool child_ended(struct child *c)
{
	int status;

	if (!c->pid || waitpid(c->pid, &status, WNOHANG) != c->pid)
		return false;
	c->pid = 0;
	c->status = WIFSIGNALED(status) ? BY_SIGNAL + WTERMSIG(status) : WEXITSTATUS(status);
	return true;
}
