"""How much slower than plain forwarding aggregation is: what dataplane.sh measured."""
from functools import partial

import records
import rooms
from figures import Figure, Sample, figure_table, table
from plot import Panel, lines

MEASURES = (*rooms.SWITCH, "bench/cold.c", "bench/cold_buffers.c", "bench/lcore.c", "bench/lcore_frames.c", "bench/lcore_packets.c",
            "bench/lcore_counts.c", "bench/lcore_peers.c", "bench/prepared.c")  # rooms.py

READING = """
swagg on one lcore, aggregating the chunks of a job or switching frames from port to port, beside `dpdk-testpmd` on the same
CPU, which only swaps a frame's MAC addresses and sends it back, out of the same port or the other one. Both work between the
same memifs, with the same frames, 256 of them on their way (in each direction), and take turns in each run. `swagg-source`,
on another CPU, plays 8 workers on one port that send float32, to be added on arrival: it sends a worker's next frame as soon as the
answer has come, and compares a sample of the answers bit by bit. Sizes are those on the wire, with the 4 bytes of the FCS (1518 gives
the same frames as 1516: 365 floats). Mpps are frames received by the device under test, each of which is answered by one;
medians over the runs. Percentages are of forwarding in the same run. `idle` is the share of time in which the source had
nothing to do, with either device: it copies nothing (memif's zero-copy), and so leads the devices by far with all but small
frames. Where it is below {source_limit:.0%} the source is at its limit, and the device may be faster: with swagg, a share would say nothing, and is
left out, also as a figure; with forwarding only, swagg's share is at most that. `rate_n8_vs_n2` compares frames per second of 8 workers and of 2, with frames of
1076 bytes.
"""

OPEN_LOOP = """
The same job in an open loop: the source sends at a rate, whether or not sums come, and the chunks' numbers start over after four
rounds through the slots, as in a looped capture. The port makes frames wait when its ring is full; what is lost is a
contribution, or a sum for which the source's ring had no room. A contribution that is lost holds up its slot for a round of the
numbers, so one may cost several answers.
"""

REPLAYED = """
A capture of the same job in a loop, read from memory by `net_pcap`, which copies each frame into a buffer and drops what it is to
send: what a frame costs where the device does next to nothing. The difference is what aggregation itself takes.
"""

OVER_NOTHING = """
One lcore of the daemon, in a program of its own (`bench-lcore`), over a device that moves data for nothing: it hands out frames
that lie prepared in memory, and takes back what is sent. What a driver cannot do without is there: buffers are taken from the pool
for those that came in, and sent ones are freed a ring later. The bound is measured in turns with it: the time that macswap takes
over the same device (a loop that does what testpmd does to a frame), and that of a bare loop which reads a payload, adds it to a sum
and writes that. Cold: before each pass of 2048 frames all buffers and slots are put out of every cache, so payloads, sums and
headers come from memory. Warm: 128 frames, written just before. Checksums are compared by the device, as NICs do it, or by the
switch, over the whole payload. A job of 8 workers, float32, on arrival; each chunk's contributions are as far apart as there are
frames in a pass. Times are the thread's own. Gbit/s are those of the frames on the wire, without preambles and gaps.
"""

COUNTED = """
Of the same job, counted in a pass that is not timed: frames where the device hands them out and takes them back, bytes in kernels that
count them. The 8 contributions to a sum are answered by 8 frames. Bytes are those of payload: what the CPU reads and writes of it
between receiving and sending, each time that it does; not what the device moves. An addition reads both and writes the sum; the first
contribution begins the sum, in its own buffer or, if the frame is short, by a copy to the slot. The sum's checksum is made once for all
receivers. Frames of a sum of 512 bytes or more refer to one payload; others have a copy each. Where the switch compares checksums, each
contribution is read once more, with UDP's header.
"""

BY_RDMA = """
The same program with [SwitchML by RDMA](../protocol.md#switchml-by-rdma) and with SwitchML by UDP, in turns: 8 workers, int32 as published
workers send it, 1,024 bytes of it in a packet, messages of 16 packets. By RDMA the switch compares the ICRC of each packet, which no NIC does for
it, and makes one for each that it sends; a sum is copied for each receiver, between headers and ICRC. By UDP, checksums are compared as the first column says, and
receivers share a sum.
"""

TWO_LCORES = """
Two lcores, each with a device of its own, which hands out the frames of the slots that the lcore owns, as a NIC does that deals flows
to queues; pool, buffers and rules are shared. Alone is the mean of each while the other rests.
"""

ONE_BY_ONE = """
One frame of 64 bytes on its way in each direction, from port to port: how long until it is back at the source, which the next one
waits for. The difference is what the switch takes beyond testpmd's macswap: the station's look-up, and rounds of its loop that do
more than receive and send.
"""

# Of the forwarding that is its peer: what swagg does, its name, the peer's.
AGGREGATED, SWITCHED = ("aggregated", "returned"), ("switched", "exchanged")
AIMED = {"192": (192, ">= 0.80"), "1076": (1076, ">= 0.90"), "1516": (1516, ">= 0.90"), "9000": (9018, ">= 0.90")}
BOUND = (192, 1516, 9018)  # sizes of frames
SOURCE_LIMIT = 0.03  # of its time; who is idle for less is no measure of the device
FIGURES = (
    *(Figure(f"lcore_vs_bound_{size}", f"Over a device that moves data for nothing, all of it cold, the bound is {{:.2f}} of what one lcore takes for a frame of {size} bytes.", ">= 0.80")
      for size in BOUND),
    Figure("frames_sent_per_received", "There it sends {:.2f} frames for each that it receives, of 1516 bytes.", first_screen=False),
    Figure("bytes_touched_per_result_1516", "For a sum of 8 contributions in frames of 1516 bytes it reads and writes {:.0f} bytes of payload.", first_screen=False),
    Figure("lcore_roce_vs_udp", "There it handles {:.2f} times as many frames a second of SwitchML by RDMA as by UDP, of the same payload."),
    *(Figure(f"agg_vs_forward_{name}", f"One lcore aggregates {{:.1%}} of the frames of {size} bytes that testpmd forwards.", aim)
      for name, (size, aim) in AIMED.items()),
    Figure("bridge_vs_forward_64", "One lcore switches {:.1%} of the frames of 64 bytes that testpmd forwards.", ">= 0.80"),
    Figure("two_lcores_vs_one", "Over that device two lcores add {:.2f} times as many frames of 1516 bytes as one.", ">= 1.9"),
    Figure("bridge_latency_ns", "To the way of a frame, at low load, switching adds {:.0f} ns to what macswap takes."),
    Figure("rate_n8_vs_n2", "Of frames of 1076 bytes, one lcore adds {:.2f} times as many from 8 workers as from 2.", ">= 0.90"),
)

JOBS = (("aggregated", "returned", "8 workers on one port, float32, on arrival"), ("two_workers", "returned", "2 workers"),
        ("ordered", "returned", "ordered"), ("int32", "returned", "int32"),
        ("no_checksum", "returned", "workers send no UDP checksums"), ("eight_ports", "eight_ports", "each worker on a port of its own"))


def comparison(rows, what, forwarded, frame, **words):
    """A row of a table: what swagg did beside the forwarding of the same frames."""
    ours, theirs = rows["swagg", f"{what},{frame}"], rows["testpmd", f"{forwarded},{frame}"]
    return {**words, "floats": ours[0].get("elements"), "mpps": [row["answers_pps"] / 1e6 for row in ours],
            "forwarded_mpps": [row["answers_pps"] / 1e6 for row in theirs], "share": shares(rows, what, forwarded, frame),
            "idle": [row["idle"] for row in ours], "forwarded_idle": [row["idle"] for row in theirs]}


def shares(rows, what, forwarded, size):
    """Of the runs in which the source was not at its limit with swagg."""
    told = [(ours["answers_pps"], theirs["answers_pps"]) for ours, theirs in zip(rows["swagg", f"{what},{size}"], rows["testpmd", f"{forwarded},{size}"])
            if ours["idle"] >= SOURCE_LIMIT]
    return records.ratios(*zip(*told)) if told else []


def offered(rows, load):
    found = rows["swagg", f"offered_{load},1076"]
    return {"load": load, **{name: [row[f"{name}_pps"] / 1e6 for row in found] for name in ("offered", "sent", "answers")},
            "lost": [row["lost"] / (row["answers"] + row["lost"]) for row in found]}


def replayed(rows, size):
    ours, theirs = ([row["received_pps"] / 1e6 for row in rows[device, f"replayed,{size}"]] for device in ("swagg", "testpmd"))
    return {"size": size, "mpps": ours, "forwarded_mpps": theirs, "extra_ns": [1e3 / a - 1e3 / b for a, b in zip(ours, theirs)]}


def over_nothing(rows, size, memory, checksums):
    found = rows["lcore", f"{size},{memory},{checksums}"]
    return {"size": size, "memory": memory, "checksums": checksums, "kernels": found[0]["kernels"],
            **{name: [row[name] for row in found] for name in ("lcore_ns", "macswap_ns", "loop_ns", "vs_bound")}}


def counted(rows, size, checksums):
    found = rows["lcore", f"{size},cold,{checksums}"]
    return {"size": size, "checksums": checksums, "touched": [row["read"] + row["written"] for row in found],
            **{name: [row[name] for row in found] for name in ("sent_per_received", "payload", "read", "written", "copied_out", "referred")}}


def by_rdma(rows, memory, checksums):
    found = rows["lcore", f"roce,{memory},{checksums}"]
    return {"memory": memory, "checksums": checksums, **{name: [row[name] for row in found] for name in ("roce_ns", "udp_ns", "vs_udp")}}


def two_lcores(rows, size):
    found = rows["lcores", str(size)]
    return {"size": size, **{name: [row[name] for row in found] for name in ("alone_ns", "together_ns", "vs_one")}}


def one_by_one(rows):
    """Of a frame in each direction at a time, ns until the next one."""
    ours, theirs = ([2e9 / row["answers_pps"] for row in rows[device, "one_by_one,64"]] for device in ("swagg", "testpmd"))
    return {"ns": ours, "forwarded_ns": theirs, "extra_ns": [a - b for a, b in zip(ours, theirs)]}


def measured_rows(directory):
    return {(key[0], ",".join(key[1:])): group for key, group in records.reports(directory).items()}


def ways(directory):
    rows = measured_rows(directory)
    sizes = {int(key.split(",")[1]) for _, key in rows if key.startswith("aggregated,")}

    def by_workers():
        return records.ratios(*([row["answers_pps"] for row in rows["swagg", f"{what},1076"]] for what in ("aggregated", "two_workers")))

    of_forwarding = {f"{name}_{size}": (*pair, size) for size in sorted(sizes)
                     for name, pair in (("agg_vs_forward", AGGREGATED), ("bridge_vs_forward", SWITCHED))}
    of_forwarding |= {f"agg_vs_forward_{name}": (*AGGREGATED, size) for name, (size, _) in AIMED.items() if size in sizes}

    return {**{name: partial(shares, rows, *what) for name, what in of_forwarding.items() if shares(rows, *what)},
            **{f"lcore_vs_bound_{size}": lambda size=size: over_nothing(rows, size, "cold", "device")["vs_bound"] for size in BOUND},
            "frames_sent_per_received": lambda: counted(rows, 1516, "device")["sent_per_received"],
            "bytes_touched_per_result_1516": lambda: counted(rows, 1516, "device")["touched"],
            "lcore_roce_vs_udp": lambda: by_rdma(rows, "cold", "device")["vs_udp"],
            "two_lcores_vs_one": lambda: two_lcores(rows, 1516)["vs_one"], "bridge_latency_ns": lambda: one_by_one(rows)["extra_ns"],
            "rate_n8_vs_n2": by_workers}


def collect(directory):
    rows = measured_rows(directory)
    sizes = {what: sorted(int(key.split(",")[1]) for _, key in rows if key.startswith(what + ",")) for what in ("aggregated", "replayed")}
    sizes["replayed"] = sorted(set(sizes["replayed"]))
    return {
        "over_nothing": [over_nothing(rows, size, memory, checksums) for memory in ("cold", "warm") for checksums in ("device", "switch")
                         for size in BOUND],
        "counted": [counted(rows, size, checksums) for checksums in ("device", "switch") for size in BOUND],
        "by_rdma": [by_rdma(rows, memory, checksums) for memory in ("cold", "warm") for checksums in ("device", "switch")],
        "two_lcores": [two_lcores(rows, size) for size in BOUND], "one_by_one": one_by_one(rows),
        "aggregated": [comparison(rows, *AGGREGATED, size, size=size) for size in sizes["aggregated"]],
        "switched": [comparison(rows, *SWITCHED, size, size=size) for size in sizes["aggregated"]],
        "jobs": [comparison(rows, what, forwarded, 1076, job=name) for what, forwarded, name in JOBS],
        "open_loop": [offered(rows, load) for load in (50, 90, 0)],
        "replayed": [replayed(rows, size) for size in sizes["replayed"]],
        "checked": sum(row.get("checked", 0) for (device, _), group in rows.items() for row in group if device in ("swagg", "lcore", "lcores"))}


def median(stored, digits=2):
    return Sample(stored).spread(digits).split(" ")[0]


def percent(stored):
    return f"{100 * Sample(stored).median:.0f}%"


def share_of(row):
    """Of forwarding, as far as the source tells."""
    if not row["share"]:
        return "-"
    return ("at most " if Sample(row["forwarded_idle"]).median < SOURCE_LIMIT else "") + percent(row["share"])


def size_table(data, what):
    rows = [(row["size"], row["floats"], median(row["mpps"]), median(row["forwarded_mpps"]), share_of(row), percent(row["idle"]),
             percent(row["forwarded_idle"])) for row in data[what]]
    return table(("frame", "floats", f"{what}, Mpps", "forwarded, Mpps", "of forwarding", f"idle: {what}", "forwarded"), rows)


def job_table(data):
    rows = [(row["job"], median(row["mpps"]), median(row["forwarded_mpps"]), share_of(row), percent(row["idle"]))
            for row in data["jobs"]]
    return table(("frames of 1076 bytes", "aggregated, Mpps", "forwarded, Mpps", "of forwarding", "idle: aggregated"), rows)


def load_table(data):
    rows = [(f"{row['load']}% of the closed loop" if row["load"] else "as much as the port takes",
             median(row["offered"]) if row["load"] else "-", median(row["sent"]), median(row["answers"]),
             f"{100 * Sample(row['lost']).median:.4f}%") for row in data["open_loop"]]
    return table(("offered load", "Mpps", "sent, Mpps", "answered, Mpps", "lost"), rows)


def replay_table(data):
    rows = [(row["size"], median(row["mpps"]), median(row["forwarded_mpps"]), Sample(row["extra_ns"]).spread(0))
            for row in data["replayed"]]
    return table(("frame", "aggregated, Mpps", "forwarded, Mpps", "difference, ns a frame (extremes)"), rows)


def nothing_table(data):
    rows = [(f"{row['memory']}, checksums by the {row['checksums']}", row["size"], median(row["lcore_ns"], 0),
             f"{8 * row['size'] / Sample(row['lcore_ns']).median:.0f}", median(row["macswap_ns"], 0), median(row["loop_ns"], 0),
             Sample(row["vs_bound"]).spread(2)) for row in data["over_nothing"]]
    return table(("memory", "frame", "one lcore, ns a frame", "Gbit/s", "macswap, ns", "bare loop, ns", "bound by lcore (extremes)"), rows)


def counted_table(data):
    rows = [(f"by the {row['checksums']}", row["size"], median(row["sent_per_received"]), *(median(row[name], 0) for name in
             ("payload", "read", "written", "touched")), f"{Sample(row['touched']).median / Sample(row['payload']).median:.1f}",
             median(row["copied_out"], 0), median(row["referred"], 0)) for row in data["counted"]]
    return table(("checksums", "frame", "frames sent a frame received", "payload", "bytes a sum: read", "written", "both", "both, in payloads",
                  "of it copied into frames", "sent by reference"), rows)


def rdma_table(data):
    rows = [(f"{row['memory']}, checksums by the {row['checksums']}", median(row["roce_ns"], 0), median(row["udp_ns"], 0), Sample(row["vs_udp"]).spread(2))
            for row in data["by_rdma"]]
    return table(("memory", "by RDMA, ns a frame", "by UDP, ns a frame", "frames a second, RDMA by UDP (extremes)"), rows)


def lcores_table(data):
    rows = [(row["size"], median(row["alone_ns"], 0), median(row["together_ns"], 0), Sample(row["vs_one"]).spread(2))
            for row in data["two_lcores"]]
    return table(("frame", "an lcore alone, ns a frame", "beside another, ns a frame", "two by one (extremes)"), rows)


def latency_table(data):
    row = data["one_by_one"]
    return table(("switched, ns", "macswap, ns", "difference, ns (extremes)"),
                 [(median(row["ns"], 0), median(row["forwarded_ns"], 0), Sample(row["extra_ns"]).spread(0))])


def answer(data):
    def handles(what):
        shares = [Sample(row["share"]).median * 100 for row in data[what] if row["share"]]
        return f"{min(shares):.0f} to {max(shares):.0f}%" if shares else "all that the source has"

    return (f"Of the frames that testpmd forwards a second, aggregation on one lcore over memif handles {handles('aggregated')}; "
            f"switching {handles('switched')}.")


def pages(data):
    return {"dataplane": "\n\n".join([
        answer(data), "![Frames a second by size](dataplane.svg)", figure_table(FIGURES, data),
        "## Over a device that moves data for nothing", OVER_NOTHING.strip(), nothing_table(data), "## What a sum touches", COUNTED.strip(), counted_table(data),
        "## Two lcores", TWO_LCORES.strip(), lcores_table(data), "## SwitchML by RDMA", BY_RDMA.strip(), rdma_table(data), "## By size of the frames",
        size_table(data, "aggregated"), size_table(data, "switched"), "## Kinds of jobs", job_table(data),
        "## One frame at a time", ONE_BY_ONE.strip(), latency_table(data), "## Open loop", OPEN_LOOP.strip(), load_table(data), "## Replayed from memory", REPLAYED.strip(), replay_table(data), "## How it is measured",
        READING.format(source_limit=SOURCE_LIMIT).strip(), f"Of swagg's answers {data['checked']:,} were compared; all were right."])}


def plots(data):
    def series(key, label, kind, what="aggregated", times=1):
        points = [(row["size"], Sample(row[key])) for row in data[what] if row[key]]
        return (label, kind, [(size, Sample(sample.median * times)) for size, sample in points])

    ticks = [(row["size"], str(row["size"])) for row in data["aggregated"] if row["size"] in (64, 128, 256, 512, 1516, 9018)]
    return {"dataplane": lines("Frames a second by size", [
        Panel("Frames a second", "million frames a second", x_ticks=ticks, x_unit="bytes of a frame", ranges=False, series=[
            series("forwarded_mpps", "testpmd", "peer"), series("mpps", "switched", "second", "switched"),
            series("mpps", "aggregated", "ours")]),
        Panel("Beside plain forwarding", "% of testpmd's frames", x_ticks=ticks, x_unit="bytes of a frame", ranges=False,
              marks=[(90, "aim from 1076")],
              series=[series("share", "switched", "second", "switched", 100), series("share", "aggregated", "ours", times=100)])])}
