"""Labels: events and elements of the state, with a word beside each number.

The words come from the sorts that an action or a field is declared for, as in
``write(batch 0, partition 1, attempt 0)``. A channel or network is one element, which
is the list of its messages; a message is named by what is in it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from onceproof.model.interleavings.failing_runs import starts
from onceproof.model.language.sorts import Member
from onceproof.model.language.terms.types import MemberType, spelled
from onceproof.properties.words.boxes import (
    Box,
    boxes_of,
    in_brackets,
    in_words,
)
from onceproof.properties.words.sort_words import (
    member_in_words,
    words_of,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onceproof.model.language.interpreter import Interpreter, State
    from onceproof.model.language.steps import Event
    from onceproof.model.language.terms.types import Value

Shown: TypeAlias = "bool | int | float | str"


@dataclass(frozen=True)
class Word:
    """What is shown of one of the members that an event is for."""

    word: str
    """The word of its sort, which is beside its number."""
    boxes: tuple[Box, ...] = ()
    """The channels or networks in which a message lies at the place that it names."""
    may: bool = False
    """Whether the message is named only if the event takes it."""
    silent: bool = False
    """Whether it is left out, because a message says it."""


@dataclass(frozen=True)
class Element:
    """What is shown as one: an element of a field, or one channel or network.

    ``cells`` are its positions in a state. Of a channel or network they are those of
    the numbers of its messages, and ``places`` are the indices there.
    """

    label: str
    """The label, such as ``task[partition 0, attempt 1]``."""
    at: tuple[int, ...]
    """The indices of the element, or of the channel or network."""
    cells: tuple[int, ...]
    places: tuple[tuple[int, ...], ...] = ()
    box: Box | None = None
    """The family of channels or networks that it is one of."""


class Labels:
    """Names the events and the elements of the state of one protocol."""

    def __init__(self, interpreter: Interpreter) -> None:
        """Find the word of each sort, and the channels and networks."""
        self._interpreter = interpreter
        self.sort_words = words_of(interpreter.protocol)
        self.boxes = tuple(boxes_of(interpreter))
        self._at = {
            (field.path, place): number
            for number, (field, place) in enumerate(interpreter.places)
        }
        self._inner = {box.path: self._places_of(box) for box in self.boxes}
        self.words = {name: self._words(name) for name in interpreter.steps}
        self._known: dict[tuple[str, tuple[int, ...]], Element] = {}
        self.shown = self._elements()
        self.elements = tuple(element.label for element in self.shown)

    @property
    def tells_more(self) -> bool:
        """Whether elements are shown otherwise than files hold them.

        So it is where there are messages, or members that state holds.
        """
        fields = self._interpreter.fields
        return bool(self.boxes) or any(isinstance(f.type, MemberType) for f in fields)

    def event(self, event: Event, before: State) -> str:
        """Label an event; ``before`` is the state that it is taken in."""
        words = self.words[event.name]
        after: State | None = None
        parts = []
        for number, (word, member) in enumerate(zip(words, event.members, strict=True)):
            text: str | None = None
            if word.may:
                after = after or self._interpreter.after(before, event)
                text = self._taken(word.boxes, member, before, after)
            elif word.boxes:
                (box,) = word.boxes
                at = event.members[:number]
                text = box.named(self._message(box, at, member, before))
            if text is not None:
                parts.append(text)
            elif not word.silent:
                parts.append(f"{word.word} {member}")
        shown = parts if len(parts) == 1 else map(in_brackets, parts)
        return f"{event.name}({', '.join(shown)})"

    def element(self, path: str, place: tuple[int, ...]) -> str:
        """Label an element of the state, such as ``task[partition 0, attempt 1]``.

        Of a channel, or a network, it is the label of the whole.
        """
        return self._known[path, place].label

    def state(self, state: State) -> dict[str, Shown]:
        """Return what is shown of a state, by its labels."""
        return {one.label: self._value(one, state) for one in self.shown}

    def chosen(self, start: State) -> dict[str, Shown]:
        """Return what a first state has that could also be otherwise at first."""
        values = self.state(start)
        found = {}
        for (field, place), choices in zip(
            self._interpreter.places, starts(self._interpreter), strict=True
        ):
            if len(choices) > 1:
                label = self.element(field.path, place)
                found[label] = values[label]
        return found

    def differences(self, before: State, after: State) -> dict[str, Shown]:
        """Return what differs, by its labels, as it is afterwards."""
        old, new = self.state(before), self.state(after)
        return {label: value for label, value in new.items() if old[label] != value}

    def value(self, path: str, place: tuple[int, ...], state: State) -> Shown:
        """Return what is shown of an element of a state, by its label the same."""
        return self._value(self._known[path, place], state)

    def _value(self, element: Element, state: State) -> Shown:
        if element.box is None:
            return self._plain(state[element.cells[0]])
        return element.box.listed(self._texts(element, state))

    def _plain(self, value: Value) -> Shown:
        if isinstance(value, Member):
            return member_in_words(value, self.sort_words)
        return spelled(value)

    def _texts(self, element: Element, state: State) -> list[str]:
        """Return the messages of one channel, or of one network."""
        box = element.box
        if box is None:
            return []
        if box.places:
            used = int(state[element.cells[0]])  # type: ignore[arg-type]
            return [self._message(box, element.at, i, state) for i in range(used)]
        pairs = zip(element.cells, element.places, strict=True)
        counts = [(int(state[cell]), box.kind(place)) for cell, place in pairs]  # type: ignore[arg-type]
        return [text for count, text in counts for _ in range(count)]

    def _message(
        self, box: Box, at: tuple[int, ...], member: int, before: State
    ) -> str:
        """Return the content of a message: of a channel, of what lies at its place."""
        place = (*at, member)
        if not box.places:
            return box.kind(place)
        values = tuple(before[self._at[path, place]] for path in box.columns)
        return in_words(values, box.names, self.sort_words)

    def _taken(
        self, boxes: Sequence[Box], place: int, before: State, after: State | None
    ) -> str | None:
        """Return the message at a place that an event takes.

        It is None where the event takes none there, or several.
        """
        found = []
        for box, at in [(one, at) for one in boxes for at in self._inner[one.path]]:
            element = self._known[box.counted, at]
            if after is None or int(before[element.cells[0]]) <= place:  # type: ignore[arg-type]
                continue
            text = self._message(box, at, place, before)
            old, new = self._texts(element, before), self._texts(element, after)
            if old.count(text) > new.count(text):
                found.append(box.named(text))
        return found[0] if len(found) == 1 else None

    def _places_of(self, box: Box) -> list[tuple[int, ...]]:
        """List the indices of each channel, or each network, of a family."""
        places = (place[: box.after] for path, place in self._at if path == box.counted)
        return list(dict.fromkeys(places))

    def _words(self, name: str) -> tuple[Word, ...]:
        """Find what is shown of each member that a step is for."""
        step = self._interpreter.steps[name]
        words = [Word(self.sort_words[sort]) for sort in step.sorts]
        own = [box for box in self.boxes if box.path == step.path]
        if own and words:
            (box,) = own
            for at in range(box.after, len(words) - 1):
                words[at] = Word(words[at].word, silent=True)
            words[-1] = Word(words[-1].word, (box,))
            return tuple(words)
        for at, sort in enumerate(step.sorts):
            boxes = tuple(box for box in self.boxes if box.place == sort)
            words[at] = Word(words[at].word, boxes, may=bool(boxes))
        return tuple(words)

    def _elements(self) -> tuple[Element, ...]:
        """List what is shown of a state, in the order of its fields."""
        owner = {box.counted: box for box in self.boxes}
        owner |= {path: box for box in self.boxes for path in box.columns}
        found: dict[tuple[str, tuple[int, ...]], list[int]] = {}
        for number, (field, place) in enumerate(self._interpreter.places):
            box = owner.get(field.path)
            key = (field.path, place) if box is None else (box.path, place[: box.after])
            found.setdefault(key, []).append(number)
        elements = []
        boxes = {box.path: box for box in self.boxes}
        for (path, at), numbers in found.items():
            element = self._element(path, at, numbers, boxes.get(path))
            elements.append(element)
            for number in numbers:
                field, place = self._interpreter.places[number]
                self._known[field.path, place] = element
        return tuple(elements)

    def _element(
        self, path: str, at: tuple[int, ...], numbers: Sequence[int], box: Box | None
    ) -> Element:
        places = self._interpreter.places
        field = places[numbers[0]][0]
        pairs = zip(field.sorts, at, strict=False)
        parts = [f"{self.sort_words[sort]} {index}" for sort, index in pairs]
        whole = field.record or path
        of_record = path.removeprefix(whole)
        label = f"{whole}[{', '.join(parts)}]{of_record}" if parts else path
        if box is None:
            return Element(label, at, tuple(numbers))
        counts = [n for n in numbers if places[n][0].path == box.counted]
        return Element(
            label, at, tuple(counts), tuple(places[n][1] for n in counts), box
        )
