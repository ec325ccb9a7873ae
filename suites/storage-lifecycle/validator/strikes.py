"""Rule N-1: the negative matrix is as large and as sharp as it claims to be.

What each check must strike is written down here, apart from the matrix, and how
many mutants its generators make is counted from the cases by another way than
making them. So a matrix that was thinned out, whose mutants are all the same or
hit another place than they name, and a validator that expands only the first
mutant of an entry, are all noticed before any mutant is judged.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

from reference.canonical import canonical

from .findings import Finding, Json, finding
from .mutants import Mutant, Originals, expand

#: Each check that is written by hand: how many of its mutants strike which places of what.
STRIKES: dict[str, dict[str, int]] = {
    "manifest-count": {"manifest /caseCount": 3},
    "manifest-ids": {
        "manifest /orderedCaseIds/10 /orderedCaseIds/11": 1,
        "manifest /orderedCaseIds/11": 1,
        "manifest /orderedCaseIds/104": 1,
        "manifest /orderedCaseIds/0": 1,
    },
    "manifest-lastCaseId": {"manifest /lastCaseId": 1},
    "manifest-hashes": {
        "suite.json flip-bit": 1,
        "SHA256SUMS change-digit": 1,
        "extra.txt add": 1,
        "README.md remove": 1,
    },
    "suite-count": {"suite /cases/104": 1, "suite /cases/- /cases/105/id": 1},
    "suite-order": {"suite /cases/52": 1},
    "authorize_download-calls": {"SL-001 /calls/0": 1, "SL-009 /calls/-": 1},
    "authorize_download-mutations": {"SL-001 /expected/mutations/-": 1},
    "authorize_download-semantic": {
        "SL-013 /expected/output/code /expected/output/http_status /expected/output/reason": 1,
    },
    "derive_deadline-calls": {"SL-014 /calls/-": 1},
    "derive_deadline-mutations": {"SL-014 /expected/mutations/0": 1, "SL-021 /expected/mutations/-": 1},
    "derive_deadline-semantic": {"SL-020 /expected/output/deadline": 1, "SL-018 /expected/output/source": 1},
    "evaluate_expiry-calls": {"SL-024 /calls/-": 1},
    "evaluate_expiry-mutations": {"SL-024 /expected/mutations/0/from": 1, "SL-028 /expected/mutations/-": 1},
    "evaluate_expiry-semantic": {"SL-023 /expected/output": 1, "SL-024 /expected/output": 1},
    "issue_signed_url-calls": {"SL-036 /calls/-": 1, "SL-031 /calls/2": 1},
    "issue_signed_url-mutations": {"SL-031 /expected/mutations/0": 1, "SL-041 /expected/mutations/-": 1},
    "issue_signed_url-semantic": {
        "SL-034 /expected/output/expires_in": 1,
        "SL-033 /expected/output/limit": 1,
    },
    "project_library-calls": {"SL-042 /calls/-": 1},
    "project_library-mutations": {"SL-042 /expected/mutations/-": 1},
    "project_library-semantic": {"SL-046 /expected/output/items/0": 1, "SL-044 /expected/output/next": 1},
    "reconcile_objects-calls": {"SL-053 /calls/0": 1, "SL-052 /calls/-": 1},
    "reconcile_objects-mutations": {
        "SL-057 /expected/mutations/0/version_id": 1,
        "SL-050 /expected/mutations/0": 1,
    },
    "reconcile_objects-semantic": {
        "SL-055 /expected/output/decisions/0/decision": 1,
        "SL-058 /expected/output/decisions/0/decision": 1,
    },
    "validate_archive-calls": {"SL-067 /calls/-": 1},
    "validate_archive-mutations": {"SL-067 /expected/mutations/-": 1},
    "validate_archive-semantic": {"SL-078 /expected/output": 1},
    "validate_bucket-calls": {"SL-087 /calls/-": 1},
    "validate_bucket-mutations": {"SL-087 /expected/mutations/-": 1},
    "validate_bucket-semantic": {
        "SL-092 /expected/output/code /expected/output/findings": 1,
        "SL-089 /expected/output/code /expected/output/findings/-": 1,
    },
    "validate_delivery-calls": {"SL-093 /calls/0": 1, "SL-094 /calls/-": 1},
    "validate_delivery-mutations": {"SL-093 /expected/mutations/1": 1, "SL-099 /expected/mutations/-": 1},
    "validate_delivery-semantic": {"SL-099 /expected/output": 1, "SL-097 /expected/output/code": 1},
    "validate_object_key-calls": {"SL-100 /calls/-": 1},
    "validate_object_key-mutations": {"SL-100 /expected/mutations/-": 1},
    "validate_object_key-semantic": {
        "SL-105 /expected/output/results/1": 1,
        "SL-103 /expected/output/results/0/code /expected/output/results/1/code": 1,
    },
    "service-pair": {"SL-031 /calls/0/method /calls/0/service": 7},
    "call-count": {"SL-031 /calls/2": 1, "SL-053 /calls/-": 1, "SL-031 /calls/1": 1},
    "call-order": {"SL-031 /calls/1": 1, "SL-031 /calls/0": 1},
    "call-args": {
        "SL-031 /calls/0/args/tenant_id": 1,
        "SL-031 /calls/1/args/version_id": 1,
        "SL-031 /calls/2/args/expires_in": 1,
        "SL-031 /calls/2/args/key": 1,
    },
    "archive-normalized-path": {"SL-067 /input/entries/0/path /input/manifest/0/path": 5},
    "archive-entry-defense": {
        "SL-067 /input/entries/0/type": 1,
        "SL-067 /input/entries/0/encrypted": 1,
        "SL-067 /input/entries/1/method": 1,
        "SL-067 /input/entries/0/data_descriptor": 1,
        "SL-067 /input/entries/0/local_name_equal": 1,
        "SL-067 /input/entries/1/local_offset": 1,
    },
    "archive-ceiling-unique": {
        "SL-080 /input/ceilings/-": 1,
        "SL-080 /input/ceilings/4": 1,
        "SL-081 /expected/output/violations/- /input/ceilings/2/max": 1,
    },
    "archive-reference-source": {
        "SL-067 /input/manifest/1/source_id": 1,
        "SL-067 /input/sources/1/tenant_id": 1,
        "SL-067 /input/sources/1/delivery_id": 1,
        "SL-067 /input/sources/1/state": 1,
        "SL-067 /input/sources/1/size": 1,
    },
    "archive-manifest-multiset": {
        "SL-067 /input/manifest/1": 2,
        "SL-067 /input/manifest/0/sha256 /input/manifest/1/sha256": 1,
    },
    "archive-ignore-booleans": {"SL-068 /input/ignore_directories": 4},
    "reconcile-sequence": {
        "SL-066 /expected/output/events/3/sequence": 1,
        "SL-066 /expected/output/events/1/sequence": 1,
        "SL-066 /expected/output/events/1/sequence /expected/output/events/2/sequence": 1,
        "SL-066 /expected/output/next_sequence": 1,
    },
    "reconcile-batch-size": {"SL-066 /input/run/batch_size": 3, "SL-064 /input/run/batch_size": 1},
    "reconcile-events": {
        "SL-066 /expected/output/events/3": 1,
        "SL-066 /expected/output/events/-": 1,
        "SL-066 /expected/output/events/0/type": 1,
        "SL-066 /expected/output/events/0/sequence /expected/output/events/1/sequence /expected/output/events/2/sequence /expected/output/events/3/sequence /expected/output/next_sequence": 1,
    },
    "reconcile-transitions": {
        "SL-053 /expected/mutations/0/to": 1,
        "SL-053 /expected/mutations/0/from": 1,
        "SL-053 /expected/mutations/0/revision": 1,
    },
    "reconcile-identity": {
        "SL-048 /input/objects/0/size": 1,
        "SL-048 /input/objects/0/etag": 1,
        "SL-048 /input/objects/1/key": 1,
    },
    "reconcile-pagination": {
        "SL-063 /expected/output/next_cursor": 2,
        "SL-063 /expected/output/pass_complete": 1,
        "SL-063 /input/objects_truncated": 1,
    },
    "reconcile-15m-minus": {
        "SL-049 /expected/mutations/- /expected/output/decisions/0/decision /expected/output/events/- /expected/output/next_sequence": 1,
        "SL-049 /input/rows/0/state_since": 1,
    },
    "reconcile-15m-equal": {
        "SL-050 /expected/mutations /expected/output/decisions/0/decision /expected/output/events /expected/output/next_sequence": 1,
        "SL-050 /input/rows/0/state_since": 1,
    },
    "reconcile-15m-plus": {
        "SL-051 /expected/mutations /expected/output/decisions/0/decision /expected/output/events /expected/output/next_sequence": 1,
        "SL-051 /input/rows/0/state_since": 1,
    },
    "reconcile-2h-minus": {
        "SL-052 /expected/output/decisions/0/decision": 1,
        "SL-052 /calls/- /input/marks/0/first_seen_at": 1,
    },
    "reconcile-2h-equal": {
        "SL-053 /expected/output/decisions/0/decision": 1,
        "SL-053 /input/marks/0/first_seen_at": 1,
    },
    "reconcile-2h-plus": {
        "SL-054 /expected/output/decisions/0/decision": 1,
        "SL-054 /input/marks/0/first_seen_at": 1,
    },
    "library-projection": {
        "SL-042 /expected/output/items/0/key": 1,
        "SL-042 /expected/output/items/0/bucket": 1,
        "SL-042 /expected/output/items/0/hold": 1,
        "SL-042 /expected/output/items/0/expires_at": 1,
        "SL-042 /expected/output/items/1": 1,
        "SL-042 /expected/output/items/1/status": 1,
    },
    "delivery-probe-universe": {
        "SL-093 /input/probes/0": 2,
        "SL-093 /input/probes/0/status": 1,
        "SL-093 /input/probes/1": 2,
        "SL-093 /input/probes/1/status": 1,
        "SL-093 /input/probes/2": 2,
        "SL-093 /input/probes/2/status": 1,
        "SL-093 /input/probes/3": 2,
        "SL-093 /input/probes/3/status": 1,
        "SL-093 /input/probes/4": 2,
        "SL-093 /input/probes/4/status": 1,
        "SL-093 /input/probes/5": 2,
        "SL-093 /input/probes/5/status": 1,
        "SL-093 /input/probes/6": 2,
        "SL-093 /input/probes/6/status": 1,
        "SL-093 /input/probes/7": 2,
        "SL-093 /input/probes/7/status": 1,
        "SL-093 /input/probes/0/probe": 1,
    },
    "bucket-rule-mapping": {
        "SL-088 /expected/output/findings/6/rule /expected/output/findings/7/rule": 1,
        "SL-088 /expected/output/findings/10": 1,
        "SL-088 /expected/output/findings/5/pointer": 1,
    },
    "ownership-cross-product": {
        "suite /cases/4 /cases/4/id /cases/5": 1,
        "SL-002 /expected/output/code /expected/output/http_status /expected/output/reason": 1,
        "SL-003 /expected/output/code /expected/output/http_status /expected/output/reason": 1,
        "SL-004 /expected/output/code /expected/output/http_status /expected/output/reason": 1,
        "SL-005 /expected/output/code /expected/output/http_status /expected/output/reason": 1,
        "SL-006 /expected/output/code /expected/output/http_status /expected/output/reason": 1,
        "SL-007 /expected/output/code /expected/output/http_status /expected/output/reason": 1,
        "SL-008 /expected/output/code /expected/output/http_status /expected/output/reason": 1,
    },
}

#: The checks made by generators, beside what they strike by hand.
GENERATED: dict[str, tuple[str, ...]] = {
    "uuid-uppercase": ("uuid-uppercase",),
    "uuid-wrong-type": ("uuid-wrong-type",),
    "attempt-zero": ("integer-member", "integer-lexeme"),
    "archive-ignore-booleans": ("swap-kinds",),
}
GENERATORS = {"omit-required": "omit-member", "malformed-type": "wrong-type"}

#: How many values each kind of value is replaced by.
_WRONG_TYPES = {type(None): 1, bool: 3, int: 3, str: 2, list: 1, dict: 1}


#: What makes the mutants of an entry.
Make = Callable[[Json, Originals], Iterator[Mutant]]


def check(matrix: Json, originals: Originals, make: Make = expand) -> list[Finding]:
    """N-1 of every check, before any mutant is judged."""
    found = []
    for one in matrix["checks"]:
        found += [finding("N-1", one["id"], text) for text in _faults(one, originals, make)]
    return found


def _faults(one: Json, originals: Originals, make: Make) -> Iterator[str]:
    name = one["id"]
    by_hand = Counter(_strike(entry) for entry in one["mutants"] if "generator" not in entry)
    wanted = Counter(STRIKES.get(name, {}))
    for strike in sorted(by_hand.keys() | wanted.keys()):
        if by_hand[strike] != wanted[strike]:
            yield f"has {by_hand[strike]} mutants that strike {strike}, must be {wanted[strike]}"
    family, _, kind = name.partition("-")
    generators = [entry["generator"] for entry in one["mutants"] if "generator" in entry]
    must = list(GENERATED.get(name, (GENERATORS[kind],) if kind in GENERATORS else ()))
    if generators != must:
        yield f"has the generators {generators}, must be {must}"
        return
    if kind in GENERATORS and {entry.get("family") for entry in one["mutants"]} != {family}:
        yield f"does not go over the cases of {family}"
    expanded = [(entry, list(make(entry, originals))) for entry in one["mutants"]]
    count = sum(wanted.values()) + sum(
        _COUNTS[entry["generator"]](entry, originals) for entry in one["mutants"] if "generator" in entry
    )
    total = sum(len(mutants) for _, mutants in expanded)
    if total != count:
        yield f"has {total} mutants, must have {count}"
    # A generator may make again what is also written by hand.
    groups = [mutants for entry, mutants in expanded if "generator" in entry]
    groups.append([mutant for entry, mutants in expanded if "generator" not in entry for mutant in mutants])
    if any(len({_identity(mutant) for mutant in group}) != len(group) for group in groups):
        yield "has the same mutant twice"


def _identity(mutant: Mutant) -> tuple[str, str | None, bytes]:
    value = mutant.value
    if mutant.target == "files":
        return mutant.target, None, b"".join(name.encode() + data for name, data in sorted(value.items()))
    return mutant.target, mutant.case_id, canonical(value)


def _strike(entry: Json) -> str:
    """What an entry written by hand strikes, and where."""
    if "file" in entry:
        return f"{entry['file']} {entry['edit']}"
    places = sorted({step["path"] for step in entry["patch"]})
    return " ".join([entry["case"] if "case" in entry else entry["target"], *places])


def _values(value: Json) -> Iterator[Json]:
    """Every value below and including this one."""
    yield value
    below = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for item in below:
        yield from _values(item)


def _cases(entry: Json, originals: Originals) -> Iterator[Json]:
    for case in originals.suite["cases"]:
        if entry.get("family", case["family"]) == case["family"] and entry.get("case", case["id"]) == case["id"]:
            yield case


def _members(entry: Json, originals: Originals) -> int:
    cases = _cases(entry, originals)
    return sum(len(value) for case in cases for value in _values(case) if isinstance(value, dict))


def _wrong_types(entry: Json, originals: Originals) -> int:
    total = 0
    for case in _cases(entry, originals):
        total += sum(_WRONG_TYPES[type(value)] for value in _values(case["input"]))
        # An integer that may be null is not replaced by null.
        for pattern in entry["nullable"]:
            tokens = pattern.split("/")[1:]
            total -= sum(type(value) is int for value in _at(case, tokens))
    return total


def _at(value: Json, tokens: list[str]) -> Iterator[Json]:
    """The values at a pointer in which `*` stands for any one token."""
    if not tokens:
        yield value
    elif isinstance(value, dict):
        for name in value if tokens[0] == "*" else [tokens[0]]:
            if name in value:
                yield from _at(value[name], tokens[1:])
    elif isinstance(value, list):
        for index, item in enumerate(value):
            if tokens[0] in ("*", str(index)):
                yield from _at(item, tokens[1:])


def _kinds(entry: Json, originals: Originals) -> int:
    cases = _cases(entry, originals)
    return sum({bool: 2, int: 1}.get(type(value), 0) for case in cases for value in _values(case["input"]))


def _uuids(entry: Json, originals: Originals) -> int:
    each = 1 if entry["generator"] == "uuid-uppercase" else 4
    total = 0
    for case in _cases(entry, originals):
        total += sum(_is_uuid(value) for value in _values(case))
        for pattern in entry["except"]:
            total -= sum(_is_uuid(value) for value in _at(case, pattern.split("/")[1:]))
    return each * total


def _is_uuid(value: Json) -> bool:
    if not isinstance(value, str) or len(value) != 36:
        return False
    return [len(part) for part in value.split("-")] == [8, 4, 4, 4, 12]


def _integers(entry: Json, originals: Originals) -> int:
    each = len(entry["values"]) if entry["generator"] == "integer-member" else 1
    members = [
        item
        for case in _cases(entry, originals)
        for value in _values(case)
        if isinstance(value, dict)
        for name, item in value.items()
        if name in entry["members"]
    ]
    return each * sum(type(item) is int for item in members)


_COUNTS: dict[str, Callable[[Json, Originals], int]] = {
    "omit-member": _members,
    "wrong-type": _wrong_types,
    "swap-kinds": _kinds,
    "uuid-uppercase": _uuids,
    "uuid-wrong-type": _uuids,
    "integer-member": _integers,
    "integer-lexeme": _integers,
}
