#!/usr/bin/env python3
"""Holds what the documentation says against the code: docs.py BUILD_DIRECTORY. Prints each sentence's place and what is wrong.

Checked are links and their sections, tables, names of files, functions, counters and settings, commands and options of our programs, that
all commands of some are told, numbers that the code declares, and that script/bootstrap installs the tools that pages tell a reader to type."""
import os
import re
import subprocess
import sys
from functools import lru_cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "bench"))
import report
BUILD = Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else ROOT / "build"
PAGES = [ROOT / "README.md", ROOT / "pktgen-profiles/README.md", *sorted((ROOT / "docs").rglob("*.md"))]
TOP = {"bench", "doctor", "wireshark", "conf", "docs", "lib", "mpi-shim", "p4", "pktgen-profiles", "python", "replay", "script", "swagg", "swaggctl", "tests",
       "tofino", "traffic"}
# Names that are others': Open MPI's, the kernel's, DPDK's, Pktgen's; x_ stands for any part of the core.
OTHERS = re.compile(r"P?MPI_\w+|mpif\.h|CAP_\w+|TPACKET_\w+|rmem_max|XDG_RUNTIME_DIR|net_af_xdp\d|fail_over_mac|pktgen_config_ports|rte_bitmap_get|run_p4_tests|x_\w+")
complaints = []


def complain(place, what):
    complaints.append(f"{place}: {what}")


def lines_of(page):
    """(place, line, whether it is in an indented block: something to type or what it prints)"""
    before, block = "", False
    for number, line in enumerate(page.read_text().splitlines(), 1):
        indented = line.startswith("    ")
        block = indented and (block or not before.strip())
        if line.strip():
            yield f"{page.relative_to(ROOT)}:{number}", line, block
        before = line


def quoted(line):
    return re.findall(r"`([^`]+)`", line)


@lru_cache(None)
def sources():
    """Everything that is not documentation, in one piece."""
    found = []
    for directory, folders, names in os.walk(ROOT):
        folders[:] = [f for f in folders if f not in (".git", "corpus", "data") and not f.startswith("build")]
        for name in names:
            path = Path(directory, name)
            if path.suffix not in (".md", ".svg") and path != Path(__file__).resolve():
                found.append(path.read_bytes().decode("utf-8", "replace"))
    return "\n".join(found)


@lru_cache(None)
def words():
    return set(re.findall(r"\w+", sources())) | {name.rsplit(".", 1)[0] for name in basenames()}


@lru_cache(None)
def words_of_figures():
    return {word for name in report.BENCHES for figure in report.module_of(name).FIGURES for word in re.findall(r"\w+", figure.name)}


def is_known(word):
    """Also if the code puts its beginning or end together."""
    if word in words_of_figures():
        return True
    parts = word.split("_")
    middles = {"_".join(parts[first:-1]) for first in range(len(parts) - 2)} | {parts[0]}
    return word in words() or OTHERS.fullmatch(word) or any(re.search(rf"{m}_(?!\w)", sources()) for m in middles)


@lru_cache(None)
def basenames():
    return {name for directory, _, names in os.walk(ROOT) for name in names if ".git/" not in directory}


def source(path):
    return (ROOT / path).read_text()


# --- links --------------------------------------------------------------------------------------------------------

def anchor(title):
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


@lru_cache(None)
def anchors(page):
    text = page.read_text()
    titles = re.findall(r"^#+ (.*)$", text, re.M)
    return {anchor(title.strip()) for title in titles} | set(re.findall(r'<a id="([\w-]+)">', text))


def check_links(page, place, line):
    for target in re.findall(r"\]\(([^)\s]+)\)", line):
        if "://" in target:
            continue
        path, _, section = target.partition("#")
        at = (page.parent / path).resolve() if path else page
        if not at.exists():
            complain(place, f"link to {path}, which is not there")
        elif section and section not in anchors(at):
            complain(place, f"link to section #{section}, which {at.name} has not")


def check_tables(page):
    """A row that nothing leads to is shown as text."""
    before = ""
    lines = page.read_text().splitlines()
    for number, (line, after) in enumerate(zip(lines, [*lines[1:], ""]), 1):
        if line.startswith("|") and not before.startswith("|") and not after.startswith("|--"):
            complain(f"{page.relative_to(ROOT)}:{number}", "a row of no table")
        before = line


def check_contents(page):
    """Where a page lists its sections it lists all of them, in their order."""
    text = page.read_text()
    listed = re.search(r"^Contents: .*?\n\n", text, re.M | re.S)
    if listed and re.findall(r"\(#([\w-]+)\)", listed[0]) != [anchor(title) for title in re.findall(r"^## (.*)$", text, re.M)]:
        complain(page.relative_to(ROOT), "its contents are not its sections")


def check_sections_in_comments():
    """docs/PAGE.md, "Section" in comments, perhaps over a line's end."""
    flat = re.sub(r"\n[ \t]*(?:\*|#|//)?[ \t]*", " ", sources())
    for name, title in re.findall(r'docs/([\w/]+\.md), "([^"]+)"', flat):
        heads = re.findall(r"^#+ (.*)$", (ROOT / "docs" / name).read_text(), re.M)
        if not any(head.startswith(title) for head in heads):
            complain(f"a comment on docs/{name}", f'there is no section "{title}"')


# --- names --------------------------------------------------------------------------------------------------------

def check_names(page, place, line):
    for text in quoted(line):
        path = re.sub(r":.*", "", text)
        if re.fullmatch(r"[\w.\-*/]+", path) and "/" in path and path.split("/")[0] in TOP:
            if not any(True for _ in ROOT.glob(path.rstrip("/"))) and not list(ROOT.glob(path + ".[ch]")):
                complain(place, f"there is no {path}")
        elif re.fullmatch(r"[\w\-]+\.(c|h|sh|py|pml|lua|F90)", text):
            if text not in basenames() and text not in TOOLS and not OTHERS.fullmatch(text):
                complain(place, f"there is no file {text}")
        test = re.fullmatch(r"net/(\w+)", text)
        if test and not (ROOT / f"tests/net/{test[1]}.sh").exists():
            complain(place, f"there is no test {text}")
        for word in re.findall(r"\b[A-Za-z]\w*_\w*\b", text):
            if not is_known(word.rstrip("_")) and f"{word}" not in sources():
                complain(place, f"{word} is nowhere in the code")


# --- programs and what is typed ------------------------------------------------------------------------------------

PROGRAMS = {
    "swagg": "swagg/swagg",
    "swagg-doctor": "doctor/swagg-doctor",
    "swagg-mpi-proxy": "mpi-proxy/swagg-mpi-proxy",
    "swagg-perf": "bench/swagg-perf",
    "swagg-ps": "server/swagg-ps",
    "swagg-replay": "replay/swagg-replay",
    "swagg-switchml-session": "session/swagg-switchml-session",
    "swagg-hostagg-worker": "traffic/swagg-hostagg-worker",
    "swagg-hostagg-host": "traffic/swagg-hostagg-host",
    "swagg-pcap": "traffic/swagg-pcap",
    "swagg-thc-table": "traffic/swagg-thc-table",
    "swagg-sim": "sim/swagg-sim",
    "mpi-perf": "bench/mpi-perf",
    "mpi-replay": "replay/mpi-replay",
    "gloo-replay": "../replay/gloo-replay",
    "swagg-source": "traffic/swagg-source",
    "swaggctl": "swaggctl/swaggctl",
    "swagg-tofino": "tofino/swagg-tofino",
}
# Tools of others: the package of Debian's that script/bootstrap installs. None: part of any Debian, or said not to be.
TOOLS = {"dpdk-telemetry.py": "dpdk-dev", "dpdk-testpmd": "dpdk-dev", "dpdk-devbind.py": "dpdk", "ethtool": "ethtool",
         "mpirun": "openmpi-bin", "meson": "meson", "ninja": "ninja-build", "cc": "build-essential", "ip": "iproute2",
         "tc": "iproute2", "tcpdump": None, "tshark": "tshark", "grep": None, "sysctl": None, "taskset": None, "echo": None, "nice": None,
         "modprobe": None, "sudo": None, "pktgen": None}


@lru_cache(None)
def help_of(program, *subcommand):
    if program.startswith("script/") or program.endswith("/run"):
        command = [ROOT / program, "--help"]
    else:
        command = [BUILD / PROGRAMS[program], *subcommand, "--help"]
    if not command[0].exists():
        return None
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300).stdout


def check_command(place, command):
    """One command as typed, without a prompt: the program is known, and has these options."""
    typed = [w for w in command.split(" #")[0].split() if not re.match(r"^[A-Z_]+=", w)]
    if not typed:
        return
    program = typed[0].removeprefix("./")
    short = program.rsplit("/", 1)[-1]
    if program.startswith("script/") or re.fullmatch(r"(tests/\w+|pktgen-profiles)/run", program):
        said = help_of(program)
    elif short in PROGRAMS:
        said = help_of(short, *typed[1:2]) if short in ("swagg-pcap", "swagg-sim") else help_of(short)
    else:
        if short not in TOOLS:
            complain(place, f"what is {short}? Neither ours nor a tool that tests/docs.py knows")
        elif TOOLS[short] and not re.search(rf"\b{TOOLS[short]}\b", source("script/bootstrap")):
            complain(place, f"script/bootstrap does not install {TOOLS[short]}, which has {short}")
        return
    if said is None:
        return
    ours = typed[1:typed.index("--")] if "--" in typed else typed[1:]
    for option in ours:
        option = re.match(r"--[\w-]+", option)
        if option and option[0] not in (said + "--help"):
            complain(place, f"{program} --help does not have {option[0]}")
    if program == "script/test":
        for suite in ours:
            if re.fullmatch(r"[a-z][a-z0-9]*", suite) and not re.search(rf"^  {suite} ", said, re.M):
                complain(place, f"script/test has no suite {suite}")


TYPED = re.compile(r"^    (?:\$ )?(?=(?:build/[\w-]+/|\./|script/|tests/\w+/run|pktgen-profiles/run)?"
                   r"(?:" + "|".join(map(re.escape, [*PROGRAMS, *TOOLS])) + r"|(?:\./)?script/\w+|[\w-]+/run)(?:\s|$))(.+)")


def check_block(page, place, line):
    prompt = re.match(r"    \$ (.+)", line)
    typed = prompt or TYPED.match(line)
    if typed:
        check_command(place, re.split(r"\s{2,}", typed[1])[0])


def check_quoted_commands(page, place, line):
    for text in quoted(line):
        first = text.split()[0].removeprefix("./")
        if first.startswith("script/") and (ROOT / first).is_file() and os.access(ROOT / first, os.X_OK) or first in PROGRAMS and " " in text:
            check_command(place, text)
        elif first in TOOLS:
            check_command(place, text)
        for option in re.findall(r"(?<!\S)--[a-z][\w-]+", text):
            if option not in sources() and f'"{option[2:]}"' not in sources():
                complain(place, f"{option} is nowhere in the code")


# --- what is listed ------------------------------------------------------------------------------------------------

def check_examples():
    page = (ROOT / "docs/configuration.md").read_text()
    for path in (ROOT / "conf").glob("*.yaml"):
        if f"(../conf/{path.name})" not in page:
            complain("configuration.md", f"conf/{path.name} is not in the list of examples")


def check_programs_of_scripts():
    """Benchmarks and tests that are run by hand name programs, too, and nothing else notices when one moves."""
    said = subprocess.run(("git", "-C", ROOT, "grep", "-nohE", r"\$(NET_BUILD|build)/[a-z0-9_-]+/[a-z0-9_./-]+[a-z0-9]([^a-z0-9$*{/-]|$)", "--", "*.sh", "script"),
                          stdout=subprocess.PIPE, text=True).stdout
    for number, path in sorted(set(re.findall(r"^(\d+):\$(?:NET_BUILD|build)/([\w./-]*\w)", said, re.M))):
        if not (BUILD / path).exists():
            complain(f"a script's line {number}", f"there is no {path} in the build")


def check_commands():
    """All of them are told, somewhere on these pages."""
    for program, pages, before in (("swaggctl", ("configuration.md", "views.md"), "`"), ("swagg-sim", ("simulation.md",), "swagg-sim ")):
        told = "".join((ROOT / "docs" / page).read_text() for page in pages)
        listed = re.search(r"^commands.*:\n((?:  .*\n)+)", help_of(program) or "", re.M)
        for command in re.findall(r"^  ([a-z]+(?: [a-z]+)?)(?= |$)", listed[1] if listed else "", re.M):
            if before + command not in told:
                complain("docs/" + pages[0], f"{program} {command} is not there")


def check_parts():
    """Tables of files: "| part | file in `sim/` | ...", perhaps with another folder for some."""
    for page in PAGES:
        for folder, rows in re.findall(r"^\|[^|\n]*\| file in `([\w/]+)` \|.*\n\|[-|]*\n((?:\|.*\n)+)", page.read_text(), re.M):
            for cell in (row.split("|")[2] for row in rows.splitlines()):
                folders = [folder, *re.findall(r"`(\w+/\w+)`", cell)]
                for name in re.findall(r"`([\w.]+)/?`", cell):
                    if not any(list((ROOT / one).glob(name)) + list((ROOT / one).glob(name + ".[ch]")) for one in folders):
                        complain(page.relative_to(ROOT), f"there is no {folder}{name}")


# --- numbers ------------------------------------------------------------------------------------------------------------

# Page, what it says of a number, where that is declared, and its name there.
NUMBERS = [
    ("clusters.md", r"up to ([\d,]+) are there at once", "lib/host/config/reserved.h", "RESERVED_MAX"),
    ("configuration.md", r"Of buffers there are ([\d,]+) a port", "swagg/port/buffers_near.h", "BUFFERS_A_PORT"),
    ("configuration.md", r"a port, ([\d,]+) for each further queue", "swagg/port/buffers_near.c", "BUFFERS_A_FURTHER_QUEUE"),
    ("configuration.md", r"of a port, ([\d,]+) a thread", "swagg/port/buffers_near.c", "BUFFERS_AN_LCORE"),
    ("configuration.md", r"has not taken yet in (\d+ MiB)", "swagg/commands/commands.c", "BUFFER_BYTES"),
    ("configuration.md", r"At most (\d+) frames of a port and direction are held back", "lib/host/impair/impair.h", "IMPAIR_HELD_MAX"),
    ("correctness.md", r"After 64 at once it has (\d+) messages a second", "lib/core/control/intake.c", ".per_second"),
    ("correctness.md", r"no member's, (\d+) a second are let in", "lib/core/control/intake.c", "PER_SECOND"),
    ("correctness.md", r"a second are let in, after (\d+) or twice", "lib/core/control/intake.c", "AT_ONCE"),
    ("libswagg.md", r"`SWAGG_REQUESTS_MAX` \((\d+)\)", "lib/client/swagg.h", "SWAGG_REQUESTS_MAX"),
    ("libswagg.md", r"At most (\d+), whose slots are those of the job", "lib/core/local/plan.h", "LOCAL_RAILS_MAX"),
    ("libswagg.md", r"That goes block by block of (\d+ KiB)", "lib/core/local/board.h", "LOCAL_BLOCK_BYTES"),
    ("libswagg.md", r"allreduces and reduces of (\d+ KiB) and more, posted ones, too", "lib/client/lanes.c", "BYTES_LEAST"),
    ("libswagg.md", r"A job keeps up to (\d+ MiB) of it", "lib/client/gpu.c", "KEPT_MAX"),
    ("libswagg.md", r"bounds what is under way, from (\d+) to", "lib/core/atp/terms.h", "ATP_MIN_WINDOW"),
    ("libswagg.md", r"bounds what is under way, from \d+ to ([\d,]+) chunks", "lib/core/atp/terms.h", "ATP_MAX_WINDOW"),
    ("mpi-tcp.md", r"a window of (\d+ MiB)", "lib/core/mpitcp/flow.h", "MTP_WINDOW_BYTES"),
    ("mpi.md", r"on one host or on several, for (\d+) days", "mpi-shim/kept.h", "KEPT_DAYS"),
    ("nccl.md", r"posted calls of libswagg, up to (\d+) of a communicator", "nccl/nccl_abi.h", "NCCL_REQUESTS_MAX"),
    ("operating.md", r"some 4 MB at most: ([\d,]+) minutes of its own", "lib/host/history/history.h", "HISTORY_MINUTES"),
    ("operating.md", r"minutes of its own, ([\d,]+) of its jobs", "lib/host/history/history.h", "HISTORY_JOB_MINUTES"),
    ("operating.md", r"and (\d+) events of each kind", "lib/host/history/history.h", "HISTORY_EVENTS"),
    ("operating.md", r"; (\d+) connections are served at once", "lib/host/metrics/metrics.h", "METRICS_CONNECTIONS"),
    ("operating.md", r"who is silent for (\d+) s is cut off", "lib/host/metrics/metrics.h", "METRICS_SILENT_S"),
    ("protocol.md", r"The terms of SwitchML, version 1, (\d+) bytes", "lib/core/switchml/terms.h", "SML_TERMS_BYTES"),
    ("protocol.md", r"slots \| 2\.\.(\d+), at most", "lib/core/wire/switchml.h", "SML_MAX_SLOTS"),
    ("protocol.md", r"chunk bytes \| 64\.\.(\d+), a multiple of 4", "lib/core/wire/switchml.h", "SML_MAX_CHUNK_BYTES"),
    ("tofino.md", r"share the ([\d,]+) entries of that table", "p4/control/plan.py", "ENTRIES"),
]
UNITS = {"": 1, " KiB": 1 << 10, " MiB": 1 << 20}


def check_numbers():
    for page, says, path, name in NUMBERS:
        said = re.findall(says, re.sub(r"\s+", " ", (ROOT / "docs" / page).read_text()))
        declared = eval(re.search(rf"(?<!\w){re.escape(name)} =\s+([\d\s*<]*\d)", source(path))[1], {})
        if len(said) != 1:
            complain(f"docs/{page}", f"it says {len(said)} times: {says}")
        elif int(re.match(r"[\d,]+", said[0])[0].replace(",", "")) * UNITS[re.sub(r"^[\d,]+", "", said[0])] != declared:
            complain(f"docs/{page}", f"{said[0]} is {name} = {declared} of {path}")


for page in PAGES:
    check_tables(page)
    check_contents(page)
    for place, line, block in lines_of(page):
        if block:
            check_block(page, place, line)
        else:
            check_links(page, place, line)
            check_names(page, place, line)
            check_quoted_commands(page, place, line)
check_sections_in_comments()
check_examples()
check_commands()
check_parts()
check_numbers()
check_programs_of_scripts()
print(*complaints, sep="\n")
sys.exit(len(complaints) > 0)
