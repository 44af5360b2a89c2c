#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# One unit is lost, and `uncore stat` goes on: what is about others stays exact, a sum over the
# others says over how many, what is about this unit alone has no value and says why; when the cause
# is gone it is taken up again. The status is 1 where an item had no value. (Every unit type of
# every CPU: test_losses.c.)
. "$(dirname "$0")/fuse.inc"

# ---- what is right

# What the sound machine counts in a second, for these options of stat: each interval is compared.
sound() # OPTION...
{
	control reset
	real stat -j -d 1 "$@"
	[ "$status" -eq 0 ] || cat "$dir/out" "$dir/err"
	jq -c '.events + .metrics | with_entries(select(.value != null))' "$dir/out" >"$dir/truth"
}

# How an item stands in an interval: "whole"; "7/8", the others of a sum, exactly; "none", with a
# reason; or "wrong". All units count the same here. A ratio is the
# same with one unit less, as the most of clocks is.
# shellcheck disable=SC2016 # these are jq's
states='. as $run | ($truth[0] | to_entries[]) as {$key, $value} | (.events + .metrics)[$key] as $is |
	($key | test("^[a-z]+[0-9]*[.]") and (test("CLOCKTICKS") | not)) as $sums |
	def same($part): . as $is | [1, $run.interval] |
		any($is - $value * . * $part | fabs <= 1e-6 * $value * 4 + 2);
	(.partial // {})[$key] as $part |
	$key + " " + if $is == null then
		if ((.invalid // {})[$key] // "") != "" then "none" else "wrong: nothing, without a reason" end
	elif (.unproven // {})[$key] != null or (.late // {})[$key] != null then "marked"
	elif $part != null then
		if $part.reason == "" then "wrong: no reason"
		elif ($is | same($part.units / $part.of)) or ($sums | not) and ($is | same(1))
		then "\($part.units)/\($part.of)" else "wrong: \($is) of \($value) by \($part)" end
	elif $is | same(1) then "whole" else "wrong: \($is) for \($value) a second" end'

# Of an interval, the items that are not whole.
flawed() # NUMBER: from 1 on; -1: the last
{
	jq -rs --slurpfile truth "$dir/truth" --argjson n "$1" \
		'.[if $n > 0 then $n - 1 else $n end] | '"$states"' | select(endswith(" whole") | not)' "$dir/out"
}

is() # NUMBER STATE...: these items, "NAME STATE" each, and no others are not whole in the interval
{
	_n=$1
	shift
	flawed "$_n" | sort >"$dir/is"
	printf '%s\n' "$@" | grep . | sort >"$dir/ought"
	diff "$dir/ought" "$dir/is" >"$dir/diff" && return
	echo "interval $_n:" >>"$dir/err"
	cat "$dir/diff" >>"$dir/err"
	return 1
}

# All that is not whole in the interval is a sum of so many units; there is something.
only() # NUMBER UNITS/OF
{
	flawed "$1" >"$dir/is"
	[ -s "$dir/is" ] && ! grep -v " $2\$" "$dir/is" >>"$dir/err"
}

# A reason names the unit.
names() # NUMBER NAME UNIT
{
	jq -es --argjson n "$1" --arg name "$2" --arg unit "$3" '.[$n - 1] |
		(.partial[$name].reason // .invalid[$name]) | contains($unit)' "$dir/out" >/dev/null
}

# ---- where registers are: "PATH ADDRESS"
where() # UNIT INDEX SOCKET REGISTER
{
	[ -s "$dir/units" ] || {
		real units -j && cp "$dir/out" "$dir/units"
		real registers -j && cp "$dir/out" "$dir/registers"
	}
	_at=$(jq -r --arg unit "$1" --argjson index "$2" --argjson socket "$3" '.[] |
		select(.unit == $unit and .index == $index and .socket == $socket).location' "$dir/units")
	_offset=$(jq -r --arg unit "$1" --argjson index "$2" --arg reg "$4" '.[] |
		select(.unit == $unit and .index == $index and .register == $reg).address' "$dir/registers")
	case $_at in
	msr*) echo "/dev/cpu/${_at##* }/msr $_offset" ;;
	pci*) echo "/sys/bus/pci/devices/${_at#pci }/config $_offset" ;;
	esac
}

on() # CPU[,option=value]...
{
	rm -f "$dir/units"
	start_machine "$1"
}

# A whole run with the lines of /control that are on stdin; each begins at 0.
with()
{
	control reset
	while IFS= read -r _order; do
		control "$_order"
	done
	real stat -j "$@"
}


echo "1..18"

# ---- Emerald Rapids: the two counters of an IRP, which somebody (perf) has, and gives back
on emerald-rapids
one=$(where irp 0 0 CTL0) two=$(where irp 0 0 CTL1)
sum=irp.TRANSACTIONS:WRITES alone=irp0.TRANSACTIONS:WRITES:socket=0
items="-e irp.CLOCKTICKS,$sum,$alone,irp1.TRANSACTIONS:WRITES:socket=0 -m memory_read_bytes"
set -- "irp.CLOCKTICKS 15/16" "$sum 15/16" "$alone none"
# shellcheck disable=SC2086 # options
{
	sound $items
	with -d 9 -I 1000 $items <<E
poke $one 0x401
poke $two 0x401
at 2.5 poke $one 0
at 2.5 poke $two 0
E
}
[ "$status" -eq 1 ] && is 1 "$@" && is 2 "$@" && names 1 $alone "irp0 (socket 0)" && names 1 $sum "irp0 (socket 0)"
result $? "irp0 is taken at the start: 15 of 16, and nothing else"
is -1 && is 8
result $? "and taken up again, when it is free"

# shellcheck disable=SC2086 # options
with -d 9 -I 1000 $items <<E
at 1.5 poke $one 0x401
at 1.5 poke $two 0x401
at 3.5 poke $one 0
at 3.5 poke $two 0
E
[ "$status" -eq 1 ] && is 1 && is 2 "$@" && is 3 "$@"
result $? "irp0 is taken in a run: 15 of 16 from then on"
is -1 && is 8
result $? "and taken up again, when it is free"

# Three events on two counters take turns, beside what is always measured.
more=$sum,$alone,irp.FAF_INSERTS,irp.FAF_TRANSACTIONS
sound -e $more -m memory_read_bytes
with -d 24 -I 4000 -e $more -m memory_read_bytes <<E
at 4.5 poke $one 0x401
at 4.5 poke $two 0x401
at 9.5 poke $one 0
at 9.5 poke $two 0
E
set -- "$sum 15/16" "$alone none" "irp.FAF_INSERTS 15/16" "irp.FAF_TRANSACTIONS 15/16"
[ "$status" -eq 1 ] && [ "$(jq -s '[length, .[0].passes] | tostring' "$dir/out")" = '"[6,2]"' ] &&
	is 1 && is 2 "$@"
result $? "irp0 is taken between two passes: they go on, with 15 of 16"
is -1 && is 5
result $? "and taken up again, when it is free"

# ---- one counter of a UPI is somebody's
upi=$(where upi 0 0 CTL3)
for group in LINK OVERVIEW; do
	sound -g $group
	with -d 1 -g $group <<E
poke $upi 0x400201
E
	[ "$status" -eq 0 ] && only 1 5/6
	result $? "a counter of upi0 is somebody's: -g $group has 5 of 6 of what needs it"
done

# ---- each unit for itself
each=upi.TxL_FLITS:ALL_DATA,upi.CLOCKTICKS,upi.TxL_FLITS:NON_DATA,upi.RxL_FLITS:ALL_DATA
sound --per-unit -e $each
with -d 1 --per-unit -e $each <<E
poke $upi 0x400201
E
[ "$status" -eq 1 ] && flawed 1 >"$dir/is" && [ -s "$dir/is" ] && ! grep -qv '^upi0\..*:socket=0 none$' "$dir/is"
result $? "and --per-unit has all but upi0 of socket 0"

# ---- Granite Rapids: a control of one CHA of 252
on granite-rapids
sound -m llc_lookups -e cha.CLOCKTICKS
for op in read write; do
	for reg in CTL3 UNIT_CTL; do
		with -d 1 -m llc_lookups -e cha.CLOCKTICKS <<E
fail $op $(where cha 7 0 $reg) EIO
E
		[ "$status" -eq 0 ] && { is 1 || only 1 251/252; }
		result $? "granite-rapids: $reg of a CHA fails at each $op: 251 of 252, or all"
	done
done

# ---- Nehalem-EP: a control of one socket
on nehalem-ep
sound -e unc.GQ_SNOOP:GOTO_S,unc.GQ_SNOOP:GOTO_S:socket=1
for reg in CTL0 CTL7 GLOBAL_CTL; do
	with -d 1 -e unc.GQ_SNOOP:GOTO_S,unc.GQ_SNOOP:GOTO_S:socket=1 <<E
fail read $(where unc 0 0 $reg) EIO
E
	[ "$status" -eq 0 ] && { is 1 || is 1 "unc.GQ_SNOOP:GOTO_S 1/2"; }
	result $? "nehalem-ep: $reg cannot be read: the other socket at the least"
done

# ---- Sandy Bridge-EP: without NUMA nodes, the UBox of a socket tells which its PCI functions are
on sandybridge-ep
events=imc.CAS_COUNT:RD,imc.CAS_COUNT:RD:socket=0,imc.CAS_COUNT:RD:socket=1
sound -e $events
for hidden in "7f 1" "ff 0"; do
	seen=imc.CAS_COUNT:RD:socket=${hidden#* }
	with -d 1 -e imc.CAS_COUNT:RD,$seen <<E
hide /sys/bus/pci/devices/0000:${hidden% *}:0b.0
text /sys/bus/pci/devices/*/numa_node -1
text /sys/bus/pci/devices/*/local_cpulist 0-15
E
	other=imc.CAS_COUNT:RD:socket=$((1 - ${hidden#* }))
	flawed 1 | grep -v "^$other " >"$dir/is"
	[ "$status" -eq 0 ] && { [ ! -s "$dir/is" ] || [ "$(cat "$dir/is")" = "imc.CAS_COUNT:RD 4/8" ]; }
	result $? "sandybridge-ep: the UBox of bus ${hidden% *} is hidden, and the other socket counts"
done
