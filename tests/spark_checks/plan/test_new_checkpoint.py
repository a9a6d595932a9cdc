"""A restart with a new checkpoint: what a plan asks of the runs before and after it."""

from __future__ import annotations

from onceproof.model.interleavings.enumeration import interleavings
from onceproof.spark_checks.inject.adapters import ForeachBatchKind
from onceproof.spark_checks.inputs.sizes import Sizes
from onceproof.spark_checks.plan.enumeration import protocol_of
from onceproof.spark_checks.plan.planner import realise
from onceproof.spark_checks.plan.run_plan import NotReplayable
from onceproof.spark_checks.sinks.reference import reference_sinks

SINK = reference_sinks("new-checkpoint")["foreach-batch-ledger-new-checkpoint"]


def plans(*, faults=1):
    """Give the runs, or the refusal, of each interleaving, by its durable word."""
    protocol = protocol_of(SINK, Sizes(batches=2, partitions=1), faults=faults)
    found = {}
    for one in interleavings(protocol).classes:
        word = tuple(one.trace.events[at].name for at in one.word)
        try:
            kind = ForeachBatchKind(SINK)
            found[word] = realise(one, protocol, SINK, kind)
        except NotReplayable as why:
            found[word] = str(why)
    return found


def test_the_run_after_a_new_checkpoint_reads_all_events_in_one_batch():
    """The first batch is written by then, and the source goes on to the second."""
    word = ("log_offsets", "sink.commit_batch", "log_commit", "new_checkpoint")

    first, second = next(r for w, r in plans().items() if w[: len(word)] == word)

    assert (first.offered, first.loses_checkpoint, first.joined) == (1, True, False)
    assert "the restart finds an empty checkpoint" in first.how
    assert (second.offered, second.loses_checkpoint, second.joined) == (2, False, True)


def test_a_crash_leaves_the_checkpoint_as_it_is():
    """Only the fault that says so takes it away."""
    runs = [r for w, r in plans().items() if "crash" in w and "new_checkpoint" not in w]

    assert runs
    assert not any(r.loses_checkpoint or r.joined for some in runs for r in some)


def test_what_follows_a_new_checkpoint_keeps_it():
    """A second fault ends a run of the one batch; the next run goes on with it."""
    words = plans(faults=2)

    found = [
        runs
        for word, runs in words.items()
        if not isinstance(runs, str)
        and [n for n in word if n in ("crash", "new_checkpoint")]
        == ["new_checkpoint", "crash"]
    ]
    assert found
    for first, second, third in found:
        assert (first.loses_checkpoint, second.loses_checkpoint) == (True, False)
        assert (second.offered, third.offered) == (2, 2)
        assert second.joined
        assert third.joined


def test_a_source_that_has_given_all_its_events_is_not_withheld_any_more():
    """The model may stop before the one batch; the files are there by then."""
    refusals = {runs for runs in plans(faults=2).values() if isinstance(runs, str)}

    assert "the source has given all its events to one batch" in refusals
