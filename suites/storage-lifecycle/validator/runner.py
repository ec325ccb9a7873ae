"""A production runner as a process: it reads questions, a line each, and answers a line each.

Its first line says who it is: {"runner", "suiteRoot", "families"}. Then one line
for each question {question, family, input, calls}: the digest of {calls, output,
mutations}, or `invalid` (its parser does not admit the input), `fault` (an answer
it needed was not there), or `unsupported` (not one of its families).
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import tempfile
from typing import NamedTuple

from reference.strict_json import StrictJsonError, parse_text

from .findings import Json

TIMEOUT_S = 900
_ANSWER = re.compile("[0-9a-f]{64}|invalid|fault|unsupported")


class RunnerFailed(Exception):
    """The runner did not answer as the protocol has it; the message says how."""


class Answers(NamedTuple):
    """Who answered, and what."""

    runner: str
    suite_root: str
    families: list[str]
    answers: list[str]


def ask(command: str, questions: list[Json], families: list[str]) -> Answers:
    """Starts the runner, asks it everything and reads its answers."""
    with tempfile.TemporaryFile() as script:
        for number, question in enumerate(questions):
            calls = [{name: call[name] for name in ("service", "method", "result")} for call in question["calls"]]
            line = {"question": number, "family": question["family"], "input": question["input"], "calls": calls}
            script.write(json.dumps(line).encode() + b"\n")
        script.seek(0)
        try:
            done = subprocess.run(
                shlex.split(command, posix=os.name != "nt"),
                stdin=script,
                capture_output=True,
                timeout=TIMEOUT_S,
                check=False,
            )
        except (OSError, ValueError, subprocess.TimeoutExpired) as error:
            raise RunnerFailed(f"the runner cannot be run: {error}") from None
    if done.returncode != 0:
        last = (done.stderr.decode("utf-8", "replace").strip().split("\n") or [""])[-1]
        raise RunnerFailed(f"the runner ended with status {done.returncode}: {last}")
    lines = done.stdout.decode("utf-8", "replace").split("\n")
    hello, answers = _hello(lines[0]), lines[1:-1]
    if len(answers) != len(questions):
        raise RunnerFailed(f"the runner gave {len(answers)} answers to {len(questions)} questions")
    for answer in answers:
        if not _ANSWER.fullmatch(answer):
            raise RunnerFailed(f"the runner answered {answer[:40]!r}")
    unknown = [family for family in hello["families"] if family not in families]
    if unknown or not hello["families"]:
        raise RunnerFailed(f"the runner has no known family, or an unknown one: {', '.join(unknown)}")
    return Answers(hello["runner"], hello["suiteRoot"], hello["families"], answers)


def _hello(line: str) -> Json:
    try:
        hello = parse_text(line)
        is_whole = (
            re.fullmatch("[A-Za-z0-9 ._-]{1,32}", hello["runner"])
            and re.fullmatch("[0-9a-f]{64}", hello["suiteRoot"])
            and len(hello["families"]) == len(set(hello["families"]))
        )
    except (StrictJsonError, KeyError, TypeError):
        is_whole = False
    if not is_whole:
        raise RunnerFailed(f"the runner began with {line[:60]!r}, not with who it is")
    return hello
