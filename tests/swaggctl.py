#!/usr/bin/env python3
"""swaggctl with a switch that this script plays: what real ones do too seldom, or too soon, for a test. swaggctl.py SWAGGCTL"""
import json
import select
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

PATIENCE_S = 300  # ends what hangs

GONE = None  # hangs up without an answer


def view(frames):
    return {"version": 1, "switch": "played", "ok": True, "counters": ["frames"], "view": {"name": "train", "frames": frames}}


def refusal(error):
    return {"version": 1, "switch": "played", "ok": False, "code": "unknown", "error": error}


class Switch:
    """Who is asked by swaggctl, one connection after another."""

    def __init__(self, directory):
        self.path = directory / "played.ctl"
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(0.1)
        self.socket.bind(str(self.path))
        self.socket.listen()

    def asked(self, ctl):
        """The next connection, after its request; None: swaggctl has ended."""
        while ctl.poll() is None:
            try:
                connection, _ = self.socket.accept()
            except TimeoutError:
                continue
            connection.settimeout(PATIENCE_S)
            connection.makefile().readline()
            return connection
        return None

    def ctl(self, *arguments):
        return subprocess.Popen([sys.argv[1], "--switch", self.path, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE)

    def watch(self, *answers, arguments=("-j", "watch", "job", "train"), times):
        """(exit status, lines on standard output, text on standard error)"""
        with self.ctl("--every", "0.01", "--times", str(times), *arguments) as ctl:
            for answer in answers:
                connection = self.asked(ctl)
                if connection is not None and answer is not GONE:
                    connection.sendall(json.dumps(answer).encode() + b"\n")
                if connection is not None:
                    connection.close()
            if (connection := self.asked(ctl)) is not None:
                connection.close()
                ctl.kill()
                sys.exit(f"{arguments}: asks for more than {len(answers)} answers")
            out, err = ctl.communicate(timeout=PATIENCE_S)
        return ctl.returncode, out.decode().splitlines(), err.decode()


def expect(what, is_so, said):
    if not is_so:
        sys.exit(f"{what}: {said}")


def watch_outlives_a_restart(switch):
    no_job = refusal("there is no job train")
    status, lines, err = said = switch.watch(view(10), view(20), GONE, no_job, no_job, view(30), view(31), view(32), times=3)
    expect("a job that comes back after a restart", status == 0 and [json.loads(line)["frames"] for line in lines] == [20, 31, 32], said)
    expect("rates from the first line on", all(json.loads(line)["frames/s"] > 0 for line in lines), said)
    expect("why it waits, once", err.count("trying again") == 2 and err.count("there is no job train; trying again") == 1, said)
    status, lines, err = said = switch.watch(no_job, times=3)
    expect("a job that is not there", status == 1 and err == "swaggctl: there is no job train\n", said)
    status, lines, err = said = switch.watch(view(10), view(10), no_job, times=3)
    expect("a job that ends", status == 1 and len(lines) == 1 and err == "swaggctl: there is no job train\n", said)


def watch_begins_with_a_rate(switch):
    status, lines, _ = said = switch.watch(view(10), view(20), arguments=("watch", "job", "train"), times=1)
    rate = [float(line.split()[1]) for line in lines if line.split()[:1] == ["frames/s"]]
    expect("one look", status == 0 and len(rate) == 1 and rate[0] > 0, said)


def first_tables_are_of_a_whole_interval(switch):
    """What comes now and then is in them; and slow machines only make it longer."""
    for arguments, looks, every in ((("watch", "job", "train"), 1, 1.2), (("top",), 4, 0.5)):
        begun = time.monotonic()
        status, lines, _ = said = switch.watch(*[view(n) for n in range(2 * looks)], arguments=("--every", str(every), *arguments), times=1)
        expect(f"{arguments}, once", status == 0 and lines and time.monotonic() - begun >= every, (time.monotonic() - begun, said))


def watch_names_what_is_not_there(switch):
    chosen = ("watch", "--only", "frames", "job", "train")
    status, lines, err = said = switch.watch(view(10), view(10), arguments=chosen, times=2)
    expect("a counter, where there is its rate", status == 2 and lines == [] and
           "there is no frames in this view; there are: name, frames/s" in err, said)


def all_is_shown(switch):
    """However many counters a switch has, or columns a table."""
    counters = {f"reason_{n}": n for n in range(300)}
    many = {"version": 1, "switch": "played", "ok": True, "counters": list(counters), "view": {**counters, "table": [counters]}}
    status, lines, _ = switch.watch(many, arguments=("verdicts",), times=1)
    expect("verdicts", status == 0 and [line.split()[0] for line in lines[:300]] == list(counters), lines)
    expect("columns", lines[300] == "" and lines[301].split() == list(counters), lines[300:])
    status, lines, _ = switch.watch(many, many, arguments=("watch", "verdicts"), times=1)
    expect("verdicts, again and again", status == 0 and lines[299].split() == ["reason_299/s", "0.0"], lines)


def nothing_is_left_out_of_a_request(switch):
    """A name that is no UTF-8 is none that a switch could have; without it, it would be asked for all."""
    for arguments in (("fdb", "flush", b"caf\xe9"), ("capture", "--write", "-", "--port", b"\xff"), ("impair", "set", "p0", b"drop=\xff"), (b"\xc3",)):
        with switch.ctl(*arguments) as ctl:
            connection = switch.asked(ctl)
            expect(f"{arguments}, asked", connection is None, arguments)
            _, err = ctl.communicate(timeout=PATIENCE_S)
        expect(f"{arguments}", ctl.returncode == 2 and b"is not in UTF-8" in err, err)


def block(kind, body):
    """Of pcapng"""
    length = struct.pack("=I", 12 + len(body))
    return struct.pack("=I", kind) + length + body + length


BEGIN = block(0x0A0D0D0A, struct.pack("=IHHq", 0x1A2B3C4D, 1, 0, -1)) + block(1, struct.pack("=HHI", 1, 0, 0))
FRAME = block(6, struct.pack("=IIIII", 0, 0, 0, 4, 4) + b"ping")


def capture_keeps_up(switch):
    blocks = BEGIN + FRAME
    with switch.ctl("capture", "--write", "-") as ctl:
        with switch.asked(ctl) as connection:
            connection.sendall(json.dumps(view(0)).encode() + b"\n" + blocks)
            hanging = threading.Timer(PATIENCE_S, ctl.kill)
            hanging.start()
            got = ctl.stdout.read(len(blocks))  # while the switch has nothing more to say
            hanging.cancel()
            ctl.send_signal(signal.SIGINT)
            connection.recv(1)  # its end
        ctl.communicate(timeout=PATIENCE_S)
    expect("a frame, before there is another", got == blocks and ctl.returncode == 0, (ctl.returncode, len(got)))


def capture_ends_while_frames_flow(switch):
    for signal_number in (signal.SIGINT, signal.SIGTERM):
        with switch.ctl("capture", "--write", "/dev/null") as ctl:
            with switch.asked(ctl) as connection:
                connection.sendall(json.dumps(view(0)).encode() + b"\n" + BEGIN + 100000 * FRAME)  # more than a socket holds: it reads
                ctl.send_signal(signal_number)
                ended, sent = False, 0
                while not ended and sent < 100:
                    connection.sendall(10000 * FRAME)
                    sent += 1
                    ended = select.select([connection], [], [], 0)[0] != []
            _, err = ctl.communicate(timeout=PATIENCE_S)
        expect("a capture that is to end", ended and ctl.returncode == 0 and b" frames captured" in err, (sent, ctl.returncode, err))


def state_of(ctl):
    return Path(f"/proc/{ctl.pid}/stat").read_text().rpartition(") ")[2][0]


def is_stopped_and_goes_on(switch):
    with switch.ctl("jobs") as ctl:
        with switch.asked(ctl) as connection:
            for state, then in (("S", signal.SIGSTOP), ("T", signal.SIGCONT)):
                while state_of(ctl) != state:
                    time.sleep(0.01)
                ctl.send_signal(then)
            connection.sendall(json.dumps(view(1)).encode() + b"\n")
        out, err = ctl.communicate(timeout=PATIENCE_S)
    expect("an answer after a pause", ctl.returncode == 0 and b"train" in out, (ctl.returncode, err))


def main():
    with tempfile.TemporaryDirectory() as directory:
        switch = Switch(Path(directory))
        watch_outlives_a_restart(switch)
        watch_begins_with_a_rate(switch)
        first_tables_are_of_a_whole_interval(switch)
        watch_names_what_is_not_there(switch)
        all_is_shown(switch)
        nothing_is_left_out_of_a_request(switch)
        capture_keeps_up(switch)
        capture_ends_while_frames_flow(switch)
        is_stopped_and_goes_on(switch)


if __name__ == "__main__":
    main()
