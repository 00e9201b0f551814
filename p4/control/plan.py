"""What a job is to the program: its rows in the registers, what they hold at first, and its table entries. Pure:
nothing here speaks to a switch."""
from dataclasses import dataclass, field

from control.reasons import NUMBERS

ELEMENTS = (32, 64, 128, 256)  # of a packet, by size code
LABEL_MASK = 0xFFFFFFFF
STEP_ADD, STEP_READ_A, STEP_READ_B, STEP_READ_BOTH, STEP_EXPONENTS = 1, 2, 3, 4, 5
SENDERS = "Ingress.senders.senders"
WORKERS = "Results.workers"
PIPE_BITS, MAX_RANKS = 7, 32
ENTRIES = 2048  # of SENDERS
MAX_SLOTS = 8192  # as many as newest.p4 tells a packet's slot by
NUMBER_MAX = 255  # that a packet can name; labelled jobs may have others


class DoesNotFit(Exception):
    """A job that this switch cannot hold; the text says why."""


@dataclass(frozen=True)
class Chip:
    """What the plan must know of a profile."""
    name: str
    rows: int
    both_words: bool  # a register action returns both words of a register


CHIPS = {"tofino": Chip("tofino", 16384, False), "tofino2": Chip("tofino2", 32768, True)}


@dataclass(frozen=True)
class Worker:
    ip: int
    port: int  # UDP
    mac: int
    egress: int  # the switch's port that leads to it


@dataclass(frozen=True)
class Job:
    """slots: a power of two. first_tag: the first chunk's. labelled: of published clients, whose chunks have labels
    instead; first_tag is a tensor then, see first_label. Each thread of theirs is a job of its own here, with slots
    from first_slot on, a multiple of slots, and all share the same area, which has room for so many slots: span, a
    power of two."""
    number: int
    elements: int
    slots: int
    workers: tuple
    first_tag: int = 0
    labelled: bool = False
    first_slot: int = 0
    span: int = 0


@dataclass(frozen=True)
class Home:
    """Where a job lives: its rows begin at base; group is that of copies to all ranks; rid + rank is a copy's. loop:
    the port by which packets go on to the next step, in the pipe that has the job's rows. pipes: of the switch."""
    base: int
    group: int
    rid: int
    loop: int
    pipes: int = 1


@dataclass(frozen=True)
class Write:
    """One entry of a table: a value, (value, mask) or None for each key; lower priorities match first."""
    table: str
    keys: tuple
    action: str
    arguments: tuple = ()
    priority: int = 0


@dataclass
class Plan:
    tables: list = field(default_factory=list)    # of Write
    newest: dict = field(default_factory=dict)    # row -> (label, e0)
    seen: dict = field(default_factory=dict)      # row -> (ranks, e1)
    copies: list = field(default_factory=list)    # (rid, port) of the multicast group


def is_power_of_two(n):
    return n > 0 and n & (n - 1) == 0


def passes(job):
    """How many passes add a packet's elements: 64 each."""
    return max(1, job.elements // 64)


def area(job):
    """Rows of one pass."""
    return 2 * (job.span or job.slots)


def rows(job):
    """Rows of a job; they begin at a multiple of their number."""
    return passes(job) * area(job)


def check(job, chip):
    if job.elements not in ELEMENTS:
        raise DoesNotFit(f"{job.elements} elements a packet: must be 32, 64, 128 or 256")
    if not 1 <= len(job.workers) <= MAX_RANKS:
        raise DoesNotFit(f"{len(job.workers)} workers: a job on this switch has at most {MAX_RANKS}")
    if not is_power_of_two(job.slots) or job.slots < 2:
        raise DoesNotFit(f"{job.slots} slots: must be a power of two, at least 2")
    span = job.span or job.slots
    if not is_power_of_two(span) or job.first_slot % job.slots or job.first_slot + job.slots > span:
        raise DoesNotFit(f"{job.slots} slots from {job.first_slot} on, of {span}: must begin at a multiple of them")
    if rows(job) > chip.rows:
        raise DoesNotFit(f"{job.slots} slots of {job.elements} elements need {rows(job)} rows of {chip.rows}")
    if span > MAX_SLOTS:
        raise DoesNotFit(f"{span} slots: at most {MAX_SLOTS}")


def reads(job, chip):
    """Steps that read a sum, last block first: (what, pass)."""
    last = passes(job) - 1
    if chip.both_words:
        return [(STEP_READ_BOTH, p) for p in range(last - 1, -1, -1)]
    if job.elements == 32:
        return [(STEP_EXPONENTS, 0)]
    found = [(STEP_READ_A, last)]
    for p in range(last - 1, -1, -1):
        found += [(STEP_READ_B, p), (STEP_READ_A, p)]
    return found


def steps(job, chip, bare):
    """What happens to a packet, pass by pass: (what, pass, last of those that add, final, blocks of the next)."""
    adds = 1 if bare else passes(job)
    after = reads(job, chip)
    if bare:
        after = [] if chip.both_words else [(STEP_EXPONENTS, 0)]
    found = [(STEP_ADD, p, p == adds - 1, p == adds - 1 and not after, 0 if p == adds - 1 else 2) for p in range(adds)]
    return found + [(what, p, False, i == len(after) - 1, 0) for i, (what, p) in enumerate(after)]


def first_label(job, slot, ver):
    """What the row of a slot and version holds before its first chunk: just older than that, and no chunk's own. With
    labels any of 64 tensors may be its first, from first_tag on; any of 128, if that is 64 or 192 (newest.p4)."""
    if job.labelled:
        return (job.first_tag << 24) - 1 & LABEL_MASK
    tag = job.first_tag + (slot + ver * job.slots - job.first_tag) % (2 * job.slots)
    return (tag - tag % 2 - 1) & LABEL_MASK


def chunk_of(job, slot, label):
    """The tag of the chunk that a label stands for; in a job of published clients tensor * 2^23 + packet."""
    return label >> 1 if job.labelled else label & ~1 | slot & 1


def always():
    """What is written once, whatever jobs there are."""
    return [_refusal((None,) * 4 + (1,) + (None,) * 4, "sml_bad_slot", 0)]


def way(job, home, rank):
    """How results get to a rank: an entry, and a copy (rid, port)."""
    w = job.workers[rank]
    return Write(WORKERS, (home.rid + rank,), "worker", (w.mac, w.ip, w.port)), (home.rid + rank, w.egress)


def plan(job, home, chip):
    """Everything that is to be written for a job."""
    check(job, chip)
    ways = [way(job, home, rank) for rank in range(len(job.workers))]
    made = Plan(tables=[write for write, _ in ways], copies=[copy for _, copy in ways])
    for p in range(passes(job)):
        for slot in range(job.first_slot, job.first_slot + job.slots):
            for ver in range(2):
                row = home.base + p * area(job) + 2 * slot + ver
                made.newest[row] = (first_label(job, slot, ver), 0)
                made.seen[row] = (0, 0)
    for rank, worker in enumerate(job.workers):
        made.tables += _worker(job, home, chip, rank, worker)
    if job.number <= NUMBER_MAX:
        made.tables.append(_refusal((None,) * 3 + (job.number,) + (None,) * 5, "sml_foreign_sender", 3))
    return made


def entries(job, home, chip):
    """How many of SENDERS it takes."""
    return sum(write.table == SENDERS for write in plan(job, home, chip).tables)


def _refusal(keys, reason, priority):
    return Write(SENDERS, keys, "refuse", (NUMBERS[reason],), priority)


def _worker(job, home, chip, rank, worker):
    """The entries of one worker: its steps, and what else may be wrong with its packets."""
    size = 0x10 | ELEMENTS.index(job.elements)
    number = None if job.labelled else job.number
    slot = (job.first_slot, 0x3FFF & ~(job.slots - 1))
    found = []
    for bare in (0, 1):
        for step, does in enumerate(steps(job, chip, bare)):
            keys = (worker.ip, worker.port, size, number, 0, slot, bare, step)
            found.append(Write(SENDERS, (*keys, _in_pipe(home.loop)), *_action(job, home, rank, does)))
        found += _carried(job, home, (worker.ip, worker.port, size, number, 0, slot, bare, 0), bare)
    ours = (worker.ip, worker.port, None, number)
    return found + [_refusal((*ours, 0, slot, None, None, None), "drop_bad_length", 1),
                    _refusal((*ours, None, None, None, None, None), "drop_bad_slot", 2)]


def _in_pipe(port):
    return (port >> PIPE_BITS << PIPE_BITS, 0x180)


def _action(job, home, rank, does):
    what, p, last, final, take = does
    base = home.base + p * area(job)
    if what != STEP_ADD:
        return "read", (what, base, home.group, int(final), home.loop)
    n = len(job.workers)
    common = (rank, 1 << rank, (1 << n) - 1, home.group, int(last), int(final), take, home.loop)
    if job.labelled:
        return "labelled", (base, *common)
    return "tagged", (base, job.slots.bit_length() - 1, *common)


def _carried(job, home, keys, bare):
    """Packets that come to other pipes go to the job's own first."""
    take = 0 if bare else 1 if job.elements == 32 else 2
    here = home.loop >> PIPE_BITS
    return [Write(SENDERS, (*keys, _in_pipe(pipe << PIPE_BITS)), "carry", (take, home.loop))
            for pipe in range(home.pipes) if pipe != here]


class Areas:
    """Free rows: areas that are as long as a power of two and begin at a multiple of it."""

    def __init__(self, rows):
        self.free = {rows: [0]}  # length -> bases

    def take(self, length):
        """The base of an area of this length, or None."""
        found = min((n for n, bases in self.free.items() if n >= length and bases), default=None)
        if found is None:
            return None
        base = min(self.free[found])
        self.free[found].remove(base)
        while found > length:
            found //= 2
            self.free.setdefault(found, []).append(base + found)
        return base

    def take_at(self, base, length):
        """This very area, which is free."""
        found = next((n, b) for n, bases in self.free.items() for b in bases if b <= base and base + length <= b + n)
        n, start = found
        self.free[n].remove(start)
        while n > length:
            n //= 2
            keep = start + n if base >= start + n else start
            self.free.setdefault(n, []).append(start if keep != start else start + n)
            start = keep

    def give(self, base, length):
        """Back, joined with its neighbour where that is free, too."""
        while base ^ length in self.free.get(length, []):
            self.free[length].remove(base ^ length)
            base, length = min(base, base ^ length), 2 * length
        self.free.setdefault(length, []).append(base)
