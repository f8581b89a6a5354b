import pytest

from components.core.errors import ConfigError
from components.core.types import Problem, Sample
from components.radiology.dataset import RadABench
from components.radiology.study import study_of
from components.radiology.tasks import TASKS
from tests.golden.vectors import dev


def test_a_study_is_record_task_and_vocabulary():
    study = study_of(dev().sample("dev_head_mri", "0126"))
    assert study.pair == ("Head and Neck", "MRI") and study.task.letter == "f"
    assert study.own("OrganBiomarker") == "width" and study.own("Disease") == "Multiple sclerosis"


def test_a_sample_names_the_steps_that_lead_to_its_target():
    (sample,) = (
        one for one in RadABench(shipped="radabench_mini", records=1).load("test") if one.target["chain"] == "0126"
    )
    steps = "Anatomy Classifier -> Modality Classifier -> Organ Segmentor -> Organ Biomarker Quantifier"
    assert sample.gold_steps == TASKS["0126"].steps == steps


def test_another_datasets_sample_is_refused():
    with pytest.raises(ConfigError, match=r"'q1' has no patient record.*radabench_mini"):
        study_of(Sample(Problem("q1", "?"), "A"))
