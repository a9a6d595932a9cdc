"""What a test has patched: the processes that run its sink would not have it."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

from onceproof.model.errors import UsageError
from onceproof.spark_checks.inject.hosts.user_modules import user_modules
from onceproof.spark_checks.pytest_plugin import pytest_internals

if TYPE_CHECKING:
    from collections.abc import Iterator

_FIXTURE = "monkeypatch"


def refuse_patches(item: Any) -> None:
    """Refuse a test that judges a sink while something is patched in this process.

    A sink runs in processes of its own, which import its modules from their files. A
    patch would not be there, and the verdict would be about other code.

    Raises ``UsageError`` that names what is patched.
    """
    found = sorted({*_by_monkeypatch(item), *_by_mocks()})
    if found:
        message = (
            f"{', '.join(found)} is patched in the test's process, and a sink runs in "
            "processes of its own, where it is not; help: pass what differs to the "
            "function that builds the sink (functools.partial), or set it in the "
            "environment (monkeypatch.setenv), which those processes share"
        )
        raise UsageError(message)


def _by_monkeypatch(item: Any) -> Iterator[str]:
    """Name what the fixture has changed, but for what the processes share.

    They get the environment and the module search path.
    """
    if _FIXTURE not in getattr(item, "fixturenames", ()):
        return
    patch = pytest_internals.fixture_of(item, _FIXTURE)
    for target, name in pytest_internals.attributes_patched_by(patch):
        yield f"{getattr(target, '__name__', type(target).__name__)}.{name}"
    for held, key in pytest_internals.items_patched_by(patch):
        if held is not os.environ and held is not sys.modules:
            yield f"[{key!r}] of a {type(held).__name__}"
        elif held is sys.modules:
            yield f"sys.modules[{key!r}]"


def _by_mocks() -> Iterator[str]:
    """Name the variables of users' modules that hold a mock of ``unittest.mock``."""
    mock = sys.modules.get("unittest.mock")
    if mock is None:
        return
    for name in user_modules():
        for key, value in list(vars(sys.modules[name]).items()):
            if isinstance(value, mock.NonCallableMock):
                yield f"{name}.{key}"
