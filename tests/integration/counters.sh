#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Who has programmed what: sessions that run, sessions that were killed, strangers and the kernel. What
# the dead have left is freed, what strangers have left by force, what somebody counts with never.
. "$(dirname "$0")/fuse.inc"

UNCORE_RUN=$dir/run
export UNCORE_RUN
mkfifo "$dir/ready" "$dir/go"

# A session that counts until it is told to go on, or killed: its process is $holder.
hold() # OPTION...
{
	(UNCORE_SYSROOT=$root VIRTUAL_MACHINE=$root VIRTUAL_CLOCK=$root/clock LD_PRELOAD="$clock $live" \
		LD_LIBRARY_PATH=$BUILD/common/.libs${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} \
		exec "$uncore" stat "$@" -- \
		sh -c "echo >'$dir/ready'; read -r _ <'$dir/go'") >"$dir/held" 2>"$dir/held.err" &
	holder=$!
	read -r _ <"$dir/ready"
}

let_go()
{
	echo >"$dir/go"
	wait "$holder"
}

die() # as at a time limit
{
	kill -9 "$holder"
	wait "$holder" 2>/dev/null
	echo >"$dir/go" # its child
}

# The rows of the last run, one a line: owner unit index counter event.
rows_are() # TEXT
{
	jq -r '.[] | "\(.owner) \(.unit)\(.index) \(.counter) \(.control) \(.event)"' "$dir/out" >"$dir/rows"
	[ "$(cat "$dir/rows")" = "$1" ] && return
	sed 's/^/# got: /' "$dir/rows"
	return 1
}

said() # JQ-EXPRESSION, true of the last run
{
	jq -e --argjson holder "${holder:-0}" "$1" "$dir/out" >/dev/null
}

# Control of iMC 0 (PCI 10.0 of the bus of socket 0), counter N, by Intel 327043-001: 0xD8 + 4 * N; CTL_FIXED
# is 0xF0. CAS_COUNT has code 4, RD is umask 3; en is bit 22.
imc=
stranger() # COUNTER VALUE
{
	"$poke" "$root$imc" $((0xd8 + 4 * $1)) "$2" >/dev/null
}
holds() # COUNTER VALUE
{
	[ $(($("$poke" "$root$imc" $((0xd8 + 4 * $1))))) -eq $(($2)) ]
}

echo "1..20"

start_machine sandybridge-ep
real units -j
imc=$(jq -r '.[] | select(.unit == "imc" and .index == 0 and .socket == 0).location |
	"/sys/bus/pci/devices/" + split(" ")[1] + "/config"' "$dir/out")

real counters -j && [ "$(cat "$dir/out")" = "[]" ] && [ ! -s "$dir/err" ]
result $? "nobody counts: no row"

# ---- a session that runs
hold -e imc0.CAS_COUNT:RD:socket=0
real counters -j && rows_are "libuncore imc0 3 0x400304 imc.CAS_COUNT:RD" &&
	said '.[0].pid == $holder and .[0].command == "uncore" and
		(.[0].since | test("^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}Z$")) and
		(.[0] | keys_unsorted) == ["socket","unit","index","counter","control","event","owner","pid",
			"command","since"]'
result $? "a session that runs: its counter, event, pid and command"

real release -j && said 'length == 1 and .[0].released == false and
	.[0].reason == "pid \($holder) (uncore) counts with it"'
result $? "release leaves it alone"
real release -j --force && said 'length == 1 and .[0].released == false' && holds 3 0x400304
result $? "release --force leaves it alone"

real counters
grep -q '^imc0  *0  *3  *0x400304  *imc.CAS_COUNT:RD  *libuncore  *'"$holder"'  *uncore  ' "$dir/out"
result $? "the table for people"
let_go
real counters -j && [ "$(cat "$dir/out")" = "[]" ]
result $? "when it has ended there is no row"

# ---- one that was killed, on counters that it shares with nobody, one of them fixed
hold -e imc0.CAS_COUNT:RD:socket=0,imc0.DCLK:socket=0
die
real counters -j && rows_are "dead imc0 3 0x400304 imc.CAS_COUNT:RD
dead imc0 FIXED 0x400000 imc.DCLK" &&
	said 'all(.[]; .pid == $holder and .command == "uncore" and .since != null)'
result $? "a session that was killed: its counters are of the dead"
real doctor -j
said 'any(.[]; .check == "counters" and .ok and (.detail | test("nobody who lives: run uncore release")))'
result $? "the doctor tells of it"
real release -j && said 'length == 2 and all(.[]; .released and .reason == null and .owner == "dead")' &&
	holds 3 0 && holds 6 0 && grep -q "were left behind by pid $holder" "$dir/err"
result $? "release puts back what it had found"
real counters -j && [ "$(cat "$dir/out")" = "[]" ] && real release -j && [ "$(cat "$dir/out")" = "[]" ]
result $? "and then there is nothing to release"

# What it had found was a stranger's; what a stranger has programmed since stays his.
for n in 0 1 2; do stranger $n 0x400303; done
hold -e imc0.CAS_COUNT:RD:socket=0
die
stranger 3 0x400c04
real counters -j && rows_are "stranger imc0 0 0x400303 null
stranger imc0 1 0x400303 null
stranger imc0 2 0x400303 null
stranger imc0 3 0x400c04 imc.CAS_COUNT:WR" && said 'all(.[]; .pid == null and .command == null and .since == null)'
result $? "what a stranger has changed since is a stranger's"
real release -j && said 'length == 4 and all(.[]; .released == false and (.reason | test("force")))' &&
	holds 3 0x400c04 && grep -q '4 counters are of strangers: --force' "$dir/err"
result $? "release leaves strangers alone, and says how they are freed"

# ---- by force: a stranger who has frozen the unit, beside a session and one that was killed
"$poke" "$root$imc" 0xF4 0x10100 >/dev/null
real release --force
grep -c '^imc0' "$dir/out" | grep -qx 8 &&
	[ "$(grep -c 'stranger.*yes$' "$dir/out")" -eq 4 ] && grep -q '^4 of 4 counters' "$dir/out" &&
	holds 0 0 && holds 3 0 && [ $(($("$poke" "$root$imc" 0xF4) & 0x100)) -eq 0 ]
result $? "by force they are shown, then freed, and the unit that they froze goes on"

stranger 0 0x400303
hold -e imc0.CAS_COUNT:RD:socket=0
killed=$holder
stranger 1 0x400101
real release -j --force && said 'length == 3 and ([.[] | "\(.counter) \(.owner) \(.released)"] ==
	["0 stranger true", "1 stranger true", "3 libuncore false"])' && holds 0 0 && holds 1 0 && holds 3 0x400304
result $? "by force as well a session that runs is left alone"
die

# Between the look and the write somebody else takes the counter: his it stays.
control reset
