"""VB: is a bucket configured so that tenants' artifacts may be put into it?"""

from __future__ import annotations

import re
from collections.abc import Callable

from .rules import Call, Json, Rules

UNSUPPORTED = "unsupported"
_RESERVED = ("xn--", "sthree-", "amzn-s3-demo-")
_RESERVED_ENDS = ("-s3alias", "--ol-s3", "--x-s3")
_FLAGS = ("block_public_acls", "ignore_public_acls", "block_public_policy", "restrict_public_buckets")

#: Each rule and the place it judges: eleven to eleven (VB-1).
POINTERS = {
    "BR-01": "/config/public_access_block",
    "BR-02": "/config/policy_status/is_public",
    "BR-03": "/config/ownership",
    "BR-04": "/config/versioning",
    "BR-05": "/config/encryption/algorithm",
    "BR-06": "/config/tls_only",
    "BR-07": "/config/abort_multipart_days",
    "BR-08": "/config/noncurrent_days",
    "BR-09": "/config/current_expiration_days",
    "BR-10": "/config/cors_origins",
    "BR-11": "/bucket",
}


def run(data: Json, call: Call, rules: Rules) -> Json:
    checks = _checks(data, rules)
    findings = []
    for rule in sorted(POINTERS):
        observed = _observe(data, POINTERS[rule])
        if observed == UNSUPPORTED and rule != "BR-11":
            met = rule in data["waivers"] and rules("VB-3")
        else:
            met = checks[rule](observed)
        if not met:
            findings.append({"rule": rule, "pointer": POINTERS[rule], "observed": observed})
    if not rules("VB-1"):
        del findings[1:]
    output = {
        "code": "NONCONFORMING" if findings else "CONFORMING",
        "findings": findings,
        "waived": sorted(data["waivers"]),
    }
    return {"output": output, "mutations": []}


def _observe(data: Json, pointer: str) -> Json:
    value = data
    for name in pointer[1:].split("/"):
        if value is None or value == UNSUPPORTED:
            return value
        value = value[name]
    return value


def _checks(data: Json, rules: Rules) -> dict[str, Callable[[Json], bool]]:
    def between(low: int, high: int) -> Callable[[Json], bool]:
        inside = (low, high) if rules("VB-2") else (low + 1, high - 1)
        return lambda value: value is not None and inside[0] <= value <= inside[1]

    longest = data["longest_retention_days"]
    return {
        "BR-01": lambda value: value is not None and all(value[flag] is True for flag in _FLAGS),
        "BR-02": lambda value: value is None or value is False,
        "BR-03": lambda value: value == "BucketOwnerEnforced",
        "BR-04": lambda value: value == "Enabled",
        "BR-05": lambda value: value in ("AES256", "aws:kms", "aws:kms:dsse"),
        "BR-06": lambda value: value is True,
        "BR-07": between(1, 7),
        "BR-08": between(1, 30),
        "BR-09": lambda value: value is None or value > longest,
        "BR-10": lambda value: value is None or not any("*" in origin for origin in value),
        "BR-11": _is_name,
    }


def _is_name(name: str) -> bool:
    if not re.fullmatch("[a-z0-9][a-z0-9-]{1,61}[a-z0-9]", name):
        return False
    return not name.startswith(_RESERVED) and not name.endswith(_RESERVED_ENDS)
