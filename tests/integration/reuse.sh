#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Who owns a file and what may be done with it is said as REUSE wants it: by `reuse lint`, and in each file that can carry a
# comment by its first lines, which the general row of .reuse/dep5 would not ask for.
: "${SRCDIR:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$(dirname "$0")/result.inc"
title=licences
cd "$SRCDIR" || exit 99
git ls-files >/dev/null 2>&1 || { echo "1..0 # SKIP not a git working tree, which tells whose files these are"; exit 0; }

# Files of a list, one a line, that do not tell their licence in their first three lines.
silent() # LIST
{
	while IFS= read -r file; do
		head -n 3 "$file" | grep -q 'SPDX-License-Identifier: BSD-3-Clause' || echo "$file"
	done <"$1"
}

sed -n 's/^Files: //p' .reuse/dep5 | tail -n +2 | tr ' ' '\n' >"$tmp/patterns"
git ls-files -- . ':!LICENSES' ':!.reuse' >"$tmp/all"
while IFS= read -r file; do
	while IFS= read -r pattern; do
		case ${file##*/} in $pattern) continue 2 ;; esac
	done <"$tmp/patterns"
	echo "$file"
done <"$tmp/all" >"$tmp/commented"
silent "$tmp/commented" >"$tmp/out"
[ -s "$tmp/commented" ] && [ ! -s "$tmp/out" ]
result "each file that can carry a comment begins with its licence"

printf '%s\n' COPYING >"$tmp/one"
[ "$(silent "$tmp/one")" = COPYING ]
result "one that does not would be told"

cmp COPYING LICENSES/BSD-3-Clause.txt >"$tmp/out" 2>&1
result "the licence is the same in both places"

if command -v reuse >/dev/null; then
	reuse lint >"$tmp/out" 2>&1
	result "reuse lint"
else
	skip "reuse lint" "no reuse; install it"
fi
finish
