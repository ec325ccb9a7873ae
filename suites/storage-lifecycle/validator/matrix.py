"""The negative matrix: each check's mutants must be rejected by the rule named for it.

Hashes are as if sealed anew for each mutant: otherwise L-2 would reject all of
them and prove nothing. Only a mutant of the folder itself keeps the old hashes.
"""

from __future__ import annotations

import hashlib
import re
import sys

from reference.canonical import canonical, digest
from reference.strict_json import StrictJsonError, parse_text

from . import coverage, files, safety, suite_rules
from .findings import Json
from .judge import Judge
from .loader import Suite
from .mutants import Mutant, Originals, expand

#: From best to worst; a check is as good as its worst mutant.
STATES = ("rejected", "misattributed", "survived", "equivalent")


class Matrix:
    """Runs the checks of a suite whose own cases pass."""

    def __init__(self, suite: Suite) -> None:
        self._suite = suite
        self._judge = Judge(suite.schemas, suite.manifest["registeredServiceMethods"])
        self._originals = Originals(suite.manifest, suite.document, suite.files)
        self._bytes = {case["id"]: canonical(case) for case in suite.cases}
        for case in suite.cases:
            suite.schemas.remember(case)

    def run(self, order: str) -> list[Json]:
        """The result of each check, in the manifest's order whatever the order of the run."""
        checks = self._suite.matrix["checks"]
        done = {}
        for number, check in enumerate(checks if order == "forward" else checks[::-1], start=1):
            done[check["id"]] = self.check(check, order)
            print(f"check {number}/{len(checks)}", file=sys.stderr, flush=True)
        return [done[check["id"]] for check in checks]

    def check(self, check: Json, order: str) -> Json:
        """The result of one check: its state, and every mutant that is not rejected as it must be."""
        states = dict.fromkeys(STATES, 0)
        seen: set[str] = set()
        failures: list[str] = []
        digests: list[str] = []
        for number, entry in enumerate(check["mutants"]):
            mutants = list(expand(entry, self._originals))
            for mutant in mutants if order == "forward" else mutants[::-1]:
                content = canonical(mutant.value) if mutant.target in ("case", "suite", "manifest") else b""
                rules = self._rules(mutant, content)
                state = _state(mutant.rule, rules)
                states[state] += 1
                digests.append(_digest(mutant, content))
                seen |= rules or set()
                if state != "rejected":
                    failures.append(_explain(entry, number, mutant, state, rules))
        rejecting = {entry["rule"] for entry in check["mutants"]}
        total = sum(states.values())
        status = next((state for state in reversed(STATES) if states[state]), "equivalent")
        if rejecting != set(check["expectedRules"]):
            failures.append("the rules named by its mutants are not its expectedRules")
            status = "misattributed"
        return {
            "id": check["id"],
            "status": status,
            "mutants": total,
            "mutantsSha256": digest(sorted(digests)),
            "rejected": states["rejected"],
            "rejectedBy": sorted(seen),
            "failures": sorted(failures)[:5],
        }

    def _rules(self, mutant: Mutant, content: bytes) -> set[str] | None:
        """The rules that object to a mutant; None where it is no mutant at all."""
        value = mutant.value
        if mutant.target == "files":
            return {one.rule for one in files.check(value, [])} if value != self._originals.files else None
        if mutant.target == "manifest":
            if content == canonical(self._originals.manifest):
                return None
            return {one.rule for one in suite_rules.check_manifest(value, self._suite.schemas)}
        if mutant.target == "suite":
            return self._suite_rules(value, content)
        if mutant.target == "text":
            try:
                value = parse_text(value)
            except StrictJsonError:
                return {"L-1"}
            content = canonical(value)
        return self._case_rules(mutant, value, content)

    def _case_rules(self, mutant: Mutant, value: Json, content: bytes) -> set[str] | None:
        case_id = mutant.case_id or ""
        if content == self._bytes[case_id]:
            return None
        rules = self._judge.rules(value)
        if mutant.rule in rules:
            return rules
        rules |= {one.rule for one in safety.scan(value, "")}
        if rules & {"C-1", "C-2"}:
            return rules
        # Only now the dearer rules over all cases: to attribute, or to see that it survived.
        cases = [value if case["id"] == case_id else case for case in self._suite.cases]
        document = {**self._suite.document, "cases": cases}
        rules |= {
            one.rule for one in suite_rules.check_suite(document, self._suite.manifest, self._suite.schemas)
        }
        return rules | {one.rule for one in coverage.check(cases, self._suite.schemas)}

    def _suite_rules(self, value: Json, content: bytes) -> set[str] | None:
        if content == canonical(self._originals.suite):
            return None
        suite = self._suite
        rules = {one.rule for one in suite_rules.check_suite(value, suite.manifest, suite.schemas)}
        known = set(self._bytes.values())
        for case in value["cases"]:
            if canonical(case) not in known:
                rules |= self._judge.rules(case)
        if not rules & {"C-1", "C-2"}:
            rules |= {one.rule for one in coverage.check(value["cases"], suite.schemas)}
        return rules


def _digest(mutant: Mutant, content: bytes) -> str:
    """What a mutant is, so that two implementations can tell whether they judged the same ones."""
    value = mutant.value
    if mutant.target == "text":
        # Spaces between the tokens of a text are no part of it.
        return hashlib.sha256(re.sub(r"[ \n]", "", value).encode()).hexdigest()
    if mutant.target == "files":
        return digest({name: hashlib.sha256(data).hexdigest() for name, data in value.items()})
    return hashlib.sha256(content).hexdigest()


def _state(rule: str, rules: set[str] | None) -> str:
    if rules is None:
        return "equivalent"
    if rule in rules:
        return "rejected"
    return "misattributed" if rules else "survived"


def _explain(entry: Json, number: int, mutant: Mutant, state: str, rules: set[str] | None) -> str:
    place = mutant.case_id or mutant.target
    by = f" by {', '.join(sorted(rules))}" if rules else ""
    return f"mutant {number} ({entry['title']}) of {place}: {state}{by}, must be rejected by {mutant.rule}"
