"""An exported protocol means to others what it means here."""

from __future__ import annotations

import json
from enum import Enum

import pytest
from click.testing import CliRunner

from onceproof.model.export.formats import FORMATS
from onceproof.model.language import (
    Member,
    Protocol,
    Sort,
    action,
    all_of,
    always,
    any_of,
    at_rest,
    count,
    eventually,
    fault,
    if_else,
    leads_to,
    one_of,
    recoverable,
    sometimes,
    state,
    step,
    when,
)
from onceproof.model.library import Variant, variants
from onceproof.properties.judges.by_search import check
from onceproof.spark_checks.cli import main
from onceproof.spark_checks.cli.commands.export import exported
from tests import tlc
from tests.spread import spread

EXPECTED = {"holds": "holds", "violated": "violated", "witnessed": "violated"}


class IF(Enum):
    """A type with a name that TLA+ keeps for itself."""

    THEN = 1
    ELSE = 2


class Vars(Protocol):
    """Every form of the language once. It ends *) a comment (* and begins one."""

    N = Sort("thing", size=2)
    Next = Sort("place", size=3, ordered=True)
    breaks = ("never-three",)

    UNCHANGED = state(one_of(IF.THEN, IF.ELSE))
    init = state(one_of(0, 1), per=N, high=3)
    at = state(-1, low=-1, high=Next)
    done = state(False, per=(N, Next))

    @action(per=(N, Next), fair=True)
    def spec(self, n: Member, p: Member) -> None:
        """Mark *) a pair."""
        when(self.at < p, self.init[n] < 3)
        self.done[n, p] = True
        self.init[n] = self.init[n] + 1
        self.at = if_else(p == self.Next.last, p, self.at + 1)

    @fault(at_most=1)
    def forget(self) -> None:
        """Forget all marks at once."""
        when(self.UNCHANGED == IF.THEN)
        self.done.set(lambda n, p: (p == 0) & self.done[n, p])
        self.UNCHANGED = IF.ELSE

    @always
    def never_three(self) -> bool:
        """It does happen."""
        return count(self.init[n] > 2 for n in self.N) == 0

    @step
    def forward(self, after: Vars) -> bool:
        """The place only grows."""
        return self.at <= after.at

    @at_rest
    def ends(self) -> bool:
        """At rest the last place is reached, or all are full."""
        return any_of(
            self.at == self.Next.last, all_of(self.init[n] == 3 for n in self.N)
        )

    @sometimes
    def marks(self) -> bool:
        """A pair is marked."""
        return any_of(self.done[n, p] for n in self.N for p in self.Next)

    @eventually
    def arrives(self) -> bool:
        """Someone moves."""
        return self.at > -1

    @leads_to(per=N)
    def goes_on(self, n: Member) -> tuple[bool, bool]:
        """From the first place the second is reached, or the thing is full."""
        return self.at == 0, any_of(self.at > 0, self.init[n] == 3)

    @recoverable
    def can_end(self) -> bool:
        """Has no form in TLA+."""
        return self.at >= -1


class Settled(Protocol):
    """Claims that read no state, each in every place where a claim can stand."""

    N = Sort("thing", size=2)
    breaks = ("ends-otherwise", "hopeless", "is-false", "lost", "stands", "unmet")

    on = state(False, per=N)
    full = state(0, high=1)

    @action(per=N, fair=True)
    def fill(self, n: Member) -> None:
        """Go to rest."""
        when(self.full == 0)
        self.on[n] = True
        self.full = 1

    @eventually
    def surely(self) -> bool:
        """True."""
        return all_of()

    @eventually
    def there_are_two(self) -> bool:
        """True of the members, whatever the state."""
        return any_of(n != m for n in self.N for m in self.N)

    @leads_to
    def both(self) -> tuple[bool, bool]:
        """True leads to true."""
        return all_of(), all_of()

    @leads_to
    def neither(self) -> tuple[bool, bool]:
        """False leads to anything."""
        return any_of(), any_of()

    @always
    def is_true(self) -> bool:
        """True."""
        return all_of()

    @step
    def moves(self, after: Settled) -> bool:
        """True."""
        return all_of()

    @at_rest
    def ends(self) -> bool:
        """True."""
        return all_of()

    @sometimes
    def met(self) -> bool:
        """True."""
        return all_of()

    @eventually
    def hopeless(self) -> bool:
        """False."""
        return any_of()

    @leads_to
    def lost(self) -> tuple[bool, bool]:
        """True leads to false."""
        return all_of(), any_of()

    @always
    def is_false(self) -> bool:
        """False."""
        return any_of()

    @step
    def stands(self, after: Settled) -> bool:
        """False."""
        return any_of()

    @at_rest
    def ends_otherwise(self) -> bool:
        """False."""
        return any_of()

    @sometimes
    def unmet(self) -> bool:
        """False."""
        return any_of()


def agrees(protocol: Protocol, folder) -> list[str]:
    """Check a protocol by TLC and by search; list where they differ."""
    report = check(protocol)
    found = report.exploration
    made, configurations = exported(protocol)
    (folder / f"{made.name}.tla").write_text(made.text)
    odd = []
    for one in configurations:
        (folder / f"{one.name}.cfg").write_text(made.configuration(one.claims))
        text = tlc.run(folder, made.name, one.name)
        if text.answer != EXPECTED[one.expected]:
            odd.append(f"{one.name}: {text.answer}, not {one.expected}\n{text.output}")
        elif text.answer == "holds":
            counts = (text.distinct, text.depth)
            if found is None or counts != (found.distinct, found.depth):
                odd.append(f"{one.name}: TLC counts {counts}")
    return odd


@pytest.mark.tlc
@pytest.mark.parametrize("variant", spread(variants(), 3), ids=str)
def test_tlc_counts_and_judges_as_the_search_does(tmp_path, variant: Variant):
    """Distinct states, depth and every verdict are the same, for the whole library."""
    assert agrees(variant.protocol, tmp_path) == []


@pytest.mark.tlc
def test_tlc_takes_every_form_of_the_language(tmp_path):
    """Names that clash, comments that end early, sums, several starts, all claims."""
    assert agrees(Vars(), tmp_path) == []


@pytest.mark.tlc
def test_tlc_judges_claims_that_read_no_state(tmp_path):
    """TLC 2.15 calls <>TRUE violated, and takes no invariant that is constant."""
    assert agrees(Settled(), tmp_path) == []


def test_a_claim_that_reads_no_state_is_written_as_one_that_does():
    """True and false compare a variable with itself; others say so besides."""
    made, _ = exported(Settled())

    lines = dict(
        line.split(" == ", 1) for line in made.text.splitlines() if " == " in line
    )
    shown = {claim.name: lines[claim.name] for claim in made.claims}
    assert all("(on = on)" in text or "(on # on)" in text for text in shown.values())
    assert "TRUE" not in "".join(shown.values())
    assert shown["Surely0"] == "<>(on = on)"
    assert shown["Lost0"] == "(on = on) ~> (on # on)"
    assert shown["ThereAreTwo0"].endswith(": (n_1 # n_2)) /\\ (on = on))")


def test_the_help_keeps_the_lines_of_its_example():
    """They are two commands; run together they would be one that fails."""
    lines = CliRunner().invoke(main, ["export", "--help"]).output.splitlines()

    first = next(
        n for n, line in enumerate(lines) if "Example: onceproof export two" in line
    )
    assert lines[first].endswith("--to tla")
    assert lines[first + 1].strip().startswith("java -cp tla2tools.jar")
    assert not any("\\b" in line or "\b" in line for line in lines)


def test_a_module_reads_as_its_protocol(snapshot):
    """The text is stable, from the first comment to the last claim."""
    made, configurations = exported(Vars())

    shown = [made.text]
    shown += [
        f"{c.name} {c.expected}\n{made.configuration(c.claims)}" for c in configurations
    ]
    assert "\n".join(shown) == snapshot
    assert [q.name for q in made.left_out] == ["can-end#0"]


def test_export_writes_files_and_says_what_is_left_out(tmp_path):
    """JSON names the module, the configurations, and what no formula says."""
    words = [
        "export",
        "micro-batch",
        "--to",
        "tla",
        "--output",
        str(tmp_path),
        "--json",
    ]

    done = CliRunner().invoke(main, words)

    data = json.loads(done.stdout)
    assert done.exit_code == 0
    assert data["left_out"] == ["recoverable#0"]
    assert (tmp_path / "MicroBatch.tla").exists()
    assert all(
        (tmp_path / c["file"].rsplit("/", 1)[1]).exists()
        for c in data["configurations"]
    )


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        (["micro-bach", "--to", "tla"], "did you mean 'micro-batch'?"),
        (["micro-batch", "--to", "tex"], "'tex' is not one of 'tla'"),
        (["micro-batch", "--to", "tla", "--output", "/proc/x"], "cannot be written"),
    ],
)
def test_what_cannot_be_exported_is_refused(words, answer):
    """In one sentence, with exit status 2."""
    done = CliRunner().invoke(main, ["export", *words])

    assert done.exit_code == 2
    assert answer in done.output


@pytest.mark.parametrize("form", [f for f in FORMATS if f != "tla"])
def test_each_registered_form_is_written(form, tmp_path):
    """A form that is added to the registry can be asked for, and is one file."""
    words = ["export", "two-phase-commit", "--to", form, "--output", str(tmp_path)]

    done = CliRunner().invoke(main, words)

    assert done.exit_code == 0, done.output
    file = tmp_path / f"two-phase-commit.{FORMATS[form].suffix}"
    assert done.output == f"wrote {file}\n"
    assert "prepared" in file.read_text().lower()


@pytest.mark.parametrize(
    ("output", "written"),
    [
        ("out/states.mmd", "out/states.mmd"),
        ("states.v2.txt", "states.v2.txt"),
        ("out/v1.2/", "out/v1.2/two-phase-commit.mmd"),
        ("there.d", "there.d/two-phase-commit.mmd"),
        ("out", "out/two-phase-commit.mmd"),
        (".hidden", ".hidden/two-phase-commit.mmd"),
    ],
)
def test_an_output_with_an_ending_is_a_file(output, written, tmp_path, monkeypatch):
    """Unless it is a folder already, or ends as a folder does."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "there.d").mkdir()
    words = ["export", "two-phase-commit", "--to", "mermaid", "--output", output]

    done = CliRunner().invoke(main, words)

    assert done.output == f"wrote {written}\n"
    files = [p for p in tmp_path.rglob("*") if p.is_file()]
    assert files == [tmp_path / written]


def test_several_files_are_not_written_to_one(tmp_path, monkeypatch):
    """The message names them, and a folder for them; nothing is written."""
    monkeypatch.chdir(tmp_path)
    words = ["export", "two-phase-commit", "--to", "tla", "--output", "out/x.tla"]

    done = CliRunner().invoke(main, words)

    assert done.exit_code == 2
    assert "x.tla is a file by its ending, and 4 files are written" in done.output
    assert "TwoPhaseCommit.tla, TwoPhaseCommit.cfg" in done.output
    assert "help: name a folder, as in --output out" in done.output
    assert not any(tmp_path.iterdir())
