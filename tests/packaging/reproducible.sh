#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Two builds of the tarball in different folders, of different depth, with another locale, time zone, umask and number of jobs: what
# they install is the same, byte by byte. That generated files are the same as well asks cross.sh. Debugging
# information is that of a build with -ffile-prefix-map, as distributions build; -Wdate-time refuses the time of the build. What
# folders, time and order do to files they do at -O0 as well, and sooner.
. "$(dirname "$0")/packaging.inc"
begin

installed() # FOLDER JOBS MASK
{
	mkdir -p "$1" && cd "$1" && tar xf "$tarball" && mv "libuncore-$version" source && umask "$3" || return
	mkdir build && cd build &&
		../source/configure -q --prefix=/usr --enable-static --with-collectd-plugindir=/usr/lib/collectd \
			CFLAGS="-O0 -g -Wdate-time -Werror=date-time -ffile-prefix-map=$1=." &&
		make -s -j"$2" && make -s install DESTDIR="$1/root"
}

first()
{
	LC_ALL=C TZ=UTC0 installed "$tmp/one" "$(($(nproc) + 1))" 022
}

second()
{
	other=$(locale -a | grep -v -e '^C$' -e POSIX | tail -n 1)
	LC_ALL=${other:-C} TZ=NPT-5:45 installed "$tmp/another/folder/that/is/deeper" "$(nproc)" 027
}

compared()
{
	(cd "$tmp/one/root" && find . -type f | sort) >"$tmp/files"
	for name in lib/libuncore.so.0.0.0 lib/libuncore-sim.so lib/libuncore.a bin/uncore share/man/man1/uncore.1 \
		share/man/man3/uncore_platform.3; do
		grep -qx "./usr/$name" "$tmp/files" || { echo "not installed: $name"; return 1; }
	done
	diff -r "$tmp/one/root" "$tmp/another/folder/that/is/deeper/root"
}

result "a build" first
result "another one" second
result "both install the same files" compared
finish
