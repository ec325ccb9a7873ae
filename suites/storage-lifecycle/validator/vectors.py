"""Rule V-1: the test vectors of canonical JSON are what the reference makes of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from reference.canonical import canonical, digest
from reference.strict_json import StrictJsonError, parse_bytes, parse_text

from .findings import Finding, Json, finding

VECTORS = "vectors/canonical-json.json"


def check(files: Mapping[str, bytes]) -> list[Finding]:
    """Every vector that does not hold, and a file of vectors that is absent."""
    if VECTORS not in files:
        return [finding("V-1", VECTORS, "the file is absent")]
    given = parse_bytes(files[VECTORS])
    return [finding("V-1", VECTORS, text) for text in _faults(given)]


def _faults(given: Json) -> Iterator[str]:
    for one in given["canonical"]:
        value = _read(one["text"])
        if value is StrictJsonError:
            yield f"{one['title']}: is refused"
        elif canonical(value) != one["canonical"].encode() or digest(value) != one["sha256"]:
            yield f"{one['title']}: has other canonical bytes"
    for one in given["refused"]:
        if _read(one["text"]) is not StrictJsonError:
            yield f"{one['title']}: is read, and must be refused"


def _read(text: str) -> Json:
    """The value of a text, or the error's class where it is refused."""
    try:
        return parse_text(text)
    except StrictJsonError:
        return StrictJsonError
