"""Every private name of pytest that the plugin uses.

Nothing else in this package reads a private member of pytest. A test holds the
installed version to each of these functions.
"""

from __future__ import annotations

from typing import Any


def fixture_of(item: Any, name: str) -> Any:
    """Give the value of a fixture that a test uses.

    A plugin has no public way to ask for it once the test runs.
    """
    return item._request.getfixturevalue(name)


def attributes_patched_by(patch: Any) -> list[tuple[Any, str]]:
    """List what ``monkeypatch.setattr`` and ``delattr`` changed: whose, and which.

    The fixture tells nobody what it is going to undo.
    """
    return [(target, name) for target, name, _ in patch._setattr]


def items_patched_by(patch: Any) -> list[tuple[Any, Any]]:
    """List what ``monkeypatch.setitem`` and ``delitem`` changed: in what, and where."""
    return [(held, key) for held, key, _ in patch._setitem]


def sections_of(item: Any) -> list[tuple[str, str, str]]:
    """Give the sections that a report will show, to be changed in place.

    ``add_report_section`` only adds: a sink that is judged again in one test would have
    a section for each time.
    """
    found: list[tuple[str, str, str]] = item._report_sections
    return found
