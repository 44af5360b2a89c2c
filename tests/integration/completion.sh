#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Completion of commands, options and names: what `uncore list --raw` prints, and what real shells make of it.
# Events and unit types: Intel 817509-001 (Emerald Rapids), 327043-001 (Sandy Bridge-EP).

: "${SRCDIR:=$(cd "$(dirname "$0")/../.." && pwd)}" "${BUILD:=$PWD}"
unset UNCORE_SIM UNCORE_SYSROOT UNCORE_ACCESS UNCORE_SITE
title=completion
. "$SRCDIR/tests/integration/result.inc"

# raw "WORDS" NAME...: list --raw WORDS prints these names first.
raw()
{
	given=$1
	shift
	printf '%s\n' "$@" >"$tmp/wanted"
	# shellcheck disable=SC2086 # words
	"$UNCORE" list --raw $given >"$tmp/out" 2>"$tmp/err" && [ ! -s "$tmp/err" ] && head -n $# "$tmp/out" | cmp -s - "$tmp/wanted"
	result "list --raw $given"
}

set -f
raw "-c * cpus" montecito nehalem-ep
set +f
raw "-c sandybridge-ep" memory_read_bytes
raw "-c sandybridge-ep groups" OVERVIEW MEM L3
raw "-c sandybridge-ep types" ubox cbo
raw "-c sandybridge-ep imc.CAS_COUNT" RD_REG RD_UNDERFILL RD
raw "-c sandybridge-ep imc.MEM_BW_READS" imc.CAS_COUNT:RD= TIME=
raw "-c emerald-rapids pcie_read_bytes:" socket= unit= port=
raw "-c sandybridge-ep imc" CTR0= CTR1= CTR2= CTR3= FIXED_CTR= CTL0=
"$UNCORE" list --raw -c sandybridge-ep events >"$tmp/out" && grep -qx imc.CAS_COUNT "$tmp/out" && grep -qx imc.CAS_COUNT: "$tmp/out" &&
	"$UNCORE" list --raw -c emerald-rapids events >"$tmp/out" && ! grep -qx imc.CAS_COUNT "$tmp/out" && grep -qx imc.CAS_COUNT: "$tmp/out"
result "an event that counts without a mask, and one that does not"
"$UNCORE" list --raw -c sandybridge-ep nonsense >"$tmp/out" && [ ! -s "$tmp/out" ]
result "nothing follows a name that there is not"

# The methods are those that the library knows; of a simulated machine it names all.
for script in uncore _uncore; do
	sed -n 's/.*LIST) \(printf .* \|print -l \)\(kernel [a-z -]*\) |.*/\2/p' "$SRCDIR/common/tool/completion/$script"
done | tr ' ' '\n' | grep . | sort | uniq -c | sed -n 's/^ *2 //p' >"$tmp/wanted"
UNCORE_SIM=sandybridge-ep "$UNCORE" units --access nonsense 2>&1 | # ...; there are A, B, and direct for A
	sed 's/.*there are //; s/, and direct for .*/ direct/' | tr -d ',' | tr ' ' '\n' | sort >"$tmp/out"
cmp -s "$tmp/wanted" "$tmp/out"
result "access methods are those of the library"
while read -r method; do
	grep -qF "\`$method\`" "$SRCDIR/docs/rights.md" || echo "docs/rights.md does not name $method"
	grep -q "^ \*  $method " "$SRCDIR/common/uncore.h" || echo "uncore.h does not name $method"
	sed 's/\\//g' "$SRCDIR/common/tool/uncore.1" | grep -qE "^\.BR? (.* )?$method( |\$)" || echo "the manual does not name $method"
done <"$tmp/wanted" >"$tmp/out"
[ -s "$tmp/wanted" ] && [ ! -s "$tmp/out" ]
result "header, manual and page name each"

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
uncore stat -e imc.CAS_COUNT:RD:un	uncore stat -e imc.CAS_COUNT:RD:unit=|
uncore stat -m pcie_read_bytes:po	uncore stat -m pcie_read_bytes:port=|
uncore stat -m memory_read_bytes:so	uncore stat -m memory_read_bytes:socket=|
uncore stat -g ME	uncore stat -g MEM |
uncore stat -g mem,li	uncore stat -g mem,LINK |
uncore stat -e memory_read_b	uncore stat -e memory_read_bytes |
uncore stat --access=msr-	uncore stat --access=msr-safe |
uncore decode -c sandybridge-ep im	uncore decode -c sandybridge-ep imc |
uncore decode -c sandybridge-ep imc CTL0	uncore decode -c sandybridge-ep imc CTL0=|
uncore encode -c sandybridge-ep imc3.cas_count:rd_r	uncore encode -c sandybridge-ep imc3.cas_count:RD_REG |
uncore groups m	uncore groups MEM |
uncore help dec	uncore help decode |
uncore eval -c sandybridge-ep imc.MEM_BW_READS imc	uncore eval -c sandybridge-ep imc.MEM_BW_READS imc.CAS_COUNT:RD=|
uncore list -c emerald-rapids | cat; uncore he	uncore list -c emerald-rapids | cat; uncore help |
uncore stat -- basena	uncore stat -- basename |
uncore stat -d 1 basena	uncore stat -d 1 basename |
uncore nonsense st	uncore nonsense st|
CASES
	echo "uncore stat -o $tmp/only_	uncore stat -o $tmp/only_one |"
}
: >"$tmp/only_one"
mkdir "$tmp/bin"
printf '#!/bin/sh\nexec %s "$@"\n' "$UNCORE" >"$tmp/bin/uncore" && chmod +x "$tmp/bin/uncore"
for shell in bash zsh; do
	if ! command -v $shell >/dev/null || ! command -v python3 >/dev/null; then
		number=$((number + 1))
		echo "ok $number - $title: $shell # SKIP no $shell, or no python3"
		continue
	fi
	script=$SRCDIR/common/tool/completion/uncore
	[ $shell = bash ] || script=$SRCDIR/common/tool/completion/_uncore
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
