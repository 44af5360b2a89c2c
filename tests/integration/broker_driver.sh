#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The broker and its clients on units that have four counters and a fixed one: events as files that answer as those of
# the kernel's driver do (fuse/driver_events.c: the driver's model on a simulated Haswell-EP), for software events share
# nothing. What counts a nanosecond says workload.tbl: so a value, or what it was estimated to, lies between the time for
# which the command was to measure and the time that it ran.
title=broker_driver
. "$SRCDIR/tests/integration/result.inc"
. "$SRCDIR/tests/integration/broker.inc"
user=22345 # broker.sh, which may run at the same time, ends all processes of its own
export BROKER_USER=$user

serve=$BUILD/tests/fuse/driver_events
[ "$(id -u)" -eq 0 ] && unshare -m true 2>/dev/null || { skip "all of it" "needs root and a mount namespace"; finish; exit; }
[ -x "$serve" ] && [ -w /dev/fuse ] || { skip "all of it" "needs FUSE"; finish; exit; }
if [ -z "${UNC_BROKER_NODE-}" ]; then # again, in a namespace of its own
	rm -rf "$tmp"
	UNC_BROKER_NODE=1 exec unshare -m sh "$0"
fi
events=$tmp/events
mkdir "$events"
python=/usr/bin/python3
build_soft "$events"
result "the library and the broker but for who opens events"
cp "$UNCORE" "$soft/uncore" && cp "$SRCDIR/tests/integration/broker_client.py" "$soft" && UNCORE=$soft/uncore
"$serve" haswell-ep "$events" 2>"$tmp/err" &
driver=$!
trap 'kill $broker $driver 2>/dev/null; umount -l "$events" 2>/dev/null; rm -rf "$tmp"' EXIT
until [ -e "$events/events" ]; do
	kill -0 $driver || { result "events as files"; finish; exit; }
	sleep 0.02
done
imc0_type=$(cat "$events/pmu/uncore_imc_0") imc1_type=$(cat "$events/pmu/uncore_imc_1")
begin_node || { result "a node"; finish; exit; }
mkdir -m 777 "$tmp/user"
printf '[allow]\nunits = imc\n' >"$tmp/policy"
start_broker "$soft/uncored" --policy "$tmp/policy"

now() { date +%s%N; }

# What a user measures for half a second, in the background: $tmp/user/NUMBER.out, .err and .ns, how long it took.
user_measures() # NUMBER EVENTS
{
	{
		_from=$(now)
		setpriv --reuid $((user + $1)) --regid $user --clear-groups --inh-caps=-all --bounding-set=-all --no-new-privs \
			env LD_LIBRARY_PATH="$soft" UNCORE_RUN=/nonexistent timeout 100 "$UNCORE" stat -d 0.5 --json-lines -e "$2" \
			>"$tmp/user/$1.out" 2>"$tmp/user/$1.err"
		echo $(($(now) - _from)) >"$tmp/user/$1.ns"
	} &
}

# Whether all that users 1 to N measured is right: each of HOW_MANY values, to the rate of its event.
right() # N HOW_MANY
{
	wait_for_users
	for _n in $(seq "$1"); do
		jq -se --argjson took "$(cat "$tmp/user/$_n.ns")" --argjson n "$2" '
			{"imc.DCLOCKTICKS": 2, "imc.DCLK": 2, "imc.CAS_COUNT:RD": 0.1171875, "imc.CAS_COUNT:WR": 0.0390625,
				"imc.ACT_COUNT:RD:WR:BYP": 0.0625} as $rate |
			length == $n and all(.[]; .value + 1 >= $rate[.name] * 5e8 and .value <= $rate[.name] * $took)' \
			"$tmp/user/$_n.out" >/dev/null || { cp "$tmp/user/$_n.out" "$tmp/out"; cp "$tmp/user/$_n.err" "$tmp/err"; return 1; }
	done
}
wait_for_users()
{
	for _job in $jobs; do wait "$_job"; done
	jobs=
}
jobs=
users() # N EVENTS
{
	for _user in $(seq "$1"); do
		user_measures "$_user" "$2"
		jobs="$jobs $!"
	done
}
share() { jq -s 'map(.share) | '"$2" "$tmp/user/$1.out"; }
holds() { [ "$(cat "$events/events")" -eq "$1" ]; }
four=imc0.DCLOCKTICKS,imc0.CAS_COUNT:RD,imc0.CAS_COUNT:WR,imc0.ACT_COUNT:RD:WR:BYP

users 1 $four
right 1 4 && [ "$(share 1 min)" = 1 ]
result "four events have the counters of a unit"
users 2 $four
right 2 4 && [ "$(share 1 'min < 0.99')" = true ] && [ "$(share 2 'min < 0.99')" = true ]
result "two users with four events each share the time, and say so"
users 2 imc0.DCLK
right 2 1 && [ "$(share 1 'min < 0.99')" = true ]
result "so do two on the fixed counter, beside four that are idle"
users 8 imc0.DCLOCKTICKS,imc0.CAS_COUNT:RD
right 8 2
result "eight users at once"
for _ in $(seq 500); do holds 0 && break; sleep 0.02; done
holds 0
result "no event is left of them"

# ---- sessions of one process, one after the other: each gives back what it had

cat >"$tmp/sessions.c" <<'EOF'
#include <stdio.h>
#include <unistd.h>
#include "uncore.h"

int main(int argc, char **argv)
{
	struct unc_options options = {.size = sizeof(options)};
	struct unc_platform *p;
	int wrong = 0, id;

	if (unc_platform_open(&options, &p) < 0)
		return puts(unc_open_error()), 1;
	for (int k = 0; k < 6; k++) {
		struct unc_session *s;
		struct unc_value v[4];

		unc_session_new(p, 0, &s);
		for (int i = 0; i < argc - 1; i++)
			if (unc_session_add(s, argv[1 + (i + k) % (argc - 1)], &id) < 0)
				return puts(unc_session_error(s)), 1;
		if (unc_session_start(s) < 0)
			return puts(unc_session_error(s)), 1;
		usleep(100000);
		if (unc_session_stop(s) < 0 || unc_session_read(s, v, 4, sizeof(v[0])) < 0)
			return puts(unc_session_error(s)), 1;
		printf("session %d: share %g\n", k, v[0].share);
		wrong |= v[0].share != 1;
		if (k % 2) /* a session that is not freed has nothing either */
			unc_session_free(s);
	}
	unc_platform_close(p);
	return wrong;
}
EOF
${CC:-cc} -std=c11 -D_GNU_SOURCE -I"$SRCDIR/common" -o "$soft/sessions" "$tmp/sessions.c" "$soft/libuncore.so.0" 2>"$tmp/err" &&
	setpriv --reuid $user --regid $user --clear-groups --inh-caps=-all --bounding-set=-all --no-new-privs \
		env LD_LIBRARY_PATH="$soft" UNCORE_RUN=/nonexistent timeout 100 "$soft/sessions" $(echo $four | tr , ' ') >"$tmp/out" 2>"$tmp/err"
result "six sessions one after the other: each has the unit for itself"

# ---- sets that never fit

ask() { # WORDS EVENT...
	setpriv --reuid $user --regid $user --clear-groups "$python" -c '
import sys; sys.path.insert(0, sys.argv[1])
import broker_client as c
c.refused(c.request(sets=[c.one_set(events=[(int(e, 0), 0, 0) for e in sys.argv[3:]])]), sys.argv[2])' "$soft" "$@" >"$tmp/out" 2>"$tmp/err"
}
ask "uncore_imc_0: 5 events do not count together: the unit has 4 counters" 0 1 6 0x402 0x205
result "five events in one set: refused with the unit and its counters"
ask "uncore_imc_0: 2 events do not count together" 0xff 0xff
result "a fixed counter twice: refused"

# ---- root's pinned events

pinned() { # N
	"$python" -c '
import os, sys
fds = [os.open("%s/open/%s:0:0:1:0:%x:0:0" % (sys.argv[1], sys.argv[3], i), os.O_RDONLY) for i in range(int(sys.argv[2]))]
print(flush=True)
sys.stdin.read()' "$events" "$1" "$imc0_type" <"$tmp/hold" >"$tmp/held" &
	held=$!
	exec 7>"$tmp/hold"
	read -r _ <"$tmp/held"
}
mkfifo "$tmp/hold" "$tmp/held"
pinned 3
users 1 imc0.DCLOCKTICKS
right 1 1 && [ "$(share 1 min)" = 1 ]
result "beside three pinned events one counts all the time"
exec 7>&-
wait $held
pinned 4
users 1 imc0.DCLOCKTICKS
wait_for_users
cp "$tmp/user/1.err" "$tmp/err"
! jq -e 'select(.value)' "$tmp/user/1.out" >/dev/null &&
	grep -q "had the counters of imc0 .* all the time" "$tmp/user/1.err" "$tmp/user/1.out"
result "beside four there is no value, with the reason"
exec 7>&-
wait $held

# ---- a socket that went offline, and comes back

wait_for() # FILE JQ
{
	for _ in $(seq 1500); do
		jq -se "$2" "$1" >/dev/null 2>&1 && return
		kill -0 $counting 2>/dev/null || return 1
		sleep 0.02
	done
	return 1
}
lost_and_back() # REASON NAME HOW_IT_IS_LOST HOW_IT_COMES_BACK
{
	as_user timeout 100 "$UNCORE" stat -I 100 --json-lines -e imc0.DCLOCKTICKS >"$tmp/out" 2>"$tmp/err" &
	counting=$!
	wait_for "$tmp/out" 'any(.value)'
	$3
	wait_for "$tmp/out" "any(.value == null and (.reason | test(\"$1\")))"
	result "$2: no value, with the reason"
	$4
	wait_for "$tmp/out" '. as $row | (map(.value == null) | index(true)) as $lost | $row[$lost:] | any(.value)'
	result "and then values again"
	pkill -u $user # not by SIGINT, which a shell has its jobs ignore
	wait $counting
	jq -se 'all(.value == null or (.value > 0 and .value <= 1.5 * 2e9 * .interval))' "$tmp/out" >/dev/null
	result "none of them is wrong"
}
socket() { echo "$1 0" >"$events/control"; }
offline() { socket offline; }
online() { socket online; }
other() # REQUEST: another process of the same user does it to the event that they share
{
	setpriv --reuid $user --regid $user --clear-groups "$python" -c '
import sys; sys.path.insert(0, sys.argv[1])
import broker_client as c, fcntl
fcntl.ioctl(c.ask(c.connect(), c.request(sets=[c.one_set()]))[2][0], getattr(c, sys.argv[2]), 0)' "$soft" "$1"
}
disable() { other DISABLE; }
lost_and_back "all CPUs of its socket went offline" "a socket that goes offline" offline online
lost_and_back "another process of this user has stopped it" "an event that another process stops" disable true

# ---- many

many() # PROCESSES
{
	rm -f "$tmp/release"
	members=
	for _n in $(seq "$1"); do
		as_user env UNCORE_RUN=/nonexistent "$UNCORE" stat --json-lines -e imc0.DCLOCKTICKS \
			sh -c "until [ -e $tmp/release ]; do sleep 0.1; done" >"$tmp/user/$_n.out" 2>"$tmp/user/$_n.err" &
		members="$members $!"
	done
	client ranks "$broker" 1 "$1"
	_rc=$?
	touch "$tmp/release"
	for _pid in $members; do wait "$_pid" || _rc=1; done
	return $_rc
}
client() { timeout 300 "$python" "$soft/broker_client.py" "$@" >"$tmp/out" 2>"$tmp/err"; }
many 128 && grep -h '^{' "$tmp"/user/*.err >"$tmp/out" && jq -se 'length == 128 and all(.value and .share == 1)' "$tmp/out" >/dev/null
result "128 processes of one user share one event, each exact"
stop_broker
for _ in $(seq 500); do holds 0 && break; sleep 0.02; done
holds 0
result "no event is left of any of it"
finish
