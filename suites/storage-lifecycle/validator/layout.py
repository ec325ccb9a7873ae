"""The canonical layout of the JSON files: 2 spaces, ASCII, keys in the order of the schema.

Everything beyond ASCII is escaped, so that no editor can normalise or reorder
what a case is about (composed letters, bidirectional overrides).
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from .findings import Json
from .schemas import Schemas


def layout(value: Json, schemas: Schemas, name: str | None) -> str:
    """The one text of a value; without a schema's name its keys keep their order."""
    if name is not None:
        document = schemas.documents[name]
        value = _order(value, [(document, document)], schemas)
    return json.dumps(value, indent=2) + "\n"


#: A schema and the document that its local references point into.
Place = tuple[Json, Json]


def _order(value: Json, places: list[Place], schemas: Schemas) -> Json:
    found = [place for start in places for place in _reachable(start, schemas)]
    if isinstance(value, list):
        items = [(schema["items"], root) for schema, root in found if isinstance(schema.get("items"), dict)]
        for index, item in enumerate(value):
            first = [(s["prefixItems"][index], r) for s, r in found if index < len(s.get("prefixItems", []))]
            value = [*value[:index], _order(item, first or items, schemas), *value[index + 1 :]]
        return value
    if not isinstance(value, dict):
        return value
    tables = [schema["properties"] for schema, _ in found if isinstance(schema.get("properties"), dict)]
    # Members are all required, so the one table with exactly these names gives the order.
    exact = next((table for table in tables if set(table) == set(value)), None)
    names = list(value) if exact is None else list(exact)
    ordered = {}
    for name in names:
        below = [
            (schema["properties"][name], root)
            for schema, root in found
            if isinstance(schema.get("properties", {}).get(name), dict)
        ]
        ordered[name] = _order(value[name], below, schemas)
    return ordered


def _reachable(place: Place, schemas: Schemas) -> Iterator[Place]:
    """The schema and all that apply, or may apply, at the same place."""
    schema, root = place
    yield place
    if "$ref" in schema:
        yield from _reachable(schemas.resolve(schema["$ref"], root), schemas)
    for word in ("allOf", "anyOf", "oneOf"):
        for one in schema.get(word, []):
            yield from _reachable((one, root), schemas)
    for word in ("then", "else"):
        if word in schema:
            yield from _reachable((schema[word], root), schemas)
