"""Canonical bytes of a JSON value (RFC 8785), for digests and for comparing.

Comparing bytes and not values: to Python, `1 == True`. The suite has no numbers
but integers and no member names beyond ASCII, and within these bounds Python's
own encoder already writes what RFC 8785 asks for.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

_encode = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False).encode


def canonical(value: Any) -> bytes:
    """The bytes of a value made of objects, lists, text, integers, booleans and null."""
    return _encode(value).encode("utf-8")


def digest(value: Any) -> str:
    """SHA-256 of the canonical bytes, in lower-case hex."""
    return hashlib.sha256(canonical(value)).hexdigest()
