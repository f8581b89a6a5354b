"""What checking changed, from verdicts."""

import pytest

from runner.report import main
from runner.results.sections.verifier import read_verdict
from tests.runner.results.folders import step, write


@pytest.mark.parametrize(
    ("text", "chosen", "why", "picks"),
    [
        ("select: candidate 2 of 3, picked; curve 1=1, 2=1, 3=2", 2, "picked", {1: 1, 2: 1, 3: 2}),
        ("select: candidate 2 of 2, the choice could not be read", 2, "the choice could not be read", {1: 1}),
        ("refine: version 2 of at most 4, nothing changed", 2, "nothing changed", {1: 1, 2: 2, 3: 2, 4: 2}),
    ],
)
def test_a_verdict_tells_what_was_chosen_and_what_fewer_proposals_would_have_given(text, chosen, why, picks):
    found = read_verdict(text, 3)
    assert (found.step, found.chosen, found.why, found.picks) == (3, chosen, why, picks)


def test_other_texts_are_no_verdicts():
    assert read_verdict("looks fine to me", 1) is None


def lines(out):
    return {line.split("  ")[1].strip(): line.split() for line in out.splitlines() if line.startswith("  ")}


def test_shares_per_step_reasons_and_calls(tmp_path, capsys):
    curve = "select: candidate 2 of 3, picked" + " after thought" * 5 + "; curve 1=1, 2=1, 3=2, 4=2"
    steps = [
        step("Books", verdict=curve), step("Books", committed=False), step("Books"),
        step(answer="A", verdict="select: candidate 1 of 1, all were equal; curve 1=1, 2=1, 3=1"),
        step("Books", branch="again", verdict="own words"),
    ]  # fmt: skip
    steps[1].purpose = "judge"
    folder = write(tmp_path / "a", {"one": ("k", [1, 0])}, steps=steps)
    assert main(["verifier", str(folder)]) == 0
    out = capsys.readouterr().out
    first, third, whole = (lines(out)[name] for name in ("1", "3", "all"))
    assert first[:6] == ["1", "2", "1.000", "(2)", "1.000", "(2)"] and first[6:8] == ["0.000", "(0)"]
    assert third[:4] == ["3", "2", "0.000", "(0)"] and "2" not in lines(out)
    assert "select: picked after" in out and "select: all were equal" in out and "unlike n'=3" in out
    assert whole[-2:] == ["0.500", "(2)"]
    assert "verdicts in another form, left out: 2" in out
    assert "calls: act 8; apart, of purpose judge: 2" in out


def test_runs_without_verdicts_are_refused_in_one_line(tmp_path, capsys):
    folder = write(tmp_path / "a", {"one": ("k", [1])})
    assert main(["verifier", str(folder)]) == 2
    assert capsys.readouterr().err == "error: react openai: no step has a verdict (verifier: accept)\n"
