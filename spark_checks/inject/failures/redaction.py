"""Takes passwords, tokens and keys out of a text, before anybody reads it."""

from __future__ import annotations

import re

HIDDEN = "***"
_KEYS = (
    r"(?:pg|mysql_?)?pass(?:word|wd|phrase)?|pwd|secret|token|credentials?|authorization|"
    r"api[\s._-]?key|(?:access|account|secret|private|shared|sas|storage)[\s._-]?key|"
    r"key[\s._-]?id|sig(?:nature)?|sas"
)
# A key, as the end of a dotted or underscored name, a sign, and a value in quotes or
# up to what ends it.
_PAIR = re.compile(
    rf"(?i)(?P<key>(?<![a-z])(?:{_KEYS})(?:[._-]\w+)*[\"']?\s*(?:=|:|=>|,)\s*)"
    r"(?P<value>\"[^\"]*\"?|'[^']*'?|(?:(?:bearer|basic)\s+)?[^\s&;,)}\]\"']+)"
)
_IN_ADDRESS = re.compile(r"//(?:[^/\s:@\"']+:[^\s\"'?]*|[^/\s\"'?#]*)@")
_ORACLE = re.compile(r"(?i)(jdbc:oracle:\w+:)[^@\s\"']+@")
_PLAIN = re.compile(r"(?<![\w/])[\w.+-]+:[^\s:@/\"']+@(?=[\w\[.-]+)")
_KNOWN = re.compile(
    r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b|\bgh[pousr]_\w{20,}|\beyJ[\w-]+\.[\w-]+\.[\w-]*"
)


def redacted(text: str) -> str:
    """Return a text with what looks like a credential replaced by ``***``."""
    text = _IN_ADDRESS.sub(f"//{HIDDEN}@", text)
    text = _ORACLE.sub(rf"\g<1>{HIDDEN}@", text)
    text = _PLAIN.sub(f"{HIDDEN}@", text)
    text = _KNOWN.sub(HIDDEN, text)
    return _PAIR.sub(_hidden, text)


_SECRETS = ("pass", "pw", "secret", "token", "pem", "credential", "sas", "auth")


def redacted_setting(name: str, value: str) -> str:
    """Return ``name=value``, without the value where the name is that of a secret."""
    plain = name.lower()
    if plain.endswith("key") or any(word in plain for word in _SECRETS):
        return f"{name}={HIDDEN}"
    return redacted(f"{name}={value}")


def _hidden(found: re.Match[str]) -> str:
    value = found["value"]
    quote = value[0] if value[0] in "\"'" else ""
    ends = quote if quote and value[1:].endswith(quote) else ""
    return f"{found['key']}{quote}{HIDDEN}{ends}"
