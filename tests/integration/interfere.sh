#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A hostile neighbour, at random: what he has left before a run, and what he does in it. Each number
# without a mark is the true one; what is his stays as he has set it; of ours nothing is left. A case
# is told by its seed: SEEDS="17 18" or SEEDS="$(seq 1000 1999)", CPUS=ivybridge-ep, SHOW=1 (what it does).
#
# Left out, for nobody can see it: what is undone before the next look (a unit that is frozen and goes
# on, a control that is changed and changed back), a counter that is set to what it might have counted,
# a counter of his that we only share, and a control that he sets to what we have set.
. "$(dirname "$0")/fuse.inc"
front memory # ALL=1: through FUSE

export MEMORY_AFTER=3 # seconds: a run that has ended early does not keep him from acting

# ---- machines. A unit: name, file, bytes of a control, its controls, its counters, unit control
# (-: none), values that freeze it, let it go and reset it (-: nothing does), a filter.
units_of() # CPU
{
	case $1 in
	nehalem-ep)
		echo "unc $msr 8 0x3C0,0x3C1,0x3C2,0x3C3,0x3C4,0x3C5,0x3C6,0x3C7" \
			"0x3B0,0x3B1,0x3B2,0x3B3,0x3B4,0x3B5,0x3B6,0x3B7 0x391 0 0x1000000FF - -"
		;;
	sandybridge-ep)
		echo "cbo0 $msr 8 0xD10,0xD11,0xD12,0xD13 0xD16,0xD17,0xD18,0xD19 0xD04 0x10100 0x10000 0x10003 0xD14"
		echo "imc0 $(place imc) 4 0xD8,0xDC,0xE0,0xE4,0xF0 0xA0,0xA8,0xB0,0xB8 0xF4 0x10100 0x10000 - -"
		echo "pcu $msr 8 0xC30,0xC31,0xC32,0xC33 0xC36,0xC37,0xC38,0xC39 0xC24 0x10100 0x10000 0x10003 0xC34"
		;;
	ivybridge-ep)
		echo "cbo0 $msr 8 0xD10,0xD11,0xD12,0xD13 0xD16,0xD17,0xD18,0xD19 0xD04 0x30100 0x30000 0x30003 0xD1A"
		echo "imc0 $(place imc) 4 0xD8,0xDC,0xE0,0xE4,0xF0 0xA0,0xA8,0xB0,0xB8 0xF4 0x30100 0x30000 - -"
		echo "pcu $msr 8 0xC30,0xC31,0xC32,0xC33 0xC36,0xC37,0xC38,0xC39 0xC24 0x30100 0x30000 0x30003 0xC34"
		;;
	emerald-rapids)
		base=$(place imc)
		echo "cha0 $msr 8 0x2002,0x2003,0x2004,0x2005 0x2008,0x2009,0x200A,0x200B 0x2000 1 0 0x300 0x200E"
		echo "imc0 /memory 4 $(from "$base" 0x40 0x44 0x48 0x4C 0x54) $(from "$base" 8 16 24 32)" \
			"$(from "$base" 0) 1 0 0x300 -"
		echo "m2m0 $(place m2m) 4 0x468,0x470,0x478,0x480 0x440,0x448,0x450,0x458 0x438 1 0 0x300 -"
		;;
	esac
}
msr=/dev/cpu/0/msr

from() # BASE OFFSET...
{
	_base=$1 _list=
	shift
	for _offset; do
		_list=$_list,$(printf '0x%x' $((_base + _offset)))
	done
	echo "${_list#,}"
}

# The file of a unit, of memory its address.
place() # TYPE
{
	real units -j
	jq -r --arg type "$1" '.[] | select(.unit == $type and .index == 0 and .socket == 0).location |
		split(" ") | if .[0] == "pci" then "/sys/bus/pci/devices/" + .[1] + "/config" else .[1] end' "$dir/out"
}

# Events and what a unit counts in a second: eventtables/CPU/workload.tbl.
events_of() # CPU
{
	case $1 in
	nehalem-ep) # hit = 1.6e8, miss = 1.2e8, wb = 0.9e8, stream = 0.1e8, dirty = 0.35e8
		cat <<-E
			unc.LLC_MISS:READ 120000000
			unc.LLC_HITS:READ 160000000
			unc.LLC_HITS:WRITE 90000000
			unc.LLC_MISS:WRITE 0
			unc.GQ_ALLOC:RT 280000000
			unc.GQ_ALLOC:WT 100000000
			unc.QHL_REQUESTS:LOCAL_READS 65000000
			unc.QHL_REQUESTS:REMOTE_WRITES 22500000
			unc.LLC_LINES_OUT:M_STATE 35000000
			unc.IMC_WRITES:PARTIAL_CH0 333333.333
			unc.IMC_CRITICAL_PRIORITY_READS:CH0 16666.667
			unc.CLK_UNHALTED 2660000000
		E
		;;
	sandybridge-ep) # read_hit = 3.56e8, read_miss = 2.7e8, mem_writes = 1.142e8, victims = 2.88e8
		cat <<-E
			cbo0.CLOCKTICKS 2700000000
			cbo0.LLC_VICTIMS:M_STATE 11750000
			cbo0.LLC_VICTIMS:MISS 0
			cbo0.LLC_LOOKUP:DATA_READ 78250000
			cbo0.LLC_LOOKUP:DATA_READ:state=1 33750000
			cbo0.TOR_INSERTS:MISS_OPCODE:opc=0x182 20000000
			cbo0.TOR_INSERTS:OPCODE:opc=0x180 13750000
			imc0.DCLK 800000000
			imc0.CAS_COUNT:RD 67550000
			imc0.CAS_COUNT:WR 28550000
			imc0.RPQ_CYCLES_NE 496000000
			imc0.DRAM_REFRESH:PANIC 0
			pcu.CLOCKTICKS 800000000
			pcu.FREQ_MAX_OS_CYCLES 560000000
			pcu.FREQ_TRANS_CYCLES 800000
			pcu.DEMOTIONS_CORE0 12
			pcu.FREQ_BAND0_CYCLES:band0=0xc 800000000
			pcu.FREQ_BAND1_CYCLES:band1=0x1f 240000000
		E
		;;
	ivybridge-ep) # drd_miss = 2.2e8, rfo_hit + rfo_miss = 1.5e8; victims_m = 1.2e8 of twelve CBos
		cat <<-E
			cbo0.CLOCKTICKS 2700000000
			cbo0.LLC_VICTIMS:M_STATE 10000000
			cbo0.LLC_VICTIMS:MISS 0
			cbo0.TOR_INSERTS:MISS_OPCODE:opc=0x182 18333333.333
			cbo0.TOR_INSERTS:OPCODE:opc=0x180 12500000
			imc0.DCLK 933300000
			imc0.CAS_COUNT:RD 91575000
			pcu.CLOCKTICKS 800000000
			pcu.FREQ_MAX_OS_CYCLES 560000000
			pcu.DEMOTIONS_CORE0 12
			pcu.PROCHOT_INTERNAL_CYCLES 0
		E
		;;
	emerald-rapids)
		cat <<-E
			cha0.CLOCKTICKS 2200000000
			cha0.TOR_INSERTS:IA_MISS_DRD 12500000
			cha0.REQUESTS:INVITOE_LOCAL 625000
			cha0.LLC_LOOKUP:LOCAL_DMND_RFO 10062500
			cha0.LLC_VICTIMS:IO_E 0
			imc0.CAS_COUNT:RD 194193750
			imc0.CLOCKTICKS 2400000000
			imc0.DCLK 2400000000
			imc0.DRAM_REFRESH:PANIC_PCH0 100
			imc0.POWER_SELF_REFRESH 0
			m2m0.CLOCKTICKS 2200000000
			m2m0.IMC_READS:ALL 387762500
		E
		;;
	esac
}

# ---- chance
draw() # N: $drawn is one of 0 to N - 1
{
	state=$(((state * 1103515245 + 12345) & 0x7fffffff))
	drawn=$((state / 65536 % $1))
}

one_of() # WORD...: $one is one of them
{
	draw $#
	shift "$drawn"
	one=$1
}

one_in() # LIST: of words between commas
{
	_ifs=$IFS IFS=,
	# shellcheck disable=SC2086 # words
	one_of $1
	IFS=$_ifs
}

some_unit()
{
	draw "$n_units"
	# shellcheck disable=SC2046 # words
	set -- $(sed -n "$((drawn + 1))p" "$dir/units")
	unit=$1 file=$2 size=$3 ctls=$4 ctrs=$5 box=$6 frozen=$7 running=$8 reset=$9
	shift 9
	filter=$1
}

# ---- a case
orders= # lines of /control
say()
{
	orders="$orders$1
"
}

# A register of his, and what it must hold in the end. What comes later counts.
his() # SECONDS FILE OFFSET VALUE
{
	echo "$1 $2 $3 $4" >>"$dir/his"
}

# A counter of the unit: in configuration space its halves.
set_counter() # WHEN OFFSET VALUE
{
	if [ "$file" = $msr ] || [ "$file" = /memory ]; then
		say "$1 poke $file $2 $3 8"
	else
		say "$1 poke $file $(printf '0x%x' $(($2 + 4))) 0"
		say "$1 poke $file $2 $3"
	fi
}

# A counter at an event, or ready for one.
foreign_control()
{
	case $cpu/$unit in
	emerald-rapids/*) one_of 0x103 0x4005 0x350 ;;
	*/pcu) one_of 0x40000D 0x40000E 0xD ;;
	*) one_of 0x40021D 0x40041D 0x21D 0x401237 ;;
	esac
}

before()
{
	some_unit
	one_of nothing nothing stopped counts counts filter frozen frozen_counts
	started=$one
	[ "$box" != 0x391 ] || [ "$started" = nothing ] || say "poke $file $box 0x1000000FF 8"
	case $started in
	stopped)
		for c in $(echo "$ctrs" | tr , ' '); do
			set_counter "" "$c" 12345
		done
		;;
	counts | frozen_counts)
		foreign_control
		one_in "${ctls%,0xF0}"
		;;
	esac
	case $started in
	counts | frozen_counts)
		at=$one
		foreign_control
		case $at in
		*54 | 0xF0) one=0x400000 ;; # a fixed counter
		esac
		say "poke $file $at $one $size"
		his 0 "$file" "$at" "$one"
		;;
	filter)
		[ "$filter" = - ] && return
		one_of 0x1F 0x3 0x7800000 0x12000000
		[ "$cpu" != emerald-rapids ] || one_of 0x3 0x1F # thread
		say "poke $file $filter $one 8"
		his 0 "$file" "$filter" "$one"
		;;
	esac
	case $started in
	frozen*) say "poke $file $box $frozen $size" ;;
	esac
}

# What he does at a moment of the run. Controls that he clears need not be 0 in the end if they were
# his before: then he has set them.
act() # SECONDS
{
	some_unit
	one_of control control control clear counter "$stops" reset filter "$goes"
	case $one in
	control)
		foreign_control
		value=$one
		one_in "$ctls"
		case $one in
		*54 | 0xF0) value=0 ;;
		esac
		say "at $1 poke $file $one $value $size"
		his "$1" "$file" "$one" "$value"
		;;
	clear)
		one_in "$ctls"
		say "at $1 poke $file $one 0 $size"
		his "$1" "$file" "$one" 0
		;;
	counter)
		one_in "$ctrs"
		at=$one
		one_of 0 0 1 12345
		set_counter "at $1" "$at" "$one"
		;;
	freeze)
		say "at $1 poke $file $box $frozen $size"
		goes=freeze # or nobody could tell
		;;
	reset)
		[ "$reset" = - ] || [ "$goes" = freeze ] && return
		say "at $1 poke $file $box $reset $size"
		for c in $(echo "$ctls" | tr , ' '); do # the fixed one as well
			his "$1" "$file" "$c" 0
		done
		;;
	filter)
		[ "$filter" = - ] && return
		one_of 0x5 0x1E 0x2 0x7000000
		[ "$cpu" != emerald-rapids ] || one_of 0x3 0x1F
		say "at $1 poke $file $filter $one 8"
		his "$1" "$file" "$filter" "$one"
		;;
	box) # he lets the unit go, whatever it did
		say "at $1 poke $file $box $running $size"
		stops=box
		;;
	esac
}

fault() # SECONDS
{
	some_unit
	one_in "$ctls,$ctrs,-,-"
	at=$one
	draw 6
	after=$drawn
	one_of "fail read $file $at EIO" "fail read $file $at EIO" "fail write $file $at EIO" \
		"fail read $file $at EINTR" "fail write $file $at EAGAIN" "short $file $at 2"
	[ "$file" = /memory ] || say "at $1 $one times 1 after $after"
}

moment() # $time: a moment of the run, none at which somebody looks
{
	draw $((1000 * length / 1000 - 2))
	ms=$((drawn + 1))
	time=$(printf '%d.%03d37' $((ms / 1000)) $((ms % 1000)))
}

choose_run()
{
	one_of 200 500 1000 1700
	length=$one
	set -- -d "$(printf '%d.%03d' $((length / 1000)) $((length % 1000)))"
	one_of none none 100 250
	[ "$one" = none ] || set -- "$@" -I "$one"
	draw 6
	wanted=$((drawn + 1)) specs= truth=
	while [ "$wanted" -gt 0 ]; do
		wanted=$((wanted - 1))
		draw "$n_events"
		spec=$(sed -n "$((drawn + 1))p" "$dir/events")
		case ,$specs, in
		*",${spec% *}:socket=0,"*) continue ;;
		esac
		specs=$specs,${spec% *}:socket=0 truth=$truth,${spec% *}:socket=0=${spec##* }
	done
	specs=${specs#,} truth=${truth#,}
	run="$* -e $specs"
}

# Right, marked, refused, or wrong: see judge in fuse.inc. Controls are compared in a read if that was not done
# for a second: a number of an interval that ends within a second of what he did may come before that is seen; none
# may at the end. A number that was measured in a part of the
# time is wrong as well if it is not about what it should be, for nothing here changes its rate.
assess()
{
	if [ ! -s "$dir/out" ]; then
		verdict=wrong
		[ "$status" -ne 0 ] && grep -q '[a-z] [a-z]' "$dir/err" && verdict=refused
		return
	fi
	# Each turn of a simulated counter begins anew with a whole event: of rare ones many turns miss some.
	verdict=$(jq -rs --arg truth "$truth" --arg status "$status" --arg acts "$acts" '
		[$acts | scan("[0-9.]+") | tonumber] as $acts |
		[$truth | split(",")[] | capture("^(?<name>.*)=(?<rate>[0-9.]+)$") | .rate |= tonumber] as $all |
		. as $runs | [range($runs | length) as $i | $runs[$i] as $run | $all[] | .name as $name | ($run.events[$name]) as $n | (.rate * $run.interval) as $t |
		 ($i + 1 < ($runs | length) and any($acts[]; . < $run.time and $run.time - . <= 1)) as $soon |
		 if $n == null then (if $run.invalid[$name] != null then "marked" else "wrong" end)
		 elif $run.unproven[$name] != null then "marked"
		 elif $run.share[$name] != null then (if ($n - $t | fabs) <= 6 + 10 * $run.interval + 0.01 * $t then "marked" elif $soon then "late" else "wrong" end)
		 elif $run.partial[$name] != null then "marked"
		 elif ($n - $t | fabs) <= 2 + 2e-6 * $t then "right"
		 elif $soon then "late" else "wrong" end] |
		if any(.[]; . == "wrong") then "wrong" elif any(.[]; . == "late") then "late" elif $status != "0" and all(.[]; . == "right") then "refused"
		elif all(.[]; . == "right") then "right" else "marked" end' "$dir/out" 2>"$dir/jq" || echo wrong)
	[ "$verdict" != late ] || late=$((late + 1)) verdict=marked
}

# What is his holds what he has set; other controls are 0. A write that fails for good is told.
look_after()
{
	touched=
	while read -r unit file size ctls ctrs box frozen running reset filter; do
		registers=$(echo "$ctls,${filter#-}" | tr , ' ')
		# shellcheck disable=SC2086 # words
		values "$file" $registers >"$dir/got"
		for c in $registers; do
			read -r got <&3
			want=$(sort -n "$dir/his" | awk -v f="$file" -v o="$c" '$2 == f && $3 == o {v = $4} END {print v == "" ? 0 : v}')
			[ "$got" != none ] && [ $((got)) -eq $((want)) ] || touched="$touched $unit:$c=$got,not:$want"
		done 3<"$dir/got"
	done <"$dir/units"
}

try() # SEED
{
	state=$1 orders= acts= stops=freeze goes=box
	draw 7
	: >"$dir/his"
	control reset
	choose_run
	before
	draw 4
	for _i in 1 2 3; do
		[ "$_i" -le "$drawn" ] || break
		keep=$drawn
		moment
		if [ "$_i" -eq 3 ]; then fault "$time"; else acts="$acts $time"; act "$time"; fi
		drawn=$keep
	done
	control "$orders"
	# shellcheck disable=SC2086 # words
	real stat -j $run
	assess
	[ "$front" = memory ] || advance $MEMORY_AFTER
	control clear
	look_after
	tried=$((tried + 1))
	tally
	[ -z "$touched" ] || spoilt=$((spoilt + 1))
	if [ "$verdict" = wrong ] || [ -n "$touched" ] || [ -n "${SHOW:-}" ]; then
		echo "# $cpu, seed $1: $verdict (status $status)${touched:+, touched$touched}"
		echo "#   stat -j $run"
		echo "$orders" | sed '/^$/d; s/^/#   /'
		[ -z "${SHOW:-}" ] || sed 's/^/#   /' "$dir/out" "$dir/err"
	fi
}

# shellcheck disable=SC2086 # words
set -- ${CPUS:-nehalem-ep sandybridge-ep ivybridge-ep emerald-rapids}
echo "1..$#"
all_tried=0 all_right=0 all_marked=0 all_refused=0 all_wrong=0 all_spoilt=0
for cpu; do
	start_machine "$cpu"
	units_of "$cpu" >"$dir/units"
	events_of "$cpu" >"$dir/events"
	n_units=$(wc -l <"$dir/units") n_events=$(wc -l <"$dir/events")
	tried=0 right=0 marked=0 late=0 refused=0 wrong=0 spoilt=0
	for seed in ${SEEDS:-$(seq 1 10) 1038 1106 1124 1152 1248}; do # those above 1000 have found faults
		try "$seed"
	done
	: >"$dir/out"
	: >"$dir/err"
	[ "$tried" -gt 0 ] && [ "$wrong" -eq 0 ] && [ "$spoilt" -eq 0 ]
	result $? "$cpu: $tried runs beside a neighbour, $right right, $marked marked ($late late), $refused refused, $wrong silently wrong, $spoilt touched what is his"
done
