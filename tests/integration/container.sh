#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The command in a container: namespaces of its own for mounts and processes, and a root with nothing
# in it but what is mounted. The machine that it is let see is one of files (FUSE), at the places of
# the real one: what docs/rights.md tells to mount is enough to count, and the doctor tells what is missing.
. "$(dirname "$0")/fuse.inc"
[ "$(id -u)" -eq 0 ] || skip_all "not root: no namespaces can be made"
command -v unshare >/dev/null || skip_all "unshare is missing (package util-linux)"
unshare -mpf true 2>/dev/null || skip_all "namespaces cannot be made here"

start_machine sandybridge-ep
box=$dir/box
mkdir "$box" "$dir/run"

# In the namespaces: makes the root of what $1 lists, and runs the command in it.
cat >"$dir/inside" <<'END'
set -e
what=$1 box=$2 machine=$3
shift 3
mount --make-rprivate /
mount -t tmpfs none "$box"
bind() # FROM TO
{
	if [ -d "$1" ]; then
		mkdir -p "$2"
	else
		mkdir -p "${2%/*}" && : >"$2"
	fi
	mount --bind "$1" "$2"
}
for dir in /usr /lib /lib64 "$BUILD"; do
	[ ! -e "$dir" ] || bind "$dir" "$box$dir"
done
mkdir -p "$box/proc" "$box/dev" "$box/tmp"
mount -t proc proc "$box/proc"
: >"$box/dev/null" && mount --bind /dev/null "$box/dev/null"
bind "$machine/clock" "$box/tmp/clock"
mount --bind "$machine/proc/cpuinfo" "$box/proc/cpuinfo"
for one in $what; do
	case $one in
	/sys) bind "$machine/sys" "$box/sys" ;;
	sys-ro) bind "$machine/sys" "$box/sys" && mount -o remount,bind,ro "$box/sys" ;;
	/dev/cpu) bind "$machine/dev/cpu" "$box/dev/cpu" ;;
	/run/libuncore) bind "$machine/../run" "$box/run/libuncore" ;;
	esac
done
exec chroot "$box" "$@"
END

contained() # "MOUNTS" COMMAND...: output in $dir/out and $dir/err
{
	mounts=$1
	shift
	BUILD=$(cd "$BUILD" && pwd) unshare -mpf sh "$dir/inside" "$mounts" "$box" "$root" \
		env LD_LIBRARY_PATH="$(cd "$BUILD" && pwd)/common/.libs" VIRTUAL_CLOCK=/tmp/clock \
		LD_PRELOAD="$(readlink -f "$clock")" "$(readlink -f "$uncore")" "$@" >"$dir/out" 2>"$dir/err"
	status=$?
}

row() # CHECK FILTER: of the doctor's rows
{
	jq -e --arg check "$1" "[.[] | select(.check == \$check)] | length > 0 and any(.[]; $2)" "$dir/out" >/dev/null
}

# A memory channel of sandybridge-ep's workload, (2.7e8 + 0.002e8) / 4 in a second, and a clock.
truth=imc0.CAS_COUNT:RD:socket=0=67550000,cbo0.CLOCKTICKS:socket=0=2700000000
names=imc0.CAS_COUNT:RD:socket=0,cbo0.CLOCKTICKS:socket=0
contained "/sys /dev/cpu /run/libuncore" stat -j -d 1 -e "$names"
exactly "$truth"
result $? "with /sys, /dev/cpu and /run/libuncore: exact counts"
contained "/sys /dev/cpu" doctor -j
row container '.ok and .detail == "this is a container (by its namespaces)"' && row msr .ok && row pci .ok
result $? "doctor: a container that has all"

contained "/sys" doctor -j
[ $status -eq 1 ] && row msr '(.ok | not) and (.remedy | contains("give the container the devices: --device /dev/cpu"))'
result $? "doctor: without /dev/cpu, the container is named, not the module alone"
contained "sys-ro /dev/cpu" doctor -j
[ $status -eq 1 ] && row container '(.ok | not) and .remedy == "mount the machine'\''s: -v /sys:/sys"'
result $? "doctor: a read-only /sys"
contained "sys-ro /dev/cpu" stat -j -d 1 -e "$names"
[ $status -eq 1 ] && grep -q '[a-z] [a-z]' "$dir/err" && [ ! -s "$dir/out" ]
result $? "stat: a read-only /sys is refused, with a sentence"
contained "/dev/cpu" doctor -j
[ $status -eq 1 ] && row pci '(.ok | not)'
result $? "doctor: without /sys"
echo "1..$number"
