"""A mutation: one small change of what the code means, and what ought to notice."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Mutation:
    """``old`` stands in ``file`` once, and ``new`` takes its place.

    ``equivalent`` says why nothing can notice, where nothing can.
    """

    file: str
    meaning: str
    old: str
    new: str
    equivalent: str = ""

    @property
    def digest(self) -> str:
        """What is changed into what, in eight digits: a result is of this change."""
        change = f"{self.old}\0{self.new}".encode()
        return hashlib.sha256(change).hexdigest()[:8]

    @property
    def text(self) -> str:
        """The file as it is."""
        return (ROOT / self.file).read_text(encoding="utf-8")

    @property
    def fits(self) -> bool:
        """Whether the old text occurs just once, and the new one differs."""
        return self.text.count(self.old) == 1 and self.old != self.new

    @property
    def mutated(self) -> str:
        """The file as it is after the change."""
        return self.text.replace(self.old, self.new)


# Which tests are tried, the quickest first, by the place of what was changed.
_ALIKE = (
    "tests/soundness/test_soundness.py::test_every_reader_agrees_with_the_brute_force"
)
_KEPT = (
    "tests/soundness/test_soundness.py::test_what_once_showed_a_disagreement_shows_none"
)
_BY_HAND = "tests/model/language/parts/test_parts_by_hand.py"
_LANGUAGE = (
    _BY_HAND,
    "tests/model/language/terms/test_terms.py",
    "tests/model/language/test_mistakes.py",
    "tests/model/language/test_fixes_named.py",
    "tests/model/language/test_language.py",
    "tests/model/language/test_claims_of_values.py",
    "tests/model/language/test_sugar.py",
    "tests/model/language/stores/test_values_before.py",
    "tests/model/language/test_named_members.py",
    "tests/model/language/declarations/test_declarations.py",
    "tests/model/language/expressions/test_choices.py",
    "tests/model/test_effects_by_hand.py",
    "tests/model/test_ranges.py",
    "tests/model/language/stores/test_swallowed_errors.py",
    "tests/model/language/terms/test_binding.py",
    "tests/model/language/parts/test_networks.py",
    "tests/model/language/test_members.py",
    "tests/model/language/parts/test_channels.py",
    "tests/model/language/declarations/test_records.py",
    "tests/model/language/composition/test_part_families.py",
    "tests/model/test_bounds.py",
    "tests/model/language/parts/test_bags.py",
)
_VERDICTS = "tests/model/search/test_verdicts_by_hand.py"
_PROOFS = (
    "tests/properties/judges/test_prove.py",
    "tests/properties/judges/test_prove_tricky.py",
)
_CHOSEN = "tests/spark_checks/plan/test_choice.py"
_SCHEDULE = "tests/spark_checks/plan/test_schedule.py"
_PLANS = (
    "tests/spark_checks/plan/test_plan_texts.py",
    "tests/spark_checks/plan/test_plans.py",
)
COMPARING = (_ALIKE, _KEPT)
_RUNS = (
    "tests/model/interleavings/test_interleavings.py",
    "tests/model/interleavings/test_runs_by_hand.py",
)
_CONFIRMED = "tests/spark_checks/replay/test_confirmation.py"
_FIRED = "tests/spark_checks/inject/test_rules_fire.py"
_INJECTED = (
    _FIRED,
    "tests/spark_checks/inject/test_rules.py",
    "tests/spark_checks/inject/test_checkpoint_edits.py",
    "tests/spark_checks/inject/test_tracer.py",
)
_OF_FAIR_RUNS = (
    _VERDICTS,
    "tests/model/search/test_liveness.py",
    "tests/model/search/test_step_graph.py",
    *COMPARING,
)
_SEARCH = (
    _VERDICTS,
    "tests/model/search/test_native_by_hand.py",
    "tests/model/search/test_search.py",
    "tests/model/search/test_word_boundaries.py",
    "tests/model/search/test_symmetry.py",
    "tests/model/test_readers_agree.py",
    *COMPARING,
)
TESTS: dict[str, tuple[str, ...]] = {
    "model/language/parts/channels.py": (
        _BY_HAND,
        "tests/model/language/parts/test_channels.py",
        *COMPARING,
    ),
    "model/language/parts/networks.py": (
        _BY_HAND,
        "tests/model/language/parts/test_networks.py",
        *COMPARING,
    ),
    "model/language/parts/processes.py": (
        _BY_HAND,
        "tests/model/language/parts/test_networks.py",
        *COMPARING,
    ),
    "model/language/parts/clocks.py": (
        _BY_HAND,
        "tests/model/language/parts/test_networks.py",
        *COMPARING,
    ),
    "model/language/tracing/durable_fields.py": (*_RUNS, *COMPARING),
    "model/language/": (*_LANGUAGE, *COMPARING),
    "model/search/symmetry.py": (
        _VERDICTS,
        *COMPARING,
        "tests/model/search/test_symmetry.py",
    ),
    "model/search/simulation.py": (*COMPARING, "tests/model/search/test_simulation.py"),
    "model/search/walk_watch.py": (*COMPARING, "tests/model/search/test_simulation.py"),
    "model/search/liveness.py": _OF_FAIR_RUNS,
    "model/search/fairness/": _OF_FAIR_RUNS,
    "model/search/states/": ("tests/model/search/test_packed_states.py", *_SEARCH),
    "model/search/native/": ("tests/model/search/test_lanes.py", *_SEARCH),
    "model/search/": _SEARCH,
    "model/interleavings/": (
        *_RUNS,
        "tests/model/interleavings/test_orbits.py",
        *COMPARING,
    ),
    "model/export/javascript.py": COMPARING,
    "model/export/tla.py": (
        "tests/soundness/test_tla.py",
        "tests/spark_checks/cli/test_export.py",
    ),
    "properties/judges/by_proof/": (_KEPT, _ALIKE, *_PROOFS),
    "properties/judges/by_history.py": (
        "tests/properties/judges/test_by_history.py",
        _CONFIRMED,
        "tests/properties/test_guarantees.py",
        "tests/model/zoo",
    ),
    "properties/judges/library.py": ("tests/properties/judges/test_library.py",),
    "properties/": (
        "tests/properties/test_accepted.py",
        "tests/properties/test_guarantees.py",
        "tests/properties/test_ledger.py",
        "tests/properties/test_verdicts.py",
        _KEPT,
        _ALIKE,
        "tests/model/zoo",
    ),
    "spark_checks/plan/schedule.py": (_SCHEDULE, _CHOSEN, *_PLANS),
    "spark_checks/plan/task_faults.py": (_SCHEDULE, *_PLANS),
    "spark_checks/plan/choice.py": (_CHOSEN,),
    "spark_checks/sinks/code_points.py": (
        _FIRED,
        "tests/spark_checks/inject/test_injection_points.py",
        "tests/spark_checks/plan/test_plan_texts.py",
        "tests/spark_checks/inject/test_tracer.py",
    ),
    "spark_checks/inject/tracing/injection_points.py": (
        "tests/spark_checks/inject/test_injection_points.py",
        "tests/spark_checks/plan/test_plan_texts.py",
        "tests/spark_checks/inject/test_tracer.py",
    ),
    "spark_checks/inject/checkpoint_edits.py": _INJECTED,
    "spark_checks/inject/tracing/tracer.py": _INJECTED,
    "spark_checks/replay/recovery.py": ("tests/spark_checks/replay/test_recovery.py",),
    "spark_checks/replay/": (_CONFIRMED,),
    "spark_checks/": _PLANS,
}


def tests_for(file: str) -> tuple[str, ...]:
    """Give the tests that ought to notice a change of a file."""
    place = max((p for p in TESTS if file.startswith(p)), key=len)
    return tuple(t for t in TESTS[place] if (ROOT / t.partition("::")[0]).exists())
