"""A user of the machine who means no good to its switch. Takes what a lock on the interfaces of this network namespace may be made of, as far as
an ordinary user can: abstract sockets by the interfaces' numbers, and locks on files of /run/swagg. Then says so, and waits."""
import fcntl
import os
import pathlib
import signal
import socket

NOBODY = 65534

os.setgroups([])
os.setgid(NOBODY)
os.setuid(NOBODY)
held = []
for number, _ in socket.if_nameindex():
    one = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    one.bind(f"\0swagg/interface/{number}")
    held.append(one)
for path in pathlib.Path("/run/swagg").glob("*"):
    try:
        file = open(path, "rb")
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        held.append(file)
    except OSError:
        pass
print("squatting", flush=True)
signal.pause()
