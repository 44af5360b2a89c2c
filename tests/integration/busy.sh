#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A collectd on a busy machine: accesses to registers take long by a schedule (tests/fuse/room.h). Its rates are true, or
# its log says that they are not.
. "$(dirname "$0")/fuse.inc"
. "$(dirname "$0")/crowd.inc"
needs_collectd

# A second of a socket, by the let lines of eventtables/emerald-rapids/workload.tbl: sharing.sh
read_bytes=99427200000 activates=774902500

# Lines of a series whose rate is not RATE by more than a per cent; and how many there are, as a comment.
wrong_rates() # FILE RATE
{
	awk -F, -v rate="$2" 'NR > 1 && $2 != "nan" {
			n++
			if ($2 / rate > 1.01 || $2 / rate < 0.99) {
				wrong++
				printf "%s: %.1f %% of the truth\n", $1, 100 * $2 / rate
			}
		} END {
			printf "# %d rates, %d off by more than 1 %%\n", n, wrong
			if (n < 20) print "so few"
		}' "$1"
}

all_wrong_rates()
{
	for socket in 0 1; do
		wrong_rates "$csv/intel_uncore-socket$socket"/total_bytes-memory_read_bytes-* $read_bytes
		wrong_rates "$csv/intel_uncore-socket$socket"/total_events-imc-ACT_COUNT-ALL-* $activates
	done
}

# A collectd for so many seconds of this schedule.
sample() # SECONDS LINE
{
	nobody
	puppet gate 7 8 imc0.DCLK=1
	gate hold
	start_collectd <<-E
		Metric "memory_read_bytes"
		Event "imc.ACT_COUNT:ALL"
	E
	members 2
	gate sleep 3
	control "$2"
	gate sleep "$1"
	control "delays off"
	exec 7>&- 8<&-
	end_collectd
	all_wrong_rates >"$dir/out" 2>&1
	cp "$dir/collectd/log" "$dir/err"
	grep '^#' "$dir/out"
}

: >"$dir/err"
echo "1..2"
start_machine emerald-rapids
sample 30 "delays 5 50 0.001"
! grep -qv '^#' "$dir/out" && ! grep -q ': late' "$dir/err"
result $? "delays that do not matter: all rates are true, and none is said to be late"

sample 60 "delays 6 200 3"
! grep -qv '^#' "$dir/out" || { grep -q ': late' "$dir/err" && ! grep -q 'so few' "$dir/out"; }
result $? "delays of more than an interval: what is not true is said to be late"
