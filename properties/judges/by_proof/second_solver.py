"""A second solver, cvc5, for proofs that z3 has found."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from onceproof.model.errors import Disagreement
from onceproof.model.extras import what_to_install
from onceproof.model.language.declarations.modality import Modality
from onceproof.properties.judges.by_proof.smtlib_runs import RunText

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onceproof.model.language.sorts import Sort
    from onceproof.model.language.tracing.system import System
    from onceproof.properties.judges.by_proof.claims import ProofQuery


def recheck(
    system: System,
    claims: Sequence[ProofQuery],
    opened: frozenset[Sort],
    *,
    timeout_seconds: float,
    number: int = 1,
) -> str:
    """Say whether cvc5 confirms that claims and lemmas are inductive, all together.

    The induction is over ``number`` steps. Raises ``Disagreement`` if it finds a step
    that breaks one of them.
    """
    try:
        import cvc5  # noqa: PLC0415 - an extra
    except ModuleNotFoundError as error:
        return f"not re-checked by a second solver: {what_to_install(error)}"
    states = [q.question.term for q in claims if q.when is not Modality.STEP]
    steps = [q.question.term for q in claims if q.when is Modality.STEP]
    deadline = time.monotonic() + timeout_seconds
    text = RunText(system, states, steps, opened)
    scripts = text.scripts() if number == 1 else text.scripts_over(number)
    for place, script in scripts:
        answer = _ask(cvc5, script, deadline - time.monotonic())
        if answer == "sat":
            names = ", ".join(dict.fromkeys(q.claim.name for q in claims))
            message = f"z3 calls {names} inductive, and cvc5 finds {place} breaking it"
            raise Disagreement(message)
        if answer != "unsat":
            return f"not re-checked: cvc5 gave up on {place}"
    return f"re-checked by cvc5 {cvc5.__version__}"


def _ask(cvc5: Any, script: str, seconds: float) -> str:
    """Return cvc5's answer to a script."""
    if seconds <= 0:
        return "unknown"
    solver = cvc5.Solver(cvc5.TermManager())
    solver.setOption("enum-inst", "true")
    solver.setOption("tlimit-per", str(max(1, int(seconds * 1000))))
    parser = cvc5.InputParser(solver)
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, script, "induction")
    symbols = parser.getSymbolManager()
    answer = ""
    while not (command := parser.nextCommand()).isNull():
        answer = command.invoke(solver, symbols) or answer
    return answer.strip()
