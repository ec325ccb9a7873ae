"""Changes of a row: a compare-and-set on the old value and the revision (RC-14)."""

from __future__ import annotations

from .rules import Json, Rules

#: Every state that a row may be moved to, from each state.
TRANSITIONS: frozenset[tuple[str, str]] = frozenset(
    {
        ("pending", "available"),
        ("pending", "missing"),
        ("pending", "quarantined"),
        ("available", "missing"),
        ("available", "quarantined"),
        ("available", "expired"),
        ("missing", "quarantined"),
        ("missing", "available"),
        ("missing", "expired"),
        ("quarantined", "available"),
        ("expired", "purged"),
    }
)


def update(row: Json, field: str, old: Json, new: Json) -> Json:
    """An update of one field of a row that has an `id` and a `revision`."""
    return {
        "op": "update",
        "target": "row",
        "id": row["id"],
        "field": field,
        "from": old,
        "to": new,
        "revision": row["revision"],
    }


def move(row: Json, state: str, rules: Rules) -> Json:
    """A change of state, which must be one of the permitted transitions."""
    if rules("RC-14") and (row["state"], state) not in TRANSITIONS:
        raise AssertionError(f"no transition from {row['state']} to {state}")
    change = update(row, "state", row["state"], state)
    if not rules("RC-14"):
        change["revision"] += 1
    return change
