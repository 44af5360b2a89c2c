#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# `uncore stat`: where its report goes, what programs can read of it, and terminals.
: "${SRCDIR:=$(cd "$(dirname "$0")/../.." && pwd)}" "${BUILD:=$PWD}"
: "${UNCORE:=$BUILD/common/tool/uncore}"
unset UNCORE_SIM UNCORE_SYSROOT UNCORE_TABLES UNCORE_ACCESS COLUMNS
for need in jq python3; do
	command -v $need >/dev/null || { echo "1..0 # SKIP no $need; install $need"; exit 0; }
done
tmp=$(mktemp -d) || exit 99
trap 'rm -rf "$tmp"' EXIT
number=0

run() # ARGUMENT...: output in $tmp/out and $tmp/err, status in $status
{
	timeout 60 "$UNCORE" stat "$@" >"$tmp/out" 2>"$tmp/err"
	status=$?
}

result() # NAME: a test, by the status of the command before
{
	good=$?
	number=$((number + 1))
	if [ $good -eq 0 ]; then
		echo "ok $number - $1"
	else
		echo "not ok $number - $1"
		echo "# status $status"
		sed 's/^/# out: /' "$tmp/out" | head -n 20
		sed 's/^/# err: /' "$tmp/err" | head -n 20
	fi
}

# ---- separators

# Parsed again it is what --json-lines has, whatever is between the fields: python's own reader for one
# letter, for more a loop that looks for the separator from the left. Units that are missing give reasons with
# commas and colons in them.
cat >"$tmp/parse.py" <<'EOP'
import csv, json, sys

separator, lines, rows = sys.argv[1], sys.argv[2], sys.argv[3]

def field(text):
    if text.startswith('"'):
        value, at = "", 1
        while text[at:at + 2] == '""' or text[at] != '"':
            value += text[at]
            at += 2 if text[at] == '"' else 1
        return value, text[at + 1:]
    end = text.find(separator)
    return (text, "") if end < 0 else (text[:end], text[end:])

def fields(text):
    row = []
    while True:
        value, text = field(text)
        row.append(value)
        if not text:
            return row
        assert text.startswith(separator), text
        text = text[len(separator):]

text = open(rows).read().splitlines()
assert text.pop(0) == "# SIMULATED sandybridge-ep"
parsed = [fields(line) for line in text]
if len(separator) == 1:
    assert parsed == list(csv.reader(text, delimiter=separator)), "python reads it otherwise"
told = [json.loads(line) for line in open(lines)]
assert all(one.pop("simulated") for one in told)
assert parsed[0] == list(told[0]), parsed[0]
assert len(parsed) == 1 + len(told)
for row, one in zip(parsed[1:], told):
    for have, (key, want) in zip(row, one.items()):
        if key in ("time", "clock", "interval", "value"):
            assert (have == "-") if want is None else len(have) > 1, (key, have)
        elif isinstance(want, (int, float)):
            assert float(have) == want, (key, have, want)
        else:
            assert have == (want or ""), (key, have, want)
EOP

export UNCORE_SIM=sandybridge-ep,hide=imc3@1
items="-d 0.05 --per-unit -m memory_read_bytes -e imc.CAS_COUNT:RD"
# shellcheck disable=SC2086
run $items --json-lines && cp "$tmp/out" "$tmp/lines" &&
	jq -es 'length == 10 and (map(select(.value == null)) | length) == 1 and all(.[]; .simulated)' "$tmp/lines" >/dev/null
result "--json-lines: an object for each number"
wrong=
for separator in , ';' '|' : . ' ' '	' 0 1 e E - + _ '#' T , ,, 00 '::' aa ab im 'co' '. ' ' , ' ', ' é '\t'; do
	# shellcheck disable=SC2086
	run $items -x "$separator"
	[ "$separator" = '\t' ] && separator='	'
	[ $status -eq 0 ] && python3 "$tmp/parse.py" "$separator" "$tmp/lines" "$tmp/out" 2>"$tmp/err" ||
		{ wrong="$wrong '$separator'"; tail -n 1 "$tmp/err"; }
done
[ -z "$wrong" ] || echo "# cannot be read again:$wrong"
[ -z "$wrong" ]; result "-x: any separator parses"
wrong=
for separator in '' '"' 'a"' "
" ",
"; do
	run -d 0.1 -x "$separator"
	[ $status -eq 2 ] && [ "$(wc -l <"$tmp/err")" -eq 1 ] &&
		grep -q "a separator without quotes and line ends" "$tmp/err" || wrong="$wrong '$separator'"
done
[ -z "$wrong" ]; result "-x: separators that cannot be"

echo "1..$number"
