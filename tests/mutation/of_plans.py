"""Mutations of how faults are planned and injected."""

from __future__ import annotations

from tests.mutation.mutation import Mutation

PLANS = (
    Mutation(
        "spark_checks/plan/choice.py",
        "lines that only a second fault hits have no place of their own",
        "    return [*own, *_after_others(classes, placed, {at for _, at in alike})]",
        "    return own",
    ),
    Mutation(
        "spark_checks/plan/choice.py",
        "the last time of a line is one of the first batch",
        "    latest = max(map(when, ones))\n",
        "    begin = min(map(when, ones))[0][0]\n"
        "    latest = max(w for w in map(when, ones) if w[0][0] == begin)\n",
    ),
    Mutation(
        "spark_checks/plan/schedule.py",
        "a line that runs only after a fault is hit without one",
        "        if leads is not None and not any(str(e) in leads for e in self.events[:at]):",
        "        if leads is not None and not leads:",
    ),
    Mutation(
        "spark_checks/replay/recovery.py",
        "what runs as a fault ends its run becomes a point",
        "        if not run.stop:",
        "        if run.how is not None:",
    ),
    Mutation(
        "spark_checks/plan/choice.py",
        "what is chosen by number is not chosen",
        "            classes = tuple(one for one in classes if one.number in self.only)",
        "            classes = tuple(one for one in classes if one.number not in self.only)",
    ),
    Mutation(
        "spark_checks/plan/choice.py",
        "a number picks the first interleaving however large it is",
        "            classes = (classes[self.nth % len(classes)],) if classes else ()",
        "            classes = (classes[0],) if classes else ()",
    ),
    Mutation(
        "spark_checks/plan/choice.py",
        "more faults are served before fewer",
        "            numbers.values(), key=lambda kinds: sum(map(len, kinds.values()))\n",
        "            numbers.values(), key=lambda kinds: -sum(map(len, kinds.values()))\n",
    ),
    Mutation(
        "spark_checks/plan/choice.py",
        "the first kind of fault takes all the room",
        "                if queue and len(kept) < most:",
        "                while queue and len(kept) < most:",
    ),
    Mutation(
        "spark_checks/plan/choice.py",
        "a seed chooses nothing",
        "            random.Random(self.seed).shuffle(alike)",
        "            random.Random(0).shuffle(alike)",
    ),
    Mutation(
        "spark_checks/plan/schedule.py",
        "the event that ends a run belongs to the next one",
        "[at + 1 for at in range(len(self.events)) if self.ends_run(at)]",
        "[at for at in range(len(self.events)) if self.ends_run(at)]",
    ),
    Mutation(
        "spark_checks/plan/schedule.py",
        "a failed attempt is still due",
        "            if task[partition, attempt] != Task.FAILED:",
        "            if task[partition, attempt] != Task.COMMITTED:",
    ),
    Mutation(
        "spark_checks/plan/schedule.py",
        "work that is lost with the driver counts as done",
        '                return attempt, done and "write" in self._durable',
        "                return attempt, done",
    ),
    Mutation(
        "spark_checks/plan/schedule.py",
        "steps of an earlier batch count for the running one",
        '            if event.name in ("log_commit", "log_offsets"):\n'
        "                found = []\n            elif i",
        "            if i",
    ),
    Mutation(
        "spark_checks/plan/schedule.py",
        "the batch committed last is the first of the run",
        "        return found[-1] if found else None",
        "        return found[0] if found else None",
    ),
    Mutation(
        "spark_checks/plan/schedule.py",
        "the end of a task's work is a point in its midst",
        "        return _named({None: points[:-1]}, None, number)",
        "        return _named({None: points}, None, number)",
    ),
    Mutation(
        "spark_checks/plan/task_faults.py",
        "an attempt that wrote is hit before its work",
        '    return function, "return" if "write" in schedule.steps and wrote else "call", {}',
        '    return function, "call", {}',
    ),
    Mutation(
        "spark_checks/plan/task_faults.py",
        "an attempt is hit again when it is repeated",
        "batch, do),\n        partition=real,\n        attempt=attempt,\n        once=True,",
        "batch, do),\n        partition=real,\n        attempt=attempt,",
    ),
    Mutation(
        "spark_checks/plan/task_faults.py",
        "an error that is raised in a task is a death",
        "        (function, when, batch, do),",
        '        (function, when, batch, "die"),',
    ),
    Mutation(
        "spark_checks/plan/task_faults.py",
        "a task that was given up does not wait for the commit it lands after",
        "    if commit is not None and commit >= batch:\n",
        "    if commit is not None and commit < 0:\n",
    ),
    Mutation(
        "spark_checks/plan/task_faults.py",
        "a task that was given up lands before the run that follows is looked at",
        "    if schedule.run_of(lands) != run.number:\n        awaited",
        "    if schedule.run_of(lands) == run.number:\n        awaited",
    ),
    Mutation(
        "spark_checks/plan/task_faults.py",
        "a fault that is survived need not show",
        "    run.expected.append(\n"
        "        ExpectedMark(str(event), fault=False, mark=mark, what=what, late=True)\n"
        "    )\n",
        "    del mark, what\n",
    ),
    Mutation(
        "spark_checks/plan/planner.py",
        "input beyond the fault's batch is withheld",
        "        run.offered = self.schedule.batches if run.joined else batch + 1\n",
        "        run.offered = self.schedule.batches if run.joined else batch\n",
    ),
    Mutation(
        "spark_checks/plan/planner.py",
        "a step that is taken for the second time is hit at the first",
        "        nth = 1 + self.schedule.calls(at, upcoming.name)\n"
        '        run.stops(function, "call", batch, "die", nth=nth)',
        '        nth = 1\n        run.stops(function, "call", batch, "die", nth=nth)',
    ),
    Mutation(
        "spark_checks/plan/ended_in_tasks.py",
        "the crash among writes does not wait for the faults before it",
        "    awaited = [d.mark for d in run.expected if not d.late]\n"
        "    awaited += _do_first(schedule, run, batch, function, due)",
        "    awaited = _do_first(schedule, run, batch, function, due)",
    ),
    Mutation(
        "spark_checks/plan/ended_in_tasks.py",
        "tasks that have done their work are hit as well",
        "    for p in sorted(set(due) - written, key=schedule.real):",
        "    for p in sorted(set(due), key=schedule.real):",
    ),
    Mutation(
        "spark_checks/plan/planner.py",
        "a restart that merges partitions is forgotten by the runs after the next",
        '                merged = run.merged or event.name == "rescale"',
        '                merged = event.name == "rescale"',
    ),
    Mutation(
        "spark_checks/plan/planner.py",
        "the last run is looked at before its end",
        '        run.moment, run.state = "at rest", len(schedule.states) - 1',
        '        run.moment, run.state = "at rest", len(schedule.states) - 2',
    ),
    Mutation(
        "spark_checks/plan/planner.py",
        "a commit that raises does so at its call, after its last step",
        '            name, event = steps[-1].name, "return"\n',
        '            name, event = steps[-1].name, "call"\n',
    ),
    Mutation(
        "spark_checks/plan/run_plan.py",
        "runs of one query share their marks",
        '    return f"{run}-{name}"',
        "    return name",
    ),
    Mutation(
        "spark_checks/plan/run_draft.py",
        "a run that is ended by a rule is thought to end by itself",
        '            self.stop, fault=True, mark=mark, what="; ".join(self.how)\n'
        "        )\n        self.fails = True\n",
        '            self.stop, fault=True, mark=mark, what="; ".join(self.how)\n'
        "        )\n",
    ),
    Mutation(
        "spark_checks/plan/run_draft.py",
        "an error that the sink may catch is not told to be one",
        '        self.catchable = catchable or do in ("raise", *CUTS)',
        "        self.catchable = catchable",
    ),
    Mutation(
        "spark_checks/inject/tracing/injection_points.py",
        "the last time a line is come to is left out",
        "        last[point.text] = number\n    theirs =",
        "        last.setdefault(point.text, number)\n    theirs =",
    ),
    Mutation(
        "spark_checks/sinks/code_points.py",
        "an error may come up at the end of a with",
        "    return not text.startswith((_RETURN, _END))",
        "    return not text.startswith(_RETURN)",
    ),
    Mutation(
        "spark_checks/sinks/code_points.py",
        "the emptiest partition is preferred",
        "        return max(found, key=lambda p: (found[p], -p), default=None)",
        "        return min(found, key=lambda p: (found[p], -p), default=None)",
    ),
    Mutation(
        "spark_checks/inject/checkpoint_edits.py",
        "a trap that found its entry there takes it away",
        "                except FileExistsError:\n                    return\n",
        "                except FileExistsError:\n                    pass\n",
    ),
    Mutation(
        "spark_checks/inject/checkpoint_edits.py",
        "a file commit that is undone takes the files that were written",
        'int(file.name.split("-")[1]) not in written:',
        'int(file.name.split("-")[1]) in written:',
    ),
    Mutation(
        "spark_checks/inject/checkpoint_edits.py",
        "files outside a run's own folder are edited",
        "    if not path.resolve().is_relative_to(scratch.resolve()):",
        "    if not path.resolve().is_relative_to(scratch.resolve().anchor):",
    ),
    Mutation(
        "spark_checks/inject/tracing/tracer.py",
        "a rule hits any attempt",
        "                and rule.attempt in (None, place.attempt)\n",
        "",
    ),
    Mutation(
        "spark_checks/inject/tracing/tracer.py",
        "a rule hits any batch",
        "(rule.function, rule.event, rule.batch) == (name, event, place.batch)",
        "(rule.function, rule.event) == (name, event)",
    ),
    Mutation(
        "spark_checks/inject/tracing/tracer.py",
        "a rule that fires once fires again",
        "        if rule.once and (marks / rule.mark).exists():\n            return False\n",
        "",
    ),
    Mutation(
        "spark_checks/inject/tracing/tracer.py",
        "an effect does not wait for its marks",
        "        while not path.exists():\n            if rule.do",
        "        while False:\n            if rule.do",
    ),
    Mutation(
        "spark_checks/inject/tracing/tracer.py",
        "a process that dies leaves no mark",
        "        if rule.mark:\n            self._leave_mark(rule.mark)\n",
        '        if rule.mark and rule.do == "pass":\n'
        "            self._leave_mark(rule.mark)\n",
    ),
)
