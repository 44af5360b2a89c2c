#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Who may use whom: the table of HACKING.md, held against the #include lines of common/ and of the rooms beside it,
# and against the calls between its object files, which go in no circle.
set -u
cd "$SRCDIR" || exit 1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

n=0
result() # TITLE FILE: passed if the file is empty
{
	n=$((n + 1))
	if [ -s "$2" ]; then
		echo "not ok $n - $1"
		sed 's/^/# /' "$2"
	else
		echo "ok $n - $1"
	fi
}

# "FOLDER USED" for each arrow that the table allows. Rows are `folder` | job | `used` ...
awk -F'|' '/^\| folder /{on = 1; next} on && !/^\|/{exit} on && /`/ {
	split($2, name, "`"); print name[2], name[2]
	k = split($4, used, "`"); for (i = 2; i <= k; i += 2) print name[2], used[i] }' HACKING.md >"$work/allowed"

for file in common/*/*.[ch]; do
	folder=${file#common/} folder=${folder%%/*}
	sed -n 's,^#include "\([a-z]*\)/.*,\1,p' "$file" | sort -u | sed "s,^,$folder ,;s,\$, $file,"
done >"$work/includes"
awk 'NR == FNR { ok[$1, $2] = 1; next } !(($1, $2) in ok) { print $3 " uses " $2 "/" }' \
	"$work/allowed" "$work/includes" >"$work/wrong"
result "each folder includes only what HACKING.md lets it" "$work/wrong"

# A build in the tree makes folders as well, without sources of ours.
printf '%s\n' common/*/*.h common/*/*.c | cut -d/ -f2 | sort -u >"$work/folders"
cut -d' ' -f1 "$work/allowed" | sort -u | comm -3 - "$work/folders" >"$work/wrong"
result "the table of HACKING.md has each folder of common/, and no other" "$work/wrong"

# What git tracks of a folder, or what would be: generated files have other names.
awk -F'|' '/^\| folder /{on = 1; next} on && !/^\|/{exit} on && /`/ {split($2, name, "`"); print name[2], $5 + 0}' \
	HACKING.md | while read -r folder most; do
	has=$(find "common/$folder" -type f \( -name '*.[ch1]' -o -name '*.inc' -o -path '*/completion/*' \) -exec cat {} + | wc -l)
	echo "# $folder: $has lines of $most" >&2
	[ "$has" -le "$most" ] || echo "common/$folder has $has lines, more than the $most of HACKING.md"
done >"$work/wrong"
result "no folder of common/ has more lines than HACKING.md says" "$work/wrong"

awk '$1 != $2' "$work/allowed" | tsort >/dev/null 2>"$work/wrong"
result "the table has no circle" "$work/wrong"

for file in papi_component/*.[ch] collectd_plugin/*.[ch] common/tool/*.[ch]; do
	for folder in $(cat "$work/folders"); do
		grep -H "^#include \".*$folder/" "$file" | grep -v '^common/tool/.*"base/nearest.h"'
	done
done >"$work/wrong"
result "the adapters use uncore.h and nothing else of the library, the command that and nearest.h" "$work/wrong"

# A unit test, or a room, of which scripts/mutants knows nothing is never asked whether it sees a mistake.
scripts/mutants --check-rooms >"$work/wrong" 2>&1
result "tests/mutants/rooms has each unit test and each folder of common/" "$work/wrong"

# "FILE T NAME" of functions that a file has, "FILE U NAME" of what it uses. The component is compiled by PAPI
# alone: of its files the text tells. A function begins in the first column of a line.
symbols()
{
	while read -r object; do
		name=${object##*/} name=${name##*-} name=${name%.o}
		folder=${object#"$BUILD"/} folder=${folder%/*} folder=${folder%/.libs}
		[ -f "$folder/$name.c" ] || continue # generated, or of a source that has moved since
		nm "$object" | awk -v f="$name" '{ print f, $(NF - 1), $NF }'
	done <"$work/objects"
	for file in papi_component/*.c; do
		awk -v f="$(basename "$file" .c)" '/^[ \t]*(\/\*|\*)/ { next }
			/^[a-z].*\(/ && !/^static/ && !/;$/ {
				match($0, /[a-z_0-9]+\(/); print f, "T", substr($0, RSTART, RLENGTH - 1); next }
			{ while (match($0, /[a-z_][a-z_0-9]*/)) {
				print f, "U", substr($0, RSTART, RLENGTH); $0 = substr($0, RSTART + RLENGTH) } }' "$file"
	done
}

# Calls: "FILE FILE" where the first uses a function that the second has.
find "$BUILD/common" -name '*.o' \( -path '*/.libs/*' -o -path '*/tool/*' \) >"$work/objects"
if [ -s "$work/objects" ] && command -v nm >/dev/null; then
	symbols |
		awk '$2 ~ /[TDRBVW]/ { of[$3] = $1; next } $2 == "U" { use[NR] = $1 " " $3 }
		END { for (i in use) { split(use[i], u, " "); if (u[2] in of && of[u[2]] != u[1]) print u[1], of[u[2]] } }' |
		sort -u >"$work/calls"
	tsort "$work/calls" 2>&1 >/dev/null | sed -n 's/^tsort: \([a-z_0-9]*\)$/\1/p' | sort -u >"$work/wrong"
	result "no files call each other in a circle" "$work/wrong"
else
	n=$((n + 1))
	echo "ok $n - calls # SKIP no nm, or no objects"
fi
echo "1..$n"
