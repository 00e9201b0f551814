"""The first screen of the results: swagg beside its peers as a plot, how many aims are met and which are not, then every figure by page."""
import re

import figures
import plot
from plot import Panel

# What a reader who asks "how fast is it?" looks for, the worst as well as the best: (benchmark, figure, label)
HEADLINES = (
    ("allreduce", "allreduce_200mbit_vs_openmpi", "allreduce, 200 Mbit/s, against Open MPI's choice"),
    ("numbers", "allreduce_200mbit_vs_best", "the same, against Open MPI's best"),
    ("numbers", "allreduce_200mbit_8_hosts_vs_best", "eight hosts, against Open MPI's best"),
    ("numbers", "allreduce_50mbit_16_hosts_vs_best", "sixteen hosts, 50 Mbit/s, against Open MPI's best"),
    ("allreduce", "reduce_200mbit_vs_openmpi", "reduce, 200 Mbit/s, against Open MPI's choice"),
    ("numbers", "reduce_200mbit_vs_best", "the same, against Open MPI's best"),
    ("thc", "thc_vs_best", "allreduce in 4 bits, 100 Mbit/s, against Open MPI's best"),
    ("atp", "atp_no_switch_vs_openmpi", "by a server alone, 100 Mbit/s, against Open MPI's choice"),
    ("allreduce", "allreduce_cpu_vs_openmpi", "allreduce, CPUs the limit, against Open MPI's choice"),
    ("numbers", "allreduce_cpu_vs_best", "the same, against Open MPI's best"),
    ("numbers", "latency_8B_vs_openmpi", "8 bytes, CPUs the limit, against Open MPI's choice"),
    ("numbers", "worst_size_vs_openmpi", "the worst size, CPUs the limit, against Open MPI's choice"),
    ("allreduce", "allreduce_cpu_vs_openmpi_ring", "allreduce, CPUs the limit, against Open MPI's ring"),
    ("allreduce", "allreduce_cpu_af_packet_vs_openmpi", "the same by net_af_packet, against Open MPI's choice"),
    ("allreduce", "reduce_cpu_vs_openmpi", "reduce, CPUs the limit, against Open MPI's choice"),
)
# Beside other peers: (benchmark, figure)
BESIDE = (("thc", "thc_vs_float_tat"), ("thc", "thc_cpu_vs_float"), ("switches", "case1_vs_host_cpu"), ("switches", "case1_vs_host_cpu_p_2x"),
          ("atp", "atp_beside_tcp_job"), ("pytorch", "ddp_step_200mbit_vs_gloo"), ("pytorch", "ddp_step_cpu_vs_gloo"))


def speed(measured):
    """The plot of the headlines, as far as they were measured."""
    rows = [(label, figures.Sample(measured[bench][1]["figures"][name]), "ours")
            for bench, name, label in HEADLINES if bench in measured and name in measured[bench][1]["figures"]]
    return plot.bars("swagg beside Open MPI", [Panel("How many times as fast as Open MPI", "times as fast", rows, marks=[(1, "Open MPI")])])


def best_to_worst(measured):
    """A table of the headlines, and of what is held against other peers."""
    wanted = {*(headline[:2] for headline in HEADLINES), *BESIDE}
    rows = [(figure.sample(data).median, bench, figure) for bench, (module, data) in measured.items()
            for figure in figures.present(module.FIGURES, data) if (bench, figure.name) in wanted]
    rows.sort(key=lambda row: -row[0])
    return "From best to worst:\n\n" + figures.table(
        ("beside its peer", "figure", "median"), [(figure.says.format(median), link(bench, figure), f"{median:.3f}") for median, bench, figure in rows], "llr")


def shown(module, data):
    """(figure, sample) of those on the first screen"""
    return [(figure, figure.sample(data)) for figure in figures.present(module.FIGURES, data) if figure.first_screen]


def link(name, figure):
    return f"[`{figure.name}`](results/{name}.md)"


def aims(measured):
    """How many are met, and a table of the others."""
    held = [(name, figure, sample) for name, (module, data) in measured.items() for figure, sample in shown(module, data) if figure.aim]
    older = sum(measured[name][1]["measured"]["older"] for name, *_ in held)
    missed = [(figure.says.format(sample.median), link(name, figure), f"{sample.median:.3f}", figure.aim)
              for name, figure, sample in held if not figures.meets(sample.median, figure.aim)]
    said = f"**{len(held) - len(missed)} of {len(held)} aims are met.**" + f" {older} of them stand on pages that are older than the code (†)." * (older > 0)
    if not missed:
        return said
    return f"{said} These are not; the page of each says what bounds it:\n\n" + \
        figures.table(("missed", "figure", "median", "aim"), missed, "llrr")


def section(docs, name, module, data):
    """A benchmark's figures, under the question that its page answers."""
    question = (docs / f"results/{name}.md").read_text().splitlines()[0].removeprefix("# ")
    said = data["measured"]
    cores = re.search(r"\d+ cores", said["machine"])[0]
    when = f"{said['date']}, `{said['commit']}`, {cores}" + " †" * said["older"]
    rows = [(figure.says.format(sample.median), link(name, figure), sample.spread(), figure.aim or "-", figure.verdict(sample))
            for figure, sample in shown(module, data)]
    return f"### [{question}](results/{name}.md)\n\nMeasured {when}.\n\n" + \
        figures.table(("what it says", "figure", "median (lowest .. highest run)", "aim", "verdict"), rows, "llrll")


READING = """
![How fast collectives are beside Open MPI's](results/speed.svg)

All beside Open MPI in the same runs; then every figure against its aim. The median of the runs decides; "not in every run" says that
some run missed an aim which the median meets. A † marks figures that are older than the code: something in what their page measures has changed since;
the page says how to see what.
"""


def text(docs, measured):
    """`measured`: {name: (module, data)}"""
    answers = [module.answer(data) for name, (module, data) in measured.items() if name == "allreduce"]
    sections = [section(docs, name, module, data) for name, (module, data) in measured.items()]
    return "\n\n".join([*answers, READING.strip(), best_to_worst(measured), aims(measured), "## Every figure", *sections])
