"""Jobs that compete for aggregators and a link: what atp_jobs.sh measured."""
import records
from figures import Figure, Sample, table
from parts.atp_reports import goodput, goodputs, of_link, rows as jobs_of

NUMBER = {2: "two", 3: "three"}
FILLED = 0.95  # of a link
WAYS = {"dynamic": "shared as packets come", "static": "a part for each job", "slots": "a part for each in slots of SwitchML's"}
FIGURES = tuple(figure for jobs, words in NUMBER.items() for suffix in ["" if jobs == 2 else f"_{jobs}"] for figure in (
    Figure(f"atp_dynamic_vs_static{suffix}", f"With aggregators for one, {words} jobs that work in turns are {{:.2f}} times as fast as where each has "
           "a part of them to itself.", ">= 1.2"),
    Figure(f"atp_dynamic_vs_slots{suffix}", f"With aggregators for one, {words} jobs that work in turns are {{:.2f}} times as fast as in slots of "
           "SwitchML's, where each has a part of that memory.", ">= 1.2"),
    Figure(f"atp_all_on_link_share{suffix}", f"{words.capitalize()} jobs that all work use {{:.1%}} of the link together.", ">= 0.95"),
    Figure(f"atp_all_on_jain{suffix}", f"Jain's index of what {words} jobs get that all work is {{:.3f}}.", ">= 0.95"),
    Figure(f"atp_all_on_scarce_link_share{suffix}", f"With aggregators for one, {words} jobs that all work use {{:.1%}} of the link together.", ">= 0.95"),
))

READING = """
Jobs that compete: two and three jobs on the same hosts and links. All on: each sums 16 MiB once, and all begin at the same time; together they
get all their bytes by the time of the slowest. Jain's index is that of their goodputs: 1 if all get the same. Aggregators for one: a job has up to 32 chunks
under way, and the switch the fewest of 2, 4, 6, 8, 12, 16, 24 and 32 aggregators with which one job that is alone has 95% of its link, found anew in each run (above: how
many those are). It needs one for each chunk of which some workers' packets have come, and others' not: so it needs the more the less workers go on in step. What finds no aggregator crosses
the server's link once for each worker. In turns: each job sums 4 MiB every 1.8 s (of three, 2.7 s), 0.9 s after the job before, so that it is off half of the time or more, and
none is on beside it, unless it is late. Aggregators are shared as packets come, or are divided (`atp.parts`): then what a job has no aggregator
for goes to the server, though those of the job that is off are empty. The figure is the mean of the jobs' goodputs while they are on. A part alone
does well, too, since the switch remembers which packets of a chunk found no aggregator, and sends on the sum of the others.

The paper (section 7.3.2, figure 10) divides memory among jobs that use SwitchML's slots, so that is measured, too: each job has its part of the same memory as slots,
of which each keeps two chunks, the one that it collects and the one before. Their number is a power of two, rounded up: of 12 aggregators two jobs get four slots each,
three jobs two. A job in slots has as many chunks under way as it has slots. In the paper ATP is the faster, here a little the slower: on links of 100 Mbit/s few packets under way
fill the link, and a slot is free again as soon as the last worker's packet has come, where an aggregator is held until the server has answered.
"""


def jain(values):
    return sum(values) ** 2 / (len(values) * sum(value ** 2 for value in values))


def fills(report):
    """Whether a job that is alone fills its link."""
    return of_link(goodput(report)) >= FILLED


def together(report):
    """Mbit/s of all, until the slowest is done."""
    found = jobs_of(report)
    return sum(row["bytes"] for row in found) * 8 / max(row["mean_us"] for row in found)


def mean(report):
    return sum(goodputs(report)) / len(report["jobs"])


def collect(rows):
    figures, data = {}, {}
    one = {key[1]: [goodput(report) for report in reports] for key, reports in rows.items() if key[0] == "one"}
    for jobs, words in NUMBER.items():
        if ("all_on", str(jobs)) not in rows:
            continue
        suffix = "" if jobs == 2 else f"_{jobs}"
        all_on, scarce = (rows[what, str(jobs)] for what in ("all_on", "all_on_scarce"))
        turns = {way: [mean(report) for report in rows[way, str(jobs)]] for way in WAYS}
        for way in ("static", "slots"):
            figures[f"atp_dynamic_vs_{way}{suffix}"] = records.ratios(turns["dynamic"], turns[way])
        figures[f"atp_all_on_link_share{suffix}"] = [of_link(together(report)) for report in all_on]
        figures[f"atp_all_on_jain{suffix}"] = [jain(goodputs(report)) for report in all_on]
        figures[f"atp_all_on_scarce_link_share{suffix}"] = [of_link(together(report)) for report in scarce]
        data[words] = {"all_on": [together(report) for report in all_on], "scarce": [together(report) for report in scarce], **turns}
    return figures, {"mbits": data, "one": one, "memory": [report["aggregators"] for report in rows["memory",]]}


def section(data):
    rows = [(words, Sample(of["all_on"]).spread(1), Sample(of["scarce"]).spread(1), *(Sample(of[way]).spread(1) for way in WAYS)) for words, of in data["mbits"].items()]
    alone = "; ".join(f"{Sample(mbits).median:.1f} with {n}" for n, mbits in sorted((int(n), mbits) for n, mbits in data["one"].items()))
    said = f"Aggregators for one: {Sample(data['memory']).spread(0)}." + (f" Mbit/s of a job alone, by aggregators: {alone}." if alone else "")
    return "\n\n".join([
        "## Jobs that compete", said,
        table(("jobs", "all on: together, Mbit/s", "with aggregators for one", *(f"then in turns, {says}: each" for says in WAYS.values())), rows)])
