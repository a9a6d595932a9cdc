"""The installed version of Hypothesis shows the steps of a machine as it is asked."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import rule, run_state_machine_as_test

from onceproof.properties.testing.hypothesis_internals import ShowsSteps


class Failing(ShowsSteps):
    """Fails at its first step."""

    def step_in_words(self, name, drawn):
        return f"state.went({drawn['by']})" if name == "go" else None

    @rule(by=st.just("train"))
    def go(self, by):
        """Fail."""
        raise AssertionError(by)


def test_a_step_is_shown_in_our_words(capsys):
    """A version that asks another method for it fails here."""
    once = settings(
        database=None,
        derandomize=True,
        max_examples=5,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )

    with pytest.raises(AssertionError, match="train") as caught:
        run_state_machine_as_test(Failing, settings=once)

    notes = "\n".join(getattr(caught.value, "__notes__", ()))
    assert "state.went('train')" in notes + capsys.readouterr().out
