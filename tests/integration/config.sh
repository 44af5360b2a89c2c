#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The configuration files, by the programs that read them: systemd's of unit files and of tmpfiles.d.
: "${SRCDIR:=$(cd "$(dirname "$0")/../.." && pwd)}" "${BUILD:=$PWD}"
tmp=$(mktemp -d) || exit 99
trap 'rm -rf "$tmp"' EXIT
number=0

result() # STATUS NAME
{
	number=$((number + 1))
	if [ "$1" -eq 0 ]; then
		echo "ok $number - config: $2"
	else
		echo "not ok $number - config: $2"
		sed 's/^/# /' "$tmp/said" | head -n 20
	fi
}

skip() # NAME REASON
{
	number=$((number + 1))
	echo "ok $number - config: $1 # SKIP $2"
}

# A service with the drop-in as its user would have it; what systemd does not know it says.
verify() # DROP-IN
{
	mkdir -p "$tmp/units/probe.service.d"
	printf '[Service]\nExecStart=/bin/true\n' >"$tmp/units/probe.service"
	cp "$1" "$tmp/units/probe.service.d/libuncore.conf"
	SYSTEMD_UNIT_PATH=$tmp/units: systemd-analyze verify --man=no --generators=no probe.service \
		2>&1 | grep -F libuncore.conf >"$tmp/said"
	[ ! -s "$tmp/said" ]
}

if command -v systemd-analyze >/dev/null; then
	echo 'CapabilitySet=CAP_PERFMON' >"$tmp/wrong"
	sed "/^\\[Service\\]/r $tmp/wrong" "$SRCDIR/config/collectd-kernel.conf" >"$tmp/wrong.conf"
	! verify "$tmp/wrong.conf"
	result $? "systemd tells of a line that is wrong"
	for name in collectd-kernel collectd-direct; do
		verify "$SRCDIR/config/$name.conf"
		result $? "$name.conf: systemd knows all of it"
	done
else
	skip "drop-ins" "systemd-analyze is not installed"
fi

if ! command -v systemd-tmpfiles >/dev/null; then
	skip "libuncore.conf" "systemd-tmpfiles is not installed"
elif [ "$(id -u)" -ne 0 ]; then
	skip "libuncore.conf" "not root: no folder can be given to a group"
else
	mkdir "$tmp/root" "$tmp/root/etc"
	grep '^root:' /etc/passwd >"$tmp/root/etc/passwd"
	{ grep '^root:' /etc/group; echo uncore:x:4242:; } >"$tmp/root/etc/group"
	systemd-tmpfiles --create --root="$tmp/root" "$BUILD/config/libuncore.conf" >"$tmp/said" 2>&1
	stat -c '%a %u %g' "$tmp/root/run/libuncore" >>"$tmp/said"
	[ "$(tail -n 1 "$tmp/said")" = "3770 0 0" ]
	result $? "libuncore.conf: a folder that only root and its group may use"
	rm -r "$tmp/root/run/libuncore"
	sed '/^[df] /s/ root root / root uncore /' "$BUILD/config/libuncore.conf" >"$tmp/site.conf"
	systemd-tmpfiles --create --root="$tmp/root" "$tmp/site.conf" >"$tmp/said" 2>&1
	stat -c '%a %u %g' "$tmp/root/run/libuncore" "$tmp/root/run/libuncore/lock" >>"$tmp/said"
	[ "$(tail -n 2 "$tmp/said" | tr '\n' ' ')" = "3770 0 4242 660 0 4242 " ]
	result $? "libuncore.conf: of a site's group, who may all take the lock"
fi
echo "1..$number"
