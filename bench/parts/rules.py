"""What rules about flows between others cost traffic that is of none of them: what rules.sh measured."""
from figures import Figure, Sample, table
import records

FIGURES = (
    Figure("rules_256_vs_1", "With 256 host-addressed jobs, one lcore handles {:.2f} times as many frames of other traffic as with one."),
    Figure("rules_clone_256_vs_1", "With 256 jobs of passing frames, {:.2f} times as many.", first_screen=False),
    Figure("rules_1_vs_none", "With one host-addressed job, {:.2f} times as many as with none.", first_screen=False),
)

KINDS = {"none": "none", "hostagg": "host-addressed", "clone": "of passing frames"}

READING = """
Rules: a capture of frames of 192 bytes, UDP from eight stations to another, in memory, over and over (`net_pcap`), so that one lcore always has
frames. It finds out for each whose it is: of none of the configuration's jobs, and for a station that nobody has heard, so there is no port to
send it to. That is all it does, which makes rules look dearer than they are where frames are sent on. What counts are frames a second of the
lcore's own running time; the numbers of jobs take turns.
"""


def collect(rows):
    rates = {}
    for (kind, count, _), reports in sorted(rows.items()):
        rates.setdefault((kind, int(count)), []).extend(report["frames_pps"] for report in reports)

    def ratio(one, other):
        return records.ratios(rates[one], rates[other])

    return ({"rules_256_vs_1": ratio(("hostagg", 256), ("hostagg", 1)), "rules_clone_256_vs_1": ratio(("clone", 256), ("clone", 1)),
             "rules_1_vs_none": ratio(("hostagg", 1), ("none", 0))},
            {"rates": [{"kind": kind, "jobs": count, "mpps": [pps / 1e6 for pps in found]} for (kind, count), found in rates.items()]})


def section(data):
    rows = [(KINDS[row["kind"]], row["jobs"], Sample(row["mpps"]).spread(2))
            for row in sorted(data["rates"], key=lambda row: (list(KINDS).index(row["kind"]), row["jobs"]))]
    return "## Rules\n\n" + table(("jobs", "how many", "frames that pass, million a second"), rows)
