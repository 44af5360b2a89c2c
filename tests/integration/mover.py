#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Traffic for verify on a Sandy Bridge-EP that FUSE shows: what `uncore traffic --wait` says, and what its memory
controllers would have counted. Each control that counts CAS_COUNT.RD (event 0x04, umask 0x03) or CAS_COUNT.WR (umask
0x0c) of a channel gets its share of the lines: Intel 327043-001, 2.5.6; channels are functions 0, 1, 4 and 5 of device
0x10, controls from 0xd8 on, counters of 44 bits from 0xa0 on. FACTOR: how many times the bytes are counted.
usage: mover.py ROOT BUS_OF_SOCKET_0,BUS_OF_SOCKET_1 FACTOR [options of `uncore traffic`]"""
import os
import struct
import sys

root, buses, factor = sys.argv[1], sys.argv[2].split(","), float(sys.argv[3])
options = dict(word.lstrip("-").partition("=")[::2] for word in sys.argv[4:])
bus = buses[int(options["memory"])]
umask = 0x0C if "writes" in options else 0x03


def write(name, text):
    with open(root + "/" + name, "w") as file:
        file.write(text)


def count(lines):
    for function in (0, 1, 4, 5):
        path = "/sys/bus/pci/devices/0000:%s:10.%d/config" % (bus, function)
        with open(root + path, "rb", buffering=0) as file:
            for counter in range(4):
                control = struct.unpack("<I", os.pread(file.fileno(), 4, 0xD8 + 4 * counter))[0]
                if control & 0x40FFFF != 0x400004 | umask << 8:
                    continue
                at = 0xA0 + 8 * counter
                low = struct.unpack("<I", os.pread(file.fileno(), 4, at))[0]
                high = struct.unpack("<I", os.pread(file.fileno(), 4, at + 4))[0]
                value = (high << 32 | low) + lines // 4
                write("control", "poke %s %#x %#x\n" % (path, at, value & 0xFFFFFFFF))
                write("control", "poke %s %#x %#x\n" % (path, at + 4, value >> 32))


print("ready", flush=True)
for line in sys.stdin:
    seconds = float(line)
    moved = int(12.8e9 * seconds) // 256 * 256
    count(int(moved * factor) // 64)
    write("clock", "%.9f\n" % seconds)
    print("moved %d %.9f" % (moved, seconds), flush=True)
