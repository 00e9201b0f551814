#!/usr/bin/env python3
"""conf/kubernetes and conf/slurm, as far as a machine without either can check them: clusters.py SWAGG SWAGG_PS SWAGGCTL

The manifests are parsed, their configurations checked by the programs that are to read them; as root, the switch runs with the
capabilities of its manifest and no others. Slurm's prolog and epilog reserve and release on a swagg-ps."""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parent.parent
SWAGG, PS, CTL = sys.argv[1:]
PATIENCE_S = 300  # ends what hangs


def run(*command, **more):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=PATIENCE_S, stdin=subprocess.DEVNULL, **more)


def expect(good, *what):
    if not good:
        sys.exit("clusters: " + " ".join(str(word) for word in what))


def manifest(name):
    """Objects of conf/kubernetes/NAME by (kind, name)."""
    found = {(o["kind"], o["metadata"]["name"]): o for o in yaml.safe_load_all((ROOT / "conf/kubernetes" / name).read_text())}
    for (kind, _), o in found.items():
        selector = o.get("spec", {}).get("selector", {}).get("matchLabels")
        template = o.get("spec", {}).get("template")
        expect(selector is None or selector.items() <= template["metadata"]["labels"].items(), name, kind, "selects other pods than its own")
        for container in template["spec"]["containers"] if template else []:
            volumes = {volume["name"] for volume in template["spec"].get("volumes", [])}
            mounts = {mount["name"] for mount in container.get("volumeMounts", [])}
            expect(mounts == volumes, name, "mounts", mounts, "of", volumes)
            maps = {volume["configMap"]["name"] for volume in template["spec"].get("volumes", []) if "configMap" in volume}
            expect(all(("ConfigMap", each) in found for each in maps), name, "has not all of", maps)
    return found


def container_of(found, kind, name):
    return found[kind, name]["spec"]["template"]["spec"]["containers"][0]


def starts_with_its_capabilities(folder, container):
    """In a network namespace that has the interfaces which the configuration names, seen by its operators' socket."""
    kept = ",".join("+" + name.lower() for name in container["securityContext"]["capabilities"]["add"])
    script = f"""set -e
        for i in 1 2; do ip link add eth$i type veth peer name peer$i; ip link set eth$i up; ip link set peer$i up; done
        ip link set lo up
        exec setpriv --bounding-set=-all,{kept} --inh-caps=-all -- "$@" """
    words = [SWAGG, folder / "switch.yaml", "--", "--file-prefix=" + folder.name]
    process = subprocess.Popen(["unshare", "--net", "bash", "-c", script, "bash", *map(str, words)], stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        answers = lambda: run(CTL, "--switch", folder / "switch.ctl", "-j", "ports")
        said = wait_for(process, answers)
        expect([(port["name"], port["link"]) for port in json.loads(said)["ports"]] == [("h0", "up"), ("h1", "up")], "ports:", said)
    finally:
        process.terminate()
        out, _ = process.communicate(timeout=PATIENCE_S)
    expect(process.returncode == 0, "the switch with the capabilities of its manifest:", out)


def wait_for(process, ask):
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        answer = ask()
        if answer.returncode == 0:
            return answer.stdout
        if process.poll() is not None:
            sys.exit("clusters: it ended: " + process.communicate()[0])
        time.sleep(0.05)
    sys.exit("clusters: no answer: " + answer.stderr)


def check_kubernetes(folder):
    switch, server = manifest("switch.yaml"), manifest("server.yaml")
    manifest("train.yaml")
    text = switch["ConfigMap", "switch"]["data"]["switch.yaml"]
    (folder / "switch.yaml").write_text(text + f"control: {{path: {folder}/switch.ctl}}\n")
    said = run(SWAGG, "--check", folder / "switch.yaml")
    expect(said.returncode == 0, "the switch's configuration:", said.stderr)
    text = server["ConfigMap", "server"]["data"]["server.yaml"].replace("/run/swagg/", f"{folder}/")
    (folder / "in.yaml").write_text(text)
    command = container_of(server, "Deployment", "server")["command"]
    rewrite = command[2].split("&&")[0].replace("/etc/swagg/server.yaml", f"{folder}/in.yaml").replace("/run/swagg/", f"{folder}/")
    said = run(*command[:2], rewrite, env={**os.environ, "POD_IP": "127.0.0.1"})
    expect(said.returncode == 0, "the server's command:", said.stderr)
    said = run(PS, "--check", folder / "server.yaml")
    expect(said.returncode == 0, "the server's configuration:", said.stderr)
    expect("control" not in yaml.safe_load(text), "the server has a second name in /run/swagg: swaggctl would ask in the pod which it is to be")
    if os.geteuid() == 0:
        starts_with_its_capabilities(folder, container_of(switch, "DaemonSet", "switch"))


# --- Slurm ---

CONFIGURATION = """
server: {{ip: 127.0.0.1, threads: 1}}
control: {{path: {folder}/ps.ctl}}
pool: {{megabytes: 64}}
limits: {{jobs: 8, workers: 16}}
tenants: [{{name: lab, addresses: [127.0.0.0/8], quota: {{slots: 1024}}}}, {{name: guest, addresses: [0.0.0.0/0]}}]
"""


def reserved(folder):
    rows = json.loads(run(CTL, "--switch", folder / "ps.ctl", "-j", "reserved").stdout)["reserved"]
    return {row["name"]: (row["tenant"], row["job"], row["ranks"], row["slots"]) for row in rows}


def slurm(folder, which, job, comment, **more):
    environment = {"PATH": f"{folder}:{os.environ['PATH']}", "SLURM_JOB_ID": str(job), "SLURM_JOB_ACCOUNT": "lab",
                   "SLURM_JOB_NODELIST": "n[1-4]", "SLURM_JOB_COMMENT": comment, **more}
    return run(folder / f"{which}.sh", env=environment)


def check_slurm(folder):
    for name in ("swagg.sh", "prolog.sh", "epilog.sh"):
        shutil.copy(ROOT / "conf/slurm" / name, folder)
    with open(folder / "swagg.sh", "a") as settings:
        settings.write(f"swagg_ctl=('{CTL}' --switch '{folder}/ps.ctl')\nswagg_ranks_per_node=2\n")
    (folder / "scontrol").write_text("#!/bin/sh\n[ \"$*\" = 'show hostnames n[1-4]' ] && printf 'n1\\nn2\\nn3\\nn4\\n'\n")
    (folder / "scontrol").chmod(0o755)

    expect(slurm(folder, "prolog", 1, "").returncode == 0 and reserved(folder) == {}, "a job that wants nothing gets", reserved(folder))
    said = slurm(folder, "prolog", 7, "swagg slots=512", SLURM_JOB_END_TIME=str(int(time.time()) + 3600))
    expect(said.returncode == 0 and reserved(folder) == {"slurm-7": ("lab", "*", 8, 512)}, "reserved:", reserved(folder), said.stderr)
    expect(slurm(folder, "prolog", 7, "swagg slots=512").returncode == 0, "a job that was requeued is refused")
    said = slurm(folder, "prolog", 8, "swagg slots=1024 ranks=4")
    expect(said.returncode == 1 and "slurm-7 holds 512" in said.stderr, "no room, and it says:", said.stderr)
    for comment in ("swagg slots=x", "swagg slots=", "swagg lots=3"):
        expect(slurm(folder, "prolog", 8, comment).returncode == 1, comment, "is taken")
    expect(slurm(folder, "prolog", 9, "swagg", SLURM_JOB_ACCOUNT="nobody").returncode == 1, "an account that is no tenant is taken")
    expect(slurm(folder, "epilog", 7, "swagg").returncode == 0 and reserved(folder) == {}, "after the epilog:", reserved(folder))
    expect(slurm(folder, "epilog", 7, "swagg").returncode == 0, "the epilog minds that nothing is there")
    expect(slurm(folder, "prolog", 8, "swagg slots=1024 ranks=4").returncode == 0, "there is room now")


def check_slurm_with_a_server(folder):
    (folder / "ps.yaml").write_text(CONFIGURATION.format(folder=folder))
    process = subprocess.Popen(["unshare", "--net", "sh", "-c", 'ip link set lo up; exec "$@"', "sh", PS, folder / "ps.yaml"]
                               if os.geteuid() == 0 else [PS, folder / "ps.yaml"],
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        wait_for(process, lambda: run(CTL, "--switch", folder / "ps.ctl", "status"))
        check_slurm(folder)
    finally:
        process.terminate()
        process.communicate(timeout=PATIENCE_S)


def main():
    scripts = sorted((ROOT / "conf/slurm").glob("*.sh"))
    if shutil.which("shellcheck"):
        said = run("shellcheck", "-x", *scripts, cwd=ROOT)
        expect(said.returncode == 0, said.stdout)
    with tempfile.TemporaryDirectory(prefix="swagg-clusters-") as folder:
        check_kubernetes(Path(folder))
        check_slurm_with_a_server(Path(folder))


main()
