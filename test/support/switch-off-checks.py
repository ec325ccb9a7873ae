"""Switches off each check of the suite's validator in turn, and asks whether its own samples notice.

    python3 switch-off-checks.py SUITE

A check is a place in the validator that makes a finding. Prints the places whose
absence no sample notices, and how many were tried; ends with 1 if there is one.
"""

from __future__ import annotations

import ast
import sys
from pathlib import Path

sys.dont_write_bytecode = True

from switches import HIT, OFF, SITES, Switches, install  # noqa: E402

ROOT = Path(sys.argv[1]).resolve()
#: Modules in which a `yield` of a text or a place is what becomes a finding.
YIELDING = {"safety": ("_scan", "_faults"), "strikes": ("_faults",), "isolation": ("_objections",), "vectors": ("_faults",)}
#: Modules that judge a whole run: switch-off-runs.py. The evidence makes no check of its own.
ELSEWHERE = {"selfcheck", "production", "validation", "cli", "evidence", "runner", "runs"}


class Finding(Switches):
    """Puts a switch before each `yield` that becomes a finding, too."""

    function = ""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        outer, self.function = self.function, node.name
        self.generic_visit(node)
        self.function = outer
        return node

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        self.generic_visit(node)
        yields = isinstance(node.value, ast.Yield) and self.function in YIELDING.get(self.module, ())
        if not yields:
            return node
        return ast.If(self.site(node), [node], [])


def main() -> int:
    install(ROOT, lambda module: module not in {*ELSEWHERE, "findings"}, Finding)
    from validator import selfcheck
    from validator.files import read_tree
    from validator.loader import load

    suite, problems = load(read_tree(ROOT)[0])
    assert suite is not None, problems
    samples = selfcheck.samples(suite)
    hits = []
    for sample in samples:
        HIT.clear()
        assert not list(selfcheck.failing([sample])), f"{sample.name} is not refused"
        hits.append(frozenset(HIT))
    unnoticed = []
    for site, text in sorted(SITES.items()):
        OFF.clear()
        OFF.add(site)
        reached = [sample for sample, hit in zip(samples, hits) if site in hit]
        if not any(list(selfcheck.failing([sample])) for sample in reached):
            unnoticed.append(f"{site}: {text}")
    for line in unnoticed:
        print(line)
    print(f"{len(SITES)} checks, {len(unnoticed)} unnoticed when switched off")
    return 1 if unnoticed else 0


if __name__ == "__main__":
    sys.exit(main())
