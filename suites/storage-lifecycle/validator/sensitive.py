"""What no file of the suite may hold: secrets, personal data, documents (rule S-1).

The forms of secrets follow the published formats of their issuers, as the rule
sets of gitleaks and detect-secrets collect them. A form that many innocent texts
have too (a card number, an account number) counts only with its check digits.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import NamedTuple


class Form(NamedTuple):
    """One kind of text to be found; `holds` decides where the pattern alone cannot."""

    name: str
    pattern: re.Pattern[str]
    holds: Callable[[str], bool] | None = None


def _luhn(text: str) -> bool:
    digits = [int(char) for char in text if char.isdigit()]
    if not 13 <= len(digits) <= 19 or len(set(digits)) < 4:
        return False
    doubled = [digit if place % 2 == 0 else digit * 2 for place, digit in enumerate(reversed(digits))]
    return sum(digit - 9 if digit > 9 else digit for digit in doubled) % 10 == 0


def _iban(text: str) -> bool:
    plain = re.sub("[ -]", "", text)
    moved = plain[4:] + plain[:4]
    return 15 <= len(plain) <= 34 and int("".join(str(int(char, 36)) for char in moved)) % 97 == 1


def _is_routed(text: str) -> bool:
    octets = [int(octet) for octet in text.split(".")]
    if any(octet > 255 for octet in octets) or octets[0] in (0, 10, 127) or octets[0] >= 224:
        return False
    reserved = ((192, 168), (169, 254), (198, 18), (198, 19))
    documentation = ((192, 0, 2), (198, 51, 100), (203, 0, 113))
    is_private = octets[0] == 172 and 16 <= octets[1] <= 31
    return not (is_private or tuple(octets[:2]) in reserved or tuple(octets[:3]) in documentation)


def _is_address(text: str) -> bool:
    host = text.rpartition("@")[2].lower()
    return not host.endswith((".invalid", ".example", ".test", "example.com", "example.org", "example.net"))


def _is_dense(text: str) -> bool:
    """More bits a character than words or ids have."""
    value = re.split("[\"'=: ]+", text.strip("\"'"))[-1]
    bits = -sum(n / len(value) * math.log2(n / len(value)) for n in Counter(value).values())
    return len(value) >= 20 and bits > 3.8 and any(char.isdigit() for char in value)


_E = r"(?![A-Za-z0-9_-])"
_B = r"(?<![A-Za-z0-9_-])"


def _form(name: str, pattern: str, holds: Callable[[str], bool] | None = None) -> Form:
    return Form(name, re.compile(pattern), holds)


FORMS: tuple[Form, ...] = (
    _form("an AWS access key id", rf"{_B}(?:AKIA|ASIA|ABIA|ACCA|A3T[A-Z0-9])[A-Z0-9]{{16}}{_E}"),
    _form("an AWS secret key", r"(?i)aws.{0,20}(?:secret|key).{0,10}['\"=: ][A-Za-z0-9/+]{40}(?![A-Za-z0-9/+])"),
    _form("a Google API key", rf"{_B}AIza[A-Za-z0-9_-]{{35}}{_E}"),
    _form("a Google OAuth secret", rf"{_B}(?:GOCSPX-[A-Za-z0-9_-]{{28}}|ya29\.[A-Za-z0-9_-]{{20,}})"),
    _form("an Azure storage key", r"(?i)AccountKey=[A-Za-z0-9+/]{40,}={0,2}"),
    _form("a shared access signature", r"(?i)[?&]sig=[A-Za-z0-9%+/]{40,}"),
    _form("a GitHub token", rf"{_B}(?:gh[pousr]_[A-Za-z0-9]{{36,}}|github_pat_[A-Za-z0-9_]{{22,}})"),
    _form("a GitLab token", rf"{_B}gl(?:pat|ptt|dt|rt|soat|cbt|ft|imt|agent|oas)-[A-Za-z0-9_-]{{20,}}"),
    _form("a Bitbucket or Atlassian token", rf"{_B}AT(?:ATT|BB|CTT)[A-Za-z0-9_=-]{{24,}}"),
    _form("a Slack token", rf"{_B}xox[abeoprs](?:\.xoxp)?-[A-Za-z0-9-]{{10,}}|{_B}xapp-[0-9]-[A-Za-z0-9-]{{10,}}"),
    _form("a chat webhook", r"hooks\.slack\.com/services/[A-Za-z0-9/]{20,}|discord(?:app)?\.com/api/webhooks/[0-9]"),
    _form("a Discord or Telegram bot token", r"(?<![0-9])[0-9]{8,10}:AA[A-Za-z0-9_-]{33}"),
    _form("a Stripe key", rf"{_B}(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{{16,}}"),
    _form("a Square or PayPal token", rf"{_B}(?:sq0(?:atp|csp)-[A-Za-z0-9_-]{{22,}}|access_token\$production\$)"),
    _form("a webhook signing secret", rf"{_B}whsec_[A-Za-z0-9+/=]{{8,}}"),
    _form("a Twilio key", rf"{_B}(?:SK|AC)[0-9a-f]{{32}}{_E}"),
    _form("a SendGrid, Mailgun or Mailchimp key", rf"{_B}SG\.[A-Za-z0-9_-]{{16,}}\.|{_B}key-[0-9a-f]{{32}}{_E}|{_B}[0-9a-f]{{32}}-us[0-9]{{1,2}}{_E}"),
    _form("an npm token", rf"{_B}npm_[A-Za-z0-9]{{36}}{_E}"),
    _form("a PyPI token", rf"{_B}pypi-AgE[A-Za-z0-9_-]{{20,}}"),
    _form("a RubyGems or crates.io token", rf"{_B}(?:rubygems_[0-9a-f]{{48}}|cio[A-Za-z0-9]{{32}}){_E}"),
    _form("a Docker or Heroku token", rf"{_B}(?:dckr_pat_[A-Za-z0-9_-]{{20,}}|HRKU-[A-Za-z0-9_-]{{30,}})"),
    _form("a DigitalOcean token", rf"{_B}do[opr]_v1_[0-9a-f]{{64}}{_E}"),
    _form("a Cloudflare or Vault token", rf"{_B}(?:v1\.0-[0-9a-f]{{24}}-[0-9a-f]{{100,}}|hv[bsr]\.[A-Za-z0-9_-]{{24,}})"),
    _form("a Terraform, Doppler or Pulumi token", r"\.atlasv1\.[A-Za-z0-9_-]{60,}|dp\.(?:pt|st|ct)\.[A-Za-z0-9]{40,}|pul-[0-9a-f]{40}"),
    _form("a key of a language model's API", rf"{_B}sk-(?:ant-|proj-|svcacct-|or-v1-)?[A-Za-z0-9_-]{{32,}}|{_B}hf_[A-Za-z]{{30,}}{_E}"),
    _form("a Shopify token", rf"{_B}shp(?:at|ca|pa|ss)_[0-9a-fA-F]{{32}}{_E}"),
    _form("a Databricks, Grafana or New Relic key", rf"{_B}(?:dapi[0-9a-f]{{32}}|gl(?:c|sa)_[A-Za-z0-9+/_]{{32,}}|NRAK-[A-Z0-9]{{27}})"),
    _form("a Linear, Notion or Postman key", rf"{_B}(?:lin_api_[A-Za-z0-9]{{40}}|(?:ntn|secret)_[A-Za-z0-9]{{43,}}|PMAK-[0-9a-f]{{24}}-[0-9a-f]{{34}})"),
    _form("an age or WireGuard key", r"AGE-SECRET-KEY-1[A-Z0-9]{58}|PrivateKey\s*=\s*[A-Za-z0-9+/]{43}="),
    _form("a private key or certificate", r"-----BEGIN[ A-Z0-9]*-----|\bPuTTY-User-Key-File-[0-9]"),
    _form("a JSON web token", rf"{_B}eyJ[A-Za-z0-9_-]{{8,}}\.eyJ[A-Za-z0-9_-]{{8,}}"),
    _form("a password in an address", r"[a-z][a-z0-9+.-]{1,15}://[^\s/:@\"'<>{}\[\]]+:[^\s/@\"'<>{}\[\]]+@"),
    _form("an authorization header", r"(?i)\b(?:basic|bearer)\s+[A-Za-z0-9+/_.=-]{20,}", _is_dense),
    _form(
        "a secret that is assigned",
        r"(?i)\b(?:api_?key|secret(?:_?key)?|token|passw(?:or)?d|passwd|credentials?|private_?key)"
        r"['\"]?\s*(?:[:=]|=>)\s*['\"]?[A-Za-z0-9+/_.=-]{20,}",
        _is_dense,
    ),
    _form("a PDF", r"%P[D]F-|JVBER[i]0"),
    _form("an e-mail address", r"[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,24}(?![A-Za-z0-9])", _is_address),
    _form("a card number", r"(?<![0-9A-Za-z.-])[3-6][0-9]{3}(?:[ -]?[0-9]){9,15}(?![0-9A-Za-z-])", _luhn),
    _form("an account number (IBAN)", r"(?<![A-Za-z0-9])[A-Z]{2}[0-9]{2}(?:[ -]?[A-Z0-9]){11,30}(?![A-Za-z0-9])", _iban),
    _form("a social security number", r"(?<![0-9-])(?!000|666|9)[0-9]{3}-(?!00)[0-9]{2}-(?!0000)[0-9]{4}(?![0-9-])"),
    _form("a telephone number", r"(?<![0-9A-Za-z+])\+[1-9][0-9]{0,2}[ .()-]{0,2}[0-9]{2,4}(?:[ .()-]?[0-9]{2,4}){2,4}(?![0-9A-Za-z])"),
    _form("an address of the internet", r"(?<![0-9.])[0-9]{1,3}(?:\.[0-9]{1,3}){3}(?![0-9.])", _is_routed),
)


def sensitive(text: str) -> Iterator[str]:
    """The names of all forms that a text has."""
    for name, pattern, holds in FORMS:
        if any(holds is None or holds(match[0]) for match in pattern.finditer(text)):
            yield name
