#!/usr/bin/python3
"""Makes the wheel of the packages in this folder: make_wheel.py WHEEL DEPENDENCIES, a file for ninja. As pip would from pyproject.toml, but without setuptools,
which a build of swagg does not need otherwise. The same files give the same bytes."""
import base64
import hashlib
import sys
import tomllib
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
EPOCH = (1980, 1, 1, 0, 0, 0)


def metadata(project):
    lines = ["Metadata-Version: 2.1", f"Name: {project['name']}", f"Version: {project['version']}", f"Summary: {project['description']}",
             f"Requires-Python: {project['requires-python']}", *(f"Requires-Dist: {need}" for need in project["dependencies"])]
    for extra, needs in project["optional-dependencies"].items():
        lines += [f"Provides-Extra: {extra}", *(f'Requires-Dist: {need}; extra == "{extra}"' for need in needs)]
    return "\n".join([*lines, ""])


def entry_points(project):
    return "".join(f"[{group}]\n" + "".join(f"{name} = {what}\n" for name, what in points.items()) for group, points in project["entry-points"].items())


def main():
    described = tomllib.loads((HERE / "pyproject.toml").read_text())
    project, parts = described["project"], described["tool"]["setuptools"]
    name = f"{project['name']}-{project['version']}"
    files = {str(path.relative_to(HERE)): path.read_bytes() for package in parts["packages"]
             for pattern in ("*.py", "py.typed") for path in sorted((HERE / package).glob(pattern))}
    files.update({f"{module}.py": (HERE / f"{module}.py").read_bytes() for module in parts["py-modules"]})
    sources = tuple(files)
    files[f"{name}.dist-info/METADATA"] = metadata(project).encode()
    files[f"{name}.dist-info/WHEEL"] = b"Wheel-Version: 1.0\nGenerator: swagg\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    files[f"{name}.dist-info/entry_points.txt"] = entry_points(project).encode()
    record = "".join(f"{path},sha256={base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b'=').decode()},{len(content)}\n"
                     for path, content in files.items())
    files[f"{name}.dist-info/RECORD"] = f"{record}{name}.dist-info/RECORD,,\n".encode()
    Path(sys.argv[2]).write_text(f"{sys.argv[1]}: {' '.join(str(HERE / path) for path in ('pyproject.toml', *sources))}\n")
    with zipfile.ZipFile(sys.argv[1], "w") as wheel:
        for path, content in files.items():
            wheel.writestr(zipfile.ZipInfo(path, EPOCH), content, zipfile.ZIP_DEFLATED)


main()
