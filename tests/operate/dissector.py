#!/usr/bin/env python3
"""Wireshark's dissector says of packets what the core has put into them: dissector.py FRAMES SWAGG.LUA FOLDER. FRAMES is the program that makes a
capture and tells its fields (dissector_frames.c); tshark reads it."""
import os
import shutil
import subprocess
import sys
import xml.etree.ElementTree as tree
from collections import defaultdict
from pathlib import Path

frames, lua, folder = sys.argv[1], sys.argv[2], Path(sys.argv[3])
capture = folder / "frames.pcap"
# Installed as one user's: a home of its own has it in the folder where Wireshark looks.
plugins = folder / ".local/lib/wireshark/plugins"
plugins.mkdir(parents=True, exist_ok=True)
shutil.copy(lua, plugins)


def tshark(*arguments):
    return subprocess.run(["tshark", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=True,
                          env=os.environ | {"HOME": str(folder)})


told = subprocess.run([frames, str(capture)], stdout=subprocess.PIPE, text=True, check=True).stdout
said = tshark("-o", "swagg_hostagg.ports:5000", "-o", "swagg_clone.ether_type:34997", "-r", str(capture), "-T", "pdml")
wrong = [line for line in said.stderr.splitlines() if "Lua" in line]

fields, shown = defaultdict(lambda: defaultdict(set)), defaultdict(str)
packets = 0
for number, packet in enumerate(tree.fromstring(said.stdout.encode()).iter("packet"), 1):
    packets += 1
    for field in packet.iter("field"):
        name, value = field.get("name"), field.get("show", "")
        if "Lua Error" in field.get("showname", ""):
            wrong.append(f"frame {number}: {field.get('showname')}")
        fields[number][name].add({"True": "1", "False": "0"}.get(value, value))
        shown[number] += field.get("showname", "") + "\n"

checked = set()
for line in told.splitlines():
    number, name, value = line.split(" ", 2)
    number = int(number)
    checked.add(name)
    if name == "SHOWN":
        if value not in shown[number]:
            wrong.append(f"frame {number}: nothing is shown as {value}")
    elif value not in fields[number][name]:
        wrong.append(f"frame {number}: {name} is {sorted(fields[number][name])}, not {value}")

# Every field that the dissector has was compared, but for those that say the same in another way.
rows = [row.split("\t") for row in tshark("-G", "fields").stdout.splitlines()]
declared = {row[2] for row in rows if row[0] == "F" and row[2].startswith("swagg")}
again = {"swagg.code", "swagg_atp.code", "swagg_atp.flags", "swagg_atp.bitmap0", "swagg_atp.elements", "swagg_hostagg.elements", "swagg_clone.elements",
         "swagg_roce.elements", "swagg_hostagg.kind", "swagg_control.terms.length"}
calls = {f"swagg_atp.{side}.{field}" for side in ("mismatch.yours", "mismatch.peers") for field in ("number", "collective", "type", "op", "root", "part")}
calls |= {f"swagg_atp.mismatch.{field}" for field in ("your_rank", "your_tag", "peer_tag", "your_code", "peer_code", "your_bytes", "peer_bytes")}
left = declared - checked - again - calls - {"swagg_atp.call.count"}
if left:
    wrong.append(f"compared with nothing: {sorted(left)}")
print(*wrong, sep="\n")
print(f"{packets} packets, {len(checked)} fields")
sys.exit(bool(wrong) or packets < 60 or len(checked) < 120)
