"""Messages: which step puts something into a channel, and which takes it out.

The writes of a step are looked at in their order, so that a step which takes a message
and sends another is seen to do both. ``live_model.js`` does the same for a page.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from onceproof.model.language.sorts import Member
from onceproof.model.language.stores.plain_store import PlainStore
from onceproof.properties.words.boxes import in_words
from onceproof.properties.words.labels import Labels

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from onceproof.model.language.fields import Field
    from onceproof.model.language.interpreter import Interpreter, State
    from onceproof.model.language.steps import Event
    from onceproof.model.traces import Trace
    from onceproof.properties.words.boxes import Box

RECEIVED, LOST, UNKNOWN = "received", "lost", "unknown"

Place = tuple[int, ...]


@dataclass(frozen=True)
class SentMessage:
    """A message of a run. Steps count from 1."""

    text: str
    """The message, in words."""
    channel: str
    """The channel or network, as it is labelled."""
    sent: int
    """The step that sends it."""
    taken: int | None
    """The step that takes it out; None while it is in flight."""
    delivery: str
    """received, lost, or unknown while it is in flight."""


class _Logged(PlainStore):
    """Values, and what is written to them, in order."""

    def __init__(self, values: Any) -> None:
        super().__init__(values)
        self.log: list[tuple[str, Place, object]] = []

    def write(self, field: Field, indices: tuple[object, ...], value: object) -> None:
        """Change one element, and note it."""
        super().write(field, indices, value)
        place = tuple(int(i) for i in indices)  # type: ignore[call-overload]
        self.log.append((field.path, place, self.values[field.path][place]))


@dataclass
class _InFlight:
    """A message that is on its way."""

    text: str
    step: int


@dataclass
class _Post:
    """What is on its way after some steps, and what has come of all before."""

    labels: Labels
    values: dict[tuple[str, Place], object]
    loses: set[str]
    waiting: dict[tuple[str, Place], list[_InFlight]] = field(default_factory=dict)
    done: list[SentMessage] = field(default_factory=list)

    def step(
        self, number: int, event: Event, log: list[tuple[str, Place, object]]
    ) -> None:
        """Follow what one step writes."""
        for path, place, value in log:
            self.values[path, place] = value
            for box in self.labels.boxes:
                if path == box.counted:
                    self._counted(box, place, int(value), number, event)  # type: ignore[call-overload]
        for box in self.labels.boxes:
            if box.places:
                self._reordered(box)

    def _counted(
        self, box: Box, place: Place, now: int, number: int, event: Event
    ) -> None:
        queue = self.waiting.setdefault((box.path, place), [])
        while len(queue) > now:
            sent = queue.pop(self._gone(box, place, queue, now, event))
            lost = event.name in self.loses or event.name == f"{box.path}.lose"
            delivery = LOST if lost else RECEIVED
            self.done.append(
                SentMessage(
                    sent.text,
                    self.labels.element(box.counted, place),
                    sent.step,
                    number,
                    delivery,
                )
            )
        while len(queue) < now:
            text = self._sent(box, place, queue, now)
            queue.append(_InFlight(text, number))
            self._reorder(box, place, queue)

    def _sent(
        self, box: Box, place: Place, queue: Sequence[_InFlight], now: int
    ) -> str:
        """Find which message is new: a bag puts it wherever it belongs."""
        there = [self._text(box, place, i) for i in range(now)]
        for known in queue:
            if known.text in there:
                there.remove(known.text)
        return there[-1]

    def _gone(
        self, box: Box, place: Place, queue: list[_InFlight], now: int, event: Event
    ) -> int:
        """Find which message has been taken out: the first that can have been."""
        if not box.places or len(queue) != now + 1:
            return 0
        if event.name == f"{box.path}.lose":
            return event.members[-1]
        left = [self._text(box, place, i) for i in range(now)]
        texts = [sent.text for sent in queue]
        return next(
            (i for i in range(len(texts)) if texts[:i] + texts[i + 1 :] == left), 0
        )

    def _reordered(self, box: Box) -> None:
        """Put messages into the order that they lie in, where some were overtaken."""
        for (path, place), queue in self.waiting.items():
            if path == box.path:
                self._reorder(box, place, queue)

    def _reorder(self, box: Box, place: Place, queue: list[_InFlight]) -> None:
        for i in range(len(queue)) if box.places else ():
            text = self._text(box, place, i)
            at = next((k for k in range(i, len(queue)) if queue[k].text == text), i)
            queue.insert(i, queue.pop(at))

    def _text(self, box: Box, place: Place, number: int) -> str:
        if not box.places:
            return box.kind(place)
        parts = [self.values[path, (*place, number)] for path in box.columns]
        return in_words(parts, box.names, self.labels.sort_words)


def messages_of(
    interpreter: Interpreter, run: Trace, loses: set[str]
) -> list[SentMessage]:
    """Return the messages of a run, in the order of sending.

    ``loses`` names the events in which what is on its way to the dead is lost.
    """
    labels = Labels(interpreter)
    if not labels.boxes:
        return []
    post = _Post(labels, dict(_elements(interpreter, run.start)), loses)
    for number, (before, (event, _)) in enumerate(
        zip(run.states, run.steps, strict=False), 1
    ):
        post.step(number, event, writes_of(interpreter, before, event))
    counted = {box.path: box.counted for box in labels.boxes}
    left = [
        SentMessage(
            sent.text, labels.element(counted[path], place), sent.step, None, UNKNOWN
        )
        for (path, place), queue in post.waiting.items()
        for sent in queue
    ]
    return sorted(
        [*post.done, *left], key=lambda m: (m.sent, m.taken or len(run.steps))
    )


def writes_of(
    interpreter: Interpreter, state: State, event: Event
) -> list[tuple[str, Place, object]]:
    """List what an event writes, in order: field, place and value."""
    step = interpreter.steps[event.name]
    pairs = zip(event.members, step.sorts, strict=True)
    members = tuple(Member(i, sort) for i, sort in pairs)
    store = _Logged(interpreter.store(state).values)
    step.run(interpreter.protocol, store, members)
    return store.log


def _elements(
    interpreter: Interpreter, state: State
) -> Iterator[tuple[tuple[str, Place], object]]:
    for (field_, place), value in zip(interpreter.places, state, strict=True):
        yield (field_.path, place), value
