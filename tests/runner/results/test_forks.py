"""The section of forks: effects with the control, chances from each step, where a case was lost; and their intervals."""

import json
from dataclasses import replace

import numpy as np
import pytest

from benchmarks.coverage_forks import SIZES, STEPS, effect_of, false_alarms, held, simulated, truth
from runner.results.runs import Run
from runner.results.sections.forks import CONTROL, Forked, _changes, forks
from runner.results.sheets import Markup, Sheet
from runner.results.table import Table
from tests.runner.results.records import record
from tests.slow import slow

DRAWS = 2
SAMPLES = ("a", "b", "c")


def run_of(folder, arm, scores, draws=DRAWS, steps=2, kind="proportion"):
    """An arm: (sample, step, draw) -> score, in a folder of its own."""
    found = []
    for (sample, step, draw), value in scores.items():
        number = (step - 1) * draws + draw
        facts = {"step": step, "of": steps, "call": step, "draw": draw, "epoch": 0, "did": f"<b>{step}</b>", "was": 0.0}
        one = record(sample, value, epoch=number, score="right", **{"fork step": f"{step:02d}"})
        found.append({**one, "facts": {"fork": facts}, "steps": []})
    notes = {
        "kinds": {"right": kind},
        "decides": "right",
        "spent": {"usd": 0.5},
        "calls": {"sent": 3, "from_journal": 1},
    }
    run = Run(folder / arm, notes, {"fork": {"arm": arm, "kind": "model"}})
    vars(run)["table"] = Table.of(found)
    return run, found


def forked(folder, mine, theirs, **changes):
    arms = {}
    for arm, scores in ((CONTROL, theirs), ("new", mine)):
        arms[arm], records = run_of(folder, arm, scores, **changes)
        arms[arm].folder.mkdir(parents=True, exist_ok=True)
        text = "".join(json.dumps({**one, "answer": None}) + "\n" for one in records)
        (arms[arm].folder / "records.jsonl").write_text(text)
    score, control = "right", arms[CONTROL]
    return Forked(arms, score, control.scale(score), control.better(score))


def scores(*values):
    """Of the samples a, b, c at the steps 1 and 2, twice each."""
    keys = [(sample, step, draw) for sample in SAMPLES for step in (1, 2) for draw in range(DRAWS)]
    return dict(zip(keys, values, strict=True))


MINE = scores(1, 1, 1, 1, 0, 1, 0, 0, 1, 1, 0, 1)
THEIRS = scores(1, 0, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0)


def test_an_effect_is_the_mean_difference_of_the_same_forks_by_sample(tmp_path):
    one = forked(tmp_path, MINE, THEIRS)
    whole = one.effect("new")
    assert (whole.metric.value, whole.metric.n, whole.clusters) == (pytest.approx(5 / 12), 12, 3)
    first, second = one.effect("new", "01"), one.effect("new", "02")
    assert (first.metric.value, second.metric.value) == (pytest.approx(2 / 6), pytest.approx(3 / 6))
    assert (one.chance(CONTROL, "01").value, one.chance("new", "02").value) == (
        pytest.approx(3 / 6),
        pytest.approx(3 / 6),
    )


def test_a_standard_error_is_that_of_a_regression_clustered_by_sample(tmp_path):
    from statsmodels.regression.linear_model import OLS

    one = forked(tmp_path, MINE, THEIRS)
    gains = np.array([MINE[key] - THEIRS[key] for key in MINE], dtype=float)
    groups = np.array([SAMPLES.index(sample) for sample, _, _ in MINE])
    fitted = OLS(gains, np.ones(len(gains))).fit(
        cov_type="cluster", cov_kwds={"groups": groups, "use_correction": False}
    )
    k = len(SAMPLES)
    assert one.effect("new").standard_error == pytest.approx(fitted.bse[0] * (k / (k - 1)) ** 0.5)


def test_pairs_are_by_the_number_of_a_fork(tmp_path):
    fewer = {key: value for key, value in MINE.items() if key[1] == 2}
    assert forked(tmp_path, fewer, THEIRS).effect("new").metric.n == 6


def test_where_a_case_was_lost_is_the_change_of_its_own_chance(tmp_path):
    one = forked(tmp_path, MINE, THEIRS)
    changes = _changes(one)
    assert changes[1].value == pytest.approx(((0 - 0.5) + (0 - 0.5) + (0 - 0.5)) / 3)
    assert changes[2].value == 0.0, "from the last step to the recorded score"


def test_the_section_has_all_tables_and_its_texts_are_escaped(tmp_path):
    one = forked(tmp_path, MINE, THEIRS)
    section = forks(list(one.arms.values()))
    titles = [part.title for part in section.parts if isinstance(part, Sheet)]
    assert [title.partition(":")[0] for title in titles] == [
        "Recovery by intervention", "Chance of success from each step, continued unchanged", "Effect by step",
        "Episodes, step by step",
    ]  # fmt: skip
    (tree,) = [part for part in section.parts if isinstance(part, Markup)]
    assert "&lt;b&gt;1&lt;/b&gt;" in tree.html and "<b>1</b>" not in tree.html and tree.html.count("<details") == 3
    assert [*section.sheets[-1].rows[0]] == ["a", 1, 1, "<b>1</b>", "1/2", "2/2"]
    assert tree.html.count("<meter") == 12


def test_steps_of_few_clusters_have_neither_interval_nor_p_and_are_left_out_of_holm(tmp_path):
    rng, keys = (
        np.random.default_rng(1),
        [(f"s{n}", step, draw) for n in range(7) for step in (1, 2) for draw in (0, 1)],
    )
    keys = [key for key in keys if key[1] == 1 or key[0] < "s5"]  # five of seven at the second step
    mine, theirs = ({key: float(rng.random() < p) for key in keys} for p in (0.9, 0.2))
    one = forked(tmp_path, mine, theirs)
    first, second = forks(list(one.arms.values())).sheets[2].rows
    assert first[-2] == first[-1] != "-", "alone in Holm"
    assert second[-2:] == ["-", "-"] and second[4].low is None and second[4].no_interval == "n too small"
    lost = forks(list(one.arms.values())).sheets[1].rows
    assert lost[0][-1].no_interval == lost[1][-1].no_interval == "n too small", "five have both steps"


def test_the_control_of_an_arm_is_that_of_the_same_forks(tmp_path):
    fewer = {key: value for key, value in MINE.items() if key[1] == 2} | {("a", 1, 0): None}
    section = forks(list(forked(tmp_path, fewer, THEIRS).arms.values()))
    control, new = section.sheets[0].rows
    assert [row[3] for row in (control, new)] == [0, 1], "unscored"
    assert control[5] is None and new[4].value - new[5].value == pytest.approx(new[6].value)
    assert new[5].value == pytest.approx(sum(THEIRS[key] for key in fewer if key[1] == 2) / 6)


def test_scores_without_bounds_have_no_meter(tmp_path):
    section = forks(list(forked(tmp_path, MINE, THEIRS, kind="count").arms.values()))
    assert not any("<meter" in part.html for part in section.parts if isinstance(part, Markup))
    unscored = dict.fromkeys(MINE)
    section = forks(list(forked(tmp_path / "nan", unscored, THEIRS).arms.values()))
    (tree,) = [part for part in section.parts if isinstance(part, Markup)]
    assert tree.html.count("<meter") == 6, "those of the control alone"


def test_other_runs_have_no_such_section(tmp_path):
    one = forked(tmp_path, MINE, THEIRS)
    assert forks([replace(one.control, cfg={})]) is None
    assert forks([one.arms["new"]]) is None, "no control, no effect"
    assert forks([replace(one.control, cfg={"fork": damaged}) for damaged in ("x", {}, {"arm": CONTROL}, [1])]) is None


def test_forks_with_damaged_facts_have_no_tree(tmp_path):
    one = forked(tmp_path, MINE, THEIRS)
    for run in one.arms.values():
        path = run.folder / "records.jsonl"
        path.write_text(path.read_text().replace('"step"', '"stop"'))
    section = forks(list(one.arms.values()))
    assert section.sheets[-1].rows == [] and len(section.sheets[2].rows) == 2


@slow
@pytest.mark.parametrize(("samples", "draws"), SIZES)
def test_intervals_hold_the_true_effect_and_estimates_are_unbiased(samples, draws):
    """500 simulated forks of episodes with three steps: docs/guides/forks.md has the figures."""
    rng, n = np.random.default_rng(1), 200
    values = [effect_of(*simulated(rng, samples, STEPS, draws)).metric.value for _ in range(n)]
    assert abs(float(np.mean(values)) - truth(None)) < 4 * float(np.std(values)) / n**0.5
    for step, share in held(samples, draws, 500).items():
        assert 92 <= share <= 98.5 + (samples < 30), (step, share)


@slow
def test_an_intervention_without_an_effect_is_rarely_significant():
    """Type I error of 300 simulated forks of 20 episodes: at most 5 % but for chance, for the whole and after Holm."""
    assert max(false_alarms(300)) < 5 + 2.5 * 1.26
