#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# uncore verify, whole, on a machine that FUSE shows: mover.py says how many bytes it has moved, and its memory
# controllers count so many. Nothing else there has moved, so the LLC and the links are wrong, and must be called so.
# What verify says of readings is test_verdict.c; `uncore traffic` runs here on the machine that this is.
. "$(dirname "$0")/fuse.inc"
BUILD=$(cd "$BUILD" && pwd)
export LD_LIBRARY_PATH="$BUILD/common/.libs${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
command -v python3 >/dev/null || skip_all "python3 is missing"

echo "1..13"
mover="python3 $SRCDIR/tests/integration/mover.py $root 7f,ff"
json() { [ -s "$dir/out" ] && jq -e "$1" "$dir/out" >/dev/null; }
verdicts() { jq -r --arg name "$1" '[.[] | select(.check | startswith($name)).verdict] | unique | join(" ")' "$dir/out"; }

start_machine sandybridge-ep,load=0
real verify -j --traffic "$mover 1" -o "$dir/report"
[ $status -eq 1 ] && json 'type == "array" and all(.[]; keys == ["check", "expected", "measured", "reason", "verdict"] and
	([.verdict] | inside(["right", "wrong", "not judged"])) and (.verdict == "right" or .reason != null))'
result $? "-j: what the rows have"
[ "$(verdicts memory_read_bytes)" = right ] && [ "$(verdicts memory_write_bytes)" = right ] &&
	[ "$(jq '[.[] | select(.check | startswith("memory_"))] | length' "$dir/out")" -ge 20 ]
result $? "what memory counts is right: reads and writes, of both sockets, in local and in remote memory"
json 'any(.[]; .check == "memory_read_bytes of socket 1 while socket 0 reads memory of 1" and .measured == "3.20 GB")'
result $? "3.2 GB in a quarter of a second are measured as such"
[ "$(verdicts llc_misses)" = wrong ] && [ "$(verdicts link_tx_bytes)" != right ] &&
	json 'any(.[]; .check == "llc_misses of socket 0 while socket 0 reads memory of 0" and (.reason | test("in doubt: cbo.*metrics.tbl")))'
result $? "what has not moved is wrong, with the rows that are in doubt"
json '[.[] | select(.check | test("by wall time"))] | length > 10 and all(.[]; .verdict == "right")'
result $? "clocks are right"
jq -e '.cpu == "sandybridge-ep" and (.simulated | not) and .sockets == 2 and .version and .kernel and (.checks | length > 40)' \
	"$dir/report" >/dev/null && ! grep -qF "$(uname -n)" "$dir/report"
result $? "-o writes all rows with where they were made, but no name of the host"
real verify --traffic "$mover 2"
grep -q '^[0-9]* of [0-9]* clocks are right$' "$dir/out" && ! grep -q '^right' "$dir/out" &&
	grep -q '^wrong .* memory_read_bytes of socket 0' "$dir/out" && grep -q 'counts twice' "$dir/out" &&
	! grep -q 'units of imc.CAS_COUNT:RD' "$dir/out"
result $? "twice the bytes are wrong; text has what is not right, and a line a class"
status=0
for answer in 'echo hello' 'echo ready; read x; echo moved nan 1' 'echo ready; read x; echo moved -5 1' 'echo ready; read x; exec sleep 1000'; do
	printf '#!/bin/sh\n%s\n' "$answer" >"$dir/mover" && chmod +x "$dir/mover"
	case $answer in
	*sleep*) (exec env UNCORE_SYSROOT=$root UNCORE_RUN="$dir/run" timeout -s INT 4 "$uncore" verify -j --traffic "$dir/mover") >"$dir/out" 2>"$dir/err"
		[ $? -eq 124 ] && ! pgrep -f '^sleep 1000$' >/dev/null ;;
	*) real verify -j --traffic "$dir/mover"; [ $status -eq 1 ] && grep -q 'the program that moves bytes says' "$dir/out" ;;
	esac || { echo "# $answer: $(tail -c 300 "$dir/out")"; status=9; break; }
done
[ $status -ne 9 ]
result $? "a program that answers nonsense is named; one that hangs does not outlive Ctrl-C"
real verify -v --traffic false
grep -q '^right' "$dir/out" && grep -q '^not judged .*memory_read_bytes of socket 0' "$dir/out" && tr -s ' \n' ' ' <"$dir/out" | grep -q 'has ended'
result $? "a program that moves nothing: not judged; -v has what is right"
real verify -j
json 'any(.[]; .reason == "UNCORE_SYSROOT is another machine than the one that could move bytes")'
result $? "a machine of files: no traffic of this one"

UNCORE_SIM=emerald-rapids "$uncore" verify -j >"$dir/out"
[ $? -eq 0 ] && json 'map(.verdict) == ["not judged"] and (.[0].reason | test("simulated"))'
result $? "a simulated machine is not judged"

# ---- the traffic itself: on this machine

"$uncore" traffic -d 0.05 >"$dir/out" 2>"$dir/err"
status=$?
case $status in
0) awk '{ exit !($1 == "moved" && $2 > 0 && $3 > 0.04 && NF == 3) }' "$dir/out" ;;
*) grep -q '^uncore: traffic: a tenth of the free memory is less than four times the LLC$' "$dir/err" ;;
esac
result $? "traffic: bytes and seconds"
"$uncore" traffic --from 999 >"$dir/out" 2>"$dir/err"
[ $? -eq 2 ] && [ "$(cat "$dir/err")" = "uncore: traffic: option '--from' needs NUMA nodes of this machine, as 0 or 0-3,8, not '999'" ]
result $? "traffic: a node that there is not"
