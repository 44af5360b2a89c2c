#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The command top without a terminal: frames one after the other, what they hold, and that counters
# are restored whatever ends it. In a terminal: top_terminal.py, which runs behind it.
. "$(dirname "$0")/fuse.inc"

# Line NUMBER of the last run's output.
line() { sed -n "$1p" "$dir/out"; }
# Nothing is said in FILE but what these machines lack of the group: nobody tells the speed of their memory.
quiet() { ! grep -qv '^uncore: note: group OVERVIEW: not here: memory_utilization: what the memory of socket 0 can move is not known: ' "$1"; }

start_machine sandybridge-ep
# In a second, of one socket: 2.702e8 reads of 64 bytes on 4 channels (kill.sh), so 17.2928e9 bytes, a
# quarter of it on each.
real top -n 2
[ "$status" -eq 0 ] && [ "$(grep -c '^uncore top ' "$dir/out")" -eq 2 ] && [ "$(wc -l <"$dir/err")" -eq 1 ] && quiet "$dir/err" &&
	! grep -q "$(printf '\033')" "$dir/out" && line 1 | grep -q ' sandybridge-ep, 2 sockets, OVERVIEW  1.000 s '
result $? "two frames, without escape codes"
! line 1 | grep -q SIMULATED
result $? "it is not simulated for the command"
[ "$(grep -c '^memory_read_bytes:socket=[01]  *17\.29 GB/s  \[' "$dir/out")" -eq 4 ]
result $? "bytes of each socket, in the machine's time"
real counters -j
[ "$(jq length "$dir/out")" -eq 0 ]
result $? "no counter is in use behind it"

real top -n 3 -I 250
[ "$(grep -c '^uncore top .* 0\.250 s ' "$dir/out")" -eq 3 ]
result $? "-I: intervals of that length"

LC_ALL=C COLUMNS=40 real top -n 1
[ "$(awk 'length > 40' "$dir/out" | wc -l)" -eq 0 ] && grep -q '^memory_read_bytes:socket=0 ' "$dir/out"
result $? "COLUMNS: the width"

# More letters than anybody has: a frame has an end all the same.
for columns in 1000 2000 99999 99999999999; do
	(COLUMNS=$columns UNCORE_SIM=emerald-rapids timeout -s KILL 120 "$BUILD/common/tool/uncore" top -n 1 -I 10) >"$dir/out" 2>&1 &&
		grep -q '^memory_read_bytes:socket=0 .* 99\.4' "$dir/out" || break
done
result $? "COLUMNS: a width that no line has"

# Endless: ended from outside, by the pid that the journal has.
mkdir "$dir/endless"
for signal in INT TERM HUP; do
	(export UNCORE_RUN="$dir/run" && dir=$dir/endless && real top) &
	pid=$!
	until real counters -j && [ "$(jq length "$dir/out")" -gt 0 ]; do
		kill -0 $pid 2>/dev/null || break
	done
	counters=$(jq length "$dir/out")
	kill -$signal "$(jq '.[0].pid' "$dir/out")"
	wait $pid
	real counters -j
	[ "$counters" -gt 0 ] && [ "$(jq length "$dir/out")" -eq 0 ] && quiet "$dir/endless/err"
	result $? "SIG$signal: counters were in use, and none behind it"
done
stop_machine

# ---- on a simulated machine: options, and a reader that goes away

run()
{
	timeout 60 "$BUILD/common/tool/uncore" "$@" >"$dir/out" 2>"$dir/err"
	status=$?
}
refused() { [ "$status" -eq 2 ] && [ "$(cat "$dir/err")" = "uncore: $1" ]; }
export UNCORE_SIM=emerald-rapids
run top -n 0; refused "top: option '-n' needs a number of frames from 1, not '0'"
result $? "-n 0"
run top -n -3; refused "top: option '-n' needs a number of frames from 1, not '-3'"
result $? "-n -3"
run top -I 5; refused "top: option '-I' needs a number of milliseconds from 10 to 1e9, not '5'; 500ms or 1.5s is accepted, too"
result $? "-I too short"
run top -I x; refused "top: option '-I' needs a number of milliseconds from 10 to 1e9, not 'x'; 500ms or 1.5s is accepted, too"
result $? "-I that is no number"
run top -j; refused "top: unknown option '-j'; see 'uncore help top'"
result $? "no JSON: that is what stat is for"
run top extra; refused "top: unexpected argument 'extra'; see 'uncore help top'"
result $? "an argument"
{ timeout 60 "$BUILD/common/tool/uncore" top -I 10 2>"$dir/err"; echo $? >"$dir/status"; } | head -n 1 >"$dir/out"
[ "$(cat "$dir/status")" -eq 141 ] && quiet "$dir/err"
result $? "a reader that goes away ends it, without a word"
run top -n 1 >/dev/full; timeout 60 "$BUILD/common/tool/uncore" top -n 3 -I 10 >/dev/full 2>"$dir/err"
[ $? -eq 1 ] && grep -q '^uncore: cannot write' "$dir/err"
result $? "frames that cannot be written"
UNCORE_SIM=$(broken emerald-rapids-no-imc3@1) run top -n 1 -I 20
[ "$status" -eq 0 ] && grep -q '^memory_read_bytes:socket=1 .*\*$' "$dir/out" && grep -q '^\* of fewer units: memory_read_bytes:socket=1 (and 2 more): 7 of 8 units:' "$dir/out"
result $? "a sum that goes without a unit has a mark and a note"

if command -v python3 >/dev/null; then
	python3 "$(dirname "$0")/top_terminal.py" "$BUILD/common/tool/uncore" "$(broken emerald-rapids-no-units)" >"$dir/terminal"
	[ -s "$dir/terminal" ] && grep -q '^1\.\.' "$dir/terminal"
	result $? "the terminal's tests came to their end"
	while read -r row; do
		case $row in
		ok*) result 0 "${row#ok * - }" ;;
		not*) result 1 "${row#not ok * - }" ;;
		'#'*) echo "$row" ;;
		esac
	done <"$dir/terminal"
else
	number=$((number + 1))
	echo "ok $number - in a terminal # SKIP no python3"
fi
echo "1..$number"
