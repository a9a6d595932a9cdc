"""All paths of a state graph, as far as they differ in their class."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, NamedTuple

from onceproof.model.errors import UsageError
from onceproof.model.interleavings.path_classes import NO_CRASH
from onceproof.model.traces import Trace

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from onceproof.model.interleavings.durable_state import Durable, Remains
    from onceproof.model.interleavings.orbit_graph import OrbitGraph
    from onceproof.model.interleavings.path_classes import PathClasses
    from onceproof.model.language.interpreter import State
    from onceproof.model.language.steps import Event

_NEWS = 1000
MOST_PLACES = 10_000_000
"""How many classes rows may have in all: 40 bytes each, and what tells them apart."""


class KeyEvents(NamedTuple):
    """For each event, by its number, what it is to an interleaving."""

    keys: Sequence[bool]
    """Whether it is a fault or writes durable state."""
    crashes: Sequence[bool]
    """Whether it loses volatile state at large."""
    heeds: Sequence[bool]
    """Whether it is another fault, whose effect volatile state decides."""


class Ending(NamedTuple):
    """Paths of one class that end at rest after a fault."""

    path_class: int
    """Their class."""
    end: Remains
    """The durable state that they end in."""
    size: int
    """How many there are."""
    place: int
    """Where one of them ends, in the paths that are kept."""


class Paths:
    """Follows all paths of a graph at once, from row to row.

    Of the paths to a row that are of one class, only their number is kept, and one.
    Those to states that differ in names are of one row: they go on in the same ways,
    up to names, so each is counted once. Where some renamings leave a row as it is,
    classes that these make of each other are followed as one.
    """

    def __init__(
        self,
        graph: OrbitGraph,
        classes: PathClasses,
        durable: Durable,
        remains: Sequence[Remains],
        events: KeyEvents,
        progress: Callable[[str], None] | None,
    ) -> None:
        """Follow them all. ``remains`` has the durable state of each row.

        ``progress`` is told how far that is. Raises ``UsageError`` where runs do not
        end, or are of too many kinds.
        """
        self._graph, self._classes = graph, classes
        self._durable, self._remains, self._events = durable, remains, events
        self._names = len(graph.group)
        self._back, self._step, self._naming = array("i"), array("i"), array("i")
        self._moves: dict[tuple[int, ...], dict[int, int]] = {}
        self._alike: list[dict[int, int]] = [{} for _ in graph.kinds]
        self._states: dict[tuple[int, int], State] = {}
        self._number = {event: i for i, event in enumerate(graph.found.events)}
        self.endings: list[Ending] = []
        """The failure runs at rest."""
        self._follow(progress)

    def _follow(self, progress: Callable[[str], None] | None) -> None:
        graph, faults = self._graph, [e.fault for e in self._graph.found.events]
        at: list[dict[int, list[int]]] = [{} for _ in range(graph.count)]
        for row, number in graph.starts.items():
            begun = self._classes.beginning(self._remains[row])
            at[row] = {begun: [number, self._add(-1, row, 0)]}
        for number, row in enumerate(graph.in_topological_order()):
            if progress is not None and number % _NEWS == 0:
                progress(
                    f"followed the runs through {number:,} of {graph.count:,} states"
                )
            here, at[row] = at[row], {}
            steps = list(graph.leaving(row))
            if all(faults[event] for _, event, _, _ in steps):
                for path_class, (size, place) in here.items():
                    if any(faults[e] for e in self._classes.events(path_class)):
                        end = Ending(path_class, self._remains[row], size, place)
                        self.endings.append(end)
            for step, event, to, naming in steps:
                known, work_out = self._moving(row, event, to, naming)
                self._move(here, at[to], step, known, work_out)

    def _move(
        self,
        here: dict[int, list[int]],
        there: dict[int, list[int]],
        step: int,
        known: dict[int, int],
        work_out: Callable[[int], int],
    ) -> None:
        """Let all paths to a row take a step."""
        for path_class, (size, place) in here.items():
            moved = known.get(path_class)
            if moved is None:
                moved = known[path_class] = work_out(path_class)
            longer, renaming = divmod(moved, self._names)
            before = there.get(longer)
            if before is None:
                there[longer] = [size, self._add(place, step, renaming)]
            else:
                before[0] += size

    def _add(self, back: int, step: int, naming: int) -> int:
        """Note a place on a path; the first has its row for a step."""
        place = len(self._back)
        if place >= MOST_PLACES:
            name = self._graph.found.system.name
            message = (
                f"{name} has more than {MOST_PLACES:,} kinds of paths to its states at "
                "these sizes, too many to enumerate interleavings; choose smaller ones"
            )
            raise UsageError(message)
        self._back.append(back)
        self._step.append(step)
        self._naming.append(naming)
        return place

    def _moving(
        self, row: int, event: int, to: int, naming: int
    ) -> tuple[dict[int, int], Callable[[int], int]]:
        """Return which class becomes which by a step, and how to work it out.

        To the number of the class belongs that of the renaming which names its paths
        as the row does that they lead to.
        """
        group, kind = self._graph.group, int(self._graph.kind[to])
        found, left, effect = NO_CRASH, NO_CRASH, 0
        is_key = self._events.keys[event]
        if self._events.crashes[event] or self._events.heeds[event]:
            before = self._remains[row]
            back = int(group.inverse[naming])
            after = self._durable.alike(self._remains[to])[back]
            if self._events.crashes[event]:
                found, left = before, after
            else:
                effect = self._durable.effect(before, after)

        def work_out(path_class: int) -> int:
            if is_key:
                path_class = self._classes.longer(
                    path_class, event, effect, found, left
                )
            path_class = self._classes.renamed(path_class, naming)
            alike, own = divmod(self._alike_of(path_class, kind), self._names)
            return alike * self._names + int(group.product[own, naming])

        move = (event if is_key else -1, effect, found, left, naming, kind)
        return self._moves.setdefault(move, {}), work_out

    def _alike_of(self, path_class: int, kind: int) -> int:
        """Return one of the classes that a row's own renamings make of each other.

        To its number belongs that of the renaming that makes it.
        """
        known = self._alike[kind]
        if path_class not in known:
            known[path_class] = max(
                self._classes.renamed(path_class, own) * self._names + own
                for own in self._graph.kinds[kind]
            )
        return known[path_class]

    def trace(self, ending: Ending) -> Trace:
        """Return one path of those that end so; members keep their names.

        What it is made of is checked: it is a run of the class.
        """
        run = self._one(ending.place)
        end = self._durable.of(run.states[-1])
        met = self._classes.canonical(self._class_of(run), end)
        if met != self._classes.canonical(ending.path_class, ending.end):
            message = "a run that was followed is of another class"
            raise RuntimeError(message)
        return run

    def _class_of(self, run: Trace) -> int:
        """Take the steps of a run one by one."""
        of, events = self._durable.of, self._events
        path_class = self._classes.beginning(of(run.start))
        for before, (event, after) in zip(run.states, run.steps, strict=False):
            number = self._number[event]
            found, left, effect = NO_CRASH, NO_CRASH, 0
            if events.crashes[number]:
                found, left = of(before), of(after)
            elif events.heeds[number]:
                effect = self._durable.effect(of(before), of(after))
            if events.keys[number]:
                path_class = self._classes.longer(
                    path_class, number, effect, found, left
                )
        return path_class

    def _one(self, place: int) -> Trace:
        graph, group = self._graph, self._graph.group
        places = []
        while self._back[place] >= 0:
            places.append(place)
            place = self._back[place]
        naming = 0
        start = state = graph.state(self._step[place])
        steps: list[tuple[Event, State]] = []
        for one in reversed(places):
            step = self._step[one]
            event = int(group.events[group.inverse[naming], graph.events[step]])
            taken = graph.found.events[event]
            naming = int(group.product[self._naming[one], naming])
            state = self._reached(state, taken, int(graph.targets[step]), naming)
            steps.append((taken, state))
        return Trace(start, tuple(steps))

    def _reached(self, before: State, event: Event, row: int, naming: int) -> State:
        """Return the state that a renaming takes to a row; paths share most of them."""
        if (row, naming) not in self._states:
            if naming == 0:
                after: State | None = self._graph.state(row)
            else:
                after = self._graph.found.interpreter.after(before, event)
            if after is None:
                message = f"{event} is not possible in a run that was followed"
                raise RuntimeError(message)
            self._states[row, naming] = after
        return self._states[row, naming]
