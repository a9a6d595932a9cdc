"""Two-phase commit for two versions of Stateright, each as written and packed by hand.

It needs cargo, which fetches Stateright from crates.io. Compilation is left out of the
times. Stateright searches breadth-first with as many threads as there are cores, and
checks agreement.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

VERSIONS = ("0.30.2", "0.31.0")
FORMS = ("written", "packed")
SOURCE = Path(__file__).with_name("rust") / "main.rs"
MANIFEST = """\
[package]
name = "peer"
version = "0.1.0"
edition = "2021"

[[bin]]
name = "peer"
path = "main.rs"

[dependencies]
stateright = "={version}"

[profile.release]
lto = "fat"
codegen-units = 1
"""


def prepared(folder: Path, n: int) -> dict[str, Callable[[], tuple[int, float]]]:
    """Compile each version, if cargo is there; give the searches by their names."""
    if not shutil.which("cargo"):
        return {}
    found = {}
    for version in VERSIONS:
        peer = compiled(folder / version, version)
        for form in FORMS:
            name = f"Stateright {version}, {form}"
            found[name] = partial(by_stateright, peer, form, n)
    return found


def compiled(folder: Path, version: str) -> Path:
    """Compile the model with a version of Stateright; give the program."""
    folder.mkdir()
    (folder / "Cargo.toml").write_text(MANIFEST.format(version=version))
    shutil.copy(SOURCE, folder / "main.rs")
    command = ["cargo", "build", "--release", "--quiet"]
    flags = {**os.environ, "RUSTFLAGS": "-C target-cpu=native"}
    subprocess.run(command, cwd=folder, check=True, env=flags)
    return folder / "target" / "release" / "peer"


def by_stateright(peer: Path, form: str, n: int) -> tuple[int, float]:
    """Search with Stateright; give states and the seconds of the search alone."""
    command = [peer, form, str(n), str(os.cpu_count())]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    states, seconds, broken = done.stdout.split()
    if broken != "false":
        message = f"Stateright says that two-phase commit disagrees: {done.stdout}"
        raise RuntimeError(message)
    return int(states), float(seconds)
