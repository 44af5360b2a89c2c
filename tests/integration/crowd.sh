#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Many processes on one machine start, read and stop sessions at random, half of them with the same
# event, and are killed at random; then the same beside foreign processes. Each number is exact or carries a
# mark; without those none carries one, and nothing is refused, for the events are so few that all
# fit. One that sets a control to what we have set cannot be told from us, and is left out: its
# controls are of events that nobody else counts. It writes them whole, for who clears half of one leaves
# the other half. Then two processes at the same moment: one starts while the other is held at each
# access to a register of its start and its stop; with one journal, and with two. Ends with a table. CROWD_SEED makes
# it another run, ALL=1 another one each time; so do CROWD_PROCESSES, CROWD_SECONDS (of the machine's time) and CROWD_FOREIGN;
# SHOW=1 shows all that was not right.
. "$(dirname "$0")/fuse.inc"
. "$(dirname "$0")/crowd.inc"

seed=${CROWD_SEED:-$([ -n "${ALL-}" ] && date +%s || echo 7)} processes=${CROWD_PROCESSES:-64} seconds=${CROWD_SECONDS:-2}
foreigners=${CROWD_FOREIGN:-4}
msr=/dev/cpu/0/msr
table= races=

# Where a unit is: its PCI function, or the address of its registers in memory.
place() # UNIT
{
	real units -j
	jq -r --arg type "$1" '.[] | select(.unit == $type and .index == 0 and .socket == 0).location |
		split(" ")[1] | if startswith("0x") then . else "/sys/bus/pci/devices/" + . + "/config" end' "$dir/out"
}

run_crowd() # run|race ARGUMENT...: output in $dir/out and $dir/err
{
	_what=$1
	shift
	UNCORE_RUN=$dir/run CROWD_PRELOAD="$clock $live" LD_LIBRARY_PATH=$libraries "$crowd" "$_what" \
		-r "$root" -d "$dir/crowd" -s "$seed" "$@" >"$dir/out" 2>"$dir/err"
}

# One crowd on the machine as it was switched on; its numbers in $sessions, $right ...
meet() # TITLE KILLS FOREIGN ARGUMENT...
{
	title=$1 _kills=$2 _foreign=$3
	shift 3
	nobody
	run_crowd run -n "$processes" -t "$seconds" -k "$_kills" -x "$_foreign" "$@"
	status=$?
	sessions=0 right=0 marked=0 wrong=1 refused=1 failed=1 last=bad left=1 kills=0
	# shellcheck disable=SC2046 # words
	[ "$status" -ne 0 ] || export $(cat "$dir/out")
	[ "${SHOW:-0}" = 0 ] || sed 's/^/# /' "$dir/crowd/said"
	table="$table$(printf '# %-34s %4d %5d %8d %6d %5d %9d %8d %7d %7d %14d' "$title" "$processes" \
		"$_foreign" "$sessions" "$right" "$kills" "$marked" "$refused" "$failed" "$left" "$wrong")
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

crowd_beside_foreign() # TITLE ARGUMENT...
{
	_title=$1
	shift
	meet "$_title" 1 "$foreigners" "$@"
	expect "every number is exact or marked ($right exact, $marked marked)" ': (wrong|failed):' \
		[ "$right" -gt 0 -a "$wrong" -eq 0 -a "$failed" -eq 0 ]
	cat "$root/left" >>"$dir/err"
	expect "the next one finds and leaves all as it was" 'last:' [ "$last" = right -a "$left" -eq 0 ]
}

# Two processes: the second starts while the first is held at each of its accesses.
race() # both|one|apart EVENT=RATE EVENT=RATE: both can count at a time, need not, or have two journals
{
	_can=$1 _apart=
	shift
	[ "$_can" != apart ] || _can=one _apart="-l $dir/run2"
	nobody
	mkdir "$dir/run2"
	points=0 right=0 marked=0 refused=0 wrong=1 left=1
	# shellcheck disable=SC2086 # words
	run_crowd race -n 0 -t 0 $_apart "$@" && export $(cat "$dir/out")
	cat "$dir/crowd/said" >>"$dir/err"
	rm -rf "$dir/run2"
	[ "$points" -gt 0 -a "$wrong" -eq 0 -a "$left" -eq 0 -a "$right" -gt 0 ] &&
		{ [ "$_can" = one ] || [ "$marked" -eq 0 -a "$refused" -eq 0 ]; }
	result $? "${1%=*} and ${2%=*} start together${_apart:+, two journals}: $points points, $right right, $marked marked, $refused refused, $wrong wrong"
	races="$races$(printf '# %-76s %6d %6d %7d %8d %14d' "${1%=*}, ${2%=*}${_apart:+, two journals}" "$points" "$right" \
		"$marked" "$refused" "$wrong")
"
}

echo "1..22"

# What is counted in a second is in eventtables/CPU/workload.tbl; as in interfere.sh.
start_machine sandybridge-ep
imc=$(place imc)
set -- imc0.CAS_COUNT:RD:socket=0=67550000 imc0.CAS_COUNT:WR:socket=0=28550000 \
	imc0.RPQ_CYCLES_NE:socket=0=496000000 imc0.DCLK:socket=0=800000000 \
	cbo0.CLOCKTICKS:socket=0=2700000000 cbo0.LLC_VICTIMS:M_STATE:socket=0=11750000 \
	cbo0.LLC_LOOKUP:DATA_READ:socket=0=78250000 pcu.CLOCKTICKS:socket=0=800000000 \
	pcu.FREQ_MAX_OS_CYCLES:socket=0=560000000
crowd_alone sandybridge-ep "$@"
crowd_beside_foreign "sandybridge-ep, foreign" -X "$msr:0xD13:8:0x40021D" -X "$msr:0xD11:8:0x40041D" \
	-X "$imc:0xE4:4:0x400001" -X "$imc:0xDC:4:0x400001" "$@"
race both "$1" "$2"
race both "$1" "$1"
race both "$4" "$4"
race both "$6" "$5" # the second event can do with a counter that the first cannot have
# A filter that one sets and the other looks at.
race one cbo0.LLC_LOOKUP:DATA_READ:state=0x1:socket=0=33750000 \
	cbo0.TOR_INSERTS:MISS_OPCODE:opc=0x182:socket=0=20000000
race one cbo0.LLC_LOOKUP:DATA_READ:state=0x1:socket=0=33750000 \
	cbo0.LLC_LOOKUP:DATA_READ:state=0x1E:socket=0=44500000 # 3.56e8 / 8
# Neither knows of the other, as in containers with a /run of their own. Clocks of 48 bits: of others one
# leap in hundreds is too small to be seen.
race apart "$4" "$4"
race apart "$8" "$8"
race apart "$6" "$5"

start_machine emerald-rapids # MSRs, PCI and mapped memory
imc=$(place imc) m2m=$(place m2m)
set -- imc0.CAS_COUNT:RD:socket=0=194193750 imc0.CLOCKTICKS:socket=0=2400000000 \
	imc0.DCLK:socket=0=2400000000 cha0.CLOCKTICKS:socket=0=2200000000 \
	cha0.TOR_INSERTS:IA_MISS_DRD:socket=0=12500000 cha0.REQUESTS:INVITOE_LOCAL:socket=0=625000 \
	m2m0.CLOCKTICKS:socket=0=2200000000 m2m0.IMC_READS:ALL:socket=0=387762500
crowd_alone emerald-rapids "$@"
crowd_beside_foreign "emerald-rapids, foreign" -X "$msr:0x2005:8:0x103" -X "$msr:0x2003:8:0x350" \
	-X "/memory:$((imc + 0x4C)):4:0x103" \
	-X "$m2m:0x480:8:0x350" "$@"
race both "$1" "$2"
race apart "$2" "$2"
race apart "$4" "$4"

printf '# %-34s %4s %5s %8s %6s %5s %9s %8s %7s %7s %14s\n' machine of foreign sessions right kills marked \
	refused failed left 'silently wrong'
printf '%s' "$table"
printf '# %-76s %6s %6s %7s %8s %14s\n' together points right marked refused 'silently wrong'
printf '%s' "$races"
