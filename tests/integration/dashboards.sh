#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The dashboards and alerts over what a real collectd writes: every query asked of a real Graphite and a real Prometheus,
# Graphite's pages in a real browser; the queries over a cluster of 1,000 nodes. TAP on stdout.
# BUILD: the build directory (absolute).
set -u
area=dashboards
top=$(cd "$(dirname "$0")/../.." && pwd)
dashboards=$top/collectd_plugin/dashboards
PATH=$PATH:/usr/sbin
for tool in graphite-manage chromium prometheus promtool curl; do
	command -v $tool >/dev/null || {
		echo "1..0 # SKIP $tool is not installed (scripts/setup browser)"
		exit 0
	}
done
. "$top/tests/integration/collectd.inc"

bail() # PROGRAM LOG
{
	sed 's/^/# /' "$2"
	echo "Bail out! $1 does not start"
	exit 99
}

# ---- what is asked

machine=emerald-rapids,memory=4400
node=node_one # collectd's node.one, as write_graphite spells it
ports=node_two # with every option of the plugin that makes more series, and PCIe devices

graphite_targets() # of all dashboards for Graphite, a line each
{
	jq -r '.graphs[][1].target[]' "$dashboards/graphite-host.json" "$dashboards/graphite-cluster.json" |
		sed "s/__VALUE__/$node/"
	jq -r '.graphs[][1].target[]' "$dashboards/graphite-host.json" | sed "s/__VALUE__/$ports/"
	jq -r '.panels[].targets[]?.target' "$dashboards/grafana-graphite.json" |
		sed "/-port/s/\$host/$ports/; s/\$host/$node/; s/\$socket/*socket*/"
}

render() # PORT TARGET [FROM UNTIL]
{
	curl -sS -G "http://127.0.0.1:$1/render" --data-urlencode "target=$2" -d "from=${3:--10s}" -d "until=${4:--2s}" \
		-d format=json -d noCache=1
}

prometheus_queries()
{
	jq -r '.panels[].targets[]?.expr' "$dashboards/grafana-prometheus.json" | sed 's/\$__rate_interval/10s/' |
		sed '/-port/s/\$host/node.two/; s/\$socket/.*socket[0-9]+/; /\$host/{s//node.one/p;s/node.one/node.two/}'
}

ask() # QUERY: of Prometheus
{
	curl -sS -G "http://127.0.0.1:$prometheus_port/api/v1/query" --data-urlencode "query=$1"
}

tool_says() # METRIC: a second, both sockets
{
	UNCORE_SIM=$machine "$uncore" stat -j -m "$1" -d 1 | jq -s "last | .metrics.$1 / .interval"
}

# ---- tests

# Several passes take some intervals to begin, and a machine that is busy leaves gaps.
eventually() # COMMAND: what it prints explains a failure
{
	wait_for 60 "$@" || "$@"
}

as_generated()
{
	mkdir "$tmp/generated"
	"$top/scripts/make-dashboards" "$tmp/generated" || return 1
	for file in "$tmp/generated"/*; do
		diff "$file" "$dashboards/${file##*/}" || return 1
	done
}

# By the line of README.
another_prefix()
{
	line=$(sed -n 's/.*`\(sed -i [^`]*\)`.*/\1/p' "$dashboards/README.md" | sed 's/PREFIX/a.site/')
	mkdir "$tmp/prefix" && cp "$dashboards"/*.json "$tmp/prefix" && (cd "$tmp/prefix" && eval "$line") || return 1
	! grep -n 'collectd\.\([*$_]\|%\)' "$tmp/prefix"/* && grep -q 'a\.site\.[*]' "$tmp/prefix/graphite-cluster.json"
}

has_data()
{
	[ -n "$(render "$web_port" "sumSeries(collectd.*.intel_uncore.*.total_bytes.memory_*_bytes)" |
		jq -r '.[].datapoints[][0] | values')" ] &&
		ask 'rate(collectd_intel_uncore_total_bytes_total{type="memory_read_bytes",intel_uncore=~".*socket[0-9]"}[10s])' |
		jq -e '.data.result | length == 4' >/dev/null
}

every_target()
{
	graphite_targets >"$tmp/targets"
	[ "$(wc -l <"$tmp/targets")" -ge 30 ] || return 1
	bad=0
	while read -r target; do
		render "$web_port" "$target" >"$tmp/answer"
		jq -e '[.[].datapoints[][0] | values] | length > 0' "$tmp/answer" >/dev/null ||
			{ echo "no values: $target"; head -c 200 "$tmp/answer"; bad=1; }
	done <"$tmp/targets"
	return $bad
}

every_query()
{
	prometheus_queries >"$tmp/queries"
	[ "$(wc -l <"$tmp/queries")" -ge 20 ] || return 1
	bad=0
	while read -r query; do
		ask "$query" >"$tmp/answer"
		jq -e '.status == "success" and (.data.result | length >= 1) and
			all(.data.result[].value[1] | tonumber; . >= 0)' "$tmp/answer" >/dev/null ||
			{ echo "no values: $query"; head -c 200 "$tmp/answer"; bad=1; }
	done <"$tmp/queries"
	return $bad
}

# Six values of a minute that has passed, 10 s apart. What carbon keeps of them is what the rules say, however long it takes.
six="19.4 19.1 19.3 19.2 19.5 8.6" # GB/s
minute=$(($(date +%s) / 60 * 60 - 600))
send_six() # NAME
{
	python3 - "$carbon_port" "$1" "$minute" "$six" <<-'EOF'
		import socket, sys
		port, name, start, six = sys.argv[1:]
		lines = "".join(f"{name} {value} {int(start) + 10 * n}\n" for n, value in enumerate(six.split()))
		socket.create_connection(("127.0.0.1", int(port)), 5).sendall(lines.encode())
	EOF
}

keeps() # DIR NAME VALUES
{
	whisper-fetch --json --from=$((minute - 1)) --until=$((minute + 59)) "$1/whisper/$(echo "$2" | tr . /).wsp" |
		jq -r '[.values[] | select(. != null)] | join(" ")' | grep -Fx "$3"
}

names() # of what collectd has stored here, as carbon has them
{
	(cd "$tmp/carbon/whisper" && find . -name '*.wsp') | sed 's,^\./,,; s,\.wsp$,,; s,/,.,g'
}

first_name() # WORD
{
	names | grep -F "$1" | LC_ALL=C sort | head -n 1
}

# Debian's rule keeps the last of six.
debian_loses()
{
	start_debian_carbon "$tmp/debian" || { cat "$tmp/debian/carbon.log"; return 1; }
	pids="$pids $carbon_pid"
	ours=$(first_name .memory_read_bytes)
	send_six "$ours" && wait_for 30 keeps "$tmp/debian" "$ours" 8.6
}

# With README's commands all six are kept of what this plugin sends, by either kind of names, and of that alone.
ours_keep()
{
	commands=$(sed -n '/^    cd .etc.carbon/,/^    done/s/^ *//p' "$dashboards/../README.md" |
		sed "s/^cd .etc.carbon && //; s|/usr/local/share/libuncore/dashboards|$dashboards|")
	start_debian_carbon "$tmp/rules" "$commands" || { cat "$tmp/rules/carbon.log"; return 1; }
	pids="$pids $carbon_pid"
	ours=$(first_name .memory_read_bytes) other=$(first_name .load.)
	for series in "$ours" node1.intel_uncore-socket0.total_bytes-memory_read_bytes; do
		send_six "$series" && wait_for 30 keeps "$tmp/rules" "$series" "$six" || return 1
	done
	send_six "$other" && wait_for 30 keeps "$tmp/rules" "$other" 8.6
}

rules_match() # all series of the plugin, and no other
{
	for file in storage-schemas.conf storage-aggregation.conf; do
		pattern=$(sed -n 's/^pattern = //p' "$dashboards/$file")
		names | grep -E "$pattern" | LC_ALL=C sort >"$tmp/matched"
		[ -s "$tmp/matched" ] && names | grep intel_uncore | LC_ALL=C sort | diff - "$tmp/matched" || return 1
	done
}

# What README says of files that are there already.
resized()
{
	ours=$(first_name .memory_read_bytes)
	command=$(sed -n '/^    find .var.lib.graphite.whisper/,/;$/s/^ *//p' "$dashboards/../README.md" |
		sed "s|/var/lib/graphite/whisper|$tmp/debian/whisper|")
	[ -n "$command" ] && eval "$command" || return 1
	carbon_port=$(sed -n 's/^LINE_RECEIVER_PORT = //p' "$tmp/debian/etc/carbon.conf" | head -n 1)
	send_six "$ours" && wait_for 30 keeps "$tmp/debian" "$ours" "$six"
}

# Of two nodes the cluster's sums are twice what the command says of one, with whatever options these send.
twice_the_tool() # METRIC VALUE
{
	near "$2" "$(tool_says "$1" | jq '. * 2')" 2 || { echo "$1"; return 1; }
}

graphite_sums()
{
	jq -r '.graphs[:3][][1].target[]' "$dashboards/graphite-cluster.json" >"$tmp/sums"
	jq -r '.panels[1:4][].targets[].target' "$dashboards/grafana-graphite.json" >>"$tmp/sums"
	[ "$(wc -l <"$tmp/sums")" = 10 ] || return 1
	while read -r target; do
		sum=$(render "$web_port" "$target" | jq '[.[0].datapoints[][0] | values] | max | if . < 1e6 then . * 1e9 else . end')
		twice_the_tool "$(echo "$target" | grep -o '[a-z]*_[a-z]*_bytes')" "$sum" || return 1
	done <"$tmp/sums"
}

prometheus_sums()
{
	jq -r '.panels[1:4][].targets[].expr' "$dashboards/grafana-prometheus.json" |
		sed 's/rate(/irate(/; s/\$__rate_interval/1m/' >"$tmp/sums" # exact, however many samples came
	[ "$(wc -l <"$tmp/sums")" = 5 ] || return 1
	while read -r query; do
		twice_the_tool "$(echo "$query" | grep -o '[a-z_]*_bytes"' | tr -d '"')" \
			"$(ask "$query" | jq '.data.result[0].value[1] | tonumber')" || return 1
	done <"$tmp/sums"
}

# All series of a node with every option: units, ports and the node's sums are there, so that the sums above mean something.
every_option()
{
	curl -sS "http://127.0.0.1:$web_port/metrics/find?query=collectd.$ports.intel_uncore.*" | jq -r '.[].text' >"$tmp/places"
	for place in simulated-socket0 simulated-socket0-imc0 simulated-socket0-upi0 simulated-socket0-iio3-port0 simulated-node; do
		grep -Fx -e "$place" "$tmp/places" || return 1
	done
}

# What one socket sends another one receives: a panel of the links in bytes adds up to what is sent, of both sockets, in
# whatever series it stands, and over both nodes to twice that. In GB/s where Graphite's own pages scale it.
sent_of() # TITLE
{
	case $1 in
	*" nodes") jq -n "$sent * 2" ;;
	*) echo "$sent" ;;
	esac
}

links_once()
{
	sent=$(tool_says link_tx_bytes)
	for file in graphite-host graphite-cluster grafana-graphite; do
		jq -r '(.graphs[]? | .[1]), (.panels[]? | {title, target: [.targets[]?.target]}) |
			select(.title | test("^Links between sockets(:|$)")) | .title + "\t" + .target[]' \
			"$dashboards/$file.json" | sed "s/__VALUE__/$node/g; s/\$host/$node/; s/\$socket/*socket*/" >"$tmp/links"
		[ -s "$tmp/links" ] || return 1
		cut -f 1 "$tmp/links" | sort -u >"$tmp/titles"
		while read -r title; do
			grep "^$title	" "$tmp/links" | cut -f 2- | while read -r target; do
				render "$web_port" "$target" | jq '.[] | [.datapoints[][0] | values] | max'
			done | jq -s 'add | if . < 1e6 then . * 1e9 else . end' >"$tmp/sum"
			near "$(cat "$tmp/sum")" "$(sent_of "$title")" 2 || { echo "$file: $title"; return 1; }
		done <"$tmp/titles"
	done
	jq -r '.panels[] | select(.title | test("^Links between sockets(:|$)")) | .title + "\t" + .targets[].expr' \
		"$dashboards/grafana-prometheus.json" | sed 's/\$host/node.one/; s/\$socket/.*/
			s/rate(/irate(/; s/\$__rate_interval/1m/' >"$tmp/links"
	cut -f 1 "$tmp/links" | sort -u >"$tmp/titles"
	while read -r title; do
		grep "^$title	" "$tmp/links" | cut -f 2- | while read -r query; do
			ask "$query" | jq '.data.result[].value[1] | tonumber'
		done | jq -s add >"$tmp/sum"
		near "$(cat "$tmp/sum")" "$(sent_of "$title")" 2 || { echo "grafana-prometheus: $title"; return 1; }
	done <"$tmp/titles"
	[ "$(wc -l <"$tmp/titles")" -eq 3 ]
}

peak_value() # by the arithmetic of the options: 8 channels of a socket, 4400 million transfers of 8 bytes
{
	utilization=$(render "$web_port" "collectd.*.intel_uncore.simulated-socket0.percent.memory_utilization" |
		jq '[.[0].datapoints[][0] | values] | max')
	near "$utilization" "$({ tool_says memory_read_bytes; tool_says memory_write_bytes; } |
		jq -s 'add / 2 / (8 * 4400e6 * 8) * 100')" 5
}

variables()
{
	jq -r '.templating.list[] | select(.type == "query") | .name' "$dashboards/grafana-prometheus.json" |
		tr '\n' ' ' | grep -x 'host socket ' || return 1
	curl -sS "http://127.0.0.1:$prometheus_port/api/v1/label/instance/values" |
		jq -e '.data | index("node.one")' || return 1
	curl -sS "http://127.0.0.1:$web_port/metrics/find?query=collectd.*" | jq -e 'map(.text) | index("node_one") != null' &&
		curl -sS "http://127.0.0.1:$web_port/metrics/find?query=collectd.$node.intel_uncore.*" |
		jq -e '[.[].text] | sort == ["simulated-socket0", "simulated-socket1"]'
}

grafana_shape() # panels do not overlap, all have a unit and targets of the dashboard's own data source
{
	for file in "$dashboards"/grafana-*.json; do
		jq -e '[.panels[].id] == ([.panels[].id] | unique) and
			([.panels[].gridPos | "\(.x) \(.y)"] | length == (unique | length)) and
			all(.panels[]; .gridPos.x + .gridPos.w <= 24) and
			all(.panels[] | select(.type == "timeseries"); .fieldConfig.defaults.unit != null and
				(.targets | length > 0) and all(.targets[]; .datasource.uid == "${source}"))' "$file" ||
			{ echo "$file"; return 1; }
	done
}

save() # PORT NAME FILE [template]: with the time that there is data of
{
	sed "s/-1hours/-3minutes/; s/-20s/-2s/; s/__VALUE__/$node/" "$3" >"$tmp/state"
	curl -sS --data-urlencode "state@$tmp/state" "http://127.0.0.1:$1/dashboard/save/$2" | jq -e .success
}

open_page() # PORT PATH GRAPHS [EXPRESSION]
{
	"$top/scripts/screenshot" "http://127.0.0.1:$1/dashboard$2" "$tmp/page.png" 1300x1300 \
		"document.querySelectorAll('img.graph-img').length === $3" "${4-null}" >"$tmp/page.json"
	status=$?
	cat "$tmp/page.json"
	return $status
}

# The page has an image of each graph, with colours of lines and areas, no script has failed, and it is not black.
page() # PORT PATH GRAPHS
{
	open_page "$@" || return 1
	jq -e --argjson graphs "$3" '.errors == [] and ([.images[] | select(.src | contains("/render?"))] |
		length == $graphs and all(.[]; .width == 620 and .colours > 150)) and
		.colours > 500 and .black < 0.5' "$tmp/page.json" >"$tmp/verdict"
}

# By a template the address has the host. Of these nodes there is memory traffic and the use of links, no more.
template()
{
	curl -sS --data-urlencode "state@$dashboards/graphite-host.json" \
		"http://127.0.0.1:$many_port/dashboard/save_template/uncore-host/__VALUE__" | jq -e .success || return 1
	open_page "$many_port" "/#uncore-host/node0999" "$graphs" document.title || return 1
	jq -e --argjson graphs "$graphs" '[.images[] | select(.src | contains("/render?"))] as $images |
		.value == "uncore-host/node0999 - Graphite Dashboard" and .errors == [] and
		($images | length == $graphs and all(.[]; .src | contains("collectd.node0999.")) and
		([.[] | select(.colours > 150)] | length == 2))' "$tmp/page.json"
}

graphs_of()
{
	jq '.graphs | length' "$1"
}

alert_state() # NAME: what Prometheus itself says
{
	curl -sS "http://127.0.0.1:$prometheus_port/api/v1/rules" |
		jq -e --arg name "$1" '.data.groups[].rules[] | select(.name == $name) | .health == "ok"' &&
		ask "$(curl -sS "http://127.0.0.1:$prometheus_port/api/v1/rules" |
			jq -r --arg name "$1" '.data.groups[].rules[] | select(.name == $name) | .query')" |
		jq -r '.data.result | length'
}

simulated_is_told() # of the four conditions this one is met, by both nodes, and no other
{
	for name in UncoreMemoryNearPeak UncoreLinkSaturated UncoreCountersLost UncoreSimulated; do
		echo "$name $(alert_state $name | tr '\n' ' ')"
	done | tee "$tmp/alerts"
	printf '%s\n' "UncoreMemoryNearPeak true 0 " "UncoreLinkSaturated true 0 " "UncoreCountersLost true 0 " \
		"UncoreSimulated true 2 " | diff - "$tmp/alerts"
}

rules()
{
	cd "$dashboards" && promtool check rules prometheus-alerts.yml && promtool test rules prometheus-alerts.test.yml &&
		promtool check config prometheus.yml
}

# Nodes 1000 to 991, of 2 sockets with 1.5 N GB/s each; links of N / 20 % on the fuller one; the sum of 2 N.
thousand()
{
	many() { render "$many_port" "$(graph "$1")" $((written - 240)) "$written"; }
	graph() { jq -r ".graphs[] | select(.[1].title | startswith(\"$1\")) | .[1].target[0]" "$dashboards/graphite-cluster.json"; }
	begin=$(date +%s%N)
	many "Memory bandwidth: the" >"$tmp/top"
	echo "# the 10 highest of 1000 nodes, from 2000 files: $((($(date +%s%N) - begin) / 1000000)) ms" >&3
	jq -e '[.[] | {(.target): ([.datapoints[][0] | values] | max | . * 10 | round)}] | add ==
		([range(991; 1001)] | map({("node" + ("000\(.)" | .[-4:])): (3 * . * 10)}) | add)' "$tmp/top" || return 1
	many "Links between sockets, %" | jq -e 'map([.datapoints[][0] | values] | max) |
		sort == [range(991; 1001) | . / 20]' || return 1
	many "Memory bandwidth: all" |
		jq -e '[.[0].datapoints[][0] | values] | max | round == 1001000' || return 1
	many "Nodes with" | jq -e '[.[0].datapoints[][0] | values] | max == 1000'
}

# ---- collectd, carbon, graphite-web, Prometheus

exec 3>&1
carbon
export_port=$(free_port)
other_port=$(free_port)
graphite_conf=$tmp/senders.conf
to_both() # PORT: of Prometheus
{
	sed "s/0\.0\.0\.0/127.0.0.1/; s/9103/$1/" "$dashboards/collectd-graphite.conf" "$dashboards/collectd-prometheus.conf" >"$graphite_conf"
}
to_both "$export_port"
start node.one "Simulate \"$machine\""
to_both "$other_port"
start node.two "Simulate \"${machine%%,*}-devices,${machine#*,}\"" "PerDevice true" "PerUnit true" "NodeSums true"
prometheus_port=$(free_port)
mkdir "$tmp/prometheus"
cp "$dashboards/prometheus-alerts.yml" "$tmp/prometheus"
sed "s/\"127.0.0.1:9103\"/\"127.0.0.1:$export_port\", \"127.0.0.1:$other_port\"/; s/15s/1s/" "$dashboards/prometheus.yml" >"$tmp/prometheus/prometheus.yml"
prometheus --config.file="$tmp/prometheus/prometheus.yml" --storage.tsdb.path="$tmp/prometheus/data" \
	--web.listen-address="127.0.0.1:$prometheus_port" >"$tmp/prometheus/log" 2>&1 &
pids="$pids $!"
written=$("$top/tests/integration/thousand_hosts.py" "$tmp/many/whisper")
start_web "$tmp/many" --mend || bail graphite-web "$tmp/many/web.log"
pids="$pids $web_pid" many_port=$web_port
start_web "$tmp/carbon" || bail graphite-web "$tmp/carbon/web.log"
pids="$pids $web_pid"
wait_for 30 listens "$prometheus_port" || bail prometheus "$tmp/prometheus/log"

ok "the files are those that scripts/make-dashboards writes" as_generated
ok "another prefix" another_prefix
ok "alerts: promtool accepts them, and they tell what they should" rules
ok "Grafana's dashboards have the shape that Grafana wants" grafana_shape
ok "values arrive in Graphite and in Prometheus" wait_for 60 has_data
sleep 3 # of a few intervals
ok "carbon as Debian has it keeps one of six values" debian_loses
ok "carbon's rules: all six are kept, and other series stay as they were" ours_keep
ok "carbon's rules are for each series of the plugin" rules_match
ok "whisper-resize: a file of Debian's rule keeps all six" resized
ok "every target of the dashboards has values in Graphite" every_target
ok "every query of the dashboard has values in Prometheus" eventually every_query
ok "a node sends all that the options of the plugin give" wait_for 30 every_option
ok "Graphite: sums over two nodes are twice what the command says of one" eventually graphite_sums
ok "Prometheus: sums over two nodes are twice what the command says of one" eventually prometheus_sums
ok "links: no byte is counted twice, as sent and as received" links_once
ok "the share of the peak is that of channels and speed" peak_value
ok "what the variables of Grafana ask for is there" variables
ok "alerts over this node: SIMULATED, and nothing else" wait_for 30 simulated_is_told

graphs=$(graphs_of "$dashboards/graphite-host.json")
ok "Graphite takes the dashboard of a host" save "$web_port" uncore-node_one "$dashboards/graphite-host.json"
ok "its page, in the package as it is, has all graphs" page "$web_port" /uncore-node_one "$graphs"
ok "Graphite takes the dashboard of the cluster" save "$web_port" uncore "$dashboards/graphite-cluster.json"
ok "its page, in the package as it is, has all graphs" page "$web_port" /uncore "$(graphs_of "$dashboards/graphite-cluster.json")"
ok "a template with a variable host, mended" template
ok "1,000 nodes: the highest ten, and the sum" thousand

echo "1..$number"
exit $((failures > 0))
