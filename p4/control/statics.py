"""Jobs of published SwitchML clients, which nobody joins: the configuration describes them (docs/tofino.md, "Running it"), and
each thread of a worker is in a plan.Job of its own, numbered from FIRST on."""
from dataclasses import dataclass, replace

from control import plan
from control.bfrt import SwitchError
from control.say import say

FIRST = 256  # jobs that are joined have the numbers below, which are on the wire; these are not
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
    progress: object = None  # what the registers held when they had changed last
    heard_at: float = 0
    looked_at: float = 0
    stale: int = 0  # how many of its packets had been stale by then
    refused: str = None  # why the switch has not opened it, as it was said last
    refused_at: float = 0


def described(request, first):
    """A Static of what swagg-tofino says, its jobs numbered from first on."""
    span = span_of(request["threads"] * request["slots"])
    jobs = tuple(
        plan.Job(first + thread, request["elements"], request["slots"],
                 tuple(plan.Worker(w["ip"], w["port"] + thread, w["mac"], None) for w in request["workers"]),
                 first_tag=NEW_RUN, labelled=True, first_slot=thread * request["slots"], span=span)
        for thread in range(request["threads"]))
    return Static(request["name"], request["quiet_ms"] / 1000, jobs)


def as_described(job):
    """A switch's job, as before it was opened: wherever its workers are, and whichever tensors its slots took first."""
    return replace(job, first_tag=NEW_RUN, workers=tuple(replace(w, egress=None) for w in job.workers))


class Statics:
    """Those of a configuration: opened once all of their workers' MAC addresses have been heard; started over where their workers
    have, for a published client does not say so.

    It has if for quiet_ms nothing changes in the job's registers, while stale packets of the job come: chunks of a new run that are older
    than the last one's. A job whose workers are merely silent, or begin at a newer chunk, goes on as it is. Empty slots take no more than half
    of all tensors. So if none has come since they started over, and all is stale, they start over with the other half: the workers are in the
    midst of a run."""

    def __init__(self, switch, requests):
        self.switch, self.all, number = switch, [], FIRST
        for request in requests:
            self.all.append(described(request, number))
            number += request["threads"]
            for job in self.all[-1].jobs:
                try:
                    plan.check(job, switch.chip)
                except plan.DoesNotFit as problem:
                    raise plan.DoesNotFit(f"static job {request['name']}: {problem}") from problem
        wanted = {job.number: job for static in self.all for job in static.jobs}
        for number, (job, _) in list(switch.jobs.items()):
            if number >= FIRST and as_described(job) != wanted.get(number):
                switch.close(number)

    def open(self, static):
        """What is not open of it, if its workers have been heard."""
        missing = [job for job in static.jobs if job.number not in self.switch.jobs]
        for job in missing:
            ports = [self.switch.port_of(w.mac) for w in job.workers]
            if None in ports:
                break
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
        for job in static.jobs:
            if job.number in self.switch.jobs:
                self.switch.close(job.number)
        static.jobs = tuple(replace(job, first_tag=first_tensor) for job in static.jobs)
        static.progress = None
        self.open(static)

    def tick(self, now):
        """Jobs that are joined may have taken the room, or the disk may be full: that ends nothing, and is tried again."""
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

    def look(self, static, now):
        numbers = [job.number for job in static.jobs]
        progress, stale = [self.switch.registers(number) for number in numbers], self.switch.stale(numbers)
        if progress != static.progress:
            static.progress, static.heard_at, static.stale = progress, now, stale
        elif now - static.heard_at >= static.quiet_s and stale > static.stale:
            say(f"static job {static.name}: only stale packets for {static.quiet_s} s: its slots start over. If no worker was started anew, it has too "
                "many slots for tensors as short as its own: see `slots` in docs/tofino.md")
            first, _ = self.switch.jobs[numbers[0]]
            empty = not any(ranks for _, seen in progress for ranks, _ in seen.values())
            self.start_over(static, IN_THE_MIDST if empty and first.first_tag == NEW_RUN else NEW_RUN)
