#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What the broker costs (tests/bench/broker.c), on the node of tests/integration/broker.inc.
: "${UNCORE:=$BUILD/common/tool/uncore}"
if [ "$(id -u)" -ne 0 ] || ! unshare -m true 2>/dev/null; then
	echo "broker: not measured: it needs root and a mount namespace"
	exit 0
fi
if [ -z "${UNC_BROKER_NODE-}" ]; then
	UNC_BROKER_NODE=1 exec unshare -m sh "$0"
fi
tmp=$(mktemp -d) || exit 1
. "$SRCDIR/tests/integration/broker.inc"
build_soft && begin_node || { cat "$tmp/err"; exit 1; }
printf '[allow]\nunits = imc\n[limit]\ndescriptors = 65536\nrequests = 1000000\n' >"$tmp/policy"
start_broker "$soft/uncored" --policy "$tmp/policy" || { cat "$tmp/log"; exit 1; }
"$BUILD/tests/bench/broker"
status=$?
kill "$broker"
exit $status
