"""The rules of the reference, each with a switch.

All rules are on, except while the validator asks what would be noticed if one
of them were not there. A rule that no case would miss is no rule of the suite.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

Json = Any
#: Asks a service: (service, method, args) -> its scripted result.
Call = Callable[[str, str, dict[str, Json]], Json]

#: Number of rules in each family, by prefix.
COUNTS: Mapping[str, int] = {
    "AD": 6,
    "DD": 7,
    "EE": 6,
    "IU": 8,
    "PL": 7,
    "RC": 16,
    "VA": 10,
    "VB": 3,
    "VD": 7,
    "VK": 6,
}

PREFIXES: Mapping[str, str] = {
    "authorize_download": "AD",
    "derive_deadline": "DD",
    "evaluate_expiry": "EE",
    "issue_signed_url": "IU",
    "project_library": "PL",
    "reconcile_objects": "RC",
    "validate_archive": "VA",
    "validate_bucket": "VB",
    "validate_delivery": "VD",
    "validate_object_key": "VK",
}


def rules_of(family: str) -> list[str]:
    """All rule ids of a family, in order."""
    prefix = PREFIXES[family]
    return [f"{prefix}-{number}" for number in range(1, COUNTS[prefix] + 1)]


class Rules:
    """A set of rules of which at most a few are switched off."""

    def __init__(self, off: frozenset[str] = frozenset()) -> None:
        self._off = off

    def __call__(self, rule: str) -> bool:
        """Whether the rule is on."""
        return rule not in self._off


ALL_ON = Rules()
