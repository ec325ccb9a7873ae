"""Scripted services: they answer what the case says and note what they were asked."""

from __future__ import annotations

from typing import Any

Json = Any


class NoAnswer(Exception):
    """The case has no further answer of this method."""


class ScriptedServices:
    """Answers each method from the case's calls of that method, in their order."""

    def __init__(self, calls: Json) -> None:
        self._script: dict[tuple[str, str], list[Json]] = {}
        for call in calls:
            self._script.setdefault((call["service"], call["method"]), []).append(call["result"])
        self.made: list[Json] = []

    def __call__(self, service: str, method: str, args: Json) -> Json:
        """Notes the call as made; whether it was expected is judged afterwards."""
        self.made.append({"service": service, "method": method, "args": args})
        answers = self._script.get((service, method))
        if not answers:
            raise NoAnswer(f"{service}.{method} is asked, and the case has no answer for it")
        return answers.pop(0)
