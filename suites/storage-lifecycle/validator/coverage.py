"""Rules X-1 to X-7, X-9 and X-10: the suite as a whole leaves nothing out and repeats nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator

from reference.canonical import canonical
from reference.row_update import TRANSITIONS
from reference.validate_archive import HIGHEST
from reference.validate_bucket import POINTERS
from reference.validate_delivery import PROBES

from . import boundaries, titles
from .boundaries import BOUNDARIES
from .findings import Finding, Json, finding
from .schemas import Schemas

_UUID = re.compile("[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}")


def check(cases: list[Json], schemas: Schemas) -> list[Finding]:
    """All rules of coverage, over cases that each pass their own rules."""
    found = [*_ownership(cases), *_ceilings(cases), *_probes(cases), *_bucket(cases)]
    found += [*_codes(cases, schemas), *_words(cases, schemas)]
    return [*found, *boundaries.check(cases), *titles.check(cases), *_copies(cases)]


def of_family(cases: list[Json], family: str) -> list[Json]:
    """The cases of one family."""
    return [case for case in cases if case["family"] == family]


def _ownership(cases: list[Json]) -> Iterator[Finding]:
    """X-1: object, delivery and key, each own or another's: all eight, and named as they are."""
    shown = set()
    for case in of_family(cases, "authorize_download"):
        boundary = case["boundary"] or ""
        if not boundary.startswith("OWN "):
            continue
        tenant = case["input"]["caller"]["tenant_id"]
        result: Json = case["calls"][0]["result"] if case["calls"] else {"found": False}
        if not result["found"]:
            yield finding("X-1", case["id"], "shows an ownership and finds nothing")
            continue
        row = result["object"]
        owners = (row["tenant_id"], result["delivery"]["tenant_id"], row["key"].split("/")[2])
        combination = "".join("o" if owner == tenant else "x" for owner in owners)
        shown.add(combination)
        if boundary != f"OWN {combination}":
            yield finding("X-1", case["id"], f"is named {boundary} and shows OWN {combination}")
    for boundary in BOUNDARIES["authorize_download"]:
        if boundary.startswith("OWN ") and boundary[4:] not in shown:
            yield finding("X-1", "/cases", f"no case shows {boundary}")


def _ceilings(cases: list[Json]) -> Iterator[Finding]:
    """X-2: each ceiling is passed by one case in which nothing else is wrong."""
    for name in HIGHEST:
        isolated = [
            case["id"]
            for case in of_family(cases, "validate_archive")
            if case["boundary"] == f"{name}+1"
            and [(one["code"], one["ceiling"]) for one in case["expected"]["output"]["violations"]]
            == [("CEILING", name)]
        ]
        if len(isolated) != 1:
            yield finding("X-2", "/cases", f"{len(isolated)} cases pass the ceiling {name} alone, must be 1")


def _probes(cases: list[Json]) -> Iterator[Finding]:
    """X-3: a deliverable case has every probe exactly once."""
    delivered = [
        case["input"]["probes"]
        for case in of_family(cases, "validate_delivery")
        if case["expected"]["output"]["code"] == "DELIVERABLE"
    ]
    universe = sorted(PROBES.items())
    if not any(sorted((one["probe"], one["status"]) for one in probes) == universe for probes in delivered):
        yield finding("X-3", "/cases", "no deliverable case has all eight probes as they must answer")


def _bucket(cases: list[Json]) -> Iterator[Finding]:
    """X-4: one case breaks all bucket rules, each at its own pointer."""
    wanted = sorted(POINTERS.items())
    findings = [case["expected"]["output"]["findings"] for case in of_family(cases, "validate_bucket")]
    if not any(sorted((one["rule"], one["pointer"]) for one in found) == wanted for found in findings):
        yield finding("X-4", "/cases", "no case has the eleven bucket rules at their eleven pointers")


def codes_of(case: Json) -> list[tuple[str, str]]:
    """Every (family, code) that a case's output shows, decisions and statuses included."""
    found = []
    for name, value in _members(case["expected"]["output"]):
        if name in ("code", "decision", "class", "status", "source", "limit", "reason") and value is not None:
            found.append((case["family"], value))
            if name == "code" and case["family"] == "issue_signed_url":
                found.append(("authorize_download", value))
    return found


def _codes(cases: list[Json], schemas: Schemas) -> Iterator[Finding]:
    """X-5: every word that an output may say is said."""
    shown = {pair for case in cases for pair in codes_of(case)}
    declared = declared_codes(schemas)
    for family, words in declared.items():
        for word in words:
            # A link is refused in the words of the download that it would permit.
            borrowed = family == "issue_signed_url" and word in declared["authorize_download"]
            if (family, word) not in shown and not (borrowed and ("authorize_download", word) in shown):
                yield finding("X-5", family, f"no case shows {word}")


def declared_codes(schemas: Schemas) -> dict[str, list[str]]:
    """The words that each family's schema lets its output say."""
    declared: dict[str, list[str]] = {}
    for family in BOUNDARIES:
        output = schemas.documents[family]["properties"]["expected"]["properties"]["output"]
        words: set[str] = set()
        for name, value in _members(output):
            if name in ("code", "decision", "class", "status", "source", "limit", "reason") and isinstance(
                value, dict
            ):
                # A union with one word is written as `const`.
                words.update(word for word in value.get("enum", [value.get("const")]) if word is not None)
        declared[family] = sorted(words)
    return declared


def transitions_of(case: Json) -> list[str]:
    """The changes of state that a case asks for."""
    changes = case["expected"]["mutations"]
    return [f"{one['from']} -> {one['to']}" for one in changes if one.get("field") == "state"]


def events_of(case: Json) -> list[str]:
    """The types of event that a case tells."""
    events = case["expected"]["output"].get("events", [])
    return [event["type"] for event in events]


def _words(cases: list[Json], schemas: Schemas) -> Iterator[Finding]:
    """X-6: every transition and every type of event."""
    moved = {move for case in cases for move in transitions_of(case)}
    for before, after in sorted(TRANSITIONS):
        if f"{before} -> {after}" not in moved:
            yield finding("X-6", "/cases", f"no case moves a row from {before} to {after}")
    output = schemas.documents["reconcile_objects"]["properties"]["expected"]["properties"]["output"]
    told = {event for case in cases for event in events_of(case)}
    for event in output["properties"]["events"]["items"]["properties"]["type"]["enum"]:
        if event not in told:
            yield finding("X-6", "/cases", f"no case tells {event}")


def _copies(cases: list[Json]) -> Iterator[Finding]:
    """X-10: no case repeats another under other ids."""
    known: dict[bytes, str] = {}
    for case in cases:
        content = _renamed(canonical({name: case[name] for name in ("family", "input", "calls", "expected")}))
        first = known.setdefault(content, case["id"])
        if first != case["id"]:
            yield finding("X-10", case["id"], f"repeats {first}")


def _renamed(content: bytes) -> bytes:
    """The content with its ids numbered as they appear, so that renaming them makes nothing new."""
    numbers: dict[str, str] = {}
    return _UUID.sub(lambda match: numbers.setdefault(match[0], f"id{len(numbers)}"), content.decode()).encode()


def _members(value: Json) -> Iterator[tuple[str, Json]]:
    if isinstance(value, dict):
        for name, item in value.items():
            yield name, item
            yield from _members(item)
    elif isinstance(value, list):
        for item in value:
            yield from _members(item)
