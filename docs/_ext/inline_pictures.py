"""Puts the pictures that are drawn by code into the page itself.

So their colours follow the page's, light or dark, and their words can be searched. As
files they look as the light page does.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from docutils import nodes
from sphinx.transforms.post_transforms import SphinxPostTransform

if TYPE_CHECKING:
    from sphinx.application import Sphinx

MARK = 'class="onceproof-picture"'


class InlinePictures(SphinxPostTransform):
    """Replaces images whose files bear the mark by what is in the files."""

    default_priority = 5
    formats = ("html",)

    def run(self, **_: Any) -> None:
        """Replace those of one page."""
        for image in list(self.document.findall(nodes.image)):
            path = Path(self.env.srcdir, image["uri"])
            if path.suffix != ".svg" or not path.is_file():
                continue
            drawn = path.read_text(encoding="utf-8")
            if MARK in drawn:
                framed = f'<span class="picture">{drawn}</span>'
                self.env.note_dependency(str(path))
                image.replace_self(nodes.raw("", framed, format="html"))


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the transform."""
    app.add_post_transform(InlinePictures)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
