#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# uncore verify on the simulated machine of a CPU of each kind (kinds.inc; ALL=1: of each CPU): nothing there is wrong,
# so nothing may be called so, and what can be judged is. On the 13 CPUs whose rates scripts/make-workload has solved,
# that shows nothing about formulas: rates and expectations come from the same ones (tests/README.md, "What the tests
# show"). VERIFY_SEEDS=100: with that many loads that change with time, too (one here). What is called wrong on machines
# that are, is verify_wrong.sh.
: "${SRCDIR:=$(cd "$(dirname "$0")/../.." && pwd)}" "${BUILD:=$PWD}"
. "$(dirname "$0")/result.inc"
. "$(dirname "$0")/kinds.inc"
title=verify
export COLUMNS=1000 # sentences stand on one line
command -v jq >/dev/null || { echo "1..0 # SKIP there is no jq"; exit 0; }

json() { [ -s "$tmp/out" ] && jq -e "$1" "$tmp/out" >/dev/null; }
all_right() { [ "$status" -eq 0 ] && json 'all(.[]; .verdict != "wrong")'; }

for cpu in $(kinds_of_cpus); do
	export UNCORE_SIM="$cpu"
	run verify -j --device told
	if [ "$cpu" = montecito ]; then
		all_right && json 'any(.[]; .verdict == "not judged" and (.reason | test("Itanium")))'
		result "$cpu: nothing is judged that needs traffic, and it says why"
		continue
	fi
	# Each of these is a check of its own on every CPU.
	all_right && json '[.[] | select(.verdict == "right").check] as $right |
		all("memory_read_bytes of socket 0 while socket 0 reads memory of 0",
		    "memory_write_bytes of socket 1 while socket 0 writes memory of 1",
		    "llc_misses of socket 1 while socket 1 reads memory of 1",
		    "memory_read_latency_ns of socket 0 while socket 0 reads memory of 0",
		    "memory_read_bytes of two sessions at once",
		    "registers that a stop has not restored, of"; . as $name | any($right[]; startswith($name)))'
	result "$cpu: all that is judged is right"
	seed=0
	while [ $((seed += 1)) -le "${VERIFY_SEEDS:-1}" ]; do
		UNCORE_SIM="$cpu,load=live,seed=$seed" run verify -j --device told
		all_right || break
	done
	[ $seed -gt "${VERIFY_SEEDS:-1}" ]
	result "$cpu: nor is anything wrong beside a load that changes (seed $((seed - 1)))"
done

# Each portable metric is judged somewhere, or why not is told.
export UNCORE_SIM=emerald-rapids,memory=4800
run verify -j --device told
names=$("$UNCORE" metrics -j | jq -c '[.[] | select(.of == "portable").name]')
all_right && json "[.[].check] as \$check | all($names[]; . as \$name | any(\$check[]; startswith(\$name)))"
result "each portable metric has a check"
json 'type == "array" and all(.[]; keys == ["check", "expected", "measured", "reason", "verdict"] and
	([.verdict] | inside(["right", "wrong", "not judged"])) and (.verdict == "right" or .reason != null))'
result "-j: what the rows have"

run verify -j -o "$tmp/report"
[ "$status" -eq 0 ] && jq -e --slurpfile out "$tmp/out" '.cpu == "emerald-rapids" and .simulated and .sockets == 2 and
	.access == "simulated" and .version and .kernel and .checks == $out[0]' "$tmp/report" >/dev/null &&
	! grep -qF "$(uname -n)" "$tmp/report"
result "-o: a file with the same checks and where they were made, but no name of the host"

# A report that was made on hardware, where one metric was wrong on one socket, one was not judged, and another CPU's.
mkdir "$tmp/machines"
jq -c '.simulated = false | .checks |= map(if .check | startswith("llc_misses of socket 1") then .verdict = "wrong"
	elif .check | startswith("memory_write_bytes of") then .verdict = "not judged" else . end)' "$tmp/report" >"$tmp/machines/a.json"
jq -c '.simulated = false | .cpu = "icelake-sp"' "$tmp/report" >"$tmp/machines/b.json"
cp "$tmp/report" "$tmp/machines/c.json" # of a simulated machine
verified() { UNCORE_REPORTS=$1 run metrics -c "$2" -j && json "[.[] | select(.verified).name] | $3"; }
verified "$tmp/machines" emerald-rapids 'contains(["memory_read_bytes", "llc_lookups"]) and
	all(.[]; . != "llc_misses" and . != "memory_write_bytes" and . != "pcie_read_bytes")' &&
	verified "$tmp/machines" icelake-sp 'contains(["llc_misses", "memory_write_bytes"])' &&
	verified "$tmp/machines" skylake-sp 'length == 0' && verified "$tmp/none" emerald-rapids 'length == 0' &&
	UNCORE_REPORTS=$tmp/machines run metrics -c emerald-rapids memory_ &&
	grep -q '^memory_read_bytes .* Verified on this CPU[.]$' "$tmp/out" &&
	! grep -q '^memory_write_bytes .*Verified' "$tmp/out"
result "metrics that a report has found right are verified on that CPU, and no others"

run verify
[ "$status" -eq 0 ] && grep -q '^SIMULATED emerald-rapids' "$tmp/out" && tail -n 1 "$tmp/out" | grep -q '^[0-9]* right, 0 wrong, [0-9]* not judged$'
result "text: that it is simulated, and how many there are"
run verify -o "$tmp/no/such/folder"
[ "$status" -eq 1 ] && grep -q 'cannot write' "$tmp/err" && [ ! -s "$tmp/out" ]
result "a file that cannot be written: nothing is measured for it"

# By the kernel's driver, and by that alone: registers cannot be looked at, which is told, not wrong.
UNCORE_SIM=icelake-sp,kernel=on run verify -j
all_right && json 'any(.[]; .verdict == "right" and (.check | endswith("by the kernel'"'"'s driver and by registers")))'
result "the kernel's driver beside registers"
UNCORE_SIM=icelake-sp,kernel=on,rights=perf run verify -j
all_right && json 'any(.[]; .verdict == "right" and (.check | startswith("memory_read_bytes of socket 0")))'
result "the kernel's driver alone"
UNCORE_SIM=emerald-rapids,sockets=1 run verify -j
all_right && json 'any(.[]; .verdict == "not judged" and .reason == "there is one socket")'
result "one socket: what needs two is not judged"

UNCORE_SIM=granite-rapids,split=imc run verify -j
all_right && json '[.[] | select(.check | endswith("alone")) | select(.verdict == "right").reason // empty] | unique ==
	[range(2) as $socket | "for site.tbl: nodes unit=imc clusters=0,0,0,0,0,0,1,1,1,1,1,1 socket=\($socket)"]'
result "two nodes a socket: which memory controllers are whose"
# The map of Granite Rapids: Linux tools/perf/arch/x86/util/pmu.c, snc3_map.
UNCORE_SIM=granite-rapids,clusters=3 run verify -j
all_right && json '[.[] | select(.check | endswith("alone")) | select(.verdict == "right").reason // empty] | unique ==
	[range(2) as $socket | "for site.tbl: nodes unit=imc clusters=1,1,0,0,2,2,1,1,0,0,2,2 socket=\($socket)"]'
result "three: the same"
# What is printed is read.
UNCORE_SIM=emerald-rapids,clusters=4 run verify
all_right=$status
sed -n 's/.*for site.tbl: //p' "$tmp/out" >"$tmp/site.tbl"
UNCORE_SIM=emerald-rapids,clusters=4 UNCORE_SITE="$tmp/site.tbl" "$UNCORE" units >"$tmp/units" 2>"$tmp/err"
[ $? -eq 0 ] && [ $all_right -eq 0 ] && [ "$(grep -c '^nodes unit=imc clusters=0,0,1,1,2,2,3,3 socket=[01]$' "$tmp/site.tbl")" -eq 2 ] &&
	[ "$(wc -l <"$tmp/site.tbl")" -eq 2 ] && [ ! -s "$tmp/err" ]
result "four: the lines are read"

if command -v python3 >/dev/null; then
	python3 -c 'import os, signal, sys
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
os.kill(os.getpid(), signal.SIGINT)
os.execv(sys.argv[1], sys.argv[1:])' "$UNCORE" verify >"$tmp/out" 2>"$tmp/err"
	status=$?
	[ $status -eq 130 ] && [ ! -s "$tmp/out" ]
	result "a signal ends it"
fi
finish
