#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The compiler of tables (scripts/tables): what it refuses, that each column decides something, and the build with it.

: "${SRCDIR:=$(cd "$(dirname "$0")/../.." && pwd)}" "${BUILD:=$PWD}"
command -v python3 >/dev/null || { echo "1..0 # SKIP there is no python3"; exit 0; }
title=tables
. "$SRCDIR/tests/integration/result.inc"
good=$SRCDIR/tests/tables_bad/good

# tables ARGUMENT...: output in $tmp/out, sentences in $tmp/err, status in $status.
tables()
{
	python3 "$SRCDIR/scripts/tables" "$@" >"$tmp/out" 2>"$tmp/err"
	status=$?
}
# says SENTENCE: refused, with this alone.
says() { [ $status -eq 1 ] && [ ! -s "$tmp/out" ] && [ "$(cat "$tmp/err")" = "tables: $1" ]; }
# own: a copy of the good tables in $tmp/own.
own() { rm -rf "$tmp/own" && cp -r "$good" "$tmp/own" && chmod -R u+w "$tmp/own"; }

python3 "$SRCDIR/tests/integration/tables.py" "$SRCDIR" cases >"$tmp/out" 2>"$tmp/err"
status=$?
[ $status -eq 0 ] && [ "$(tail -n 1 "$tmp/out")" -ge 300 ]
result "broken tables are refused with file, line and reason (tables_bad/cases)"
python3 "$SRCDIR/tests/integration/tables.py" "$SRCDIR" columns >"$tmp/out" 2>"$tmp/err"
status=$?
[ $status -eq 0 ] && [ "$(tail -n 1 "$tmp/out")" -ge 283 ]
result "each column and statement decides something: without it tables are refused, or become others"
sed '1,/^<!-- grammar -->$/d' "$SRCDIR/eventtables/README.md" >"$tmp/readme"
tables --grammar && cmp "$tmp/out" "$tmp/readme" && [ "$(wc -l <"$tmp/out")" -gt 100 ]
result "the README has the grammar (renewed by make grammar)"
cp -r "$SRCDIR/tests/tables" "$tmp/named" && chmod -R u+w "$tmp/named"
sed -i 's/cpu=other$/cpu=othr/' "$tmp/named/box/units.tbl" && tables "$tmp/named"
[ "$status" -eq 1 ] && [ "$(cat "$tmp/err")" = "tables: $tmp/named/box/units.tbl:16: cpu=othr: there is no CPU othr; nearest is other" ]
result "cpu= names a CPU that there is"
sed -i 's/cpu=othr$/cpu=fixed/' "$tmp/named/box/units.tbl" && tables "$tmp/named"
[ "$status" -eq 1 ] && [ "$(cat "$tmp/err")" = "tables: $tmp/named/box/units.tbl:16: cpu=fixed: fixed has another folder, fixed" ]
result "and one of this folder"

tables "$good"
[ "$(head -n 1 "$tmp/out")" = "testcpu: 1 types, 6 events, 8 umasks, 5 metrics, 5 rates" ] && [ "$(wc -l <"$tmp/out")" -eq 3 ]
result "what there is"
tables "$SRCDIR/eventtables"
[ $status -eq 0 ] && [ "$(wc -l <"$tmp/out")" -eq "$("$UNCORE" cpus -j | jq length)" ]
result "the tables of the build"
tables /nonexistent; says "/nonexistent/cpus.tbl: No such file or directory"
result "a folder that is not there"
own && rm "$tmp/own/testcpu/units.tbl"; tables "$tmp/own"; says "testcpu: the file units.tbl is missing"
result "a file that is missing"
own && cp "$good/portable.tbl" "$tmp/own/testcpu"; tables "$tmp/own"; says "$tmp/own/testcpu/portable.tbl: given twice"
result "a file that is there twice"
own && rm -r "$tmp/own/testcpu"; tables "$tmp/own"; says "$tmp/own/testcpu: No such file or directory"
result "a CPU without its folder"
own && echo '# nothing' >"$tmp/own/cpus.tbl"; tables "$tmp/own"; says "$tmp/own/cpus.tbl: describes no CPU"
result "no CPU"
own && for i in $(seq 2 33); do
	echo "cpu other$i \"O\" family=2 models=$i discovery=none folder=testcpu"
done >>"$tmp/own/cpus.tbl"
tables "$tmp/own"; says "$tmp/own: more than 32 CPUs"
result "more CPUs than there is room for"
own && for i in $(seq 65534); do
	echo "bar m id=1 device=0.1 base=0 base_bits=1:0 base_shift=0 at=0 step=0 bits=1:0 shift=0 count=1 size=1"
done | cat - "$good/testcpu/units.tbl" >"$tmp/own/testcpu/units.tbl"; tables "$tmp/own"; says "testcpu: more than 65534 rows of a kind"
result "more rows than 16 bits"
own && printf 'type x\0\n' >>"$tmp/own/testcpu/units.tbl"; tables "$tmp/own"; says "$tmp/own/testcpu/units.tbl:32: a NUL byte in the text"
result "a NUL byte"
for bytes in 1 40 400 900; do
	own && head -c $bytes "$good/testcpu/units.tbl" >"$tmp/own/testcpu/units.tbl"
	tables "$tmp/own"
	[ $status -eq 1 ] && [ "$(wc -l <"$tmp/err")" -eq 1 ] && ! grep -q Traceback "$tmp/err"
	result "a file that is cut after $bytes bytes: one sentence"
done

# Twice the same; a failure leaves what was there.
mkdir "$tmp/a" "$tmp/b" && tables "$good" -o "$tmp/a" && tables "$good" -o "$tmp/b" && diff -r "$tmp/a" "$tmp/b" >"$tmp/out"
result "the same tables become the same C"
own && echo 'kounters' >>"$tmp/own/testcpu/units.tbl"; tables "$tmp/own" -o "$tmp/a"; says "$tmp/own/testcpu/units.tbl:32: 'kounters' is not a statement of units.tbl; nearest is counters" &&
	diff -r "$tmp/a" "$tmp/b" >"$tmp/out"
result "what is refused leaves what was made before"
# A struct of table.h that is not that of rows.py is seen by the compiler.
mkdir "$tmp/tables" && cp "$SRCDIR/common/tables/table.h" "$tmp/tables" && sed -i 's/^	uint8_t clock; .*/	uint16_t clock;/' "$tmp/tables/table.h"
! ${CC:-cc} -I"$tmp" -I"$SRCDIR/common" -fsyntax-only "$tmp/a/table_data.c" >"$tmp/out" 2>&1 && grep -q 'event.clock' "$tmp/out" &&
	${CC:-cc} -I"$SRCDIR/common" -fsyntax-only "$tmp/a/table_data.c" >"$tmp/out" 2>&1
result "rows that are not those of table.h do not compile"
finish
