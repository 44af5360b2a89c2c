#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# uncore gather: a machine as a text file, gathered by real system calls from a machine that FUSE shows, and
# replayed without it: what the command says of both is the same, byte by byte. Of a CPU of each kind (kinds.inc), with
# ALL=1 of each.
. "$(dirname "$0")/fuse.inc"
. "$(dirname "$0")/kinds.inc"
gathered=$dir/gathered
BUILD=$(cd "$BUILD" && pwd)
export LD_LIBRARY_PATH="$BUILD/common/.libs${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"

replay()
{
	UNCORE_SYSROOT=$gathered UNCORE_RUN=$dir/run "$uncore" "$@" >"$dir/again" 2>"$dir/again.err"
	again=$?
	sed -i "s|$gathered|$root|g" "$dir/again" "$dir/again.err"
	return $again
}

# What the machine says, and its dump. Where something counts, but for counters: time passes.
same() # [REGEX of lines that are left out]
{
	rm -f "$gathered"
	real gather -j "$gathered" || return 1
	for _words in "units -j" "doctor -j" "counters -j" "registers -j --values"; do
		# shellcheck disable=SC2086 # words
		real $_words
		# shellcheck disable=SC2086 # words
		replay $_words
		[ -z "${1-}" ] || sed -i "/$1/d" "$dir/out" "$dir/again"
		if [ $again -ne $status ] || ! cmp -s "$dir/out" "$dir/again" ||
			! cmp -s "$dir/err" "$dir/again.err"; then
			echo "# $_words: status $status, then $again"
			diff "$dir/out" "$dir/again" | cut -c1-300 | sed 's/^/# /' | head
			diff "$dir/err" "$dir/again.err" | sed 's/^/# /' | head -4
			return 1
		fi
	done
}

cpus=$(kinds_of_cpus)
n_cpus=$(echo "$cpus" | wc -w)
echo "1..$((n_cpus + 11))"
for cpu in $cpus; do
	start_machine "$cpu"
	same
	result $? "$cpu: what the machine says, and its dump"
done

# ---- what cannot be read, and what somebody has programmed: Intel 327043-001, CAS_COUNT.RD of imc0

start_machine sandybridge-ep
control "fail read /dev/cpu/*/msr 0xd10 EIO" "fail open /sys/bus/pci/devices/0000:7f:10.1/config - EACCES" \
	"hide /sys/bus/pci/devices/0000:ff:10.4" "value /sys/bus/pci/devices/0000:7f:10.0/config 0xd8 0x400304"
same _CTR && replay counters -j && jq -e '.[0].event == "imc.CAS_COUNT:RD"' "$dir/again" >/dev/null
result $? "faults, a hidden function and a foreign counter"

control clear
same
UNCORE_SYSROOT=$gathered "$uncore" stat -d 1 -e imc.CAS_COUNT:RD >"$dir/again" 2>&1
[ $? -eq 1 ] && grep -q "the machine is a dump ($gathered), where nothing counts" "$dir/again" &&
	[ "$(wc -l <"$dir/again")" -eq 1 ]
result $? "a dump does not count"

UNCORE_SYSROOT=$gathered "$uncore" units >"$dir/again" && head -n 1 "$dir/again" | grep -q '^REPLAYED from a dump of 20'
result $? "a replay says what it is"

real gather "$gathered"
[ $status -eq 1 ] && grep -q "$gathered cannot be made: File exists; remove it, or give another name\$" "$dir/err" && ! [ -s "$dir/out" ]
result $? "a file that exists is left alone"
real gather -
[ $status -eq 2 ] && [ "$(cat "$dir/err")" = "uncore: gather: needs the name of a file, not '-'" ] && [ ! -e - ]
result $? "no file is called -"

UNCORE_SYSROOT=$gathered "$uncore" gather "$dir/other" 2>"$dir/err" >/dev/null
[ $? -eq 2 ] && grep -q "is a dump already" "$dir/err" && [ ! -e "$dir/other" ]
result $? "nothing is gathered from a dump"

# ---- devices: a machine that is replayed has them. Of Skylake-SP MSR 0x300 says which bus a stack has (LNX
# skx_iio_topology_cb: byte n is that of stack n, bit 63 says that they are valid).

devices=$dir/devices
mkdir -p "$devices/proc" "$devices/dev/cpu/0" "$devices/sys/bus/pci/devices" \
	"$devices/sys/devices/pci0000:16/0000:16:00.0/0000:17:00.0/infiniband/mlx5_0"
truncate -s 65536 "$devices/dev/cpu/0/msr"
printf '\000\026\000\000\000\000\000\200' | dd of="$devices/dev/cpu/0/msr" bs=1 seek=768 conv=notrunc 2>/dev/null
printf 'processor : 0\nvendor_id : GenuineIntel\ncpu family : 6\nmodel : 85\nmodel name : test\nstepping : 4\nphysical id : 0\ncore id : 0\n\n' \
	>"$devices/proc/cpuinfo"
echo 0x060400 >"$devices/sys/devices/pci0000:16/0000:16:00.0/class"
echo 0x020000 >"$devices/sys/devices/pci0000:16/0000:16:00.0/0000:17:00.0/class"
ln -s ../../../devices/pci0000:16/0000:16:00.0 ../../../devices/pci0000:16/0000:16:00.0/0000:17:00.0 "$devices/sys/bus/pci/devices"
UNCORE_SYSROOT=$devices "$uncore" gather "$dir/with-devices" >/dev/null &&
	UNCORE_SYSROOT=$dir/with-devices "$uncore" units -j |
	jq -e '.[] | select(.unit == "iio" and .index == 1) | [.bus, .devices] ==
		["0000:16", [{"port":0,"address":"0000:17:00.0","names":["mlx5_0"],"ports":[0]}]]' >/dev/null
result $? "the devices of a stack"

# ---- what is not told

control "text /proc/cmdline root=UUID=0f0f lockdown=integrity ip=10.9.8.7::nodename" \
	"text /proc/sys/kernel/hostname nodename"
rm -f "$gathered" && real gather "$gathered" && ! grep -aq 'nodename\|0f0f' "$gathered" &&
	tr '\n' ' ' <"$dir/out" | grep -qF "Reports go to $(sed -n 's/^UNC_REPORT_TO = //p' "$BUILD/Makefile")."
result $? "no name of the machine, nothing else of the kernel's command line; where reports go"

# ---- a user without rights, and a disk that is full

if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then
	chmod 755 "$dir" && chmod 644 "$gathered"
	real units -j && cp "$uncore" "$dir/uncore" && cp -L "$BUILD"/common/.libs/libuncore*.so* "$dir/" &&
		UNCORE_SYSROOT=$gathered LD_LIBRARY_PATH=$dir setpriv --reuid=65534 --clear-groups "$dir/uncore" units -j >"$dir/again" &&
		cmp "$dir/out" "$dir/again"
	result $? "a user without rights replays it"
	mkdir "$dir/small" && mount -t tmpfs -o size=4k none "$dir/small" 2>/dev/null
	if mountpoint -q "$dir/small"; then
		real gather "$dir/small/full"
		[ $status -eq 1 ] && grep -q "No space left" "$dir/err" && [ ! -e "$dir/small/full" ]
		result $? "a full disk keeps no half of a dump"
		umount "$dir/small"
	else
		result 0 "a full disk # SKIP no mount"
	fi
else
	result 0 "a user without rights # SKIP not root"
	result 0 "a full disk # SKIP not root"
fi

# ---- a simulated machine

simulated=$(broken emerald-rapids-no-imc1),clock=step
UNCORE_SIM=$simulated "$uncore" gather "$dir/simulated" >/dev/null &&
	UNCORE_SIM=$simulated "$uncore" registers -j --values >"$dir/out" &&
	UNCORE_SYSROOT=$dir/simulated "$uncore" registers -j --values >"$dir/again" &&
	cmp "$dir/out" "$dir/again" && UNCORE_SYSROOT=$dir/simulated "$uncore" units | grep -q '^SIMULATED'
result $? "a simulated machine, told to be one"
