"""The pages are built without a warning, and need no network to be read."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from tests.docs.pages import GENERATED, blocks
from tests.test_house import ROOT

FETCHED = re.compile(r"<(?:script|img|iframe)\b[^>]*\bsrc=\"([^\"]+)\"")
LINKED = re.compile(r"<link\b(?![^>]*rel=\"canonical\")[^>]*\bhref=\"([^\"]+)\"")
EXAMPLE = ("python", "console")
PROJECT = ("index.md", "architecture.md", "contributing.md", "changelog.md")
IMPORTED = re.compile(r"(?:@import|url\()\s*[\"']?((?:https?:)?//[^\"')]+)")


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Build the pages; a warning is an error."""
    folder = tmp_path_factory.mktemp("site")
    words = ["-E", "-W", "--keep-going", "-q", "-b", "html", "-d", f"{folder}/trees"]
    command = [sys.executable, "-m", "sphinx", *words, "docs", str(folder / "html")]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return folder / "html"


@pytest.mark.ci
def test_nothing_is_fetched_from_elsewhere(site):
    """No script, style, picture or font of a page has an address with a host."""
    pages = list(site.rglob("*.html"))
    styles = [path.read_text(encoding="utf-8") for path in site.rglob("*.css")]

    texts = [page.read_text(encoding="utf-8") for page in pages]
    wanted = [u for t in texts for u in (*FETCHED.findall(t), *LINKED.findall(t))]

    assert len(pages) > 20
    assert wanted
    assert [u for u in wanted if "//" in u.partition("?")[0]] == []
    assert [u for style in styles for u in IMPORTED.findall(style)] == []


def test_the_landing_page_shows_the_readmes_example():
    """It is run where README.md shows it, so the two must be the same."""
    readme = [b.text for b in blocks(ROOT / "README.md") if b.kind in EXAMPLE]

    landing = [b.text for b in blocks(ROOT / "docs/index.md") if b.kind in EXAMPLE]

    assert len(landing) == 2
    assert landing == readme[:2]


def test_every_page_has_its_folder():
    """Beside the four folders there is what no reader looks for by its kind."""
    beside = {page.name for page in (ROOT / "docs").glob("*.md")}
    folders = {page.parent.name for page in (ROOT / "docs").rglob("*/*.md")}

    assert beside == {*PROJECT, *GENERATED}
    assert folders == {"tutorial", "how-to", "reference", "explanation"}


@pytest.mark.ci
def test_what_is_made_from_the_code_is_on_the_pages(site):
    """Every command, option of the plugin, guarantee and verdict has its entry."""
    from onceproof.properties.guarantees import GUARANTEES
    from onceproof.properties.verdicts import Verdict
    from onceproof.spark_checks.cli import main

    commands = (site / "reference/command-line.html").read_text(encoding="utf-8")
    plugin = (site / "reference/plugin.html").read_text(encoding="utf-8")
    properties = (site / "reference/properties.html").read_text(encoding="utf-8")
    formats = (site / "reference/file-formats.html").read_text(encoding="utf-8")

    assert all(f'id="onceproof-{name}"' in commands for name in main.commands)
    assert "--onceproof-shrink-budget" in plugin
    assert "onceproof_spark_fixture" in plugin
    assert all(prop.name in properties for prop in GUARANTEES)
    assert all(str(verdict) in properties for verdict in Verdict)
    assert "fails_at" in formats
    assert "tool.onceproof" in formats
