"""Rules R-1 and R-2: the reference depends on nothing but its input.

R-1 reads its source: only what is on a list may be imported or reached through
an import. R-2 runs it in a process without clock, randomness, files and network
(sandbox.py), in a network namespace of its own where the system permits one,
and compares every answer with those given here.
"""

from __future__ import annotations

import ast
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from .findings import Finding, Json, finding

#: What each module may be used for.
LIST: dict[str, frozenset[str]] = {
    "__future__": frozenset({"annotations"}),
    "collections": frozenset({"Counter"}),
    "collections.abc": frozenset({"Callable", "Iterator", "Mapping"}),
    "datetime": frozenset({"date"}),
    "hashlib": frozenset({"sha256"}),
    "json": frozenset({"JSONDecodeError", "JSONEncoder", "loads"}),
    "re": frozenset({"compile", "fullmatch", "sub"}),
    "typing": frozenset({"Any", "NamedTuple", "NoReturn"}),
}
#: Builtins by which a program reaches what it does not name.
FORBIDDEN = frozenset(
    "__builtins__ __import__ breakpoint compile delattr dir eval exec getattr globals input locals "
    "open print setattr vars id hash".split()
)
#: Members by which a harmless object leads to the clock or to everything else.
MEMBERS = frozenset("today now utcnow fromtimestamp modules sys os codecs".split())

TIMEOUT_S = 300


def check_source(files: Mapping[str, bytes]) -> list[Finding]:
    """R-1: what the files of the reference import and reach."""
    found = []
    for name, data in sorted(files.items()):
        if not (name.startswith("reference/") and name.endswith(".py")):
            continue
        try:
            tree = ast.parse(data.decode("utf-8"))
        except (SyntaxError, UnicodeDecodeError) as error:
            found.append(finding("R-1", name, f"is no Python: {error}"))
            continue
        for line, text in sorted(set(_objections(tree))):
            found.append(finding("R-1", name, f"line {line}: {text}"))
    return found


def _objections(tree: ast.Module) -> Iterator[tuple[int, str]]:
    modules = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for one in node.names:
                modules.add((one.asname or one.name).split(".")[0])
                if one.name not in LIST:
                    yield node.lineno, f"imports {one.name}"
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            for one in node.names:
                if one.name not in LIST.get(node.module or "", frozenset()):
                    yield node.lineno, f"imports {one.name} of {node.module}"
        elif isinstance(node, ast.ImportFrom) and node.level > 1:
            yield node.lineno, "imports from outside its folder"
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id in FORBIDDEN:
            yield node.lineno, f"uses {node.id}"
        elif isinstance(node, ast.Attribute):
            is_own = isinstance(node.value, ast.Name) and node.value.id == "self"
            if (node.attr in MEMBERS and not is_own) or (node.attr.startswith("__") and node.attr != "__init__"):
                yield node.lineno, f"reaches {node.attr}"
            if isinstance(node.value, ast.Name) and node.value.id in modules:
                if node.attr not in LIST.get(node.value.id, frozenset()):
                    yield node.lineno, f"reaches {node.value.id}.{node.attr}"


def check_answers(root: Path, questions: list[Json], digests: list[str]) -> list[Finding]:
    """R-2: the answers of the reference where it has nothing but the question."""
    command = [sys.executable, "-I", "-S", "-B", str(root / "validator" / "sandbox.py"), str(root)]
    lines = "".join(json.dumps(question) + "\n" for question in questions)
    done = subprocess.run(
        [*_network_namespace(), *command],
        input=lines,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        # Without this one, Python does not start on Windows.
        env={name: value for name, value in os.environ.items() if name == "SYSTEMROOT"},
        check=False,
    )
    if done.returncode != 0:
        last = (done.stderr.strip().split("\n") or [""])[-1]
        return [finding("R-2", "reference", f"does not run without clock, network and files: {last}")]
    answers = done.stdout.split()
    if len(answers) != len(digests):
        return [finding("R-2", "reference", f"gave {len(answers)} answers to {len(digests)} questions")]
    found = []
    for question, wanted, got in zip(questions, digests, answers):
        if wanted != got:
            text = "another answer where it has neither clock nor randomness"
            found.append(finding("R-2", question.get("id", question["family"]), text))
    return found


def _network_namespace() -> list[str]:
    """The command that takes the network away, or nothing where it is not permitted."""
    unshare = shutil.which("unshare")
    if unshare is None:
        return []
    command = [unshare, "--map-root-user", "--net"]
    tried = subprocess.run([*command, "true"], capture_output=True, check=False)
    return command if tried.returncode == 0 else []
