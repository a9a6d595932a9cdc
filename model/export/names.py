"""How steps and elements of a state are named: a room above gives the words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from onceproof.model.language.interpreter import State
    from onceproof.model.language.steps import Event


class Names(Protocol):
    """Names the steps and the elements of one protocol's states."""

    def event(self, event: Event, before: State) -> str:
        """Name an event that is taken in a state."""
        ...

    def differences(
        self, before: State, after: State
    ) -> dict[str, bool | int | float | str]:
        """Name what differs between two states, with its value in the second."""
        ...
