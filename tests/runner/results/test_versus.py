"""Which methods are compared with which, and what is refused."""

import pytest

from components.core.errors import ConfigError
from runner.results.grid import grid_of
from runner.results.versus import compare_rows
from tests.runner.results.sweeps import job

VALUES = {"react": [1, 1, 1, 1, 0, 1], "direct": [0, 0, 1, 0, 0, 0], "cot": [1, 0, 1, 0, 0, 1]}


@pytest.fixture
def three(tmp_path):
    return grid_of([job(tmp_path, values, agent) for agent, values in VALUES.items()])


def who(found):
    return [(one.mine, one.theirs) for one in found.comparisons]


def test_every_pair_is_compared_once_and_adjusted_for_all(three):
    found = compare_rows(three)
    assert who(found) == [("react", "direct"), ("react", "cot"), ("direct", "cot")]
    first = found.comparisons[0]
    assert (first.metric, first.direction, first.difference.wins, first.difference.losses) == (
        "score/x",
        "higher",
        4,
        0,
    )
    assert first.difference.p == 0.125 and first.difference.p_holm == 0.375, "of three comparisons"
    assert first.difference.least_detectable() > 0 and first.difference.more_samples() >= 0 and not found.notes
    assert first.as_dict()["pairs"] == 6 and first.as_dict()["mine"] == "react"


def test_methods_are_compared_with_named_baselines(three):
    assert who(compare_rows(three, baselines=["direct"])) == [("react", "direct"), ("cot", "direct")]
    assert len(who(compare_rows(three, baselines=["direct", "cot"]))) == 2, "baselines are not compared with each other"


def test_a_baseline_is_the_one_with_the_same_other_settings(tmp_path):
    runs = [
        job(tmp_path, [1, 0, 1], agent, varied={"condition": condition})
        for agent in ("react", "direct") for condition in ("few", "many")
    ]  # fmt: skip
    assert who(compare_rows(grid_of(runs), baselines=["direct"])) == [
        ("react few", "direct few"), ("react many", "direct many"),
    ]  # fmt: skip
    assert who(compare_rows(grid_of(runs), baselines=["many"])) == [
        ("react few", "react many"), ("direct few", "direct many"),
    ], "any choice that was swept may be the baseline"  # fmt: skip


def test_many_pairs_are_reduced_to_those_with_the_best_by_default(tmp_path):
    grid = grid_of([job(tmp_path, [1, 0, n == 7], f"a{n}") for n in range(13)])
    found = compare_rows(grid)
    assert len(found.comparisons) == 12 and {one.mine for one in found.comparisons} == {"a7"}
    assert "78 pairs on cab: only those with a7, the best on these data" in found.notes[0]
    assert len(compare_rows(grid, every=True).comparisons) == 78


def test_lower_is_better_for_a_score_that_is_better_low(tmp_path):
    runs = [
        job(tmp_path, of, agent, lower=["score/x"]) for agent, of in (("a", [0.5, 1.5, 2.5]), ("b", [4.5, 4.0, 3.0]))
    ]
    (one,) = compare_rows(grid_of(runs)).comparisons
    assert one.direction == "lower" and one.difference.metric.value == pytest.approx(7 / 3) and one.difference.wins == 3


def test_unpaired_samples_are_named(tmp_path):
    runs = [job(tmp_path, [1, None, 1], "a"), job(tmp_path, [1, 1, 0, 0], "b")]
    (one,) = compare_rows(grid_of(runs)).comparisons
    assert one.unpaired == {"unscored": ["t-1"], "run on one side only": ["t-3"]} and one.difference.metric.n == 2


def test_several_metrics_are_compared_by_their_own_directions(three):
    found = compare_rows(three, ["score/x", "calls/per_sample"], baselines=["direct"]).comparisons
    assert [(one.metric, one.direction) for one in found] == [
        ("score/x", "higher"), ("score/x", "higher"), ("calls/per_sample", "lower"), ("calls/per_sample", "lower"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            {"metrics": ["score/y"]},
            "--metric: no run here has 'score/y'; did you mean score/x\\? there are score/x, stop/answered",
        ),
        (
            {"baselines": ["reakt"]},
            "--baselines: no method here is 'reakt'; did you mean react or direct\\? there are react, direct, cot",
        ),
    ],
)
def test_unknown_metric_or_baseline_is_refused_by_name(three, given, message):
    with pytest.raises(ConfigError, match=message):
        compare_rows(three, **given)


def test_other_data_cannot_be_paired(tmp_path):
    runs = [job(tmp_path, [1, 0], "a", "medicine"), job(tmp_path, [1, 0], "b", "surgery")]
    with pytest.raises(
        ConfigError, match="nothing can be paired: a, b were run on different data: a medicine; b surgery"
    ):
        compare_rows(grid_of(runs))
    changed = {"name": "cab", "split": "test", "samples": 2, "fingerprint": "1" * 16}
    runs = [job(tmp_path, [1, 0], "a"), job(tmp_path, [1, 0], "b", dataset="cab")]
    runs[1] = type(runs[1])(runs[1].folder, {**runs[1].manifest, "dataset": changed}, runs[1].cfg)
    with pytest.raises(ConfigError, match=r"a, b were run on different data: a cab .*; b cab 11111111"):
        compare_rows(grid_of(runs))


def test_single_method_cannot_be_compared(tmp_path):
    with pytest.raises(ConfigError, match="nothing to compare: there is one method"):
        compare_rows(grid_of([job(tmp_path, [1, 0])]))


def test_no_common_scored_sample_is_reported(tmp_path):
    runs = [job(tmp_path, [1, None], "a"), job(tmp_path, [None, 1], "b")]
    with pytest.raises(ConfigError, match="a and b have no scored sample in common \\(2 unscored\\)"):
        compare_rows(grid_of(runs))


def test_runs_without_declared_directions_are_reported(tmp_path):
    runs = [job(tmp_path, [1, 0, 1], agent) for agent in "ab"]
    old = [type(run)(run.folder, {k: v for k, v in run.manifest.items() if k != "lower"}, run.cfg) for run in runs]
    assert "older runs do not say where lower is better" in compare_rows(grid_of(old)).notes[0]


def test_methods_without_any_score_are_named_once(tmp_path):
    runs = [
        job(tmp_path, of, agent) for agent, of in (("a", [1, 0]), ("b", [0, 0]), ("c", [None] * 2), ("d", [None] * 2))
    ]
    found = compare_rows(grid_of(runs))
    assert who(found) == [("a", "b")] and found.notes == ["not compared on cab, without any score/x: c, d"]


def test_baselines_that_include_all_methods_are_refused(three):
    with pytest.raises(ConfigError, match=r"--baselines: all methods are among them .react, direct, cot.; name fewer"):
        compare_rows(three, baselines=["react", "direct", "cot"])


def test_metric_without_a_direction_has_no_best_method(tmp_path):
    runs = [job(tmp_path, [n, n + 1], f"a{n}", neither=["score/x"]) for n in range(13)]
    found = compare_rows(grid_of(runs))
    assert found.comparisons[0].direction == "" and "those with a12, the highest on these data" in found.notes[0]


def test_times_of_replayed_calls_are_reported(tmp_path):
    calls = [{"sent": 3, "from_journal": n} for n in (0, 2)]
    grid = grid_of([job(tmp_path, [1, 0], agent, calls=of) for agent, of in zip("ab", calls, strict=True)])
    assert compare_rows(grid).notes == []
    assert compare_rows(grid, ["time/seconds"]).notes == [
        "time/seconds says little about b: the journal answered some of their calls at once"
    ]


def test_changed_questions_are_compared_with_the_original_ones(tmp_path):
    prints = {"react": {"fingerprint": "plain"}, "direct": {"fingerprint": "changed", "base": "plain"}}
    runs = [job(tmp_path, VALUES[agent], agent, dataset="cab") for agent in prints]
    for run, agent in zip(runs, prints, strict=True):
        run.manifest["dataset"] |= prints[agent]
    assert who(compare_rows(grid_of(runs))) == [("react", "direct")]
    del runs[1].manifest["dataset"]["base"]
    with pytest.raises(
        ConfigError, match="react, direct were run on different data: react cab plain; direct cab changed"
    ):
        compare_rows(grid_of(runs))
