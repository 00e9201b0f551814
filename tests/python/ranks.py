"""Ranks as processes, and a server that sums for them, all on loopback.

A test is a function of a rank, run in n processes. It fails if any of them raises, and prints whose and what."""
import atexit
import multiprocessing
import os
import shutil
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))
sys.dont_write_bytecode = True
PATIENCE_S = 600  # for a machine that is busy, or stands still


class Server:
    """swagg-ps, at an address of loopback that no other test has. lost_after_ms: a rank that stands still for so long is lost."""

    numbers = [3, 2, 1]  # that no server of this process has

    def __init__(self, build, jobs=64, lost_after_ms=60000):
        self.folder = Path(tempfile.mkdtemp(prefix="swagg-python-"))
        pid = os.getpid()
        self.number = Server.numbers.pop()
        self.address = f"127.{(pid >> 16 & 63) + 64 * self.number}.{pid >> 8 & 255}.{pid & 255 or 1}"
        config = self.folder / "server.yaml"
        config.write_text("\n".join((f"server: {{ip: {self.address}, threads: 1}}", f"control: {{path: {self.folder}/ctl}}",
                                     f"limits: {{jobs: {jobs}, jobs_per_host: {jobs}}}", f"timers: {{lost_after_ms: {lost_after_ms}}}", "")))
        self.log = self.folder / "log"
        with self.log.open("w") as log:
            self.process = subprocess.Popen([build / "server/swagg-ps", config], stderr=log)
        atexit.register(self.end)
        wait_until(lambda: " serves at " in self.log.read_text() or self.process.poll() is not None, "the server serves")
        assert self.process.poll() is None, self.log.read_text()

    def end(self):
        atexit.unregister(self.end)
        self.process.terminate()
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)
        Server.numbers.append(self.number)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()


def patiently(attempt, build, **server):
    """attempt(server), for what takes one that soon misses a rank. It misses one that is well and stands still, too: then once more, with more patience."""
    for lost_after_ms in (1000, 5000, 25000):
        with Server(build, lost_after_ms=lost_after_ms, **server) as one:
            try:
                return attempt(one.address)
            except AssertionError:
                if lost_after_ms == 25000:
                    raise
                traceback.print_exc()


def wait_until(is_so, what):
    end = time.monotonic() + PATIENCE_S
    while not is_so():
        if time.monotonic() > end:
            raise TimeoutError(f"it was never so that {what}")
        time.sleep(0.01)


def _run(function, rank, arguments, errors):
    try:
        function(rank, *arguments)
    except BaseException:
        errors.put((rank, traceback.format_exc()))
        errors.close()
        errors.join_thread()
        sys.exit(1)


CONTEXT = multiprocessing.get_context("spawn")


def meeting(ranks):
    """An argument for run(): its wait() returns when that many ranks are in it. A rank that has a call's result says nothing of the others'."""
    return CONTEXT.Barrier(ranks, timeout=PATIENCE_S)


def run(function, ranks, *arguments, killed=()):
    """function(rank, *arguments) in a process each. killed: ranks that end themselves by a signal."""
    errors = CONTEXT.Queue()
    processes = [CONTEXT.Process(target=_run, args=(function, rank, arguments, errors)) for rank in range(ranks)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(PATIENCE_S)
        if process.is_alive():
            process.kill()
            errors.put((processes.index(process), f"did not end within {PATIENCE_S} s"))
    said = []
    wrong = [rank for rank, process in enumerate(processes) if (process.exitcode != 0) != (rank in killed)]
    while not errors.empty():
        said.append("rank %d: %s" % errors.get())
    ends = [process.exitcode for process in processes]
    assert not wrong and not said, f"{function.__name__}: ranks {wrong}, who ended with {ends}: " + "\n".join(said)


def build_directory():
    build = Path(sys.argv[1]).resolve()
    for name in [name for name in os.environ if name.startswith("SWAGG_")]:
        del os.environ[name]  # settings of whoever runs this, such as script/test's
    os.environ["SWAGG_LIBRARY"] = str(build / "lib/client/libswagg.so.0")
    os.environ["SWAGG_ANSWER_TIMEOUT_MS"] = str(PATIENCE_S * 1000)  # of torch's jobs
    return build


def main(server, tests):
    """All tests, or those that the command line names behind the build directory."""
    for test in [t for t in tests if t.__name__ in sys.argv[2:]] or tests:
        began = time.monotonic()
        test(server)
        print(f"{test.__name__}: {time.monotonic() - began:.1f} s", flush=True)
