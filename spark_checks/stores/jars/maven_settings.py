"""Reads which repository Maven uses in place of Central: the user's own settings."""

from __future__ import annotations

import os
import re
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit
from xml.etree.ElementTree import ParseError, parse

from onceproof.spark_checks.stores.interface import StoreError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from xml.etree.ElementTree import Element

_CENTRAL = ("*", "central", "external:*")
_ENVIRONMENT = re.compile(r"\$\{env\.([^}]+)\}")


@dataclass(frozen=True)
class Repository:
    """A Maven repository."""

    url: str
    """Its URL, without a slash at the end, and without user and password."""
    user: str = ""
    """The user to log in as; empty for none."""
    password: str = ""
    """The user's password."""

    @classmethod
    def of(cls, url: str) -> Repository:
        """Return the repository at a URL, which may name a user and a password."""
        parts = urlsplit(url.rstrip("/"))
        named, _, host = parts.netloc.rpartition("@")
        user, _, password = named.partition(":")
        bare = parts._replace(netloc=host).geturl()
        return cls(bare, unquote(user), unquote(password))

    def __repr__(self) -> str:
        """Show everything but the password."""
        return f"Repository({self.url!r})"

    def opener(self) -> urllib.request.OpenerDirector:
        """Return what opens URLs: through the proxy that the environment names.

        The user and the password go to the repository alone, not to where it redirects.
        """
        if not self.user:
            return urllib.request.build_opener()
        known = urllib.request.HTTPPasswordMgrWithPriorAuth()
        known.add_password(
            None, self.url, self.user, self.password, is_authenticated=True
        )
        return urllib.request.build_opener(urllib.request.HTTPBasicAuthHandler(known))


def mirror_of_central() -> Repository | None:
    """Return the mirror of Central that Maven's settings name; None without one.

    Raises ``StoreError`` for settings that cannot be read.
    """
    path = Path("~/.m2/settings.xml").expanduser()
    if not path.is_file():
        return None
    try:
        root = parse(path).getroot()  # noqa: S314 - the user's own file
    except (OSError, ParseError) as error:
        message = f"Maven's settings in {path} cannot be read: {error}"
        raise StoreError(message) from None
    for mirror in _all(root, "mirror"):
        if _is_of_central(_text(mirror, "mirrorOf")):
            found = Repository.of(_text(mirror, "url"))
            user, password = _login(root, _text(mirror, "id"))
            return Repository(found.url, user or found.user, password or found.password)
    return None


def _is_of_central(mirrored: str) -> bool:
    names = [name.strip() for name in mirrored.split(",")]
    return "!central" not in names and any(name in _CENTRAL for name in names)


def _login(root: Element, name: str) -> tuple[str, str]:
    """Return the user and the password of a server, where they are not encrypted."""
    for server in _all(root, "server"):
        password = _text(server, "password")
        if _text(server, "id") == name and not password.startswith("{"):
            return _text(server, "username"), password
    return "", ""


def _all(root: Element, name: str) -> Iterator[Element]:
    """Yield the elements of a name, with or without Maven's namespace."""
    return (e for e in root.iter() if e.tag.rpartition("}")[2] == name)


def _text(element: Element, name: str) -> str:
    """Return the text of a child, with variables of the environment filled in."""
    texts = [
        child.text or "" for child in element if child.tag.rpartition("}")[2] == name
    ]
    text = texts[0].strip() if texts else ""
    return _ENVIRONMENT.sub(lambda found: os.environ.get(found[1], ""), text)
