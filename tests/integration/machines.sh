#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Machines that are broken or odd, and what the command must say of them: tests/machines/NAME/ has
#   gathered        what 'uncore gather' has made; or
#   run             what is wrong or odd and what must be said of it, in a comment; then, behind "#: ", where nothing is gathered, a
#                   simulated machine to gather from (of tests/broken, too) and lines for the room's /control; and a script that
#                   prints just what must be said, in which `uncore` is the command on that machine
#   expect          what it prints, and what the command says on stderr: each line follows from the comment
# Machines that are whole, and all else that is said of a broken one, are not here: what the program prints is no reason for itself.
# MACHINES_REWRITE=1 writes what is printed now to `expect`: to be read in the diff, line by line.
. "$(dirname "$0")/fuse.inc"
BUILD=$(cd "$BUILD" && pwd)
export LD_LIBRARY_PATH="$BUILD/common/.libs${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
machines=$SRCDIR/tests/machines

uncore()
{
	COLUMNS=1000 UNCORE_SYSROOT=$dump UNCORE_RUN=$dir/run "$uncore" "$@"
}

# ---- words for `run`; what `uncore units` says is in $dir/units.json

# available TYPE...: how many units there are, of how many.
available()
{
	for _type; do
		jq -r --arg type "$_type" '[.[] | select(.unit == $type).available] | "\($type): \(map(select(.)) | length) of \(length)"' "$dir/units.json"
	done
}

# reasons TYPE: why units of it are not available, and how many by each reason; what tells them apart is left out.
reasons()
{
	jq -r --arg type "$1" '[.[] | select(.unit == $type and (.available | not)).reason | gsub("[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\\.[0-9]"; "FUNCTION") |
		gsub("msr 0x[0-9a-f]+ on cpu [0-9]+"; "MSR") | gsub("function [0-9a-f]{2}\\.[0-9] \\([0-9a-f:]*\\)"; "function FUNCTION") |
		gsub("(?<type>[a-z0-9]*[a-z])[0-9]+ of socket [0-9]"; "\(.type)N of socket S")] | group_by(.)[] | "\(length) of \($type): \(.[0])"' "$dir/units.json"
}

# places TYPE: the first place of each socket.
places()
{
	jq -r --arg type "$1" '.[] | select(.unit == $type and .index == 0) | "\(.unit)0 of socket \(.socket): \(.location)"' "$dir/units.json"
}

# The machine behind a folder, in $dump.
find_dump()
{
	dump=$1/gathered
	[ -f "$dump" ] && return
	dump=$dir/gathered
	rm -f "$dump"
	start_machine "$(sed -n 's/^#: //p' "$1/run" | head -n 1)"
	sed -n 's/^#: //p' "$1/run" | sed 1d >"$dir/lines"
	while read -r line; do
		control "$line"
	done <"$dir/lines"
	real gather "$dump" || sed 's/^/# /' "$dir/err"
}

set -- "$machines"/*/run
echo "1..$#"
for run; do
	here=${run%/run}
	find_dump "$here"
	mkdir -p "$dir/run"
	(uncore units -j >"$dir/units.json" && . "$run") 2>&1 | sed "s|$dump|DUMP|g" >"$dir/said"
	[ -z "${MACHINES_REWRITE-}" ] || cp "$dir/said" "$here/expect"
	diff "$here/expect" "$dir/said" 2>&1 | sed 's/^/# /' >"$dir/diff"
	[ ! -s "$dir/diff" ]
	result $? "${here##*/}"
	[ ! -s "$dir/diff" ] || cat "$dir/diff"
done
