#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The texts for users and for those who work on libuncore: how long they and their lines are, that links between them lead
# somewhere, and that the command prints what they show of it.
: "${SRCDIR:=$(cd "$(dirname "$0")/../.." && pwd)}" "${BUILD:=$PWD}"
unset UNCORE_SIM UNCORE_SYSROOT UNCORE_ACCESS UNCORE_SITE
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

# written PAGE: lines of code, headings and rows of tables that its source means; rendered: those that GitHub's renderer makes of
# them. A line that lacks the empty one before it becomes part of a paragraph, or of a table.
written()
{
	awk '/^```/ { fence = !fence; next }
		fence || /^    / { code += NF > 0; next }
		/^#+ / { headings++ }
		/^ ? ? ?\|/ { rows++ }
		END { print code + 0 " lines of code, " headings + 0 " headings, " rows + 0 " rows" }' "$1"
}

rendered()
{
	cmark-gfm -e table "$1" | awk '{ line = $0 }
		sub(/.*<pre><code[^>]*>/, "") { on = 1 }
		on { ends = sub(/<\/code><\/pre>.*/, ""); code += NF > 0; on = !ends; if (!ends) next }
		{ headings += gsub(/<h[1-6]>/, "", line); rows += gsub(/<tr>/, "", line) + gsub(/<table>/, "", line) }
		END { print code + 0 " lines of code, " headings + 0 " headings, " rows + 0 " rows" }'
}

run_together() # PAGE...
{
	for page; do
		[ "$(written "$page")" = "$(rendered "$page")" ] || echo "$page: $(written "$page"), rendered $(rendered "$page")"
	done
}

if command -v cmark-gfm >/dev/null; then
	run_together $pages docs/machines/README.md eventtables/SOURCES.md >"$tmp/out"
	[ ! -s "$tmp/out" ]
	result "each page is rendered with the code, headings and tables that it means"
	printf '# A page\n\n    code\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n' >"$tmp/good.md"
	{ cat "$tmp/good.md"; printf 'Then:\n    code\n'; } >"$tmp/code.md"
	{ cat "$tmp/good.md"; printf '| x | y |\n'; } >"$tmp/table.md"
	run_together "$tmp/good.md" "$tmp/code.md" "$tmp/table.md" | sed 's|.*/||;s/:.*//' >"$tmp/out"
	printf 'code.md\ntable.md\n' | cmp -s - "$tmp/out"
	result "one that runs together would be told"
else
	skip "each page is rendered with the code, headings and tables that it means" "no cmark-gfm; install it"
fi

# commands PAGE...: "PAGE COMMAND OPTION..." of each call of uncore that a page shows; what follows " -- " is another's.
commands()
{
	for page; do
		sed 's/\\-/-/g;s/\\f.//g;s/"//g;s/-G uncore//;/^\.Nd/d' "$page" | awk -v page="$page" '
			{ text = text " " $0 }
			/^    / || /^\.[A-Z]/ { print; next }
			/`/ { all = all " " $0; next }
			all { all = all " " $0 }
			END { n = split(all, part, "`"); for (i = 2; i <= n; i += 2) print part[i] }' |
			grep -oE '(^|[ /])uncore [a-z]+( [^|;)]*)?' | sed 's/ -- .*//;s/ #.*//;s/^[ /]*uncore //' |
			grep -oE '^[a-z]+| --[a-z-]+' | awk -v page="$page" '
				/^ / { line = line $0; next }
				{ if (line) print line; line = page " " $0 }
				END { if (line) print line }'
	done | sort -u
}

# Commands and options in what commands() prints that the command does not have.
unknown()
{
	while read -r page command options; do
		"$UNCORE" help "$command" >"$tmp/help" 2>/dev/null || { echo "$page: uncore $command"; continue; }
		for option in $options; do
			grep -qE -- "^ .* $option( |\$)" "$tmp/help" || echo "$page: uncore $command $option"
		done
	done
}

manuals="common/tool/uncore.1 config/uncored.8 collectd_plugin/collectd-intel_uncore.5"
commands $pages $manuals >"$tmp/commands"
unknown <"$tmp/commands" >"$tmp/out"
[ "$(wc -l <"$tmp/commands")" -gt 50 ] && [ ! -s "$tmp/out" ]
result "the pages and manuals name commands and options that there are"
printf 'See `uncore list\n--groups`, `uncore nothing` and `uncore stat -- app --groups`.\n' >"$tmp/text.md"
commands "$tmp/text.md" | unknown | sed 's|.*/||' >"$tmp/out"
printf 'text.md: uncore list --groups\ntext.md: uncore nothing\n' | cmp -s - "$tmp/out"
result "one that is not there would be told"

# What the error says of access methods, the pages say too.
UNCORE_SIM=emerald-rapids UNCORE_ACCESS=nonsense "$UNCORE" units 2>&1 | sed -n 's/.* and direct for //p' >"$tmp/direct"
direct=$(cat "$tmp/direct")
for page in common/uncore.h common/tool/uncore.1 docs/rights.md; do
	tr -d '`*' <"$page" | sed 's/ and perf/, perf/' | grep -qi "stands for $direct" || echo "$page: direct does not stand for $direct"
done >"$tmp/out"
[ -n "$direct" ] && [ ! -s "$tmp/out" ]
result "the pages say what direct stands for"

"$UNCORE" groups -c emerald-rapids -j | sed -n 's/.*"group":"\([A-Z0-9]*\)".*/\1/p' >"$tmp/groups"
while read -r group; do
	grep -qF "\`$group\`" README.md || echo "README does not name group $group"
done <"$tmp/groups" >"$tmp/out"
[ -s "$tmp/groups" ] && [ ! -s "$tmp/out" ]
result "README names each group"

# The picture is what its script draws, and a metric stands where its formula counts.
if command -v python3 >/dev/null; then
	scripts/draw-socket >"$tmp/out" && cmp "$tmp/out" docs/socket.svg >/dev/null
	result "docs/socket.svg is what scripts/draw-socket draws"
	scripts/draw-socket --names >"$tmp/names"
	while read -r unit metric; do
		grep -qF ">$metric<" docs/socket.svg && "$UNCORE" metrics -c emerald-rapids -j "$metric" |
			grep -F "\"name\":\"$metric\"" | grep -qE "\"formula\":\"[^\"]*\<$unit[.]|\"formula\":\"llc_misses / llc_lookups\"" ||
			echo "$metric does not count in $unit"
	done <"$tmp/names" >"$tmp/out"
	[ -s "$tmp/names" ] && [ ! -s "$tmp/out" ]
	result "metrics stand at the units that count them"
else
	skip "docs/socket.svg is what scripts/draw-socket draws" "no python3; install it"
fi

# The address of reports and the home page are words 3 and 5 of AC_INIT, and nowhere else: packages have that home page or none.
init() # WORD [FILE]
{
	sed -n 's/^AC_INIT(//p' "${2:-configure.ac}" | tr -d '[] )' | cut -d, -f"$1"
}

homes() # FOLDER: of the packages
{
	sed -n 's/^Homepage: *//p' "$1/debian/control" | grep . || echo none
	sed -n 's/^URL: *//p' "$1/packaging/libuncore.spec" | grep . || echo none
	sed -n 's/^    homepage = "\(.*\)"/\1/p' "$1/packaging/spack/package.py" | grep . || echo none
}

other_homes() # FOLDER
{
	home=$(init 5 "$1/configure.ac")
	homes "$1" | grep -vxF -- "${home:-none}"
}

other_homes . >"$tmp/out"
[ ! -s "$tmp/out" ]
result "the packages have the home page of configure.ac, or none"

mkdir -p "$tmp/home/packaging" && cp -r debian "$tmp/home" && cp -r packaging/* "$tmp/home/packaging" &&
	sed 's|^\(AC_INIT(.*\)\[\])$|\1[https://uncore.example.org])|' configure.ac >"$tmp/home/configure.ac" &&
	[ "$(other_homes "$tmp/home" | grep -c none)" -eq 3 ]
result "one that lacks it would be told"

for page in README.md HACKING.md docs/installing.md docs/machines/README.md; do
	grep -qF 'uncore version' "$page" || echo "$page does not say that uncore version has the address"
done >"$tmp/out"
grep -qF -- --with-bugurl README.md || echo "README does not say who sets the address" >>"$tmp/out"
[ ! -s "$tmp/out" ]
result "the pages say where reports go"

for page in docs/*.md; do
	grep -qF "]($page)" README.md || echo "README has no link to $page"
	grep -qF "$page" Makefile.am || echo "$page is not installed"
done >"$tmp/out"
[ ! -s "$tmp/out" ]
result "README leads to each page, and each is installed"

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
sed -n "s/^    \\$ \(printf .* >channel-lost\)\$/\1/p" docs/measuring.md >"$tmp/make" && (cd "$tmp" && . ./make)
example docs/measuring.md "UNCORE_SIM=./channel-lost uncore stat -d 1" "$tmp/channel-lost" stat -d 0.2

# ---- words

# How sentences are: prose.py says how long they may be.
python3 tests/integration/prose.py README.md docs/*.md >"$tmp/out"
result "README and docs/: sentences are short, and begin with what acts"
printf 'A page of one sentence that %s.\n' "$(yes 'goes on' | head -n 20 | tr '\n' ' ')" >"$tmp/long.md"
! python3 tests/integration/prose.py "$tmp/long.md" >"$tmp/out" && grep -q '^    47 words' "$tmp/out"
result "one that is long would be told"

# Words that docs/glossary.md replaces: in pages, in manuals, in sentences of the library, the command and the adapters, and in
# the tables' descriptions.
replaced() # FILE...
{
	sed '/^#/d;/^$/d;s/ *;.*//' tests/words.replaced >"$tmp/words"
	for file; do
		case $file in
		*.c | *.inc) grep -noE '"([^"\\]|\\.)*"' "$file" ;;
		*.tbl) grep -nE '"' "$file" | grep -oE '^[0-9]*:|"[^"]*"' | paste -sd ' ' | sed 's/ \([0-9]*:\)/\n\1/g' ;;
		*) sed 's/`[^`]*`//g' "$file" | grep -n '' ;;
		esac | grep -iE -f "$tmp/words" | sed "s|^|$file:|"
	done
}
replaced README.md docs/*.md HACKING.md papi_component/README.md collectd_plugin/README.md common/tool/uncore.1 config/uncored.8 \
	collectd_plugin/collectd-intel_uncore.5 common/*/*.c common/*/*.inc papi_component/*.c collectd_plugin/*.c \
	eventtables/portable.tbl eventtables/groups.tbl eventtables/*/metrics.tbl >"$tmp/out"
[ ! -s "$tmp/out" ]
result "no text has a word that docs/glossary.md replaces"
printf 'static const char *text = "events take turns";\n' >"$tmp/text.c"
printf 'Nothing.\nThe ledger\n' >"$tmp/text.md"
replaced "$tmp/text.c" "$tmp/text.md" | sed 's|.*/||' >"$tmp/out"
printf 'text.c:1:"events take turns"\ntext.md:2:The ledger\n' | cmp -s - "$tmp/out"
result "one that has would be told"
finish
