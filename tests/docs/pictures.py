"""Makes the pictures of pages again: ``python -m tests.docs.pictures``.

Those of the explorer are shown in docs/how-to/read-a-counterexample.md, that of the
matrix in docs/how-to/matrix.md.
"""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from onceproof.properties.explorer.page.page import Origin, page
from onceproof.properties.explorer.terminal.app import Terminal
from tests.properties.explorer.runs import broken
from tests.test_house import ROOT

PICTURES = ROOT / "docs" / "pictures"
PAGE, TERMINAL = PICTURES / "explorer-page.png", PICTURES / "explorer-terminal.svg"
MATRIX = PICTURES / "matrix-page.png"
ORIGIN = Origin("micro-batch")


def picture_of_the_page(to: Path) -> None:
    """Draw the page of a run that appends twice, as Chromium shows it."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "run.html"
        text = page(broken("micro-batch", "at-most-once"), ORIGIN)
        file.write_text(text, encoding="utf-8")
        _take(file, to, width=1180, height=1060)


def picture_of_the_matrix(to: Path) -> None:
    """Draw the top of the page with the compositions of one engine."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "matrix.html"
        words = ["matrix", "--only", "barrier-snapshot", "--html", str(file)]
        call = [sys.executable, "-m", "onceproof.spark_checks.cli", *words]
        subprocess.run(call, cwd=ROOT, check=False)
        _take(file, to, width=1400, height=900)


def _take(file: Path, to: Path, *, width: int, height: int) -> None:
    chromium = os.environ.get("ONCEPROOF_CHROMIUM") or shutil.which("chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium, args=["--no-sandbox"]
        )
        shown = browser.new_page(viewport={"width": width, "height": height})
        shown.goto(file.as_uri())
        shown.screenshot(path=to)
        browser.close()


def picture_of_the_terminal(to: Path) -> None:
    """Draw the same run as a terminal shows it, three steps before it breaks."""

    async def draw() -> str:
        app = Terminal(broken("micro-batch", "at-most-once"), ORIGIN)
        async with app.run_test(size=(100, 30)) as pilot:
            await pilot.press("k", "k", "k")
            await pilot.pause()
            return app.export_screenshot(title="onceproof explore", simplify=True)

    # What looks at the picture is to ask no other machine for a font.
    text = re.sub(r"@font-face\s*{.*?}", "", asyncio.run(draw()), flags=re.DOTALL)
    text = text.replace("Fira Code", "monospace")
    lines = (line.rstrip() for line in text.split("\n"))
    to.write_text("\n".join(filter(None, lines)) + "\n", encoding="utf-8")


if __name__ == "__main__":
    PICTURES.mkdir(exist_ok=True)
    picture_of_the_page(PAGE)
    picture_of_the_terminal(TERMINAL)
    picture_of_the_matrix(MATRIX)
