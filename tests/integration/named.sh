#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# PMUs that the kernel names and no table knows: a client CPU, an EPYC, an ARM server, Diamond Rapids, CXL memory, by the
# tool, PAPI, collectd and the broker. They are this kernel's software events behind folders of sysfs, in a mount
# namespace; each event has config 0, which counts a CPU's time in ns. The library is that of the build but for one
# number, as in broker.inc.
export COLUMNS=1000 # sentences stand on one line
title=named
. "$SRCDIR/tests/integration/result.inc"
. "$SRCDIR/tests/integration/broker.inc"
. "$SRCDIR/tests/integration/named.inc"

[ "$(id -u)" -eq 0 ] && unshare -m true 2>/dev/null || { skip "all of it" "needs root and a mount namespace"; finish; exit; }
[ "$(nproc)" -ge 2 ] || { skip "all of it" "needs two CPUs"; finish; exit; }
if [ -z "${UNC_NAMED_NODE-}" ]; then # again, in a namespace of its own
	rm -rf "$tmp"
	UNC_NAMED_NODE=1 exec unshare -m sh "$0"
fi
build_soft
result "the library and the broker but for one number"
cp "$UNCORE" "$soft/uncore" && UNCORE=$soft/uncore
export LD_LIBRARY_PATH="$soft" UNCORE_RUN="$tmp/run.own"
mount --make-rprivate / && chmod 755 "$tmp"
result "a node"

leave()
{
	umount /proc/cpuinfo "$devices" /sys/devices/system/cpu/cpu[01]/topology 2>/dev/null
}
trap 'leave; umount /run 2>/dev/null; [ -z "$broker" ] || kill "$broker" 2>/dev/null; rm -rf "$tmp"' EXIT

# enter TREE: this machine is another one from now on.
enter()
{
	leave
	named_root "$SRCDIR/tests/named/$1.tree" "$tmp/$1" 1 || return
	mount --bind "$tmp/$1/proc/cpuinfo" /proc/cpuinfo && mount --bind "$tmp/$1$devices" "$devices" || return
	for _cpu in 0 1; do
		mount --bind "$tmp/$1/sys/devices/system/cpu/cpu$_cpu/topology" "/sys/devices/system/cpu/cpu$_cpu/topology" || return
	done
}

said() { grep -q -e "$1" "$tmp/err" || grep -q -e "$1" "$tmp/out"; }

# counts TEXT NAME UNITS: it is called NAME, and each of so many units counts the time. On a busy machine time goes by between a
# start of one unit and that of another: half of it must be there.
counts()
{
	run stat --json -e "$1" -- sleep 0.2 && jq -e --arg name "$2" --argjson units "$3" '
		.time as $s | .events[$name] | . > $units * $s * 5e8 and . < $units * $s * 2e9' \
		"$tmp/out" >/dev/null
	result "$tree: $1 counts on $3 units"
}

for tree in client epyc arm diamond cxl; do
	enter $tree
	result "$tree: a machine"
	case $tree in
	client)
		counts uncore_imc_free_running.data_read uncore_imc_free_running.data_read 2
		counts uncore_imc_free_running_1/data_read/ uncore_imc_free_running1.data_read 1
		counts uncore_clock.RAW:event=0 uncore_clock.RAW:event=0 1
		counts "skl_unc_clock::clockticks" uncore_clock.clockticks 1
		run stat --json -e memory_read_bytes,uncore_imc_free_running.data_read -- sleep 0.1 &&
			jq -e '.metrics.memory_read_bytes == 64 * .events["uncore_imc_free_running.data_read"]' "$tmp/out" >/dev/null
		result "client: 6.1e-5 MiB are 64 bytes"
		run stat -e memory_bandwidth -- sleep 0.1 && said 'memory_bandwidth  *[0-9]'
		result "client: memory_bandwidth"
		run stat -e llc_lookups -- true
		[ $status -ne 0 ] && said "this CPU has no tables, and the kernel names no events"
		result "client: what no event tells is refused"
		;;
	epyc)
		counts amd_df.RAW:event=0 amd_df.RAW:event=0 1
		counts amd_l3/event=0/ amd_l3.RAW:event=0 2
		counts amd_l3.RAW:event=0:unit=1 amd_l31.RAW:event=0 1
		counts amd_umc_12/event=0/ amd_umc12.RAW:event=0 1
		# Config 6 is alignment faults, of which a whole machine has few: each event has its own count.
		run stat --json -e 'amd_df.RAW:event=0,amd_df.RAW:event=6' -- sleep 0.1 &&
			jq -e '.events["amd_df.RAW:event=0"] > 1e7 and .events["amd_df.RAW:event=6"] < 1e5' "$tmp/out" >/dev/null
		result "epyc: two events of a unit"
		run encode amd_df.RAW:event=0x1f87 && said 'amd_df/config .* 0x800000f00000087$'
		result "epyc: what the kernel is asked for"
		;;
	arm)
		counts arm_cmn.dtc_cycles arm_cmn.dtc_cycles 2
		counts arm_cmn_1/hnf_cache_miss,nodeid=0/ arm_cmn1.hnf_cache_miss:nodeid=0 1
		counts arm_dsu.l3d_cache arm_dsu.l3d_cache 1
		run stat -e arm_cmn.watchpoint_up -- true
		[ $status -ne 0 ] && said "wp_dev_sel=?', which has no number: RAW takes one"
		result "arm: an event that needs values"
		;;
	diamond)
		counts uncore_hamvf.RAW:event=0 uncore_hamvf.RAW:event=0 2
		counts uncore_imc.RAW:event=0:socket=1 uncore_imc.RAW:event=0:socket=1 2
		;;
	cxl)
		counts cxl_pmu_mem.clock_ticks cxl_pmu_mem.clock_ticks 2
		counts cxl_pmu_mem1.0/clock_ticks/ cxl_pmu_mem1.clock_ticks 1
		run stat -e imc.CLOCKTICKS -- true
		[ $status -ne 0 ] && said "discovery tables"
		result "cxl: units of the tables are as ever"
		;;
	esac
	run list && said '^[a-z0-9_]*\.RAW'
	result "$tree: listed"
	timeout 60 "$UNCORE" doctor >"$tmp/out" 2>"$tmp/err"
	said 'kernel PMU .* units*, [0-9]* named events*$' && said 'kernel PMU .*a table would add'
	result "$tree: the doctor tells of it"
done

# ---- gathered: the dump is the same machine

run gather "$tmp/dump" && UNCORE_SYSROOT=$tmp/dump timeout 60 "$UNCORE" units >"$tmp/out" 2>"$tmp/err" &&
	said 'cxl_pmu_mem0 .*cxl_pmu_mem0.0 ' && UNCORE_SYSROOT=$tmp/dump timeout 60 "$UNCORE" list cxl_pmu >"$tmp/out" 2>"$tmp/err" &&
	said 'cxl_pmu_mem.clock_ticks'
result "gather: what the dump says of such PMUs"

# ---- PAPI and collectd, on the client

enter client
result "client: again"
if [ -n "${PAPI_PREFIX-}" ] && [ -x "$PAPI_PREFIX/bin/papi_native_avail" ]; then
	export LD_LIBRARY_PATH="$soft:$PAPI_PREFIX/lib"
	"$PAPI_PREFIX/bin/papi_native_avail" >"$tmp/out" 2>"$tmp/err"
	said 'intel_uncore:::uncore_imc_free_running.data_read ' && said 'intel_uncore:::memory_read_bytes '
	result "PAPI: listed"
	"$PAPI_PREFIX/bin/papi_command_line" intel_uncore:::uncore_imc_free_running.data_read intel_uncore:::uncore_clock/clockticks/ \
		>"$tmp/out" 2>"$tmp/err"
	said 'uncore_imc_free_running.data_read :[^0-9]*[1-9]' && said 'uncore_clock/clockticks/ :[^0-9]*[1-9]'
	result "PAPI: counted"
	export LD_LIBRARY_PATH="$soft"
else
	skip "PAPI" "PAPI was not built (scripts/build-papi), or PAPI_PREFIX is not set"
fi
plugins=$BUILD/collectd_plugin/.libs
if command -v collectd >/dev/null && [ -e "$plugins/intel_uncore.so" ]; then
	mkdir "$tmp/plugins" && cp /usr/lib/collectd/csv.so /usr/lib/collectd/logfile.so "$plugins/intel_uncore.so" "$tmp/plugins"
	cat >"$tmp/collectd.conf" <<-EOF
		Hostname "node"
		Interval 0.2
		BaseDir "$tmp"
		PIDFile "$tmp/pid"
		PluginDir "$tmp/plugins"
		TypesDB "/usr/share/collectd/types.db"
		LoadPlugin logfile
		<Plugin logfile>
			File "$tmp/log.collectd"
		</Plugin>
		LoadPlugin csv
		<Plugin csv>
			DataDir "$tmp/csv"
		</Plugin>
		LoadPlugin intel_uncore
		<Plugin intel_uncore>
			Metric "memory_read_bytes"
			<Cpu "kernel-pmus">
				Event "uncore_clock.clockticks"
			</Cpu>
			<Cpu "emerald-rapids">
				Event "imc.CAS_COUNT:RD"
			</Cpu>
		</Plugin>
	EOF
	collectd -f -C "$tmp/collectd.conf" >"$tmp/out" 2>"$tmp/err" &
	collectd=$!
	tries=200
	until [ "$(cat "$tmp"/csv/node/intel_uncore*/*memory_read_bytes* 2>/dev/null | grep -c '[0-9]$')" -gt 2 ] || [ $tries -eq 0 ]; do
		tries=$((tries - 1))
		sleep 0.1
	done
	kill $collectd
	wait $collectd
	cat "$tmp/log.collectd" >>"$tmp/err"
	[ $tries -gt 0 ] && ls "$tmp"/csv/node/intel_uncore*/*clockticks* >/dev/null
	result "collectd: series of a metric and of an event"
else
	skip "collectd" "collectd or the plugin is not there"
fi

# ---- the broker

if [ "$(cat /proc/sys/kernel/perf_event_paranoid)" -ge 1 ]; then
	mkdir -p "$tmp/run/uncored" "$tmp/user" && chmod 755 "$tmp/run" "$tmp/run/uncored" && chown $user "$tmp/user" &&
		mount --bind "$tmp/run" /run
	printf '[allow]\nunits = uncore_imc_free_running,amd_df\n' >"$tmp/policy"
	start_broker "$soft/uncored" --policy "$tmp/policy"
	result "broker: its policy names PMUs, here and of other nodes"
	as_user timeout 60 "$UNCORE" stat -e uncore_imc_free_running.data_read -- sleep 0.1 >"$tmp/out" 2>"$tmp/err" &&
		said 'data_read  *[0-9]'
	result "broker: an event that it allows"
	! as_user timeout 60 "$UNCORE" stat -e uncore_clock.clockticks -- true >"$tmp/out" 2>"$tmp/err" &&
		said 'the broker of this site allows all events on uncore_imc_free_running,amd_df'
	result "broker: one that it does not allow"
	stop_broker
else
	skip "the broker" "everybody may open events here"
fi
finish
