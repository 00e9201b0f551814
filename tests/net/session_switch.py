#!/usr/bin/env python3
"""In the place of a switch, at this socket: session_switch.py PATH. It prints which commands it is asked, hangs up where a job is to be
added, or the next time waits for the other to do so. It refuses to delete one while there is PATH.refuses, and says nothing to that
while there is PATH.slow."""
import json
import os
import socket
import sys
import time

VIEWS = {"status": {"mac": "02:00:00:00:00:01", "ip": "10.77.0.254"}, "jobs": {"jobs": []}, "job del": {}}

listener = socket.socket(socket.AF_UNIX)
listener.bind(sys.argv[1])
listener.listen()
print("listens", flush=True)
added = False
while True:
    connection, _ = listener.accept()
    with connection, connection.makefile("rw") as lines:
        command = json.loads(lines.readline())["command"]
        print(command, flush=True)
        while command == "job del" and os.path.exists(sys.argv[1] + ".slow"):
            time.sleep(0.1)
        if command == "job del" and os.path.exists(sys.argv[1] + ".refuses"):
            answer = {"ok": False, "code": "refused", "error": "not now"}
        elif command in VIEWS:
            answer = {"ok": True, "view": VIEWS[command]}
        else:
            if added:
                lines.read()  # until the end
            added = True
            continue
        lines.write(json.dumps(answer) + "\n")
