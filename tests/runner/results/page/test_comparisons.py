"""The page's section on comparisons."""

from runner.results.sections.comparisons import comparisons as section
from tests.runner.results.sweeps import job


def test_runs_that_can_be_paired_have_a_section(tmp_path):
    runs = [job(tmp_path, values, agent) for agent, values in (("a", [1, 0, 1]), ("b", [0, 0, 1]), ("c", [0, 0, 0]))]
    found = section(runs)
    assert found.key == "comparisons" and "Holm p" in found.intro
    assert [row[:2] for row in found.parts[0].rows] == [["a", "b"], ["a", "c"], ["b", "c"]]


def test_baselines_of_the_config_are_used(tmp_path):
    runs = [job(tmp_path, [1, 0, 1], agent) for agent in "abc"]
    runs = [type(run)(run.folder, run.manifest, {**run.cfg, "compare": {"baselines": ["b"]}}) for run in runs]
    assert [row[:2] for row in section(runs).parts[0].rows] == [["a", "b"], ["c", "b"]]


def test_incomparable_runs_have_no_section(tmp_path):
    assert section([job(tmp_path, [1, 0])]) is None
    assert section([job(tmp_path, [1], "a", "one"), job(tmp_path, [1], "b", "two")]) is None
