"""ATP at 100 Gb/s with many workers and jobs: what `swagg-sim atp --curves` has played."""
import json
import os

import records
from figures import Figure, Sample, figure_table, table
from plot import Panel, lines

MEASURES = ("lib/core/atp", "sim/atp_*", "sim/curves")  # rooms.py

WORKERS = {8: "ours", 32: "second", 64: "third"}
JOBS = (1, 2, 4, 8, 16)
LOSSES = (0.001, 0.01, 0.1, 1)  # percent
FORWARDED = (0, 0.25, 0.5, 0.75, 1)
FIGURES = (
    Figure("atp_sim_alone_share", "Simulated, a job of 64 workers by ATP uses {:.1%} of its links of 100 Gb/s."),
    Figure("atp_sim_jobs_share", "Simulated, 16 jobs of 8 workers by ATP use {:.1%} of links of 100 Gb/s together, where the switch has room for all."),
    Figure("atp_sim_jobs_share_64", "Simulated, 16 jobs of 64 workers by ATP use {:.1%} of links of 100 Gb/s together, where the switch has room for all.",
           first_screen=False),
    Figure("atp_sim_loss_0.1pct_share", "Simulated, with 0.1% of frames lost a job of 8 workers by ATP uses {:.1%} of a link of 100 Gb/s."),
    Figure("atp_sim_loss_0.1pct_share_64", "Simulated, with 0.1% of frames lost a job of 64 workers by ATP uses {:.1%} of a link of 100 Gb/s."),
    Figure("atp_sim_at_50pct_vs_model", "Simulated, where the switch passes on half of the chunks of 8 workers, goodput is {:.1%} of what the bytes on "
           "the server's link of 100 Gb/s allow.", ">= 0.9"),
    Figure("atp_sim_control_on_vs_off", "Simulated, where the switch passes on half of the chunks of 8 workers, goodput with congestion control is "
           "{:.2f} times that without.", ">= 2"),
    Figure("atp_sim_dynamic_vs_static", "Simulated, with aggregators for one, 16 jobs of 8 workers that work in turns, on hosts that are late now and then, are "
           "{:.2f} times as fast as where each has a part of them to itself.", ">= 1.2"),
    Figure("atp_sim_scarce_share", "Simulated, two jobs of 8 workers that all work, with aggregators for one, use {:.1%} of a link of 100 Gb/s together.",
           ">= 0.95"),
    Figure("atp_sim_racks_share", "Simulated, a job of 64 workers in four racks, each with a switch that adds, uses {:.1%} of a link of 100 Gb/s.",
           first_screen=False),
    Figure("atp_sim_unequal_jain", "Simulated, of two jobs of 8 and 2 workers with aggregators for one none is favoured: Jain's index of their goodputs is {:.3f}.",
           ">= 0.95", first_screen=False),
    Figure("atp_sim_scarce_late_share", "Simulated, the same on hosts that are late now and then, they use {:.1%}.", ">= 0.95", first_screen=False),
)

READING = """
`swagg-sim atp --curves` plays it, with the real aggregator table, parameter servers and streams of `lib/core/atp`; a seed decides everything, so it gives
the same on every machine, in some minutes of CPU time. Every call that ends is compared with the sum, in every worker. What the network is:

- **A star:** {workers} hosts with a worker of every job, one more with the parameter servers of all jobs, and one switch between them.
- **Cables** of {gbps:g} Gb/s, {delay_us:g} µs of delay, frames of 9,018 bytes ({chunk_bytes:,} of them elements; {carried}). What a host sends
  waits in the host. A port of the switch has a queue of {queue_kb:,.0f} kB, and marks what finds more than {mark_kb:,.0f} kB there (ECN). Losses are independent, on
  each cable in each direction.
- **The switch** adds in no time, and so do servers: what is measured is links, queues, aggregators and the protocol. Results leave by multicast.
- **Goodput, of the link:** the time that the frames of the jobs' results take on one link, by the time that passed: 1 is a link that carries nothing else.
  It is counted after {settle} of settling; jobs start 0.3 ms apart, each with a call of one element.
- **Losses, forwarding:** one job, 1,024 chunks under way at most, more aggregators than it uses. Forwarding is `atp.forward`, as in the
  [testbed](atp.md); what the bytes allow is 1 / (1 + f (n - 1)) of the link, where f is the share passed on and n the number of workers. Without control 1,024 chunks are under way all the time.
- **Room for all:** 64 chunks a job, 65,536 aggregators. **An aggregator for each chunk under way:** 16 chunks a job, which fill a link, and as many
  aggregators as these are together. **Aggregators for one:** 16 in all, and 16 chunks a job. *Divided*: each job has a
  part of them to itself (`atp.parts`).
- **Hosts late:** every {nap_every:g} µs, on the average, a host takes nothing for up to {nap_most:g} µs. Then a job needs an aggregator for each chunk of which some workers' packets have come, and others' not;
  if all workers go on in step, it needs but one. 32 chunks a job, and 16 aggregators, the fewest of 8, 16 and 32 with which a job of 8 workers fills its link.
  **In turns:** a job makes a call (750 chunks or more) when the one before it has all its results.

What it cannot show: CPUs that are the limit.
"""


def at(data, curve, workers, jobs=1, **wanted):
    """The point of a curve: by loss_pct, forwarded, control, divided."""
    wanted = {"loss_pct": 0, "forwarded": 0, "control": True, "divided": False} | wanted
    for p in data["points"]:
        if (p["curve"], p["workers"], p["jobs"]) == (curve, workers, jobs) and all(
                (p["parts"] > 0 if key == "divided" else p[key]) == value for key, value in wanted.items()):
            return p
    return None


def model(workers, share):
    return 1 / (1 + share * (workers - 1))


def ways(directory):
    path = os.path.join(directory, "curves.json")
    return ways_of(json.loads(records.text(directory, "curves.json"))) if os.path.exists(path) else {}


def ways_of(data):
    """A quick look has other points."""
    def share(*where, key="share", **wanted):
        p = at(data, *where, **wanted)
        if p is None:
            raise ValueError(f"no point {where} {wanted}")
        return p[key]

    half = {"forwarded": 0.5}
    return {
        "atp_sim_alone_share": lambda: share("loss", 64),
        "atp_sim_jobs_share": lambda: share("room", 8, 16),
        "atp_sim_jobs_share_64": lambda: share("room", 64, 16),
        "atp_sim_loss_0.1pct_share": lambda: share("loss", 8, loss_pct=0.1),
        "atp_sim_loss_0.1pct_share_64": lambda: share("loss", 64, loss_pct=0.1),
        "atp_sim_at_50pct_vs_model": lambda: share("forward", 8, **half) / model(8, 0.5),
        "atp_sim_control_on_vs_off": lambda: share("forward", 8, **half) / share("forward", 8, control=False, **half),
        "atp_sim_dynamic_vs_static": lambda: share("turns", 8, 16) / share("turns", 8, 16, divided=True),
        "atp_sim_scarce_share": lambda: share("all_on", 8, 2),
        "atp_sim_racks_share": lambda: share("racks", 64),
        "atp_sim_unequal_jain": lambda: share("unequal_all_on", 8, 2, key="jain"),
        "atp_sim_scarce_late_share": lambda: share("late", 8, 2),
    }


def collect(directory):
    return json.loads(records.text(directory, "curves.json"))


# --- the page -------------------------------------------------------------------------------------------------------

def sizes(data):
    return sorted({p["workers"] for p in data["points"]})


def jobs_of(data):
    return sorted({p["jobs"] for p in data["points"]})


def cell(data, curve, workers, jobs=1, key="share", **wanted):
    p = at(data, curve, workers, jobs, **wanted)
    return "-" if p is None else f"{p[key]:.3f}"


def by_workers(data):
    return [f"{n} workers" for n in sizes(data)]


def losses_section(data):
    rows = [(f"{loss:g}%", *(cell(data, "loss", n, loss_pct=loss) for n in sizes(data))) for loss in (0, *LOSSES)]
    return "## Losses\n\n![Goodput by loss](atp_sim_loss.svg)\n\n" + table(("frames lost; goodput, of the link", *by_workers(data)), rows)


def forwarding_section(data):
    rows = []
    for share in FORWARDED:
        for control, says in ((True, "with"), (False, "without")):
            rows.append((f"{share:.0%}, {says}", *(f"{cell(data, 'forward', n, forwarded=share, control=control)} of {model(n, share):.3f}"
                                                   for n in sizes(data))))
    return ("## Chunks that the switch passes on\n\n![Goodput by the share passed on](atp_sim_forwarding.svg)\n\n"
            + table(("passed on, congestion control; goodput, of the link, of what the bytes allow", *by_workers(data)), rows))


def jobs_section(data):
    ways = (("room for all", "room", False), ("an aggregator for each chunk under way", "enough", False), ("aggregators for one", "all_on", False), ("aggregators for one, divided", "all_on", True),
            ("hosts late, aggregators for one", "late", False), ("hosts late, in turns, aggregators for one", "turns", False), ("hosts late, in turns, divided", "turns", True))
    rows = [(f"{jobs}: {says}", *(cell(data, curve, n, jobs, divided=divided) for n in sizes(data)),
             *(cell(data, curve, n, jobs, key="jain", divided=divided) if curve != "turns" else "-" for n in sizes(data)))
            for jobs in jobs_of(data) for says, curve, divided in ways]
    head = ("jobs; goodput of all, of the link", *by_workers(data), *(f"Jain, {n}" for n in sizes(data)))
    return ("## Jobs that compete\n\n![Goodput of jobs that all work](atp_sim_jobs.svg)\n\n![Goodput of jobs in turns](atp_sim_turns.svg)\n\n"
            + table(head, rows))


def racks_section(data):
    rows = [(says, *(cell(data, curve, n) for n in sizes(data)), *(cell(data, curve, n, key="to_server") for n in sizes(data)))
            for says, curve in (("the jobs know which rack is the servers'", "racks"), ("they do not", "racks_near_unknown"))]
    head = ("four racks; goodput, of the link; packets to the server for each chunk", *by_workers(data), *by_workers(data))
    return ("## Two levels\n\nOne job, whose workers are in four racks, in their order; the servers are beside the first. Each rack has a switch that adds, and one "
            "cable to the servers' switch.\n\n" + table(head, rows))


def unequal_section(data):
    ways = (("room for all", "unequal_room"), ("aggregators for one", "unequal_all_on"), ("hosts late, aggregators for one", "unequal_late"))
    n = min(sizes(data))
    rows = [(says, cell(data, curve, n, 2), cell(data, curve, n, 2, key="jain")) for says, curve in ways]
    return f"## Unequal jobs\n\nA job of {n} workers, and one of 2 on two of the same hosts.\n\n" + table((f"jobs of {n} and 2 workers", "goodput of both, of the link", "Jain"), rows)


def of_bytes(data, workers, forwarded, control=True):
    return share_of(data, "forward", workers, forwarded=forwarded, control=control) / model(workers, forwarded)


def answer(data):
    points = {name: at(data, *where, **wanted) for name, where, wanted in (
        ("alone", ("loss", 64), {}), ("room", ("room", 64, 16), {}), ("loss_8", ("loss", 8), {"loss_pct": 0.1}), ("loss_64", ("loss", 64), {"loss_pct": 0.1}),
        ("little_64", ("loss", 64), {"loss_pct": 0.001}), ("scarce_8", ("all_on", 8, 2), {}), ("scarce_64", ("all_on", 64, 16), {}), ("late_8", ("late", 8, 2), {}), ("late_64", ("late", 64, 2), {}),
        ("turns", ("turns", 8, 16), {}), ("divided", ("turns", 8, 16), {"divided": True}))}
    said = {name: f"{p['share']:.{0 if p['share'] < 0.9 else 1}%}" for name, p in points.items()}
    least = {n: min(of_bytes(data, n, share) for share in FORWARDED) for n in (8, 64)}
    return (f"Where nothing is lost and the switch has room, workers and jobs cost nothing: 64 workers use {said['alone']} of the link, and so do 16 jobs of "
            f"64 ({said['room']}). Three things cost:\n\n"
            f"1. **Losses, by the number of workers.** A chunk needs every worker's packet. If one is lost, all workers ask for the chunk (64 questions are half a packet), the "
            f"switch sends on what it has, and one worker sends again; so a chunk that lost a packet is two or three on the server's link, and late. A loss of 0.1% leaves {said['loss_8']} of the link with 8 workers, and {said['loss_64']} with 64; of 0.001%, {said['little_64']} with 64.\n"
            f"2. **Chunks that the switch has no aggregator for.** Each crosses the server's link once for each worker. With congestion control goodput is at "
            f"least {least[8]:.0%} of what these bytes allow with 8 workers, and {least[64]:.0%} with 64; without it queues overflow.\n"
            f"3. **Workers that are not in step, where aggregators are scarce.** If all are, jobs hardly need any: with aggregators for one, two jobs of 8 workers that all work get {said['scarce_8']} of the "
            f"link, and 16 of 64 {said['scarce_64']}. If hosts are late now and then, two jobs of 8 workers get {said['late_8']}, and of 64 {said['late_64']}. So give the switch as many aggregators as all jobs' slots together, or "
            f"jobs fewer slots. Jobs that work in turns need them for one only ({said['turns']} with 16 jobs on late hosts; where the same are divided, {said['divided']}).")


def pages(data):
    reading = READING.format(workers=" or ".join(map(str, sizes(data))), gbps=data["gbps"], delay_us=data["delay_us"], chunk_bytes=data["chunk_bytes"],
                             carried=f"{data['carried_bytes']} of them are played, all count on the cables", queue_kb=data["queue_bytes"] / 1e3,
                             mark_kb=data["mark_bytes"] / 1e3, settle=f"{data['settle_ms']:g} ms, of several jobs {data['settle_jobs_ms']:g} ms,", nap_every=data["nap_every_us"], nap_most=data["nap_most_us"])
    return {"atp_sim": "\n\n".join([answer(data), figure_table(FIGURES, data), losses_section(data), forwarding_section(data), jobs_section(data),
                                    racks_section(data), unequal_section(data),
                                    "## How it is simulated", reading.strip()])}


# --- the pictures ---------------------------------------------------------------------------------------------------

def series(data, xs, value):
    """A line for each number of workers; value(n, x): None where it was not played."""
    kinds = list(WORKERS.values())
    made = []
    for i, n in enumerate(sizes(data)):
        points = [(x, Sample(value(n, x))) for x in xs if value(n, x) is not None]
        made.append((f"{n} workers", WORKERS.get(n, kinds[i]), points))
    return made


def share_of(data, curve, n, jobs=1, **wanted):
    p = at(data, curve, n, jobs, **wanted)
    return p and p["share"]


def plots(data):
    unit = "goodput, of the link"
    losses = [(loss, f"{loss:g}%") for loss in LOSSES]
    shares = [(share, f"{share:.0%}") for share in FORWARDED]
    jobs = [(count, str(count)) for count in jobs_of(data)]

    def by_bytes(control):
        return series(data, FORWARDED, lambda n, f: of_bytes(data, n, f, control))

    def by_jobs(heading, curve, divided=False):
        return Panel(heading, unit, x_ticks=jobs, x_unit="jobs",
                     series=series(data, jobs_of(data), lambda n, k: share_of(data, curve, n, k, divided=divided)))

    return {
        "atp_sim_loss": lines("ATP at 100 Gb/s, simulated: goodput by loss", [
            Panel("One job", unit, x_ticks=losses, x_unit="frames lost, on each cable",
                  series=series(data, LOSSES, lambda n, loss: share_of(data, "loss", n, loss_pct=loss)))]),
        "atp_sim_forwarding": lines("ATP at 100 Gb/s, simulated: goodput by the share of chunks that the switch passes on", [
            Panel(f"One job, {says} congestion control", "goodput, of what the bytes allow", x_log=False, x_ticks=shares,
                  x_unit="chunks passed on", series=by_bytes(control)) for control, says in ((True, "with"), (False, "without"))]),
        "atp_sim_jobs": lines("ATP at 100 Gb/s, simulated: jobs that all work", [
            by_jobs("Aggregators for one", "all_on"), by_jobs("The same, hosts late", "late")]),
        "atp_sim_turns": lines("ATP at 100 Gb/s, simulated: jobs that work in turns on hosts that are late, with aggregators for one", [
            by_jobs("Shared as packets come", "turns"), by_jobs("A part for each job", "turns", True)]),
    }
