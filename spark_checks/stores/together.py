"""Several stores that one sink writes to, such as a database and a broker."""

from __future__ import annotations

import re
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from onceproof.model.text import did_you_mean
from onceproof.spark_checks.stores.interface import StoreError, started
from onceproof.spark_checks.stores.layered import breaks, itself, one_at_a_time
from onceproof.spark_checks.stores.spark_needs import SparkNeeds, is_list

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from onceproof.spark_checks.stores.interface import (
        BreakablePlace,
        RunningStore,
        SinkStore,
        StorePlace,
    )

_AS = "as in Together(orders=Postgres(), events=Kafka())"
_VERSION = re.compile(r"-\d[^/]*\.jar$")
_FEWEST = 2


@dataclass(frozen=True, init=False, repr=False)
class Together:
    """Stores that one sink writes to: ``Together(orders=Postgres(), events=Kafka())``.

    The place of each interleaving has a place in each of them, by its name:
    ``target.store.orders`` and ``target.store.events``. One of them may be
    ``Unreliable``.
    """

    stores: tuple[tuple[str, SinkStore], ...]
    """The stores by their names, in the order given."""

    def __init__(self, **stores: SinkStore) -> None:
        """Take two stores or more, each by a name of your own."""
        __tracebackhide__ = True
        for name, store in stores.items():
            _refuse(name, store)
        if len(stores) < _FEWEST:
            message = f"Together() takes two stores or more, {_AS}"
            raise StoreError(message)
        names: dict[SinkStore, str] = {}
        for name, store in stores.items():
            other = names.setdefault(itself(store), name)
            if other != name:
                message = (
                    f"{other} and {name} are one store, {store!r}; help: name it once, "
                    "and write to several tables or topics in its place"
                )
                raise StoreError(message)
        broken = [name for name, store in stores.items() if breaks(store)]
        if len(broken) > 1:
            message = (
                f"connections to {' and '.join(broken)} cannot be broken in one test; "
                "help: let one of them be Unreliable(), and then the other"
            )
            raise StoreError(message)
        object.__setattr__(self, "stores", tuple(stores.items()))

    def __repr__(self) -> str:
        """Show the stores as they show themselves."""
        shown = ", ".join(f"{name}={store!r}" for name, store in self.stores)
        return f"Together({shown})"

    @property
    def name(self) -> str:
        """The names of the kinds of store, such as ``postgres-kafka``."""
        return "-".join(store.name for _, store in self.stores)

    @property
    def unbreakable(self) -> str:
        """Why it is not wrapped itself: one of the stores is."""
        return (
            "the connections of one of its stores are broken, "
            "as in Together(orders=Unreliable(Postgres()), events=Kafka())"
        )

    @property
    def itself(self) -> SinkStore:
        """The same stores, without what breaks their connections."""
        return Together(**{name: itself(store) for name, store in self.stores})

    @property
    def breaks(self) -> bool:
        """Whether connections to one of the stores break."""
        return any(breaks(store) for _, store in self.stores)

    @property
    def one_at_a_time(self) -> bool:
        """Whether runs share the way to the store whose connections break."""
        return any(one_at_a_time(store) for _, store in self.stores)

    def breakable(self, place: JointPlace) -> BreakablePlace:
        """Return the place in the store whose connections break."""
        found: BreakablePlace = getattr(place, self._broken())
        return found

    def moved(self, place: JointPlace, port: int) -> JointPlace:
        """Return a place whose connections that break go through a port."""
        broken = self._broken()
        inner = self.breakable(place).through(port)
        return JointPlace({**place.places, broken: inner})

    def missing(self) -> tuple[str, ...]:
        """Say what to install for any of the stores."""
        found = (text for _, store in self.stores for text in store.missing())
        return tuple(dict.fromkeys(found))

    def version(self) -> str:
        """Name the versions of the stores, each after its kind."""
        return _versions((s.name, s.version()) for _, s in self.stores)

    def needs(self, settings: Mapping[str, str], folder: Path) -> SparkNeeds:
        """Say what the stores need of Spark's session, all in all."""
        return self.needs_of({n: s.needs(settings, folder / n) for n, s in self.stores})

    def needs_of(self, needs: Mapping[str, SparkNeeds]) -> SparkNeeds:
        """Put together what each of the stores needs, by its name.

        Raises ``StoreError`` where two of them cannot be in one session.
        """
        settings: dict[str, str] = {}
        jars: dict[str, Path] = {}
        for name, one in needs.items():
            for key, value in one.settings:
                there = settings.get(key)
                if there is not None and is_list(key):
                    known = there.split(",")
                    more = [p for p in value.split(",") if p not in known]
                    settings[key] = ",".join([*known, *more])
                elif there not in (None, value):
                    raise StoreError(_clash(name, key, there, value))
                else:
                    settings[key] = value
            for jar in one.jars:
                library = _VERSION.sub("", jar.name)
                other = jars.setdefault(library, jar)
                if other.name != jar.name:
                    raise StoreError(_clash(name, library, other.name, jar.name))
        kinds = dict(self.stores)
        versions = (
            (kinds[name].name, one.version or kinds[name].version())
            for name, one in needs.items()
        )
        return SparkNeeds(
            tuple(jars.values()),
            tuple(settings.items()),
            _versions(versions) if jars or settings else "",
        )

    def joined(self, running: Mapping[str, RunningStore]) -> RunningTogether:
        """Return the stores that run, by their names, as one that gives places."""
        return RunningTogether(running)

    def start(self, folder: Path) -> RunningTogether:
        """Start each of the stores in a folder of its own."""
        running: dict[str, RunningStore] = {}
        try:
            for name, store in self.stores:
                inner = folder / name
                inner.mkdir()
                running[name] = started(store, inner)
        except BaseException:
            RunningTogether(running).stop()
            raise
        return RunningTogether(running)

    def _broken(self) -> str:
        return next(name for name, store in self.stores if breaks(store))


@dataclass(frozen=True)
class JointPlace:
    """A place in each of several stores, by the names that ``Together`` has them by."""

    places: Mapping[str, Any] = field(hash=False)
    """The places by name; each is an attribute too, such as ``place.orders``."""

    def __getattr__(self, name: str) -> Any:
        """Return the place in one of the stores."""
        places = {} if name.startswith("__") else self.__dict__.get("places", {})
        if name in places:
            return places[name]
        message = f"there is no store {name!r}"
        if places:
            message += f"; {did_you_mean(name, places)}"
        raise AttributeError(message)

    @property
    def allowed(self) -> tuple[str, ...]:
        """The addresses that Spark may write to for the sink, in all stores."""
        return tuple(place for one in self.places.values() for place in one.allowed)


class RunningTogether:
    """Several stores that serve, and places in all of them."""

    process = None
    """Each of the stores notes a process of its own."""

    def __init__(self, running: Mapping[str, RunningStore]) -> None:
        """Use stores that run, by their names."""
        self._running = dict(running)

    def place(self, name: str) -> JointPlace:
        """Make a place of that name in each store, or in none."""
        places: dict[str, StorePlace] = {}
        try:
            for store, running in self._running.items():
                places[store] = running.place(name)
        except BaseException:
            self.drop(JointPlace(places))
            raise
        return JointPlace(places)

    def drop(self, place: JointPlace) -> None:
        """Remove the place in each store. Raises ``StoreError`` once all are tried."""
        problems = []
        for name, inner in place.places.items():
            try:
                self._running[name].drop(inner)
            except StoreError as error:
                problems.append(str(error))
        if problems:
            raise StoreError("; ".join(problems))

    def stop(self) -> None:
        """End what was started, the last first."""
        with ExitStack() as stack:
            for running in self._running.values():
                stack.callback(running.stop)


def _refuse(name: str, store: Any) -> None:
    """Refuse what is no store, and a name that a place has a use for."""
    if isinstance(store, type) or not hasattr(store, "missing"):
        # A text may hold a password.
        shown = "a text" if isinstance(store, str) else repr(store)
        message = f"Together() takes stores, {_AS}; {name} is {shown}"
        raise StoreError(message)
    if isinstance(store, Together):
        message = f"{name} is made of stores itself; name them all in one Together()"
        raise StoreError(message)
    if name.startswith("_") or hasattr(JointPlace, name) or name == "places":
        message = f"a store in Together() cannot be called {name}; choose another name"
        raise StoreError(message)


def _clash(name: str, what: str, one: str, other: str) -> str:
    return (
        f"{name} needs {what} as {other}, and another of the stores as {one}, which "
        "cannot be in one Spark session; help: write to one of them by a library "
        "without Spark"
    )


def _versions(known: Iterable[tuple[str, str]]) -> str:
    texts = (f"{kind} {text}" for kind, text in known if text)
    return ", ".join(dict.fromkeys(texts))
