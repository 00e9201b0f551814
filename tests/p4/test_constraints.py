"""p4/constraints.py: what it says of our program, of others with a mistake each, and of a compiler's output."""
import json
import sys
import tempfile
import unittest
from pathlib import Path

from small import DEFAULTS, PROGRAM, ROOT

import compiled
import constraints

REGISTER = """Register<bit<32>, bit<16>>(16) r;
    RegisterAction<bit<32>, bit<16>, bit<32>>(r) one = { void apply(inout bit<32> v, out bit<32> rv) { v = v + 1; rv = v; } };
    RegisterAction<bit<32>, bit<16>, bit<32>>(r) two = { void apply(inout bit<32> v, out bit<32> rv) { rv = v; } };
    action go() { hdr.h.x = one.execute(0); } action more() { hdr.h.y = two.execute(1); }
    table t { key = { hdr.h.a : exact; } actions = { go; more; } const default_action = more(); }"""

ASSEMBLY = """version: 1.0
stage 0 ingress:
  ternary_match Ingress.senders.senders 0:
    p4: { name: Ingress.senders.senders, size: 2048 }
stage 1 ingress:
  hash_action Ingress.newest.ages 0:
    stateful: Ingress.newest.newest(hash_dist 0)
  stateful Ingress.newest.newest:
    p4: { name: Ingress.newest.newest, size: 16384 }
stage %d ingress:
  stateful Ingress.newest.newest$1:
    p4: { name: %s, size: 16384 }
"""


def text(**parts):
    with tempfile.NamedTemporaryFile("w", suffix=".p4") as file:
        file.write(PROGRAM.format(include="tna.p4", **{**DEFAULTS, **parts}))
        file.flush()
        return constraints.check_text(file.name, "tofino")


class Text(unittest.TestCase):
    def test_ours_keeps_to_it(self):
        for chip in constraints.CHIPS:
            self.assertEqual(constraints.check_text(ROOT / "p4/swagg.p4", chip), [])

    def test_a_register_on_two_branches(self):
        self.assertEqual(text(locals=REGISTER, body="if (hdr.h.a == 1) { go(); } else { more(); }"), [])
        self.assertEqual(text(locals=REGISTER, body="t.apply();"), [])

    def test_a_register_twice_on_one_way(self):
        for body in ("go(); more();", "if (hdr.h.a == 1) { go(); } more();", "t.apply(); go();", "if (t.apply().hit) { go(); }"):
            wrong = text(locals=REGISTER, body=body)
            self.assertEqual(wrong, ["C.r is executed 2 times on one way through C"], body)

    def test_a_register_twice_by_an_inner_control(self):
        inner = "control Inner(inout headers_t hdr) { " + REGISTER + " apply { go(); more(); } }"
        self.assertEqual(text(declarations=inner, locals="Inner() inner;", body="inner.apply(hdr);"),
                         ["C.inner.r is executed 2 times on one way through C"])

    def test_a_missing_advance(self):
        self.assertRegex(text(advance="")[0], r"p4:\d+: P does not skip")

    def test_what_is_refused_is_told(self):
        self.assertRegex(text(locals="Register<bit<64>, bit<16>>(16) r;")[0], "up to 32 bits")


def srams(n):
    return {"nColumns": 10, "nRows": 8, "srams": [{"column": i, "row": 0, "usages": []} for i in range(n)]}


def container(kind, *slices):
    return {"container_type": kind, "bit_width": 16, "slices": [{"slice_info": {"lsb": lsb, "msb": msb}} for lsb, msb in slices]}


class Output(unittest.TestCase):
    STAGE = {"tcams": {"nColumns": 2, "nRows": 12, "tcams": [{"column": 0, "row": 4}]},
             "logical_tables": {"size": 16, "ids": [{"id": 0}, {"id": 1}]}}
    LOGS = {"resources": {"compiler_version": "9.13.4", "resources": {"mau": {"nStages": 2, "mau_stages": [
                {"rams": srams(7), **STAGE}, {"rams": srams(2), **STAGE}]}}},
            "phv": {"containers": [container("normal", (0, 8), (0, 3)), container("normal", (12, 15)), container("tagalong", (0, 15))]},
            "power": {"total_latency": [{"gress": "ingress", "latency": 188}], "total_power": [{"gress": "ingress", "power": 28.74}]}}

    def check(self, assembly, logs=LOGS):
        with tempfile.TemporaryDirectory() as directory:
            where = Path(directory, "pipe/logs")
            where.mkdir(parents=True)
            Path(directory, "pipe/swagg.bfa").write_text(assembly)
            for name, log in logs.items():
                (where / f"{name}.json").write_text(json.dumps(log))
            return compiled.check(directory, "tofino")

    def test_the_table(self):
        wrong, rows = self.check(ASSEMBLY % (2, "Ingress.seen.seen"))
        self.assertEqual(wrong, [])
        self.assertEqual(rows, [("stages", 3, 12), ("stateful ALUs", 2, 48), ("SRAM blocks", 9, 960), ("TCAM blocks", 2, 288),
                                ("logical tables", 4, 192), ("PHV bits, normal", 13, 4096), ("PHV bits, tagalong", 16, 2048),
                                ("ingress latency, cycles", 188, None), ("ingress power, W", 28.7, None), ("compiler", "9.13.4", None)])

    def test_a_register_with_a_copy(self):
        wrong, _ = self.check(ASSEMBLY % (4, "Ingress.newest.newest"))
        self.assertEqual(wrong, ["Ingress.newest.newest has 2 copies, in stages 1, 4"])

    def test_too_many_stages(self):
        self.assertEqual(self.check(ASSEMBLY % (12, "Ingress.seen.seen"))[0], ["13 stages of 12"])

    def test_no_output(self):
        with tempfile.TemporaryDirectory() as directory:
            self.assertRegex(compiled.check(directory, "tofino")[0][0], r"has no \*\.bfa")
        wrong, _ = self.check(ASSEMBLY % (2, "Ingress.seen.seen"), {"resources": self.LOGS["resources"]})
        self.assertRegex(wrong[0], r"has no phv\.json")


if __name__ == "__main__":
    sys.exit(unittest.main())
