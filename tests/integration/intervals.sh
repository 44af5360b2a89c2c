#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What reads at intervals cost: accesses to registers, counted by the log of a virtual machine. Time is
# the machine's, so that the numbers are the same everywhere. Each counter is read once; what is read
# beside it are controls, in turn, each once a second or at each read that comes later.
. "$(dirname "$0")/fuse.inc"

cha=CLOCKTICKS,TOR_INSERTS:IA_MISS_DRD,LLC_LOOKUP:LOCAL_DMND_RFO,REQUESTS:INVITOE_LOCAL
each_of() # PREFIX EVENTS [SUFFIX]
{
	echo "$2" | tr , '\n' | sed "s/.*/$1.&${3:-}/" | paste -sd,
}

# Reads of an interval, those of the first left out, at which the pace of the counters is not known yet,
# and of the last, which ends counting. What the watching thread reads in between is not of them. $least, $most, $mean; $oldest: the longest time, in
# seconds, between two reads of a control that was written, from the first interval to the end.
intervals() # MS NUMBER OPTION...
{
	ms=$1 n=$2
	shift 2
	control reset "log all"
	real stat -j -I "$ms" -d "$(echo "$ms $n" | awk '{ print $1 * $2 / 1000 }')" "$@"
	set -- $(awk -v t="$ms" -v n="$n" '
		{ at = 1000 * $2; k = int(at / t + 0.01); place = $5 " " $6 }
		$4 == "write" && at < 1 { written[place] = 1 }
		$4 == "read" && k > 1 && k < n && at - k * t < 1 { reads[k]++ }
		$4 == "read" && (place in written) && at > 1 && k < n {
			gap = $2 - (place in last ? last[place] : 0)
			last[place] = $2
			if (gap > longest[place]) longest[place] = gap
		}
		END {
			least = 1e9
			for (k = 2; k < n; k++) {
				sum += reads[k]
				if (reads[k] < least) least = reads[k]
				if (reads[k] > most) most = reads[k]
			}
			for (p in longest) if (longest[p] > oldest) oldest = longest[p]
			printf "%d %d %.2f %.4f\n", least, most, sum / (n - 2), oldest
		}' "$root/log")
	least=$1 most=$2 mean=$3 oldest=$4
}

# A read of so many counters costs no more than PERCENT of their number, and no control is older.
costs() # TITLE COUNTERS PERCENT SECONDS
{
	echo "# $1: $2 counters, $least to $most reads, $mean in the mean; no control older than $oldest s"
	[ "$status" -eq 0 ] && [ "$least" -ge "$2" ] &&
		echo "$mean $2 $3 $oldest $4" | awk '{ exit !($1 <= $2 * $3 / 100 && $4 <= $5 + 0.0011) }'
	result $? "$1: $mean reads of $2 counters"
}

echo "1..12"
start_machine emerald-rapids
for set in 8 64 256; do
	case $set in
	8) events=$(each_of cha0 $cha :socket=0),$(each_of cha1 $cha :socket=0) most_60=110 ;; # two units take turns
	64) events=$(each_of cha CLOCKTICKS) most_60=107 ;;
	256) events=$(each_of cha $cha) most_60=107 ;;
	esac
	# Of T seconds a share of T / (1 - T): at the next read none is older than a second.
	intervals 2 1000 -e "$events"
	costs "every 2 ms" $set 100.3 1
	intervals 60 60 -e "$events"
	costs "every 60 ms" $set $most_60 1
	intervals 1000 6 -e "$events"
	costs "every second" $set 225 1
done
# The set that a collectd counts by itself: 66 counters here, 66 controls and 16 filters.
start_machine sandybridge-ep
intervals 60 60 -g OVERVIEW
costs "OVERVIEW every 60 ms" 66 109 1
intervals 1000 6 -g OVERVIEW
costs "OVERVIEW every second" 66 246 1
intervals 10000 4 -g OVERVIEW
costs "OVERVIEW every 10 s" 66 246 10
