#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Finding what is meant: search words of list and metrics, and what is nearest to a wrong word.

: "${SRCDIR:=$(cd "$(dirname "$0")/../.." && pwd)}" "${BUILD:=$PWD}"
unset UNCORE_SIM UNCORE_SYSROOT UNCORE_ACCESS
command -v jq >/dev/null || { echo "1..0 # SKIP no jq; install jq"; exit 0; }
title=find
export COLUMNS=1000 # no line is folded: what is said of a name stands beside it
. "$SRCDIR/tests/integration/result.inc"

# refused STATUS SENTENCE: the last run ended so, with just this line on stderr.
refused()
{
	[ "$status" -eq "$1" ] && [ "$(cat "$tmp/err")" = "uncore: $2" ]
}

# first PATTERN: the number of the first line that holds it; 0: none.
first()
{
	n=$(grep -n -m 1 -e "$1" "$tmp/out" | cut -d: -f1)
	echo "${n:-0}"
}

json()
{
	[ -s "$tmp/out" ] && jq -e "$1" "$tmp/out" >/dev/null
}

cpu=emerald-rapids # CAS_COUNT, TOR_INSERTS and what they count: Intel 817509-001

# ---- list

run list -c $cpu
[ $status -eq 0 ] && [ "$(first '^METRIC ')" -eq 1 ] && [ "$(first '^memory_read_bytes ')" -eq 2 ] &&
	[ "$(first '^cha\.LLC_DRD_MISS_PCT ')" -gt "$(first '^remote_access_ratio ')" ] &&
	[ "$(first '^EVENT ')" -gt "$(first '^cha\.LLC_DRD_MISS_PCT ')" ] &&
	[ "$(first '^imc\.CAS_COUNT:RD ')" -gt "$(first '^EVENT ')" ]
result "list: portable metrics, then the CPU's, then events"

run list -c $cpu memory
[ $status -eq 0 ] && [ "$(first '^memory_read_bytes ')" -eq 2 ] &&
	[ "$(first '^memory_write_bytes ')" -eq 3 ] &&
	[ "$(first '^pcie_read_bytes ')" -gt "$(first '^memory_read_latency_ns ')" ] &&
	[ "$(first '^pcie_read_bytes ')" -lt "$(first '^EVENT ')" ]
result "list memory: those with the word in the name, then those with it in the description"
[ "$(sed -n "$(($(first '^EVENT ') + 1))p" "$tmp/out" | cut -d' ' -f1)" = pcu.MEMORY_PHASE_SHEDDING_CYCLES ]
result "list memory: so with events"
! grep -ivq -e memory -e ' not available: ' -e '^METRIC ' -e '^EVENT ' -e '^$' "$tmp/out"
result "list memory: each line has the word"
[ "$(first '^cha\.IMC_READS_COUNT:\.\. ')" -gt 0 ] && [ "$(first '^cha\.IMC_READS_COUNT:[A-Z]')" -eq 0 ]
result "list memory: an event whose description has it is one line, not one for each mask"
run list -c $cpu MeMoRy && [ "$(first '^memory_read_bytes ')" -eq 2 ]; result "list: whatever the case"

run list -c $cpu tor_ ddr local
[ $status -eq 0 ] && [ "$(head -n 1 "$tmp/out" | cut -d' ' -f1)" = EVENT ] &&
	[ "$(tail -n +2 "$tmp/out" | grep -c .)" -gt 1 ] &&
	[ "$(tail -n +2 "$tmp/out" | grep -i tor_ | grep -i ddr | grep -ic local)" -eq \
		"$(tail -n +2 "$tmp/out" | grep -c .)" ]
result "list: several words, all of them"
run list -c $cpu 'cas count'; refused 1 "no metric or event matches 'cas count'; nearest is CAS_COUNT"
result "list: a word with a blank in it is one word"
run list -c $cpu memory_read zzzzzzzzzzzz; refused 1 "no metric or event matches 'zzzzzzzzzzzz'"
result "list: the word that nothing has"
run list -c $cpu memory_read_bytes CAS_COUNT
refused 1 "no metric or event matches 'memory_read_bytes' and 'CAS_COUNT' together"
result "list: words that nothing has together"
run list -c $cpu 'imc.cas_count:*'
[ $status -eq 0 ] && [ "$(first '^EVENT ')" -eq 1 ] && ! tail -n +2 "$tmp/out" | grep -vq '^imc\.CAS_COUNT:'
result "list: a pattern is for the whole name"
run list -c $cpu '*memory_read*'; [ $status -eq 0 ] && [ "$(first '^memory_read_latency_ns ')" -gt 0 ] &&
	! grep -q '^EVENT ' "$tmp/out"
result "list: a pattern finds metrics, and no descriptions"
UNCORE_SIM=$cpu run list cas_count
[ "$(head -n 1 "$tmp/out")" = "SIMULATED $cpu: nothing here comes from hardware" ] &&
	[ "$(grep -c SIMULATED "$tmp/out")" -eq 1 ]
result "list of a simulated machine says so, once"

run list -j -c $cpu cas_count
[ $status -eq 0 ] && json 'length > 1 and all(.[]; .name | ascii_downcase | contains("cas_count"))'
result "list -j: where names have the word, only they"
run list -j -c $cpu "home agent"
[ $status -eq 0 ] && json 'length > 0 and all(.[]; (.name | contains("home agent") | not) and
	(.desc | ascii_downcase | contains("home agent")))'
result "list -j: else descriptions"
run list -j -c $cpu memory_read
refused 1 "no event matches 'memory_read', but metrics do: see 'uncore metrics'"
result "list -j: of metrics it says so"

# ---- metrics

run metrics -c $cpu dram
[ $status -eq 0 ] && [ "$(first '^METRIC ')" -eq 1 ] && [ "$(first '^dram_page_hit_ratio ')" -eq 2 ] &&
	[ "$(first '^memory_read_bytes ')" -gt 2 ]
result "metrics: names, then descriptions"
run metrics -j -c $cpu dram
[ $status -eq 0 ] && json 'length > 0 and all(.[]; .name | ascii_downcase | contains("dram"))'
result "metrics -j: names alone, if there are any"
run metrics -c $cpu cas_count; refused 1 "no metric matches 'cas_count', but events do: see 'uncore list'"
result "metrics: of events it says so"

# ---- the nearest: one letter left out, one too many, another one, two exchanged

nearest() # WANTED NEAREST
{
	run list -c $cpu "$1"
	refused 1 "no metric or event matches '$1'; nearest is $2"
	result "nearest to $1 is $2"
}
nearest memroy memory
nearest bandwdth bandwidth
nearest CAS_COUNTT CAS_COUNT
nearest CAS_CNT CAS_COUNT
nearest latenzy latency
run metrics -c $cpu memory_raed_bytes
refused 1 "no metric matches 'memory_raed_bytes'; nearest is memory_read_bytes"; result "nearest metric"
run lst; refused 2 "unknown command 'lst'; nearest is list; see 'uncore help'"; result "nearest command"
run help sttat; refused 2 "unknown command 'sttat'; nearest is stat; see 'uncore help'"
result "nearest command of help"
run doc; refused 2 "unknown command 'doc'; nearest is doctor; see 'uncore help'"
result "nearest command: its beginning"
run xxxxxxxx; refused 2 "unknown command 'xxxxxxxx'; see 'uncore help'"; result "a command that is near nothing"
run stat --per-soket
refused 2 "stat: unknown option '--per-soket'; nearest is --per-socket; see 'uncore help stat'"
result "nearest option"
run stat --inverval=3
refused 2 "stat: unknown option '--inverval=3'; nearest is --interval; see 'uncore help stat'"
result "nearest option with a value"
run stat --per
refused 2 "stat: unknown option '--per'; it could be --per-socket, --per-unit, --per-node, --per-device; see 'uncore help stat'"
result "an option that is the beginning of two"
run list --per-socket; refused 2 "list: unknown option '--per-socket'; see 'uncore help list'"
result "options of other commands are not near"

# ---- what people call it

for pair in "ddio TOR_INSERTS:IO_" "optane PMM" "numa remote_access_ratio"; do
	run list -c $cpu "${pair% *}"; [ "$status" -eq 0 ] && [ "$(first "${pair#* }")" -gt 0 ]; result "'${pair% *}' finds ${pair#* }"
done
run metrics -c $cpu page hit; [ "$status" -eq 0 ] && [ "$(first dram_page_hit_ratio)" -gt 0 ]; result "page hit finds dram_page_hit_ratio"
run encode -c $cpu 'uncore_imc_3/event=0x05,umask=0xcf/'; [ "$(first '^imc3.CAS_COUNT:RD$')" = 1 ]; result "encode: an event of perf"
UNCORE_SIM=$cpu run stat -j -d 0.05 -e 'uncore_imc/event=0x05,umask=0xcf/,imc.CAS_COUNT:WR,uncore_imc/event=5,umask=0xf0/'
json '.events | keys == ["imc.CAS_COUNT:RD", "imc.CAS_COUNT:WR"]'; result "stat: a comma between slashes is of the name"

# ---- the other kind

run encode -c $cpu memory_read_bytes:socket=0
refused 2 "memory_read_bytes:socket=0 is a metric, not an event: 'uncore metrics -v memory_read_bytes' shows the events that it is made of"
result "encode: a metric"
run eval -c $cpu imc.CAS_COUNT:RD imc.CAS_COUNT:RD=1
refused 2 "eval: imc.CAS_COUNT:RD is an event, not a metric: 'uncore encode' shows what it is in registers, 'uncore metrics -v' which events metrics are made of"
result "eval: an event"

finish
