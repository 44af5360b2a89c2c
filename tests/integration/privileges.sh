#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The command with more rights than its user: set-user-id root, then file capabilities, run by
# nobody with a machine of their own making. A file stands for the MSRs of the machine.
export COLUMNS=1000 # sentences stand on one line
: "${BUILD:=.}"
alone=$BUILD/tests/uncore_alone
unset UNCORE_SIM UNCORE_SYSROOT

skip_all()
{
	echo "1..0 # SKIP $*"
	exit 0
}
[ "$(id -u)" -eq 0 ] || skip_all "not root: no rights can be given to a program"
command -v setpriv >/dev/null || skip_all "setpriv is missing (package util-linux)"
case $(findmnt -no OPTIONS -T "${TMPDIR:-/tmp}" 2>/dev/null) in
*nosuid*) skip_all "${TMPDIR:-/tmp} is mounted nosuid" ;;
esac
[ -x "$alone" ] || skip_all "tests/uncore_alone was not built"
umask 022
tmp=$(mktemp -d) || exit 99
trap 'rm -rf "$tmp"' EXIT
chmod 755 "$tmp"
number=0

result() # STATUS NAME
{
	number=$((number + 1))
	if [ "$1" -eq 0 ]; then
		echo "ok $number - privileges: $2"
	else
		echo "not ok $number - privileges: $2"
		sed 's/^/# /' "$tmp/out" "$tmp/err" 2>/dev/null | head -n 20
	fi
}

# A machine with one socket, whose CPU is a Sandy Bridge-EP.
root=$tmp/root msr=$tmp/root/dev/cpu/0/msr
mkdir -p "$root/proc" "$root/dev/cpu/0" "$root/sys"
printf 'processor : 0\nvendor_id : GenuineIntel\ncpu family : 6\nmodel : 45\nmodel name : Box\nflags : fpu\nphysical id : 0\ncore id : 0\n' \
	>"$root/proc/cpuinfo"
truncate -s 4G "$msr"

# Registers of the stand-in that are not 0.
touched()
{
	od -An -tx1 -j 3344 -N 8 "$msr" | tr -d ' 0\n' | grep -q . # 0xD10, a control of cbo0
}

as_nobody() # COMMAND...
{
	UNCORE_SYSROOT=$root setpriv --reuid=65534 --regid=65534 \
		--clear-groups --inh-caps=-all "$@" >"$tmp/out" 2>"$tmp/err"
}

# ---- without more rights than its user, root: the variables count

cp "$alone" "$tmp/uncore"
UNCORE_SYSROOT=$root "$tmp/uncore" units -j >"$tmp/out" 2>"$tmp/err"
[ $? -eq 0 ] && grep -q '"cbo"' "$tmp/out"
result $? "an ordinary program obeys the variables"
mkdir "$tmp/reports"
printf '{"cpu":"sandybridge-ep","simulated":false,"checks":[{"check":"memory_read_bytes of socket 0","verdict":"right"}]}\n' \
	>"$tmp/reports/report.json"
UNCORE_REPORTS=$tmp/reports "$tmp/uncore" metrics -c sandybridge-ep memory_read >"$tmp/out" 2>"$tmp/err"
grep -q '^memory_read_bytes .* Verified' "$tmp/out"
result $? "it believes reports of another folder"
# ---- with them

raise()
{
	cp "$alone" "$tmp/uncore"
	case $1 in
	set-user-id) chmod 4755 "$tmp/uncore" ;;
	*) setcap cap_sys_rawio,cap_sys_admin,cap_dac_override+ep "$tmp/uncore" 2>"$tmp/err" ;;
	esac
}

for way in set-user-id "file capabilities"; do
	if ! raise "$way"; then
		for _ in 1 2 3; do
			number=$((number + 1))
			echo "ok $number - privileges: $way # SKIP setcap: $(head -n 1 "$tmp/err")"
		done
		continue
	fi
	as_nobody "$tmp/uncore" units -v
	grep -q 'UNCORE_SYSROOT is ignored: the program runs with raised privileges' "$tmp/err"
	result $? "$way: the variables are ignored, and a note says so"
	as_nobody "$tmp/uncore" units -j
	! grep -q '"cbo"' "$tmp/out"
	first=$?
	as_nobody "$tmp/uncore" stat -d 0.05 -e cbo0.CLOCKTICKS:socket=0
	[ $? -ne 0 ] && [ $first -eq 0 ] && ! touched
	result $? "$way: no machine of the user's is used, nothing is written"
	UNCORE_REPORTS=$tmp/reports as_nobody "$tmp/uncore" metrics -c sandybridge-ep memory_read
	grep -q '^memory_read_bytes' "$tmp/out" && ! grep -q 'Verified' "$tmp/out"
	result $? "$way: reports of the user's are not believed"
done
# ---- the simulator is code: it comes from beside the library, whatever the program is called

mkdir "$tmp/beside" "$tmp/attacker"
cp "$BUILD/tests/opens_simulated" "$tmp/beside"
ln -s ../beside/opens_simulated "$tmp/attacker/program"
if cp "$BUILD/common/.libs/libuncore-sim.so" "$tmp/beside" 2>"$tmp/err" &&
	cp "$BUILD/tests/.libs/other_simulator.so" "$tmp/attacker/libuncore-sim.so" 2>>"$tmp/err"; then
	"$tmp/attacker/program" >"$tmp/out" 2>"$tmp/err"
	[ "$(cat "$tmp/out")" = sandybridge-ep ]
	result $? "a link to the program in a folder with another simulator: its own is loaded"
	for way in set-user-id "file capabilities"; do
		chmod 755 "$tmp/beside/opens_simulated"
		if [ "$way" = set-user-id ]; then
			chmod 4755 "$tmp/beside/opens_simulated"
		elif ! setcap cap_sys_rawio+ep "$tmp/beside/opens_simulated" 2>"$tmp/err"; then
			number=$((number + 1))
			echo "ok $number - privileges: $way # SKIP setcap: $(head -n 1 "$tmp/err")"
			continue
		fi
		as_nobody "$tmp/attacker/program"
		[ "$(cat "$tmp/out")" = "a program with raised privileges gets no simulated machine" ]
		result $? "$way: no simulator is loaded"
	done
else
	for _ in 1 2 3; do
		number=$((number + 1))
		echo "ok $number - privileges: simulator # SKIP the shared objects were not built"
	done
fi
echo "1..$number"
