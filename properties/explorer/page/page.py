"""The explorer as one page of HTML: it needs no server, no network and no other file.

What is shown goes into the page as JSON in which nothing can end a script, and reaches
the screen as text alone. The page's policy names its own scripts by their digests: no
other script runs, and no connection may be opened.
"""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import asdict, dataclass, field
from importlib import resources
from typing import TYPE_CHECKING, Any

from onceproof.model.export.javascript import coded, literal, source
from onceproof.model.interleavings.failing_runs import starts
from onceproof.model.language.parts.message_columns import ONLY
from onceproof.model.language.parts.processes import Status
from onceproof.model.language.terms.types import MemberType
from onceproof.model.text import shell_word
from onceproof.properties.counterexample.file import named
from onceproof.properties.counterexample.lanes import lane_rules
from onceproof.properties.counterexample.step_kinds import KINDS, StepKinds
from onceproof.properties.explorer.phrases import CELLS, PHRASES
from onceproof.properties.judges.by_search import claims_of
from onceproof.properties.words.labels import Labels

if TYPE_CHECKING:
    from collections.abc import Mapping

    from onceproof.model.search.queries import SearchQuery
    from onceproof.properties.counterexample.model_run import ModelRun
    from onceproof.properties.explorer.view_builder import Explored

_SCRIPTS = (
    "phrases.js",
    "live_model.js",
    "walk.js",
    "lanes.js",
    "panels.js",
    "copying.js",
    "page.js",
)
PACKAGE = "onceproof.properties.explorer.page"


@dataclass(frozen=True)
class Origin:
    """Where what is shown comes from: a file, or a protocol as it was typed."""

    name: str
    """The path of the file, or the protocol as it was typed."""
    settings: Mapping[str, str] = field(default_factory=dict)
    """The settings that were typed with a protocol."""
    file: bool = False
    """Whether it is a file."""

    def command(self, view_property: str, *, spark: bool) -> str:
        """Return the command that shows the same once more."""
        if self.file:
            verb = "replay" if spark else "explore"
            return f"onceproof {verb} {shell_word(self.name)}"
        chosen = "".join(
            f" --set {shell_word(f'{k}={v}')}" for k, v in self.settings.items()
        )
        named = f" --property {shell_word(view_property)}" if view_property else ""
        return f"onceproof check {shell_word(self.name)}{chosen}{named}"


def page(explored: Explored, origin: Origin) -> str:
    """Write what was explored as one page."""
    return _filled(_text("page.html"), {**_shared(), **own_parts(explored, origin)})


def shell() -> str:
    """Return what all pages share: the page with its own parts left open.

    They are ``@DATA@``, ``@MODEL@`` and ``@SCRIPTS@``, as ``own_parts`` names them.
    """
    return _filled(_text("page.html"), _shared())


def own_parts(explored: Explored, origin: Origin) -> dict[str, str]:
    """Return what a page has of its own: its data, its model, and which scripts run."""
    return {"DATA": own_data(explored, origin), **model_parts(explored.model)}


def own_data(explored: Explored, origin: Origin) -> str:
    """Return what a page shows of a run, as its data."""
    view, model = explored.view, explored.model
    data = {
        "view": _lean(view.to_json()),
        "about": about_of(model, moments=bool(view.looks)) if model else None,
        "copy": copied_of(explored, origin),
        "phrases": PHRASES,
        "cells": CELLS,
        "kinds": KINDS,
    }
    return literal(data)


def model_parts(model: ModelRun | None) -> dict[str, str]:
    """Return the model of a page, whatever run it shows, and which scripts run."""
    live = source(model.system, questions_of(model)) if model else "null"
    script = f"const MODEL = {live};"
    return {"MODEL": script, "SCRIPTS": f"{digest_of(script)} {digest_of(_code())}"}


def _shared() -> dict[str, str]:
    style = _text("page.css")
    return {"STYLE": style, "STYLES": digest_of(style), "CODE": _code()}


def _code() -> str:
    return "\n".join(_text(name) for name in _SCRIPTS)


def _filled(text: str, parts: Mapping[str, str]) -> str:
    return re.sub(r"@([A-Z]+)@", lambda found: parts.get(found[1], found[0]), text)


def _text(name: str) -> str:
    return resources.files(PACKAGE).joinpath(name).read_text(encoding="utf-8")


def digest_of(text: str) -> str:
    """Return a text's digest as a page's policy names a script or a style by it."""
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def _lean(data: dict[str, Any]) -> dict[str, Any]:
    """Leave out what the page works out in the model."""
    if data["live"]:
        for step in data["steps"]:
            del step["options"], step["changes"]
        del data["messages"], data["named_start"]
    return data


def questions_of(model: ModelRun) -> list[SearchQuery]:
    """List what the page judges of a model."""
    claims = [prop for prop in claims_of(model.protocol) if not prop.lemma]
    return [question for prop in claims for question in prop.questions(model.system)]


def about_of(model: ModelRun, *, moments: bool) -> dict[str, Any]:
    """Return what the page needs to know of a model besides its steps."""
    kinds = StepKinds.of(model.system)
    statuses = [model.interpreter.places[at][0] for at in kinds.statuses]
    up, down = (
        coded(statuses[0].type, status) if statuses else None
        for status in (Status.UP, Status.DOWN)
    )
    properties, number = [], 0
    for prop in claims_of(model.protocol):
        if prop.lemma:
            continue
        count = len(prop.clauses)
        properties.append(
            {
                "name": prop.name,
                "text": prop.text,
                "questions": list(range(number, number + count)),
                "chosen": model.claim is not None and prop.name == model.claim.name,
            }
        )
        number += count
    labels = Labels(model.interpreter)
    boxes = list(labels.boxes)
    return {
        "elements": [
            {
                **asdict(element),
                "box": boxes.index(element.box) if element.box else None,
            }
            for element in labels.shown
        ],
        "held": {
            field_.path: labels.sort_words[field_.type.sort]
            for field_ in model.system.fields
            if isinstance(field_.type, MemberType)
        },
        "only": ONLY,
        "words": {
            name: [{**asdict(w), "boxes": [*map(boxes.index, w.boxes)]} for w in words]
            for name, words in labels.words.items()
        },
        "start": [
            coded(field_.type, value)
            for (field_, _), value in zip(
                model.interpreter.places, model.run.start, strict=True
            )
        ],
        "boxes": [{**asdict(box), "place": None} for box in boxes],
        "rules": {n: asdict(r) for n, r in lane_rules(model.interpreter).items()},
        "kinds": kinds.by_name,
        "statuses": list(kinds.statuses),
        "volatile": list(kinds.volatile),
        "up": up,
        "down": down,
        "properties": properties,
        "moments": moments,
    }


def copied_of(explored: Explored, origin: Origin) -> dict[str, Any]:
    """Return what a copied test or command names."""
    view, model = explored.view, explored.model
    fallback = {name: str(value) for name, value in view.parameters.items()}
    several: dict[str, Any] = {}
    if model is not None:
        values = named(model.interpreter, model.run.start).items()
        names = zip(values, starts(model.interpreter), strict=True)
        several = {name: value for (name, value), many in names if len(many) > 1}
    return {
        "command": origin.command(view.property, spark=bool(view.sink)),
        "file": origin.name if origin.file else "",
        "protocol": view.protocol if origin.file else origin.name,
        "settings": fallback if origin.file else dict(origin.settings),
        "property": view.property,
        "start": several,
        "loop": model.run.loop if model and view.steps else None,
    }
