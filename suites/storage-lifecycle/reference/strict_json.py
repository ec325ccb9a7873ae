"""Strict JSON (rule L-1): one spelling of each value, readable alike everywhere.

Python's own reader keeps the last of two equal keys, accepts `NaN`, and gives
exact big integers where others round. Each of these is refused here.
"""

from __future__ import annotations

import json
from typing import Any, NoReturn

MAX_INTEGER = 2**53 - 1
MAX_DEPTH = 32
MAX_BYTES = 4 * 1024 * 1024


class StrictJsonError(ValueError):
    """The text is not strict JSON; the message says why."""


def parse_bytes(data: bytes) -> Any:
    """Reads a file's bytes."""
    if len(data) > MAX_BYTES:
        raise StrictJsonError(f"longer than {MAX_BYTES} bytes")
    if data.startswith(b"\xef\xbb\xbf"):
        raise StrictJsonError("begins with a byte order mark")
    if b"\r" in data:
        raise StrictJsonError("has a carriage return")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise StrictJsonError(f"is not UTF-8 at byte {error.start}") from None
    return parse_text(text)


def parse_text(text: str) -> Any:
    """Reads a text."""
    try:
        value = json.loads(
            text,
            object_pairs_hook=_object,
            parse_int=_integer,
            parse_float=_no_float,
            parse_constant=_no_constant,
        )
    except json.JSONDecodeError as error:
        raise StrictJsonError(f"{error.msg} at line {error.lineno}, column {error.colno}") from None
    except RecursionError:
        raise StrictJsonError(f"deeper than {MAX_DEPTH} levels") from None
    _check(value, 1)
    return value


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for key, value in pairs:
        if key in result:
            raise StrictJsonError(f"has the key {key!r} twice")
        if key == "__proto__":
            raise StrictJsonError("has the key '__proto__'")
        result[key] = value
    return result


def _integer(lexeme: str) -> int:
    if lexeme == "-0":
        raise StrictJsonError("has the number -0")
    value = int(lexeme) if len(lexeme) < 20 else MAX_INTEGER + 1
    if abs(value) > MAX_INTEGER:
        raise StrictJsonError(f"has the number {lexeme[:20]}, beyond 2^53-1")
    return value


def _no_float(lexeme: str) -> NoReturn:
    raise StrictJsonError(f"has the number {lexeme}, which is not written as an integer")


def _no_constant(lexeme: str) -> NoReturn:
    raise StrictJsonError(f"has {lexeme}")


def _check(value: Any, depth: int) -> None:
    if isinstance(value, str):
        if not value.isascii() and any("\ud800" <= char <= "\udfff" for char in value):
            raise StrictJsonError("has a lone surrogate")
        return
    if not isinstance(value, (dict, list)):
        return
    if depth > MAX_DEPTH:
        raise StrictJsonError(f"deeper than {MAX_DEPTH} levels")
    if isinstance(value, dict):
        for key in value:
            _check(key, depth)
        value = list(value.values())
    for item in value:
        _check(item, depth + 1)
