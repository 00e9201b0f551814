"""What keyed data packets cost."""
import records
from figures import Figure, Sample, table

FIGURES = (
    Figure("auth_cost", "Where nothing but the CPU bounds it, a sum by keyed packets takes {:.2f} times as long as by packets that are "
           "not keyed."),
    Figure("auth_vs_crc32c", "A packet's authenticator takes {:.2f} times as long as its CRC32C."),
)

READING = """
Keyed packets: one process is four ranks and their switch, and hands packets from the one to the other, so no network, device or kernel
takes part, and keys cost the largest share that they can. A tensor of a million floats is summed in turn without a checksum, with a
CRC32C and keyed, each with packets as long as MTU 1500 allows; a ratio is that of sums that follow one another, in CPU time of the thread. Each
contribution is proven once and checked once, and so is each result at every rank. What bounds it: NH multiplies 16 bytes at a time, so
it takes some 30 ns a kilobyte, whatever the vectors of the CPU; SipHash's 14 rounds come after that, and each waits for the one before.
With a network, as in [allreduce](allreduce.md), packets cost the kernel much more than this.
"""

WAYS = (("none", "no checksum"), ("crc32c", "CRC32C"), ("keyed", "keyed"))


def collect(rows):
    def ratio(what, one, other):
        return [value for report in rows["turns",] for value in records.ratios(report[what][one], report[what][other])]

    medians = {what: {way: [Sample(report[what][way]).median for report in rows["turns",]] for way, _ in WAYS}
               for what in ("sum_ms", "trailer_ns")}
    return {"auth_cost": ratio("sum_ms", "keyed", "none"), "auth_vs_crc32c": ratio("trailer_ns", "keyed", "crc32c")}, medians


def section(data):
    rows = [(words, Sample(data["sum_ms"][way]).spread(2), Sample(data["trailer_ns"][way]).spread(0)) for way, words in WAYS]
    return "## Keyed packets\n\n" + table(("packets", "CPU time of a sum, ms", "a trailer, ns"), rows)
