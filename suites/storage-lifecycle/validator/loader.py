"""Reads the suite's files strictly (rule L-1) into what the other rules judge."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from reference.strict_json import StrictJsonError, parse_bytes

from .findings import Finding, Json, finding
from .layout import layout
from .mutants import Originals
from .publish import BUNDLE, MUTANTS, bundle, mutants
from .schemas import Schemas

MANIFEST = "manifest.json"
SUITE = "suite.json"
MATRIX = "negative/matrix.json"


@dataclass(frozen=True)
class Suite:
    """Everything of the suite, parsed."""

    files: Mapping[str, bytes]
    manifest: Json
    document: Json
    matrix: Json
    schemas: Schemas

    @property
    def cases(self) -> list[Json]:
        """The cases in their order."""
        return self.document["cases"]

    def case(self, case_id: str) -> Json:
        """A case by its id."""
        return next(case for case in self.cases if case["id"] == case_id)


def load(files: Mapping[str, bytes]) -> tuple[Suite | None, list[Finding]]:
    """The suite, or None where a file is no strict JSON or a schema cannot be used."""
    found: list[Finding] = []
    parsed: dict[str, Json] = {}
    for name in sorted({name for name in files if name.endswith(".json")} | {MANIFEST, SUITE, MATRIX}):
        try:
            parsed[name] = parse_bytes(files[name])
        except KeyError:
            found.append(finding("L-1", name, "the file is absent"))
        except StrictJsonError as error:
            found.append(finding("L-1", name, str(error)))
    if found:
        return None, found
    schemas = Schemas({name: parsed[name] for name in parsed if name.startswith("schemas/")})
    found = schemas.check()
    if found:
        return None, found
    found = schemas.findings("negative", parsed[MATRIX], "M-1", f"{MATRIX}: ")
    if found:
        return None, found
    return Suite(files, parsed[MANIFEST], parsed[SUITE], parsed[MATRIX], schemas), []


def texts(suite: Suite) -> dict[str, str]:
    """The canonical text of each JSON file, and of those that are made from the others."""
    named = {
        MANIFEST: layout(suite.manifest, suite.schemas, "manifest"),
        SUITE: layout(suite.document, suite.schemas, "suite"),
        MATRIX: layout(suite.matrix, suite.schemas, "negative"),
    }
    for name, data in suite.files.items():
        if name.startswith(("schemas/", "vectors/")):
            named[name] = layout(parse_bytes(data), suite.schemas, None)
    named[BUNDLE] = layout(bundle(suite.schemas.documents), suite.schemas, None)
    named[MUTANTS] = mutants(suite.matrix, Originals(suite.manifest, suite.document, suite.files))
    return named


def check_layout(suite: Suite) -> list[Finding]:
    """Rule L-1: each JSON file is written in its canonical layout."""
    found = []
    for name, text in sorted(texts(suite).items()):
        given = suite.files.get(name, b"").decode("utf-8", "replace").split("\n")
        wanted = text.split("\n")
        if given != wanted:
            pairs = enumerate(zip(given + [""], wanted + [""]), start=1)
            line = next((number for number, (left, right) in pairs if left != right), 0)
            found.append(finding("L-1", name, f"layout differs at line {line}: `validate.py --fmt` mends it"))
    return found
