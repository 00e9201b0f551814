#!/usr/bin/env python3
"""swagg-doctor on machines that are not this one: doctor.py PROGRAM. Copies of /proc and /sys with faults, which it must find, and without."""
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

PROGRAM = sys.argv[1]


def write(folder, files):
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if text.startswith("-> "):
            path.symlink_to(text[3:])
        else:
            path.write_text(text + "\n")


def look(status, folder, *arguments):
    """[(level, topic, about, what was seen, and what to type)], told with this exit status"""
    said = subprocess.run([PROGRAM, "--json", "--below", str(folder), *arguments], stdout=subprocess.PIPE, text=True, timeout=300, check=False)
    told = json.loads(said.stdout)
    assert said.returncode == status, told
    assert told["faults"] == sum(f["level"] == "fault" for f in told["findings"]), told
    return [(f["level"], f["topic"], f["about"], f["saw"] + " | " + f["type"]) for f in told["findings"]]


def expect(findings, level, topic, words):
    assert any(f[0] == level and f[1] == topic and words in f[3] for f in findings), (level, topic, words, findings)


NIC = "sys/bus/pci/devices/0000:03:00.0/"
PAGES = "sys/kernel/mm/hugepages/hugepages-2048kB/"
LARGE = "sys/kernel/mm/hugepages/hugepages-1048576kB/"
CPU = "sys/devices/system/cpu/"
GOOD = {
    NIC + "driver": "-> ../../../../bus/pci/drivers/vfio-pci", NIC + "numa_node": "0",
    "sys/devices/system/node/node0/cpulist": "0-1023", "sys/devices/system/node/node1/cpulist": "5000",
    "sys/kernel/iommu_groups/7/type": "DMA",
    PAGES + "nr_hugepages": "4096", PAGES + "free_hugepages": "4096",
    CPU + "isolated": "1-3", **{f"{CPU}cpu{n}/cpufreq/scaling_governor": "performance" for n in range(64)},
    "proc/loadavg": "0.01 0.02 0.03 1/100 1",
}
BAD = GOOD | {
    NIC + "driver": "-> ../../../../bus/pci/drivers/ixgbe", NIC + "numa_node": "1",
    PAGES + "nr_hugepages": "3", PAGES + "free_hugepages": "2",
    **{f"{CPU}cpu{n}/cpufreq/scaling_governor": "powersave" for n in range(64)},
    "proc/loadavg": "100000 0.02 0.03 1/100 1",
}
CONFIGURATION = 'switch: {mac: "02:00:00:00:00:fe", ip: 10.77.0.254}\nports: [{device: "0000:03:00.0"}]\nmemory: {megabytes: 512}\n'
TOPICS = "cpus,numa,memory,devices"

with tempfile.TemporaryDirectory() as name:
    top = Path(name)
    (top / "switch.yaml").write_text(CONFIGURATION)
    arguments = ["--switch", "--only", TOPICS, str(top / "switch.yaml")]
    write(top / "good", GOOD)
    found = look(0, top / "good", *arguments)
    expect(found, "ok", "devices", "bound to vfio-pci")
    expect(found, "ok", "devices", "IOMMU is on")
    expect(found, "ok", "memory", "4096 hugepages of 2 MB (4096 free)")
    expect(found, "ok", "cpus", 'governor is "performance"')
    expect(found, "ok", "cpus", "isolated: 1-3")
    expect(found, "ok", "numa", "at node 0")
    assert not [f for f in found if f[0] in ("warning", "fault")], found

    write(top / "large", GOOD | {PAGES + "nr_hugepages": "0", PAGES + "free_hugepages": "0", LARGE + "nr_hugepages": "1", LARGE + "free_hugepages": "1"})
    found = look(0, top / "large", *arguments)
    expect(found, "ok", "memory", "0 hugepages of 2 MB (0 free), 1 hugepages of 1 GB (1 free)")

    write(top / "bad", BAD)
    found = look(1, top / "bad", *arguments)
    expect(found, "fault", "devices", "the kernel's driver ixgbe has it, and DPDK cannot | modprobe vfio-pci; dpdk-devbind.py --bind=vfio-pci 0000:03:00.0")
    expect(found, "warning", "numa", "at node 1")
    expect(found, "warning", "memory", "3 hugepages of 2 MB (2 free); memory: 512 MB wants 256 of 2 MB. Without them there are more TLB misses | sysctl -w vm.nr_hugepages=256")
    expect(found, "warning", "cpus", '"powersave": their clock is low')
    expect(found, "warning", "cpus", "running threads: ranks wait")

    (top / "bad/sys/kernel/iommu_groups/7/type").unlink()
    (top / "bad/sys/kernel/iommu_groups/7").rmdir()
    (top / "bad" / NIC / "driver").unlink()
    (top / "bad" / NIC / "driver").symlink_to("../../../../bus/pci/drivers/vfio-pci")
    found = look(1, top / "bad", *arguments)
    expect(found, "fault", "devices", "the IOMMU is off")

    # A folder that is not there has no faults either, so it is named.
    said = subprocess.run([PROGRAM, "--below", str(top / "none"), *arguments], stderr=subprocess.PIPE, text=True, timeout=300, check=False)
    assert said.returncode == 2 and f"--below: there is no folder {top / 'none'}" in said.stderr, said

    # A file's name is bytes, and JSON has UTF-8 only: the finding about it is there.
    found = look(1, top / "good", "--switch", "--only", "configuration", str(top / "no\udcffne.yaml"))
    expect(found, "fault", "configuration", "no?ne.yaml")

    # A variable without a value is not set; of one that makes no sense it is said where it comes from.
    environment = {**os.environ, "SWAGG_SWITCH": ""}
    said = subprocess.run([PROGRAM, "--only", "switch", "--all"], stdout=subprocess.PIPE, text=True, timeout=300, check=False, env=environment)
    assert said.returncode == 0 and "no ADDRESS was given" in said.stdout, said
    environment["SWAGG_SWITCH"] = "10.0.0"
    said = subprocess.run([PROGRAM], stderr=subprocess.PIPE, text=True, timeout=300, check=False, env=environment)
    assert said.returncode == 2 and 'SWAGG_SWITCH: "10.0.0" is no IPv4 address' in said.stderr, said

    # Warnings alone are no fault, unless they are to be.
    for strict, wanted in [([], 0), (["--strict"], 1)]:
        found = look(wanted, top / "bad", *strict, "--switch", "--only", "memory,cpus", str(top / "switch.yaml"))
        assert any(f[0] == "warning" for f in found), found
