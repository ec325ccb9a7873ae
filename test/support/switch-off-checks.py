"""Switches off each check of the suite's validator in turn, and asks whether its own samples notice.

    python3 switch-off-checks.py SUITE

A check is a place in the validator that makes a finding. Prints the places whose
absence no sample notices, and how many were tried; ends with 1 if there is one.
"""

from __future__ import annotations

import ast
import importlib.abc
import importlib.util
import sys
from pathlib import Path

ROOT = Path(sys.argv[1]).resolve()
#: Modules in which a `yield` of a text or a place is what becomes a finding.
YIELDING = {"safety": ("_scan", "_faults"), "strikes": ("_faults",), "isolation": ("_objections",), "vectors": ("_faults",)}
#: Modules that judge a whole run: switch-off-runs.py. The evidence makes no check of its own.
ELSEWHERE = {"selfcheck", "production", "validation", "cli", "evidence", "runner", "runs"}

OFF: set[str] = set()
HIT: set[str] = set()
SITES: dict[str, str] = {}


def is_on(site: str) -> bool:
    HIT.add(site)
    return site not in OFF


class Switches(ast.NodeTransformer):
    """Puts a switch before each place that makes a finding."""

    def __init__(self, module: str) -> None:
        self.module = module
        self.function = ""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        outer, self.function = self.function, node.name
        self.generic_visit(node)
        self.function = outer
        return node

    def site(self, node: ast.AST) -> ast.Call:
        name = f"{self.module}.py:{node.lineno}"
        SITES[name] = ast.unparse(node)
        return ast.Call(ast.Name("_is_on", ast.Load()), [ast.Constant(name)], [])

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if not (isinstance(node.func, ast.Name) and node.func.id == "finding"):
            return node
        nothing = ast.parse("finding('OFF', '', '')", mode="eval").body
        return ast.IfExp(self.site(node), node, nothing)

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        self.generic_visit(node)
        yields = isinstance(node.value, ast.Yield) and self.function in YIELDING.get(self.module, ())
        if not yields:
            return node
        return ast.If(self.site(node), [node], [])


class Loader(importlib.abc.MetaPathFinder, importlib.abc.SourceLoader):
    """Loads the validator's modules with the switches in them."""

    def find_spec(self, name: str, path: object, target: object = None):
        module = name.removeprefix("validator.")
        if module == name or module in ELSEWHERE or module == "findings":
            return None
        return importlib.util.spec_from_file_location(name, ROOT / "validator" / f"{module}.py", loader=self)

    def get_filename(self, name: str) -> str:
        return str(ROOT / "validator" / f"{name.removeprefix('validator.')}.py")

    def get_data(self, path: str) -> bytes:
        return Path(path).read_bytes()

    def source_to_code(self, data: bytes, path: str, **_: object):
        module = Path(path).stem
        tree = Switches(module).visit(ast.parse(data))
        return compile(ast.fix_missing_locations(tree), path, "exec")

    def exec_module(self, module) -> None:
        module.__dict__["_is_on"] = is_on
        exec(self.get_code(module.__name__), module.__dict__)


def main() -> int:
    sys.dont_write_bytecode = True
    sys.path.insert(0, str(ROOT))
    sys.meta_path.insert(0, Loader())
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
