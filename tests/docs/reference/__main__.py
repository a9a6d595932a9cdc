"""Writes the generated parts of the pages: ``python -m tests.docs.reference``."""

from tests.docs.reference.filled import filled, pages_with_parts
from tests.test_house import ROOT


def main() -> None:
    """Fill each page, and print the names of those that changed."""
    for page in pages_with_parts():
        text = page.read_text(encoding="utf-8")
        fresh = filled(text)
        if fresh != text:
            page.write_text(fresh, encoding="utf-8")
            print(page.relative_to(ROOT))


main()
