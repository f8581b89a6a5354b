"""The effect of verification, from verdicts."""

import pytest

from components.core.types import Verdict
from runner.report import main
from runner.results.runs import Run
from runner.results.sections.verifier import read_old, verifier
from tests.runner.results.folders import step, write
from tests.runner.results.page.pages import cells
from tests.table import each_row


@each_row(
    "text, chosen, why, picks",
    [
        ("select: candidate 2 of 3, picked; curve 1=1, 2=1, 3=2", 2, "picked", {1: 1, 2: 1, 3: 2}),
        ("select: candidate 2 of 2, the choice could not be read", 2, "the choice could not be read", {1: 1}),
        ("refine: version 2 of at most 4, nothing changed", 2, "nothing changed", {1: 1, 2: 2, 3: 2, 4: 2}),
    ],
)
def test_verdict_has_the_choice_and_that_of_fewer_proposals(text, chosen, why, picks):
    found = read_old(text)
    assert (found.chosen, found.why, found.picks) == (chosen, why, picks)


def test_other_texts_are_not_verdicts():
    assert read_old("looks fine to me") is None


@pytest.mark.parametrize("old", [False, True])
def test_shares_per_step_reasons_and_calls(tmp_path, old):
    """Older records have verdicts as texts."""
    two = Verdict("select", "candidate", 2, 3, "picked" + " after thought" * 5, {1: 1, 2: 1, 3: 2, 4: 2})
    one = Verdict("select", "candidate", 1, 1, "all were equal", {1: 1, 2: 1, 3: 1})
    steps = [
        step("Books", verdict=str(two) if old else two), step("Books", committed=False), step("Books"),
        step(answer="A", verdict=str(one) if old else one), step("Books", branch="again", verdict="own words"),
    ]  # fmt: skip
    steps[1].purpose = "judge"
    run = Run.at(write(tmp_path / "a", {"one": ("k", [1, 0])}, steps=steps))
    _, by_step, endings = verifier([run]).parts
    first, third, whole = ({row["step"]: row for row in cells(by_step)}[name] for name in ("1", "3", "all"))
    assert (first["checked"], first["unlike with 1"], first["unlike with 3"], first["first not kept"]) == (
        2,
        1.0,
        0.0,
        1.0,
    )
    assert (third["checked"], third["unlike with 1"]) == (2, 0.0) and whole["first not kept"] == 0.5
    assert [row["verifier"] for row in cells(endings)] == ["select", "select"]
    assert "verdicts in another form, left out: 2" in endings.notes
    assert "react openai: calls: act 8; apart, of purpose judge: 2" in endings.notes


def test_runs_without_verdicts_are_refused_in_one_line(tmp_path, capsys):
    folder = write(tmp_path / "a", {"one": ("k", [1])})
    assert main(["verifier", str(folder)]) == 2
    err = capsys.readouterr().err
    assert err.startswith("error: verifier: these runs have nothing for this section (") and err.count("\n") == 1
