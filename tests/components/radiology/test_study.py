import pytest

from components.core.errors import ConfigError
from components.core.types import Problem, Sample
from components.radiology.study import study_of
from tests.golden.vectors import dev


def test_a_study_is_record_task_and_vocabulary():
    study = study_of(dev().sample("dev_head_mri", "0126"))
    assert study.pair == ("Head and Neck", "MRI") and study.task.letter == "f"
    assert study.own("OrganBiomarker") == "width" and study.own("Disease") == "Multiple sclerosis"


def test_another_datasets_sample_is_refused():
    with pytest.raises(ConfigError, match=r"'q1' has no patient record.*radabench_mini"):
        study_of(Sample(Problem("q1", "?"), "A"))
