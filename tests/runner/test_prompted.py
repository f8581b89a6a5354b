import json
from dataclasses import replace

import pytest

from components.core.errors import ConfigError
from components.core.types import Problem
from components.prompts import load
from runner.experiment.privacy import PrivacyRefused
from runner.learning.checks import check_prompts
from runner.learning.lesson import training
from tests.stage_bench import Class, Halves, base_set, bench


class Otherwise(Halves):
    """The evaluated questions in other words."""

    def load(self, split):
        if split != "test":
            return [*super().load(split), replace(super().load("test")[0], problem=Problem("t/9", "question 0"))]
        samples = super().load(split)
        return [replace(one, problem=replace(one.problem, question="so?"), plain=one.problem) for one in samples]


def experiment(tmp_path, **notes):
    folder = base_set(tmp_path / "made")
    (tmp_path / "made" / "manifest.json").write_text(json.dumps(notes))
    desk = bench(Class().say, folder)
    return replace(desk.experiment, prompts={folder: load(folder).digest}), desk


def test_prompts_refined_on_evaluated_samples_are_refused(tmp_path):
    setup, desk = experiment(tmp_path, texts=[])
    check_prompts(setup)
    setup, desk = experiment(tmp_path, texts=desk.known(desk.evaluated[:2]))
    with pytest.raises(ConfigError, match="were refined on 2 of the samples that are evaluated, such as 'q0'"):
        check_prompts(setup)
    setup = replace(setup, dataset=Otherwise())
    assert setup.dataset.load("test")[0].problem not in [one.problem for one in desk.evaluated]
    with pytest.raises(ConfigError, match="were refined on 2 of the samples that are evaluated, such as 'q0'"):
        check_prompts(setup)


def test_prompts_refined_on_restricted_data_need_a_permitted_model(tmp_path):
    setup, _ = experiment(tmp_path, dataset={"privacy": "credentialed"})
    check_prompts(setup)
    setup.models["main"].in_process = False
    with pytest.raises(PrivacyRefused, match=r"the data that the prompts .* were refined on is credentialed"):
        check_prompts(setup)


def test_derived_prompts_inherit_the_records_of_their_base(tmp_path):
    setup, desk = experiment(tmp_path, texts=["a", "b"], dataset={"privacy": "credentialed"})
    further = replace(desk, experiment=setup)
    sample = desk.evaluated[0]
    assert further.known([sample]) == [*desk.known([sample]), "a", "b"] and len(desk.known([sample])) == 1
    assert (desk.facts["dataset"]["privacy"], further.facts["dataset"]["privacy"]) == ("open", "credentialed")


def test_training_question_paraphrased_in_the_evaluation_is_not_used(tmp_path):
    setup, _ = experiment(tmp_path)
    _, samples = training(replace(setup, dataset=Otherwise()), None, ("train",), "stage")
    assert len(samples) == 8 and "question 0" not in [one.problem.question for one in samples]
