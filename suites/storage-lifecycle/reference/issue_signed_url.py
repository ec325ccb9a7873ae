"""IU: a short-lived link to one version of one artifact."""

from __future__ import annotations

import re

from . import authorize_download, instants, project_library
from .identity import equals_head
from .rules import ALL_ON, Call, Json, Rules

LONGEST = 604_800

_PAIR = re.compile("[A-Za-z0-9-]+=(?:[A-Za-z0-9._~-]|%[0-9A-F][0-9A-F])*")


def run(data: Json, call: Call, rules: Rules) -> Json:
    answer, row = authorize_download.decide(data, call, rules)
    if answer["code"] != "ALLOW" and rules("IU-1"):
        return _refused(answer["code"])
    if row is None:
        # Only without IU-1: go on with an invented row, to be noticed.
        row = {"bucket": "none", "key": "none", "version_id": "none"}
    place = {member: row[member] for member in ("bucket", "key", "version_id")}
    head = call("storage", "head", dict(place))
    if rules("IU-2"):
        if not head["found"]:
            return _refused("OBJECT_MISSING")
        if not equals_head(row, head, ALL_ON):
            return _refused("OBJECT_MISMATCH")

    issued = instants.read(data["now"])
    if rules("IU-3"):
        issued -= issued % instants.SECOND
    seconds, limit = _lifetime(data, row, issued, rules)
    if seconds < 1 and rules("IU-5"):
        return _refused("NO_LIFETIME")

    name = project_library.filename(row, ALL_ON)
    request = {
        **place,
        "issued_at": instants.write(issued),
        "expires_in": seconds,
        "response_content_type": row["content_type"],
        "response_content_disposition": f'attachment; filename="{name}"' if rules("IU-6") else "inline",
    }
    url = call("signer", "signGet", request)["url"]
    if rules("IU-7") and not trusted(url, data["endpoint"], request):
        return _refused("SIGNER_REJECTED")

    expires = instants.write(issued + seconds * instants.SECOND)
    grant = {
        "op": "insert",
        "target": "grant",
        "id": data["grant_id"],
        "object_id": row["id"],
        "user_id": data["caller"]["user_id"],
        "issued_at": request["issued_at"],
        "expires_at": expires,
    }
    output = {"code": "ISSUED", "url": url, "expires_at": expires, "expires_in": seconds, "limit": limit}
    return {"output": output, "mutations": [grant] if rules("IU-8") else []}


def _lifetime(data: Json, row: Json, issued: int, rules: Rules) -> tuple[int, str]:
    terms = [(data["ttl_seconds"], "requested")]
    if rules("IU-4"):
        terms.append((min(data["max_ttl_seconds"], LONGEST), "policy"))
        if row["deadline"] is not None and not row["hold"]:
            terms.append(((instants.read(row["deadline"]) - issued) // instants.SECOND, "deadline"))
        if data["credential_expires_at"] is not None:
            left = instants.read(data["credential_expires_at"]) - issued
            terms.append((left // instants.SECOND, "credential"))
    # min keeps the first of equals, and the terms stand in the order of ties.
    return min(terms, key=lambda term: term[0])


def trusted(url: str, endpoint: Json, request: Json) -> bool:
    """IU-7: whether the link is the one that was asked for, read bytewise."""
    if endpoint["scheme"] != "https" and not _loopback(endpoint["host"]):
        return False
    origin = f"{endpoint['scheme']}://{endpoint['host']}{endpoint['path_prefix']}"
    path, mark, query = url.partition("?")
    if mark == "" or path != f"{origin}/{request['bucket']}/{request['key']}":
        return False
    pairs = query.split("&")
    if not all(_PAIR.fullmatch(pair) for pair in pairs):
        return False
    values: dict[str, list[str]] = {}
    for pair in pairs:
        name, _, value = pair.partition("=")
        values.setdefault(name, []).append(value)
    issued = request["issued_at"]
    date = (
        issued[0:4] + issued[5:7] + issued[8:10] + "T" + issued[11:13] + issued[14:16] + issued[17:19] + "Z"
    )
    return (
        values.get("X-Amz-Date") == [date]
        and values.get("X-Amz-Expires") == [str(request["expires_in"])]
        and values.get("versionId") == [request["version_id"]]
        and values.get("X-Amz-SignedHeaders") == ["host"]
    )


def _loopback(host: str) -> bool:
    name = re.sub(":[0-9]{1,5}$", "", host)
    if name in ("localhost", "[::1]"):
        return True
    octets = name.split(".")
    return len(octets) == 4 and octets[0] == "127" and all(re.fullmatch("[0-9]{1,3}", one) for one in octets)


def _refused(code: str) -> Json:
    output = {"code": code, "url": None, "expires_at": None, "expires_in": None, "limit": None}
    return {"output": output, "mutations": []}
