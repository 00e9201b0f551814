"""Which placement of tasks on lcores is fastest: what placement.sh measured."""
from functools import partial

import records
import rooms
from figures import Figure, Sample, table
from plot import Panel, bars

MEASURES = rooms.SWITCH  # rooms.py

READING = """
`swagg-source`, on a CPU of its own, plays 8 workers over two memifs, with 256 frames on their way, 64 if they are jumbo
frames; the switch's lcores have a CPU each and never sleep. The placements take turns in each run. Mpps are frames received by the
switch; the ratio is to one lcore for everything, within each run, and the share of an lcore that ratio divided by the number of
lcores: what a further lcore brings. `idle` is the share of time in which the source had nothing to do: near 0% it is the limit, not
the switch. In the column of tasks a bar parts the lcores.
"""

# Names: the tasks, and how many lcores.
FORMS = {
    "one": ("rx tx aggregate: run to completion", 1),
    "ports_apart": ("rx tx aggregate of a port each: run to completion", 2),
    "aggregation_apart": ("rx tx | aggregate", 2),
    "receiving_apart": ("rx | tx aggregate", 2),
    "sending_apart": ("rx aggregate | tx", 2),
    "p_2x": ("rx tx | aggregate | aggregate", 3),
    "2p_x": ("rx | tx | aggregate", 3),
    "ports_and_aggregation_apart": ("rx tx of a port each | aggregate", 3),
    "ports_apart_and_one_more": ("rx tx aggregate of a port each | aggregate", 3),
}

SAYS = {"ports_apart": "With frames of {} bytes two lcores with a port each are {{:.2f}} times as fast as one.",
        "aggregation_apart": "With frames of {} bytes two lcores, one of them for aggregation, are {{:.2f}} times as fast as one."}
FIGURES = tuple(Figure(f"placement_{form}_{frame}", says.format(frame), first_screen=(form, frame) == ("ports_apart", 1516))
                for form, says in SAYS.items() for frame in (192, 1516, 9018))


def measured_rows(directory):
    return {(form, int(frame)): group for (form, frame), group in records.reports(directory).items()}


def ways(directory):
    rows = measured_rows(directory)

    def ratio(form, frame):
        return records.ratios(*([row["answers_pps"] for row in rows[which, frame]] for which in (form, "one")))

    return {f"placement_{form}_{frame}": partial(ratio, form, frame) for form, frame in rows}


def collect(directory):
    rows = measured_rows(directory)
    placements = []
    for frame in sorted({frame for _, frame in rows}):
        for form in (form for form in FORMS if (form, frame) in rows):
            group = rows[form, frame]
            placements.append({"form": form, "frame": frame, "mpps": [row["answers_pps"] / 1e6 for row in group],
                               "idle": [row["idle"] for row in group]})
    return {"placements": placements}


def ratio(data, form, frame):
    return Sample(data["figures"][f"placement_{form}_{frame}"])


def frames(data):
    return sorted({row["frame"] for row in data["placements"]})


def frame_table(data, frame):
    rows = []
    for row in (row for row in data["placements"] if row["frame"] == frame):
        tasks, lcores = FORMS[row["form"]]
        to_one = ratio(data, row["form"], frame)
        rows.append((tasks.replace("|", "\\|"), lcores, f"{Sample(row['mpps']).median:.2f}", to_one.spread(),
                     f"{to_one.median / lcores:.2f}", f"{100 * Sample(row['idle']).median:.0f}%"))
    return table((f"{frame} bytes: tasks", "lcores", "Mpps", "to one lcore (extremes)", "share of an lcore", "idle"), rows)


def answer(data):
    """Each placement that is the fastest for some size, and how much it brings."""
    best = {}
    for frame in frames(data):
        forms = (row["form"] for row in data["placements"] if row["frame"] == frame)
        best.setdefault(max(forms, key=lambda form: ratio(data, form, frame).median), []).append(frame)
    return "\n".join(
        f"Of those measured, `{FORMS[form][0]}` ({FORMS[form][1]} lcores) is fastest for frames of {', '.join(map(str, sizes))} bytes: "
        f"{', '.join(f'{ratio(data, form, frame).median:.2f}' for frame in sizes)} times as fast as one lcore that does everything."
        for form, sizes in best.items())


def pages(data):
    return {"placement": "\n\n".join([
        answer(data), "![Speed of each placement by one lcore's](placement.svg)", *(frame_table(data, frame) for frame in frames(data)),
        "## How it is measured", READING.strip()])}


def plots(data):
    panels = [Panel(f"Frames of {frame} bytes", "speed by that of one lcore for everything: more is better",
                    rows=[(f"{FORMS[row['form']][0]} ({FORMS[row['form']][1]})", ratio(data, row["form"], frame),
                           "peer" if row["form"] == "one" else "ours")
                          for row in data["placements"] if row["frame"] == frame], marks=[(1, "one lcore")]) for frame in frames(data)]
    return {"placement": bars("Speed of each placement by one lcore's", panels)}
