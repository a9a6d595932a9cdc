"""What state held before a step that has changed it."""

from __future__ import annotations

from typing import TypeVar

from onceproof.model.errors import ModelError
from onceproof.model.language.composition.part import Part
from onceproof.model.language.source_location import here
from onceproof.model.language.stores.old_store import OldStore

P = TypeVar("P", bound=Part)


def old(part: P) -> P:
    """Return a protocol or a part as it was before the step, to be read alone.

    ``old(self).rows[r]`` is what the element held before the action changed it. It
    is for actions and faults: a claim about a step is given both states.
    """
    if not isinstance(part, Part):
        message = (
            "old(...) takes a protocol or a part, as old(self).rows[r] or "
            "old(self.drivers[d]).phase"
        )
        raise ModelError(message, where=here())
    return part.with_store(OldStore(part.store))
