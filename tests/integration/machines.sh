#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Machines that somebody has gathered, and what the command has to say of them: tests/machines/NAME/ has
#   dump, dump.tar  what 'uncore gather' has made, unpacked or not; or
#   machine         a simulated one to gather from: what it is, then lines for the room's /control
#   run             a script, in which `uncore` is the command on that machine
#   expect          what it prints, and what the command says on stderr
# MACHINES_REWRITE=1 writes what is printed now to `expect`: to be read in the diff, line by line.
. "$(dirname "$0")/fuse.inc"
BUILD=$(cd "$BUILD" && pwd)
export LD_LIBRARY_PATH="$BUILD/common/.libs${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
machines=$SRCDIR/tests/machines

uncore()
{
	UNCORE_SYSROOT=$dump UNCORE_RUN=$dir/run "$uncore" "$@"
}

# The machine behind a folder, in $dump.
find_dump()
{
	dump=$1/dump
	[ -d "$dump" ] && return
	dump=$1/dump.tar
	[ -f "$dump" ] && return
	dump=$dir/dump.tar
	rm -f "$dump"
	start_machine "$(head -n 1 "$1/machine")"
	sed 1d "$1/machine" >"$dir/lines"
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
	(. "$run") 2>&1 | sed "s|$dump|DUMP|g" >"$dir/said"
	[ -z "${MACHINES_REWRITE-}" ] || cp "$dir/said" "$here/expect"
	diff "$here/expect" "$dir/said" | sed 's/^/# /' >"$dir/diff"
	[ ! -s "$dir/diff" ]
	result $? "${here##*/}"
	[ ! -s "$dir/diff" ] || cat "$dir/diff"
done
