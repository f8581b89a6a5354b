"""A card per dataset."""

import pytest

from components.messages import Message, Usage
from components.types import Step
from runner.results.page import cards
from runner.results.rows import Run
from tests.runner.results.folders import step, write
from tests.runner.results.page.pages import cells

ASKED = "Which of the two is it? " * 12


def said(question, reply):
    """A call that asks and is answered."""
    return Step(
        "act", "main", "main", 0, 0, (Message("user", question),), Message("assistant", reply), Usage(7, 3, 0.0)
    )


def test_samples_lengths_and_words(tmp_path):
    card = {"sex": {"f": 2, "m": 1}, "chain length, median": 3}
    steps = [said(ASKED, "It is one."), step("Books")]
    folder = write(tmp_path / "a", {"one": ("k", [1, 0]), "two": ("d", [1])}, steps=steps, inputs=["image"], card=card)
    samples, lengths, words = cards.section([Run.at(folder)]).parts
    facts = dict(samples.rows)
    assert facts["samples played"] == 3 and facts["task, samples of each"] == "one 2, two 1"
    assert facts["sex"] == "f 2, m 1" and facts["chain length, median"] == 3
    assert facts["inputs beside the question"] == "image 3" and facts["class of the data"] == "unknown"
    assert lengths.rows[0][1:] == [3, 2, 2, 0, 0, 8, 8, 4, 4]
    (row,) = cells(words)
    assert (row["asked, words"], row["asked, different words"], row["replied, different words"]) == (72.0, 6, 3)
    assert row["asked, diversity"] == pytest.approx(6 / 50) and row["replied, diversity"] is None


def test_diversity_is_the_mean_over_windows():
    assert cards.diversity(["a", "b", "a", "a"], window=2) == pytest.approx((1 + 1 + 0.5) / 3)
    assert cards.diversity(["a"], window=2) is None


def test_no_episode_is_no_card(tmp_path):
    assert cards.section([Run.at(write(tmp_path / "a", {}))]) is None
