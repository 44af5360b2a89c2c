#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A machine without one of its PCI functions, and with a control of a unit that cannot be read or
# written: each number is what it is on the sound machine, or carries a mark, or is refused with a
# sentence. Two faults of each kind on three CPUs, drawn by PLACES_SEED. PLACES=all: each function
# and control of each CPU (hours), PLACES=N: so many of each kind. PLACES_CPUS, PLACES_KINDS: only
# these. ALL=1: another seed each time. Ends with a table.
. "$(dirname "$0")/fuse.inc"
front memory # ALL=1: through FUSE

pci=/sys/bus/pci/devices
: "${PLACES_SEED:=$([ -n "${ALL-}" ] && date +%s || echo 1)}"
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

# Events without a row in workload.tbl count a fraction of one more or less a unit, by which counter it
# is; a unit is more than a thousandth of all.
near() # NAME=NUMBER,...
{
	jq -e --arg truth "$1" '(.events + .metrics) as $n |
		[$truth | split(",")[] | capture("^(?<name>.*)=(?<value>[0-9.e+]+)$") |
		 (.value | tonumber) as $value | $n[.name] // 0 | . / $value - 1 | fabs < 1e-4] |
		all' "$dir/out" >/dev/null && [ "$status" -eq 0 ] && verdict=right
}

try() # CPU KIND TRUTH OPTION...
{
	cpu=$1 kind=$2 truth=$3
	shift 3
	right=0 marked=0 refused=0 wrong=0
	control reset
	[ "$kind" != functions ] || front fuse # the shell lists them
	faults "$kind" | draw >"$dir/faults"
	front memory
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
		[ "$verdict" != wrong ] || near "$known"
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

echo "1..$((7 + ($(echo "$kinds" | wc -w) + 1) * $(echo "$cpus" | wc -w)))"

# ---- places that were counted wrongly once: two sockets of 60e9 bytes/s each (portable.tbl)
bytes=memory_read_bytes=120000000000
hidden() # CPU FUNCTION VERDICT
{
	start_machine "$1"
	control "hide $pci/$2"
	real stat -j -d 1 -m memory_read_bytes
	judge $bytes
	[ "$verdict" = "$3" ]
	result $? "$1: $2 hidden: $verdict"
}
hidden icelake-sp 0000:7f:0c.0 right # its channels exist all the same, and show
hidden icelake-sp 0000:7f:0d.0 marked
hidden haswell-ep 0000:7f:17.1 marked
hidden broadwell-ep 0000:7f:17.1 marked

start_machine granite-rapids # of 252 CPUs a socket
control "text $pci/*/numa_node -1" "text $pci/*/local_cpulist 0-503"
real stat -j -d 1 -m memory_read_bytes,link_tx_bytes
exactly $bytes,link_tx_bytes=20000000000
result $? "granite-rapids, no NUMA nodes: the order of the UBoxes tells the sockets"

# Without discovery tables, numbers with gaps: the CHA's differ, all sockets lack the same IIO and IRP.
gone() # CPUS FIRST
{
	for offset in $(seq $(($2)) $(($2 + 15))); do
		control "fail read /dev/cpu/$1/msr $offset EIO"
	done
}
start_machine granite-rapids-no-discovery
control "value /dev/cpu/*/msr 0x3FED 125" # how many CHAs there are
gone 0 0x2110
gone 252 0x2300
gone "*" 0x2940
gone "*" 0x2A40
real units -j
[ "$(jq -c '[["cha", "iio", "irp"][] as $u | [.[] | select(.unit == $u)] |
	length, (map(select(.available)) | length)]' "$dir/out")" = '[250,250,30,30,30,30]' ]
result $? "granite-rapids: gaps in the numbers are no missing units"
gone 0 0x2120
gone 0 0x2950
gone "*" 0x2960
real units -j
[ "$(jq -c '[["cha", "iio", "irp"][] as $u | [.[] | select(.unit == $u)] |
	length, (map(select(.available)) | length)]' "$dir/out")" = '[250,249,30,27,30,30]' ]
result $? "granite-rapids: one too many is, and one whose partner is there"
stop_machine

# ---- each
for cpu in $cpus; do
	start_machine "$cpu"
	events=$(choose)
	set -- -e "$events" -m memory_read_bytes
	case $cpu in
	nehalem-ep | westmere-ep | grand-ridge | snow-ridge) ;; # has no links that are counted
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
