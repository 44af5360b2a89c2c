#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What the shared library exports: the functions of uncore.h, with their version, and nothing else; what the Debian package says of it.
# That processes share its tables.

: "${SRCDIR:=$(cd "$(dirname "$0")/../.." && pwd)}" "${BUILD:=$PWD}"
library=$BUILD/common/.libs/libuncore.so
[ -e "$library" ] || { echo "1..0 # SKIP no shared library is built"; exit 0; }
command -v nm >/dev/null || { echo "1..0 # SKIP no nm; install binutils"; exit 0; }
tmp=$(mktemp -d) || exit 99
trap 'rm -rf "$tmp"' EXIT

sed -n 's/^UNC_API .*[ *]\(unc_[a-z_]*\)(.*/\1@@LIBUNCORE_0/p' "$SRCDIR/common/uncore.h" | sort >"$tmp/header"
nm -D --defined-only "$library" | awk '$2 != "A" { print $3 }' | sort >"$tmp/library"

echo 1..4
if [ -s "$tmp/header" ] && cmp -s "$tmp/header" "$tmp/library"; then
	echo "ok 1 - the library exports what uncore.h declares"
else
	echo "not ok 1 - the library exports what uncore.h declares"
	diff "$tmp/header" "$tmp/library" | sed -n 's/^</# missing:/p; s/^>/# not in the header:/p'
fi
if ! grep '^UNC_API ' "$SRCDIR/common/uncore.h" | grep -v '[ *]unc_[a-z_]*('; then
	echo "ok 2 - each declaration of uncore.h names its function on its first line"
else
	echo "not ok 2 - each declaration of uncore.h names its function on its first line"
fi
sed -n 's/^ \(unc_[a-z_]*@\)\(LIBUNCORE_0\) .*/\1@\2/p' "$SRCDIR/debian/libuncore0.symbols" | sort >"$tmp/package"
if cmp -s "$tmp/header" "$tmp/package"; then
	echo "ok 3 - debian/libuncore0.symbols lists them"
else
	echo "not ok 3 - debian/libuncore0.symbols lists them"
	diff "$tmp/header" "$tmp/package" | sed -n 's/^</# missing:/p; s/^>/# not in the header:/p'
fi
# What has a pointer is written to when the library is loaded, in each process.
find "$BUILD/common/.libs" -name '*table_data.o' -o -name '*sim_data.o' | while read -r object; do
	nm "$object" | sed -n "s/^[0-9a-f]* [bBdD] /# ${object##*/}: /p"
	echo "$object" >>"$tmp/objects"
done >"$tmp/written"
if [ "$(wc -l <"$tmp/objects")" = 2 ] && [ ! -s "$tmp/written" ]; then
	echo "ok 4 - the tables that are compiled in have no pointers"
else
	echo "not ok 4 - the tables that are compiled in have no pointers"
	cat "$tmp/written"
fi
