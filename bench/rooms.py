"""What a page measures, as paths in the repository (its module's MEASURES), and whether that has changed since.

A figure is of the code that it was measured with: what differs in these paths between the measured commit and the files here makes it
older, whoever changed it, and however, but for comments."""
import os
import re
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

SUMS = ("lib/core/kernels", "lib/core/net", "lib/core/protocol", "lib/core/switchml", "lib/core/transfer", "lib/core/wire")
SWITCH = (*SUMS, "swagg/aggregate", "swagg/bridge", "swagg/lcore", "swagg/port")
# With libswagg on the hosts, by the kernel's sockets: other transports are libraries of their own, which are loaded where they are asked for.
WORKERS = (*SWITCH, "lib/client", ":^lib/client/dpdk", ":^lib/client/verbs")
# What the shim prints and keeps in files, once calls are over, takes no call's time.
MPI = (*WORKERS, "mpi-shim", ":^mpi-shim/kept.c", ":^mpi-shim/replaced.h", ":^mpi-shim/tell.c")


def git(*arguments):
    return subprocess.run(("git", "-C", ROOT, *arguments), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)


def measured_commit(paths):
    """The commit that is measured, with a + if what is measured differs from it."""
    commit = git("rev-parse", "--short", "HEAD").stdout.strip() or "unknown"
    return commit + "+" * bool(git("status", "--porcelain", "--", *paths).stdout)


def changed_since(commit, paths):
    """Whether these paths differ from the commit. None: this copy has no history that could tell."""
    if git("cat-file", "-e", commit.rstrip("+") + "^{commit}").returncode != 0:
        whole = git("rev-parse", "--is-shallow-repository").stdout.strip() == "false"
        return True if whole else None  # of a commit that is in no history nobody knows what was measured
    if commit.endswith("+"):
        return True
    differing = git("diff", "--name-only", commit, "--", *paths).stdout.split()
    return any(code(path, git("show", f"{commit}:{path}").stdout) != code(path, text_of(path)) for path in differing)


def text_of(path):
    """"": it is gone."""
    try:
        with open(os.path.join(ROOT, path), errors="replace") as f:
            return f.read()
    except FileNotFoundError:
        return ""


COMMENT_OR_TEXT = re.compile(r"/\*.*?\*/|//[^\n]*|(\"(?:\\.|[^\"\\])*\")", re.S)
GUARDED = re.compile(r"\s*(?:#pragma once\n(.*)|#ifndef (\w+)\n#define \2\n(.*)#endif\s*)", re.S)


def code(path, text):
    """What is compiled of it: C without comments and blanks, and without what keeps a header from being read twice."""
    if not path.endswith((".c", ".h")):
        return text
    text = COMMENT_OR_TEXT.sub(lambda found: found[1] or " ", text)
    if guarded := GUARDED.fullmatch(text):
        text = guarded[1] or guarded[3]
    return "".join(text.split())
