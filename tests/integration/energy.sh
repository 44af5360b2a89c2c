#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Joules by the kernel's PMU power: a made-up one on the node of broker.inc, whose event counts the CPU's clock in ns.
# With the scale that the kernel writes (2^-32 J) a second is 10^9 / 2^32 = 0.232830643... J, by which each value is told.
title=energy
. "$SRCDIR/tests/integration/result.inc"
. "$SRCDIR/tests/integration/broker.inc"

[ "$(id -u)" -eq 0 ] && unshare -m true 2>/dev/null || { skip "all of it" "needs root and a mount namespace"; finish; exit; }
command -v jq >/dev/null || { skip "all of it" "jq is missing"; finish; exit; }
if [ -z "${UNC_BROKER_NODE-}" ]; then # again, in a namespace of its own
	rm -rf "$tmp"
	UNC_BROKER_NODE=1 exec unshare -m sh "$0"
fi
build_soft
result "the library but for one number"
cp "$UNCORE" "$soft/uncore" && UNCORE=$soft/uncore
begin_node || { result "a node"; finish; exit; }
mkdir -m 700 "$tmp/user" && chown $user "$tmp/user"
export LD_LIBRARY_PATH="$soft"

# The events of the PMU; cpumask CPUS.
power() # CPUS DOMAIN...
{
	rm -rf "$tmp/devices/power"
	mkdir -p "$tmp/devices/power/events"
	echo 1 >"$tmp/devices/power/type"
	echo "$1" >"$tmp/devices/power/cpumask"
	shift
	for _domain; do
		echo event=0x00 >"$tmp/devices/power/events/energy-$_domain"
		echo 2.3283064365386962890625e-10 >"$tmp/devices/power/events/energy-$_domain.scale"
		echo Joules >"$tmp/devices/power/events/energy-$_domain.unit"
	done
}
# A value is of the time that it is told for, exactly: 1e9 * 2^-32 J a second, but for what the clock of the event and
# that of the session differ.
joules() # NAME HOW_MANY
{
	jq -se --arg name "$1" --argjson n "$2" 'map(select(.name == $name)) | length >= $n and
		all(.measure == "joules" and .value > 0.2328 * 0.98 * .interval and .value < 0.2329 * 1.02 * .interval)' "$tmp/out" >/dev/null
}

run stat -d 0.2 -m package_energy_joules
[ $status -eq 1 ] && grep -q "the kernel has no PMU power: its driver .* is not loaded or does not know this CPU" "$tmp/err"
result "no PMU: refused, with the reason"
power 0 pkg
run stat -d 0.5 --json-lines -m package_energy_joules
joules package_energy_joules 1
result "the package"
run stat -d 0.2 -m dram_energy_joules
[ $status -eq 1 ] && grep -q "the kernel's PMU power has no energy-ram: this CPU has no such domain" "$tmp/err"
result "a domain that is missing: refused, with the reason"
run metrics
grep -q '^package_energy_joules  *joules  *Energy of the sockets' "$tmp/out" &&
	grep -q '^dram_energy_joules  *joules  *not available: .* has no energy-ram' "$tmp/out"
result "metrics tells which there are"
power "0-$(($(nproc) - 1))" pkg ram
run stat -d 0.5 --json-lines -m package_energy_joules,dram_energy_joules -e imc0.DCLOCKTICKS
joules package_energy_joules 1 && joules dram_energy_joules 1
result "a cpumask of all CPUs: once a package, beside events"
run stat -I 100 -d 0.6 --per-socket --json-lines -m package_energy_joules
joules package_energy_joules 5 && jq -se 'all(.socket == 0)' "$tmp/out" >/dev/null
result "each interval has its own, by socket"
run stat -d 0.3 --json-lines -m package_energy_joules:socket=0
joules package_energy_joules 1 && jq -se 'all(.socket == 0)' "$tmp/out" >/dev/null
result "socket= is taken"
# Events of the software clock are no reads of memory, which bytes for each joule would need.
run groups -j ENERGY
jq -e '.[0].items |
	contains(["package_energy_joules", "dram_energy_joules", "memory_bytes_per_joule"])' "$tmp/out" >/dev/null
result "group ENERGY has them"

echo 1e-6 >"$tmp/devices/power/events/energy-pkg.scale"
run stat -d 0.3 --json-lines -m package_energy_joules
jq -se 'length == 1 and all(.value > 980 * .interval and .value < 1020 * .interval)' "$tmp/out" >/dev/null
result "the scale is that of sysfs"
for scale in 0 -1 nonsense ""; do
	echo "$scale" >"$tmp/devices/power/events/energy-pkg.scale"
	run stat -d 0.2 -m package_energy_joules
	[ $status -eq 1 ] && grep -q "the scale of energy-pkg is '$scale'" "$tmp/err"
	result "a scale '$scale' is refused"
done
power 0 pkg
echo event=0x100 >"$tmp/devices/power/events/energy-pkg"
run stat -d 0.2 -m package_energy_joules
[ $status -eq 1 ] && grep -q "energy-pkg is 'event=0x100'" "$tmp/err"
result "more than 8 bits are refused"
power 0 pkg
echo Watts >"$tmp/devices/power/events/energy-pkg.unit"
run stat -d 0.2 -m package_energy_joules
[ $status -eq 1 ] && grep -q "does not say that energy-pkg is in Joules" "$tmp/err"
result "another unit is refused"
power "" pkg
run stat -d 0.2 -m package_energy_joules
[ $status -eq 1 ] && grep -q "has no CPU of socket 0" "$tmp/err"
result "a cpumask without a CPU of the socket is refused"
power 0 pkg
if [ "$(cat /proc/sys/kernel/perf_event_paranoid)" -ge 1 ]; then
	as_user timeout 60 "$UNCORE" stat -d 0.2 -m package_energy_joules >"$tmp/out" 2>"$tmp/err"
	[ $? -eq 1 ] && grep -q "perf_event_paranoid" "$tmp/err"
	result "a user without rights is told what is missing"
else
	skip "a user without rights" "everybody may open events here"
fi

# The broker gives nothing of it: it is no uncore PMU.
echo 'allow units=imc' >"$tmp/policy"
start_broker "$soft/uncored" --policy "$tmp/policy"
cp "$SRCDIR/tests/integration/broker_client.py" "$soft"
timeout 60 /usr/bin/python3 -c '
import sys; sys.path.insert(0, sys.argv[1])
import broker_client as c
c.refused(c.request(sets=[c.one_set(pmu=b"power")]), "it is not one of the uncore driver")' "$soft" >"$tmp/out" 2>"$tmp/err"
result "nothing of it through the broker"
stop_broker
finish
