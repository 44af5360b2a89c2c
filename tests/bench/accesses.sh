#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The accesses that open, start, read and stop cost, for each CPU and unit type that files can show
# (make bench). They are counted, so that the table is the same on every machine: tests/README.md
# has it.
. "$(dirname "$0")/../integration/fuse.inc"

echo "| CPU | unit | method | start | read | compared | proven | stop |"
echo "|---|---|---|---|---|---|---|---|"
for cpu in nehalem-ep sandybridge-ep ivybridge-ep emerald-rapids; do
	start_machine "$cpu"
	VIRTUAL_MACHINE=$root VIRTUAL_CLOCK=$root/clock LD_PRELOAD="$clock $live" \
		"$BUILD/tests/bench/accesses" "$root" || exit 1
	stop_machine
done
