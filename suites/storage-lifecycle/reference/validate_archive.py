"""VA: is a ZIP safe, and exactly what was promised? Judged by its metadata only."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from .rules import Call, Json, Rules

#: The most that each ceiling may be set to.
HIGHEST = {
    "entries": 10_000,
    "entry_bytes": 2**30,
    "total_bytes": 2**32,
    "entry_ratio": 200,
    "path_bytes": 240,
}

_SEGMENT = re.compile("[A-Za-z0-9._-]{1,100}")
_DEVICES = {"con", "prn", "aux", "nul", "conin$", "conout$"}
_DEVICES |= {f"{name}{digit}" for name in ("com", "lpt") for digit in range(10)}
_ARCHIVES = {"zip", "jar", "gz", "tgz", "tar", "7z", "rar", "xz", "bz2", "zst"}
_LOWER = str.maketrans("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz")

#: (rule number, code, path, ceiling)
Violation = tuple[int, str, "str | None", "str | None"]


def run(data: Json, call: Call, rules: Rules) -> Json:
    found = [one for one in _all(data, rules) if rules(f"VA-{one[0]}")]
    found.sort(key=_order)
    violations = [{"code": code, "path": path, "ceiling": ceiling} for _, code, path, ceiling in found]
    code = violations[0]["code"] if violations else "VALID"
    return {"output": {"code": code, "violations": violations}, "mutations": []}


def _order(violation: Violation) -> tuple[int, bytes, str, str]:
    number, code, path, ceiling = violation
    # A path begins after a byte 1, so that null sorts before the empty path.
    return number, b"" if path is None else b"\x01" + path.encode("utf-8"), code, ceiling or ""


def _all(data: Json, rules: Rules) -> Iterator[Violation]:
    entries = data["entries"]
    container = data["container"]
    clean = all(container[name] == 0 for name in ("prefix_bytes", "trailing_bytes", "comment_bytes"))
    if not clean or container["disks"] != 1:
        yield 1, "CONTAINER", None, None
    for entry in entries:
        if not _normal(entry):
            yield 2, "PATH", entry["path"], None
    yield from _collisions(entries)
    for entry in entries:
        yield from _entry(entry)
    if not _tiled(entries, container["directory_offset"]):
        yield 5, "LAYOUT", None, None
    ceilings = _ceilings(data["ceilings"])
    if ceilings is None:
        yield 6, "CEILING_SET", None, None
    else:
        yield from _over(entries, ceilings)
    lines = Counter((line["path"], line["size"], line["sha256"]) for line in data["manifest"])
    if (
        Counter((one["path"], one["size"], one["sha256"]) for one in entries if one["type"] == "file")
        != lines
    ):
        yield 8, "MANIFEST", None, None
    yield from _sources(data)
    for entry in entries:
        ignored = data["ignore_directories"] is True and entry["size"] == 0
        if entry["type"] == "directory" and not ignored:
            yield 10, "DIRECTORY_ENTRY", entry["path"], None


def _name(entry: Json) -> str:
    """The path without the slash that marks a directory."""
    return entry["path"].removesuffix("/") if entry["type"] == "directory" else entry["path"]


def _normal(entry: Json) -> bool:
    segments = _name(entry).split("/")
    if len(segments) > 8:
        return False
    for segment in segments:
        if not _SEGMENT.fullmatch(segment) or segment.endswith("."):
            return False
        if segment.partition(".")[0].translate(_LOWER) in _DEVICES:
            return False
    return True


def _collisions(entries: list[Json]) -> Iterator[Violation]:
    names = [_name(entry).translate(_LOWER) for entry in entries]
    counts = Counter(names)
    parents = {name[:place] for name in counts for place in range(len(name)) if name[place] == "/"}
    for name, entry in zip(names, entries):
        covers = entry["type"] != "directory" and name in parents
        if counts[name] > 1 or covers:
            yield 3, "COLLISION", entry["path"], None


def _entry(entry: Json) -> Iterator[Violation]:
    path = entry["path"]
    if entry["type"] in ("symlink", "other"):
        yield 4, "ENTRY_TYPE", path, None
    if entry["encrypted"]:
        yield 4, "ENCRYPTED", path, None
    stored = entry["method"] == 0
    if entry["method"] not in (0, 8) or (stored and entry["size"] != entry["compressed_size"]):
        yield 4, "METHOD", path, None
    if entry["data_descriptor"]:
        yield 4, "DESCRIPTOR", path, None
    if entry["type"] == "file":
        _, dot, extension = path.rpartition("/")[2].rpartition(".")
        if dot and extension.translate(_LOWER) in _ARCHIVES:
            yield 4, "NESTED", path, None
    if not (entry["local_name_equal"] and entry["local_sizes_equal"]):
        yield 4, "HEADER_MISMATCH", path, None


def _tiled(entries: list[Json], directory: int) -> bool:
    starts = [entry["local_offset"] for entry in entries] + [directory]
    ends = [0] + [entry["local_offset"] + entry["local_length"] for entry in entries]
    return starts == ends


def _ceilings(given: list[Json]) -> dict[str, int] | None:
    if sorted(one["name"] for one in given) != sorted(HIGHEST):
        return None
    ceilings = {one["name"]: one["max"] for one in given}
    return ceilings if all(ceilings[name] <= HIGHEST[name] for name in HIGHEST) else None


def _over(entries: list[Json], ceilings: dict[str, int]) -> Iterator[Violation]:
    if len(entries) > ceilings["entries"]:
        yield 7, "CEILING", None, "entries"
    if sum(entry["size"] for entry in entries) > ceilings["total_bytes"]:
        yield 7, "CEILING", None, "total_bytes"
    for entry in entries:
        over = {
            "entry_bytes": entry["size"] > ceilings["entry_bytes"],
            "entry_ratio": entry["size"] > ceilings["entry_ratio"] * entry["compressed_size"],
            "path_bytes": len(entry["path"].encode("utf-8")) > ceilings["path_bytes"],
        }
        for name, is_over in over.items():
            if is_over:
                yield 7, "CEILING", entry["path"], name


def _sources(data: Json) -> Iterator[Violation]:
    used = set()
    for line in data["manifest"]:
        used.add(line["source_id"])
        matches = [source for source in data["sources"] if source["id"] == line["source_id"]]
        if len(matches) != 1 or not _backs(matches[0], line, data):
            yield 9, "SOURCE", line["path"], None
    if any(source["id"] not in used for source in data["sources"]):
        yield 9, "SOURCE", None, None


def _backs(source: Json, line: Json, data: Json) -> bool:
    own = source["tenant_id"] == data["tenant_id"] and source["delivery_id"] == data["delivery_id"]
    same = source["size"] == line["size"] and source["sha256"] == line["sha256"]
    return own and same and source["state"] == "available"
