"""Canonical bytes of a JSON value (RFC 8785), for digests and for comparing.

Comparing bytes and not values: to Python, `1 == True`.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any


def canonical(value: Any) -> bytes:
    """The bytes of a value made of objects, lists, text, integers, booleans and null."""
    return _write(value).encode("utf-8")


def digest(value: Any) -> str:
    """SHA-256 of the canonical bytes, in lower-case hex."""
    return hashlib.sha256(canonical(value)).hexdigest()


def _write(value: Any) -> str:
    if value is None or isinstance(value, (bool, str)):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, int):
        return str(value)
    if isinstance(value, list):
        return "[" + ",".join(map(_write, value)) + "]"
    if isinstance(value, dict):
        # RFC 8785 orders keys by UTF-16 code units.
        keys = sorted(value, key=lambda key: key.encode("utf-16-be"))
        return "{" + ",".join(f"{_write(key)}:{_write(value[key])}" for key in keys) + "}"
    raise TypeError(f"{type(value).__name__} is not a value of strict JSON")
