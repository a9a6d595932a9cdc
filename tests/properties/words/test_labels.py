"""Events and state are labelled: each number has a word, and messages their content."""

from __future__ import annotations

import re

import pytest

from onceproof.model.language import Protocol, Sort, action, channels, network, state
from onceproof.model.language.interpreter import Interpreter
from onceproof.model.language.steps import Event
from onceproof.model.library import make, variants
from onceproof.properties.counterexample.file import lane_of
from onceproof.properties.words.labels import Labels, words_of


class Post(Protocol):
    """Letters in a queue, and postcards in no order."""

    P = Sort("person, of two", size=2)
    A = Sort("attempt of a task", size=2, ordered=True)
    B = Sort("attempt of the stage", size=2, ordered=True)

    queue = channels(0, per=P, length=2, high=3, losses=1)
    bag = network(False, losses=1)
    tries = state(False, per=(A, B))

    @action(per=P)
    def send(self, p):
        """Send two letters."""
        self.queue[p].send(3)
        self.queue[p].send(1)

    @action(per=(A, B), by="post office")
    def try_(self, a, b):
        """Try once."""
        self.tries[a, b] = True


@pytest.mark.parametrize("variant", list(variants()), ids=str)
def test_no_number_of_the_library_is_without_a_word(variant):
    """Of events and of elements alike: what is in brackets begins with a word."""
    interpreter = Interpreter(variant.protocol)
    labels = Labels(interpreter)
    start = next(iter(interpreter.initial_states()))

    found = [labels.event(event, start) for event in interpreter.events()]
    found += labels.elements

    for label in found:
        inside = re.sub(r"^[\w.]+", "", label).strip("()[]")
        parts = re.sub(r"\([^)]*\)", "", inside).split(", ") if inside else []
        assert all(re.match(r"[A-Za-z]", part) for part in parts), label
    assert len(set(labels.elements)) == len(labels.elements)


def test_a_label_has_the_words_of_the_sorts():
    """As in the words of the model, up to what only explains them."""
    interpreter = Interpreter(make("micro-batch", {}))
    labels = Labels(interpreter)

    label = labels.event(Event("write", (0, 1, 0)), ())

    assert label == "write(batch 0, partition 1, attempt 0)"
    assert labels.element("task", (1, 0)) == "task[partition 1, attempt 0]"


def test_words_that_would_be_the_same_are_longer():
    """An attempt of a task is no attempt of the stage; a person needs no more."""
    words = words_of(Post())

    assert set(words.values()) >= {"person", "task attempt", "stage attempt"}


def test_messages_are_named_by_what_is_in_them():
    """In a queue by what lies at the place, in a network by the kind of message."""
    interpreter = Interpreter(Post())
    labels = Labels(interpreter)
    start = next(iter(interpreter.initial_states()))
    sent = interpreter.after(start, Event("send", (1,)))
    assert sent is not None

    first = labels.event(Event("queue.lose", (1, 0), fault=True), sent)
    second = labels.event(Event("queue.lose", (1, 1), fault=True), sent)
    other = labels.event(Event("bag.lose", (1,), fault=True), sent)

    assert first == "queue.lose(person 1, message 3)"
    assert second == "queue.lose(person 1, message 1)"
    assert other == "bag.lose(message yes)"
    assert labels.state(sent)["queue[person 1]"] == "[3, 1]"
    assert labels.element("queue.used", (1,)) == "queue[person 1]"
    assert labels.element("bag.on_its_way", (0,)) == "bag"


def test_who_acts_may_be_declared():
    """Whatever members the step is for, it is in the lane of that process."""
    post = Interpreter(Post())
    commit = Interpreter(make("two-phase-commit-log", {}))

    assert lane_of(post, Event("try_", (0, 0))) == "post office"
    assert lane_of(commit, Event("crash_coordinator")) == "coordinator"
    assert lane_of(commit, Event("count_yes", (1,))) == "coordinator"
    assert lane_of(commit, Event("vote_yes", (1,))) == "participant 1"


def test_who_acts_is_a_line_of_text():
    """Anything else is refused where it is declared."""
    with pytest.raises(Exception, match="by= names a process"):
        action(by="two\nlines")(lambda self: None)
