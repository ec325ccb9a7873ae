"""Rule S-1: the manifest's safety claims, enforced.

Synthetic ids and hosts only, no signature that could be one, no token that
looks like a secret or a document, and nothing large: ceilings are exercised by
lowering them, never by big payloads.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from .findings import Finding, Json, escape, finding

MAX_TEXT = 2_200
MAX_ITEMS = 64

_UUID = re.compile("[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}")
_SYNTHETIC = re.compile("00000000-0000-4000-8000-0000000000[a-f][0-9a-f]")
_AUTHORITY = re.compile("://([^/?#]*)")
_HOST = re.compile(r"(?:[^@]*@)?(?P<name>[^:]*)(?::[0-9]+)?")
_SIGNATURE = re.compile("X-Amz-Signature=([^&]*)")
_FORBIDDEN = ("%PDF", "JVBERi", "-----BEGIN", "AKIA", "ASIA", "whsec_")


def scan(value: Json, pointer: str) -> list[Finding]:
    """All that is unsafe in a value, wherever it stands."""
    return [finding("S-1", place, text) for place, text in _scan(value, pointer)]


def _scan(value: Json, pointer: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        for text in _faults(value, "/keys/" in pointer):
            yield pointer, text
    elif isinstance(value, list):
        if len(value) > MAX_ITEMS:
            yield pointer, f"has {len(value)} items, more than {MAX_ITEMS}"
        for index, item in enumerate(value):
            yield from _scan(item, f"{pointer}/{index}")
    elif isinstance(value, dict):
        host = value.get("host")
        if isinstance(host, str) and not _is_reserved(host):
            yield f"{pointer}/host", "the host does not end in .invalid"
        for name, item in value.items():
            yield from _scan(item, f"{pointer}/{escape(name)}")


def _faults(text: str, is_key: bool) -> Iterator[str]:
    if len(text) > MAX_TEXT:
        yield f"has {len(text)} characters, more than {MAX_TEXT}"
    for uuid in _UUID.findall(text) if "-" in text else ():
        # Keys to be parsed may spell a synthetic id in upper case: that is their point.
        if not _SYNTHETIC.fullmatch(uuid.lower() if is_key else uuid):
            yield f"{uuid} is not a synthetic id"
    for authority in _AUTHORITY.findall(text):
        if not _is_reserved(authority):
            yield "an address whose host does not end in .invalid"
    for signature in _SIGNATURE.findall(text):
        if signature != "0" * 64:
            yield "a signature that is not 64 zeros"
    for token in _FORBIDDEN:
        if token in text:
            yield f"has {token}"


def _is_reserved(authority: str) -> bool:
    match = _HOST.fullmatch(authority)
    return match is not None and match["name"].endswith(".invalid")
