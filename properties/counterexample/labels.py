"""Labels: events and elements of the state, with a word beside each number.

The words come from the sorts that an action or a field is declared for, as in
``write(batch 0, partition 1, attempt 0)``. A message is named by what is in it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from onceproof.model.language.terms.types import spelled
from onceproof.properties.counterexample.messages import Box, boxes_of, in_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onceproof.model.language.interpreter import Interpreter, State
    from onceproof.model.language.protocol import Protocol
    from onceproof.model.language.sorts import Sort
    from onceproof.model.language.steps import Event

MESSAGE = "message"
Word: TypeAlias = "str | Box"


class Labels:
    """Names the events and the elements of the state of one protocol."""

    def __init__(self, interpreter: Interpreter) -> None:
        """Find the word of each sort, and the channels and networks."""
        self._interpreter = interpreter
        words = words_of(interpreter.protocol)
        self.boxes = tuple(boxes_of(interpreter))
        boxes = {box.path: box for box in self.boxes}
        self.words: dict[str, tuple[Word, ...]] = {}
        for name, step in interpreter.steps.items():
            found: list[Word] = [words[sort] for sort in step.sorts]
            box = boxes.get(step.path)
            if box is not None and found:
                found[-1] = box
            self.words[name] = tuple(found)
        counted = {box.counted: box for box in boxes.values() if not box.fifo}
        self._at: dict[tuple[str, tuple[int, ...]], int] = {}
        self.elements: tuple[str, ...] = tuple(
            element(
                field.path,
                place,
                [words[sort] for sort in field.sorts],
                counted.get(field.path),
            )
            for field, place in interpreter.places
        )
        for number, (field, place) in enumerate(interpreter.places):
            self._at[field.path, place] = number

    def event(self, event: Event, before: State) -> str:
        """Label an event; ``before`` is the state that it is taken in."""
        words = self.words[event.name]
        parts = []
        for number, (word, member) in enumerate(zip(words, event.members, strict=True)):
            if isinstance(word, Box):
                at = event.members[:number]
                parts.append(message(self._message(word, at, member, before)))
            else:
                parts.append(f"{word} {member}")
        return f"{event.name}({', '.join(parts)})"

    def element(self, path: str, place: tuple[int, ...]) -> str:
        """Label an element of the state, such as ``task[partition 0, attempt 1]``."""
        return self.elements[self._at[path, place]]

    def state(self, state: State) -> dict[str, bool | int | float | str]:
        """Return every element of a state by its label."""
        return dict(zip(self.elements, map(spelled, state), strict=True))

    def differences(
        self, before: State, after: State
    ) -> dict[str, bool | int | float | str]:
        """Return the elements that differ by their labels, with their new values."""
        pairs = zip(self.state(before).values(), self.state(after).items(), strict=True)
        return {name: value for old, (name, value) in pairs if old != value}

    def _message(
        self, box: Box, at: tuple[int, ...], member: int, before: State
    ) -> str:
        """Return the content of a message: of a channel, of what lies at its place."""
        if not box.fifo:
            return box.text(at, member)
        place = (*at, member)
        values = tuple(before[self._at[path, place]] for path in box.columns)
        return in_words(values, box.names)


def message(text: str) -> str:
    """Name a message by its content."""
    return f"{MESSAGE} ({text})" if "," in text else f"{MESSAGE} {text}"


def element(
    path: str, place: Sequence[int], words: Sequence[str], network: Box | None
) -> str:
    """Label an element; of a network, by the message that it counts."""
    parts = [f"{word} {at}" for word, at in zip(words, place, strict=True)]
    if network is not None and parts:
        parts[-1] = message(network.texts[place[-1]])
    return f"{path}[{', '.join(parts)}]" if parts else path


def words_of(protocol: Protocol) -> dict[Sort, str]:
    """Return the word of each sort of a protocol: short, where no other has the same.

    "attempt of a task" is an attempt; where there are attempts of a stage as well, it
    is a task attempt.
    """
    short = {sort: _short(sort.text) for sort in protocol.sizes}
    found = {}
    for sort, word in short.items():
        alike = {other.text for other, its in short.items() if its == word}
        found[sort] = word if len(alike) == 1 else _longer(sort.text)
    return found


def _short(text: str) -> str:
    """Return a sort's text up to what only explains it."""
    for end in (",", " of ", " in ", " ("):
        text = text.partition(end)[0]
    return text


def _longer(text: str) -> str:
    """Return a sort's text so that it differs from others that begin alike."""
    text = text.partition(",")[0]
    what, _, of = text.partition(" of ")
    owner = of.removeprefix("a ").removeprefix("an ").removeprefix("the ")
    return f"{owner} {what}" if owner and " " not in owner else text
