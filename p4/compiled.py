"""What a compiler for the chips has left in a directory: where each register is, and what the program takes of the chip.

The places are in the assembly, *.bfa. The rest is in the logs that p4lang/p4c's back end writes beside it: resources.json, phv.json
and power.json."""
import json
import re
from collections import Counter
from pathlib import Path

# Of one pipe: stages, and in each of them blocks of SRAM and of TCAM, ALUs for registers, and tables; bits of the packet header
# vector, by kind of container.
LIMITS = {"tofino": {"stages": 12, "rams": 80, "tcams": 24, "meter_alus": 4, "logical_tables": 16,
                     "phv": {"normal": 4096, "tagalong": 2048}},
          "tofino2": {"stages": 20, "rams": 80, "tcams": 24, "meter_alus": 4, "logical_tables": 16,
                      "phv": {"normal": 3072, "mocha": 1024, "dark": 1024}}}

OF_A_STAGE = {"rams": "SRAM blocks", "tcams": "TCAM blocks", "logical_tables": "logical tables"}


class Incomplete(Exception):
    """Something that the compiler writes is not there."""


def read_assembly(text):
    """{register: [stages that have it]}, and the number of stages."""
    places, stage, last = {}, None, -1
    wanted = False
    for line in text.splitlines():
        header = re.match(r"stage (\d+) \w+:", line)
        if header:
            stage = int(header[1])
        elif re.match(r"  \S", line):
            wanted = line.startswith("  stateful ")
            last = max(last, stage if stage is not None else -1)
        name = re.match(r"    p4: \{ name: ([^,} ]+)", line) if wanted else None
        if name:
            places.setdefault(name[1], []).append(stage)
    return places, last + 1


def used_in_stages(resources, kind):
    """How many of a kind have a user, in all stages together. A log lists them, among the kind's dimensions."""
    return sum(len(found) for stage in resources["mau_stages"] for found in stage[kind].values() if isinstance(found, list))


def used_bits(phv):
    """Bits of containers that hold something, by kind; two fields that share a bit count once."""
    bits = Counter()
    for container in phv["containers"]:
        slices = (part["slice_info"] for part in container["slices"])
        bits[container["container_type"]] += len({bit for s in slices for bit in range(s["lsb"], s["msb"] + 1)})
    return bits


def read_logs(logs, limits):
    """Rows of a table: what, how much, of how much."""
    resources, phv, power = logs["resources"]["resources"]["mau"], logs["phv"], logs["power"]
    rows = [(name, used_in_stages(resources, kind), limits["stages"] * limits[kind]) for kind, name in OF_A_STAGE.items()]
    bits = used_bits(phv)
    rows += [(f"PHV bits, {kind}", bits[kind], most) for kind, most in limits["phv"].items()]
    rows += [(f"{x['gress']} latency, cycles", x["latency"], None) for x in power["total_latency"]]
    rows += [(f"{x['gress']} power, W", round(x["power"], 1), None) for x in power["total_power"]]
    return rows + [("compiler", logs["resources"]["compiler_version"], None)]


def find(directory, pattern):
    """The first such file."""
    found = sorted(Path(directory).rglob(pattern))
    if not found:
        raise Incomplete(f"{directory} has no {pattern}: the compiler leaves it with -o {directory} -g --verbose 2, when it has come to an end")
    return found[0]


def check(directory, chip):
    """(what is wrong, rows of a table)"""
    limits = LIMITS[chip]
    try:
        places, stages = read_assembly(find(directory, "*.bfa").read_text())
        logs = {name: json.loads(find(directory, f"{name}.json").read_text()) for name in ("resources", "phv", "power")}
    except Incomplete as problem:
        return [str(problem)], []
    wrong = [f"{register} has {len(found)} copies, in stages {', '.join(map(str, found))}" for register, found in places.items()
             if len(found) > 1]
    if stages > limits["stages"]:
        wrong.append(f"{stages} stages of {limits['stages']}")
    rows = [("stages", stages, limits["stages"]),
            ("stateful ALUs", sum(map(len, places.values())), limits["stages"] * limits["meter_alus"])]
    return wrong, rows + read_logs(logs, limits)
