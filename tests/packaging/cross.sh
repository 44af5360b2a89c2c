#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Built on this machine for another one, aarch64: from the tarball without any compiler for this machine, and what is generated again
# with one. The command that comes out runs (qemu) and says what ours says.
. "$(dirname "$0")/packaging.inc"
host=aarch64-linux-gnu
need $host-gcc gcc-aarch64-linux-gnu
begin
source=$tmp/libuncore-$version

configured() # FOLDER ARGUMENT...
{
	mkdir "$1" && cd "$1" || return
	shift
	PKG_CONFIG_LIBDIR=$tmp/none "$source/configure" -q --host=$host --without-collectd --enable-werror --prefix=/usr \
		CFLAGS='-O1 -g' "$@"
}

# Read-only, as it may be, so that what is made is made elsewhere.
built()
{
	cd "$tmp" && tar xf "$tarball" && chmod -R a-w "$source" && configured "$tmp/build" ac_cv_path_PYTHON3= &&
		make -j"$(nproc)" && make -s install DESTDIR="$tmp/root" &&
		readelf -h "$tmp/root/usr/lib/libuncore.so.0" "$tmp/root/usr/lib/libuncore-sim.so" "$tmp/root/usr/bin/uncore" >"$tmp/elf" &&
		[ "$(grep -c 'Machine: *AArch64' "$tmp/elf")" -eq 3 ]
}

# As in a clone, which has none of it; under another locale and time zone than `make dist`.
generated="common/table_data.c common/sim_data.c"
again()
{
	chmod -R u+w "$source" && for file in $generated; do mv "$source/$file" "$tmp/${file##*/}" || return; done
	configured "$tmp/clone" && LC_ALL=C.UTF-8 TZ=NPT-5:45 make $generated && for file in $generated; do
		cmp "$file" "$tmp/${file##*/}" || return
	done
}

# A changed table has to arrive: without a compiler that fails, rather than leave the old one.
changed()
{
	for file in $generated; do mv "$tmp/${file##*/}" "$source/$file" && touch "$source/$file" || return; done
	sleep 1
	sed -i 's/Emerald Rapids/Emerald Rabbits/' "$source/eventtables/cpus.tbl"
	cd "$tmp/build" && ! make common/table_data.c || return
	cd "$tmp/clone" && make common/table_data.c && grep -q 'Emerald Rabbits' common/table_data.c
}

there() # ARGUMENT...: the command of that machine
{
	qemu-aarch64-static -L /usr/$host -E LD_LIBRARY_PATH="$tmp/root/usr/lib" "$tmp/root/usr/bin/uncore" "$@"
}
same()
{
	for command in "cpus -j" "list -c skylake-sp -j" "encode -c emerald-rapids imc.CAS_COUNT:RD" "metrics -c icelake-sp -v" \
		"eval -c emerald-rapids memory_read_bytes imc.CAS_COUNT:RD=1000" "units -j"; do
		"$BUILD/common/tool/uncore" $command >"$tmp/ours" 2>&1
		there $command >"$tmp/theirs" 2>&1
		[ -s "$tmp/ours" ] && cmp "$tmp/ours" "$tmp/theirs" || { echo "uncore $command"; cat "$tmp/theirs"; return 1; }
	done
}

result "the tarball needs no compiler for the machine that builds" built
result "what the tarball carries is what a clone makes" again
result "a table that has changed is compiled, or the build fails" changed
if command -v qemu-aarch64-static >/dev/null; then
	export UNCORE_SIM=emerald-rapids
	result "the command answers as ours" same
else
	skip "the command answers as ours" "no qemu-aarch64-static; install it (Debian: qemu-user-static)"
fi
finish
