#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A new CPU is data: a made-up one is added as tables (tests/tables_bad/good) and cases (tests/newcpu).
# Its rows are run by the programs as they are, and a wrong row, or a file too few or too many, fails.

: "${SRCDIR:=$(cd "$(dirname "$0")/../.." && pwd)}" "${BUILD:=$PWD}"
unset UNCORE_SIM UNCORE_SYSROOT UNCORE_TABLES UNCORE_TESTS
[ -x "$BUILD/tests/test_encode" ] || { echo "1..0 # SKIP the unit tests were not built"; exit 0; }
title="new CPU"
. "$SRCDIR/tests/integration/result.inc"
good=$SRCDIR/tests/tables_bad/good
tests=$tmp/tests

# fresh: the cases of the new CPU alone, as they should be.
fresh()
{
	rm -rf "$tests"
	cp -r "$SRCDIR/tests/newcpu" "$tests" && chmod -R u+w "$tests"
}

# run PROGRAM [TABLES]: output in $tmp/out, status in $status.
run()
{
	UNCORE_TABLES=${2:-$good} UNCORE_TESTS=$tests "$BUILD/tests/$1" >"$tmp/out" 2>&1
	status=$?
}

# says REGEX...: the program failed, and each of these is a whole line of its output.
says()
{
	[ $status -eq 1 ] || return 1
	for line; do
		grep -qx -- "$line" "$tmp/out" || return 1
	done
}

# wrong PROGRAM FILE TEST SED: the row that SED spoils is named, and the test fails.
wrong()
{
	fresh
	sed "$4" "$SRCDIR/tests/newcpu/$2" >"$tests/$2"
	row=$(diff "$SRCDIR/tests/newcpu/$2" "$tests/$2" | sed -n '1s/^\([0-9]*\)c[0-9]*$/\1/p')
	run "$1"
	[ -n "$row" ] && says "# $2:$row: .*" "not ok .*: $3"
	result "$1: a wrong row fails and is named: $4"
}

# ---- beside the others

# Two others that share a folder, or with ALL=1 all: their own rows are run by the unit tests. Tests of machines by name fail
# where these are missing.
cp -r "$SRCDIR/eventtables" "$tmp/tables" && cp -r "$SRCDIR/tests/encode" "$SRCDIR/tests/metrics" "$tmp" &&
	chmod -R u+w "$tmp" && cp -r "$good/testcpu" "$tmp/tables"
if [ "${ALL-}" != 1 ]; then
	grep -e '^cpu nehalem-ep ' -e '^cpu westmere-ep ' "$SRCDIR/eventtables/cpus.tbl" >"$tmp/tables/cpus.tbl"
	find "$tmp/encode" "$tmp/metrics" -name '*.cases' ! -name 'nehalem-ep.*' ! -name 'westmere-ep.*' -delete
fi
cat "$good/cpus.tbl" >>"$tmp/tables/cpus.tbl"
# Beside the others it needs all portable metrics: all are that one.
sed -n 's/^portable \([^ ]*\) .*/\1/p' "$tmp/tables/portable.tbl" | grep -vx llc_lookups >"$tmp/lacks"
sed 's/.*/metric & formula="llc_lookups"/' "$tmp/lacks" >>"$tmp/tables/testcpu/metrics.tbl"
for program in test_encode test_metrics_worked test_session_every; do
	fresh
	sed 's/.*/& ; box.MIXED:RD=300,box.MIXED:WR=100 ; 400 ; 300 + 100/' "$tmp/lacks" >>"$tests/metrics/testcpu.cases"
	cp "$tmp/encode"/*.cases "$tests/encode" && cp "$tmp/metrics"/*.cases "$tests/metrics"
	run $program "$tmp/tables"
	[ "${ALL-}" != 1 ] || [ $status -eq 0 ] && grep -q "^ok .* testcpu" "$tmp/out" &&
		grep -q "^ok .* westmere-ep" "$tmp/out" && ! grep -Eq "^not ok .*(testcpu|westmere-ep|nehalem-ep|is of a CPU)" "$tmp/out"
	result "$program runs it beside the others"
done

# ---- encodings and registers

fresh
run test_encode
[ $status -eq 0 ] && [ "$(grep -c '^ok .*: testcpu: ' "$tmp/out")" -eq 6 ]
result "test_encode: right rows pass"
file=encode/testcpu.cases
wrong test_encode $file "testcpu: encodings" "s/ctl=0x00440110/ctl=0x00440111/"
wrong test_encode $file "testcpu: encodings" "s/FILTER:0xC1000000/FILTER:0xC0800000/"
wrong test_encode $file "testcpu: encodings" "/CLOCKTICKS/s/counters=0,1/counters=0/"
wrong test_encode $file "testcpu: fixed counters" "s/counter=FREE/counter=CTR0/"
wrong test_encode $file "testcpu: canonical names" "s/; box.MIXED:RD:thresh=2/; box.MIXT:RD:thresh=2/"
wrong test_encode $file "testcpu: registers" "s/0x122/0x123/"
wrong test_encode $file "testcpu: errors" "s/; RANGE ;/; INVALID ;/"
wrong test_encode $file "testcpu: errors" "s/no event NOTHING/no event ANYTHING/"
wrong test_encode $file "testcpu: every unit type has rows" "s/^name /names /"

fresh
sed -i '/^register/d' "$tests/$file"
run test_encode
says "# $file: no rows for the events or the registers of box" "not ok .*: testcpu: registers"
result "test_encode: a kind without rows fails"
fresh
sed -i '/^error box.MIXED/d' "$tests/$file"
run test_encode
says "not ok .*: testcpu: every unit type has rows"
result "test_encode: too few rows fail"
for program in test_encode test_metrics_worked; do
	folder=encode
	[ $program = test_encode ] || folder=metrics
	fresh
	rm "$tests/$folder/testcpu.cases"
	run $program
	says "# cannot open $tests/$folder/testcpu.cases" "not ok .* testcpu.*"
	result "$program: a CPU without a file fails"
	fresh
	cp "$tests/$folder/testcpu.cases" "$tests/$folder/nocpu.cases"
	run $program
	says "# $tests/$folder/nocpu.cases: the tables have no such CPU" "not ok .* is of a CPU"
	result "$program: a file without a CPU fails"
done

# ---- metrics. The tests of other CPUs fail here, as their tables are missing.

file=metrics/testcpu.cases
fresh
run test_metrics_worked
grep -q '^ok .* - metrics, worked: examples of testcpu$' "$tmp/out"
result "test_metrics_worked: right rows pass"
wrong test_metrics_worked $file "examples of testcpu" "s/; 0.75 ;/; 0.7 ;/"
wrong test_metrics_worked $file "examples of testcpu" "s/; a reason/; another reason/"
wrong test_metrics_worked $file "examples of testcpu" "s/^box.BIT1 .*/like ; testcpu/"
fresh
sed -i '/^llc_lookups/d' "$tests/$file"
run test_metrics_worked
says "# no example of llc_lookups" "not ok .*: examples of testcpu"
result "test_metrics_worked: a metric without an example fails"

finish
