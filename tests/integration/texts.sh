#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The texts for users and for those who work on libuncore: how long they and their lines are, that links between them lead
# somewhere, and that the command prints what they show of it.
: "${SRCDIR:=$(cd "$(dirname "$0")/../.." && pwd)}" "${BUILD:=$PWD}"
unset UNCORE_SIM UNCORE_SYSROOT UNCORE_TABLES UNCORE_ACCESS UNCORE_SITE
. "$(dirname "$0")/result.inc"
title=texts
cd "$SRCDIR" || exit 99
texts="README.md NEWS docs/*.md tests/README.md papi_component/README.md collectd_plugin/README.md"
pages="$texts HACKING.md papi_component/examples/README.md collectd_plugin/dashboards/README.md
	eventtables/README.md"

long_lines() # FILE...: those of over 120 columns
{
	LC_ALL=C.UTF-8 grep -nHE '^.{121}' "$@"
}

# The names by which a page's headings are linked to. PAPI's pages have them with a word of Bitbucket's before.
anchors() # FILE
{
	sed -n 's/^##* //p' "$1" | tr 'A-Z ' 'a-z-' | tr -cd 'a-z0-9_\n-' | sed 'p;s/^/markdown-header-/'
}

# Links to a file that is not there, or to a heading that it does not have.
broken_links() # FILE...
{
	for page; do
		grep -v '^    ' "$page" | grep -oE '\]\([^)]*\)' | sed 's/^](//;s/)$//' | while IFS= read -r link; do
			case $link in http:* | https:*) continue ;; esac
			file=${link%%#*}
			file=${file:+$(dirname "$page")/$file}
			[ -e "${file:=$page}" ] || { echo "$page: no file $link"; continue; }
			case $link in
			*'#'*) anchors "$file" | grep -qxF -- "${link#*#}" || echo "$page: no heading $link" ;;
			esac
		done
	done
}

long_lines $texts >"$tmp/out"
[ ! -s "$tmp/out" ]
result "no line has over 120 columns"

printf '%0120d\n%0121d\n' 0 0 >"$tmp/text"
long_lines "$tmp/text" >"$tmp/out"
[ "$(wc -l <"$tmp/out")" -eq 1 ]
result "one that has would be told"

wc -l README.md >"$tmp/out"
[ "$(wc -l <README.md)" -le 200 ]
result "README has at most 200 lines"

broken_links $pages >"$tmp/out"
[ ! -s "$tmp/out" ]
result "each link leads to a file, and to a heading that it has"

printf '# A page, of two\n[here](#a-page-of-two) [gone](gone.md) [none](text.md#none) [it](text.md#a-page-of-two)\n' >"$tmp/text.md"
broken_links "$tmp/text.md" | cut -d: -f2 >"$tmp/out"
printf ' no file gone.md\n no heading text.md#none\n' | cmp -s - "$tmp/out"
result "one that leads nowhere would be told"

for page in docs/*.md; do
	grep -qF "]($page)" README.md || echo "README has no link to $page"
	grep -qF "$page" Makefile.am || echo "$page is not installed"
done >"$tmp/out"
[ ! -s "$tmp/out" ]
result "README leads to each page, and each is installed"

for table in eventtables/*.tbl eventtables/*/*; do
	grep -qF "$table" Makefile.am || echo "$table is not in the list of tables of Makefile.am"
done >"$tmp/out"
[ ! -s "$tmp/out" ]
result "each table is built in"

sed -n 's/^cpu \([^ ]*\) "\([^"]*\)"/\1;\2;/p' eventtables/cpus.tbl | while IFS=\; read -r cpu title more; do
	folder=${more##*folder=}
	[ "$folder" != "$more" ] || folder=$cpu
	title=${title##*(}
	grep -qE "\*\*.*${title%)}.*\*\*" docs/cpus.md || echo "docs/cpus.md does not have $cpu"
	grep -qE "^## (.*, )?${folder%% *}(,|\$)" eventtables/SOURCES.md || echo "SOURCES.md has no section of $folder"
done >"$tmp/out"
[ ! -s "$tmp/out" ]
result "each CPU has its place in the pages, and its sources"

# Names in capitals stand for others; what is generated is called *_data.c.
grep -oE '`[a-z_/.-]+[.](c|h|inc|sh|awk|tbl|cases|md)`' HACKING.md tests/README.md | sort -u | tr -d '`' |
	grep -v '_data\.c$' | while IFS=: read -r page file; do
	[ -n "$(find common papi_component collectd_plugin tests scripts eventtables docs -path "*/$file" -o -path "$file")" ] ||
		echo "$page: no file $file"
done >"$tmp/out"
[ ! -s "$tmp/out" ]
result "the files that HACKING and tests/README name are there"

# The definitions of portable metrics are compared by test_table.
sed -n 's/^- `\([a-z_]*\)` (.*/\1/p' docs/measuring.md >"$tmp/metrics"
while read -r metric; do
	grep -qF "\`$metric\`" README.md || echo "README does not name $metric"
done <"$tmp/metrics" >"$tmp/out"
[ -s "$tmp/metrics" ] && [ ! -s "$tmp/out" ]
result "README names each portable metric"

# shown PAGE COMMAND: the lines that a page shows below "$ COMMAND".
shown()
{
	awk -v command="    \$ $2" '
		/^    \$ / { on = index($0, command) == 1 && substr($0, length(command) + 1) ~ /^ *(#.*)?$/; next }
		/^[^ ]/ { on = 0 }
		on && NF' "$1"
}

# plain: without what is another number in each run, bars of blocks, and the width of columns; of rows that are alike then
# only one, for a busy machine may have fewer.
plain()
{
	sed 's/\[[^]]*\]/[]/g;s/[0-9][0-9,.:]*/N/g;s/  */ /g;s/^ //;s/ $//' | uniq
}

# example PAGE COMMAND MACHINE ARGUMENT...: what the page shows of the command the built one prints, called with these
# arguments, in this order. Lines "..." stand for any, and so does "..." at the end of one.
example()
{
	what="$1: $2"
	shown "$1" "$2" | plain >"$tmp/shown"
	machine=$3
	shift 3
	UNCORE_SIM=$machine COLUMNS=80 LC_ALL=C.UTF-8 timeout 60 "$UNCORE" "$@" >"$tmp/printed" 2>&1
	calm "$tmp/printed"
	plain <"$tmp/printed" | awk 'BEGIN { at = 0 }
		NR == FNR { line[n++] = $0; next }
		$0 == "..." { next }
		{ more = sub(/ ?\.\.\.$/, "") }
		{ while (at < n && (more ? index(line[at], $0) != 1 : line[at] != $0)) at++ }
		at++ >= n { print "not printed: " $0; exit 1 }' - "$tmp/shown" >"$tmp/out" && [ -s "$tmp/shown" ]
	result "$what"
}

example README.md "uncore list memory" emerald-rapids list memory
example README.md "uncore stat -g MEM -- ./app" emerald-rapids,memory=5600 stat -g MEM -- sleep 0.1
example README.md "uncore top" emerald-rapids,memory=5600,load=live top -n 1
example docs/command.md "uncore stat -g MEM -I 1000" emerald-rapids stat -g MEM -I 1000 -d 2
event=cbo.TOR_INSERTS:MISS_OPCODE:opc=DRd
example docs/command.md "uncore encode -c sandybridge-ep $event" "" encode -c sandybridge-ep $event
decode="decode -c sandybridge-ep cbo CTL=0x400335 BOX_FILTER=0xc1000000"
# shellcheck disable=SC2086 # words
example docs/command.md "uncore $decode" "" $decode
machine=sandybridge-ep,hide=imc3@1
example docs/measuring.md "UNCORE_SIM=$machine uncore stat -d 1" $machine stat -d 0.2
finish
