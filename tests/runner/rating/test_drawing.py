from collections import Counter
from pathlib import Path

import pytest

from components.core.errors import ConfigError
from components.rubrics.rubric import Draw, Rubric
from runner.rating.command import draw, remove_model_names
from runner.results.runs import Run
from tests.runner.rating.cases import CAUSE
from tests.slow import slow


def rubric(**values):
    return Rubric("mine", "us", "Why?", ["question", "answer"], {"cause": CAUSE}, draw=Draw(**values))


def names(items):
    return [(item.run.folder.name, item.sample_id) for item in items]


@pytest.fixture
def both(rated):
    return [Run.at(rated.one), Run.at(rated.two)]


@slow
def test_draw_is_seeded_balanced_over_runs_and_strata_and_shuffled(both):
    wanted = rubric(by=["task"])
    items = draw(both, wanted, 8, 0)
    assert names(items) == names(draw(list(both), wanted, 8, 0)) != names(draw(both, wanted, 8, 1))
    tasks = Counter((item.run.folder.name, int(item.sample_id[-1]) % 2) for item in items)
    assert set(tasks.values()) == {2} and len(tasks) == 4
    assert names(items) != sorted(names(items))


@slow
def test_only_failures_are_drawn_and_at_most_all_of_them(both):
    items = draw(both, rubric(which="failures", score="score/strict"), 50, 0)
    assert {item.sample_id for item in items} == {"case 2", "case 3", "case 4", "case 5"} and len(items) == 8
    assert {item.cluster for item in items} == {"patient 1", "patient 2"}


@slow
def test_sample_counts_once_across_runs(both):
    wanted = Rubric("mine", "us", "Fit?", ["question", "reference"], {"cause": CAUSE}, draw=Draw(of="samples"))
    items = draw(both, wanted, 50, 0)
    assert sorted(item.sample_id for item in items) == [f"case {i}" for i in range(6)]
    assert {item.texts["Reference"] for item in items} == {"A", "@B2", "@B3", "@B4", "@B5"}


def test_empty_draw_and_unknown_score_are_refused(rated):
    right = Run.at(rated.changed(slice(0, 2)))
    with pytest.raises(ConfigError, match="nothing to rate: rubric 'mine' draws failures"):
        draw([right], rubric(which="failures", score="score/strict"), 5, 0)
    with pytest.raises(ConfigError, match="changed: failures are decided by score/x, which is not a score here"):
        draw([right], rubric(which="failures", score="score/x"), 5, 0)


def test_data_that_have_changed_are_refused(rated):
    other = Run.at(rated.changed(fingerprint="cases-6-0"))
    with pytest.raises(ConfigError, match="was run on data with fingerprint 'cases-6-0', which is now 'cases-6-1'"):
        draw([other], rubric(), 5, 0)


def test_models_are_not_named_in_texts():
    run = Run(Path("x"), {"models": {"main": "acme/gpt-9-mini", "tool": "eye"}}, {})
    assert (
        remove_model_names("As GPT-9-mini (acme/gpt-9-mini), I see an eyelid.", run)
        == "As [the model] ([the model]), I see an eyelid."
    )
    assert remove_model_names("It is gpt-9-minimal.", Run(Path("x"), {}, {})) == "It is gpt-9-minimal."
