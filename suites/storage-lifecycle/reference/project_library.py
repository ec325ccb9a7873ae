"""PL: what a tenant sees of its artifacts."""

from __future__ import annotations

from . import evaluate_expiry, instants
from .rules import ALL_ON, Call, Json, Rules
from .validate_object_key import EXTENSIONS


def run(data: Json, call: Call, rules: Rules) -> Json:
    rows = data["rows"]
    if rules("PL-1") and any(row["tenant_id"] != data["tenant_id"] for row in rows):
        return _result("TENANT_LEAK", [], None)
    shown = [row for row in rows if status(row, data["now"], rules) is not None]
    if rules("PL-4"):
        shown = _highest(shown)
    if rules("PL-5"):
        # Two stable sorts: by id ascending, then by time descending.
        shown.sort(key=lambda row: row["id"])
        shown.sort(key=lambda row: instants.read(row["available_at"]), reverse=True)
    more = False
    if rules("PL-6"):
        shown = [row for row in shown if _follows(row, data["after"])]
        more = len(shown) > data["limit"]
        shown = shown[: data["limit"]]
    items = [_item(row, data["now"], rules) for row in shown]
    cursor = {"available_at": shown[-1]["available_at"], "id": shown[-1]["id"]} if more else None
    return _result("OK", items, cursor)


def status(row: Json, now: str, rules: Rules) -> str | None:
    """What the tenant is told of a row; None hides it."""
    if row["available_at"] is None or row["state"] in ("pending", "quarantined", "purged"):
        return None
    if not rules("PL-3"):
        return "ready"
    if row["state"] == "missing":
        return "unavailable"
    if row["state"] == "expired":
        return "expired"
    code, _ = evaluate_expiry.judge(row, now, ALL_ON)
    return {"EXPIRED": "expired", "EXPIRING": "expiring"}.get(code, "ready")


def filename(row: Json, rules: Rules) -> str:
    """The name a person sees (PL-7)."""
    if not rules("PL-7"):
        return row["key"].rpartition("/")[2]
    return f"{row['kind']}-{row['delivery_id'][-12:]}-{row['attempt']}.{EXTENSIONS[row['kind']]}"


def _highest(rows: list[Json]) -> list[Json]:
    # Best first: the highest attempt, and of equal attempts the lowest id.
    best: dict[tuple[str, str], Json] = {}
    for row in sorted(rows, key=lambda row: (-row["attempt"], row["id"])):
        best.setdefault((row["delivery_id"], row["kind"]), row)
    return list(best.values())


def _follows(row: Json, after: Json) -> bool:
    if after is None:
        return True
    time, limit = instants.read(row["available_at"]), instants.read(after["available_at"])
    return time < limit or (time == limit and row["id"] > after["id"])


def _item(row: Json, now: str, rules: Rules) -> Json:
    told = status(row, now, rules)
    item = {member: row[member] for member in ("id", "delivery_id", "attempt", "kind")}
    item["filename"] = filename(row, rules)
    item.update({member: row[member] for member in ("content_type", "size", "sha256")})
    item["status"] = told
    item["available_at"] = row["available_at"]
    item["expires_at"] = None if row["hold"] else row["deadline"]
    item["downloadable"] = told in ("ready", "expiring")
    if not rules("PL-2"):
        item["key"] = row["key"]
    return item


def _result(code: str, items: list[Json], cursor: Json) -> Json:
    return {"output": {"code": code, "items": items, "next": cursor}, "mutations": []}
