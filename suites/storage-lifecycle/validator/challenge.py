"""New inputs from a seed: the cases with other ids, at another time, and with small changes.

A production runner that holds the digests of the 105 cases, or was written to
pass them, does not know these. Each question is a case of the suite that was
renamed, moved in time and changed at up to three places, and is still admitted by
the schema of its family.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from random import Random

from reference import instants

from .findings import Json
from .mutants import Path, walk
from .patches import replace, without
from .schemas import Schemas

_ID = re.compile("00000000-0000-4000-8000-0000000000([a-f][0-9a-f])")
_INSTANT = re.compile("20[0-9]{2}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}[.][0-9]{3}Z")
_SIGNED_DATE = re.compile("X-Amz-Date=(20[0-9]{2})([0-9]{2})([0-9]{2})T([0-9]{2})([0-9]{2})([0-9]{2})Z")
_FIRST = instants.read("2000-01-01T00:00:00.000Z")
_STEPS = (0, 1, 999, 1_000, 900_000, 7_200_000, 86_400_000, 604_800_000)
_TRIES = 20


def questions(cases: list[Json], schemas: Schemas, seed: int, count: int) -> list[Json]:
    """As many new questions {family, input, calls}, the same for the same seed."""
    random = Random(seed)
    made: list[Json] = []
    while len(made) < count:
        case = random.choice(cases)
        for _ in range(_TRIES):
            changed = _changed(_moved(_renamed(case, random), random), random)
            if schemas.is_case(changed):
                made.append(changed)
                break
    return made


def _renamed(case: Json, random: Random) -> Json:
    ends = [f"{letter}{digit}" for letter in "abcdef" for digit in "0123456789abcdef"]
    others = dict(zip(ends, random.sample(ends, len(ends))))
    text = json.dumps({name: case[name] for name in ("input", "calls")})
    text = _ID.sub(lambda match: match[0][:-2] + others[match[1]], text)
    # The end of an id is in the name of a file too, which only the operation makes.
    return {**case, **json.loads(text)}


def _moved(case: Json, random: Random) -> Json:
    text = json.dumps({name: case[name] for name in ("input", "calls")})
    times = [instants.read(one) for one in _INSTANT.findall(text)]
    if not times:
        return case
    span = (_FIRST - min(times), instants.LAST - max(times))
    # Whole seconds, so that the date of a signature moves alike.
    shift = random.randint(-(-span[0] // 1000), span[1] // 1000) * 1000

    def signed(match: re.Match[str]) -> str:
        year, month, day, hour, minute, second = match.groups()
        at = instants.read(f"{year}-{month}-{day}T{hour}:{minute}:{second}.000Z") + shift
        moved = instants.write(min(max(at, _FIRST), instants.LAST))
        return f"X-Amz-Date={re.sub('[-:]', '', moved[:19])}Z"

    text = _INSTANT.sub(lambda match: instants.write(instants.read(match[0]) + shift), text)
    return {**case, **json.loads(_SIGNED_DATE.sub(signed, text))}


def _changed(case: Json, random: Random) -> Json:
    places = [path for path, _ in _places(case)]
    for _ in range(random.choice((0, 1, 1, 2, 3))):
        path = random.choice(places)
        try:
            value = case
            for token in path:
                value = value[token]
        except (IndexError, KeyError, TypeError):
            continue
        case = _at(case, path, value, random)
    return case


def _places(case: Json) -> Iterator[tuple[Path, Json]]:
    yield from walk(case["input"], ["input"])
    for index, call in enumerate(case["calls"]):
        yield from walk(call["result"], ["calls", index, "result"])


def _at(case: Json, path: Path, value: Json, random: Random) -> Json:
    if isinstance(value, bool):
        return replace(case, path, not value)
    if isinstance(value, int):
        near = (value + 1, value - 1, value * 2, value // 2, 0, 1, 2, 9, 10, 100, 999)
        return replace(case, path, random.choice(near))
    if isinstance(value, list) and value:
        index = random.randrange(len(value))
        change = random.randrange(3)
        if change == 0:
            return without(case, [*path, index])
        if change == 1:
            return replace(case, path, [*value, value[index]])
        return replace(case, path, random.sample(value, len(value)))
    if isinstance(value, str) and _INSTANT.fullmatch(value):
        at = instants.read(value) + random.choice((-1, 1)) * random.choice(_STEPS)
        return replace(case, path, instants.write(min(max(at, _FIRST), instants.LAST)))
    if isinstance(value, str):
        alike = [other for _, other in _places(case) if isinstance(other, str) and _kind(other) == _kind(value)]
        return replace(case, path, random.choice(alike))
    return case


def _kind(text: str) -> str:
    """What a text looks like, so that it is exchanged for another of its kind."""
    if _ID.fullmatch(text):
        return "id"
    return "key" if text.startswith("v1/") else "word" if text.isalpha() else "other"
