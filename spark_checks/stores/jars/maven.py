"""Fetches jars from a Maven repository, once for each user, and verifies them.

Each jar has a known SHA-256. It is verified when it is fetched and whenever it is used,
so it does not matter which repository it comes from: Maven Central, the mirror of it
that Maven's own settings name, or the one that ``ONCEPROOF_MAVEN`` names.
"""

from __future__ import annotations

import hashlib
import os
import time
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from http.client import HTTPException
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from onceproof.model.code_cache import cache_folder, own_file, own_folder
from onceproof.model.errors import UsageError
from onceproof.model.files import locked, remove_drafts, replacing
from onceproof.spark_checks.stores.interface import StoreError
from onceproof.spark_checks.stores.jars.maven_settings import (
    Repository,
    mirror_of_central,
)

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

VARIABLE = "ONCEPROOF_MAVEN"
CENTRAL = "https://repo1.maven.org/maven2"
_FOLDER = "jars"
_SCHEMES = ("https", "http", "file")
_AT_ONCE = 4
_TRIES = 2
_PAUSE = 0.2
_SECONDS = 20
_ANSWERS = 5
_MOST_SECONDS = 900
_PIECE = 1 << 20
_FINAL = (401, 403, 404, 407, 410)


@dataclass(frozen=True)
class Jar:
    """A jar of a Maven repository."""

    coordinate: str
    """Its group, artifact and version: ``org.apache.kafka:kafka-clients:3.9.2``."""
    sha256: str
    """The SHA-256 of the file, in hexadecimal digits."""

    @property
    def path(self) -> str:
        """Where it is, below the URL of a repository."""
        group, artifact, version = self.coordinate.split(":")
        folder = f"{group.replace('.', '/')}/{artifact}/{version}"
        return f"{folder}/{artifact}-{version}.jar"

    @property
    def file(self) -> str:
        """The name of its file in the cache."""
        group, artifact, version = self.coordinate.split(":")
        return f"{group}_{artifact}-{version}.jar"


def fetched(jars: Iterable[Jar]) -> tuple[Path, ...]:
    """Return a file for each jar, fetching those that are not in the cache yet.

    Several processes may do so at once: one fetches, and the others wait for it. Raises
    ``StoreError`` where a jar cannot be had, or is another one than expected.
    """
    wanted = tuple(jars)
    folder = _folder()
    if any(not _sound(folder, jar) for jar in wanted):
        try:
            with locked(folder, patience=_MOST_SECONDS):
                remove_drafts(folder)
                _fetch([jar for jar in wanted if not _sound(folder, jar)], folder)
        except UsageError as error:
            raise StoreError(str(error)) from None
    return tuple(folder / jar.file for jar in wanted)


def kept(jars: Iterable[Jar]) -> bool:
    """Return whether all of the jars are in the cache, so that no network is needed."""
    folder = own_folder(_FOLDER)
    return folder is not None and all(map(partial(_sound, folder), jars))


def unreachable(jars: Iterable[Jar]) -> tuple[str, ...]:
    """Say, in a sentence, if jars are not in the cache and cannot be fetched now."""
    wanted = tuple(jars)
    if kept(wanted):
        return ()
    try:
        _folder()
        source = repository()
        address = f"{source.url}/{wanted[0].path}"
        source.opener().open(address, timeout=_ANSWERS).close()
    except (OSError, HTTPException, StoreError) as error:
        why = getattr(error, "reason", None) or error
        sentence = (
            f"jars cannot be fetched ({why}): set {VARIABLE} to the URL of a Maven "
            "repository that this machine can reach, or https_proxy to a proxy"
        )
        return (sentence,)
    return ()


def repository() -> Repository:
    """Return the repository that jars are fetched from.

    Raises ``StoreError`` where what is named is no URL of one.
    """
    named = os.environ.get(VARIABLE)
    found = Repository.of(named) if named else mirror_of_central()
    found = found or Repository(CENTRAL)
    if urlsplit(found.url).scheme not in _SCHEMES:
        source = VARIABLE if named else "the mirror in Maven's settings"
        message = f"{source} is no URL that begins with https:, http: or file:"
        raise StoreError(message)
    return found


def _folder() -> Path:
    folder = own_folder(_FOLDER)
    if folder is None:
        message = (
            f"jars cannot be kept, for {cache_folder() / _FOLDER} is no folder that "
            "you alone can write to; help: remove it, or set ONCEPROOF_CACHE to "
            "another folder"
        )
        raise StoreError(message)
    return folder


def _sound(folder: Path, jar: Jar) -> bool:
    """Return whether the cache has a jar, and it is the one that is expected."""
    try:
        with own_file(folder / jar.file) as file:
            return hashlib.file_digest(file, "sha256").hexdigest() == jar.sha256
    except OSError:
        return False


def _fetch(jars: Iterable[Jar], folder: Path) -> None:
    """Fetch jars, several at once."""
    source = repository()
    opener = source.opener()
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        running = [pool.submit(_get, jar, source, opener, folder) for jar in jars]
        try:
            for one in running:
                one.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _get(
    jar: Jar,
    source: Repository,
    opener: urllib.request.OpenerDirector,
    folder: Path,
) -> None:
    """Fetch one jar; a download that breaks off is tried again."""
    for left in reversed(range(_TRIES)):
        try:
            return _download(jar, source, opener, folder)
        except urllib.error.HTTPError as error:
            why, final = f"it answers {error.code} {error.reason}", error.code in _FINAL
        except (OSError, HTTPException, _Cut) as error:
            why, final = str(getattr(error, "reason", None) or error), False
        if final or not left:
            break
        time.sleep(_PAUSE)
    message = (
        f"{jar.coordinate} cannot be fetched from {source.url}: {why}; help: set "
        f"{VARIABLE} to the URL of a Maven repository that this machine can reach, or "
        f"https_proxy to a proxy, or copy the jar to {folder / jar.file}"
    )
    raise StoreError(message)


class _Cut(Exception):  # noqa: N818 - it names what happened
    """A download ended before its end."""


def _download(
    jar: Jar,
    source: Repository,
    opener: urllib.request.OpenerDirector,
    folder: Path,
) -> None:
    """Put a jar into the cache, if it is the one that is expected."""
    digest, size, ends = hashlib.sha256(), 0, time.monotonic() + _MOST_SECONDS
    with (
        opener.open(f"{source.url}/{jar.path}", timeout=_SECONDS) as answer,
        replacing(folder / jar.file, new=0o600) as file,
    ):
        while piece := answer.read(_PIECE):
            if time.monotonic() > ends:
                message = f"it takes longer than {_MOST_SECONDS} seconds"
                raise _Cut(message)
            digest.update(piece)
            size += len(piece)
            file.write(piece)
        length = answer.headers.get("Content-Length", "")
        if length.isdigit() and size < int(length):
            message = f"the download ends after {size:,} of {int(length):,} bytes"
            raise _Cut(message)
        if digest.hexdigest() != jar.sha256:
            message = (
                f"{jar.coordinate} at {source.url} is not the file that is expected: "
                f"its SHA-256 is {digest.hexdigest()} and not {jar.sha256}; it is not "
                f"used; help: set {VARIABLE} to the URL of another Maven repository"
            )
            raise StoreError(message)
