#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The Debian packages: built from the tarball, looked at by lintian, installed into a copy of this machine that is gone
# afterwards (an overlay in a name space), where debian/tests run, and taken away again.
. "$(dirname "$0")/packaging.inc"
need dpkg-buildpackage dpkg-dev
need dh debhelper
begin

same_version()
{
	head -n 1 "$SRCDIR/debian/changelog" | grep -F "libuncore ($version-"
}

# The tests of the package are those of `make check`, which has run.
build()
{
	cd "$tmp" && tar xf "$tarball" && cd "libuncore-$version" &&
		DPKG_GENSYMBOLS_CHECK_LEVEL=4 DEB_BUILD_OPTIONS="nocheck parallel=$(nproc)" dpkg-buildpackage -us -uc -b
}

clean_of_lintian()
{
	lintian --allow-root --fail-on error,warning "$tmp"/*.changes
}

result "changelog and configure.ac agree on the version" same_version
result "packages are built from the tarball" build
if ! command -v lintian >/dev/null; then
	skip "lintian" "no lintian; install it"
else
	result "lintian has no error and no warning" clean_of_lintian
fi

# Runs a command in the copy.
cat >"$tmp/inside" <<'E2'
set -e
tmp=$1
shift
mount --make-rprivate /
mount -t tmpfs none "$tmp/copy"
mkdir "$tmp/copy/upper" "$tmp/copy/work" "$tmp/copy/root"
mount -t overlay overlay -o "lowerdir=/,upperdir=$tmp/copy/upper,workdir=$tmp/copy/work" "$tmp/copy/root"
cd "$tmp/copy/root"
mount -t proc proc proc
mount --rbind /dev dev
mkdir -p "packages"
cp "$tmp"/*.deb packages
cp -r "$tmp/libuncore-"*/debian/tests packages
exec chroot . "$@"
E2
mkdir "$tmp/copy"
copy()
{
	unshare -mpf sh "$tmp/inside" "$tmp" "$@"
}

installed()
{
	copy sh -ec 'unset UNCORE_SIM
		dpkg -i $(ls /packages/*.deb | grep -v dbgsym)
		for test in command library collectd; do
			export AUTOPKGTEST_TMP=/packages/$test.work
			mkdir $AUTOPKGTEST_TMP
			/packages/tests/$test
			echo "passed: $test"
		done
		test -e /usr/lib/tmpfiles.d/libuncore.conf
		getent passwd uncored && getent group uncore
		test -e /usr/lib/systemd/system/uncored.socket -o -e /lib/systemd/system/uncored.socket
		test "$(stat -c %a /run/libuncore 2>/dev/null || echo none)" = 3770
		dpkg -P libuncore0 libuncore-common libuncore-sim libuncore-dev uncore-tools collectd-plugin-intel-uncore \
			libuncore-papi-source uncored
		! find /usr -path "*uncore*" -newer /packages | grep .'
}

if ! command -v collectd >/dev/null || ! command -v systemd-tmpfiles >/dev/null; then
	skip "installed" "no collectd or no systemd-tmpfiles here, on which the packages depend"
elif ! copy true 2>/dev/null; then
	skip "installed" "no copy of this machine can be made (root, name spaces and overlayfs are needed)"
else
	result "they install, their tests pass, and nothing is left when they go" installed
fi
finish
