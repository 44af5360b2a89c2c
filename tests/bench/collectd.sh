#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What a collectd with the plugin's default set reads of registers in an interval, on a virtual Sandy Bridge-EP: lines
# "NAME VALUE", or "1..0 # SKIP" and why it cannot run here.
#
#   collectd.sh [BUILD]      whose plugin and library; default: that of the machine, $BUILD
. "$(dirname "$0")/../integration/fuse.inc"
. "$(dirname "$0")/../integration/crowd.inc"
needs_collectd
seconds=20

start_machine sandybridge-ep
nobody
puppet gate 7 8 imc0.CLOCKTICKS=1
gate hold
ours=$libraries libraries=${1:-$BUILD}/common/.libs plugin=${1:-$BUILD}/collectd_plugin/.libs/intel_uncore.so
start_collectd </dev/null
libraries=$ours
members 2
gate sleep 5
control clear "log all"
gate sleep $seconds
reads=$(count ' read ')
control "log off"
exec 7>&- 8<&-
end_collectd
echo "collectd/reads $((reads / seconds))"
echo "collectd/series $(find "$csv" -type f | wc -l)"
