"""VK: the one grammar of object keys."""

from __future__ import annotations

import re

from .rules import Call, Json, Rules

EXTENSIONS = {"request_body": "json", "response_body": "txt", "export": "zip"}
KINDS = {f"{kind}.{extension}": kind for kind, extension in EXTENSIONS.items()}

_UUID = re.compile("[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")
_ATTEMPT = re.compile("[1-9][0-9]{0,2}")
_CHARACTERS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._/-")


def run(data: Json, call: Call, rules: Rules) -> Json:
    if data["mode"] == "build":
        return {"output": {"code": "OK", "key": build(data, rules)}, "mutations": []}
    results = []
    for key in data["keys"]:
        code, parts = parse(key, rules)
        if code == "OK" and parts["tenant_id"] != data["tenant_id"] and rules("VK-6"):
            code, parts = "WRONG_OWNER", None
        results.append({"code": code, "parts": parts})
    return {"output": {"results": results}, "mutations": []}


def build(parts: Json, rules: Rules) -> str:
    """The key of an artifact."""
    attempt = str(parts["attempt"]) if rules("VK-1") else f"{parts['attempt']:04}"
    name = f"{parts['kind']}.{EXTENSIONS[parts['kind']]}"
    return "/".join(["v1", "t", parts["tenant_id"], "d", parts["delivery_id"], "a", attempt, name])


def parse(key: str, rules: Rules) -> tuple[str, Json]:
    """The first rule that a key breaks, or OK with its parts."""
    for rule, check in (("VK-2", _length), ("VK-3", _characters), ("VK-4", _segments)):
        fault = check(key) if rules(rule) else None
        if fault is not None:
            return fault, None
    if rules("VK-5"):
        fault = _grammar(key.split("/"))
        if fault is not None:
            return fault, None
    segments = (key.split("/") + [""] * 8)[:8]
    parts = {
        "tenant_id": segments[2],
        "delivery_id": segments[4],
        "attempt": int(segments[6]) if segments[6].isdecimal() else 0,
        "kind": KINDS.get(segments[7], ""),
    }
    return "OK", parts


def _length(key: str) -> str | None:
    if key == "":
        return "EMPTY"
    return "TOO_LONG" if len(key.encode("utf-8")) > 1024 else None


def _characters(key: str) -> str | None:
    if not key.isascii():
        return "NOT_ASCII"
    return None if _CHARACTERS.issuperset(key) else "BAD_CHARACTER"


def _segments(key: str) -> str | None:
    return "BAD_SEGMENT" if {"", ".", ".."}.intersection(key.split("/")) else None


def _grammar(segments: list[str]) -> str | None:
    if len(segments) != 8 or [segments[i] for i in (0, 1, 3, 5)] != ["v1", "t", "d", "a"]:
        return "BAD_GRAMMAR"
    if not (_UUID.fullmatch(segments[2]) and _UUID.fullmatch(segments[4])):
        return "BAD_UUID"
    if not _ATTEMPT.fullmatch(segments[6]):
        return "BAD_ATTEMPT"
    return None if segments[7] in KINDS else "BAD_KIND"
