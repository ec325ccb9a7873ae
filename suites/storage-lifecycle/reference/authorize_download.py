"""AD: may this session download this artifact now?"""

from __future__ import annotations

from . import instants, validate_object_key
from .rules import Call, Json, Rules

PERMISSION = "settings:read"


def run(data: Json, call: Call, rules: Rules) -> Json:
    output, _ = decide(data, call, rules)
    return {"output": output, "mutations": []}


def decide(data: Json, call: Call, rules: Rules) -> tuple[Json, Json]:
    """The answer, and the row where the answer is ALLOW (else None)."""
    session = data["caller"]
    if rules("AD-1") and not (session["session_type"] == "user" and session["tenant_id"] is not None):
        return _answer("UNAUTHENTICATED", 401), None
    if rules("AD-2") and PERMISSION not in session["permissions"]:
        return _answer("FORBIDDEN", 403), None
    found = call(
        "database",
        "authorize",
        {
            "tenant_id": session["tenant_id"],
            "user_id": session["user_id"],
            "object_id": data["object_id"],
            "delivery_id": data["delivery_id"],
            "action": "download",
        },
    )
    if not found["found"]:
        if not rules("AD-3"):
            return _answer("ALLOW", 200), None
        return _answer("NOT_FOUND", 404, "ABSENT"), None
    row, delivery = found["object"], found["delivery"]
    if rules("AD-4") and not _is_own(data, row, delivery):
        return _answer("NOT_FOUND", 404, "OWNERSHIP"), None
    if rules("AD-5"):
        if row["state"] in ("pending", "missing", "quarantined"):
            return _answer("NOT_AVAILABLE", 409), None
        if row["state"] in ("expired", "purged"):
            return _answer("GONE", 410), None
    limited = row["deadline"] is not None and not row["hold"]
    if rules("AD-6") and limited and instants.read(data["now"]) >= instants.read(row["deadline"]):
        return _answer("GONE", 410, "DEADLINE"), None
    return _answer("ALLOW", 200), row


def _is_own(data: Json, row: Json, delivery: Json) -> bool:
    tenant = data["caller"]["tenant_id"]
    code, parts = validate_object_key.parse(row["key"], Rules())
    owned = [row["tenant_id"] == tenant, delivery["tenant_id"] == tenant]
    owned.append(code == "OK" and parts["tenant_id"] == tenant)
    asked = [row["id"] == data["object_id"], row["delivery_id"] == data["delivery_id"]]
    asked.append(delivery["id"] == data["delivery_id"])
    return all(owned) and all(asked)


def _answer(code: str, status: int, reason: str | None = None) -> Json:
    return {"code": code, "reason": reason, "http_status": status}
