"""Rule X-7: what stands at the edge of a threshold, measured in the data of a case.

A flag says what a case claims. Here the same is computed from its instants,
sizes and counts, without looking at the flag, and the two must agree: a case
moved away from its edge, or two flags exchanged, are then noticed.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator

from reference import instants, validate_object_key
from reference.rules import ALL_ON
from reference.validate_bucket import POINTERS
from reference.validate_delivery import PROBES

from .findings import Finding, Json, finding

MINUTE = 60_000
HOUR = 60 * MINUTE

#: How often each flag of each family is shown.
BOUNDARIES: dict[str, list[str]] = {
    "authorize_download": [f"OWN {o}{d}{k}" for o in "ox" for d in "ox" for k in "ox"] + ["deadline="],
    "derive_deadline": ["hold=", "hold+1", "leap", "range+1"],
    "evaluate_expiry": ["deadline-1", "deadline=", "deadline+1", "24h=", "24h+1"],
    "issue_signed_url": ["sigv4=", "sigv4+1", "1s-1", "1s="],
    "project_library": ["deadline=", "limit-1", "limit="],
    "reconcile_objects": [
        *("15m-1", "15m=", "15m+1", "2h-1", "2h=", "2h+1"),
        *("page", "batch=", "batch+1", "blast+1"),
    ],
    "validate_archive": ["ceiling=", "entries+1", "entry_bytes+1", "total_bytes+1", "entry_ratio+1", "path_bytes+1"],
    "validate_bucket": ["universe", "days=", "days+1"],
    "validate_delivery": ["attempt=", "universe"],
    "validate_object_key": ["attempt0", "attempt=", "attempt999=", "bytes1024"],
}


def check(cases: list[Json]) -> list[Finding]:
    """Each flag as often as it must be, and each borne out by the data of its case."""
    found = []
    for family, names in BOUNDARIES.items():
        members = [case for case in cases if case["family"] == family]
        shown = Counter(case["boundary"] for case in members if case["boundary"])
        for name in sorted(set(names) | set(shown)):
            if shown[name] != names.count(name):
                found.append(finding("X-7", family, f"{shown[name]} cases show {name}, must be {names.count(name)}"))
        for case in members:
            flag = case["boundary"]
            measured = set(measure(case))
            if flag is not None and flag not in measured:
                stands = ", ".join(sorted(measured)) or "at no edge"
                found.append(finding("X-7", case["id"], f"says {flag}, its data stand {stands}"))
    return found


def measure(case: Json) -> Iterator[str]:
    """The flags that the data of a case bear out."""
    yield from _MEASURES[case["family"]](case)


def _beside(name: str, value: int, edge: int) -> Iterator[str]:
    """The flag of a value that lies at an edge or one unit to either side."""
    sign = {-1: "-1", 0: "=", 1: "+1"}.get(value - edge)
    if sign is not None:
        yield f"{name}{sign}"


def _since(later: str, earlier: str) -> int:
    return instants.read(later) - instants.read(earlier)


def _download(case: Json) -> Iterator[str]:
    data = case["input"]
    for call in case["calls"]:
        result = call["result"]
        if result.get("found") is not True:
            continue
        row = result["object"]
        code, parts = validate_object_key.parse(row["key"], ALL_ON)
        key_tenant = parts["tenant_id"] if code == "OK" else None
        owners = (row["tenant_id"], result["delivery"]["tenant_id"], key_tenant)
        yield "OWN " + "".join("o" if owner == data["caller"]["tenant_id"] else "x" for owner in owners)
        if row["deadline"] is not None and not row["hold"]:
            yield from _beside("deadline", _since(data["now"], row["deadline"]), 0)


def _deadline(case: Json) -> Iterator[str]:
    data = case["input"]
    if data["available_at"] is None:
        return
    days = min(day for day in (data["plan_days"], data["tenant_days"]) if day is not None)
    end = instants.read(data["available_at"]) + days * instants.DAY
    if data["hold_until"] is not None:
        yield from _beside("hold", instants.read(data["hold_until"]), end)
    yield from _beside("range", end, instants.LAST)
    if instants.write(min(end, instants.LAST))[5:10] == "02-29" and days == 1:
        yield "leap"


def _expiry(case: Json) -> Iterator[str]:
    row, now = case["input"]["object"], case["input"]["now"]
    if row["deadline"] is not None and not row["hold"]:
        late = _since(now, row["deadline"])
        yield from _beside("deadline", late, 0)
        yield from _beside("24h", -late, 24 * HOUR)


def _link(case: Json) -> Iterator[str]:
    now = instants.read(case["input"]["now"])
    issued = now - now % instants.SECOND
    for call in case["calls"]:
        if call["method"] == "signGet":
            given = re.findall("[?&]X-Amz-Expires=([0-9]{1,9})(?![^&])", call["result"]["url"])
            asked = call["args"]["expires_in"]
            if asked == 604_800 and given:
                yield from _beside("sigv4", int(given[0]), asked)
        row = call["result"].get("object")
        if row is not None and row["deadline"] is not None and not row["hold"]:
            yield from _beside("1s", instants.read(row["deadline"]) - issued, instants.SECOND)


def _library(case: Json) -> Iterator[str]:
    data = case["input"]
    hidden = ("pending", "quarantined", "purged")
    visible = [
        (instants.read(row["available_at"]), row)
        for row in data["rows"]
        if row["state"] not in hidden and row["available_at"] is not None
    ]
    if any(row["deadline"] == data["now"] and not row["hold"] for _, row in visible):
        yield "deadline="
    places = {(row["delivery_id"], row["kind"]) for _, row in visible}
    if len(places) != len(visible):
        return
    after = data["after"]
    if after is not None:
        start = instants.read(after["available_at"])
        visible = [(at, row) for at, row in visible if at < start or (at == start and row["id"] > after["id"])]
    # Named by the limit: one less than there are rows.
    yield from _beside("limit", data["limit"], len(visible))


def _page(case: Json) -> Iterator[str]:
    data, run = case["input"], case["input"]["run"]
    rows = {row["key"]: row for row in data["rows"]}
    objects = {one["key"]: one for one in data["objects"]}
    marks = {mark["key"]: mark for mark in data["marks"]}
    if len(rows.keys() | objects.keys()) == 1:
        key = next(iter(rows.keys() | objects.keys()))
        since = [one[name] for one, name in ((rows.get(key), "state_since"), (objects.get(key), "last_modified")) if one]
        yield from _beside("15m", min(_since(data["now"], time) for time in since), 15 * MINUTE)
        if key in marks and marks[key]["run_id"] != run["run_id"]:
            yield from _beside("2h", _since(data["now"], marks[key]["first_seen_at"]), 2 * HOUR)
    longest = max(len(data["rows"]), len(data["objects"]))
    if data["after"] is not None or longest > run["batch_size"]:
        yield from _beside("batch", longest, run["batch_size"])
    if data["rows_truncated"] and data["objects_truncated"] and data["rows"] and data["objects"]:
        if data["rows"][-1]["key"] != data["objects"][-1]["key"]:
            yield "page"
    lost = [decision["decision"] for decision in case["expected"]["output"]["decisions"]]
    yield from _beside("blast", sum(one in ("missing", "quarantined") for one in lost), run["max_destructive"])


def _archive(case: Json) -> Iterator[str]:
    data = case["input"]
    entries = data["entries"]
    most = {
        "entries": len(entries),
        "entry_bytes": max((one["size"] for one in entries), default=0),
        "total_bytes": sum(one["size"] for one in entries),
        "path_bytes": max((len(one["path"].encode()) for one in entries), default=0),
    }
    ceilings = {one["name"]: one["max"] for one in data["ceilings"]}
    over = {name: value - ceilings[name] for name, value in most.items() if name in ceilings}
    if "entry_ratio" in ceilings:
        over["entry_ratio"] = max(
            (one["size"] - ceilings["entry_ratio"] * one["compressed_size"] for one in entries), default=0
        )
    if len(over) == 5 and all(value == 0 for value in over.values()):
        yield "ceiling="
    if [value for value in over.values() if value > 0] == [1]:
        yield f"{max(over, key=lambda name: over[name])}+1"


def _bucket(case: Json) -> Iterator[str]:
    if {one["rule"] for one in case["expected"]["output"]["findings"]} == POINTERS.keys():
        yield "universe"
    config = case["input"]["config"]
    days = (config["abort_multipart_days"], config["noncurrent_days"])
    if days == (7, 30):
        yield "days="
    if days == (8, 31):
        yield "days+1"


def _delivery(case: Json) -> Iterator[str]:
    data = case["input"]
    names = [probe["probe"] for probe in data["probes"]]
    if len(names) == len(PROBES) and len(set(names)) == len(PROBES) - 1:
        yield "universe"
    if data["object"]["attempt"] == data["delivery"]["latest_attempt"] == 1 and sorted(names) == sorted(PROBES):
        if case["expected"]["mutations"]:
            yield "attempt="


def _key(case: Json) -> Iterator[str]:
    data = case["input"]
    if data["mode"] == "build":
        yield {1: "attempt=", 999: "attempt999="}.get(data["attempt"], "")
        return
    lengths = {len(key.encode()) for key in data["keys"]}
    if {1024, 1025} <= lengths:
        yield "bytes1024"
    attempts = {key.split("/")[6] for key in data["keys"] if len(key.split("/")) == 8}
    if {"0", "01", "1000"} <= attempts:
        yield "attempt0"


_MEASURES: dict[str, Callable[[Json], Iterator[str]]] = {
    "authorize_download": _download,
    "derive_deadline": _deadline,
    "evaluate_expiry": _expiry,
    "issue_signed_url": _link,
    "project_library": _library,
    "reconcile_objects": _page,
    "validate_archive": _archive,
    "validate_bucket": _bucket,
    "validate_delivery": _delivery,
    "validate_object_key": _key,
}
