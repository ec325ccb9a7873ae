"""Puts a switch before each place of the suite's validator that makes a finding, for the scripts beside it."""

from __future__ import annotations

import ast
import importlib.abc
import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path

#: The places that are off, those that were reached, and the text of all.
OFF: set[str] = set()
HIT: set[str] = set()
SITES: dict[str, str] = {}


def is_on(site: str) -> bool:
    HIT.add(site)
    return site not in OFF


class Switches(ast.NodeTransformer):
    """Switches each call of `finding`; a script adds what else blocks in its modules."""

    def __init__(self, module: str) -> None:
        self.module = module

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


class Loader(importlib.abc.MetaPathFinder, importlib.abc.SourceLoader):
    """Loads modules of the validator with the switches in them."""

    def __init__(self, root: Path, is_switched: Callable[[str], bool], switches: type[Switches]) -> None:
        self.root, self.is_switched, self.switches = root, is_switched, switches

    def find_spec(self, name: str, path: object, target: object = None):
        module = name.removeprefix("validator.")
        if module == name or not self.is_switched(module):
            return None
        return importlib.util.spec_from_file_location(name, self.get_filename(name), loader=self)

    def get_filename(self, name: str) -> str:
        return str(self.root / "validator" / f"{name.removeprefix('validator.')}.py")

    def get_data(self, path: str) -> bytes:
        return Path(path).read_bytes()

    def source_to_code(self, data: bytes, path: str, **_: object):
        tree = self.switches(Path(path).stem).visit(ast.parse(data))
        return compile(ast.fix_missing_locations(tree), path, "exec")

    def exec_module(self, module) -> None:
        module.__dict__["_is_on"] = is_on
        exec(self.get_code(module.__name__), module.__dict__)


def install(root: Path, is_switched: Callable[[str], bool], switches: type[Switches]) -> None:
    """From now on the named modules of the suite's validator are imported with switches."""
    sys.dont_write_bytecode = True
    sys.path.insert(0, str(root))
    sys.meta_path.insert(0, Loader(root, is_switched, switches))
