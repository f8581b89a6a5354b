"""A card per dataset."""

import pytest

from components.core.messages import Message, Usage
from components.core.types import Step
from runner.results.runs import Run
from runner.results.sections import cards
from runner.results.steps import diversity
from tests.runner.results.folders import step, write
from tests.runner.results.page.pages import cells

ASKED = "Which of the two is it? " * 12


def answered_call(question, reply):
    """A model call with its reply."""
    return Step(
        "act", "main", "main", 0, 0, (Message("user", question),), Message("assistant", reply), Usage(7, 3, 0.0)
    )


def test_samples_lengths_and_words(tmp_path):
    steps = [answered_call(ASKED, "It is one."), step("Books")]
    folder = write(tmp_path / "a", {"one": ("k", [1, 0]), "two": ("d", [1])}, steps=steps, inputs=["image"])
    samples, lengths, words = cards.section([Run.at(folder)]).parts
    facts = dict(samples.rows)
    assert facts["samples"] == 3 and facts["task, samples of each"] == "one 2, two 1"
    assert facts["other inputs"] == "image 3" and facts["class of the data"] == "unknown"
    assert lengths.rows[0][1:] == [3, 2, 2, 0, 0, 2, 2, 8, 8, 4, 4]
    (row,) = cells(words)
    assert (row["asked, words"], row["asked, different words"], row["replied, different words"]) == (72.0, 6, 3)
    assert row["asked, diversity"] == pytest.approx(6 / 50) and row["replied, diversity"] is None


def test_demographics_and_gold_chains_are_counted_once_per_sample(tmp_path):
    patients = [{"sex": "female", "age, years": 20.0}, {"sex": "male", "age, years": 60.0, "gold chain, steps": 4}, {}]
    runs = [Run.at(write(tmp_path / name, {"one": ("k", [1, 0, 1])}, cards=patients)) for name in "ab"]
    facts = dict(cards.section(runs).parts[0].rows)
    assert facts["sex"] == "female 1, male 1"
    assert facts["age, years"] == "mean 40, median 40, 20 to 60 (n = 2)"
    assert facts["gold chain, steps"] == "mean 4, median 4, 4 to 4 (n = 1)"


def test_diversity_is_the_mean_over_windows():
    assert diversity(["a", "b", "a", "a"], window=2) == pytest.approx((1 + 1 + 0.5) / 3)
    assert diversity(["a"], window=2) is None


def test_no_episodes_give_no_card(tmp_path):
    assert cards.section([Run.at(write(tmp_path / "a", {}))]) is None


def test_patients_are_counted_once_per_stratum():
    def record(patient, task, anatomy, **card):
        card = {name.replace("age", "age, years"): value for name, value in card.items()}
        return {
            "cluster": patient,
            "sample_id": f"{patient}/{task}",
            "strata": {"task": task, "anatomy": anatomy},
            "card": card,
        }

    ann, bea, carl = {"sex": "female", "age": 40.0}, {"sex": "female", "age": 60.0}, {"sex": "male", "age": 7.0}
    records = [
        record(name, task, anatomy, **card)
        for name, anatomy, card in (
            ("a", "Breast", ann),
            ("b", "Breast", bea),
            ("c", "Chest", carl),
            ("d", "Limb", {"sex": "male"}),
        )
        for task in ("one", "two")
    ]
    (sheet,) = cards.patients("mini", records)  # a task is not a property of a patient
    assert sheet.title == "mini: patients by anatomy"
    assert [column.name for column in sheet.columns[:4]] == ["anatomy", "patients", "female", "male"]
    assert sheet.rows == [
        ["Breast", 2, 2, 0, 50.0, 40.0, 60.0],
        ["Chest", 1, 0, 1, 7.0, 7.0, 7.0],
        ["Limb", 1, 0, 1, None, None, None],
    ]


def test_samples_without_patients_give_no_table():
    records = [{"cluster": n, "sample_id": n, "strata": {"task": n}, "card": {"gold chain, steps": 2}} for n in "ab"]
    assert cards.patients("mini", records) == [] == cards.patients("mini", [])
