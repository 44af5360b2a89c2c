#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The command groups, of all CPUs. What a group is to hold: eventtables/groups.tbl.

: "${SRCDIR:=$(cd "$(dirname "$0")/../.." && pwd)}" "${BUILD:=$PWD}"
unset UNCORE_SIM UNCORE_SYSROOT UNCORE_ACCESS UNCORE_SITE
command -v jq >/dev/null || { echo "1..0 # SKIP no jq; install jq"; exit 0; }
title=groups
. "$SRCDIR/tests/integration/result.inc"

refused() # STATUS TEXT
{
	[ "$status" -eq "$1" ] && [ "$(wc -l <"$tmp/err")" -eq 1 ] && grep -qF -- "$2" "$tmp/err"
}

json()
{
	[ -s "$tmp/out" ] && jq -e "$@" "$tmp/out" >/dev/null
}

sed -n 's/^group \([A-Z0-9_]*\) .*/\1/p' "$SRCDIR/eventtables/groups.tbl" >"$tmp/groups"
[ -s "$tmp/groups" ] || echo "# no group in groups.tbl"

for cpu in $("$UNCORE" cpus -j | jq -r '.[].cpu'); do
	run groups -c "$cpu" -j
	[ $status -eq 0 ] && jq -r '.[].group' "$tmp/out" | cmp -s - "$tmp/groups" &&
		json 'all(.[]; keys == (["group","desc","items","passes","available","reason"] | sort) and
			(.desc | length > 10) and (if .available then (.items | length > 0) and .passes > 0
			else .passes == 0 and (.reason | length > 5) end))'
	result "$cpu: groups -j has all of groups.tbl"
	json '[.[].items | length == (unique | length)] | all'; result "$cpu: each item once"
	{ "$UNCORE" metrics -c "$cpu" -j | jq '[.[] | select(.available) | .name]'
		"$UNCORE" list -c "$cpu" -j | jq '[.[].name]'; } | jq -s add >"$tmp/names"
	json --slurpfile names "$tmp/names" '[.[].items[]] - $names[0] == []'
	result "$cpu: each item is a metric that is available, or an event"
done

run groups -c emerald-rapids
[ $status -eq 0 ] && grep -q '^GROUP ' "$tmp/out" && grep -q '^MEM  *1  ' "$tmp/out" &&
	sed -n '/^MEM /,/^L3 /p' "$tmp/out" | grep -q '^    memory_read_bytes, memory_write_bytes, '
result "groups as text: passes, and the items below"
run groups -c emerald-rapids mem -j
[ $status -eq 0 ] && json 'length == 1 and .[0].group == "MEM"'; result "one group, whatever the case"
run groups -c emerald-rapids LINKS; refused 2 "LINK"; result "no such group: the nearest"
run groups MEM L3 -c emerald-rapids; refused 2 "unexpected argument 'L3'"; result "one group at a time"
cat >"$tmp/site.conf" <<'TABLE'
[group OURS]
title = what this site looks at
item = memory_read_bytes
item = memory_write_bytes
TABLE
UNCORE_SITE=$tmp/site.conf run groups -c emerald-rapids OURS -j
[ $status -eq 0 ] && json '.[0] == {"group": "OURS", "desc": "what this site looks at",
	"items": ["memory_read_bytes", "memory_write_bytes"], "passes": 1, "available": true,
	"reason": null}'
result "a group of the site"

# One wrong word in it: one line on stderr, once, whatever else is asked for.
echo 'itme = llc_misses' >>"$tmp/site.conf"
for command in "list imc.CAS_COUNT:RD" "encode imc.CAS_COUNT:RD" "encode -c sandybridge-ep imc.CAS_COUNT:RD" units metrics "stat -d 0.01" counters; do
	for verbose in "" -v; do
		[ "$verbose" = "" ] || [ "${command#stat}" != "$command" ] || continue
		# shellcheck disable=SC2086
		UNCORE_SIM=sandybridge-ep UNCORE_SITE=$tmp/site.conf run $command $verbose
		[ $status -eq 0 ] && [ "$(cat "$tmp/err")" = "uncore: note: $tmp/site.conf:5: 'itme' is not a key of [group]; its keys are cpu, title, item: left out" ]
		result "a wrong word in a site's file: $command $verbose"
	done
done
UNCORE_SIM=sandybridge-ep UNCORE_SITE=$tmp/site.conf run doctor -j
[ $status -eq 1 ] && json 'map(select(.ok | not)) | length == 1 and .[0].check == "site" and (.[0].detail | test("site.conf:5: ")) and (.[0].remedy | length > 10)'
result "a wrong word in a site's file: the doctor fails"
UNCORE_SIM=sandybridge-ep UNCORE_SITE=$tmp/site.conf run stat -d 0.01 -g OURS
[ $status -eq 1 ] && grep -qF "uncore: group OURS: $tmp/site.conf:5: 'itme'" "$tmp/err"
result "a wrong word in a site's file: its group says why it cannot be had"

# A file of somebody else's does not drive the terminal, and a long word is cut.
printf '[group ODD]\ntitle = \033[2Jodd\n[group LONG]\ntitle = %05000d\n' 1 | sed '/^title/a item = memory_read_bytes' >"$tmp/odd.conf"
UNCORE_SIM=sandybridge-ep UNCORE_SITE=$tmp/odd.conf run groups
[ $status -eq 0 ] && grep -q 'ODD .*?\[2Jodd' "$tmp/out" && ! grep -q "$(printf '\033')" "$tmp/out" && awk 'length > 80 { bad = 1 } END { exit bad }' "$tmp/out"
result "groups: no control characters, and no line over 80 columns"

# What docs/cpus.md tells of the number of metrics.
"$UNCORE" cpus -j | jq -r '.[].metrics' | sort -u >"$tmp/counted"
sed -n '/^## What the tables hold/,/^## What was tested/p' "$SRCDIR/docs/cpus.md" | tr '\n' ' ' |
	grep -Eo '[0-9][0-9, and]* metrics' | grep -Eo '[0-9]+' | sort -u >"$tmp/told"
[ -s "$tmp/told" ] && [ -z "$(comm -23 "$tmp/told" "$tmp/counted")" ]
result "docs/cpus.md has as many metrics as the tables"
finish
