"""Which pictures there are, and what draws them."""

from __future__ import annotations

from tests.docs.drawn.canvas import style_of_pages
from tests.docs.drawn.guarantee_matrix import guarantee_matrix
from tests.docs.drawn.lost_update import lost_update
from tests.docs.drawn.state_graph import state_graph
from tests.test_house import ROOT

DOCS = ROOT / "docs"
PICTURES = {
    "pictures/two-phase-commit.svg": state_graph,
    "pictures/lost-update.svg": lost_update,
    "pictures/guarantee-matrix.svg": guarantee_matrix,
}
DRAWN = {**PICTURES, "_static/pictures.css": style_of_pages}
