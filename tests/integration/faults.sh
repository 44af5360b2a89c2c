#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Machines as they are: hidden units, files that cannot be read, frozen boxes, neighbours, hotplug,
# slow registers. Each number is right, or carries a mark, or is refused with a sentence; never
# wrong with status 0. What a sound machine counts is in eventtables/CPU/workload.tbl. Ends with a table.
#
# A fault of each kind that system calls show goes through FUSE: what cannot be opened, read, written or is short,
# interrupted calls, files that end, functions that are hidden, CPUs offline, mapped memory. All others have the machine
# in the process; ALL=1 puts them through FUSE as well, and every verdict must be the same.
. "$(dirname "$0")/fuse.inc"
export COLUMNS=1000 # sentences stand on one line
front memory

table= name=
tried=0 right=0 marked=0 refused=0 wrong=0 by_calls=0
all_tried=0 all_right=0 all_marked=0 all_refused=0 all_wrong=0
pci=/sys/bus/pci/devices

row() # MACHINE TRIED RIGHT MARKED REFUSED WRONG
{
	printf '# %-29s %6d %6d %6d %7d %14d\n' "$@"
}

# The row of the machine so far, then the next machine.
on() # CPU[,option=value]...; nothing: there is no other
{
	if [ -n "$name" ]; then
		table="$table$(row "$name" $tried $right $marked $refused $wrong)
"
		all_tried=$((all_tried + tried)) all_right=$((all_right + right))
		all_marked=$((all_marked + marked)) all_refused=$((all_refused + refused))
		all_wrong=$((all_wrong + wrong))
	fi
	name=$1
	tried=0 right=0 marked=0 refused=0 wrong=0
	[ -z "$name" ] || start_machine "$name"
}

# One run with a fault: the lines of /control are on stdin, the options are the rest.
fault() # TITLE TRUTH(NAME=NUMBER,...) VERDICTS OPTION...: the verdicts that are good, "|" between
{
	title=$1 known=$2 good=$3
	shift 3
	control reset
	while IFS= read -r order; do
		control "$order"
	done
	real stat -j "$@"
	judge "$known"
	tried=$((tried + 1))
	[ "$front" != fuse ] || by_calls=$((by_calls + 1))
	tally
	case "|$good|" in
	*"|$verdict|"*) result 0 "$title: $verdict" ;;
	*) result 1 "$title: $verdict, not $good" ;;
	esac
}
said='marked|refused'
any='right|marked|refused'

# A line for each of several registers.
pokes() # WHEN PATH VALUE OFFSET...
{
	when=$1 path=$2 value=$3
	shift 3
	for offset; do
		echo "$when poke $path $offset $value"
	done
}

echo "1..123"

# ---- Sandy Bridge-EP: two sockets of four channels, each 2.702e8 / 4 reads a second
on sandybridge-ep
reads=imc.CAS_COUNT:RD=540400000
channel=$pci/0000:7f:10.1

calls fault "one memory channel hidden" $reads "$said" -d 1 -e imc.CAS_COUNT:RD <<E
hide $channel
E
calls real doctor
grep -qF '13 of 14 PCI functions of the monitors are visible; hidden or absent: 10.1 (8086:3cb1) on 1 of 2 sockets' "$dir/out"
result $? "and the doctor misses it"
fault "one memory channel hidden: bytes" memory_read_bytes=34585600000 "$said" -d 1 -m memory_read_bytes <<E
hide $channel
E
fault "the channels of a socket hidden" $reads "$said" -d 1 -e imc.CAS_COUNT:RD <<E
hide $pci/0000:ff:10.0
hide $pci/0000:ff:10.1
hide $pci/0000:ff:10.4
hide $pci/0000:ff:10.5
E
fault "a channel that reads as all ones" $reads "$said" -d 1 -e imc.CAS_COUNT:RD <<E
value $channel/config - 0xffffffff
E
fault "a channel whose counters read as all ones" $reads "$said" -d 1 -e imc.CAS_COUNT:RD <<E
$(for o in 0xA0 0xA4 0xA8 0xAC 0xB0 0xB4 0xB8 0xBC; do echo "value $channel/config $o 0xffffffff"; done)
E
for error in EIO EMFILE ENOENT EACCES; do
	calls fault "a channel's file: $error" $reads "$said" -d 1 -e imc.CAS_COUNT:RD <<E
fail open $channel/config - $error
E
done
calls fault "a channel's control: EIO" $reads "$said" -d 1 -e imc.CAS_COUNT:RD <<E
fail read $channel/config 0xd8 EIO
fail read $channel/config 0xdc EIO
fail read $channel/config 0xe0 EIO
fail read $channel/config 0xe4 EIO
E
for socket in 7f ff; do
	fault "the node id of bus $socket: EIO" $reads "$any" -d 1 -e imc.CAS_COUNT:RD <<E
fail read $pci/0000:$socket:0b.0/config 0x40 EIO
E
	fault "the UBox of bus $socket hidden" $reads "$any" -d 1 -e imc.CAS_COUNT:RD <<E
hide $pci/0000:$socket:0b.0
E
	# No NUMA node tells which socket a function is of.
	how=
	[ $socket = ff ] || how=calls
	$how fault "the node id of bus $socket: EIO, and no NUMA nodes" $reads "$any" -d 1 -e imc.CAS_COUNT:RD <<E
fail read $pci/0000:$socket:0b.0/config 0x40 EIO
text $pci/*/numa_node -1
text $pci/*/local_cpulist 0-15
E
	fault "and half of bus 7f's channels hidden: those of socket 1" \
		imc.CAS_COUNT:RD:socket=1=270200000 "$any" -d 1 -e imc.CAS_COUNT:RD:socket=1 <<E
fail read $pci/0000:$socket:0b.0/config 0x40 EIO
text $pci/*/numa_node -1
text $pci/*/local_cpulist 0-15
hide $pci/0000:7f:10.0
hide $pci/0000:7f:10.1
E
done
calls fault "configuration space ends at 64 bytes" $reads refused -d 1 -e imc.CAS_COUNT:RD <<E
size $pci/*/config 64
E
calls fault "a configuration file ends at 64 bytes" $reads "$said" -d 1 -e imc.CAS_COUNT:RD <<E
size $channel/config 64
E
for error in EINTR EAGAIN; do
	how=
	[ $error = EAGAIN ] || how=calls
	for op in open read write; do
		$how fault "$error at the first $op of a channel" $reads right -d 1 -e imc.CAS_COUNT:RD <<E
fail $op $channel/config - $error times 1
E
	done
done
calls fault "a short read of a channel" $reads right -d 1 -e imc.CAS_COUNT:RD <<E
short $channel/config - 2 times 1 after 20
E
fault "a counter that cannot be read" $reads "$said" -d 1 -e imc.CAS_COUNT:RD <<E
at 0.5 fail read $channel/config - EIO
E
calls fault "a control that cannot be written" $reads "$said" -d 1 -e imc.CAS_COUNT:RD <<E
fail write $channel/config - EIO
E

# ---- frozen: by box (BOX_CTL 0xD04, 0xF4), found so and in the middle
ticks=cbo.CLOCKTICKS=2700000000
fault "a frozen CBo" $ticks "$any" -d 1 -e cbo.CLOCKTICKS <<E
poke /dev/cpu/0/msr 0xD04 0x10100
E
fault "a frozen CBo, of which others count" cbo.TOR_INSERTS:MISS_OPCODE:opc=0x182=320000000 "$any" \
	-d 1 -e cbo.TOR_INSERTS:MISS_OPCODE:opc=0x182 <<E
poke /dev/cpu/0/msr 0xD04 0x10100
E
fault "a frozen channel" $reads "$any" -d 1 -e imc.CAS_COUNT:RD <<E
poke $channel/config 0xF4 0x10100
E
fault "a channel frozen in the middle" $reads "$said" -d 1 -e imc.CAS_COUNT:RD <<E
at 0.5 poke $channel/config 0xF4 0x10100
E
control reset
full=cbo0.LLC_LOOKUP:DATA_READ:socket=0,cbo0.RING_BOUNCES:AK_CORE:socket=0
full=$full,cbo0.RING_AD_USED:UP_EVEN:socket=0,cbo0.RING_AK_USED:UP_EVEN:socket=0
real stat -j -d 1 -e "$full"
all=$(jq -r '.events | to_entries | map("\(.key)=\(.value)") | join(",")' "$dir/out")
[ "$status" -eq 0 ] && [ "$all" != "${all#*=}" ] && ! grep -q unproven "$dir/out"
result $? "all counters of a CBo count, and nobody disturbs"
# Nothing of it tells, once it has counted, but that it stands for a second.
control reset "at 0.5 poke /dev/cpu/0/msr 0xD04 0x10100"
real stat -j -d 4 -I 1000 -e "$full"
jq -s -e '.[2:] | length == 2 and all(.unproven | length == 4)' "$dir/out" >/dev/null
result $? "a CBo frozen in the middle, and all of its counters count: unproven after a second"
# A counter that nobody uses counts a clock: whoever takes it then keeps it. The fourth and the fifth write are the
# clock's, and nothing is looked at between the two.
kept=0
for n in 1 2 3 5 6 7; do
	control reset "after $n write /dev/cpu/0/msr poke /dev/cpu/0/msr 0xD13 0x400135"
	real stat -j -d 1 -e cbo0.LLC_VICTIMS:MISS:socket=0
	[ "$(values /dev/cpu/0/msr 0xD13)" = 0x400135 ] || break
	kept=$((kept + 1))
done
[ "$kept" -eq 6 ]
result $? "a counter that somebody takes while it is a clock stays his"
control reset
for counter in 0xD16 0xD17 0xD18 0xD19; do
	fault "a CBo frozen in the middle, and the counter at $counter cannot be read at the end" \
		cbo0.CLOCKTICKS:socket=0=2700000000,cbo0.LLC_LOOKUP:DATA_READ:socket=0=78250000 "$said" \
		-d 1 -e cbo0.CLOCKTICKS:socket=0,cbo0.LLC_LOOKUP:DATA_READ:socket=0 <<E
at 0.5 poke /dev/cpu/0/msr 0xD04 0x10100
at 0.6 fail read /dev/cpu/0/msr $counter EIO times 1
E
done
# Somebody else counts there, so that it is not let go: nothing that counts in turn has a value in its turn.
turns=cbo0.CLOCKTICKS:socket=0,cbo0.TOR_INSERTS:OPCODE:opc=0x180:socket=0,cbo0.TOR_INSERTS:MISS_OPCODE:opc=0x182:socket=0
for beside in "" ,pcu.CLOCKTICKS:socket=0; do
	control reset "poke /dev/cpu/0/msr 0xD13 0x40041D" "poke /dev/cpu/0/msr 0xD04 0x10100"
	real stat -j -d 0.2 -e $turns$beside
	[ "$(jq -c '[.passes, (.events | to_entries[] | select(.key | test("cbo0")).value)]' "$dir/out")" = '[2,null,null,null]' ]
	result $? "a frozen CBo, of which others count, in turns${beside:+, beside a unit that counts}"
done
# A counter that moves is not lent to a clock.
cut=
for after in 0 1 2 3; do
	control reset "at 0.4 fail read /dev/cpu/0/msr 0xC39 EIO times 1 after $after"
	real stat -j -d 1 -I 500 -e pcu.CLOCKTICKS:socket=0
	cut=$cut$(jq -j '.events[] | select(. != null and . != 400000000) | " \(.)"' "$dir/out")
done
[ -z "$cut" ] && grep -q 400000000 "$dir/out"
result $? "a counter that cannot be read while its unit is looked at: exact or nothing$cut"

# A counter of which nothing moves is lent to a clock, and the process sleeps meanwhile, whichever write that is before.
lost=
for n in $(seq 1 12); do
	control reset "before $n write * advance 0.2"
	real stat -j -d 1 -e cbo0.LLC_VICTIMS:MISS:socket=0
	[ "$(jq -c '[.events[], .invalid]' "$dir/out")" = '[0,null]' ] || lost="$lost $n"
done
[ -z "$lost" ]
result $? "a machine that is busy while a counter is lent to a clock: not taken for somebody else's${lost:+, but before write$lost}"

# ---- taken over in the middle, whichever counter it is
fault "controls of a channel cleared" $reads "$said" -d 1 -e imc.CAS_COUNT:RD <<E
$(pokes "at 0.5" $channel/config 0 0xD8 0xDC 0xE0 0xE4)
E
fault "controls of a channel count the clock" $reads "$said" -d 1 -e imc.CAS_COUNT:RD <<E
$(pokes "at 0.5" $channel/config 0x400000 0xD8 0xDC 0xE0 0xE4)
E
fault "counters of a channel cleared" $reads "$said" -d 1 -e imc.CAS_COUNT:RD <<E
$(pokes "at 0.5" $channel/config 0 0xA4 0xA0 0xAC 0xA8 0xB4 0xB0 0xBC 0xB8)
E
fault "counters of a CBo are all ones" cbo.TOR_INSERTS:MISS_OPCODE:opc=0x182=320000000 "$said" \
	-d 1 -e cbo.TOR_INSERTS:MISS_OPCODE:opc=0x182 <<E
$(pokes "at 0.5" /dev/cpu/0/msr 0xfffffffffff 0xD16 0xD17 0xD18 0xD19)
E
fault "a CBo's filter changed" cbo.TOR_INSERTS:MISS_OPCODE:opc=0x182=320000000 "$said" \
	-d 1 -e cbo.TOR_INSERTS:MISS_OPCODE:opc=0x182 <<E
at 0.5 poke /dev/cpu/0/msr 0xD14 0
E

# ---- what is not ours stays as it is
control reset
pokes "at 0.5" $channel/config 0x400001 0xD8 0xDC 0xE0 0xE4 >"$dir/lines"
control "$(cat "$dir/lines")"
real stat -j -d 1 -e imc.CAS_COUNT:RD
n=$(changed 0x400001 $channel/config 0xD8 0xDC 0xE0 0xE4)
[ "$n" -eq 0 ]
result $? "stop: controls that a neighbour has taken stay as they are ($n written)"

# Of four counters that somebody has stopped and not yet read, one at most is taken. His controls
# are without the enable bit; CBo 0 of the first two, CHA 0 of the last.
stopped() # TITLE EVENT COUNTERS...
{
	title=$1 event=$2
	shift 2
	control reset
	for counter; do
		control "poke /dev/cpu/0/msr $counter 12345"
	done
	real stat -j -d 1 -e "$event"
	n=$(changed 0x3039 /dev/cpu/0/msr "$@")
	[ "$status" -eq 0 ] && [ "$n" -le 1 ]
	result $? "$title: counters that somebody has stopped keep their counts ($n lost)"
}
stopped "Sandy Bridge-EP" cbo0.CLOCKTICKS:socket=0 0xD16 0xD17 0xD18 0xD19

# He has reset the unit: no clock is lent to a counter that he has taken, or our control would come back.
fault "a CBo is reset by somebody else" cbo0.LLC_VICTIMS:M_STATE:socket=0=11750000 "$said" \
	-d 1 -e cbo0.LLC_VICTIMS:M_STATE:socket=0 <<E
at 0.5 poke /dev/cpu/0/msr 0xD04 0x10003
E
n=$(changed 0x0 /dev/cpu/0/msr 0xD10 0xD11 0xD12 0xD13)
[ "$n" -eq 0 ]
result $? "and his controls stay 0 ($n written)"
fault "a counter is cleared in a run of 1000 s" cbo0.CLOCKTICKS:socket=0=2700000000000 "$said" \
	-d 1000 -e cbo0.CLOCKTICKS:socket=0 <<E
$(pokes "at 500" /dev/cpu/0/msr 0 0xD16 0xD17 0xD18 0xD19)
E
fault "a control that cannot be read may have another owner" cbo0.CLOCKTICKS:socket=0=2700000000 "$said" \
	-d 1 -e cbo0.CLOCKTICKS:socket=0 <<E
$(for o in 0xD10 0xD11 0xD12 0xD13; do echo "at 0.3 fail read /dev/cpu/0/msr $o EIO"; done)
$(pokes "at 0.5" /dev/cpu/0/msr 0 0xD10 0xD11 0xD12 0xD13)
E

# ---- reports of intervals, of 2.7e9 clocks a second
clocks() # JQ OPTION...
{
	filter=$1
	shift
	real stat -j -e cbo0.CLOCKTICKS:socket=0,imc0.DCLK:socket=0 "$@"
	jq -s -e "map(.events[\"cbo0.CLOCKTICKS:socket=0\"]) | $filter" "$dir/out" >/dev/null
}
control reset
for o in 0xD16 0xD17 0xD18 0xD19; do control "at 0.9 fail read /dev/cpu/0/msr $o EIO times 1"; done
clocks '. == [null, null, 2700000000, 2700000000]' -I 1000 -d 4
result $? "a counter not read where an interval ends: neither that one nor the next has a number"
control reset
for o in 0xD10 0xD11 0xD12 0xD13; do control "at 0.061 poke /dev/cpu/0/msr $o 0x400334"; done
clocks '.[:6] == [range(6) | 27000000] and .[101:] == [range(19) | null]' -I 10 -d 1.2
result $? "a control taken, at intervals of 10 ms: after a second it has no number"
jq -s -e 'map(.events["imc0.DCLK:socket=0"] / .interval | round) | unique == [800000000]' "$dir/out" >/dev/null
result $? "and what another unit counts has all of them"

# ---- any access fails once: no number is wrong, nothing is left.
each() # TITLE TRUTH OPTION...
{
	title=$1 known=$2
	shift 2
	for op in read write; do
		control reset "log all"
		real stat -j "$@"
		points=$(count " $op /dev/cpu/0/msr ")
		n=0 wrong=0 left=0
		while [ "$n" -lt "$points" ]; do
			control reset "fail $op /dev/cpu/0/msr - EIO times 1 after $n"
			real stat -j "$@"
			judge "$known"
			[ "$verdict" != wrong ] || wrong=$((wrong + 1))
			left=$((left + $(changed 0x0 /dev/cpu/0/msr 0xD10 0xD11 0xD14)))
			n=$((n + 1))
		done
		[ "$n" -gt 0 ] && [ "$wrong" -eq 0 ] && [ "$left" -eq 0 ]
		result $? "$title: any of $n ${op}s fails once, $wrong silently wrong, $left registers left"
	done
}
miss=cbo0.TOR_INSERTS:MISS_OPCODE:opc=0x182:socket=0
each "two passes" $miss=4000000 -d 0.2 -e $miss,cbo0.TOR_INSERTS:OPCODE:opc=0x180:socket=0

# Bits of a filter that our event does not look at, of the PCU: he sets them in the middle.
control reset "at 0.5 poke /dev/cpu/0/msr 0xC34 0x1200000C"
real stat -j -d 1 -e pcu.FREQ_BAND0_CYCLES:band0=12:socket=0
n=$(changed 0x12000000 /dev/cpu/0/msr 0xC34)
exactly pcu.FREQ_BAND0_CYCLES:band0=0xc:socket=0=800000000 && [ "$n" -eq 0 ]
result $? "bits of a filter that a neighbour has set are his ($(values /dev/cpu/0/msr 0xC34))"

# ---- writes that fail at the stop, which is at 1 s
fault "a write fails once at stop" cbo0.CLOCKTICKS:socket=0=2700000000 right \
	-d 1 -e cbo0.CLOCKTICKS:socket=0 <<E
at 0.9 fail write /dev/cpu/0/msr - EIO times 1
E
n=$(changed 0x0 /dev/cpu/0/msr 0xD10 0xD11 0xD12 0xD13)
[ "$n" -eq 0 ]
result $? "and is tried again: nothing is left behind ($n left)"
control reset "at 0.9 fail write /dev/cpu/0/msr - EIO"
real stat -j -d 1 -e cbo0.CLOCKTICKS:socket=0
[ "$status" -eq 1 ] && grep -qxF 'uncore: restoring what was found failed: CTL3 of cbo0 (socket 0) at msr 0xd00 on cpu 0: Input/output error' "$dir/err"
result $? "a write that fails for good: what could not be restored is named"
control reset "fail write /dev/cpu/0/msr - EIO"
real stat -j -d 1 -e cbo0.CLOCKTICKS:socket=0
[ "$status" -eq 1 ] && grep -q 'cbo0.*[Ii]nput/output error' "$dir/err"
result $? "a write that fails at start: it is named"

# ---- time
fault "a jump beyond the wrap of 44 bits" cbo0.CLOCKTICKS:socket=0=27002700000000 "$any" \
	-d 10001 -e cbo0.CLOCKTICKS:socket=0 <<E
at 1 advance 10000
E
# A register access takes 30 us: rotating takes time, of which nothing is lost.
many=memory_read_bytes,memory_write_bytes,llc_lookups,llc_misses,link_tx_bytes,link_rx_bytes,pcie_read_bytes,pcie_write_bytes
control reset "cost 0.00003"
real stat -j -d 5 -m $many
jq -e '.time >= 4.999 and (.metrics.memory_read_bytes / 34585600000 / .time - 1 | fabs) < 0.001' \
	"$dir/out" >/dev/null
result $? "several passes on slow registers: all of the time, all of the bytes"
control reset "cost 0.00001"
real stat -j -I 1000 -d 20 -m $many
# An interval in which a pass had no turn is not reported, nor the next: turns are long where a change of
# the pass is.
jq -s -e '(.[-1].time - 20 | fabs) < 0.05 and length >= 14 and all(.[]; .time | . - round | fabs < 0.06) and
	all(.[]; (.metrics.memory_read_bytes / 34585600000 / .interval - 1 | fabs) < 0.001)' \
	"$dir/out" >/dev/null
result $? "several passes and intervals on slow registers: the deadlines are absolute"

# ---- hotplug: the CPU by which socket 0 is read goes
calls fault "the first CPU of a socket offline from the start" cbo.TOR_INSERTS:MISS_OPCODE:opc=0x182=320000000 \
	right -d 1 -e cbo.TOR_INSERTS:MISS_OPCODE:opc=0x182 <<E
offline 0
E
front fuse
fault "it goes offline" cbo.TOR_INSERTS:MISS_OPCODE:opc=0x182=320000000 'right|marked' \
	-d 1 -e cbo.TOR_INSERTS:MISS_OPCODE:opc=0x182 <<E
at 0.5 offline 0
E
left=$(changed 0x0 /dev/cpu/1/msr 0xD10 0xD11 0xD12 0xD13)
[ "$left" -eq 0 ]
result $? "and its counters are restored through another CPU ($left left)"
front memory

# ---- all CPUs of a socket: its channels need none, its slices cannot be read
offline() # FIRST LAST
{
	for cpu in $(seq "$1" "$2"); do
		echo "offline $cpu"
	done
}
for first in 0 8; do
	offline $first $((first + 7)) >"$dir/offline"
	fault "no CPU of socket $((first / 8)) online: channels" $reads right \
		-d 1 -e imc.CAS_COUNT:RD <"$dir/offline"
	how=
	[ $first -ne 0 ] || how=calls
	$how fault "and slices" cbo.TOR_INSERTS:MISS_OPCODE:opc=0x182=320000000 marked \
		-d 1 -e cbo.TOR_INSERTS:MISS_OPCODE:opc=0x182 <"$dir/offline"
done
offline 0 7 >"$dir/offline"
other=cbo.TOR_INSERTS:MISS_OPCODE:opc=0x182:socket=1
fault "no CPU of socket 0 online: the other keeps its number" $other=160000000 right \
	-d 1 -e $other <"$dir/offline"
real doctor
[ "$status" -eq 1 ] && grep -q '^FAIL  *units .*no CPU of the socket is online' "$dir/out"
result $? "and the doctor says so"

# ---- Ivy Bridge-EP: 12 CBos whatever cores are online; drd_miss / 12 = 2.2e8 / 12 each
on ivybridge-ep
fault "two cores of twelve online" cbo.TOR_INSERTS:MISS_OPCODE:opc=0x182=1320000000 right \
	-d 3 -e cbo.TOR_INSERTS:MISS_OPCODE:opc=0x182 <<E
$(for c in 2 3 4 5 6 7 8 9 10 11 14 15 16 17 18 19 20 21 22 23; do echo "offline $c"; done)
E
offline 12 23 >"$dir/offline"
fault "no CPU of socket 1 online: slices" cbo.TOR_INSERTS:MISS_OPCODE:opc=0x182=440000000 marked \
	-d 1 -e cbo.TOR_INSERTS:MISS_OPCODE:opc=0x182 <"$dir/offline"
fault "and channels" imc.CAS_COUNT:RD=732600000 right -d 1 -e imc.CAS_COUNT:RD <"$dir/offline"
fault "a socket frozen by its global control" imc.CAS_COUNT:RD=732600000 "$any" -d 1 -e imc.CAS_COUNT:RD <<E
poke /dev/cpu/0/msr 0xC00 0x80000000
E
stopped "Ivy Bridge-EP" cbo0.CLOCKTICKS:socket=0 0xD16 0xD17 0xD18 0xD19

# The UBox's fixed counter has 48 bits by the guide and Linux, 44 by LIKWID; what it shows is right. In
# 20000 s it wraps three times if it has 44. 2.7e9 clocks a second, 3.663e8 / 4 reads: workload.tbl.
truth=ubox.UCLK:socket=0=54000000000000,imc0.CAS_COUNT:RD:socket=0=1831500000000
wide=ubox.UCLK:socket=0,imc0.CAS_COUNT:RD:socket=0
export MACHINE_WIDTH
for MACHINE_WIDTH in 44 48; do
	on ivybridge-ep
	fault "counters of $MACHINE_WIDTH bits wrap" $truth right -d 20000 -e $wide </dev/null
	fault "counters of $MACHINE_WIDTH bits, one cleared" $truth "$said" -d 20000 -e $wide <<E
at 10 poke /dev/cpu/0/msr 0xC09 0
E
	fault "a counter of which nothing comes back" ubox.UCLK:socket=0=2700000000 "$said" \
		-d 1 -e ubox.UCLK:socket=0 <<E
value /dev/cpu/0/msr 0xC09 0
E
done
unset MACHINE_WIDTH

# ---- Nehalem-EP: UNCORE_PERF_GLOBAL_CTRL is 0x391
on nehalem-ep
fault "all counters switched off in the middle" unc.LLC_MISS:READ=240000000 "$said" -d 1 -e unc.LLC_MISS:READ <<E
at 0.5 poke /dev/cpu/0/msr 0x391 0
E
fault "its controls cleared in the middle" unc.LLC_MISS:READ=240000000 "$said" -d 1 -e unc.LLC_MISS:READ <<E
$(pokes "at 0.5" /dev/cpu/0/msr 0 0x3C0 0x3C1 0x3C2 0x3C3 0x3C4 0x3C5 0x3C6 0x3C7)
E

# Nothing but its CPUs tells of a socket: as many as it has, offline, are taken for one.
cpus=8 # four cores of two threads (eventtables/nehalem-ep/workload.tbl)
offline 0 $((cpus - 1)) >"$dir/offline"
fault "no CPU of socket 0 online" unc.LLC_MISS:READ=240000000 marked -d 1 -e unc.LLC_MISS:READ <"$dir/offline"
fault "the other keeps its number" unc.LLC_MISS:READ:socket=1=120000000 right \
	-d 1 -e unc.LLC_MISS:READ:socket=1 <"$dir/offline"
real doctor
[ "$status" -eq 1 ] && grep -q '^FAIL  *units .*no CPU of the socket is online' "$dir/out"
result $? "and the doctor says so"
offline $cpus $((2 * cpus - 1)) >"$dir/offline"
fault "no CPU of socket 1 online" unc.LLC_MISS:READ=240000000 marked -d 1 -e unc.LLC_MISS:READ <"$dir/offline"
fault "one CPU offline" unc.LLC_MISS:READ=240000000 right -d 1 -e unc.LLC_MISS:READ <<E
offline 1
E

# ---- Emerald Rapids: a CHA frozen (0x2000), controls cleared (0x2002 to 0x2005)
on emerald-rapids
real units -j
channel_0=$(jq -r '.[] | select(.unit == "imc" and .index == 0 and .socket == 0).location | split(" ")[1]' \
	"$dir/out")
fault "a frozen CHA" cha.TOR_INSERTS:IA_MISS_DRD=800000000 "$any" -d 1 -e cha.TOR_INSERTS:IA_MISS_DRD <<E
poke /dev/cpu/0/msr 0x2000 1
E
fault "a CHA's controls cleared in the middle" cha.TOR_INSERTS:IA_MISS_DRD=800000000 "$said" \
	-d 1 -e cha.TOR_INSERTS:IA_MISS_DRD <<E
$(pokes "at 0.5" /dev/cpu/0/msr 0 0x2002 0x2003 0x2004 0x2005)
E

fault "a socket frozen by its global control" cha.TOR_INSERTS:IA_MISS_DRD=800000000 "$any" \
	-d 1 -e cha.TOR_INSERTS:IA_MISS_DRD <<E
poke /dev/cpu/0/msr 0x2FF0 0x8000000000000000
E
calls fault "controls of a channel in memory cleared" imc.CAS_COUNT:RD=3107100000 "$said" \
	-d 1 -e imc.CAS_COUNT:RD <<E
$(for o in 0 1 2 3; do printf 'at 0.5 poke /memory 0x%x 0\n' $((channel_0 + 0x40 + 4 * o)); done)
E
calls fault "a channel frozen in the middle, of which its fixed counter counts" imc0.DCLK:socket=0=2400000000 \
	"$said" -d 1 -e imc0.DCLK:socket=0 <<E
at 0.5 poke /memory $channel_0 1
E
stopped "Emerald Rapids" cha0.CLOCKTICKS:socket=0 0x2008 0x2009 0x200A 0x200B


# A controller that is fused off has the place of another in its register (0xE0: the third's). What
# is there: 0.94 * 2.4e9 clocks a second at each of seven; 15.5355e8 / 8 reads at each of 14 channels.
offline 0 31 >"$dir/offline"
fault "no CPU of socket 0 online: slices" cha.TOR_INSERTS:IA_MISS_DRD=800000000 marked \
	-d 1 -e cha.TOR_INSERTS:IA_MISS_DRD <"$dir/offline"
fault "and channels" imc.CAS_COUNT:RD=3107100000 right -d 1 -e imc.CAS_COUNT:RD <"$dir/offline"
fault "two memory controllers at one place" mc.RPQ_ACTIVE_CYCLES=15792000000 "$any" \
	-d 1 -e mc.RPQ_ACTIVE_CYCLES <<E
value $pci/0000:7e:00.1/config 0xe0 0x80000080
E
# ---- discovery tables that are cut, lie, or are several: two a socket here, on bus 6a and ea. What a socket moves in a
# second: portable.tbl, or workload.tbl of Emerald Rapids.
on granite-rapids-two-tables
moved=memory_read_bytes=120000000000,link_tx_bytes=20000000000
sums="-m memory_read_bytes,link_tx_bytes"
fault "several discovery tables" $moved right -d 1 $sums </dev/null
fault "a link that is listed and hidden" link_tx_bytes=20000000000 "$said" -d 1 -m link_tx_bytes <<E
hide $pci/0000:7e:13.1
E
control reset
real stat -j -d 1 -e b2cmi.DIRECT2CORE_TAKEN
all=$(jq '.events | to_entries[0].value' "$dir/out")
fault "a B2CMI that is listed and hidden" "b2cmi.DIRECT2CORE_TAKEN=$all" "$said" -d 1 -e b2cmi.DIRECT2CORE_TAKEN <<E
hide $pci/0000:7e:05.4
E
fault "a discovery device of two hidden: bytes" memory_read_bytes=120000000000 "$said" -d 1 -m memory_read_bytes <<E
hide $pci/0000:6a:03.1
E
fault "and links, which tell by their device ids" link_tx_bytes=20000000000 right -d 1 -m link_tx_bytes <<E
hide $pci/0000:6a:03.1
E
fault "the register with the address of the channels is 0" memory_read_bytes=120000000000 "$said" \
	-d 1 -m memory_read_bytes <<E
value $pci/0000:7e:00.1/config 0xd0 0
E
on granite-rapids-unlisted
fault "records that read as ones: bytes" memory_read_bytes=120000000000 "$said" -d 1 -m memory_read_bytes </dev/null
fault "and slices" llc_lookups=4000000000 "$said" -d 1 -m llc_lookups </dev/null
fault "and links" link_tx_bytes=20000000000 right -d 1 -m link_tx_bytes </dev/null
on granite-rapids-mislisted
fault "records that point elsewhere" memory_read_bytes=120000000000,llc_lookups=4000000000 "$said" \
	-d 1 -m memory_read_bytes,llc_lookups -e mdf.CLOCKTICKS </dev/null
control reset "log writes"
real stat -j -d 1 -m memory_read_bytes,llc_lookups -e mdf.CLOCKTICKS
! grep -qi ' write [^ ]* 0x\(29f\|2a0\|fee0\)' "$root/log" && [ "$(count ' write ')" -gt 0 ]
result $? "and nothing is written there"
on granite-rapids,frozen=0,frozen=1
for event in mdf.RxR_INSERTS:IV ubox.EVENT_MSG:IPI_RCVD cxlcm.RxC_PACK_BUF_INSERTS:MEM_DATA; do
	fault "frozen sockets: ${event%%.*}" $event=1 "$said" -d 1 -e $event </dev/null
done
on emerald-rapids-two-tables
fault "a discovery device of two hidden" memory_read_bytes=198854400000,link_tx_bytes=38976000000 right \
	-d 1 $sums <<E
hide $pci/0000:6a:03.1
E
fault "and slices" llc_lookups=4522000000 "$said" -d 1 -m llc_lookups <<E
hide $pci/0000:6a:03.1
E
calls fault "several discovery tables" llc_lookups=4522000000,memory_read_bytes=198854400000 right \
	-d 1 -m llc_lookups,memory_read_bytes </dev/null

on emerald-rapids-no-discovery
fault "without discovery tables: channels of two controllers at one place" \
	imc.CAS_COUNT:RD=2718712500 "$any" -d 1 -e imc.CAS_COUNT:RD <<E
value $pci/0000:7e:00.1/config 0xe0 0x80000080
E

on ''
printf '# %-29s %6s %6s %6s %7s %14s\n' machine tried right marked refused 'silently wrong'
printf '%s' "$table"
row all $all_tried $all_right $all_marked $all_refused $all_wrong
echo "# through FUSE: $by_calls of $all_tried"
