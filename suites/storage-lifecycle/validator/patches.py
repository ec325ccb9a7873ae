"""JSON Patch (RFC 6902: add, remove, replace, copy, move) that shares what it does not change."""

from __future__ import annotations

from collections.abc import Callable

from .findings import Json


class PatchError(ValueError):
    """The patch does not fit the value."""


def apply(value: Json, patch: list[Json]) -> Json:
    """The patched value; the given one stays as it is."""
    for step in patch:
        operation = step["op"]
        if operation in ("add", "replace"):
            value = _set(value, step["path"], step["value"], operation == "add")
        elif operation == "remove":
            value = _remove(value, step["path"])
        else:
            moved = get(value, step["from"])
            if operation == "move":
                value = _remove(value, step["from"])
            value = _set(value, step["path"], moved, True)
    return value


def tokens(pointer: str) -> list[str]:
    """The tokens of a JSON pointer."""
    if pointer and not pointer.startswith("/"):
        raise PatchError(f"{pointer} is not a JSON pointer")
    return [token.replace("~1", "/").replace("~0", "~") for token in pointer.split("/")[1:]]


def get(value: Json, pointer: str) -> Json:
    """What stands at a pointer."""
    for token in tokens(pointer):
        value = value[_key(value, token, False)]
    return value


def replace(value: Json, path: list[str | int], new: Json) -> Json:
    """The value with another one at a path of names and indexes that exists."""
    if not path:
        return new
    copy = value.copy()
    copy[path[0]] = replace(value[path[0]], path[1:], new)
    return copy


def without(value: Json, path: list[str | int]) -> Json:
    """The value without the member or item at a path that exists."""
    copy = value.copy()
    if len(path) == 1:
        del copy[path[0]]
    else:
        copy[path[0]] = without(value[path[0]], path[1:])
    return copy


def _set(value: Json, pointer: str, new: Json, is_add: bool) -> Json:
    def change(parent: Json, token: str) -> None:
        key = _key(parent, token, is_add)
        if isinstance(parent, list) and is_add:
            parent.insert(int(key), new)
        else:
            parent[key] = new

    return _change(value, tokens(pointer), change)


def _remove(value: Json, pointer: str) -> Json:
    def change(parent: Json, token: str) -> None:
        del parent[_key(parent, token, False)]

    return _change(value, tokens(pointer), change)


def _change(value: Json, path: list[str], change: Callable[[Json, str], None]) -> Json:
    if not path:
        raise PatchError("the whole value cannot be patched")
    copy = value.copy()
    if len(path) == 1:
        change(copy, path[0])
    else:
        key = _key(value, path[0], False)
        copy[key] = _change(value[key], path[1:], change)
    return copy


def _key(parent: Json, token: str, is_add: bool) -> str | int:
    if isinstance(parent, dict):
        if token not in parent and not is_add:
            raise PatchError(f"there is no member {token}")
        return token
    if not isinstance(parent, list):
        raise PatchError(f"{token} leads into a value that is neither object nor list")
    index = len(parent) if token == "-" else int(token)
    if not 0 <= index < len(parent) + is_add:
        raise PatchError(f"there is no item {token}")
    return index
