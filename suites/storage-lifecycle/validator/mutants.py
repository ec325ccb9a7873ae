"""The mutants of a negative check: from its patches, or made by a generator."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from .findings import Json
from .patches import apply, replace, without

Path = list["str | int"]

_UUID = re.compile("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


class Mutant(NamedTuple):
    """A changed case, suite, manifest, folder, or a case's text; and the rule that must object."""

    rule: str
    target: str
    case_id: str | None
    value: Json


class Originals(NamedTuple):
    """What is mutated."""

    manifest: Json
    suite: Json
    files: Mapping[str, bytes]

    def case(self, case_id: str) -> Json:
        """A case by its id."""
        return next(case for case in self.suite["cases"] if case["id"] == case_id)


def expand(entry: Json, originals: Originals) -> Iterator[Mutant]:
    """All mutants that one entry of the matrix stands for."""
    rule = entry["rule"]
    if "generator" in entry:
        yield from _generate(entry, originals)
    elif "case" in entry:
        case = originals.case(entry["case"])
        yield Mutant(rule, "case", entry["case"], apply(case, entry["patch"]))
    elif "file" in entry:
        yield Mutant(rule, "files", None, _edit(originals.files, entry["file"], entry["edit"]))
    else:
        original = originals.manifest if entry["target"] == "manifest" else originals.suite
        yield Mutant(rule, entry["target"], None, apply(original, entry["patch"]))


def _generate(entry: Json, originals: Originals) -> Iterator[Mutant]:
    rule, generator = entry["rule"], entry["generator"]
    for case in originals.suite["cases"]:
        if (
            entry.get("family", case["family"]) != case["family"]
            or entry.get("case", case["id"]) != case["id"]
        ):
            continue
        if generator == "integer-lexeme":
            for path, _ in _integers(case, entry["members"]):
                yield Mutant(rule, "text", case["id"], _with_lexeme(case, path, entry["lexeme"]))
            continue
        for value in _case_mutants(entry, case):
            yield Mutant(rule, "case", case["id"], value)


def _case_mutants(entry: Json, case: Json) -> Iterator[Json]:
    generator = entry["generator"]
    if generator == "omit-member":
        for path, value in walk(case, []):
            for name in value if isinstance(value, dict) else ():
                yield without(case, [*path, name])
    elif generator == "wrong-type":
        for path, value in walk(case["input"], ["input"]):
            for other in _other_types(value, _is_nullable(path, entry["nullable"])):
                yield replace(case, path, other)
    elif generator == "swap-kinds":
        for path, value in walk(case["input"], ["input"]):
            if isinstance(value, bool):
                yield from (replace(case, path, number) for number in (0, 1))
            elif isinstance(value, int):
                yield replace(case, path, True)
    elif generator in ("uuid-uppercase", "uuid-wrong-type"):
        for path, value in walk(case, []):
            if (
                not isinstance(value, str)
                or not _UUID.fullmatch(value)
                or _is_nullable(path, entry["except"])
            ):
                continue
            others = [value.upper()] if generator == "uuid-uppercase" else [1, True, [value], {}]
            yield from (replace(case, path, other) for other in others)
    else:
        for path, _ in _integers(case, entry["members"]):
            yield from (replace(case, path, other) for other in entry["values"])


def walk(value: Json, path: Path) -> Iterator[tuple[Path, Json]]:
    """Every value below and including this one, with its path."""
    yield path, value
    if isinstance(value, dict):
        for name, item in value.items():
            yield from walk(item, [*path, name])
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from walk(item, [*path, index])


def _other_types(value: Json, nullable: bool) -> list[Json]:
    if value is None:
        return [{}]
    if isinstance(value, bool):
        return [0, 1, "true"]
    if isinstance(value, int):
        return [str(value), True] + ([] if nullable else [None])
    if isinstance(value, str):
        return [7, []]
    return [{}] if isinstance(value, list) else [[]]


def _is_nullable(path: Path, patterns: list[str]) -> bool:
    """Whether a path is one of the pointers, in which `*` stands for any one token."""
    for pattern in patterns:
        wanted = pattern.split("/")[1:]
        if len(wanted) == len(path) and all(w in ("*", str(p)) for w, p in zip(wanted, path)):
            return True
    return False


def _integers(case: Json, members: list[str]) -> Iterator[tuple[Path, int]]:
    for path, value in walk(case, []):
        if path and path[-1] in members and isinstance(value, int) and not isinstance(value, bool):
            yield path, value


def _with_lexeme(case: Json, path: Path, lexeme: str) -> str:
    """The case's text with a number spelled in a way that no value can hold."""
    placeholder = "the lexeme stands here"
    text = json.dumps(replace(case, path, placeholder), ensure_ascii=False)
    return text.replace(json.dumps(placeholder), lexeme)


def _edit(files: Mapping[str, bytes], name: str, edit: str) -> dict[str, bytes]:
    changed = dict(files)
    if edit == "add":
        changed[name] = b"unlisted\n"
    elif edit == "remove":
        del changed[name]
    elif edit == "flip-bit":
        data = changed[name]
        middle = len(data) // 2
        changed[name] = data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :]
    else:
        data = changed[name]
        changed[name] = (b"1" if data[:1] == b"0" else b"0") + data[1:]
    return changed
