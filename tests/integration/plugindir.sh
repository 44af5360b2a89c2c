#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Where the collectd plugin is installed, what is said of it, that a collectd starts with what was installed, and that
# all of it can be taken away again. What cannot be built configure refuses.
# TAP on stdout. SRCDIR, BUILD: the source and the build directory (absolute).
set -u
: "${SRCDIR:?the source directory}" "${BUILD:?the build directory}"
PATH=$PATH:/usr/sbin
plugindir=$SRCDIR/scripts/collectd-plugindir
tmp=$(mktemp -d) || exit 99
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' HUP INT TERM
number=0
failures=0

ok() # NAME COMMAND...
{
	name=$1
	shift
	number=$((number + 1))
	if "$@" >"$tmp/why" 2>&1; then
		echo "ok $number - plugindir: $name"
	else
		failures=$((failures + 1))
		echo "not ok $number - plugindir: $name"
		sed 's/^/#   /' "$tmp/why"
	fi
}

skip() # NAME REASON
{
	number=$((number + 1))
	echo "ok $number - plugindir: $1 # SKIP $2"
}

says() # EXPECTED COMMAND...: on stdout
{
	expected=$1
	shift
	said=$("$@") && [ "$said" = "$expected" ] || { echo "'$said' in place of '$expected'"; return 1; }
}

tells() # TEXT COMMAND...: on stderr, and succeeds; an empty TEXT: nothing
{
	text=$1
	shift
	"$@" 2>"$tmp/said" || return 1
	cat "$tmp/said"
	if [ -n "$text" ]; then grep -Fq -- "$text" "$tmp/said"; else [ ! -s "$tmp/said" ]; fi
}

usage()
{
	"$plugindir" "$@" >"$tmp/said" 2>&1
	[ $? -eq 2 ] && grep -q '^usage: collectd-plugindir looks DAEMON' "$tmp/said"
}

cat >"$tmp/collectd" <<-'EOF'
	#!/bin/sh
	printf 'Builtin defaults:\n  PID file          /run/x\n  Plugin directory  /srv/its plugins\n'
EOF
chmod +x "$tmp/collectd"
ok "a daemon is asked" says "/srv/its plugins" "$plugindir" looks "$tmp/collectd"
ok "no daemon looks nowhere" says "" "$plugindir" looks ""
ok "what is not there looks nowhere" says "" "$plugindir" looks "$tmp/none"
for prefix in NONE /usr /usr/local; do
	ok "prefix $prefix: where the daemon looks" says /srv/d "$plugindir" choose $prefix /srv/d
	ok "prefix $prefix without a daemon" says '${libdir}/collectd' "$plugindir" choose $prefix ""
done
ok "a prefix of its own" says '${libdir}/collectd' "$plugindir" choose /opt/x /srv/d
ok "the same place: nothing to tell" tells "" "$plugindir" tell "" /srv/d /srv/d
ok "another place is told" tells "collectd looks in /srv/d" "$plugindir" tell "" /opt/x/lib/collectd /srv/d
ok "and how it is found there" tells 'PluginDir "/opt/x/lib/collectd"' "$plugindir" tell "" \
	/opt/x/lib/collectd /srv/d
ok "into a package, too" tells "collectd looks in /srv/d" "$plugindir" tell /dest /opt/x/lib/collectd /srv/d
ok "no daemon is told" tells "No collectd was found" "$plugindir" tell "" /opt/x/lib/collectd ""
ok "too few words" usage choose /usr
ok "another word" usage install /usr /srv/d

# ---- what make install leaves, in the collectd that is here

conf() # LINE...: tries a configuration: the status of collectd -T
{
	printf '%s\n' "BaseDir \"$tmp\"" 'Hostname "here"' 'LoadPlugin load' "$@" >"$tmp/collectd.conf"
	LD_LIBRARY_PATH=$tmp/dest$libdir collectd -T -C "$tmp/collectd.conf"
}

# As make install advises for a folder in which collectd does not look.
found_there()
{
	conf "PluginDir \"$tmp/dest$dir\"" 'LoadPlugin intel_uncore' "PluginDir \"$looks\"" 'LoadPlugin memory' \
		'<Plugin intel_uncore>' '  Simulate "emerald-rapids"' '</Plugin>' >"$tmp/said" 2>&1
	status=$?
	cat "$tmp/said"
	[ $status -eq 0 ] && grep -q 'SIMULATED Emerald Rapids' "$tmp/said"
}

not_found()
{
	! conf 'LoadPlugin intel_uncore_of_nowhere'
}

value() # VARIABLE of the makefile
{
	printf 'include Makefile\nvalue:\n\t@echo "$(%s)"\n' "$1" >"$tmp/makefile"
	MAKEFLAGS= make -s --no-print-directory -C "$BUILD" -f "$tmp/makefile" value
}

installed()
{
	for file in include/uncore.h share/man/man3/libuncore.3 share/doc/libuncore/docs/rights.md \
		share/libuncore/papi_component/Rules.intel_uncore; do
		[ -e "$tmp/dest$prefix/$file" ] || { echo "no $file"; return 1; }
	done
}

# A folder above the prefix may have our name: the one that was cloned has.
gone()
{
	{
		find "$tmp/dest" ! -type d
		find "$tmp/dest$prefix" -mindepth 1 -type d -name 'libuncore*'
	} >"$tmp/left"
	cat "$tmp/left"
	[ ! -s "$tmp/left" ]
}

refused() # SENTENCE FOLDER ARGUMENT...: at once
(
	sentence=$1
	mkdir -p "$2" && cd "$2" || exit
	shift 2
	! "$SRCDIR/configure" -q "$@" >"$tmp/said" 2>&1 || exit
	cat "$tmp/said"
	grep -Fq -- "$sentence" "$tmp/said" && [ ! -e Makefile ]
)

dir=$(value collectdplugindir)
libdir=$(value libdir)
prefix=$(value prefix)
looks=$("$plugindir" looks "$(command -v collectd)")
ok "make install" "${MAKE:-make}" -s -C "$BUILD" DESTDIR="$tmp/dest" install
if [ ! -e "$BUILD/collectd_plugin/intel_uncore.la" ]; then
	skip "a collectd finds it" "the plugin is not built"
elif [ -n "$looks" ]; then
	ok "a collectd finds it" found_there
	ok "a plugin that is not there keeps collectd from starting" not_found
else
	skip "a collectd finds it" "collectd is not installed"
fi
ok "all of it is there" installed
ok "make uninstall" "${MAKE:-make}" -s -C "$BUILD" DESTDIR="$tmp/dest" uninstall
ok "nothing is left, no folder of ours either" gone

# ---- what cannot be built

ok "no folder with a blank to build in" refused "must have no blank in their paths" "$tmp/a folder"
ok "no prefix with one" refused "must have no blank in their paths" "$tmp/folder" --prefix="$tmp/a prefix"
ok "no library without a shared one" refused "gives --enable-static" "$tmp/folder" --disable-shared
echo "1..$number"
exit $((failures > 0))
