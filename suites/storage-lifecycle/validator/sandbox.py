"""The reference in a process that has no clock, no randomness, no network and no files.

Started as a program of its own (see isolation.py). It reads questions from
standard input, one a line, and writes the digest of each answer. Reading the
clock or `random` raises no audit event of Python, and a module that is loaded
already raises none when it is imported again. So what is not on the list cannot
be imported at all, `datetime` has no `now` here, and the audit events guard
everything else.
"""

import __future__  # noqa: F401

import builtins
import sys

ROOT = sys.argv[1]
OWN = ("reference", "validator")
#: What the reference and the player of its services may import.
ALLOWED = frozenset(
    {"__future__", "collections", "collections.abc", "datetime", "hashlib", "json", "re", "typing"}
)
#: What the two need to be compiled and loaded, before the first question.
LOADING = frozenset({"compile", "exec", "open", "os.listdir", "marshal.loads", "object.__getattr__"})

# Loaded while this is still possible, with whatever they need themselves.
import collections  # noqa: E402
import collections.abc  # noqa: E402
import datetime  # noqa: E402
import hashlib  # noqa: E402, F401
import json  # noqa: E402, F401
import re  # noqa: E402, F401
import types  # noqa: E402
import typing  # noqa: E402, F401

# The regular expressions are compiled by modules that must be there before the door closes.
re.compile("warm")


class Date(datetime.date):
    """A date that must be given: nobody here knows which day it is."""

    today = None  # type: ignore[assignment]
    fromtimestamp = None  # type: ignore[assignment]


def _close() -> None:
    known = types.ModuleType("datetime")
    known.date = Date  # type: ignore[attr-defined]
    sys.modules["datetime"] = known
    imports = builtins.__import__

    def guarded(name, globals=None, locals=None, fromlist=(), level=0):  # type: ignore[no-untyped-def]
        home = (globals or {}).get("__name__", "").split(".")[0]
        if home in OWN and level == 0 and name not in ALLOWED and name.split(".")[0] not in OWN:
            raise ImportError(f"{name} is not on the list of what may be imported")
        return imports(name, globals, locals, fromlist, level)

    builtins.__import__ = guarded
    for name in ("random", "secrets", "socket", "_socket", "_random", "time", "uuid", "subprocess"):
        sys.modules.pop(name, None)
    sys.addaudithook(_guard)


_loading = True


def _guard(event: str, args: tuple) -> None:  # type: ignore[type-arg]
    if event == "import":
        if _loading and args[0].split(".")[0] in OWN:
            return
        raise ImportError(f"{args[0]} is not on the list of what may be imported")
    if event.startswith(("builtins.", "sys._getframe", "object.", "code.__new__")):
        return
    if not (_loading and event in LOADING):
        raise PermissionError(f"the reference must not: {event}")


def main() -> None:
    """Answers questions until there are none left."""
    global _loading
    sys.dont_write_bytecode = True
    sys.path.insert(0, ROOT)
    _close()
    from reference.canonical import digest
    from reference.rules import ALL_ON
    from reference.strict_json import parse_text
    from validator.recompute import recompute

    _loading = False
    for line in sys.stdin:
        produced = recompute(parse_text(line), ALL_ON).produced
        sys.stdout.write(("fault" if produced is None else digest(produced)) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
