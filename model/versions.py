"""Which versions of other packages are installed here."""

from __future__ import annotations

MISSING = "missing"


def versions_of(*names: str) -> dict[str, str]:
    """Return the version of each distribution; of those that are not there ``MISSING``.

    An empty name is left out.
    """
    return {name: _version(name) for name in filter(None, names)}


def _version(name: str) -> str:
    from importlib import metadata  # noqa: PLC0415 - it slows the start of commands

    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return MISSING
