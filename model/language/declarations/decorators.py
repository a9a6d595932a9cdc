"""What is declared on a protocol's methods: actions, faults, claims, observations."""

from __future__ import annotations

import re
from collections import deque
from dataclasses import dataclass
from types import FunctionType
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, overload

from onceproof.model.errors import ModelError
from onceproof.model.language.declarations.domains import domains_of
from onceproof.model.language.declarations.modality import Modality
from onceproof.model.language.fields import Param
from onceproof.model.language.sorts import Sort, sorts_of
from onceproof.model.language.source_location import defined_at, here

if TYPE_CHECKING:
    from collections.abc import Callable

    from onceproof.model.language.declarations.domains import Per, Ranging

F = TypeVar("F", bound="Callable[..., None]")
C = TypeVar("C", bound="Callable[..., bool]")
L = TypeVar("L", bound="Callable[..., bool]")
T = TypeVar("T", bound="Callable[..., Pair]")
Observed = TypeVar("Observed")

Pair: TypeAlias = tuple[bool, bool]


@dataclass(frozen=True)
class ActionMark:
    """What ``@action`` and ``@fault`` declare about a method."""

    per: tuple[Sort, ...]
    """The sorts whose members the step is for."""
    fault: bool
    """Whether the step is a fault."""
    at_most: int | Param | None
    """The budget of a fault, or None for no budget of its own."""
    fair: bool | None = None
    """Whether the step is weakly fair; None where nothing is written."""
    by: str = ""
    """The process that takes the step, or that the fault hits, in words."""


@dataclass(frozen=True)
class ClaimMark:
    """What ``@always`` and its kin note on a method; a ``lemma`` helps proofs."""

    when: Modality
    """When the claim must hold."""
    per: tuple[Ranging, ...] = ()
    """The sorts and values that it is claimed of, one by one."""
    lemma: bool = False
    """Whether it is there to help proofs of other claims."""


@dataclass(frozen=True)
class ObserveMark:
    """What ``@observe`` notes on a method."""

    per: tuple[Sort, ...]
    """The sorts whose members are observed, one by one."""


_MOST_KEPT = 1024

_declared: deque[FunctionType] = deque(maxlen=_MOST_KEPT)
"""What was declared, until the class that it is in is made."""


def _mark(function: Any, mark: object) -> None:
    where = defined_at(function)
    if not isinstance(function, FunctionType):
        message = (
            f"a decorator of the language is for methods, not {function!r}; "
            "write it directly above `def`"
        )
        raise ModelError(message, where=where or here())
    if hasattr(function, "onceproof_mark"):
        message = (
            f"{function.__name__} has two decorators of the language, and only one "
            "would count; write a method for each"
        )
        raise ModelError(message, where=where)
    function.onceproof_mark = mark  # type: ignore[attr-defined]
    _declared.append(function)


def taken_from(module: str, prefix: str) -> list[FunctionType]:
    """List what was declared in a class body, also what it gave up again, once."""
    found = [
        function
        for function in _declared
        if function.__module__ == module and function.__qualname__.startswith(prefix)
    ]
    for function in found:
        _declared.remove(function)
    return found


@overload
def action(function: F) -> F: ...
@overload
def action(
    *, per: Sort | tuple[Sort, ...] = (), fair: bool | None = None, by: str = ""
) -> Callable[[F], F]: ...
def action(
    function: F | None = None,
    *,
    per: Sort | tuple[Sort, ...] = (),
    fair: bool | None = None,
    by: str = "",
) -> F | Callable[[F], F]:
    """Declare a step of the protocol, one for each member (or tuple) of ``per``.

    A ``fair`` action does not wait for ever: if from some moment on it could always
    change something, it happens (weak fairness, for each member separately). An action
    that overrides a fair one must say ``fair=True`` or ``fair=False``. ``by`` names the
    process in whose lane a run shows the action; give it only if that is neither the
    first process of ``per`` nor the part that declares the action.
    """

    def declare(method: F) -> F:
        mark = ActionMark(
            sorts_of(per), fault=False, at_most=None, fair=fair, by=_one_line(by)
        )
        _mark(method, mark)
        return method

    return declare if function is None else declare(function)


@overload
def fault(function: F) -> F: ...
@overload
def fault(
    *,
    per: Sort | tuple[Sort, ...] = (),
    at_most: int | Param | None = None,
    by: str = "",
) -> Callable[[F], F]: ...
def fault(
    function: F | None = None,
    *,
    per: Sort | tuple[Sort, ...] = (),
    at_most: int | Param | None = None,
    by: str = "",
) -> F | Callable[[F], F]:
    """Declare a step of the environment that does harm.

    Each occurrence uses one of the protocol's ``faults`` and, if ``at_most`` is given,
    one of the fault's own. ``by`` names the process that it hits, as for an action.
    """
    whole = isinstance(at_most, int) and not isinstance(at_most, bool)
    if not (at_most is None or isinstance(at_most, Param) or (whole and at_most >= 0)):
        message = (
            "the budget of a fault (at_most=, losses=, crashes= and the like) is how "
            f"often it may happen, a whole number or a parameter, not {at_most!r}"
        )
        raise ModelError(message, where=here())

    def declare(method: F) -> F:
        mark = ActionMark(sorts_of(per), fault=True, at_most=at_most, by=_one_line(by))
        _mark(method, mark)
        return method

    return declare if function is None else declare(function)


def _one_line(by: object) -> str:
    """Give the name of a process. Raises ``ModelError`` for what is no line of text."""
    if not isinstance(by, str) or not by.isprintable() or by != by.strip():
        message = f'by= names a process in words, such as by="coordinator", not {by!r}'
        raise ModelError(message, where=here())
    return by


@overload
def observe(method: Observed) -> Observed: ...
@overload
def observe(*, per: Sort | tuple[Sort, ...] = ()) -> Callable[[Observed], Observed]: ...
def observe(
    method: Observed | None = None, *, per: Sort | tuple[Sort, ...] = ()
) -> Observed | Callable[[Observed], Observed]:
    """Declare what the outside sees, under a name of the ledger's vocabulary.

    Most of its names are of an event, or of more: ``per`` says which sorts those are.
    """

    def declare(observed: Observed) -> Observed:
        _mark(observed, ObserveMark(sorts_of(per)))
        return observed

    return declare if method is None else declare(method)


def _claim(
    when: Modality, per: Per | tuple[Per, ...], *, lemma: bool = False
) -> Callable[[Any], Any]:
    def declare(method: Any) -> Any:
        _mark(method, ClaimMark(when, domains_of(per), lemma=lemma))
        return method

    return declare


@overload
def always(method: C) -> C: ...
@overload
def always(*, per: Per | tuple[Per, ...] = ()) -> Callable[[L], L]: ...
def always(
    method: C | None = None, *, per: Per | tuple[Per, ...] = ()
) -> C | Callable[[L], L]:
    """Claim that the method holds in every reachable state.

    With ``per``, it holds for all members (or tuples of members).
    """
    declare = _claim(Modality.ALWAYS, per)
    return declare if method is None else declare(method)


@overload
def step(method: C) -> C: ...
@overload
def step(*, per: Per | tuple[Per, ...] = ()) -> Callable[[L], L]: ...
def step(
    method: C | None = None, *, per: Per | tuple[Per, ...] = ()
) -> C | Callable[[L], L]:
    """Claim ``method(self, after)`` of every step: ``self`` before, ``after`` it.

    With ``per``, ``method(self, member, after)`` holds for all members. A step changes
    the state: an action that leaves it as it is takes none. A claim that reads one side
    alone is judged of the states that steps leave, or lead to, and of no other: what
    holds in every state is claimed by ``always``.
    """
    declare = _claim(Modality.STEP, per)
    return declare if method is None else declare(method)


@overload
def at_rest(method: C) -> C: ...
@overload
def at_rest(*, per: Per | tuple[Per, ...] = ()) -> Callable[[L], L]: ...
def at_rest(
    method: C | None = None, *, per: Per | tuple[Per, ...] = ()
) -> C | Callable[[L], L]:
    """Claim that the method holds wherever no action changes anything any more.

    With ``per``, it holds there for all members (or tuples of members).
    """
    declare = _claim(Modality.AT_REST, per)
    return declare if method is None else declare(method)


@overload
def recoverable(method: C) -> C: ...
@overload
def recoverable(*, per: Per | tuple[Per, ...] = ()) -> Callable[[L], L]: ...
def recoverable(
    method: C | None = None, *, per: Per | tuple[Per, ...] = ()
) -> C | Callable[[L], L]:
    """Claim that rest with the method true can be reached, if faults now stop.

    With ``per``, it is claimed for each member (or tuple of members) on its own.
    """
    declare = _claim(Modality.RECOVERABLE, per)
    return declare if method is None else declare(method)


@overload
def sometimes(method: C) -> C: ...
@overload
def sometimes(*, per: Per | tuple[Per, ...] = ()) -> Callable[[L], L]: ...
def sometimes(
    method: C | None = None, *, per: Per | tuple[Per, ...] = ()
) -> C | Callable[[L], L]:
    """State a witness: some reachable state satisfies the method.

    With ``per``, there is one witness for each member (or tuple of members). Each names
    its member, so symmetry cannot exchange the members of that sort.
    """
    declare = _claim(Modality.SOMETIMES, per)
    return declare if method is None else declare(method)


@overload
def eventually(method: C) -> C: ...
@overload
def eventually(*, per: Per | tuple[Per, ...] = ()) -> Callable[[L], L]: ...
def eventually(
    method: C | None = None, *, per: Per | tuple[Per, ...] = ()
) -> C | Callable[[L], L]:
    """Claim that every fair run reaches a state where the method is true.

    With ``per``, it is claimed for each member (or tuple of members) on its own.
    """
    declare = _claim(Modality.EVENTUALLY, per)
    return declare if method is None else declare(method)


@overload
def lemma(method: C) -> C: ...
@overload
def lemma(*, per: Per | tuple[Per, ...] = ()) -> Callable[[L], L]: ...
def lemma(
    method: C | None = None, *, per: Per | tuple[Per, ...] = ()
) -> C | Callable[[L], L]:
    """Claim an invariant that helps to prove the others.

    With ``per``, it holds for all members (or tuples of members).
    """
    declare = _claim(Modality.ALWAYS, per, lemma=True)
    return declare if method is None else declare(method)


@overload
def leads_to(method: T) -> T: ...
@overload
def leads_to(*, per: Per | tuple[Per, ...] = ()) -> Callable[[T], T]: ...
def leads_to(
    method: T | None = None, *, per: Per | tuple[Per, ...] = ()
) -> T | Callable[[T], T]:
    """Claim that in every fair run, what comes first leads to what comes second.

    The method returns both, as a pair of truth values: once the first holds, now or
    later the second does.
    """
    declare = _claim(Modality.LEADS_TO, per)
    return declare if method is None else declare(method)


def kebab(name: str) -> str:
    """Spell ``MicroBatch`` or ``micro_batch`` as ``micro-batch``."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", name).replace("_", "-").lower()
