"""The command line. Exit codes: 0 PASSED, 1 BLOCKED by findings, 2 usage,
3 BLOCKED by a dependency, 4 BLOCKED by an internal error.

Imports at the top need only the standard library; the rest is imported once the
dependencies are known to be there.
"""

from __future__ import annotations

import argparse
import sys
import time
import traceback
from pathlib import Path

from . import dependencies as deps
from .evidence import Evidence
from .findings import Json

PASSED, BLOCKED, DEPENDENCY, INTERNAL = 0, 1, 3, 4

FAMILIES = (
    "authorize_download",
    "derive_deadline",
    "evaluate_expiry",
    "issue_signed_url",
    "project_library",
    "reconcile_objects",
    "validate_archive",
    "validate_bucket",
    "validate_delivery",
    "validate_object_key",
)


def main(argv: list[str], root: Path) -> int:
    """Runs one command and gives its exit code."""
    parser = argparse.ArgumentParser(prog="validate.py", description="Validates the storage-lifecycle suite.")
    parser.add_argument(
        "--without-production", action="store_true", help="judge the suite alone; ends BLOCKED"
    )
    parser.add_argument("--runner", metavar="COMMAND", help="the production runner to be asked")
    parser.add_argument("--families", metavar="A,B", help="only these families; all ten if left out")
    parser.add_argument(
        "--with-result", action="store_true", help="production-result.json must be there and agree"
    )
    parser.add_argument("--fmt", action="store_true", help="write the JSON files in their canonical layout")
    parser.add_argument("--check", action="store_true", help="with --fmt: only tell what would change")
    parser.add_argument("--seal", action="store_true", help="write SHA256SUMS anew")
    parser.add_argument(
        "--matrix", choices=("forward", "reverse"), help="one run of the negative matrix, as JSON"
    )
    parser.add_argument("--differential", action="store_true", help="answer inputs from standard input")
    options = parser.parse_args(argv)
    if options.check and not options.fmt:
        parser.error("--check goes with --fmt")
    if options.without_production and options.runner:
        parser.error("--runner and --without-production exclude each other")
    families = list(FAMILIES) if options.families is None else options.families.split(",")
    if not set(families) <= set(FAMILIES) or len(set(families)) != len(families):
        parser.error(f"--families takes names of {', '.join(FAMILIES)}")
    options.families = [family for family in FAMILIES if family in families]

    found = deps.look()
    problems = deps.problems(found)
    if options.fmt or options.seal or options.matrix or options.differential:
        if problems:
            print("; ".join(text for _, text in problems), file=sys.stderr)
            return DEPENDENCY
        return _tool(options, root)
    return _validate(options, root, found, problems)


def _validate(
    options: argparse.Namespace,
    root: Path,
    found: list[deps.Dependency],
    problems: list[tuple[str, str]],
) -> int:
    evidence = Evidence(root, found)
    try:
        evidence.begin()
        status = PASSED
        for code, text in problems:
            evidence.block(code, text)
            status = DEPENDENCY
        if not problems:
            status = _judge(options, root, evidence)
        result = evidence.result()
        _summarise(result, evidence.path)
        # The very last thing that can fail: nothing after it can make the evidence untrue.
        evidence.write(result)
        return status
    except Exception:  # A full disk, a closed output: no evidence is better than an untrue one.
        traceback.print_exc()
        evidence.begin()
        return INTERNAL


def _judge(options: argparse.Namespace, root: Path, evidence: Evidence) -> int:
    """Runs all rules; whatever goes wrong becomes a blocker."""
    try:
        from .production import Options
        from .validation import Validation

        asked = Options(options.runner, options.families, options.with_result, options.without_production)
        Validation(root, evidence, _Progress(), asked).run()
        _check_evidence(root, evidence.result())
    except Exception as error:  # Whatever it is: the evidence must say BLOCKED.
        traceback.print_exc()
        evidence.block("INTERNAL_ERROR", f"{type(error).__name__}: {error}")
        return INTERNAL
    return BLOCKED if evidence.blockers else PASSED


def _check_evidence(root: Path, result: Json) -> None:
    """The evidence keeps to its own schema, unless the schemas themselves are at fault."""
    from .files import read_tree
    from .loader import load

    suite, _ = load(read_tree(root)[0])
    problems = [] if suite is None else suite.schemas.findings("evidence", result, "M-1")
    if problems:
        raise AssertionError(f"the evidence breaks its schema at {problems[0].pointer}: {problems[0].detail}")


def _tool(options: argparse.Namespace, root: Path) -> int:
    from .files import SUMS, read_tree, seal, suite_root
    from .loader import load, texts

    files, _ = read_tree(root)
    if options.fmt or options.matrix or options.differential:
        suite, problems = load(files)
        if suite is None:
            for one in problems:
                print(f"{one.pointer}: {one.detail}", file=sys.stderr)
            return BLOCKED
        if options.matrix:
            from reference.canonical import canonical

            from .matrix import Matrix

            sys.stdout.write(canonical(Matrix(suite).run(options.matrix)).decode() + "\n")
            return PASSED
        if options.differential:
            from .differential import serve

            serve(sys.stdin, suite.schemas)
            return PASSED
        written = {name: text.encode() for name, text in texts(suite).items()}
        changed = [name for name, data in written.items() if data != files.get(name)]
        for name in changed:
            print(f"{name}: {'would change' if options.check else 'rewritten'}")
            if not options.check:
                (root / name).write_bytes(written[name])
        if options.check:
            return BLOCKED if changed else PASSED
    if options.seal:
        files, _ = read_tree(root)
        files[SUMS] = seal(files)
        (root / SUMS).write_bytes(files[SUMS])
        print(f"suite root {suite_root(files)}")
    return PASSED


class _Progress:
    """One line a stage; the checks are counted in place on a terminal, in tens elsewhere."""

    def __init__(self) -> None:
        self._started = time.monotonic()

    def __call__(self, text: str) -> None:
        seconds = time.monotonic() - self._started
        if text.startswith("check "):
            if sys.stdout.isatty():
                print(f"\r  {text} ", end="\n" if _is_last(text) else "", flush=True)
            elif text.split()[1].split("/", maxsplit=1)[0].endswith("0"):
                print(f"  {text}", flush=True)
        else:
            print(f"{seconds:5.1f} s  {text}", flush=True)


def _is_last(text: str) -> bool:
    number, total = text.split()[1].split("/")
    return number == total


def _summarise(result: Json, path: Path) -> None:
    counts = result["counts"]
    rules = result["coverage"]["rules"]
    noticed = sum(bool(rule["killedBy"]) for rule in rules)
    production = result["production"]
    print(f"\nstorage-lifecycle: {result['state']}")
    print(f"  cases            {counts['casesPassed']}/105")
    mutants = f"{counts['mutantsRejected']} of {counts['mutants']} mutants by their named rule"
    runs = "two identical runs" if result["negativeMatrix"]["identical"] else "no two identical runs"
    print(f"  negative checks  {counts['negativeChecksRejected']}/85 ({mutants}, {runs})")
    print(f"  rules noticed    {noticed}/{len(rules)} when switched off")
    if production is None:
        print("  production       not compared")
    else:
        verdict = "equal" if production["identical"] else "NOT equal"
        count = f"{production['cases']} cases and {production['challenge']} new inputs"
        print(f"  production       {production['runner']}: {count}, {verdict}")
        if len(production["families"]) < len(FAMILIES):
            print(f"  families         {', '.join(production['families'])}")
    for blocker in result["blockers"][:12]:
        print(f"  {blocker['code']}: {blocker['detail']}")
    if len(result["blockers"]) > 12:
        print(f"  ... and {len(result['blockers']) - 12} more in the evidence")
    print(f"  evidence         {path}", flush=True)
