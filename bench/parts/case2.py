"""Frames that may not be touched, summed in the switch and in the host: what case2.sh measured."""
from figures import Figure, Sample, table
import records

FIGURES = (
    Figure("case2_vs_host", "Of 1,000 frames of 192 bytes from each of two workers, which pass unchanged over links of 10 Mbit/s, the switch has "
           "all sums {:.2f} times as fast as the host.", ">= 1.16"),
)

READING = """
Case 2 of "An In-Network Parameter Aggregation using DPDK for Multi-GPU Deep Learning" (section 5.2.2, figure 12): two workers send 1,000
frames each, of 64 bytes of headers and 32 floats, to a host; swagg forwards every frame as it came. In the switch: swagg sums copies; the
time ends when the collector, on a link of its own, has the last sum. In the host: swagg only forwards, and a program adds what comes by a packet
socket; the time ends with the last addition. It begins in both with the first frame that a worker sends; switch and host take turns in
each run. The host's link carries the frames of both workers, so where links are the limit the bound is the number of workers.
The programs are in Python, which is why the links are slow.
"""


def collect(rows):
    seconds = {where: [report["seconds"] for report in rows[where,]] for where in ("switch", "host") if (where,) in rows}
    if len(seconds) < 2:
        return {}, {"seconds": seconds}
    return {"case2_vs_host": records.ratios(seconds["host"], seconds["switch"])}, {"seconds": seconds}


def section(data):
    rows = [(where, Sample(values).spread(4)) for where, values in data["seconds"].items()]
    return "## Sums of frames that pass by\n\n" + table(("summed in the", "2 x 1,000 frames, s"), rows)
