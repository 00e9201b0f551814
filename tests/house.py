#!/usr/bin/env python3
"""Holds the code against the rules of the house: house.py [--print]. Prints each place and what is wrong.

Checked are: which room may include which, that no include climbs (../), that there are no circles of includes nor, among the files of a room, of calls, how long files and
functions are, that what a header offers is used by others, that nothing waits by the time of day, and that every C file is
formatted as .clang-format says.
--print tells which rooms include which today.

A room is a folder. Files of a folder whose names begin with the same word are one module (pool.c, pool.h, pool_state.h,
pool_apply.c); two modules are a circle if each includes the other, directly or through others."""
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FILE_LINES, FUNCTION_LINES = 600, 60  # but for tests

NEUTRAL = ["lib/core/random", "lib/core/kernels", "lib/core/keys", "lib/core/share", "lib/core/wire", "lib/core/net", "lib/core/protocol"]  # name no protocol
CORE = [*NEUTRAL, "lib/core/numbers", "lib/core/transfer", "lib/core/switchml", "lib/core/atp", "lib/core/gather", "lib/core/hostagg", "lib/core/clone", "lib/core/roce", "lib/core/thc", "lib/core/relay", "lib/core/links", "lib/core/local", "lib/core/mpitcp"]
HOST = ["lib/host/base", "lib/host/impair", "lib/host/config"]
DAEMON = [*HOST, "swagg/port"]

# A room, and the rooms that it may include besides itself.
ROOMS = {
    "lib/core": CORE,  # the list of protocols
    "lib/core/random": [],
    "lib/core/kernels": [],
    "lib/core/share": [],
    "lib/core/keys": [],
    "lib/core/wire": ["lib/core/kernels", "lib/core/keys", "lib/core/protocol"],  # the form of terms
    "lib/core/net": ["lib/core/random", "lib/core/kernels"],
    "lib/core/numbers": ["lib/core/kernels"],
    "lib/core/protocol": ["lib/core/random", "lib/core/kernels"],
    "lib/core/transfer": ["lib/core/kernels", "lib/core/numbers", "lib/core/wire", "lib/core/protocol"],
    "lib/core/switchml": ["lib/core/kernels", "lib/core/keys", "lib/core/numbers", "lib/core/thc", "lib/core/wire", "lib/core/protocol", "lib/core/transfer"],
    "lib/core/atp": ["lib/core/random", "lib/core/kernels", "lib/core/numbers", "lib/core/wire", "lib/core/protocol", "lib/core/transfer"],
    "lib/core/gather": ["lib/core/kernels", "lib/core/protocol"],
    "lib/core/clone": ["lib/core/kernels", "lib/core/wire", "lib/core/protocol", "lib/core/gather"],
    "lib/core/hostagg": ["lib/core/kernels", "lib/core/wire", "lib/core/protocol", "lib/core/gather"],
    "lib/core/roce": ["lib/core/kernels", "lib/core/wire", "lib/core/protocol", "lib/core/switchml"],
    "lib/core/mpitcp": ["lib/core/kernels", "lib/core/wire"],
    "lib/core/thc": ["lib/core/random", "lib/core/kernels"],
    "lib/core/relay": ["lib/core/kernels", "lib/core/wire", "lib/core/protocol", "lib/core/transfer", "lib/core/switchml", "lib/core/control"],
    "lib/core/control": ["lib/core/random", "lib/core/keys", "lib/core/share", "lib/core/wire", "lib/core/protocol", "lib/core/transfer"],
    "lib/core/links": ["lib/core/control", "lib/core/switchml", "lib/core/transfer"],
    "lib/core/local": ["lib/core/random", "lib/core/kernels", "lib/core/wire", "lib/core/transfer"],
    "lib/kernels": ["lib/core/kernels"],
    "lib/version": [],
    "lib/clock": [],
    "lib/nearest": [],
    "lib/command_line": ["lib/nearest", "lib/version"],
    "lib/keys": ["lib/core/keys"],
    "lib/settings": ["lib/nearest"],
    "lib/client": ["lib/clock", "lib/client/local", "lib/core", *CORE, "lib/core/control", "lib/kernels", "lib/keys", "lib/nearest", "lib/version"],
    "lib/client/local": ["lib/clock", "lib/client", *CORE, "lib/core/control"],
    "lib/client/dpdk": ["lib/clock", "lib/client", "lib/core/kernels", "lib/core/net", "lib/core/transfer", "lib/core/wire", "lib/kernels", "lib/version"],
    "lib/client/verbs": ["lib/clock", "lib/client", "lib/core/transfer", "lib/core/wire", "lib/version"],
    "lib/reference": ["lib/core/random", "lib/core/kernels"],
    "mpi-shim": ["lib/clock", "lib/core/random", "lib/client", "lib/nearest", "lib/version"],
    "mpi-shim/preload": ["mpi-shim", "mpi-shim/board", "lib/client"],
    "mpi-shim/component": ["mpi-shim", "lib/client"],
    "mpi-shim/board": ["mpi-shim"],
    "mpi-shim/library": ["mpi-shim", "lib/client"],
    "mpi-shim/examples": [],
    "mpi-proxy": ["lib/clock", "lib/core/kernels", "lib/core/mpitcp", "lib/core/wire", "lib/kernels", "lib/command_line", "lib/version"],
    "nccl": ["lib/client"],
    "docs/examples": ["lib/client"],
    "lib/host/base": ["lib/core", "lib/core/net", "lib/core/protocol", "lib/core/share", "lib/core/wire"],  # the list of protocols, whose reasons are counted
    "lib/host/impair": ["lib/core/random", "lib/host/base"],
    "lib/host/config": ["lib/core", *CORE, "lib/nearest", "lib/settings", "lib/host/base", "lib/host/impair"],
    "lib/host/registry": ["lib/clock", "lib/core/share", "lib/core/protocol", "lib/core/control", "lib/core/relay", "lib/keys", *HOST, "lib/host/views", "lib/host/history"],
    "lib/host/views": ["lib/core/net", "lib/core/protocol", "lib/core/control"],
    "lib/host/history": ["lib/core/control", "lib/host/views"],
    "lib/host/metrics": ["lib/clock", "lib/core/protocol", "lib/host/base", "lib/host/config", "lib/host/views"],
    "lib/host/operator": ["lib/clock", "lib/host/base", "lib/host/config", "lib/host/registry", "lib/host/views", "lib/host/history"],
    "swagg/port": ["lib/core/net", "lib/core/random", *HOST, "swagg/capture", "swagg/port/linux"],
    "swagg/port/linux": ["lib/core/net", "lib/core/wire", *HOST, "swagg/port"],  # the CRC of SCTP
    "swagg/bridge": ["lib/core/random", "lib/core/net", *DAEMON, "swagg/port/linux"],  # how many frames a merged one is
    "swagg/aggregate": [*NEUTRAL, *DAEMON, "swagg/bridge", "swagg/capture"],
    "swagg/lcore": ["lib/clock", "lib/core/random", "lib/core/net", "lib/core/protocol", "lib/core/share", "lib/core/control", "lib/host/registry", "swagg/capture", *DAEMON, "swagg/port/linux", "swagg/bridge", "swagg/aggregate"],
    "swagg/control": ["lib/clock", "lib/core", *NEUTRAL, "lib/core/control", "lib/core/relay", "lib/keys", "lib/host/operator", "lib/host/registry", "lib/host/views", *DAEMON, "swagg/bridge", "swagg/aggregate", "swagg/lcore"],
    "swagg/capture": ["lib/core", "lib/core/net", "lib/core/protocol", "lib/core/wire", "lib/host/base"],
    "swagg/commands": ["lib/host/base", "lib/host/config", "lib/host/operator", "lib/host/views", "swagg/capture", "swagg/lcore", "swagg/show"],
    "swagg/show": ["lib/clock", "lib/core", *NEUTRAL, "lib/core/control", "lib/reference", "lib/version", "lib/host/registry", "lib/host/views", "lib/host/history", "lib/host/metrics", *DAEMON, "swagg/bridge", "swagg/aggregate",
                   "swagg/lcore", "swagg/control"],
    "swaggctl": ["lib/clock", "lib/nearest", "lib/host/views", "lib/command_line", "lib/version"],
    "doctor": ["lib/clock", "lib/core/wire", "lib/client", "lib/command_line", "lib/version", "lib/host/base", "lib/host/config", "swaggctl"],
    "swagg": ["*"],  # puts the daemon together
    "server": ["lib/clock", "lib/core", *CORE, "lib/core/control", "lib/client", "lib/kernels", "lib/keys", "lib/command_line", "lib/version", *HOST, "lib/host/registry", "lib/host/operator", "lib/host/metrics", "lib/host/views", "lib/host/history"],
    "tofino": ["lib/clock", *CORE, "lib/core/control", "lib/keys", "lib/command_line", "lib/version", *HOST, "lib/host/registry", "lib/host/operator", "lib/host/views"],
    "traffic": [*CORE, "lib/reference", "lib/command_line", "lib/version"],
    "traffic/capture": ["lib/core", *CORE, "lib/command_line", "lib/version", "traffic"],
    "traffic/samples": ["lib/clock", *CORE, "lib/kernels", "lib/command_line", "lib/version", "traffic"],
    "traffic/thc": ["lib/core/thc", "lib/command_line", "lib/version", "traffic"],
    "traffic/source": [*CORE, "lib/reference", "lib/command_line", "lib/version", "traffic"],
    "replay": ["lib/clock", "lib/client", "lib/command_line", "lib/version"],
    # of the daemon, an lcore on a device of the benchmark's; of the tests, the table of MPI's element types
    "bench": ["lib/clock", "swagg/aggregate", "swagg/lcore", "swagg/port", *CORE, "lib/client", "lib/kernels", "lib/keys", "lib/command_line", "lib/version", "traffic", "mpi-shim", "mpi-shim/examples", "nccl", "tests"],
    # of the tests, their support: random numbers, memory, carrying out verdicts, the paper's switch
    "sim": ["lib/clock", *CORE, "lib/core/control", "lib/kernels", "lib/reference", "lib/command_line", "lib/version", "replay", "sim/curves", "sim/hosts", "sim/replay", "sim/scale", "sim/switches", "tests"],
    "sim/curves": ["lib/core/atp", "lib/version", "sim", "tests"],
    "sim/hosts": ["lib/clock", *CORE, "lib/core/control", "lib/kernels", "lib/reference", "sim", "tests"],
    "sim/replay": [*CORE, "lib/kernels", "lib/command_line", "lib/version", "replay", "sim", "tests"],
    "sim/switches": ["lib/clock", *CORE, "lib/core/control", "lib/kernels", "sim", "tests"],
    "sim/scale": [*CORE, "lib/kernels", "lib/version", "sim", "tests"],
    "tests": ["*"],
}

complaints = []


def complain(place, what):
    complaints.append(f"{place}: {what}")


def tracked():
    said = subprocess.run(["git", "ls-files", "*.c", "*.h"], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    return [f for f in said.stdout.split() if (ROOT / f).exists()]


FILES = tracked()
TEXT = {f: (ROOT / f).read_text() for f in FILES}


def is_test(f):
    return f.startswith("tests/")


# --- includes ------------------------------------------------------------------------------------------------------

# Where the build looks, by who includes: the including room's own root comes first.
ROOTS = ["lib", "lib/core", "lib/kernels", "lib/keys", "lib/client", "lib/reference", "lib/nearest", "lib/version", "lib/clock", "lib/command_line", "lib/host", "swagg", "swaggctl", "tests/support", "server", "tofino", "mpi-shim", "mpi-proxy", "tests/mpi", "traffic", "replay", "bench", "tests/unit",
         "sim", "tests/fuzz", "tests/client", "nccl", "doctor"]


def included(f, name):
    own = [root for root in ROOTS if f.startswith(root + "/")]
    for folder in [str(Path(f).parent), *own, *ROOTS]:
        if f"{folder}/{name}" in TEXT:
            return f"{folder}/{name}"
    return None


def room_of(f):
    folder = str(Path(f).parent)
    return folder if folder in ROOMS or not is_test(f) else "tests"


def module_of(f):
    return f"{Path(f).parent}/{Path(f).stem.split('_')[0]}"


def edges():
    """(file, name as included, file that it is)"""
    for f in FILES:
        for name in re.findall(r'^\s*#\s*include "([^"]+)"', TEXT[f], re.M):
            yield f, name, included(f, name)


def check_rooms(found):
    for f, name, target in found:
        if ".." in name.split("/"):
            complain(f, f'"{name}" climbs; name the file from its room: "room/file.h"')
        if target is None:
            continue
        room, other = room_of(f), room_of(target)
        if room not in ROOMS:
            complain(f, f"the room {room} has no line in tests/house.py: say there what it may include")
        elif room != other and "*" not in ROOMS[room] and other not in ROOMS[room]:
            complain(f, f'"{name}": {room} may not include {other} (tests/house.py)')


def circles(graph):
    """Sets of nodes that reach one another (Tarjan's algorithm)."""
    index, low, stack, found = {}, {}, [], []

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in graph[node]:
            if other not in index:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], index[other])
        if low[node] == index[node]:
            at = stack.index(node)
            if len(stack) - at > 1:
                found.append(set(stack[at:]))
            del stack[at:]

    for node in sorted(graph):
        if node not in index:
            visit(node)
    return found


def check_circles(found):
    graph = defaultdict(set)
    for f, _, target in found:
        if target is not None and not is_test(f) and module_of(f) != module_of(target):
            graph[module_of(f)].add(module_of(target))
            graph[module_of(target)] |= set()
    for circle in circles(graph):
        complain(" ".join(sorted(circle)), "these include one another in a circle")


# --- calls ---------------------------------------------------------------------------------------------------------

DEFINED = re.compile(r"^(?!static|typedef|#|extern)[A-Za-z_][\w \n*]*?\b(\w+)\([^;{}]*\)\n\{", re.M)


def program_of(f):
    """Where a function's name means one thing."""
    return f.split("/")[0] if not f.startswith(("traffic/", "bench/")) else str(Path(f).parent)


def check_calls():
    """Files of one room that call each other in circles, by functions that are not static."""
    owner, graph = {}, defaultdict(set)
    sources = [f for f in FILES if f.endswith(".c") and not is_test(f)]
    for f in sources:
        for name in DEFINED.findall(CODE[f]):
            owner[program_of(f), name] = f
    for f in sources:
        static = set(re.findall(r"^static [\w \n*]*?\b(\w+)\(", CODE[f], re.M))
        for name in set(re.findall(r"\b(\w+)\(", CODE[f])) - static:
            other = owner.get((program_of(f), name))
            if other is not None and other != f and Path(other).parent == Path(f).parent:
                graph[f].add(other)
                graph[other] |= set()
    for circle in circles(graph):
        complain(" ".join(sorted(circle)), "these call one another in a circle: make one file of them, or cut where one does not need the other")


# --- length --------------------------------------------------------------------------------------------------------

def too_long(f):
    """(place, what is wrong)"""
    lines = TEXT[f].splitlines()
    if len(lines) > FILE_LINES:
        yield f, f"{len(lines)} lines; at most {FILE_LINES}"
    start = None
    for number, line in enumerate(lines, 1):
        if line.startswith("{"):
            start = number
        elif line.rstrip() == "}" and start is not None:
            if number - start + 1 > FUNCTION_LINES:
                yield f"{f}:{start}", f"a function of {number - start + 1} lines; at most {FUNCTION_LINES}"
            start = None


def check_lengths():
    for f in FILES:
        for place, what in [] if is_test(f) else too_long(f):
            complain(place, what)


# --- callers -------------------------------------------------------------------------------------------------------

CODE = {f: re.sub(r"/\*.*?\*/|//[^\n]*|__attribute__\(\(.*?\)\)(?=[\s;])", "", TEXT[f], flags=re.S) for f in FILES}


def offered(f):
    """Names of the functions that a header declares or, inline, defines."""
    yield from re.findall(r"^(?!static|typedef|#)[A-Za-z_][\w \n*]*?\b(\w+)\([^;{}]*\);", CODE[f], re.M)
    yield from re.findall(r"^static inline [\w \n*]*?\b(\w+)\([^;{}]*\)\n\{", CODE[f], re.M)


def check_callers():
    where = defaultdict(set)
    for f in FILES:
        for word in set(re.findall(r"\w+", CODE[f])):
            where[word].add(f)
    for f in FILES:
        for name in offered(f) if f.endswith(".h") else []:
            defined = re.compile(rf"^[A-Za-z_][^;=]*\b{name}\([^;]*\)\n\{{", re.M)
            if all(g == f or defined.search(CODE[g]) for g in where[name]) and len(re.findall(rf"\b{name}\b", CODE[f])) == 1:
                complain(f, f"{name}() is used by no other file: make it static where it is defined, or take it out")


# --- clocks --------------------------------------------------------------------------------------------------------

TIME_OF_DAY = ["lib/host/base/log.c", "swagg/commands/commands.c"]  # show it; whoever waits must not, for it may be set meanwhile


def check_clocks():
    for f in FILES:
        found = re.search(r"\b(CLOCK_REALTIME|gettimeofday|sem_timedwait|pthread_cond_timedwait|pthread_mutex_timedlock)\b", CODE[f])
        if found and not is_test(f) and f not in TIME_OF_DAY:
            complain(f, f"{found[0]} goes by the time of day, which may be set: CLOCK_MONOTONIC")


# --- format --------------------------------------------------------------------------------------------------------

def check_format():
    said = subprocess.run(["clang-format", "--dry-run", *FILES], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, check=False)
    wrong = sorted(set(re.findall(r"^([^:\n]+):\d+:\d+: \w+: code should be", said.stdout, re.M)))
    for f in wrong:
        complain(f, "not formatted; clang-format -i " + f)
    if said.returncode != 0 and not wrong:
        complain("clang-format", said.stdout)


INCLUDES = list(edges())
if "--print" in sys.argv:
    rooms = defaultdict(set)
    for f, _, target in INCLUDES:
        if target is not None and room_of(f) != room_of(target):
            rooms[room_of(f)].add(room_of(target))
    for room in sorted(rooms):
        print(room, "->", *sorted(rooms[room]))
    sys.exit()
check_rooms(INCLUDES)
check_circles(INCLUDES)
check_calls()
check_lengths()
check_callers()
check_clocks()
check_format()
if len(FILES) < 100 or len(INCLUDES) < 100:
    complain("tests/house.py", "finds hardly any files: nothing was tested")
print(*complaints, sep="\n")
sys.exit(len(complaints) > 0)
