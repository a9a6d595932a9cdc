"""Mutations of the model: language, search, interleavings, exports."""

from __future__ import annotations

from tests.mutation.mutation import Mutation

LANGUAGE = (
    Mutation(
        "model/language/terms/terms.py",
        "a sum of a constant over a sort is the constant",
        "if not variables or (kind is not Sum and isinstance(body, Const)):",
        "if not variables or isinstance(body, Const):",
    ),
    Mutation(
        "model/language/terms/terms.py",
        "a value is less than itself",
        "    if left == right:\n        return FALSE\n",
        "    if left == right:\n        return TRUE\n",
    ),
    Mutation(
        "model/language/terms/terms.py",
        "0 - x is x",
        "    if isinstance(right, Const) and number_of(right) == 0:\n"
        "        return left\n    return Sub(left, right)",
        "    if isinstance(right, Const) and number_of(right) == 0:\n"
        "        return left\n    if isinstance(left, Const) and number_of(left) == 0:\n"
        "        return right\n    return Sub(left, right)",
    ),
    Mutation(
        "model/language/terms/terms.py",
        "`False if test else True` is the test",
        "    if then == FALSE and orelse == TRUE:\n        return negation(test)",
        "    if then == FALSE and orelse == TRUE:\n        return test",
    ),
    Mutation(
        "model/language/terms/terms.py",
        "a conjunction keeps one of two parts that differ in a constant alone",
        "            if inner != neutral:\n                flat[inner] = None",
        "            if inner != neutral and negation(inner) not in flat:\n"
        "                flat[inner] = None",
    ),
    Mutation(
        "model/language/expressions/symbolic_value.py",
        "`a <= b` is `a < b`",
        "        return Symbolic(t.negation(t.less(right, left)))\n\n    def __ge__",
        "        return Symbolic(t.less(left, right))\n\n    def __ge__",
    ),
    Mutation(
        "model/language/expressions/symbolic_value.py",
        "subtraction from a number takes the wrong way round",
        '        left, right = _integers(self, other, "-")\n'
        "        return Symbolic(t.subtraction(right, left))",
        '        left, right = _integers(self, other, "-")\n'
        "        return Symbolic(t.subtraction(left, right))",
    ),
    Mutation(
        "model/language/stores/symbolic_store.py",
        "the write that came first wins",
        "            value = t.choice(hit, write.value, value)",
        "            value = t.choice(hit, value, write.value)",
    ),
    Mutation(
        "model/language/stores/plain_store.py",
        "a rule for all elements sees what it wrote before (plain runs)",
        "        for field, place, value in new:\n"
        "            self.write(field, place, value)",
        "        rules = {field.path: rule for field, rule in changes}\n"
        "        for field, place, _ in new:\n"
        "            at = map(Member, place, field.sorts)\n"
        "            self.write(field, place, rules[field.path](*at))",
    ),
    Mutation(
        "model/language/stores/symbolic_store.py",
        "a value one above the bound fits",
        "            if low < field.type.low or high > field.type.high:",
        "            if low < field.type.low or high > field.type.high + 1:",
    ),
    Mutation(
        "model/language/stores/symbolic_store.py",
        "an index one beyond the sort is let pass",
        "            if low < 0 or high >= self.sizes[sort]:",
        "            if low < 0 or high > self.sizes[sort]:",
    ),
    Mutation(
        "model/language/terms/ranges.py",
        "not (a < b) is taken for b < a: interval analysis learns a gap",
        "            self._order(condition.body.right, condition.body.left, gap=0)",
        "            self._order(condition.body.right, condition.body.left, gap=1)",
    ),
    Mutation(
        "model/language/terms/ranges.py",
        "the least difference is that of the two least values",
        "                return (a - d, b - c)",
        "                return (a - c, b - d)",
    ),
    Mutation(
        "model/language/terms/ranges.py",
        "a sum over a sort is bounded as if the sort had one member",
        "                return (a * times, b * times)",
        "                return (a, b)",
    ),
    Mutation(
        "model/language/terms/ranges.py",
        "the other branch of a choice is bounded as if the test held",
        "self.assuming(negation(term.test)).bounds(term.orelse)",
        "self.assuming(term.test).bounds(term.orelse)",
    ),
    Mutation(
        "model/language/steps.py",
        "a fault's own budget is one too large",
        '                when(used < cast("IntType", field.type).high)',
        '                when(used <= cast("IntType", field.type).high - (used > 9))',
    ),
    Mutation(
        "model/language/steps.py",
        "a fault takes nothing from the budget of all faults",
        '    limits = {"faults": protocol.faults}\n',
        '    limits = {"faults": protocol.faults} if mark.at_most is None else {}\n',
    ),
    Mutation(
        "model/language/fields.py",
        "a field starts from the first of several values alone",
        "        return tuple({(type(one), one): one for one in values}.values())",
        "        return tuple({(type(one), one): one for one in values}.values())[:1]",
    ),
    Mutation(
        "model/language/composition/part.py",
        "a crash leaves the volatile state of parts alone",
        "        for inner in self.parts.values():\n"
        "            inner.lose_volatile(*process)",
        "        for inner in self.parts.values():\n"
        "            inner.lose_volatile(*process) if process else None",
    ),
    Mutation(
        "model/language/composition/part.py",
        "the crash of one process takes the volatile state of all",
        "            return if_else(at[0] == process, self._start_of(field)(*at), kept)",
        "            return if_else(at[0] == at[0], self._start_of(field)(*at), kept)",
    ),
    Mutation(
        "model/language/parts/processes.py",
        "a crash loses nothing",
        "        self.part_around().lose_volatile(process)\n",
        "",
    ),
    Mutation(
        "model/language/parts/processes.py",
        "a process that stops can restart",
        "        self._fall(process, Status.STOPPED)",
        "        self._fall(process, Status.DOWN)",
    ),
    Mutation(
        "model/language/parts/channels.py",
        "`send_where` does not wait while a channel is full",
        "        self.need(\n            all_of(\n"
        "                implies(chosen(*at), used[at] < self.length)",
        "        self.need(\n            all_of(\n"
        "                implies(chosen(*at), used[at] <= self.length)",
    ),
    Mutation(
        "model/language/parts/channels.py",
        "what is received is the last message, not the first",
        "        message = self._channels.known(self.head)\n        self.drop(0)",
        "        message = self._channels.known(self.head)\n"
        "        self.drop(self._channels.length - 1)",
    ),
    Mutation(
        "model/language/parts/channels.py",
        "a place behind the last message keeps what was there",
        "            column[*self._at, last] = blank\n",
        "",
    ),
    Mutation(
        "model/language/parts/channels.py",
        "a message that overtakes replaces the one it overtakes",
        "            column[*self._at, place + 1] = first\n",
        "            column[*self._at, place + 1] = second\n",
    ),
    Mutation(
        "model/language/parts/channels.py",
        "a channel counts messages that are not there",
        "                        self.used > i,\n                        *(",
        "                        self.used >= i,\n                        *(",
    ),
    Mutation(
        "model/language/parts/networks.py",
        "a message that is received stays on its way",
        "        self.need(number > 0)\n        self.counts[place] = number - 1",
        "        self.need(number > 0)\n        self.counts[place] = number",
    ),
    Mutation(
        "model/language/parts/networks.py",
        "a message that is not on its way can be delivered once more",
        "        number = self.counts[place]\n"
        "        self.need(number > 0)\n"
        "        self.need(number < self.copies)",
        "        number = self.counts[place]\n        self.need(number < self.copies)",
    ),
    Mutation(
        "model/language/parts/clocks.py",
        "a timer fires though it does not run",
        "        self.store.require(self._running[member], late=True)\n",
        "",
    ),
    Mutation(
        "model/language/parts/clocks.py",
        "an epoch that is seen is taken over though it is older",
        "        self._epoch[member] = if_else(known < epoch, epoch, known)",
        "        self._epoch[member] = if_else(known < epoch, epoch, epoch)",
    ),
    Mutation(
        "model/language/parts/clocks.py",
        "who holds the current epoch is fenced off",
        "        return epoch >= self._epoch[member]",
        "        return epoch > self._epoch[member]",
    ),
    Mutation(
        "model/language/tracing/rest.py",
        "a state from which only faults lead is no rest",
        "        for action in system.actions\n        if not action.fault\n",
        "        for action in system.actions\n",
    ),
    Mutation(
        "model/language/tracing/rest.py",
        "an action moves though its guard does not hold",
        "    return t.conjunction([action.guard, changes(system, action)])",
        "    return changes(system, action)",
    ),
)

SEARCH = (
    Mutation(
        "model/search/native/expander.py",
        "a fault counts as a move: no rest while one can come",
        "            if not action.fault:\n                self.bump(self.moves)",
        "            self.bump(self.moves)",
    ),
    Mutation(
        "model/search/native/expander.py",
        "of two members that act together the first acts for all",
        "            if sort not in self.symmetry.sorts or sorts.count(sort) > 1:",
        "            if sort not in self.symmetry.sorts:",
    ),
    Mutation(
        "model/search/native/expander.py",
        "twins need not agree in every field",
        "                    same = self.b.and_(same, equal)",
        "                    same = equal",
    ),
    Mutation(
        "model/search/native/expander.py",
        "filling a field clears nothing of what it held",
        "            kept = self.b.and_(self.b.load(spot), constant(~clear))",
        "            kept = self.b.and_(self.b.load(spot), constant(-1))",
    ),
    Mutation(
        "model/search/native/expander.py",
        "a number is stored without its lower bound",
        "            code = self.b.sub(value, constant(low))",
        "            code = value",
    ),
    Mutation(
        "model/search/native/term_code.py",
        "fast path for uniform fields: any order of indices will do",
        "        if body.after or body.indices != term.vars or place.split:",
        "        if body.after or place.split:",
    ),
    Mutation(
        "model/search/native/term_code.py",
        "fast path for uniform fields: the state after is that before",
        "        if body.after or body.indices != term.vars or place.split:",
        "        if body.indices != term.vars or place.split:",
    ),
    Mutation(
        "model/search/native/term_code.py",
        "fast path for uniform fields: the first word holds all of a field",
        "        if body.after or body.indices != term.vars or place.split:",
        "        if body.after or body.indices != term.vars:",
    ),
    Mutation(
        "model/search/native/term_code.py",
        "fast path for uniform fields: some element for every element",
        '        sign = "==" if universal else "!="\n'
        "        return self.b.icmp_signed(sign, held, constant(pattern))",
        '        sign = "==" if universal else "=="\n'
        "        return self.b.icmp_signed(sign, held, constant(pattern))",
    ),
    Mutation(
        "model/search/native/term_code.py",
        "fast path for uniform fields: numbers are compared as they are coded",
        "            if isinstance(t.sort_of(body.left), EnumType):\n"
        "                wanted = number_of(body.right)",
        "            if t.sort_of(body.left) is not None:\n"
        "                wanted = number_of(body.right)",
    ),
    Mutation(
        "model/search/native/term_code.py",
        "an element is read without the lower bound of its type",
        "        return self.b.add(code, constant(low)) if low else code",
        "        return code",
    ),
    Mutation(
        "model/search/native/term_code.py",
        "a quantifier is settled by its last member",
        "            self.b.position_at_end(settled)\n"
        "            self.b.store(ir.Constant(I1, int(not universal)), found)\n"
        "            self.b.branch(end)",
        "            self.b.position_at_end(settled)\n"
        "            self.b.store(ir.Constant(I1, int(universal)), found)\n"
        "            self.b.branch(end)",
    ),
    Mutation(
        "model/search/native/lanes.py",
        "of elements of several bits the lowest alone is compared",
        "        for bit in range(1, place.bits):",
        "        for bit in range(1, 1):",
    ),
    Mutation(
        "model/search/native/lanes.py",
        "a number that no element holds equals the one with the same last bits",
        "        return same if fits is None else b.select(fits, same,",
        "        return same if fits is not None else b.select(fits, same,",
    ),
    Mutation(
        "model/search/native/lanes.py",
        "the elements of a member's row lie side by side in every field",
        "            apart *= dim\n",
        "            apart *= 1\n",
    ),
    Mutation(
        "model/search/native/chosen_members.py",
        "conditions without lanes of that stride are let be",
        "    one_by_one = tuple(c for c in inner if c not in at_once)",
        "    one_by_one = ()",
    ),
    Mutation(
        "model/search/native/chosen_members.py",
        "an action changes nothing where its first write changes nothing",
        "        for w in action.writes\n    )",
        "        for w in action.writes[:1]\n    )",
    ),
    Mutation(
        "model/search/states/bucket_table.py",
        "an entry has one bit of its state too few",
        "            entries[j & (AHEAD - 1)] = rest >> where[BUCKET_BITS]",
        "            entries[j & (AHEAD - 1)] = (rest >> where[BUCKET_BITS]) | 1",
    ),
    Mutation(
        "model/search/states/bucket_table.py",
        "a bucket's entries are spread the wrong way round",
        "            moves = held & 1\n",
        "            moves = 1 - (held & 1)\n",
    ),
    Mutation(
        "model/search/states/bucket_table.py",
        "a state that found its bucket full is new each time",
        "                if spill[h] == EMPTY:\n",
        "                if spill[h] != 1:\n",
    ),
    Mutation(
        "model/search/states/bucket_table.py",
        "a row that found its bucket full is new each time",
        "                    if spill[h] != EMPTY:\n",
        "                    if spill[h] == 1:\n",
    ),
    Mutation(
        "model/search/states/bucket_table.py",
        "states are mixed, and not one to one",
        "    x = x ^ (x >> half)\n    x = product(x, _OTHER) & mask",
        "    x = x | (x >> half)\n    x = product(x, _OTHER) & mask",
    ),
    Mutation(
        "model/search/states/bucket_table.py",
        "a row that came into a bucket a moment ago is not looked at",
        "            if scanned & 31 < BUCKET and _entry(bucket, scanned & 31) != EMPTY:",
        "            if scanned & 31 < BUCKET and _entry(bucket, scanned & 31) == 7:",
    ),
    Mutation(
        "model/search/states/bucket_table.py",
        "an insertion that stopped goes on one state too late",
        "                        progress[REACHED] = k\n",
        "                        progress[REACHED] = k + 1\n",
    ),
    Mutation(
        "model/search/states/packed_states.py",
        "states that found no room stay where they were when their segment grows",
        "self._put(again, segments.first(grown[0]) if len(grown) == 1 else -1)",
        "self._put(again, 1 << 62)",
    ),
    Mutation(
        "model/search/states/layout.py",
        "a state has a bit more than is said",
        "        return sum(p.bits * p.count for p in self.placements.values())",
        "        return sum(p.bits * p.count for p in self.placements.values()) - 1",
    ),
    Mutation(
        "model/search/states/bucket_table.py",
        "states of several words are compared by all but the last",
        "    for w in range(len(one)):\n        differ |= one[w] ^ other[w]",
        "    for w in range(len(one) - 1):\n        differ |= one[w] ^ other[w]",
    ),
    Mutation(
        "model/search/states/canonical_rows.py",
        "members that are out of order are left so",
        "            if m and keys[m - 1] > key:\n                ordered = False",
        "            if m > 1 and keys[m - 1] > key:\n                ordered = False",
    ),
    Mutation(
        "model/search/states/canonical_rows.py",
        "the renaming that stands for all is the last, not the least",
        "                        smaller = row[w] < least[w]",
        "                        smaller = row[w] != least[w]",
    ),
    Mutation(
        "model/search/states/layout.py",
        "an element lies one bit off in a field of several words",
        "        return self.word + element // per_word, element % per_word * self.bits",
        "        per_word += 1\n"
        "        return self.word + element // per_word, element % per_word * self.bits",
    ),
    Mutation(
        "model/search/states/claim_flags.py",
        "the flags of the second word are read from the first",
        "        found: NDArray[np.bool_] = self.rows[:, word] & (1 << bit) != 0",
        "        found: NDArray[np.bool_] = self.rows[:, 0] & (1 << bit) != 0",
    ),
    Mutation(
        "model/search/exhaustive.py",
        "a claim about rest is settled where nothing rests",
        "                rested = self._rested\n",
        "                rested = True\n",
    ),
    Mutation(
        "model/search/exhaustive.py",
        "a claim about rest is asked of every state",
        "                found = found & flags.rests",
        "                found = found",
    ),
    Mutation(
        "model/search/exhaustive.py",
        "faults help to recover",
        "        calm = np.array([not e.fault for e in graph.events] or [True])",
        "        calm = np.array([True for e in graph.events] or [True])",
    ),
    Mutation(
        "model/search/exhaustive.py",
        "to recover is to meet the claim, at rest or not",
        "        can = flags.rests & flags.holds(question.term)",
        "        can = flags.holds(question.term)",
    ),
    Mutation(
        "model/search/exhaustive.py",
        "a state recovers if the next one does, and no farther",
        "                if len(rows):\n                    moved = True\n",
        "                if len(rows):\n",
    ),
    Mutation(
        "model/search/exhaustive.py",
        "a premise that never holds proves what it leads to",
        "        if question.given is not None and not self._ever(question.given):\n"
        '            return SearchResult(question, "vacuous")\n',
        "",
    ),
    Mutation(
        "model/search/exhaustive.py",
        "under symmetry orbits are taken for states where runs are fair",
        "        if graph.symmetry is not None:\n",
        "        if graph.symmetry is None and False:\n",
    ),
    Mutation(
        "model/search/fairness/step_graph.py",
        "an event that happens in a piece need not be enabled all along to be owed",
        "    always = always[times == sizes[always // kinds]]",
        "    always = always[times > 0]",
    ),
    Mutation(
        "model/search/fairness/step_graph.py",
        "an event that is always enabled starves a run though it happens",
        "    found: NDArray[np.int64] = np.unique(np.setdiff1d(always, taken) // kinds)",
        "    found: NDArray[np.int64] = np.unique(always // kinds)",
    ),
    Mutation(
        "model/search/liveness.py",
        "every event is fair",
        "        self._fair = np.array([e.fair for e in graph.events], bool)",
        "        self._fair = np.array([True for e in graph.events], bool)",
    ),
    Mutation(
        "model/search/liveness.py",
        "what leads to something is only asked at the start",
        "    begins = begins[avoiding[begins]]",
        "    begins = begins[avoiding[begins]][: graph.levels[1]]",
    ),
    Mutation(
        "model/search/fairness/step_graph.py",
        "a step out of a piece counts as taken in it",
        "    stays = (piece[inside.sources] == piece[inside.targets]) & fair[inside.events]",
        "    stays = fair[inside.events]",
    ),
    Mutation(
        "model/search/symmetry.py",
        "a protocol that holds members is sorted as if it held none",
        "        self.simple = not holding and all(sum(row) <= 1 for row in indices)",
        "        self.simple = all(sum(row) <= 1 for row in indices)",
    ),
    Mutation(
        "model/search/renamings.py",
        "members are interchangeable though they start from values of their own",
        "        if size > 1 and not s.ordered and s not in named",
        "        if size > 1 and not s.ordered",
    ),
    Mutation(
        "model/search/symmetry.py",
        "fields of pairs are sorted as if they had one index",
        "        self.simple = not holding and all(sum(row) <= 1 for row in indices)",
        "        self.simple = not holding and all(sum(row) <= 2 for row in indices)",
    ),
    Mutation(
        "model/search/walk_watch.py",
        "walks ask claims about rest of every state",
        "found = ~flags.holds(question.term) & flags.rests",
        "found = ~flags.holds(question.term)",
    ),
    Mutation(
        "model/search/walk_watch.py",
        "walks that meet no witness say that it was met",
        'return SearchResult(question, "held" if trace else "undecided", trace)',
        'return SearchResult(question, "held", trace)',
    ),
)

INTERLEAVINGS = (
    Mutation(
        "model/interleavings/dependence.py",
        "disabling is no dependence",
        "    prevented = graph.step_of[graph.targets[one], renamed] < 0",
        "    prevented = graph.step_of[graph.targets[one], renamed] < -1",
    ),
    Mutation(
        "model/interleavings/dependence.py",
        "crashes commute",
        "    apart = (bound | ~met | crash[:, None] | crash[None, :]) & key[:, None] & key",
        "    apart = (bound | ~met) & key[:, None] & key",
    ),
    Mutation(
        "model/interleavings/dependence.py",
        "what was never met side by side commutes",
        "    apart = (bound | ~met | crash[:, None] | crash[None, :]) & key[:, None] & key",
        "    apart = (bound | crash[:, None] | crash[None, :]) & key[:, None] & key",
        equivalent="steps between two that never meet hold them apart by themselves",
    ),
    Mutation(
        "model/interleavings/dependence.py",
        "two steps commute though they lead elsewhere the other way round",
        "    same = (around >= 0) & (last >= 0) & (graph.targets[last] == end)",
        "    same = (around >= 0) & (last >= 0)",
    ),
    Mutation(
        "model/interleavings/dependence.py",
        "two steps commute though their ends differ in names",
        "    same &= graph.alike[kind, naming] == graph.alike[kind, back]\n",
        "",
    ),
    Mutation(
        "model/interleavings/dependence.py",
        "what is bound in one naming is free in the others",
        "        bound |= bound[np.ix_(names, names)]\n",
        "",
    ),
    Mutation(
        "model/interleavings/dependence.py",
        "steps after a first one keep the names of its orbit",
        "    other = group.events[group.inverse[graph.naming[one]], graph.events[then]]",
        "    other = graph.events[then]",
    ),
    Mutation(
        "model/interleavings/paths.py",
        "hit states are not distinguished",
        "            if self._events.crashes[event]:\n                found, left = before, after",
        "            if self._events.crashes[event]:\n                found, left = 0, after",
    ),
    Mutation(
        "model/interleavings/path_classes.py",
        "runs to rest are merged whatever they come to rest in",
        "        return min((self.renamed(path, k), alike[k]) for k in self._names)",
        "        return min((self.renamed(path, k), 0) for k in self._names)",
    ),
    Mutation(
        "model/interleavings/enumeration.py",
        "actions that write what endures are no part of the word",
        "        [e.fault or e.name in writes for e in events],",
        "        [e.fault for e in events],",
    ),
    Mutation(
        "model/interleavings/paths.py",
        "what crashes leave is not distinguished",
        "                found, left = before, after",
        "                found, left = before, 0",
    ),
    Mutation(
        "model/interleavings/paths.py",
        "faults whose effect memory decides are not distinguished",
        "                effect = self._durable.effect(before, after)",
        "                effect = 0",
    ),
    Mutation(
        "model/interleavings/paths.py",
        "what a crash leaves has the names of the row",
        "            after = self._durable.alike(self._remains[to])[back]",
        "            after = self._remains[to]",
    ),
    Mutation(
        "model/interleavings/paths.py",
        "words keep their names where an orbit has others",
        "            path_class = self._classes.renamed(path_class, naming)\n",
        "",
    ),
    Mutation(
        "model/interleavings/paths.py",
        "a run goes on with the names of an earlier state",
        "            naming = int(group.product[self._naming[one], naming])",
        "            naming = int(graph.naming[step])",
    ),
    Mutation(
        "model/interleavings/paths.py",
        "a renaming of the row itself is left out of a run",
        "            return alike * self._names + int(group.product[own, naming])",
        "            return alike * self._names + naming",
    ),
    Mutation(
        "model/interleavings/orbit_graph.py",
        "an orbit that runs begin in counts as one state",
        "        rows, times = np.unique(row_of[found.slots(starts)], return_counts=True)",
        "        rows, times = np.unique(row_of[found.slots(starts)], return_counts=True)\n        times[:] = 1",
    ),
    Mutation(
        "model/interleavings/path_classes.py",
        "letters of a renamed word keep their names",
        "            letter = self.letter(self._events[naming][event], alike)",
        "            letter = self.letter(event, alike)",
    ),
    Mutation(
        "model/interleavings/path_classes.py",
        "effects keep the names of their members",
        "            alike = effect and durable.effects_alike(effect)[naming]",
        "            alike = effect",
    ),
    Mutation(
        "model/interleavings/renaming_group.py",
        "two renamings are done in the wrong order",
        "            [[number[moved[a][b].tobytes()] for b in moved] for a in range(shape[0])],",
        "            [[number[b[moved[a]].tobytes()] for b in moved] for a in range(shape[0])],",
    ),
    Mutation(
        "model/interleavings/durable_state.py",
        "no fault is a crash",
        "    return action.fault and any(_loses(system, write) for write in action.writes)",
        "    return not action.fault and any(_loses(system, w) for w in action.writes)",
    ),
    Mutation(
        "model/language/tracing/durable_fields.py",
        "budgets of faults outlive a crash",
        "    return not (_is_budget(path) or system.field(path).volatile)",
        "    return not system.field(path).volatile",
    ),
    Mutation(
        "model/language/tracing/durable_fields.py",
        "volatile fields outlive a crash",
        "    return not (_is_budget(path) or system.field(path).volatile)",
        "    return not _is_budget(path)",
    ),
    Mutation(
        "model/language/tracing/durable_fields.py",
        "what an observer reads is no part of a history",
        "    return observed(system) | kept",
        "    return kept",
    ),
)

EXPORTS = (
    Mutation(
        "model/export/javascript.py",
        "JavaScript: `some` is `every`",
        'self._quantified("some", term)',
        'self._quantified("every", term)',
    ),
    Mutation(
        "model/export/javascript.py",
        "JavaScript: a state rests only if no fault moves it either",
        "const rests = state => !about.events.some((e, i) => !e.fault && moves(state, i));",
        "const rests = state => !about.events.some((e, i) => moves(state, i));",
    ),
    Mutation(
        "model/export/javascript.py",
        "JavaScript: the state after is the state before",
        '            state = "z" if term.after else "s"',
        '            state = "s"',
    ),
    Mutation(
        "model/export/javascript.py",
        "JavaScript: a write sees the writes before it",
        'f"const n = s.slice(); {writes} return n; }}"',
        'f"const n = s.slice(); s = n; {writes} return n; }}"',
    ),
    Mutation(
        "model/export/tla.py",
        "TLA+: fields that an action does not write may change",
        "        if kept:\n",
        "        if not kept:\n",
    ),
    Mutation(
        "model/export/tla.py",
        "TLA+: not (a < b) is a > b",
        'return f"({self._term(body.left)} >= {self._term(body.right)})"',
        'return f"({self._term(body.left)} > {self._term(body.right)})"',
    ),
    Mutation(
        "model/export/tla.py",
        "TLA+: a witness is claimed, and not denied",
        'f"{name} == ~{term}"',
        'f"{name} == {term}"',
    ),
    Mutation(
        "model/export/tla.py",
        "TLA+: a claim about rest is one about every state",
        'text = f"Rest => {term}"',
        'text = f"{term}"',
    ),
    Mutation(
        "model/export/tla.py",
        "TLA+: a later write of one field undoes the earlier ones",
        'text = f"[{text} EXCEPT ![{at}] = {value}]"',
        'text = f"[{self._fields[path]} EXCEPT ![{at}] = {value}]"',
    ),
    Mutation(
        "model/export/tla.py",
        "TLA+: faults are fair",
        "                if a.fair and not a.fault",
        "                if not a.fair and not a.fault",
    ),
)

MODEL = (*LANGUAGE, *SEARCH, *INTERLEAVINGS, *EXPORTS)
