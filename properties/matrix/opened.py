"""The explorer's pages of counterexamples, packed into the page of the matrix.

All pages of the explorer share their code and style; what each has of its own is
packed, and kept between runs.
"""

from __future__ import annotations

import base64
import json
import zlib
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from onceproof.model.code_cache import identity, keep, load
from onceproof.model.language.interpreter import Interpreter
from onceproof.model.language.steps import Event
from onceproof.model.library import make
from onceproof.model.search.native.native_interpreter import NativeInterpreter
from onceproof.model.traces import Trace, follow
from onceproof.properties.counterexample.model_run import counterexample_of
from onceproof.properties.explorer.page.page import Origin, model_parts, own_data
from onceproof.properties.explorer.view_builder import explored
from onceproof.properties.guarantees import guarantees_of
from onceproof.properties.judges.by_search import Finding
from onceproof.properties.matrix.source_code import of_explorer, of_modules
from onceproof.properties.verdicts import Verdict

if TYPE_CHECKING:
    from collections.abc import Mapping

    from onceproof.properties.matrix.compositions import Composition
    from onceproof.properties.matrix.judging import Refutation

_FORM = "onceproof matrix view 4"


@dataclass(frozen=True)
class PackedPages:
    """Pages of the explorer of one composition, without what all pages share."""

    scripts: str
    """The digests of their scripts, as the page's policy names them."""
    data: str
    """Their model, and the data of each by guarantee: JSON, deflated, in base64."""


def packed(one: Composition, found: Mapping[str, Refutation]) -> PackedPages:
    """Pack runs that break guarantees, or take them from the cache.

    Their names begin with the guarantee.
    """
    if (before := known(one, found)) is not None:
        return before
    parts = _parts(one, found)
    data = zlib.compress(json.dumps(parts).encode(), 9)
    made = PackedPages(parts["SCRIPTS"], base64.b64encode(data).decode())
    keep(_key(one, found), json.dumps(asdict(made)).encode())
    return made


def known(one: Composition, found: Mapping[str, Refutation]) -> PackedPages | None:
    """Return pages that were packed before, if no source code has changed since."""
    kept = load(_key(one, found))
    return None if kept is None else PackedPages(**json.loads(kept))


def _key(one: Composition, found: Mapping[str, Refutation]) -> bytes:
    runs = [text for name, r in found.items() for text in (name, r.clause, *r.steps)]
    return identity([_FORM, str(one), *runs, of_modules(one.modules), of_explorer()])


def _parts(one: Composition, found: Mapping[str, Refutation]) -> dict[str, Any]:
    # One protocol for all runs: it is traced, and compared with plain Python, once.
    protocol = make(one.engine, one.changed)
    interpreter, native = Interpreter(protocol), NativeInterpreter(protocol)
    claims = {claim.name: claim for claim in guarantees_of(protocol)}
    how = {"judge": "check", "symmetry": False, "max_states": None, "max_memory": None}
    origin = Origin(one.engine, dict(one.changed))
    parts: dict[str, Any] = {"DATA": {}}
    for name, refutation in found.items():
        claim = claims[name.partition(" ")[0]]
        clauses = [clause.text for clause in claim.clauses]
        finding = Finding(
            claim,
            Verdict.REFUTED,
            _run(interpreter, refutation),
            clauses.index(refutation.clause),
        )
        shown = explored(
            counterexample_of(protocol, finding, found_with=how),
            protocol,
            interpreter=native,
        )
        parts["DATA"][name] = own_data(shown, origin)
        if "MODEL" not in parts:
            parts |= model_parts(shown.model)
    return parts


def _run(interpreter: Interpreter, found: Refutation) -> Trace:
    """Take the steps of a counterexample again, from the start that allows them."""
    events = tuple(_event(step) for step in found.steps)
    for start in interpreter.initial_states():
        try:
            return follow(interpreter, start, events)
        except ValueError:
            continue
    message = f"the run {' '.join(found.steps)} is none of {interpreter}"
    raise ValueError(message)


def _event(step: str) -> Event:
    name, _, rest = step.removesuffix("!").partition("(")
    members = tuple(int(m) for m in rest.rstrip(")").split(",") if m.strip())
    return Event(name, members, step.endswith("!"))
