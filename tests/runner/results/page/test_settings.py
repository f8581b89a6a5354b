"""Scores by the settings that the runs vary."""

from runner.results.sections.scores import settings as section
from runner.results.sections.scores import varied_fields
from runner.results.sheets import Plot, Sheet
from tests.runner.results.page.pages import cells, grid

VALUES = {
    ("react", "intact"): [1, 1], ("react", "withheld"): [1, 0], ("cot", "intact"): [0, 0], ("cot", "withheld"): [0, 1],
}  # fmt: skip


def test_a_field_that_varies_has_a_column_per_value(tmp_path):
    found = section(grid(tmp_path, VALUES))
    sheets = {part.title: cells(part) for part in found.parts if isinstance(part, Sheet)}
    assert list(sheets) == ["By condition", "By agent"]
    assert [(row["agent"], row["intact"].value, row["withheld"].value) for row in sheets["By condition"]] == [
        ("react", 1.0, 0.5), ("cot", 0.0, 0.5),
    ]  # fmt: skip
    assert sheets["By agent"][0]["score"] == "score/x ↑"
    assert [part.title for part in found.parts if isinstance(part, Plot)] == [
        "score/x by condition",
        "score/x by agent",
    ]


def test_single_varied_field_is_shown_in_the_leaderboard_only(tmp_path):
    assert section(grid(tmp_path, VALUES, agents=["react"])) is None


def test_field_determined_by_another_is_left_out(tmp_path):
    runs = grid(tmp_path, VALUES)
    for run in runs:
        run.manifest["choices"]["memory"] = f"of {run.choices['agent']}"
    assert varied_fields(runs) == {"condition": ["intact", "withheld"], "agent": ["react", "cot"]}
