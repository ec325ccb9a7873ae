"""The validator itself, in every run: it must refuse what is wrong, and nothing else.

Each sample is the suite with one thing spoiled, and the finding that must follow.
A judge that skips a family, a matrix that calls everything rejected, or a check
that was switched off fails its samples; the run is then BLOCKED by SELF_CHECK.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator
from dataclasses import replace as with_changes
from pathlib import Path
from typing import NamedTuple

from reference.strict_json import parse_bytes

from . import ablation, boundaries, coverage, files, isolation, loader, safety, strikes, suite_rules, titles, vectors
from .findings import Finding, Json, finding
from .judge import Judge
from .loader import Suite
from .matrix import Matrix
from .mutants import Originals, expand
from .patches import apply


class Sample(NamedTuple):
    """Something spoiled: what finds it, and the rule and words of what must be found."""

    name: str
    rule: str
    words: str
    look: Callable[[], list[Finding]]


def check(suite: Suite) -> list[Finding]:
    """Every sample that the validator does not refuse as it must."""
    found = [finding("SELF_CHECK", one.name, f"is not refused by {one.rule}") for one in failing(samples(suite))]
    for name in sorted(_sound(suite)):
        found.append(finding("SELF_CHECK", name, "is refused, and nothing is wrong with it"))
    return found


def failing(given: list[Sample]) -> Iterator[Sample]:
    """The samples whose finding is not made."""
    for one in given:
        if not any(f.rule == one.rule and one.words in f"{f.pointer}: {f.detail}" for f in one.look()):
            yield one


def samples(suite: Suite) -> list[Sample]:
    """All samples of a suite that itself passes."""
    made = [*_cases(suite), *_matrix(suite), *_files(suite), *_documents(suite), *_schemas(suite)]
    return [*made, *_wholes(suite), *_safety(), *_rules(suite), *_strikes(suite), *_reference(suite)]


def _sound(suite: Suite) -> Iterator[str]:
    """What is refused although it is as it must be."""
    judge = Judge(suite.schemas, suite.manifest["registeredServiceMethods"])
    for case in suite.cases:
        if judge.judge(case).findings or judge.rules(case):
            yield case["id"]


def _cases(suite: Suite) -> Iterator[Sample]:
    """The first mutant of each family's checks, judged in both ways that cases are judged."""
    judge = Judge(suite.schemas, suite.manifest["registeredServiceMethods"])
    originals = Originals(suite.manifest, suite.document, suite.files)

    def both(value: Json) -> list[Finding]:
        rules = judge.rules(value)
        return [one for one in judge.judge(value).findings if one.rule in rules]

    for check_ in suite.matrix["checks"]:
        first = next(expand(check_["mutants"][0], originals))
        if first.target != "case":
            continue
        value = first.value
        yield Sample(check_["id"], first.rule, "", lambda value=value: both(value))
    yield Sample("an unregistered method", "C-2", "storage.delete", lambda: both(_unregistered(suite)))
    unanswered = {**suite.case("SL-001"), "calls": []}
    yield Sample("a call without its answer", "C-3", "no answer for it", lambda: both(unanswered))
    fault = _with_result(suite.case("SL-040"), {"error": "unavailable"})
    yield Sample("an answer that the family never gets", "C-5", "cannot be recomputed", lambda: both(fault))


def _unregistered(suite: Suite) -> Json:
    case = suite.case("SL-031")
    return {**case, "calls": [{**case["calls"][0], "service": "storage", "method": "delete"}, *case["calls"][1:]]}


def _with_result(case: Json, result: Json) -> Json:
    return {**case, "calls": [*case["calls"][:-1], {**case["calls"][-1], "result": result}]}


def _matrix(suite: Suite) -> Iterator[Sample]:
    """Mutants whose state is known, each in a check of its own."""
    mutant = {"rule": "C-5", "title": "a control", "case": "SL-013"}
    same = [{"op": "replace", "path": "/input/now", "value": suite.case("SL-013")["input"]["now"]}]
    wrong = [{"op": "replace", "path": "/expected/output/code", "value": "ALLOW"}]
    turned = [{"op": "move", "from": "/input/sources/0", "path": "/input/sources/1"}]
    controls: list[tuple[str, list[Json], list[str]]] = [
        ("equivalent", [{**mutant, "patch": same}], ["C-5"]),
        ("survived", [{**mutant, "case": "SL-067", "patch": turned}], ["C-5"]),
        ("misattributed", [{**mutant, "rule": "C-1", "patch": wrong}], ["C-1"]),
        ("misattributed", [{**mutant, "patch": wrong}], ["C-4"]),
        ("rejected", [{**mutant, "patch": wrong}], ["C-5"]),
        ("survived", [{**mutant, "patch": wrong}, {**mutant, "case": "SL-067", "patch": turned}], ["C-5"]),
    ]
    matrix = Matrix(suite)
    for number, (state, mutants, rules) in enumerate(controls):
        spoiled = {"id": f"control-{number}", "expectedRules": rules, "mutants": mutants}

        def look(spoiled: Json = spoiled) -> list[Finding]:
            return [Finding(matrix.check(spoiled, order)["status"], spoiled["id"], "") for order in ("forward", "reverse")]

        yield Sample(f"control {number} of the matrix", state, f"control-{number}", look)


def _files(suite: Suite) -> Iterator[Sample]:
    whole = dict(suite.files)
    sums = whole[files.SUMS].decode()

    def spoiled(**changes: bytes | None) -> list[Finding]:
        changed = {**whole, **{name.replace("__", "."): data for name, data in changes.items()}}
        return files.check({name: data for name, data in changed.items() if data is not None}, [])

    def summed(text: str) -> list[Finding]:
        return files.check({**whole, files.SUMS: text.encode()}, [])

    first, rest = sums.split("\n", 1)
    yield Sample("no SHA256SUMS", "L-2", "the file is absent", lambda: spoiled(SHA256SUMS=None))
    yield Sample("a symbolic link", "L-2", "symbolic link", lambda: files.check(whole, ["suite.json"]))
    yield Sample("no last line feed", "L-2", "line feed", lambda: summed(sums[:-1]))
    yield Sample("a line of another form", "L-2", "line 1 is not", lambda: summed(f"x{sums}"))
    yield Sample("digests out of order", "L-2", "sorted and unique", lambda: summed(f"{rest}{first}\n"))
    yield Sample("a file twice", "L-2", "sorted and unique", lambda: summed(f"{first}\n{sums}"))
    yield Sample("a file that is absent", "L-2", "listed in SHA256SUMS but absent", lambda: spoiled(README__md=None))
    yield Sample("a file that is not listed", "L-2", "is not listed", lambda: spoiled(extra__txt=b"x"))
    yield Sample("a file that is another", "L-2", "has SHA-256", lambda: spoiled(README__md=b"x"))


def _documents(suite: Suite) -> Iterator[Sample]:
    """Files that are no strict JSON, not laid out, or not as the manifest fixes them."""

    def loaded(name: str, data: bytes | None) -> list[Finding]:
        changed = {one: given for one, given in {**suite.files, name: data}.items() if given is not None}
        return loader.load(changed)[1]

    flat = json.dumps(suite.manifest).encode()
    yield Sample("a JSON file that is absent", "L-1", "the file is absent", lambda: loaded(loader.MANIFEST, None))
    yield Sample("a JSON file that is none", "L-1", "is not UTF-8", lambda: loaded(loader.SUITE, b"\xff"))
    yield Sample("a matrix of another form", "M-1", "/checks", lambda: loaded(loader.MATRIX, b'{"checks":1}\n'))
    # Without the negative checks, whose mutants are long to write.
    other = with_changes(suite, files={**suite.files, loader.MANIFEST: flat}, matrix={**suite.matrix, "checks": []})
    yield Sample("another layout", "L-1", "manifest.json: layout differs", lambda: loader.check_layout(other))

    def vectors_with(member: str, **changes: str) -> list[Finding]:
        given = parse_bytes(suite.files[vectors.VECTORS])
        given[member][0].update(changes)
        return vectors.check({vectors.VECTORS: json.dumps(given).encode()})

    yield Sample("no vectors", "V-1", "is absent", lambda: vectors.check({}))
    yield Sample("a vector that is refused", "V-1", "is refused", lambda: vectors_with("canonical", text="1.0"))
    yield Sample("a vector of other bytes", "V-1", "other canonical", lambda: vectors_with("canonical", canonical="nul"))
    yield Sample("a vector that is read", "V-1", "must be refused", lambda: vectors_with("refused", text="1"))

    def manifest(member: str, value: Json) -> list[Finding]:
        return suite_rules.check_manifest({**suite.manifest, member: value}, suite.schemas)

    ids = suite.manifest["orderedCaseIds"]
    yield Sample("a manifest of another count", "M-1", "/caseCount", lambda: manifest("caseCount", 104))
    yield Sample("ids exchanged", "M-2", "must be", lambda: manifest("orderedCaseIds", [*ids[1::-1], *ids[2:]]))
    yield Sample("an id dropped", "M-2", "has 104 ids", lambda: manifest("orderedCaseIds", ids[:-1]))
    yield Sample("ids that are no list", "M-2", "is not a list", lambda: manifest("orderedCaseIds", "SL-001"))
    fewer = {**suite.matrix, "checks": suite.matrix["checks"][:-1]}
    yield Sample("a check dropped", "M-2", "84 ids", lambda: suite_rules.check_negative_ids(suite.manifest, fewer))

    def document(**changes: Json) -> list[Finding]:
        return suite_rules.check_suite({**suite.document, **changes}, suite.manifest, suite.schemas)

    yield Sample("cases that are no list", "U-1", "is not a list", lambda: document(cases=7))
    yield Sample("a suite of another name", "U-1", "/suite", lambda: document(suite="other"))
    yield Sample("a case dropped", "U-1", "104 cases", lambda: document(cases=suite.cases[:-1]))
    yield Sample("cases exchanged", "U-2", "/cases/0", lambda: document(cases=[*suite.cases[1::-1], *suite.cases[2:]]))


def _schemas(suite: Suite) -> Iterator[Sample]:
    name = "schemas/suite.schema.json"
    document = parse_bytes(suite.files[name])

    def spoiled(**changes: Json) -> list[Finding]:
        return loader.load({**suite.files, name: json.dumps({**document, **changes}).encode()})[1]

    yield Sample("a schema that is none", "SCHEMA_INVALID", "suite", lambda: spoiled(type=7))
    away = {"$ref": "urn:storage-lifecycle:1:elsewhere"}
    yield Sample("a reference to nowhere", "SCHEMA_REFERENCE", "leads nowhere", lambda: spoiled(properties={"a": away}))


def _wholes(suite: Suite) -> Iterator[Sample]:
    """Rules over all cases: what is missing, what is claimed wrongly, what is there twice."""

    def without(*ids: str) -> list[Finding]:
        return coverage.check([case for case in suite.cases if case["id"] not in ids], suite.schemas)

    def patched(case_id: str, path: str, value: Json) -> list[Json]:
        step = {"op": "replace", "path": path, "value": value}
        return [apply(case, [step]) if case["id"] == case_id else case for case in suite.cases]

    def covered(case_id: str, path: str, value: Json) -> list[Finding]:
        return coverage.check(patched(case_id, path, value), suite.schemas)

    def titled(case_id: str, title: str) -> list[Finding]:
        return titles.check(patched(case_id, "/title", title))

    def flagged(case_id: str, path: str, value: Json) -> list[Finding]:
        return boundaries.check(patched(case_id, path, value))

    found = "/calls/0/result"
    yield Sample("an ownership dropped", "X-1", "no case shows OWN oxo", lambda: without("SL-003"))
    yield Sample("an ownership misnamed", "X-1", "is named OWN oxo", lambda: covered("SL-002", "/boundary", "OWN oxo"))
    yield Sample("an ownership of nothing", "X-1", "finds nothing", lambda: covered("SL-002", found, {"found": False}))
    yield Sample("a ceiling dropped", "X-2", "pass the ceiling entries", lambda: without("SL-081"))
    yield Sample("the probes dropped", "X-3", "eight probes", lambda: without("SL-093"))
    yield Sample("the bucket rules dropped", "X-4", "eleven bucket rules", lambda: without("SL-088"))
    yield Sample("a code dropped", "X-5", "no case shows NO_DEADLINE", lambda: without("SL-027"))
    yield Sample("a transition dropped", "X-6", "from expired to purged", lambda: without("SL-062"))
    yield Sample("an event dropped", "X-6", "no case tells object.healed", lambda: without("SL-061"))
    yield Sample("a flag dropped", "X-7", "0 cases show 2h=", lambda: without("SL-053"))
    for case_id, path, value, flag in _EDGES:
        look = lambda case_id=case_id, path=path, value=value: flagged(case_id, path, value)  # noqa: E731
        yield Sample(f"{flag} moved", "X-7", f"{case_id}: says {flag}", look)
    yield Sample("a title of other words", "X-9", "words that are no claim", lambda: titled("SL-020", "a sunny day"))
    yield Sample("a title that is untrue", "X-9", "does not show", lambda: titled("SL-029", "exactly 24 hours left: active"))
    yield Sample("a title that is too wide", "X-9", "is as true of", lambda: titled("SL-082", "nothing else"))
    copy = {name: suite.case("SL-071")[name] for name in ("input", "calls", "expected")}
    cases = [{**case, **copy} if case["id"] == "SL-072" else case for case in suite.cases]
    yield Sample("a case copied", "X-10", "SL-072: repeats SL-071", lambda: coverage.check(cases, suite.schemas))


#: A case, and a value that takes it away from the edge that it is flagged with.
_EDGES: tuple[tuple[str, str, Json, str], ...] = (
    ("SL-013", "/input/now", "2026-03-10T11:59:59.999Z", "deadline="),
    ("SL-017", "/input/hold_until", "2026-04-09T12:00:00.125Z", "hold+1"),
    ("SL-020", "/input/available_at", "2027-02-28T23:59:59.999Z", "leap"),
    ("SL-022", "/input/plan_days", 2, "range+1"),
    ("SL-024", "/input/now", "2027-01-01T00:00:00.000Z", "deadline="),
    ("SL-029", "/input/now", "2027-01-01T00:00:00.000Z", "24h="),
    ("SL-032", "/calls/2/args/expires_in", 604_799, "sigv4="),
    ("SL-035", "/input/now", "2026-03-10T11:59:59.000Z", "1s="),
    ("SL-042", "/input/now", "2026-03-10T12:00:00.001Z", "deadline="),
    ("SL-044", "/input/limit", 9, "limit="),
    ("SL-050", "/input/now", "2026-03-10T12:05:00.000Z", "15m="),
    ("SL-053", "/input/marks/0/first_seen_at", "2026-03-10T07:00:00.000Z", "2h="),
    ("SL-063", "/input/rows_truncated", False, "page"),
    ("SL-066", "/input/run/batch_size", 900, "batch="),
    ("SL-065", "/input/run/max_destructive", 0, "blast+1"),
    ("SL-080", "/input/ceilings/0/max", 3, "ceiling="),
    ("SL-081", "/input/ceilings/0/max", 0, "entries+1"),
    ("SL-089", "/input/config/noncurrent_days", 29, "days="),
    ("SL-090", "/input/config/noncurrent_days", 32, "days+1"),
    ("SL-093", "/input/object/attempt", 2, "attempt="),
    ("SL-098", "/input/probes", [], "universe"),
    ("SL-101", "/input/attempt", 998, "attempt999="),
    ("SL-103", "/input/keys", [], "bytes1024"),
    ("SL-104", "/input/keys", [], "attempt0"),
)


def _safety() -> Iterator[Sample]:
    def scan(value: Json) -> list[Finding]:
        return safety.scan(value, "")

    # In parts, so that the scan of this file does not find its own samples.
    token = "_".join(["ghp", "0123456789abcdefghij0123456789abcdefghij"])
    person = "@".join(["someone", "mail.internet"])
    yield Sample("a long text", "S-1", "2201 characters", lambda: scan({"a": "x" * 2_201}))
    yield Sample("a long list", "S-1", "65 items", lambda: scan({"a": [0] * 65}))
    yield Sample("a host that exists", "S-1", "does not end in .invalid", lambda: scan([{"host": "store.local"}]))
    yield Sample("an address that exists", "S-1", "an address whose host", lambda: scan(["https://store.local/a"]))
    real = "1b4e28ba-2fa1-41d2-883f-0016d3cca427"
    yield Sample("an id that may be real", "S-1", "not a synthetic id", lambda: scan([real]))
    signed = f"X-Amz-Signature={'1' * 64}"
    yield Sample("a signature that may be real", "S-1", "not 64 zeros", lambda: scan([signed]))
    yield Sample("a token", "S-1", "a GitHub token", lambda: scan([token]))
    yield Sample("a person's address", "S-1", "an e-mail address", lambda: scan([person]))
    yield Sample("a token in a file", "S-1", "notes.md: looks like", lambda: safety.scan_files({"notes.md": token.encode()}))
    yield Sample("a document", "S-1", "is not text", lambda: safety.scan_files({"a.bin": b"\xff\xfe"}))


def _rules(suite: Suite) -> Iterator[Sample]:
    def named(case_id: str, rules: list[str]) -> list[Finding]:
        cases = [{**case, "rules": rules} if case["id"] == case_id else case for case in suite.cases]
        family = suite.case(case_id)["family"]
        return ablation.ablate([case for case in cases if case["family"] == family])[0]

    yield Sample("a rule that no case names", "X-8", "EE-2: no case names", lambda: named("SL-026", ["EE-1"]))
    yield Sample("a rule that is not missed", "X-8", "SL-033: names IU-3", lambda: named("SL-033", ["IU-3"]))
    yield Sample("a rule that all but misses", "X-8", "EE-3: switched off", lambda: _wrongly_named(suite))
    yield Sample("a rule of another family", "X-8", "which evaluate_expiry does not have", lambda: named("SL-026", ["AD-1"]))


def _wrongly_named(suite: Suite) -> list[Finding]:
    """The rule of SL-027 is named by SL-028 alone, which does not notice it."""
    rules = {"SL-027": ["EE-1"], "SL-028": ["EE-3"]}
    cases = [{**case, "rules": rules.get(case["id"], case["rules"])} for case in suite.cases]
    return ablation.ablate([case for case in cases if case["family"] == "evaluate_expiry"])[0]


def _strikes(suite: Suite) -> Iterator[Sample]:
    originals = Originals(suite.manifest, suite.document, suite.files)
    checks = {one["id"]: one for one in suite.matrix["checks"]}

    def spoiled(name: str, mutants: list[Json]) -> list[Finding]:
        return strikes.check({"checks": [{**checks[name], "mutants": mutants}]}, originals)

    hand = checks["archive-normalized-path"]["mutants"]
    made = checks["evaluate_expiry-omit-required"]["mutants"]
    yield Sample("mutants dropped", "N-1", "has 1 mutants that strike", lambda: spoiled("archive-normalized-path", hand[:1]))
    yield Sample("one mutant, five times", "N-1", "the same mutant twice", lambda: spoiled("archive-normalized-path", hand[:1] * 5))
    yield Sample("a generator dropped", "N-1", "has the generators", lambda: spoiled("evaluate_expiry-omit-required", []))
    other = [{**made[0], "family": "derive_deadline"}]
    yield Sample("another family's mutants", "N-1", "does not go over", lambda: spoiled("evaluate_expiry-omit-required", other))
    only = lambda entry, given: itertools.islice(expand(entry, given), 1)  # noqa: E731
    one = {"checks": [checks["evaluate_expiry-omit-required"]]}
    yield Sample("one mutant an entry", "N-1", "has 1 mutants", lambda: strikes.check(one, originals, only))


def _reference(suite: Suite) -> Iterator[Sample]:
    def source(text: str) -> list[Finding]:
        return isolation.check_source({"reference/a.py": text.encode()})

    def lines(*texts: str) -> str:
        return "\n".join(texts) + "\n"

    yield Sample("no Python", "R-1", "is no Python", lambda: source("def ("))
    yield Sample("the clock, imported", "R-1", "imports time", lambda: source("import time\n"))
    yield Sample("a part of a module, imported", "R-1", "imports datetime of", lambda: source("from datetime import datetime\n"))
    yield Sample("the validator, imported", "R-1", "outside its folder", lambda: source("from ..validator import cli\n"))
    yield Sample("a builtin that reaches all", "R-1", "uses __import__", lambda: source("__import__('os')\n"))
    yield Sample("today", "R-1", "reaches today", lambda: source(lines("from datetime import date", "date.today()")))
    yield Sample("a way around", "R-1", "reaches __class__", lambda: source("().__class__\n"))
    yield Sample("a module's own modules", "R-1", "reaches json.decoder", lambda: source(lines("import json", "json.decoder")))
    root = Path(__file__).resolve().parent.parent
    case = suite.case("SL-023")

    def answers(home: Path, digests: list[str]) -> list[Finding]:
        return isolation.check_answers(home, [case], digests)

    zeros = "0" * 64
    yield Sample("a reference that does not run", "R-2", "does not run", lambda: answers(root / "schemas", [zeros]))
    yield Sample("answers that are missing", "R-2", "1 answers to 2", lambda: answers(root, [zeros, zeros]))
    yield Sample("answers that are others", "R-2", "another answer", lambda: answers(root, [zeros]))
