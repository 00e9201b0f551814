"""The interpreter of P4, on small programs with known answers."""
import sys
import unittest

from small import chip, packet, read, run

from interpreter.registers import ExecutedTwice
from interpreter.source import Refused
from interpreter.tables import TableError

REGISTER = "Register<pair_t, bit<16>>(16) r;"


def action(body, result="bit<32>", out="out bit<32> rv", name="act", register="r"):
    return f"RegisterAction<pair_t, bit<16>, {result}>({register}) {name} = {{ void apply(inout pair_t v, {out}) {{ {body} }} }};"


class Arithmetic(unittest.TestCase):
    def test_sums_wrap(self):
        self.assertEqual(run("hdr.h.x = hdr.h.x + hdr.h.y;", x=0xFFFFFFFF, y=2)["x"], 1)
        self.assertEqual(run("hdr.h.a = hdr.h.a - hdr.h.b;", a=1, b=2)["a"], 255)

    def test_saturating_sums_do_not(self):
        self.assertEqual(run("hdr.h.x = hdr.h.x |+| hdr.h.y;", x=0xFFFFFFFF, y=2)["x"], 0xFFFFFFFF)
        self.assertEqual(run("hdr.h.a = hdr.h.a |-| hdr.h.b;", a=1, b=2)["a"], 0)

    def test_bitwise_binds_closer_than_comparison(self):
        self.assertEqual(run("if (hdr.h.a & 1 == 1) { hdr.h.b = 7; }", a=3)["b"], 7)

    def test_slices_concatenation_and_shifts(self):
        self.assertEqual(run("hdr.h.c = hdr.h.a ++ hdr.h.b;", a=1, b=2)["c"], 0x102)
        self.assertEqual(run("hdr.h.d = hdr.h.c[11:8];", c=0xABCD)["d"], 0xB)
        self.assertEqual(run("hdr.h.c = hdr.h.c << 4;", c=0xABCD)["c"], 0xBCD0)
        self.assertEqual(run("hdr.h.a = ~hdr.h.a;", a=1)["a"], 254)

    def test_signed_comparison(self):
        body = "if ((int<32>)hdr.h.x < (int<32>)hdr.h.y) { hdr.h.a = 1; }"
        self.assertEqual(run(body, x=0xFFFFFFFF, y=0)["a"], 1)
        self.assertEqual(run(body, x=0x7FFFFFFF, y=0x80000000)["a"], 0)

    def test_macros_and_constants(self):
        made = chip(declarations="#define TWICE(v) (v + v)\nconst bit<8> THREE = 3;", body="hdr.h.a = TWICE(THREE);")
        self.assertEqual(read(made.send(1, packet())[0][1])["a"], 6)

    def test_wrong_widths_are_refused(self):
        for body in ("hdr.h.a = hdr.h.c;", "hdr.h.a = 256;", "hdr.h.a = hdr.h.a + hdr.h.c;", "if (hdr.h.a) { }"):
            with self.assertRaises(Refused, msg=body):
                chip(body=body)


class Parsing(unittest.TestCase):
    def test_headers_come_back_as_they_came(self):
        data = packet(1, 2, 3, 4, 5, 6, 7, b"payload")
        self.assertEqual(chip().send(1, data), [(9, data)])

    def test_a_short_packet_is_dropped(self):
        made = chip()
        self.assertEqual(made.send(1, packet()[:-1]), [])
        self.assertEqual(made.parser_drops, 1)

    def test_a_missing_advance_shows(self):
        data = packet(1, 2, 3)
        self.assertNotEqual(chip(advance="", body="hdr.h.b = 9;").send(1, data)[0][1][:len(data)], packet(1, 9, 3))

    def test_select_masks_value_sets_and_lookahead(self):
        made = chip(parser_locals="value_set<bit<8>>(1) chosen;",
                    parser="transition select(hdr.h.a, hdr.h.b) { (0x10 &&& 0xf0, 1): marked; (_, 2): peek; default: which; }",
                    states="state which { transition select(hdr.h.b) { chosen: marked; default: accept; } }"
                           "state peek { transition select(pkt.lookahead<bit<8>>()) { 77: marked; default: accept; } }"
                           "state marked { md.flag = 1; transition accept; }", body="hdr.h.a = md.flag;")
        flag = lambda a, b, rest=b"": made.send(1, packet(a=a, b=b, rest=rest))[0][1][0]  # noqa: E731
        self.assertEqual([flag(0x15, 1), flag(0x25, 1), flag(0, 2, b"M"), flag(0, 2, b"N"), flag(0, 3)], [1, 0, 1, 0, 0])
        made.program.value_sets["P.chosen"].add(3)
        self.assertEqual(flag(0, 3), 1)
        with self.assertRaises(ValueError):
            made.program.value_sets["P.chosen"].add(4)

    def test_only_valid_headers_are_emitted(self):
        self.assertEqual(chip(body="hdr.h.setInvalid();").send(1, packet(rest=b"x")), [(9, b"x")])
        out = chip(body="hdr.again.setValid(); hdr.again.a = 5;").send(1, packet())[0][1]
        self.assertEqual((len(out), out[13]), (26, 5))

    def test_checksums(self):
        verify = chip(parser_locals="Checksum() sum;", body="hdr.h.d = (bit<4>)md.flag;",
                      parser="sum.add({hdr.h.a, hdr.h.b, hdr.h.c, hdr.h.x}); md.flag = (bit<8>)(bit<1>)sum.verify(); transition accept;")
        self.assertEqual([read(verify.send(1, packet(a=0x12, b=0x34, c=c, x=0x00010002))[0][1])["d"] for c in (0xEDC8, 0xEDC9)], [0, 1])
        made = chip(deparser_locals="Checksum() sum;", deparser="hdr.h.c = sum.update({hdr.h.a, hdr.h.b, hdr.h.x});")
        self.assertEqual(read(made.send(1, packet(a=0xFF, b=0xFE, x=0x00010001))[0][1])["c"], 0xFFFF - ((0xFFFE + 2) % 0xFFFF))


class Matching(unittest.TestCase):
    LOCALS = """action set(bit<8> v) { hdr.h.b = v; } action none() { hdr.h.b = 99; }
        table t { key = { hdr.h.a : %s; } actions = { set; none; } const default_action = none(); size = 2; }"""

    def test_exact(self):
        made = chip(locals=self.LOCALS % "exact", body="if (t.apply().hit) { hdr.h.c = 1; }")
        table = made.program.tables["C.t"]
        table.add((5,), "set", (7,))
        outcome = lambda a: (lambda f: (f["b"], f["c"]))(read(made.send(1, packet(a=a))[0][1]))  # noqa: E731
        self.assertEqual((outcome(5), outcome(6)), ((7, 1), (99, 0)))
        table.remove((5,))
        self.assertEqual(outcome(5), (99, 0))

    def test_ternary_takes_the_first_by_priority(self):
        made = chip(locals=self.LOCALS % "ternary", body="t.apply();")
        table = made.program.tables["C.t"]
        table.add(((0x10, 0xF0),), "set", (1,), priority=2)
        table.add((0x15,), "set", (2,), priority=1)
        b = lambda a: made.send(1, packet(a=a))[0][1][1]  # noqa: E731
        self.assertEqual((b(0x15), b(0x16), b(0x26)), (2, 1, 99))

    def test_entries_that_do_not_fit(self):
        table = chip(locals=self.LOCALS % "exact", body="t.apply();").program.tables["C.t"]
        for keys, name, arguments in (((256,), "set", (1,)), ((1,), "set", (256,)), ((1,), "set", ()), ((1,), "other", ()),
                                      (((1, 2),), "set", (1,))):
            with self.assertRaises(TableError):
                table.add(keys, name, arguments)
        table.add((1,), "none")
        table.add((2,), "none")
        with self.assertRaisesRegex(TableError, "full"):
            table.add((3,), "none")

    def test_actions_for_no_entry(self):
        locals_ = """action set(bit<8> v) { hdr.h.b = v; } action none() { hdr.h.b = 99; }
            table t { key = { hdr.h.a : exact; } actions = { set; @defaultonly none; } %s const default_action = none(); }"""
        made = chip(locals=locals_ % "", body="t.apply();")
        with self.assertRaisesRegex(TableError, "none is for what no entry matches"):
            made.program.tables["C.t"].add((1,), "none")
        self.assertEqual(made.send(1, packet(a=1))[0][1][1], 99)
        with self.assertRaisesRegex(Refused, "none is for what no entry matches"):
            chip(locals=locals_ % "const entries = { 1 : none(); }", body="t.apply();")

    def test_entries_of_the_program(self):
        locals_ = """action set(bit<8> v) { hdr.h.b = v; }
            table t { key = { hdr.h.a : ternary; hdr.h.isValid() : ternary; } actions = { set; NoAction; }
                const entries = { (1, true) : set(3); (_, _) : set(4); } const default_action = NoAction(); }"""
        made = chip(locals=locals_, body="t.apply();")
        self.assertEqual([made.send(1, packet(a=a))[0][1][1] for a in (1, 2)], [3, 4])
        with self.assertRaises(TableError):
            made.program.tables["C.t"].add((1, 1), "set", (1,))


class Registers(unittest.TestCase):
    def chip(self, body, kind="tofino", **how):
        return chip(kind, locals=REGISTER + action(body, **how) + "action go() { hdr.h.y = act.execute(hdr.h.c); }", body="go();")

    def test_words_add_up(self):
        made = self.chip("v.lo = v.lo + hdr.h.x; v.hi = max(v.hi, hdr.h.x); rv = v.lo;")
        results = [read(made.send(1, packet(c=3, x=x))[0][1])["y"] for x in (5, 0xFFFFFFFF, 1)]
        self.assertEqual(results, [5, 4, 5])
        self.assertEqual(made.program.registers["C.r"].read(3), (5, 0xFFFFFFFF))

    def test_the_result_before_the_change(self):
        made = self.chip("rv = v.lo; v.lo = hdr.h.x;")
        self.assertEqual([read(made.send(1, packet(x=x))[0][1])["y"] for x in (5, 6)], [0, 5])

    def test_predicate_is_one_hot(self):
        made = self.chip("rv = this.predicate(v.lo == hdr.h.x, v.lo < hdr.h.x); if (v.lo < hdr.h.x) { v.lo = hdr.h.x; }")
        self.assertEqual([read(made.send(1, packet(x=x))[0][1])["y"] for x in (5, 5, 4)], [4, 2, 1])

    def test_two_results_on_tofino_2_only(self):
        locals_ = REGISTER + action("v.lo = v.lo + hdr.h.x; rv = v.lo; rv2 = v.hi;", out="out bit<32> rv, out bit<32> rv2")
        locals_ += "action go() { hdr.h.y = act.execute(hdr.h.c, hdr.h.x); }"
        made = chip("tofino2", locals=locals_, body="go();")
        made.program.registers["C.r"].write(2, 1, 8)
        got = read(made.send(1, packet(c=2, x=5))[0][1])
        self.assertEqual((got["y"], got["x"]), (6, 8))
        with self.assertRaisesRegex(Refused, "results"):
            chip("tofino", locals=locals_, body="go();")

    def test_executed_twice_on_one_way(self):
        locals_ = REGISTER + action("v.lo = v.lo + 1; rv = v.lo;") + action("rv = v.lo;", name="other")
        locals_ += "action go() { hdr.h.y = act.execute(0); } action more() { hdr.h.x = other.execute(1); }"
        made = chip(locals=locals_, body="go(); if (hdr.h.a == 1) { more(); }")
        made.send(1, packet())
        made.send(1, packet())  # another packet is another way
        with self.assertRaises(ExecutedTwice):
            made.send(1, packet(a=1))

    def test_what_its_alu_cannot_do_is_refused(self):
        for body, why in (
                ("if (v.lo == 1) { v.lo = 2; } if (v.lo == 3) { v.hi = 2; } if (v.hi == 1) { v.lo = 1; } rv = v.lo;", "comparisons"),
                ("if (hdr.h.x == hdr.h.y) { v.lo = 1; } rv = v.lo;", "more than one field"),
                ("v.lo = v.lo * 2; rv = v.lo;", "cannot"),
                ("v.lo = v.lo + v.hi + hdr.h.x; rv = v.lo;", "operation"),
                ("if (v.lo == 0) { rv = v.lo; } else { rv = v.hi; }", "two sources"),
                ("rv = 1;", "as it is"),
                ("hdr.h.x = v.lo; rv = v.lo;", "written"),
                ("if (v.lo == hdr.h.x) { v.lo = hdr.h.y; } v.hi = v.hi + md.m; rv = v.lo;", "fed with")):
            with self.assertRaisesRegex(Refused, why, msg=body):
                self.chip(body)

    def test_registers_that_do_not_exist(self):
        for declared in ("Register<bit<64>, bit<16>>(16) r;", "Register<bit<32>, bit<32>>(262144) r;",
                         "Register<three_t, bit<16>>(16) r;"):
            with self.assertRaises(Refused, msg=declared):
                chip(declarations="struct three_t { bit<32> a; bit<32> b; bit<32> c; }", locals=declared)
        five = REGISTER + "".join(action("rv = v.lo;", name=f"a{i}") for i in range(5))
        with self.assertRaisesRegex(Refused, "more than 4"):
            chip(locals=five)

    def test_an_index_out_of_range(self):
        with self.assertRaises(IndexError):
            self.chip("rv = v.lo;").send(1, packet(c=16))


class Chips(unittest.TestCase):
    def test_a_packet_that_goes_round(self):
        made = chip(body="hdr.h.a = hdr.h.a + 1; if (hdr.h.a < 4) { tm.ucast_egress_port = 68; } hdr.h.c = (bit<16>)ig.ingress_port;")
        made.loops.add(68)
        (port, out), = made.send(3, packet())
        self.assertEqual((port, read(out)["a"], read(out)["c"], made.passes), (9, 4, 68, 4))

    def test_a_packet_that_waits_can_be_lost(self):
        made = chip(body="tm.ucast_egress_port = 68;")
        made.loops.add(68)
        self.assertEqual((made.step(3, packet()), len(made.waiting)), ([], 1))

    def test_copies(self):
        made = chip(body="tm.ucast_egress_port = 0x1ff; tm.mcast_grp_a = 5; tm.level1_exclusion_id = (bit<16>)ig.ingress_port; tm.bypass_egress = 0;")
        made.groups[5], made.excluded[5] = [(100, 1), (101, 2)], {101: 2}
        self.assertEqual([(p, read(d)["c"]) for p, d in made.send(1, packet())], [(1, 100), (2, 101)])
        self.assertEqual([(p, read(d)["c"]) for p, d in made.send(2, packet())], [(1, 100)])

    def test_drops_digests_and_counters(self):
        made = chip(declarations="struct seen_t { bit<8> a; bit<16> c; }", locals="Counter<bit<64>, bit<8>>(8, CounterType_t.PACKETS) n;",
                    body="n.count(hdr.h.a); deparser.drop_ctl = 1; deparser.digest_type = 2;",
                    deparser_locals="Digest<seen_t>() learn;",
                    deparser="if (deparser.digest_type == 2) { learn.pack({hdr.h.a, hdr.h.c}); }")
        self.assertEqual(made.send(1, packet(a=3, c=7)), [])
        self.assertEqual((made.digests, made.program.counters["C.n"].counts[3]), ([(3, 7)], 1))

    def test_hashes(self):
        locals_ = "Hash<bit<16>>(HashAlgorithm_t.XOR16) f; Hash<bit<16>>(HashAlgorithm_t.IDENTITY) g;"
        body = "hdr.h.x = 16w0 ++ f.get({hdr.h.c, 8w0, hdr.h.a}); hdr.h.c = g.get({hdr.h.a, hdr.h.b});"
        got = run(body, locals_=locals_, a=0x0F, b=2, c=0x1111)
        self.assertEqual((got["x"], got["c"]), (0x111E, 0x0F02))


class Unknown(unittest.TestCase):
    def test_advice_on_containers_is_known_and_no_other(self):
        struct = ' @pa_container_size("ingress", "hdr.h.x", {}) struct more_t {{ bit<8> n; }}'
        self.assertEqual(len(chip(declarations=struct.format(16)).send(1, packet())), 1)
        for wrong in (struct.format(17), struct.format(16).replace("container_size", "solitary")):
            with self.assertRaisesRegex(Refused, "syntax error"):
                chip(declarations=wrong)

    def test_what_is_not_known_is_refused_and_named(self):
        for parts, why in (
                ({"locals": "Meter<bit<8>>(4, MeterType_t.BYTES) m;"}, "not known"),
                ({"locals": "Hash<bit<16>>(HashAlgorithm_t.CRC16) f;", "body": ""}, "CRC16"),
                ({"body": "hdr.h.push();"}, "push"),
                ({"body": "hdr.h.q = 1;"}, "no value|written"),
                ({"body": "nothing.apply();"}, "not declared"),
                ({"body": "tm.copy_to_cpu = 1;"}, "cannot be written"),
                ({"body": "switch (hdr.h.a) { 1: { } }"}, "syntax error"),
                ({"locals": "table t { key = { hdr.h.a : lpm; } actions = { NoAction; } }", "body": "t.apply();"}, "lpm"),
                ({"locals": "table t { key = { hdr.h.a : exact; } actions = { NoAction; } idle_timeout = true; }", "body": "t.apply();"},
                 "idle_timeout"),
                ({"parser": "transition nowhere;"}, "nowhere")):
            with self.assertRaisesRegex(Refused, why, msg=str(parts)) as caught:
                chip(**parts)
            self.assertRegex(str(caught.exception), r"\.p4:\d+: ")


if __name__ == "__main__":
    sys.exit(unittest.main())
