"""The classes of paths to a state, by their numbers, and how renamings change them.

A class is a word and a history. The word has the faults and durable writes so far, in
normal form. The history has the durable state that the path began in, and for each
crash the durable states that it found and left.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from onceproof.model.interleavings.canonical_form import inserted, place

if TYPE_CHECKING:
    from onceproof.model.interleavings.canonical_form import Word
    from onceproof.model.interleavings.durable_state import Durable, Effect, Remains
    from onceproof.model.interleavings.renaming_group import RenamingGroup

_LETTER_BITS = 24
_LETTERS = (1 << _LETTER_BITS) - 1
NO_CRASH = -1
"""Stands for the durable states of a step that is no crash."""


class PathClass(NamedTuple):
    """What distinguishes paths to a state, under one of the ways to name members."""

    word: Word
    """Its faults and durable writes."""
    looked_at: tuple[Remains, ...]
    """The durable state that it began in, those of crashes, and the last one."""
    left: tuple[Remains, ...]
    """The durable states that crashes left."""
    effects: tuple[Effect, ...]
    """For each event of ``word`` what it did, if it is a fault whose effect volatile
    state decides, else 0."""


class _Words:
    """Words in normal form: each is the one before it and a letter, in its place.

    A letter is an event; of a fault whose effect volatile state decides, with its
    effect.
    """

    def __init__(self, group: RenamingGroup, apart: set[tuple[int, int]]) -> None:
        self._events = group.events.tolist()
        self._apart = apart
        number = group.events.shape[1]
        self._letters: list[tuple[int, Effect]] = [
            (event, 0) for event in range(number)
        ]
        self._letter = {letter: i for i, letter in enumerate(self._letters)}
        self._words: list[tuple[Word, Word]] = [((), ())]
        self._number: dict[Word, int] = {(): 0}
        self._made = [0]
        self._longer: dict[int, int] = {}
        self._renamed: list[dict[int, int]] = [{0: 0} for _ in group.names]

    def letter(self, event: int, effect: Effect) -> int:
        """Return the number of an event with an effect."""
        found = event, effect
        if found not in self._letter:
            self._letter[found] = len(self._letters)
            self._letters.append(found)
        return self._letter[found]

    def longer(self, word: int, letter: int) -> int:
        """Return the normal form of a word and a letter after it."""
        both = word << _LETTER_BITS | letter
        found = self._longer.get(both)
        if found is None:
            events, letters = self._words[word]
            event, effect = self._letters[letter]
            at = place(events, event, self._apart)
            new = inserted(letters, at, letter)
            found = self._number.get(new)
            if found is None:
                found = self._number[new] = len(self._words)
                plain = events is letters and not effect
                spelled = new if plain else inserted(events, at, event)
                self._words.append((spelled, new))
                self._made.append(both)
            self._longer[both] = found
        return found

    def renamed(self, word: int, naming: int, durable: Durable) -> int:
        """Return the normal form of a word whose members have other names."""
        known, left = self._renamed[naming], []
        while word not in known:
            left.append(word)
            word = self._made[word] >> _LETTER_BITS
        found = known[word]
        for longer in reversed(left):
            event, effect = self._letters[self._made[longer] & _LETTERS]
            alike = effect and durable.effects_alike(effect)[naming]
            letter = self.letter(self._events[naming][event], alike)
            found = known[longer] = self.longer(found, letter)
        return found

    def spelled(self, word: int) -> tuple[Word, tuple[Effect, ...]]:
        """Return the events of a word, and what each of them did."""
        events, letters = self._words[word]
        return events, tuple(self._letters[letter][1] for letter in letters)


class _Histories:
    """Durable states that paths began in and that their crashes found and left."""

    def __init__(self, durable: Durable, names: int) -> None:
        self._durable = durable
        self._number: dict[tuple[Remains, ...], int] = {}
        self._looks: list[tuple[Remains, ...]] = []
        self._renamed: list[dict[int, int]] = [{} for _ in range(names)]

    def of(self, looks: tuple[Remains, ...]) -> int:
        """Return the number of a history: a beginning, then found and left by turns."""
        if looks not in self._number:
            self._number[looks] = len(self._looks)
            self._looks.append(looks)
        return self._number[looks]

    def longer(self, history: int, found: Remains, left: Remains) -> int:
        """Return a history with one more crash."""
        return self.of((*self._looks[history], found, left))

    def renamed(self, history: int, naming: int) -> int:
        """Return a history whose members have other names."""
        known = self._renamed[naming]
        if history not in known:
            alike = self._durable.alike
            looks = tuple(alike(state)[naming] for state in self._looks[history])
            known[history] = self.of(looks)
        return known[history]

    def spelled(self, history: int) -> tuple[tuple[Remains, ...], tuple[Remains, ...]]:
        """Return where it began and what crashes found; and what they left."""
        first, *looks = self._looks[history]
        return (first, *looks[::2]), tuple(looks[1::2])


class PathClasses:
    """All classes that were met, by their numbers."""

    def __init__(
        self, group: RenamingGroup, durable: Durable, apart: set[tuple[int, int]]
    ) -> None:
        """Meet none yet. Pairs of events ``apart`` may not change places."""
        self._durable = durable
        self._words = _Words(group, apart)
        self._histories = _Histories(durable, len(group))
        self._number: dict[tuple[int, int], int] = {}
        self._parts: list[tuple[int, int]] = []
        self._names = range(len(group))
        self._renamed: list[dict[int, int]] = [{} for _ in group.names]

    def _of(self, word: int, history: int) -> int:
        parts = word, history
        found = self._number.get(parts)
        if found is None:
            found = self._number[parts] = len(self._parts)
            self._parts.append(parts)
        return found

    def beginning(self, remains: Remains) -> int:
        """Return the class of the paths that have only begun."""
        return self._of(0, self._histories.of((remains,)))

    def longer(
        self, path: int, event: int, effect: Effect, found: Remains, left: Remains
    ) -> int:
        """Return the class of a path with one more key event.

        ``found`` and ``left`` are durable states if that is a crash, and ``NO_CRASH``
        otherwise.
        """
        word, history = self._parts[path]
        if found != NO_CRASH:
            history = self._histories.longer(history, found, left)
        return self._of(
            self._words.longer(word, self._words.letter(event, effect)), history
        )

    def renamed(self, path: int, naming: int) -> int:
        """Return the class of the same paths with other names of members."""
        if naming == 0:
            return path
        known = self._renamed[naming]
        found = known.get(path)
        if found is None:
            word, history = self._parts[path]
            found = known[path] = self._of(
                self._words.renamed(word, naming, self._durable),
                self._histories.renamed(history, naming),
            )
        return found

    def events(self, path: int) -> Word:
        """Return the faults and durable writes of a class."""
        return self._words.spelled(self._parts[path][0])[0]

    def canonical(self, path: int, end: Remains) -> tuple[int, Remains]:
        """Return one of all classes and last durable states that differ in names."""
        alike = self._durable.alike(end)
        return min((self.renamed(path, k), alike[k]) for k in self._names)

    def name(self, path: int, end: Remains) -> PathClass:
        """Spell out the least of all classes that differ in names."""
        alike = self._durable.alike(end)
        return min(self._spelled(self.renamed(path, k), alike[k]) for k in self._names)

    def _spelled(self, path: int, end: Remains) -> PathClass:
        word, history = self._parts[path]
        events, effects = self._words.spelled(word)
        looked_at, left = self._histories.spelled(history)
        return PathClass(events, (*looked_at, end), left, effects)
