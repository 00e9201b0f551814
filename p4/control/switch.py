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
    control process. state: a file that keeps what is in the switch, for the next life of this process; None: nothing does. A job is
    in it, as unfinished, before the first of its entries is written, and until the last is gone: what a life has left half done, the
    next one takes out. only_look: another process has the switch, and this one changes nothing."""

    def __init__(self, bfrt, chip, mac, ip, ports, loops, cpu, pipes=1, state=None, only_look=False):
        self.bfrt, self.chip = bfrt, plan.CHIPS[chip]
        self.mac, self.ip, self.ports, self.loops, self.cpu, self.pipes = mac, ip, tuple(ports), tuple(loops), cpu, pipes
        self.state = Path(state) if state else None
        self.jobs = {}       # number -> (Job, Home)
        self.unfinished = {}  # the same, of jobs that are being written or taken out
        self.addresses = {}  # MAC address -> port, the one heard longest ago first
        known = self._remember()
        if only_look:
            return
        if not known:
            self._set_up()
        for number in list(self.unfinished):
            self._erase(number)

    # --- lives ---------------------------------------------------------------------------------------------------

    def _set_up(self):
        for loop in self.loops:
            self.bfrt.add_value("IngressParser.loops", loop)
        self.bfrt.add_value("IngressParser.own_addresses", self.ip)
        for write in plan.always():
            self.bfrt.put(write)
        self._write_place(self.mac, self.cpu)
        copies = [(FLOOD_COPIES + port, port) for port in (*self.ports, self.cpu)]
        for copy in copies:
            self.bfrt.never_back(copy[1])
            self._try(self.bfrt.remove_group, None, [copy])
        self._keep()
        self.bfrt.add_group(FLOOD_GROUP, copies)  # the last thing: so it is done

    def _keep(self):
        if self.state is None:
            return
        parts = {name: [[asdict(job), asdict(home)] for job, home in jobs.values()]
                 for name, jobs in (("jobs", self.jobs), ("unfinished", self.unfinished))}
        new = self.state.with_suffix(".new")
        new.write_text(json.dumps({**parts, "addresses": list(self.addresses.items())}))
        new.replace(self.state)

    def _remember(self):
        """What an earlier life has written, if the switch still has it: it was set up since, if it has no group for floods."""
        if self.state is None or not self.state.exists() or not self.bfrt.has_group(FLOOD_GROUP):
            return False
        found = json.loads(self.state.read_text())
        for name, jobs in (("jobs", self.jobs), ("unfinished", self.unfinished)):
            for job, home in found[name]:
                job["workers"] = tuple(plan.Worker(**w) for w in job["workers"])
                jobs[job["number"]] = (plan.Job(**job), plan.Home(**home))
        self.addresses = dict(found["addresses"])
        return True

    # --- jobs ----------------------------------------------------------------------------------------------------

    def open(self, job):
        """Writes everything that a job needs, or nothing; plan.DoesNotFit or bfrt.SwitchError says why."""
        if job.number in self.jobs or job.number in self.unfinished:
            raise plan.DoesNotFit(f"there is a job {job.number}")
        plan.check(job, self.chip)
        home = self._home(job)
        self.unfinished[job.number] = job, home
        self._keep()
        try:
            self._write(plan.plan(job, home, self.chip), home)
        except Exception:
            self._erase(job.number)
            raise
        self.jobs[job.number] = self.unfinished.pop(job.number)
        self._keep()

    def _write(self, made, home):
        self.bfrt.set_registers("Ingress.newest.newest", made.newest)
        self.bfrt.set_registers("Ingress.seen.seen", made.seen)
        self.bfrt.add_group(home.group, made.copies)
        for write in made.tables:
            self.bfrt.add(write)

    def _erase(self, number):
        """An unfinished job: as much of it as there is."""
        job, home = self.unfinished[number]
        made = plan.plan(job, home, self.chip)
        for write in made.tables:
            self._try(self.bfrt.remove, write)
        self._try(self.bfrt.remove_group, home.group, [])
        for copy in made.copies:
            self._try(self.bfrt.remove_group, None, [copy])
        del self.unfinished[number]
        self._keep()

    @staticmethod
    def _try(function, *arguments):
        try:
            function(*arguments)
        except SwitchError:  # it was not there
            pass

    def _home(self, job):
        areas = plan.Areas(self.chip.rows)
        for other, home in (*self.jobs.values(), *self.unfinished.values()):
            areas.take_at(home.base, plan.rows(other))
        base = areas.take(plan.rows(job))
        if base is None:
            raise plan.DoesNotFit(f"{plan.rows(job)} rows of registers are wanted in one piece, for {job.slots} slots of {job.elements} "
                                  "elements, and other jobs have too many")
        return plan.Home(base, group=1 + job.number, rid=FIRST_COPY + JOB_COPIES * job.number,
                         loop=self.loops[job.number % len(self.loops)], pipes=self.pipes)

    def close(self, number):
        self.unfinished[number] = job, home = self.jobs.pop(number)
        self._keep()
        made = plan.plan(job, home, self.chip)
        for write in made.tables:
            self.bfrt.remove(write)
        self.bfrt.remove_group(home.group, made.copies)
        del self.unfinished[number]
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
        self._write_place(mac, port)
        self.addresses[mac] = port

    def _write_place(self, mac, port):
        self.bfrt.put(plan.Write(SOURCES, (mac,), "known", (port,)))
        self.bfrt.put(plan.Write(DESTINATIONS, (mac,), "forward", (port,)))

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
