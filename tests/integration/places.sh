#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A machine without one of its PCI functions, and with a control of a unit that cannot be read or
# written: each number is what it is on the sound machine, or carries a mark, or is refused with a
# sentence. Two faults of each kind on three CPUs, drawn by PLACES_SEED. PLACES=all: each function
# and control of each CPU (hours), PLACES=N: so many of each kind. PLACES_CPUS, PLACES_KINDS: only
# these. Ends with a table.
. "$(dirname "$0")/fuse.inc"

pci=/sys/bus/pci/devices
: "${PLACES_SEED:=$(date +%s)}"
echo "# PLACES=${PLACES:=} PLACES_SEED=$PLACES_SEED"
awk -v seed="$PLACES_SEED" 'BEGIN { while (n++ < 2000) print seed, n }' >"$dir/random"
each=${PLACES:-2}
kinds=${PLACES_KINDS:-functions read write}
cpus=${PLACES_CPUS:-$(LD_LIBRARY_PATH=$BUILD/common/.libs "$uncore" cpus -j |
	jq -r '.[].cpu | select(. != "montecito")' | # its monitors are no files
	if [ -n "$PLACES" ]; then cat; else shuf -n 3 --random-source="$dir/random"; fi)}
table=
all_tried=0 all_right=0 all_marked=0 all_refused=0 all_wrong=0

row() # CPU FAULT TRIED RIGHT MARKED REFUSED WRONG
{
	printf '# %-15s %-22s %6d %6d %6d %7d %14d\n' "$@"
}

# The first event of each kind of unit that adds up over its units and needs nothing of the user.
choose()
{
	real units -j
	jq -r '[.[] | select(.available).unit] | unique | tojson' "$dir/out" >"$dir/types"
	real list -j
	jq -r --slurpfile types "$dir/types" '[.[] | select(.needs == [] and .filters == {} and
		(.event | test("CLOCK|CLK|CYCLES|NOTHING"; "i") | not)) |
		select(.unit as $u | $types[0] | index($u))] |
		group_by(.unit) | map(.[0].name) | join(",")' "$dir/out"
}

# What the sound machine counts: NAME=NUMBER,... Two sockets, each portable.tbl's load where there is
# no workload.tbl.
sound()
{
	jq -r '(.events + .metrics) | to_entries | map(select(.value > 0) |
		"\(.key)=\(.value)") | join(",")' "$dir/out"
}

# Each control of a unit of socket 0 on which something counts, "UNIT LINE". Registers in memory
# cannot fail.
controls() # read|write
{
	real units -j
	jq -c '[.[] | select(.socket == 0 and .available)] |
		map({key: "\(.unit)\(.index)", value: .location}) | from_entries' "$dir/out" >"$dir/where"
	real registers -j
	jq -r --arg op "$1" --slurpfile where "$dir/where" '
		.[] | select(.register | test("CTL[0-9]*$")) |
		($where[0]["\(.unit)\(.index)"] // empty | split(" ")[1]) as $at | .unit + " " +
		if .space == "msr" then "fail \($op) /dev/cpu/0/msr \(.address) EIO"
		elif .space == "pci" then "fail \($op) '$pci'/\($at)/config \(.address) EIO"
		else empty end' "$dir/out"
}

# The faults of a kind, "UNIT LINE".
faults() # functions|read|write
{
	if [ "$1" = functions ]; then
		for function in "$root$pci"/*; do
			[ ! -e "$function" ] || echo "- hide $pci/${function##*/}"
		done
	else
		controls "$1"
	fi
}

draw()
{
	if [ "$each" = all ]; then
		cat
	else
		shuf -n "$each" --random-source="$dir/random"
	fi
}

try() # CPU KIND TRUTH OPTION...
{
	cpu=$1 kind=$2 truth=$3
	shift 3
	right=0 marked=0 refused=0 wrong=0
	control reset
	faults "$kind" | draw >"$dir/faults"
	tried=0
	while read -r unit line; do
		known=$truth
		if [ "$unit" != - ]; then # what counts there, alone: another kind may refuse the run
			known=$(echo "$truth" | tr ',' '\n' | grep "^$unit\.") || continue
			set -- -e "${known%=*}"
		fi
		control reset "$line"
		real stat -j -d 1 "$@" </dev/null
		judge "$known"
		tally || echo "# $cpu, wrong: $line: $(cat "$dir/out")"
		tried=$((tried + 1))
	done <"$dir/faults"
	[ "$wrong" -eq 0 ]
	result $? "$cpu, $kind: $tried tried, $wrong silently wrong"
	table="$table$(row "$cpu" "$kind" $tried $right $marked $refused $wrong)
"
	all_tried=$((all_tried + tried)) all_right=$((all_right + right))
	all_marked=$((all_marked + marked)) all_refused=$((all_refused + refused))
	all_wrong=$((all_wrong + wrong))
}

echo "1..$((($(echo "$kinds" | wc -w) + 1) * $(echo "$cpus" | wc -w)))"
for cpu in $cpus; do
	start_machine "$cpu"
	events=$(choose)
	set -- -e "$events" -m memory_read_bytes
	case $cpu in
	nehalem-ep | westmere-ep) ;;
	*) set -- "$@" -m link_tx_bytes ;;
	esac
	real stat -j -d 1 "$@"
	truth=$(sound)
	exactly "$truth" && jq -e '.passes == 1' "$dir/out" >/dev/null
	result $? "$cpu: the sound machine carries no mark"
	for kind in $kinds; do
		try "$cpu" $kind "$truth" "$@"
	done
done
printf '# %-15s %-22s %6s %6s %6s %7s %14s\n' CPU fault tried right marked refused 'silently wrong'
printf '%s' "$table"
row all "" $all_tried $all_right $all_marked $all_refused $all_wrong
