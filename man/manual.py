#!/usr/bin/env python3
"""Writes manual pages out of what is said elsewhere already, so that a page cannot say anything else:

    manual.py program PROGRAM SECTION VERSION SEE [COMMAND...]    what the program's own --help says, of each of its commands, too
    manual.py settings SWAGG VERSION                              the configuration's settings, as swagg --settings has them
    manual.py library SWAGG.H PERF VERSION                        functions and types of swagg.h, and options in words
    manual.py shim MPI-PERF VERSION                               the shim's environment
    manual.py functions SWAGG.H                                   no page: the names of the library's functions, a line each

SEE are other pages, "swagg(8),swaggctl(1)". A page goes to standard output."""
import re
import subprocess
import sys
from pathlib import Path


# --- troff ---


def text(plain):
    """Words as they are read: a bare hyphen is none to type, and a line that begins with a dot would be a request."""
    typed = plain.replace("\\", "\\e").replace("-", "\\-")
    return "\n".join("\\&" + line if line.startswith((".", "'")) else line for line in typed.split("\n"))


def marked(markdown):
    """A cell or a paragraph of Markdown: `typed` and **strong** are bold; of links only their words stay."""
    markdown = re.sub(r"[.,]?\s*\[(More|see above)\]\([^)]*\)\.?", "", markdown)
    markdown = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", markdown)
    pieces = re.split(r"(`[^`]*`|\*\*[^*]*\*\*|\*\w[^*]*\*)", markdown)
    return "".join("\\fB" + text(p.strip("`*")) + "\\fR" if p.startswith(("`", "*")) else text(p) for p in pieces)


def sentence(markdown):
    return marked(markdown[:1].upper() + markdown[1:]).rstrip(".") + ".\n"


def header(name, section, version, purpose, names=()):
    return (f'.TH {text(name.upper())} {section} "" "swagg {version}"\n.SH NAME\n'
            f'{", ".join(text(n) for n in [name, *names])} \\- {text(purpose)}\n')


def bold(name, section):
    return f".BR {text(name)} ({section})"


def see_also(pages):
    named = [bold(*re.fullmatch(r"(.*)\((.*)\)", page).groups()) for page in pages]
    return ".SH SEE ALSO\n" + ",\n".join(named) + ",\n.I /usr/share/doc/swagg\n"


def example(lines):
    return ".PP\n.EX\n" + text("\n".join(lines)) + "\n.EE\n"


# --- programs ---


def output(*command, check=True):
    return subprocess.run(command, check=check, stdout=subprocess.PIPE, stderr=None if check else subprocess.DEVNULL, encoding="utf-8").stdout


def intro(help_text):
    """(usages, the paragraphs behind them) of what stands above the options."""
    lines = help_text.split("\n\n")[0].splitlines()
    behind = next((i for i, line in enumerate(lines) if i > 0 and not line.startswith(" " * 7)), len(lines))
    usages = [line.removeprefix("usage:").strip() for line in lines[:behind]]
    return usages, lines[behind:]


def options(*command):
    """The rows that --help=man prints. A program whose commands alone have options prints none."""
    return output(*command, "--help=man", check=False)


def synopsis(usages):
    return "".join(".nf\n" + re.sub(r"^(\S+)", r"\\fB\1\\fR", text(usage)) + "\n.fi\n" for usage in usages)


def first_sentence(lines):
    sentence = re.split(r"\.(?:\s|$)", " ".join(lines))[0]
    return sentence[0].lower() + sentence[1:]


def command_section(program, command):
    usages, lines = intro(output(program, command, "--help"))
    return f".SS {text(command)}\n" + synopsis(usages) + ".PP\n" + text("\n".join(lines)) + "\n" + options(program, command)


def program_page(program, section, version, see, *commands):
    usages, lines = intro(output(program, "--help"))
    described = [line for line in lines if not line.startswith("  ")]  # a command's line has a section of its own below
    page = header(Path(program).name, section, version, first_sentence(described))
    page += ".SH SYNOPSIS\n" + synopsis(usages) + ".SH DESCRIPTION\n" + text("\n".join(described)) + "\n"
    rows = options(program)
    if rows:
        page += ".SH OPTIONS\n" + rows
    if commands:
        page += ".SH COMMANDS\n" + "".join(command_section(program, command) for command in commands)
    return page + see_also(see.split(","))


# --- tables in Markdown ---


def cells(line):
    return [c.strip() for c in line.strip().strip("|").split(" | ")]


def table(markdown):
    """(name, what stands in the cells) of each row."""
    lines = [line for line in markdown.splitlines() if line.startswith("|")]
    names = cells(lines[0])
    for line in lines[2:]:
        row = cells(line)
        row += [""] * (len(names) - len(row))
        yield row[0], dict(zip(names[1:], row[1:]))


def settings_page(swagg, version):
    page = header("swagg.yaml", 5, version, "configuration of swagg, swagg-ps and swagg-tofino")
    page += (".SH DESCRIPTION\nA file in YAML, given on the command line, or\n.I /etc/swagg/NAME.yaml\nfor the service NAME. "
             "A key with dots is one in groups:\n.B pool.slots\nis the key\n.B slots\nin the group\n.BR pool .\n"
             "What cannot be is told with its line, and with what was meant; \\fB\\-\\-check\\fR only looks. "
             "Behind each key stand its values, what it is unless it is set, and when a change counts after\n"
             ".BR \"swaggctl reload\" .\n")
    for part in re.split(r"^### ", output(swagg, "--settings"), flags=re.MULTILINE)[1:]:
        title, rest = part.split("\n", 1)
        page += f".SH {marked(title).upper() if '`' not in title else marked(title)}\n"
        for key, row in table(rest):
            page += f".TP\n{marked(key)}: {marked(row['value'])}\n" + sentence(row[""])
            page += f"Unless set: {marked(row['default'])}. Counts: {marked(row['a change counts'])}.\n"
    return page + see_also(["swagg(8)", "swagg-ps(8)", "swagg-tofino(8)", "swaggctl(1)"])


# --- swagg.h ---


COMMENT = re.compile(r"/\*(.*?)\*/", re.DOTALL)


def uncommented(comment):
    return "\n".join(re.sub(r"^\s*\* ?", "", line).rstrip() for line in comment.strip().split("\n"))


def header_text(path):
    """With the text of those that it includes by their place beside it."""
    guarded = re.compile(r"#ifndef \w+\n#define \w+\n+(.*?)\n+#endif", re.DOTALL)
    return re.sub(r'^#include "(\w+\.h)"$', lambda m: guarded.search((Path(path).parent / m.group(1)).read_text(encoding="utf-8")).group(1),
                  Path(path).read_text(encoding="utf-8"), flags=re.MULTILINE)


def functions(source):
    return re.findall(r"^[a-z][^;{}#\n]*?\b(swagg_\w+)\([^;{}]*\);", COMMENT.sub("", source), flags=re.MULTILINE)


def paragraphs(said_of_it):
    """Prose as prose, and what is set off as it is."""
    said = ""
    for block in said_of_it.split("\n\n"):
        lines = block.split("\n")
        code = [line for line in lines if line.startswith("    ")]
        prose = [line for line in lines if line and not line.startswith("    ")]
        said += (".PP\n" + text("\n".join(prose)) + "\n" if prose else "") + (example(code) if code else "")
    return said


def library_page(path, perf, version):
    source = header_text(path)
    names = functions(source)
    first = COMMENT.match(source)
    purpose, described = uncommented(first.group(1)).split("\n\n", 1)
    page = header("libswagg", 3, version, purpose.split(": ", 1)[1].rstrip("."), names)
    page += ".SH SYNOPSIS\n.nf\n.B #include <swagg.h>\n.PP\ncc ... $(pkg\\-config \\-\\-cflags \\-\\-libs libswagg)\n.fi\n"
    page += ".SH DESCRIPTION\n" + paragraphs(described)
    page += ".SH FUNCTIONS AND TYPES\n"
    blocks = re.split(r"\n\n(?=/\*|enum|struct|[a-z])", source[source.index("\nenum swagg_type"):].strip())
    for block in blocks:
        comment = COMMENT.match(block)
        code = (block[comment.end():] if comment else block).strip("\n")
        code = code.split("#ifdef")[0].strip()
        if comment:
            page += paragraphs(uncommented(comment.group(1)))
        if code:
            page += example(code.split("\n"))
    page += ".SH OPTIONS IN WORDS\nThe names that\n.BR swagg_open_words ()\ntakes.\n"
    page += option_rows(output(perf, "--options"), "0 stands for")
    return page + see_also(["swagg-perf(1)", "swagg-mpi(7)", "swagg(8)"])


def option_rows(markdown, default):
    rows = ""
    for name, row in table(markdown):
        rows += f".TP\n{marked(name)}: {marked(row['values'])}\n" + sentence(row["meaning"])
        rows += f"Unless set: {marked(row[default])}.\n" if row[default] else ""
    return rows


def shim_page(perf, version):
    page = header("swagg-mpi", 7, version, "MPI programs that reduce in a swagg switch", ["swagg-mpirun", "libswagg-mpi.so"])
    page += (".SH SYNOPSIS\nSWAGG_SWITCH=\\fIADDRESS\\fR\n.B swagg\\-mpirun\n[\\fIOPTION\\fR...] \\fIPROGRAM\\fR\n.PP\n"
             ".B mpirun\n\\-x LD_PRELOAD=libswagg\\-mpi.so \\-x SWAGG_SWITCH=\\fIADDRESS\\fR \\fIPROGRAM\\fR\n"
             ".SH DESCRIPTION\nPrograms of Open MPI 4.1 or MPICH, in C or Fortran, need not be built anew. Collectives that the switch "
             "has, and that are faster there, go to it; all else goes to the MPI library, as without it. Rank 0's last words tell how much went which "
             "way, and why.\n.PP\n\\fBswagg\\-mpirun\\fR is\n.BR mpirun ,\nor what MPIRUN names, with all its options. It gives variables "
             "of swagg's to all ranks, and has them load Open MPI's component, where it is installed, else the library to preload, with MPICH's mpiexec that for MPICH.\n.SH ENVIRONMENT\n")
    page += option_rows(output(perf, "--settings"), "unless set")
    return page + see_also(["libswagg(3)", "swagg(8)", "swagg-ps(8)", "mpirun(1)"])


def main():
    kind, *arguments = sys.argv[1:]
    if kind == "functions":
        print("\n".join(functions(header_text(arguments[0]))))
        return
    pages = {"program": program_page, "settings": settings_page, "library": library_page, "shim": shim_page}
    sys.stdout.write(pages[kind](*arguments))


main()
