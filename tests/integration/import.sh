#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# scripts/import-events on made-up files (tests/import: two CPUs of one folder, an entry for each rule of its --help,
# and the lines they must become), and on Intel's own files if $UNCORE_PERFMON names their folder.

: "${SRCDIR:=$(cd "$(dirname "$0")/../.." && pwd)}" "${BUILD:=$PWD}"
command -v python3 >/dev/null || { echo "1..0 # SKIP there is no python3"; exit 0; }
title="import"
. "$SRCDIR/tests/integration/result.inc"
data=$SRCDIR/tests/import
tables=$tmp/tables

# run ARGUMENT...: output in $tmp/out, sentences in $tmp/err, status in $status.
run()
{
	python3 "$SRCDIR/scripts/import-events" "$@" >"$tmp/out" 2>"$tmp/err"
	status=$?
}

# both [ARGUMENT...]: the folder from the files of both CPUs.
both()
{
	run "$tables/box" box="$tmp/box.json" crate="$tmp/crate.json" "$@"
}

# fresh: tables without events, and the files.
fresh()
{
	rm -rf "$tables"
	mkdir "$tables" && cp -r "$data/box" "$data/cpus.tbl" "$tables" && cp "$data"/*.json "$tmp" &&
		chmod -R u+w "$tables" "$tmp"/*.json
}

# imported: tables with the events that are wanted.
imported()
{
	fresh && cp "$data/box.events" "$tables/box" && chmod u+w "$tables/box/box.events"
}

# unchanged: nothing was written.
unchanged()
{
	cmp -s "$data/box.events" "$tables/box/box.events"
}

# says STATUS REGEX: the status, and one sentence on stderr, which is all there is.
says()
{
	[ "$status" -eq "$1" ] && [ "$(wc -l <"$tmp/err")" -eq 1 ] && grep -qx -- "import-events: $2" "$tmp/err"
}

fresh && both && [ $status -eq 0 ] && diff "$data/box.events" "$tables/box/box.events" >"$tmp/out"
result "each kind of entry becomes the line that is wanted"
python3 "$SRCDIR/scripts/tables" "$tables" >"$tmp/out" 2>&1
result "the compiler of tables takes it for both CPUs"
grep -q 'different counters.*box.UNEVEN' "$tmp/err" && grep -q 'IRPFilter\[4:0\].*UNC_B_LOOKUP.STRANGE' "$tmp/err"
result "what could not be said stands in the report"

imported && both --diff && [ $status -eq 0 ] && [ ! -s "$tmp/out" ] && both && [ $status -eq 0 ] && unchanged
result "running it again changes nothing"

imported
sed -i 's/umask READS 0x01 "reads"/umask READS 0x01 alias=GETS "what somebody wrote"/' "$tables/box/box.events"
cp "$tables/box/box.events" "$tmp/edited"
both && [ $status -eq 0 ] && cmp -s "$tmp/edited" "$tables/box/box.events"
result "words and columns that somebody wrote stay"

sed -i 's/"UNC_B_REQUESTS.READS", "EventCode": "0x10", "UMask": "0x1"/"UNC_B_REQUESTS.READS", "EventCode": "0x10", "UMask": "0x8"/' \
	"$tmp/box.json" "$tmp/crate.json"
both --diff && [ $status -eq 1 ] && cmp -s "$tmp/edited" "$tables/box/box.events" &&
	[ "$(grep -c '^[-+] ' "$tmp/out")" -eq 2 ] &&
	grep -qx -- '-  umask READS 0x01 alias=GETS "what somebody wrote"' "$tmp/out" &&
	grep -qx -- '+  umask READS 0x08 alias=GETS "what somebody wrote"' "$tmp/out"
result "an entry of a newer file that changes shows as a diff of its columns"

imported
sed -i 's/counters=0-3 max=1 aggregate=max clock/counters=0-3 doubtful=1 max=2 estimate clock/' "$tables/box/box.events"
cp "$tables/box/box.events" "$tmp/edited"
both && [ $status -eq 0 ] && cmp -s "$tmp/edited" "$tables/box/box.events" && grep -q 'doubtful=1 max=2 estimate' "$tmp/edited"
result "so do largest increments and doubtful counters, which no file has"

imported
sed -i '/UNC_B_SPREAD/s/"0x22"/"0x42"/' "$tmp/box.json" "$tmp/crate.json"
both --diff && [ "$(grep -c '^[-+][^-+]' "$tmp/out")" -eq 2 ] &&
	grep -qx -- '+event SPREAD code=0x42 counters=0-3 "spread"' "$tmp/out"
result "so does an event with another code"

imported
sed -i '/UNC_B_CLASS.SNP/d' "$tmp/crate.json"
both --diff && [ "$(grep -c '^[-+][^-+]' "$tmp/out")" -eq 2 ] &&
	grep -qx -- '+  umask SNP 0x09 exact cpu=box "snoops"' "$tmp/out"
result "a line that one CPU has no more gets cpu="

imported
sed -i 's/umask SNP 0x09 exact "/umask SNP 0x09 exact cpu=box "/' "$tables/box/box.events"
both && [ $status -eq 0 ] && unchanged
result "a line of one CPU that the other has now, too, is one of both"
imported
echo 'cpu chest "Chest" family=6 models=0x03 discovery=fixed folder=box' >>"$tables/cpus.tbl"
sed -i 's/umask SNP 0x09 exact "/umask SNP 0x09 exact cpu=box "/' "$tables/box/box.events"
both && [ $status -eq 0 ] && grep -qx '  umask SNP 0x09 exact cpu=box,crate "snoops"' "$tables/box/box.events"
result "where a third CPU has no file, it is one of the two"

imported
mkdir "$tmp/reviewed" 2>/dev/null
sed -i '/UNC_B_CLASS.SNP/s/"0x9"/"0x7"/' "$tmp/box.json" "$tmp/crate.json"
for cpu in box crate; do
	echo 'UNC_B_CLASS.SNP ; ctl=0x400911 counters=0,1,2,3 ; ctl=0x400711 counters=0,1,2,3 ; made up' \
		>"$tmp/reviewed/$cpu.txt"
done
both --diff --reviewed "$tmp/reviewed" && [ $status -eq 0 ] && grep -q ', 1 as they were reviewed, ' "$tmp/err" &&
	grep -qx 'import-events: left as the table has it, as it was reviewed: UNC_B_CLASS.SNP' "$tmp/err" &&
	both --diff && [ $status -eq 1 ]
result "a difference that somebody has reviewed is none, and is counted and named"

imported
sed -n 's/^type box title="Box" public=UNC_B_/type bag title="Bag" public=UNC_G_/;/^type/,$p' "$data/box/units.tbl" \
	>>"$tables/box/units.tbl"
for cpu in box crate; do
	sed -i '1a {"Unit": "BAG", "EventName": "UNC_G_CLOCKTICKS", "EventCode": "0x01", "UMask": "0x00", "Counter": "0,1,2,3"},' \
		"$tmp/$cpu.json"
	echo 'UNC_G_CLOCKTICKS ; not found ; ctl=0x400001 counters=0,1,2,3 ; made up' >"$tmp/reviewed/$cpu.txt"
done
both --reviewed "$tmp/reviewed" && [ $status -eq 1 ] && [ ! -e "$tables/box/bag.events" ] && unchanged &&
	grep -qx 'import-events: left out, as it was reviewed: UNC_G_CLOCKTICKS' "$tmp/err" &&
	grep -qx 'import-events: none of its events is to be imported, so that there is no file: bag' "$tmp/err"
result "so is an entry that a review leaves out, and a type without any gets no file"
both && [ $status -eq 0 ] && grep -q '^event CLOCKTICKS ' "$tables/box/bag.events"
result "without the review it gets one"

# A related CPU: its type box, which a kernel's driver serves, one that it has alone, and one that nobody has events of.
fresh
units=$tables/box/units.tbl
sed -n 's/^type box \(.*\)UNC_B_/type bag \1UNC_G_/;/^type/,$p' "$data/box/units.tbl" >>"$units"
sed -n 's/^type box \(.*\)UNC_B_/type lid cpu=crate \1UNC_B_/;/^type/,$p' "$data/box/units.tbl" >>"$units"
sed -i '/^type box/,/^type bag/{s/count=2/& cpu=box/;s/^  access msr/&\n  kernel uncore_box bits=0xFF/;s/width=48 ctl=/kernel=0xff &/}' "$units"
run "$tables/trunk" trunk="$tmp/box.json" --units "$tables/box" && [ $status -eq 0 ] &&
	sed '1,/^$/d' "$tables/trunk/units.tbl" | grep . >"$tmp/new" && sed 1,2d "$data/box/units.tbl" | diff - "$tmp/new" >"$tmp/out" &&
	grep -qx "import-events: types of box of which no file has events, left out of units.tbl: bag" "$tmp/err" &&
	[ -s "$tables/trunk/box.events" ] && head -n 3 "$tables/trunk/units.tbl" | grep -q "Begun as a copy of box's"
result "a first units.tbl is the related CPU's types that the files have events of"
run "$tables/trunk" trunk="$tmp/box.json" --units "$tables/box" && says 2 ".*/trunk/units.tbl is there already: --units makes a first one"
result "it replaces none"

imported && echo '{"Events": [' >"$tmp/crate.json" && both && unchanged && says 2 "$tmp/crate.json: no JSON: .*"
result "a file that is no JSON: a sentence, nothing is written"
imported && echo '{"Header": {}}' >"$tmp/box.json" && both && unchanged && says 2 "$tmp/box.json: no list 'Events' .*"
result "JSON that is no list of events: a sentence, nothing is written"
imported && rm "$tmp/box.json" && both && unchanged && says 2 "$tmp/box.json: No such file or directory"
result "a file that is not there: a sentence, nothing is written"
imported && sed -i 's/"UNC_B_CLOCKTICKS", "EventCode": "0x01"/"UNC_B_CLOCKTICKS", "EventCode": "one"/' "$tmp/box.json" &&
	both && unchanged && says 2 "UNC_B_CLOCKTICKS: EventCode 'one' is not a hexadecimal number"
result "a number that is none: a sentence, nothing is written"
imported && run "$tables/box" "$tmp/box.json" && unchanged && says 2 ".*want CPU=FILE,FILE or CPU,CPU=FILE"
result "a file without its CPU: a sentence, nothing is written"

imported && run "$tables/box" bax="$tmp/box.json" && unchanged && says 2 "cpus.tbl has no CPU bax with this folder, but box, crate"
result "a CPU that does not use the folder: a sentence, nothing is written"

imported && sed -i 's/"EventName": "UNC_B_CLASS.REQ"/"EventName": "UNC_X_CLASS.REQ"/' "$tmp/box.json" "$tmp/crate.json" &&
	both && [ $status -eq 1 ] && grep -q "prefix for the unit 'BOX', left out: UNC_X_CLASS.REQ$" "$tmp/err"
result "an entry of an unknown unit is named, and the status tells"
imported && sed -i 's/UNC_B_CLASS.REQ/UNC_B_CLASS.RE Q/' "$tmp/box.json" "$tmp/crate.json" && both && [ $status -eq 1 ] &&
	grep -q "the name is malformed, left out: UNC_B_CLASS.RE Q$" "$tmp/err"
result "so is a malformed name"
imported && sed -i 's/"EventName": "UNC_B_CLASS.SNP"/"UMaskExt": "0x10000000", &/' "$tmp/box.json" "$tmp/crate.json" &&
	both && [ $status -eq 1 ] && grep -q "bits 0x1000000000000000 of the control have no field in box.*UNC_B_CLASS.SNP$" "$tmp/err"
result "so are bits without a field"
imported && sed -i '/BANDWIDTH/s/"Counter": "1"/"Counter": "2"/' "$tmp/box.json" "$tmp/crate.json" && both && [ $status -eq 1 ] &&
	grep -q "box has no such free-running counter in units.tbl, left out: UNC_B_BANDWIDTH.PORT1$" "$tmp/err"
result "so is a counter that the unit does not have"
fresh && sed -i '/UNC_B_SPREAD.ONE/s/"0x22"/"0x23"/' "$tmp/box.json" "$tmp/crate.json" && both && [ $status -eq 1 ] &&
	grep -q "different codes, left out: UNC_B_SPREAD.ONE$" "$tmp/err" && ! grep -q 'umask ONE ' "$tables/box/box.events"
result "so is an umask with another code than its event"
fresh && sed -i '/UNC_B_SPELT/s/"0x40"/"0x00"/' "$tmp/box.json" "$tmp/crate.json" && both && [ $status -eq 1 ] &&
	grep -q "from others, left out: UNC_B_SPELT.ONE_WAY, UNC_B_SPELT.OTHER_WAY$" "$tmp/err" &&
	! grep -q SPELT "$tables/box/box.events"
result "so are umasks that the file does not tell apart"
imported && sed 's/"0x9"/"0x7"/;s/"UNC_B_CLOCK/"UNC_B_CLACK/' "$data/box.json" >"$tmp/second.json" &&
	run "$tables/box" box="$tmp/box.json,$tmp/second.json" --diff && [ $status -eq 1 ] &&
	grep -q "given twice, differently: the first is taken: UNC_B_CLASS.SNP$" "$tmp/err"
result "so are entries that contradict each other"

# files CPU: its public files, of tests/perfmon/CPU.txt, with commas; in a clone or all in one folder.
files()
{
	sed -n 's/^file ; //p' "$SRCDIR/tests/perfmon/$1.txt" | while read -r file; do
		[ -e "$UNCORE_PERFMON/$file" ] || file=${file##*/}
		printf '%s%s' "$comma" "$UNCORE_PERFMON/$file"
		comma=,
	done
}

for list in "$SRCDIR"/tests/perfmon/*.txt; do
	cpu=${list##*/}
	cpu=${cpu%.txt}
	if [ -z "$UNCORE_PERFMON" ]; then
		number=$((number + 1))
		echo "ok $number - import: $cpu # SKIP UNCORE_PERFMON does not name the folder of the public event files"
		continue
	fi
	folder=$(sed -n "s/^cpu $cpu .*folder=\([^ ]*\).*/\1/p" "$SRCDIR/eventtables/cpus.tbl")
	run "$SRCDIR/eventtables/${folder:-$cpu}" "$cpu=$(files "$cpu")" --diff
	[ $status -eq 0 ] && [ ! -s "$tmp/out" ]
	result "$cpu: its tables say what the public files say"
done
finish
