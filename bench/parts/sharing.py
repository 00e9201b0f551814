"""How jobs share a switch: what sharing.sh measured."""
import statistics

import records
from figures import Figure, Sample, table

FIGURES = (
    Figure("two_jobs_sum_share", "Two jobs together get {:.1%} of the sums that one alone gets from a full lcore.", ">= 0.95"),
    Figure("two_jobs_vs_one_as_wide", "Two jobs get {:.1%} of what one alone gets that has as many ports and frames on their way as both.",
           ">= 0.95"),
    Figure("two_jobs_vs_no_turns", "Two jobs get {:.1%} of what they get if nothing keeps them from taking more than their parts.", ">= 0.95"),
    Figure("two_jobs_uneven", "Of two equal jobs, the one that gets less is {:.1%} below half.", "<= 0.05"),
    Figure("weights_3_to_1_ratio", "A job of three times the weight gets {:.2f} times the sums.", first_screen=False),
    Figure("weights_3_to_1_off", "What a job of three times the weight gets is {:.1%} off three times.", "<= 0.05"),
    Figure("victim_slowdown", "While another job floods, disagrees and crashes, and a stranger joins and forges, an allreduce on links "
           "of 100 Mbit/s takes {:.3f} times as long as alone.", "<= 1.05"),
)

READING = """
Two jobs: `swagg-source` plays 8 workers a job, each job on a memif port of its own, with 256 frames of 1076 bytes on their way, float32,
against one lcore; it copies nothing, and leads the lcore. Jobs are those of two tenants. Turns of one job alone, one on both ports with
512 frames on their way, two that are no tenant's and so take no turns, two of equal weight and two of weights 3 and 1 follow one another;
a run's figures are medians of its turns. What two jobs get less than one alone may have two causes. An lcore with two ports and twice as many
frames on their way has twice as much memory to go through, whoever sends: one job on both ports shows that. What two that take turns get less than two that take
none is what it costs to count who has had how much, and to let frames wait of jobs that have had their parts. The victim: two ranks of `swagg-perf` on two of
four hosts on veths whose links are limited to 100 Mbit/s, allreduces of 1 MB. These two hosts are one tenant, the other two another. On
each of those, a rank of a job of theirs sums without a pause, disagrees with its peer, and is killed every two seconds; a process joins
a job of the victim's name every 50 ms, as another rank each time, which to the switch is a job of the other tenant's; and one sends
gradient packets of all jobs as fast as its link takes them, in turn as itself and under the address of a host of the victim's.
"""


def turns(rows, what):
    """[[report, one a run] of a turn]"""
    return [reports for key, reports in rows.items() if key[0] == what]


def medians(rows, what, value):
    return [statistics.median(value(report) for report in of_run) for of_run in zip(*turns(rows, what))]


PLAYS = {"alone": "one job alone", "alone_wide": "the same on both ports, with twice as many frames on their way",
         "no_turns": "two that take no turns", "equal": "two of equal weight", "three_to_one": "two of weights 3 and 1"}


def collect(rows):
    pps = {what: medians(rows, what, lambda report: report["answers_pps"]) for what in PLAYS}
    uneven = medians(rows, "equal", lambda report: 1 - min(report["by_job_pps"]) / (sum(report["by_job_pps"]) / 2))
    weighted = medians(rows, "three_to_one", lambda report: report["by_job_pps"][0] / report["by_job_pps"][1])
    time = {what: medians(rows, what, lambda report: report[0]["mean_us"]) for what in ("quiet", "attacked")}
    by = {what: records.ratios(pps["equal"], pps[what]) for what in PLAYS}
    return ({"two_jobs_sum_share": by["alone"], "two_jobs_vs_one_as_wide": by["alone_wide"], "two_jobs_vs_no_turns": by["no_turns"], "two_jobs_uneven": uneven,
             "weights_3_to_1_ratio": weighted, "weights_3_to_1_off": [abs(ratio / 3 - 1) for ratio in weighted],
             "victim_slowdown": records.ratios(time["attacked"], time["quiet"])},
            {"mpps": {what: [value / 1e6 for value in values] for what, values in pps.items()},
             "victim_ms": {what: [us / 1e3 for us in us_of] for what, us_of in time.items()}})


def section(data):
    rows = [(says, Sample(data["mpps"][what]).spread(2)) for what, says in PLAYS.items()]
    victim = [("alone", Sample(data["victim_ms"]["quiet"]).spread(1)), ("attacked", Sample(data["victim_ms"]["attacked"]).spread(1))]
    return ("## Jobs beside one another\n\n" + table(("jobs", "sums sent, million a second"), rows) + "\n\n"
            + table(("victim", "allreduce of 1 MB, ms"), victim))
