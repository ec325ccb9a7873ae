"""Rule X-8: each rule of the reference, switched off, is noticed by a case that names it."""

from __future__ import annotations

from reference.rules import PREFIXES, Rules, rules_of

from .coverage import of_family
from .findings import Finding, Json, finding
from .judge import compare, recompute


def ablate(cases: list[Json]) -> tuple[list[Finding], list[Json]]:
    """The findings, and for each rule the cases that notice its absence."""
    found: list[Finding] = []
    killed: list[Json] = []
    for family in PREFIXES:
        members = of_family(cases, family)
        for rule in rules_of(family):
            off = Rules(frozenset({rule}))
            killers = [case["id"] for case in members if compare(case, recompute(case, off))]
            killed.append({"id": rule, "killedBy": killers})
            named = [case["id"] for case in members if rule in case["rules"]]
            if not named:
                found.append(finding("X-8", rule, "no case names this rule"))
            elif not set(named) & set(killers):
                text = f"switched off, none of the cases that name it fails ({', '.join(named)})"
                found.append(finding("X-8", rule, text))
    return found, killed
