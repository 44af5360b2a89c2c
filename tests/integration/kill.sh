#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# SIGKILL behind every register write of a start and a stop: the next run restores what was left, is
# right, and leaves nothing. Ends with a table. Of each way to registers one row goes through FUSE.
. "$(dirname "$0")/fuse.inc"
front memory # ALL=1: through FUSE

table=
points=0 sum_right=0 sum_marked=0 sum_refused=0 sum_wrong=0 sum_left=0

row() # CPU RUN POINTS RIGHT MARKED REFUSED LEFT WRONG
{
	printf '# %-15s %-28s %6d %6d %6d %7d %6d %14d\n' "$@"
}

# After each write of the run with OPTION..., the numbers of the next one. Both are of this socket.
killed() # CPU TITLE TRUTH(NAME=NUMBER,... of 1 s) OPTION...
{
	cpu=$1 title=$2 known=$3
	shift 3
	events=$(echo "$known" | sed 's/=[0-9]*,/,/g; s/=[0-9]*$//')
	n=0 right=0 marked=0 refused=0 wrong=0 left=0 where=
	control reset
	real stat -j -d 1 -e "$events"
	if ! exactly "$known"; then
		result 1 "$cpu, $title: counts exactly before anything was killed"
		return
	fi
	control reset "log writes"
	real stat -j "$@"
	writes=$(count ' write ')
	while [ "$n" -lt "$writes" ]; do
		n=$((n + 1))
		control reset "after $n write * signal KILL"
		{ real stat -j "$@"; } 2>/dev/null
		if [ "$status" -ne 137 ]; then
			result 1 "$cpu, $title: killed at write $n of $writes (status $status)"
			return
		fi
		real stat -j -d 1 -e "$events"
		judge "$known"
		tally || where="$where $n"
		if [ -s "$root/left" ]; then
			left=$((left + 1)) where="$where $n ($(cat "$root/left"))"
		fi
	done
	[ -z "$where" ] || printf '%s\n' "silently wrong, or not restored, after write$where of $writes" >"$dir/err"
	[ "$n" -gt 0 ] && [ "$right" -eq "$n" ] && [ "$left" -eq 0 ]
	result $? "$cpu, $title: $n points, $right right, $marked marked, $refused refused, $wrong silently wrong, $left left"
	points=$((points + n)) sum_right=$((sum_right + right)) sum_marked=$((sum_marked + marked))
	sum_refused=$((sum_refused + refused)) sum_wrong=$((sum_wrong + wrong))
	sum_left=$((sum_left + left))
	table="$table$(row "$cpu" "$title" $n $right $marked $refused $left $wrong)
"
}

echo "1..11"

# What is counted in a second is in eventtables/CPU/workload.tbl; clocks are those of the units.
start_machine nehalem-ep # miss = 0.8e8 + 0.35e8 + 0.05e8
truth=unc.LLC_MISS:READ:socket=0=120000000
calls killed nehalem-ep "MSR" $truth -d 1 -e unc.LLC_MISS:READ:socket=0
killed nehalem-ep "MSR, two sockets" unc.LLC_MISS:READ=240000000 -d 1 -e unc.LLC_MISS:READ

start_machine sandybridge-ep # CBo: drd_miss / 8 = 1.6e8 / 8; iMC: (2.7e8 + 0.002e8) / 4
killed sandybridge-ep "MSR, with a filter" cbo0.TOR_INSERTS:MISS_OPCODE:opc=0x182:socket=0=20000000 \
	-d 1 -e cbo0.TOR_INSERTS:MISS_OPCODE:opc=0x182:socket=0
calls killed sandybridge-ep "PCI" imc0.CAS_COUNT:RD:socket=0=67550000 -d 1 -e imc0.CAS_COUNT:RD:socket=0
killed sandybridge-ep "PCI, fixed counter" imc0.DCLK:socket=0=800000000 -d 1 -e imc0.DCLK:socket=0

start_machine ivybridge-ep # iMC: (3.66e8 + 0.003e8) / 4
killed ivybridge-ep "MSR" cbo0.CLOCKTICKS:socket=0=2700000000 -d 1 -e cbo0.CLOCKTICKS:socket=0
killed ivybridge-ep "PCI" imc0.CAS_COUNT:RD:socket=0=91575000 -d 1 -e imc0.CAS_COUNT:RD:socket=0

# CHA: (3.2e8 + 0.8e8) / 32; M2M: 15.5105e8 / 4; UPI: 3 * 3.045e8; iMC: 15.5355e8 / 8
start_machine emerald-rapids
truth=cha0.TOR_INSERTS:IA_MISS_DRD:socket=0=12500000
killed emerald-rapids "MSR" $truth -d 1 -e cha0.TOR_INSERTS:IA_MISS_DRD:socket=0
killed emerald-rapids "PCI" m2m0.IMC_READS:ALL:socket=0=387762500 -d 1 -e m2m0.IMC_READS:ALL:socket=0
calls killed emerald-rapids "mapped memory" imc0.CAS_COUNT:RD:socket=0=194193750 \
	-d 1 -e imc0.CAS_COUNT:RD:socket=0
killed emerald-rapids "MSR and PCI" "$truth,upi0.TxL_FLITS:ALL_DATA:socket=0=913500000" \
	-d 1 -e cha0.TOR_INSERTS:IA_MISS_DRD:socket=0,upi0.TxL_FLITS:ALL_DATA:socket=0

printf '# %-15s %-28s %6s %6s %6s %7s %6s %14s\n' CPU run points right marked refused left 'silently wrong'
printf '%s' "$table"
row all '' $points $sum_right $sum_marked $sum_refused $sum_left $sum_wrong
