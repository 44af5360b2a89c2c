#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The real back ends (MSR, PCI configuration, libpci discovery) with real system calls, on a
# simulated machine that FUSE shows as files. Its values are those of the machine itself.
: "${BUILD:=.}"
uncore=$BUILD/common/tool/uncore
machine=$BUILD/tests/fuse/fuse_machine

skip_all()
{
	echo "1..0 # SKIP $*"
	exit 0
}
[ -x "$machine" ] || skip_all "libfuse is missing: the machine was not built"
[ -w /dev/fuse ] || skip_all "/dev/fuse cannot be used here"
command -v fusermount3 >/dev/null || skip_all "fusermount3 is missing (package fuse3)"
command -v jq >/dev/null || skip_all "jq is missing"

dir=$(mktemp -d)
mkdir "$dir/root"
stop_machine()
{
	fusermount3 -u "$dir/root" 2>/dev/null
	[ -z "$pid" ] || wait "$pid" 2>/dev/null
	pid=
}
trap 'stop_machine; rm -rf "$dir"' EXIT
trap 'exit 1' INT TERM
pid=

start_machine() # SPEC
{
	"$machine" "$1" "$dir/root" 2>"$dir/machine.err" &
	pid=$!
	for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
		[ -e "$dir/root/proc/cpuinfo" ] && return
		sleep 0.1
	done
}

number=0
result() # STATUS NAME
{
	number=$((number + 1))
	if [ "$1" -eq 0 ]; then
		echo "ok $number - fuse: $2"
	else
		echo "not ok $number - fuse: $2"
		sed 's/^/# /' "$dir/out" "$dir/err" 2>/dev/null
	fi
}

real() # ARGUMENT...: the command on the mounted machine
{
	UNCORE_SYSROOT="$dir/root" "$uncore" "$@" >"$dir/out" 2>"$dir/err"
}

# Counts per second agree within 2 % with those of the machine read directly.
same_rates() # CPU EVENTS
{
	real stat -j -d 1 -e "$2" || return 1
	cp "$dir/out" "$dir/real"
	UNCORE_SIM=$1 "$uncore" stat -j -d 1 -e "$2" >"$dir/sim" 2>>"$dir/err" || return 1
	jq -s -e '.[0] as $a | .[1] as $b | $a.simulated == false and $b.simulated == true and
		([$a.events | to_entries[] | {k: .key, r: (.value / $a.interval)}] |
		 all(.r > 0 and (($b.events[.k] / $b.interval / .r - 1) | fabs) < 0.02))' \
		"$dir/real" "$dir/sim" >>"$dir/err"
}

echo "1..8"

start_machine sandybridge-ep
real units -j && jq -e 'length == 40 and all(.available)' "$dir/out" >/dev/null
result $? "Sandy Bridge-EP: libpci finds all 40 units of two sockets"

# MSR, PCI, filters in both, the fixed counters, and the 64-bit PCI counters in two halves
same_rates sandybridge-ep \
	imc.CAS_COUNT:RD,imc.DCLK,cbo.TOR_INSERTS:MISS_OPCODE:opc=0x182,ha.REQUESTS:READS,pcu.CLOCKTICKS,qpi.TxL_FLITS_G0:DATA,ubox.UCLK
result $? "Sandy Bridge-EP: the same rates through system calls as from the model"

real stat -j -d 0.2 -e imc.CAS_COUNT:RD:socket=1
jq -e '.events["imc.CAS_COUNT:RD:socket=1"] > 0' "$dir/out" >/dev/null
result $? "Sandy Bridge-EP: one socket by its PCI bus"

if command -v strace >/dev/null; then
	# One pread for an MSR, three for a 64-bit PCI counter: what each more read costs. An interval
	# is a line of output and a read.
	count() # INTERVAL_MS: sets reads and calls
	{
		UNCORE_SYSROOT="$dir/root" strace -f -c -e trace=pread64 -o "$dir/calls" \
			"$uncore" stat -j -e cbo0.CLOCKTICKS:socket=0,imc0.CAS_COUNT:RD:socket=0 \
			-I "$1" -d 1 >"$dir/out" 2>"$dir/err"
		reads=$(wc -l <"$dir/out")
		calls=$(awk '$NF == "pread64" { print $4 }' "$dir/calls")
	}
	count 500
	few=$calls few_reads=$reads
	count 100
	more=$((reads - few_reads))
	[ "$more" -ge 4 ] && [ $((calls - few)) -eq $((4 * more)) ]
	result $? "one pread an MSR, three a 64-bit PCI counter ($more more reads: $((calls - few)) calls)"
else
	number=$((number + 1))
	echo "ok $number - fuse: preads are counted # SKIP strace is missing"
fi
stop_machine

start_machine sandybridge-ep,hide=qpi
real stat -d 0.1 -e qpi.CLOCKTICKS
[ $? -eq 1 ] && grep -q 'qpi' "$dir/err"
result $? "functions hidden by the BIOS: unavailable, with the reason, not 0"
stop_machine

start_machine emerald-rapids
real units -j && jq -e 'length == 196 and all(.available)' "$dir/out" >/dev/null
result $? "Emerald Rapids: both discovery tables are read through /dev/mem"

same_rates emerald-rapids \
	cha.TOR_INSERTS:IA_MISS_DRD,upi.TxL_FLITS:ALL_DATA,m2m.IMC_READS:ALL,iio.DATA_REQ_OF_CPU:MEM_READ.PART0,pcu.CLOCKTICKS
result $? "Emerald Rapids: the same rates in MSRs and PCI"
stop_machine

start_machine sandybridge-ep
real stat -d 0.1 -e imc9.CAS_COUNT:RD
[ $? -eq 2 ] && [ "$(wc -l <"$dir/err")" -eq 1 ]
result $? "bad input on a real machine: one line, exit 2"
