"""The alternating-bit protocol, as in Lamport's Specifying Systems, 2002."""

from __future__ import annotations

from typing import NamedTuple

from onceproof.model.language import (
    Member,
    Protocol,
    Sort,
    action,
    all_of,
    always,
    channels,
    if_else,
    implies,
    not_,
    one_of,
    state,
    when,
)


class Message(NamedTuple):
    """A value with its bit."""

    bit: bool
    value: int


class AlternatingBit(Protocol):
    """Values over queues that lose, with a bit. Lamport, Specifying Systems, 2002.

    There all three bits begin alike, either way. Here the sender's begins either way,
    and of the last acknowledgement and of the receiver's bit it is held whether they
    are the same. TLC's constraint on the queues is their length here: who would send
    into a full one waits.
    """

    DATA = Sort("value", size=2, ordered=True)
    PLACE = Sort("place in a queue", size=2, ordered=True)

    bit = state(one_of(False, True))
    acknowledged = state(True)
    delivered = state(True)
    sent = state(one_of(0, 1), high=1)
    received = state(one_of(0, 1), high=1)
    messages = channels(Message(bit=False, value=0), length=2, high={"value": 1})
    answers = channels(False, length=2)

    @action(per=DATA)
    def send_new(self, d: Member) -> None:
        """The sender takes another value, and the other bit."""
        when(self.acknowledged)
        self.messages.only.send(Message(not_(self.bit), d))
        self.sent = d
        self.bit = not_(self.bit)
        self.acknowledged = False
        self.delivered = not_(self.delivered)

    @action
    def send_again(self) -> None:
        """The sender repeats what is not acknowledged."""
        when(not_(self.acknowledged))
        self.messages.only.send(Message(self.bit, self.sent))

    @action
    def receive(self) -> None:
        """The receiver takes a value with its bit."""
        message = self.messages.only.receive()
        self.delivered = message.bit == self.bit
        self.received = message.value

    @action
    def answer(self) -> None:
        """The receiver sends its bit."""
        mine = if_else(self.delivered, self.bit, not_(self.bit))
        self.answers.only.send(mine)

    @action
    def hear(self) -> None:
        """The sender takes an answer."""
        answer = self.answers.only.receive()
        self.acknowledged = answer == self.bit

    @action(per=PLACE)
    def lose_message(self, place: Member) -> None:
        """A message is lost; that is no fault here, and may happen for ever."""
        self.messages.only.drop(place)

    @action(per=PLACE)
    def lose_answer(self, place: Member) -> None:
        """An answer is lost."""
        self.answers.only.drop(place)

    @always
    def a_receiver_with_the_bit_has_the_value(self) -> bool:
        """Once the bits are the same, so are the values."""
        return implies(
            all_of(self.delivered, not_(self.acknowledged)), self.received == self.sent
        )
