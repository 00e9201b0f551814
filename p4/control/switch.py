"""A Tofino as an aggregation switch: its ports, jobs and MAC addresses, on top of BF Runtime."""
import json
from dataclasses import asdict
from pathlib import Path

from control import plan
from control.bfrt import SwitchError
from control.reasons import NAMES

SOURCES, DESTINATIONS = "Ingress.bridge.sources", "Ingress.bridge.destinations"
FLOOD_GROUP, FIRST_COPY = 0xFFFF, 1
JOB_COPIES = 64  # replication ids of one job; those of the flood group are behind all jobs'
FLOOD_COPIES = 0x8000
ADDRESSES = 4096  # that the tables have room for


class Tofino:
    """ports: those that hosts are at. loops: by which packets go round, in the pipe that has the rows. cpu: the port of the
    control process. state: a file that keeps what is in the switch, for the next life of this process; None: nothing does."""

    def __init__(self, bfrt, chip, mac, ip, ports, loops, cpu, pipes=1, state=None):
        self.bfrt, self.chip = bfrt, plan.CHIPS[chip]
        self.mac, self.ip, self.ports, self.loops, self.cpu, self.pipes = mac, ip, tuple(ports), tuple(loops), cpu, pipes
        self.state = Path(state) if state else None
        self.jobs = {}       # number -> (Job, Home)
        self.addresses = {}  # MAC address -> port, the one heard longest ago first
        if not self._remember():
            self._set_up()

    # --- lives ---------------------------------------------------------------------------------------------------

    def _set_up(self):
        for loop in self.loops:
            self.bfrt.add_value("IngressParser.loops", loop)
        self.bfrt.add_value("IngressParser.own_addresses", self.ip)
        for write in plan.always():
            self.bfrt.add(write)
        everywhere = (*self.ports, self.cpu)
        self.bfrt.add_group(FLOOD_GROUP, [(FLOOD_COPIES + port, port) for port in everywhere])
        for port in everywhere:
            self.bfrt.never_back(port)
        self._write_place(self.mac, self.cpu)
        self._keep()

    def _keep(self):
        if self.state is None:
            return
        text = json.dumps({"jobs": [[asdict(job), asdict(home)] for job, home in self.jobs.values()],
                           "addresses": list(self.addresses.items())})
        new = self.state.with_suffix(".new")
        new.write_text(text)
        new.replace(self.state)

    def _remember(self):
        """What an earlier life has written; the switch still has it."""
        if self.state is None or not self.state.exists():
            return False
        found = json.loads(self.state.read_text())
        for job, home in found["jobs"]:
            job["workers"] = tuple(plan.Worker(**w) for w in job["workers"])
            self.jobs[job["number"]] = (plan.Job(**job), plan.Home(**home))
        self.addresses = dict(found["addresses"])
        return True

    # --- jobs ----------------------------------------------------------------------------------------------------

    def open(self, job):
        """Writes everything that a job needs, or nothing; plan.DoesNotFit or bfrt.SwitchError says why."""
        if job.number in self.jobs:
            raise plan.DoesNotFit(f"there is a job {job.number}")
        plan.check(job, self.chip)
        home = self._home(job)
        made = plan.plan(job, home, self.chip)
        self.bfrt.set_registers("Ingress.newest.newest", made.newest)
        self.bfrt.set_registers("Ingress.seen.seen", made.seen)
        written = []
        try:
            self.bfrt.add_group(home.group, made.copies)
            for write in made.tables:
                self.bfrt.add(write)
                written.append(write)
        except Exception:
            for write in written:
                self.bfrt.remove(write)
            self._forget_group(home.group, made.copies)
            raise
        self.jobs[job.number] = (job, home)
        self._keep()

    def _forget_group(self, group, copies):
        """As far as it was made."""
        for part in ((group, []), *((None, [copy]) for copy in copies)):
            try:
                self.bfrt.remove_group(*part)
            except SwitchError:  # there was none
                pass

    def _home(self, job):
        areas = plan.Areas(self.chip.rows)
        for other, home in self.jobs.values():
            areas.take_at(home.base, plan.rows(other))
        base = areas.take(plan.rows(job))
        if base is None:
            raise plan.DoesNotFit(f"{plan.rows(job)} rows of registers are wanted in one piece, for {job.slots} slots of {job.elements} "
                                  "elements, and other jobs have too many")
        return plan.Home(base, group=1 + job.number, rid=FIRST_COPY + JOB_COPIES * job.number,
                         loop=self.loops[job.number % len(self.loops)], pipes=self.pipes)

    def close(self, number):
        job, home = self.jobs[number]
        made = plan.plan(job, home, self.chip)
        for write in made.tables:
            self.bfrt.remove(write)
        self.bfrt.remove_group(home.group, made.copies)
        del self.jobs[number]
        self._keep()

    # --- addresses -----------------------------------------------------------------------------------------------

    def port_of(self, mac):
        """Where a station is; None: it has not been heard."""
        return self.addresses.get(mac)

    def learn(self, seconds):
        """Takes in what the program has told of addresses; waits so long for something. Returns how many were new."""
        heard = dict(self.bfrt.digests("IngressDeparser.learn", seconds))
        for mac, port in heard.items():
            if mac != self.mac:  # nobody takes ours
                self._put(mac, port)
        if heard:
            self._keep()
        return len(heard)

    def _put(self, mac, port):
        known = self.addresses.pop(mac, None)
        if known is None and len(self.addresses) >= ADDRESSES - 1:  # one is our own
            oldest = next(iter(self.addresses))
            self._take_out(oldest, self.addresses.pop(oldest))
        if known is not None:
            self._take_out(mac, known)
        self._write_place(mac, port)
        self.addresses[mac] = port

    def _write_place(self, mac, port):
        self.bfrt.add(plan.Write(SOURCES, (mac,), "known", (port,)))
        self.bfrt.add(plan.Write(DESTINATIONS, (mac,), "forward", (port,)))

    def _take_out(self, mac, port):
        self.bfrt.remove(plan.Write(SOURCES, (mac,), "known", (port,)))
        self.bfrt.remove(plan.Write(DESTINATIONS, (mac,), "forward", (port,)))

    # --- views ---------------------------------------------------------------------------------------------------

    def counters(self):
        """Packets by reason, under the daemon's names."""
        found = self.bfrt.get_counters("Ingress.reasons", range(len(NAMES)))
        return {name: found[number] for number, name in enumerate(NAMES)}

    def slots(self, number):
        """Of each slot of a job: its newest label, and the ranks that have contributed to that, by version."""
        job, home = self.jobs[number]
        rows = [home.base + 2 * slot + ver for slot in range(job.first_slot, job.first_slot + job.slots) for ver in range(2)]
        newest = self.bfrt.get_registers("Ingress.newest.newest", rows)
        seen = self.bfrt.get_registers("Ingress.seen.seen", rows)
        return [{"slot": (row - home.base) // 2, "version": (row - home.base) % 2, "label": newest[row][0],
                 "ranks": [r for r in range(len(job.workers)) if seen[row][0] >> r & 1]} for row in rows]
