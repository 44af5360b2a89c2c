#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The plugin in a real collectd that writes into a real carbon-cache. TAP on stdout.
# BUILD: the build directory (absolute).
set -u
: "${SRCDIR:=$(cd "$(dirname "$0")/../.." && pwd)}"
area=collectd
. "$(dirname "$0")/collectd.inc"

series() # HOST: names of the plugin's series
{
	find "$tmp/carbon/whisper/$1" -path '*/intel_uncore-*.wsp' |
		sed 's,.*/intel_uncore-,,; s,\.wsp$,,' | LC_ALL=C sort
}

steady() # HOST PATH: above 0, and none further than 20 % from the mean
{
	points "$1" "$2" | tee "$tmp/points" | jq -es '.[0] | length >= 3 and
		(add / length) as $m | all(.[]; . > 0 and (. / $m - 1 | fabs) <= 0.2)' >/dev/null ||
		{ cat "$tmp/points"; return 1; }
}

has_series() # HOST NAME...: these and no others
{
	host=$1
	shift
	printf '%s\n' "$@" | LC_ALL=C sort >"$tmp/expected"
	series "$host" | diff "$tmp/expected" -
}

# ---- tests

# The plugin's errors are these; collectd and its other plugins live.
fails() # HOST SENTENCE...
{
	host=$1
	shift
	wait_for 30 enough "$host" load/load/shortterm 2 ||
		{ cat "$tmp/$host/log" "$tmp/$host/out"; return 1; }
	kill -0 "$(cat "$tmp/$host/pid")" || return 1
	stop "$host"
	grep '^\[error\] .*_u' "$tmp/$host/log" >"$tmp/errors"
	{
		printf '[error] %s\n' "$@"
		echo "[error] Initialization of plugin \`intel_uncore' failed with status -1. Plugin" \
			"will be unloaded."
	} | diff - "$tmp/errors" && [ -z "$(series "$host")" ]
}

bytes_of_both_sockets()
{
	mean story intel_uncore-simulated-socket0/total_bytes-memory_read_bytes
	mean story intel_uncore-simulated-socket1/total_bytes-memory_read_bytes
}

agrees_with_tool()
{
	UNCORE_SIM=emerald-rapids "$uncore" stat -j -m memory_read_bytes -d 2 >"$tmp/stat" || return 1
	cat "$tmp/stat"
	near "$(bytes_of_both_sockets | jq -s add)" \
		"$(jq -s 'last | .metrics.memory_read_bytes / .interval' "$tmp/stat")" 20
}

# A line of DRAM is 64 bytes.
bytes_are_lines()
{
	near "$(mean story intel_uncore-simulated-socket0/total_bytes-memory_read_bytes)" \
		"$(mean story intel_uncore-simulated-socket0/total_events-imc-CAS_COUNT-RD | jq '. * 64')" 1
}

# Each interval has a value, of all passes, and the rate is right.
measured_in_turn()
{
	passes=$(sed -n 's/.* series, passes: \([0-9]*\).*/\1/p' "$tmp/turns/log")
	values=$(count turns intel_uncore-simulated-socket0/total_events-imc-CAS_COUNT-RD)
	intervals=$(count turns load/load/shortterm)
	echo "passes $passes, values $values, intervals $intervals"
	[ "$passes" -ge 2 ] && [ $((values * passes)) -gt "$intervals" ] &&
		near "$(mean turns intel_uncore-simulated-socket0/total_events-imc-CAS_COUNT-RD)" \
			"$(mean story intel_uncore-simulated-socket0/total_events-imc-CAS_COUNT-RD)" 10
}

# What is missing, and why: a line for the series, which is sent or not as the options say.
partial_sums()
{
	hidden="PCI function 10.5 (8086:3cb5) is not visible: hidden by the BIOS, or this machine has none"
	line="[warning] $p simulated-socket1/memory_read_bytes: partial sum, without imc3 (socket 1): $hidden"
	for host in partial whole; do
		[ "$(grep '^\[warning\]' "$tmp/$host/log" | grep -vc ': late: ')" = 1 ] ||
			{ cat "$tmp/$host/log"; return 1; }
	done
	grep -Fqx "$line" "$tmp/partial/log" && grep -Fqx "$line; not sent (PartialSums false)" \
		"$tmp/whole/log" &&
		has_series partial simulated-socket0/total_bytes-memory_read_bytes \
			simulated-socket1/total_bytes-memory_read_bytes &&
		has_series whole simulated-socket0/total_bytes-memory_read_bytes
}

links() # what PerUnit makes of upi.CLOCKTICKS: each link, beside the sum
{
	echo simulated-socket0/total_events-upi-CLOCKTICKS
	UNCORE_SIM=emerald-rapids,sockets=1 "$uncore" units -j | jq -r '.[] |
		select(.unit == "upi" and .available) | "simulated-socket0-upi\(.index)/total_events-upi-CLOCKTICKS"'
}

# ---- PCIe devices, as machine emerald-rapids-devices-1s has them on the stacks of a socket

written=total_bytes-pcie_write_bytes
stack=intel_uncore-simulated-socket0-iio3

ports_with_devices() # of stack 3, which has drives below four ports, and what is below: series of HOST as they should be
{
	for port in 0 2 4 6; do
		for metric in pcie_read_bytes pcie_write_bytes pcie_outbound_write_bytes; do
			echo "simulated-socket0-iio3-port$port/total_bytes-$metric"
		done
	done
	echo simulated-socket0-iio3/$written
}

# Their names are of the place; what drivers call the devices is in the map.
by_port()
{
	ports_with_devices | LC_ALL=C sort >"$tmp/expected"
	series ports | grep 'iio3[-/]' | diff "$tmp/expected" - || return 1
	series ports | grep -q 'iio0-port0-1-2/total_bytes-pcie_read_bytes' || return 1
	for metric in pcie_read_bytes pcie_write_bytes pcie_outbound_write_bytes; do
		echo "simulated-socket0/total_bytes-$metric" # the sum is beside them
	done | LC_ALL=C sort >"$tmp/sums"
	series ports | grep 'socket0/total_bytes-pcie' | diff "$tmp/sums" - || return 1
	! series ports | grep 'total_bytes-.*device'
}

devices_are_mapped()
{
	jq -e '.["simulated-socket0-iio3-port0"] == "nvme2" and .["simulated-socket0-iio3-port6"] == "nvme5" and
		.["simulated-socket0-iio1-port0"] == "mlx5_0 eth0 mlx5_1 eth1 0000:0d:00.2" and length > 8' "$tmp/devices"
}

# By workload.tbl 0.6 of a stack's bytes are of its first port, the rest of that in the middle.
shares_of_ports()
{
	all=$(mean ports $stack/$written)
	near "$(mean ports $stack-port0/$written)" "$(jq -n "$all * 0.6")" 1 &&
		near "$(mean ports $stack-port4/$written)" "$(jq -n "$all * 0.4")" 1 &&
		for port in 0 2 4 6; do
			mean ports $stack-port$port/$written
		done | jq -s add >"$tmp/sum" && near "$(cat "$tmp/sum")" "$all" 1
}

# Where it is not known what is below, each stack is a series: together they are the socket.
stacks_are_the_socket()
{
	[ "$(series unknown | grep -c "iio[0-9]*/$written")" = 8 ] &&
		! series unknown | grep gauge- || return 1
	log_has unknown "[info] $p it is not known what is below iio0 (socket 0): the kernel does not tell which root bus the stack has" &&
		[ "$(grep -c 'it is not known what is below' "$tmp/unknown/log")" = 1 ] || return 1
	series unknown | grep -- -iio | while read -r name; do
		mean unknown "intel_uncore-$name"
	done | jq -s add >"$tmp/sum"
	near "$(cat "$tmp/sum")" "$(mean unknown intel_uncore-simulated-socket0/$written)" 5
}

# A machine whose registers are files, as those of a real one are to the plugin.
files_start()
{
	rooms="$rooms $tmp/room"
	"$fuse" sandybridge-ep "$tmp/room" 2>"$tmp/room.log" &
	pids="$pids $!"
	wait_for 10 test -e "$tmp/room/proc/cpuinfo" || { cat "$tmp/room.log"; return 1; }
	UNCORE_SYSROOT=$tmp/room
	export UNCORE_SYSROOT
	start files 'PartialSums true' 'Metric "memory_read_bytes"'
	unset UNCORE_SYSROOT
}

channel() # CONTROL: a neighbour writes it to the four counters of imc1 of socket 0
{
	for register in 0xd8 0xdc 0xe0 0xe4; do
		echo "poke /sys/bus/pci/devices/0000:7f:10.1/config $register $1"
	done >"$tmp/neighbour"
	cat "$tmp/neighbour" >"$tmp/room/control"
}

# By the workload of the tables, 4 * 0.6755e8 lines a second. What is sent is that, or of three channels
# and told: no gap, no 0, no other's event (0x400c04: writes).
neighbours()
{
	path=intel_uncore-socket0/total_bytes-memory_read_bytes
	wait_for 30 enough files $path 2 && channel 0x400c04 &&
		wait_for 30 log_has files "[warning] $p socket0/memory_read_bytes: partial sum, without imc1 (socket 0): imc.CAS_COUNT:RD:socket=0: somebody else has programmed CTL3 of imc1 (socket 0) while it was counting: it holds 0x400c04 = imc.CAS_COUNT:WR" ||
		return 1
	before=$(count files $path)
	wait_for 30 enough files $path $((before + 2)) && channel 0 &&
		wait_for 60 log_has files "socket0/memory_read_bytes: whole again" && stop files || return 1
	points files $path | tee "$tmp/points" |
		jq -es '.[0] | all(.[]; . / (2.702e8 * 64) - 1 | fabs < 0.5)' >/dev/null ||
		{ cat "$tmp/points"; return 1; }
	! grep 'no value\|Will suspend it' "$tmp/files/log"
}

# A function that gives errors from now on: its socket's sum goes on without it, said so, and the other
# socket's as before. Where all do it is tried again.
failing_function()
{
	function=/sys/bus/pci/devices/0000:7f:10.5/config
	echo reset >"$tmp/room/control"
	UNCORE_SYSROOT=$tmp/room
	export UNCORE_SYSROOT
	start failing 'Metric "memory_read_bytes"'
	unset UNCORE_SYSROOT
	path=intel_uncore-socket1/total_bytes-memory_read_bytes
	wait_for 30 enough failing $path 2 || return 1
	echo "fail read $function - EIO" >"$tmp/room/control"
	wait_for 30 log_has failing "[warning] $p socket0/memory_read_bytes: partial sum, without imc3 (socket 0): " &&
		before=$(count failing $path) && wait_for 30 enough failing $path $((before + 2)) || return 1
	echo 'fail read /sys/bus/pci/devices/*/config - EIO' >"$tmp/room/control"
	wait_for 30 log_has failing "; retried in each interval" && before=$(count failing $path) &&
		echo reset >"$tmp/room/control" && wait_for 30 enough failing $path $((before + 2)) &&
		stop failing && ! grep -F 'Will suspend it' "$tmp/failing/log"
}

# Waits, with one line in the log and no values, while intervals pass.
waits() # HOST SENTENCE
{
	wait_for 30 enough "$1" load/load/shortterm 4 || { cat "$tmp/$1/log" "$tmp/$1/out"; return 1; }
	grep '^\[error\] .*_u' "$tmp/$1/log" >"$tmp/errors"
	echo "[error] $2; uncore doctor says more; retried in each interval" >"$tmp/expected"
	diff "$tmp/expected" "$tmp/errors" && [ -z "$(series "$1")" ]
}

# Then it counts, and says so once.
counts() # HOST PATH
{
	wait_for 30 enough "$1" "$2" 3 && stop "$1" || { cat "$tmp/$1/log"; return 1; }
	[ "$(grep -c 'counting again' "$tmp/$1/log")" = 1 ] &&
		[ "$(grep -c '^\[error\]' "$tmp/$1/log")" = 1 ]
}

# All counters of a channel are a neighbour's when collectd starts.
busy_at_first()
{
	echo reset >"$tmp/room/control"
	channel 0x400c04
	UNCORE_SYSROOT=$tmp/room
	export UNCORE_SYSROOT
	start busy 'Event "imc1.CAS_COUNT:RD:socket=0"'
	unset UNCORE_SYSROOT
	waits busy "$p imc1.CAS_COUNT:RD:socket=0: counter 0 of imc1 (socket 0) is programmed by somebody else (control 0x400c04 = imc.CAS_COUNT:WR) and no other counter is free for it" || return 1
	channel 0
	path=intel_uncore-socket0-imc1/total_events-imc-CAS_COUNT-RD
	counts busy $path || return 1
	points busy $path | tee "$tmp/points" |
		jq -es '.[0] | all(.[]; . / 0.6755e8 - 1 | fabs < 0.5)' >/dev/null ||
		{ cat "$tmp/points"; return 1; }
}

# The msr module is loaded after collectd has started.
module_later()
{
	mkdir -p "$tmp/nhm"
	rooms="$rooms $tmp/nhm"
	"$fuse" nehalem-ep "$tmp/nhm" 2>"$tmp/room.log" &
	pids="$pids $!"
	wait_for 10 test -e "$tmp/nhm/proc/cpuinfo" || { cat "$tmp/room.log"; return 1; }
	echo "hide /dev/cpu" >"$tmp/nhm/control"
	UNCORE_SYSROOT=$tmp/nhm
	export UNCORE_SYSROOT
	start later 'Metric "memory_read_bytes"' 'Access "msr"'
	unset UNCORE_SYSROOT
	wait_for 30 enough later load/load/shortterm 4 || { cat "$tmp/later/log"; return 1; }
	[ "$(grep -c '^\[error\]' "$tmp/later/log")" = 1 ] &&
		log_has later "no counter can be read: /dev/cpu/0/msr: no such file; remedy: load the msr module: modprobe msr; retried in each interval" || return 1
	echo clear >"$tmp/nhm/control"
	counts later intel_uncore-socket0/total_bytes-memory_read_bytes
}

clean_exit() # HOST
{
	stop "$1"
	echo "exit status $?" >"$tmp/status"
	grep -E '^\[(error|warning)\]' "$tmp/$1/log" | grep -v ': late: ' >>"$tmp/status"
	echo "exit status 0" | diff - "$tmp/status"
}

# The read of `collectd -T` under valgrind: nothing lost or misused by the plugin and the library.
no_leak()
{
	valgrind --quiet --leak-check=full --errors-for-leak-kinds=definite --num-callers=30 \
		--log-file="$tmp/valgrind" "$(command -v collectd)" -T -C "$tmp/units/collectd.conf" \
		>"$tmp/units/out" 2>&1
	[ "$(grep -c ' series, passes' "$tmp/units/log")" = 2 ] || { cat "$tmp/units/out"; return 1; }
	! grep -E 'intel_uncore|libuncore|unc_' "$tmp/valgrind"
}

mkdir -p "$tmp/root/proc" "$tmp/room"
printf '%s\t: %s\n' processor 0 vendor_id GenuineIntel 'cpu family' 6 model 207 'physical id' 0 \
	'core id' 0 >"$tmp/root/proc/cpuinfo" # of Emerald Rapids, and nothing else
carbon

simulate='Simulate "emerald-rapids"'
start story "$simulate" 'Metric "memory_read_bytes" "memory_write_bytes"' 'Metric "llc_miss_ratio"' \
	'Event "imc.CAS_COUNT:RD"'
start turns "$simulate" 'Event "imc.CAS_COUNT:RD" "imc.CAS_COUNT:WR" "imc.CAS_COUNT:ALL"' \
	'Event "imc.ACT_COUNT:ALL" "imc.PRE_COUNT:ALL" "imc.RPQ_INSERTS:PCH0"'
start units 'Simulate "emerald-rapids,sockets=1"' PerUnit\ true \
	'Event "imc3.CAS_COUNT:RD:thresh=1" "upi.CLOCKTICKS"'
hidden="Simulate \"$(broken sandybridge-ep-no-imc3@1)\""
start partial "$hidden" 'Metric "memory_read_bytes"'
start whole "$hidden" 'PartialSums false' 'Metric "memory_read_bytes"'
start metric "$simulate" 'Metric "memory_read_byte"'
start event "$simulate" 'Event "imc.CAS_CONT:RD"'
start umask "$simulate" 'Event "imc.CAS_COUNT:RDD"'
start option "$simulate" 'Metrics "memory_read_bytes"'
start number "$simulate" 'Metric 7'
start flag "$simulate" 'PerUnit "both"'
start digit "$simulate" 'PerDevice 3'
start ports 'Simulate "emerald-rapids-devices,sockets=1"' 'Group "PCIE"' 'PerDevice true' "DeviceMap \"$tmp/devices\"" \
	'<Cpu "emerald-rapids">' 'PerDevice false' 'Metric "pcie_write_bytes:unit=3"' '</Cpu>'
start unknown 'Simulate "emerald-rapids,sockets=1"' 'Metric "pcie_write_bytes"' 'PerDevice true'
start names "$simulate" 'Metric "memory_read_byte" "Memory_Write_Bytes" "memory_write_bytes"' \
	'<Cpu "emerald-rapid">' 'Metric "llc_misses"' '</Cpu>' '<Cpu "emerald-rapids">' 'Event "imc.CAS_COUNT:RD"' '</Cpu>'
start default "$simulate"
start machine 'Simulate "emerald-rapid"'
start method "$simulate" 'Access "direct,nonsense"'
export UNCORE_SYSROOT="$tmp/root"
start bare 'Event "pcu.CLOCKTICKS"'
unset UNCORE_SYSROOT

p="intel_uncore plugin:"
names=$("$uncore" cpus -j | jq -r 'map(.cpu) | join(", ")')
disabled="$p disabled by the errors in its configuration"
nothing="$p nothing is left to measure"
ok "a wrong metric" fails metric \
	"$p no metric or event memory_read_byte in emerald-rapids; nearest is memory_read_bytes; it is ignored" "$nothing"
ok "a wrong event" fails event \
	"$p no metric or event imc.CAS_CONT in emerald-rapids; nearest is imc.CAS_COUNT; it is ignored" "$nothing"
ok "a wrong umask" fails umask "$p imc.CAS_COUNT: no umask RDD; nearest is RD; it is ignored" "$nothing"
ok "a wrong option" fails option \
	"$p no option Metrics; options are Metric, Event, Group, PerUnit, PerDevice, Cpu, NodeSums, PartialSums, DeviceMap, Access, Simulate" "$disabled"
# All that the plugin takes is explained.
options_explained()
{
	sed -n 's/.*no option Metrics; options are //p' "$tmp/option/log" | tr -d ' ' | tr ',' '\n' >"$tmp/options"
	[ "$(wc -l <"$tmp/options")" -ge 10 ] || { cat "$tmp/options"; return 1; }
	while read -r option; do
		for file in collectd-intel_uncore.5 README.md intel_uncore.conf; do
			grep -Eq "[^A-Za-z]$option " "$SRCDIR/collectd_plugin/$file" || { echo "$file lacks $option"; return 1; }
		done
	done <"$tmp/options"
}
ok "the manual, README and configuration have all options" options_explained
ok "a number in place of a name" fails number "$p Metric takes names in quotes" "$disabled"
ok "a word in place of a boolean" fails flag "$p Cannot parse string value \`both' of the \`PerUnit' option as a boolean value." "$disabled"
ok "a number in place of a boolean" fails digit "$p The \`PerDevice' option requires exactly one boolean argument." "$disabled"
ok "a wrong machine to simulate" fails machine \
	"$p there is no simulated machine 'emerald-rapid'; nearest is emerald-rapids; there are: $names, and machines of 'uncore gather' by their path, like ./FILE"
# A wrong name, a CPU that is none, one name twice: a line each; what is right is measured.
wrong_names()
{
	path=intel_uncore-simulated-socket1/total_bytes-memory_write_bytes
	wait_for 30 enough names $path 2 && stop names || { cat "$tmp/names/log" "$tmp/names/out"; return 1; }
	grep -E '^\[(error|warning)\]' "$tmp/names/log" | grep -v ': late: ' >"$tmp/errors"
	cat >"$tmp/expected" <<-EOF
		[error] $p no metric or event memory_read_byte in emerald-rapids; nearest is memory_read_bytes; it is ignored
		[warning] $p simulated-socket0/memory_write_bytes is configured twice; it is sent once
		[warning] $p simulated-socket1/memory_write_bytes is configured twice; it is sent once
		[error] $p <Cpu>: no CPU emerald-rapid; nearest is emerald-rapids; there are tables for $names; the block is ignored
	EOF
	diff "$tmp/expected" "$tmp/errors" && has_series names \
		simulated-socket0/total_bytes-memory_write_bytes simulated-socket1/total_bytes-memory_write_bytes \
		simulated-socket0/total_events-imc-CAS_COUNT-RD simulated-socket1/total_events-imc-CAS_COUNT-RD
}
ok "wrong names: a line each, the rest goes on" wrong_names

# Without a name in the configuration: the group OVERVIEW (eventtables/groups.tbl), on both sockets, in one pass.
default_set()
{
	wait_for 30 enough default intel_uncore-simulated-socket0/total_bytes-memory_read_bytes 2
	log_has default ' series, passes: 1' && has_series default $(for socket in 0 1; do
		printf "simulated-socket$socket/%s\n" total_bytes-memory_read_bytes total_bytes-memory_write_bytes \
			gauge-memory_bandwidth total_bytes-link_tx_bytes total_bytes-link_rx_bytes \
			percent-link_utilization total_bytes-pcie_read_bytes total_bytes-pcie_write_bytes \
			total_events-llc_misses percent-llc_miss_ratio frequency-uncore_frequency_hz
	done)
}
ok "the default set" default_set
no_module()
{
	wait_for 30 enough bare load/load/shortterm 4 && stop bare || { cat "$tmp/bare/log"; return 1; }
	echo "[error] $p no counter can be read: /dev/cpu/0/msr: no such file; remedy: load the msr module: modprobe msr; retried in each interval" >"$tmp/expected"
	grep '^\[error\]' "$tmp/bare/log" | diff "$tmp/expected" - && [ -z "$(series bare)" ]
}
ok "no msr module: one line, no values" no_module
ok "a method that is none" log_has method "[error] $p no access method 'nonsense'; there are "

ok "values arrive" wait_for 30 enough story intel_uncore-simulated-socket1/total_bytes-memory_write_bytes 5
ok "the log says SIMULATED" log_has story \
	"[notice] $p SIMULATED Emerald Rapids: the values are not of this machine"
ok "a series for each metric and event and socket" has_series story \
	simulated-socket0/percent-llc_miss_ratio simulated-socket1/percent-llc_miss_ratio \
	simulated-socket0/total_bytes-memory_read_bytes simulated-socket1/total_bytes-memory_read_bytes \
	simulated-socket0/total_bytes-memory_write_bytes simulated-socket1/total_bytes-memory_write_bytes \
	simulated-socket0/total_events-imc-CAS_COUNT-RD simulated-socket1/total_events-imc-CAS_COUNT-RD
for name in simulated-socket0/total_bytes-memory_read_bytes simulated-socket1/total_bytes-memory_write_bytes \
	simulated-socket0/percent-llc_miss_ratio; do
	ok "$name is above 0 and steady" steady story "intel_uncore-$name"
done
ok "bytes agree with column commands" bytes_are_lines
ok "bytes agree with uncore stat" agrees_with_tool
ok "PerUnit: a series for each unit" has_series units \
	simulated-socket0-imc3/total_events-imc-CAS_COUNT-RD-thresh_1 $(links)
ok "values of ports arrive" wait_for 30 enough ports $stack-port4/$written 3
ok "PerDevice: a series for each port, called after its place" by_port
ok "DeviceMap: what is below each port" devices_are_mapped
ok "two ports have six and four tenths of their stack" shares_of_ports
ok "values of stacks whose devices are not known arrive" wait_for 30 enough unknown $stack/$written 3
ok "the stacks add up to the socket" stacks_are_the_socket
ok "a clean exit with ports" clean_exit ports
ok "values of a partial sum arrive" wait_for 30 enough partial \
	intel_uncore-simulated-socket1/total_bytes-memory_read_bytes 2
ok "values of a whole one arrive" wait_for 30 enough whole \
	intel_uncore-simulated-socket0/total_bytes-memory_read_bytes 2
ok "partial sums: told, and not sent if unwanted" partial_sums
ok "several passes: values in each interval, right rates" measured_in_turn
ok "a clean exit" clean_exit story
ok "a clean exit with several passes" clean_exit turns
ok "no leak, no misuse of memory" no_leak
fuse=$BUILD/tests/fuse/fuse_machine
if [ -x "$fuse" ] && [ -w /dev/fuse ] && command -v fusermount3 >/dev/null; then
	ok "a machine of files" files_start
	ok "a neighbour takes all counters of a channel, and goes: a partial sum, true rates, no gap" neighbours
	ok "a function that fails: a partial sum, and all other series" failing_function
	ok "counters that a neighbour has at first: one line, then true rates" busy_at_first
	ok "a module that is loaded later: one line, then values" module_later
else
	for name in "a machine of files" "a neighbour" "a function that fails" "busy at first" "a module"; do
		number=$((number + 1))
		echo "ok $number - collectd: $name # SKIP FUSE cannot be used here"
	done
fi

echo "1..$number"
exit $((failures > 0))
