#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Values whose counters were not read at one time: how `uncore stat` and `uncore top` show them. For a while each access
# to a register takes 2.5 ms: the clocks of 16 CBos (sandybridge-ep: two sockets of eight) are read over 40 ms, that of
# one over no more than 1 % of a second. They count 2.7e9 a second: eventtables/sandybridge-ep/workload.tbl.
. "$(dirname "$0")/fuse.inc"

start_machine sandybridge-ep
all=cbo.CLOCKTICKS one=cbo0.CLOCKTICKS:socket=0
slow="cost 0.0025" fast="cost 0"

late() # FILTER: what jq says of the reports of the last run
{
	[ "$status" -eq 0 ] && jq -es --arg all $all --arg one $one "$1" "$dir/out" >/dev/null
}
said() # LINE...: this, and nothing else, on stderr
{
	printf 'uncore: %s\n' "$@" | cmp -s - "$dir/err"
}

# Intervals of a second: slow is the look between the third and the fourth.
control "at 2.5 $slow" "at 3.5 $fast"
real stat -j -I 1000 -d 6 -e $all,$one
late 'length == 6 and (map(.late) | .[2:4] == [{($all): "read over 40 ms of an interval of 1000 ms"}, .[2]] and
	.[:2] + .[4:] == [null, null, null, null]) and all(.[].events[]; (. / 2.7e9 - 1 | fabs) < 0.01)'
result $? "-j: the intervals that begin or end with such a look, the reason, and the value"
said "$all: late: read over 40 ms of an interval of 1000 ms" "$all: late in 2 of 6 reports"
result $? "on stderr once, and how many there were"

control reset "at 2.5 $slow" "at 3.5 $fast"
real stat -I 1000 -d 6 -e $all,$one
[ "$(grep -c "^  $all .* 2\.70 G/s  late$" "$dir/out")" -eq 2 ] && [ "$(grep -c ' 2\.70 G/s$' "$dir/out")" -eq 10 ]
result $? "as text: a word behind the number"

# Of all three seconds 40 ms are more than 1 %, of ten they are not.
control reset "at 2.5 $slow"
real stat -d 3 -e $all,$one
grep -q "^$all .* 2\.70 G/s  late$" "$dir/out" && grep -q "^$one .* 2\.70 G/s$" "$dir/out" &&
	said "$all: late: read over 40 ms of an interval of 3000 ms"
result $? "one report: a word"
control reset "at 2.5 $slow"
real stat -x, -d 3 -e $all,$one
grep -q ",$all,[0-9]*,count,1,16,16,read over 40 ms of an interval of 3000 ms\$" "$dir/out" &&
	grep -q ",0,cbo0,$all,[0-9]*,count,1,1,1,\$" "$dir/out"
result $? "-x: the reason"
control reset "at 9.5 $slow"
real stat -j -d 10 -e $all,$one
late '.[0].late == null' && [ ! -s "$dir/err" ]
result $? "of ten seconds nothing is late"

# 8 of them are read over 20 ms, one over 2.5.
control reset "at 0.5 $slow"
real stat -j -d 1 --per-socket -e $all
late '.[0].late == ([":socket=0", ":socket=1"] | map({($all + .): "read over 20 ms of an interval of 1000 ms"}) | add)' &&
	said "$all:socket=0, $all:socket=1: late: read over 20 ms of an interval of 1000 ms"
result $? "--per-socket: a line for both"
control reset "at 0.5 $slow"
real stat --json-lines -d 1 --per-unit -e $all
late 'length == 16 and all(.[]; .reason == null)' && [ ! -s "$dir/err" ]
result $? "--per-unit: each unit was read soon enough"
control reset "at 0.1 $slow"
real stat --json-lines -d 0.2 --per-unit -e $all
late 'length == 16 and all(.[]; .value > 0 and (.reason | . == "read over 2.50 ms of an interval of 200 ms"))'
result $? "--per-unit: of 0.2 s it was not"

control reset "at 1.5 cost 0.001" "at 2.9 $fast"
COLUMNS=100 real top -n 3
[ "$(grep -c '^! late: [a-z_]*:socket=0 (and [0-9]* more): read over [0-9]* ms of an interval of 1000 ms$' "$dir/out")" -eq 2 ] &&
	[ "$(grep -c '^memory_read_bytes:socket=0  *17\.[0-9]* GB/s .*  !$' "$dir/out")" -eq 2 ] &&
	[ "$(grep '^memory_read_bytes:socket=0  *17\.29 GB/s ' "$dir/out" | grep -vc '!$')" -eq 1 ]
result $? "top: a letter behind the number, and a note"
echo "1..$number"
