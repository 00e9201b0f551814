"""Trees of switches that are simulated: what scale.sh had swagg-sim play."""
from figures import Figure, table

FIGURES = (
    Figure("scale_3600_100g_0ppm_whole_share", "Simulated, a whole allreduce of 3,600 workers below three levels of switches has {:.1%} of the goodput that "
           "their links of 100 Gb/s and the framing allow."),
    Figure("scale_240_100g_0ppm_whole_share", "Simulated, a whole allreduce of 240 workers below two levels {:.1%}."),
    Figure("scale_240_10g_1000ppm_whole_share", "Simulated, with 0.1% lost on every cable, a whole allreduce of 240 workers at 10 Gb/s has {:.1%} of it.",
           ">= 0.8", first_screen=False),
    Figure("goodput_3600_share", "Simulated, in the middle of an allreduce 3,600 workers have {:.1%} of it.", ">= 0.95"),
    Figure("goodput_240_share", "Simulated, in the middle of an allreduce 240 workers have {:.1%}.", first_screen=False),
)

READING = """
Scale: simulated, with the real pools and streams, and time that is simulated, too, so every run gives the same; how, and the figures
for other links and losses, is told in [scale.md](../scale.md). A whole allreduce is the time from the first packet until the last worker has everything, with
fill, drain and the first round trips; its middle leaves these out, and says what a longer tensor comes to.
"""

LOSSES = (0, 100, 1000)  # ppm


def collect(rows):
    figures = rows["all",][0]
    return ({figure.name: figures[figure.name] for figure in FIGURES if figure.name in figures}, {"simulated": figures})


def section(data):
    trees = sorted({int(name.split("_")[1]) for name in data["simulated"] if name.startswith("scale_")})
    speeds = sorted({int(name.split("_")[2][:-1]) for name in data["simulated"] if name.startswith("scale_")})

    def share(workers, gbps, ppm):
        found = data["simulated"].get(f"scale_{workers}_{gbps}g_{ppm}ppm_whole_share")
        return "-" if found is None else f"{found:.3f}"

    rows = [(f"{workers} workers, {gbps} Gb/s", *(share(workers, gbps, ppm) for ppm in LOSSES)) for workers in trees for gbps in speeds]
    return "## Scale, simulated\n\n" + table(("whole allreduces, of the ideal", "no loss", "loss 0.01%", "loss 0.1%"), rows)
