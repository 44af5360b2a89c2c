#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# collectd_plugin/examples as a cluster uses them: two nodes whose collectds send, one that receives, alerts and writes
# into a real carbon-cache. All machines are simulated. TAP on stdout. BUILD: the build directory (absolute).
set -u
area=cluster
. "$(dirname "$0")/collectd.inc"
examples=${SRCDIR:-$(dirname "$0")/../..}/collectd_plugin/examples

# An example with what a site would write into it: this receiver, this carbon, and each second.
example() # FILE
{
	sed -e "s/receiver\.example/127.0.0.1/; s/0\.0\.0\.0/127.0.0.1/; s/\"25826\"/\"$port\"/" \
		-e "s/\"2003\"/\"$carbon_port\"/; s/Interval 10/Interval 1/" \
		-e "s,/usr/local/share/libuncore/collectd/examples,$examples," "$examples/$1"
}

daemon() # HOST: with what HOST/conf adds to a log
{
	cat >"$tmp/$1/collectd.conf" <<-EOF
		Hostname "$1"
		FQDNLookup false
		BaseDir "$tmp/$1"
		PIDFile "$tmp/$1/pidfile"
		PluginDir "$tmp/plugins"
		LoadPlugin logfile
		<Plugin logfile>
		  LogLevel info
		  File "$tmp/$1/log"
		  Timestamp false
		  PrintSeverity true
		</Plugin>
		Include "$tmp/$1/conf"
	EOF
	collectd -f -C "$tmp/$1/collectd.conf" >"$tmp/$1/out" 2>&1 &
	echo $! >"$tmp/$1/pid"
	pids="$pids $!"
}

# A node: it keeps in files what it has sent.
node() # HOST MACHINE
{
	mkdir "$tmp/$1"
	{
		example two-senders/sender.conf
		cat <<-EOF
			LoadPlugin csv
			<Plugin csv>
			  DataDir "$tmp/$1/csv"
			</Plugin>
			<Plugin intel_uncore>
			  Simulate "$2"
			  NodeSums true
			</Plugin>
		EOF
	} >"$tmp/$1/conf"
	daemon "$1"
}

# ---- what arrived

path() # HOST INSTANCE TYPE NAME, as README.md of the plugin says
{
	echo "collectd/$1/intel_uncore/$2/$3/$4"
}

arrived() # HOST N: values of each socket, and of the node
{
	for instance in simulated-socket0 simulated-socket1 simulated-node; do
		enough . "$(path "$1" $instance total_bytes memory_read_bytes)" "$2" || return 1
	done
}

# What Graphite has is what the node sent, a rate of two values where they are totals; most of it is there, but for the
# end. (collectd takes a rate from its cache when it writes it, where the next one may be by then.)
as_sent() # HOST INSTANCE TYPE NAME
{
	whisper-fetch --json --from=$(($(date +%s) - 600)) "$tmp/carbon/whisper/$(path "$@").wsp" >"$tmp/stored"
	cat "$tmp/$1/csv/$1/intel_uncore-$2/$3-$4-"* >"$tmp/sent"
	python3 - "$3" "$tmp/stored" "$tmp/sent" <<-'EOF'
		import json, sys
		stored = json.load(open(sys.argv[2]))
		have = {stored["start"] + i * stored["step"]: v for i, v in enumerate(stored["values"]) if v is not None}
		rows = [tuple(map(float, line.split(","))) for line in open(sys.argv[3]) if line[0] != "e"]
		if sys.argv[1] != "percent":
		    rows = [(t, (v - w) / (t - s)) for (s, w), (t, v) in zip(rows, rows[1:])]
		print(len(have), "stored,", len(rows), "sent")
		for time, value in sorted(have.items()):
		    near = [v for t, v in rows if -1 < t - time < 2]
		    if not any(abs(value - v) <= 0.01 * abs(v) for v in near):
		        sys.exit("%d: %r is stored, near it %r was sent" % (time, value, near))
		sys.exit(len(have) < 3 or 2 * len(have) < len(rows))
	EOF
}

hosts()
{
	ls "$tmp/carbon/whisper/collectd" | grep '^node-' | tr '\n' ' '
}

two_hosts()
{
	[ "$(hosts)" = "node-a node-b " ] || { hosts; return 1; }
	for host in node-a node-b; do
		(cd "$tmp/carbon/whisper/collectd/$host/intel_uncore" && find . -name '*.wsp' | grep socket | LC_ALL=C sort) \
			>"$tmp/series.$host"
	done
	cat "$tmp/series.node-a"
	diff "$tmp/series.node-a" "$tmp/series.node-b" && [ "$(wc -l <"$tmp/series.node-a")" -ge 22 ]
}

# Sockets, nodes: nobody's load is another's.
differ()
{
	for host in node-a node-b; do
		for socket in 0 1; do
			mean . "$(path $host simulated-socket$socket total_bytes memory_read_bytes)"
		done
	done >"$tmp/means"
	cat "$tmp/means"
	[ "$(sort -u "$tmp/means" | wc -l)" = 4 ]
}

# What a node has sent for all of it: the sockets' totals of the same moment, added up.
node_sum()
{
	for instance in simulated-socket0 simulated-socket1 simulated-node; do
		grep -h '^[0-9]' "$tmp/$1/csv/$1/intel_uncore-$instance/total_bytes-memory_read_bytes-"* >"$tmp/$instance"
	done
	head -n 3 "$tmp"/simulated-*
	paste -d , "$tmp/simulated-socket0" "$tmp/simulated-socket1" "$tmp/simulated-node" | head -n 5 |
		python3 -c 'import sys
rows = [line.split(",") for line in sys.stdin]
sys.exit(len(rows) < 5 or any(len({r[0], r[2], r[4]}) > 1 or int(r[1]) + int(r[3]) != int(r[5]) for r in rows))'
}

notified() # SEVERITY HOST WORDS
{
	grep -F "Notification: severity = $1, host = $2, plugin = intel_uncore" "$tmp/receiver/log" |
		grep -Fq -- "$3" || { echo "no such notification: $*"; cat "$tmp/receiver/log"; return 1; }
}

# 8 channels of 2200 MT/s and 8 bytes: 140.8 GB/s; the load of the tables moves 132 GB/s of it, 94 %. Links
# are far from full, and of the other nodes the peak is not known.
near_peak()
{
	for socket in 0 1; do
		wait_for 30 notified WARNING node-c "plugin_instance = simulated-socket$socket, type = percent, type_instance = memory_utilization" ||
			return 1
	done
	! grep -E 'severity = (WARNING|FAILURE).* threshold' "$tmp/receiver/log" |
		grep -v 'severity = WARNING, host = node-c, .* type_instance = memory_utilization'
}

# A socket of that machine moves 132 GB/s (workload.tbl); 8 channels of 1600 million transfers of 8 bytes are 102 GB/s.
above_peak()
{
	wait_for 30 arrived node-d 5 &&
		wait_for 30 notified FAILURE node-d "plugin_instance = simulated-socket0, type = percent, type_instance = memory_utilization"
}

# A node whose counters nobody reads any more: to the receiver the same as counters that are lost.
lost()
{
	stop node-c || return 1
	wait_for 60 notified FAILURE node-c "type_instance = memory_read_bytes"
}

# The files as they are, but for the one that they are to check.
checked() # EXPECTED-STATUS CONF LINE...
{
	status=$1
	conf=$2
	shift 2
	printf '%s\n' 'LoadPlugin intel_uncore' '<Plugin intel_uncore>' '  Simulate "emerald-rapids"' "$@" \
		'</Plugin>' >"$tmp/$conf"
	{
		echo "PluginDir \"$tmp/plugins\""
		sed -e "s,\"/tmp,\"$tmp," -e "s,/etc/collectd/.*conf,$tmp/$conf," "$examples/check.conf"
	} >"$tmp/check.conf"
	collectd -T -C "$tmp/check.conf" >"$tmp/said" 2>&1
	said=$?
	cat "$tmp/said"
	[ $said = "$status" ]
}

says() # WORDS...
{
	for words; do
		grep -Fq -- "$words" "$tmp/said" || { echo "not said: $words"; return 1; }
	done
}

looks=$("${SRCDIR:-$(dirname "$0")/../..}/scripts/collectd-plugindir" looks "$(command -v collectd)")
for name in logfile network csv aggregation threshold write_graphite; do
	[ -e "$looks/$name.so" ] || { echo "1..0 # SKIP collectd has no plugin $name"; exit 0; }
	cp "$looks/$name.so" "$tmp/plugins/"
done
carbon
port=$(free_port)
mkdir "$tmp/receiver"
{
	example two-senders/receiver.conf
	example alerts.conf
} >"$tmp/receiver/conf"
daemon receiver
wait_for 30 grep -q 'Initialization complete' "$tmp/receiver/log"
node node-a 'emerald-rapids,load=live,seed=1'
node node-b 'emerald-rapids,load=live,seed=2'

ok "the check: a right configuration" checked 0 right 'Group "MEM"'
ok "the check says how much there is" says 'Emerald Rapids, 2 sockets:' ' series, passes: 1'
ok "the check: a wrong name beside a right one" checked 0 name 'Metric "memory_read_byte" "llc_misses"'
ok "the check names it" says '[error] intel_uncore plugin: no metric or event memory_read_byte in emerald-rapids; nearest is memory_read_bytes'
ok "the check: nothing that is right" checked 1 none 'Metric "memory_read_byte"'
ok "the check: a wrong option" checked 1 option 'Acces "msr"'
ok "the check names it" says '[error] intel_uncore plugin: no option Acces'

ok "values of node-a arrive" wait_for 60 arrived node-a 5
ok "values of node-b arrive" wait_for 60 arrived node-b 5
ok "both under their own names, with the same series" two_hosts
for host in node-a node-b; do
	for name in "simulated-socket0 total_bytes memory_read_bytes" "simulated-socket1 total_bytes pcie_write_bytes" \
		"simulated-socket1 percent llc_miss_ratio" "simulated-node total_bytes memory_read_bytes"; do
		ok "$host: $name as it was sent" as_sent $host $name
	done
done
ok "sockets and nodes differ" differ
ok "the sum of a node is that of its sockets" node_sum node-a
node node-c 'emerald-rapids,memory=2200'
ok "values of node-c arrive" wait_for 60 arrived node-c 5
ok "bandwidth near the peak: a notification" near_peak
node node-d 'emerald-rapids,memory=1600'
ok "more than 100 % of the peak: a notification" above_peak
ok "values that stay away: a notification" lost
for host in receiver node-a node-b; do
	ok "$host ends well" stop $host
done
echo "1..$number"
exit $((failures > 0))
