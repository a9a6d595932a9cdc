"""Text from elsewhere, made fit to be shown, to be source, or to be typed."""

from __future__ import annotations

import difflib
import re
import shlex
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

MOST_TEXT = 2_000
"""How many characters of a text are shown."""

_RARE = re.compile(r"[^\x20-\x7e]")
_TIME = re.compile(r"([0-9]*\.?[0-9]+)([smh]?)")
_UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0}


def printable(text: str, *, keep: str = "") -> str:
    r"""Spell out what does not print: controls, escapes, marks that turn the direction.

    ``keep`` holds those that are kept as they are, such as ``\n``.
    """

    def spelled(found: re.Match[str]) -> str:
        letter = found[0]
        if letter.isprintable() or letter in keep:
            return letter
        return letter.encode("unicode_escape", "surrogatepass").decode("ascii")

    return _RARE.sub(spelled, text)


def cut(value: Any) -> Any:
    """Cut a text that is too long to be shown, and say so in it."""
    if not isinstance(value, str) or len(value) <= MOST_TEXT:
        return value
    return f"{value[:MOST_TEXT]}... (cut: {len(value):,} characters in all)"


def safe(value: object) -> str:
    """Show a value as one line: what does not print is spelled out, long text cut."""
    return printable(cut(value if isinstance(value, str) else str(value)))


def quoted(text: str) -> str:
    """Write a text as a literal of Python, in ASCII, whatever it holds.

    The explorer's page writes the same.
    """
    return f'"{"".join(map(_letter, text))}"'


_SHORT = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_FIRST, _LAST, _PLANE = 0x20, 0x7E, 0xFFFF


def _letter(letter: str) -> str:
    number = ord(letter)
    if letter in _SHORT:
        return _SHORT[letter]
    if _FIRST <= number <= _LAST:
        return letter
    return f"\\u{number:04x}" if number <= _PLANE else f"\\U{number:08x}"


def nearest(name: str, known: Iterable[str]) -> str:
    """Return the known name that a misspelled one is closest to; no text if none is."""
    return next(iter(difflib.get_close_matches(name, list(known), n=1)), "")


_MOST_LISTED, _SIMILAR = 60, 8


def did_you_mean(
    name: str, known: Iterable[str], *, otherwise: str | None = None, form: str = "{!r}"
) -> str:
    """Return "did you mean ...?" for an unknown name, or else which names there are.

    ``otherwise`` takes the place of the latter; ``form`` says how a name is written. Of
    very many names, those that are most similar are listed.
    """
    names = list(known)
    if close := nearest(name, names):
        return f"did you mean {form.format(close)}?"
    if otherwise is not None:
        return otherwise
    if len(names) <= _MOST_LISTED:
        return f"there are {', '.join(names)}"
    similar = difflib.get_close_matches(name, names, n=_SIMILAR, cutoff=0)
    return f"the closest of {len(names)} are {', '.join(sorted(similar))}"


def slug(text: str, *, keep: str = "-", most: int | None = None) -> str:
    """Write a text as the name of a file: letters and digits, joined by hyphens.

    What is in ``keep`` stays, too. Of a longer text the last ``most`` letters are left.
    """
    plain = re.sub(rf"[^\w{re.escape(keep)}]+", "-", text).strip("-")
    return plain if most is None else plain[-most:]


def identifier(text: str) -> str:
    """Write a text as a part of a Python name: small letters, digits, underscores."""
    return re.sub(r"[^A-Za-z0-9]+", "_", text).lower()


def shell_word(text: object) -> str:
    """Quote one word of a command that is printed to be copied.

    What does not print is spelled as ``$'...'``, which bash, ksh and zsh take.
    """
    word = str(text)
    if word.isprintable():
        return shlex.quote(word)
    return f"$'{''.join(map(_in_shell, word))}'"


def _in_shell(letter: str) -> str:
    """Spell a letter inside of ``$'...'``: bytes, for a shell knows no other."""
    if letter.isprintable() and letter not in "\\'":
        return letter
    return "".join(f"\\x{b:02x}" for b in letter.encode("utf-8", "surrogatepass"))


def seconds_in(text: str) -> float | None:
    """Return the seconds of a time such as ``90s``, ``5m`` or ``1h``, or of ``90``.

    None if the text is no time.
    """
    found = _TIME.fullmatch(text)
    return float(found[1]) * _UNITS[found[2]] if found else None
