#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What a collectd with the plugin's default set does on a virtual Sandy Bridge-EP: the registers that it reads in an
# interval of a second; and with collectd's own interval of 10 seconds those that it reads in 10 seconds, and how often
# a thread of the whole process wakes in them, with the plugin and without. Lines "NAME VALUE", or "1..0 # SKIP" and
# why it cannot run here. All is counted in the machine's time: what else this computer does changes nothing.
#
#   collectd.sh [BUILD]      whose plugin and library; default: that of the machine, $BUILD
. "$(dirname "$0")/../integration/fuse.inc"
. "$(dirname "$0")/../integration/crowd.inc"
needs_collectd
build=${1:-$BUILD}

# A machine on which nothing runs but collectd, whose first intervals are over.
begin() # INTERVAL COMMAND...
{
	interval=$1
	shift
	start_machine sandybridge-ep
	nobody
	puppet gate 7 8 imc0.CLOCKTICKS=1
	gate hold
	export VIRTUAL_WAKES="$dir/wakes"
	rm -f "$VIRTUAL_WAKES"
	libraries=$build/common/.libs plugin=$build/collectd_plugin/.libs/intel_uncore.so
	"$@" </dev/null
	libraries=$ours
	unset VIRTUAL_WAKES
	members 2
	gate sleep $((3 * interval / 2 + 4))
}
ours=$libraries

end()
{
	exec 7>&- 8<&-
	end_collectd
}

# Reads of registers in so many seconds.
reads_in() # SECONDS
{
	control clear "log all"
	gate sleep "$1"
	control "log off"
	reads=$(count ' read ')
}

# How often threads have woken until now: because their time had come, and by another thread.
look_at_wakes()
{
	# shellcheck disable=SC2046 # words
	set -- $(od -An -t u8 -N 16 "$dir/wakes")
	by_time=$1 by_thread=$2
}

wakes_in() # SECONDS
{
	look_at_wakes
	_time=$by_time _thread=$by_thread
	reads_in "$1"
	look_at_wakes
	by_time=$((by_time - _time)) by_thread=$((by_thread - _thread))
}

# The configuration of the one before, without the plugin.
start_alone()
{
	sed -i -e '/LoadPlugin intel_uncore/d' -e '/<Plugin intel_uncore>/,/<\/Plugin>/d' "$dir/collectd/conf"
	(member collectd -f -C "$dir/collectd/conf") >"$dir/collectd/out" 2>&1 &
	collectd_pid=$!
}

begin 1 start_collectd
reads_in 20
end
echo "collectd/reads $((reads / 20))"
echo "collectd/series $(find "$csv" -type f | wc -l)"

begin 10 start_collectd
wakes_in 30
real counters
set=$(sed -n 's/^\([0-9][0-9]*\) counters are in use$/\1/p' "$dir/out")
end
[ -z "$set" ] || echo "collectd/set $set"
echo "collectd/reads_10s $((reads / 3))"
echo "collectd/timers_10s $((by_time / 3))"
echo "collectd/wakes_10s $(((by_time + by_thread) / 3))"

begin 10 start_alone
wakes_in 30
end
echo "collectd/alone_10s $(((by_time + by_thread) / 3))"
