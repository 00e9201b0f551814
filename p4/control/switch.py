"""A Tofino as an aggregation switch: its ports, jobs and MAC addresses, on top of BF Runtime."""
import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from control import plan
from control.bfrt import SwitchError
from control.reasons import NAMES
from control.say import say
from control.stations import Stations

FLOOD_GROUP, FIRST_COPY = 0xFFFF, 1
JOB_COPIES = 64  # replication ids of one job
FLOOD_COPIES = 0xE000  # behind all jobs', and room for every port of a chip

OWN_ADDRESS = "IngressParser.own_addresses"


@dataclass(frozen=True)
class Port:
    """That hosts are at. speed: "100g", ...; None: it is brought up by somebody else. fec, autoneg: as bfrt.FEC and AUTONEG name them."""
    number: int
    speed: str = None
    fec: str = "none"
    autoneg: str = "default"


@dataclass(frozen=True)
class Place:
    """What the switch is in its network: its MAC address, which is that of the CPU's interface, its IP address, and its ports."""
    mac: int
    ip: int
    ports: tuple


class Tofino:
    """loops: the ports by which packets go round, in the pipe that has the rows. cpu: the port of the control process. state: a file
    that keeps what is in the switch, for the next life of this process; None: nothing does. A job is in it, as unfinished, before the
    first of its entries is written, and until the last is gone: what a life has left half done, the next one takes out. Where the
    file cannot be written, no job begins; all else goes on, and learn tries again. only_look: another process has the switch, and this one changes nothing.

    set_up comes first; what needs time to come about does so in learn, which is to be called again and again."""

    def __init__(self, bfrt, chip, loops, cpu, pipes=1, state=None, only_look=False):
        self.bfrt, self.chip = bfrt, plan.CHIPS[chip]
        self.loops, self.cpu, self.pipes = tuple(loops), cpu, pipes
        self.state = Path(state) if state else None
        self.unwritten = False  # the file could not be
        self.place = None    # Place, as it is in the switch
        self.jobs = {}       # number -> (Job, Home)
        self.unfinished = {}  # the same, of jobs that are being written or taken out
        self.stations = Stations(bfrt, self._keep)
        self._remember()
        if not only_look:
            for number in list(self.unfinished):
                self._erase(number)
            for number, (job, _) in self.jobs.items():  # the last life may have been about to
                for rank in range(len(job.workers)):
                    self._lead(number, rank)
            for mac, port in self.stations.fixed.items():
                self.stations.write_fixed(mac, port)
            for known in (self.stations.learned, self.stations.fixed):
                for mac, port in known.items():
                    self._follow(mac, port)

    # --- lives ---------------------------------------------------------------------------------------------------

    def set_up(self, place):
        """An earlier life may have done it; its ports may have been others."""
        if self.place is not None and (self.place.mac, self.place.ip) != (place.mac, place.ip):
            raise SwitchError("the chip was set up under another MAC or IP address; start the switch's software anew")
        before, keep = (self.place.ports, self._keep) if self.place else ((), self._keep_first)
        if self.place is None:
            for loop in self.loops:
                self.bfrt.add_value("IngressParser.loops", loop)
            for write in plan.always():
                self.bfrt.put(write)
            self.stations.write_fixed(place.mac, self.cpu)
        if self.place is None or before != place.ports:
            self._bring_up(place.ports, before)
        self.place = place
        keep()
        self.bfrt.add_value(OWN_ADDRESS, place.ip)  # the last thing: so it is done

    def _bring_up(self, ports, before):
        for port in ports:
            if port.speed is not None and port not in before:
                self.bfrt.port_up(port.number, port.speed, port.fec, port.autoneg)
        self._try(self.bfrt.remove_group, FLOOD_GROUP, [])
        for port in {p.number for p in (*before, *ports)} | {self.cpu}:
            self._try(self.bfrt.remove_group, None, [(FLOOD_COPIES + port, port)])
        copies = [(FLOOD_COPIES + port, port) for port in (*(p.number for p in ports), self.cpu)]
        self.bfrt.add_group(FLOOD_GROUP, copies, exclude=True)
        for port in before:
            if port.speed is not None and port.number not in {p.number for p in ports}:
                self._try(self.bfrt.port_down, port.number)

    def _keep(self):
        if self.state is None:
            return
        parts = {name: [[asdict(job), asdict(home)] for job, home in jobs.values()]
                 for name, jobs in (("jobs", self.jobs), ("unfinished", self.unfinished))}
        new = self.state.with_suffix(".new")
        try:
            new.write_text(json.dumps({**parts, "place": asdict(self.place), "addresses": list(self.stations.learned.items()),
                                       "fixed": list(self.stations.fixed.items())}))
            new.replace(self.state)
            self.unwritten = False
        except OSError as problem:
            if not self.unwritten:
                say(f"cannot write {self.state}: {problem.strerror}; until it can be written, no job begins, and the next helper does not "
                    "know what has changed")
            self.unwritten = True

    def _keep_first(self):
        """Before the chip has what the next life could not know of."""
        self._keep()
        if self.unwritten:
            raise SwitchError(f"cannot write {self.state}, which must tell of this before the chip has it: make room there")

    def _remember(self):
        """What an earlier life has written, if the switch still has it: it was started anew since, if it does not know its address."""
        if self.state is None or not self.state.exists():
            return
        found = json.loads(self.state.read_text())
        place = found["place"]
        if not self.bfrt.has_value(OWN_ADDRESS, place["ip"]):
            return
        self.place = Place(place["mac"], place["ip"], tuple(Port(**port) for port in place["ports"]))
        for name, jobs in (("jobs", self.jobs), ("unfinished", self.unfinished)):
            for job, home in found[name]:
                job["workers"] = tuple(plan.Worker(**w) for w in job["workers"])
                jobs[job["number"]] = (plan.Job(**job), plan.Home(**home))
        self.stations.learned, self.stations.fixed = dict(found["addresses"]), dict(found.get("fixed", ()))

    # --- jobs ----------------------------------------------------------------------------------------------------

    def open(self, job, beside=None):
        """Writes everything that a job needs, or nothing; plan.DoesNotFit or bfrt.SwitchError says why. beside: the number of another job
        of the same rows, of which each has other slots."""
        if job.number in self.unfinished:  # it could not be closed
            self._erase(job.number)
        if job.number in self.jobs:
            raise plan.DoesNotFit(f"there is a job {job.number}")
        plan.check(job, self.chip)
        home = self._home(job, beside)
        self.unfinished[job.number] = job, home
        try:
            self._keep_first()
        except SwitchError:
            del self.unfinished[job.number]
            raise
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
            self.bfrt.discard(write)
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

    def _home(self, job, beside):
        if FIRST_COPY + JOB_COPIES * (job.number + 1) > FLOOD_COPIES:
            raise plan.DoesNotFit(f"job {job.number}: there are no replication ids for so many threads of static jobs")
        return plan.Home(self._base(job) if beside is None else self.jobs[beside][1].base, group=1 + job.number,
                         rid=FIRST_COPY + JOB_COPIES * job.number, loop=self._loop(job.number if beside is None else beside),
                         pipes=self.pipes)

    def _loop(self, number):
        return self.loops[number % len(self.loops)]

    def _base(self, job):
        areas = plan.Areas(self.chip.rows)
        for base, rows in {(home.base, plan.rows(other)) for other, home in (*self.jobs.values(), *self.unfinished.values())}:
            areas.take_at(base, rows)
        base = areas.take(plan.rows(job))
        if base is None:
            raise plan.DoesNotFit(f"{plan.rows(job)} rows of registers are wanted in one piece, for {job.slots} slots of {job.elements} "
                                  "elements, and other jobs have too many")
        return base

    def check_room(self, jobs):
        """Whether there is room for these, which are to share their rows; plan.DoesNotFit says of what there is too little."""
        base = self._base(jobs[0])
        wanted = sum(plan.entries(job, plan.Home(base, 0, 0, self._loop(jobs[0].number), self.pipes), self.chip) for job in jobs)
        free = plan.ENTRIES - self.entries_in_use()
        if wanted > free:
            raise plan.DoesNotFit(f"{wanted} entries of the table of senders are wanted, for {len(jobs)} threads of {len(jobs[0].workers)} workers, "
                                  f"and other jobs have left {free}")

    def close(self, number):
        self.unfinished[number] = job, home = self.jobs.pop(number)
        self._keep()
        made = plan.plan(job, home, self.chip)
        for write in made.tables:
            self.bfrt.remove(write)
        self.bfrt.remove_group(home.group, made.copies)
        del self.unfinished[number]
        self._keep()

    def move(self, number, rank, mac, port):
        """Results for a rank go to another MAC address, or by another port, from now on."""
        job, home = self.jobs[number]
        people = list(job.workers)
        people[rank] = replace(people[rank], mac=mac, egress=port)
        self.jobs[number] = replace(job, workers=tuple(people)), home
        self._keep()
        self._lead(number, rank)

    def _lead(self, number, rank):
        write, copy = plan.way(*self.jobs[number], rank)
        self.bfrt.put(write)
        self.bfrt.lead_copy(*copy)

    def _follow(self, mac, port):
        """A station has moved to this port: what goes to it does, too."""
        for number, (job, _) in list(self.jobs.items()):
            for rank, worker in enumerate(job.workers):
                if worker.mac == mac and worker.egress != port:
                    self.move(number, rank, mac, port)

    # --- addresses -----------------------------------------------------------------------------------------------

    def port_of(self, mac):
        """Where a station is; None: it has not been heard."""
        return self.stations.port_of(mac)

    def learn(self, seconds):
        """Takes in what the program has told of addresses; waits so long for something. Returns how many were new."""
        heard = dict(self.bfrt.digests("IngressDeparser.learn", seconds))
        heard.pop(self.place.mac, None)  # nobody takes ours
        for mac, port in self.stations.heard(heard).items():
            self._follow(mac, port)
        if self.unwritten:
            self._keep()
        return len(heard)

    def fix(self, mac, port):
        """A station is on this port, by an operator's word; what goes to it does, too."""
        if mac == self.place.mac:
            raise SwitchError("this is the switch's own address")
        self.stations.fix(mac, port)
        self._follow(mac, port)

    # --- views ---------------------------------------------------------------------------------------------------

    def counters(self):
        """Packets by reason, under the daemon's names."""
        found = self.bfrt.get_counters("Ingress.reasons", range(len(NAMES)))
        return {name: found[number] for number, name in enumerate(NAMES)}

    def stale(self, numbers):
        """How many stale packets have come to jobs of these numbers, to all together."""
        return sum(self.bfrt.get_counters("Ingress.stale", [self.jobs[number][1].group for number in numbers]).values())

    def registers(self, number):
        """What the job's rows hold of labels and of ranks, of its packets' first 64 elements: row -> (label, exponent), row -> (ranks, ...)."""
        job, home = self.jobs[number]
        rows = [home.base + 2 * slot + ver for slot in range(job.first_slot, job.first_slot + job.slots) for ver in range(2)]
        return self.bfrt.get_registers("Ingress.newest.newest", rows), self.bfrt.get_registers("Ingress.seen.seen", rows)

    def slots(self, number):
        """Of each slot of a job: its newest chunk's tag, and the ranks that have contributed to that, by version."""
        job, home = self.jobs[number]
        newest, seen = self.registers(number)
        return [{"slot": (row - home.base) // 2, "version": (row - home.base) % 2,
                 "tag": plan.chunk_of(job, (row - home.base) // 2, newest[row][0]),
                 "ranks": [r for r in range(len(job.workers)) if seen[row][0] >> r & 1]} for row in newest]

    def rows_in_use(self):
        """Of registers; the threads of a job of published clients share theirs."""
        return sum(n for _, n in {(home.base, plan.rows(job)) for job, home in self.jobs.values()})

    def entries_in_use(self):
        """Of the table that all jobs share."""
        return len(plan.always()) + sum(plan.entries(job, home, self.chip) for job, home in self.jobs.values())
