"""What the validator objects to."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

Json = Any

MAX_DETAIL = 200


class Finding(NamedTuple):
    """A rule that is broken, where (a JSON pointer or a file), and how."""

    rule: str
    pointer: str
    detail: str


def finding(rule: str, pointer: str, detail: str) -> Finding:
    """A finding whose detail fits the evidence and is plain text."""
    plain = detail.encode("ascii", "backslashreplace").decode("ascii")
    return Finding(rule, pointer, plain if len(plain) <= MAX_DETAIL else plain[: MAX_DETAIL - 3] + "...")


def show(value: Json) -> str:
    """A value as a short text for a message."""
    text = json.dumps(value)
    return text if len(text) <= 60 else text[:57] + "..."


def escape(name: str) -> str:
    """A member's name as a token of a JSON pointer."""
    return name.replace("~", "~0").replace("/", "~1")


def first_difference(wanted: Json, got: Json, pointer: str) -> tuple[str, str]:
    """Where two values first differ, and what stands on both sides."""
    if isinstance(wanted, dict) and isinstance(got, dict) and wanted.keys() == got.keys():
        for name in wanted:
            if not _same(wanted[name], got[name]):
                return first_difference(wanted[name], got[name], f"{pointer}/{escape(name)}")
    if isinstance(wanted, list) and isinstance(got, list):
        for index, (left, right) in enumerate(zip(wanted, got)):
            if not _same(left, right):
                return first_difference(left, right, f"{pointer}/{index}")
        return pointer, f"the case has {len(wanted)} items, recomputed are {len(got)}"
    return pointer, f"the case has {show(wanted)}, recomputed is {show(got)}"


def _same(left: Json, right: Json) -> bool:
    return json.dumps(left, sort_keys=True) == json.dumps(right, sort_keys=True)
