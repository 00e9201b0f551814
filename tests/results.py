#!/usr/bin/env python3
"""Tests what makes docs/results.md and its pages: that they are what their data make of them, and that every benchmark's records
become data, a page and a plot. results.py TEMPORARY_DIRECTORY"""
import contextlib
import io
import itertools
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "bench"))
import allreduce
import atp
import atp_sim
import case3
import collectives
import dataplane
import hosts
import idle
import loss
import numbers_bench
import operate
import papers
import placement
import plot
import pytorch
import reduce
import replay
import report
import rooms
import thc
from figures import Figure, Sample
from parts import atp_forwarding, atp_loss, case1, one_lcore, why

RUNS = (1, 2, 3)


def put(directory, name, content):
    (directory / name).write_text(content if isinstance(content, str) else json.dumps(content))


def mpi_row(kib, seconds):
    return {"bytes": kib << 10, "median_us": seconds * 1e6, "cpu_us": seconds * 2e6, "switch_cpu_us": 1e5, "wrong": 0}


# Records as the benchmarks leave them: swagg takes a second, a peer two, in each run a little more.

def allreduce_records(directory):
    for _, setting, op, *variants in allreduce.RATIOS:
        for run in RUNS:
            for variant in (*variants, "swagg"):
                put(directory, f"{run},{setting},{variant},{op}.json", [mpi_row(1024, (1 if "swagg" in variant else 2) * run)])


def reduce_records(directory):
    for run in RUNS:
        for timing in reduce.TIMINGS:
            for variant in ("openmpi", *reduce.VARIANTS):
                put(directory, f"{run},{variant},{timing}.json", [mpi_row(kib, 2 if variant == "openmpi" else 1) for kib in reduce.SIZES])


def loss_records(directory):
    for run in RUNS:
        for percent in ("0", *loss.LOSSES):
            for variant in loss.VARIANTS:
                put(directory, f"{run},{percent}pct,{variant},allreduce.json", [mpi_row(1024, 1 + float(percent) / 10)])
    rows = [f"{gbps:5} {percent:9.4f}  {timer:6} {8.4:10.3f} {1.1:10.3f} {1.0:7.3f} {274000:10} {9:9} {7:8}"
            for gbps in (10, 100) for timer in ("ours", "paper") for percent in (0, 0.01, 0.1, 1)]
    put(directory, "sim.txt", "\n".join(["4 workers", "", " Gb/s  loss %  timer", *rows, ""]))
    put(directory, "sim.json", {"sim_workers": 4})


def dataplane_records(directory):
    whats = [(what, size) for what in ("aggregated", "switched", "returned", "exchanged") for size in (64, 192, 1076, 1516, 9018)]
    whats += [("one_by_one", 64)] + [(what, 1076) for job in dataplane.JOBS for what in job[:2]] + [(f"offered_{load}", 1076) for load in (50, 90, 0)]
    for run in RUNS:
        for device, rate in (("swagg", 1e6), ("testpmd", 2e6)):
            for what, size in whats:
                put(directory, f"{run},{device},{what},{size}.json",
                    {"elements": 9, "answers_pps": rate, "idle": 0.5, "offered_pps": 1e6, "sent_pps": 1e6, "lost": 0, "answers": 9,
                     "checked": 1})
            put(directory, f"{run},{device},replayed,192.json", {"received_pps": rate})
        for size, memory, checksums in itertools.product(dataplane.BOUND, ("cold", "warm"), ("device", "switch")):
            put(directory, f"{run},lcore,{size},{memory},{checksums}.json",
                {"kernels": "avx2", "lcore_ns": 200, "macswap_ns": 40, "loop_ns": 80, "vs_bound": 0.6, "checked": 1,
                 "sent_per_received": 1, "payload": 1000, "read": 15000, "written": 7000, "copied_out": 0, "referred": 8000})
        for memory, checksums in itertools.product(("cold", "warm"), ("device", "switch")):
            put(directory, f"{run},lcore,roce,{memory},{checksums}.json", {"roce_ns": 400, "udp_ns": 200, "vs_udp": 0.5, "checked": 1})
        for size in dataplane.BOUND:
            put(directory, f"{run},lcores,{size}.json", {"alone_ns": 200, "together_ns": 205, "vs_one": 1.95, "checked": 1})


def placement_records(directory):
    for run in RUNS:
        for form in placement.FORMS:
            for frame in (192, 1516, 9018):
                put(directory, f"{run},{form},{frame}.json", {"answers_pps": 1e6 if form == "one" else 2e6, "idle": 0.5})


def idle_records(directory):
    for run in RUNS:
        for setting in idle.SETTINGS:
            put(directory, f"{run},{setting}.json", {"cpu": 0.04, "allreduce_us": [9.0, 8.0], "rtt_ms": [0.1, 0.2 * run, 0.3]})


def pytorch_records(directory):
    for run in RUNS:
        for links in pytorch.LINKS:
            for way in pytorch.WAYS:
                put(directory, f"{run},{links},{way}.json", {"step_s": [run * (2 if way == "gloo" else 1)] * 3, "sums_s": [0.9 * run] * 3, "gradient_bytes": 25000000})
        for turn in (1, 2):
            put(directory, f"{run},calls,python,{turn}.json", {"call_us": {"8": 200 * turn - 100, "1048576": 11000}})
            put(directory, f"{run},calls,c,{turn}.json", [{"bytes": size, "mean_us": us, "wrong": 0} for size, us in ((8, 100), (1 << 20, 10000))])
        put(directory, f"{run},nccl.json", {f"{what}_{way}_s": [0.01 * run] * 3 for what in ("allreduce", "allgather", "reduce_scatter") for way in ("libswagg", "table")})


def collectives_records(directory):
    """Half of a posted call is hidden."""
    seconds = {what: 1.0 for what in collectives.WHATS} | {"asleep_both": 1.5, "busy_both": 2.0}
    for run in RUNS:
        for links in collectives.LINKS:
            put(directory, f"{run},{links},posted.json", {f"{what}_s": [run * s] for what, s in seconds.items()})
            for op in (*collectives.OPS, "barrier"):
                for variant, taken in (("openmpi", 3), ("best", 2), ("swagg", 1)):
                    put(directory, f"{run},{links},{variant},{op}.json", [mpi_row(4096, taken * run)])
        for size in collectives.SIZES:
            for front in ("preload", "component"):
                put(directory, f"{run},none,{front}_{size},1,allreduce.json", [mpi_row(4, run)])
        for turn, op in itertools.product((1, 2), (*collectives.OPS, "barrier")):
            put(directory, f"{run},none,{turn},small,{op}.json", [mpi_row(kib, 2) | {"library_us": 1e6} for kib in (1, 4)])
        for way, taken in (("flat", 1), ("level", 2)):
            put(directory, f"{run},none,{way},small.json", {"sixteen_s": [taken * run]})


def hosts_records(directory):
    """Four times as fast as each rank for itself."""
    for run in RUNS:
        for setting in hosts.SETTINGS:
            for variant, seconds in (("openmpi", 3), ("best", 2), ("flat", 4), ("swagg", 1)):
                put(directory, f"{run},{setting},{variant},allreduce.json", [mpi_row(4096, seconds * run)])
        for variant, seconds in (("openmpi", 2), ("ucx", 1), ("swagg", 1)):
            for part, kib in zip(hosts.PARTS, (4, 128, 4096)):
                put(directory, f"{run},one,{variant},{part},1.json", [mpi_row(kib, seconds), mpi_row(4 * kib, seconds)])
        for variant, seconds in (("one_50mbit", 2), ("two_50mbit", 1), ("one_100mbit", 3), ("two_100mbit", 2), ("slow", 4), ("fast", 2), ("uneven", 2)):
            put(directory, f"{run},links,{variant},allreduce.json", [mpi_row(4096, seconds * run)])
        for setting, count in itertools.product(hosts.THREADS, (1, 2, 4)):
            put(directory, f"{run},{setting},{count},allreduce.json", [mpi_row(4096, run)])
    put(directory, "1,one,memory,shared.json", {"ranks": 4, "bytes": 10 << 20})
    for setting in hosts.SETTINGS:
        for variant in ("short_4", "short_han_1048576", "full_han_adapt_65536", "full_han_simple"):
            put(directory, f"1,{setting},{variant},allreduce.json", [mpi_row(4096, 2)])


def core_records(directory):
    packets = [f"{kind}  {mode:14} avx2 {k:12} {4 * k:6} | {2.0 * k:9.1f} {k:9.1f} {k:9.1f} | {2:8.2f} {2:8.2f}"
               for mode in ("on arrival", "kept + CRC32C") for kind in ("i32", "f32") for k in (32, 256, 365)]
    checksums = [f"{of:8} {kernels:8} {length:6} | {1.0 * length:9.1f} {1:9.1f} {1:8.2f}" for length in (146, 1042, 1478)
                 for of, kernels in (("UDP", "scalar"), ("UDP", "avx2"), ("CRC32C", "scalar"), ("CRC32C", "sse4.2"), ("memcpy", "libc"))]
    put(directory, "core.txt", "\n".join([
        "Words", "", "Warm", "type", *packets, "", "Large: 512", "type", *packets, "", "Kernels, warm", "type", *packets[1:2], "",
        "Sums alone: a kernel", "type", "i32  warm   avx2 1024 | 15.0 8.2 13.9 | 0.54 0.92", "f32  cold   avx2 8960 | 1382.1 1775.7 1775.7 | 1.27 1.27", "",
        "Checksums, warm", "of", *checksums, "", "A float32 contribution, warm", "kernels", "avx2 1408 | 29.4 32.9 -3.5", ""]))
    put(directory, "core.json", {"apply_vs_loop_1024": 2.0, "apply_vs_loop_1024_large": 1.5, "kernel_i32_vs_bound": 0.92})
    for function in ("sml_pool_locate", "sml_pool_apply", "time_memcpy", "time_loop"):
        put(directory, f"{function}.1", "desc: Trigger: Client Request: f32,on arrival,avx2,32,10\nsummary: 500\n")
    put(directory, "time_checksum.1", "desc: Trigger: Client Request: UDP,avx2,146,10\ntotals: 500\n")


def numbers_records(directory):
    for run in RUNS:
        for op in ("allreduce", "reduce"):
            put(directory, f"{run},100mbit_8,swagg,{op}.json", [mpi_row(1024, 1)])
        for setting in numbers_bench.SEARCHED:
            for variant, seconds in (("best", 2), ("openmpi", 3), ("swagg", 1)):
                for op in ("allreduce", "reduce"):
                    put(directory, f"{run},{setting},{variant},{op}.json", [mpi_row(1024, seconds)])
        for setting in numbers_bench.SETTINGS:
            for variant, first in (("openmpi", 0.02), ("swagg", 0.01), ("beside", 0.01)):
                for part, size, times in (("small", 8, (first, 9, first)), ("middle", 256 << 10, (1.5,)), ("large", 4 << 20, (2,))):
                    for process, seconds in enumerate(times, 1):
                        record = f"{run},{setting},{variant},{part},{process}"
                        put(directory, f"{record}.json", [{**mpi_row(0, seconds), "bytes": size, "library_us": 2e6 * seconds}])
                        if variant != "openmpi":
                            put(directory, f"{record},summary.json", {"jobs": [{"allreduce": "from 8K on"}]})
        for way, elements in (("float_native", 1000), ("float_int32", 980), ("float_fp16", 1960), ("bfloat16_native", 2000)):
            put(directory, f"{run},200mbit,libswagg,{way}.json", [{"bytes": 9, "count": elements, "mean_us": 10, "wrong": 0}])
        put(directory, f"{run},200mbit,libswagg,tensors.json", {"many_tensors_share": 0.95, "many_tensors_share_vector": 1.0})
    for variant in ("short_4", "short_5_65536", "full_4"):
        for setting in numbers_bench.SEARCHED:
            put(directory, f"1,{setting},{variant},allreduce.json", [mpi_row(1024, 2)])
    put(directory, "operations.json", {
        "kernels": "avx2", "memcpy": 5, "loop": 8, "operations": [{"op": "sum", "type": "f32", "ns": 7}, {"op": "min", "type": "i8", "ns": 9}],
        "conversions": [{"what": "to int32", "ns": 0.3}, {"what": "memcpy", "ns": 0.02}]})


def thc_records(directory):
    alone = {"kernels": "avx2", "ns": dict.fromkeys(thc.STEPS, 0.5), "others": [{"workers": n, "terngrad": 2 / n, "terngrad_unclipped": 3 / n, "topk": 0.5} for n in (1, 4)],
             "errors": [{"bits": bits, "one_in": 32, "workers": n, "thc": 0.1 / n, "uniform": 0.2 / n} for bits in (3, 4) for n in (1, 4)]}
    alone |= {"gradient_" + name: alone[name] for name in ("errors", "others")}
    process = {"epochs": [{"epoch": 1, "accuracy": 0.4}], "missed": 0}
    for name in (*(f"many,{name}" for name in ("64,0,float", "64,0,thc", "64,19,thc", "10,1,thc", "10,2,thc", "10,3,thc", "10,0,float")),
                 *(f"loss,{loss},{synchronize}" for loss, synchronize in
                   (("0", ""), ("0.001", ""), ("0.001", "synchronize"), ("0.01", ""), ("0.01", "synchronize")))):
        put(directory, f"1,{name}.json", process)
    for run in RUNS:
        put(directory, f"{run},alone.json", alone)
        for links in ("100mbit", "server", "none"):
            for way, seconds in (("none", 4), ("fp16", 2), ("thc", 1)):
                put(directory, f"{run},{links},{way}.json",
                    {"sent": 800 * seconds, "received": 400 * seconds, "perf": [{"mean_us": seconds * 1e6, "wrong": 0}]})
        for way, ms in (("openmpi", 30), ("float", 20), ("fp16", 15), ("thc", 10)):
            put(directory, f"{run},train,{way}.json",
                [{"epoch": epoch, "loss": 1, "accuracy": 0.94 + epoch / 100, "ms": ms} for epoch in (1, 2, 3)])
        for ranks, way, ms in ((4, "float", 30), (4, "fp16", 20), (4, "thc", 10), (8, "float", 60), (8, "thc", 20)):
            put(directory, f"{run},text,{ranks},{way}.json", [{"epoch": 1, "loss": 1, "accuracy": 0.5, "ms": ms}])
        for name, ms in (("0,all", 20), ("1,all", 30), ("2,all", 40), ("3,all", 50), ("1,quorum", 20), ("2,quorum", 20), ("3,quorum", 20)):
            put(directory, f"{run},late,10,{name}.json", {"epochs": [{"epoch": 1, "accuracy": 0.1, "ms": ms}], "steps": 1, "missed": 0})
        for algorithm in ("chosen", "4"):
            put(directory, f"{run},100mbit,{algorithm},allreduce.json", [mpi_row(1024, 3)])


def tenancy_records(directory):
    for run in RUNS:
        for what, _ in one_lcore.JOBS:
            for turn in (1, 2):
                put(directory, f"{run},swagg,one_lcore,{what},{turn}.json", {"answers_pps": 4e6 if what == "no_delays" else 3e6})


def atp_report(*mbits, **more):
    rows = [[{"bytes": 1 << 20, "mean_us": (8 << 20) / rate, "wrong": 0}] for rate in mbits]
    return {"ended": 20, "to_server": 3, "from_server": 2, "switch": {}, "jobs": rows, **more}


def atp_records(directory):
    for run in RUNS:
        for way, rate in (("switchml", 100), ("atp", 98), ("no_switch", 32)):
            put(directory, f"{run},atp_alone,{way}.json", atp_report(rate))
        put(directory, f"{run},atp_alone,openmpi.json", [mpi_row(1024, 1)])
        for loss in ("0", *atp_loss.LOSSES):
            for way in atp_loss.WAYS:
                put(directory, f"{run},atp_loss,{way},{loss}.json", atp_report(90 - 10 * float(loss)))
        for share in atp_forwarding.SHARES:
            put(directory, f"{run},atp_forwarding,{share}.json", atp_report(90 * atp_forwarding.model(share)))
        for aggregators, rate in ((2, 50), (4, 93)):
            put(directory, f"{run},atp_jobs,one,{aggregators}.json", atp_report(rate))
        put(directory, f"{run},atp_jobs,memory.json", {"aggregators": 4})
        for jobs in (2, 3):
            for what, rate in (("all_on", 45), ("all_on_scarce", 35), ("dynamic", 90), ("static", 60), ("slots", 45)):
                put(directory, f"{run},atp_jobs,{what},{jobs}.json", atp_report(*[rate] * jobs))
        for what, rate in (("on,8", 20), ("off,8", 8), ("on,3", 45), ("off,3", 30), ("beside_tcp", 40), ("beside_tcp_ecn", 40)):
            put(directory, f"{run},atp_congestion,{what}.json", atp_report(rate))
        intervals = [{"sum": {"start": at / 10, "end": at / 10 + 0.1, "seconds": 0.1, "bytes": 6e5}} for at in range(200)]
        for flow in ("tcp", "tcp_ecn"):
            put(directory, f"{run},atp_congestion,{flow}.json", {"start": {"timestamp": {"timesecs": 2}}, "intervals": intervals})


def atp_sim_records(directory):
    usual = {"loss_pct": 0, "forwarded": 0, "parts": 0, "control": True, "jain": 1, "jobs": 1}
    points = [usual | {"curve": "loss", "workers": n, "loss_pct": loss, "share": 0.9 - loss / 10} for n in (8, 32, 64) for loss in (0, *atp_sim.LOSSES)]
    points += [usual | {"curve": "forward", "workers": n, "forwarded": share, "control": control, "share": atp_sim.model(n, share) / (1 if control else 4)}
               for n in (8, 32, 64) for share in atp_sim.FORWARDED for control in (True, False)]
    points += [usual | {"curve": curve, "workers": n, "jobs": jobs, "parts": jobs if divided else 0, "share": 0.5 if divided else 0.9}
               for n in (8, 32, 64) for jobs in atp_sim.JOBS for curve, divided in
               (("room", False), ("enough", False), ("all_on", False), ("all_on", True), ("late", False), ("turns", False), ("turns", True))]
    points += [usual | {"curve": curve, "workers": n, "jobs": jobs, "share": 0.9, "to_server": 1.5}
               for curve, n, jobs in [(name, n, 1) for name in ("racks", "racks_near_unknown") for n in (8, 32, 64)]
               + [(name, 8, 2) for name in ("unequal_room", "unequal_all_on", "unequal_late")]]
    put(directory, "curves.json", {"gbps": 100, "chunk_bytes": 8920, "carried_bytes": 64, "delay_us": 1, "queue_bytes": 4000000,
                                   "mark_bytes": 200000, "settle_ms": 3, "settle_jobs_ms": 20, "nap_every_us": 100, "nap_most_us": 10, "points": points})


def switches_records(directory):
    for run in RUNS:
        for links in case1.LINKS:
            for form in ("one", "p_2x"):
                for where, seconds in (("switch", 1), ("host", 3)):
                    put(directory, f"{run},case1,{where},{links},3,{form},{case1.FLOATS}.json", {"arrays": 9, "median_s": seconds})
        for where, seconds in (("switch", 1), ("host", 2)):
            put(directory, f"{run},case2,{where},2,one.json", {"seconds": seconds})
        for kind, count in (("none", 0), ("hostagg", 1), ("hostagg", 256), ("clone", 1), ("clone", 256)):
            put(directory, f"{run},rules,{kind},{count},1.json", {"frames_pps": 1e6})
    put(directory, "1,scale,all.json", {"goodput_3600_share": 0.97, "scale_3600_100g_0ppm_whole_share": 0.87})


def replay_records(directory):
    """The switch takes 20 ms, the ring 35; a host a tenth more than simulated."""
    def row(model):
        return {"model": model, "bytes": 1000000, "computing_ms": 4, "gain": 1.75, "switch_step_ms": 20, "switch_communication_ms": 18, "switch_overlap_ms": 2,
                "ring_step_ms": 35, "ring_communication_ms": 33, "ring_overlap_ms": 2}

    for what in (*replay.LINKS, "hosts"):
        put(directory, f"sim_{what}.json", [row(model) for model in replay.MODELS.values()])
    for run in RUNS:
        for model in replay.ON_HOSTS:
            for way in replay.WAYS:
                put(directory, f"{run},{model},{way}.json", {"step_ms": 22 if way == "swagg" else 44, "communication_ms": 20, "overlap_ms": 2})


def case3_records(directory):
    for run in RUNS:
        for size, _ in case3.SIZES.values():
            for way, taken in (("linear", 3), ("linear_proxy", 2), ("pipeline", 1), ("chosen", 3), ("sends", 6), ("sends_proxy", 5)):
                put(directory, f"{run},{size},{way}.json", [{"bytes": size, "median_us": 1e5 * taken * run, "wrong": 0, "into_root": taken * size}])


def operate_records(directory):
    """Of twenty faults nineteen are named."""
    faults = [{"kind": kind, "strength": strength, "named": "yes"} for kind in why.KINDS if kind != "healthy" for strength in range(1, 5)]
    faults[0]["named"] = "rank"
    put(directory, "1,why,all.json", [*faults, *({"kind": "healthy", "strength": at, "named": "yes"} for at in range(20))])
    for run in RUNS:
        for turn in (1, 2):
            for what in ("with", "waking", "without"):
                put(directory, f"{run},metrics_cost,{what},{turn}.json", [{"mean_us": 1000, "wrong": 0}])
                put(directory, f"{run},metrics_cost,cpu_{what},{turn}.json", {"ns": 1000000, "s": 1.0})
        for what in ("some", "all"):
            put(directory, f"{run},scrape,{what}.json", {"ms": [40, 50], "bytes": 9, "kib_before": 1, "kib_warm": 2, "kib_after": 2})
        put(directory, f"{run},restart,all.json", {"call_s": [0.1, 0.1, 0.1, 2], "wrong": 0, "resumed": 1, "down_s": [1]})


# The figure that each of them must come to.
EXPECTED = {"allreduce": ("allreduce_cpu_vs_openmpi", 2), "reduce": ("reduce_loop_buffered_512k_vs_openmpi", 2),
            "loss": ("loss_inflation_1pct", 1.1), "dataplane": ("agg_vs_forward_1076", 0.5),
            "placement": ("placement_p_2x_9018", 2), "idle": ("idle_cpu_default", 0.04), "core": ("apply_vs_loop_1024", 2),
            "numbers": ("worst_size_vs_openmpi", 1), "thc": ("thc_vs_float_tat", 4), "tenancy": ("skew_cost", 0.75),
            "switches": ("case1_vs_host", 3), "atp": ("atp_dynamic_vs_static", 1.5), "atp_sim": ("atp_sim_control_on_vs_off", 4),
            "pytorch": ("ddp_step_200mbit_vs_gloo", 2), "hosts": ("hosts_4x4_200mbit_vs_flat", 4), "collectives": ("overlap", 0.5), "replay": ("replay_vgg19_hosts_off", 0.1),
            "case3": ("case3_10m_vs_linear", 1.5), "operate": ("why_faults_named", 19)}


# Rows that pages have of those records.
ROWS = {"dataplane": "| by the device | 1516 | 1.00 | 1000 | 15000 | 7000 | 22000 | 22.0 | 0 | 8000 |", "core": "| i32, warm | 1024 | 15.0 | 8.2 | 13.9 | 0.54 | 0.92 |"}


def run_report(*arguments):
    return subprocess.run([ROOT / "bench/report.py", *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def test_verdicts():
    figure = Figure("name", "says", ">= 2.0")
    assert figure.verdict(Sample([2, 3, 4])) == "✓ met"
    assert figure.verdict(Sample([1, 3, 4])) == "✓ met, not in every run"
    assert "missed" in figure.verdict(Sample([1, 1.5, 4]))
    assert "missed" in figure.verdict(Sample({"median": 1.9, "low": 1, "high": 4})) and "missed" in figure.verdict(Sample(1.9))
    assert Figure("name", "says").verdict(Sample(1)) == "no aim"


def test_ticks():
    assert plot.linear_ticks(0, 10) == [0, 2, 4, 6, 8, 10]
    for low, high in ((0.031, 7.1), (1.3, 34000), (1, 1), (0.5, 1.01)):
        ticks = plot.log_ticks(low, high)
        assert ticks[0] <= low and ticks[-1] >= high and len(ticks) < 10, (low, high, ticks)


def test_what_has_a_record_is_not_measured_again(temporary):
    """And what fails leaves none."""
    script = """
        set -euo pipefail
        . "$1/bench/lib.sh"
        NET_NAME=test NET_DIR=$2 records=$2 run=1
        record first sh -c "echo '[1]' >$NET_DIR/new.json"
        record first false
        (record second sh -c "echo '[2]' >$NET_DIR/new.json; exit 3") 2>"$2/said" || true
        (record third true) 2>>"$2/said" || true
    """
    done = subprocess.run(["bash", "-c", script, "bash", ROOT, temporary], stderr=subprocess.PIPE, text=True)
    assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in temporary.glob("1,*.json")) == ["1,first.json"]
    said = (temporary / "said").read_text()
    assert "second" in said and "status 3" in said and "third" in said and "has written nothing" in said, said


def git(repository, *arguments):
    who = ("-c", "user.name=test", "-c", "user.email=test@localhost")
    return subprocess.check_output(["git", *who, "-C", repository, *arguments], text=True).strip()


def commit(repository, **files):
    for name, content in files.items():
        put(repository, name, content)
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "one")
    return git(repository, "rev-parse", "--short", "HEAD")


def test_what_has_changed_since(temporary):
    """A figure is older as soon as what it measures differs from its commit, and no longer if that is undone."""
    repository, was = temporary / "repository", rooms.ROOT
    repository.mkdir()
    git(repository, "init", "-q")
    rooms.ROOT = repository
    first = commit(repository, room="one", other="one")
    assert rooms.measured_commit(["room"]) == first
    put(repository, "other", "two")
    assert rooms.measured_commit(["room"]) == first and not rooms.changed_since(first, ["room"])
    put(repository, "room", "two")
    assert rooms.measured_commit(["room"]) == first + "+" and rooms.changed_since(first, ["room"])
    second = commit(repository)
    assert rooms.changed_since(first, ["room"]) and not rooms.changed_since(second, ["room"])
    assert rooms.changed_since(second + "+", ["room"]), "measured with changes that no commit has"
    assert rooms.changed_since("0123456789", ["room"]), "of a commit that this history does not have"
    put(repository, "room", "one")
    assert not rooms.changed_since(first, ["room"])
    third = commit(repository, **{"code.c": "int a; /* one */"})
    put(repository, "code.c", "int a;\n// two")
    assert not rooms.changed_since(third, ["code.c"]), "comments are not what is measured"
    put(repository, "code.c", "int b; /* one */")
    assert rooms.changed_since(third, ["code.c"])
    subprocess.run(["git", "clone", "-q", "--depth", "1", f"file://{repository}", temporary / "shallow"], check=True)
    rooms.ROOT = temporary / "shallow"
    assert rooms.changed_since(first, ["room"]) is None and not rooms.changed_since(second, ["room"])
    rooms.ROOT = was


def test_every_room_is_there():
    for name in report.BENCHES:
        for path in report.module_of(name).MEASURES:
            assert any(ROOT.glob(path.removeprefix(":^"))), f"{name} measures {path}, which is not there"


def test_committed_pages():
    said = run_report("check")
    assert said.returncode == 0, said.stdout


def test_what_is_simulated_is_the_same_on_both_its_pages():
    """docs/scale.md and the page of `switches` are of one simulation, rounded to three and to four digits."""
    simulated = json.loads((ROOT / "docs/results/data/switches.json").read_text())["scale"]["simulated"]
    rows = re.findall(r"^\| (\d+) \| (\d+) Gb/s \| ([\d.]+)% \|(?:[^|]*\|){4} ([\d.]+) \|", (ROOT / "docs/scale.md").read_text(), re.M)
    assert rows
    for workers, gbps, percent, share in rows:
        name = f"scale_{workers}_{gbps}g_{round(float(percent) * 10000)}ppm_whole_share"
        assert abs(simulated[name] - float(share)) <= 0.00055, f"{name} is {simulated[name]} in switches.json, {share} in scale.md: script/bench switches makes both"


def test_a_papers_row_has_what_was_measured():
    measured = {page: (None, {"figures": figures}) for page, figures in
                {"x": {"share": [0.25, 0.3, 0.5], "twice": 1.0}, "y": {"twice": 7.25, "big": 726.4, "small": 0.0432}}.items()}
    row = papers.cell_text("`share` 9, `share` 9%, [`twice`](results/x.md) 9.99, `big` 1; `none` 5, 4 of `small`, `small` 0.1, not 3", measured)
    assert row == "`share` 0.30, `share` 30%, [`twice`](results/x.md) 1.0, `big` 726; `none` 5, 4 of `small`, `small` 0.043, not 3", row


def test_records_become_pages(temporary):
    docs = temporary / "docs"
    docs.mkdir()
    for page in ("results.md", "papers.md"):
        shutil.copy(ROOT / "docs" / page, docs)
    shutil.copytree(ROOT / "docs/results", docs / "results")
    for name in report.BENCHES:
        records = temporary / name
        records.mkdir()
        globals()[f"{name}_records"](records)
        with contextlib.redirect_stdout(io.StringIO()):
            report.collect(name, records, docs, temporary / "figures.json")
        figure, expected = EXPECTED[name]
        metrics = json.loads((temporary / "figures.json").read_text())
        assert abs(metrics[figure] - expected) < 1e-3, (name, metrics[figure])
        page = (docs / f"results/{name}.md").read_text()
        assert f"Measured by `script/bench {name}`" in page and ROWS.get(name, "") in page, name
        clean = not rooms.measured_commit(report.module_of(name).MEASURES).endswith("+")
        assert not clean or report.OLDER not in page, name
    assert run_report("check", "--docs", docs).returncode == 0
    data = docs / "results/data/idle.json"
    data.write_text(data.read_text().replace("0.04", "0.05"))
    said = run_report("check", "--docs", docs)
    assert said.returncode == 1 and "results.md" in said.stdout and "idle.md" in said.stdout and "idle.svg" in said.stdout, said.stdout


def test_a_look_shows_what_there_is(temporary):
    """Of any part of the records, also of none; one that is half written is not counted."""
    metrics = temporary / "look.json"

    def looked(name, directory):
        with contextlib.redirect_stdout(io.StringIO()) as said:
            report.look(name, directory, metrics)
        assert f"{name}: " in said.getvalue() and " figures" in said.getvalue()
        return json.loads(metrics.read_text())

    for name in report.BENCHES:
        whole, some = temporary / name, temporary / f"{name}-some"
        some.mkdir()
        assert not looked(name, some)
        for path in sorted(whole.iterdir()):
            shutil.copy(path, some)
            if path.name.startswith("2,"):
                break
        put(some, "1,half.json", '{"cpu": 0.04, "allred')
        looked(name, some)
        assert not (some / "1,half.json").exists()
        figure, expected = EXPECTED[name]
        assert abs(looked(name, whole)[figure] - expected) < 1e-3, name
    said = run_report("look", "idle", temporary / "idle")
    assert said.returncode == 0 and "`idle_cpu_default`" in said.stdout, said.stdout


# A benchmark that leaves records, and then never ends.
ENDLESS = """#!/usr/bin/env bash
# script/bench idle
# Takes 1 minutes a run and 0 once; a look takes 1.
set -euo pipefail
trap 'echo cleaned up; exit 143' TERM
cp "$RECORDS"/1,*.json "$2"
sleep 1000 & # bash hears of a signal while it waits, not while a command runs
touch "$RECORDS/measuring"
wait
"""


def test_a_benchmark_that_is_ended_prints_what_it_has(temporary):
    copy, idle_records = temporary / "copy", temporary / "idle"
    for folder in ("bench", "script"):
        shutil.copytree(ROOT / folder, copy / folder)
    for name in ("bootstrap", "build"):
        put(copy / "script", name, "#!/bin/sh\n")
    put(copy / "bench", "idle.sh", ENDLESS)
    script = (copy / "script/bench").read_text()
    assert "LOOK_S=270 " in script
    for options, limit, ending, status in ((["--quick"], 270, signal.SIGINT, 130), ([], 270, signal.SIGTERM, 130), (["--quick"], 1, None, 0)):
        put(copy / "script", "bench", script.replace("LOOK_S=270 ", f"LOOK_S={limit} "))
        (idle_records / "measuring").unlink(missing_ok=True)
        bench = subprocess.Popen(["bash", copy / "script/bench", "idle", *options], env={**os.environ, "RECORDS": idle_records}, text=True,
                                 stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)
        while not (idle_records / "measuring").exists():
            assert bench.poll() is None or ending is None, bench.stdout.read()
            time.sleep(0.01)
        if ending is not None:
            bench.send_signal(ending)
        said = bench.communicate()[0]
        assert bench.returncode == status and "cleaned up" in said and "`idle_cpu_default`" in said and "minutes" in said, (bench.returncode, said)


def test_what_fails_changes_nothing(temporary):
    docs, records = temporary / "docs", temporary / "idle"
    data = (docs / "results/data/idle.json").read_text()
    (docs / "results/idle.md").write_text("no markers")
    said = run_report("collect", "idle", records, "--docs", docs)
    assert said.returncode == 1 and "there is no section between" in said.stdout, said.stdout
    assert (docs / "results/data/idle.json").read_text() == data
    (records / "1,busy.json").write_text('{"cpu": 0.04, "allred')
    said = run_report("collect", "idle", records, "--docs", docs)
    assert said.returncode == 1 and "1,busy.json is no whole record" in said.stdout and "Traceback" not in said.stdout, said.stdout


def test_a_source_at_its_limit_tells_nothing_of_a_device(temporary):
    records = temporary / "limited"
    records.mkdir()
    dataplane_records(records)
    for run in RUNS:
        put(records, f"{run},swagg,switched,64.json", {"answers_pps": 1e6, "idle": 0.01})
        put(records, f"{run},testpmd,returned,192.json", {"answers_pps": 2e6, "idle": 0.01})
    ways = dataplane.ways(records)
    assert "bridge_vs_forward_64" not in ways and ways["agg_vs_forward_192"]() == [0.5] * len(RUNS), ways
    page = dataplane.pages(dataplane.collect(records) | {"figures": {}})["dataplane"]
    assert "| 64 | None | 1.00 | 2.00 | - | 1% | 50% |" in page and "| 192 | 9 | 1.00 | 2.00 | at most 50% | 50% | 1% |" in page, page


def main():
    temporary = Path(sys.argv[1]) / "results"
    shutil.rmtree(temporary, ignore_errors=True)
    temporary.mkdir(parents=True)
    test_verdicts()
    test_ticks()
    test_what_has_a_record_is_not_measured_again(temporary)
    test_what_has_changed_since(temporary)
    test_every_room_is_there()
    test_committed_pages()
    test_what_is_simulated_is_the_same_on_both_its_pages()
    test_a_papers_row_has_what_was_measured()
    test_records_become_pages(temporary)
    test_a_look_shows_what_there_is(temporary)
    test_a_benchmark_that_is_ended_prints_what_it_has(temporary)
    test_what_fails_changes_nothing(temporary)
    test_a_source_at_its_limit_tells_nothing_of_a_device(temporary)
    shutil.rmtree(temporary)


main()
