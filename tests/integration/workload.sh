#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# scripts/make-workload on the made-up CPU (tests/tables_bad/good: two boxes in a socket) with metrics whose rates can be
# worked out by hand, and what it refuses.

: "${SRCDIR:=$(cd "$(dirname "$0")/../.." && pwd)}" "${BUILD:=$PWD}"
command -v python3 >/dev/null || { echo "1..0 # SKIP there is no python3"; exit 0; }
title="make-workload"
. "$SRCDIR/tests/integration/result.inc"
. "$SRCDIR/tests/integration/other_tables.inc"
tables=$tmp/tables
made=$tables/testcpu/workload.tbl
cp -r "$SRCDIR/tests/tables_bad/good" "$tables" && chmod -R u+w "$tables" && rm "$made"
cat >"$tables/portable.tbl" <<'END'
portable twice unit=bytes kind=total load=6e6 "D"
portable all unit=count kind=total load=3e6 "D"
portable gap unit=count kind=total load=1e6 "D"
portable share unit=ratio kind=gauge load=0.25 "D"
portable speed unit=hz kind=gauge load=3e9 "D"
portable most unit=ratio kind=gauge load=2 "D"
portable follows unit=bytes kind=total "D"
portable none unit=bytes kind=total load=7 "D"
END
cat >"$tables/testcpu/metrics.tbl" <<'END'
metric twice formula="(box.MIXED:RD + box.MIXED:WR) * 2"
metric all formula="box.MIXED:RD:WR"
metric gap formula="box.PLAIN - box.CHOICE:B"
metric share formula="box.CHOICE:A / (box.CHOICE:A + box.HERE)"
metric speed formula="mean(box.CLOCKTICKS) / TIME"
metric most formula="box.HERE / (box.HERE + box.MIXED:WHOLE)"
metric follows formula="all + gap"
metric none formula="nothing" unavailable="a reason"
END
rm -f "$tables/groups.tbl"
# A machine of two sockets with a CPU each, and two boxes in either.
{
	echo "uncore machine 2"
	for cpu in 0 1; do
		printf '%s\n' "device dev/cpu/$cpu/msr 0" " 0x100 write OK" " 0x120 write OK"
		for register in 102 103 108 109 10E 10F 122 123 128 129 12E 12F; do
			echo " 0x$register 0x0"
		done
	done
	echo "file proc/cpuinfo"
	for cpu in 0 1; do
		printf ' %s\n' "processor : $cpu" "vendor_id : GenuineIntel" "cpu family : 6" "model : 1" \
			"model name : Test CPU" "stepping : 0" "physical id : $cpu" "core id : 0" ""
	done
	printf '%s\n' "file sys/devices/system/cpu/online" " 0-1" end
} >"$tables/testcpu/testcpu.machine"

# The library with the tables as they are now.
build()
{
	rm -rf "$tmp/other" && mkdir "$tmp/other" && other_tables "$tables" "$tmp/other"
}
with() { LD_LIBRARY_PATH=$tmp/other:${LD_LIBRARY_PATH-} "$@"; }

# run ARGUMENT...: output in $tmp/out, sentences in $tmp/err, status in $status.
run()
{
	with python3 "$SRCDIR/scripts/make-workload" --uncore "$UNCORE" --tables "$tables" "$@" >"$tmp/out" 2>"$tmp/err"
	status=$?
}

# rate EVENT: what its row says.
rate()
{
	sed -n "s/^rate box $1 \"\\(.*\\)\"\$/\\1/p" "$made"
}

# near VALUE WANTED: to two millionths.
near()
{
	awk -v a="$1" -v b="$2" 'BEGIN { d = (a - b) / b; exit !(d < 2e-6 && d > -2e-6) }'
}

build && with "$UNCORE" list -c testcpu >"$tmp/out" 2>"$tmp/err" &&
	! UNCORE_SIM=testcpu with "$UNCORE" units >"$tmp/out" 2>"$tmp/err" &&
	grep -q "testcpu has no simulated machine: its tables have no workload.tbl, which scripts/make-workload makes" "$tmp/err"
result "a CPU without a workload has its tables, and no simulated machine"

run testcpu
[ $status -eq 1 ] && [ ! -s "$tmp/err" ] && grep -q '^# Not as portable.tbl has it: most$' "$made" &&
	[ "$(grep -c '^# Not' "$made")" -eq 1 ]
result "a share of 2 is none: it is named, the rest is made"
# 6e6 / 2 over two events and two boxes; both umasks count what each of them does.
near "$(rate MIXED:RD)" 0.75e6 && near "$(rate MIXED:WR)" 0.75e6 && near "$(rate MIXED:RD:WR)" 1.5e6
result "events, and an event that others are parts of"
near "$(awk -v a="$(rate PLAIN)" -v b="$(rate CHOICE:B)" 'BEGIN { print a - b }')" 0.5e6 &&
	near "$(awk -v a="$(rate CHOICE:A)" 'BEGIN { print 3 * a }')" "$(rate HERE)"
result "a difference, and a share"
[ "$(rate CLOCKTICKS)" = clock ] && grep -q '^unit box clock=3e9$' "$made" &&
	grep -q '^machine tsc_hz=2e9$' "$made"
result "clocks and the machine"
build && UNCORE_SIM=testcpu,clock=step with "$UNCORE" units >"$tmp/out" 2>"$tmp/err" &&
	[ "$(grep -c box "$tmp/out")" -ge 4 ]
result "the library reads what was made"

cp "$made" "$tmp/first" && run testcpu && cmp -s "$made" "$tmp/first"
result "made again it is the same"
sed -i 2d "$made" && cp "$made" "$tmp/first" && run testcpu
[ $status -eq 2 ] && cmp -s "$made" "$tmp/first" && grep -q "is not made by this command of these CPUs: move it away first" "$tmp/err"
result "one that a person wrote is not replaced"
run -o "$tmp/elsewhere" nocpu
[ $status -eq 2 ] && [ ! -e "$tmp/elsewhere" ] && grep -q "cpus.tbl: no CPU 'nocpu'" "$tmp/err"
result "a CPU that there is not"
run --uncore "$tmp/nowhere" testcpu
[ $status -eq 2 ] && grep -qxF "make-workload: $tmp/nowhere: No such file or directory: the command of the build is needed (--uncore)" "$tmp/err"
result "a command that there is not"

# What the tree has is what is made today: of one folder, for each takes seconds. The library is that of the build.
tables=$SRCDIR/eventtables
python3 "$SRCDIR/scripts/make-workload" --uncore "$UNCORE" -o "$tmp/again" haswell-ep broadwell-ep broadwell-de >"$tmp/out" 2>"$tmp/err" &&
	cmp -s "$tmp/again" "$SRCDIR/eventtables/haswell-ep/workload.tbl"
result "the workload of Haswell-EP is that of its tables"
python3 "$SRCDIR/scripts/make-workload" --uncore "$UNCORE" -o "$tmp/elsewhere" sandybridge-ep >"$tmp/out" 2>"$tmp/err"
status=$?
[ $status -eq 0 ] && grep -q '^rate imc CAS_COUNT:RD ' "$tmp/elsewhere"
result "one for a folder whose own is written by hand"
# Which rates are solved is told where one looks for what the tests show.
sed -n 's/^# Made by scripts\/make-workload \(.*\)\.$/\1/p' "$SRCDIR"/eventtables/*/workload.tbl >"$tmp/out"
sed -n 's/^| `[a-z-]*` | \(`[a-z` -]*`\) |$/\1/p' "$SRCDIR/tests/README.md" | tr -d '`' | cmp -s - "$tmp/out"
result "tests/README.md names the CPUs whose rates are solved"
finish
