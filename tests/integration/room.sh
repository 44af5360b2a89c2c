#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The room itself: accesses that take long by a schedule, a process that stands still while others go on, and the machine
# in the memory of the command beside that behind system calls.
. "$(dirname "$0")/fuse.inc"
. "$(dirname "$0")/crowd.inc"
msr=/dev/cpu/0/msr
cbo=cbo0.CLOCKTICKS:socket=0 dclk=imc0.DCLK:socket=0 # 2.7e9 and 8e8 a second: eventtables/sandybridge-ep/workload.tbl

echo "1..15"
start_machine sandybridge-ep
: >"$dir/err"

accesses() # NUMBER
{
	for _ in $(seq "$1"); do
		"$poke" "$root$msr" 0xD16 >"$dir/out"
	done
}

# When each was, and the clock behind all.
schedule() # LINE NUMBER
{
	control reset "log all" "$1"
	accesses "$2"
	cut -d ' ' -f 2 "$root/log"
	cat "$root/clock"
}

# splitmix64 of the seed 1234567 begins with 6457827717110365317, 3203168211198807973, 9817491932198370423,
# 4593380528125082431, 16408922859458223821 (rosettacode.org/wiki/Pseudo-random_numbers/Splitmix64): of each three the
# first says whether (one in one: always), the second is the time in ns modulo 1000000001, the third, odd, that it goes
# by behind the access.
[ "$(schedule "delays 1234567 1 1" 1 | tr '\n' ' ')" = "0.000000000 0.995639766 " ] &&
	[ "$(schedule "delays 1234567 1 1" 2 | tail -n 1)" = 1.044940744 ]
result $? "a schedule of delays is the one of its seed"

schedule "delays 7 4 0.5" 60 >"$dir/one"
schedule "delays 7 4 0.5" 60 >"$dir/two"
schedule "delays 8 4 0.5" 60 >"$dir/three"
cmp -s "$dir/one" "$dir/two" && ! cmp -s "$dir/one" "$dir/three"
result $? "the same seed is the same schedule, another one another"

# Of 400, a quarter: 100 with a deviation of 8.7; their mean 0.25 with one of 0.0144
schedule "delays 9 4 0.5" 400 >"$dir/one"
awk 'NR > 1 { if ($1 > last) { n++; if ($1 - last > 0.5 * 1.000001) two++ } } { last = $1 }
	END { exit !(n - 100 < 35 && 100 - n < 35 && last / n > 0.2 && last / n < 0.3 && two <= n / 8) }' "$dir/one"
result $? "one in four accesses takes a quarter of a second in the mean"

# Before: the log has the time of the access, with the wait; after: the clock is further on than the log.
before=0 after=0
for seed in $(seq 40); do
	schedule "delays $seed 1 1" 1 >"$dir/one"
	[ "$(head -n 1 "$dir/one")" = "$(tail -n 1 "$dir/one")" ] && before=$((before + 1)) || after=$((after + 1))
done
echo "# $before before the access, $after behind it"
[ $before -gt 8 ] && [ $after -gt 8 ]
result $? "some wait before the access, some behind it"

control reset "delays 1 1 1 /sys/*"
accesses 3
control "delays 1 1 1" "delays off"
accesses 3
[ "$(cat "$root/clock")" = 0.000000000 ] && ! echo "delays 1 0 1" 2>/dev/null >"$root/control" &&
	grep -q "usage: delays SEED ONE_IN LONGEST" "$root/control" && ! echo "stall 1" 2>/dev/null >"$root/control" &&
	grep -q "stall: no process" "$root/control"
result $? "of other files, and delays that are off, nothing is delayed; what cannot be is refused"

# A session with passes has a thread that waits for its turn. One that sleeps with the session's lock in hand, till its
# units are proven to count, sleeps beyond that moment: it does not wait for the thread, which waits for the lock.
flits=qpi.RxL_CREDITS_CONSUMED_VNA,qpi.DIRECT2CORE:SUCCESS,qpi.TxL_FLITS_G0:IDLE,qpi.RxL_CYCLES_NE
flits=$flits,qpi.RxL_FLITS_G2:NDR_AD,qpi.RxL_CREDITS_CONSUMED_VN0:HOM,qpi.TxL_FLITS_G0:NON_DATA
hung=
for try in 1 2 3; do
	control reset "delays 70 20 0.1"
	within="timeout -s KILL 60" real stat -j -I 100 -d 1 -e $flits || hung="$hung $try"
done
[ -z "$hung" ]
result $? "accesses that take longer than a turn${hung:+: did not end:$hung}"

# ---- standing still

# A session waits some 20 us for proof that its units count.
now()
{
	printf '%.3f' "$(cat "$root/clock")"
}

control reset "after 1 write * stall 10"
real stat -j -d 1 -e $cbo
exactly $cbo=2700000000 && [ "$(now)" = 11.000 ]
result $? "where nobody else moves the clock it jumps to the end of a stall"

two() # LINE...: two that have begun to count; then these lines for the room
{
	nobody
	: >"$dir/out"
	puppet a 3 4 $cbo=2700000000
	puppet b 5 6 $dclk=800000000
	a start $cbo
	b start $dclk
	control "log all" "$@"
}

# The first has been told to do what it stands still in.
stalled()
{
	until grep -q ') T' "/proc/$a_pid/stat"; do
		sleep 0.02
	done
}

end_two()
{
	exec 3>&- 4<&- 5>&- 6<&-
	# shellcheck disable=SC2154 # puppet
	wait "$a_pid" "$b_pid" 2>/dev/null
}

# When the first of the two has accessed registers.
looks()
{
	awk -v pid="$a_pid" '$3 == pid { printf "%.3f\n", $2 }' "$root/log" | uniq | tr '\n' ' '
}

# The first stands still at 0.1 s behind the read of its counter, for 0.25 s.
two
a sleep 0.1
control "after 1 read $msr stall 0.25"
say_a read
stalled
b sleep 0.1
at=$(now)
b read
middle=$said
b sleep 0.3
end=$(now)
hear_a
a read
[ "$at $middle $end" = "0.200 right 0.500" ] && [ "$said" = right ] && [ "$(looks)" = "0.100 0.500 " ]
result $? "one stands still, the other goes on: each at its time"
end_two

# The clock is held by who has gone on, until it waits: its next sleep begins at the end of the stall. It holds it as well
# while it waits to be told to.
two "after 1 read $msr stall 0.25"
a hold
say_a read
stalled
b sleep 0.1
say_b sleep 10
hear_a
a sleep 1
a read
first=$(looks)
exec 3>&- # it ends
hear_b
[ "$first" = "0.000 1.250 " ] && [ "$(now)" = 10.100 ]
result $? "who goes on is waited for"
end_two

# It may hold the lock of the journal: then the other waits for that, and for no time.
nobody
puppet a 3 4 $cbo=2700000000
puppet b 5 6 $dclk=800000000
control "after 1 write $msr stall 5"
say_a start $cbo
stalled
b start $dclk
begun="$said, $(now)"
hear_a
begun="$said, $begun"
b sleep 1
b read
[ "$begun, $said" = "ok, ok, 5.000, right" ]
result $? "one that stands still with a lock in hand: who waits for it moves the clock"
end_two

# Killed meanwhile; the room is cleared meanwhile
two "after 1 read $msr stall 0.25"
say_a read
stalled
b sleep 0.1
kill -KILL "$a_pid"
b sleep 1
b read
[ "$said" = right ] && [ "$(now)" = 1.100 ]
result $? "one that stands still is killed"
end_two

two "after 1 read $msr stall 100000"
say_a read
stalled
b sleep 0.1
control clear
hear_a
late="marked read over 100 ms of an interval of 0.04 ms" # it had counted for 40 us before
[ "$said" = "$late" ] && [ "$(now)" = 0.100 ]
result $? "a room that is cleared lets it go on"
end_two

# ---- with system calls, and in memory: the same run, access by access
witness() # FILE FRONT CPU EVENTS "PATH OFFSET..." LINE...
{
	_file=$1
	front "$2"
	start_machine "$3"
	_events=$4 _registers=$5
	shift 5
	control reset "log all" "$@"
	real stat -j -d 1 -I 250 -e "$_events"
	{
		echo "$status"
		cat "$dir/out" "$dir/err" "$root/left"
		cut -d ' ' -f 1,2,4-6,8 "$root/log" # without the process, and values: a counter begins at another one each time
		# shellcheck disable=SC2086 # words
		values $_registers
	} >"$dir/$_file"
	front fuse
}

alike() # CPU ARGUMENT...
{
	witness calls fuse "$@"
	witness process memory "$@"
	cmp -s "$dir/calls" "$dir/process" && [ "$(grep -c ' read \| write ' "$dir/calls")" -gt 50 ]
	result $? "$1: in memory each access and each number is as with system calls"
}
his="at 0.4 poke $msr 0xD04 0x10100"
set -- sandybridge-ep cbo0.CLOCKTICKS:socket=0,cbo0.LLC_LOOKUP:DATA_READ:socket=0,imc0.CAS_COUNT:RD:socket=0 \
	"$msr 0xD04 0xD10 0xD11 0xD12 0xD13 0xD14" "cost 0.00001" "delays 3 20 0.01" \
	"fail read */config - EINTR times 2 after 30" "fail write $msr - EIO times 1 after 8" "short */config - 2 times 1 after 9"
alike "$@" "$his"
witness process memory "$@"
! cmp -s "$dir/calls" "$dir/process"
result $? "and without one of the faults it is another"
alike emerald-rapids cha0.CLOCKTICKS:socket=0,imc0.CAS_COUNT:RD:socket=0,m2m0.IMC_READS:ALL:socket=0 \
	"$msr 0x2000 0x2002 0x2003 0x2004 0x2005" "cost 0.00001" "at 0.4 poke $msr 0x2003 0x350"
