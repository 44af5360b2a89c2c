#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A collectd on a busy machine: accesses to registers take long by a schedule (tests/fuse/room.h). Each rate is true, or
# the log says of that interval that it is not, and of no other one.
#
# A series that is late is told once, and again after an hour in which it was not (collectd_plugin/README.md). So that each
# interval can have a line of its own, it is longer than an hour where delays matter; slow looks take less than a fifth
# of that. ALL=1, or BUSY_SEED=N: other delays.
. "$(dirname "$0")/fuse.inc"
. "$(dirname "$0")/crowd.inc"
needs_collectd
seed=${BUSY_SEED:-$([ -n "${ALL-}" ] && date +%s || echo 11)}
echo "# BUSY_SEED=$seed"
export TZ=UTC

# A second of a socket, by the let lines of eventtables/emerald-rapids/workload.tbl: sharing.sh
read_bytes=99427200000 activates=774902500

# All rates: "LOOK SERIES SHARE-OF-THE-TRUTH". The machine begins at a multiple of $interval, where collectd has its looks.
rates()
{
	for socket in 0 1; do
		for series in memory_read_bytes=$read_bytes imc-ACT_COUNT-ALL=$activates; do
			cat "$csv/intel_uncore-socket$socket"/total_*-"${series%=*}"-* | awk -F, -v rate="${series#*=}" \
				-v interval=$interval -v name="socket$socket/${series%=*}" '$2 ~ /^[0-9]/ {
				printf "%d %s %.6f\n", $1 / interval - 17e8 / interval, name, $2 / rate }'
		done
	done
}

# What was said to be late: "LOOK SERIES HOW-MANY-MORE". The log rounds its seconds.
marks()
{
	sed -n 's/^\[\([^]]*\)\] intel_uncore plugin: \([^ :]*\)\(.*\): late: .*/\1|\2|\3/p' "$dir/collectd/log" |
		while IFS='|' read -r when series more; do
			more=${more% more}
			echo "$((($(date -d "$when" +%s) - 1700000000) / interval)) $series $((${more##* } + 0))"
		done
}

# Intervals with a wrong rate that no line of the log is for, with all of the series that are wrong in it.
unmarked()
{
	awk 'FILENAME ~ /marks$/ { lines++; more[$1] = $3; series[$1] = $2; next }
		{ rates++ }
		$3 > 1.01 || $3 < 0.99 { if (!wrong[$1]++) n++; names[$1] = names[$1] " " $2 " " $3 }
		END {
			for (i in wrong)
				if (!(i in more) || more[i] + 1 < wrong[i] || (!more[i] && !index(names[i], series[i])))
					printf "interval %d: %s; said: %s and %d more\n", i, names[i], series[i], more[i]
			printf "# %d rates, %d intervals with a wrong one, %d lines\n", rates, n, lines
		}' "$dir/marks" "$dir/rates"
}

# A collectd for 33 intervals and these lines.
sample() # LINE...
{
	nobody
	puppet gate 7 8 imc0.DCLK=1
	gate hold
	control "$@"
	start_collectd <<-E
		Metric "memory_read_bytes"
		Event "imc.ACT_COUNT:ALL"
	E
	members 2
	gate sleep $((33 * interval))
	control clear
	exec 7>&- 8<&-
	end_collectd
	rates >"$dir/rates"
	marks >"$dir/marks"
	unmarked >"$dir/out"
	cp "$dir/collectd/log" "$dir/err"
	grep '^#' "$dir/out"
}

# Whether all that is wrong is told, of so many intervals with a wrong rate at least; and there were enough of them.
told() # AT-LEAST
{
	[ "$(wc -l <"$dir/rates")" -ge 100 ] && ! grep -qv '^#' "$dir/out" &&
		[ "$(sed -n 's/.* rates, \([0-9]*\) .*/\1/p' "$dir/out")" -ge "$1" ]
}

# Looks that are slow. Each makes the interval late that ends with it and the one that begins.
slow="8 12 15 18 24 29"
late=$(for look in $slow; do echo $look $((look + 1)); done)
: >"$dir/err"
echo "1..4"
start_machine emerald-rapids
interval=1
sample "delays 5 50 0.001"
told 0 && [ ! -s "$dir/marks" ] && grep -q ' 0 intervals' "$dir/out"
result $? "delays that do not matter: all rates are true, and none is said to be late"

# Some accesses take up to 200 s, of an interval of 5000.
interval=5000
set --
for look in $slow; do
	set -- "$@" "at $((look * interval - 1)) delays $((seed * 100 + look)) 8 200" "at $((look * interval + 800)) delays off"
done
sample "$@"
told 1
result $? "slow accesses: what is not true is said to be late, in its own interval"
echo "$late" | tr ' ' '\n' >"$dir/late"
[ -s "$dir/marks" ] && ! cut -d' ' -f1 "$dir/marks" | grep -qvxFf "$dir/late" && [ -z "$(cut -d' ' -f1 "$dir/marks" | uniq -d)" ]
result $? "slow accesses: no other interval is, and none twice"

# Each access takes 10 s, so that a series is read over more than 1 % of the interval.
set --
for look in $slow; do
	set -- "$@" "at $((look * interval - 1)) cost 10" "at $((look * interval + 800)) cost 0"
done
sample "$@"
told 0 && [ "$(echo $late)" = "$(echo $(cut -d' ' -f1 "$dir/marks"))" ]
result $? "slow looks: a line for the interval before each of them and for that behind, and no other"
