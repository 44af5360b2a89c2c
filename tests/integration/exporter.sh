#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The examples of docs/exporter.md and docs/programs.md as they stand there: they compile, and what the first writes for
# Prometheus of a simulated machine, in several passes, is what the command counts there.
: "${SRCDIR:=$(cd "$(dirname "$0")/../.." && pwd)}" "${BUILD:=$PWD}"
unset UNCORE_SIM UNCORE_SYSROOT UNCORE_ACCESS UNCORE_SITE
for need in cc jq; do
	command -v "$need" >/dev/null || { echo "1..0 # SKIP no $need; install it"; exit 0; }
done
title=exporter
. "$SRCDIR/tests/integration/result.inc"
. "$SRCDIR/tests/integration/broken.inc"
[ -e "$BUILD/common/.libs/libuncore.so" ] || { echo "1..0 # SKIP the library is not a shared one"; exit 0; }

sed -n '/^```c$/,/^```$/p' "$SRCDIR/docs/exporter.md" | sed '1d;$d' >"$tmp/exporter.c"
wc -l "$tmp/exporter.c" >"$tmp/out"
[ -s "$tmp/exporter.c" ] && [ "$(wc -l <"$tmp/exporter.c")" -lt 80 ]
result "the example has less than 80 lines"
cc -Wall -Wextra -Werror -I"$SRCDIR/common" -o "$tmp/exporter" "$tmp/exporter.c" -L"$BUILD/common/.libs" -luncore -lm >"$tmp/out" 2>&1
result "it compiles without a warning"
[ -x "$tmp/exporter" ] || { finish; exit 1; }

cat >"$tmp/program.c" <<END
#include <stdio.h>
#include <unistd.h>
#include <uncore.h>

static int complain(const char *sentence)
{
	return fprintf(stderr, "%s\n", sentence);
}

int main(void)
{
$(sed -n '/^    struct unc_platform \*platform/,/unc_platform_close/p' "$SRCDIR/docs/programs.md")
}
END
cc -Wall -Wextra -Werror -I"$SRCDIR/common" -o "$tmp/program" "$tmp/program.c" -L"$BUILD/common/.libs" -luncore >"$tmp/out" 2>&1 &&
	UNCORE_SIM=emerald-rapids timeout 60 "$tmp/program" >"$tmp/out" 2>"$tmp/err" && grep -qx '[1-9][0-9]* bytes' "$tmp/out"
result "the program of docs/programs.md measures"

# Emerald Rapids' CHAs have four counters: five events of theirs take two passes.
export UNCORE_SIM=emerald-rapids
cha="cha.TOR_INSERTS:IA_MISS_DRD cha.TOR_INSERTS:IA_HIT_DRD cha.TOR_INSERTS:IA_MISS cha.TOR_INSERTS:IA_HIT cha.TOR_INSERTS:IO_MISS"
names="imc.CAS_COUNT:RD memory_read_bytes llc_miss_ratio $cha"
folder=$tmp/written
mkdir "$folder"
pid=
trap '[ -z "$pid" ] || kill "$pid"; rm -rf "$tmp"' EXIT

# begin: the exporter on this machine, with all these names, in $pid.
begin()
{
	# shellcheck disable=SC2086 # words
	"$tmp/exporter" 1 "$folder" $names >"$tmp/out" 2>"$tmp/err" &
	pid=$!
}

# until_there PATTERN N: waits until the file has N lines of the pattern, a minute at most.
until_there()
{
	for _ in $(seq 600); do
		[ "$(grep -c -- "$1" "$folder/uncore.prom" 2>/dev/null)" != "$2" ] || return 0
		sleep 0.1
	done
	cp "$folder/uncore.prom" "$tmp/out"
	return 1
}

# number NAME SOCKET: what the file last looked at says.
number()
{
	sed -n "s/^simulated_uncore{name=\"$1\",socket=\"$2\"[^}]*} //p" "$tmp/prom"
}

begin
until_there '^simulated_uncore{' 16
result "each name has a number on each socket, once all passes had their turn"
sleep 2
cp "$folder/uncore.prom" "$tmp/prom"
before=$(number memory_read_bytes 1)
if command -v promtool >/dev/null; then
	promtool check metrics <"$tmp/prom" >"$tmp/out" 2>&1
	result "Prometheus takes the text"
else
	skip "Prometheus takes the text" "no promtool; install prometheus"
fi
for socket in 0 1; do
	jq -en "$(number imc.CAS_COUNT:RD $socket) * 64 == $(number memory_read_bytes $socket)" >"$tmp/out"
	result "socket $socket: an event and the metric made of it agree to the byte"
done

# shellcheck disable=SC2086
run stat -j -d 0.2 --per-socket -e "imc.CAS_COUNT:RD,$(echo $cha | tr ' ' ',')"
jq -r '.passes' "$tmp/out" >"$tmp/passes"
[ "$(cat "$tmp/passes")" -gt 1 ]
result "the events need several passes"
# Each alone, in one pass.
wrong=
for event in $cha; do
	run stat -j -d 0.1 --per-socket -e "imc.CAS_COUNT:RD,$event"
	for socket in 0 1; do
		jq -e --arg event "$event:socket=$socket" --arg reads "imc.CAS_COUNT:RD:socket=$socket" \
			--argjson ours "$(number "$event" $socket)" --argjson reads_of_ours "$(number imc.CAS_COUNT:RD $socket)" \
			'(.events[$event] / .events[$reads]) as $there | ($ours / $reads_of_ours) / $there | . > 0.9 and . < 1.1' \
			"$tmp/out" >/dev/null || wrong="$wrong $event:$socket=$(number "$event" $socket)"
	done
done
[ -z "$wrong" ] || echo "# $wrong"
[ -z "$wrong" ]
result "they are in the proportions that the command counts"
jq -en "$(number llc_miss_ratio 0) | . > 0 and . < 1" >"$tmp/out"
result "a ratio is one"

sleep 1
cp "$folder/uncore.prom" "$tmp/prom"
jq -en "$(number memory_read_bytes 1) > $before" >"$tmp/out"
result "totals grow"
kill "$pid" && wait "$pid"
status=$? pid=
[ $status -eq 0 ] && [ ! -e "$folder/uncore.prom" ]
result "told to end, it does, and leaves no numbers that nobody renews"

UNCORE_SIM=$(broken emerald-rapids-no-imc3@1)
begin
until_there 'units="7 of 8"' 2 && ! grep -q 'socket="0",units=' "$folder/uncore.prom"
result "a sum without a channel says so, on its socket"
kill "$pid" && wait "$pid"
pid=

timeout 60 "$tmp/exporter" 1 "$folder" memory_read_byte >"$tmp/out" 2>"$tmp/err"
status=$?
[ $status -eq 1 ] && grep -q 'nearest is memory_read_bytes' "$tmp/err"
result "a wrong name is refused with the nearest one"
finish
