"""Rules M-1, M-2, U-1 and U-2: the manifest, and the suite's count and order."""

from __future__ import annotations

from .findings import Finding, Json, finding, show
from .schemas import Schemas

CASES = 105
FAMILY_CHECKS = ("omit-required", "malformed-type", "calls", "mutations", "semantic")


def expected_ids() -> list[str]:
    """SL-001 to SL-105."""
    return [f"SL-{number:03}" for number in range(1, CASES + 1)]


def check_manifest(manifest: Json, schemas: Schemas) -> list[Finding]:
    """M-1: every member as fixed. M-2: the ids are exactly the sequence."""
    found = schemas.findings("manifest", manifest, "M-1")
    ids = manifest.get("orderedCaseIds") if isinstance(manifest, dict) else None
    return found + _sequence(ids, expected_ids(), "M-2", "/orderedCaseIds")


def check_negative_ids(manifest: Json, matrix: Json) -> list[Finding]:
    """M-2 as well: the matrix has the manifest's checks, in its order."""
    return _sequence(
        [check["id"] for check in matrix["checks"]], manifest["negativeCheckIds"], "M-2", "/checks"
    )


def check_suite(suite: Json, manifest: Json, schemas: Schemas) -> list[Finding]:
    """U-1: as many cases as declared. U-2: in the declared order. The frame by its schema."""
    cases = suite.get("cases") if isinstance(suite, dict) else None
    if not isinstance(cases, list):
        return [finding("U-1", "/cases", "is not a list of cases")]
    frame = {**suite, "cases": []}
    found = schemas.findings("suite", frame, "U-1")
    if len(cases) != manifest["caseCount"]:
        found.append(finding("U-1", "/cases", f"{len(cases)} cases, declared are {manifest['caseCount']}"))
    ids = [case.get("id") if isinstance(case, dict) else None for case in cases]
    return found + _sequence(ids, manifest["orderedCaseIds"], "U-2", "/cases")


def _sequence(got: Json, wanted: list[str], rule: str, pointer: str) -> list[Finding]:
    if got == wanted:
        return []
    if not isinstance(got, list):
        return [finding(rule, pointer, "is not a list")]
    for index, (left, right) in enumerate(zip(got, wanted)):
        if left != right:
            return [finding(rule, f"{pointer}/{index}", f"is {show(left)}, must be {show(right)}")]
    return [finding(rule, pointer, f"has {len(got)} ids, must have {len(wanted)}")]
