"""Rule X-9: a title says what its case shows, and nothing else.

Titles are made of phrases, and each phrase is a claim about the data of the case.
A title must have only known phrases (beside a few joining words), each of them
true, and together they must be true of no other case of the family: exchanged
titles, or one that promises something else, are then noticed.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from reference import instants, validate_object_key
from reference.rules import ALL_ON

from .boundaries import measure
from .findings import Finding, Json, finding


class View:
    """A case as the claims look at it."""

    def __init__(self, case: Json) -> None:
        self.input: Json = case["input"]
        self.output: Json = case["expected"]["output"]
        self.changes: list[Json] = case["expected"]["mutations"]
        self.calls: list[Json] = case["calls"]
        self.edges = frozenset(measure(case))
        self.code: str | None = self.output.get("code")
        found = [call["result"]["object"] for call in self.calls if call["result"].get("object")]
        #: The row that the database answered with.
        self.row: Json = found[0] if found else {}
        self.methods = [call["method"] for call in self.calls]

    def head(self) -> Json:
        """The first answer to a look."""
        return next((call["result"] for call in self.calls if call["method"] == "head"), {})

    def decisions(self, *wanted: str) -> list[str]:
        """The decisions on keys of these classes, or of all."""
        shown = self.output.get("decisions", [])
        return [one["decision"] for one in shown if not wanted or one["class"] in wanted]

    def violations(self) -> list[str]:
        """The codes of an archive's violations."""
        return [one["code"] for one in self.output["violations"]]

    def paths(self) -> list[str]:
        """The paths of an archive's entries."""
        return [one["path"] for one in self.input["entries"]]


class Claim(NamedTuple):
    """A phrase, and whether it is true of a case."""

    phrase: re.Pattern[str]
    is_true: Callable[[View], bool]


def _claims(table: dict[str, Callable[[View], bool]]) -> list[Claim]:
    # The longest first: a phrase may be a part of another.
    return [Claim(re.compile(phrase), table[phrase]) for phrase in sorted(table, key=len, reverse=True)]


def _edge(flag: str) -> Callable[[View], bool]:
    return lambda v: flag in v.edges


def _code(code: str) -> Callable[[View], bool]:
    return lambda v: v.code == code


def _unchanged(v: View) -> bool:
    return not v.changes


def _is_unasked(v: View) -> bool:
    return not v.calls


def _own(v: View, combination: str) -> bool:
    return f"OWN {combination}" in v.edges


def _rows(v: View, *states: str) -> bool:
    return sorted(row["state"] for row in v.input["rows"]) == sorted(states)


def _keys(v: View) -> list[tuple[str, str]]:
    return [(key, one["code"]) for key, one in zip(v.input["keys"], v.output["results"])]


def _has(v: View, *words: str) -> bool:
    return all(any(word in path for path in v.paths()) for word in words)


def _attempts(v: View) -> dict[int, str]:
    return {row["attempt"]: row["state"] for row in v.input["rows"]}


CLAIMS: dict[str, list[Claim]] = {
    "authorize_download": _claims(
        {
            "object, delivery and key are all the tenant's own": lambda v: _own(v, "ooo"),
            "past its deadline": lambda v: v.row["deadline"] is not None and v.input["now"] >= v.row["deadline"],
            "but held": lambda v: v.row["hold"],
            "allowed$": _code("ALLOW"),
            "the key names another tenant": lambda v: _own(v, "oox"),
            "the delivery is another tenant's": lambda v: _own(v, "oxo"),
            "^delivery and key are another tenant's": lambda v: _own(v, "oxx"),
            "the object is another tenant's": lambda v: _own(v, "xoo"),
            "object and key are another tenant's": lambda v: _own(v, "xox"),
            "object and delivery are another tenant's": lambda v: _own(v, "xxo"),
            "object, delivery and key are another tenant's": lambda v: _own(v, "xxx"),
            "not found": _code("NOT_FOUND"),
            "by ownership": lambda v: v.output["reason"] == "OWNERSHIP",
            "a service session is not a person": lambda v: v.input["caller"]["session_type"] == "service",
            "401": lambda v: v.output["http_status"] == 401,
            "403": lambda v: v.output["http_status"] == 403,
            "nothing is asked": _is_unasked,
            "without settings:read": lambda v: "settings:read" not in v.input["caller"]["permissions"],
            "an absent row": lambda v: v.output["reason"] == "ABSENT",
            "the client sees the same as for another tenant's": _code("NOT_FOUND"),
            "quarantined": lambda v: v.row.get("state") == "quarantined",
            "not available": _code("NOT_AVAILABLE"),
            "now equals the deadline": _edge("deadline="),
            "no sweep has run": lambda v: v.row.get("state") == "available",
            "gone": _code("GONE"),
        }
    ),
    "derive_deadline": _claims(
        {
            "the plan's 30 days": lambda v: (
                v.input["plan_days"] == 30 and v.input["tenant_days"] is None and v.output["source"] == "plan"
            ),
            "milliseconds kept": lambda v: v.output["deadline"][19:] == v.input["available_at"][19:] != ".000Z",
            "one change": lambda v: len(v.changes) == 1,
            "a tenant that keeps for 7 days": lambda v: v.input["tenant_days"] == 7,
            "shortens the plan": lambda v: v.output["source"] == "tenant",
            "a tenant that asks for 90 days": lambda v: v.input["tenant_days"] == 90,
            "is capped by the plan": lambda v: v.output["source"] == "plan",
            "a hold 1 ms past the deadline": _edge("hold+1"),
            "wins": lambda v: v.output["source"] == "hold",
            "a hold and an announced deadline that are equal": lambda v: (
                "hold=" in v.edges and v.input["previous_deadline"] == v.input["hold_until"]
            ),
            "change nothing": _unchanged,
            "nothing changes": _unchanged,
            "not available yet": lambda v: v.input["available_at"] is None,
            "the clock has not started": _code("NOT_STARTED"),
            "one day after the last instant of 28 February 2028": lambda v: (
                (v.input["available_at"], v.input["plan_days"]) == ("2028-02-28T23:59:59.999Z", 1)
            ),
            "is the 29th": lambda v: v.output["deadline"][:10] == "2028-02-29",
            "a later deadline that was announced stays": lambda v: v.output["source"] == "announced",
            "at the last instant of all": lambda v: v.output["deadline"] == instants.write(instants.LAST),
            "1 ms beyond the last instant": _edge("range+1"),
            "out of range": _code("OUT_OF_RANGE"),
        }
    ),
    "evaluate_expiry": _claims(
        {
            "1 ms before the deadline": _edge("deadline-1"),
            "^at the deadline": _edge("deadline="),
            "1 ms after the deadline": _edge("deadline+1"),
            "missing": lambda v: v.input["object"]["state"] == "missing",
            "expiring": _code("EXPIRING"),
            "already expired": lambda v: v.input["object"]["state"] == "expired",
            "nothing happens twice": lambda v: v.code == "INERT" and not v.changes,
            ": expired( as well)?$": _code("EXPIRED"),
            "past the deadline": lambda v: v.input["now"] >= v.input["object"]["deadline"],
            "but held": _code("HELD"),
            "^no deadline": _code("NO_DEADLINE"),
            "exactly 24 hours left": _edge("24h="),
            "24 hours and 1 ms left": _edge("24h+1"),
            "active": _code("ACTIVE"),
        }
    ),
    "issue_signed_url": _claims(
        {
            "^300 s": lambda v: v.output["expires_in"] == v.input["ttl_seconds"] == 300,
            "issued at .789": lambda v: v.input["now"].endswith(".789Z"),
            "floored to the second": lambda v: v.calls[-1]["args"]["issued_at"] == f"{v.input['now'][:19]}.000Z",
            "three calls in order": lambda v: v.methods == ["authorize", "head", "signGet"],
            "one grant": lambda v: len(v.changes) == 1,
            "the longest life": lambda v: v.output["expires_in"] == 604_800,
            "a hold suspends a near deadline": lambda v: (
                v.row["hold"] and instants.read(v.row["deadline"]) - instants.read(v.input["now"]) < 604_800_000
            ),
            "asked for more than the policy admits": lambda v: v.input["ttl_seconds"] > v.input["max_ttl_seconds"],
            "clamped": lambda v: v.output["limit"] == "policy",
            "90.5 s to the deadline": lambda v: (
                instants.read(v.row["deadline"]) - instants.read(v.input["now"]) == 90_500
            ),
            "90 s$": lambda v: v.output["expires_in"] == 90,
            "exactly 1,000 ms left from the second of issue": _edge("1s="),
            "(?<!90.)1 s$": lambda v: v.output["expires_in"] == 1,
            "999 ms left from the second of issue": _edge("1s-1"),
            "no lifetime": _code("NO_LIFETIME"),
            "nothing is signed": lambda v: "signGet" not in v.methods,
            "the signing credential ends first": lambda v: v.output["limit"] == "credential",
            "another tenant's artifact": _code("NOT_FOUND"),
            "only the database is asked": lambda v: v.methods == ["authorize"],
            "the bytes are not there": _code("OBJECT_MISSING"),
            "the store answers with another version": lambda v: (
                v.code == "OBJECT_MISMATCH" and v.head()["version_id"] != v.row["version_id"]
            ),
            "the signer gives a longer life than asked": _edge("sigv4+1"),
            "rejected": _code("SIGNER_REJECTED"),
            "no grant": _unchanged,
        }
    ),
    "project_library": _claims(
        {
            "every state once": lambda v: len({row["state"] for row in v.input["rows"]}) == 6,
            "exactly the public members": lambda v: all(len(item) == 12 for item in v.output["items"]),
            "one deadline is now": _edge("deadline="),
            "newest first": lambda v: (
                [item["available_at"] for item in v.output["items"]]
                == sorted((row["available_at"] for row in v.input["rows"]), reverse=True)
                != [row["available_at"] for row in v.input["rows"]]
            ),
            "equal times by id": lambda v: any(
                left["available_at"] == right["available_at"] and left["id"] < right["id"]
                for left, right in zip(v.output["items"], v.output["items"][1:])
            ),
            "as many rows after the cursor as the limit": lambda v: "limit=" in v.edges and v.input["after"] is not None,
            "nothing follows": lambda v: v.output["next"] is None,
            "one row more than the limit": _edge("limit-1"),
            "the cursor is the last item": lambda v: v.output["next"]["id"] == v.output["items"][-1]["id"],
            "attempt 3 is pending": lambda v: _attempts(v).get(3) == "pending",
            "2 is shown": lambda v: [item["attempt"] for item in v.output["items"]] == [2],
            "1 is superseded": lambda v: _attempts(v).get(1) == "available",
            "one row of another tenant": lambda v: (
                [row["tenant_id"] == v.input["tenant_id"] for row in v.input["rows"]].count(False) == 1
            ),
            "fails the page": _code("TENANT_LEAK"),
        }
    ),
    "reconcile_objects": _claims(
        {
            "rows and objects agree": lambda v: set(v.decisions()) == {"none"} and not v.input["rows_truncated"],
            "nothing happens": lambda v: not v.changes and not v.output["events"],
            "a row without object": lambda v: len(v.decisions("row_without_object")) == 1,
            "quiet for 15 min less 1 ms": _edge("15m-1"),
            "quiet for exactly 15 min": _edge("15m="),
            "quiet for 15 min and 1 ms": _edge("15m+1"),
            "in flight": lambda v: "in_flight" in v.decisions(),
            "suspected": lambda v: "suspect" in v.decisions(),
            "and marked": lambda v: any(one["op"] == "insert" for one in v.changes),
            "marked 2 h less 1 ms ago": _edge("2h-1"),
            "marked exactly 2 h ago": _edge("2h="),
            "marked 2 h and 1 ms ago": _edge("2h+1"),
            "still only suspected": lambda v: v.decisions() == ["suspect"] and not v.changes,
            "nobody is asked": _is_unasked,
            "absent when looked at": lambda v: v.head() == {"found": False},
            ": missing(?![a-z])": lambda v: v.decisions() == ["missing"],
            "as the one loss that is admitted": lambda v: v.input["run"]["max_destructive"] == 1,
            "a pending row(?=: missing)": lambda v: _rows(v, "pending"),
            "a look contradicts the listing": lambda v: set(v.decisions()) == {"rearmed"},
            "a hidden object": lambda v: "rearmed" in v.decisions("row_without_object"),
            "an etag of before": lambda v: "rearmed" in v.decisions("identity_mismatch"),
            "an orphan that is gone, grown or replaced": lambda v: v.decisions("object_without_row") == ["rearmed"] * 3,
            "each mark starts anew": lambda v: all((m["op"], m["target"]) == ("update", "mark") for m in v.changes),
            "what cannot be confirmed is deferred": lambda v: set(v.decisions()) == {"deferred"},
            "the store is away": lambda v: any("error" in call["result"] for call in v.calls),
            "an orphan has no version": lambda v: any(
                call["result"].get("found") and call["result"]["version_id"] is None for call in v.calls
            ),
            "bytes to heal or to purge are absent or others": lambda v: (
                len(v.decisions("healable")) > 1 < len(v.decisions("purge_due"))
            ),
            "orphans are confirmed": lambda v: set(v.decisions("object_without_row")) == set(v.decisions()) == {"purge"},
            "one without a row": lambda v: len(v.input["rows"]) == len(v.input["objects"]) - 1,
            "one of a purged row": lambda v: _rows(v, "purged"),
            "exactly their versions are deleted": lambda v: (
                [m["version_id"] for m in v.changes if m["target"] == "object"]
                == [call["result"]["version_id"] for call in v.calls]
            ),
            "an operator's own file": lambda v: all(
                validate_object_key.parse(one["key"], ALL_ON)[0] != "OK" for one in v.input["objects"]
            ),
            "foreign": lambda v: v.decisions("foreign") == v.decisions(),
            "left alone": lambda v: v.decisions() == ["ignored"] and not v.changes,
            "another etag is confirmed": lambda v: {"identity_mismatch"}
            == {one["class"] for one in v.output["decisions"]},
            "for an available, a missing and a pending row": lambda v: _rows(v, "available", "missing", "pending"),
            "quarantined, bytes kept": lambda v: (
                set(v.decisions()) == {"quarantined"} and all(m["target"] != "object" for m in v.changes)
            ),
            "a pending row whose object is there": lambda v: "suspect" in v.decisions("adoptable"),
            "to be validated again": lambda v: [one["type"] for one in v.output["events"]] == ["object.revalidate"],
            "never made available here": lambda v: all(m["target"] != "row" for m in v.changes),
            "once marked it waits": lambda v: "awaiting" in v.decisions("adoptable"),
            "one just written is in flight": lambda v: "in_flight" in v.decisions("adoptable"),
            "objects of a missing and a quarantined row are back": lambda v: len(v.decisions("healable")) == 2,
            "healed after a look": lambda v: v.decisions("healable") == ["healed"] * len(v.calls),
            "one that was never available is not": lambda v: (
                [row["available_at"] for row in v.input["rows"]].count(None) == 1 and "none" in v.decisions()
            ),
            "expired with its object: purged bytes": lambda v: v.decisions("purge_due") == ["purge"],
            "expired without: purged row": lambda v: v.decisions("purged_due") == ["purged"],
            "both sides cut off": _edge("page"),
            "judged up to the lesser end": lambda v: (
                v.output["next_cursor"] == min(v.input[side][-1]["key"] for side in ("rows", "objects"))
            ),
            "the rest is read again": lambda v: v.output["pass_complete"] is False,
            "one side is longer than the batch": _edge("batch+1"),
            "the page is refused": _code("BATCH_INVALID"),
            "two losses where one is admitted": lambda v: (
                "blast+1" in v.edges and v.input["run"]["max_destructive"] == 1
            ),
            "halted, an operator decides": _code("HALTED"),
            "a full batch after a cursor": lambda v: "batch=" in v.edges and v.input["after"] is not None,
            "recovered": lambda v: "recovered" in v.decisions(),
            "of this run": lambda v: v.input["run"]["run_id"] in {mark["run_id"] for mark in v.input["marks"]},
            "first suspected": lambda v: "object.suspected" in {one["type"] for one in v.output["events"]},
            "of another class": lambda v: {"insert", "delete"} <= {m["op"] for m in v.changes if m["target"] == "mark"},
            "confirmed(?=; events)": lambda v: len(v.calls) == 1,
            "events in key order": lambda v: (
                [one["key"] for one in v.output["events"]] == sorted(one["key"] for one in v.output["events"])
            ),
        }
    ),
    "validate_archive": _claims(
        {
            "one stored file": lambda v: [one["method"] for one in v.input["entries"]].count(0) == 1,
            "one deflated": lambda v: [one["method"] for one in v.input["entries"]].count(8) == 1,
            "at the greatest depth": lambda v: max(path.count("/") for path in v.paths()) == 7,
            "as promised": lambda v: len(v.input["manifest"]) == len(v.paths()),
            "valid": _code("VALID"),
            "a directory entry": lambda v: [one["type"] for one in v.input["entries"]].count("directory") == 1,
            "to be ignored$|to be ignored(?=: valid)": lambda v: (
                v.input["ignore_directories"] is (v.code == "VALID")
            ),
            "the same archive where directories are not": lambda v: v.violations() == ["DIRECTORY_ENTRY"],
            "parent, absolute, drive, UNC and backslash": lambda v: (
                _has(v, "../", ":", "\\\\") and any(p[0] == "/" for p in v.paths()) and _has(v, "\\")
            ),
            "five paths refused": lambda v: v.violations() == ["PATH"] * 5,
            "four paths refused": lambda v: v.violations() == ["PATH"] * 4,
            "NUL, escape, decomposed and composed letter, bidirectional override": lambda v: (
                _has(v, "\0", "\x1b", "e\u0301", "\u00e9", "\u202e")
            ),
            "device name, trailing dot, dot segment, empty segment": lambda v: (
                _has(v, "CON", "/./", "//") and any(p.endswith(".") for p in v.paths())
            ),
            "two names that differ only by case": lambda v: (
                len({p.lower() for p in v.paths()}) < len(set(v.paths())) and v.code == "COLLISION"
            ),
            "a file that is another's folder": lambda v: any(
                other.startswith(f"{path}/") for path in v.paths() for other in v.paths()
            ),
            "a symbolic link": lambda v: "symlink" in [one["type"] for one in v.input["entries"]],
            "a pipe": lambda v: "other" in [one["type"] for one in v.input["entries"]],
            "encrypted, unknown method, data descriptor: one each": lambda v: (
                v.violations() == ["ENCRYPTED", "METHOD", "DESCRIPTOR"]
            ),
            "one trailing byte": lambda v: v.input["container"]["trailing_bytes"] == 1,
            "an archive inside": lambda v: "NESTED" in v.violations(),
            "a ceiling given twice": lambda v: len({one["name"] for one in v.input["ceilings"]}) < len(v.input["ceilings"]),
            "two entries share one range of bytes": lambda v: (
                len({one["local_offset"] for one in v.input["entries"]}) < len(v.input["entries"])
            ),
            "the local header names another file": lambda v: any(
                not one["local_name_equal"] for one in v.input["entries"]
            ),
            "all five ceilings met exactly": _edge("ceiling="),
            "one entry too many": _edge("entries+1"),
            "one entry a byte too large": _edge("entry_bytes+1"),
            "a byte too much in all": _edge("total_bytes+1"),
            "a byte more than four times the compressed size": lambda v: (
                "entry_ratio+1" in v.edges and {"name": "entry_ratio", "max": 4} in v.input["ceilings"]
            ),
            "a path a byte too long": _edge("path_bytes+1"),
            "nothing else": lambda v: v.violations() == ["CEILING"],
            "a line promised twice": lambda v: (
                len({line["path"] for line in v.input["manifest"]}) < len(v.input["manifest"])
            ),
            "equal only as a set": lambda v: {line["path"] for line in v.input["manifest"]} == set(v.paths()),
            "a source of another tenant": lambda v: any(
                source["tenant_id"] != v.input["tenant_id"] for source in v.input["sources"]
            ),
            "a source that is not used": lambda v: (
                {source["id"] for source in v.input["sources"]}
                > {line["source_id"] for line in v.input["manifest"]}
            ),
        }
    ),
    "validate_bucket": _claims(
        {
            "every rule met": lambda v: not v.output["findings"] and not v.output["waived"],
            "with the fewest days": lambda v: (
                v.input["config"]["abort_multipart_days"] == v.input["config"]["noncurrent_days"] == 1
            ),
            "conforming": _code("CONFORMING"),
            "every rule broken": _edge("universe"),
            "eleven findings": lambda v: len(v.output["findings"]) == 11,
            "each at its own place": lambda v: len({one["pointer"] for one in v.output["findings"]}) == 11,
            "limits of days met exactly": _edge("days="),
            "limits of days passed by one": _edge("days+1"),
            "two findings": lambda v: len(v.output["findings"]) == 2,
            "what the store cannot tell is waived": lambda v: "unsupported" in v.input["config"].values(),
            "listed": lambda v: v.output["waived"] == sorted(v.input["waivers"]) != [],
            "a waiver does not excuse": lambda v: v.output["findings"][0]["rule"] in v.input["waivers"],
            "a value that is known to be wrong": lambda v: v.output["findings"][0]["observed"] != "unsupported",
        }
    ),
    "validate_delivery": _claims(
        {
            "^attempt 1": lambda v: v.input["object"]["attempt"] == 1,
            "where 2 is the latest": lambda v: v.input["delivery"]["latest_attempt"] == 2,
            "the bytes are the row's": lambda v: v.head()["sha256"] == v.input["object"]["sha256"],
            "all probes answer as they must": lambda v: len({p["probe"] for p in v.input["probes"]}) == 8,
            "deliverable": _code("DELIVERABLE"),
            "superseded": _code("SUPERSEDED"),
            "nobody is asked": _is_unasked,
            "the key is another attempt's": lambda v: (
                v.code == "KEY_MISMATCH"
                and f"/a/{v.input['object']['attempt']}/" not in v.input["object"]["key"]
            ),
            "an export": lambda v: v.input["object"]["kind"] == "export",
            "whose archive has hidden data": lambda v: (
                v.input["archive_code"] == "LAYOUT" and v.code == "ARCHIVE_INVALID"
            ),
            "the stored bytes have another checksum": lambda v: (
                v.code == "OBJECT_MISMATCH" and v.head()["sha256"] != v.input["object"]["sha256"]
            ),
            "one probe is missing, one is there twice": _edge("universe"),
            "the store serves without a signature": lambda v: v.output["failed"] == ["unsigned_get"],
        }
    ),
    "validate_object_key": _claims(
        {
            "^build": lambda v: v.input["mode"] == "build",
            "for attempt 1$": _edge("attempt="),
            "for attempt 999$": _edge("attempt999="),
            "^empty": lambda v: ("", "EMPTY") in _keys(v),
            "slashes at the ends and doubled": lambda v: (
                any(key[:1] == "/" for key, _ in _keys(v))
                and any(key[-1:] == "/" for key, _ in _keys(v))
                and any("//" in key for key, _ in _keys(v))
            ),
            "dot segments": lambda v: {".", ".."} <= {part for key, _ in _keys(v) for part in key.split("/")},
            "1,024 and 1,025 bytes": _edge("bytes1024"),
            "1,026 bytes in 513 letters": lambda v: ("\u00e9" * 513, "TOO_LONG") in _keys(v),
            "encoded dots": lambda v: any("%2e" in key.lower() for key, _ in _keys(v)),
            "space": lambda v: any(" " in key for key, _ in _keys(v)),
            "backslash": lambda v: any("\\" in key for key, _ in _keys(v)),
            "a letter beyond ASCII": lambda v: "NOT_ASCII" in {code for _, code in _keys(v)},
            "too few and too many segments": lambda v: (
                {key.count("/") > 7 for key, code in _keys(v) if code == "BAD_GRAMMAR" and key.count("/") != 7}
                == {True, False}
            ),
            "each fixed one changed": lambda v: (
                len([key for key, code in _keys(v) if code == "BAD_GRAMMAR" and key.count("/") == 7]) == 4
            ),
            "upper-case UUIDs": lambda v: [code for _, code in _keys(v)].count("BAD_UUID") == 2,
            "attempts 0, 01 and 1000": _edge("attempt0"),
            "unknown kind": lambda v: any(key.endswith(".png") and code == "BAD_KIND" for key, code in _keys(v)),
            "wrong extension": lambda v: any(key.endswith("body.txt") and code == "BAD_KIND" for key, code in _keys(v)),
            "the tenant's own key": lambda v: "OK" in {code for _, code in _keys(v)},
            "another tenant's$": lambda v: "WRONG_OWNER" in {code for _, code in _keys(v)},
        }
    ),
}

#: What may stand between phrases.
JOINING = frozenset({"and", "made"})


def check(cases: list[Json]) -> list[Finding]:
    """Every title against the data of its case and of its family."""
    views = {case["id"]: (case["family"], View(case)) for case in cases}
    found = []
    for case in cases:
        family, view = views[case["id"]]
        claims, rest = _read(case["title"], family)
        strange = sorted(set(re.findall("[A-Za-z0-9']+", rest)) - JOINING)
        if strange:
            found.append(finding("X-9", case["id"], f"the title has words that are no claim: {' '.join(strange)}"))
        untrue = [claim.phrase.pattern for claim in claims if not _holds(claim, view)]
        if untrue:
            found.append(finding("X-9", case["id"], f"the title says what the case does not show: {'; '.join(untrue)}"))
        others = [
            other
            for other, (home, one) in views.items()
            if home == family and other != case["id"] and all(_holds(claim, one) for claim in claims)
        ]
        if others and not untrue:
            found.append(finding("X-9", case["id"], f"the title is as true of {', '.join(others[:5])}"))
    return found


def _read(title: str, family: str) -> tuple[list[Claim], str]:
    """The claims of a title, and what is left of it without them."""
    claims = []
    for claim in CLAIMS[family]:
        if claim.phrase.search(title):
            claims.append(claim)
            title = claim.phrase.sub(" \0 ", title)
    return claims, title


def _holds(claim: Claim, view: View) -> bool:
    try:
        return bool(claim.is_true(view))
    except (IndexError, KeyError, TypeError, ValueError):
        # What the claim is about is not there.
        return False
