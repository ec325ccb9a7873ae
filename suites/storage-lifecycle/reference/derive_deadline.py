"""DD: when does an artifact expire?"""

from __future__ import annotations

from . import instants
from .row_update import update
from .rules import Call, Json, Rules


def run(data: Json, call: Call, rules: Rules) -> Json:
    if data["available_at"] is None and rules("DD-1"):
        return _nothing("NOT_STARTED")
    start = instants.read(data["available_at"] or "2000-01-01T00:00:00.000Z")

    terms = [(data["plan_days"], "plan")]
    if data["tenant_days"] is not None and rules("DD-2"):
        terms.append((data["tenant_days"], "tenant"))
    days, source = min(terms, key=lambda term: term[0])
    end = start + (days * instants.DAY if rules("DD-3") else 0)

    later = []
    if data["hold_until"] is not None and rules("DD-4"):
        later.append((data["hold_until"], "hold"))
    if data["previous_deadline"] is not None and rules("DD-5"):
        later.append((data["previous_deadline"], "announced"))
    for instant, name in later:
        if instants.read(instant) > end:
            end, source = instants.read(instant), name

    if end > instants.LAST and rules("DD-6"):
        return _nothing("OUT_OF_RANGE")
    deadline = instants.write(end)
    mutations = []
    if deadline != data["previous_deadline"] and rules("DD-7"):
        row = {"id": data["object_id"], "revision": data["revision"]}
        mutations.append(update(row, "deadline", data["previous_deadline"], deadline))
    return {"output": {"code": "OK", "deadline": deadline, "source": source}, "mutations": mutations}


def _nothing(code: str) -> Json:
    return {"output": {"code": code, "deadline": None, "source": None}, "mutations": []}
