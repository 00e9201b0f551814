"""What one lcore does for jobs of 8, 64 and 1,024 workers, and what it costs to note who is late."""
import records
from figures import Figure, Sample, table

FIGURES = (
    Figure("skew_cost", "While it notes by how much each rank is late, one lcore adds {:.1%} of the frames of 1076 bytes that it "
           "adds without.", ">= 0.98"),
    Figure("rate_n64_vs_n8", "Of frames of 1076 bytes, one lcore adds {:.2f} times as many from 64 workers as from 8.", ">= 0.95"),
    Figure("rate_n1024_vs_n8", "Of frames of 1076 bytes, one lcore adds {:.2f} times as many from 1,024 workers as from 8."),
)

READING = """
A capture of the workers' frames of 1076 bytes, in memory, over and over (`net_pcap`, which copies each frame into a buffer and drops
what it is to send), so that one lcore of swagg always has frames, and the device does next to nothing for it. What counts are sums sent
a second of the lcore's own running time, so that other programs on its CPU take less from it. The jobs take turns; a ratio is that of
two that follow one another. `skew_cost` is the ratio of `agg_vs_forward_1076`
([dataplane](dataplane.md)) with and without: the forwarding, the same for both, cancels out. Where devices cost more than here, noting
costs a smaller share.
"""

JOBS = (("delays", "8 workers"), ("no_delays", "8 workers, `pool.delays: false`"), ("workers_64", "64 workers"),
        ("workers_1024", "1,024 workers"))


def collect(rows):
    turns = {what: sorted(key[1] for key in rows if key[0] == what) for what, _ in JOBS}
    rate = {what: [report["answers_pps"] for turn in turns[what] for report in rows[what, turn]] for what, _ in JOBS}

    def ratio(one, other):
        return records.ratios(rate[one], rate[other])

    return ({"skew_cost": ratio("delays", "no_delays"), "rate_n64_vs_n8": ratio("workers_64", "delays"),
             "rate_n1024_vs_n8": ratio("workers_1024", "delays")},
            {"mpps": {what: [pps / 1e6 for pps in rates] for what, rates in rate.items()}})


def section(data):
    rows = [(words, Sample(data["mpps"][what]).spread(2)) for what, words in JOBS]
    return "## One lcore\n\n" + table(("job", "sums sent, million a second"), rows)
