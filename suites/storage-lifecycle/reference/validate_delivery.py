"""VD: the gate through which an artifact becomes downloadable."""

from __future__ import annotations

from . import validate_object_key
from .identity import equals_head
from .row_update import move, update
from .rules import ALL_ON, Call, Json, Rules

#: What each probe of the store and the API must answer.
PROBES = {
    "owner_get": 200,
    "range_get": 206,
    "head_with_get_url": 403,
    "unsigned_get": 403,
    "tampered_get": 403,
    "expired_get": 403,
    "other_key_get": 403,
    "foreign_tenant_api": 404,
}


def run(data: Json, call: Call, rules: Rules) -> Json:
    row, delivery = data["object"], data["delivery"]
    current = row["attempt"] >= 1 and row["attempt"] == delivery["latest_attempt"]
    if rules("VD-1") and not (current and row["state"] == "pending"):
        return _refused("SUPERSEDED")
    if rules("VD-2") and not _agrees(row, delivery):
        return _refused("KEY_MISMATCH")
    if rules("VD-3") and row["kind"] == "export" and data["archive_code"] != "VALID":
        return _refused("ARCHIVE_INVALID")
    head = call("storage", "head", {member: row[member] for member in ("bucket", "key", "version_id")})
    if rules("VD-4"):
        same = head["found"] and equals_head(row, head, ALL_ON)
        if not same or head["content_type"] != row["content_type"]:
            return _refused("OBJECT_MISMATCH")
    names = [probe["probe"] for probe in data["probes"]]
    if rules("VD-5"):
        uncounted = [name for name in PROBES if names.count(name) != 1]
        if uncounted:
            return _refused("PROBE_UNIVERSE", uncounted)
    wrong = [probe["probe"] for probe in data["probes"] if probe["status"] != PROBES[probe["probe"]]]
    if wrong and rules("VD-6"):
        return _refused("PROBE_FAILED", wrong)
    mutations = []
    if rules("VD-7"):
        mutations.append(move(row, "available", rules))
        mutations.append(update(row, "available_at", None, data["now"]))
    return {"output": {"code": "DELIVERABLE", "failed": []}, "mutations": mutations}


def _agrees(row: Json, delivery: Json) -> bool:
    code, parts = validate_object_key.parse(row["key"], ALL_ON)
    if code != "OK":
        return False
    named = all(parts[member] == row[member] for member in ("tenant_id", "delivery_id", "attempt", "kind"))
    return named and delivery["tenant_id"] == row["tenant_id"] and delivery["id"] == row["delivery_id"]


def _refused(code: str, failed: list[str] | None = None) -> Json:
    return {"output": {"code": code, "failed": sorted(failed or [])}, "mutations": []}
