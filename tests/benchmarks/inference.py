"""How long the inference of lemmas takes: ``python -m tests.benchmarks.inference``.

For each protocol all claims of states, of steps and of rest that its search does not
refute are proved with inferred lemmas. Where the protocol has lemmas of its own, the
proof with these is timed in the same run, and the ratio is printed.
"""

from __future__ import annotations

import argparse
import time

from onceproof.model.errors import OnceproofError
from onceproof.model.language.declarations.modality import Modality
from onceproof.model.language.tracing.trace import trace
from onceproof.model.library import make, settings_of
from onceproof.properties.judges.by_proof import prove
from onceproof.properties.judges.by_proof.claims import ask, claimed_always
from onceproof.properties.judges.by_search import check, claims_of
from onceproof.properties.property import own_properties
from onceproof.properties.verdicts import Verdict

LIBRARY = (
    "two-phase-commit",
    "transaction-commit",
    "simple-broadcast-commit",
    "kappa-architecture",
    "lambda-architecture",
    "transactional-outbox",
    "acknowledgement-tree",
    "multi-version-store",
    "output-commit",
    "micro-batch sink=batch-ledger",
    "micro-batch sink=ledger-looked-up-once",
    "micro-batch sink=numbered-log",
    "micro-batch sink=batch-ledger-recut",
    "micro-batch sink=upsert-whole",
)
_PROVABLE = (Modality.ALWAYS, Modality.STEP)


def made(line):
    """Make the protocol of a line such as ``micro-batch sink=upsert``."""
    name, *settings = line.split() or [""]
    return make(name, settings_of(tuple(settings)))


def provable(model):
    """List the claims that an induction may prove, lemmas and false ones apart."""
    system = trace(model)
    verdicts = check(model).verdicts
    return [
        prop
        for prop in claims_of(model)
        if not prop.lemma
        and verdicts[prop.name] is not Verdict.REFUTED
        and all(claimed_always(q, system).when in _PROVABLE for q in ask(prop, system))
    ]


def timed(model, claims, **how):
    """Prove claims; return the findings of every size, the lemmas and the seconds."""
    began = time.perf_counter()
    report = prove(model, claims, depth=1, **how)
    seconds = time.perf_counter() - began
    proved = [f for f in report.findings if "inductive for every" in f.note]
    checked = [f for f in proved if "re-checked by cvc5" in f.confirmed]
    return proved, checked, report.inferred, seconds


def main() -> None:
    """Print a table of protocols."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("protocols", nargs="*", default=LIBRARY)
    parser.add_argument("--timeout", type=int, default=120)
    given = parser.parse_args()
    try:
        models = {line: made(line) for line in given.protocols}
    except OnceproofError as error:
        parser.error(str(error))
    heads = ("protocol", "claims", "proved", "by cvc5 too", "lemmas", "s")
    print(f"| {' | '.join([*heads, 'own lemmas, s', 'ratio'])} |")
    print(f"|{' --- |' * (len(heads) + 2)}")
    for line, model in models.items():
        claims = provable(model)
        limit = {"timeout_seconds": given.timeout}
        proved, checked, lemmas, seconds = timed(model, claims, infer=True, **limit)
        own = ["", ""]
        if any(prop.lemma for prop in own_properties(model)):
            same, *_, by_hand = timed(model, claims, **limit)
            own = [f"{by_hand:.1f}", f"{seconds / by_hand:.1f}"]
            if len(same) != len(proved):
                own = [f"{by_hand:.1f} ({len(same)} proved)", "none"]
        counts = (len(claims), len(proved), len(checked), len(lemmas))
        row = [line, *map(str, counts), f"{seconds:.1f}", *own]
        print(f"| {' | '.join(row)} |", flush=True)


if __name__ == "__main__":
    main()
