"""Compares what a production runner produced with what the reference recomputed."""

from __future__ import annotations

import hashlib
from pathlib import Path

from reference.strict_json import StrictJsonError, parse_bytes

from .evidence import Evidence
from .files import PRODUCTION
from .findings import Json

ABSENT = "no production-result.json: run the production runner first (see README.md)"


def compare(root: Path, evidence: Evidence, produced: dict[str, str | None], checks: int) -> None:
    """Adds the comparison to the evidence, and blocks on every difference."""
    try:
        data = (root / PRODUCTION).read_bytes()
    except FileNotFoundError:
        evidence.block("PRODUCTION_ABSENT", ABSENT)
        return
    try:
        result = parse_bytes(data)
        cases = {case["id"]: case["sha256"] for case in result["cases"]}
        negative = result["negativeChecks"]
        suite_root = evidence.body["suiteRoot"]
        identical = _judge(evidence, result, cases, produced)
        if result["suiteRoot"] != suite_root:
            evidence.block("PRODUCTION_SUITE_ROOT", "the runner judged other files than these: run it again")
        if result["pinnedSuiteRoot"] != suite_root:
            text = "the runner was made for another suite (its pinned suite root differs): "
            text += "accept the change there"
            evidence.block("PRODUCTION_SUITE_ROOT", text)
        if negative["mutants"] == 0:
            evidence.block("PRODUCTION_NEGATIVE", "the runner did not get to the negative checks")
        elif [negative["total"], negative["rejected"], negative["identical"]] != [checks, checks, True]:
            text = f"the runner rejected {negative['rejected']} of {negative['total']} negative checks"
            evidence.block(
                "PRODUCTION_NEGATIVE", text + ("" if negative["identical"] else ", in runs that differ")
            )
        for failure in negative["failures"][:5]:
            evidence.block("PRODUCTION_NEGATIVE", failure)
        evidence.body["production"] = {
            "runner": result["runner"],
            "suiteRoot": result["suiteRoot"],
            "cases": len(cases),
            "identical": identical,
            "resultSha256": hashlib.sha256(data).hexdigest(),
        }
    except (StrictJsonError, KeyError, TypeError) as error:
        evidence.block("PRODUCTION_INVALID", f"{PRODUCTION}: {type(error).__name__} {error}")


def _judge(evidence: Evidence, result: Json, cases: Json, produced: dict[str, str | None]) -> bool:
    messages = {case["id"]: case["message"] for case in result["cases"]}
    identical = list(cases) == list(produced)
    if not identical:
        evidence.block("PRODUCTION_DIFFERS", f"the runner has {len(cases)} cases, the suite {len(produced)}")
    for case_id, digest in produced.items():
        if digest is None or cases.get(case_id) != digest:
            identical = False
            why = messages.get(case_id) or "another digest than the reference"
            evidence.block("PRODUCTION_DIFFERS", f"{case_id} {why}")
    return identical
