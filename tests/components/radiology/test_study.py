import pytest

from components.core.errors import ConfigError
from components.core.types import Problem, Sample
from components.radiology.dataset import RadABench
from components.radiology.study import ENOUGH, LISTS, Vocabulary, build_vocabulary, study_of
from components.radiology.tasks import TASKS
from tests.golden.vectors import dev
from tests.table import each_row


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


RECORDS = list(dev().data["records"].values())
TERMS = {name: [f"{name} term {i}" for i in range(40)] for name in LISTS}


def test_the_lists_are_the_distinct_values_in_file_order():
    found = build_vocabulary([*RECORDS, *RECORDS[:2]], TERMS)
    assert found.lists["organ_list"] == tuple(r["OrganBiomarker"]["OrganObject"] for r in RECORDS)
    assert found.lists["indicator_list"] == tuple(r["Indicator"]["Name"] for r in RECORDS)
    assert set(found.lists) == set(LISTS)


def test_a_short_list_is_topped_up_to_twenty_and_a_long_one_is_not():
    short = build_vocabulary(RECORDS, TERMS).others("Organ", "Right lung")
    assert len(short) == ENOUGH and "Right lung" not in short and short[4] == "organ_list term 0"
    long = Vocabulary({**TERMS, "organ_list": [f"organ {chr(97 + i)}" for i in range(26)]}, TERMS)
    assert long.others("Organ", "organ a") == [f"organ {chr(98 + i)}" for i in range(25)]


LIST = ["Size", "size", "kidney size", "Volume", "volume ", "i", "Depth"]


@each_row(
    "own,exact,expected",
    [
        ("size", True, ["Size", "kidney size", "Volume", "volume ", "i", "Depth"]),
        ("size", False, ["Volume", "Depth"]),
        (" VOLUME", False, ["Size", "kidney size", "i", "Depth"]),
        ("", False, ["Size", "kidney size", "Volume", "i", "Depth"]),
    ],
)
def test_the_own_value_is_left_out(own, exact, expected):
    assert Vocabulary({"organ_dim_list": LIST}, {}).others("OrganBiomarker", own, exact) == expected


def test_terms_that_stand_for_the_own_value_are_left_out_too():
    found = Vocabulary({}, {"disease_list": ["Gout", "Gouty arthritis", "Sarcoidosis"]})
    assert found.others("Disease", "gout") == ["Sarcoidosis"]
