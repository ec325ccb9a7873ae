"""Answers inputs from another implementation, one a line, for differential testing.

Each line of standard input is {family, input, calls, check, show}; calls are
answers only, {service, method, result}. The line of answer is the SHA-256 of
the canonical {calls, output, mutations}, the value itself where `show` is true,
or `invalid` where `check` is true and the schema does not admit the input.
"""

from __future__ import annotations

from collections.abc import Iterable

from jsonschema import Draft202012Validator
from reference.canonical import canonical, digest
from reference.rules import ALL_ON
from reference.strict_json import parse_text

from .findings import Json
from .recompute import recompute
from .schemas import Schemas


def serve(lines: Iterable[str], schemas: Schemas) -> None:
    """Answers until the input ends."""
    inputs: dict[str, Draft202012Validator] = {}
    for line in lines:
        # Who asks may wait for this answer before it asks again.
        print(_answer(parse_text(line), schemas, inputs), flush=True)


def _answer(question: Json, schemas: Schemas, inputs: dict[str, Draft202012Validator]) -> str:
    family = question["family"]
    if question["check"]:
        if family not in inputs:
            inputs[family] = schemas.input_validator(family)
        if not inputs[family].is_valid(question["input"]):
            return "invalid"
    recomputed = recompute(question, ALL_ON)
    produced = {"calls": recomputed.calls, "fault": recomputed.fault is not None}
    if recomputed.result is not None:
        produced.update(recomputed.result)
    return canonical(produced).decode() if question["show"] else digest(produced)
