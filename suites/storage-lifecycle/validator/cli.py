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


def main(argv: list[str], root: Path) -> int:
    """Runs one command and gives its exit code."""
    parser = argparse.ArgumentParser(prog="validate.py", description="Validates the storage-lifecycle suite.")
    parser.add_argument(
        "--without-production", action="store_true", help="judge the suite alone; ends BLOCKED"
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
    evidence.begin()
    if problems:
        for code, text in problems:
            evidence.block(code, text)
        _summarise(evidence.finish(), evidence.path)
        return DEPENDENCY
    try:
        from .validation import Validation

        Validation(root, evidence, _Progress(), not options.without_production).run()
        result = evidence.finish()
        _check_evidence(root, result)
    except Exception as error:  # Whatever it is: the evidence must say BLOCKED.
        traceback.print_exc()
        evidence.block("INTERNAL_ERROR", f"{type(error).__name__}: {error}")
        _summarise(evidence.finish(), evidence.path)
        return INTERNAL
    _summarise(result, evidence.path)
    return PASSED if result["state"] == "PASSED" else BLOCKED


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
        changed = [name for name, text in texts(suite).items() if text.encode() != files[name]]
        for name in changed:
            print(f"{name}: {'would change' if options.check else 'rewritten'}")
            if not options.check:
                (root / name).write_bytes(texts(suite)[name].encode())
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
        print(f"  production       {production['cases']} digests of {production['runner']}, {verdict}")
    for blocker in result["blockers"][:12]:
        print(f"  {blocker['code']}: {blocker['detail']}")
    if len(result["blockers"]) > 12:
        print(f"  ... and {len(result['blockers']) - 12} more in the evidence")
    print(f"  evidence         {path}", flush=True)
