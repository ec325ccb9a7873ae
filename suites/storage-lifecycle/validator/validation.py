"""One validation: every rule in turn, from the files' bytes to the production runner."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

from reference.canonical import digest

from . import coverage, production, safety, suite_rules
from .ablation import ablate
from .evidence import Evidence
from .files import check as check_files
from .files import read_tree, suite_root
from .findings import Finding, Json
from .judge import Judge
from .loader import MANIFEST, Suite, check_layout, load
from .runs import ORDERS, run_twice

Tell = Callable[[str], None]


class Validation:
    """Runs the rules and notes everything in the evidence."""

    def __init__(self, root: Path, evidence: Evidence, tell: Tell, with_production: bool) -> None:
        self._root = root
        self._evidence = evidence
        self._tell = tell
        self._with_production = with_production

    def run(self) -> None:
        """Judges the suite. Later stages need what earlier ones ensure, so they may not be reached."""
        files, links = read_tree(self._root)
        body = self._evidence.body
        body["suiteRoot"] = suite_root(files)
        if MANIFEST in files:
            body["manifestSha256"] = hashlib.sha256(files[MANIFEST]).hexdigest()
        self._block(check_files(files, links))
        self._tell("files, schemas and manifest")
        suite, problems = load(files)
        self._block(problems)
        if suite is None:
            return
        self._block(check_layout(suite))
        problems = suite_rules.check_manifest(suite.manifest, suite.schemas)
        if not problems:
            problems = suite_rules.check_negative_ids(suite.manifest, suite.matrix)
            problems += suite_rules.check_suite(suite.document, suite.manifest, suite.schemas)
        self._block(problems)
        if problems:
            return
        self._tell("cases, recomputed by the reference")
        produced = self._cases(suite)
        if not self._evidence.blockers:
            self._tell("coverage, and each rule switched off once")
            self._coverage(suite)
        if not self._evidence.blockers:
            self._matrix(suite)
        else:
            self._evidence.block("NEGATIVE_NOT_RUN", "negative checks need a suite without other findings")
        if self._with_production:
            production.compare(self._root, self._evidence, produced, len(suite.matrix["checks"]))
        else:
            self._evidence.block("PRODUCTION_ABSENT", "left out by --without-production")

    def _block(self, findings: list[Finding]) -> None:
        for one in findings:
            self._evidence.block(one.rule, f"{one.pointer}: {one.detail}")

    def _cases(self, suite: Suite) -> dict[str, str | None]:
        judge = Judge(suite.schemas, suite.manifest["registeredServiceMethods"])
        produced: dict[str, str | None] = {}
        records: list[Json] = []
        for case in suite.cases:
            judgement = judge.judge(case)
            findings = judgement.findings + safety.scan(case, "")
            produced[case["id"]] = None if judgement.produced is None else digest(judgement.produced)
            records.append(
                {
                    "id": case["id"],
                    "family": str(case.get("family")),
                    "status": "fail" if findings else "pass",
                    "caseSha256": digest(case),
                    "producedSha256": produced[case["id"]],
                    "findings": [one._asdict() for one in findings],
                }
            )
            for one in findings:
                self._evidence.block(one.rule, f"{case['id']} {one.pointer}: {one.detail}")
        body = self._evidence.body
        body["cases"] = records
        body["counts"]["cases"] = len(records)
        body["counts"]["casesPassed"] = sum(record["status"] == "pass" for record in records)
        return produced

    def _coverage(self, suite: Suite) -> None:
        self._block(coverage.check(suite.cases, suite.schemas))
        findings, killed = ablate(suite.cases)
        self._block(findings)
        shown = self._evidence.body["coverage"]
        shown["rules"] = killed
        shown["codes"] = [
            {"family": family, "codes": words}
            for family, words in coverage.declared_codes(suite.schemas).items()
        ]
        shown["transitions"] = sorted(
            {move for case in suite.cases for move in coverage.transitions_of(case)}
        )
        shown["events"] = sorted({event for case in suite.cases for event in coverage.events_of(case)})
        shown["boundaries"] = [
            {
                "family": family,
                "boundary": name,
                "cases": [
                    one["id"] for one in coverage.of_family(suite.cases, family) if one["boundary"] == name
                ],
            }
            for family, names in coverage.BOUNDARIES.items()
            for name in sorted(names)
        ]

    def _matrix(self, suite: Suite) -> None:
        self._tell(f"negative matrix, {len(suite.matrix['checks'])} checks, twice")
        runs = run_twice(self._root, self._tell)
        results = runs[0][0]
        body = self._evidence.body
        body["negativeChecks"] = [
            {name: one[name] for name in ("id", "status", "mutants", "rejectedBy")} for one in results
        ]
        identical = runs[0][1] == runs[1][1]
        body["negativeMatrix"]["identical"] = identical
        body["negativeMatrix"]["runs"] = [
            {"run": number, "order": order, "sha256": runs[number - 1][1]}
            for number, order in enumerate(ORDERS, start=1)
        ]
        counts = body["counts"]
        counts["negativeChecks"] = len(results)
        counts["negativeChecksRejected"] = sum(one["status"] == "rejected" for one in results)
        counts["mutants"] = sum(one["mutants"] for one in results)
        counts["mutantsRejected"] = sum(one["rejected"] for one in results)
        if not identical:
            self._evidence.block("MATRIX_DIFFERS", "the two runs of the negative matrix differ")
        for one in results:
            if one["status"] != "rejected":
                reasons = one["failures"] or ["it has no mutant"]
                for reason in reasons:
                    self._evidence.block(f"MUTANT_{one['status'].upper()}", f"{one['id']}: {reason}")
