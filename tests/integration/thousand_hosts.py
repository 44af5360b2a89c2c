#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Whisper files of 1,000 nodes with two sockets: thousand_hosts.py STORE. Node N (1 to 1000) reads N GB/s on each
socket and writes half of it, and its first socket's link is used N / 20 %, its second's not at all; every minute of the
last hour. Prints when that ended, which the clock leaves behind on a busy machine."""
import os
import sys
import time

import whisper

now = int(time.time()) // 60 * 60
for node in range(1, 1001):
    for socket in range(2):
        series = {"total_bytes/memory_read_bytes": node * 1e9, "gauge/memory_bandwidth": node * 1.5e9,
                  "percent/link_utilization": node / 20 * (1 - socket)}
        for name, value in series.items():
            path = f"{sys.argv[1]}/collectd/node{node:04}/intel_uncore/socket{socket}/{name}.wsp"
            os.makedirs(os.path.dirname(path), exist_ok=True)
            whisper.create(path, [(60, 180)])
            whisper.update_many(path, [(now - 60 * ago, value) for ago in range(60)])
print(now)
