# SPDX-License-Identifier: GPL-2.0-or-later
"""Spins in a real-time thread named "planted": planted.py CPU SECONDS TIMES, after a pause of 0.5 s each time."""
import ctypes
import os
import sys
import time

PR_SET_NAME = 15

ctypes.CDLL(None).prctl(PR_SET_NAME, b"planted", 0, 0, 0)
os.sched_setaffinity(0, {int(sys.argv[1])})
os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(50))
for _ in range(int(sys.argv[3])):
    time.sleep(0.5)
    end = time.perf_counter() + float(sys.argv[2])
    while time.perf_counter() < end:
        pass
