"""Jobs of published SwitchML clients, which nobody joins: the configuration describes them (docs/tofino.md, "Running it"), or an operator
does. Each thread of a worker is in a plan.Job of its own. Threads of one such job have numbers in a row, of THREADS that are kept for it,
from FIRST on."""
import itertools
from dataclasses import dataclass, replace

from control import plan
from control.bfrt import SwitchError
from control.say import say

FIRST = 256  # jobs that are joined have the numbers below, which are on the wire; these are not
THREADS = 32  # that a job may have
TRY_AGAIN_S = 1  # what the switch has refused
NEW_RUN, IN_THE_MIDST = 192, 64  # the first of the 128 tensors that empty slots take; a new run begins with tensor 0


def span_of(slots):
    """The power of two that has room for so many."""
    return 1 << (slots - 1).bit_length()


@dataclass
class Static:
    name: str
    quiet_s: float
    jobs: tuple  # by thread; their workers' egress is not known
    signs: object = None  # what the registers held, and how many of its packets had been stale, when one of both had changed last
    heard_at: float = 0
    progress: object = None  # what the registers held when they had changed last
    moved_at: float = 0
    stale: int = 0  # how many of its packets had been stale by then
    looked_at: float = 0
    refused: str = None  # why the switch has not opened it, as it was said last
    refused_at: float = 0

    def number_from(self, first):
        self.jobs = tuple(replace(job, number=first + thread) for thread, job in enumerate(self.jobs))


def described(request):
    """A Static of what swagg-tofino says; its jobs have no numbers yet, but those of their threads."""
    span = span_of(request["threads"] * request["slots"])
    jobs = tuple(
        plan.Job(thread, request["elements"], request["slots"],
                 tuple(plan.Worker(w["ip"], w["port"] + thread, w["mac"], None) for w in request["workers"]),
                 first_tag=NEW_RUN, labelled=True, first_slot=thread * request["slots"], span=span)
        for thread in range(request["threads"]))
    return Static(request["name"], request["quiet_ms"] / 1000, jobs)


def as_described(job):
    """A switch's job, as before it was opened: whatever its number, wherever its workers are, and whichever tensors its slots took first."""
    return replace(job, number=job.first_slot // job.slots, first_tag=NEW_RUN, workers=tuple(replace(w, egress=None) for w in job.workers))


class Statics:
    """Those of a configuration, and of operators: opened once all of their workers' MAC addresses have been heard; started over where their workers
    have, for a published client does not say so.

    It has if for quiet_ms nothing changes in the job's registers, while stale packets of the job come: chunks of a new run that are older
    than the last one's. A job whose workers are merely silent, or begin at a newer chunk, goes on as it is. Empty slots take no more than half
    of all tensors. So if none has come since they started over, and all is stale, they start over with the other half: the workers are in the
    midst of a run."""

    def __init__(self, switch, requests):
        self.switch, self.now = switch, 0
        self.all = [self._describe(request) for request in requests]
        wanted = {job: static for static in self.all for job in static.jobs}
        for number, (job, _) in list(switch.jobs.items()):
            thread = as_described(job)
            if thread in wanted:
                wanted[thread].number_from(number - thread.number)
            elif number >= FIRST:
                switch.close(number)
        for static in self.all:
            if static.jobs[0].number < FIRST:
                static.number_from(self._free())

    def _describe(self, request):
        """The same as described; plan.DoesNotFit says why this switch cannot have it."""
        static = described(request)
        for job in static.jobs:
            try:
                plan.check(job, self.switch.chip)
            except plan.DoesNotFit as problem:
                raise plan.DoesNotFit(f"static job {request['name']}: {problem}") from problem
        return static

    def _free(self):
        """For threads of a job that is new."""
        taken = {*self.switch.jobs, *self.switch.unfinished, *(job.number for static in self.all for job in static.jobs)}
        return next(first for first in itertools.count(FIRST, THREADS) if taken.isdisjoint(range(first, first + THREADS)))

    # --- jobs that operators add ---------------------------------------------------------------------------------

    def add(self, request):
        """There must be room for it now, though its workers may not have been heard."""
        static = self._describe(request)
        static.number_from(self._free())
        try:
            if None in self._ports(static):
                self.switch.check_room(static.jobs)
            self.open(static)
        except (plan.DoesNotFit, SwitchError):
            self._close(static)
            raise
        self.all.append(static)

    def remove(self, static):
        self._close(static)
        self.all.remove(static)

    def _close(self, static):
        for job in reversed(static.jobs):  # the rows of all are the first one's: it goes last, also if this is killed in between
            if job.number in self.switch.jobs:
                self.switch.close(job.number)

    # -------------------------------------------------------------------------------------------------------------

    def _ports(self, static):
        """By its workers; None: one was not heard."""
        return [self.switch.port_of(w.mac) for w in static.jobs[0].workers]

    def open(self, static):
        """What is not open of it, if its workers have been heard."""
        ports = self._ports(static)
        missing = [job for job in static.jobs if job.number not in self.switch.jobs and None not in ports]
        for job in missing:
            people = tuple(replace(w, egress=port) for w, port in zip(job.workers, ports))
            first = static.jobs[0].number
            self.switch.open(replace(job, workers=people), None if job.number == first else first)
            say(f"static job {static.name}: thread {job.number - first} runs")
        static.refused = None

    def runs(self, static):
        return all(job.number in self.switch.jobs for job in static.jobs)

    def named(self, name):
        return next(static for static in self.all if static.name == name)

    def start_over(self, static, first_tensor=NEW_RUN):
        """Its slots forget all that its workers have sent."""
        self._close(static)
        static.jobs = tuple(replace(job, first_tag=first_tensor) for job in static.jobs)
        static.progress = None
        self.open(static)

    def tick(self, now):
        """Jobs that are joined may have taken the room, or the disk may be full: that ends nothing, and is tried again."""
        self.now = now
        for static in self.all:
            if static.refused and now - static.refused_at < TRY_AGAIN_S:
                continue
            try:
                self.open(static)
                if now - static.looked_at >= static.quiet_s / 4 and self.runs(static):
                    static.looked_at = now
                    self.look(static, now)
            except (plan.DoesNotFit, SwitchError) as problem:
                if static.refused != str(problem):
                    say(f"static job {static.name} waits until there is room: {problem}")
                static.refused, static.refused_at = str(problem), now

    def hear(self, static):
        """What its registers hold, and how many of its packets have been stale: what the chip tells of who has sent."""
        numbers = [job.number for job in static.jobs if job.number in self.switch.jobs]
        signs = [self.switch.registers(number) for number in numbers], self.switch.stale(numbers) if numbers else 0
        if signs != static.signs:
            static.signs, static.heard_at = signs, self.now
        return signs

    def silent_s(self, static):
        """For how long nothing was heard of it, by the clock of the ticks. What changes nothing in its slots, as a copy of a contribution
        does, was not heard."""
        self.hear(static)
        return self.now - static.heard_at

    def look(self, static, now):
        progress, stale = self.hear(static)
        if progress != static.progress:
            static.progress, static.moved_at, static.stale = progress, now, stale
        elif now - static.moved_at >= static.quiet_s and stale > static.stale:
            say(f"static job {static.name}: only stale packets for {static.quiet_s} s: its slots start over. If no worker was started anew, it has too "
                "many slots for tensors as short as its own: see `slots` in docs/tofino.md")
            first, _ = self.switch.jobs[static.jobs[0].number]
            empty = not any(ranks for _, seen in progress for ranks, _ in seen.values())
            self.start_over(static, IN_THE_MIDST if empty and first.first_tag == NEW_RUN else NEW_RUN)
