#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The broker of a node, and users without any right: by real perf_event_open, see broker.inc. What it costs is told by
# the benchmark.
export COLUMNS=1000 # sentences stand on one line
title=broker
. "$SRCDIR/tests/integration/result.inc"
. "$SRCDIR/tests/integration/broker.inc"

[ "$(id -u)" -eq 0 ] && unshare -m true 2>/dev/null || { skip "all of it" "needs root and a mount namespace"; finish; exit; }
if [ -z "${UNC_BROKER_NODE-}" ]; then # again, in a namespace of its own
	rm -rf "$tmp"
	UNC_BROKER_NODE=1 exec unshare -m sh "$0"
fi
[ "$(cat /proc/sys/kernel/perf_event_paranoid)" -ge 1 ] || { skip "all of it" "everybody may open events here"; finish; exit; }

python=/usr/bin/python3 # not one of a folder that only root may enter
shipped=$BUILD/common/broker/uncored
build_soft
result "the library and the broker but for one number"
# Users may not get to where the build is.
cp "$UNCORE" "$soft/uncore" && cp "$SRCDIR/tests/integration/broker_client.py" "$soft" && UNCORE=$soft/uncore
begin_node || { result "a node"; finish; exit; }
mkdir -m 700 "$tmp/user" && chown $user "$tmp/user"
client() { timeout 1200 "$python" "$soft/broker_client.py" "$@" >"$tmp/out" 2>"$tmp/err"; }
measure() { as_user timeout 60 "$UNCORE" "$@" >"$tmp/out" 2>"$tmp/err"; }
said() { grep -q -e "$1" "$tmp/err" || grep -q -e "$1" "$tmp/out"; }

# ---- the policy

check() { "$soft/uncored" --policy "$tmp/policy" --check >"$tmp/out" 2>"$tmp/err"; }
rm -f "$tmp/policy"
check && said "allows *MEM,LINK,PCIE on imc,mc,mchbm,qpi,upi,iio$" && said "2048 descriptors, 1024 connections" && said "2 sets of events"
result "policy: without a file the defaults"
printf '%s\n' '# all' '[allow]' 'units = imc,cbo' '[connect]' 'groups = root' '[limit]' 'descriptors = 7' 'requests = 9' 'sets = 3' >"$tmp/policy"
check && said "all events on imc,cbo" && said "7 descriptors, 1024 connections, 9 requests" && said "3 sets of events"
result "policy: each key"
while IFS='|' read -r lines line words; do
	printf '\n%s\n' "$lines" | tr '&' '\n' >"$tmp/policy"
	! check && said "policy:$line: .*$words"
	result "policy: refused: $lines"
done <<EOF
[permit]&units = imc|2|'.permit.' begins no section; a policy has .allow., .connect., .limit.
[allow]|2|no line units = ...
[allow]&groups = MEM|2|no line units = ...
[allow]&units = imx|3|units = imx: the tables of no CPU
[allow]&groups = MEN&units = imc|3|groups = MEN: the tables of no CPU
[allow]&units = imc&tid = 3|4|'tid' is not a key of .allow.; its keys are groups, units
[allow]&units = imc&units = cbo|4|units is given twice
[allow]&units =|3|units = has no value
units = imc|2|begins no section
[connect]|2|.connect. has no line
[connect]&groups = no-such-group|3|there is no such group
[connect]&alone = yes|3|'alone' is not a key of .connect.
[limit]&sets = 65|3|not a number from 1 to 64
[limit]&descriptors = 0|3|not a number from 1
[limit]&requests = 9&connections = many|4|not a number from 1
allow units=imc&connect groups=root|2|'allow units=imc' is of an older form: it is now .allow., groups = GROUP,.., units = TYPE
EOF
printf '[allow]\nunits = imc\n' >"$tmp/policy"
chmod 666 "$tmp/policy"
! check && said "policy" && said "writ"
result "policy: one that others may write is refused"
chmod 644 "$tmp/policy"
chown $user "$tmp/policy"
! check
result "policy: one of somebody else is refused"
chown 0 "$tmp/policy"

# ---- the shipped broker opens nothing of the kernel's own types

: >"$tmp/log"
pmu uncore_x 1
start_broker "$shipped" --policy "$tmp/policy"
for type in 0 1 2 3 4 5; do
	echo $type >"$tmp/devices/uncore_imc_0/type"
	! measure stat -e imc0.DCLOCKTICKS true && said "type $type is not one of a driver"
	result "the shipped broker refuses type $type"
done
echo 1 >"$tmp/devices/uncore_imc_0/type"
! ls -l "/proc/$broker/fd" | grep -q perf_event
result "and has opened none"
stop_broker
rm -r "$tmp/devices/uncore_x"

# ---- a user counts

! measure stat -e imc0.DCLOCKTICKS true && said "kernel.perf_event_paranoid"
result "without a broker: what is missing"
measure doctor
said "systemctl enable --now uncored.socket"
result "doctor without a broker: how it is switched on"
start_broker "$soft/uncored" --policy "$tmp/policy"
measure units && said "imc0 .* broker"
result "units says by what they are read"
measure doctor
said "the broker of this site is used, and allows all events on imc"
result "doctor with one"

# Root reads its own event of the same kind: around, and within, what the user counts.
cat >"$tmp/between.py" <<'EOF'
import ctypes, json, os, struct, subprocess, sys
attr = struct.pack("<IIQQQQQ", 1, 112, 0, 0, 0, 0, 0).ljust(112, b"\0")
libc = ctypes.CDLL(None, use_errno=True)
fd = libc.syscall(298, attr, -1, 0, -1, 0)
assert fd >= 0
value = lambda: struct.unpack("<Q", os.read(fd, 8))[0]
r, w = os.pipe()
r2, w2 = os.pipe()
os.set_inheritable(w, True), os.set_inheritable(r2, True)
before = value()
user = subprocess.Popen(sys.argv[1:] + ["sh", "-c", "echo x >&%d; read x <&%d" % (w, r2)], pass_fds=(w, r2), stdout=subprocess.PIPE)
os.read(r, 1)
first = value()
last = value()
os.write(w2, b"\n")
value_of_user = json.loads(user.stdout.read())["events"]["imc0.DCLOCKTICKS"]
after = value()
assert user.wait() == 0
assert last - first <= value_of_user <= after - before, (first, last, value_of_user, before, after)
EOF
as_user true
timeout 60 "$python" "$tmp/between.py" setpriv --reuid $user --regid $user --clear-groups --inh-caps=-all --bounding-set=-all --no-new-privs \
	env LD_LIBRARY_PATH="$soft" UNCORE_RUN="$tmp/user" "$UNCORE" stat --json -e imc0.DCLOCKTICKS >"$tmp/out" 2>"$tmp/err"
result "what a user counts is between what root does"
if command -v strace >/dev/null; then
	as_user strace -f -o "$tmp/user/trace" -e trace=execve,read,sendto,sendmsg,recvmsg,connect,exit_group \
		"$UNCORE" stat -e imc0.DCLOCKTICKS true >"$tmp/out" 2>"$tmp/err"
	awk '/sendto\(|recvmsg\(/ { message[++n] = NR } /execve\(.*true/ { begins = NR } /exit_group/ && begins && !ends { ends = NR }
		END { for (i in message) { before += message[i] < begins; within += message[i] > begins && message[i] < ends }
			exit !(before >= 4 && begins && ends && within == 0) }' "$tmp/user/trace"
	result "no message to the broker between start and stop"
fi
measure counters && said "no unit can be looked at"
measure stat -e imc0.DCLOCKTICKS "$UNCORE" counters --json
said '"event":"imc.DCLOCKTICKS","owner":"kernel","user":12345,"pid":[0-9]*,"command":"uncore","since":null,"by":"broker"' && said "the broker began at"
result "counters tells user, process and event"
grep -q "<6>uid=12345 pid=[0-9]* given=1 refused=0 last: cpu=0 uncore_imc_0/config=0x0," "$tmp/log" &&
	[ "$(grep -c uid=12345 "$tmp/log")" -eq 1 ]
result "the log tells at once what a user was given first, and then once a minute"
# ---- the adapters, by the same user

if as_user test -x "${PAPI_PREFIX:-/nonexistent}/bin/papi_command_line"; then
	as_user timeout 60 "$PAPI_PREFIX/bin/papi_command_line" intel_uncore:::imc0.DCLOCKTICKS >"$tmp/out" 2>"$tmp/err"
	grep -q '^intel_uncore:::imc0.DCLOCKTICKS :[[:space:]]*[1-9][0-9]*' "$tmp/out"
	result "PAPI counts"
else
	skip "PAPI counts" "PAPI was not built (scripts/build-papi), or PAPI_PREFIX is not set, or is not for users"
fi
plugin=$(find "$BUILD" -path '*/.libs/intel_uncore.so' | head -n 1)
csv=$(find /usr/lib -name csv.so -path '*collectd*' 2>/dev/null | head -n 1)
if [ -n "$plugin" ] && [ -n "$csv" ] && command -v collectd >/dev/null; then
	mkdir -p "$tmp/plugins" "$tmp/user/csv" && cp "$plugin" "$csv" "$tmp/plugins" && chown $user "$tmp/user/csv"
	cat >"$tmp/collectd.conf" <<-EOF
		Hostname "node"
		FQDNLookup false
		BaseDir "$tmp/user"
		PIDFile "$tmp/user/pid"
		PluginDir "$tmp/plugins"
		TypesDB "/usr/share/collectd/types.db"
		Interval 0.2
		LoadPlugin csv
		<Plugin csv>
		  DataDir "$tmp/user/csv"
		</Plugin>
		LoadPlugin intel_uncore
		<Plugin intel_uncore>
		  Event "imc0.DCLOCKTICKS"
		</Plugin>
	EOF
	as_user collectd -f -C "$tmp/collectd.conf" >"$tmp/out" 2>"$tmp/err" &
	daemon=$!
	for _ in $(seq 1500); do
		grep -qsE '^[0-9.]+,[0-9.]*[1-9]' "$tmp"/user/csv/node/intel_uncore*/* && break
		kill -0 $daemon || break
		sleep 0.02
	done
	grep -qsE '^[0-9.]+,[0-9.]*[1-9]' "$tmp"/user/csv/node/intel_uncore*/*
	result "collectd samples"
	kill $daemon
	wait $daemon
else
	skip "collectd samples" "collectd, its plugin csv or ours is not here"
fi

stop_broker
[ $status -eq 0 ]
result "SIGTERM ends it with status 0"
grep -q "<6>uid=12345 pid=[0-9]* given=[1-9][0-9]* refused=0 last" "$tmp/log.before" && [ "$(grep -c uid=12345 "$tmp/log.before")" -eq 2 ]
result "and the rest of the minute is in the log"

# ---- policy at work

start_broker "$soft/uncored" --policy /nonexistent
! measure stat -e imc0.DRAM_PRE_ALL true && said "the broker of this site allows MEM,LINK,PCIE on"
result "an event of no allowed group is refused, with what is allowed"
stop_broker
grep -q '<5>uid=12345 pid=[0-9]* given=0 refused=[1-9][0-9]* last: .*allows MEM,LINK,PCIE on' "$tmp/log.before"
result "refusals are in the log"
printf '[allow]\nunits = nonsense\n' >"$tmp/policy"
start_broker "$soft/uncored" --policy "$tmp/policy"
! measure stat -e imc0.DCLOCKTICKS true && said "the broker of this site serves nobody: .*policy:2: units = nonsense"
result "a policy that is broken from the beginning: each who asks is told"
measure doctor
said "the broker of this site serves nobody"
result "and by doctor"
printf '[allow]\nunits = imc\n' >"$tmp/policy"
kill -HUP "$broker"
until grep -q '<6>allows all events on imc' "$tmp/log"; do sleep 0.02; done
measure stat -e imc0.DCLOCKTICKS true
result "once it is mended he is served"
stop_broker
printf '[allow]\nunits = imc\n' >"$tmp/policy"
start_broker "$soft/uncored" --policy "$tmp/policy"
printf '[allow]\nunits = nonsense\n' >"$tmp/policy"
kill -HUP "$broker"
until grep -q 'the policy that was read before stays' "$tmp/log"; do sleep 0.02; done
measure stat -e imc0.DRAM_PRE_ALL true
result "a broken policy at SIGHUP: the old one stays, the log says so"
printf '[allow]\ngroups = MEM\nunits = qpi\n' >"$tmp/policy"
kill -HUP "$broker"
until grep -q '<6>allows MEM on qpi' "$tmp/log"; do sleep 0.02; done
! measure stat -e imc0.DCLOCKTICKS true && said "allows MEM on qpi"
result "a new one is in force"
printf '[allow]\nunits = imc\n[connect]\ngroups = daemon\n' >"$tmp/policy"
kill -HUP "$broker"
until grep -q '<6>allows all events on imc' "$tmp/log"; do sleep 0.02; done
! measure stat -e imc0.DCLOCKTICKS true && said "in none of the groups"
result "who is in none of the groups is told before he asks"
stop_broker

# ---- attacks

printf '[allow]\nunits = imc\n' >"$tmp/policy"
start_broker "$soft/uncored" --policy "$tmp/policy"
pmu uncore_x 1 # none that it knows
idle=$(ls "/proc/$broker/fd" | wc -l)
for attack in malformed fields noise sends lazy crowd shares gives_back gives_back_dead turns greedy; do
	client $attack "$broker"
	result "attack: $attack"
done
chmod 666 /run/uncored/socket
timeout 60 "$python" "$soft/broker_client.py" hostile "$broker" >"$tmp/out" 2>"$tmp/err"
result "attack: hostile"
setpriv --reuid 65534 --regid 65534 --clear-groups "$python" -c '
import sys; sys.path.insert(0, sys.argv[1])
import broker_client as c
c.refused(c.request(kind=c.ASK), "identifies no user")' "$soft" >"$tmp/out" 2>"$tmp/err"
result "attack: user 65534"
client settle "$broker" 2>/dev/null # not a test: waits until the last are gone
for _ in $(seq 200); do
	[ "$(ls "/proc/$broker/fd" | wc -l)" -eq "$idle" ] && break
	sleep 0.02
done
[ "$(ls "/proc/$broker/fd" | wc -l)" -eq "$idle" ]
result "no descriptor is left of any of them"
[ "$(grep -c "uid=$user" "$tmp/log")" -le 10 ]
result "and the log has a line a minute of them, no more"
if [ -e /etc/subuid ]; then
	printf 'somebody:12300:100\n' >"$tmp/subuid"
	mount --bind "$tmp/subuid" /etc/subuid
	! measure stat -e imc0.DCLOCKTICKS true && said "user id 12345 is a subordinate one"
	result "a user id of somebody's own user namespaces is not served"
	umount /etc/subuid
else
	skip "a user id of somebody's own user namespaces is not served" "there is no /etc/subuid"
fi

setpriv --reuid $user --regid $user --clear-groups unshare -U -r "$python" -c '
import sys; sys.path.insert(0, sys.argv[1])
import broker_client as c, os
assert os.getuid() == 0
s = c.connect()
code, text, fds = c.ask(s, c.request(sets=[c.one_set()]))
assert code == 0 and len(fds) == 1 and c.rows(s) == [(12345, 1)], (code, text, c.rows(s))' "$soft" >"$tmp/out" 2>"$tmp/err"
result "root of another user namespace is who he is outside"
as_user unshare -U -r timeout 60 "$UNCORE" stat -e imc0.DCLOCKTICKS true >"$tmp/out" 2>"$tmp/err"
result "and counts, in a container where the machine's root has no name"
setpriv --reuid 65534 true && unshare -p -f setpriv --reuid $user --regid $user --clear-groups "$python" -c '
import sys; sys.path.insert(0, sys.argv[1])
import broker_client as c
s = c.connect()
code, text, fds = c.ask(s, c.request(sets=[c.one_set()]))
assert code == 0 and c.rows(s) == [(12345, 1)], (code, text, c.rows(s))' "$soft" >"$tmp/out" 2>"$tmp/err"
result "one of another pid namespace counts"

# Many at once, by the library.
many() # USERS EACH
{
	rm -f "$tmp/user/release" "$tmp"/many.*
	members=
	for _uid in $(seq $user $((user + $1 - 1))); do
		for _rank in $(seq "$2"); do
			setpriv --reuid "$_uid" --regid $user --clear-groups --inh-caps=-all --bounding-set=-all \
				env LD_LIBRARY_PATH="$soft" UNCORE_RUN=/nonexistent "$UNCORE" stat -e imc0.DCLOCKTICKS \
				sh -c "until [ -e $tmp/release ]; do sleep 0.1; done" >"$tmp/many.$_uid.$_rank" 2>&1 &
			members="$members $!"
		done
	done
	client ranks "$broker" "$1" "$2"
	_rc=$?
	touch "$tmp/release"
	for _pid in $members; do
		wait "$_pid" || _rc=1
	done
	rm -f "$tmp/release"
	[ "$(grep -l 'imc0.DCLOCKTICKS  *[0-9]' "$tmp"/many.* | wc -l)" -eq $(($1 * $2)) ] && ! grep -q LOST "$tmp"/many.* && return $_rc
}
many 1 128
result "128 processes of one user share one event"
many 8 4
result "8 users have one each"

# A killed client, and a killed broker: who counts goes on.
as_user "$UNCORE" stat -e imc0.DCLOCKTICKS sleep 100 >/dev/null 2>&1 &
until ls -l "/proc/$broker/fd" | grep -q perf_event; do sleep 0.02; done
pkill -KILL -u $user
for _ in $(seq 500); do
	ls -l "/proc/$broker/fd" | grep -q perf_event || break
	sleep 0.02
done
! ls -l "/proc/$broker/fd" | grep -q perf_event
result "a killed client: its events are closed"
mkfifo "$tmp/user/in" "$tmp/user/go" && chown $user "$tmp/user/in" "$tmp/user/go"
as_user "$UNCORE" stat -e imc0.DCLOCKTICKS sh -c "echo >$tmp/user/in; read x <$tmp/user/go" >"$tmp/out" 2>"$tmp/err" &
counting=$!
read -r _ <"$tmp/user/in"
kill -KILL "$broker"
wait "$broker"
: >"$tmp/log"
! as_user timeout 60 "$UNCORE" stat -e imc0.DCLOCKTICKS true >"$tmp/out.2" 2>"$tmp/err.2" &&
	grep -q "no process listens on the broker's socket" "$tmp/err.2"
result "nobody listens: who asks is told"
start_broker "$soft/uncored" --policy "$tmp/policy"
echo >"$tmp/user/go"
wait $counting && said "imc0.DCLOCKTICKS  *[0-9,]*  " && ! said LOST
result "a killed and restarted broker: who counts goes on"
measure stat -e imc0.DCLOCKTICKS true
result "and serves again"
! "$soft/uncored" --policy "$tmp/policy" 2>"$tmp/err" && said "a broker serves there already"
result "a second broker says that one is there"
stop_broker
printf '[limit]\ndescriptors = 10\n' >>"$tmp/policy"
start_broker "$soft/uncored" --policy "$tmp/policy"
client quota "$broker"
result "attack: quota"
stop_broker

# ---- a socket in the place of ours

rm -f /run/uncored/socket
chown $user /run/uncored
as_user "$python" -c 'import socket, time
s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET); s.bind("/run/uncored/socket"); s.listen(5); time.sleep(100)' &
until [ -S /run/uncored/socket ]; do sleep 0.02; done
! measure stat -e imc0.DCLOCKTICKS true && said "is not trusted: root must own it"
result "the socket of somebody else is not asked"
pkill -KILL -u $user
rm -f /run/uncored/socket
chown 0 /run/uncored

# ---- started in other ways

if command -v systemd-socket-activate >/dev/null; then
	systemd-socket-activate --seqpacket -l /run/uncored/socket "$soft/uncored" --policy "$tmp/policy" 2>"$tmp/log" &
	broker=$!
	until [ -S /run/uncored/socket ]; do sleep 0.02; done
	chgrp $user /run/uncored/socket && chmod 660 /run/uncored/socket
	measure stat -e imc0.DCLOCKTICKS true
	result "started by systemd-socket-activate --seqpacket"
	stop_broker
	rm -f /run/uncored/socket
else
	skip "started by systemd-socket-activate" "systemd-socket-activate is not installed"
fi
# Who connects before the broker begins may send it descriptors on any kernel.
"$python" - "$soft" --policy "$tmp/policy" <<'EOF' 2>"$tmp/log" &
import os, socket, sys
sys.path.insert(0, sys.argv[1])
import broker_client as c
s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
s.bind(c.PATH)
s.listen(16)
client, (tcp, peer) = c.connect(), c.full_tcp(100)
assert c.send_with(client, [tcp.fileno()])
for end in (client, peer):
    os.set_inheritable(os.dup(end.fileno()), True)
os.dup2(s.fileno(), 3)
os.set_inheritable(3, True)
os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS="1")
os.execv(sys.argv[1] + "/uncored", ["uncored"] + sys.argv[2:])
EOF
broker=$!
until grep -q 'serves ' "$tmp/log"; do kill -0 $broker || break; sleep 0.02; done
chgrp $user /run/uncored/socket && chmod 660 /run/uncored/socket
measure stat -e imc0.DCLOCKTICKS true
result "a descriptor whose close() waits stops nobody"
stop_broker
rm -f /run/uncored/socket

# ---- a broker that does not answer is waited for once

cat >"$tmp/silent.py" <<'EOF'
import os, select, socket, sys
sys.path.insert(0, sys.argv[1])
import broker_client as c
s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
s.bind(c.PATH)
s.listen(256)
os.chmod(c.PATH, 0o666)
print("serves silence", file=sys.stderr, flush=True)
clients = []
while True:
    for ready in select.select([s] + clients, [], [])[0]:
        if ready is s:
            clients.append(s.accept()[0])
            print("connection", file=sys.stderr, flush=True)
        elif ready.recv(65536):
            print("request", file=sys.stderr, flush=True)
        else:
            clients.remove(ready)
EOF
start_broker "$python" "$tmp/silent.py" "$soft"
! measure stat -e imc0.DCLOCKTICKS,imc1.DCLOCKTICKS true && said "the broker does not answer" &&
	[ "$(grep -c connection "$tmp/log") $(grep -c request "$tmp/log")" = "1 1" ]
result "a broker that does not answer is asked once"
if command -v strace >/dev/null; then
	as_user strace -f -o "$tmp/user/trace" -e trace=setsockopt "$UNCORE" stat -e imc0.DCLOCKTICKS true >"$tmp/out" 2>"$tmp/err"
	[ "$(grep -c 'SO_RCVTIMEO.*tv_sec=2,\|SO_SNDTIMEO.*tv_sec=2,' "$tmp/user/trace")" -eq 2 ] ||
		[ "$(grep -c 'SO_[RS][CN][VD]TIMEO.*\\2\\0\\0' "$tmp/user/trace")" -eq 2 ]
	result "and for two seconds"
fi
stop_broker
rm -f /run/uncored/socket

# A broker of a user of its own, as a service is, with these capabilities.
as_service() # CAPABILITIES
{
	"$python" - "$1" "$soft/uncored" --policy "$tmp/policy" <<'EOF' 2>"$tmp/log" &
import os, socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
s.bind("/run/uncored/socket")
s.listen(16)
s = socket.fromfd(s.fileno(), socket.AF_UNIX, socket.SOCK_SEQPACKET) if s.fileno() == 3 else s
os.dup2(s.fileno(), 3, inheritable=True)
os.execvp("setpriv", ["setpriv", "--reuid", "4242", "--regid", "4242", "--clear-groups", "--inh-caps=" + sys.argv[1],
                      "--ambient-caps=" + sys.argv[1], "--bounding-set=" + sys.argv[1], "--no-new-privs",
                      "sh", "-c", 'export LISTEN_PID=$$ LISTEN_FDS=1; exec "$@"', "sh"] + sys.argv[2:])
EOF
	broker=$!
	until grep -q 'serves ' "$tmp/log"; do kill -0 $broker || break; sleep 0.02; done
	chgrp $user /run/uncored/socket && chmod 660 /run/uncored/socket
}
if [ "$(cat /proc/sys/kernel/perf_event_paranoid)" -le 2 ]; then
	as_service -all,+perfmon
	measure stat -e imc0.DCLOCKTICKS true
	result "as a user of its own with CAP_PERFMON alone"
	chmod 666 /run/uncored/socket
	client vanishes "$broker"
	result "attack: vanishes"
	stop_broker
	rm -f /run/uncored/socket
else
	skip "by CAP_PERFMON alone" "this kernel wants CAP_SYS_ADMIN"
fi
as_service -all
! measure stat -e imc0.DCLOCKTICKS true && said "the broker of this site may not open events itself (its administrator: uncored(8), RIGHTS)"
result "without the right: each who asks is told"
measure doctor
said "the broker of this site may not open events" && ! said "allows all events on imc: used"
result "and by doctor"
stop_broker
finish
