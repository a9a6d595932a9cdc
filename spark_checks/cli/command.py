"""A command: what it reads of its options, and how whatever goes wrong ends.

Each command declares what it can do, and which parameters it reads for each of these.
What is given and not read is refused, so that no option is ignored in silence. A
parameter that no use reads, or that a use reads and is not there, is an error as the
command is made.
"""

from __future__ import annotations

import contextlib
import sys
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from onceproof.model.errors import UsageError
from onceproof.model.loading import running_on
from onceproof.spark_checks.cli.ending import no_answer
from onceproof.spark_checks.session.interruption import ReaderGoneError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

STDOUT = "onceproof.stdout"
_UNPRINTABLE = ("Cc", "Cs")
_FEW = 3
"""How many uses a message names that read an option; more are no help."""


@dataclass(frozen=True)
class Use:
    """One thing that a command does.

    ``when`` says, from the parameters, whether the command does this; ``reads``
    names the parameters that it reads. ``what`` is how messages speak of it. Of
    several uses the first whose ``when`` is true counts.
    """

    what: str
    reads: tuple[str, ...]
    when: Callable[[Mapping[str, Any]], bool] = lambda _: True


class Command(click.Command):
    """A command that refuses what it does not read, and ends in a verdict or in 2."""

    def __init__(
        self,
        *args: Any,
        uses: Sequence[Use] = (),
        apart: Iterable[tuple[str, str]] = (),
        **kwargs: Any,
    ) -> None:
        """Take the uses; ``apart`` are pairs of parameters that exclude each other.

        Raises ``TypeError`` where uses and parameters do not name the same.
        """
        super().__init__(*args, **kwargs)
        names = {str(param.name) for param in self.params}
        self.uses = tuple(uses) or (Use(f"in {self.name}", tuple(names)),)
        self.apart = tuple(apart)
        read = {name for use in self.uses for name in use.reads}
        named = read | {name for pair in self.apart for name in pair}
        if odd := (names - read) | (named - names):
            message = f"{self.name}: no use reads, or no option is, {sorted(odd)}"
            raise TypeError(message)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse; refuse what is given twice, empty or unprintable."""
        refuse_repeated(self, ctx, args)
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> int:
        """Run the command and return its exit status.

        Nothing but the command's own answer is an answer: whatever else ends it,
        ``sys.exit(0)`` and ``os._exit(0)`` in the code that it runs included, is an
        error.
        """
        self._refuse_unread(ctx)
        try:
            with _clean_stdout(ctx), running_on():
                status = super().invoke(ctx)
        except (click.ClickException, KeyboardInterrupt, ReaderGoneError):
            raise
        except BaseException as error:
            raise no_answer(error) from error
        if type(status) is not int:
            message = f"{self.name} gave no exit status, but {status!r}"
            raise TypeError(message)
        return status

    def _refuse_unread(self, ctx: click.Context) -> None:
        given = [p for p in self.params if _given(ctx, p)]
        use = next(use for use in self.uses if use.when(ctx.params))
        for one, other in self.apart:
            both = [p for p in given if p.name in (one, other)]
            if len(both) > 1:
                first, second = (_spelled(p) for p in both)
                message = f"{first} and {second} exclude each other; leave one out"
                raise UsageError(message)
        for param in given:
            if param.name not in use.reads:
                reading = [u.what for u in self.uses if param.name in u.reads]
                name = _spelled(param)
                few = len(reading) <= _FEW
                only = f", only {' or '.join(reading)}" if few else ""
                message = f"{name} has no effect {use.what}{only}; leave out {name}"
                raise UsageError(message)


def refuse_repeated(
    command: click.Command, ctx: click.Context, args: Sequence[str]
) -> None:
    """Refuse what is given twice, and values that are empty or cannot be printed.

    Raises ``UsageError``.
    """
    if ctx.resilient_parsing:
        return
    values, _, order = command.make_parser(ctx).parse_args(list(args))
    options = [param for param in order if isinstance(param, click.Option)]
    for param in command.params:
        several = _texts(values.get(str(param.name)))
        for text in several:
            if not text:
                message = f"{_spelled(param)} is empty"
                raise UsageError(message)
            if any(unicodedata.category(c) in _UNPRINTABLE for c in text):
                message = f"{_spelled(param)} has unprintable characters: {text!a}"
                raise UsageError(message)
            if several.count(text) > 1:
                message = f"{_spelled(param)} is given {text!r} twice; once is enough"
                raise UsageError(message)
        times = options.count(param) if isinstance(param, click.Option) else 0
        if times > 1 and not param.multiple:
            message = f"{_spelled(param)} is given {times} times; give it once"
            raise UsageError(message)


def _texts(value: object) -> list[str]:
    several = value if isinstance(value, list | tuple) else [value]
    return [text for text in several if isinstance(text, str)]


def _given(ctx: click.Context, param: click.Parameter) -> bool:
    """Return whether a parameter was given, rather than left at its default."""
    name = str(param.name)
    left = (ParameterSource.DEFAULT, ParameterSource.DEFAULT_MAP, None)
    return ctx.get_parameter_source(name) not in left and ctx.params[name] != ()


def _spelled(param: click.Parameter) -> str:
    if isinstance(param, click.Option):
        return "/".join((param.opts[0], *param.secondary_opts))
    return param.make_metavar(click.Context(click.Command("any"))).strip("[].")


@contextlib.contextmanager
def _clean_stdout(ctx: click.Context) -> Iterator[None]:
    """Keep stdout for the answer where that is JSON; what else is printed is not it."""
    if not ctx.params.get("as_json"):
        yield
        return
    ctx.meta[STDOUT] = sys.stdout
    with contextlib.redirect_stdout(sys.stderr):
        yield
