#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The real back ends (MSR, PCI configuration, discovery) with real system calls, on a
# simulated machine that FUSE shows as files, in the time of that machine: counts are exact.
. "$(dirname "$0")/fuse.inc"
. "$SRCDIR/tests/integration/other_tables.inc"
export COLUMNS=1000 # sentences stand on one line

echo "1..33"

start_machine sandybridge-ep
real units -j && jq -e 'length == 40 and all(.available)' "$dir/out" >/dev/null
result $? "Sandy Bridge-EP: discovery finds all 40 units of two sockets"

# To read the configuration space of a function is to wake it. By what the kernel says, a channel of
# socket 0 is something else here: nobody looks at it.
control "log all" "text /sys/bus/pci/devices/0000:7f:10.0/device 0x1572"
real units -j && [ "$(count ' read .*/0000:7f:10.0/config ')" -eq 0 ] &&
	[ "$(count ' read .*/0000:7f:10.1/config ')" -gt 0 ] &&
	[ "$(jq -r '[.[] | select(.available | not) | .unit] | join(" ")' "$dir/out")" = imc ]
result $? "configuration space is read of functions that are known to matter, and of no other"
control reset

# MSR, PCI, filters in both, the fixed counters, and the 64-bit PCI counters in two halves. By
# eventtables/sandybridge-ep/workload.tbl, each socket has in a second
#   mem_reads = read_miss = (1.6 + 0.6 + 0.04 + 0.3 + 0.06 + 0.1) e8 = 2.7e8, stream_part 0.002e8,
#   mem_writes = (0.6 + 0.06 + 0.28) + 0.18 + 0.02 + 0.002 = 1.142e8,
#   data flits of a link: 8 * ((mem_reads + mem_writes) / 4 + 1e5) = 7.692e8, of two links;
# events are summed over two sockets, clocks are those of one unit. Five seconds:
real stat -j -d 5 -e \
	imc.CAS_COUNT:RD,imc.DCLK,cbo.TOR_INSERTS:MISS_OPCODE:opc=0x182,ha.REQUESTS:READS,pcu.CLOCKTICKS,qpi.TxL_FLITS_G0:DATA,ubox.UCLK
exactly "imc.CAS_COUNT:RD=2702000000,imc.DCLK=4000000000,cbo.TOR_INSERTS:MISS_OPCODE:opc=0x182=1600000000,ha.REQUESTS:READS=2700000000,pcu.CLOCKTICKS=4000000000,qpi.TxL_FLITS_G0:DATA=15384000000,ubox.UCLK=13500000000"
result $? "Sandy Bridge-EP: exact counts of 5 s in MSRs and PCI"

real stat -j -d 0.25 -e imc.CAS_COUNT:RD:socket=1
exactly "imc.CAS_COUNT:RD:socket=1=67550000"
result $? "Sandy Bridge-EP: one socket by its PCI bus"

# One read for an MSR, one for both halves of a 64-bit PCI counter: what each more interval costs. Controls
# are compared in turn, each about once a second, however often counters are read.
reads() # INTERVAL_MS DURATION
{
	control clear "log all"
	real stat -j -e cbo0.CLOCKTICKS:socket=0,imc0.CAS_COUNT:RD:socket=0 -I "$1" -d "$2"
	count ' read '
}
few=$(reads 20 0.04)
many=$(reads 10 0.04)
[ "$(wc -l <"$dir/out")" -eq 4 ] && [ $((many - few)) -eq $((2 * 2)) ]
result $? "one read an MSR, one a 64-bit PCI counter (2 more intervals: $((many - few)) reads)"
few=$(reads 500 1)
many=$(reads 125 1)
[ "$(wc -l <"$dir/out")" -eq 8 ] && [ $((many - few)) -eq $((2 * 6)) ]
result $? "no more is read to verify an interval (6 more of them: $((many - few)) reads)"

# The four controls of a unit: one when the machine is opened (is the unit there), each before the start
# (what is on it), and ours three times more (is it as it was found still, did it take what was written, does it
# hold that at stop). It counts a clock, so that no other is needed.
control clear "log all"
real stat -j -e cbo0.CLOCKTICKS:socket=0 -d 0.01
controls=$(count ' read /dev/cpu/0/msr 0xd1[0-3] ')
[ "$status" -eq 0 ] && [ "$controls" -eq $((1 + 4 + 3)) ]
result $? "no control is read without a reason ($controls reads from opening to stop)"

# The halves of a PCI counter are read one after the other, here 1 ms apart: at 8e8 a second the low
# one runs over each 5.37 s, at times between the two. The machine shows that (a value in the
# log is larger than the next one of the counter), the session does not: each one that it saw would
# be a fifth more than there is.
control reset "log all" "cost 0.001"
real stat -j -I 3 -d 24 -e imc0.DCLK:socket=0
sum=$(jq -s 'map(.events["imc0.DCLK:socket=0"]) | add' "$dir/out")
torn=$(awk '$8 == 8 && $4 == "read" { v = substr($7, 3); while (length(v) < 16) v = "0" v
	n += last[$5 $6] > v; last[$5 $6] = v } END { print n + 0 }' "$root/log")
[ "$status" -eq 0 ] && ! grep -q '"invalid"' "$dir/out" && [ "$torn" -gt 0 ] &&
	[ "$sum" -gt 19100000000 ] && [ "$sum" -lt 19400000000 ]
result $? "a carry between the dwords of a PCI counter is not seen (the machine showed $torn)"

# Waiting for proof takes 20 us here and there.
clock_is() # SECONDS
{
	[ "$(printf %.3f "$(cat "$root/clock")")" = "$1" ]
}

# On a busy machine the process may sleep before any of its reads, be it right behind its look at the
# clock: that more was counted than fits into the time it knows of is no sign of somebody else. First
# without, to see which read of CPU 0's MSRs is the first of the counter.
sleeper() # [ACTION]
{
	control reset "log all" "$@"
	real stat -j -I 20 -d 1 -e cbo0.CLOCKTICKS:socket=0 && ! grep -q '"invalid"' "$dir/out"
}
sleepers()
{
	sleeper || return 1
	first=$(grep ' read /dev/cpu/0/msr ' "$root/log" | grep -in ' 0xd19 ' | head -n 1)
	first=${first%%:*}
	[ -n "$first" ] || return 1
	for i in $(seq "$first" $((first + 20))); do
		sleeper "before $i read /dev/cpu/0/msr advance 0.5" || return 1
	done
}
sleepers
result $? "a process that sleeps before any of its reads has lost nothing"

# CPUs that are to be left alone are not interrupted: another one of the socket is read on.
control reset "text /sys/devices/system/cpu/isolated 0" "text /sys/devices/system/cpu/nohz_full 1" "log all"
real stat -j -d 1 -e cbo0.CLOCKTICKS:socket=0
exactly "cbo0.CLOCKTICKS:socket=0=2700000000" && [ "$(count ' /dev/cpu/[01]/msr ')" -eq 0 ] &&
	[ "$(count ' /dev/cpu/2/msr ')" -gt 0 ]
result $? "no register is accessed on an isolated CPU, nor on one of nohz_full"

# An interval is as long as it says, and what the command waits for moves the clock.
control reset
real stat -j -e imc.DCLK -- sh -c 'sleep 1; sleep 1.5'
exactly "imc.DCLK=2000000000" && clock_is 2.500
result $? "the command that is measured lives in the machine's time"

# A neighbour, by hand and at a moment of the machine's time: a CBo's counter 0 counts its clock
# (control 0x400000: enabled, event 0) until the box is frozen, 2.7e9 a second.
control reset "at 2.5 poke /dev/cpu/0/msr 0xD04 0x10100"
"$poke" "$root/dev/cpu/0/msr" 0xD10 0x400000
advance 1
one=$("$poke" "$root/dev/cpu/0/msr" 0xD16)
advance 4
[ $((one)) -eq 2700000000 ] && [ $(($("$poke" "$root/dev/cpu/0/msr" 0xD16))) -eq 6750000000 ]
result $? "a neighbour programs a counter and freezes it at a given time"
# Between two writes of its start a process stands still, while the machine goes on
control reset "after 1 write /dev/cpu/0/msr signal STOP" "log writes"
real stat -j -d 1 -e cbo0.CLOCKTICKS:socket=0 &
until [ -s "$root/log" ]; do sleep 0.02; done
advance 10
kill -CONT "$(cut -d ' ' -f 3 "$root/log" | head -n 1)"
wait $!
status=$?
exactly "cbo0.CLOCKTICKS:socket=0=2700000000" && clock_is 11.000
result $? "a process that was stopped for 10 s"

# What batch systems, limits and terminals send to end a process: it reports, and restores.
signal_at_half() # NAME: as the machine's clock shows 0.5, for who has written first
{
	until [ -s "$root/log" ]; do sleep 0.02; done
	writer=$(cut -d ' ' -f 3 "$root/log" | head -n 1)
	control "at 0.5 signal $1 $writer"
	kill -CONT "$writer"
}
as_found() # the four controls of CBo 0
{
	for control in 0xD10 0xD11 0xD12 0xD13; do
		[ $(($("$poke" "$root/dev/cpu/0/msr" $control))) -eq 0 ] || return 1
	done
}
bad=
for signal in HUP INT QUIT USR1 USR2 ALRM TERM XCPU; do
	control reset "after 1 write /dev/cpu/0/msr signal STOP" "log writes"
	signal_at_half $signal &
	real stat -j -e cbo0.CLOCKTICKS:socket=0
	wait $!
	[ "$status" -eq 0 ] && as_found &&
		jq -e '.time > 0.499 and .time <= 0.5 and
			(.events["cbo0.CLOCKTICKS:socket=0"] - .time * 2.7e9 | fabs) < 1' "$dir/out" >/dev/null ||
		bad="$bad $signal"
done
[ -z "$bad" ] || echo "# bad:$bad"
[ -z "$bad" ]
result $? "signals that end it: the exact count until then, and registers as they were found"
control reset "log writes"
real stat -j -d 1 -e cbo0.CLOCKTICKS:socket=0
writes=$(count ' write ')
bad= n=0
while [ "$n" -lt "$writes" ]; do
	n=$((n + 1))
	control reset "after $n write * signal USR2"
	real stat -j -d 1 -e cbo0.CLOCKTICKS:socket=0
	[ "$status" -eq 0 ] && grep -q '"cbo0.CLOCKTICKS:socket=0":' "$dir/out" && as_found || bad="$bad $n"
done
[ -z "$bad" ] || echo "# after write:$bad of $writes"
[ "$writes" -gt 0 ] && [ -z "$bad" ]
result $? "such a signal behind each register write: a report, and registers as they were found"

# What a stop needs is open since the start: then the limit of descriptors falls below all of them.
starve() # EVENT,...
{
	control reset "after 1 write * signal STOP" "log writes"
	{
		until [ -s "$root/log" ]; do sleep 0.02; done
		writer=$(cut -d ' ' -f 3 "$root/log" | head -n 1)
		control "at 0.5 signal STOP $writer"
		kill -CONT "$writer"
		until [ "$(cut -c 1-3 "$root/clock")" = 0.5 ] &&
			[ "$(awk '$1 == "State:" { print $2 }' "/proc/$writer/status")" = T ]; do
			sleep 0.02
		done
		prlimit --pid "$writer" --nofile=3
		kill -CONT "$writer"
	} &
	real stat -j -I 300 -d 1 -e "$1"
	wait $!
	[ "$status" -eq 0 ] && [ ! -s "$root/left" ] && [ ! -s "$dir/err" ] && [ "$(wc -l <"$dir/out")" -eq 4 ]
}
starve cbo0.CLOCKTICKS:socket=0,imc0.CAS_COUNT:RD:socket=0
result $? "no descriptor to be had: MSRs and PCI are read on, and restored"

# Without a journal numbers are right, and it is told where it is asked for: in JSON, -v, doctor.
control reset
nowhere=$dir/none/run
UNCORE_RUN=$nowhere real stat -j -d 1 -e cbo0.CLOCKTICKS:socket=0
jq -e --arg dir "$nowhere" '.events["cbo0.CLOCKTICKS:socket=0"] == 2700000000 and
	(.unprotected | startswith($dir))' "$dir/out" >/dev/null && [ ! -s "$dir/err" ] &&
	UNCORE_RUN=$nowhere real stat -v -d 1 -e cbo0.CLOCKTICKS:socket=0 &&
	grep -q "^uncore: note: sessions of this program and of others do not know of each other.*: $nowhere: No such file" "$dir/err" &&
	! grep -q "$nowhere" "$dir/out"
one=$?
UNCORE_RUN=$nowhere real doctor
grep -q "^ok  *journal  *sessions of other programs are not known" "$dir/out" && [ $one -eq 0 ]
result $? "no journal: the numbers are right, JSON, -v and the doctor tell"
real stat -j -d 1 -e cbo0.CLOCKTICKS:socket=0
exactly "cbo0.CLOCKTICKS:socket=0=2700000000" && real doctor &&
	grep -q "^ok  *journal  *programs of this node share counters" "$dir/out"
result $? "a journal: the doctor tells, and nothing else"

# 44 bits at 2.7e9 Hz wrap in 6515 s
control reset
real stat -j -d 10000 -e cbo0.CLOCKTICKS:socket=0
exactly "cbo0.CLOCKTICKS:socket=0=27000000000000"
result $? "10000 s, in which 44 bits wrap: the session looks in"

# Who has closed stdout must not find a register in its place
control reset "log writes"
UNCORE_SYSROOT=$root LD_LIBRARY_PATH=$BUILD/common/.libs "$uncore" stat -d 0.001 >&- 2>"$dir/err"
status=$?
[ $status -eq 1 ] && grep -q 'cannot write the report: Bad file descriptor' "$dir/err" &&
	! grep -v ' write [^ ]* 0x[0-9a-f]* 0x[0-9a-f]* [48]$' "$root/log"
result $? "a report without stdout is an error, and is written to no register"

# Nor does one who reads no more leave counters behind
control reset
{
	UNCORE_SYSROOT=$root UNCORE_RUN=$dir/run VIRTUAL_MACHINE=$root VIRTUAL_CLOCK=$root/clock LD_PRELOAD="$clock $live" \
		LD_LIBRARY_PATH=$BUILD/common/.libs "$uncore" stat -I 100 -d 100000 -e cbo0.CLOCKTICKS:socket=0 2>"$dir/err"
	echo $? >"$dir/status"
} | head -n 2 >"$dir/out"
[ "$(cat "$dir/status")" = 141 ] && [ ! -s "$dir/err" ] && [ ! -s "$root/left" ] &&
	[ "$(wc -l <"$dir/out")" -eq 2 ]
result $? "stat | head: ends without a word, and leaves nothing programmed"

# A register's cost is time
control reset "cost 0.001"
"$poke" "$root/dev/cpu/0/msr" 0xD16 >"$dir/out"
"$poke" "$root/dev/cpu/0/msr" 0xD16 >"$dir/out"
echo nonsense 2>/dev/null >"$root/control"
[ "$(cat "$root/clock")" = 0.002000000 ] && grep -q "'nonsense' is no action" "$root/control"
result $? "an access takes time; an action that is none is refused with a sentence"
stop_machine

start_machine sandybridge-ep-no-qpi
real stat -d 0.1 -e qpi.CLOCKTICKS
[ $status -eq 1 ] && grep -q 'qpi' "$dir/err"
result $? "functions hidden by the BIOS: unavailable, with the reason, not 0"
stop_machine

start_machine emerald-rapids
real units -j && jq -e 'length == 196 and all(.available)' "$dir/out" >/dev/null
result $? "Emerald Rapids: both discovery tables are read through /dev/mem"

# By eventtables/emerald-rapids/workload.tbl, each socket has in a second
#   IA_MISS_DRD: drd_l + drd_r = 4e8; links: 9 * (rem_reads + rem_writes) = 9 * (2.37e8 + 0.675e8);
#   memory reads: those of lines at home, (3.2 + 4.4 + 0.12 + 0.08 + 0.06 + 2.0) + (1.3 + 0.9 + 0.4)
#   + (0.07 + 0.05 + 0.01) + 0.54 + 0.01 + 0.0005 = 13.1405e8, and rem_reads: 15.5105e8;
#   PART0 of eight IIO stacks: 0.6 * 16 * (0.36e8 + 0.54e8). Over two sockets and five seconds:
real stat -j -d 5 -e \
	cha.TOR_INSERTS:IA_MISS_DRD,upi.TxL_FLITS:ALL_DATA,m2m.IMC_READS:ALL,iio.DATA_REQ_OF_CPU:MEM_READ.PART0,pcu.CLOCKTICKS
exactly "cha.TOR_INSERTS:IA_MISS_DRD=4000000000,upi.TxL_FLITS:ALL_DATA=27405000000,m2m.IMC_READS:ALL=15510500000,iio.DATA_REQ_OF_CPU:MEM_READ.PART0=8640000000,pcu.CLOCKTICKS=5000000000"
result $? "Emerald Rapids: exact counts of 5 s in MSRs and PCI"

# Memory channels, in mapped memory: reads and partial writes, (15.5105e8 + 0.025e8) * 2
real stat -j -d 5 -e imc.CAS_COUNT:RD,mc.RPQ_ACTIVE_CYCLES
exactly "imc.CAS_COUNT:RD=15535500000,mc.RPQ_ACTIVE_CYCLES=90240000000"
result $? "Emerald Rapids: exact counts of 5 s in mapped memory"

starve imc.CAS_COUNT:RD,cha0.CLOCKTICKS:socket=0
result $? "no descriptor to be had: memory as well"
control reset

# The link's clock is 2.5e9: eight transfers in a clock
real stat -j -d 5 -m upi.UPI_SPEED
exactly "upi.UPI_SPEED=20"
result $? "Emerald Rapids: a metric by the TSC"
stop_machine

# Where the CXL units of Granite Rapids are only discovery tells. What it says is not believed of memory
# that is somebody's, or may be: then they are not touched. The channels' place tells a register.
start_machine granite-rapids
real units -j
cp "$dir/out" "$dir/units"
elsewhere="0x0000000000001000 0x0000000000001fff 0x0000000000140204"
ours() # UNIT EVENT: of these is what follows
{
	event=$2
	all=$(jq --arg unit "$1" '[.[] | select(.unit == $unit)] | length' "$dir/units")
	at=$(jq -r --arg unit "$1" '[.[] | select(.unit == $unit)][0].location | ltrimstr("mmio ")' "$dir/units")
	to=$(printf '0x%x' $((at + 0xfff)))
	ram="text /proc/iomem $(printf '%x-%x' $((at)) $((to))) : System RAM"
}
owner() # REASON UNITS LINE...: of /control; so many units are left
{
	reason=$1 left=$2
	shift 2
	control reset "log writes" "$@"
	real stat -j -d 1 -e "$event"
	if [ "$left" -eq "$all" ]; then
		[ "$status" -eq 0 ] && ! grep -q partial "$dir/out"
	elif [ "$left" -eq 0 ]; then
		[ "$status" -eq 1 ] && grep -qF "$reason" "$dir/err"
	else
		jq -e --arg reason "$reason" --arg event "$event" --argjson n "$left" --argjson all "$all" \
			'.partial[$event] | .units == $n and .of == $all and (.reason | endswith($reason))' "$dir/out" >/dev/null
	fi && { [ "$left" -eq "$all" ] || ! grep -q " write /memory ${at%???}" "$root/log"; }
}
bar="/sys/bus/pci/devices/0000:7e:05.1/resource"
ours cxlcm cxlcm.RxC_PACK_BUF_INSERTS:MEM_DATA
owner "" 4 && grep -q " write /memory ${at%???}" "$root/log" &&
	owner "" 4 "text $bar $elsewhere" &&
	owner "belongs to a BAR of 0000:7e:05.1" 3 "text $bar $at $to 0x0000000000140204" &&
	owner "belongs to System RAM" 3 "$ram"
result $? "Granite Rapids: no unit in a BAR of another device, nor in System RAM"
owner "/proc/iomem shows no addresses (CAP_SYS_ADMIN is needed)" 0 "text /proc/iomem 00000000-00000000 : System RAM" &&
	owner "/proc/iomem cannot be read" 0 "hide /proc/iomem" &&
	owner "the BARs of 0000:7e:05.1 cannot be read" 0 "hide $bar" && [ "$(count ' write /memory ')" -eq 0 ]
result $? "Granite Rapids: what cannot be checked is not touched, and why is said"
ours imc imc.CAS_COUNT_SCH0:RD
to=$(printf '0x%x' $((at + 0xff))) closed="cannot be a register of a monitor, even if a table says so"
owner "" 24 "hide /proc/iomem" && grep -q " write /memory ${at%??}" "$root/log" &&
	owner "$closed" 23 "text $bar $at $to 0x0000000000140204" && owner "$closed" 23 "$ram"
result $? "Granite Rapids: nor a channel"
stop_machine

start_machine sandybridge-ep
real stat -d 0.1 -e imc9.CAS_COUNT:RD
[ $status -eq 2 ] && [ "$(wc -l <"$dir/err")" -eq 1 ]
result $? "bad input on a real machine: one line, exit 2"

# A clock that a CPU may give to some counters only (none of today's): it is given to no other. That of an idle unit
# stands, and one of the next unit of its type moves: the 0 is true.
mkdir "$dir/tables" "$dir/other" && cp -r "$SRCDIR/eventtables/sandybridge-ep" "$SRCDIR/eventtables/portable.tbl" "$dir/tables" &&
	chmod -R u+w "$dir/tables" && grep '^cpu sandybridge-ep ' "$SRCDIR/eventtables/cpus.tbl" >"$dir/tables/cpus.tbl" &&
	sed -i '/^event CLOCKTICKS /s/counters=0-3/counters=0/' "$dir/tables/sandybridge-ep/cbo.events" &&
	other_tables "$dir/tables" "$dir/other"
start_machine sandybridge-ep,idle=cbo0@0
control "log writes"
libraries=$dir/other
real stat -j -d 1 -e cbo0.RING_AD_USED:UP_EVEN:socket=0
jq -e '.events == {"cbo0.RING_AD_USED:UP_EVEN:socket=0": 0} and (has("unproven") | not)' "$dir/out" >/dev/null &&
	[ "$(count ' write /dev/cpu/0/msr 0xd1[0-3] ')" -gt 0 ] &&
	[ "$(count ' write /dev/cpu/0/msr 0xd1[1-3] 0x400000 ')" -eq 0 ]
result $? "a clock of counter 0: no other counter is given it"
