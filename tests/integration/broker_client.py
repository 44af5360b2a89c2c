# SPDX-License-Identifier: BSD-3-Clause
"""A client of uncored that says what no library would: usage: broker_client.py TEST BROKER_PID.

Prints nothing and ends with 0 where the broker answers as common/host/wire.h has it."""
import array
import fcntl
import os
import random
import socket
import struct
import sys
import time

MAGIC, VERSION, OPEN, ASK, LIST, CLOSE = 0x42434E55, 2, 1, 2, 3, 4
HEAD, SET_SIZE, ANSWER = "<IHHII", 48 + 16 + 64 * 24, "<IHHIIiI512sq"
PATH = "/run/uncored/socket"
USER = int(os.environ.get("BROKER_USER", "12345"))
ENABLE, DISABLE, RESET = 0x2400, 0x2401, 0x2403
CLOCK, FAULTS = 0, 6  # config of imc.DCLOCKTICKS and imc.DRAM_PRE_ALL


def connect():
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    s.settimeout(200)  # against a hang
    while True:
        try:
            s.connect(PATH)
            return s
        except BlockingIOError:  # too many wait already
            time.sleep(0.001)


def one_set(pmu=b"uncore_imc_0", cpu=0, n=None, dead=0, rest=0, events=((CLOCK, 0, 0),)):
    words = b"".join(struct.pack("<QQQ", *e) for e in events)
    return (pmu.ljust(48, b"\0")[:48] + struct.pack("<IIII", cpu, len(events) if n is None else n, dead, rest)
            + words.ljust(64 * 24, b"\0"))


def request(kind=OPEN, n=None, sets=(), magic=MAGIC, version=VERSION, rest=0):
    return struct.pack(HEAD, magic, version, kind, len(sets) if n is None else n, rest) + b"".join(sets)


def answer(s):
    data, control, flags, _ = s.recvmsg(65536, socket.CMSG_SPACE(253 * 4))
    fds = array.array("i")
    for level, kind, words in control:
        if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
            fds.frombytes(words)
    if len(data) < struct.calcsize(ANSWER):
        return None, "", []
    magic, _, _, _, _, code, _, text, _ = struct.unpack_from(ANSWER, data)
    assert magic == MAGIC
    return code, text.split(b"\0")[0].decode("utf-8", "replace"), list(fds)


def ask(s, message):
    try:
        s.send(message)
    except BrokenPipeError:
        pass  # who is refused is told before he asks
    try:
        return answer(s)
    except ConnectionResetError:
        return answer(s)


def refused(message, words, s=None):
    code, text, fds = ask(s or connect(), message)
    assert code and code < 0 and not fds and words in text, (code, text, fds, words)


def count(fd):
    n, enabled, running, value = struct.unpack_from("<QQQQ", os.read(fd, 4096))
    return value, enabled, n


def descriptors(pid):
    own = os.geteuid()
    os.seteuid(os.getresuid()[2])
    n = len(os.listdir("/proc/%s/fd" % pid))
    os.seteuid(own)
    return n


def malformed(pid):
    good = request(sets=[one_set()])
    refused(good[:8], "not a message")
    refused(good[:-1], "bytes are not a request")
    refused(good + b"\0", "bytes are not a request")
    refused(good + b"\0" * 20000, "bytes at most")
    refused(request(magic=1, sets=[one_set()]), "not a message")
    refused(request(version=1, sets=[one_set()]), "version 2 of its protocol, and you version 1")
    refused(request(version=0, sets=[one_set()]), "you version 0")
    for kind in (0, 5, 0xFFFF):
        refused(request(kind=kind), "no request")
    refused(request(rest=1, sets=[one_set()]), "no request")
    refused(request(n=0), "1 to 8 sets")
    refused(request(kind=CLOSE, n=0), "1 to 8 sets")
    refused(request(n=9, sets=[one_set()] * 8), "1 to 8 sets")
    refused(request(n=0xFFFFFFFF, sets=[one_set()]), "1 to 8 sets")
    refused(request(sets=[one_set(pmu=b"x" * 48)]), "does not end")
    refused(request(sets=[one_set(pmu=b"uncore_imc_0\0x")]), "does not end")
    refused(request(sets=[one_set(n=0, events=())]), "1 to 64 events")
    refused(request(sets=[one_set(n=65)]), "1 to 64 events")
    refused(request(sets=[one_set(n=0xFFFFFFFF)]), "1 to 64 events")
    refused(request(sets=[one_set(n=1, events=((CLOCK, 0, 0), (FAULTS, 0, 0)))]), "must be 0")
    refused(request(sets=[one_set(rest=1)]), "must be 0")
    refused(request(sets=[one_set(dead=2)]), "must be 0")
    refused(request(sets=[one_set(events=((CLOCK, 0, 0),) * 64)] * 4), "253 events at most")


def fields(pid):
    """Each field of a set with what it must not be: the connection stays."""
    s = connect()
    for pmu in (b"cpu", b"software", b"power", b"uncore/../power", b"uncore_..", b"", b"msr", b"uncore_imc_0/..", b"Uncore_imc_0"):
        refused(request(sets=[one_set(pmu=pmu)]), "uncore driver", s)
    refused(request(sets=[one_set(pmu=b"uncore_imc_9")]), "no such PMU", s)
    refused(request(sets=[one_set(pmu=b"uncore_x")]), "not one of a driver" if "shipped" in sys.argv else "tables", s)
    for cpu in (1, 99, 4095, 4096, 0x7FFFFFFF, 0xFFFFFFFF):
        refused(request(sets=[one_set(cpu=cpu)]), "not in its cpumask", s)
    for config in (1 << 16, 1 << 63, 0xDEADBEEF00000000):
        refused(request(sets=[one_set(events=((config, 0, 0),))]), "format of the PMU does not name", s)
    refused(request(sets=[one_set(events=((CLOCK, 1, 0),))]), "format of the PMU does not name", s)
    refused(request(sets=[one_set(events=((CLOCK, 0, 1),))]), "format of the PMU does not name", s)
    refused(request(sets=[one_set(), one_set(events=((1 << 40, 0, 0),))]), "format of the PMU does not name", s)
    code, text, fds = ask(s, request(kind=ASK))
    assert code == 0 and "imc" in text and not fds
    code, text, fds = ask(s, request(sets=[one_set(), one_set(pmu=b"uncore_imc_1", events=((FAULTS, 0, 0), (CLOCK, 0, 0)))]))
    assert code == 0 and len(fds) == 3, (code, text, fds)


def noise(pid):
    """Random messages, most of them changed good ones, by a seed that is printed on failure. Many clients at a time: so
    the two processes need not take turns for each message."""
    seed = 20261124
    rnd = random.Random(seed)
    good = [request(sets=[one_set()]), request(sets=[one_set()] * 3), request(kind=ASK), request(kind=LIST), request(kind=CLOSE, sets=[one_set()])]
    clients, opened = [connect() for _ in range(50)], 0
    for turn in range(int(os.environ.get("BROKER_TURNS", "40"))):
        for s in clients:
            data = bytearray(rnd.choice(good))
            for _ in range(rnd.randrange(1, 5)):
                data[rnd.randrange(min(len(data), 120))] = rnd.randrange(256)
            if rnd.random() < 0.1:
                data = data[:rnd.randrange(1, len(data) + 1)]
            try:
                s.send(bytes(data))
            except (BrokenPipeError, ConnectionResetError):
                pass  # it was refused in the turn before
        for i, s in enumerate(clients):
            try:
                code, _, fds = answer(s)
            except ConnectionResetError:
                code, _, fds = answer(s)
            opened += len(fds)
            for fd in fds:
                # What it leads to may be looked at by root alone: this process has changed its user.
                count(fd)
                os.close(fd)
            if code is None or turn % 10 == 0:
                s.close()
                clients[i] = connect()
    assert opened, seed


def full_tcp(seconds):
    """A connection whose other end reads nothing: so long does the last close() of it wait, or until that end is closed."""
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen(1)
    s = socket.create_connection(listener.getsockname())
    peer, _ = listener.accept()
    s.setblocking(False)
    try:
        while True:
            s.send(b"x" * 65536)
    except BlockingIOError:
        pass
    s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, seconds))
    return s, peer


def send_with(s, fds):
    """False: the kernel refuses it (SO_PASSRIGHTS, Linux 6.16)."""
    try:
        s.sendmsg([request(sets=[one_set()])], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))])
    except PermissionError:
        return False
    return True


def sends(pid):
    """Descriptors that are sent to the broker, one whose close() waits among them."""
    for waits in (False, True):
        s = connect()
        tcp, peer = full_tcp(1000)
        with open("/dev/null") as f:
            sent = send_with(s, [tcp.fileno()] if waits else [f.fileno()] * 100)
        if not sent:
            tcp.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 0, 0))
        tcp.close()
        if sent:
            code, text, _ = answer(s)
            assert code < 0 and "descriptors are not accepted" in text, text
        assert ask(connect(), request(kind=ASK))[0] == 0


def lazy(pid):
    """One who never reads gets one answer, and others are served; ended, nothing of his is left."""
    before = descriptors(pid)
    idle = [connect() for _ in range(20)]
    for s in idle:
        s.setblocking(False)
        try:
            for _ in range(300):
                s.send(request(sets=[one_set(events=((CLOCK, 0, 0),) * 60)] * 4))
        except BlockingIOError:
            pass
    other = connect()
    for _ in range(50):
        code, text, fds = ask(other, request(sets=[one_set(pmu=b"uncore_imc_1")]))
        assert code == 0, text
        for fd in fds:
            os.close(fd)
    for s in idle + [other]:
        s.close()
    settle(pid, before)


def settle(pid, before):
    """The broker has seen an end when it answers who came later."""
    for _ in range(2000):
        s = connect()
        ask(s, request(kind=ASK))
        s.close()
        if descriptors(pid) <= before + 1:
            return
    assert False, (descriptors(pid), before)


def crowd(pid):
    """10,000 connections: each is served or told why not."""
    before, held, told = descriptors(pid), [], 0
    for _ in range(100):
        batch = [connect() for _ in range(100)]
        for s in batch:
            try:
                code, text, _ = ask(s, request(kind=ASK))
            except OSError:
                code, text, _ = answer(s)
            if code == 0:
                held.append(s)
            else:
                told += code != 0 and "connections" in text
                s.close()
    assert len(held) == 1024 and told == 10000 - 1024, (told, len(held))
    for s in held:
        s.close()
    settle(pid, before)


def quota(pid):
    """limit descriptors=10: one that is dead is replaced, and what is given back is free."""
    s = connect()
    refused(request(sets=[one_set(pmu=b"uncore_imc_1", events=((CLOCK, 0, 0),) * 11)]), "a user may have here", s)
    for _ in range(30):
        code, text, fds = ask(s, request(sets=[one_set(dead=1)]))
        assert code == 0, text
        assert rows(s) == [(USER, 1)]
        os.close(fds[0])
    ten = one_set(pmu=b"uncore_imc_1", events=((CLOCK, 0, 0),) * 9)
    for _ in range(30):
        code, text, fds = ask(s, request(sets=[ten]))
        assert code == 0 and len(fds) == 9, text
        refused(request(sets=[one_set(pmu=b"uncore_imc_1")]), "a user may have here", s)
        assert ask(s, request(kind=CLOSE, sets=[ten]))[0] == 0
        last = count(fds[0])
        assert count(fds[0]) == last  # it is stopped, whoever has it still
        for fd in fds:
            os.close(fd)


def gives_back(pid):
    """A set is given back as often as it was asked for; others of the user keep it; by another connection it is not given back."""
    a, b, mine = connect(), connect(), one_set()
    fa, again, fb = (ask(s, request(sets=[mine]))[2][0] for s in (a, a, b))
    assert rows(a) == [(USER, 2)]
    refused(request(kind=CLOSE, sets=[mine]), "no such events", connect())
    assert ask(a, request(kind=CLOSE, sets=[mine]))[0] == 0 and rows(a) == [(USER, 2)]
    assert ask(a, request(kind=CLOSE, sets=[mine]))[0] == 0 and rows(a) == [(USER, 1)]
    refused(request(kind=CLOSE, sets=[mine]), "no such events", a)
    assert count(fb)[0] < count(fb)[0]
    assert ask(b, request(kind=CLOSE, sets=[mine, mine]))[0] != 0 and rows(a) == []
    last = count(fb)
    assert count(fa) == count(again) == last


def gives_back_dead(pid):
    """Who has a set twice, and exchanges it once, gives it back as often as it was asked for."""
    s, mine = connect(), one_set()
    for dead in (0, 0, 1):
        code, text, fds = ask(s, request(sets=[one_set(dead=dead)]))
        assert code == 0, text
    assert ask(s, request(kind=CLOSE, sets=[mine]))[0] == 0
    assert count(fds[0])[0] < count(fds[0])[0] and rows(s) == [(USER, 1)]
    assert ask(s, request(kind=CLOSE, sets=[mine]))[0] == 0 and rows(s) == []


def vanishes(pid):
    """Descriptors that nobody takes are counted by the kernel against the broker: he who leaves them stops nobody."""
    left = []
    for _ in range(600):
        s = connect()
        try:
            s.send(request(sets=[one_set(events=((CLOCK, 0, 0),) * 63)] * 4))
            s.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        left.append(s)
    child = os.fork()
    if child == 0:
        os.seteuid(0)
        os.setgid(USER)
        os.setuid(54321)
        code, text, fds = ask(connect(), request(sets=[one_set(pmu=b"uncore_imc_1")]))
        os._exit(0 if code == 0 and len(fds) == 1 else 1)
    assert os.waitpid(child, 0)[1] == 0


def turns(pid):
    """A user's sets that do not count together: two of them on a unit (four counters, and a fixed one); those that do are free."""
    s, order = connect(), [CLOCK, FAULTS, 2, 3]
    shape = lambda k: tuple((order[(k + i) % 4], 0, 0) for i in range(4))
    for k in range(2):
        assert ask(s, request(sets=[one_set(events=shape(k))]))[0] == 0
    refused(request(sets=[one_set(events=shape(2))]), "a user may have 2 such sets, which are time-shared", s)
    assert ask(s, request(sets=[one_set(pmu=b"uncore_imc_1", events=shape(2))]))[0] == 0
    assert ask(s, request(kind=CLOSE, sets=[one_set(events=shape(0))]))[0] == 0
    assert ask(s, request(sets=[one_set(events=shape(2))]))[0] == 0


def greedy(pid):
    """One user takes all that he can get; root and another user are served all the same."""
    held, told = [], set()
    for _ in range(1100):
        s = connect()
        try:
            code, text, fds = ask(s, request(sets=[one_set(pmu=b"uncore_imc_%d" % (k % 2)) for k in range(8)]))
        except OSError:
            code, text, fds = answer(s)
        told.add(text.split(" ")[2] if code else "")
        for fd in fds:
            os.close(fd)
        held.append(s)
    assert "" in told and len(told) > 1, told
    for uid in (0, 54321):
        child = os.fork()
        if child == 0:
            os.seteuid(0)
            if uid:
                os.setgid(USER)
                os.setuid(uid)
            code, text, fds = ask(connect(), request(sets=[one_set()]))
            os._exit(0 if code == 0 and len(fds) == 1 else 1)
        assert os.waitpid(child, 0)[1] == 0, uid


def shares(pid):
    """The same set of one user is one description; a dead one is exchanged, and later ranks get the new one."""
    a, b, c = connect(), connect(), connect()
    fa, fb = (ask(s, request(sets=[one_set()]))[2][0] for s in (a, b))
    ident = lambda fd: struct.unpack("<Q", fcntl.ioctl(fd, 0x80082407, b"\0" * 8))[0]
    assert ident(fa) == ident(fb)
    fcntl.ioctl(fa, DISABLE, 0)
    first = count(fb)
    assert count(fb) == first
    new = ask(a, request(sets=[one_set(dead=1)]))[2][0]
    assert ident(new) != ident(fa) and count(new)[1] != count(new)[1] or count(new)[0] < count(new)[0]
    assert ident(ask(b, request(sets=[one_set(dead=1)]))[2][0]) == ident(new)
    assert ident(ask(c, request(sets=[one_set()]))[2][0]) == ident(new)


def hostile(pid):
    """What one user does with his descriptors; another one counts exactly (argument: his descriptor is taken by a child)."""
    connection = connect()
    mine = ask(connection, request(sets=[one_set()]))
    reader, writer = os.pipe()
    go, done = os.pipe()
    child = os.fork()
    if child == 0:
        os.setgid(12345)
        os.setuid(54321)
        own = connect()
        fd = ask(own, request(sets=[one_set()]))[2][0]
        os.write(writer, b"1")
        for op in list(range(0x2400, 0x2410)) + [0x40042409, 0x40082404, 0x4008240B, 0xC008240A]:
            for arg in (0, 1):
                try:
                    fcntl.ioctl(fd, op, arg)
                except OSError:
                    pass
        os.write(writer, b"2")
        os._exit(0)
    os.read(reader, 1)
    before = count(mine[2][0])
    os.read(reader, 1)
    after, later = count(mine[2][0]), count(mine[2][0])
    os.waitpid(child, 0)
    assert before[0] < after[0] < later[0] and 100 * (later[1] - before[1]) >= 99 * (later[0] - before[0]), (before, after, later)
    # The CPU's clock and the time for which it was enabled: both are of the same clock, in ns.
    assert abs((later[0] - before[0]) - (later[1] - before[1])) < 1000000


def rows(s):
    """(uid, users) of each event that was given out."""
    out, first = [], 0
    while True:
        s.send(request(kind=LIST, n=first))
        data = s.recv(65536)
        n, first = struct.unpack_from("<8xI8xI", data)
        for i in range(n):
            uid, _, _, users = struct.unpack_from("<72xIIqI", data, struct.calcsize(ANSWER) + 96 * i)
            out.append((uid, users))
        if not first:
            return out


def ranks(pid):
    """Waits until as many connections as said have the events: of one user one event, of several one each."""
    users, each = int(sys.argv[3]), int(sys.argv[4])
    s = connect()
    for _ in range(3000):
        found = rows(s)
        if sum(n for _, n in found) == users * each:
            break
        time.sleep(0.02)
    assert len(found) == users == len({uid for uid, _ in found}) and all(n == each for _, n in found), found


# Each but `hostile` is a user without rights; root looks for it at what the broker has open.
if __name__ == "__main__":
    if sys.argv[1] != "hostile":
        os.setgroups([])
        os.setresgid(USER, USER, USER)
        os.setresuid(USER, USER, 0)
    globals()[sys.argv[1]](sys.argv[2])
