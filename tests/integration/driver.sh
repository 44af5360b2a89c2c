#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A neighbour that acts as the kernel's driver does (Linux uncore.c, uncore_pmu_event_start): it takes the
# lowest counter that it has not given out itself, reads it, writes the control, never the counter, once,
# starts its timer, and later reads the counter again; it looks at nobody's control, nor at its own. It
# comes after an access of a session that is direct and rotates, in its start, its rotations or its stop.
# What it counts must be what the machine did, unless it came where nobody could know of it (windows).
# DRIVER=all: after each access, twice; else 6 of each event of each CPU, by DRIVER_SEED; ALL=1: 12, by another seed
# each time.
. "$(dirname "$0")/fuse.inc"
export COLUMNS=1000 # sentences stand on one line
: "${DRIVER_SEED:=$([ -n "${ALL-}" ] && date +%s || echo 1)}"
[ -n "${ALL-}" ] && some=12 || some=6
echo "# DRIVER=${DRIVER:=$some} DRIVER_SEED=$DRIVER_SEED"
awk -v seed="$DRIVER_SEED" 'BEGIN { while (n++ < 2000) print seed, n }' >"$dir/random"
msr=/dev/cpu/0/msr
export UNCORE_ACCESS=direct
table=

peek() # OFFSET
{
	echo $(($("$poke" "$root$msr" "$1")))
}

# Beside a driver that is loaded and counts nothing so far.
idle() # LINE...
{
	control reset "text /sys/bus/event_source/devices/$pmu/type 12" \
		"text /proc/timer_list Timer List Version: v0.9" "$@"
	rm -rf "$dir/run"
	mkdir "$dir/run"
}

# The process of the session, once it is stopped; 1: it has ended.
stopped()
{
	while read -r _ _ _state _ <"/proc/$session/stat" && [ "$_state" != Z ]; do
		read -r child _ <"/proc/$session/task/$session/children" || [ -n "$child" ] &&
			read -r _ _ _state _ <"/proc/$child/stat" && [ "$_state" = T ] && return
		sleep 0.005
	done 2>/dev/null
	return 1
}

# The driver comes after the Nth read or write. 1: there are fewer; perf=right or wrong.
visit() # N read|write CODE RATE
{
	idle "after $1 $2 * signal STOP"
	real stat -j -d 0.25 -e "$events" &
	session=$!
	if ! stopped; then
		wait $session
		return 1
	fi
	before=$(peek "$counter") begun=$(cat "$root/clock")
	"$poke" "$root$msr" "$ctl" "$3"
	control clear "text /sys/bus/event_source/devices/$pmu/type 12" \
		'text /proc/timer_list  #0: <0>, uncore_pmu_hrtimer [intel_uncore], S:01'
	kill -CONT "$child"
	wait $session
	advance 1
	perf=$(awk -v count=$(($(peek "$counter") - before)) -v rate="$4" -v begun="$begun" \
		-v now="$(cat "$root/clock")" 'BEGIN { off = count - rate * (now - begun)
			print off * off < 4 ? "right" : "wrong" }')
}

# The accesses of a session in the log, behind those of opening the machine: "KIND N WINDOW". In a window,
# 1, nobody can know of the driver before its counter or control is written: between the look at the
# control and the write, and between the first write of a stop, before which timers are looked for, and
# that of the control.
points() # READS-OF-OPENING
{
	awk -v opened="$1" -v ctl="$(printf '%x' $((ctl)))" -v counter="$(printf '%x' $((counter)))" '
		{
			at = $6; sub("0x", "", at)
			kind[NR] = $4; number[NR] = ++n[$4]
			if ($4 == "read") { if (at == ctl) seen = NR; batch = 0; next }
			batch = batch ? batch : NR
			if (at == ctl || at == counter)
				for (k = at == ctl && $7 == "0x0" ? batch : seen; k < NR; k++)
					window[k] = 1
		}
		END {
			for (k = 1; k <= NR; k++)
				if (kind[k] == "write" || number[k] > opened)
					print kind[k], number[k], window[k] + 0
		}' "$root/log" | if [ "$DRIVER" = all ]; then cat; else
		shuf -n "$DRIVER" --random-source="$dir/random"
	fi
}

row() # CPU EVENT POINTS RIGHT IN-WINDOWS WRONG WRONG-ELSEWHERE
{
	printf '# %-16s %-8s %7s %7s %11s %7s %15s\n' "$@"
}

# Events that take all counters of a unit in one of two passes; the driver's control, counter and event:
# the one that the session has on the same counter, and another one.
machine() # CPU PMU CONTROL COUNTER CODE RATE CODE RATE EVENT...
{
	cpu=$1 pmu=$2 ctl=$3 counter=$4 same="$5 $6" other="$7 $8"
	shift 8
	events=$(printf '%s:socket=0,' "$@") events=${events%,}
	start_machine "$cpu"
	idle "log all"
	real units -j
	opened=$(count ' read ')
	idle "log all"
	real stat -j -d 0.25 -e "$events"
	points "$opened" >"$dir/points"
	for what in same other; do
		all=0 right=0 windows=0 wrong=0 elsewhere=0 event=$same
		[ $what = same ] || event=$other
		while read -r kind point window; do
			# shellcheck disable=SC2086 # words
			visit "$point" "$kind" $event </dev/null || continue
			all=$((all + 1)) windows=$((windows + window))
			eval "$perf=\$(($perf + 1))"
			[ "$perf" = right ] || [ "$window" = 1 ] || {
				elsewhere=$((elsewhere + 1))
				echo "# wrong: after $kind $point"
			}
		done <"$dir/points"
		[ "$all" -gt 2 ] && [ "$elsewhere" -eq 0 ]
		result $? "$cpu, $what event: $all points, $wrong counts of the driver wrong, $elsewhere of them needlessly"
		table="$table$(row "$cpu" $what $all $right $windows $wrong $elsewhere)
"
	done
}

echo "1..4"
machine sandybridge-ep uncore_cbox_0 0xD10 0xD16 0x400137 11750000 0x400000 2700000000 \
	cbo0.CLOCKTICKS cbo0.LLC_LOOKUP:DATA_READ cbo0.LLC_VICTIMS:M_STATE cbo0.RING_AD_USED:UP_EVEN \
	cbo0.LLC_VICTIMS:MISS cbo0.LLC_VICTIMS:S_STATE
machine emerald-rapids uncore_cha_0 0x2002 0x2008 0x18480000ff34 10062500 1 2200000000 \
	cha0.CLOCKTICKS cha0.TOR_INSERTS:IA_MISS_DRD cha0.REQUESTS:INVITOE_LOCAL \
	cha0.LLC_LOOKUP:LOCAL_DMND_RFO cha0.LLC_VICTIMS:IO_E cha0.REQUESTS:READS_LOCAL
row CPU event points right "in a window" wrong "wrong elsewhere"
printf '%s' "$table"
