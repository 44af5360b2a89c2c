#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# uncore verify on a machine as files, where registers can be looked at from outside: it leaves them as they were, and so
# it does when Ctrl-C ends it. Killed behind any write, 'uncore release' puts back what it has left. VERIFY_POINTS=200:
# behind that many writes (3 here, with ALL=1 8, spread over the run; kill.sh has each write of a start and a stop).
. "$(dirname "$0")/fuse.inc"

[ "${ALL-}" = 1 ] && points=8 || points=3
points=${VERIFY_POINTS:-$points}

restored() { ! grep . "$root/left" >"$dir/err"; }
none_used() { real counters -j && [ "$(jq length "$dir/out")" -eq 0 ]; }

# The signal behind writes from the first to the last of a run. Sets n, fine, orphaned.
at_each() # SIGNAL STATUS
{
	n=0 fine=0 orphaned=0
	while [ "$n" -lt "$points" ]; do
		control reset "after $((1 + n * (writes - 1) / points)) write * signal $1"
		n=$((n + 1))
		{ real verify; } 2>/dev/null
		[ "$status" -eq "$2" ] || continue
		if [ "$1" = KILL ]; then
			real counters -j
			orphaned=$((orphaned + $(jq '[.[] | select(.owner == "orphaned")] | length' "$dir/out")))
			real release || continue
		fi
		none_used && restored && fine=$((fine + 1))
	done
}

echo "1..9"
for cpu in nehalem-ep sandybridge-ep emerald-rapids; do
	start_machine $cpu
	control reset "log writes"
	real verify -j
	writes=$(count ' write ')
	[ "$status" -eq 0 ] && [ "$writes" -gt "$points" ] && restored
	result $? "$cpu: nothing is left ($writes writes)"
	at_each INT 130
	[ "$fine" -eq "$points" ]
	result $? "$cpu: nor after Ctrl-C: $fine of $n"
	at_each KILL 137
	[ "$fine" -eq "$points" ] && [ "$orphaned" -gt 0 ]
	result $? "$cpu: killed, $orphaned counters left at $n points; released: $fine of $n"
done
