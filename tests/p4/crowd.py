"""Jobs whose workers keep to the protocol, on a network that loses, copies, holds back and reorders."""
import struct

from rig import data

from control import plan

LIVES = (0, 1000, 2**30 - 40, 2**31 - 40, 3 * 2**30 - 40, 2**32 - 40)  # first tags: numbers wrap in various places
TENSORS = (0, 60, 124, 188, 252)  # the same of published clients: the program compares each quarter in its own way
FULL, BARE = 0, 1


class Life:
    """One life of a job: what each rank sends as its chunk i, and what the sum is."""

    def __init__(self, random, number, workers, elements, slots, labelled):
        self.random_seed = random.getrandbits(32)
        first = random.choice(TENSORS) if labelled else (random.choice(LIVES) + random.randrange(8)) % 2**32
        self.job = plan.Job(number, elements, slots, workers, first, labelled)
        self.labels = []  # of published clients: (tensor, packet) of chunk i
        self.tensors = first  # that have begun
        self.packets, self.chunks = {}, {}
        self.make_random = type(random)

    def label(self, i):
        while len(self.labels) <= i:
            length = 1 + (self.tensors * 7 + self.random_seed) % 5
            self.labels += [(self.tensors % 256, packet) for packet in range(length)]
            self.tensors += 1
        return self.labels[i]

    def where(self, i):
        """(job byte, tag, version, slot) of chunk i."""
        job = self.job
        if job.labelled:
            tensor, packet = self.label(i)
            return tensor, packet, i // job.slots % 2, i % job.slots
        tag = (job.first_tag + i) % 2**32
        return job.number, tag, tag // job.slots % 2, tag % job.slots

    def packet(self, i, rank):
        """What rank sends as its chunk i; always the same."""
        if (i, rank) not in self.packets:
            r = self.make_random(self.random_seed ^ i * 1000003 ^ rank * 7919)
            bare = (self.random_seed >> i % 29) % 4 == 0
            values = () if bare else tuple(r.choice((r.getrandbits(32), 0x7FFFFFFF, 0x80000000, 1)) for _ in range(self.job.elements))
            byte, tag, ver, slot = self.where(i)
            self.packets[i, rank] = data(self.job.elements, byte, tag, ver, slot, r.randrange(256), r.randrange(256), values)
        return self.packets[i, rank]

    def sum(self, i):
        """The result of chunk i, computed here."""
        packets = [self.packet(i, rank) for rank in range(len(self.job.workers))]
        signed = [struct.unpack(">bb", p[8:10]) for p in packets]
        exponents = struct.pack(">bb", *(max(e[j] for e in signed) for j in range(2)))
        columns = zip(*(struct.unpack(f">{(len(p) - 10) // 4}I", p[10:]) for p in packets))
        body = b"".join((sum(c) & 0xFFFFFFFF).to_bytes(4, "big") for c in columns)
        return packets[0][:8] + exponents + body


class Rank:
    """One worker of a life. It has the results of all chunks below `whole`, and of those in `beyond`."""

    def __init__(self, life, rank):
        self.life, self.rank = life, rank
        self.worker = life.job.workers[rank]
        self.sent, self.whole, self.beyond = 0, 0, set()

    def next(self, random):
        """A packet to send now: a new one if that is allowed, or one without a result once more; None: neither."""
        slots, fresh = self.life.job.slots, self.sent
        may = self.whole + slots > fresh if not self.life.job.labelled else fresh - slots < self.whole or fresh - slots in self.beyond
        if may and random.random() < 0.8:
            self.sent += 1
            return self.life.packet(fresh, self.rank)
        waiting = [i for i in range(self.whole, self.sent) if i not in self.beyond]
        return self.life.packet(random.choice(waiting), self.rank) if waiting else None

    def receive(self, payload):
        """A result; returns whether it is what it must be."""
        for i in range(max(0, self.whole - 2 * self.life.job.slots), self.sent):
            if self.life.packet(i, self.rank)[:8] == payload[:8]:
                if payload != self.life.sum(i):
                    return False
                if i >= self.whole:
                    self.beyond.add(i)
                while self.whole in self.beyond:
                    self.beyond.remove(self.whole)
                    self.whole += 1
                return True
        return False


class Crowd:
    """Several lives, one after another in each of several places."""

    def __init__(self, random, shapes):
        """shapes: (ranks, elements, slots, labelled) of each place."""
        self.random, self.shapes = random, shapes
        self.lives, self.ranks = {}, {}
        self.under_way, self.history = [], []
        self.numbers, self.first_worker = iter(range(1, 250)), 0

    def begin(self, place, workers):
        n, elements, slots, labelled = self.shapes[place]
        life = Life(self.random, next(self.numbers), workers, elements, slots, labelled)
        self.lives[place] = life
        self.ranks[place] = [Rank(life, rank) for rank in range(n)]
        return life

    def move(self):
        """Something happens on the network; returns (worker, payload) that gets to the switch now, or None."""
        random = self.random
        place = random.randrange(len(self.shapes))
        rank = random.choice(self.ranks[place])
        payload = rank.next(random)
        if payload is not None and random.random() > 0.1:  # else lost
            self.under_way.append((rank.worker, payload))
            self.history.append((rank.worker, payload))
        if random.random() < 0.03 and self.history:  # however late
            return random.choice(self.history)
        if not self.under_way:
            return None
        at = random.randrange(min(len(self.under_way), 1 + random.choice((0, 4, 64))))
        return self.under_way[at] if random.random() < 0.1 else self.under_way.pop(at)
