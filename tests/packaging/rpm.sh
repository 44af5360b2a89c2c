#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# packaging/libuncore.spec: rpmbuild makes all packages of it and finds no file that is in none; where they need each other they find
# each other. Macros of systemd and names of build dependencies, which only a distribution with RPM has, stay untried here.
. "$(dirname "$0")/packaging.inc"
need rpmbuild rpm
begin
spec=$SRCDIR/packaging/libuncore.spec

same_version()
{
	grep -x "Version: *$version" "$spec"
}

# What the packages are made of need not be fast.
built()
{
	mkdir -p "$tmp/SOURCES" && cp "$tarball" "$tmp/SOURCES" && cd "$tmp" &&
		rpmbuild -bb --nodeps --without check --define "_topdir $tmp" --define "_tmpfilesdir /usr/lib/tmpfiles.d" \
			--define "_unitdir /usr/lib/systemd/system" --define "_sysusersdir /usr/lib/sysusers.d" \
			--define "tmpfiles_create() systemd-tmpfiles --create %1 >/dev/null 2>&1 || :" \
			--define "optflags -O0 -g" --define "_docdir /usr/share/doc" --define "_build_id_links none" "$spec"
}

packages="collectd-intel_uncore libuncore libuncore-devel libuncore-papi-source libuncore-sim uncore-tools uncored"
whole()
{
	found=$(rpm -qp --qf '%{NAME}\n' "$tmp"/RPMS/*/*.rpm | grep -v -e -debug | LC_ALL=C sort | tr '\n' ' ')
	[ "$found" = "$packages " ] || { echo "packages: $found"; return 1; }
	rpm -qpl "$tmp"/RPMS/*/*.rpm >"$tmp/files"
	for file in bin/uncore include/uncore.h share/man/man1/uncore.1 share/man/man3/unc_session_read.3 lib/tmpfiles.d/libuncore.conf \
		share/libuncore/papi_component/Rules.intel_uncore sbin/uncored lib/systemd/system/uncored.socket; do
		grep "^/usr/$file" "$tmp/files" || { echo "no $file"; return 1; }
	done
}

# Together, without what else they need of a distribution.
installed()
{
	mkdir "$tmp/root" && rpm --root "$tmp/root" --initdb &&
		rpm --root "$tmp/root" -i --nodeps --noscripts $(ls "$tmp"/RPMS/*/*.rpm | grep -v debug) &&
		UNCORE_SIM=emerald-rapids LD_LIBRARY_PATH="$tmp/root/usr/lib64" "$tmp/root/usr/bin/uncore" stat -d 0.1 -e imc.CAS_COUNT:RD
}

# What rpmlint says of ours; some of its words need a network or a distribution.
linted()
{
	rpmlint "$spec" >"$tmp/lint" 2>&1
	cat "$tmp/lint"
	grep -q ' 0 errors' "$tmp/lint"
}

result "spec and configure.ac agree on the version" same_version
result "the packages are built from the tarball" built
result "all of them, with what belongs into them" whole
result "they install together, and the command counts on a simulated machine" installed
if command -v rpmlint >/dev/null; then
	result "rpmlint has no error about the spec" linted
else
	skip "rpmlint" "no rpmlint; install it"
fi
finish
