#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Completion of commands, options and names: what the command offers, and what real shells make of it.
# Events and unit types: Intel 817509-001 (Emerald Rapids), 327043-001 (Sandy Bridge-EP).

: "${SRCDIR:=$(cd "$(dirname "$0")/../.." && pwd)}" "${BUILD:=$PWD}"
unset UNCORE_SIM UNCORE_SYSROOT UNCORE_TABLES UNCORE_ACCESS UNCORE_SITE
title=completion
. "$SRCDIR/tests/integration/result.inc"

# offers "WORDS" WORD...: of these words the last can become just these. "_" stands for an empty one.
offers()
{
	given=$1
	shift
	set -f
	words=
	for word in $given; do
		[ "$word" != _ ] || word=''
		words="$words '$word'"
	done
	set +f
	printf '%s\n' "$@" | sed '/^$/d' >"$tmp/wanted"
	eval "timeout 60 '$UNCORE' __complete $words" >"$tmp/out" 2>"$tmp/err"
	[ $? -eq 0 ] && [ ! -s "$tmp/err" ] && cut -f 1 "$tmp/out" | cmp -s - "$tmp/wanted"
	result "$given"
}

offers st stat
offers "he" help
offers nonsense ''
offers "nonsense _" ''
offers "help me" metrics
offers "list -c em" emerald-rapids
offers "list -c EM" emerald-rapids
offers "list --cpu=sandy" --cpu=sandybridge-ep
offers "list -jc sandy" sandybridge-ep
offers "list -csandy" -csandybridge-ep
offers "stat --per" --per-socket --per-unit --per-node --per-device
offers "stat --dur" --duration=
offers "list --per" ''
offers "groups -c emerald-rapids m" MEM
offers "metrics -c emerald-rapids memory_r" memory_read_bytes memory_read_latency_ns
offers "encode -c sandybridge-ep im" imc.
offers "encode -c sandybridge-ep imc.CAS" imc.CAS_COUNT imc.CAS_COUNT:
offers "encode -c sandybridge-ep imc3.cas" imc3.CAS_COUNT imc3.CAS_COUNT:
offers "encode -c emerald-rapids imc.CAS_C" imc.CAS_COUNT:
offers "encode -c sandybridge-ep imc.CAS_COUNT:RD" imc.CAS_COUNT:RD_REG imc.CAS_COUNT:RD_UNDERFILL imc.CAS_COUNT:RD
offers "encode -c sandybridge-ep imc.CAS_COUNT:RD:soc" imc.CAS_COUNT:RD:socket=
offers "encode -c sandybridge-ep nothing.CAS" ''
offers "eval -c sandybridge-ep imc.MEM_BW_R" imc.MEM_BW_READS
offers "eval -c sandybridge-ep imc.MEM_BW_READS i" imc.CAS_COUNT:RD=
offers "decode -c sandybridge-ep im" imc
offers "decode -c sandybridge-ep imc CTL" CTL0= CTL1= CTL2= CTL3=
offers "completion _" bash zsh
offers "list --tables _" :folders
offers "stat -o _" :files
offers "stat -d 1 mpi" ":command 3"
offers "stat -- _" ":command 2"
offers "stat mpirun -n" ":command 1"
offers "list -c nonsense CAS" ''
export UNCORE_SIM=emerald-rapids
offers "stat -m memory_r" memory_read_bytes memory_read_latency_ns
offers "stat -m memory_read_bytes,link_u" memory_read_bytes,link_utilization
offers "stat -e memory_r" memory_read_bytes memory_read_latency_ns
offers "stat -m imc.CAS_C" imc.CAS_COUNT:
offers "stat -g mem,li" mem,LINK
unset UNCORE_SIM

# The methods are those that the library knows; of a simulated machine it names all.
"$UNCORE" __complete stat --access= | sed 's/^--access=\([^	]*\).*/\1/' | sort >"$tmp/wanted"
UNCORE_SIM=sandybridge-ep "$UNCORE" units --access nonsense 2>&1 | # ...; there are A, B, and direct for A
	sed 's/.*there are //; s/, and direct for .*/ direct/' | tr -d ',' | tr ' ' '\n' | sort >"$tmp/out"
cmp -s "$tmp/wanted" "$tmp/out"
result "access methods are those of the library"
while read -r method; do
	grep -qF "\`$method\`" "$SRCDIR/docs/rights.md" || echo "docs/rights.md does not name $method"
	grep -q "^ \*  $method " "$SRCDIR/common/uncore.h" || echo "uncore.h does not name $method"
	sed 's/\\//g' "$SRCDIR/common/tool/uncore.1.in" | grep -qE "^\.BR? (.* )?$method( |\$)" || echo "the manual does not name $method"
done <"$tmp/wanted" >"$tmp/out"
[ -s "$tmp/wanted" ] && [ ! -s "$tmp/out" ]
result "header, manual and page name each"

"$UNCORE" completion nonsense >"$tmp/out" 2>"$tmp/err"
[ $? -eq 2 ] && grep -q "no shell 'nonsense'; there are bash and zsh" "$tmp/err"
result "a shell that is not known"

cases()
{
	cat <<'CASES'
uncore st	uncore stat |
uncore list -c em	uncore list -c emerald-rapids |
uncore list --cpu=em	uncore list --cpu=emerald-rapids |
uncore stat --dur	uncore stat --duration=|
uncore stat -m memory_read_b	uncore stat -m memory_read_bytes |
uncore stat -m memory_r	uncore stat -m memory_read_|
uncore stat -e imc.CAS_C	uncore stat -e imc.CAS_COUNT:|
uncore stat -e imc.cas_c	uncore stat -e imc.CAS_COUNT:|
uncore stat -e imc.CAS_COUNT:WR_N	uncore stat -e imc.CAS_COUNT:WR_NONPRE |
uncore stat -e imc.CAS_COUNT:RD,imc3.CAS_COUNT:WR_N	uncore stat -e imc.CAS_COUNT:RD,imc3.CAS_COUNT:WR_NONPRE |
uncore stat -e imc.CAS_COUNT:RD:soc	uncore stat -e imc.CAS_COUNT:RD:socket=|
uncore stat -g ME	uncore stat -g MEM |
uncore eval -c sandybridge-ep imc.MEM_BW_READS imc	uncore eval -c sandybridge-ep imc.MEM_BW_READS imc.CAS_COUNT:RD=|
uncore list -c emerald-rapids | cat; uncore he	uncore list -c emerald-rapids | cat; uncore help |
uncore stat -- basena	uncore stat -- basename |
CASES
	echo "uncore stat -o $tmp/only_	uncore stat -o $tmp/only_one |"
}
: >"$tmp/only_one"
mkdir "$tmp/bin" "$tmp/scripts"
printf '#!/bin/sh\nexec %s "$@"\n' "$UNCORE" >"$tmp/bin/uncore" && chmod +x "$tmp/bin/uncore"
"$UNCORE" completion bash >"$tmp/scripts/uncore" && "$UNCORE" completion zsh >"$tmp/scripts/_uncore"
cmp -s "$tmp/scripts/uncore" "$SRCDIR/common/tool/completion/uncore" &&
	cmp -s "$tmp/scripts/_uncore" "$SRCDIR/common/tool/completion/_uncore"
result "the command tells the scripts that are installed"
for shell in bash zsh; do
	if ! command -v $shell >/dev/null || ! command -v python3 >/dev/null; then
		number=$((number + 1))
		echo "ok $number - $title: $shell # SKIP no $shell, or no python3"
		continue
	fi
	script=$tmp/scripts/uncore
	[ $shell = bash ] || script=$tmp/scripts/_uncore
	cases | UNCORE_SIM=emerald-rapids timeout 300 python3 "$SRCDIR/tests/integration/completion_shells.py" $shell \
		"$(command -v $shell)" "$script" "$tmp/bin" >"$tmp/shell" 2>"$tmp/err"
	[ "$(grep -c '^\(not \)\{0,1\}ok' "$tmp/shell")" -eq "$(cases | wc -l)" ]
	result "$shell: all lines were tried"
	: >"$tmp/out"
	while read -r row; do
		case $row in
		'not ok '*) false; result "${row#not ok }" ;;
		'ok '*) true; result "${row#ok }" ;;
		*) echo "$row" ;;
		esac
	done <"$tmp/shell"
done
finish
