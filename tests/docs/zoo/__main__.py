"""Writes the page of the zoo and its pictures: ``python -m tests.docs.zoo``."""

from __future__ import annotations

from tests.docs.zoo.page import PAGE, PICTURES, zoo_page
from tests.docs.zoo.picture import zoo_picture
from tests.model.zoo.collected import ENTRIES


def main() -> None:
    """Write all files, and remove pictures of entries that are gone."""
    PICTURES.mkdir(exist_ok=True)
    for old in PICTURES.glob("*.svg"):
        old.unlink()
    for entry in ENTRIES:
        path = PICTURES / f"{entry.file_name}.svg"
        path.write_text(zoo_picture(entry), encoding="utf-8")
    PAGE.write_text(zoo_page(), encoding="utf-8")
    print(f"{PAGE.name} and {len(ENTRIES)} pictures")


main()
