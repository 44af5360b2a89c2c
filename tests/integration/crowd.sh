#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Many processes on one machine start, read and stop sessions at random, half of them with the same
# event, and are killed at random; then the same beside strangers. Each number is exact or carries a
# mark; without strangers none carries one, and nothing is refused, for the events are so few that all
# fit. Ends with a table. CROWD_SEED repeats a run, CROWD_PROCESSES, CROWD_SECONDS (of the machine's
# time) and CROWD_STRANGERS make it another, SHOW=1 shows all that was not right.
. "$(dirname "$0")/fuse.inc"
crowd=$BUILD/tests/fuse/.libs/crowd
[ -x "$crowd" ] || crowd=$BUILD/tests/fuse/crowd

seed=${CROWD_SEED:-$(date +%s)} processes=${CROWD_PROCESSES:-64} seconds=${CROWD_SECONDS:-2}
strangers=${CROWD_STRANGERS:-4}
msr=/dev/cpu/0/msr
table=

# Where a unit is: its PCI function, or the address of its registers in memory.
place() # UNIT
{
	real units -j
	jq -r --arg type "$1" '.[] | select(.unit == $type and .index == 0 and .socket == 0).location |
		split(" ")[1] | if startswith("0x") then . else "/sys/bus/pci/devices/" + . + "/config" end' "$dir/out"
}

# One crowd on the machine as it was switched on; its numbers in $sessions, $right ...
meet() # TITLE KILLS STRANGERS ARGUMENT...
{
	title=$1 _kills=$2 _strangers=$3
	shift 3
	control reset
	rm -rf "$dir/crowd" "$dir/run"
	mkdir "$dir/crowd" "$dir/run"
	: >"$dir/crowd/said"
	UNCORE_RUN=$dir/run CROWD_PRELOAD="$clock $live" \
		LD_LIBRARY_PATH=$BUILD/common/.libs${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} \
		"$crowd" run -r "$root" -d "$dir/crowd" -s "$seed" -n "$processes" -t "$seconds" \
		-k "$_kills" -x "$_strangers" "$@" >"$dir/out" 2>"$dir/err"
	status=$?
	sessions=0 right=0 marked=0 wrong=1 refused=1 failed=1 last=bad left=1 kills=0
	# shellcheck disable=SC2046 # words
	[ "$status" -ne 0 ] || export $(cat "$dir/out")
	[ "${SHOW:-0}" = 0 ] || sed 's/^/# /' "$dir/crowd/said"
	table="$table$(printf '# %-34s %4d %5d %8d %6d %5d %9d %8d %7d %7d %14d' "$title" "$processes" \
		"$_strangers" "$sessions" "$right" "$kills" "$marked" "$refused" "$failed" "$left" "$wrong")
"
}

# A test of what the last crowd has said; what speaks against it explains a failure.
expect() # NAME PATTERN TEST...
{
	_name=$1 _pattern=$2
	shift 2
	grep -E "$_pattern" "$dir/crowd/said" | head -n 12 >>"$dir/err"
	"$@"
	result $? "$title, seed $seed: $_name"
	: >"$dir/err"
}

crowd_alone() # TITLE ARGUMENT...
{
	_title=$1
	shift
	meet "$_title" 2 0 "$@"
	expect "every number is exact ($right of $sessions sessions, $kills kills)" ': (wrong|marked):' \
		[ "$right" -gt 0 -a "$wrong" -eq 0 -a "$marked" -eq 0 ]
	expect "nothing is refused" ': (refused|failed):' [ "$refused" -eq 0 -a "$failed" -eq 0 ]
	cat "$root/left" >>"$dir/err"
	expect "the next one finds and leaves all as it was" 'last:' [ "$last" = right -a "$left" -eq 0 ]
}

crowd_beside_strangers() # TITLE ARGUMENT...
{
	_title=$1
	shift
	meet "$_title" 1 "$strangers" "$@"
	expect "every number is exact or marked ($right exact, $marked marked)" ': (wrong|failed):' \
		[ "$right" -gt 0 -a "$wrong" -eq 0 -a "$failed" -eq 0 ]
	cat "$root/left" >>"$dir/err"
	expect "the next one finds and leaves all as it was" 'last:' [ "$last" = right -a "$left" -eq 0 ]
}

echo "1..10"

# What is counted in a second is in eventtables/CPU/workload.tbl; as in interfere.sh.
start_machine sandybridge-ep
imc=$(place imc)
set -- imc0.CAS_COUNT:RD:socket=0=67550000 imc0.CAS_COUNT:WR:socket=0=28550000 \
	imc0.RPQ_CYCLES_NE:socket=0=496000000 imc0.DCLK:socket=0=800000000 \
	cbo0.CLOCKTICKS:socket=0=2700000000 cbo0.LLC_VICTIMS:M_STATE:socket=0=11750000 \
	cbo0.LLC_LOOKUP:DATA_READ:socket=0=78250000 pcu.CLOCKTICKS:socket=0=800000000 \
	pcu.FREQ_MAX_OS_CYCLES:socket=0=560000000
crowd_alone sandybridge-ep "$@"
crowd_beside_strangers "sandybridge-ep, strangers" -X "$msr:0xD13:8:0x40021D" -X "$msr:0xD11:8:0x40041D" \
	-X "$imc:0xE4:4:0x400304" -X "$imc:0xDC:4:0x400304" -X "$imc:0xF0:4:0x400000" "$@"

start_machine emerald-rapids # MSRs, PCI and mapped memory
imc=$(place imc) m2m=$(place m2m)
set -- imc0.CAS_COUNT:RD:socket=0=194193750 imc0.CLOCKTICKS:socket=0=2400000000 \
	imc0.DCLK:socket=0=2400000000 cha0.CLOCKTICKS:socket=0=2200000000 \
	cha0.TOR_INSERTS:IA_MISS_DRD:socket=0=12500000 cha0.REQUESTS:INVITOE_LOCAL:socket=0=625000 \
	m2m0.CLOCKTICKS:socket=0=2200000000 m2m0.IMC_READS:ALL:socket=0=387762500
crowd_alone emerald-rapids "$@"
crowd_beside_strangers "emerald-rapids, strangers" -X "$msr:0x2005:8:0x103" -X "$msr:0x2003:8:0x350" \
	-X "/memory:$((imc + 0x4C)):4:0x103" -X "/memory:$((imc + 0x54)):4:0x400000" \
	-X "$m2m:0x480:4:0x350" "$@"

printf '# %-34s %4s %5s %8s %6s %5s %9s %8s %7s %7s %14s\n' machine of strangers sessions right kills marked \
	refused failed left 'silently wrong'
printf '%s' "$table"
