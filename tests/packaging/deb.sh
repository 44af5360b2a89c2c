#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The Debian packages: built from the tarball, compared with what this build installs, looked at by lintian, installed
# into a copy of this machine that is gone afterwards (an overlay in a name space), where debian/tests run, and taken
# away again. ALL=1: with the static library, which compiles all a second time.
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
	[ -n "${ALL-}" ] || export DEB_BUILD_PROFILES=pkg.libuncore.nostatic
	cd "$tmp" && tar xf "$tarball" && cd "libuncore-$version" &&
		BUGURL=https://bugs.example.org/uncore DPKG_GENSYMBOLS_CHECK_LEVEL=4 DEB_BUILD_OPTIONS="nocheck parallel=$(nproc)" dpkg-buildpackage -us -uc -b
}

# Another folder, another depth, generated files out of the tarball: the code is the same, and what is installed of
# texts and data. This build has Debian's flags in scripts/check; with others its code is not to be compared.
has_flags()
{
	"$BUILD/config.status" --config | grep -qF -- "$(DEB_BUILD_MAINT_OPTIONS=hardening=+all dpkg-buildflags \
		--get CFLAGS | sed 's|-ffile-prefix-map=[^ ]*||')"
}

same_code()
{
	for code in common/.libs/libuncore.so.0.0.0 common/.libs/libuncore-sim.so common/broker/uncored; do
		for from in "$BUILD" "$tmp/libuncore-$version/build/debian"; do
			# The note is a hash of the whole file, with what debuggers read of folders.
			objcopy --strip-all --remove-section=.note.gnu.build-id "$from/$code" "$tmp/code" || return 1
			[ ! -e "$tmp/code.first" ] || cmp "$tmp/code.first" "$tmp/code" || return 1
			mv "$tmp/code" "$tmp/code.first"
		done
		rm "$tmp/code.first"
	done
}

same_files()
{
	make -s -C "$BUILD" install DESTDIR="$tmp/ours" || return
	prefix=$("$BUILD/config.status" --config | tr ' ' '\n' | sed -n "s/^'*--prefix=\([^']*\).*/\1/p")
	for part in man/man1 man/man3 man/man5 man/man8 doc/libuncore libuncore bash-completion; do
		diff -r "$tmp/ours${prefix:-/usr/local}/share/$part" "$tmp/libuncore-$version/debian/tmp/usr/share/$part" || return
	done
}

nothing_left()
{
	make -s -C "$BUILD" uninstall DESTDIR="$tmp/ours" && ! find "$tmp/ours" ! -type d | grep .
}

clean_of_lintian()
{
	lintian --allow-root --fail-on error,warning "$tmp"/*.changes
}

result "changelog and configure.ac agree on the version" same_version
result "packages are built from the tarball" build
result "the command names the address that the packager sets" grep -q https://bugs.example.org/uncore \
	"$tmp/libuncore-$version/debian/uncore-tools/usr/bin/uncore"
if has_flags; then
	result "the package's code is that of this build" same_code
else
	skip "the package's code is that of this build" "this build has not the flags of Debian's packages"
fi
result "what both install of texts and data is the same" same_files
result "make uninstall leaves nothing" nothing_left
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
