"""Rule X-8: each rule of the reference, switched off, is noticed by a case that names it,
and a case names only rules whose absence it notices.
"""

from __future__ import annotations

from reference.rules import PREFIXES, Rules, rules_of

from .coverage import of_family
from .findings import Finding, Json, finding
from .judge import compare
from .recompute import recompute

#: Cases that show where a rule lets something pass, or changes nothing. Such a case
#: names the rule that another case, beside it, shows at work.
PASSES: frozenset[tuple[str, str]] = frozenset(
    {
        ("SL-001", "AD-3"),
        ("SL-016", "DD-2"),
        ("SL-018", "DD-4"),
        ("SL-021", "DD-7"),
        ("SL-023", "EE-4"),
        ("SL-030", "EE-5"),
        ("SL-032", "IU-4"),
        ("SL-035", "IU-5"),
        ("SL-048", "RC-3"),
        ("SL-067", "VA-8"),
        ("SL-067", "VA-9"),
        ("SL-068", "VA-10"),
        ("SL-080", "VA-7"),
        ("SL-087", "VB-1"),
        ("SL-090", "VB-2"),
        ("SL-092", "VB-3"),
    }
)


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
            for case_id in named:
                if case_id not in killers and (case_id, rule) not in PASSES:
                    found.append(finding("X-8", case_id, f"names {rule} and would not miss it"))
        rules = set(rules_of(family))
        for case in members:
            for rule in case["rules"]:
                if rule not in rules:
                    found.append(finding("X-8", case["id"], f"names {rule}, which {family} does not have"))
    return found, killed
