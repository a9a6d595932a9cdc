"""How a state is packed into 64-bit words, and back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from onceproof.model.errors import TooLargeError
from onceproof.model.language.terms.types import cardinality, decode, encode

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onceproof.model.language.fields import Field
    from onceproof.model.language.interpreter import State
    from onceproof.model.language.sorts import Sort

# The sign bit stays free: a packed word is never negative, so -1 marks an empty slot.
WORD_BITS = 63
MAX_WORDS = 8


@dataclass(frozen=True)
class Placement:
    """Where the elements of one field lie in the packed words."""

    field: Field
    """The field."""
    dims: tuple[int, ...]
    """The sizes of the sorts that index it."""
    bits: int
    """How many bits an element takes."""
    count: int
    """How many elements there are."""
    word: int
    """The word that holds it, or the first of its words."""
    shift: int
    """Where the field starts in ``word``."""
    split: bool
    """Whether it has words of its own, ``WORD_BITS // bits`` elements in each."""

    @property
    def mask(self) -> int:
        """The bits of one element."""
        return (1 << self.bits) - 1

    def spot(self, element: int) -> tuple[int, int]:
        """Return the word and the shift of an element."""
        if not self.split:
            return self.word, self.shift + element * self.bits
        per_word = WORD_BITS // self.bits
        return self.word + element // per_word, element % per_word * self.bits


class Layout:
    """The packing of all fields of a system."""

    def __init__(self, fields: Sequence[Field], sizes: dict[Sort, int]) -> None:
        """Place each field in the first word that has room for all of it."""
        self.placements: dict[str, Placement] = {}
        free: list[int] = []
        for field in fields:
            dims = tuple(sizes[sort] for sort in field.sorts)
            count = len(field.places(sizes))
            values = cardinality(field.type, field.members)
            bits = max(1, (values - 1).bit_length())
            if bits > WORD_BITS:
                message = (
                    f"{field.path} holds {field.type}, which takes {bits} bits, and "
                    f"{WORD_BITS} is the most; choose narrower bounds"
                )
                raise TooLargeError(message)
            word, shift, split = self._room(free, bits, count)
            self.placements[field.path] = Placement(
                field, dims, bits, count, word, shift, split
            )
        self.words = max(1, len(free))
        if self.words > MAX_WORDS:
            bits = sum(p.bits * p.count for p in self.placements.values())
            message = (
                f"a state takes {bits} bits, and {MAX_WORDS * WORD_BITS} is the most "
                "that the search can hold; choose smaller sizes"
            )
            raise TooLargeError(message)
        self._elements = [
            (p, e) for p in self.placements.values() for e in range(p.count)
        ]

    @property
    def bits(self) -> int:
        """How many bits of its only word are in use; all where there are several."""
        if self.words > 1:
            return WORD_BITS
        return sum(p.bits * p.count for p in self.placements.values())

    @staticmethod
    def _room(free: list[int], bits: int, count: int) -> tuple[int, int, bool]:
        needed = bits * count
        if needed <= WORD_BITS:
            for word, left in enumerate(free):
                if left >= needed:
                    free[word] -= needed
                    return word, WORD_BITS - left, False
            free.append(WORD_BITS - needed)
            return len(free) - 1, 0, False
        first = len(free)
        free.extend([0] * -(-count // (WORD_BITS // bits)))
        return first, 0, True

    def pack(self, state: State) -> tuple[int, ...]:
        """Pack a plain state."""
        words = [0] * self.words
        for (place, element), value in zip(self._elements, state, strict=True):
            word, shift = place.spot(element)
            words[word] |= encode(place.field.type, value) << shift
        return tuple(words)

    def unpack(self, words: Sequence[int]) -> State:
        """Return the plain state that is packed in ``words``."""
        values = []
        for place, element in self._elements:
            word, shift = place.spot(element)
            code = (int(words[word]) >> shift) & place.mask
            values.append(decode(place.field.type, code))
        return tuple(values)
