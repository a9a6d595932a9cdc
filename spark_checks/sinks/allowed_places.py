"""Places that code may write to: paths and addresses, compared part by part.

A place of ``allow=`` is a path (``/data/out``, ``./out``, ``file:/data/out``), a host
(``db.example.com``), a host and a port (``db.example.com:5432``), or a URL
(``s3a://bucket/prefix``, ``jdbc:postgresql://db:5432/orders``). Everything that a URL
names counts, except credentials.
"""

from __future__ import annotations

import functools
import ipaddress
import os
import re
import socket
from contextlib import suppress
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING
from urllib.parse import unquote

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_PORTS = {
    "http": 80,
    "https": 443,
    "ftp": 21,
    "mysql": 3306,
    "mariadb": 3306,
    "postgresql": 5432,
    "postgres": 5432,
    "redshift": 5439,
    "sqlserver": 1433,
    "oracle": 1521,
    "db2": 50000,
    "clickhouse": 8123,
    "mongodb": 27017,
    "redis": 6379,
    "amqp": 5672,
    "kafka": 9092,
    "hdfs": 8020,
}
_SCHEME = re.compile(r"(?i)^(?:[a-z][a-z0-9+.-]*:)*?([a-z][a-z0-9+.-]*):(?=/)")
_JDBC = re.compile(r"(?i)^jdbc:([a-z0-9+.-]+):")
_THIN = re.compile(r"(?i)^(?:thin|oci):(?:[^@]*@)?")
_NAMES_HOST = ("host", "hostaddr", "hosts", "pghost", "server", "servername")
_CONTAINERS = ("abfs", "abfss", "wasb", "wasbs")
# Some take what follows these for no part of a host, and some do.
_MISLEADS = re.compile(r"[\\#]")
_LOOPBACK = "localhost"
_SECRET = re.compile(r"(?i)user|pass|pwd|secret|token|key|credential|sig")


@dataclass(frozen=True)
class Address:
    """The address of a service."""

    scheme: str
    """The scheme of its URL."""
    hosts: tuple[tuple[str, int | None], ...]
    """Hosts and ports; the port is None where it is not named."""
    path: tuple[str, ...] = ()
    """The parts of the path."""
    options: frozenset[tuple[str, str]] = frozenset()
    """The options that the address sets."""


def is_path(text: str) -> bool:
    """Return whether a place is a path, and no address."""
    scheme = _scheme_of(text)
    return scheme == "file" or (
        not scheme and (text.startswith(("/", ".", "~")) or text in ("", os.curdir))
    )


def path_of(text: str, *, encoded: bool = False) -> str:
    """Return a path as it really is, of a path or of a URL of a file."""
    if _scheme_of(text) == "file":
        text = text[text.index(":") + 1 :]
        if text.startswith("//"):
            host, sign, rest = text[2:].partition("/")
            text = f"/{rest}" if sign and host in ("", _LOOPBACK) else text
        if encoded:
            text = unquote(text)
        text = f"/{text.lstrip('/')}" if text.startswith("/") else text
    return os.path.realpath(os.path.expanduser(text))  # noqa: PTH111 - may be no path


def allows(place: str, allowed: Sequence[str]) -> bool:
    """Return whether a path, or an address, lies in one of the places allowed."""
    if is_path(place):
        # What decodes a URL differs: it must be allowed however it is taken.
        names = {path_of(place), path_of(place, encoded=True)}
        roots = [path_of(one) for one in allowed if is_path(one)]
        return all(any(_below(name, root) for root in roots) for name in names)
    wanted = address_of(place)
    if wanted is None:
        return place in allowed
    read = [address_of(one) for one in allowed if not is_path(one)]
    given = [one for one in read if one is not None]
    return all(any(_covers(one, each) for one in given) for each in _each(wanted))


def address_of(text: str) -> Address | None:
    """Read an address; nothing where no host can be found in it."""
    scheme, rest = _parted(text.strip())
    if rest is None:
        return None
    head, _, options = rest.partition("?")
    head, sign, semicolons = head.partition(";")
    hosts, _, path = head.partition("/")
    inside, _, hosts = hosts.rpartition("@")
    address = (semicolons.split(";") if sign else []) + re.split("[&;]", options)
    pairs = {
        (name.strip().lower(), unquote(value))
        for name, sign, value in (one.partition("=") for one in address)
        if sign and not _SECRET.search(name)
    }
    besides = [value for name, value in pairs if name in _NAMES_HOST]
    named = [_host_of(one) for one in (*hosts.split(","), *besides) if one]
    if not named or None in named or _MISLEADS.search(head):
        return None
    found = [unquote(part) for part in path.split("/") if part]
    if scheme in _CONTAINERS:
        found.insert(0, inside)
    return Address(
        scheme,
        tuple(host for host in named if host is not None),
        tuple(found),
        frozenset(pairs),
    )


def names_of(address: Address) -> tuple[str, ...]:
    """Name an address as ``allow=`` takes it: hosts with their ports, or a URL."""
    found = []
    for host, given in address.hosts:
        port = given or _PORTS.get(address.scheme)
        shown = f"[{host}]" if ":" in host else host
        if port is not None:
            found.append(f"{shown}:{port}")
        elif not address.scheme:
            found.append(shown)
        elif address.scheme in _CONTAINERS and address.path:
            inside, *path = address.path
            found.append(f"{address.scheme}://{inside}@{'/'.join([shown, *path])}")
        else:
            found.append(f"{address.scheme}://{'/'.join([shown, *address.path])}")
    return tuple(found)


def _below(name: str, root: str) -> bool:
    return PurePath(name).is_relative_to(root)


def _scheme_of(text: str) -> str:
    found = _SCHEME.match(text)
    if found:
        return found[1].lower()
    return "file" if re.match(r"(?i)^file:", text) else ""


def _parted(text: str) -> tuple[str, str | None]:
    """Part a scheme from what follows it; what follows may name no host."""
    jdbc = _JDBC.match(text)
    if jdbc:
        scheme, rest = jdbc[1].lower(), text[jdbc.end() :]
        rest = _THIN.sub("", rest) if scheme == "oracle" else rest
        if not rest.startswith("//") and scheme != "oracle":
            return scheme, None
        return scheme, rest.removeprefix("//")
    scheme, sign, rest = text.partition("://")
    if sign:
        return scheme.lower().partition("+")[0], rest
    scheme, sign, rest = text.partition(":/")
    if sign and scheme.isalpha():
        return scheme.lower(), None
    return "", text


def _host_of(text: str) -> tuple[str, int | None] | None:
    """Read a host and its port, if it names one."""
    text = unquote(text.strip())
    if text.startswith("["):
        host, _, port = text[1:].partition("]")
        port = port.removeprefix(":")
    elif text.count(":") > 1:
        # An address of IPv6, or Oracle's host:port:service.
        parts = text.split(":")
        host, port = (text, "") if _ip(text) else (parts[0], parts[1])
    else:
        host, _, port = text.partition(":")
    if not host or (port and not port.isdigit()):
        return None
    return plain_host(host), int(port) if port else None


@functools.cache
def plain_host(host: str) -> str:
    """Return a host in one form: lower case, no final dot, numbers in one notation."""
    host = host.rstrip(".").lower().partition("%")[0]
    found = _ip(host)
    if found is None and re.fullmatch(r"[0-9a-fx.]+", host) and host[:1].isdigit():
        with suppress(OSError):
            found = ipaddress.IPv4Address(socket.inet_aton(host))
    if isinstance(found, ipaddress.IPv6Address) and found.ipv4_mapped is not None:
        found = found.ipv4_mapped
    if found is None:
        return host
    loopback = ("127.0.0.1", "::1")
    return _LOOPBACK if str(found) in loopback else str(found)


def _ip(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    with suppress(ValueError):
        return ipaddress.ip_address(host)
    return None


def _each(address: Address) -> Iterator[Address]:
    """Yield an address for each of the hosts: all must be allowed."""
    for host in address.hosts:
        yield Address(address.scheme, (host,), address.path, address.options)


def _covers(given: Address, wanted: Address) -> bool:
    """Return whether all that an allowed address names is as it says."""
    [(host, port)] = wanted.hosts
    port = port or _PORTS.get(wanted.scheme)
    if given.scheme and wanted.scheme and given.scheme != wanted.scheme:
        return False
    if wanted.path[: len(given.path)] != given.path or not given.options <= (
        wanted.options
    ):
        return False
    if ".." in wanted.path or "." in wanted.path:
        return False
    for name, number in given.hosts:
        if (number or _PORTS.get(given.scheme)) in (None, port) and _same_host(
            name, host
        ):
            return True
    return False


def _same_host(name: str, host: str) -> bool:
    """Return whether two hosts are one, by name or by number."""
    if name == host:
        return True
    if _ip(host) is None or _ip(name) is not None or name == _LOOPBACK:
        return False
    return host in _numbers_of(name)


@functools.cache
def _numbers_of(name: str) -> frozenset[str]:
    """Look up the numbers of a host's name."""
    try:
        found = socket.getaddrinfo(name, None)
    except OSError:
        return frozenset()
    return frozenset(plain_host(str(one[4][0])) for one in found)
