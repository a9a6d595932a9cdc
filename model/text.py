"""Text from elsewhere, made fit to be shown, to be source, or to be typed."""

from __future__ import annotations

import re
import shlex

_RARE = re.compile(r"[^\x20-\x7e]")


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
