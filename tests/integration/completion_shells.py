# SPDX-License-Identifier: BSD-3-Clause
"""Completion in a real shell: what a line becomes when TAB is pressed behind it.

usage: completion_shells.py bash|zsh SHELL SCRIPT FOLDER. SCRIPT is common/tool/completion/uncore or _uncore; the
command is in FOLDER. Lines of stdin: what is typed, a tab, what is in the line then, with | at its end.
Prints "ok" or "not ok" and the case, a line each.
"""
import os
import pty
import re
import select
import signal
import sys

kind, shell, script, folder = sys.argv[1:]
PATIENCE = 60  # seconds after which it hangs

# Ctrl-G shows the line, between marks that are not in what is typed.
SETUP = {
    "bash": "PS1=; bind 'set bell-style none'; bind 'set completion-query-items 0'; bind 'set page-completions off'; "
            "bind -x '\"\\C-g\": printf \"\\n<%s%s>\\n\" LINE= \"$READLINE_LINE\"'; source '%s'; "
            "printf '<%%s>' READY\n",
    "zsh": "PS1=; unsetopt beep zle_bracketed_paste list_beep; fpath=('%s' $fpath); autoload -Uz compinit; "
           "compinit -D -u; show() { print -r; print -r -- \"<LINE=$BUFFER>\" }; zle -N show; "
           "bindkey '^G' show; bindkey '^U' kill-whole-line; unset zle_bracketed_paste; printf '<%%s>' READY\n",
}
ARGUMENTS = {"bash": ["bash", "--norc", "--noprofile", "-i"], "zsh": ["zsh", "-f", "-i"]}

pid, master = pty.fork()
if pid == 0:
    os.environ.update({"PATH": folder + ":" + os.environ["PATH"], "TERM": "xterm", "LC_ALL": "C"})
    os.environ.pop("INPUTRC", None)
    os.environ.pop("ZDOTDIR", None)
    os.execv(shell, ARGUMENTS[kind])
text = b""


def until(mark):
    """What comes up to a mark, which is taken away."""
    global text
    while not (found := re.search(mark, text, re.S)):
        if not select.select([master], [], [], PATIENCE)[0]:
            os.kill(pid, signal.SIGKILL)
            sys.exit(f"not ok nothing more came: {text[-300:]!r}")
        text += os.read(master, 65536)
    text = text[found.end():]
    return found


setup = SETUP[kind].replace("'%s'", "'" + (script if kind == "bash" else os.path.dirname(script)) + "'", 1)
os.write(master, setup.replace("%%", "%").encode())
until(rb"<READY>")
for case in sys.stdin:
    typed, wanted = case.rstrip("\n").split("\t")
    os.write(master, typed.encode() + b"\t\x07")
    line = until(rb"<LINE=([^>]*)>").group(1).decode() + "|"
    print("ok" if line == wanted else "not ok", f"{kind}: {typed}<TAB>")
    if line != wanted:
        print(f"# {line} in place of {wanted}")
    os.write(master, b"\x15")  # the line is empty again
os.kill(pid, signal.SIGKILL)
