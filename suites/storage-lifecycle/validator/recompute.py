"""Runs the reference on one case or question, its services played from a script."""

from __future__ import annotations

from typing import Any, NamedTuple

from reference.families import OPERATIONS
from reference.rules import Rules

from .services import NoAnswer, ScriptedServices

Json = Any


class Recomputed(NamedTuple):
    """What the reference made of a case: the calls it made, and its result unless it was cut short."""

    calls: list[Json]
    result: Json | None
    fault: tuple[str, str] | None

    @property
    def produced(self) -> Json | None:
        """{calls, output, mutations}, or None where there is no result."""
        return None if self.result is None else {"calls": self.calls, **self.result}


def recompute(case: Json, rules: Rules) -> Recomputed:
    """Runs the reference on a case that its schema admits."""
    services = ScriptedServices(case["calls"])
    try:
        result = OPERATIONS[case["family"]](case["input"], services, rules)
    except NoAnswer as error:
        return Recomputed(services.made, None, ("C-3", str(error)))
    except (AssertionError, AttributeError, KeyError, TypeError, ValueError) as error:
        # An answer that the family never gets, such as `unavailable` to who signs.
        text = f"cannot be recomputed: {type(error).__name__} {error}"
        return Recomputed(services.made, None, ("C-5", text))
    return Recomputed(services.made, result, None)
