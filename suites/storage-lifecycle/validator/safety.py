"""Rule S-1: the manifest's safety claims, enforced.

Synthetic ids and hosts only, no signature that could be one, nothing that looks
like a secret, a person's data or a document, and nothing large: ceilings are
exercised by lowering them, never by big payloads. Secrets and personal data are
looked for in every file of the suite, not in its cases alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache

from .findings import Finding, Json, escape, finding
from .sensitive import sensitive

MAX_TEXT = 2_200
MAX_ITEMS = 64

_UUID = re.compile("[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}")
_SYNTHETIC = re.compile("00000000-0000-4000-8000-0000000000[a-f][0-9a-f]")
_AUTHORITY = re.compile("://([^/?#]*)")
_HOST = re.compile(r"(?:[^@]*@)?(?P<name>[^:]*)(?::[0-9]+)?")
_SIGNATURE = re.compile("X-Amz-Signature=([^&]*)")


def scan(value: Json, pointer: str) -> list[Finding]:
    """All that is unsafe in a value, wherever it stands."""
    return [finding("S-1", place, text) for place, text in _scan(value, pointer)]


def scan_files(files: Mapping[str, bytes]) -> list[Finding]:
    """Secrets and personal data in any file, and bytes that are no text at all."""
    found = []
    for name, data in sorted(files.items()):
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError:
            found.append(finding("S-1", name, "is not text: the suite holds no documents"))
            continue
        found += [finding("S-1", name, f"looks like {form}") for form in sensitive(f"{name}\n{text}")]
    return found


@lru_cache(maxsize=65_536)
def _sensitive(text: str) -> tuple[str, ...]:
    return tuple(sensitive(text))


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
    for name in _sensitive(text):
        yield f"looks like {name}"


def _is_reserved(authority: str) -> bool:
    match = _HOST.fullmatch(authority)
    return match is not None and match["name"].endswith(".invalid")
