"""RC-4: when bytes are those of a row. Null never equals anything."""

from __future__ import annotations

from .rules import Json, Rules


def _same(left: Json, right: Json) -> bool:
    return left is not None and right is not None and left == right


def equals_listing(row: Json, listed: Json, rules: Rules) -> bool:
    """Key, size and etag; the key is how the two were found."""
    members = ["size", "etag"] if rules("RC-4") else ["size"]
    return all(_same(row[member], listed[member]) for member in members)


def equals_head(row: Json, head: Json, rules: Rules) -> bool:
    """Size, etag, version and checksum of a head that found something."""
    members = ["size", "etag", "version_id", "sha256"] if rules("RC-4") else ["size"]
    return all(_same(row[member], head[member]) for member in members)
