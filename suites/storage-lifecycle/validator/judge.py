"""Rules C-1 to C-5: one case by its schema and by the reference."""

from __future__ import annotations

from typing import NamedTuple

from reference.canonical import canonical
from reference.rules import ALL_ON

from .findings import Finding, Json, finding, first_difference
from .recompute import Recomputed, recompute
from .schemas import Schemas


class Judgement(NamedTuple):
    """The findings of a case, and {calls, output, mutations} as recomputed."""

    findings: list[Finding]
    produced: Json | None


class Judge:
    """Judges cases; holds what all of them need."""

    def __init__(self, schemas: Schemas, registered: list[str]) -> None:
        self._schemas = schemas
        self._registered = frozenset(registered)

    def judge(self, case: Json) -> Judgement:
        """All findings of one case with their places."""
        found = self._schemas.case_findings(case) + self._pairs(case)
        if found:
            return Judgement(found, None)
        recomputed = recompute(case, ALL_ON)
        return Judgement(compare(case, recomputed), recomputed.produced)

    def rules(self, case: Json) -> set[str]:
        """Only which rules are broken: as `judge`, many times faster on a broken case."""
        broken = set() if self._schemas.is_case(case) else {"C-1"}
        if self._pairs(case):
            broken.add("C-2")
        return broken or {one.rule for one in compare(case, recompute(case, ALL_ON))}

    def _pairs(self, case: Json) -> list[Finding]:
        """Rule C-2, on any value."""
        calls = case.get("calls") if isinstance(case, dict) else None
        found = []
        for index, call in enumerate(calls if isinstance(calls, list) else []):
            if isinstance(call, dict) and "service" in call and "method" in call:
                pair = f"{call['service']}.{call['method']}"
                if pair not in self._registered:
                    found.append(finding("C-2", f"/calls/{index}", f"{pair} is not a registered method"))
        return found


def compare(case: Json, recomputed: Recomputed) -> list[Finding]:
    """Rules C-3, C-4 and C-5."""
    scripted = [{name: call[name] for name in ("service", "method", "args")} for call in case["calls"]]
    found = []
    if canonical(scripted) != canonical(recomputed.calls):
        found.append(finding("C-3", *first_difference(scripted, recomputed.calls, "/calls")))
    if recomputed.fault is not None:
        rule, text = recomputed.fault
        found.append(finding(rule, "/calls" if rule == "C-3" else "/expected/output", text))
    if recomputed.result is None:
        return found
    for rule, member in (("C-4", "mutations"), ("C-5", "output")):
        wanted, got = case["expected"][member], recomputed.result[member]
        if canonical(wanted) != canonical(got):
            found.append(finding(rule, *first_difference(wanted, got, f"/expected/{member}")))
    return found
