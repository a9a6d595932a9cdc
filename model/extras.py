"""Which extra of Onceproof installs a package, as its own metadata has it."""

from __future__ import annotations

import re
from importlib.util import find_spec

from onceproof.model.versions import versions_of

DISTRIBUTION = "onceproof"
_NAMED = re.compile(r"([A-Za-z0-9._-]+)[^;]*;.*\bextra\s*==\s*['\"]([^'\"]+)['\"]")


def extra_of(package: str) -> str:
    """Return the extra that installs a package; nothing where none does."""
    from importlib import metadata  # noqa: PLC0415 - it slows the start of commands

    try:
        requires = metadata.requires(DISTRIBUTION) or []
    except metadata.PackageNotFoundError:
        return ""
    named = (_NAMED.match(text) for text in requires)
    return next((n[2] for n in named if n and n[1].lower() == package.lower()), "")


def what_to_install(error: ModuleNotFoundError) -> str:
    """Return which package a command needs, and how to install it, in a sentence."""
    package = (error.name or "").partition(".")[0]
    if not package:
        return str(error)
    extra = extra_of(package)
    if error.name != package and find_spec(package) is not None:
        version = versions_of(package)[package]
        return (
            f"this needs {error.name}, which {package} {version} lacks; "
            "install another version of it"
        )
    if not extra:
        return f"this needs {package}, which is not installed: pip install {package}"
    return (
        f"this needs {package}, which the extra {extra!r} installs: "
        f"pip install '{DISTRIBUTION}[{extra}]'"
    )
