"""Mutations of the judges: properties, ledgers, proofs."""

from __future__ import annotations

from tests.mutation.mutation import Mutation

PROOFS = (
    Mutation(
        "properties/judges/by_proof/fragment.py",
        "sorts that bound integers are ignored in the fragment",
        "            system.sized | sized | sized_by(system) | _bounding(system), key=_name",
        "            system.sized | sized | sized_by(system), key=_name",
    ),
    Mutation(
        "properties/judges/by_proof/fragment.py",
        "sizes that a claim uses are ignored in the fragment",
        "            system.sized | sized | sized_by(system) | _bounding(system), key=_name",
        "            system.sized | sized_by(system) | _bounding(system), key=_name",
    ),
    Mutation(
        "properties/judges/by_proof/fragment.py",
        "values by member are ignored in the fragment",
        "        if opened & field.named_members()",
        "        if field.named_members() and not opened",
    ),
    Mutation(
        "properties/judges/by_proof/fragment.py",
        "the test of a choice is asserted alone, and never denied",
        "        inside((term.test,), (True, False))",
        "        inside((term.test,), (True,))",
    ),
    Mutation(
        "properties/judges/by_proof/fragment.py",
        "what a quantifier inside a denial asks for is not turned round",
        "        inside((term.body,), (not positive,))",
        "        inside((term.body,), (positive,))",
    ),
    Mutation(
        "properties/judges/by_proof/fragment.py",
        "a claim about steps holds of a step that an action takes if it changes nothing",
        "    return t.disjunction([t.negation(changes(system, action)), holds])",
        "    return t.disjunction([changes(system, action), holds])",
    ),
    Mutation(
        "properties/judges/by_proof/induction.py",
        "the start is not asked",
        "        if goal.steps:\n            self._core = frozenset()\n"
        "            return z3.unsat",
        "        if True:\n            self._core = frozenset()\n"
        "            return z3.unsat",
    ),
    Mutation(
        "properties/judges/by_proof/induction.py",
        "what a proof assumed is not proved in turn",
        "                waiting += [goals[term, False] for term in core]\n",
        "",
    ),
    Mutation(
        "properties/judges/by_proof/induction.py",
        "the guard of an action is not assumed",
        "            breaks = conjoin([guard, negate(claim)])",
        "            breaks = conjoin([negate(claim)])",
    ),
    Mutation(
        "properties/judges/by_proof/claims.py",
        "a claim about rest is proved of every state alone",
        "    term = t.disjunction([t.negation(rest), query.question.term])",
        "    term = query.question.term",
    ),
    Mutation(
        "properties/judges/by_proof/claims.py",
        "a claim about rest is proved where there is none",
        "    term = t.disjunction([t.negation(rest), query.question.term])",
        "    term = t.disjunction([rest, query.question.term])",
    ),
    Mutation(
        "properties/judges/by_proof/claims.py",
        "variables of a claim and of an action share names",
        "        new = tuple(replace(v, name=v.name + suffix) for v in term.vars)",
        "        new = tuple(replace(v, name=v.name) for v in term.vars)",
    ),
    Mutation(
        "properties/judges/by_proof/bounded.py",
        "what an event does not write may change",
        "done = conjoin([one.guard, negate(one.stays), *effect, *frame])",
        "done = conjoin([one.guard, negate(one.stays), *effect])",
    ),
    Mutation(
        "properties/judges/by_proof/bounded.py",
        "faults keep a state from rest",
        "            for one in self._instances\n            if not one.event.fault\n",
        "            for one in self._instances\n",
    ),
    Mutation(
        "properties/judges/by_proof/encode.py",
        "integers are read without a sign",
        "        found = int(number.as_signed_long())",
        "        found = int(number.as_long())",
    ),
    Mutation(
        "properties/judges/by_proof/widths.py",
        "no room is left for the sign of the largest integer",
        "    return most.bit_length() + 1",
        "    return most.bit_length()",
    ),
    Mutation(
        "properties/judges/by_proof/encode.py",
        "a state starts from the first of several values",
        "    return disjoin([same(value, code) for code in codes])",
        "    return disjoin([same(value, code) for code in codes[:1]])",
    ),
    Mutation(
        "properties/judges/by_proof/encode.py",
        "an element at an index that is worked out is the last one",
        "            for number in range(size - 2, -1, -1):",
        "            for number in range(size - 2, 0, -1):",
    ),
    Mutation(
        "properties/judges/by_proof/confirm.py",
        "a search that refutes a proof is not heard",
        "        refuted = self.refutes(finding.property)\n        if refuted is None:",
        "        refuted = None\n        if refuted is None:",
    ),
)

JUDGES = (
    Mutation(
        "properties/verdicts.py",
        "the strongest clause gives a property its verdict",
        "    return min(verdicts, key=_WEAKEST_FIRST.index, default=Verdict.VACUOUS)",
        "    return max(verdicts, key=_WEAKEST_FIRST.index, default=Verdict.VACUOUS)",
    ),
    Mutation(
        "properties/verdicts.py",
        "a property without a clause holds",
        "    return min(verdicts, key=_WEAKEST_FIRST.index, default=Verdict.VACUOUS)",
        "    return min(verdicts, key=_WEAKEST_FIRST.index, default=Verdict.HELD)",
    ),
    Mutation(
        "properties/verdicts.py",
        "nothing judged ends well",
        "    return 0 if found and all(v.holds for v in found) else 2",
        "    return 0 if all(v.holds for v in found) else 2",
    ),
    Mutation(
        "properties/property.py",
        "a claim per member is made of the first member alone",
        "            for members in _members(protocol, per)\n",
        "            for members in [*_members(protocol, per)][:1]\n",
    ),
    Mutation(
        "properties/guarantees.py",
        "an effect may be visible twice",
        "        all_of(ledger.visible(e) <= 1 for e in ledger.events()),",
        "        all_of(ledger.visible(e) <= 2 for e in ledger.events()),",
    ),
    Mutation(
        "properties/guarantees.py",
        "effects of no event are allowed",
        "        all_of(ledger.visible(e) <= 1 for e in ledger.events()),\n"
        "        ledger.unexplained() == 0,\n",
        "        all_of(ledger.visible(e) <= 1 for e in ledger.events()),\n"
        "        ledger.unexplained() >= 0,\n",
    ),
    Mutation(
        "properties/guarantees.py",
        "what was visible may go",
        "all_of(implies(before.shows(e), after.shows(e)) for e in before.events())",
        "all_of(implies(after.shows(e), before.shows(e)) for e in before.events())",
    ),
    Mutation(
        "properties/guarantees.py",
        "a promise needs not be kept",
        "all_of(implies(ledger.promised(e), ledger.shows(e)) for e in ledger.events())",
        "all_of(implies(ledger.shows(e), ledger.promised(e)) for e in ledger.events())",
    ),
    Mutation(
        "properties/ledger.py",
        "events of different units belong together",
        'return True if column is None else cast("bool", column(one) == column(other))',
        'return True if column is None else cast("bool", column(one) == column(one))',
    ),
    Mutation(
        "properties/ledger.py",
        "what is promised and not visible is not given up",
        "        return all_of(self.promised(event), self.visible(event) == 0)",
        "        return all_of(self.promised(event), self.visible(event) == 1)",
    ),
    Mutation(
        "properties/judges/by_history.py",
        "a run that did not come to rest has recovered",
        "        found = [] if history.rested and well else [last]",
        "        found = [] if well else [last]",
    ),
    Mutation(
        "properties/judges/by_history.py",
        "steps of a history are judged backwards",
        "if _moved(history, i, j) and not clause.holds(ledgers[i], ledgers[j])",
        "if _moved(history, i, j) and not clause.holds(ledgers[j], ledgers[i])",
    ),
    Mutation(
        "properties/judges/by_history.py",
        "a claim about rest is asked of the first moment",
        "last not in ledgers or clause.holds(ledgers[last]) else [last]",
        "last not in ledgers or clause.holds(ledgers[0]) else [last]",
    ),
    Mutation(
        "properties/judges/by_history.py",
        "a claim about every moment is left open by the last one alone",
        "        case Modality.ALWAYS | Modality.STEP:\n            return unread\n",
        (
            "        case Modality.ALWAYS | Modality.STEP:\n"
            "            return unread & {len(history.moments) - 1}\n"
        ),
    ),
    Mutation(
        "spark_checks/replay/sink_report.py",
        "a guarantee is held where nobody could read",
        "if self.unsteady.get(prop.name) or self.unobserved(prop):",
        "if self.unsteady.get(prop.name):",
    ),
)
