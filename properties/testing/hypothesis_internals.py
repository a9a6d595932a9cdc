"""Every private name of Hypothesis that is used here.

Nothing else in this package overrides or reads a private member of Hypothesis. A test
holds the installed version to it.
"""

from __future__ import annotations

from typing import Any

from hypothesis.stateful import RuleBasedStateMachine


class ShowsSteps(RuleBasedStateMachine):
    """A state machine that says how its steps are shown.

    Hypothesis shows a step as ``state.take(call=...)``, and has no public way to change
    that.
    """

    def step_in_words(self, name: str, drawn: dict[str, Any]) -> str | None:
        """Return a step as a statement; None leaves it as it is."""
        raise NotImplementedError

    def _repr_step(self, rule: Any, data: Any, result: Any) -> str:
        words = self.step_in_words(rule.function.__name__, data)
        return str(super()._repr_step(rule, data, result)) if words is None else words
