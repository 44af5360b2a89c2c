#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Component intel_uncore in a real PAPI: listing, counting, high-level API, PAPI's own tests, MPI.
# TAP on stdout. BUILD: the build directory; PAPI_PREFIX: what scripts/build-papi made of it. The component passes names
# and values on: of the CPUs five are listed whole, with ALL=1 each; that each event of each CPU counts is
# test_session_every's.
set -u
unset UNCORE_SIM UNCORE_SYSROOT PAPI_EVENTS PAPI_VERBOSE PAPI_UNCORE_ROOT

skip_all()
{
	echo "1..0 # SKIP $*"
	exit 0
}
[ -n "${PAPI_PREFIX:-}" ] || skip_all "PAPI was not built (scripts/build-papi), or PAPI_PREFIX is not set"
[ -x "$PAPI_PREFIX/bin/papi_native_avail" ] || skip_all "no PAPI in $PAPI_PREFIX"
command -v jq >/dev/null || skip_all "jq is not installed"
: "${BUILD:?the build directory}"
bin=$PAPI_PREFIX/bin
libexec=$PAPI_PREFIX/libexec/intel_uncore
uncore=$BUILD/common/tool/uncore

here=$(cd "$(dirname "$0")" && pwd)
: "${SRCDIR:=${here%/tests/integration}}"
. "$here/broken.inc"
tmp=$(mktemp -d) || exit 99
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' HUP INT TERM
cd "$tmp" || exit 1

number=0
failures=0
ok() # NAME COMMAND...: passes if the command does; what that prints explains a failure
{
	name=$1
	shift
	number=$((number + 1))
	if "$@" >"$tmp/why" 2>&1; then
		echo "ok $number - papi: $name"
	else
		failures=$((failures + 1))
		echo "not ok $number - papi: $name"
		tail -n 30 "$tmp/why" | sed 's/^/#   /'
	fi
}

skip() # NAME REASON
{
	number=$((number + 1))
	echo "ok $number - papi: $1 # SKIP $2"
}

all() { [ "${ALL-}" = 1 ]; }
# Of a program that is run a second time, on files or under valgrind.
all && few= multi=intel_uncore_multi || few=INTEL_UNCORE_FEW=1 multi=

sim() # CPU COMMAND...
{
	machine=$1
	shift
	UNCORE_SIM=$machine "$@"
}

# ---- the component, active or not

component() # the lines of the component, the last of them if it is active
{
	"$bin/papi_component_avail" | grep -A 2 '^Name: *intel_uncore '
}

disabled_reason()
{
	component | sed -n 's/^ *\\-> Disabled: //p'
}

is() # EXPECTED COMMAND...: what the command prints
{
	echo "$1" >expected
	shift
	"$@" >actual 2>&1
	diff expected actual
}

is_active() # CPU TITLE
{
	sim "$1" component >avail
	cat avail
	grep -q "SIMULATED: Uncore of $2, 2 socket" avail && ! grep -q Disabled avail &&
		grep -q 'Native: [1-9][0-9]*, Preset: 0, Counters: [1-9]' avail
}

# The tool says the same of this machine: the first check of the doctor that fails or, if there are
# no tables for it, why it cannot be opened.
names_the_cause()
{
	disabled_reason >reason
	"$uncore" doctor -j | jq -r 'map(select(.ok | not))[0].detail' >check
	"$uncore" units >/dev/null 2>tool
	cat reason check tool
	[ -s reason ] && ! grep -q "Not initialized" reason &&
		{ grep -Fqf check reason || grep -Fqf reason tool; }
}

machine_root() # NAME MODEL [FLAGS]: /proc/cpuinfo of a machine, and nothing else
{
	mkdir -p "$1/proc"
	printf '%s\t: %s\n' processor 0 vendor_id GenuineIntel 'cpu family' 6 model "$2" \
		'model name' "CPU of $1" 'physical id' 0 'core id' 0 flags "fpu msr ${3:-}" >"$1/proc/cpuinfo"
}

disabled_on() # NAME
{
	UNCORE_SYSROOT=$tmp/$1 disabled_reason 2>/dev/null
}

no_tables()
{
	disabled_on unknown >reason
	UNCORE_SYSROOT=$tmp/unknown "$uncore" units >tool 2>&1
	cat reason tool
	[ -s reason ] && grep -q 'family 6 model 0x1)' reason && grep -Fqf reason tool
}

library_missing()
{
	PAPI_UNCORE_ROOT=$tmp/nowhere disabled_reason | tee reason
	grep -q "^libuncore cannot be loaded ($tmp/nowhere/lib/libuncore.so.0: .*PAPI_UNCORE_ROOT" reason
}

bad_machine()
{
	sim no-such-cpu disabled_reason | tee reason
	sim no-such-cpu "$uncore" units >tool 2>&1
	[ -s reason ] && grep -q no-such-cpu reason && grep -Fqf reason tool
}

other_version()
{
	sim emerald-rapids env PAPI_UNCORE_ROOT="$libexec/shim" SHIM_API_VERSION=0x40001 \
		"$bin/papi_component_avail" | sed -n 's/^ *\\-> Disabled: \(libuncore\)/\1/p' >reason
	cat reason
	grep -qx 'libuncore [0-9.]* has interface 4.1, the component was compiled for 3.[0-9]*: compile PAPI anew' reason
}

# ---- the listing, against what the tool lists

list() # CPU: listing-CPU is made
{
	began=$(date +%s%N)
	sim "$1" "$bin/papi_native_avail" >native || return 1
	took=$((($(date +%s%N) - began) / 1000000))
	sed '1,/Native Events in Component: intel_uncore/d; /Native Events in Component/,$d' native >"listing-$1"
	echo "# $1: papi_native_avail took $took ms," \
		"$(grep -c '^| intel_uncore:::' "listing-$1") events, $(wc -l <"listing-$1") lines" >&3
	grep -q '^| intel_uncore:::' "listing-$1"
}

# What the tool lists of the unit types that the machine has (all of every_type), umasks included.
countable() # CPU JQ
{
	sim "$1" "$uncore" list -c "$1" -j | jq -r --rawfile types "types-$1" \
		'($types | split("\n")) as $here | .[] | select(.unit | IN($here[])) | '"$2"
}

metrics() # CPU: portable ones first
{
	sim "$1" "$uncore" metrics -j | jq -r 'map(select(.available))
		| map(select(.of == "portable")) + map(select(.of != "portable")) | .[].name'
}

same_names() # CPU: events and metrics
{
	sed -n 's/^| intel_uncore:::\([^ ]*\) .*/\1/p' "listing-$1" | LC_ALL=C sort >actual
	{
		countable "$1" '.unit + "." + .event'
		metrics "$1"
	} | LC_ALL=C sort -u >expected
	[ -s expected ] && diff expected actual
}

# Metrics first, portable ones before the CPU's own, as the tool has them; then the events.
in_order() # CPU
{
	metrics "$1" >expected
	sed -n 's/^| intel_uncore:::\([^ ]*\) .*/\1/p' "listing-$1" >names
	[ -s expected ] && head -n "$(wc -l <expected)" names | diff expected -
}

# Units are a line of each base event, and of nothing else.
units_once() # CPU
{
	awk '/^\| intel_uncore:::/ { names++; base = 1 }
		/^\|     :/ { base = 0 }
		/^\|     Units: / { units++; if (!base || !/ SIMULATED /) { print; bad = 1 } }
		END { print names, units; exit bad || !names || names != units }' "listing-$1"
}

# The tool lists what can be counted alone; of the others PAPI's listing says why they cannot.
same_umasks() # CPU
{
	awk 'function flush() {
			if (umask != "" && text !~ /only with another umask| - not available: /)
				print event umask
			umask = ""
		}
		/^\| intel_uncore:::/ || /^\|     :/ || /^---/ || /^$/ { flush() }
		/^\| intel_uncore:::/ { event = substr($2, 16) }
		/^\|     :/ { umask = $2 ~ /=/ ? "" : $2; text = "" }
		/^\|            / { text = text substr($0, 14, 66) }
		END { flush() }' "listing-$1" | LC_ALL=C sort >actual
	countable "$1" 'select(.umask != null) | .unit + "." + .event + ":" + .umask' |
		LC_ALL=C sort >expected
	[ -s expected ] && diff expected actual
}

# The line below a name is its description, which says SIMULATED.
described() # CPU
{
	awk '/^\| intel_uncore:::/ { name = $2; getline
		if ($0 !~ /^\|            SIMULATED: ./) { print name ": " $0; bad = 1 } }
		END { exit bad || !name }' "listing-$1"
}

# The tool's: types of which the machine has units, and the views, whose events such units count.
unit_types() # CPU
{
	units=$(sim "$1" "$uncore" units -j | jq -r 'map(.unit) | unique | .[]')
	sim "$1" "$uncore" list -j | jq -r 'group_by(.unit) | .[] | (map(select(.needs == [])) + .)[0].name' |
		while read -r name; do
			of=$(sim "$1" "$uncore" encode -j "$name" | jq -r '.unit, .writes[0].unit')
			! echo "$of" | grep -Fqx "$units" || echo "${name%%.*}"
		done
}

every_type() # CPU TYPE...: those that have units, and the views of them
{
	listing=listing-$1
	echo "$@" | tr ' ' '\n' | sed 1d >"types-$1"
	shift
	for type; do
		grep -q "^| intel_uncore:::$type\.[A-Z]" "$listing" ||
			{ echo "no event of $type"; return 1; }
	done
}

hidden="PCI function 10.5 (8086:3cb5) is not visible: hidden by the BIOS, or this machine has none"

# One line for each name that lacks a unit, though PAPI gives the list again and again.
partial_warnings()
{
	sim "$(broken sandybridge-ep-no-imc3@1)" env PAPI_VERBOSE=1 "$bin/papi_command_line" \
		intel_uncore:::memory_read_bytes intel_uncore:::memory_read_bytes:socket=0 \
		intel_uncore:::imc.CAS_COUNT:RD:socket=1 intel_uncore:::cbo.CLOCKTICKS >out 2>err
	cat out err
	for name in memory_read_bytes imc.CAS_COUNT:RD:socket=1; do
		echo "PAPI Warning: intel_uncore: $name: partial sum, without imc3 (socket 1): $hidden"
	done >expected
	grep 'PAPI Warning' err | diff expected - && [ "$(grep -c '^Successfully added' out)" = 4 ]
}

description() # MACHINE EVENT: as one line
{
	sim "$1" "$bin/papi_native_avail" -e "intel_uncore:::$2" | sed -n 's/^Description: *//p'
}

partial_descriptions()
{
	for event in memory_read_bytes imc.CAS_COUNT imc.CAS_COUNT:RD:socket=1; do
		description "$(broken sandybridge-ep-no-imc3@1)" $event | tee out
		grep -Fq "(partial sum, without imc3 (socket 1): $hidden)" out || return 1
	done
	for event in cbo.CLOCKTICKS imc.CAS_COUNT:RD:socket=0; do
		description "$(broken sandybridge-ep-no-imc3@1)" $event | tee out
		[ -s out ] && ! grep -q partial out || return 1
	done
	description "$(broken sandybridge-ep-no-imc3)" memory_read_bytes | tee out
	grep -Fq "(partial sum, without imc3 (socket 0) and 1 more: $hidden)" out
}

one_event()
{
	sim emerald-rapids "$bin/papi_native_avail" -e intel_uncore:::imc.CAS_COUNT | tee out
	grep -q '^Event name: *intel_uncore:::imc.CAS_COUNT$' out && grep -q ':RD -- ..*' out &&
		grep -q ':socket=0 -- Socket \[0-1\]' out && grep -q ':unit=0 -- Unit' out &&
		grep -q ':thresh=0 -- ..*\[0-' out
}

# A view's units are those of the type that it is a view of: here the threads of a socket, two of
# two cores.
one_view()
{
	sim montecito "$bin/papi_native_avail" -e intel_uncore:::l3.L3_REFERENCES | tee out
	grep -q ':socket=0 -- Socket \[0-1\]' out && grep -q ':unit=0 -- Unit of the socket \[0-3\]' out
}

# What is below the stacks as machine emerald-rapids-devices has it.
one_stack()
{
	sim emerald-rapids-devices "$bin/papi_native_avail" -e intel_uncore:::iio.DATA_REQ_OF_CPU | tee out
	grep -q ':port=0 -- Port of the PCIe stacks \[0-7\]' out && grep -q ':device=[^ ]* -- PCIe device.* mlx5_0 + mlx5_1 + 0000_0d_00_2, nvme0, ' out &&
		! grep -q ':node=' out || return 1
	sim emerald-rapids-devices "$bin/papi_native_avail" -e intel_uncore:::pcie_write_bytes | tee out
	grep -q ':port=0 -- ' out && grep -q ':device=[^ ]* -- ' out || return 1
	sim granite-rapids-snc3 "$bin/papi_native_avail" -e intel_uncore:::imc.CAS_COUNT_SCH0 | tee out
	grep -q ':node=0 -- NUMA node, of 6;' out && ! grep -q ':port=' out
}

# A node is offered where an event can be added on it: units that are known by socket only, or of which nobody knows
# what belongs to which cluster, cannot.
nodes_that_can_be_added()
{
	for _row in granite-rapids-snc3:memory_read_bytes:yes granite-rapids-snc3:cha.CLOCKTICKS:yes \
		granite-rapids-snc3:imc.CAS_COUNT_SCH0:yes granite-rapids-snc3:link_tx_bytes:no \
		granite-rapids-snc3:iio.DATA_REQ_OF_CPU:no emerald-rapids-snc2:memory_read_bytes:no \
		emerald-rapids-snc2:imc.CAS_COUNT:no; do
		_machine=${_row%%:*} _event=${_row#*:}
		_may=${_event##*:} _event=${_event%:*}
		sim "$_machine" "$bin/papi_native_avail" -e "intel_uncore:::$_event" >out
		_offered=no _added=no
		! grep -q ':node=0 -- NUMA node, of 6;' out || _offered=yes
		grep -q ':socket=0 -- ' out || return 1
		case $_event in
		imc.CAS_COUNT_SCH0) _event=$_event:RD_REG ;;
		imc.CAS_COUNT) _event=$_event:RD ;;
		iio.*) _event=$_event:MEM_WRITE.ALL_PARTS ;;
		esac
		! { sim "$_machine" "$bin/papi_command_line" "intel_uncore:::$_event:node=1" 2>&1 | tee added; } |
			grep -q "^Successfully added" || _added=yes
		echo "$_machine $_event: offered $_offered, added $_added, may $_may"
		[ $_offered = $_may ] && [ $_added = $_may ] && ! { [ $_may = no ] && grep -q ':node=' out; } || return 1
	done
	printf '[nodes imc]\nclusters = 0,0,0,0,1,1,1,1\nsocket = 1\n' >half.conf
	UNCORE_SITE=$PWD/half.conf sim emerald-rapids-snc2 "$bin/papi_native_avail" -e intel_uncore:::memory_read_bytes | tee out
	grep -q ':node=2 -- NUMA node (2, 3);' out
}

# A card and a disk of one stack, which have six tenths and four of its bytes (workload.tbl).
two_devices()
{
	events="intel_uncore:::pcie_write_bytes:device=mlx5_0 intel_uncore:::pcie_write_bytes:device=nvme0"
	sim emerald-rapids-devices "$bin/papi_command_line" $events >out 2>err
	cat out err
	awk '$2 == ":" && /device=/ { value[n++] = $3 + 0 }
		END { share = value[0] / (value[0] + value[1]); print share; exit !(n == 2 && share > 0.58 && share < 0.62) }' out
}

# ---- counting

counts() # CPU EVENT...: values above 0, labelled
{
	machine=$1
	shift
	UNCORE_SIM=$machine "$bin/papi_command_line" "$@" >out
	cat out
	for event; do
		grep -q "^Successfully added: $event\$" out || return 1
		value=$(awk -v event="$event" '$1 == event && $2 == ":" { print $3 + 0; exit }' out)
		echo "$event $value"
		[ "$(echo "${value:-0}" | jq '. > 0')" = true ] || return 1
		grep -q "^$event : .* SIMULATED" out || return 1
	done
}

# One line a process, at the first start: what only lists says nothing, nor does a machine that is
# none.
told_once()
{
	echo "intel_uncore: SIMULATED emerald-rapids (UNCORE_SIM): no number comes from hardware" >expected
	sim emerald-rapids "$libexec/intel_uncore_multi" TESTS_QUIET 2>err >out
	grep -v -e '^PAPI ' -e ': late: ' -e 'that were late' err | diff expected - || return 1
	sim emerald-rapids "$bin/papi_native_avail" 2>&1 | grep 'intel_uncore: SIMULATED' && return 1
	sim emerald-rapids "$bin/papi_component_avail" 2>&1 | grep 'intel_uncore: SIMULATED' && return 1
	true
}

# Each name that the tool lists, and each metric, alone.
everything() # CPU
{
	sim "$1" "$libexec/intel_uncore_every" TESTS_QUIET >out 2>err
	status=$?
	cat out err
	sed -n 's/^# SIMULATED: .*: \([0-9]* names\)/\1/p' out >counted
	echo "# $1: $(cat counted)" >&3
	{
		countable "$1" .name
		metrics "$1"
	} >expected
	[ $status = 0 ] && grep -q '^PASSED$' out &&
		grep -q "^$(wc -l <expected) names started, .* 0 failed\$" counted
}

# The sentence and PAPI's own text for its code.
fails() # EVENT PAPI_TEXT SENTENCE
{
	sim emerald-rapids env PAPI_VERBOSE=1 "$bin/papi_command_line" "intel_uncore:::$1" >out 2>err
	cat out err
	grep -Fqx "because: $2" out && grep -Fqx "PAPI Error: intel_uncore: $3" err
}

too_many()
{
	set --
	for i in 0 1 2 3 4; do # an iMC has four counters
		set -- "$@" "intel_uncore:::imc.CAS_COUNT:RD:thresh=$((i + 1))"
	done
	sim emerald-rapids env PAPI_VERBOSE=1 "$bin/papi_command_line" "$@" >out 2>err
	cat out err
	[ "$(grep -c '^Successfully added' out)" = 4 ] && grep -q 'because: .*resource limits' out &&
		grep -q '^PAPI Error: intel_uncore: .*imc.CAS_COUNT:RD:thresh=5' err &&
		[ "$(grep -c '^intel_uncore:::imc.*(u) count SIMULATED$' out)" = 4 ]
}

# What the listing says of the metrics that need several passes, and of no other.
several_passes() # CPU
{
	awk '/^\| intel_uncore:::/ { name = substr($2, 16); text = "" }
		/^\|            / { text = text substr($0, 14, 66) }
		/^\|     Units: / && match(text, /\(needs [0-9]* passes: multiplexed\)/) {
			print name, substr(text, RSTART + 7, 2) + 0 }' "listing-$1" | sort >actual
	sim "$1" "$uncore" metrics -j |
		jq -r '.[] | select(.available and .passes > 1) | "\(.name) \(.passes)"' | sort >expected
	diff expected actual
}

# With a library whose passes never have their turn, or find no counters.
turns() # HOW COUNT SENTENCE: which is said so often at least
{
	sim emerald-rapids env PAPI_UNCORE_ROOT="$libexec/shim" SHIM_TURNS="$1" \
		"$libexec/intel_uncore_turns" >out 2>err
	cat out err
	grep -q '^PASSED$' out && [ "$(grep -c "^PAPI Error: intel_uncore: $3\$" err)" -ge "$2" ]
}

# In a report of the high-level API: the regions.
region='.threads[].regions[] | select(has("real_time_nsec"))'

high_level() # PROGRAM
{
	rm -rf papi_hl_output*
	sim emerald-rapids env \
		PAPI_EVENTS=intel_uncore:::memory_read_bytes,intel_uncore:::imc.CAS_COUNT:WR \
		"$libexec/$1" >out 2>&1
	cat out papi_hl_output/*.json
	grep -q PASSED out && [ "$(grep -c '^intel_uncore: SIMULATED emerald-rapids ' out)" = 1 ] &&
		jq -e "[$region"'
		| .["intel_uncore:::memory_read_bytes", "intel_uncore:::imc.CAS_COUNT:WR"]
		| if type == "object" then .total else . end | tonumber]
		| length > 0 and all(. > 0)' papi_hl_output/*.json
}

passes() # CPU PROGRAM [VARIABLE=VALUE]: of PAPI's suite or ours
{
	sim "$1" env ${3-} "$libexec/$2" TESTS_QUIET >out 2>&1 && grep -q '^PASSED$' out || { cat out; return 1; }
}

# What counts nothing alone is refused without a word, for nobody has asked for it by name.
enumerates()
{
	sim emerald-rapids env PAPI_VERBOSE=1 "$libexec/all_native_events" >out 2>err
	# A stop before each pass has had its turn is refused by PAPI before it stops, and so is the cleanup.
	grep '^PAPI Error' err | grep -v -e ': measured in [12] of [23] passes so far; ' -e ': its pass, one of [0-9]*, was not measured yet; ' -e '^PAPI Error: Error during cleanup\.$' >said
	head -n 5 said
	grep -q '^Failed to add [1-9]' out && grep -q '^PASSED$' out && [ ! -s said ]
}

loses() # CPU: with a library that loses counters; the sentence is the library's
{
	sim "$1" env PAPI_UNCORE_ROOT="$libexec/shim" "$libexec/intel_uncore_lost" >out 2>err
	cat out err
	grep -q '^PASSED$' out &&
		[ "$(grep -c '^PAPI Error: intel_uncore: a neighbour has taken the counter$' err)" -ge 4 ]
}

# Its values are given. Whatever PAPI may print: a line for the first of a process, and how many there were where it
# shuts PAPI down, which this one does twice.
late_values()
{
	sim emerald-rapids env PAPI_UNCORE_ROOT="$libexec/shim" SHIM_LATE="read over 40 ms of 250 ms" \
		"$libexec/intel_uncore_basic" TESTS_QUIET >out 2>err
	cat out err
	grep -q '^PASSED$' out && [ "$(grep -c ' late' err)" = 3 ] &&
		grep -qx 'intel_uncore: memory_read_bytes: late: read over 40 ms of 250 ms' err &&
		[ "$(grep -cx 'intel_uncore: values that were late: [1-9][0-9]*' err)" = 2 ]
}

# Nothing drives the clock of one channel, and another thread counts there: it may be frozen.
# The first has found that nothing drives the channel: its 0 is true for the second as well.
still_units()
{
	sim sandybridge-ep,idle=imc3@1 env PAPI_VERBOSE=1 "$libexec/intel_uncore_still" >out 2>err
	cat out err
	grep '^PASSED$' out && ! grep 'PAPI Warning' err
}

# The registers of this machine are files, as those of a real one: what others do is felt. In the
# end all four counters of each channel are free.
on_files() # COMMAND...
{
	mkdir -p files
	"$fuse" sandybridge-ep files 2>machine &
	machine_pid=$!
	for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
		[ -e files/proc/cpuinfo ] && break
		sleep 0.1
	done
	UNCORE_SYSROOT=$tmp/files "$@" >out 2>err
	UNCORE_SYSROOT=$tmp/files "$uncore" stat -d 0.1 -e \
		imc.CAS_COUNT:RD,imc.CAS_COUNT:WR,imc.ACT_COUNT,imc.CAS_COUNT:ALL >>out 2>&1
	status=$?
	fusermount3 -u files
	wait "$machine_pid"
	cat out err machine
	return $status
}

forks_on_files()
{
	on_files "$libexec/intel_uncore_fork" && grep -q '^PASSED$' out && ! grep -q SIMULATED out err
}

turns_on_files()
{
	on_files env $few "$libexec/intel_uncore_turns" && grep -q '^PASSED$' out
}

# A neighbour clears what counts on the channels of a socket (control 3, 0xe4) and on its UBox (its fixed
# counter's): what is about them, alone or in a sum, has no value, and the sentence says why; all else goes on.
loses_on_files()
{
	for function in 10.0 10.1 10.4 10.5; do
		echo "poke /sys/bus/pci/devices/0000:7f:$function/config 0xe4 0"
	done >clear
	echo 'poke /dev/cpu/0/msr 0xc08 0' >>clear
	cleared="while it was counting"
	INTEL_UNCORE_LOSE="cat clear >files/control" on_files "$libexec/intel_uncore_lost" &&
		grep -q '^PASSED$' out &&
		[ "$(grep -c "^PAPI Error: intel_uncore: imc.CAS_COUNT:RD:socket=0: somebody else has cleared CTL3 of imc[0-3] (socket 0) $cleared\$" err)" -ge 3 ] &&
		grep -q "^PAPI Error: intel_uncore: memory_read_bytes: its units have changed since its start: it lacks imc0 (socket 0) and 3 more: .*cleared CTL3 of imc0 (socket 0) $cleared" err &&
		grep -q '^PAPI Error: intel_uncore: memory_read_bytes: its units have changed since its start; PAPI_reset() begins a new count$' err
}

# The example says so where its bytes are not those of all channels.
mpi_partial()
{
	sim "$(broken sandybridge-ep-no-imc3@1)" env OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_ALLOW_RUN_AS_ROOT=1 \
		OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 mpirun --oversubscribe -n 2 "$libexec/stream_mpi" 1 5 >out 2>err
	cat out err
	grep -q ' 0 .*[0-9]  SIMULATED$' out && grep -q ' 1 .*[0-9]  PARTIAL  SIMULATED$' out &&
		grep -Fqx "PAPI Warning: intel_uncore: memory_read_bytes:socket=1: partial sum, without imc3 (socket 1): $hidden" err
}

skips() # PROGRAM: without counters, and says why
{
	"$libexec/$1" TESTS_QUIET >out 2>&1
	cat out
	grep -q '^SKIPPED$' out
}

# ---- what it costs those who do not use it

loads() # COMMAND...: does it load libuncore?
{
	LD_DEBUG=files "$@" 2>&1 >/dev/null | grep -q 'file=[^ ]*libuncore'
}

loaded_at_first_use()
{
	for program in papi_avail papi_version papi_hardware_avail papi_mem_info; do
		! loads "$bin/$program" || { echo "$program loads libuncore"; return 1; }
	done
	! loads "$libexec/zero" || { echo "zero loads libuncore"; return 1; }
	sim emerald-rapids loads "$bin/papi_command_line" intel_uncore:::memory_read_bytes
}

# In a child whose parent had a thread that gives turns nothing knows any more what that thread had on its stack: such a
# child is not asked for leaks.
# With ALL=1 all metrics of several passes have turns there, and intel_uncore_multi runs as well.
# Passes take their turns on a machine with few units: a turn is as long as programming asks for, and valgrind is slow.
no_leak()
{
	for program in intel_uncore_errors intel_uncore_fork "--child-silent-after-fork=yes intel_uncore_turns" $multi; do
		options=${program% *} program=${program##* }
		on=sandybridge-ep
		[ "$options" != "$program" ] || options= on=emerald-rapids
		sim "$on" env $few valgrind --quiet --leak-check=full --show-leak-kinds=definite --errors-for-leak-kinds=definite \
			--num-callers=30 --keep-debuginfo=yes --fair-sched=try --log-file=valgrind $options \
			"$libexec/$program" TESTS_QUIET >out 2>&1
		cat out valgrind
		grep -q '^PASSED$' out && ! grep -E 'intel_uncore(_init|_library|_names|_sets|_texts)?\.c:|libuncore|unc_' valgrind ||
			return 1
	done
}

# PAPI's makefiles cannot be used in such a path: it is said before anything is built.
refuses_blanks() # ARGUMENT...
{
	"$here/../../scripts/build-papi" --with-uncore-build="$BUILD" "$@" >refusal 2>&1
	[ $? = 1 ] && cat refusal && grep -Fq "build-papi: '$tmp/a b" refusal && ! grep -q configure refusal
}

# A folder without libuncore, before anything is made.
refuses_nowhere() # OPTION FILE
{
	"$here/../../scripts/build-papi" "$1=$tmp/nosuch" "$tmp/never" >refusal 2>&1
	[ $? = 1 ] && cat refusal && grep -Fq "build-papi: $1=$tmp/nosuch: there is no $tmp/nosuch/$2: " refusal &&
		[ "$(wc -l <refusal)" = 1 ] && [ ! -e "$tmp/never" ]
}

# ---- recipes of examples/README.md

top=$(cd "$here/../.." && pwd)
examples=$top/papi_component/examples

# Every name in them that stands for itself is one, and counts. (An event without its umask does not.)
recipe_names()
{
	grep -oh 'intel_uncore:::[A-Za-z0-9_.:=]*[A-Za-z0-9]' "$examples/README.md" "$top/papi_component/README.md" |
		grep -v -e '=N$' -e 'imc.CAS_COUNT$' | sort -u >names
	[ "$(wc -l <names)" -ge 2 ] || { cat names; return 1; }
	# shellcheck disable=SC2046
	sim emerald-rapids "$bin/papi_command_line" $(cat names) >out 2>&1
	cat out
	! grep 'Failed adding' out && grep -q '^Successfully added: intel_uncore:::memory_read_bytes$' out
}

# What tools separate names by is in no name, whatever the CPU.
no_separators()
{
	{
		cat listing-* | sed -n 's/^| \(intel_uncore:::[^ ]*\) .*/\1/p; s/^|     \(:[^ ]*\) .*/\1/p'
		for cpu in $cpus; do
			echo "$listed" | grep -qw -- "$cpu" || "$uncore" list -c "$cpu" -j | jq -r '.[].name'
		done
	} | sort -u >names
	[ "$(wc -l <names)" -gt 1000 ] && ! grep -v '^[A-Za-z0-9_.:=-]*$' names
}

one_per_node()
{
	OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 mpirun --oversubscribe -n 3 \
		"$examples/one-per-node" PAPI_EVENTS=intel_uncore:::memory_read_bytes A=b=c -- \
		sh -c 'echo "${PAPI_EVENTS-none} ${A-none}"' 2>&1 | sort >actual
	printf '%s\n' 'intel_uncore:::memory_read_bytes b=c' 'none none' 'none none' | diff - actual
}

one_per_node_refuses()
{
	for arguments in "A -- true" "A-B=1 -- true" "1A=1 -- true" "=1 -- true" "A=1" "A=1 --"; do
		# shellcheck disable=SC2086
		env SLURM_LOCALID=0 "$examples/one-per-node" $arguments 2>why
		[ $? = 2 ] && grep -q '^one-per-node: .*; usage: ' why || { echo "$arguments"; return 1; }
	done
	"$examples/one-per-node" A=1 -- true 2>why
	[ $? = 2 ] && grep -q 'mpirun or srun' why
}

# As Slurm runs them, of a command that is there and one that is not: they never fail.
slurm_scripts()
{
	UNCORE_EVENTS=memory_read_bytes,imc.CAS_COUNT:RD SLURM_LOCALID=0 "$examples/slurm-task-prolog" >actual
	printf '%s\n' 'unset UNCORE_SIM' \
		'export PAPI_EVENTS=intel_uncore:::memory_read_bytes,intel_uncore:::imc.CAS_COUNT:RD' |
		diff - actual || return 1
	UNCORE_EVENTS=memory_read_bytes SLURM_LOCALID=1 "$examples/slurm-task-prolog" >actual
	echo 'unset UNCORE_SIM' | diff - actual || return 1
	mkdir -p slurm
	printf '#!/bin/sh\necho "FAIL  msr  no such file ($1)"; echo "   -> modprobe msr"; echo ok; exit 1\n' >slurm/uncore
	printf '#!/bin/sh\ncat >>log\n' >slurm/logger
	printf '#!/bin/sh\nexit 1\n' >slurm/modprobe
	chmod +x slurm/*
	for script in slurm-prolog slurm-epilog; do
		sed "s|^PATH=|PATH=$tmp/slurm:|" "$examples/$script" >slurm/script
		rm -f log
		env -i sh slurm/script || return 1
		cat log
		grep -q '^FAIL .*(' log || return 1
	done
	rm slurm/uncore
	env -i sh slurm/script
}

# ---- MPI

mpi()
{
	rm -rf papi_hl_output*
	sim emerald-rapids env PAPI_EVENTS=intel_uncore:::memory_read_bytes \
		OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_ALLOW_RUN_AS_ROOT=1 \
		OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 \
		mpirun --oversubscribe -n 4 "$libexec/stream_mpi" 1 5 >out 2>&1
	status=$?
	cat out
	[ $status = 0 ] && grep -q '^triad: 4 ranks' out && awk '
		$NF == "SIMULATED" && $3 > 0 && $4 > 0 && $5 > 0 && $6 > 0 { sockets++ }
		/^intel_uncore: SIMULATED / { told++ }
		END { exit sockets != 2 || told != 1 }' out
}

# Signals end the example while it counts on registers that are files, with its report and as a shell
# has it: 128 and the number. Background commands of a shell ignore some signals.
all && signals="HUP INT QUIT USR1 USR2 ALRM TERM XCPU" || signals="INT TERM"
end_by_signals()
{
	control=files/sys/bus/pci/devices/0000:7f:10.1/config
	counts() # any of the four counters of the channel
	{
		for at in 0xd8 0xdc 0xe0 0xe4; do
			[ $(($("$poke" "$control" $at))) -eq 0 ] || return 0
		done
		return 1
	}
	for signal in $signals; do
		OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 \
			env --default-signal=$signal "$libexec/stream_mpi" 1 1000000000 >report &
		until counts || ! kill -0 $!; do sleep 0.05; done
		sleep 0.3 # it counts
		kill -$signal $!
		wait $!
		status=$?
		[ "$(kill -l $status)" = $signal ] && grep -q '^triad: 1 ranks' report && echo "ended by $signal"
	done
}
mpi_signals() # and all counters of the channels are free then
{
	on_files end_by_signals && [ "$(grep -c '^ended by' out)" = "$(echo "$signals" | wc -w)" ]
}

mpi_region() # one report, of the rank that read
{
	ls papi_hl_output
	[ "$(ls papi_hl_output | wc -l)" = 1 ] && jq -e "[$region"'
		| .["intel_uncore:::memory_read_bytes"] | tonumber] | length == 1 and .[0] > 0' \
		papi_hl_output/rank_0*.json
}

# ---- tests

exec 3>&1
ok "build-papi: a prefix with a blank" refuses_blanks "$tmp/a b"
ok "build-papi: no libuncore there" refuses_nowhere --with-uncore include/uncore.h
ok "build-papi: no build of libuncore there" refuses_nowhere --with-uncore-build common/.libs/libuncore.so
ok "build-papi: a build folder with a blank" refuses_blanks "--build=$tmp/a b" "$tmp/prefix"
if [ -n "$(disabled_reason 2>/dev/null)" ]; then
	ok "the disabled reason names the cause on this machine" names_the_cause
	for program in basic errors every fork lost metrics multi threads turns; do
		ok "intel_uncore_$program skips without counters" skips "intel_uncore_$program"
	done
else
	skip "the disabled reason" "this machine has uncore counters"
fi
machine_root virtual 207 hypervisor # Emerald Rapids
machine_root bare 207
machine_root unknown 1
ok "the disabled reason in a virtual machine" is "Emerald Rapids: no uncore unit can be read: this is a \
virtual machine; hypervisors do not pass the uncore monitors on; run on the machine itself, not in a \
virtual one (in a cloud: bare-metal instances)" disabled_on virtual
ok "the disabled reason without the MSR driver" is "Emerald Rapids: no uncore unit can be read: \
/dev/cpu/0/msr: no such file; load the msr module: modprobe msr" disabled_on bare
ok "the disabled reason of a CPU without tables" no_tables
ok "the disabled reason without the library" library_missing
ok "the disabled reason of a machine that cannot be simulated" bad_machine
ok "the disabled reason with a library of another version" other_version
ok "active on a simulated Emerald Rapids" is_active emerald-rapids "Emerald Rapids"
ok "active on a simulated Sandy Bridge-EP" is_active sandybridge-ep "Sandy Bridge-EP"
cpus=$("$uncore" cpus -j | jq -r '.[].cpu')
all && listed=$cpus || listed="montecito nehalem-ep sandybridge-ep ivybridge-ep emerald-rapids"
for cpu in $listed; do
	ok "$cpu: papi_native_avail takes less than a second" list "$cpu"
	# shellcheck disable=SC2046
	set -- $(unit_types "$cpu")
	ok "$cpu: every unit type has events" every_type "$cpu" "$@"
	ok "$cpu: the events and metrics of 'uncore list', each once" same_names "$cpu"
	ok "$cpu: metrics are listed first" in_order "$cpu"
	ok "$cpu: units are told once of each base event" units_once "$cpu"
	ok "$cpu: the umasks of 'uncore list', each once" same_umasks "$cpu"
	ok "$cpu: every event is described" described "$cpu"
	ok "$cpu: metrics of several passes are told" several_passes "$cpu"
	ok "$cpu: every event and metric starts, counts and stops" everything "$cpu"
done
ok "papi_native_avail -e shows qualifiers" one_event
ok "papi_native_avail -e shows the units of a view" one_view
ok "and ports and devices of PCIe stacks, and NUMA nodes of a machine with clusters" one_stack
ok "a node is offered where it can be added" nodes_that_can_be_added
ok "two devices of one stack have their shares" two_devices
ok "a simulated machine is told of at the first start, once" told_once
ok "partial sums: a warning for each name" partial_warnings
ok "partial sums: the description says which unit is missing, and why" partial_descriptions

# Each row of names.cases that is not refused, on three CPUs.
spellings()
{
	sed -n 's/^\(sandybridge-ep\|skylake-sp\|emerald-rapids\) *; \(.*\) ; [^!].*/\1 \2/p' "$SRCDIR/tests/names.cases" >rows
	[ "$(wc -l <rows)" -gt 50 ] || return
	while read -r cpu name; do
		sim "$cpu" "$bin/papi_command_line" "$p$name" >said 2>&1
		grep -qF "Successfully added: $p$name" said || { echo "$cpu $name"; cat said; return 1; }
	done <rows
}

p=intel_uncore:::
ok "papi_command_line counts events" counts emerald-rapids ${p}imc.CAS_COUNT:RD \
	${p}imc3.CAS_COUNT:WR:socket=1 ${p}imc.CAS_COUNT:RD:unit=2
ok "names as perf and libpfm4 spell them" counts emerald-rapids "${p}uncore_imc_3/event=0x05,umask=0xcf/" \
	${p}spr_unc_imc0::UNC_M_CAS_COUNT:WR ${p}memory_bandwidth_read
ok "each name of another tool can be added" spellings
ok "papi_command_line counts metrics" counts emerald-rapids ${p}memory_read_bytes \
	${p}memory_write_bytes:socket=0 ${p}llc_miss_ratio
ok "papi_command_line counts on Sandy Bridge-EP" counts sandybridge-ep ${p}memory_read_bytes \
	${p}imc.CAS_COUNT:RD
ok "papi_command_line counts on Montecito, views included" counts montecito \
	${p}memory_read_bytes ${p}l3.L3_REFERENCES ${p}bus1.BUS_ALL:SELF:socket=1 \
	${p}core.IA64_INST_RETIRED:unit=2
absent="Event does not exist"
invalid="Invalid argument"
ok "unknown metric" fails memory_read_byte "$absent" \
	"no metric or event memory_read_byte in emerald-rapids; nearest is memory_read_bytes"
ok "unknown event" fails imc.CAS_CONT "$absent" \
	"no metric or event imc.CAS_CONT in emerald-rapids; nearest is imc.CAS_COUNT"
ok "unknown umask" fails imc.CAS_COUNT:RDD "$absent" "imc.CAS_COUNT: no umask RDD; nearest is RD"
ok "an event that is named without its umask" fails imc.CAS_COUNT "$invalid" \
	"imc.CAS_COUNT: a umask is needed: PCH0, PCH1, RD_REG, RD_PRE_REG, RD_UNDERFILL, RD_PRE_UNDERFILL, RD, WR_NONPRE, ..."
ok "value out of range" fails imc.CAS_COUNT:RD:thresh=256 "$invalid" \
	"imc.CAS_COUNT: thresh=256 does not fit; the limit is 255"
ok "field that the unit lacks" fails imc.CAS_COUNT:RD:nid=1 "$absent" \
	"imc.CAS_COUNT: no field nid; it takes edge, inv, thresh"
ok "socket out of range" fails memory_read_bytes:socket=2 "$invalid" \
	"memory_read_bytes:socket=2: this machine has sockets 0 to 1"
ok "too many events" too_many
ok "passes that have not had their turn" turns stuck 4 \
	".*: \(measured in [0-9]* of [2-9] passes so far\|its pass, one of [0-9]*, was not measured yet\); it has no value before.*"
ok "passes that find no counter" turns fail 2 "a neighbour has the counters of the next pass"

ok "PAPI's serial_hl with PAPI_EVENTS writes its report" high_level serial_hl
ok "PAPI's all_native_events, without errors on stderr" enumerates
for program in get_event_component failed_events; do
	ok "PAPI's $program" passes emerald-rapids $program
done
for program in basic errors fork metrics multi threads turns; do
	# Turns on so many units take their time, and the more the busier this machine is: on the other CPU all have theirs.
	[ $program = turns ] && passes_few=$few || passes_few=
	ok "intel_uncore_$program, Emerald Rapids" passes emerald-rapids "intel_uncore_$program" $passes_few
	ok "intel_uncore_$program, Sandy Bridge-EP" passes sandybridge-ep "intel_uncore_$program"
done
ok "values that are late: a line for each process, and a count" late_values
ok "an idle channel where another thread counts" still_units
ok "lost counters, Emerald Rapids" loses emerald-rapids
ok "lost counters, Sandy Bridge-EP" loses sandybridge-ep
fuse=$BUILD/tests/fuse/fuse_machine poke=$BUILD/tests/fuse/poke
if [ -x "$fuse" ] && [ -w /dev/fuse ] && command -v fusermount3 >/dev/null; then
	ok "children of a process that counts with real system calls" forks_on_files
	ok "a neighbour clears real counters" loses_on_files
	ok "passes take turns on real counters, and leave none" turns_on_files
else
	skip "children of a process that counts with real system calls" "FUSE cannot be used here"
	skip "a neighbour clears real counters" "FUSE cannot be used here"
	skip "passes take turns on real counters, and leave none" "FUSE cannot be used here"
fi
ok "libuncore is loaded at the first use" loaded_at_first_use
if command -v valgrind >/dev/null; then
	ok "no leak, no misuse of memory" no_leak
else
	skip "no leak" "valgrind is not installed"
fi
ok "recipes: every name is one" recipe_names
ok "recipes: no name has a separator of the tools in it" no_separators
ok "recipes: the scripts for Slurm" slurm_scripts
ok "recipes: one-per-node refuses what it cannot do" one_per_node_refuses
if [ -x "$libexec/stream_mpi" ] && command -v mpirun >/dev/null; then
	ok "recipes: one-per-node" one_per_node
	ok "MPI: 4 ranks, one reads, both sockets reported" mpi
	ok "MPI: the high-level region's report" mpi_region
	ok "MPI: a partial sum is marked" mpi_partial
	if [ -x "$fuse" ] && [ -w /dev/fuse ] && command -v fusermount3 >/dev/null; then
		ok "MPI: signals end it with its report, and leave no counter" mpi_signals
	else
		skip "MPI: signals" "FUSE cannot be used here"
	fi
else
	skip "MPI" "Open MPI is not installed"
fi

echo "1..$number"
exit $((failures > 0))
