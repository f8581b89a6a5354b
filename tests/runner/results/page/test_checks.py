"""The page's section on the choices of the verifier."""

from runner.results.runs import Run
from runner.results.sections import verifier
from tests.runner.results.folders import step, write
from tests.runner.results.page.pages import cells, tips


def test_steps_and_endings_are_counted(tmp_path):
    steps = [
        step("Books", verdict="select: candidate 2 of 3, picked; curve 1=1, 2=1, 3=2"),
        step(answer="A", verdict="select: candidate 1 of 3, all were equal; curve 1=1, 2=1, 3=1"),
    ]
    run = Run.at(write(tmp_path / "a", {"one": ("k", [1, 0])}, steps=steps))
    plot, by_step, endings = verifier.verifier([run]).parts
    assert [(row["step"], row["checked"], row["first not kept"], row["unlike with 2"]) for row in cells(by_step)] == [
        ("1", 2, 1.0, 1.0), ("2", 2, 0.0, 0.0), ("all", 4, 0.5, 0.5),
    ]  # fmt: skip
    assert {row["the check ended"]: row["of all checks"] for row in cells(endings)} == {
        "picked": 0.5,
        "all were equal": 0.5,
    }
    assert [tip.rpartition(": ")[2] for tip in tips(plot)] == ["1", "0"]


def test_no_verifier_choices_give_no_section(tmp_path):
    steps = [step(answer="A", verdict="accept: candidate 1 of 1, taken")]
    assert verifier.verifier([Run.at(write(tmp_path / "a", {"one": ("k", [1])}, steps=steps))]) is None
