"""Which tools were used."""

import pytest

from runner.results.runs import Run
from runner.results.sections import tools
from tests.runner.results.folders import step, write
from tests.runner.results.page.pages import cells


def test_actions_are_counted_by_run_part_and_tool(tmp_path):
    steps = [step("Books", "Query"), step("Books"), step("Nonsense"), step(answer="A")]
    run = Run.at(write(tmp_path / "a", {"one": ("knowledge", [1, 0])}, steps=steps))
    actions, shares, by_tool = tools.section([run]).parts
    (row,) = cells(actions)
    assert (row["part"], row["actions"], row["malformed"]) == ("knowledge", 8, pytest.approx(0.2))
    assert row["matching"] == pytest.approx(2 / 3) and row["tools offered"] == 2
    (of_actions,) = cells(shares)
    assert (of_actions["part"], of_actions["Books"], of_actions["Query"]) == ("knowledge", 0.5, 0.25)
    assert shares.shaded == 2
    assert [(row["tool or category"], row["actions"]) for row in cells(by_tool)] == [("Books", 4), ("Query", 2)]


def test_no_tools_give_no_section(tmp_path):
    assert tools.section([Run.at(write(tmp_path / "a", {"one": ("k", [1])}))]) is None
