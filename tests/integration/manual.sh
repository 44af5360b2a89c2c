#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The manual pages: each function of uncore.h has one that describes it, and no page has anything that troff stumbles over.
: "${SRCDIR:=$(cd "$(dirname "$0")/../.." && pwd)}" "${BUILD:=$PWD}"
. "$(dirname "$0")/result.inc"
title=manual

pages=$BUILD/common/man3
sed -n 's/^UNC_API .*[ *]\(unc_[a-z_]*\)(.*/\1/p' "$SRCDIR/common/uncore.h" >"$tmp/functions"
while read -r function; do
	page=$(sed -n 's/^\.so man3\///p' "$pages/$function.3" 2>/dev/null)
	if [ -z "$page" ] || ! grep -qx "\.SS $function()" "$pages/$page"; then
		echo "$function() has no page"
	fi
done <"$tmp/functions" >"$tmp/out"
[ -s "$tmp/functions" ] && [ ! -s "$tmp/out" ]
result "each function has a page that describes it"

# A line of what the header says of a function, and one of its rules, arrive with their words.
cat "$pages"/*.3 | tr '\n' ' ' | sed 's/\\f[BR]//g' >"$tmp/all"
for words in 'Opens the machine: identifies the CPU, loads its table, discovers the units.' \
	'Outputs come last and are untouched on error (a text buffer is terminated, at least).'; do
	grep -qF "$words" "$tmp/all" || echo "missing: $words"
done >"$tmp/out"
[ ! -s "$tmp/out" ]
result "what the header says is in them"

sed '/^UNC_API unsigned unc_api_version/i\
\
UNC_API int unc_nobody_knows(int);\
' "$SRCDIR/common/uncore.h" >"$tmp/uncore.h"
mkdir "$tmp/made"
! ${AWK:-awk} -v out="$tmp/made" -v version=1 -f "$SRCDIR/scripts/manual-api.awk" "$tmp/uncore.h" 2>"$tmp/out" &&
	grep -q 'uncore.h:[0-9]*: unc_nobody_knows() has no comment' "$tmp/out"
result "a function without a comment is refused, with its line"

# uncore.1 names the commands, and for each the options and what these take, that its help names; and no others.
# A line each: COMMAND WORDS, COMMAND OPTION.
"$UNCORE" help | sed -n '/^Commands/,$s/^  \([a-z]*\) .*/\1/p' >"$tmp/commands"
while read -r command; do
	"$UNCORE" help "$command" | awk -v c="$command" '
		NR == 1 { sub(/^uncore [a-z]*( \[OPTION\]\.\.\.)?/, ""); sub(/: .*/, ""); print c $0 }
		/^  (-[a-zA-Z],|   ) --/ { sub(/^ */, ""); print c " " ($0 ~ /  / ? substr($0, 1, index($0, "  ") - 1) : $0) }'
done <"$tmp/commands" | sed 's/ *$//' | sort >"$tmp/helped"
told() # PAGE
{
	sed 's/\\-/-/g; s/\\&//g; s/\\f[BRI]//g' "$1" | awk '
		/^\.SH/ { part = $2 }
		part == "COMMANDS" && tag { print; command[n++] = $1 }
		part == "OPTIONS" && /^Of / { of = "" }
		part == "OPTIONS" && (/^Of / || more) { of = of " " $0; more = !/:$/; gsub(/^ Of |:$|,/, "", of) }
		part == "OPTIONS" && tag && of == "every command" { for (i = 0; i < n; i++) print command[i], $0 }
		part == "OPTIONS" && tag && of != "every command" { k = split(of, to, " "); for (i = 1; i <= k; i++) print to[i], $0 }
		{ tag = $0 == ".TP" }' | sed 's/ *$//' | sort
}
told "$SRCDIR/common/tool/uncore.1" >"$tmp/told"
[ "$(wc -l <"$tmp/helped")" -gt 50 ] && diff "$tmp/helped" "$tmp/told" >"$tmp/out"
result "uncore.1 has the commands and options of the help"
sed 's/^Of stat:$/Of stat, list:/' "$SRCDIR/common/tool/uncore.1" >"$tmp/more.1"
sed '/^.fB.-r, /d' "$SRCDIR/common/tool/uncore.1" >"$tmp/less.1"
! told "$tmp/more.1" | cmp -s "$tmp/helped" - && ! told "$tmp/less.1" | cmp -s "$tmp/helped" - &&
	[ "$(told "$tmp/more.1" | wc -l)" -gt "$(told "$tmp/less.1" | wc -l)" ]
result "one option too many, or missing, would be told"

# All pages but links. A page is of a version, not of a day: that it has no date is meant.
ls "$BUILD"/common/man3/*uncore*.3 "$SRCDIR"/collectd_plugin/*.5 "$SRCDIR/common/tool/uncore.1" |
	sort -u >"$tmp/pages"
if ! command -v mandoc >/dev/null; then
	skip "mandoc has no warning" "no mandoc; install it"
else
	while read -r page; do
		mandoc -T lint -W warning "$page" | grep -v 'missing date, using "": TH$'
	done <"$tmp/pages" >"$tmp/out"
	printf '.TH X 1\n.SH NAME\n.nosuch\n' | mandoc -T lint -W warning >"$tmp/wrong"
	[ ! -s "$tmp/out" ] && [ -s "$tmp/wrong" ]
	result "mandoc has no warning"
fi
if ! command -v groff >/dev/null; then
	skip "groff has no warning" "no groff; install it"
else
	while read -r page; do
		groff -man -ww -z "$page" 2>&1
	done <"$tmp/pages" >"$tmp/out"
	[ ! -s "$tmp/out" ]
	result "groff has no warning"
fi
finish
