#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Two processes on one machine, and what can happen to what they know of each other: one is stopped in
# the middle of its start, killed while a child of it lives, its pid given to another; the journal is
# removed, cut off, full of noise, or cannot be written; each has a journal of its own; a foreign program clears
# what they share. Whatever they say is right, marked or refused, and nothing is left behind.
. "$(dirname "$0")/fuse.inc"
. "$(dirname "$0")/crowd.inc"
rd=imc0.CAS_COUNT:RD:socket=0 wr=imc0.CAS_COUNT:WR:socket=0 dclk=imc0.DCLK:socket=0
lookup=cbo0.LLC_LOOKUP:DATA_READ:socket=0
# eventtables/sandybridge-ep/workload.tbl, as in crowd.sh
set -- $rd=67550000 $wr=28550000 imc0.RPQ_CYCLES_NE:socket=0=496000000 imc0.DRAM_REFRESH:PANIC:socket=0=0 \
	$dclk=800000000 $lookup=78250000
all="$rd $wr imc0.RPQ_CYCLES_NE:socket=0 imc0.DRAM_REFRESH:PANIC:socket=0 $dclk"

# Both anew, on a new machine; ${run} of each, if they are not to share one.
both() # [RUN-OF-A RUN-OF-B] -- EVENT=RATE...
{
	nobody
	: >"$dir/out"
	: >"$dir/err"
	run_a= run_b=
	[ "$1" = -- ] || { run_a=$1 run_b=$2; shift 2; }
	shift
	run=$run_a
	puppet a 3 4 "$@"
	run=$run_b
	puppet b 5 6 "$@"
	run=
}

# What was said, for the judge and for who reads a failure.
note() # WHO WHAT
{
	echo "$1 $2: $said" >>"$dir/out"
}

ask_a() { a "$*"; note a "$*"; }
ask_b() { b "$*"; note b "$*"; }

# All that was said is right, marked, refused; no number without a mark is wrong. With PATTERN: and
# that was said.
honest() # [PATTERN]
{
	! grep -q "wrong:" "$dir/out" && ! grep -q 'Segmentation\|: $' "$dir/out" &&
		{ [ -z "${1:-}" ] || grep -Eq -- "$1" "$dir/out"; }
}

# Both end; then one more session, with all counters, is right, and nothing is left in a register.
clean_after() # EVENT=RATE...
{
	exec 3>&- 4<&- 5>&- 6<&-
	# shellcheck disable=SC2154 # puppet
	wait "$a_pid" "$b_pid" 2>/dev/null
	run=${run_b:-} && rm -f "$dir/crowd/crowd"
	puppet b 5 6 "$@"
	run=
	# shellcheck disable=SC2086 # words
	b start $all
	note last start
	b sleep 1
	b stop
	note last stop
	exec 5>&- 6<&-
	wait "$b_pid" 2>/dev/null
	cat "$root/left" >>"$dir/err"
	[ "$said" = "right right right right right" ] && [ ! -s "$root/left" ]
}

echo "1..47"
start_machine sandybridge-ep

# ---- the first is stopped at a register write of its start, and goes on later
both -- "$@"
control "after 1 write * signal STOP"
say_a start $rd
until grep -q ') T' "/proc/$a_pid/stat"; do sleep 0.02; done
control clear
ask_b start $wr
kill -CONT "$a_pid"
hear_a
note a start
ask_b sleep 1
ask_a read
ask_b read
honest
result $? "one is stopped in its start: the other is refused with a sentence, or both are right"
honest '^b start .*: (ok|error .*which is stopped)'
result $? "who waits is told for whom"
clean_after "$@"
result $? "and nothing is left"

# ---- killed, while a child that it has forked has all its files
both -- "$@"
# shellcheck disable=SC2086 # words
ask_a start $all
ask_a sleep 1
ask_a fork
child=$said
kill -9 "$a_pid"
wait "$a_pid" 2>/dev/null
# shellcheck disable=SC2086 # words
ask_b start $all
ask_b sleep 1
ask_b read
honest 'b read: right right right right right'
result $? "killed, while a child that it forked lives: the next one has all counters"
clean_after "$@"
result $? "and nothing is left"
kill -9 "$child"

# ---- the same, and its pid is another's
both -- "$@"
# shellcheck disable=SC2086 # words
ask_a start $all
ask_a fork
child=$said
kill -9 "$a_pid"
wait "$a_pid" 2>/dev/null
heir=
for _ in 1 2 3 4 5 6 7 8 9 10; do
	echo $((a_pid - 1)) 2>/dev/null >/proc/sys/kernel/ns_last_pid || break
	sleep 60 &
	heir=$!
	[ "$heir" -ne "$a_pid" ] || break
	kill -9 "$heir" # a softer signal may still find a shell there, which would clean up
	heir=
done
if [ -n "$heir" ]; then
	# shellcheck disable=SC2086 # words
	ask_b start $all
	ask_b sleep 1
	ask_b read
	honest 'b read: right right right right right'
	result $? "its pid is another's: the next one has all counters"
else
	number=$((number + 1))
	echo "ok $number - its pid is another's # SKIP no pid can be asked for here"
fi
[ -z "$heir" ] || kill -9 "$heir" # or it would be waited for
clean_after "$@"
result $? "and nothing is left"
kill -9 "$child" 2>/dev/null

one_after_the_other() # NAME COMMAND...: between the start of the first and that of the second
{
	_name=$1
	shift
	ask_a start $rd $dclk
	ask_a sleep 1
	"$@"
	ask_b start $rd $wr $dclk
	ask_b sleep 1
	ask_a read
	ask_b read
	ask_a stop
	ask_b sleep 1
	ask_b read
	ask_b stop
	honest
	result $? "$_name: right, marked or refused"
	clean_after $events
	result $? "and nothing is left"
}

# ---- what happens to a file: that of the node, or that of the user
spoil() # NAME COMMAND...
{
	_spoilt=$1
	shift
	for _file in "$dir/run/lock" "$dir/run/journal.$(id -u)" "$dir/run/journal.$(id -u).locks"; do
		both -- $events
		one_after_the_other "$_spoilt while a session runs (${_file##*/})" "$@"
	done
}
# Of a seed: minstd.
noise()
{
	LC_ALL=C awk -v state="$noise" 'BEGIN {
		while (n++ < 100000) { state = state * 16807 % 2147483647; printf "%c", 1 + int(state / 8421505) }
	}' >"$_file"
}
shorten() { : >"$_file"; }
lose_tail() { truncate -s 100 "$_file"; }
lose() { rm -f "$_file"; }
events=$*
spoil "the journal is removed" lose
spoil "the journal is emptied" shorten
spoil "the journal is cut off" lose_tail
noise=$([ -n "${ALL-}" ] && date +%s || echo 1) # ALL=1: another each time
spoil "the journal is noise of seed $noise" noise

# ---- nobody knows of the other: as foreign programs
mkdir "$dir/run_a" "$dir/run_b"
both "$dir/run_a" "$dir/run_b" -- "$@"
one_after_the_other "two journals" true

# cleared_between FIRST PLACE SECONDS SECOND NAME: a foreign program clears what the first counts with, and that long
# after the second starts.
cleared_between()
{
	ask_a start "$1"
	ask_a sleep 1
	control "poke $2 0"
	ask_a sleep "$3"
	ask_b start "$4"
	ask_b sleep 1
	ask_a read
	ask_b read
	ask_b stop
	ask_a stop
	honest 'a read: marked'
	result $? "$5"
	exec 3>&- 4<&- 5>&- 6<&-
	wait "$a_pid" "$b_pid" 2>/dev/null
}

# ---- a foreign program stops the unit, and another session starts: it must not go on as if nothing had been
start_machine nehalem-ep
miss=unc.LLC_MISS:READ:socket=0 hits=unc.LLC_HITS:READ:socket=0
for second in $miss $hits; do
	both -- $miss=120000000 $hits=160000000 # eventtables/nehalem-ep/workload.tbl, as in interfere.sh
	cleared_between $miss "/dev/cpu/0/msr 0x391" 0.5 "$second" "0x391 is cleared, then $second starts: the first is marked"
done
start_machine sandybridge-ep

# ---- the kernel's driver takes the counter that we have, for the same event: its control holds what ours
# did, and it never looks again. What it reads later must be all that was counted. It comes at each access
# of a stop to a register; nothing tells of it at an access that writes.
pmu='text /sys/bus/event_source/devices/uncore_cbox_0 -'
driver='text /proc/timer_list  #0: <0>, uncore_pmu_hrtimer [intel_uncore], S:01'
taken=/dev/cpu/0/msr # cbo0.CLOCKTICKS: counter 3, its control 0xD13
come()
{
	both -- cbo0.CLOCKTICKS:socket=0=2700000000
	ask_a start cbo0.CLOCKTICKS:socket=0
	ask_a sleep 1
}
points=0 halved=0
while [ "$points" -lt 20 ]; do
	come
	control "$pmu" "before $((points + 1)) read * $driver"
	ask_a stop
	left=$(cat "$root/proc/timer_list" 2>/dev/null)
	[ -n "$left" ] || break
	points=$((points + 1))
	[ $(($("$poke" "$root$taken" 0xD13))) -eq $((0x400000)) ] || halved=$((halved + 1))
	# A later session counts the same beside it; without the driver what is left goes.
	ask_a start cbo0.CLOCKTICKS:socket=0
	ask_a sleep 1
	ask_a stop
	[ $(($("$poke" "$root$taken" 0xD13))) -eq $((0x400000)) ] || halved=$((halved + 1))
	control clear
	ask_a start cbo0.CLOCKTICKS:socket=0
	ask_a sleep 1
	ask_a stop
	[ ! -s "$root/left" ] || halved=$((halved + 1))
	exec 3>&- 4<&- 5>&- 6<&-
	wait "$a_pid" "$b_pid" 2>/dev/null
done
exec 3>&- 4<&- 5>&- 6<&-
wait "$a_pid" "$b_pid" 2>/dev/null
[ "$points" -gt 2 ] && [ "$halved" -eq 0 ] && honest
result $? "the kernel's driver takes our counter during a stop: $points points, $halved of its counts are lost"
control reset "at 0.5 $pmu" "at 0.5 $driver" "at 0.5 log writes"
real stat -j -d 5 -e cbo0.CLOCKTICKS:socket=0,cbo0.LLC_VICTIMS:M_STATE:socket=0,cbo0.LLC_VICTIMS:E_STATE:socket=0,cbo0.LLC_VICTIMS:S_STATE:socket=0,cbo0.LLC_VICTIMS:MISS:socket=0,cbo0.RING_AD_USED:UP_EVEN:socket=0
[ "$(count ' write /dev/cpu/0/msr 0xd1[0-3] ')" -eq 0 ] && [ "$status" -ne 0 ]
result $? "and beside a session that rotates: nothing is written to its controls, and the session says why it ends"
control clear

# ---- a foreign program clears what two share: who comes later must not make it look whole
imc=$(real units -j; jq -r '.[] | select(.unit == "imc" and .index == 0 and .socket == 0).location |
	"/sys/bus/pci/devices/" + split(" ")[1] + "/config"' "$dir/out")
for what in "$dclk:$imc 0xF0" "$rd:$imc 0xE4" "$lookup:/dev/cpu/0/msr 0xD11" "$lookup:/dev/cpu/0/msr 0xD14"; do
	event=${what%:/*} place=/${what#*:/}
	both -- "$@"
	cleared_between "$event" "$place" 1 "$event" \
		"$event: a foreign program has cleared ${place##* }, and another session starts: the first is marked"
done

# ---- stopped between any two steps of its start, or of its stop: who starts is told, and neither is wrong
# stops_at WRITE WORDS: whether the first was stopped behind that write of what it does.
stops_at()
{
	control "after $1 write * signal STOP"
	shift
	say_a "$*"
	for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
		! grep -q ') T' "/proc/$a_pid/stat" || return 0
		sleep 0.05
	done
	hear_a
	return 1
}
for step in start stop; do
	points=0 kept=0 off=0
	while :; do
		both -- "$@"
		[ $step = start ] || { ask_a start $rd $dclk && ask_a sleep 1; }
		words=$step
		[ $step = stop ] || words="start $rd $dclk"
		stops_at $((points + 1)) "$words" || break
		points=$((points + 1))
		control clear
		ask_b start $wr $dclk
		grep -q '^b start .*: error .*which is stopped' "$dir/out" && kept=$((kept + 1))
		kill -CONT "$a_pid"
		hear_a
		note a $step
		ask_b start $wr $dclk
		ask_b sleep 1
		[ $step = stop ] || ask_a read
		ask_b read
		honest && clean_after "$@" || off=$((off + 1))
	done
	control clear
	exec 3>&- 4<&- 5>&- 6<&-
	wait "$a_pid" "$b_pid" 2>/dev/null
	[ "$points" -gt 1 ] && [ "$kept" -eq "$points" ] && [ "$off" -eq 0 ]
	result $? "stopped behind each write of its $step: $points points, at $kept the other is told, at $off one is wrong or something is left"
done

# ---- one hangs in its start: the command says by whom it is kept
both -- "$@"
control "after 1 write * signal STOP"
say_a start $rd
until grep -q ') T' "/proc/$a_pid/stat"; do sleep 0.02; done
control clear
real stat -x, -d 1 -e $wr
[ "$status" -eq 1 ] && grep -q "^uncore: .*/lock is held by pid $a_pid (.*), which is stopped: let it go on or end it" "$dir/err"
result $? "the lock is not given back: the command names who has it"
kill -CONT "$a_pid"
hear_a
clean_after "$@"
result $? "and nothing is left"

# ---- the same while the other counts: its stop leaves what it has programmed to the next start
both -- "$@"
ask_b start $wr
control "after 1 write * signal STOP"
say_a start $rd
until grep -q ') T' "/proc/$a_pid/stat"; do sleep 0.02; done
control clear
ask_b stop
grep -q "^b stop: .*which is stopped" "$dir/out"
told=$?
kill -CONT "$a_pid"
hear_a
clean_after "$@" && [ $told -eq 0 ]
result $? "a stop does not wait for it, and the next start restores"

# ---- another time namespace, where starts of processes are other numbers
if unshare --time --boottime 3600 --fork true 2>/dev/null; then
	both -- "$@"
	ask_a start $rd
	ask_a sleep 1
	cp "$dir/out" "$dir/said"
	within="unshare --time --boottime 3600 --fork"
	real stat -j -d 1 -e $rd
	within=
	exactly "$rd=67550000" && [ ! -s "$dir/err" ]
	told=$?
	cat "$dir/said" >>"$dir/out"
	ask_a read
	[ $told -eq 0 ] && honest 'a read: right'
	result $? "one of another time namespace shares with it, and takes nothing away"
else
	number=$((number + 1))
	echo "ok $number - one of another time namespace # SKIP none can be made here"
fi
