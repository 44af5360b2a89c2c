#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# `uncore stat`: where its report goes, what programs can read of it, and terminals.
: "${SRCDIR:=$(cd "$(dirname "$0")/../.." && pwd)}" "${BUILD:=$PWD}"
unset UNCORE_SIM UNCORE_SYSROOT UNCORE_ACCESS
for need in jq python3; do
	command -v $need >/dev/null || { echo "1..0 # SKIP no $need; install $need"; exit 0; }
done
title=stat
. "$SRCDIR/tests/integration/result.inc"
. "$SRCDIR/tests/integration/broken.inc"

run() { run_command stat "$@"; }

# ---- separators

# Parsed again it is what --json-lines has, whatever is between the fields: python's own reader for one
# letter, for more a loop that looks for the separator from the left. Units that are missing give reasons with
# commas and colons in them.
cat >"$tmp/parse.py" <<'EOP'
import csv, json, sys

def field(text, separator):
    if text.startswith('"'):
        value, at = "", 1
        while text[at:at + 2] == '""' or text[at] != '"':
            value += text[at]
            at += 2 if text[at] == '"' else 1
        return value, text[at + 1:]
    end = text.find(separator)
    return (text, "") if end < 0 else (text[:end], text[end:])

def fields(text, separator):
    row = []
    while True:
        value, text = field(text, separator)
        row.append(value)
        if not text:
            return row
        assert text.startswith(separator), text
        text = text[len(separator):]

def check(separator, text, told):
    assert text.pop(0) == "# SIMULATED sandybridge-ep"
    parsed = [fields(line, separator) for line in text]
    if len(separator) == 1:
        assert parsed == list(csv.reader(text, delimiter=separator)), "python reads it otherwise"
    assert parsed[0] == list(told[0]), parsed[0]
    assert len(parsed) == 1 + len(told)
    for row, one in zip(parsed[1:], told):
        assert len(row) == len(one), row
        for have, (key, want) in zip(row, one.items()):
            if key in ("time", "clock", "interval", "value"):
                assert (have == "-") if want is None else len(have) > 1, (key, have)
            elif isinstance(want, (int, float)):
                assert float(have) == want, (key, have, want)
            else:
                assert have == (want or ""), (key, have, want)

told = [json.loads(line) for line in open(sys.argv[1])]
assert all(one.pop("simulated") for one in told)
good = True
for name in sys.argv[2:]:
    separator, *text = open(name).read().splitlines()
    try:
        check(separator, text, told)
    except (AssertionError, IndexError) as error:
        print(f"# between fields {separator!r}: {error!r}")
        good = False
sys.exit(not good)
EOP

UNCORE_SIM=$(broken sandybridge-ep-no-imc3@1)
export UNCORE_SIM
items="-d 0.05 --per-unit -m memory_read_bytes -e imc.CAS_COUNT:RD"
# shellcheck disable=SC2086
run $items --json-lines && cp "$tmp/out" "$tmp/lines" &&
	jq -es 'length == 16 and (map(select(.value == null)) | length) == 2 and all(.[]; .simulated)' "$tmp/lines" >/dev/null
result "--json-lines: an object for each number"
files= n=0
for separator in , ';' '|' : . ' ' '	' 0 1 e E - + _ '#' T , ,, 00 '::' aa ab im 'co' '. ' ' , ' ', ' é '\t'; do
	# shellcheck disable=SC2086
	run $items -x "$separator"
	[ "$separator" = '\t' ] && separator='	'
	files="$files $tmp/rows$((n += 1))"
	{ echo "$separator"; cat "$tmp/out"; } >"$tmp/rows$n"
done
# shellcheck disable=SC2086
python3 "$tmp/parse.py" "$tmp/lines" $files
result "-x: any separator parses"
wrong=
for separator in '' '"' 'a"' "
" ",
"; do
	run -d 0.1 -x "$separator"
	[ $status -eq 2 ] && [ "$(wc -l <"$tmp/err")" -eq 1 ] &&
		grep -q "a separator without quotes and line ends" "$tmp/err" || wrong="$wrong '$separator'"
done
[ -z "$wrong" ]; result "-x: separators that cannot be"

# ---- groups: what cannot be counted has a row with its reason, and no number

cat >"$tmp/site.conf" <<'TABLE'
[group OURS]
title = of clusters with several CPUs
item = memory_read_bytes
item = link_tx_bytes
item = cha.CLOCKTICKS
TABLE
UNCORE_SIM=$(broken sandybridge-ep-no-qpi) UNCORE_SITE=$tmp/site.conf
export UNCORE_SIM UNCORE_SITE
run -g OURS -d 0.05
[ $status -eq 0 ] && [ "$(wc -l <"$tmp/err")" -eq 1 ] && grep -q 'note: group OURS: not here: link_tx_bytes: no qpi unit can be read: ' "$tmp/err" &&
	[ "$(grep -c '/s' "$tmp/out")" -eq 1 ]
result "-g: text has what can be counted, stderr why not the rest"
run -g OURS,OURS -d 0.05 -j
[ $status -eq 0 ] && jq -e '.metrics.memory_read_bytes > 0 and .metrics.link_tx_bytes == null and .events == {"cha.CLOCKTICKS": null} and
	(.invalid | keys) == ["cha.CLOCKTICKS", "link_tx_bytes"] and (.invalid["cha.CLOCKTICKS"] | test("no unit type cha"))' "$tmp/out" >/dev/null
result "-g, -j: null, and the reason in invalid"
for option in "" --per-socket --per-unit; do
	# shellcheck disable=SC2086
	run -g OURS -d 0.05 --json-lines $option
	[ $status -eq 0 ] && jq -es 'map(select(.name != "memory_read_bytes")) as $not | ($not | map(.name) | unique) == ["cha.CLOCKTICKS", "link_tx_bytes"] and
		all($not[]; .value == null and (.reason | length > 10)) and any(.[]; .value > 0)' "$tmp/out" >/dev/null
	result "-g, --json-lines $option: a row with its reason"
done
run -g OURS -d 0.05 -x,
[ $status -eq 0 ] && grep -q ',cha.CLOCKTICKS,-,count,,,,.*no unit type cha' "$tmp/out" && grep -q ',link_tx_bytes,-,bytes,,,,"\{0,1\}qpi' "$tmp/out"
result "-g, -x: a row with its reason"
unset UNCORE_SITE
UNCORE_SIM=montecito run -g OVERVIEW -d 0.05
[ $status -eq 0 ] && [ ! -s "$tmp/err" ]; result "-g: what no such CPU has is no news"

# ---- where the report goes: stdout belongs to the command

export UNCORE_SIM=sandybridge-ep
run -- echo from the command
[ $status -eq 0 ] && [ "$(cat "$tmp/out")" = "from the command" ] && grep -q '^memory_read_bytes .*B/s$' "$tmp/err" &&
	grep -q '^SIMULATED' "$tmp/err"
result "text: on stderr when a command runs"
run -x, -- echo from the command
[ $status -eq 0 ] && [ "$(cat "$tmp/out")" = "from the command" ] && grep -q '^time,clock,' "$tmp/err"
result "-x: likewise"
run --json-lines -- echo from the command
[ $status -eq 0 ] && [ "$(cat "$tmp/out")" = "from the command" ] && jq -es 'length == 2' "$tmp/err" >/dev/null
result "--json-lines: likewise"
run -j -- true
[ $status -eq 0 ] && [ ! -s "$tmp/err" ] && jq -e '.metrics | length == 2' "$tmp/out" >/dev/null
result "-j: on stdout, as ever"
run -o "$tmp/report" -- sh -c 'echo out; echo err >&2'
[ $status -eq 0 ] && [ "$(cat "$tmp/out" "$tmp/err")" = "out
err" ] && grep -q ' s measured, from 20' "$tmp/report"
result "-o: neither on stdout nor on stderr"
mkfifo "$tmp/fifo"
timeout -k 60 1 "$UNCORE" stat -d 0.1 -o "$tmp/fifo" >"$tmp/out" 2>"$tmp/err"; status=$?
[ $status -eq 124 ]; result "-o: a FIFO that nobody reads: a signal ends the wait"
timeout 60 "$UNCORE" stat -- true 2>&- >"$tmp/out"; status=$?
: >"$tmp/err"
[ $status -eq 1 ] && [ ! -s "$tmp/out" ]
result "no stderr to write to is a failure"

# ---- several runs

: >"$tmp/count"
run -r 3 -- sh -c 'echo x >>"$0"; echo said' "$tmp/count"
[ $status -eq 0 ] && [ "$(wc -l <"$tmp/count")" -eq 3 ] && [ "$(cat "$tmp/out")" = "said
said
said" ] && grep -Eq '^3 runs of [0-9.]+ s \+- [0-9.]+ %, from ' "$tmp/err" &&
	[ "$(grep -c '^memory_.*B/s  +- [0-9.]* %$' "$tmp/err")" -eq 2 ]
result "-r: the command three times, one report"
: >"$tmp/count"
run -r 5 -j -- sh -c 'echo x >>"$0"; [ $(wc -l <"$0") -lt 3 ] || exit 7' "$tmp/count"
[ $status -eq 7 ] && [ "$(wc -l <"$tmp/count")" -eq 3 ] && jq -e '.runs == 2' "$tmp/out" >/dev/null &&
	[ "$(cat "$tmp/err")" = "uncore: run 3 of 5 ended with status 7: the report is of those before it" ]
result "-r: the first run that fails is the last, and not counted"
run -r 5 -j -- sh -c 'exit 7'
[ $status -eq 7 ] && [ ! -s "$tmp/out" ] && grep -q 'run 1 of 5 ended with status 7: there is no report' "$tmp/err"
result "-r: the first one fails"
run -r 5 -- "$tmp/none"
[ $status -eq 127 ] && [ "$(wc -l <"$tmp/err")" -eq 1 ]
result "-r: no such command"

wrong=
for runs in 0 -1 ' -1' 1.5 0x2 2x '' 18446744073709551616; do
	run -r "$runs" -d 0.01
	[ $status -eq 2 ] && [ "$(cat "$tmp/err")" = \
		"uncore: stat: option '-r' needs a number of runs from 1, not '$runs'" ] || wrong="$wrong '$runs'"
done
[ -z "$wrong" ] || echo "# taken:$wrong"
[ -z "$wrong" ]; result "-r: numbers that cannot be"
run -r 010 -d 0.001 -j
[ $status -eq 0 ] && jq -e '.runs == 10' "$tmp/out" >/dev/null
result "-r: digits are decimal"

# ---- options as other programs have them, and values with a unit or forgotten

# refuses SENTENCE ARGUMENT...: status 2, and just this line.
refuses()
{
	sentence=$1
	shift
	run "$@"
	[ $status -eq 2 ] && [ ! -s "$tmp/out" ] && [ "$(cat "$tmp/err")" = "uncore: stat: $sentence" ]
}

wrong=
for time in '-d 0.05s' '-d 50ms'; do
	# shellcheck disable=SC2086
	run $time --json-lines && jq -es 'length == 2 and all(.[]; .interval > 0.04)' "$tmp/out" >/dev/null || wrong="$wrong '$time'"
done
for time in 0.02s 20ms; do # the first of many, not the only one at the end
	run -I $time -d 1s --json-lines && jq -es '.[0].interval | . > 0.019 and . < 0.9' "$tmp/out" >/dev/null || wrong="$wrong '-I $time'"
done
[ -z "$wrong" ] || echo "# refused:$wrong"
[ -z "$wrong" ]; result "-d, -I: seconds and milliseconds with their unit"
wrong=
for time in 1m 1h 1us 1S s ms -1s '1 s' 1sms '' x nan inf 0.9ms 1e10s; do
	refuses "option '-d' needs a number of seconds from 0.001 to 1e9, not '$time'; 500ms or 1.5s is accepted, too" \
		-d "$time" || wrong="$wrong '$time'"
done
for time in 0.5 0.0009s 0.5ms 1m; do
	refuses "option '-I' needs a number of milliseconds from 1 to 1e9, not '$time'; 500ms or 1.5s is accepted, too" \
		-d 0.05 -I "$time" || wrong="$wrong '$time'"
done
[ -z "$wrong" ] || echo "# accepted, or otherwise said:$wrong"
[ -z "$wrong" ]; result "-d, -I: which unit they need"

for option in -a --all-cpus; do
	refuses "there is no option '$option': without it, counts already cover the whole node" $option -d 0.05
	result "$option of perf"
done
for option in -A --no-aggr; do
	refuses "there is no option '$option': --per-socket and --per-unit show each socket or unit" $option -d 0.05
	result "$option of perf"
done
for option in -C --cpu; do
	refuses "there is no option '$option': counts cover the whole node; NAME:socket=N counts one socket" \
		$option 0 -d 0.05
	result "$option of perf"
done
for option in -p --pid; do
	refuses "there is no option '$option': counts cover the whole node, not a process" $option 1 -d 0.05
	result "$option of perf"
done
refuses "there is no option '--append': -o starts a new file, '-o - >>FILE' adds to one" --append -o "$tmp/report" -d 0.05
result "--append of perf"
wrong=
for words in '-x -d' '-o --json-lines' '-m -e' '-m --' '--output --json' '-I -d' '--separator -x' '-jx -d'; do
	# shellcheck disable=SC2086
	refuses "option '${words% *}' needs a value, and '${words#* }' is an option; see 'uncore help stat'" $words 0.05 ||
		wrong="$wrong '$words'"
done
[ -z "$wrong" ] || echo "# taken:$wrong"
[ -z "$wrong" ]; result "a value that is forgotten: the next option is not it"
run -x-d -d 0.05
[ $status -eq 0 ] && grep -q '^time-dclock-d' "$tmp/out"; result "a value that looks like an option, behind its letter"
(cd "$tmp" && run -o - -x, -d 0.05 -- echo said && [ ! -e ./- ] && [ "$(head -n 1 out)" = said ] && grep -q '^time,clock,' out)
result "-o -: on stdout, beside a command, too"
(cd "$tmp" && run_command verify -o - && [ $status -eq 2 ] || [ $status -eq 2 ] && [ ! -e ./- ] &&
	[ "$(cat err)" = "uncore: verify: option '-o' needs a file, not '-'; -j is on stdout" ])
result "verify -o -: no file of that name"

# ---- a reader that goes away

for form in "" -j -x, --json-lines; do
	# shellcheck disable=SC2086
	{ timeout 60 "$UNCORE" stat -I 10 -d 30 $form 2>"$tmp/err"; echo $? >"$tmp/status"; } | head -n 2 >"$tmp/out"
	status=$(cat "$tmp/status")
	calm "$tmp/err"
	[ "$status" -eq 141 ] && [ ! -s "$tmp/err" ]
	result "| head: quiet, with the status of SIGPIPE (${form:-text})"
done

# ---- terminals

# What a terminal of so many columns gets from a command.
cat >"$tmp/terminal.py" <<'EOP'
import fcntl, os, pty, struct, sys, termios

pid, fd = pty.fork()
if pid == 0:
    fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 24, int(sys.argv[1]), 0, 0))
    os.execv(sys.argv[2], sys.argv[2:])
text = b""
try:
    while more := os.read(fd, 4096):
        text += more
except OSError:
    pass
sys.stdout.write(text.decode().replace("\r\n", "\n"))
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
EOP
wrong=
for columns in 40 60 80 132; do
	UNCORE_SIM=emerald-rapids,memory=5600 timeout 60 python3 "$tmp/terminal.py" $columns "$UNCORE" stat -d 0.05 -g MEM --per-socket \
		>"$tmp/out"; status=$?
	[ $status -eq 0 ] && [ "$(grep -v ': late: ' "$tmp/out" | wc -L)" -le $columns ] || wrong="$wrong $columns"
	[ $columns -lt 80 ] || grep -q '^memory_read_bytes:socket=1 .*B/s' "$tmp/out" || wrong="$wrong $columns"
done
[ -z "$wrong" ] || echo "# wrong at:$wrong"
[ -z "$wrong" ]; result "a line is as wide as the terminal"
COLUMNS=50 UNCORE_SIM=emerald-rapids timeout 60 python3 "$tmp/terminal.py" 200 "$UNCORE" stat -d 0.05 --per-socket >"$tmp/out"; status=$?
[ $status -eq 0 ] && [ "$(grep -v ': late: ' "$tmp/out" | wc -L)" -le 50 ]; result "COLUMNS wins over the terminal"

finish
