"""What is made from the suite's other files so that runners need not make it themselves.

`bundle.schema.json` is all schemas in one document. `negative/mutants.jsonl` is every
mutant of the negative matrix written out: a line for each check and case, with the
places that are left out and the values that are put in.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from .findings import Json, escape
from .mutants import Mutant, Originals, expand

BUNDLE = "bundle.schema.json"
MUTANTS = "negative/mutants.jsonl"


def bundle(documents: Mapping[str, Json]) -> Json:
    """All schemas as one, each under its own `$id`: any reference of theirs leads into it."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "urn:storage-lifecycle:1:bundle",
        "title": "All schemas of the suite",
        "$ref": "urn:storage-lifecycle:1:suite",
        "$defs": {name: documents[name] for name in sorted(documents)},
    }


def mutants(matrix: Json, originals: Originals) -> str:
    """Every mutant, grouped by check, rule and case; one JSON object a line."""
    lines = []
    for check in matrix["checks"]:
        groups: dict[tuple[str, str], Json] = {}
        for entry in check["mutants"]:
            for mutant in expand(entry, originals):
                target = mutant.case_id or mutant.target
                new = {"check": check["id"], "rule": mutant.rule, "target": target, "patches": []}
                group = groups.setdefault((mutant.rule, target), new)
                group["patches"].append(_steps(entry, mutant, originals))
        lines += [json.dumps(group, separators=(",", ":")) + "\n" for group in groups.values()]
    return "".join(lines)


def _steps(entry: Json, mutant: Mutant, originals: Originals) -> Json:
    """A JSON Patch; for files and texts, which have none, what is done to them."""
    if "patch" in entry:
        return entry["patch"]
    if mutant.target == "files":
        return [{"op": entry["edit"], "path": entry["file"]}]
    if mutant.target == "text":
        original = originals.case(mutant.case_id or "")
        # With a text in its place the number's path is found as any other.
        value = json.loads(mutant.value.replace(f":{entry['lexeme']}", ':"lexeme"', 1))
        path = next(_differences(original, value, ""))["path"]
        return [{"op": "lexeme", "path": path, "value": entry["lexeme"]}]
    return list(_differences(originals.case(mutant.case_id or ""), mutant.value, ""))


def _differences(old: Json, new: Json, path: str) -> Iterator[Json]:
    """The steps from one value to another that shares with it what is equal."""
    if old is new:
        return
    if isinstance(old, dict) and isinstance(new, dict) and old.keys() >= new.keys() and old:
        for name, value in old.items():
            place = f"{path}/{escape(name)}"
            if name not in new:
                yield {"op": "remove", "path": place}
            else:
                yield from _differences(value, new[name], place)
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new) > 0:
        for index, (left, right) in enumerate(zip(old, new)):
            yield from _differences(left, right, f"{path}/{index}")
    elif type(old) is not type(new) or old != new:
        yield {"op": "replace", "path": path, "value": new}
