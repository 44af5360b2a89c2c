#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A busy machine, at random: accesses take long by a schedule (`delays` in tests/fuse/room.h, VIRTUAL_DELAYS in
# virtual_clock.c), up to ten times the interval. Each value of each interval is within 1 % of what the workload counts
# in that interval, or carries a mark. Without delays, as each schedule is tried first, none carries one but `share`;
# with them none is told to be late whose counters were read within 1 % of its interval.
#
#   DELAYS=200 DELAYS_SEED=1000   so many schedules, from that seed on; each draws CPU, method, units, events, passes,
#                                 delays
#   CPUS="icelake-sp"             of these
#   METHODS=kernel                of registers (files of a virtual machine) and kernel (the model of its driver inside
#                                 the process)
#   LOAD=30                       so many busy processes beside
#   PLAIN=1                       without delays alone
#   SHOW=1                        what each did, and its worst value; 2: and each value that is silently wrong
. "$(dirname "$0")/fuse.inc"
front memory # ALL=1: through FUSE
: "${DELAYS:=12}" "${DELAYS_SEED:=1}" "${CPUS:=nehalem-ep sandybridge-ep icelake-sp emerald-rapids granite-rapids}"
: "${METHODS:=registers kernel}" "${LOAD:=0}" "${SHOW:=0}" "${PLAIN:=0}"

# ---- what a machine counts

# Rows "TYPE EVENT RATE sum|unit", of a unit in a second: eventtables/CPU/workload.tbl, worked out by awk. Left out are
# events with a filter, and those below a million, of which an interval counts too few to tell a per cent. unit: they do
# not add up over units, by their row.
rates_of() # CPU
{
	_tables=$SRCDIR/eventtables/$1
	sed -e ':a' -e '/\\$/{N;s/\\\n//;ba' -e '}' "$_tables"/*.events | awk '/^event / { name = $2 }
		/aggregate=/ && name != last { print "no_sum[\"" name "\"]"; last = name }' >"$dir/no_sum"
	{
		echo 'function row(type, event, rate, name) {'
		echo '	name = event; sub(/:.*/, "", name)'
		echo '	if (rate >= 1e6) print type, event, rate, name in no_sum ? "unit" : "sum" }'
		echo 'BEGIN { OFMT = "%.9g"; split("", no_sum)'
		cat "$dir/no_sum"
		sed -n -e "/ cpu=/{/ cpu=$1 /!d" -e '}' -e '/^rate core /d' -e '/^rate [^ ]* [^ ]*=/d' \
			-e 's/^let \([a-z0-9_]*\) *= *\([^#]*\).*/\1 = \2/p' \
			-e 's/^unit \([a-z0-9]*\) .*clock=\([0-9.e]*\).*/clocks["\1"] = \2/p' \
			-e 's/^rate \([a-z0-9]*\) \([^ ]*\) .*"\(.*\)"$/clock = clocks["\1"]; row("\1", "\2", \3)/p' \
			"$_tables/workload.tbl"
		echo '}'
	} >"$dir/rates.awk"
	awk -f "$dir/rates.awk"
}

# Bytes read from memory in a second, and read and written, of two sockets.
# nehalem-ep: mem_reads + isoc_high + isoc_critical = 1.2425e8, mem_full + part = 0.49e8 lines of 64 bytes a socket
# sandybridge-ep: read_miss + stream_part = 2.702e8, mem_writes = 1.142e8
# emerald-rapids: reads + partials = 15.5355e8, writes = vic_m_l + vic_m_r + stream_l + stream_r + all_dir_writes =
# (3.591 + 0.52 + 0.62 + 0.155 + 0.237) e8 = 5.123e8
# the others: load= of memory_read_bytes and memory_write_bytes in eventtables/portable.tbl, of a socket
memory_of() # CPU
{
	case $1 in
	nehalem-ep) echo "15904000000 22176000000" ;;
	sandybridge-ep) echo "34585600000 49203200000" ;;
	emerald-rapids) echo "198854400000 264428800000" ;;
	*) echo "120000000000 160000000000" ;;
	esac
}

# ---- what is tried

# Numbers of a seed: minstd (Park and Miller, "Random Number Generators: Good Ones Are Hard to Find", 1988), which a
# double holds exactly. It begins with a checksum, or neighbours would be alike.
chance='function draw(n) { state = state * 16807 % 2147483647; return int(state / 2147483647 * n) }'
state_of() # SEED
{
	echo $((1 + 0x$(echo "delays $1" | md5sum | cut -c 1-7)))
}

cpu_of() # SEED
{
	# shellcheck disable=SC2086 # words
	echo $CPUS | awk -v state="$(state_of "$1")" "$chance"'{ print $(1 + draw(NF)) }'
}

method_of() # SEED
{
	# shellcheck disable=SC2086 # words
	echo $METHODS | awk -v state="$(state_of "method $1")" "$chance"'{ print $(1 + draw(NF)) }'
}

# The run of a seed: $dir/run_is has its arguments, then the line of /control; $dir/truth rows "NAME RATE GRAIN KIND",
# where a sum may be so many counts off, and KIND per_second does not grow with time. Some of those with passes have
# intervals of a second, for delays leave 100 ms without a value most of the time.
draw_run() # SEED CPU
{
	_counters=4 # of a unit
	[ "$2" != nehalem-ep ] || _counters=8
	awk -v seed="$1" -v state="$(state_of "$1")" -v memory="$(memory_of "$2")" -v counters=$_counters \
		-v truth="$dir/truth" -v most=128 "$chance"'
	function want(name, rate, grain, kind) {
		list = list (list ? "," : "") name
		print name, rate, grain, kind >truth
	}
	# So many events of one type, of which some are left, and its units from one on; or their sums, where there are any.
	function events(n,    i, e, u, many, first, sums) {
		e = draw(n_rates)
		type = of[e]
		many = 1 + draw(n_units[type] < 64 ? n_units[type] : 64)
		if (many * n > most) many = int(most / n)
		first = draw(n_units[type])
		sums = draw(2) && n_units[type] <= 64
		for (i = 0; i < n && n_of[type]; i++) {
			e = draw(n_of[type])
			split(rate[type, e], r)
			rate[type, e] = rate[type, --n_of[type]]
			if (sums && r[3] == "sum")
				want(type "." r[1], r[2] * n_units[type], n_units[type], "total")
			else
				for (u = 0; u < many; u++) {
					split(unit[type, (first + u) % n_units[type]], at)
					want(type at[1] "." r[1] ":socket=" at[2], r[2], 1, "total")
				}
		}
	}
	FILENAME ~ /units$/ { unit[$1, n_units[$1] + 0] = $2 " " $3; n_units[$1]++; next }
	n_units[$1] { of[n_rates + 0] = $1; n_rates++; rate[$1, n_of[$1] + 0] = $2 " " $3 " " $4; n_of[$1]++ }
	END {
		draw(1) # the CPU
		split(memory, m)
		if (draw(4) == 0) {
			want("memory_read_bytes", m[1], 64 * 32, "total")
			want("memory_bandwidth", m[2], 0, "per_second")
			option = "-m"
		} else {
			passes = draw(4)
			events(counters * passes + 1 + draw(counters))
			option = "-e"
		}
		interval = passes && draw(2) ? 1 : 0.1
		split("2 5 20 100 500", one_in, " ")
		split("0.02 0.2 1 3 10", longest, " ")
		print "-I", 1000 * interval, "-d", 10 * interval, option, list
		print "delays", seed, one_in[1 + draw(5)], longest[1 + draw(5)] * interval
	}' "$dir/units" "$dir/rates" >"$dir/run_is"
}

# Each value of the last run, in $dir/values: "IS OFF NAME TIME", where IS is right (within 1 %), false (as right, but told
# to be late), marked, share (off with no mark but that it was measured in a part of the time) or wrong (without any:
# silently), and OFF by how many per cent. How many there are of each is in $right and so on, $values of all; $off is the
# worst of those that are wrong.
assess()
{
	jq -rs --rawfile truth "$dir/truth" '
		def key: split(":") | sort | join(":"); # umasks may come in another order
		def keys_of: (. // {}) | with_entries(.key |= key);
		# The most that is rounded to what the sentence has
		def seconds: (. // "") | (capture("read over (?<ms>[0-9.]+) ms").ms |
			(tonumber + 0.5 * pow(10; -(split(".")[1] // "" | length))) / 1000) // infinite;
		[$truth | split("\n")[] | select(. != "") | split(" ") |
		 {name: (.[0] | key), rate: (.[1] | tonumber), grain: (.[2] | tonumber), kind: .[3]}] as $all |
		.[] | (.events, .metrics, .partial, .unproven, .late, .invalid, .share) |= keys_of | . as $run |
		$all[] | .name as $name |
		(if .kind == "total" then .rate * $run.interval else .rate end) as $true |
		($run.events + $run.metrics)[$name] as $number |
		(if $number == null then 1 else ($number - $true | fabs) end) as $off |
		[(if $number != null and ($run.late[$name] | seconds) <= 0.01 * $run.interval then "false"
		  elif $run.late[$name] != null then "marked"
		  elif ($run.partial[$name] // $run.unproven[$name]) != null then "marked"
		  elif $number == null then (if $run.invalid[$name] != null then "marked" else "wrong" end)
		  elif $off <= 0.01 * $true + .grain then "right"
		  elif $run.share[$name] != null then "share" else "wrong" end),
		 (if $true > 0 then 100 * $off / $true else 0 end), $name, $run.time] | join(" ")' "$dir/out" >"$dir/values" 2>"$dir/jq" ||
		echo wrong 0 >"$dir/values"
	# Killed, or nothing at all
	[ "$status" -ne 137 ] && { [ -s "$dir/values" ] || grep -q '[a-z] [a-z]' "$dir/err"; } ||
		echo wrong 0 >"$dir/values"
	# shellcheck disable=SC2046 # words
	set -- $(awk '{ n[$1]++ } $1 == "wrong" && $2 > off { off = $2 }
		END { print NR, n["right"] + 0, n["marked"] + 0, n["false"] + 0, n["share"] + 0, n["wrong"] + 0,
		int(off + 0.999) }' "$dir/values")
	values=$1 right=$2 marked=$3 false=$4 share=$5 wrong=$6 off=$7
}

# The command on the machine; by the kernel's driver it is simulated in the process, and only its time is the machine's.
counting() # DELAYS ARGUMENT...
{
	if [ "$method" = registers ]; then
		control reset "$1"
		shift
		real "$@"
		return
	fi
	_schedule=$(echo "$1" | awk '$2 != "off" { printf "%s %s %.0f", $2, $3, $4 * 1e9 }') # in ns
	shift
	control reset
	in_memory
	# shellcheck disable=SC2086 # words
	${within:-} env --default-signal=HUP,INT,QUIT UNCORE_SIM="$cpu,kernel=on" UNCORE_RUN="$dir/run" SRCDIR="$SRCDIR" \
		VIRTUAL_CLOCK="$root/clock" VIRTUAL_DELAYS="$_schedule" $memory_variables LD_PRELOAD="$memory_module $clock" \
		LD_LIBRARY_PATH="$dir/kernel" "$uncore" "$@" >"$dir/out" 2>"$dir/err"
	status=$?
}

# The library with the model of the kernel's driver in it (simulated.c, driver.c), which the installed one has not.
kernel_library()
{
	mkdir "$dir/kernel" && for _file in simulated driver; do
		${CC:-cc} -std=c11 -D_GNU_SOURCE -DUNC_WRAPPED -O1 -fPIC -I"$SRCDIR/common" -c "$SRCDIR/tests/$_file.c" \
			-o "$dir/kernel/$_file.o" || return
	done && ${CC:-cc} -shared -o "$dir/kernel/libuncore.so.0" -Wl,-soname,libuncore.so.0 -Wl,-Bsymbolic-functions \
		-Wl,--version-script="$BUILD/common/libuncore.map" -Wl,--wrap=unc_machine_simulated "$dir/kernel/simulated.o" \
		"$dir/kernel/driver.o" -Wl,--whole-archive "$BUILD/common/.libs/libcore.a" "$BUILD/common/.libs/libsim.a" \
		-Wl,--no-whole-archive -lm -lpthread -ldl
}
case $METHODS in
*kernel*) kernel_library || exit 99 ;;
esac

run() # the one that was drawn, with these DELAYS
{
	# shellcheck disable=SC2046 # words
	within="timeout -s KILL 300" counting "$1" stat -j $(sed -n 1p "$dir/run_is")
	assess
}

show() # SEED WHAT
{
	echo "# $cpu by $method, seed $1, $2: status $status, $values values, $right right, $marked marked," \
		"$false falsely, $share wrong with a share, $wrong silently wrong, by $off %"
	sed 's/^/#   /' "$dir/run_is" "$dir/err" | cut -c 1-160 | head -n 5
	[ "$SHOW" -lt 2 ] || sed -nE 's/^(share|wrong|false) /#   &/p' "$dir/values"
}

try() # SEED
{
	draw_run "$1" "$cpu"
	run "delays off"
	plain=$((plain + values)) plain_bad=$((plain_bad + values - right))
	if [ "$values" -ne "$right" ] || [ "$status" -ne 0 ] || [ "$values" -eq 0 ]; then
		show "$1" "without delays"
		bad=$((bad + 1))
	fi
	[ "$PLAIN" -eq 0 ] || return
	run "$(sed -n 2p "$dir/run_is")"
	[ "$SHOW" -eq 0 ] || show "$1" "with delays"
	tried=$((tried + 1))
	[ "$values" -gt 0 ] || none=$((none + 1))
	all_values=$((all_values + values)) all_right=$((all_right + right)) all_marked=$((all_marked + marked))
	all_false=$((all_false + false)) all_share=$((all_share + share)) all_wrong=$((all_wrong + wrong))
	[ "$off" -le "$worst" ] || worst=$off
}

busy="" rows=""
for _ in $(seq "$LOAD"); do
	(while :; do :; done) &
	busy="$busy $!"
done
# shellcheck disable=SC2086 # words
trap 'stop_machine; [ -z "$busy" ] || kill $busy 2>/dev/null; rm -rf "$dir"' EXIT

plain=0 plain_bad=0 bad=0 falsely=0 silent=0 shared=0
# shellcheck disable=SC2086 # words
for cpu in $CPUS; do
	start_machine "$cpu"
	rates_of "$cpu" >"$dir/rates"
	real units -j
	jq -r '.[] | select(.available) | "\(.unit) \(.index) \(.socket)"' "$dir/out" >"$dir/units"
	for method in $METHODS; do
		tried=0 none=0 all_values=0 all_right=0 all_marked=0 all_false=0 all_share=0 all_wrong=0 worst=0
		for seed in $(seq "$DELAYS_SEED" $((DELAYS_SEED + DELAYS - 1))); do
			[ "$(cpu_of "$seed") $(method_of "$seed")" != "$cpu $method" ] || try "$seed"
		done
		[ $tried -gt 0 ] || continue
		rows="$rows# | \`$cpu\` | $method | $tried | $none | $all_values | $all_right | $all_marked | $all_false |\
 $all_share | $all_wrong | $worst |
"
		falsely=$((falsely + all_false)) silent=$((silent + all_wrong)) shared=$((shared + all_share))
	done
done
echo "# | CPU | method | schedules | without a value | values | right | marked | falsely | wrong with a share |" \
	"silently wrong | by % |"
echo "# |---|---|---|---|---|---|---|---|---|---|---|"
printf %s "$rows"
: >"$dir/out"
: >"$dir/err"
echo "1..3"
[ "$plain" -gt 0 ] && [ "$bad" -eq 0 ]
result $? "without delays, $plain values: $plain_bad marked or wrong"
[ $((silent + shared)) -eq 0 ]
result $? "$DELAYS schedules of delays: $silent values silently wrong, $shared wrong with a share"
[ "$falsely" -eq 0 ]
result $? "$falsely values told to be late that were read within 1 % of their interval"
