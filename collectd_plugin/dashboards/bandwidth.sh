#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Draws the memory bandwidth of a host, its sockets stacked: bandwidth.sh STORE HOST PNG [TITLE]
# STORE: the folder of whisper files; HOST: as Graphite has it. Takes the last ten minutes.
set -eu

[ $# -ge 3 ] || { echo "usage: bandwidth.sh STORE HOST PNG [TITLE]" >&2; exit 2; }
store=$1/$2 host=$2 png=$3 title=${4:-Memory bandwidth of $2}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' HUP INT TERM

# A database of rrdtool with the values that a whisper file has: FILE RRD; sets first, last, step.
convert()
{
	whisper-fetch --from=$(($(date +%s) - 600)) "$1" >"$tmp/points"
	awk '$2 != "None" { if (!first) first = $1; last = $1 } NR == 2 { step = $1 - before } { before = $1 }
		END { if (!first) exit 1; print first, last, step }' "$tmp/points" >"$tmp/range" ||
		{ echo "bandwidth.sh: $1 holds no values of the last ten minutes" >&2; exit 1; }
	read -r first last step <"$tmp/range"
	rrdtool create "$2" --start $((first - step)) --step "$step" \
		DS:v:GAUGE:$((10 * step)):0:U "RRA:AVERAGE:0.5:1:$((600 / step + 10))"
	awk '$2 != "None" { print $1 ":" $2 }' "$tmp/points" | xargs rrdtool update "$2"
}

colours="1f77b4 ff7f0e 2ca02c d62728 9467bd 8c564b e377c2 17becf"
set --
for file in "$store"/intel_uncore-socket*/total_bytes-memory_*_bytes.wsp; do
	[ -e "$file" ] || { echo "bandwidth.sh: no memory bandwidth of $host in $store" >&2; exit 1; }
	n=$(($# / 3))
	convert "$file" "$tmp/$n.rrd"
	socket=$(expr "$file" : '.*/intel_uncore-\(socket[0-9]*\)/')
	what=$(expr "$file" : '.*-memory_\(.*\)_bytes\.wsp')
	colour=$(echo "$colours" | cut -d ' ' -f $((n % 8 + 1)))
	set -- "$@" "DEF:b$n=$tmp/$n.rrd:v:AVERAGE" "CDEF:g$n=b$n,1e9,/" \
		"AREA:g$n#$colour:$socket $what:STACK"
done
rrdtool graph "$png" --start "$first" --end "$last" --width 800 --height 300 --title "$title" \
	--vertical-label GB/s --lower-limit 0 "$@" >/dev/null
