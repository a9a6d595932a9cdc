"""Which versions of other packages are installed here."""

from __future__ import annotations

from importlib import metadata

MISSING = "missing"


def versions_of(*names: str) -> dict[str, str]:
    """Return the version of each distribution; of those that are not there ``MISSING``.

    An empty name is left out.
    """
    return {name: _version(name) for name in filter(None, names)}


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return MISSING
