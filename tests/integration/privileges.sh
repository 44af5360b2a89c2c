#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The command with more rights than its user: set-user-id root, then file capabilities, run by
# nobody with tables and a machine of their own making. A file stands for the MSRs of the machine.
: "${BUILD:=.}"
alone=$BUILD/tests/uncore_alone
unset UNCORE_SIM UNCORE_SYSROOT UNCORE_TABLES

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

# A machine with one socket, and tables whose filter is a register that no monitor has: the entry of
# system calls, MSR 0xC0000082.
root=$tmp/root tables=$tmp/tables msr=$tmp/root/dev/cpu/0/msr
mkdir -p "$root/proc" "$root/dev/cpu/0" "$root/sys" "$tables/boxed"
printf 'processor : 0\nvendor_id : GenuineIntel\ncpu family : 6\nmodel : 45\nmodel name : Box\nflags : fpu\nphysical id : 0\ncore id : 0\n' \
	>"$root/proc/cpuinfo"
truncate -s 4G "$msr"
echo 'cpu boxed "Boxed" family=6 models=45 discovery=fixed' >"$tables/cpus.tbl"
cat >"$tables/boxed/units.tbl" <<'END'
type box title="Box" "a box"
  access msr
  where base=0xD00 count=1
  part entry access=msr base=0xC0000080 count=1
  counters 1 width=44 max=8
  reg CTL[1] at=0x10 step=1 width=64 role=ctl
  reg CTR[1] at=0x16 step=1 width=64 role=ctr
  reg FILTER part=entry at=0x2 width=64 mask=0xFFFFFFFFFFFFFFFF
  field code CTL 7:0 "event"
  field en   CTL 22 "enable"
  field addr FILTER 31:0 "where system calls go"
  control enable=0x400000 active=0x400000 code=code
  start filters controls
  join  filters controls
  stop  restore
  leave restore
END
cat >"$tables/boxed/box.events" <<'END'
event PLAIN code=0x01 counters=0 "an event"
event ENTRY code=0x02 counters=0 uses=addr "another"
END
echo 'metric box.SUM unit=count kind=total formula="box.PLAIN" "an event"' >"$tables/boxed/metrics.tbl"
printf 'machine sockets=1 cores=1 model=45 tsc_hz=1e9 "Box"\nunit box present=0 clock=1e9\n' \
	>"$tables/boxed/workload.tbl"

# Registers of the stand-in that are not 0.
touched()
{
	for at in 3344 3221225602; do # 0xD10, 0xC0000082
		od -An -tx1 -j $at -N 8 "$msr"
	done | tr -d ' 0\n' | grep -q .
}

as_nobody() # COMMAND...
{
	UNCORE_SYSROOT=$root UNCORE_TABLES=$tables setpriv --reuid=65534 --regid=65534 \
		--clear-groups --inh-caps=-all "$@" >"$tmp/out" 2>"$tmp/err"
}

# ---- without more rights than its user, root: the variables count, the fence holds all the same

cp "$alone" "$tmp/uncore"
UNCORE_SYSROOT=$root UNCORE_TABLES=$tables "$tmp/uncore" units -j >"$tmp/out" 2>"$tmp/err"
[ $? -eq 0 ] && grep -q '"box"' "$tmp/out"
result $? "an ordinary program obeys the variables"
mkdir "$tmp/reports"
printf '{"cpu":"sandybridge-ep","simulated":false,"checks":[{"check":"memory_read_bytes of socket 0","verdict":"right"}]}\n' \
	>"$tmp/reports/report.json"
UNCORE_REPORTS=$tmp/reports "$tmp/uncore" metrics -c sandybridge-ep memory_read >"$tmp/out" 2>"$tmp/err"
grep -q '^memory_read_bytes .* Verified' "$tmp/out"
result $? "it believes reports of another folder"
UNCORE_SYSROOT=$root UNCORE_TABLES=$tables "$tmp/uncore" stat -d 0.05 -e box.ENTRY:addr=0x41 \
	>"$tmp/out" 2>"$tmp/err"
[ $? -ne 0 ] && grep -q 'msr 0xc0000082 on cpu 0 can be no register of a monitor' "$tmp/err" &&
	! touched
result $? "the fence holds for tables of a folder"
# Registers of other CPUs' monitors are none here: on Skylake-SP 0xD90 and its like are masks of the caches.
mkdir -p "$tmp/skylake/root"
cp -r "$root/." "$tmp/skylake/root"
cp -r "$tables" "$tmp/skylake"
sed -i 's/^model :.*/model : 85\nstepping : 4/' "$tmp/skylake/root/proc/cpuinfo"
sed -i 's/models=45/models=85/' "$tmp/skylake/tables/cpus.tbl"
sed -i 's/base=0xD00/base=0xDF1/; s/CTR\[1\] at=0x16/CTR[1] at=0x17/; s/base=0xC0000080/base=0xD8E/' "$tmp/skylake/tables/boxed/units.tbl"
UNCORE_SYSROOT=$tmp/skylake/root UNCORE_TABLES=$tmp/skylake/tables "$tmp/uncore" stat -d 0.05 \
	-e box.ENTRY:addr=0x41 >"$tmp/out" 2>"$tmp/err"
[ $? -ne 0 ] && grep -q 'msr 0xd90 on cpu 0 can be no register of a monitor' "$tmp/err" &&
	[ "$(od -An -tx1 -j 3472 -N 8 "$tmp/skylake/root/dev/cpu/0/msr" | tr -d ' 0\n')" = "" ]
result $? "the fence is that of the CPU at hand"
# A CPU that no table knows is not touched.
sed -i 's/^model :.*/model : 1/' "$tmp/skylake/root/proc/cpuinfo"
sed -i 's/models=85/models=1/' "$tmp/skylake/tables/cpus.tbl"
UNCORE_SYSROOT=$tmp/skylake/root UNCORE_TABLES=$tmp/skylake/tables "$tmp/uncore" stat -d 0.05 \
	-e box.PLAIN >"$tmp/out" 2>"$tmp/err"
[ $? -ne 0 ] && grep -q 'msr 0xe01 on cpu 0 is not touched: no table of this CPU is compiled in' "$tmp/err" &&
	[ "$(od -An -tx1 -j 3585 -N 8 "$tmp/skylake/root/dev/cpu/0/msr" | tr -d ' 0\n')" = "" ]
result $? "a CPU without a compiled table is not touched"

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
		for _ in 1 2 3 4; do
			number=$((number + 1))
			echo "ok $number - privileges: $way # SKIP setcap: $(head -n 1 "$tmp/err")"
		done
		continue
	fi
	as_nobody "$tmp/uncore" units -v
	grep -q 'UNCORE_TABLES is ignored: the program runs with raised privileges' "$tmp/err"
	result $? "$way: the variables are ignored, and a note says so"
	as_nobody "$tmp/uncore" units -j
	! grep -q '"box"' "$tmp/out"
	first=$?
	as_nobody "$tmp/uncore" stat -d 0.05 -e box.ENTRY:addr=0x41
	[ $? -ne 0 ] && [ $first -eq 0 ] && ! touched
	result $? "$way: no table and no machine of the user's is used, nothing is written"
	UNCORE_REPORTS=$tmp/reports as_nobody "$tmp/uncore" metrics -c sandybridge-ep memory_read
	grep -q '^memory_read_bytes' "$tmp/out" && ! grep -q 'Verified' "$tmp/out"
	result $? "$way: reports of the user's are not believed"
	cp -r "$tables" "$tmp/own"
	chown -R 65534 "$tmp/own"
	as_nobody "$tmp/uncore" units --tables "$tmp/own"
	[ $? -ne 0 ] && grep -q "$tmp/own belongs to user 65534: a program with raised privileges takes only what belongs to root" "$tmp/err"
	result $? "$way: tables of the user's are refused"
	rm -rf "$tmp/own"
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
