import json
from dataclasses import replace

import pytest

from components.errors import ConfigError
from components.prompts import load
from runner.fitting import PrivacyRefused
from runner.learning.prompted import check_prompts
from tests.stage_bench import Class, base_set, bench


def experiment(tmp_path, **notes):
    folder = base_set(tmp_path / "made")
    (tmp_path / "made" / "manifest.json").write_text(json.dumps(notes))
    desk = bench(Class().say, folder)
    return replace(desk.experiment, prompts={folder: load(folder).digest}), desk


def test_a_set_that_was_refined_on_what_is_evaluated_is_refused(tmp_path):
    made, desk = experiment(tmp_path, texts=[])
    check_prompts(made)
    made, desk = experiment(tmp_path, texts=desk.known(desk.evaluated[:2]))
    with pytest.raises(ConfigError, match="were refined on 2 of the samples that are evaluated, such as 'q0'"):
        check_prompts(made)


def test_a_set_from_data_of_a_class_goes_only_to_models_that_may_see_them(tmp_path):
    made, _ = experiment(tmp_path, dataset={"privacy": "credentialed"})
    check_prompts(made)
    made.models["main"].in_process = False
    with pytest.raises(PrivacyRefused, match=r"the data that the prompts .* were refined on is credentialed"):
        check_prompts(made)


def test_what_is_made_of_a_refined_set_was_made_from_its_records_too(tmp_path):
    made, desk = experiment(tmp_path, texts=["a", "b"], dataset={"privacy": "credentialed"})
    further = replace(desk, experiment=made)
    sample = desk.evaluated[0]
    assert further.known([sample]) == [*desk.known([sample]), "a", "b"] and len(desk.known([sample])) == 1
    assert (desk.facts["dataset"]["privacy"], further.facts["dataset"]["privacy"]) == ("open", "credentialed")
