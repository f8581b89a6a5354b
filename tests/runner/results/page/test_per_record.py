"""The page's section on a score record by record."""

from runner.results.runs import Run
from runner.results.sections.figures import per_record as section
from tests.runner.results.page.pages import cells, tips, written_on
from tests.runner.results.sweeps import job

VALUES = {"plain": [2, 4, 1, 1, 3], "shots": [1, 1, 1, 1, 4], "three": [0, 1, 1, 1, 3]}
PATIENTS = ["p1", "p1", "p2", "p2", "p3"]


def runs(home, **compare):
    made = [job(home, values, name, lower=["score/x"], clusters=PATIENTS) for name, values in VALUES.items()]
    return [Run(run.folder, run.manifest, {**run.cfg, "compare": compare}) for run in made]


def test_record_is_the_mean_of_its_questions_plotted_against_the_baseline(tmp_path):
    plot, table = section(runs(tmp_path, per_record="score/x", baselines=["plain"])).parts
    assert cells(table) == [
        {"record": "p1", "plain": 3.0, "shots": 1.0, "three": 0.5},
        {"record": "p2", "plain": 1.0, "shots": 1.0, "three": 1.0},
        {"record": "p3", "plain": 3.0, "shots": 4.0, "three": 3.0},
    ]
    assert tips(plot)[3:6] == ["p1: 3, 1", "p2: 1, 1", "p3: 3, 4"]
    assert plot.svg.count("dotted") == 2, "the line on which both are equal, in every width"


def test_first_method_is_the_baseline_if_none_was_run(tmp_path):
    plot, _ = section(runs(tmp_path, per_record="score/x", baselines=["other"])).parts
    assert [text for text in written_on(plot) if text.isalpha()] == ["shots", "three", "equal"]
    assert [tip.partition(",")[0] for tip in tips(plot)[:3]] == ["p1: 3", "p2: 1", "p3: 3"]


def test_single_method_has_only_a_table(tmp_path):
    (table,) = section(runs(tmp_path, per_record="score/x")[:1]).parts
    assert len(table.rows) == 3


def test_section_follows_the_config_and_names_a_missing_score(tmp_path):
    assert section(runs(tmp_path)) is None and section([]) is None
    found = section(runs(tmp_path / "named", per_record="score/y"))
    assert not found.parts and "No run has score/y" in found.intro
