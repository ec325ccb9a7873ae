"""The schemas, resolved among themselves by `referencing`; nothing is ever fetched."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError, ValidationError
from jsonschema.validators import extend
from referencing import Registry, Resource
from referencing.exceptions import Unresolvable
from referencing.jsonschema import DRAFT202012

from .findings import Finding, Json, escape, finding

URN = "urn:storage-lifecycle:1:"

#: A part of a schema, the part of a value that it is about, and where that stands.
Part = tuple[Json, Json, "str | int | None"]
Parts = Callable[[Json, Json], Iterator[Part]]
Keyword = Callable[..., Iterator[ValidationError]]


class Schemas:
    """All schemas of the suite by their short name (`case`, `manifest`, a family, ...)."""

    def __init__(self, documents: Mapping[str, Json]) -> None:
        self.documents = {document["$id"].removeprefix(URN): document for document in documents.values()}
        # A registry without a retriever: a reference to elsewhere is an error, not a download.
        resources = [
            (document["$id"], Resource.from_contents(document, default_specification=DRAFT202012))
            for document in documents.values()
        ]
        self.registry: Registry[Json] = Registry().with_resources(resources).crawl()
        self._validators: dict[str, Draft202012Validator] = {}
        self._cases: dict[str, Draft202012Validator] = {}
        self._known = _Known()
        self._sharing = extend(Draft202012Validator, self._known.keywords())

    def check(self) -> list[Finding]:
        """Schemas that are no schemas, and references that lead nowhere."""
        found = []
        for name, document in self.documents.items():
            fault = _fault(json.dumps(document))
            if fault is not None:
                found.append(finding("SCHEMA_INVALID", f"schemas: {name}", fault))
            resolver = self.registry.resolver(base_uri=document["$id"])
            for reference in _references(document):
                try:
                    resolver.lookup(reference)
                except Unresolvable:
                    text = f"the reference {reference} leads nowhere, and nothing is fetched"
                    found.append(finding("SCHEMA_REFERENCE", f"schemas: {name}", text))
        return found

    def findings(self, name: str, value: Json, rule: str, pointer: str = "") -> list[Finding]:
        """What a schema objects to, as findings of a rule."""
        return _findings(self._validator(name), value, rule, pointer)

    def case_findings(self, case: Json) -> list[Finding]:
        """Rule C-1 of one case."""
        return _findings(self._case_validator(case), case, "C-1", "")

    def is_case(self, case: Json) -> bool:
        """Rule C-1 of one case, without saying why not."""
        return self._case_validator(case).is_valid(case)

    def remember(self, case: Json) -> None:
        """From now on, what mutants of a case share with it is not judged again where the schema admits it."""
        validator = self._case_validator(case)
        if validator.is_valid(case):
            self._known.add(validator.schema, case)

    def input_validator(self, family: str) -> Draft202012Validator:
        """What a family admits as input."""
        document = self.documents[family]
        return Draft202012Validator(self._inlined(document["properties"]["input"], document))

    def _validator(self, name: str) -> Draft202012Validator:
        if name not in self._validators:
            document = self.documents[name]
            self._validators[name] = Draft202012Validator(self._inlined(document, document))
        return self._validators[name]

    def _case_validator(self, case: Json) -> Draft202012Validator:
        """The case schema with its dispatch already done: ten conditions less to try."""
        family = case.get("family") if isinstance(case, dict) else None
        document = self.documents["case"]
        dispatch = [one for one in document["allOf"] if _is_for(one, family)]
        if not isinstance(family, str) or len(dispatch) != 1:
            return self._validator("case")
        if family not in self._cases:
            # The family's own part first: most mutants are of it, and the first fault decides.
            rest = {name: value for name, value in document.items() if name != "allOf"}
            schema = {"allOf": [dispatch[0]["then"]], **rest}
            self._cases[family] = self._sharing(self._inlined(schema, document))
        return self._cases[family]

    def _inlined(self, schema: Json, document: Json) -> Json:
        """The schema with each reference replaced by what the registry resolves it to.

        The schemas refer to each other without cycles. Resolving once and not for
        each value makes the negative matrix twice as fast.
        """
        if isinstance(schema, list):
            return [self._inlined(item, document) for item in schema]
        if not isinstance(schema, dict):
            return schema
        if "$ref" in schema:
            contents, home = self.resolve(schema["$ref"], document)
            return self._inlined(contents, home)
        words = {name: item for name, item in schema.items() if name not in ("$schema", "$id", "$defs")}
        return {name: self._inlined(item, document) for name, item in words.items()}

    def resolve(self, reference: str, document: Json) -> tuple[Json, Json]:
        """What a reference in a document leads to, and the document that it is in."""
        contents = self.registry.resolver(base_uri=document["$id"]).lookup(reference).contents
        name = reference.partition("#")[0].removeprefix(URN)
        return contents, self.documents[name] if name else document


class _Known:
    """Pairs of a schema and a value that it admits, told by their places in memory.

    A schema that admits a value admits each part of it that one of its keywords
    below is about. A patch copies what it changes and all that this stands in, so
    nothing that differs in a mutant is known.
    """

    def __init__(self) -> None:
        # Kept whole: as long as both are here, nothing else has their ids.
        self._pairs: dict[tuple[int, int], tuple[Json, Json]] = {}

    def add(self, schema: Json, value: Json) -> None:
        """Notes a value that the schema admits, with its parts."""
        self._pairs[id(schema), id(value)] = (schema, value)
        for word in _PARTS.keys() & (schema.keys() if isinstance(schema, dict) else ()):
            for part, below, _ in _PARTS[word](schema, value):
                self.add(part, below)

    def keywords(self) -> dict[str, Keyword]:
        """The keywords in `_PARTS`, which pass over what is known."""

        def keyword(parts: Parts) -> Keyword:
            def errors(validator: Draft202012Validator, _: Json, value: Json, schema: Json) -> Iterator[ValidationError]:
                for part, below, place in parts(schema, value):
                    if (id(part), id(below)) not in self._pairs:
                        yield from validator.descend(below, part, path=place)

            return errors

        return {word: keyword(parts) for word, parts in _PARTS.items()}


def _all(schema: Json, value: Json) -> Iterator[Part]:
    for part in schema["allOf"]:
        yield part, value, None


def _properties(schema: Json, value: Json) -> Iterator[Part]:
    for name, part in schema["properties"].items():
        if isinstance(value, dict) and name in value:
            yield part, value[name], name


def _items(schema: Json, value: Json) -> Iterator[Part]:
    for index in range(len(schema.get("prefixItems", [])), len(value) if isinstance(value, list) else 0):
        yield schema["items"], value[index], index


#: Keywords of which every part must hold.
_PARTS: dict[str, Parts] = {"allOf": _all, "properties": _properties, "items": _items}


@lru_cache(maxsize=64)
def _fault(text: str) -> str | None:
    """Why a document is no schema. The samples of the self-check spoil one and leave the others as they are."""
    try:
        Draft202012Validator.check_schema(json.loads(text))
    except SchemaError as error:
        return error.message
    return None


def _is_for(condition: Json, family: Json) -> bool:
    return condition["if"]["properties"]["family"]["const"] == family


def _findings(validator: Draft202012Validator, value: Json, rule: str, pointer: str) -> list[Finding]:
    found = []
    for error in validator.iter_errors(value):
        place = pointer + "".join(f"/{escape(str(token))}" for token in error.absolute_path)
        found.append(finding(rule, place, error.message))
    return sorted(found)


def _references(value: Json) -> Iterator[str]:
    if isinstance(value, dict):
        if isinstance(value.get("$ref"), str):
            yield value["$ref"]
        for item in value.values():
            yield from _references(item)
    elif isinstance(value, list):
        for item in value:
            yield from _references(item)
