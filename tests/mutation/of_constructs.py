"""Mutations of single constructs: parts per member, records, old values, fairness."""

from __future__ import annotations

from tests.mutation.mutation import Mutation

STORES = "model/language/stores/"
RECORDS = "model/language/declarations/records.py"
DOMAINS = "model/language/declarations/domains.py"
CHOICES = "model/language/expressions/choices.py"
PART = "model/language/composition/part.py"
STEPS = "model/language/steps.py"

PARTS = (
    Mutation(
        STORES + "member_store.py",
        "a rule for all elements of one member's part changes those of every member",
        "            return if_else(hit, rule(*rest), self._store.read(field, at))",
        "            return rule(*rest)",
    ),
    Mutation(
        STORES + "member_store.py",
        "what a member's part held before the step is read as that of the first member",
        "        return self._store.read_old(field, (*self._members, *indices))",
        "        first = [0 for _ in self._members]\n"
        "        return self._store.read_old(field, (*first, *indices))",
    ),
    Mutation(
        PART,
        "a part per member takes its own index for that of a process that crashes",
        "            sorts = field.sorts[len(self._members) :]",
        "            sorts = field.sorts",
    ),
    Mutation(
        "model/language/fields.py",
        "what a part per member starts from is asked for the members of the part",
        "        own = indices[self.for_part :]",
        "        own = indices[: len(indices) - self.for_part]",
    ),
)

VALUES = (
    Mutation(
        DOMAINS,
        "a claim for each value leaves out the last value",
        "    for values in itertools.product(*(one.values for one in domains)):",
        "    for values in itertools.product(*(one.values[:-1] for one in domains)):",
    ),
    Mutation(
        DOMAINS,
        "a claim per bool is made of True alone",
        'return Domain("value", (False, True))',
        'return Domain("value", (True,))',
    ),
    Mutation(
        DOMAINS,
        "a claim for values and members has the members behind the values",
        "            return tuple(next(left if isinstance(o, Sort) else right) for o in per)",
        "            return (*right, *left)",
    ),
    Mutation(
        CHOICES,
        "first_of returns the last member, and last_of the first",
        "    for member in listed if backwards else reversed(listed):",
        "    for member in reversed(listed) if backwards else listed:",
    ),
    Mutation(
        CHOICES,
        "first_of and last_of return a member where the condition holds for none",
        "        found = if_else(condition(member), member, found)",
        "        first = found is nobody\n"
        "        found = member if first else if_else(condition(member), member, found)",
    ),
)

BEFORE = (
    Mutation(
        STORES + "symbolic_store.py",
        "old(self) reads what has been written",
        "        places = self._places(field, indices)\n"
        "        return Symbolic(t.Get(field.path, places, field.type, self._after))",
        "        places = self._places(field, indices)\n"
        "        return Symbolic(self._now(field, places))",
    ),
    Mutation(
        STORES + "plain_store.py",
        "old(self) reads what has been written (plain runs)",
        "        return self._before.get((field.path, place), now)",
        "        return now",
    ),
    Mutation(
        STORES + "plain_store.py",
        "old(self) reads what was there before the last write (plain runs)",
        "        self._before.setdefault((field.path, place), held[place])",
        "        self._before[field.path, place] = held[place]",
    ),
    Mutation(
        STORES + "symbolic_store.py",
        "a guard that comes after an effect is forgotten",
        "            self.settle_indices(part)\n            self.guard.append(part)",
        "            self.settle_indices(part)\n            if late or not self.writes:\n"
        "                self.guard.append(part)",
    ),
    Mutation(
        STORES + "symbolic_store.py",
        "what was there before the step is not written again, though it was changed",
        "        if field.volatile or term != self._now(field, places):",
        "        if term != t.Get(field.path, places, field.type, self._after):",
    ),
    Mutation(
        STORES + "plain_store.py",
        "a guard after an effect that reads outside ends in an error (plain runs)",
        "            if not self._frozen:\n",
        "            if not (self._frozen or self._before):\n",
    ),
)

CLASSES = (
    Mutation(
        STEPS,
        "fair_actions makes nothing fair",
        "                    fair=mark.fair or path in fair,",
        "                    fair=bool(mark.fair),",
    ),
    Mutation(
        STEPS,
        "fair_actions makes the first action fair that a name means",
        "            found.update(named)",
        "            found.update(named[:1])",
    ),
    Mutation(
        "model/language/declarations/overrides.py",
        "a fair action is overridden by one that says nothing of it",
        "        if its.fair and mine.fair is None and not chosen:",
        "        if its.fair and mine.fair is None and chosen:",
    ),
    Mutation(
        "model/language/composition/arguments.py",
        "what a class declares anew is as the line of a base has it",
        "                found.pop(name, None)",
        "                found.get(name)",
    ),
    Mutation(
        "model/language/composition/arguments.py",
        "the line of a base goes before that of a class",
        '        found |= vars(base).get("_in_line", {})',
        '        found = {**vars(base).get("_in_line", {}), **found}',
    ),
)

RECORD = (
    Mutation(
        RECORDS,
        "of a record that is written, the last part stays as it was",
        "    for name, part in held.taken_apart(value).items():",
        "    for name, part in list(held.taken_apart(value).items())[:-1]:",
    ),
    Mutation(
        RECORDS,
        "a rule for all records sees the parts that it has written",
        "    store.write_all(*((field, part_of(name)) for name, field in "
        "held.fields.items()))",
        "    for name, field in held.fields.items():\n"
        "        store.write_all((field, part_of(name)))",
    ),
    Mutation(
        RECORDS,
        "a record differs from those that it is equal to",
        "        return not_(equal(self, other))",
        "        return equal(self, other)",
    ),
    Mutation(
        "model/language/expressions/comparisons.py",
        "records are equal that have one part alike",
        "        return all_of(*(equal(mine, its) for mine, its in pairs))",
        "        return not_(all_of(*(not_(equal(mine, its)) for mine, its in pairs)))",
    ),
    Mutation(
        "model/language/expressions/logic.py",
        "if_else chooses the other record",
        "        parts = [if_else(test, mine, its) for mine, its in pairs]",
        "        parts = [if_else(test, its, mine) for mine, its in pairs]",
    ),
    Mutation(
        "properties/guarantees.py",
        "an event counts as accepted though it may be rejected",
        '    return "visible" in offered and not {"accepted", "rejected"} & set(offered)',
        '    return "visible" in offered and not {"accepted"} & set(offered)',
    ),
    Mutation(
        "properties/judges/library.py",
        "what is vacuous is as stated where it is stated to break",
        "        return self.decided and not self.vacuous and as_they_are",
        "        return self.decided and as_they_are",
    ),
)

CONSTRUCTS = (*PARTS, *VALUES, *BEFORE, *CLASSES, *RECORD)
