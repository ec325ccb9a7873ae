"""Which dependencies are there; by the standard library alone."""

from __future__ import annotations

import platform
import re
import sys
from importlib import metadata
from typing import NamedTuple

OLDEST_PYTHON = (3, 9)
INSTALL = 'python3 -m pip install "jsonschema>=4.18.0" referencing'


class Dependency(NamedTuple):
    """One dependency of the manifest as it is on this machine."""

    name: str
    minimum: str | None
    version: str | None
    satisfied: bool


def look() -> list[Dependency]:
    """The three dependencies, in the manifest's order."""
    return [
        Dependency("python", None, platform.python_version(), sys.version_info >= OLDEST_PYTHON),
        _package("jsonschema", "4.18.0"),
        _package("referencing", None),
    ]


def problems(dependencies: list[Dependency]) -> list[tuple[str, str]]:
    """A code and a sentence for each dependency that is not as it must be."""
    found = []
    for one in dependencies:
        if one.satisfied:
            continue
        if one.name == "python":
            found.append(
                ("DEPENDENCY_TOO_OLD", f"Python {one.version} is older than 3.9: run with a newer python3")
            )
        elif one.version is None:
            found.append(("DEPENDENCY_MISSING", f"{one.name} is not installed: {INSTALL}"))
        else:
            text = f"{one.name} {one.version} is older than {one.minimum}: {INSTALL}"
            found.append(("DEPENDENCY_TOO_OLD", text))
    return found


def _package(name: str, minimum: str | None) -> Dependency:
    try:
        version: str | None = metadata.version(name)
    except metadata.PackageNotFoundError:
        version = None
    enough = version is not None and (minimum is None or _numbers(version) >= _numbers(minimum))
    return Dependency(name, minimum, version, enough)


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall("[0-9]+", version)[:3])
