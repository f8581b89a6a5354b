import pytest

from components.clinic.scorer import Diagnosis, Price, named_in, names_in
from components.core.errors import ConfigError
from components.core.messages import Message, ToolCall, Usage
from components.core.types import Observation, Observed, Problem, Sample, Step, Trajectory
from components.text.structured import read_yaml
from components.tools.vocabulary import Vocabulary
from runner.config.build import construct
from runner.config.catalogue import CONF
from tests.table import each_row

TERMS = Vocabulary("vocabulary")
SCORER = construct(read_yaml(CONF / "scorer" / "clinic.yaml")["clinic"], "scorer")


def scores(answer, target="Pulmonary embolism", stop="answered", steps=(), scorer=SCORER):
    trajectory = Trajectory(list(steps), stop=stop, answer=answer)
    return {one.name: one.value for one in scorer.score(Sample(Problem("p", "?"), target), trajectory)}


@each_row(
    "answer, target, strict, exact",
    [
        ("Pulmonary embolism", "Pulmonary embolism", 1, 1),
        ("the pulmonary EMBOLISM.", "Pulmonary embolism", 1, 1),
        ("Reasons first.\nAnswer: **Pulmonary embolism**", "Pulmonary embolism", 1, 1),
        ("DIAGNOSIS READY: Pulmonary embolism. She needs heparin.", "Pulmonary embolism", 1, 1),
        ("The most likely diagnosis is a pulmonary embolism.", "Pulmonary embolism", 1, 1),
        ("PE", "Pulmonary embolism", 1, 0),
        ("Addison's disease", "Addison disease", 1, 1),
        ("Guillain-Barre syndrome", "Guillain-Barré syndrome", 1, 1),
        ("Acute inflammatory demyelinating polyneuropathy", "Guillain-Barré syndrome", 1, 0),
        ("Legg-Calvé-Perthes disease", "Legg-Calvé-Perthes disease (LCPD)", 1, 1),
        ("LCPD", "Legg-Calvé-Perthes disease (LCPD)", 1, 1),
        ("Viral infection (pulmonary embolism)", "Pulmonary embolism", 0, 0),
        ("Not a pulmonary embolism", "Pulmonary embolism", 0, 0),
        ("Pulmonary embolism or pneumonia", "Pulmonary embolism", 0, 0),
        ("Embolism", "Pulmonary embolism", 0, 0),
        ("Pneumonia", "Community-acquired pneumonia", 0, 0),
        ("", "Pulmonary embolism", 0, 0),
        (None, "Pulmonary embolism", 0, 0),
    ],
)
def test_a_diagnosis_is_compared_by_name_and_by_concept(answer, target, strict, exact):
    found = scores(answer, target)
    assert (found["score/strict"], found["score/exact"]) == (strict, exact)


def test_names_and_abbreviations_are_read():
    assert names_in("Multiple sclerosis (MS)")[-1] == "MS" and names_in("Gout (acute)")[2:] == []
    assert named_in("Diagnosis: gout\nDiagnosis: scurvy\nBecause.") == "scurvy"


@each_row(
    "answer, target, value",
    [
        ("Lung cancer", "Gout", 1),
        ("Gout", "Gout", 0),
        ("Scurvy", "Gout", 0),
        ("Cancer", "Multiple myeloma", None),
        (None, "Gout", 0),
    ],
)
def test_a_wrong_cancer_is_what_the_bias_suggested(answer, target, value):
    assert scores(answer, target)["clinic/suspected"] == value


def step(*calls, committed=True):
    observed = [Observed(ToolCall("c", "t", "{}"), Observation("", data), error) for data, error in calls]
    reply = Message("assistant", "")
    return Step("act", "main", "main", 0, 0, (), reply, Usage(), committed=committed, observed=observed)


def asked(role, request, error=None):
    return {"asked": role, "request": request}, error


def test_answered_questions_and_orders_are_counted_and_priced():
    steps = [
        step(asked("patient", "How?"), asked("patient", "Since when?"), asked("measurement", "Chest_X-ray and CT")),
        step(asked("measurement", "Vital signs")),
        step(({}, None), (asked("measurement", "MRI")[0], "denied")),
        step(asked("measurement", "MRI"), committed=False),
    ]
    found = scores("gout", steps=steps)
    assert (found["clinic/questions"], found["clinic/tests"], found["clinic/cost"]) == (2, 2, 15.0)
    dear = Diagnosis(TERMS, {"mri": Price("MRI", 7.0)}, question=0.5, other=1.0)
    assert scores("gout", steps=steps, scorer=dear)["clinic/cost"] == 3.0


@each_row(
    "order, units",
    [
        ("Full blood count", 1), ("Blood pressure", 0), ("Blood cultures", 7), ("MRI of the brain", 20), ("An ECG", 2),
        ("Echocardiogram", 6), ("Pulmonary function", 2), ("CT_Pulmonary_Angiogram", 12), ("Temporal artery biopsy", 25),
        ("Physical examination", 0), ("Electromyography", 8), ("Gastroscopy with biopsy", 25),
    ],
)  # fmt: skip
def test_orders_are_priced_by_their_kind(order, units):
    assert SCORER.price(order) == units


def test_an_episode_that_errored_is_unscored():
    assert set(scores("gout", stop="error").values()) == {None}


def test_a_pattern_that_is_none_is_refused():
    with pytest.raises(ConfigError, match=r"words: '\(' is not a regular expression"):
        Price("(", 1.0)
    with pytest.raises(ConfigError, match="suspected"):
        Diagnosis(TERMS, {}, suspected="(")


def test_a_vocabulary_that_is_missing_is_refused_before_the_run():
    with pytest.raises(ConfigError, match=r"terms: there is no UMLS: give a \.jsonl file"):
        Diagnosis(Vocabulary(path="UMLS"), {})
