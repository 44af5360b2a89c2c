#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The command `uncore`: what it prints, as text and as JSON, and its exit statuses.
# SRCDIR and BUILD are the trees; UNCORE the command to test. What is asked of each CPU is asked of one of each kind
# (kinds.inc), with ALL=1 of each: what the tables of each hold is for unit tests.

: "${SRCDIR:=$(cd "$(dirname "$0")/../.." && pwd)}" "${BUILD:=$PWD}"
unset UNCORE_SIM UNCORE_SYSROOT UNCORE_ACCESS
command -v jq >/dev/null || { echo "1..0 # SKIP no jq; install jq"; exit 0; }
title=command
export COLUMNS=1000 # sentences stand on one line; that they fold, and where, is asked at the end
. "$SRCDIR/tests/integration/result.inc"
. "$SRCDIR/tests/integration/kinds.inc"
. "$SRCDIR/tests/integration/broken.inc"

# Runs the command; output in $tmp/out and $tmp/err, status in $status.
# json FILTER: the output of the last run is JSON and the filter gives true.
json()
{
	[ -s "$tmp/out" ] && jq -e "$1" "$tmp/out" >/dev/null 2>"$tmp/jq" || { sed 's/^/# jq: /' "$tmp/jq"; false; }
}

# refused STATUS TEXT: the last run ended so, with one line on stderr that holds the text.
refused()
{
	[ "$status" -eq "$1" ] && [ "$(wc -l <"$tmp/err")" -eq 1 ] && grep -qF -- "$2" "$tmp/err"
}

cpus=$("$UNCORE" cpus -j | jq -r '.[].cpu')
some_cpus=$(kinds_of_cpus)
has() { echo "$cpus" | grep -qx "$1"; }

# without CPU UNIT SOCKETS: a file of a machine like that CPU without the units of a type on these sockets, a JSON list.
# Fails where no file has them: counters of cores.
without()
{
	_without=$tmp/without-$2
	UNCORE_SIM=$1 "$UNCORE" units -j | jq -r --arg unit "$2" --argjson sockets "$3" \
		'.[] | select(.unit == $unit and (.socket | IN($sockets[]))).location' >"$tmp/places" && {
		printf '%s\n' "uncore machine 2" "like $1"
		while read -r _space _at _ _ _of; do
			case $_space in
			msr) echo "hide dev/cpu/$_of/msr" ;;
			pci) echo "hide sys/bus/pci/devices/$_at" ;;
			mmio) printf 'device dev/mem %d\n %s-0x%x EIO\n' $((1 << 52)) "$_at" $((_at + 0x7ff)) ;;
			*) return 1 ;;
			esac
		done <"$tmp/places"
		echo end
	} >"$_without" && echo "$_without"
}

# ---- commands and options

run
missing=
for c in stat top list metrics groups doctor verify cpus units counters release encode decode eval registers; do
	grep -q "^  $c " "$tmp/out" || missing="$missing $c"
	"$UNCORE" help $c | grep -q "^uncore $c" || missing="$missing help:$c"
done
"$UNCORE" help stat | grep -q -- "--per-unit " || missing="$missing help:--per-unit"
[ -n "$missing" ] && echo "# missing:$missing"
[ $status -eq 2 ] && [ -z "$missing" ]
result "the command alone shows its commands; each has help"
run list --help && grep -q "^uncore list" "$tmp/out"; result "--help"
run version && grep -Eq '^uncore [0-9]+\.[0-9]+' "$tmp/out"; result "version"
where=$(sed -n 's/^UNC_REPORT_TO = //p' "$BUILD/Makefile")
[ -n "$where" ] && grep -qxF "Report problems to $where." "$tmp/out" && run help && tail -n 1 "$tmp/out" | grep -qF "$where" &&
	UNCORE_SIM=sandybridge-ep run verify -o "$tmp/report.json" && grep -qxF "$tmp/report.json: reports go to $where." "$tmp/out"
result "version, help and verify say where to report"
run nonsense; refused 2 "unknown command 'nonsense'"; result "unknown command"
run "two
lines"; refused 2 "unknown command 'two?lines'"; result "an error is one line"
run list -q; refused 2 "unknown option '-q'"; result "unknown option"
run list --nonsense; refused 2 "unknown option '--nonsense'"; result "unknown long option"
run encode; refused 2 "argument is missing"; result "missing argument"
run cpus extra; refused 2 "unexpected argument 'extra'"; result "argument too many"
run list -c nonsense; refused 2 "nonsense"; result "unknown CPU"
run list -c "$(echo "$cpus" | head -n 1)" no_such_event; refused 1 "no metric or event matches 'no_such_event'"
result "a pattern that nothing matches"
run list -c "$(echo "$cpus" | head -n 1)" >/dev/full; "$UNCORE" cpus >/dev/full 2>"$tmp/err"
status=$?; refused 1 "cannot write"; result "output that cannot be written"

# ---- cpus. Models: Intel 325384 (SDM) volume 4, family and model signatures.

run cpus -j
[ $status -eq 0 ] && json 'length > 0 and all(.[]; keys == (["cpu","name","family","models",
	"units","events","umasks","metrics"] | sort) and
	.family >= 6 and
	(.models | length > 0 and all(.[]; test("^0x[0-9a-f]+$"))) and .units > 0 and .events > 0)'
result "cpus -j"
# What the sources hold: Intel 308065-001 (161 events and 8 of its contents), the tables of Levinthal's
# guide (172 encodings), 327043-001 (178 events, 301 umasks) and perfmon JKT V24 (27
# events, 92 entries more), perfmon IVT V24 (1,074 entries in 9 units),
# perfmon ICX V1.30 (3,933 entries that are not deprecated, in 10
# units; the free-running counters are an eleventh),
# 817509-001 (12 units) and perfmon EMR (2,304 entries); perfmon HSX V29 (1,278 entries in 10 units) and
# BDX V23 (1,284); perfmon SKX V1.37 (2,532 that are not deprecated, in 9 units) and CLX V1.25 (2,643);
# perfmon GNR V1.20 (844 of 848 entries, in 13 units), SRF V1.18 and CWF V1.04 (772 of 776, in the same),
# GRR V1.13 (436 of 438, in 7 units).
json '(map({(.cpu): .}) | add) as $c | $c.montecito.events >= 169 and $c.montecito.units == 5 and
	$c["nehalem-ep"].umasks >= 172 and $c["sandybridge-ep"].events >= 205 and
	$c["sandybridge-ep"].umasks >= 393 and $c["sandybridge-ep"].units == 8 and
	$c["ivybridge-ep"].events + $c["ivybridge-ep"].umasks >= 1074 and
	$c["ivybridge-ep"].units == 9 and $c["emerald-rapids"].units >= 15 and
	([$c["icelake-sp", "icelake-d"] | .events + .umasks >= 3933 and .units == 11] | all) and
	$c["snow-ridge"].events + $c["snow-ridge"].umasks >= 2511 and $c["snow-ridge"].units == 9 and
	$c["haswell-ep"].events + $c["haswell-ep"].umasks >= 1278 and $c["haswell-ep"].units == 10 and
	$c["broadwell-ep"].events + $c["broadwell-ep"].umasks >= 1284 and $c["broadwell-ep"].units == 10 and
	$c["broadwell-de"].events + $c["broadwell-de"].umasks >= 900 and $c["broadwell-de"].units == 7 and
	$c["skylake-sp"].events + $c["skylake-sp"].umasks >= 2532 and $c["skylake-sp"].units == 9 and
	([$c["cascadelake-sp", "cooperlake-sp"] | .events + .umasks >= 2643 and .units == 9] | all) and
	$c["granite-rapids"].events + $c["granite-rapids"].umasks >= 845 and $c["granite-rapids"].units == 14 and
	([$c["sierra-forest", "clearwater-forest"] | .events + .umasks >= 773 and .units == 14] | all) and
	$c["grand-ridge"].events + $c["grand-ridge"].umasks >= 436 and $c["grand-ridge"].units == 7 and
	$c["emerald-rapids"].umasks >= 2304'
result "cpus -j: as many events as the sources have"
json '(map({(.cpu): ([.family] + .models)}) | add) | .montecito[0] == 32 and
	.["emerald-rapids"] == [6, "0xcf"] and .["sandybridge-ep"] == [6, "0x2d"]'
result "families and models of CPUs"

# ---- what is known of a CPU

# How many of them $cpu has.
size() # WHAT
{
	"$UNCORE" cpus -j | jq --arg cpu "$cpu" --arg what "$1" '.[] | select(.cpu == $cpu) | .[$what]'
}

folder() # CPU
{
	awk -v cpu="$1" '$1 == "cpu" && $2 == cpu {
		folder = cpu
		for (i = 3; i <= NF; i++)
			if (sub(/^folder=/, "", $i))
				folder = $i
		print folder
	}' "$SRCDIR/eventtables/cpus.tbl"
}

# What one unit counts of all is whole without the others.
one_counts_for_all() # CPU TYPE.EVENT[:UMASK]
{
	awk -v event="${2#*.}" '{ split(event, name, ":") } $1 == "event" { here = $2 == name[1] }
		here && ($1 == "event" || $2 == name[2]) && / aggregate=one / { found = 1 }
		END { exit !found }' "$SRCDIR/eventtables/$(folder "$1")/${2%%.*}.events"
}

# ---- listings

for cpu in $some_cpus; do
	run list -c "$cpu" -j
	[ $status -eq 0 ] && json '(["unit","event","umask","name","code","ctl","counters",
		"filters","desc"] - (.[0] | keys)) == [] and all(.[]; (.ctl | test("^0x[0-9a-f]+$"))
		and (.desc | length > 3) and (.filters | type == "object")
		and (.counter != null or (.counters | length > 0)))'
	result "$cpu: list -j"
	json '[.[].name] | length == (unique | length)'; result "$cpu: names are listed once"
	cp "$tmp/out" "$tmp/list"
	# Every 20th name: what is listed is what it encodes to.
	jq -c '[.[] | select(.needs == [])] | .[range(0; length; 20)] | {name, ctl, counters, filters}' "$tmp/list" >"$tmp/rows"
	wrong=0
	: >"$tmp/encoded"
	for name in $(jq -r .name "$tmp/rows"); do
		run encode -c "$cpu" -j "$name"
		cat "$tmp/out" >>"$tmp/encoded"
		[ $status -eq 0 ] || { wrong=$((wrong + 1)); echo "# $name: status $status"; }
	done
	jq -c '{name, ctl, counters, filters}' "$tmp/encoded" | diff "$tmp/rows" - >"$tmp/differ" ||
		{ wrong=$((wrong + 1)); sed 's/^/# /' "$tmp/differ"; }
	[ $wrong -eq 0 ] && [ -s "$tmp/rows" ] && [ "$(jq 'length' "$tmp/list")" -ge "$(size events)" ]
	result "$cpu: names encode to what is listed"
	wrong=0
	for name in $(jq -r '.[] | select(.needs != []) | .name' "$tmp/list" | head -n 3); do
		run encode -c "$cpu" "$name"
		refused 2 "" || wrong=$((wrong + 1))
	done
	[ $wrong -eq 0 ]; result "$cpu: a name that needs a field is refused without it"
	event=$(jq -r '.[0].event' "$tmp/list")
	run list -c "$cpu" -j "$(echo "$event" | tr '[:upper:]' '[:lower:]')"
	[ $status -eq 0 ] && json "length > 0 and all(.[]; .name | contains(\"$event\"))"
	result "$cpu: a part of a name, in lower case"
	run list -c "$cpu" -j "*.$event"
	[ "$(jq -r '.[] | select(.umask == null) | .event' "$tmp/list" | grep -cx "$event")" -eq \
		"$(jq length "$tmp/out")" ] || json "all(.[]; .event == \"$event\")"
	result "$cpu: a pattern is for the whole name"
	run registers -c "$cpu" -j
	[ $status -eq 0 ] && json "length >= 4 * $(size units)" &&
		json 'all(.[]; (.address | test("^0x[0-9a-f]+$")) and
		(.width == 32 or .width == 64) and .index >= 0 and
		(if .space == "pci" then (.device | test("^[0-9a-f]{2}\\.[0-7]$")) and
			(.device_id | . == null or test("^0x[0-9a-f]{4}$"))
		elif .space == "mmio" then (.bar | length > 0)
		else (.space | . == "msr" or . == "pmu" or . == "perf") end))'
	result "$cpu: registers -j"
	run metrics -c "$cpu" -j
	[ $status -eq 0 ] && json '(["name","of","formula","needs","passes","available","reason",
		"desc"] - (.[0] | keys)) == [] and all(.[]; if .available then .passes > 0 and
		.reason == null else (.reason | length > 5) and .passes == 0 end)'
	result "$cpu: metrics -j; one that is not available says why"
	json 'map(select(.of == "portable") | .name) as $have | ["memory_read_bytes",
		"memory_write_bytes", "memory_read_latency_ns", "llc_lookups", "llc_misses",
		"llc_miss_ratio", "link_tx_bytes", "link_rx_bytes", "link_utilization",
		"pcie_read_bytes", "pcie_write_bytes", "uncore_frequency_hz",
		"dram_page_hit_ratio", "remote_access_ratio"] - $have == []'
	result "$cpu: the portable set is complete"
	run list -c "$cpu" && ! grep -q SIMULATED "$tmp/out"; result "$cpu: list as text"
	run units -c "$cpu" -j && json 'length > 0 and all(.[]; .available | not)'
	result "$cpu: units of a CPU that is not here are not available"
	run encode -c "$cpu" NO.SUCH; refused 2 ""; result "$cpu: unknown event"
done

# ---- encoding. Intel 327043-001 (E5-2600 uncore guide): iMC registers and CAS_COUNT, section
# 2.5; CBo registers, section 2.3.

if has sandybridge-ep; then
	run encode -c sandybridge-ep -j imc.cas_count:rd
	[ $status -eq 0 ] && json '.name == "imc.CAS_COUNT:RD" and .unit == "imc" and
		.ctl == "0x400304" and .counters == [0,1,2,3] and .filters == {}'
	result "encode -j"
	json '.writes | all(.[]; .unit == "imc" and .space == "pci") and
		(map(select(.register == "CTL3")) | length == 1 and .[0].address == "0xe4" and
		.[0].width == 32 and .[0].value == "0x400304") and any(.[]; .address == "0xf4")'
	result "encode -j: the writes of one unit, for the highest counter of the event"
	run encode -c sandybridge-ep -j cbo.TOR_INSERTS:MISS_OPCODE:opc=0x182
	[ $status -eq 0 ] && json '.ctl == "0x400335" and (.filters | length == 1) and
		(.filters[] | test("^0xc1000")) and
		(.writes | any(.[]; .address == "0xd14") and any(.[]; .address == "0xd11"))'
	result "encode -j: a filter (opc in bits 31:23 of 0xd14)"
	run encode -c sandybridge-ep imc.CAS_COUNT:RD && grep -q 0x400304 "$tmp/out"
	result "encode as text"
	run encode -c sandybridge-ep imc.CAS_COUNT:NONE; refused 2 "NONE"; result "unknown umask"
	run encode -c sandybridge-ep imc.CAS_COUNT:RD:thresh=999; refused 2 "thresh"
	result "a value that does not fit"
	run encode -c sandybridge-ep imc.CAS_COUNT:RD:opc=1; refused 2 "opc"
	result "a field that the unit lacks"
	run decode -c sandybridge-ep -j imc CTL0=0x400304
	[ $status -eq 0 ] && json '.name == "imc.CAS_COUNT:RD" and .note == null and
		(.fields | map({(.field): .value}) | add | .ev_sel == "0x4" and .umask == "0x3" and
		.en == "0x1")'
	result "decode -j"
	run decode -c sandybridge-ep cbo CTL=0x400335 BOX_FILTER=0xc1000000
	[ "$(head -n 1 "$tmp/out")" = "cbo.TOR_INSERTS:MISS_OPCODE:opc=0x182" ]
	result "decode: a control and a filter"
	run decode -c sandybridge-ep cbo CTL=0x400335 && grep -q "BOX_FILTER, which is not given" "$tmp/out"
	result "decode: a filter that is missing"
	run decode -c sandybridge-ep imc CTL=0x4000FF
	[ $status -eq 1 ] && grep -qx 'no event of imc has control 0x4000ff' "$tmp/out" && grep -q 'ev_sel *0xff' "$tmp/out"
	result "decode: a control of no event: its fields, and status 1"
	run decode -c sandybridge-ep cbo CTL; refused 2 "'CTL' is not REGISTER=VALUE"
	result "decode: no value"
	run decode -c sandybridge-ep cbo CTL=x; refused 2 "'x'"; result "decode: not a number"
	run decode -c sandybridge-ep cbo FOO=1; refused 2 "no register FOO"
	result "decode: unknown register"
	run encode -c sandybridge-ep -j imc.CAS_COUNT:RD:socket=1
	[ $status -eq 0 ] && json '.name == "imc.CAS_COUNT:RD:socket=1" and [.writes[].register] == ["CTR3", "CTL3", "BOX_CTL"]'
	result "encode: of a socket"
	# An event of a view: the registers are those of the type behind it (Intel 308065-001, table 3-6:
	# plm 0xF, pm, es 0x8A, umask 0xF, ism 2).
	run encode -c montecito -j bus.BUS_MEMORY:ALL_ANY
	[ $status -eq 0 ] && json '.unit == "bus" and .ctl == "0x20f8a4f" and .counters == [4,5,6,7,8,9] and
		(.writes | any(.[]; .unit == "core" and .register == "PMC9" and .space == "pmu" and
		.address == "0x9" and .value == "0x20f8a4f"))'
	result "encode -j: an event of a view"
	run encode -c nehalem-ep -j core.OFFCORE_RESPONSE_0.DATA_IFETCH.LOCAL_DRAM
	[ $status -eq 0 ] && json '.ctl == "0x1b7" and .filters == {"OFFCORE_RSP_0": "0x4077"} and
		(.writes | any(.[]; .space == "perf" and .address == "0x1b7" and .value == "0x4077"))'
	result "encode -j: an event of the kernel"
	# MEM_BW_READS is CAS_COUNT.RD * 64: Intel 327043-001, iMC derived metrics.
	run eval -c sandybridge-ep -j imc.MEM_BW_READS imc.CAS_COUNT:RD=1e6
	[ $status -eq 0 ] && json '. == {"metric": "imc.MEM_BW_READS", "value": 64000000}'
	result "eval -j"
	run eval -c sandybridge-ep imc.MEM_BW_READS imc.CAS_COUNT.RD=2
	[ "$(cat "$tmp/out")" = "imc.MEM_BW_READS = 128 bytes" ]; result "eval as text"
	run eval -c sandybridge-ep imc.MEM_BW_READS; refused 2 "imc.CAS_COUNT:RD"
	result "eval: a missing count"
	run eval -c sandybridge-ep imc.MEM_BW_READS imc.CAS_COUNT:RD=-1; refused 2 "'-1'"
	result "eval: a count that is none"
	run eval -c sandybridge-ep imc.MEM_BW_READS imc.CAS_COUNT:RD=1 imc.CAS_COUNT.RD=1
	refused 2 "given twice"; result "eval: a count given twice"
	run eval -c emerald-rapids cha.LLC_MPI cha.LLC_LOOKUP:MISS_ALL=5 INST_RETIRED=10
	refused 1 "needs a core counter: retired instructions"; result "eval: what no unit counts"
	run eval -c sandybridge-ep no_such_metric; refused 2 "no_such_metric"
	result "eval: unknown metric"
	needs=$("$UNCORE" metrics -c sandybridge-ep -j imc.PCT_RD_REQUESTS |
		jq -r '.[0].needs[] | . + "=0"')
	# shellcheck disable=SC2086
	run eval -c sandybridge-ep imc.PCT_RD_REQUESTS $needs; refused 1 "denominator"
	result "eval: a denominator of 0 is a failure"
	run eval -c sandybridge-ep imc.MEM_BW_READS imc.CAS_COUNT:RD=1e307; refused 1 "overflows"
	result "eval: an overflow is a failure, and is no denominator"
	run eval -c sandybridge-ep imc.MEM_BW_READS imc.CAS_COUNT:RD=1 imc.CAS_COUNT:WR=1
	refused 2 "does not need imc.CAS_COUNT:WR; it needs imc.CAS_COUNT:RD"
	result "eval: a count that the formula does not use"
	run decode -c sandybridge-ep imc CTL0=0x400304 CTL1=0x400c04; refused 2 "two controls"
	result "decode: two controls"
	run encode -c sandybridge-ep -j cbo.COUNTER0_OCCUPANCY:thresh=1
	[ $status -eq 0 ] && json '.ctl == "0x140001f" and .writes == [] and
		(.note | contains("RxR_OCCUPANCY, TOR_OCCUPANCY on counter 0"))'
	result "encode: an event that needs another one beside it"
fi

# ---- access methods

export UNCORE_SIM=sandybridge-ep
UNCORE_ACCESS=nonsense run units; refused 2 "no access method 'nonsense'; there are "
result "UNCORE_ACCESS: no such method, and those that there are"
UNCORE_ACCESS=nonsense run units -j --access direct && json 'any(.[]; .available)'
result "--access wins over UNCORE_ACCESS"
wrong=
for c in units metrics stat; do
	run $c --access msr,nonsense
	refused 2 "no access method 'nonsense'" || wrong="$wrong $c"
done
run doctor --access nonsense; [ $status -eq 1 ] && grep -q '^FAIL' "$tmp/out" || wrong="$wrong doctor"
[ -z "$wrong" ] || echo "# accepted:$wrong"
[ -z "$wrong" ]; result "--access: no such method, of each command"
run units -c montecito --access direct; refused 2 "either, not both"
result "--access of tables without a machine"
unset UNCORE_SIM

# ---- a machine without anything

mkdir "$tmp/empty"
for c in units doctor stat; do
	UNCORE_SYSROOT=$tmp/empty run $c
	if [ $c = doctor ]; then
		[ $status -eq 1 ] && grep -q FAIL "$tmp/out" && grep -q -e '->' "$tmp/out"
	else
		refused 1 ""
	fi
	result "$c on a machine that cannot be identified"
done
run doctor -j
json 'length > 0 and all(.[]; keys == ["check","detail","ok","remedy"] and (.detail | length > 3)
	and (.ok or (.remedy | length > 3)))' &&
	[ "$(jq 'all(.[]; .ok)' "$tmp/out")" = "$([ $status -eq 0 ] && echo true || echo false)" ]
result "doctor -j; its status says whether a check failed"

# ---- simulated machines

# The dynamic loader says which files it opens.
loads_simulator() { LD_DEBUG=files timeout 60 "$UNCORE" "$@" 2>&1 >"$tmp/out" | grep -q 'libuncore-sim\.so'; }
status=none
: >"$tmp/err"
cpu=$(echo "$cpus" | head -n 1)
! loads_simulator list -c "$cpu" && ! loads_simulator doctor && UNCORE_SIM=$cpu loads_simulator units
result "the simulator is loaded where a simulated machine is asked for, and else not"

for cpu in $some_cpus; do
	export UNCORE_SIM="$cpu"
	run units -j
	[ $status -eq 0 ] && json '(map(.socket) | unique) == [0,1] and any(.[]; .available) and
		all(.[]; .simulated and .index >= 0 and if .available then (.location | length > 3) and
		(.reason == null or (.reason | startswith("part "))) else (.reason | length > 5) end)'
	result "$cpu: units -j of two sockets"
	if grep -qx "machine $cpu-1s" "$SRCDIR/eventtables/variants"; then
		UNCORE_SIM=$cpu,sockets=1 run units -j && json '(map(.socket) | unique) == [0]'
		result "$cpu: a machine of one socket"
	fi
	silent=
	for c in units metrics list registers doctor "stat -d 0.05"; do
		# shellcheck disable=SC2086
		run $c
		head -n 1 "$tmp/out" | grep -q "^SIMULATED $cpu" || silent="$silent $c"
	done
	[ -z "$silent" ]
	result "$cpu: every listing says SIMULATED"
	run doctor -j && json 'all(.[]; .ok)'; result "$cpu: doctor"
	# The event that counts lines read from memory, and its unit.
	reads=$("$UNCORE" metrics -j memory_read_bytes | jq -r '.[0].needs[0]')
	unit=${reads%%.*}
	# Events of a view count on the units of another type. Of one that only discovery places there are no writes.
	units=$("$UNCORE" encode -j "$reads" | jq -r --arg unit "$unit" '.writes[0].unit // $unit')
	only=$("$UNCORE" metrics -j memory_read_bytes | jq '.[0].needs | length == 1')
	# Three intervals, or fewer on a machine too busy for them.
	run stat -j -d 0.3 -I 100 -e "$reads" -m memory_read_bytes
	[ $status -eq 0 ] && jq -es --arg reads "$reads" --argjson only "$only" 'length >= 1 and length <= 3 and all(.[]; .simulated and .interval > 0 and
		(.events[$reads] as $lines | $lines > 0 and
		(.metrics.memory_read_bytes / 64 |
			if $only then . == $lines else . >= $lines end))) and
		.[-1].time > 0.25' "$tmp/out" >/dev/null
	result "$cpu: stat -I -j: each interval by itself, bytes are 64 a line read"
	run stat -j -d 0.2 -e "$reads" --per-socket
	[ $status -eq 0 ] && json ".events | keys == [\"$reads:socket=0\", \"$reads:socket=1\"] and
		all(.[]; . > 0)"
	result "$cpu: stat --per-socket"
	run stat -j -d 0.2 -e "$reads:socket=1" --per-unit
	n=$("$UNCORE" units -j | jq --arg unit "$units" \
		'map(select(.unit == $unit and .socket == 1 and .available)) | length')
	[ $status -eq 0 ] && json ".events | length == $n and all(.[]; . > 0) and
		all(keys[]; test(\"^$unit[0-9]+[.]${reads#*.}:socket=1\$\"))"
	result "$cpu: stat --per-unit"
	run stat -x, -d 0.1 -e "$reads" -m memory_read_bytes
	[ $status -eq 0 ] && sed -n 1p "$tmp/out" | grep -q '^# SIMULATED' &&
		[ "$(sed -n 2p "$tmp/out")" = time,clock,interval,socket,unit,name,value,measure,share,units,of,reason ] &&
		sed -n 3p "$tmp/out" | grep -Eq "^0\.[0-9]+,[0-9T:.+-]+,0\.[0-9]+,,,$reads,[0-9]+,count,1,([0-9]+),\1,\$" &&
		sed -n 4p "$tmp/out" |
			grep -Eq '^0\.[0-9]+,[0-9T:.+-]+,0\.[0-9]+,,,memory_read_bytes,[0-9.e+]+,bytes,1,([0-9]+),\1,$'
	result "$cpu: stat -x,"
	# More events of one unit than it has counters.
	events=$("$UNCORE" list -j | jq -r --arg unit "$unit" '
		([.[] | select(.unit == $unit) | .counters | length] | max) as $all |
		[.[] | select(.unit == $unit and .needs == [] and (.counters | length) == $all)] |
		.[0:$all + 3] | map(.name) | join(",")')
	n=$(echo "$events" | tr ',' '\n' | wc -l)
	run stat -j -d 0.4 -e "$events"
	[ $status -eq 0 ] && grep -q "needs 2 passes: the counters are too few for all events at once, so each pass counts for 1/2 of the time" "$tmp/err" &&
		json ".passes == 2 and (.invalid // {}) as \$hardly | (.events | length == $n and any(.[]; . != null) and
			all(to_entries[]; .value != null or \$hardly[.key] != null))" # a busy machine leaves a pass little time
	result "$cpu: stat in passes"
	run stat -e "$unit.NO_SUCH"; refused 2 "NO_SUCH"; result "$cpu: stat: unknown event"
	run stat -m no_such; refused 2 "no_such"; result "$cpu: stat: unknown metric"
	hidden=$(without "$cpu" "$units" "[0, 1]") || continue
	UNCORE_SIM=$hidden run stat -d 0.1
	refused 1 "$unit"; result "$cpu: stat: units that cannot be read, with the reason"
	# A socket without the units: a sum over the other is marked, by itself it has none. Each name is told of
	# once; those with the same units of as many share a line.
	hidden=$(without "$cpu" "$units" "[1]")
	if one_counts_for_all "$cpu" "$reads"; then
		UNCORE_SIM=$hidden run stat -j -d 0.05 -m memory_read_bytes
		[ $status -eq 0 ] && json '.partial == null' && [ ! -s "$tmp/err" ]
		result "$cpu: stat: an event of all agents"
	else
		UNCORE_SIM=$hidden run stat -j -d 0.05 -m memory_read_bytes -e "$reads"
		[ $status -eq 0 ] && json "(.partial | keys) == ([\"$reads\", \"memory_read_bytes\"] | sort) and
			all(.partial[]; .units > 0 and .units < .of and (.reason | test(\"^${units}[0-9]+ [(]socket 1[)]( and [0-9]+ more)?: .\"))) and
			.metrics.memory_read_bytes > 0 and .invalid == null" &&
			! grep -Evq "^uncore: ($reads|memory_read_bytes)(, ($reads|memory_read_bytes))?: [0-9]+ of [0-9]+ units: ${units}[0-9]+ \(socket 1\)" "$tmp/err" &&
			[ "$(grep -Eo "$reads|memory_read_bytes" "$tmp/err" | sort | uniq -c | awk '{ print $1 }')" = "1
1" ]
		result "$cpu: stat: a sum of fewer units is marked"
		UNCORE_SIM=$hidden run stat -d 0.05 -m memory_read_bytes
		[ $status -eq 0 ] && grep -Eq 'B/s  [0-9]+ of [0-9]+ units$' "$tmp/out"
		result "$cpu: stat: a sum of fewer units is marked, as text"
	fi
	UNCORE_SIM=$hidden run stat -j -d 0.05 --per-socket -e "$reads"
	[ $status -eq 0 ] && json ".events[\"$reads:socket=0\"] > 0 and .events[\"$reads:socket=1\"] == null and
		(.invalid | keys == [\"$reads:socket=1\"] and (.[] | length > 10)) and .partial == null" &&
		grep -q "^uncore: $reads:socket=1: " "$tmp/err"
	result "$cpu: stat --per-socket: a socket without such units"
done

export UNCORE_SIM=emerald-rapids
# ---- stat: commands, signals, files

UNCORE_SIM=$(echo "$cpus" | head -n 1)
export UNCORE_SIM
run stat sh -c 'sleep 0.1; exit 7'
[ $status -eq 7 ] && grep -q 'GB/s$' "$tmp/err"; result "stat COMMAND: its exit status"
run stat -j -o "$tmp/report" -- echo from the command
[ $status -eq 0 ] && [ "$(cat "$tmp/out")" = "from the command" ] &&
	jq -e '.metrics.memory_read_bytes >= 0' "$tmp/report" >/dev/null
result "stat -o: the command's output is its own"
run stat -- sh -c 'kill -TERM $$'; [ $status -eq 143 ]; result "stat COMMAND: ended by a signal"
run stat "$tmp/no such program"; refused 127 "no such program"; result "stat: no such program"
run stat "$tmp"; refused 126 "cannot run"; result "stat: not a program"
# What the command sleeps for is not measured. A busy machine may wake up later: then once more.
for try in 1 2 3 4 5 6 7 8 9 10; do
	run stat -d 0.1 sh -c 'sleep 1.5; exit 5'
	[ $status -eq 5 ] && grep -Eq '^(0|1\.[0-4])[0-9.]* s measured' "$tmp/err" && break
done
result "stat -d: counting ends before the command"
# The first report tells that it counts. A shell ignores INT and QUIT for what runs in the background. Which signals end
# it is test_stat_signals'; here one of each sort, with ALL=1 each.
[ "${ALL-}" = 1 ] && signals="HUP INT QUIT USR1 USR2 ALRM TERM XCPU" || signals="INT TERM"
for signal in $signals; do
	: >"$tmp/out"
	env --default-signal="$signal" "$UNCORE" stat -j -I 20 >"$tmp/out" 2>"$tmp/err" &
	until [ -s "$tmp/out" ] || ! kill -0 $!; do sleep 0.02; done
	kill -"$signal" $!
	wait $!
	status=$?
	calm "$tmp/err"
	[ $status -eq 0 ] && [ ! -s "$tmp/err" ] && json '.metrics.memory_read_bytes >= 0'
	result "stat ends on SIG$signal, its reports are whole"
done
# A file that may not grow (512 bytes) is an error, not the end by SIGXFSZ
(ulimit -f 1 && exec timeout 60 "$UNCORE" stat -j -I 1 -o "$tmp/short") >"$tmp/out" 2>"$tmp/err"
status=$?
calm "$tmp/err"
refused 1 "cannot write the report: File too large"; result "stat: a report beyond the limit of files"
(ulimit -f 1 && exec timeout 60 "$UNCORE" stat -- sh -c 'exec yes >"$0"' "$tmp/short") >"$tmp/out" 2>"$tmp/err"
status=$?
[ $status -eq 153 ]; result "stat COMMAND: a command has the limits of files as ever"
"$UNCORE" stat >"$tmp/out" 2>"$tmp/err" \
	sh -c 'trap "exit 9" TERM; : >"$0"; for i in $(seq 200); do sleep 0.05; done' "$tmp/ready" &
until [ -e "$tmp/ready" ]; do sleep 0.02; done
kill -TERM $!
wait $!
status=$?
[ $status -eq 9 ] && grep -q 's measured' "$tmp/err"; result "stat COMMAND hands SIGTERM on"
{ "$UNCORE" stat -I 20 -d 20 2>"$tmp/err"; echo $? >"$tmp/status"; } | head -n 4 >"$tmp/out"
status=$(cat "$tmp/status")
calm "$tmp/err"
[ "$status" -eq 141 ] && [ ! -s "$tmp/err" ]; result "stat ends, without a word, when nobody reads any more"
run stat -I 0; refused 2 "-I"; result "stat: an interval that is none"
run stat -d nan; refused 2 "-d"; result "stat: a duration that is none"
run stat -e imc.X,,imc.Y; refused 2 "imc.X"; result "stat: an unknown or empty name"
run stat -j -x,; refused 2 "-x"; result "stat: two forms"
wrong=
for socket in zz -5 1junk "" +1 " 1" 0x 1:socket=0 64 99999999999999999999; do
	for option in --per-unit --per-socket -j; do
		run stat -d 0.1 $option -m "memory_read_bytes:socket=$socket"
		refused 2 "socket=" || wrong="$wrong '$socket' ($option)"
	done
done
[ -n "$wrong" ] && echo "# accepted:$wrong"
[ -z "$wrong" ]; result "stat: a socket that is no number"
UNCORE_SIM=emerald-rapids run stat -d 0.1 --per-unit -m memory_read_bytes:socket=2
refused 2 "this machine has sockets 0 to 1"; result "stat --per-unit: a socket that is not there"
UNCORE_SIM=emerald-rapids run stat -d 0.1 --per-unit -e imc.CAS_COUNT:RD:socket=2
refused 2 "this machine has sockets 0 to 1"; result "stat --per-unit: a socket that is not there, an event"
for name in memory_read_bytes:socket=zz memory_read_bytes:socket=-5 memory_read_bytes:socket=1junk \
	memory_read_bytes:socket=7 imc.MEM_BW_READS:socket=7; do
	wrong= && : >"$tmp/said"
	for option in "" --per-unit --per-socket; do
		UNCORE_SIM=emerald-rapids run stat -d 0.1 $option -m $name
		refused 2 "${name%%:*}" || wrong=$option
		cat "$tmp/err" >>"$tmp/said"
	done
	[ -z "$wrong" ] && [ "$(sort -u "$tmp/said" | wc -l)" -eq 1 ]
	result "stat -m $name: the same sentence, by units, by sockets and of all"
done
UNCORE_SIM=emerald-rapids run stat -j -d 0.1 --per-unit -m memory_read_bytes:socket=0x1
[ $status -eq 0 ] && json '.metrics | length == 8 and all(keys[]; test("^memory_read_bytes:unit=[0-7]:socket=1$"))'
result "stat --per-unit: a socket in hexadecimal; a portable metric at each of its units"
UNCORE_SIM=sapphire-rapids run stat -j -d 0.1 --per-unit -m memory_read_bytes
[ $status -eq 0 ] && json '.metrics | keys == ["memory_read_bytes:socket=0", "memory_read_bytes:socket=1"]' &&
	grep -Fqx "uncore: note: memory_read_bytes: it is of no single unit type; each socket has a value" "$tmp/err"
result "stat --per-unit: a metric that has no value of a unit says so"
run stat -o "$tmp/none/report" -d 0.1; refused 1 "$tmp/none/report"
result "stat: a file that cannot be written"

# ---- a CPU that no table is for: one CHA in its discovery table (Intel 817509-001, tables 1-13 and 1-14)

unset UNCORE_SIM
next=$tmp/next pci=$tmp/next/sys/bus/pci/devices/0000:00:00.1
mkdir -p "$next/proc" "$next/dev" "$pci"
printf 'processor : 0\nvendor_id : GenuineIntel\ncpu family : 6\nmodel : 210\nmodel name : Next\nflags : fpu\nphysical id : 0\ncore id : 0\n' \
	>"$next/proc/cpuinfo"

# put FILE OFFSET OCTAL: bytes at a place.
put()
{
	printf "$3" | dd of="$1" bs=1 seek="$2" conv=notrunc 2>/dev/null
}
truncate -s 4096 "$pci/config"
truncate -s 8192 "$next/dev/mem"
put "$pci/config" 0 '\206\200\247\011'
put "$pci/config" 16 '\000\020\000\000'
put "$pci/config" 256 '\043\000\001\000\206\200\000\001\001\000\000\000'
put "$next/dev/mem" 4096 '\001\003\001\000\000\000\000\000\360\057'
put "$next/dev/mem" 4120 '\004\002\060\010\001\000\000\000\000\040'
UNCORE_SYSROOT=$next run list -j
[ "$status" -eq 1 ] && [ ! -s "$tmp/out" ] && grep -q '^uncore: this CPU (Next, .*) has no uncore monitors that are known here; ' "$tmp/err" &&
	grep -q "; there are tables for montecito, .*, $("$UNCORE" cpus -j | jq -r '.[-1].cpu'), and UNCORE_SIM=emerald-rapids simulates one;" "$tmp/err" &&
	grep -q '^uncore: type 0, cha of emerald-rapids: 1 unit; access msr, 4 counters of 48 bits, .* at 0x2000$' "$tmp/err"
result "list: a CPU that no table is for, its nearest, and what its discovery table lists"
UNCORE_SYSROOT=$next run doctor -j
json '[.[] | select(.check == "discovery") | .ok] == [true, true] and .[0].check == "cpu" and (.[0].ok | not)'
result "doctor -j: the same"

# ---- PCIe stacks: their buses and devices, of a machine whose sysfs has links as Linux makes them

root=$tmp/stacks
mkdir -p "$root/proc" "$root/dev/cpu/0" "$root/sys/bus/pci/devices" "$root/sys/bus/event_source/devices/uncore_iio_1" \
	"$root/sys/devices/pci0000:16/0000:16:00.0/0000:17:00.0/net/eth2" "$root/sys/devices/pci0000:16/0000:16:00.0/0000:17:00.0/infiniband/mlx5_0"
truncate -s 65536 "$root/dev/cpu/0/msr"
printf 'processor : 0\nvendor_id : GenuineIntel\ncpu family : 6\nmodel : 85\nmodel name : test\nstepping : 4\nphysical id : 0\ncore id : 0\n\n' >"$root/proc/cpuinfo"
echo 0000:16 >"$root/sys/bus/event_source/devices/uncore_iio_1/die0"
echo 0x060400 >"$root/sys/devices/pci0000:16/0000:16:00.0/class"
echo 0x020000 >"$root/sys/devices/pci0000:16/0000:16:00.0/0000:17:00.0/class"
ln -s ../../../devices/pci0000:16/0000:16:00.0 "$root/sys/bus/pci/devices"
ln -s ../../../devices/pci0000:16/0000:16:00.0/0000:17:00.0 "$root/sys/bus/pci/devices"
UNCORE_SYSROOT=$root run units -j
json '(.[] | select(.unit == "iio" and .index == 1) | [.bus, .devices]) ==
	["0000:16", [{"port":0,"address":"0000:17:00.0","names":["mlx5_0","eth2"],"ports":[0]}]]'
result "units -j: a stack has its bus and its devices"
json '(.[] | select(.unit == "iio" and .index == 2) | [.bus, .devices]) == [null, []] and
	all(.[] | select(.unit != "iio"); has("bus") | not)'
result "units -j: a bus that is not known is null"
UNCORE_SYSROOT=$root run units -v
grep -q 'bus 0000:16' "$tmp/out" && grep -q 'port 0  0000:17:00.0  mlx5_0,eth2' "$tmp/out" &&
	grep -q 'the kernel does not tell which root bus the stack has' "$tmp/out"
result "units -v: the same, and why a bus is not known"

# Registers as bytes of a file lie upon each other: what one session leaves there is not what it found.
clear_registers()
{
	: >"$root/dev/cpu/0/msr" && truncate -s 65536 "$root/dev/cpu/0/msr"
}
clear_registers
UNCORE_SYSROOT=$root UNCORE_RUN=$tmp/stackruns run stat -d 0.01 --json-lines --per-device -m pcie_write_bytes
jq -se '(map(select(.device.address != null)) | map([.name, .unit, .device])) ==
	[["pcie_write_bytes:device=0000_17_00_0", "iio1",
	  {"address":"0000:17:00.0","names":["mlx5_0","eth2"],"port":0,"ports":[0],"stack":1}]] and
	(map(select(.device == null) | [.name, .unit]) == [[0, 2, 3, 4, 5][] | ["pcie_write_bytes", "iio\(.)"]])' "$tmp/out" >/dev/null
result "stat --per-device: a device, and one row for a stack without a bus"
grep -q 'the devices below them are not known: iio0 of socket 0: the kernel does not tell' "$tmp/err"
result "and why these are shown"
clear_registers
UNCORE_SYSROOT=$root UNCORE_RUN=$tmp/stackruns run stat -d 0.01 --per-device -m pcie_write_bytes
grep -q '^pcie_write_bytes:unit=0:socket=0 .* (devices not known)$' "$tmp/out" &&
	grep -q '^pcie_write_bytes:device=0000_17_00_0 .* (mlx5_0 eth2)$' "$tmp/out"
result "and as text"
# A card is taken out and put back while that runs: 600 s are its end only if it never says so.
card=$root/sys/bus/pci/devices/0000:17:00.0
clear_registers
rm -f "$tmp/plugged" "$tmp/said"
UNCORE_SYSROOT=$root UNCORE_RUN=$tmp/stackruns "$UNCORE" stat -I 20 -d 600 --json-lines --per-device -m pcie_write_bytes \
	>"$tmp/plugged" 2>"$tmp/said" &
pid=$!
says() # TEXT: in FILE, before it ends
{
	until grep -q "$1" "$2"; do
		kill -0 $pid 2>/dev/null || break
		sleep 0.1
	done
	grep -q "$1" "$2"
}
says mlx5_0 "$tmp/plugged" && rm "$card" &&
	says 'the devices below port 0 of stack 1 (socket 0) have changed: now nothing' "$tmp/said"
result "stat --per-device: a card that is taken out is told"
ln -s ../../../devices/pci0000:16/0000:16:00.0/0000:17:00.0 "$card" &&
	says 'the devices below port 0 of stack 1 (socket 0) have changed: now mlx5_0 eth2' "$tmp/said"
result "and one that is put in; the number stays that of the port"
kill -INT $pid
wait $pid

# A device that the user names: its row has that name, and says what shares the port; gone, it is told as well.
clear_registers
UNCORE_SYSROOT=$root UNCORE_RUN=$tmp/stackruns run stat -d 0.01 --json-lines -m pcie_write_bytes:device=mlx5_0
jq -se 'map([.name, .unit]) == [["pcie_write_bytes:device=mlx5_0", "iio1"]]' "$tmp/out" >/dev/null && ! grep -q share "$tmp/err"
result "stat: a device that is named keeps its name; two names of one function share nothing"
clear_registers
rm -f "$tmp/plugged" "$tmp/said"
UNCORE_SYSROOT=$root UNCORE_RUN=$tmp/stackruns "$UNCORE" stat -I 20 -d 600 --json-lines -m pcie_write_bytes:device=mlx5_0 \
	>"$tmp/plugged" 2>"$tmp/said" &
pid=$!
says mlx5_0 "$tmp/plugged" && rm "$card" &&
	says 'the devices below port 0 of stack 1 (socket 0) have changed: now nothing' "$tmp/said"
[ $? -eq 0 ] || { cp "$tmp/said" "$tmp/err"; false; }
result "stat: a device that is named and taken out is told"
kill -INT $pid
wait $pid
# Two functions without a driver, below one port: their model by pci.ids.
port=$root/sys/devices/pci0000:16/0000:16:02.0
mkdir -p "$root/usr/share/misc"
printf '10de  NVIDIA Corporation\n\t2330  GH100 [H100 SXM5 80GB]\n' >"$root/usr/share/misc/pci.ids"
for function in 0000:20:00.0 0000:21:00.0; do
	mkdir -p "$port/$function"
	echo 0x030200 >"$port/$function/class"
	echo 0x10de >"$port/$function/vendor"
	echo 0x2330 >"$port/$function/device"
	ln -s "../../../devices/pci0000:16/0000:16:02.0/$function" "$root/sys/bus/pci/devices"
done
clear_registers
UNCORE_SYSROOT=$root UNCORE_RUN=$tmp/stackruns run stat -d 0.01 --per-device -m pcie_write_bytes
grep -q '^pcie_write_bytes:device=0000_20_00_0 .* (2 x H100 SXM5 80GB)$' "$tmp/out"
result "stat --per-device: devices without a driver are named by their model"
# workload.tbl: a port has some hundred MB/s; the links are those of machine emerald-rapids-devices.
UNCORE_SIM=emerald-rapids-devices run stat -d 0.1 --per-device -m pcie_read_bytes,pcie_write_bytes
awk '/^pcie_/ { gsub(",", ""); match($0, /[0-9]+ bytes/); n = substr($0, RSTART) + 0; metric = substr($0, 1, 8)
	if (metric == last && n > before) bad = 1; last = metric; before = n; rows++ } END { exit !(rows > 40 && !bad) }' "$tmp/out"
result "stat --per-device: the ports of a metric stand by their bytes"
grep -q ' % of gen5 x4 .*(nvme0)$' "$tmp/out" && grep -q ' % of gen5 x16 .*(card1 card2)$' "$tmp/out"
result "stat --per-device: what share of its link a port has"
UNCORE_SIM=emerald-rapids-devices run stat -d 0.1 -m pcie_read_bytes:device=mlx5_0,pcie_read_bytes:device=mlx5_1,pcie_read_bytes:device=nvme0
grep -q '^pcie_read_bytes:device=mlx5_0 ' "$tmp/out" && grep -q '^pcie_read_bytes:device=mlx5_1 ' "$tmp/out" &&
	[ "$(grep -c '^uncore: note: pcie_read_bytes:device=mlx5_[01]: 3 devices share the port, and the value is of all of them: mlx5_0 eth0 mlx5_1 eth1 0000:0d:00.2$' "$tmp/err")" = 2 ] &&
	! grep -q 'device=nvme0: ' "$tmp/err"
result "stat: what shares the port of a device that is named"

# ---- NUMA nodes: a third of a socket's memory channels each

UNCORE_SIM=granite-rapids-snc3 run stat -d 0.1 --json-lines --per-node -m memory_read_bytes
jq -se 'map([.node, .socket, .name, .units, .of]) == [range(6) | [., (. / 3 | floor), "memory_read_bytes:node=\(.)", 4, 4]]' "$tmp/out" >/dev/null
result "stat --per-node: the channels of each"
UNCORE_SIM=granite-rapids-snc3 run stat -d 0.1 -j --per-node -m link_tx_bytes,memory_read_bytes
[ $status -eq 0 ] && [ -s "$tmp/out" ] &&
	json '(.invalid | length == 6 and all(test("upi units are known by socket only"))) and
		([.metrics | to_entries[] | select(.key | test("memory_read_bytes:node=")) | .value] | length == 6 and all(. > 0))'
result "what only sockets have says so, and is left out alone"
UNCORE_SIM=granite-rapids-snc3 run stat -d 0.1 --per-node -m link_tx_bytes
refused 1 'link_tx_bytes:node=0: upi.TxL_FLITS:ALL_DATA:socket=0 of node 0: upi units are known by socket only'
result "and alone is refused with that sentence"

# By registers, on simulated machines: the two ports that have the traffic (workload.tbl: 0.6 and 0.4 of a stack's bytes) add up to all
# ports, and devices are where machine CPU-devices has them.
for row in skylake-sp:1:2 icelake-sp:0:2 sapphire-rapids:1:4 emerald-rapids:1:4 granite-rapids:2:4 sierra-forest:2:4; do
	cpu=${row%%:*} unit=${row#*:} middle=${row##*:}
	echo "$some_cpus" | grep -qx "$cpu" || continue
	unit=${unit%:*}
	export UNCORE_SIM=$cpu-devices
	run units -j
	json '[.[] | select(.unit == "iio" and .devices != []) | .devices[] | .port] | (index(0) and index('"$middle"')) != null' &&
		json '[.[] | select(.unit == "iio") | .bus | strings] | length > 0 and length == (unique | length)'
	result "$cpu: units -j: each stack has a bus of its own, devices are on the ports with traffic"
	all=iio$unit.DATA_REQ_OF_CPU:MEM_WRITE.PART0
	case $cpu in
	skylake-sp) mask=0xF ;;
	*) mask=0xFF ;;
	esac
	run stat -j -d 0.2 -e "$all:ch_mask=$mask:socket=0,$all:ch_mask=0x1:socket=0"
	json '.events | to_entries | map(.value) | (max > 0) and (min / max > 0.599 and min / max < 0.601)'
	result "$cpu: stat: the first port has six tenths of the stack's bytes"
	for metric in pcie_write_bytes pcie_outbound_read_bytes; do
		run stat -d 0.5 --json-lines --per-device -m $metric
		cp "$tmp/out" "$tmp/devices"
		run stat -d 0.2 --json-lines -m $metric
		jq -se --slurpfile all "$tmp/out" '(map(.value / .interval) | add) / ($all[0] | .value / .interval) |
			. > 0.98 and . < 1.02' "$tmp/devices" >/dev/null
		result "$cpu: stat --per-device: devices have all of $metric"
		jq -se 'map(select(.value > 0 and .device.address != null)) | group_by([.socket, .unit]) |
			map(select(length == 2) | (map(.value) | max) / (map(.value) | add)) |
			length > 3 and all(. > 0.58 and . < 0.62)' "$tmp/devices" >/dev/null
		result "$cpu: stat --per-device: six tenths and four of the stack, $metric"
	done
done
UNCORE_SIM=$(broken emerald-rapids-devices-unprivileged)
export UNCORE_SIM
run units -v
grep -q 'the kernel does not tell which root bus the stack has; pci .*: CAP_SYS_ADMIN is needed for more' "$tmp/out"
result "units -v: which right is missing"
UNCORE_SIM=granite-rapids run units -v
grep -q 'PCI function 8086:09a6, which gives it' "$tmp/out"
result "units -v: what is not there"
unset UNCORE_SIM

# ---- text is as wide as the terminal. Sentences on stderr are lines for programs too; JSON and separated values are not
# for people.

cat >"$tmp/narrow" <<'ROWS'
cpus
list
list -v CAS_COUNT
list -c montecito -v
list -c nehalem-ep -v
list -c granite-rapids
metrics
metrics -c icelake-sp -v
groups
groups -c montecito
units
units -c emerald-rapids
units -v
doctor
counters
release --force
registers
registers --values
encode cha.TOR_INSERTS:IA_MISS_DRD
encode -c sandybridge-ep cbo.TOR_INSERTS:MISS_OPCODE:opc=0x182
encode -c sandybridge-ep cbo.COUNTER0_OCCUPANCY:thresh=1
decode -c sandybridge-ep cbo CTL=0x400335 BOX_FILTER=0xc1000000
eval -c sandybridge-ep imc.MEM_BW_READS imc.CAS_COUNT:RD=1e9
help
help stat
version
stat -d 0.01 --per-socket -g OVERVIEW
stat -d 0.01 -I 5 --per-unit -m memory_read_bytes
stat -d 0.01 --per-device -g OVERVIEW
stat -d 0.01 --per-node -m memory_read_bytes,memory_write_bytes
stat -r 2 -d 0.01 --per-socket
top -n 1 -I 20
ROWS
for machine in emerald-rapids-devices "$(broken sandybridge-ep-no-imc3@1),memory=1600" montecito granite-rapids-snc3; do
	wide=
	while read -r row; do
		[ "${row#encode cha}" = "$row" ] || [ "${machine#emerald}" != "$machine" ] || continue
		for columns in 80 200; do
			# shellcheck disable=SC2086
			COLUMNS=$columns LC_ALL=C.UTF-8 UNCORE_SIM=$machine run $row
			[ $status -ne 2 ] && [ "$(wc -L <"$tmp/out")" -le $columns ] || wide="$wide; $row ($columns)"
		done
	done <"$tmp/narrow"
	[ -z "$wide" ] || echo "# wider, or refused: $wide"
	[ -z "$wide" ]; result "${machine##*/}: no line is wider than the terminal"
done
# A word that is longer than a line is broken; what nothing tells is 80; a width that is none is as if it were not there.
UNCORE_SIM=emerald-rapids COLUMNS=20 run encode cha.TOR_INSERTS:IA_MISS_DRD
[ "$(head -n 2 "$tmp/out" | tr -d '\n')" = cha.TOR_INSERTS:IA_MISS_DRD ]
result "COLUMNS=20: a name of 27 letters has two lines"
for columns in "" 0 -5 80x; do
	COLUMNS=80 UNCORE_SIM=emerald-rapids "$UNCORE" list memory >"$tmp/out"
	COLUMNS=$columns UNCORE_SIM=emerald-rapids "$UNCORE" list memory </dev/null 2>&1 | cmp -s - "$tmp/out" || break
done
result "COLUMNS that is no width: 80"

finish
