#!/usr/bin/python3
"""The program's text as p4testgen takes it (docs/results/tofino.md, "A test generator"): testgen_text.py DIRECTORY [--fresh]. What
that does not know is written out otherwise; the table of senders has the entries of three jobs, and no others. --fresh: no packet comes
back for another pass, so that more tests are of those that come from workers. Each change must find its place."""
import shutil
import sys
from pathlib import Path

from rig import LOOP, ROOT, SWITCH_IP, workers

from control import plan

RIGHT, FLOOD_PORT = 0xBEEF, 300  # the IPv4 checksum that stands for a right one; where copies to all ports go
PLACE = "place.get({md.base, 1w0, hdr.switchml.slot, hdr.switchml.ver})"
PLACE_AGAIN = PLACE.replace("place", "place_again")
SUM = "md.base ^ (1w0 ++ hdr.switchml.slot ++ hdr.switchml.ver)"
AGES = "if (v.label == md.label) {{ age = AGE_SAME; }} else if ({older}) {{ age = AGE_NEWER; }} else {{ age = AGE_OLDER; }}"
UNSIGNED, SIGNED = "v.label < md.label", "(int<32>)v.label < (int<32>)md.label"

SKEW = """skew.get({hdr.switchml.tag1, hdr.switchml.tag0, hdr.switchml.ver, hdr.switchml.reserved,
                            hdr.switchml.slot});"""
SKEW_SUM = "(hdr.switchml.tag1 ++ hdr.switchml.tag0) ^ (hdr.switchml.ver ++ hdr.switchml.reserved ++ hdr.switchml.slot);"
DEFAULT = "        const default_action = refuse(REASON_UNKNOWN_JOB);\n"


def jobs():
    """Of 64 elements and of 128, with running tags; of published clients, of 32."""
    people = workers(7)
    return plan.Job(5, 64, 4, people[:3]), plan.Job(6, 128, 2, people[3:5]), plan.Job(7, 32, 2, people[5:], labelled=True)


def entries():
    """Of the table of senders, as P4 has them; with the rows that rig.Switch gives to these jobs."""
    chip, found = plan.CHIPS["tofino"], plan.always()
    areas = plan.Areas(chip.rows)
    for job in jobs():
        found += plan.plan(job, plan.Home(areas.take(plan.rows(job)), 1 + job.number, 1 + 64 * job.number, LOOP), chip).tables
    found = sorted((w for w in found if w.table == plan.SENDERS), key=lambda w: w.priority)
    return "".join(f"            ({', '.join(map(key, w.keys))}) : {w.action}({', '.join(map(str, w.arguments))});\n" for w in found)


def key(k):
    return "_" if k is None else f"{k[0]} &&& {k[1]}" if isinstance(k, tuple) else str(k)


def changes(fresh):
    """(file, how often, what is there, what p4testgen gets): value sets, checksums, predicates, hashes of XOR16, multicast groups, the
    number of a copy, and that metadata is 0 at first are what it does not have. Ranks and numbers of slots that no job has are left out, to
    be quicker."""
    yield "parser.p4", 1, "loops: again;", "" if fresh else f"{LOOP}: again;"
    yield "parser.p4", 1, "own_addresses: udp;", f"{SWITCH_IP:#x}: udp;"
    yield "parser.p4", 1, "md.ip_bad = ipv4_checksum.verify();", f"md.ip_bad = hdr.ipv4.checksum != {RIGHT:#x};"
    for older in (UNSIGNED, SIGNED):
        yield "newest.p4", 1, f"age = this.predicate(v.label == md.label, {older});", AGES.format(older=older)
    yield "newest.p4", 3, PLACE, SUM
    yield "newest.p4", 1, PLACE_AGAIN, SUM
    yield "senders.p4", 1, SKEW, SKEW_SUM
    yield "senders.p4", 1, DEFAULT, f"        const entries = {{\n{entries()}        }}\n{DEFAULT}"
    yield "verdict.p4", 1, "tm.mcast_grp_a = md.group;", "tm.ucast_egress_port = md.group[8:0];"
    yield "bridge.p4", 1, "tm.mcast_grp_a = FLOOD_GROUP;", f"tm.ucast_egress_port = {FLOOD_PORT};"
    yield "results.p4", 1, "        workers.apply();\n", ""
    yield "headers.p4", 1, "struct ingress_t {", "@pa_auto_init_metadata struct ingress_t {"
    yield "values.p4", 1, "EACH(HAS)", " ".join(f"HAS({rank})" for rank in range(max(len(job.workers) for job in jobs())))
    for bits in set(range(1, 14)) - {job.slots.bit_length() - 1 for job in jobs()}:
        yield "newest.p4", 1, f"SLOTS({bits}, {2 << bits - 1})", ""


def main():
    directory = Path(sys.argv[1])
    directory.mkdir(parents=True, exist_ok=True)
    for file in (ROOT / "p4").glob("*.p4"):
        shutil.copy(file, directory)
    for file, times, old, new in changes("--fresh" in sys.argv):
        text = (directory / file).read_text()
        assert text.count(old) == times, f"{file} has {text.count(old)} times, not {times}: {old}"
        (directory / file).write_text(text.replace(old, new))


if __name__ == "__main__":
    main()
