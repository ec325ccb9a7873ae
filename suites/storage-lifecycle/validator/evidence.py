"""The evidence file: removed at the beginning, written once and whole at the very end."""

from __future__ import annotations

import json
import os
from pathlib import Path

from reference.canonical import digest

from .dependencies import Dependency
from .files import EVIDENCE
from .findings import MAX_DETAIL, Json


class Evidence:
    """Collects what a run finds out, in the order of the evidence's members."""

    def __init__(self, root: Path, dependencies: list[Dependency]) -> None:
        self.path = root / EVIDENCE
        self.dependencies = dependencies
        self.blockers: set[tuple[str, str]] = set()
        self.body: Json = {
            "schemaVersion": "1",
            "suite": "storage-lifecycle",
            "state": "BLOCKED",
            "suiteRoot": None,
            "manifestSha256": None,
            "dependencies": [_dependency(one) for one in dependencies],
            "counts": {
                "cases": 0,
                "casesPassed": 0,
                "negativeChecks": 0,
                "negativeChecksRejected": 0,
                "mutants": 0,
                "mutantsRejected": 0,
            },
            "cases": [],
            "coverage": {"rules": [], "codes": [], "transitions": [], "events": [], "boundaries": []},
            "negativeChecks": [],
            "negativeMatrix": {"runsRequired": 2, "runs": [], "identical": False},
            "production": None,
        }

    def block(self, code: str, detail: str) -> None:
        """Adds a reason why the suite does not pass."""
        plain = detail.encode("ascii", "backslashreplace").decode("ascii")
        self.blockers.add((code, plain if len(plain) <= MAX_DETAIL else plain[: MAX_DETAIL - 3] + "..."))

    def begin(self) -> None:
        """Removes an older file before anything is judged: whatever happens, no stale pass is left."""
        for path in (self.path, self._temporary):
            path.unlink(missing_ok=True)

    def result(self) -> Json:
        """The evidence as it stands; PASSED only if nothing blocks."""
        body = {**self.body, "state": "BLOCKED" if self.blockers else "PASSED"}
        body["blockers"] = [{"code": code, "detail": detail} for code, detail in sorted(self.blockers)]
        versions = {one.name: one.version for one in self.dependencies}
        return {**body, "bodySha256": digest(body), "environment": versions}

    def write(self, result: Json) -> None:
        """Puts the file in place in one step."""
        with open(self._temporary, "w", encoding="ascii", newline="\n") as file:
            file.write(json.dumps(result, indent=2) + "\n")
            file.flush()
            os.fsync(file.fileno())
        os.replace(self._temporary, self.path)

    @property
    def _temporary(self) -> Path:
        return self.path.with_name(f"{EVIDENCE}.tmp")


def _dependency(one: Dependency) -> Json:
    return {
        "name": one.name,
        "required": True,
        "minimumVersion": one.minimum,
        "present": one.version is not None,
        "satisfied": one.satisfied,
    }
