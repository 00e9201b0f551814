"""What control writes, by BF Runtime, to a switch that checks each write against the program."""
import contextlib
import io
import json
import random
import sys
import tempfile
import unittest
from dataclasses import replace
from pathlib import Path
from unittest import mock

import fake_bfrt
from rig import LOOP, ROOT, SWITCH_IP, SWITCH_MAC, data, frame, result, workers

from control import plan
from control.bfrt import Bfrt, SwitchError
from control.reasons import NAMES
from control.requests import Requests as Asked
from control.requests import shown
from control.stations import ADDRESSES, DESTINATIONS, FIXED, SOURCES, Stations
from control.switch import FLOOD_COPIES, Place, Port, Tofino
from interpreter.chip import Chip

CPU, PEOPLE = 100, workers(3)
PLACE = Place(SWITCH_MAC, SWITCH_IP, (Port(0, "100g", "rs"), Port(1, "25g"), Port(2)))


def packet(value, tag=0, number=5):
    return data(64, number, tag, tag // 4 % 2, tag % 4, value, 0, [value] * 64)


class Killed(BaseException):
    """The process is gone; nothing of it goes on."""


class Mortal:
    """A switch's client that is killed when it has written so often."""

    def __init__(self, bfrt):
        self.bfrt, self.left = bfrt, None

    def __getattr__(self, name):
        if self.left is not None and name in ("add", "put", "remove", "discard", "add_value", "set_registers", "add_group", "remove_group", "lead_copy", "port_up",
                                              "port_down"):
            if self.left == 0:
                raise Killed
            self.left -= 1
        return getattr(self.bfrt, name)


class Rig(unittest.TestCase):
    """A switch and its control."""

    def setUp(self):
        self.people = PEOPLE
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.state = Path(folder.name) / "state"
        self.new_chip()
        self.switch = self.start()

    def new_chip(self):
        self.chip = Chip(ROOT / "p4/swagg.p4")
        self.chip.loops.add(LOOP)
        self.tables = self.chip.program.tables
        fake_bfrt.connect("switch:50052", self.chip)

    def connect(self, writes=None, cpu=CPU, **more):
        """writes: after so many, it is killed."""
        mortal = Mortal(Bfrt(fake_bfrt, "switch:50052", "swagg"))
        mortal.left = writes
        return Tofino(mortal, "tofino", (LOOP,), cpu, state=self.state, **more)

    def start(self, writes=None, place=PLACE):
        switch = self.connect(writes)
        switch.set_up(place)
        return switch

    def job(self, **more):
        return plan.Job(5, 64, 4, self.people, **more)

    def contribute(self, rank, value, tag=0):
        return self.chip.send(self.people[rank].egress, frame(self.people[rank], packet(value, tag)))

    def sum_of_all(self, tag=0):
        for rank in range(3):
            out = self.contribute(rank, rank + 1, tag)
        want = packet(0, tag)[:8] + bytes([3, 0]) + (6).to_bytes(4, "big") * 64
        self.assertEqual(dict(out), {w.egress: result(w, want) for w in self.people})

    def sum_from(self, people, tag):
        """Who gets the sum, and by which MAC address."""
        for rank, w in enumerate(people):
            out = self.chip.send(w.egress, frame(w, packet(rank + 1, tag)))
        return {port: f[:6] for port, f in out}

    def entries(self):
        return {name: len(t.entries) for name, t in self.tables.items() if not t.fixed}

    def ethernet(self, dst, src):
        return dst.to_bytes(6, "big") + src.to_bytes(6, "big") + b"\x08\x06" + bytes(46)


class Control(Rig):
    def test_a_job_from_beginning_to_end(self):
        before, groups = self.entries(), set(self.chip.groups)
        self.switch.open(self.job())
        self.sum_of_all()
        self.contribute(0, 1, 1)
        self.assertEqual(self.switch.counters()["send_all"], 1)
        self.assertEqual(self.switch.counters()["held"], 3)
        shown = {(s["slot"], s["version"]): s["ranks"] for s in self.switch.slots(5)}
        self.assertEqual((shown[0, 0], shown[1, 0], shown[2, 0]), ([0, 1, 2], [0], []))
        self.switch.close(5)
        self.assertEqual((self.entries(), set(self.chip.groups)), (before, groups))
        self.assertEqual(self.chip.nodes.keys(), {FLOOD_COPIES + p for p in (0, 1, 2, CPU)})

    def test_a_new_life_of_control_goes_on(self):
        self.switch.open(self.job())
        self.contribute(0, 1)
        self.switch = self.start()
        self.contribute(1, 2)
        self.assertEqual(dict(self.contribute(2, 3))[0][52:56], (6).to_bytes(4, "big"))
        with self.assertRaisesRegex(plan.DoesNotFit, "there is a job 5"):
            self.switch.open(self.job())
        self.switch.open(plan.Job(6, 32, 2, workers(2, 10)))
        bases = [(home.base, plan.rows(job)) for job, home in self.switch.jobs.values()]
        self.assertTrue(bases[0][0] + bases[0][1] <= bases[1][0] or bases[1][0] + bases[1][1] <= bases[0][0])
        self.switch.close(5)
        self.switch.close(6)

    def lives(self, does):
        """Lives that are killed earlier and later while they do something, and then one that is not."""
        for writes in range(1000):
            switch = self.start()
            switch.bfrt.left = writes
            try:
                does(switch)
                return
            except Killed:
                yield
        self.fail("it goes on for ever")

    def everything(self):
        return self.entries(), set(self.chip.groups), set(self.chip.nodes)

    def test_results_follow_a_worker_that_is_plugged_in_elsewhere(self):
        self.people = tuple(replace(w, mac=0x020000000001 + w.egress) for w in PEOPLE)
        self.switch.open(self.job())
        self.sum_of_all()
        moved = replace(self.people[1], egress=3)
        self.chip.send(3, self.ethernet(SWITCH_MAC, moved.mac))
        self.switch.learn(0)
        people = (self.people[0], moved, self.people[2])
        want = {w.egress: w.mac.to_bytes(6, "big") for w in people}
        self.assertEqual(self.sum_from(people, 1), want)
        self.switch = self.start()
        self.assertEqual(self.sum_from(people, 2), want)
        self.switch.close(5)

    def test_control_is_killed_once_it_has_learnt_where_a_worker_is(self):
        self.people = tuple(replace(w, mac=0x020000000001 + w.egress) for w in PEOPLE)
        self.switch.open(self.job())
        moved = replace(self.people[1], egress=3)
        self.chip.send(3, self.ethernet(SWITCH_MAC, moved.mac))
        with mock.patch.object(Tofino, "_follow", side_effect=Killed):
            self.assertRaises(Killed, self.switch.learn, 0)
        self.start()
        people = (self.people[0], moved, self.people[2])
        self.assertEqual(self.sum_from(people, 0), {w.egress: w.mac.to_bytes(6, "big") for w in people})

    def test_results_follow_a_worker_although_control_is_killed(self):
        self.switch.open(self.job())
        here, there = self.people[1], replace(self.people[1], mac=0x02000000CCCC, egress=3)
        for tag, w in enumerate((there, here) * 4):
            for _ in self.lives(lambda switch: switch.move(5, 1, w.mac, w.egress)):
                pass
            people = (self.people[0], w, self.people[2])
            self.assertEqual(self.sum_from(people, tag), {w.egress: w.mac.to_bytes(6, "big") for w in people})

    def test_what_a_killed_life_has_begun_to_open_is_taken_out(self):
        before, lives = self.everything(), 0
        for _ in self.lives(lambda switch: switch.open(self.job())):
            self.assertEqual(self.start().jobs, {})
            self.assertEqual(self.everything(), before)
            lives += 1
        self.assertGreater(lives, 20)
        self.switch = self.start()
        self.sum_of_all()

    def test_what_a_killed_life_has_begun_to_close_is_taken_out(self):
        before = self.everything()

        def one_more(switch):
            if 5 not in switch.jobs:
                left, switch.bfrt.left = switch.bfrt.left, None
                switch.open(self.job())
                switch.bfrt.left = left
            switch.close(5)

        for _ in self.lives(one_more):
            self.assertEqual(self.start().jobs, {})
            self.assertEqual(self.everything(), before)

    def test_a_killed_life_has_begun_to_set_the_switch_up(self):
        self.new_chip()
        for writes in range(1000):
            try:
                self.start(writes)
                break
            except Killed:
                pass
        self.switch = self.start()
        self.hear_all_ports()
        self.switch.open(self.job())
        self.sum_of_all()

    def hear_all_ports(self):
        a, b = 0x02000000AAAA, 0x02000000BBBB
        self.assertEqual([p for p, _ in self.chip.send(1, self.ethernet(b, a))], [0, 2, CPU])
        for writes in range(1000):  # killed while it learns
            switch = self.start()
            switch.bfrt.left = writes
            try:
                switch.learn(0)
                self.chip.send(0, self.ethernet(b, a))
                switch.learn(0)
                break
            except Killed:
                self.chip.send(1, self.ethernet(b, a))
        self.switch = self.start()
        self.assertEqual((self.switch.port_of(a), [p for p, _ in self.chip.send(2, self.ethernet(a, b))]), (0, [0]))

    def test_ports(self):
        self.assertEqual(self.chip.up.keys(), {0, 1})  # the third is somebody else's to bring up
        self.assertEqual((self.chip.up[0]["$SPEED"], self.chip.up[0]["$FEC"]), ("BF_SPEED_100G", "BF_FEC_TYP_RS"))
        self.switch.open(self.job())
        other = Place(SWITCH_MAC, SWITCH_IP, (Port(0, "100g", "rs"), Port(1, "10g"), Port(2), Port(3, "10g")))
        self.switch = self.start(place=other)
        self.assertEqual((self.chip.up[1]["$SPEED"], self.chip.up.keys()), ("BF_SPEED_10G", {0, 1, 3}))
        self.assertEqual([p for p, _ in self.chip.send(1, self.ethernet(0x02000000BBBB, 0x02000000AAAA))], [0, 2, 3, CPU])
        self.sum_of_all()
        self.switch = self.start()
        self.assertEqual(self.chip.up.keys(), {0, 1})
        self.assertEqual([p for p, _ in self.chip.send(1, self.ethernet(0x02000000BBBB, 0x02000000AAAA))], [0, 2, CPU])

    def test_no_frame_goes_back_whichever_pipe_its_port_is_in(self):
        self.new_chip()
        cpu, ports = 320, (5, 200, 450)  # of the third pipe; of the first, second and fourth
        self.connect(cpu=cpu).set_up(Place(SWITCH_MAC, SWITCH_IP, tuple(Port(port) for port in ports)))
        for port in (*ports, cpu):
            out = [p for p, _ in self.chip.send(port, self.ethernet(0x02000000BBBB, 0x02000000AAAA))]
            self.assertEqual(out, [p for p in (*ports, cpu) if p != port])

    def test_other_ports_by_lives_that_are_killed(self):
        self.switch.open(self.job())
        other = Place(SWITCH_MAC, SWITCH_IP, (Port(1), Port(2), Port(3, "10g")))
        for writes in range(1000):
            try:
                self.start(writes, other)
                break
            except Killed:
                pass
        self.assertEqual([p for p, _ in self.chip.send(1, self.ethernet(0x02000000BBBB, 0x02000000AAAA))], [2, 3, CPU])
        self.assertEqual(list(self.start(place=other).jobs), [5])

    def test_another_address(self):
        with self.assertRaisesRegex(SwitchError, "under another MAC or IP address"):
            self.start(place=Place(SWITCH_MAC, SWITCH_IP + 1, PLACE.ports))

    def test_a_chip_that_was_set_up_anew_has_nothing(self):
        self.switch.open(self.job())
        self.switch.fix(0x02000000AAAA, 1)
        self.new_chip()
        self.switch = self.start()
        self.assertEqual((self.switch.jobs, len(self.switch.stations)), ({}, 0))
        self.switch.open(self.job())
        self.sum_of_all()

    def test_who_only_looks_changes_nothing(self):
        self.switch.open(self.job())
        before = self.everything(), self.state.read_text()
        self.contribute(0, 1)
        looker = self.connect(writes=0, only_look=True)
        self.assertEqual(looker.slots(5)[0]["ranks"], [0])
        self.assertEqual((self.everything(), self.state.read_text()), before)

    def test_what_cannot_be_written_is_taken_back(self):
        before, groups, nodes = self.entries(), set(self.chip.groups), set(self.chip.nodes)
        table = self.tables["Ingress.senders.senders"]
        table.size = len(table.entries) + 5
        with self.assertRaisesRegex(SwitchError, "Ingress.senders.senders: an entry .* is full"):
            self.switch.open(self.job())
        self.assertEqual((self.entries(), set(self.chip.groups), set(self.chip.nodes)), (before, groups, nodes))
        table.size = 2048
        self.switch.open(self.job())
        self.sum_of_all()

    def test_a_full_disk(self):
        before, full = self.everything(), self.state.with_suffix(".new")
        full.symlink_to("/dev/full")
        with contextlib.redirect_stderr(io.StringIO()) as said:
            for _ in range(2):
                with self.assertRaisesRegex(SwitchError, f"cannot write {self.state}, which must tell of this"):
                    self.switch.open(self.job())
        self.assertRegex(said.getvalue(), f"^helper: cannot write {self.state}: No space left on device; [^\\n]*\\n$")
        self.assertEqual(self.everything(), before)
        self.chip.send(1, self.ethernet(0x02000000BBBB, 0x02000000AAAA))
        self.assertEqual(self.switch.learn(0), 1)
        full.unlink()
        self.assertEqual(self.switch.learn(0), 0)
        self.assertEqual(self.start().port_of(0x02000000AAAA), 1)
        self.switch.open(self.job())
        self.sum_of_all()

    def test_a_group_that_is_made_in_part_is_taken_back(self):
        groups, nodes = set(self.chip.groups), dict(self.chip.nodes)
        rid = 1 + 64 * 5  # of the job's first copy; the second is left over from a life that ended in the midst
        self.chip.nodes[rid + 1] = (0, 0)
        with self.assertRaisesRegex(SwitchError, f"copy {rid + 1} to port 1: ALREADY_EXISTS"):
            self.switch.open(self.job())
        self.assertEqual((set(self.chip.groups), {**self.chip.nodes, **nodes}), (groups, nodes))

    def test_jobs_until_the_rows_are_used_up(self):
        for number in range(8):
            self.switch.open(plan.Job(number, 64, 1024, workers(1, number)))
        with self.assertRaisesRegex(plan.DoesNotFit, "2048 rows"):
            self.switch.open(plan.Job(9, 64, 1024, workers(1, 9)))
        self.switch.close(3)
        self.switch.open(plan.Job(9, 64, 1024, workers(1, 9)))

    def test_no_switch(self):
        with self.assertRaisesRegex(SwitchError, "no switch at nowhere"):
            Bfrt(fake_bfrt, "nowhere", "swagg")

    def test_addresses(self):
        a, b = 0x02000000AAAA, 0x02000000BBBB
        self.assertEqual([p for p, _ in self.chip.send(1, self.ethernet(b, a))], [0, 2, CPU])
        self.assertEqual((self.switch.learn(0), self.switch.port_of(a)), (1, 1))
        self.assertEqual([p for p, _ in self.chip.send(2, self.ethernet(a, b))], [1])
        self.assertEqual([p for p, _ in self.chip.send(2, self.ethernet(SWITCH_MAC, b))], [CPU])
        self.switch.learn(0)
        self.chip.send(0, self.ethernet(b, a))  # it has moved
        self.switch.learn(0)
        self.assertEqual((self.switch.port_of(a), [p for p, _ in self.chip.send(2, self.ethernet(a, b))]), (0, [0]))
        self.assertEqual(self.switch.learn(0), 0)
        again = self.start()
        self.assertEqual((again.port_of(a), again.port_of(b)), (0, 2))

    def test_the_address_heard_longest_ago_gives_way(self):
        everyone = [(0x020000100000 + i, i % 3) for i in range(ADDRESSES + 5)]
        for at in range(0, len(everyone), 1000):
            self.switch.stations.heard(dict(everyone[at:at + 1000]))
        self.assertIsNone(self.switch.port_of(0x020000100000))
        self.assertEqual(self.switch.port_of(0x020000100000 + ADDRESSES + 4), (ADDRESSES + 4) % 3)
        self.assertEqual((len(self.tables[SOURCES].entries), len(self.tables[DESTINATIONS].entries)), (ADDRESSES, ADDRESSES))

    def test_more_addresses_at_once_than_there_is_room_for(self):
        self.switch.stations.heard({0x020000100000 + i: i % 3 for i in range(ADDRESSES + 5)})
        self.assertEqual((self.switch.port_of(0x020000100000), self.switch.port_of(0x020000100000 + ADDRESSES + 4)), (None, (ADDRESSES + 4) % 3))
        self.assertEqual((len(self.tables[SOURCES].entries), len(self.tables[DESTINATIONS].entries)), (ADDRESSES, ADDRESSES))

    def test_a_station_is_learnt_although_control_is_killed(self):
        """It goes on sending from the same port: its next frame finds it, or the next life knows it."""
        a, lives = 0x02000000AAAA, 0

        def learn_and_be_killed_at_the_file(switch):
            switch.learn(0)
            with mock.patch.object(Path, "write_text", side_effect=Killed):
                self.send_from(1, a + 1)
                self.assertRaises(Killed, switch.learn, 0)

        self.ports_to(a)  # whoever sends for that is known from here on
        self.switch.learn(0)
        self.send_from(1, a)
        for _ in self.lives(learn_and_be_killed_at_the_file):
            self.hears(1, a)
            self.send_from(1, a)
            lives += 1
        self.assertEqual(lives, 2)
        self.hears(1, a + 1)

    def send_from(self, port, mac):
        self.chip.send(port, self.ethernet(0x02000000BBBB, mac))

    def hears(self, port, mac):
        """A new life knows a station that sends; it forgets it in the end."""
        self.send_from(port, mac)
        switch = self.start()
        switch.learn(0)
        self.assertEqual((switch.port_of(mac), self.ports_to(mac)), (port, [port]))
        switch.stations.forget(port)

    def test_a_station_moves_although_control_is_killed(self):
        a, lives = 0x02000000AAAA, 0
        self.ports_to(a)
        self.send_from(1, a)
        self.switch.learn(0)
        self.send_from(0, a)
        for _ in self.lives(lambda switch: switch.learn(0)):
            self.send_from(0, a)
            switch = self.start()
            switch.learn(0)
            self.assertEqual((switch.port_of(a), self.ports_to(a)), (0, [0]))
            self.send_from(1, a)
            switch.learn(0)
            self.send_from(0, a)
            lives += 1
        self.assertEqual(lives, 2)

    def test_stations_are_forgotten_although_control_is_killed(self):
        for mac in (0x02000000AAAA, 0x02000000BBBB):
            self.send_from(1, mac)
        self.switch.learn(0)
        for _ in self.lives(lambda switch: switch.stations.forget()):
            pass
        self.assertEqual((len(self.start().stations), len(self.tables[SOURCES].entries), len(self.tables[DESTINATIONS].entries)), (0, 1, 1))

    def test_nobody_takes_the_switchs_own_address(self):
        self.chip.send(1, self.ethernet(0x02000000AAAA, SWITCH_MAC))
        self.assertEqual((self.switch.learn(0), self.switch.port_of(SWITCH_MAC)), (0, None))
        self.assertEqual([p for p, _ in self.chip.send(2, self.ethernet(SWITCH_MAC, 0x02000000BBBB))], [CPU])
        with self.assertRaisesRegex(SwitchError, "the switch's own"):
            self.switch.fix(SWITCH_MAC, 1)

    def ports_to(self, mac):
        return [p for p, _ in self.chip.send(2, self.ethernet(mac, 0x02000000CCCC))]

    def test_a_station_that_is_fixed(self):
        a = 0x02000000AAAA
        self.chip.send(1, self.ethernet(0x02000000BBBB, a))
        self.switch.fix(a, 0)  # before its digest is read
        self.assertEqual((self.switch.learn(0), self.switch.port_of(a), self.ports_to(a)), (1, 0, [0]))
        self.chip.send(1, self.ethernet(0x02000000BBBB, a))
        self.switch = self.start()
        self.switch.learn(0)
        self.switch.stations.forget()
        self.assertEqual((self.switch.port_of(a), self.ports_to(a)), (0, [0]))
        self.switch.fix(a, 1)
        self.assertEqual(self.ports_to(a), [1])
        self.switch.stations.unfix(a)
        self.assertEqual(self.ports_to(a), [1])
        self.chip.send(0, self.ethernet(0x02000000BBBB, a))
        self.switch.learn(0)
        self.assertEqual((self.switch.port_of(a), self.ports_to(a)), (0, [0]))
        with self.assertRaisesRegex(SwitchError, "no static station 02:00:00:00:aa:aa"):
            self.switch.stations.unfix(a)

    def test_a_station_is_fixed_although_control_is_killed(self):
        a = 0x02000000AAAA
        for port in (1, 0):
            for _ in self.lives(lambda switch: switch.fix(a, port)):
                self.assertIn(self.start().port_of(a), (None, 1, port))
            self.assertEqual((self.start().port_of(a), self.ports_to(a)), (port, [port]))
        for _ in self.lives(lambda switch: a in switch.stations.fixed and switch.stations.unfix(a)):
            pass
        self.assertEqual((self.start().stations.learned, self.ports_to(a)), ({a: 0}, [0]))
        self.chip.send(1, self.ethernet(0x02000000BBBB, a))
        switch = self.start()
        switch.learn(0)
        self.assertEqual(switch.port_of(a), 1)

    def test_results_follow_a_worker_that_is_fixed_elsewhere(self):
        self.people = tuple(replace(w, mac=0x020000000001 + w.egress) for w in PEOPLE)
        self.switch.open(self.job())
        self.switch.fix(self.people[1].mac, 3)
        people = (self.people[0], replace(self.people[1], egress=3), self.people[2])
        self.assertEqual(self.sum_from(people, 1), {w.egress: w.mac.to_bytes(6, "big") for w in people})

    def test_what_cannot_be_fixed(self):
        for mac in (0, 0x010000000001):
            with self.assertRaisesRegex(SwitchError, "is a group address or zero"):
                self.switch.fix(mac, 1)
        for i in range(FIXED):
            self.switch.stations.fixed[0x020000100000 + i] = 1
        with self.assertRaisesRegex(SwitchError, "1024 static stations, which is the most"):
            self.switch.fix(0x02000000AAAA, 1)


class Refusing:
    """A chip that has no place for stations."""

    def put(self, write):
        raise SwitchError("no space")

    def discard(self, write):
        pass


class StationsRefused(unittest.TestCase):
    def test_a_station_that_the_chip_refuses_is_not_learnt(self):
        stations = Stations(Refusing(), lambda: None)
        self.assertEqual(stations.heard({7: 1, 8: 2}), {})
        self.assertEqual((stations.port_of(7), len(stations)), (None, 0))


class Asking(Rig):
    """With what swagg-tofino asks for."""

    def ask(self, **request):
        answer = json.loads(self.asked.answer(json.dumps({"id": 7, **request})))
        self.assertEqual(answer.pop("id"), 7)
        return answer

    def new_life(self):
        self.switch = self.connect()
        self.asked = Asked(self.switch)

    def begin(self, jobs=(), static=()):
        ports = [{"number": p.number, "speed": p.speed, "fec": p.fec, "autoneg": p.autoneg} for p in PLACE.ports]
        return self.ask(do="begin", mac=SWITCH_MAC, ip=SWITCH_IP, ports=ports, jobs=list(jobs), static=list(static))

    def open_request(self, number=5, slots=4):
        people = [{"ip": w.ip, "port": w.port, "mac": w.mac} for w in self.people]
        return self.ask(do="open", number=number, elements=64, slots=slots, first_tag=0, workers=people)

    def hear(self):
        for w in self.people:
            self.chip.send(w.egress, self.ethernet(SWITCH_MAC, w.mac))
        self.switch.learn(0)

    def setUp(self):
        super().setUp()
        self.people = tuple(plan.Worker(w.ip, w.port, 0x020000000001 + w.egress, w.egress) for w in PEOPLE)
        self.asked = Asked(self.switch)

    def look(self, at, **more):
        answer = self.ask(do="look", at=at, **more)
        self.assertTrue(answer.pop("ok"))
        return answer

    def described(self, number, slots=4):
        people = [{"ip": w.ip, "port": w.port, "mac": w.mac} for w in self.people]
        return {"number": number, "elements": 64, "slots": slots, "first_tag": 0, "workers": people}


class Requests(Asking):
    """By themselves."""

    def test_a_job(self):
        self.assertRegex(self.open_request()["error"], "rank 0's MAC address 020000000001 has not been heard")
        self.hear()
        self.assertEqual(self.open_request(), {"ok": True})
        self.sum_of_all()
        self.assertRegex(self.open_request(6, 8192)["error"], "rows of registers")
        found = shown(self.switch)
        self.assertEqual((found["counters"]["send_all"], found["jobs"][0]["workers"][2]["ip"]), (1, "10.77.0.2"))
        self.assertEqual(self.ask(do="close", number=5), {"ok": True})
        self.assertEqual(self.switch.jobs, {})

    def test_looks_at_jobs(self):
        self.begin()
        self.hear()
        self.open_request()
        self.sum_of_all()
        self.contribute(1, 1, 1)
        self.assertEqual(self.look("slots", number=5), {"slots": 4, "collecting": 1, "waiting": [
            {"slot": 1, "tag": 1, "contributed": 1, "missing": [0, 2]}]})
        self.assertEqual(self.look("slots", number=-1), {"slots": 0, "collecting": 0, "waiting": []})
        counters = self.look("counters")["counters"]
        self.assertEqual((counters["send_all"], counters["held"]), (1, 3))
        memory = self.look("memory")
        self.assertEqual((memory["rows"], memory["rows_in_use"], memory["stations_in_use"]), (16384, 8, 3))
        self.assertEqual(memory["entries_in_use"], len(self.tables[plan.SENDERS].entries))

    def test_looks_at_ports(self):
        self.begin()
        self.hear()
        first, second = self.look("ports")["ports"]  # nobody has brought up the third
        self.assertEqual(first, {"number": 0, "enabled": True, "up": True, "rx_frames": 1, "rx_bytes": 64, "rx_errors": 0, "tx_frames": 0,
                                 "tx_bytes": 0, "tx_errors": 0, "drops": 0})
        self.assertEqual(self.ask(do="enable", port=1, up=False), {"ok": True})
        self.assertEqual((self.chip.up[1]["$PORT_ENABLE"], self.chip.up[1]["$SPEED"]), (False, "BF_SPEED_25G"))
        first, second = self.look("ports")["ports"]
        self.assertEqual((first["enabled"], second["enabled"], second["up"]), (True, False, False))
        self.assertEqual(self.look("status"), {"chip": "tofino", "ports": 3, "ports_up": 1, "stations": 3})
        self.assertRegex(self.ask(do="enable", port=2, up=False)["error"], "port 2")

    def test_stations_are_forgotten_until_they_are_heard(self):
        self.begin()
        self.hear()
        self.open_request()
        self.assertEqual(self.look("stations"), {"stations": [[w.mac, w.egress, False] for w in self.people]})
        self.assertEqual(self.ask(do="flush", port=1), {"ok": True})
        self.assertEqual([port for _, port, _ in self.look("stations")["stations"]], [0, 2])
        first = self.people[0].mac
        self.assertEqual(self.ask(do="fix", mac=first, port=0), {"ok": True})
        self.ask(do="flush", port=-1)
        self.assertEqual(self.look("stations")["stations"], [[first, 0, True]])
        self.assertEqual(self.ask(do="unfix", mac=first), {"ok": True})
        self.assertRegex(self.ask(do="unfix", mac=first)["error"], "no static station")
        self.ask(do="flush", port=-1)
        self.assertEqual((self.look("stations")["stations"], len(self.tables[SOURCES].entries)), ([], 1))  # its own
        self.sum_of_all()  # jobs know the way
        self.hear()
        self.assertEqual(len(self.look("stations")["stations"]), 3)

    def test_a_new_life_of_swagg_tofino_goes_on_with_jobs_that_it_knows(self):
        self.hear()
        self.open_request(5)
        self.contribute(0, 1)
        before = self.entries()
        everyone = self.people
        self.people = tuple(plan.Worker(w.ip, w.port + 10, w.mac, w.egress) for w in everyone)
        self.open_request(6)
        self.people = tuple(plan.Worker(w.ip, w.port + 20, w.mac, w.egress) for w in everyone)
        self.open_request(7)
        self.people = everyone
        self.new_life()
        known = [self.described(5), self.described(7), self.described(8)]  # 7 is another than it was, 8 was never there
        self.assertEqual(self.begin(known), {"ok": True, "kept": [5]})
        self.assertEqual((list(self.switch.jobs), self.entries()), ([5], before))
        self.contribute(1, 2)
        self.assertEqual(dict(self.contribute(2, 3))[0][52:56], (6).to_bytes(4, "big"))

    def test_a_worker_with_another_mac_address(self):
        """Its next frames tell where that is; until then results go where they went."""
        self.begin()
        self.hear()
        self.open_request()
        self.sum_of_all()
        moved = replace(self.people[1], mac=0x02000000CCCC)
        people = (self.people[0], moved, self.people[2])
        self.assertEqual(self.ask(do="move", number=5, rank=1, mac=moved.mac), {"ok": True})
        want = {w.egress: w.mac.to_bytes(6, "big") for w in people}
        self.assertEqual(self.sum_from(people, 1), want)
        self.chip.send(2, self.ethernet(SWITCH_MAC, moved.mac))
        self.switch.learn(0)
        self.assertEqual([w.egress for w in self.switch.jobs[5][0].workers], [0, 2, 2])

    def test_a_new_life_of_swagg_tofino_knows_of_another_mac_address(self):
        self.begin()
        self.hear()
        self.open_request()
        known = self.described(5)
        known["workers"][1]["mac"] = 0x02000000CCCC
        self.new_life()
        self.assertEqual(self.begin([known]), {"ok": True, "kept": [5]})
        self.assertEqual(self.switch.jobs[5][0].workers[1].mac, 0x02000000CCCC)

    def test_a_job_of_the_same_name_from_elsewhere(self):
        """A rank whose process is another one now: the old job's entries go, the new one's are its own."""
        self.begin()
        self.hear()
        before = self.entries()
        self.open_request(5)
        full = self.entries()
        self.people = (self.people[0], plan.Worker(self.people[1].ip + 9, 45000, 0x02000000DDDD, 3), self.people[2])
        self.hear()
        self.ask(do="close", number=5)
        self.open_request(5)
        self.sum_of_all()
        self.assertEqual({**self.entries(), SOURCES: 0, DESTINATIONS: 0}, {**full, SOURCES: 0, DESTINATIONS: 0})
        self.ask(do="close", number=5)
        self.assertEqual({**self.entries(), SOURCES: 0, DESTINATIONS: 0}, {**before, SOURCES: 0, DESTINATIONS: 0})

    def test_a_new_life_of_swagg_tofino_that_knows_nothing_ends_all_jobs(self):
        self.hear()
        before = self.entries()
        self.open_request()
        self.new_life()
        self.assertEqual(self.begin(), {"ok": True, "kept": []})
        self.assertEqual((self.switch.jobs, self.entries()), ({}, before))


class Statics(Asking):
    """Jobs of published clients, in the configuration: two threads of two slots each."""

    def setUp(self):
        super().setUp()
        self.wanted, self.other = self.static("published", 0), self.static("other", 1)
        self.new_life()

    def static(self, name, job):
        workers = [{"ip": w.ip, "port": self.port(w.egress, job=job), "mac": w.mac} for w in self.people]
        return {"name": name, "threads": 2, "slots": 2, "elements": 64, "quiet_ms": 1000, "workers": workers}

    @staticmethod
    def port(rank, thread=0, job=0):
        return 41000 + 1000 * job + 10 * rank + thread

    def send(self, rank, thread, tensor, packet, value, job=0):
        return self.send_in(rank, self.port(rank, thread, job), tensor, packet, packet // 2 % 2, 2 * thread + packet % 2, value)

    def send_in(self, rank, port, tensor, packet, version, slot, value):
        w = self.people[rank]
        w = plan.Worker(w.ip, port, w.mac, w.egress)
        return w, self.chip.send(w.egress, frame(w, data(64, tensor, packet, version, slot, value, 0, [value] * 64)))

    def sum_of(self, thread, tensor, packet, job=0):
        """Whether all get the sum; nobody gets one that is wrong."""
        return self.is_sum([self.send(rank, thread, tensor, packet, rank + 1, job)[1] for rank in range(3)][-1], thread, job)

    def is_sum(self, out, thread=0, job=0):
        self.assertTrue(all(f[52:56] == (6).to_bytes(4, "big") and f[36:38] == self.port(p, thread, job).to_bytes(2, "big")
                            for p, f in out))
        return [p for p, _ in out] == [0, 1, 2]

    def test_a_life_that_is_killed_between_threads(self):
        """The threads have rows in common, which are those of the first: it goes last, and the others are opened beside it."""
        self.begin_and_hear(self.wanted)
        close = self.switch.close

        def close_and_die(number):
            close(number)
            raise Killed

        with mock.patch.object(self.switch, "close", close_and_die), self.assertRaises(Killed):
            self.ask(do="remove", static="published")
        self.new_life()
        self.begin_and_hear(self.wanted)
        self.assertEqual(len({home.base for _, home in self.switch.jobs.values()}), 1)
        self.all_are_summed(0)

    def all_are_summed(self, tensor):
        for packet in range(4):
            self.assertTrue(self.sum_of(0, tensor, packet))

    def begin_and_hear(self, *static):
        self.begin(static=[*static])
        self.hear()
        self.asked.idle(0, 1)

    def test_it_runs_once_its_workers_are_heard(self):
        self.assertEqual(self.begin(static=[self.wanted]), {"ok": True, "kept": []})
        self.asked.idle(0, 1)
        self.assertEqual(self.switch.jobs, {})
        self.hear()
        self.asked.idle(0, 2)
        self.assertEqual([home.base for _, home in self.switch.jobs.values()], [0, 0])
        for thread in (0, 1):
            for packet in range(6):
                self.assertTrue(self.sum_of(thread, 0, packet))

    def test_a_job_behind_256_threads_of_others(self):
        """Its copies are its own, not those of a flood, which goes on to every port."""
        others = [{**self.wanted, "name": f"other{i}", "threads": 32, "workers": [{**w, "mac": w["mac"] + 4096} for w in self.wanted["workers"]]}
                  for i in range(8)]
        last = {**self.wanted, "name": "last"}
        self.assertEqual(self.begin(static=[*others, last]), {"ok": True, "kept": []})
        flood = dict(self.chip.nodes)
        self.hear()
        self.asked.idle(0, 1)
        self.assertEqual(sorted(self.switch.jobs), [512, 513])
        self.assertEqual(flood, {rid: self.chip.nodes[rid] for rid in flood})
        self.assertEqual(len(self.chip.nodes), len(flood) + 3 * len(self.switch.jobs))

    def test_a_new_life_goes_on(self):
        self.begin_and_hear(self.wanted)
        self.send(0, 1, 0, 0, 1)
        self.send(1, 1, 0, 0, 2)
        before = self.entries()
        self.new_life()
        self.begin(static=[self.wanted])
        self.asked.idle(0, 2)
        self.assertEqual(self.entries(), before)
        self.assertEqual([p for p, _ in self.send(2, 1, 0, 0, 3)[1]], [0, 1, 2])
        self.new_life()
        self.begin()
        self.assertEqual(self.switch.jobs, {})

    def test_clients_that_start_anew(self):
        self.begin_and_hear(self.wanted)
        self.all_are_summed(60)
        for now in range(2, 9):  # silence alone changes nothing
            self.asked.idle(0, now)
        self.assertTrue(self.sum_of(0, 101, 0))
        self.asked.idle(0, 9)
        self.assertFalse(self.sum_of(0, 0, 0))  # another run's: older than the last one
        self.asked.idle(0, 9.5)
        self.assertFalse(self.sum_of(0, 0, 0))
        self.asked.idle(0, 10.5)
        self.all_are_summed(0)

    def test_who_waits_for_the_others_begins_no_new_run(self):
        self.begin(static=[self.wanted])
        self.hear()
        with contextlib.redirect_stderr(io.StringIO()) as said:
            self.asked.idle(0, 1)
            self.send(0, 0, 0, 0, 1)
            self.assertTrue(self.sum_of(1, 0, 0))
            for now in range(2, 6):  # more of the same
                self.asked.idle(0, now)
                self.send(0, 0, 0, 0, 1)
                self.send(2, 1, 0, 0, 3)
        self.assertNotIn("start over", said.getvalue())

    def test_another_jobs_stale_packets_are_no_new_run_of_this_one(self):
        self.begin_and_hear(self.wanted, self.other)
        for tensor in (60, 100):
            self.assertTrue(self.sum_of(0, tensor, 0))
        self.assertTrue(self.sum_of(0, 60, 0, job=1))
        self.asked.idle(0, 2)
        self.assertFalse(self.sum_of(0, 0, 0, job=1))
        self.asked.idle(0, 4)
        self.assertTrue(self.sum_of(0, 0, 0, job=1))
        self.assertTrue(self.sum_of(0, 101, 0))
        self.assertFalse(self.sum_of(0, 100, 0))  # of the run that goes on

    def test_clients_in_the_midst_of_a_run(self):
        self.begin_and_hear(self.wanted)
        self.assertFalse(self.sum_of(0, 70, 0))
        self.asked.idle(0, 3)
        self.all_are_summed(70)
        self.new_life()
        self.begin(static=[self.wanted])
        self.asked.idle(0, 4)
        self.assertTrue(self.sum_of(0, 71, 0))  # the job was not opened anew
        self.asked.idle(0, 5)
        self.assertFalse(self.sum_of(0, 0, 0))
        self.asked.idle(0, 7)
        self.all_are_summed(0)

    def sum_of_the(self, i, slots):
        """Of the i-th tensor, each of one packet; whether all get it."""
        in_flight = slots // 2
        return self.is_sum([self.send_in(rank, self.port(rank), i % 256, 0, i // in_flight % 2, i % in_flight, rank + 1)[1] for rank in range(3)][-1])

    def waits(self, slots):
        """Before which of 300 tensors of one packet a job of so many slots waits."""
        self.begin(static=[{**self.wanted, "threads": 1, "slots": slots}])
        self.hear()
        now, found = 1, []
        self.asked.idle(0, now)
        for i in range(300):
            tries = 0
            while not self.sum_of_the(i, slots):
                tries += 1
                self.assertLess(tries, 4, f"tensor {i} is stale for ever")
                found += [i] * (tries == 1)
                for now in (now + 1, now + 2):
                    self.asked.idle(0, now)
        return found

    def test_slots_for_tensors_of_one_packet(self):
        self.assertEqual(self.waits(64), [])

    def test_too_many_slots_for_tensors_of_one_packet(self):
        with contextlib.redirect_stderr(io.StringIO()) as said:
            self.assertEqual(self.waits(128), [64, 192])
        self.assertIn("too many slots for tensors as short as its own", said.getvalue())

    def test_an_operator_looks_at_it_and_resets_it(self):
        self.begin(static=[self.wanted])
        self.assertEqual(self.ask(do="look", at="static")["static"], {"published": False})
        self.hear()
        self.asked.idle(0, 1)
        self.assertEqual(self.ask(do="look", at="static")["static"], {"published": True})
        self.assertTrue(self.sum_of(1, 60, 0))
        self.send(2, 1, 60, 1, 1)
        shown = self.ask(do="look", at="slots", static="published")
        self.assertEqual((shown["slots"], shown["waiting"]),
                         (4, [{"slot": 3, "tag": 60 * 2**23 + 1, "contributed": 1, "missing": [0, 1]}]))
        self.assertEqual(self.ask(do="reset", static="published"), {"ok": True})
        self.assertEqual(self.ask(do="look", at="slots", static="published")["collecting"], 0)
        self.assertTrue(self.sum_of(1, 0, 0))  # older than what was there

    def idle_until_refused(self, why):
        """For a while: it says so once."""
        with contextlib.redirect_stderr(io.StringIO()) as said:
            for now in range(2, 6):
                self.asked.idle(0, now)
        self.assertEqual(said.getvalue().count(f"helper: static job published waits until there is room: {why}"), 1, said.getvalue())
        self.assertEqual(self.ask(do="look", at="static")["static"], {"published": False})

    def test_joined_jobs_have_the_room(self):
        self.begin(static=[self.wanted])
        for number in range(8):
            self.switch.open(plan.Job(number, 64, 1024, workers(1, number)))
        self.hear()
        self.idle_until_refused("8 rows of registers")
        self.switch.close(0)
        self.asked.idle(0, 7)
        self.assertTrue(self.sum_of(1, 0, 0))

    def test_it_is_heard_while_the_disk_is_full(self):
        self.begin(static=[self.wanted])
        full = self.state.with_suffix(".new")
        full.symlink_to("/dev/full")
        self.hear()
        self.idle_until_refused(f"cannot write {self.state}, which")
        full.unlink()
        self.asked.idle(0, 7)
        self.assertTrue(self.sum_of(1, 0, 0))

    def test_what_does_not_fit(self):
        self.assertRegex(self.begin(static=[{**self.wanted, "slots": 3}])["error"], "static job published: 3 slots: must be a power of two")

    def test_an_operator_adds_one_and_deletes_it(self):
        self.begin()
        self.assertEqual(self.ask(do="add", static=self.wanted), {"ok": True})
        self.assertEqual(self.ask(do="look", at="static")["static"], {"published": False})
        self.hear()
        self.asked.idle(0, 1)
        self.assertTrue(self.sum_of(1, 0, 0))
        self.assertEqual(self.ask(do="add", static=self.other), {"ok": True})
        self.assertEqual(self.ask(do="look", at="static")["static"], {"published": True, "other": True})  # its workers had been heard
        self.assertTrue(self.sum_of(1, 0, 0, job=1))
        self.assertEqual(self.ask(do="remove", static="published"), {"ok": True})
        self.assertFalse(self.sum_of(1, 0, 1))
        self.assertTrue(self.sum_of(1, 0, 1, job=1))
        self.assertEqual(self.ask(do="remove", static="other"), {"ok": True})
        self.assertEqual((self.switch.jobs, self.switch.unfinished, self.entries()["Results.workers"]), ({}, {}, 0))

    def test_a_new_life_goes_on_whatever_jobs_were_before(self):
        """In the order of the configuration, of which some are gone now."""
        self.begin_and_hear(self.wanted)
        self.ask(do="add", static=self.other)
        self.send(0, 1, 0, 0, 1, job=1)
        self.send(1, 1, 0, 0, 2, job=1)
        self.new_life()
        self.begin(static=[self.other])
        self.asked.idle(0, 2)
        self.assertTrue(self.is_sum(self.send(2, 1, 0, 0, 3, job=1)[1], 1, 1))
        self.assertFalse(self.sum_of(1, 0, 0))
        self.assertEqual(self.ask(do="add", static=self.wanted), {"ok": True})
        self.assertTrue(self.sum_of(1, 0, 0))

    def test_what_is_added_must_find_room(self):
        self.begin()
        for number in range(8):
            self.switch.open(plan.Job(number, 64, 1024, workers(1, number)))
        self.assertRegex(self.ask(do="add", static=self.wanted)["error"], "8 rows of registers are wanted")
        self.hear()
        self.assertRegex(self.ask(do="add", static=self.wanted)["error"], "8 rows of registers are wanted")
        self.switch.close(0)
        many = [{"ip": self.people[0].ip, "port": 41000 + 32 * i, "mac": self.people[0].mac + 4096} for i in range(32)]
        self.assertRegex(self.ask(do="add", static={**self.wanted, "threads": 32, "workers": many})["error"],
                         "entries of the table of senders are wanted, for 32 threads of 32 workers, and other jobs have left")
        self.assertRegex(self.ask(do="add", static={**self.wanted, "slots": 3})["error"], "static job published: 3 slots: must be a power of two")
        self.assertEqual(self.ask(do="look", at="static")["static"], {})
        self.assertEqual(self.ask(do="add", static=self.wanted), {"ok": True})

    def test_what_the_chip_refuses_in_the_midst_leaves_nothing(self):
        self.begin()
        self.hear()
        before, add, left = self.entries(), self.switch.bfrt.add, 0
        self.assertEqual(self.ask(do="add", static=self.wanted), {"ok": True})
        wanted = len(self.entries()) - len(before)
        self.ask(do="remove", static="published")

        def refuse(write):
            nonlocal left
            left -= 1
            if left < 0:
                raise SwitchError("the table is full")
            add(write)

        for left in (0, wanted // 2 - 1, wanted // 2, wanted - 1):
            self.switch.bfrt.add = refuse
            self.assertEqual(self.ask(do="add", static=self.wanted), {"error": "the table is full"})
            self.switch.bfrt.add = add
            self.assertEqual((self.switch.jobs, self.switch.unfinished, self.entries()), ({}, {}, before))
        self.assertEqual(self.ask(do="add", static=self.wanted), {"ok": True})
        self.assertTrue(self.sum_of(1, 0, 0))

    def silent_ms(self):
        return self.ask(do="look", at="silence", static="published")["silent_ms"]

    def test_how_long_nothing_was_heard(self):
        self.begin(static=[self.wanted])
        self.asked.idle(0, 1)
        self.assertEqual(self.silent_ms(), 0)
        self.asked.idle(0, 3)
        self.assertEqual(self.silent_ms(), 2000)
        self.hear()
        self.asked.idle(0, 4)
        self.assertEqual(self.silent_ms(), 0)  # it has begun
        self.asked.idle(0, 6)
        self.assertTrue(self.sum_of(1, 60, 0))
        self.assertEqual(self.silent_ms(), 0)
        self.asked.idle(0, 6.5)
        self.assertEqual(self.silent_ms(), 500)
        self.send(0, 1, 0, 0, 1)  # stale
        self.assertEqual(self.silent_ms(), 0)


class Names(unittest.TestCase):
    def test_what_the_daemon_counts_too_has_its_name(self):
        daemons = "".join((ROOT / name).read_text() for name in ("lib/host/base/counters.h", "lib/core/switchml/reasons.c"))
        self.assertEqual([name for name in NAMES if f'"{name}"' not in daemons], ["passed"])


class Areas(unittest.TestCase):
    def test_what_is_taken_at_a_place(self):
        r = random.Random(5)
        for _ in range(200):
            areas, held = plan.Areas(512), []
            for _ in range(12):
                length = 1 << r.randrange(1, 7)
                base = areas.take(length)
                if base is not None:
                    held.append((base, length))
            again = plan.Areas(512)
            r.shuffle(held)
            for base, length in held:
                again.take_at(base, length)
            free = lambda a: sorted((b, n) for n, bases in a.free.items() for b in bases)  # noqa: E731
            self.assertEqual(free(again), free(areas))


if __name__ == "__main__":
    sys.exit(unittest.main())
