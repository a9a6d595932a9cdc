"""Model-based tests of plain Python code: it does what a protocol's steps say."""

from __future__ import annotations

import functools
import inspect
import itertools
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st
from hypothesis.stateful import initialize, precondition, rule

from onceproof.model.errors import UsageError
from onceproof.model.language.interpreter import Interpreter, State
from onceproof.model.library import pick
from onceproof.model.text import did_you_mean
from onceproof.properties.testing.hypothesis_internals import ShowsSteps

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from hypothesis.stateful import RuleBasedStateMachine
    from hypothesis.strategies import SearchStrategy

    from onceproof.model.language.composition.protocol import Protocol
    from onceproof.model.language.steps import Event, Step

MOST_STARTS = 1_000
MOST_KEPT = 10_000


class _Call:
    """An event, shown as the call of the method that is named after it."""

    def __init__(self, event: Event) -> None:
        self.event = event

    def __repr__(self) -> str:
        return f"{_method(self.event.name)}({', '.join(map(str, self.event.members))})"


class _Start:
    """A state to begin in, shown by the values that are not alike in all of them."""

    def __init__(self, state: State, shown: str) -> None:
        self.state = state
        self._shown = shown

    def __repr__(self) -> str:
        return self._shown


def machine(
    protocol: Protocol, system: Callable[[], Any], *, ignore: Collection[str] = ()
) -> type[RuleBasedStateMachine]:
    """Make a state machine that tests your own system against a protocol.

    The protocol chooses the steps: in each state one of its possible actions and
    faults. ``system`` returns a new object. For each step the machine calls the
    object's method of the same name (``sink_publish`` for ``sink.publish``), with the
    members as integers. Then it calls the object's ``check(view)``, which raises if the
    object differs from ``view``, the protocol in its current state. Steps named in
    ``ignore`` happen only in the protocol. If a protocol has several first states, the
    machine calls ``start(view)`` with the chosen one.

    Run it as a test with ``test = machine(...).TestCase``. Shrinking prefers few steps,
    actions to faults, and the steps that are declared first.

    Raises ``UsageError`` for methods that are missing, and for names in ``ignore``
    that the protocol does not have.
    """
    interpreter = Interpreter(protocol)
    starts = _starts(interpreter)
    ignored = {_method(_known(interpreter, name)) for name in ignore}
    _refuse_missing(interpreter, system(), ignored, begins=len(starts) > 1)
    calls = [_Call(event) for event in _in_order(interpreter)]
    successors = functools.lru_cache(MOST_KEPT)(
        lambda s: dict(interpreter.successors(s))
    )

    class Machine(ShowsSteps):
        """Takes the steps of a protocol, and calls the system's methods for them."""

        def __init__(self) -> None:
            super().__init__()
            self.system = system()
            self.possible = successors(starts[0].state)

        @precondition(lambda self: self.possible)
        @rule(call=st.runner().flatmap(lambda self: self.choices()))
        def take(self, call: _Call) -> None:
            """Take a step, and compare."""
            name = _method(call.event.name)
            after = self.possible[call.event]
            if name not in ignored:
                getattr(self.system, name)(*call.event.members)
            self.possible = successors(after)
            self.system.check(interpreter.look(after))

        @precondition(lambda self: not self.possible)
        @rule()
        def rest(self) -> None:
            """Let nothing happen, as nothing can."""

        def choices(self) -> SearchStrategy[_Call]:
            """Draw one of the steps that are possible.

            Each is drawn by its number among all: it stays the same step when, in
            shrinking, those before it go.
            """
            return st.sampled_from(calls).filter(lambda c: c.event in self.possible)

        def step_in_words(self, name: str, drawn: dict[str, Any]) -> str | None:
            """Show a step as the call that it makes."""
            if name not in ("take", "start"):
                return None
            (shown,) = drawn.values()
            return f"state.{shown if name == 'take' else f'start({shown})'}"

    class BeginningMachine(Machine):
        """Begins in one of several states, and passes it to the system."""

        @initialize(begun=st.sampled_from(starts))
        def start(self, begun: _Start) -> None:
            """Begin."""
            self.possible = successors(begun.state)
            self.system.start(interpreter.look(begun.state))

    made = BeginningMachine if len(starts) > 1 else Machine
    made.__name__ = made.__qualname__ = f"{type(protocol).__name__}Machine"
    return made


def _method(name: str) -> str:
    return name.replace(".", "_")


def _starts(interpreter: Interpreter) -> list[_Start]:
    """List the states that a protocol may begin in, as far as they are few."""
    states = list(itertools.islice(interpreter.initial_states(), MOST_STARTS))
    names = [
        field.path + "".join(f"[{member}]" for member in place)
        for field, place in interpreter.places
    ]
    differ = [len(set(values)) > 1 for values in zip(*states, strict=True)]
    return [
        _Start(
            state,
            ", ".join(
                f"{name}={value}"
                for name, value, shown in zip(names, state, differ, strict=True)
                if shown
            ),
        )
        for state in states
    ]


def _in_order(interpreter: Interpreter) -> list[Event]:
    """List all events: actions before faults, each in order of declaration."""
    return sorted(interpreter.events(), key=lambda event: event.fault)


def _known(interpreter: Interpreter, name: str) -> str:
    methods = {_method(step): step for step in interpreter.steps}
    label = f"action of {interpreter.protocol.label()}"
    return methods[pick(_method(name), methods, label)]


def _refuse_missing(
    interpreter: Interpreter, made: object, ignored: set[str], *, begins: bool
) -> None:
    """Raise ``UsageError`` where methods are missing or take other arguments."""
    wanted = {
        _method(step.name): step
        for step in interpreter.steps.values()
        if _method(step.name) not in ignored
    }
    own = {"check": 1, **({"start": 1} if begins else {})}
    for name in own.keys() & wanted.keys():
        message = f"{name!r} is the name of a step and of what it is compared by"
        raise UsageError(message)
    arguments = {name: len(step.sorts) for name, step in wanted.items()} | own
    odd = list(_odd(made, arguments, wanted))
    if odd:
        message = (
            f"{type(made).__name__} does not go with {interpreter.protocol.label()}: "
            f"{'; '.join(odd)} (write what is missing, or name it in ignore=)"
        )
        raise UsageError(message)


def _odd(
    made: object, arguments: dict[str, int], steps: dict[str, Step]
) -> Iterator[str]:
    spare = [n for n in dir(made) if not n.startswith("_") and n not in arguments]
    for name, number in arguments.items():
        sorts = steps[name].sorts if name in steps else ()
        names = ", ".join(sort.name.lower() for sort in sorts) or "view" * (number > 0)
        method = getattr(made, name, None)
        if not callable(method):
            hint = did_you_mean(name, spare, otherwise="", form="{}")
            yield f"it lacks {name}({names}){hint and f', {hint}'}"
            continue
        try:
            inspect.signature(method).bind(*range(number))
        except TypeError:
            yield f"{name} must take ({names})"
        except ValueError:
            continue
