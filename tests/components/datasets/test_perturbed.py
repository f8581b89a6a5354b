from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random

import pytest
import yaml

from components.cab.datasets.cab import Cab
from components.core.errors import ConfigError
from components.core.protocols import Dataset
from components.core.types import Problem, Sample
from components.datasets import perturbed
from components.datasets.perturbed import Perturbed, drop_context, paraphrase
from runner.config.build import construct
from runner.config.errors import ConfigErrors
from tests.table import each_row

FOUR = {"A": "gout", "B": "lupus", "C": "scurvy", "D": "rickets"}
STORY = "He is 40. He has pain. He drinks. Which of the following is most likely?"
MINI = Cab(path=None, shipped="cab_mini", tasks="all", split="test", per_task=4, seed=0, privacy="open")


def choice(n, choices=FOUR, target="B", question=STORY, **more):
    return Sample(
        Problem(f"q{n}", question, choices, **more), target, {"answer": choices.get(target)}, strata={"task": "t"}
    )


@dataclass(frozen=True)
class Held:
    samples: list = field(default_factory=lambda: [choice(n) for n in range(40)])
    split: str = "test"
    splits: tuple = ("test", "train")
    privacy: str = "open"
    fingerprint: str = "plain"

    def load(self, split):
        return iter(self.samples)


def load(*perturb, inner=None, split="test", **settings):
    return list(Perturbed(inner or Held(), perturb, **settings).load(split))


def test_it_has_the_interface_of_the_wrapped_dataset():
    data = Perturbed(Held())
    assert isinstance(data, Dataset)
    assert (data.splits, data.split, data.privacy) == (("test", "train"), "test", "open")


def test_options_are_reordered_and_the_target_follows_its_text():
    samples, letters = load("options"), Counter()
    for sample in samples:
        assert list(sample.problem.choices) == list("ABCD") and sorted(sample.problem.choices.values()) == sorted(
            FOUR.values()
        )
        assert sample.problem.choices != FOUR and sample.problem.choices[sample.target] == "lupus"
        letters[sample.target] += 1
    assert len(letters) == 4 and [s.problem.id for s in samples] == [f"q{n}" for n in range(40)]


@each_row(
    "sample",
    [
        choice(1, {"A": "gout", "B": "lupus", "C": "none of the above"}),
        choice(1, {"A": "gout", "B": "lupus", "C": "A and B"}),
        choice(1, {"A": "gout", "B": "lupus", "C": "scurvy", "D": "A, B, and C"}),
        choice(1, {"A": "gout", "B": "lupus", "C": "A/B"}),
        choice(1, {"A": "gout", "B": "lupus", "C": "All except A"}),
        choice(1, {"A": "gout", "B": "lupus", "C": "A only"}),
        choice(1, {"A": "D", "B": "C", "C": "A", "D": "B"}),
        choice(1, {"A": "gout", "B": "gout"}),
        choice(1, {"A": "gout"}, "A"),
        replace(choice(1), target={"answer": "B"}),
        choice(1, {}, ""),
    ],
)
def test_options_that_cannot_be_moved_stay(sample):
    (found,) = load("options", inner=Held([sample]))
    assert (found.problem, found.target) == (sample.problem, sample.target)
    assert found.metadata["perturbed"] == [] and found.strata == {"task": "t", "perturbed": "no"}


def test_words_are_replaced_from_the_table():
    questions = {sample.problem.question for sample in load("paraphrase")}
    assert len(questions) > 1 and STORY not in questions
    assert all(question.startswith("He is 40. He has pain. He drinks. Which") for question in questions)
    (kept,) = load("paraphrase", inner=Held([choice(1, question="Why?")]))
    assert kept.problem.question == "Why?" and kept.metadata["perturbed"] == []


def test_a_capital_stays_a_capital():
    found = paraphrase(Problem("1", "What was the dose? Tell what was the dose."), Random(1)).question
    assert found[0] in "TW" and found.split("? ")[1].startswith("Tell ")


def test_the_table_says_something_else_each_time_and_never_its_own_phrase():
    table = yaml.safe_load((Path(perturbed.__file__).parent / "perturbed_words.yaml").read_text())
    assert len(table) >= 40
    for phrase, ways in table.items():
        assert phrase == phrase.lower() and ways and len(ways) == len(set(ways)), phrase
        assert all(isinstance(way, str) and way.strip() and way.lower() != phrase for way in ways), phrase


def test_context_loses_sentences_but_never_all():
    problem = Problem("1", "Why?", context="One. Two. Three.\nFour.")
    found = {drop_context(problem, 0.5, Random(n)).context for n in range(60)}
    assert "" not in found and problem.context not in found
    assert {text.count(".") for text in found} == {1, 2, 3} and "One. Two. Three." in found
    assert drop_context(replace(problem, context="One only"), 0.9, Random(1)).context == "One only"


def test_without_context_a_question_with_options_loses_what_comes_before_it_asks():
    for sample in load("context"):
        question = sample.problem.question
        assert question.endswith("Which of the following is most likely?") and 2 <= question.count(".") + 1 <= 3
    bare = Problem("1", STORY)
    assert drop_context(bare, 0.5, Random(1)) is bare
    short = Problem("1", "Which?", FOUR)
    assert drop_context(short, 0.5, Random(1)) is short


def test_the_perturbation_is_recorded():
    for sample in load("options", "paraphrase", "context"):
        assert sample.metadata["perturbed"] == ["options", "paraphrase", "context"]
        assert sample.strata["perturbed"] == "options+paraphrase+context" and sample.metadata["answer"] == "lupus"


def test_draws_depend_on_seed_and_sample_alone():
    first, again, other = (load("options", seed=seed) for seed in (1, 1, 2))
    assert first == again != other
    few = load("options", inner=Held([choice(7)]), seed=1)
    assert few[0].problem == first[7].problem
    both = load("paraphrase", "options", seed=1)
    assert [one.problem.choices for one in both] == [one.problem.choices for one in first]


def test_a_sample_is_known_by_its_plain_problem_also_when_twice_perturbed():
    plain = choice(1, context="One. Two. Three.")
    (sample,) = load("context", inner=Perturbed(Held([plain]), ("context", "options")))
    assert len(sample.problem.context) < len("One. Two.") and sample.known_as == plain.problem == plain.known_as


def test_other_splits_and_no_perturbation_are_the_plain_samples():
    assert load("options", split="train") == Held().samples == load()
    assert Perturbed(Held(), ()).fingerprint == "plain"


def test_the_fingerprint_records_the_perturbation_and_the_base_dataset():
    prints = {Perturbed(Held(), ("options",), seed=seed).fingerprint for seed in (1, 2)}
    assert len(prints | {Perturbed(Held(), ("context",)).fingerprint, "plain"}) == 4
    assert Perturbed(Perturbed(Held(), ("options",))).traits.base == "plain"


def test_shipped_tasks_can_be_perturbed_and_scored_letters_stay_letters():
    plain = {sample.problem.id: sample for sample in MINI.load("test")}
    done = Counter()
    for sample in Perturbed(MINI).load("test"):
        was = plain[sample.problem.id]
        done.update(sample.metadata["perturbed"])
        if was.problem.choices and isinstance(was.target, str):
            assert sample.problem.choices[sample.target] == was.problem.choices[was.target]
        else:
            assert sample.target == was.target
    assert min(done[kind] for kind in ("options", "paraphrase", "context")) > 5


def test_an_unknown_perturbation_is_refused():
    node = {"_target_": "components.datasets.perturbed.Perturbed", "inner": Held(), "perturb": ["colour"]}
    with pytest.raises(ConfigErrors, match="perturb"):
        construct(node, "dataset")


def test_a_way_that_is_named_twice_is_refused():
    with pytest.raises(ConfigError, match="perturb: 'options' is duplicated"):
        Perturbed(Held(), ("options", "context", "options"))
