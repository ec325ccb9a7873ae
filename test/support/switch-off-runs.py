"""Switches off each place that blocks a run of the suite's validator, and asks whether it is noticed.

    python3 switch-off-runs.py SUITE

The modules here judge a whole run: its stages, the production runner, and the
evidence. Each sample spoils one thing and says what a run must find. Prints the
places whose absence changes no sample, and how many were tried; ends with 1 if
there is one. The other modules' checks: switch-off-checks.py.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import shlex
import sys
import tempfile
from argparse import Namespace
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

sys.dont_write_bytecode = True

from switches import HIT, OFF, SITES, Switches, install  # noqa: E402

ROOT = Path(sys.argv[1]).resolve()
MODULES = ("cli", "production", "runner", "runs", "selfcheck", "validation")
#: What blocks, as it is written: methods that are called as a statement, and errors that are raised. Findings too.
CALLS = {"block", "_block"}
ERRORS = {"RunnerFailed", "RunFailed", "AssertionError"}


class Blocking(Switches):
    """Puts a switch before each statement that blocks, too."""

    def visit_Expr(self, node: ast.Expr) -> ast.stmt:
        self.generic_visit(node)
        call = node.value
        blocks = isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr in CALLS
        return ast.If(self.site(node), [node], []) if blocks else node

    def visit_Raise(self, node: ast.Raise) -> ast.stmt:
        called = node.exc.func if isinstance(node.exc, ast.Call) else None
        raises = isinstance(called, ast.Name) and called.id in ERRORS
        return ast.If(self.site(node), [node], []) if raises else node


install(ROOT, lambda module: module in MODULES, Blocking)

from validator import challenge, cli, loader, production, runner, runs, safety, selfcheck, validation  # noqa: E402
from validator.evidence import Evidence  # noqa: E402
from validator.files import SUMS, read_tree, seal, suite_root  # noqa: E402
from validator.loader import Suite  # noqa: E402
from validator.patches import apply  # noqa: E402
from validator.production import Options  # noqa: E402
from validator.vectors import VECTORS  # noqa: E402

FILES = read_tree(ROOT)[0]
SUITE: Suite = loader.load(FILES)[0]  # type: ignore[assignment]
ALONE = Options(None, list(cli.FAMILIES), False, True)
#: In place of a stage that another sample is about.
NONE = Namespace(check=lambda *_: [])
#: Answers every question with its first argument, after saying who it is.
RUNNER = """
import json, sys
root, families, answer = sys.argv[1:]
print(json.dumps({"runner": "sample", "suiteRoot": root, "families": families.split(",")}))
for line in sys.stdin: print(answer)
"""


def remembered(look: Callable) -> Callable:
    """The same answer for the same files: a place is switched off over and over in the same run."""
    answers: dict[frozenset, object] = {}

    def answer(given):
        key = frozenset((given.files if isinstance(given, Suite) else given).items())
        if key not in answers:
            answers[key] = look(given)
        return answers[key]

    return answer


loader.load = validation.load = remembered(loader.load)
validation.check_layout = remembered(validation.check_layout)
#: One text at a time: the files of two samples differ in one.
safety.sensitive = cache(lambda text, scan=safety.sensitive: tuple(scan(text)))
#: What is asked of these runners is of no account, only that something is.
production.challenge = Namespace(questions=lambda cases, schemas, seed, _: challenge.questions(cases, schemas, seed, 10))


def blocked(work: Callable[[Evidence], object]) -> str:
    """What a piece of a run blocks, or the error that ends it."""
    evidence = Evidence(ROOT, [])
    evidence.body["suiteRoot"] = suite_root(FILES)
    try:
        with contextlib.redirect_stderr(io.StringIO()):
            work(evidence)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return repr(sorted(evidence.blockers))


class Stop(Exception):
    """Ends a run at its first stage: what comes behind it is another sample's."""


def early(changes: dict[str, bytes], is_sealed: bool = True, look: Callable = lambda _: []) -> str:
    """The run up to its first stage, over a copy with some files changed; `look` at its layout."""

    def tell(text: str) -> None:
        if text.startswith("cases"):
            raise Stop

    def work(evidence: Evidence) -> None:
        files = {**FILES, **changes}
        if is_sealed:
            files[SUMS] = seal(files)
        with tempfile.TemporaryDirectory() as folder, contextlib.suppress(Stop):
            for name, data in files.items():
                place = Path(folder, name)
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_bytes(data)
            validation.Validation(Path(folder), evidence, tell, ALONE).run()

    return replaced(validation, {"check_layout": look}, lambda: blocked(work))


def replaced(module: object, spoiled: dict[str, object], look: Callable[[], str]) -> str:
    """What a look finds while parts of a module are replaced."""
    kept = {name: getattr(module, name) for name in spoiled}
    for name, value in spoiled.items():
        setattr(module, name, value)
    try:
        return look()
    finally:
        for name, value in kept.items():
            setattr(module, name, value)


def stage(work: Callable[[validation.Validation], object], **spoiled: object) -> str:
    """A part of a run; `spoiled` are parts of the validator that are replaced meanwhile."""
    run = lambda evidence: work(validation.Validation(ROOT, evidence, lambda _: None, ALONE))  # noqa: E731
    return replaced(validation, spoiled, lambda: blocked(run))


def isolate(suite: Suite, change: Callable[[list], object]) -> str:
    def work(run: validation.Validation) -> None:
        run._cases(SUITE)
        change(run._evidence.body["cases"])
        run._isolate(suite)

    return stage(work)


def cover(suite: Suite, **spoiled: object) -> str:
    return stage(lambda run: run._coverage(suite), **spoiled)


def alone() -> str:
    """A whole run whose judgement is left out: what it says of production."""

    def work(run: validation.Validation) -> None:
        run._judge = lambda _: None  # type: ignore[method-assign]
        run.run()

    return stage(work)


def with_cases(change: Callable[[list], list]) -> Suite:
    return replace(SUITE, document={**SUITE.document, "cases": change(SUITE.cases)})


def renamed(cases: list) -> list:
    return [{**case, "rules": [rule for rule in case["rules"] if rule not in cases[0]["rules"]]} for case in cases]


def spoil_digest(records: list) -> None:
    records[0]["producedSha256"] = "0" * 64


def unexpected(cases: list) -> list:
    wrong = [{"op": "replace", "path": "/expected/output/code", "value": "ALLOW"}]
    return [apply(case, wrong) if case["id"] == "SL-013" else case for case in cases]


def matrix(results: list, other: str) -> str:
    return stage(lambda run: run._matrix(SUITE), run_twice=lambda *_: [(results, "a"), (results, other)])


def negative(status: str, failures: list[str]) -> list:
    return [{"id": "SN-1", "status": status, "mutants": 1, "rejected": 0, "rejectedBy": [], "failures": failures}]


def asked(root: str, families: str, answer: str, **options: object) -> str:
    command = shlex.join([sys.executable, "-c", RUNNER, root, families, answer])
    wanted = Options(command, ["derive_deadline"], True, False)._replace(**options)
    return blocked(lambda evidence: production.compare(evidence, SUITE, wanted))


def judged(kind: str) -> str:
    question = production._Question(kind, "one", {"family": "derive_deadline"}, "a")
    answers = runner.Answers("sample", "", ["derive_deadline"], ["b"])
    return blocked(lambda evidence: production._judge(evidence, [question], answers))


def protocol(*command: str) -> str:
    question = {"family": "derive_deadline", "input": {}, "calls": []}
    return blocked(lambda _: runner.ask(shlex.join(command), [question], ["derive_deadline"]))


def program(text: str) -> str:
    return protocol(sys.executable, "-c", text)


def said(hello: object, answer: str = "invalid") -> str:
    return f"print({json.dumps(hello)!r}); print({answer!r}, end={(answer and chr(10))!r})"


def result_file(folder: Path, changes: dict | None, text: str | None = None) -> str:
    whole = {"suiteRoot": suite_root(FILES), "differential": {"differences": 0}, "negativeChecks": {"identical": True}}
    place = folder / "production-result.json"
    place.unlink(missing_ok=True)
    if changes is not None:
        place.write_text(text or json.dumps({**whole, **changes}))
    return blocked(lambda evidence: production.read_result(folder, evidence))


def verdicts(theirs: object) -> str:
    ours = [{"id": "SN-1", "mutants": 1, "mutantsSha256": "a", "rejected": 1}]
    result = {"negativeChecks": {"checks": theirs}}
    return blocked(lambda evidence: production.compare_matrix(evidence, result, ours))


OPTIONS = Namespace(runner=None, families=list(cli.FAMILIES), with_result=False, without_production=True)


def missing(folder: Path) -> str:
    """The command where a package is missing."""
    shown = io.StringIO()
    with contextlib.redirect_stdout(shown):
        status = cli._validate(OPTIONS, folder, [], [("DEPENDENCY_MISSING", "it")])
    return f"{status} {shown.getvalue()}"


def failed_run() -> str:
    with tempfile.TemporaryDirectory() as folder:
        return blocked(lambda _: runs.run_twice(Path(folder), lambda _: None))


def self_check(name: str, value: object) -> str:
    """The validator's check of itself, of which both parts are replaced: what they find is for switch-off-checks.py."""
    spoiled = {"samples": lambda _: [], "failing": lambda _: [], "_sound": lambda _: [], name: value}
    judge = lambda: stage(  # noqa: E731
        lambda run: run._judge(SUITE),
        run_twice=lambda *_: [([], "a"), ([], "a")],
        ablate=lambda _: ([], []),
        strikes=NONE,
        isolation=Namespace(check_source=lambda _: [], check_answers=lambda *_: []),
    )
    return replaced(selfcheck, spoiled, judge)


def of_validation() -> dict[str, tuple[str, Callable[[], str]]]:
    """The stages of a run. By name: what must be found, and how to look."""
    manifest = json.loads(FILES["manifest.json"])
    swapped = {**manifest, "orderedCaseIds": manifest["orderedCaseIds"][::-1]}
    vectors = {"canonical": [], "refused": [{"title": "none", "text": "{}"}]}
    imports = replace(SUITE, files={**SUITE.files, "reference/rules.py": b"import time\n"})
    first, *others = SUITE.matrix["checks"]
    empty = replace(SUITE, matrix={**SUITE.matrix, "checks": [{**first, "mutants": []}, *others]})
    return {
        "a file that is not sealed": ("L-2", lambda: early({"README.md": b"x\n"}, is_sealed=False)),
        "a token in a file": ("S-1", lambda: early({"README.md": b"ghp_" + b"a1B2" * 9 + b"\n"})),
        "a suite that is no JSON": ("L-1", lambda: early({"suite.json": b"{"})),
        "a suite in another layout": ("layout differs", lambda: early({"suite.json": FILES["suite.json"] + b"\n"}, look=validation.check_layout)),
        "a vector of something else": ("V-1", lambda: early({VECTORS: json.dumps(vectors).encode()})),
        "a manifest in another order": ("M-2", lambda: early({"manifest.json": json.dumps(swapped).encode()})),
        "a suite judged alone": ("left out by --without-production", alone),
        "a case that expects something else": ("C-5", lambda: stage(lambda run: run._cases(with_cases(unexpected)))),
        "a reference that imports the clock": ("R-1", lambda: isolate(imports, list.clear)),
        "an answer that differs where it is alone": ("R-2", lambda: isolate(SUITE, spoil_digest)),
        "a coverage without a case": (
            "X-",
            lambda: cover(with_cases(lambda cases: cases[1:]), ablate=lambda _: ([], []), strikes=NONE),
        ),
        "a rule that no case misses": ("X-8", lambda: cover(with_cases(renamed), strikes=NONE)),
        "a check without mutants": ("N-1", lambda: cover(empty, ablate=lambda _: ([], []))),
        "a validator that refuses too little": ("is not refused by", lambda: self_check("failing", lambda _: [Namespace(name="spoiled", rule="C-1")])),
        "a validator that refuses too much": ("nothing is wrong with it", lambda: self_check("_sound", lambda _: ["SL-001"])),
        "a matrix that was not run": ("NEGATIVE_NOT_RUN", lambda: self_check("_sound", lambda _: ["SL-001"])),
        "two runs that differ": ("MATRIX_DIFFERS", lambda: matrix([], "b")),
        "a mutant that survived": ("MUTANT_SURVIVED", lambda: matrix(negative("survived", ["it lives"]), "a")),
        "a run of the matrix that fails": ("RunFailed", failed_run),
    }


def of_production(folder: Path) -> dict[str, tuple[str, Callable[[], str]]]:
    """The runner, its protocol and what it left of its own run."""
    root = suite_root(FILES)
    hello = {"runner": "sample", "suiteRoot": root, "families": ["derive_deadline"]}
    check = {"id": "SN-1", "mutants": 1, "mutantsSha256": "a", "rejected": 1, "failures": []}
    family = "derive_deadline"
    return {
        "no runner": ("no runner was asked", lambda: asked(root, family, "invalid", runner=None)),
        "a runner that ends": ("PRODUCTION_INVALID", lambda: asked(root, family, "nonsense")),
        "a family that is absent": ("PRODUCTION_FAMILIES", lambda: asked(root, "evaluate_expiry", "invalid")),
        "a runner of another suite": ("PRODUCTION_SUITE_ROOT", lambda: asked("0" * 64, family, "invalid")),
        "a case with another answer": ("PRODUCTION_DIFFERS", lambda: judged("case")),
        "a new input with another answer": ("PRODUCTION_CHALLENGE", lambda: judged("new")),
        "an input that must be refused": ("PRODUCTION_NEGATIVE", lambda: judged("spoiled")),
        "a program that is not there": ("cannot be run", lambda: protocol(str(folder / "absent"))),
        "a program that fails": ("ended with status 3", lambda: program("raise SystemExit(3)")),
        "no answer": ("gave 0 answers", lambda: program(said(hello, ""))),
        "an answer of another form": ("answered", lambda: program(said(hello, "maybe"))),
        "a family that nobody knows": ("no known family", lambda: program(said({**hello, "families": ["other"]}))),
        "a program that does not say who it is": ("not with who it is", lambda: program(said({"runner": "sample"}))),
        "no result": ("is absent", lambda: result_file(folder, None)),
        "a result that is no JSON": ("PRODUCTION_INVALID", lambda: result_file(folder, {}, "{")),
        "a result of other files": ("judged other files", lambda: result_file(folder, {"suiteRoot": "0"})),
        "a result with differences": ("PRODUCTION_DIFFERENTIAL", lambda: result_file(folder, {"differential": {"differences": 2}})),
        "a result whose runs differ": ("no two equal runs", lambda: result_file(folder, {"negativeChecks": {"identical": False}})),
        "a check that the runner lacks": ("has no such check", lambda: verdicts([])),
        "a check too many": ("has 2 checks", lambda: verdicts([check, {**check, "id": "SN-2"}])),
        "a verdict that differs": ("mutantsSha256: b by the runner", lambda: verdicts([{**check, "mutantsSha256": "b"}])),
        "a failure that the runner tells": ("SN-1: it lives", lambda: verdicts([{**check, "failures": ["it lives"]}])),
        "verdicts of another form": ("PRODUCTION_INVALID", lambda: verdicts(None)),
    }


def main() -> int:
    with tempfile.TemporaryDirectory() as name:
        samples = {**of_validation(), **of_production(Path(name))}
        samples["a package that is absent"] = ("DEPENDENCY_MISSING", lambda: missing(Path(name)))
        samples["evidence that breaks its schema"] = ("AssertionError", lambda: blocked(lambda one: cli._check_evidence(ROOT, {**one.result(), "state": "SOUND"})))
        samples["a fault of the validator"] = ("INTERNAL_ERROR", lambda: blocked(lambda one: cli._judge(OPTIONS, None, one)))
        unnoticed = set(SITES)
        for sample, (words, look) in samples.items():
            OFF.clear()
            HIT.clear()
            found = look()
            if words not in found:
                print(f"{sample}: {words} is not in {found}")
                return 1
            for site in HIT & unnoticed:
                OFF.clear()
                OFF.add(site)
                if words not in look():
                    unnoticed.discard(site)
    for site in sorted(unnoticed):
        print(f"{site}: {SITES[site]}")
    print(f"{len(SITES)} places, {len(unnoticed)} unnoticed when switched off")
    return 1 if unnoticed else 0


if __name__ == "__main__":
    sys.exit(main())
