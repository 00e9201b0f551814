#!/usr/bin/env python3
"""Stops one thread of a process for a while, and no other: stop_thread.py TID SECONDS. Ends with status 2 if the system does not
let it."""

import ctypes
import os
import sys
import time

PTRACE_DETACH, PTRACE_SEIZE, PTRACE_INTERRUPT = 17, 0x4206, 0x4207
WALL = 0x40000000  # waitpid: threads, too

libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]


def ptrace(request, tid):
    if libc.ptrace(request, tid, None, None) < 0:
        print(f"thread {tid} cannot be stopped: {os.strerror(ctypes.get_errno())}")
        sys.exit(2)


def main():
    tid, seconds = int(sys.argv[1]), float(sys.argv[2])
    ptrace(PTRACE_SEIZE, tid)
    ptrace(PTRACE_INTERRUPT, tid)
    os.waitpid(tid, WALL)
    print("stopped", flush=True)
    time.sleep(seconds)
    ptrace(PTRACE_DETACH, tid)


main()
