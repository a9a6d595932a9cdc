"""The folder in which the commands of a case run."""

from __future__ import annotations

import pytest


@pytest.fixture
def there(tmp_path):
    """Give an empty folder, which is no project."""
    folder = tmp_path / "there"
    folder.mkdir()
    return folder
