"""Rule L-2: the folder holds exactly the files that SHA256SUMS lists, byte for byte."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Mapping
from pathlib import Path

from .findings import Finding, finding

SUMS = "SHA256SUMS"
EVIDENCE = "validation-result.json"
PRODUCTION = "production-result.json"
#: Written by runs, so neither listed nor hashed.
GENERATED = frozenset({EVIDENCE, PRODUCTION, f"{EVIDENCE}.tmp", f"{PRODUCTION}.tmp"})

_LINE = re.compile("([0-9a-f]{64})  ([A-Za-z0-9._/-]+)")


def read_tree(root: Path) -> tuple[dict[str, bytes], list[str]]:
    """The files below a folder by their path, and the symbolic links among them."""
    files: dict[str, bytes] = {}
    links: list[str] = []
    for folder, names, leaves in os.walk(root):
        # Compiled files are never read (see validate.py).
        names[:] = sorted(name for name in names if name != "__pycache__")
        for name in sorted(names + leaves):
            path = Path(folder, name)
            relative = path.relative_to(root).as_posix()
            if path.is_symlink():
                links.append(relative)
            elif path.is_file() and relative not in GENERATED:
                files[relative] = path.read_bytes()
    return files, links


def seal(files: Mapping[str, bytes]) -> bytes:
    """The text of SHA256SUMS for these files, as `sha256sum -c` reads it."""
    names = sorted((name for name in files if name != SUMS), key=str.encode)
    return "".join(f"{hashlib.sha256(files[name]).hexdigest()}  {name}\n" for name in names).encode()


def suite_root(files: Mapping[str, bytes]) -> str | None:
    """The digest that stands for the whole suite."""
    return hashlib.sha256(files[SUMS]).hexdigest() if SUMS in files else None


def check(files: Mapping[str, bytes], links: list[str]) -> list[Finding]:
    """Every file that is changed, unlisted or absent."""
    if SUMS not in files:
        return [finding("L-2", SUMS, "the file is absent: `validate.py --seal` writes it")]
    found = [finding("L-2", link, "is a symbolic link; the suite has none") for link in links]
    listed: dict[str, str] = {}
    lines = files[SUMS].decode("utf-8", "replace").split("\n")
    if lines.pop() != "":
        found.append(finding("L-2", SUMS, "the last line does not end with a line feed"))
    for number, line in enumerate(lines, start=1):
        match = _LINE.fullmatch(line)
        if match is None:
            found.append(finding("L-2", SUMS, f"line {number} is not `<sha256>  <path>`"))
        else:
            listed[match[2]] = match[1]
    if [line[66:] for line in lines] != sorted(listed, key=str.encode):
        found.append(finding("L-2", SUMS, "the paths are not sorted and unique"))
    present = {name: hashlib.sha256(data).hexdigest() for name, data in files.items() if name != SUMS}
    for name in sorted(listed.keys() | present.keys()):
        if name not in present:
            found.append(finding("L-2", name, "is listed in SHA256SUMS but absent"))
        elif name not in listed:
            found.append(finding("L-2", name, "is not listed in SHA256SUMS"))
        elif listed[name] != present[name]:
            text = f"has SHA-256 {present[name][:12]}..., listed is {listed[name][:12]}..."
            found.append(finding("L-2", name, text))
    return found
