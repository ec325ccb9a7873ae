"""One validation: every rule in turn, from the files' bytes to the production runner."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

from reference.canonical import digest

from . import coverage, isolation, production, safety, selfcheck, strikes, suite_rules, vectors
from .ablation import ablate
from .evidence import Evidence
from .files import check as check_files
from .files import read_tree, suite_root
from .findings import Finding, Json
from .judge import Judge
from .loader import MANIFEST, Suite, check_layout, load
from .mutants import Originals
from .runs import ORDERS, run_twice

Tell = Callable[[str], None]


class Validation:
    """Runs the rules and notes everything in the evidence."""

    def __init__(self, root: Path, evidence: Evidence, tell: Tell, options: production.Options) -> None:
        self._root = root
        self._evidence = evidence
        self._tell = tell
        self._options = options
        self._result: Json = None

    def run(self) -> None:
        """Judges the suite. Later stages need what earlier ones ensure, so they may not be reached."""
        files, links = read_tree(self._root)
        body = self._evidence.body
        body["suiteRoot"] = suite_root(files)
        if MANIFEST in files:
            body["manifestSha256"] = hashlib.sha256(files[MANIFEST]).hexdigest()
        self._block(check_files(files, links))
        self._block(safety.scan_files(files))
        self._tell("files, schemas and manifest")
        suite, problems = load(files)
        self._block(problems)
        if suite is None:
            return
        self._block(check_layout(suite))
        self._block(vectors.check(files))
        problems = suite_rules.check_manifest(suite.manifest, suite.schemas)
        if not problems:
            problems = suite_rules.check_negative_ids(suite.manifest, suite.matrix)
            problems += suite_rules.check_suite(suite.document, suite.manifest, suite.schemas)
        self._block(problems)
        if problems:
            return
        self._judge(suite)
        if self._options.is_alone:
            self._evidence.block("PRODUCTION_ABSENT", "left out by --without-production")

    def _judge(self, suite: Suite) -> None:
        self._tell("cases, recomputed by the reference, here and where it has nothing else")
        self._cases(suite)
        self._isolate(suite)
        if not self._evidence.blockers:
            self._tell("coverage, and each rule switched off once")
            self._coverage(suite)
        if not self._evidence.blockers:
            self._tell("the validator itself: what it must refuse, and what it must not")
            self._block(selfcheck.check(suite))
        if not self._evidence.blockers and not self._options.is_alone:
            self._tell("production: the cases and new inputs")
            production.compare(self._evidence, suite, self._options)
            if self._options.with_result:
                self._result = production.read_result(self._root, self._evidence)
        if not self._evidence.blockers:
            self._matrix(suite)
        else:
            self._evidence.block("NEGATIVE_NOT_RUN", "negative checks need a suite without other findings")

    def _isolate(self, suite: Suite) -> None:
        self._block(isolation.check_source(suite.files))
        digests = self._evidence.body["cases"]
        pairs = [
            (case, record["producedSha256"])
            for case, record in zip(suite.cases, digests)
            if record["producedSha256"] is not None
        ]
        self._block(isolation.check_answers(self._root, [one for one, _ in pairs], [two for _, two in pairs]))

    def _block(self, findings: list[Finding]) -> None:
        for one in findings:
            self._evidence.block(one.rule, f"{one.pointer}: {one.detail}")

    def _cases(self, suite: Suite) -> None:
        judge = Judge(suite.schemas, suite.manifest["registeredServiceMethods"])
        records: list[Json] = []
        for case in suite.cases:
            judgement = judge.judge(case)
            findings = judgement.findings + safety.scan(case, "")
            records.append(
                {
                    "id": case["id"],
                    "family": str(case.get("family")),
                    "status": "fail" if findings else "pass",
                    "caseSha256": digest(case),
                    "producedSha256": None if judgement.produced is None else digest(judgement.produced),
                    "findings": [one._asdict() for one in findings],
                }
            )
            for one in findings:
                self._evidence.block(one.rule, f"{case['id']} {one.pointer}: {one.detail}")
        body = self._evidence.body
        body["cases"] = records
        body["counts"]["cases"] = len(records)
        body["counts"]["casesPassed"] = sum(record["status"] == "pass" for record in records)

    def _coverage(self, suite: Suite) -> None:
        self._block(coverage.check(suite.cases, suite.schemas))
        findings, killed = ablate(suite.cases)
        self._block(findings)
        self._block(strikes.check(suite.matrix, Originals(suite.manifest, suite.document, suite.files)))
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
        if self._options.with_result:
            production.compare_matrix(self._evidence, self._result, results)
        if not identical:
            self._evidence.block("MATRIX_DIFFERS", "the two runs of the negative matrix differ")
        for one in results:
            if one["status"] != "rejected":
                reasons = one["failures"] or ["it has no mutant"]
                for reason in reasons:
                    self._evidence.block(f"MUTANT_{one['status'].upper()}", f"{one['id']}: {reason}")
