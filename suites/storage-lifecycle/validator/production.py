"""Compares a production runner with the reference: the cases, new inputs, and the negative checks.

The runner answers in this very run, and the questions are in a new order with new
inputs among them: digests that were written down somewhere answer nothing. A runner
that also judges the negative matrix by its own parsers leaves production-result.json;
otherwise the mutants of inputs are asked here, and must be refused.
"""

from __future__ import annotations

import secrets
from pathlib import Path
from random import Random
from typing import NamedTuple

from reference.canonical import canonical, digest
from reference.rules import ALL_ON
from reference.strict_json import StrictJsonError, parse_bytes

from . import challenge
from .evidence import Evidence
from .files import PRODUCTION
from .findings import Json
from .loader import Suite
from .mutants import Originals, expand
from .recompute import recompute
from .runner import Answers, RunnerFailed, ask

ABSENT = "no runner was asked: --runner names the command that answers for production (see GUIDE.md)"
NEW_INPUTS = 1_000


class Options(NamedTuple):
    """How production is compared."""

    #: The command that answers; None where none was named.
    runner: str | None
    #: The families that must be there.
    families: list[str]
    #: Whether a production-result.json must be there too.
    with_result: bool
    #: Whether the suite is judged alone, on purpose.
    is_alone: bool


class _Question(NamedTuple):
    kind: str
    name: str
    value: Json
    wanted: str


def compare(evidence: Evidence, suite: Suite, options: Options) -> None:
    """Adds the comparison to the evidence, and blocks on every difference."""
    if options.runner is None:
        evidence.block("PRODUCTION_ABSENT", ABSENT)
        return
    seed = secrets.randbits(64)
    asked = _questions(suite, options, seed)
    Random(seed).shuffle(asked)
    try:
        answered = ask(options.runner, [one.value for one in asked], suite.manifest["semanticNegativeFamilies"])
    except RunnerFailed as error:
        evidence.block("PRODUCTION_INVALID", str(error))
        return
    missing = [family for family in options.families if family not in answered.families]
    if missing:
        evidence.block("PRODUCTION_FAMILIES", f"the runner does not have {', '.join(missing)}")
    if answered.suite_root != evidence.body["suiteRoot"]:
        text = "the runner was made for another suite (its pinned suite root differs): accept the change there"
        evidence.block("PRODUCTION_SUITE_ROOT", text)
    identical = _judge(evidence, asked, answered)
    cases = sorted((one.name, got) for one, got in zip(asked, answered.answers) if one.kind == "case")
    evidence.body["production"] = {
        "runner": answered.runner,
        "suiteRoot": answered.suite_root,
        "families": [family for family in options.families if family in answered.families],
        "cases": len(cases),
        "identical": identical,
        "challenge": NEW_INPUTS,
        "resultSha256": digest([list(one) for one in cases]),
    }


def _questions(suite: Suite, options: Options, seed: int) -> list[_Question]:
    cases = [case for case in suite.cases if case["family"] in options.families]
    asked = [_Question("case", case["id"], case, _answer(case)) for case in cases]
    for number, case in enumerate(challenge.questions(cases, suite.schemas, seed, NEW_INPUTS)):
        asked.append(_Question("new", f"new input {number} of {case['family']}", case, _answer(case)))
    if not options.with_result:
        asked += _spoiled(suite, options.families)
    return asked


def _spoiled(suite: Suite, families: list[str]) -> list[_Question]:
    """The mutants whose input no parser may admit."""
    originals = Originals(suite.manifest, suite.document, suite.files)
    inputs = {case["id"]: canonical(case["input"]) for case in suite.cases}
    asked = []
    for check in suite.matrix["checks"]:
        for entry in check["mutants"]:
            for mutant in expand(entry, originals):
                if mutant.target != "case" or mutant.rule != "C-1":
                    continue
                case, value = originals.case(mutant.case_id or ""), mutant.value
                if case["family"] not in families or "input" not in value:
                    continue
                if canonical(value["input"]) != inputs[case["id"]]:
                    question = {"family": case["family"], "input": value["input"], "calls": case["calls"]}
                    asked.append(_Question("spoiled", f"{check['id']} of {case['id']}", question, "invalid"))
    return asked


def _answer(case: Json) -> str:
    produced = recompute(case, ALL_ON).produced
    return "fault" if produced is None else digest(produced)


def _judge(evidence: Evidence, asked: list[_Question], answered: Answers) -> bool:
    codes = {"case": "PRODUCTION_DIFFERS", "new": "PRODUCTION_CHALLENGE", "spoiled": "PRODUCTION_NEGATIVE"}
    shown = dict.fromkeys(codes, 0)
    for one, got in sorted(zip(asked, answered.answers), key=lambda pair: pair[0].name):
        if one.value["family"] not in answered.families or one.wanted == got:
            continue
        shown[one.kind] += 1
        if one.kind == "case":
            evidence.block(codes["case"], f"{one.name} another answer than the reference")
    for kind in ("new", "spoiled"):
        if shown[kind]:
            total = sum(one.kind == kind for one in asked)
            what = "new inputs" if kind == "new" else "inputs that must be refused"
            evidence.block(codes[kind], f"{shown[kind]} of {total} {what} have another answer than the reference")
    return not any(shown.values())


def read_result(root: Path, evidence: Evidence) -> Json:
    """What the runner left of its own run; None where it is absent or of no use."""
    try:
        result = parse_bytes((root / PRODUCTION).read_bytes())
        if result["suiteRoot"] != evidence.body["suiteRoot"]:
            evidence.block("PRODUCTION_SUITE_ROOT", "the runner judged other files than these: run it again")
        differences = result["differential"]["differences"]
        if differences != 0:
            evidence.block("PRODUCTION_DIFFERENTIAL", f"{differences} families differ on random inputs")
        if result["negativeChecks"]["identical"] is not True:
            evidence.block("PRODUCTION_NEGATIVE", "the runner has no two equal runs of the negative checks")
        return result
    except FileNotFoundError:
        evidence.block("PRODUCTION_ABSENT", f"{PRODUCTION} is absent: the runner did not get to write it")
    except (StrictJsonError, KeyError, TypeError) as error:
        evidence.block("PRODUCTION_INVALID", f"{PRODUCTION}: {type(error).__name__} {error}")
    return None


def compare_matrix(evidence: Evidence, result: Json, results: list[Json]) -> None:
    """The runner's own verdicts on the negative checks beside those of this run."""
    try:
        theirs = {one["id"]: one for one in result["negativeChecks"]["checks"]}
        for check in results:
            _compare_check(evidence, check, theirs.get(check["id"]))
        if len(theirs) != len(results):
            evidence.block("PRODUCTION_NEGATIVE", f"the runner has {len(theirs)} checks, must be {len(results)}")
    except (KeyError, TypeError) as error:
        evidence.block("PRODUCTION_INVALID", f"{PRODUCTION}: {type(error).__name__} {error}")


def _compare_check(evidence: Evidence, ours: Json, theirs: Json) -> None:
    if theirs is None:
        evidence.block("PRODUCTION_NEGATIVE", f"{ours['id']} the runner has no such check")
        return
    for name in ("mutants", "mutantsSha256", "rejected"):
        if theirs[name] != ours[name]:
            text = f"{ours['id']} {name}: {str(theirs[name])[:12]} by the runner, {str(ours[name])[:12]} here"
            evidence.block("PRODUCTION_NEGATIVE", text)
    for failure in theirs["failures"][:5]:
        evidence.block("PRODUCTION_NEGATIVE", f"{ours['id']}: {failure}")
