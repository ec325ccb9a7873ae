"""The two runs of the negative matrix: fresh processes, opposite orders, other hash seeds.

A result that depends on the order of checks, on state left behind, or on the
order of a hash table differs between them.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from reference.strict_json import parse_bytes

from .findings import Json

ORDERS = ("forward", "reverse")


class RunFailed(Exception):
    """A run ended without a result."""


def run_twice(root: Path, tell: Callable[[str], None]) -> list[tuple[Json, str]]:
    """The results of both runs with the digest of each; the runs go on side by side."""
    started = []
    for seed, order in enumerate(ORDERS):
        output, errors = tempfile.TemporaryFile(), tempfile.TemporaryFile()
        process = subprocess.Popen(
            [sys.executable, str(root / "validate.py"), "--matrix", order],
            stdout=output,
            # The first run tells how far it is; of the other only a failure matters.
            stderr=subprocess.PIPE if order == "forward" else errors,
            env={**os.environ, "PYTHONHASHSEED": str(seed)},
        )
        started.append((process, output, errors))
    for line in started[0][0].stderr or []:
        text = line.decode("utf-8", "replace").rstrip()
        if text.startswith("check "):
            tell(text)
        else:
            sys.stderr.write(text + "\n")
    results = []
    for (process, output, errors), order in zip(started, ORDERS):
        if process.wait() != 0:
            errors.seek(0)
            sys.stderr.write(errors.read().decode("utf-8", "replace"))
            raise RunFailed(f"the {order} run of the negative matrix ended with status {process.returncode}")
        output.seek(0)
        data = output.read()
        results.append((parse_bytes(data), hashlib.sha256(data).hexdigest()))
    return results
