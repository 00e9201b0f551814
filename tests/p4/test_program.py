"""The P4 program where it stands alone: what the core does not have (passes, ports, frames that are switched), and what
workers must not do. Sums are checked against the packets that were sent."""
import random
import shutil
import sys
import tempfile
import unittest
from pathlib import Path

import side_by_side
from crowd import Crowd
from rig import DATA_PORT, LOOP, ROOT, SWITCH_IP, SWITCH_MAC, Switch, data, frame, result, workers

from control import plan
from interpreter.tables import TableError

PEOPLE = workers(3)
CPU = 100


def job(elements=64, slots=4, people=PEOPLE, **more):
    return plan.Job(5, elements, slots, people, **more)


def packet(rank_value, tag, elements=64, slots=4, count=None, number=5):
    return data(elements, number, tag, tag // slots % 2, tag % slots, rank_value, 0, [rank_value] * (elements if count is None else count))


class Passes(unittest.TestCase):
    # elements: passes of a contribution, of the last one, of an answer; docs/tofino.md has the same numbers
    WANTED = {"tofino": {32: (1, 2, 2), 64: (1, 2, 2), 128: (2, 5, 5), 256: (4, 11, 11)},
              "tofino2": {32: (1, 1, 1), 64: (1, 1, 1), 128: (2, 3, 3), 256: (4, 7, 7)}}

    def test_passes_of_a_packet(self):
        for chip, sizes in self.WANTED.items():
            for elements, wanted in sizes.items():
                switch, found = Switch(chip), []
                switch.open(job(elements, people=PEOPLE[:2]))
                for rank in (0, 1, 1):
                    before = switch.chip.passes
                    switch.send(PEOPLE[rank], packet(rank + 1, 0, elements))
                    found.append(switch.chip.passes - before)
                self.assertEqual(tuple(found), wanted, (chip, elements))

    def run_crowd(self, chip, seed, shape, between):
        """A crowd whose packets meet between their passes; between(switch) may lose some of them there."""
        r = random.Random(seed)
        switch, crowd = Switch(chip), Crowd(r, [shape])
        people = workers(shape[0])
        switch.open(crowd.begin(0, people).job)
        ranks = crowd.ranks[0]
        for _ in range(6000):
            found = crowd.move()
            out = switch.chip.step(found[0].egress, frame(*found)) if found else []
            between(switch, r)
            while switch.chip.waiting and r.random() < 0.95:
                out += switch.chip.step(*switch.chip.waiting.popleft())
            for port, data_ in out:
                if r.random() > 0.1 and not ranks[port].receive(data_[42:]):
                    self.assertNotIn(data_[42:50], [x.life.packet(i, 0)[:8] for x in ranks for i in range(x.whole, x.sent)],
                                     f"a wrong sum, seed {seed}")
            if min(x.whole for x in ranks) >= 25:
                return
        self.fail(f"no progress, seed {seed}")

    def test_packets_that_meet_between_their_passes(self):
        for chip in plan.CHIPS:
            self.run_crowd(chip, 1, (3, 256, 4, False), lambda switch, r: None)

    def test_packets_that_are_lost_between_their_passes(self):
        def lose(switch, r):
            if switch.chip.waiting and r.random() < 0.05:
                del switch.chip.waiting[r.randrange(len(switch.chip.waiting))]

        for chip in plan.CHIPS:
            self.run_crowd(chip, 2, (3, 128, 4, False), lose)
            self.run_crowd(chip, 3, (2, 256, 2, True), lose)

    def test_a_job_in_another_pipe(self):
        loop = 128 + LOOP
        for chip in plan.CHIPS:
            switch = Switch(chip)
            switch.chip.loops.add(loop)
            switch.chip.program.value_sets["IngressParser.loops"].add(loop)
            for elements in plan.ELEMENTS:
                made = plan.Job(elements % 251, elements, 2, PEOPLE[:2])
                switch.open(made, home=plan.Home(base=0, group=9, rid=900, loop=loop, pipes=4))
                sent = [packet(rank + 1, 0, elements, 2, number=made.number) for rank in range(2)]
                self.assertEqual(switch.send(PEOPLE[0], sent[0]), ("held", []))
                reason, out = switch.send(PEOPLE[1], sent[1])
                want = sent[1][:8] + bytes([2, 0]) + (3).to_bytes(4, "big") * elements
                self.assertEqual((reason, dict(out)), ("send_all", {w.egress: result(w, want) for w in PEOPLE[:2]}))
                switch.close(made.number)


class Workers(unittest.TestCase):
    """Workers that do not keep to the protocol, and copies that come very late: never a wrong sum."""

    def setUp(self):
        self.switch = Switch()
        self.switch.open(job(people=PEOPLE[:2]))

    def send(self, rank, *payload, **more):
        return self.switch.send(PEOPLE[rank], packet(*payload, **more))

    def whole(self, tag):
        for rank in range(2):
            answer = self.send(rank, rank + 1, tag)
        return answer

    def test_a_copy_that_is_late_by_any_number_of_rounds(self):
        for tag in range(0, 64, 4):
            self.assertEqual(self.whole(tag)[0], "send_all")
            for late in range(0, tag - 4, 4):
                self.assertEqual(self.send(0, 77, late), ("drop_stale", []), (tag, late))

    def test_a_late_copy_while_the_next_chunk_is_collected(self):
        self.whole(0)
        self.whole(4)
        self.send(0, 1, 8)
        self.assertEqual(self.send(1, 50, 0)[0], "drop_stale")
        reason, out = self.send(1, 2, 8)
        self.assertEqual((reason, out[0][1][52:56]), ("send_all", b"\0\0\0\3"))

    def test_a_rank_that_is_ahead_makes_the_others_wait(self):
        self.send(0, 1, 0)
        self.assertEqual(self.send(0, 9, 8)[0], "held")  # the core: drop_ahead
        self.assertEqual(self.send(1, 2, 0), ("drop_stale", []))
        self.assertEqual(self.send(1, 2, 8)[1][0][1][52:56], b"\0\0\0\x0b")  # of what both sent for chunk 8

    def test_a_rank_that_sends_exponents_only_where_another_sends_elements(self):
        for first, second in ((0, 64), (64, 0)):
            switch = Switch()
            switch.open(job(people=PEOPLE[:2]))
            outcome = [switch.send(PEOPLE[0], packet(1, 0, count=first)), switch.send(PEOPLE[1], packet(2, 0, count=second)),
                       switch.send(PEOPLE[0], packet(1, 0, count=first))]
            self.assertEqual([out for _, out in outcome], [[], [], []])

    def test_sizes_that_are_not_the_jobs(self):
        for elements in (32, 128, 256):
            self.assertEqual(self.send(0, 1, 0, elements), ("drop_bad_length", []))
        self.assertEqual(self.switch.send(PEOPLE[0], bytes([0x18]) + packet(1, 0)[1:]), ("sml_bad_length", []))

    def test_strangers(self):
        self.assertEqual(self.switch.send(PEOPLE[2], packet(1, 0)), ("sml_foreign_sender", []))
        self.assertEqual(self.switch.send(PEOPLE[0], packet(1, 0, number=6)), ("sml_unknown_job", []))
        self.assertEqual(self.switch.send(PEOPLE[0], packet(1, 0), ip_checksum=1), ("ip_checksum", []))
        self.assertEqual([self.send(rank, rank + 1, 0)[0] for rank in range(2)], ["held", "send_all"])

    def test_an_ended_job_leaves_nothing(self):
        self.send(0, 1, 0)
        self.switch.close(5)
        self.assertEqual(self.send(1, 2, 0), ("sml_unknown_job", []))
        self.switch.open(job(people=PEOPLE[:2]))
        self.assertEqual(self.send(1, 5, 0), ("held", []))
        self.assertEqual(self.send(0, 6, 0)[1][0][1][52:56], b"\0\0\0\x0b")


class Frames(unittest.TestCase):
    """What is not for the data ports is switched as by any switch."""

    def setUp(self):
        self.switch = Switch()
        chip = self.switch.chip
        self.tables = chip.program.tables
        chip.groups[0xFFFF] = [(p, p) for p in (0, 1, 2, CPU)]
        chip.excluded[0xFFFF] = {p: p for p in (0, 1, 2, CPU)}
        self.tables["Ingress.bridge.destinations"].add((SWITCH_MAC,), "forward", (CPU,))

    def frame(self, dst, src, rest=b"\x08\x06" + bytes(46)):
        return dst.to_bytes(6, "big") + src.to_bytes(6, "big") + rest

    def test_flooding_learning_and_forwarding(self):
        chip, a, b = self.switch.chip, 0x02000000AAAA, 0x02000000BBBB
        self.assertEqual([p for p, _ in chip.send(1, self.frame(b, a))], [0, 2, CPU])
        self.assertEqual(chip.digests.pop(), (a, 1))
        self.tables["Ingress.bridge.sources"].add((a,), "known", (1,))
        self.tables["Ingress.bridge.destinations"].add((a,), "forward", (1,))
        self.assertEqual(chip.send(2, self.frame(a, b)), [(1, self.frame(a, b))])
        self.assertEqual(chip.digests.pop(), (b, 2))
        self.assertEqual([p for p, _ in chip.send(1, self.frame(b, a))], [0, 2, CPU])
        self.assertEqual(chip.digests, [])  # known, and where it was
        chip.send(0, self.frame(b, a))
        self.assertEqual(chip.digests, [(a, 0)])  # moved

    def test_no_entry_has_the_action_of_what_no_entry_matches(self):
        for table, action in (("Ingress.bridge.sources", "unknown"), ("Ingress.bridge.destinations", "flood"),
                              ("Results.workers", "NoAction")):
            with self.subTest(table), self.assertRaisesRegex(TableError, f"{action} is for what no entry matches"):
                self.tables[table].add((0x02000000AAAA & (1 << self.tables[table].keys[0][2]) - 1,), action)

    def test_frames_that_stay(self):
        chip, a = self.switch.chip, 0x02000000AAAA
        self.tables["Ingress.bridge.destinations"].add((a,), "forward", (1,))
        self.assertEqual(chip.send(1, self.frame(a, 0x020000000001)), [])
        self.assertEqual(chip.send(1, self.frame(0x0180C2000003, a)), [])
        self.assertEqual([self.switch.counts[n] for n in (13, 14)], [1, 1])

    def test_what_goes_to_the_control_process(self):
        w = PEOPLE[0]
        for sent in (frame(w, b"SWAG" + bytes(60), dst_port=0xBEDF),  # control
                     frame(w, bytes([0x94]) + bytes(99)),  # a path probe
                     frame(w, bytes([0x34]) + bytes(9)),  # a PROBE
                     frame(w, packet(1, 0), fragment=0x2000),  # a fragment
                     frame(w, packet(1, 0), dst_port=DATA_PORT + 16)):
            self.assertEqual(self.switch.chip.send(w.egress, sent), [(CPU, sent)])
        other = frame(w, packet(1, 0), dst_ip=SWITCH_IP + 1)
        self.assertEqual(self.switch.chip.send(w.egress, other), [(CPU, other)])


class Plans(unittest.TestCase):
    def test_jobs_that_do_not_fit(self):
        chip = plan.CHIPS["tofino"]
        for bad, why in ((job(elements=65), "elements"), (job(people=workers(33)), "33 workers"), (job(slots=3), "power of two"),
                         (job(slots=16384), "rows"), (job(elements=256, slots=4096), "rows"),
                         (job(labelled=True, first_slot=2, span=8), "multiple")):
            with self.assertRaisesRegex(plan.DoesNotFit, why):
                plan.check(bad, chip)
        with self.assertRaisesRegex(plan.DoesNotFit, "16384 slots: at most 8192"):
            plan.check(job(slots=16384), plan.CHIPS["tofino2"])
        plan.check(job(slots=8192), chip)
        plan.check(job(elements=256, slots=2048), chip)

    def test_areas_are_joined_again(self):
        areas, r = plan.Areas(1024), random.Random(3)
        held = []
        for _ in range(300):
            length = 1 << r.randrange(2, 9)
            base = areas.take(length)
            if base is not None:
                self.assertEqual(base % length, 0)
                self.assertFalse([h for h in held if h[0] < base + length and base < h[0] + h[1]])
                held.append((base, length))
            if held and r.random() < 0.5:
                areas.give(*held.pop(r.randrange(len(held))))
        for h in held:
            areas.give(*h)
        self.assertEqual(areas.take(1024), 0)

    def test_threads_of_published_clients(self):
        """Each thread of a client has slots and a port of its own, and gets its results there."""
        switch = Switch()
        base = switch.areas.take(2 * 8)
        for thread in range(2):
            people = tuple(plan.Worker(w.ip, w.port + 100 * thread, w.mac, w.egress) for w in PEOPLE[:2])
            made = plan.Job(20 + thread, 64, 4, people, labelled=True, first_slot=4 * thread, span=8)
            switch.open(made, home=plan.Home(base=base, group=20 + thread, rid=64 * (20 + thread), loop=LOOP))
        for thread in range(2):
            for rank in range(2):
                w = switch.homes[20 + thread][0].workers[rank]
                reason, out = switch.send(w, data(64, 0, 0, 0, 4 * thread, 0, 0, [rank + 1] * 64))
            self.assertEqual((reason, out[0][1][36:38]), ("send_all", (PEOPLE[0].port + 100 * thread).to_bytes(2, "big")))
            self.assertEqual(switch.send(w, data(64, 0, 0, 0, 4 - 4 * thread, 0, 0, [1] * 64))[0], "drop_bad_slot")


class Mutants(unittest.TestCase):
    """Programs with a mistake in them, which the comparison with the core must notice."""

    MISTAKES = (("values.p4", "v.a = v.a + a;", "v.a = v.a |+| a;"),
                ("values.p4", "(STEP_ADD, AGE_NEWER, _, _) : start();", "(STEP_ADD, AGE_NEWER, _, _) : add();"),
                ("seen.p4", "v.e1 = max(v.e1, (bit<32>)md.e1);", "v.e1 = (bit<32>)md.e1;"),
                ("newest.p4", "(STEP_ADD, 0, _, _, _) : among_outer();", "(STEP_ADD, 0, _, _, _) : among_inner();"),
                ("newest.p4", "(STEP_ADD, 0, _, _, SECOND_QUARTER) : among_inner();", ""),
                ("newest.p4", "(STEP_ADD, 0, _, _, THIRD_QUARTER) : among_inner();", ""),
                ("senders.p4", "md.e0 = hdr.switchml.e0 ^ 0x80;", "md.e0 = hdr.switchml.e0;"),
                ("newest.p4", "0 &&& (2 * version - 1), _) : among_outer();", "_, _) : among_outer();"))

    def test_each_is_noticed(self):
        for file, right, wrong in self.MISTAKES:
            with tempfile.TemporaryDirectory() as folder, self.subTest(file=file, wrong=wrong):
                for source in (ROOT / "p4").glob("*.p4"):
                    shutil.copy(source, folder)
                text = (ROOT / "p4" / file).read_text()
                self.assertIn(right, text)
                (Path(folder) / file).write_text(text.replace(right, wrong))
                self.assertTrue(self.notices(f"{folder}/swagg.p4"), f"not noticed: {wrong}")

    def notices(self, program):
        for seed in range(20):
            pair = side_by_side.Pair(CORE, "tofino", seed, program, spoiled=0.2)
            try:
                while pair.sent < 400:
                    pair.step()
            except side_by_side.Differs:
                return True
            finally:
                pair.stop()
        return False


if __name__ == "__main__":
    CORE = sys.argv.pop(1)
    sys.exit(unittest.main())
