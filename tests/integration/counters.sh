#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Who has programmed what: sessions that run, sessions that were killed, foreign counters and the kernel's. What
# is orphaned is freed, what is foreign by force, what somebody counts with never.
. "$(dirname "$0")/fuse.inc"

UNCORE_RUN=$dir/run
export UNCORE_RUN
mkfifo "$dir/go"

# A session that counts until it is told to go on, or killed: its process is $holder.
hold() # OPTION...
{
	rm -f "$dir/ready"
	(UNCORE_SYSROOT=$root VIRTUAL_MACHINE=$root VIRTUAL_CLOCK=$root/clock LD_PRELOAD="$clock $live" \
		LD_LIBRARY_PATH=$BUILD/common/.libs${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} \
		exec "$uncore" stat "$@" -- \
		sh -c "echo \$\$ >'$dir/new' && mv '$dir/new' '$dir/ready'; read -r _ <'$dir/go'") \
		>"$dir/held" 2>"$dir/held.err" &
	holder=$!
	until [ -e "$dir/ready" ]; do
		kill -0 "$holder" 2>/dev/null || {
			sed 's/^/# it did not count: /' "$dir/held.err"
			exit 99
		}
		sleep 0.02
	done
}

let_go()
{
	echo >"$dir/go"
	wait "$holder"
}

die() # as at a time limit
{
	kill -9 "$holder" "$(cat "$dir/ready")"
	wait "$holder" 2>/dev/null
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
foreign() # COUNTER VALUE
{
	"$poke" "$root$imc" $((0xd8 + 4 * $1)) "$2" >/dev/null
}
holds() # COUNTER VALUE
{
	[ $(($("$poke" "$root$imc" $((0xd8 + 4 * $1))))) -eq $(($2)) ]
}

echo "1..24"

start_machine sandybridge-ep
real units -j
imc=$(jq -r '.[] | select(.unit == "imc" and .index == 0 and .socket == 0).location |
	"/sys/bus/pci/devices/" + split(" ")[1] + "/config"' "$dir/out")

real counters -j && [ "$(cat "$dir/out")" = "[]" ] && [ ! -s "$dir/err" ]
result $? "nobody counts: no row"

# ---- a session that runs, with the clock of the type that it counts to believe a 0
hold -e imc0.CAS_COUNT:RD:socket=0
real counters -j && rows_are "libuncore imc0 3 0x400304 imc.CAS_COUNT:RD
libuncore imc0 FIXED 0x400000 imc.DCLK" &&
	said '.[0].pid == $holder and .[0].command == "uncore" and
		(.[0].since | test("^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}Z$")) and
		(.[0] | keys_unsorted) == ["socket","unit","index","counter","control","event","owner","user","pid",
			"command","since"]'
result $? "a session that runs: its counter, event, pid and command"

real release -j && said 'length == 2 and all(.[]; .released == false) and
	.[0].reason == "pid \($holder) (uncore) counts with it"'
result $? "release leaves it alone"
real release -j --force && said 'length == 2 and all(.[]; .released == false)' && holds 3 0x400304
result $? "release --force leaves it alone"

COLUMNS=1000 real counters
grep -q '^imc0  *0  *3  *0x400304  *imc.CAS_COUNT:RD  *libuncore  *'"$holder"'  *uncore  ' "$dir/out"
result $? "the table for people"
let_go
real counters -j && [ "$(cat "$dir/out")" = "[]" ]
result $? "when it has ended there is no row"

# ---- one that was killed, on counters that it shares with nobody, one of them fixed
hold -e imc0.CAS_COUNT:RD:socket=0,imc0.DCLK:socket=0
die
real counters -j && rows_are "orphaned imc0 3 0x400304 imc.CAS_COUNT:RD
orphaned imc0 FIXED 0x400000 imc.DCLK" &&
	said 'all(.[]; .pid == $holder and .since != null)'
result $? "a session that was killed: its counters are orphaned"
real doctor -j
said 'any(.[]; .check == "counters" and .ok and (.detail | test("left by programs that have ended: run uncore release")))'
result $? "the doctor tells of it"
real release -j && said 'length == 2 and all(.[]; .released and .reason == null and .owner == "orphaned")' &&
	holds 3 0 && holds 6 0 && grep -q "were left behind by pid $holder" "$dir/err"
result $? "release restores what it had found"
real counters -j && [ "$(cat "$dir/out")" = "[]" ] && real release -j && [ "$(cat "$dir/out")" = "[]" ]
result $? "and then there is nothing to release"

# What it had found was foreign; what another program has set since stays as it is.
for n in 0 1 2; do foreign $n 0x400303; done
hold -e imc0.CAS_COUNT:RD:socket=0
die
foreign 3 0x400c04
real counters -j && rows_are "foreign imc0 0 0x400303 null
foreign imc0 1 0x400303 null
foreign imc0 2 0x400303 null
foreign imc0 3 0x400c04 imc.CAS_COUNT:WR
orphaned imc0 FIXED 0x400000 imc.DCLK" &&
	said 'all(.[:4][]; .pid == null and .command == null and .since == null)'
result $? "what another program has changed since is foreign"
real release -j && said 'length == 5 and all(.[:4][]; .released == false and (.reason | test("force")))' &&
	holds 3 0x400c04 && grep -q '4 foreign counters: --force' "$dir/err"
result $? "release leaves foreign counters alone, and says how they are freed"

# ---- by force: a program that has frozen the unit, beside a session and one that was killed
"$poke" "$root$imc" 0xF4 0x10100 >/dev/null
control "log writes"
real release --force
grep -c '^imc0' "$dir/out" | grep -qx 8 &&
	[ "$(grep -c 'foreign.*yes$' "$dir/out")" -eq 4 ] && grep -q '^4 of 4 counters' "$dir/out" &&
	holds 0 0 && holds 3 0 &&
	[ "$(count ' write .* 0xf4 0x10000 ')" -eq 1 ] # it cannot be read
result $? "by force they are shown, then freed, and the unit that they froze goes on"

foreign 0 0x400303
hold -e imc0.CAS_COUNT:RD:socket=0
foreign 1 0x400101
real release -j --force && said '([.[] | "\(.counter) \(.owner) \(.released)"] ==
	["0 foreign true", "1 foreign true", "3 libuncore false", "FIXED libuncore false"])' && holds 0 0 && holds 1 0 && holds 3 0x400304
result $? "by force as well a session that runs is left alone"
die

# ---- killed while it frees: the next one ends it
left_behind() # two orphaned counters
{
	hold -e imc0.CAS_COUNT:RD:socket=0,imc0.CAS_COUNT:WR:socket=0
	die
}
real release -j
left_behind
control clear "log writes"
real release -j
writes=$(count ' write ') wrong=0 n=0
while [ "$n" -lt "$writes" ]; do
	n=$((n + 1))
	left_behind
	control clear "after $n write * signal KILL"
	{ real release -j; } 2>/dev/null
	[ "$status" -eq 137 ] || wrong=$((wrong + 1))
	control clear
	real release -j && real counters -j && [ "$(cat "$dir/out")" = "[]" ] && holds 3 0 && holds 2 0 ||
		wrong=$((wrong + 1))
done
[ "$writes" -gt 1 ] && [ "$wrong" -eq 0 ]
result $? "a release that is killed at each of its $writes writes is ended by the next"

# ---- two at once, and one beside a start
left_behind
control clear
real release -j &
one=$!
(dir=$dir/two && mkdir "$dir" && real release -j) || echo "# the second failed"
wait "$one" && real counters -j && [ "$(cat "$dir/out")" = "[]" ] && holds 3 0
result $? "two releases at once"

# ---- what cannot be done is said
left_behind
control "fail write *0000:7f:10.0* - EIO"
real release -j
[ "$status" -eq 1 ] && said 'length == 3 and all(.[]; .released == false and
	(.reason | test("^(CTL[23]|FIXED_CTL) of imc0 .socket 0. could not be restored: it holds 0x")))' &&
	grep -q '^uncore: CTL[23] of imc0 (socket 0) could not be restored' "$dir/err"
result $? "a control that cannot be written is said to be left"
control clear
real release -j && said 'all(.[]; .released)'
result $? "and freed when it can"

foreign 0 0x400303
control "fail open *0000:7f:10.1* - EACCES"
real counters -j
[ "$status" -eq 0 ] && said 'length == 1' && grep -q '^uncore: note: not looked at: imc1 (socket 0): ' "$dir/err"
result $? "a unit that is out of reach is named"
control clear "fail read *0000:7f:10.1* 0xDC EIO"
real counters -j
[ "$status" -eq 1 ] && said 'length == 1' && grep -q '^uncore: imc1 (socket 0): pci 0000:7f:10.1 offset 0xdc: Input/output error' "$dir/err"
result $? "a unit that cannot be read does not hide the others, and is named"
control clear

UNCORE_RUN=$dir/none/run
real counters -j && said '.[0].owner == "foreign"' &&
	grep -q 'sessions of other programs are not known' "$dir/err"
result $? "without a journal it says that sessions are not known"
real release -j --force
[ "$status" -eq 1 ] && grep -q '^uncore: foreign counters cannot be told from those' "$dir/err" && holds 0 0x400303
result $? "and frees nothing by force"
UNCORE_RUN=$dir/run

# ---- rights
control "fail open /dev/cpu/*/msr - EACCES" "fail open *0000:*/config - EACCES"
real counters -j
[ "$status" -eq 1 ] && grep -q '^uncore: no unit can be looked at; .*[Pp]ermission denied' "$dir/err"
result $? "without rights it says so, in place of an empty list"
control clear

# ---- every kind of register
start_machine emerald-rapids
hold -e cha0.TOR_INSERTS:IA_MISS_DRD:socket=0,upi0.TxL_FLITS:ALL_DATA:socket=0,imc0.CAS_COUNT:RD:socket=0
die
real counters -j && said '[.[] | "\(.owner) \(.unit)\(.index) \(.counter) \(.event)"] ==
	["orphaned cha0 2 cha.CLOCKTICKS", "orphaned cha0 3 cha.TOR_INSERTS:IA_MISS_DRD",
	 "orphaned imc0 3 imc.CAS_COUNT:RD", "orphaned imc0 FIXED imc.DCLK",
	 "orphaned upi0 2 upi.CLOCKTICKS", "orphaned upi0 3 upi.TxL_FLITS:ALL_DATA"]' &&
	real release -j && said 'length == 6 and all(.[]; .released)' &&
	real counters -j && [ "$(cat "$dir/out")" = "[]" ]
result $? "MSR, PCI and mapped memory: what is orphaned is named and freed"
