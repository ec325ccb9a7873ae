"""RC: one page of mark and sweep between rows and bucket."""

from __future__ import annotations

from typing import NamedTuple

from . import instants, validate_object_key
from .identity import equals_head, equals_listing
from .row_update import move
from .rules import ALL_ON, Call, Json, Rules

SETTLE = 15 * 60 * 1000
CONFIRM = 2 * 60 * 60 * 1000

#: Classes that must be marked and confirmed before anything is done about them.
SUSPICIOUS = ("row_without_object", "object_without_row", "identity_mismatch")


class Step(NamedTuple):
    """What became of one key."""

    decision: str
    event: str | None = None
    mutations: tuple[Json, ...] = ()
    destructive: bool = False


def run(data: Json, call: Call, rules: Rules) -> Json:
    if rules("RC-1") and not _lawful(data):
        return _stay(data, "BATCH_INVALID", [])
    horizon = _horizon(data) if rules("RC-2") else None
    decisions, steps = [], []
    for key in _keys(data, horizon):
        page = _Page(data, key, call, rules)
        step = page.judge()
        decisions.append({"key": key, "class": page.kind, "decision": step.decision})
        steps.append((key, step))
    destroyed = sum(1 for _, step in steps if step.destructive)
    if rules("RC-13") and destroyed > data["run"]["max_destructive"]:
        return _stay(data, "HALTED", decisions)
    first = data["run"]["next_sequence"]
    events: list[Json] = []
    for key, step in steps:
        if step.event is not None:
            sequence = first + (len(events) if rules("RC-15") else 0)
            events.append({"sequence": sequence, "type": step.event, "key": key})
    output = {
        "code": "OK",
        "decisions": decisions,
        "events": events,
        "next_cursor": horizon,
        "pass_complete": not (data["rows_truncated"] or data["objects_truncated"]),
        "next_sequence": first + len(events),
    }
    return {"output": output, "mutations": [change for _, step in steps for change in step.mutations]}


def _stay(data: Json, code: str, decisions: list[Json]) -> Json:
    output = {
        "code": code,
        "decisions": decisions,
        "events": [],
        "next_cursor": data["after"],
        "pass_complete": False,
        "next_sequence": data["run"]["next_sequence"],
    }
    return {"output": output, "mutations": []}


def _lawful(data: Json) -> bool:
    start = [] if data["after"] is None else [data["after"].encode()]
    for side in ("rows", "objects"):
        keys = start + [item["key"].encode() for item in data[side]]
        if any(left >= right for left, right in zip(keys, keys[1:])):
            return False
        if len(data[side]) > data["run"]["batch_size"]:
            return False
        if data[f"{side}_truncated"] and not data[side]:
            return False
    marked = [mark["key"] for mark in data["marks"]]
    own = all(row["bucket"] == data["bucket"] for row in data["rows"])
    return own and len(marked) == len(set(marked))


def _horizon(data: Json) -> str | None:
    ends = [data[side][-1]["key"] for side in ("rows", "objects") if data[f"{side}_truncated"]]
    return min(ends, key=str.encode, default=None)


def _keys(data: Json, horizon: str | None) -> list[str]:
    keys = {item["key"] for side in ("rows", "objects", "marks") for item in data[side]}
    after = b"" if data["after"] is None else data["after"].encode()
    kept = [key for key in keys if key.encode() > after]
    if horizon is not None:
        kept = [key for key in kept if key.encode() <= horizon.encode()]
    return sorted(kept, key=str.encode)


class _Page:
    """One key of the page, with all that is known of it."""

    def __init__(self, data: Json, key: str, call: Call, rules: Rules) -> None:
        self.data, self.key, self.call, self.rules = data, key, call, rules
        self.now = instants.read(data["now"])
        self.row = _find(data["rows"], key)
        self.object = _find(data["objects"], key)
        self.mark = _find(data["marks"], key)
        self.kind = self._classify()

    def _classify(self) -> str:
        if self.rules("RC-12") and validate_object_key.parse(self.key, ALL_ON)[0] != "OK":
            return "foreign"
        if not self.rules("RC-3"):
            return "consistent"
        row, listed = self.row, self.object
        state = None if row is None else row["state"]
        if listed is None:
            absent = {
                "pending": "row_without_object",
                "available": "row_without_object",
                "expired": "purged_due",
            }
            return absent.get(state or "", "consistent")
        if state is None or state == "purged":
            return "object_without_row"
        if state == "expired":
            return "purge_due"
        if not equals_listing(row, listed, self.rules):
            return "consistent" if state == "quarantined" else "identity_mismatch"
        if state == "pending":
            return "adoptable"
        healable = state in ("missing", "quarantined") and row["available_at"] is not None
        return "healable" if healable else "consistent"

    def judge(self) -> Step:
        rules = self.rules
        if self.kind == "foreign":
            return Step("ignored")
        if self.kind == "consistent":
            if self.mark is None or not rules("RC-9"):
                return Step("none")
            return Step("recovered", "object.recovered", self._unmark())
        if rules("RC-5") and self._quiet() < SETTLE:
            return Step("in_flight")
        if self.kind == "healable":
            return self._heal() if rules("RC-10") else Step("none")
        if self.kind in ("purge_due", "purged_due"):
            return self._purge() if rules("RC-11") else Step("none")
        if self.mark is None or self.mark["class"] != self.kind:
            return self._suspect() if rules("RC-6") else Step("none")
        if self.kind == "adoptable":
            return Step("awaiting")
        if rules("RC-7"):
            same_run = self.mark["run_id"] == self.data["run"]["run_id"]
            if same_run or self.now - instants.read(self.mark["first_seen_at"]) < CONFIRM:
                return Step("suspect")
        return self._confirm() if rules("RC-8") else Step("suspect")

    def _quiet(self) -> int:
        times = []
        if self.row is not None:
            times.append(self.row["state_since"])
        if self.object is not None:
            times.append(self.object["last_modified"])
        return self.now - max(instants.read(time) for time in times)

    def _suspect(self) -> Step:
        event = "object.revalidate" if self.kind == "adoptable" else "object.suspected"
        insert = {
            "op": "insert",
            "target": "mark",
            "key": self.key,
            "class": self.kind,
            "first_seen_at": self.data["now"],
            "run_id": self.data["run"]["run_id"],
        }
        return Step("suspect", event, (*self._unmark(), insert))

    def _confirm(self) -> Step:
        row = self.row
        lost = self.kind == "row_without_object"
        head = self._head(row["version_id"] if lost else None)
        if "error" in head:
            return Step("deferred")
        if self.kind == "object_without_row":
            return self._confirm_orphan(head)
        if head["found"] and equals_head(row, head, self.rules):
            return self._disagree()
        state = "missing" if lost and not head["found"] else "quarantined"
        return Step(state, f"object.{state}", (move(row, state, self.rules), *self._unmark()), True)

    def _confirm_orphan(self, head: Json) -> Step:
        listed = self.object
        if not head["found"] or (head["size"], head["etag"]) != (listed["size"], listed["etag"]):
            return self._disagree()
        if head["version_id"] is None:
            return Step("deferred")
        return Step(
            "purge", "object.orphan_purged", (self._delete(head["version_id"]), *self._unmark()), True
        )

    def _disagree(self) -> Step:
        """RC-16: the mark starts anew. Dropping it would suspect the key again, for ever."""
        if not self.rules("RC-16"):
            return Step("rearmed", "object.listing_disagrees", self._unmark())
        update = {
            "op": "update",
            "target": "mark",
            "key": self.key,
            "class": self.kind,
            "first_seen_at": self.data["now"],
        }
        return Step("rearmed", "object.listing_disagrees", (update,))

    def _heal(self) -> Step:
        if not self._is_there():
            return Step("deferred")
        changes = (move(self.row, "available", self.rules), *self._unmark())
        return Step("healed", "object.healed", changes)

    def _purge(self) -> Step:
        if self.kind == "purged_due":
            changes = (move(self.row, "purged", self.rules), *self._unmark())
            return Step("purged", "object.purge_confirmed", changes)
        if not self._is_there():
            return Step("deferred")
        return Step("purge", "object.purged", (self._delete(self.row["version_id"]), *self._unmark()))

    def _is_there(self) -> bool:
        head = self._head(self.row["version_id"])
        return head.get("found") is True and equals_head(self.row, head, self.rules)

    def _head(self, version: str | None) -> Json:
        args = {"bucket": self.data["bucket"], "key": self.key, "version_id": version}
        return self.call("storage", "head", args)

    def _delete(self, version: str) -> Json:
        place = {"bucket": self.data["bucket"], "key": self.key, "version_id": version}
        return {"op": "delete", "target": "object", **place}

    def _unmark(self) -> tuple[Json, ...]:
        if self.mark is None:
            return ()
        return ({"op": "delete", "target": "mark", "key": self.key, "class": self.mark["class"]},)


def _find(items: list[Json], key: str) -> Json:
    return next((item for item in items if item["key"] == key), None)
