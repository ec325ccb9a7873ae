"""EE: where does an artifact stand in its life?"""

from __future__ import annotations

from . import instants
from .row_update import move
from .rules import Call, Json, Rules

EXPIRING = 86_400_000


def run(data: Json, call: Call, rules: Rules) -> Json:
    row = data["object"]
    code, remaining = judge(row, data["now"], rules)
    output = {
        "code": code,
        "remaining_ms": remaining,
        "download_allowed": row["state"] == "available" and code not in ("EXPIRED", "INERT"),
    }
    expires = code == "EXPIRED" and rules("EE-6")
    return {"output": output, "mutations": [move(row, "expired", rules)] if expires else []}


def judge(row: Json, now: str, rules: Rules) -> tuple[str, int | None]:
    """The code, and the milliseconds left where a deadline runs."""
    if row["state"] in ("pending", "quarantined", "expired", "purged") and rules("EE-1"):
        return "INERT", None
    if row["hold"] and rules("EE-2"):
        return "HELD", None
    if row["deadline"] is None:
        if rules("EE-3"):
            return "NO_DEADLINE", None
        return "EXPIRED", 0
    left = instants.read(row["deadline"]) - instants.read(now)
    if left <= 0 and rules("EE-4"):
        return "EXPIRED", 0
    soon = left <= EXPIRING and rules("EE-5")
    return ("EXPIRING" if soon else "ACTIVE"), max(0, left)
