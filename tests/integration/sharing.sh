#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The users of a node at the same time: a collectd that samples, two `uncore stat` and sixteen ranks of
# a job want the same, and share the counters; then jobs of four ranks come and go and are killed, and
# collectd's series have no gap. All of it in the machine's time: SHARING_JOBS=N (three seconds each;
# 200: ten minutes).
. "$(dirname "$0")/fuse.inc"
. "$(dirname "$0")/crowd.inc"
needs_collectd
jobs=${SHARING_JOBS:-6}

# Lines of a second of both sockets, by the let lines of eventtables/emerald-rapids/workload.tbl:
# 2 * 15.5355e8 read, 2 * 5.123e8 written; activates 2 * (0.35 * 15.5105e8 + 0.45 * 5.123e8 + 0.6 * 0.025e8)
read_bytes=198854400000 write_bytes=65574400000 activates=1549805000
grain=1024 # each of 16 counters has its own rest, of 64 bytes

# Each of the counters of a sum has its own rest: 1e-8 is 50 ns of 5 s.
stat_is_exact=".interval as \$t | (has(\"partial\") or has(\"invalid\") or has(\"share\") or has(\"unprotected\") | not) and
	([[.events[\"imc.ACT_COUNT:ALL\"], $activates], [.metrics.memory_read_bytes, $read_bytes],
	  [.metrics.memory_write_bytes, $write_bytes]] |
	 all(.[]; .[0] / (.[1] * \$t) - 1 | fabs < 1e-8))"

# In the folder of ranks: NAME is what each says.
rank() # NAME SECONDS
{
	(member "$crowd" rank -r "$root" -d "$dir/crowd" -g $grain -t "$2" memory_read_bytes=$read_bytes \
		memory_write_bytes=$write_bytes imc.ACT_COUNT:ALL=$activates) >"$dir/ranks/$1" 2>&1 &
	rank_pid=$!
}

# For each memory channel: how many of its controls hold something.
controls_in_use()
{
	jq -r '.[] | select(.unit == "imc" and .available).location | split(" ")[1]' "$dir/units" >"$dir/channels"
	while read -r base; do
		n=0
		while read -r file offset _; do
			[ "$file" = /memory ] && offset=$((offset - base)) && [ $offset -ge 64 ] &&
				[ $offset -lt 80 ] && n=$((n + 1))
		done <"$dir/left"
		echo $n
	done <"$dir/channels"
}

# Every line of a series is a second after the one before, and its rate is RATE; the first has none.
whole_series() # FILE RATE
{
	awk -F, -v rate="$2" 'NR == 1 || $2 == "nan" && NR == 2 { last = $1; next }
		NR > 2 && $1 != last + 1 { print FILENAME ": a gap before " $1; bad = 1 }
		$2 / rate > 1.000001 || $2 / rate < 0.999999 { print FILENAME ": " $0 ", not " rate; bad = 1 }
		{ last = $1 } END { if (NR < 8) print FILENAME ": " NR " lines"; exit bad || NR < 8 }' "$1"
}

whole_collectd()
{
	for socket in 0 1; do
		whole_series "$csv/intel_uncore-socket$socket"/total_bytes-memory_read_bytes-* $((read_bytes / 2)) &&
			whole_series "$csv/intel_uncore-socket$socket"/total_bytes-memory_write_bytes-* \
				$((write_bytes / 2)) &&
			whole_series "$csv/intel_uncore-socket$socket"/total_events-imc-ACT_COUNT-ALL-* \
				$((activates / 2)) || return 1
	done
}

echo "1..7"
start_machine emerald-rapids
nobody
mkdir "$dir/ranks"
: >"$dir/err"
real units -j
cp "$dir/out" "$dir/units"
puppet gate 7 8 imc0.DCLK=1
gate hold

# ---- the same programming, counted once
start_collectd <<E
Metric "memory_read_bytes" "memory_write_bytes"
Event "imc.ACT_COUNT:ALL"
E
for i in 1 2; do
	(member "$uncore" stat -j -d 5 -m memory_read_bytes,memory_write_bytes -e imc.ACT_COUNT:ALL) \
		>"$dir/stat$i" 2>"$dir/stat$i.err" &
	eval "stat${i}_pid=$!"
done
ranks=
for i in $(seq 16); do
	rank "r$i" 5
	ranks="$ranks $rank_pid"
done
members 20
gate sleep 2
cat "$root/left" >"$dir/left"
gate sleep 8
# shellcheck disable=SC2086 # words
wait $stat1_pid $stat2_pid $ranks

controls_in_use | sort | uniq -c >"$dir/out"
[ "$(awk '{print $1, $2}' "$dir/out")" = "16 3" ]
result $? "collectd, two stat and 16 ranks: three events take three counters of each of 16 channels"

for i in 1 2; do
	cp "$dir/stat$i" "$dir/out"
	cp "$dir/stat$i.err" "$dir/err"
	jq -e "$stat_is_exact" "$dir/out" >/dev/null 2>&1
	result $? "stat $i: exact"
done
sort "$dir"/ranks/r* | uniq -c >"$dir/out"
cp "$dir/crowd/said" "$dir/err"
[ "$(awk '{print $1, $2, $3, $4, $5, $6}' "$dir/out")" = "16 right=18 marked=0 wrong=0 refused=0 failed=0" ]
result $? "16 ranks: each number exact"

# ---- jobs come and go
job=0 started=0 killed=0
: >"$dir/err"
while [ $job -lt "$jobs" ]; do
	job=$((job + 1)) ranks= launcher=
	if [ $job -eq 1 ] && command -v mpirun >/dev/null; then
		cat >"$dir/rank.sh" <<-RANK
			. "$SRCDIR/tests/integration/crowd.inc"
			rank_number=\$OMPI_COMM_WORLD_RANK
			member "$crowd" rank -r "$root" -d "$dir/crowd" -g $grain -t 3 memory_read_bytes=$read_bytes \
				memory_write_bytes=$write_bytes imc.ACT_COUNT:ALL=$activates >"$dir/ranks/j1.\$rank_number" 2>&1
		RANK
		BUILD=$BUILD dir=$dir root=$root clock=$clock live=$live mpirun --allow-run-as-root --oversubscribe \
			-n 4 sh "$dir/rank.sh" >"$dir/mpi" 2>&1 &
		launcher=$!
	else
		for i in 1 2 3 4; do
			rank "j$job.$i" 3
			ranks="$ranks $rank_pid"
		done
	fi
	members 6 # with collectd and the gate
	gate sleep 0.5
	case $((job % 3)) in
	2) # shellcheck disable=SC2086 # words
		kill -9 $ranks 2>/dev/null && killed=$((killed + 4)) ;;
	0) kill -9 "$rank_pid" 2>/dev/null && killed=$((killed + 1)) ;;
	esac
	gate sleep 3
	# shellcheck disable=SC2086 # words
	wait $launcher $ranks 2>/dev/null
done
sort "$dir"/ranks/j* | uniq -c >"$dir/out"
cp "$dir/crowd/said" "$dir/err"
[ "$(awk '{print $1, $2, $3, $4, $5, $6}' "$dir/out")" = "$((4 * jobs - killed)) right=12 marked=0 wrong=0 refused=0 failed=0" ]
result $? "$jobs jobs of 4 ranks, $killed killed: each number of the others is exact"
exec 7>&- 8<&-
end_collectd
cp "$dir/collectd/log" "$dir/err"
whole_collectd >"$dir/out"
result $? "collectd: no gap, true rates"
cat "$root/left" >"$dir/out"
[ ! -s "$dir/out" ]
result $? "nothing is left"
