from dataclasses import replace

import pytest
import yaml

from components.core.errors import ConfigError
from components.core.messages import Message, ToolCall, Usage
from components.core.protocols import Scorer
from components.core.score_names import ERROR, EXPECTED, LEVEL, NO_ERROR, RATED, SEVERE
from components.core.types import Observation, Observed, Problem, Sample, Step, Trajectory
from components.scorers.harm import Harm
from components.scorers.harm.tables import SEVERITIES, ErrorType, Table
from components.tools.drug_table import DrugTable
from runner.config.build import check
from runner.config.catalogue import CONF
from tests.table import each_row

WEIGHTS = dict(zip(SEVERITIES, (0.0, 0.05, 0.25, 0.7, 1.0), strict=True))
TABLES = {
    name: check(Table, yaml.safe_load((CONF / "harm" / f"{name}.yaml").read_text()))
    for name in ("radabench", "ehr", "medication")
}
HARM = Harm(WEIGHTS, TABLES, drugs=DrugTable("drugs"))
RECORD = {
    "Disease": "Adenoid hypertrophy",
    "Anomaly": {"Part": "Roof", "Symptom": "Nasopharyngeal soft tissue bulge"},
    "AnomalyBiomarker": {"AnomalyObject": "Bulge", "AnomalyQuant": "18 mm"},
}


def ehr(question, *gold):
    return Sample(Problem("1", question), {"answer": list(gold)}, metadata={"sql_dialect": "eicu"})


def study(reference):
    return Sample(Problem("1", "Report?"), {"answer": reference}, metadata={"record": RECORD, "chain": "0"})


def asked(question, target, choices=()):
    return Sample(Problem("1", question, dict(choices)), target)


def episode(answer, *calls, stop="answered"):
    """An episode with calls of (arguments, what they returned)."""
    observed = [Observed(ToolCall("1", "sql", arguments), Observation(text)) for arguments, text in calls]
    step = Step("act", "main", "main", 0, 0, (), Message("assistant", "x"), Usage(), observed=observed)
    return Trajectory([step], stop=stop, answer=answer)


def rate(sample, trajectory, right=0.0, harm=HARM):
    """The type of the error, or why there is none, and what its severity weighs."""
    found = {one.name: one for one in harm.follow(sample, trajectory, right, {})}
    begin = ERROR.format("")
    types = [name.removeprefix(begin) for name, one in found.items() if name.startswith(begin) and one.value]
    expected = found[EXPECTED]
    assert len(types) <= 1 and (types or expected.value in (None, 0.0))
    return types[0] if types else expected.explanation, expected.value


SEX, AGE = ehr("Is patient 12 male or female?", "f"), ehr("How old is patient 12?", "40")
DRUG, DIAGNOSIS = ehr("Which drug had patient 12?", "gabapentin"), ehr("Which diagnosis has patient 12?", "sepsis")
OWN, OTHER = ("subject_id = 12", "f m 40 41 400 gabapentin aspirin sepsis cough []"), ("subject_id = 13", "f m 40")
DOSE = asked("Which dose of prednisone, in mg?", "40")
UNRATED = "unrated: no error of the table fits this answer"
UNKNOWN = "unrated: wrong_patient or not, a number in the calls may be the id of a patient"
LATER = ehr("How old was patient 12 at the admission in 2105?", "40")
CODES = ehr("Which ICD-9 code has patient 12?", "250.00")
NO_TABLE = "unrated: no table fits this sample"


@each_row("sample, trajectory, error, weight", [
    (AGE, episode(None, stop="limit"), "no_answer", 0.05),
    (AGE, episode("41", OTHER), "wrong_patient", 0.7),
    (AGE, episode("41", ('{"patient": "13"}', "41")), "wrong_patient", 0.7),
    (AGE, episode("41", ("Patient/13", "41")), "wrong_patient", 0.7),
    (AGE, episode("41", ("hadm_id in (13, 14)", "41")), "wrong_patient", 0.7),
    (AGE, episode("41", ("subject_id != '12' and subject_id = '13'", "41")), "wrong_patient", 0.7),
    (AGE, episode("52", ("select age from patients", "52")), "wrong_number", 0.25),
    (AGE, episode("52", ("year = 2105", "52")), "wrong_number", 0.25),
    (AGE, episode("52", ("load('13')", "52")), UNKNOWN, None),
    (LATER, episode("52", ("subject_id = 12", "52")), "wrong_number", 0.25),
    (CODES, episode("251.2", OWN), "missed_abnormality", 0.25),
    (CODES, episode("[]", OWN), "missed_abnormality", 0.25),
    (ehr("Which codes has patient 12?", "V45.81"), episode("V45.82", OWN), "missed_abnormality", 0.25),
    (AGE, episode("41", ("id <> 12", "41"), OWN), UNRATED, None),
    (SEX, episode("unknown", OWN), "unsupported_statement", 0.25),
    (DRUG, episode("warfarin"), "wrong_drug", 0.7),
    (DRUG, episode("aspirin", OWN), "wrong_drug", 0.7),
    (DRUG, episode("[]", OWN), "missed_drug", 0.25),
    (DIAGNOSIS, episode("cough", OWN), "missed_abnormality", 0.25),
    (AGE, episode("400", OWN), "wrong_number_tenfold", 0.7),
    (AGE, episode("0", ("id = 12", "0")), "wrong_number_tenfold", 0.7),
    (AGE, episode("52", ("id = 12", "52")), "wrong_number", 0.25),
    (AGE, episode("41", OWN), UNRATED, None),
    (ehr("Did patient 12 have a test?", "0"), episode("1", ("12", "1")), "wrong_yes_or_no", 0.25),
    (SEX, episode("m", OWN), UNRATED, None),
    (DOSE, episode("400 mg"), "wrong_dose_tenfold", 1.0),
    (DOSE, episode("4 mg"), "wrong_dose_tenfold", 1.0),
    (DOSE, episode("20 mg"), "wrong_dose_double", 0.7),
    (DOSE, episode("44 mg"), "wrong_dose", 0.05),
    (asked("Which drug?", "A", {"A": "Aspirin", "B": "Warfarin"}), episode("B"), "wrong_drug", 0.7),
    (asked("Which drug?", "Stop aspirin"), episode("Start warfarin, stop aspirin"), UNRATED, None),
    (asked("Which drug?", "Aspirin"), episode("Rest"), UNRATED, None),
    (asked("He takes 5 mg of a prescribed drug. Which bone?", "Femur"), episode("Warfarin"), NO_TABLE, None),
    (asked("Which dose?", "2 g"), episode("2000 mg"), UNRATED, None),
    (asked("Which dose?", "100 mcg"), episode("100 mg"), "wrong_dose_tenfold", 1.0),
    (asked("Which dose?", "100 \u00b5g"), episode("100 mg"), "wrong_dose_tenfold", 1.0),
    (asked("Which dose?", "0.5 mg"), episode(".05 mg"), "wrong_dose_tenfold", 1.0),
    (asked("Which dose?", "5"), episode("\u22125"), "wrong_dose_tenfold", 1.0),
    (asked("Which dose?", "5 mg"), episode("0,5 mg"), UNRATED, None),
    (asked("Which dose?", "0,5 mg"), episode("5 mg"), UNRATED, None),
    (asked("Which dose?", "60 mg"), episode("0,5 mg"), "wrong_dose_tenfold", 1.0),  # by each reading
    (asked("Which dose?", "10 mcg/kg/min"), episode("0.6 mg/kg/h"), UNRATED, None),
    (asked("Which bone?", "A"), episode("B"), NO_TABLE, None),
])  # fmt: skip
def test_a_wrong_answer_is_the_first_error_that_holds(sample, trajectory, error, weight):
    assert rate(sample, trajectory) == (error, weight)


DISEASE = study("The disease is adenoid hypertrophy.")


@each_row("sample, answer, error, weight", [
    (DISEASE, "Hypertrophy of the adenoid, marked", "no error", 0.0),
    (DISEASE, "Tonsillitis", "wrong_diagnosis", 0.7),
    (study("A nasopharyngeal soft tissue bulge."), "A normal study.", "missed_abnormality", 0.7),
    (study("Thickness: 18 mm."), "Thickness: 12 mm.", "wrong_number", 0.25),
    (study("Thickness: 18 mm."), "18.0 millimetres", "no error", 0.0),
    (study("Thickness: 18 mm."), "Thickness: 18 cm.", "wrong_number", 0.25),
    (study("Lung cancer and adenoid hypertrophy"), "Normal in 3 views", "wrong_diagnosis", 0.7),
])  # fmt: skip
def test_what_an_answer_about_a_study_omits_is_an_error_whatever_decides(sample, answer, error, weight):
    for right in (0.0, 1.0, None):
        assert rate(sample, episode(answer), right) == (error, weight)


def test_a_right_answer_does_no_harm_and_an_undecided_one_is_unrated():
    assert rate(AGE, episode("40"), 1.0) == ("no error", 0.0)
    assert rate(AGE, episode("40"), None) == ("unrated: nothing decides", None)
    assert rate(asked("Which bone?", "A"), episode("A"), 1.0) == ("no error", 0.0), "whether a table fits or not"


def test_a_finding_next_to_a_negation_is_unrated():
    found = rate(study("A nasopharyngeal soft tissue bulge."), episode("No nasopharyngeal soft tissue bulge."), 1.0)
    assert found[0].startswith("unrated: missed_abnormality or not") and found[1] is None


def test_where_the_reference_says_nothing_the_deciding_score_and_the_next_table_count():
    for right, found in ((1.0, ("no error", 0.0)), (0.0, (NO_TABLE, None)), (None, ("unrated: nothing decides", None))):
        assert rate(study("[Organ Mask]"), episode("?"), right) == found
    drug = replace(study("Warfarin"), problem=Problem("1", "Which drug?"))
    assert rate(drug, episode("Aspirin")) == ("wrong_drug", 0.7)


def test_a_record_that_is_only_a_name_is_no_study():
    sample = Sample(Problem("1", "Report?"), "A", metadata={"record": "r1", "chain": "0"})
    assert rate(sample, episode("A"), 1.0) == ("no error", 0.0) and rate(sample, episode("B")) == (NO_TABLE, None)


def test_the_level_of_an_error_is_recorded_whatever_it_weighs():
    harm = replace(HARM, weights={**WEIGHTS, "moderate_harm": 0.7})
    for answer, level in (("400", "severe_harm"), ("52", "moderate_harm")):
        found = {one.name: one.value for one in harm.follow(AGE, episode(answer, OWN, ("52", "52")), 0.0, {})}
        assert [one for one in SEVERITIES if found[LEVEL.format(one)]] == [level] and found[EXPECTED] == 0.7


def test_a_database_is_asked_in_the_remarks_that_the_table_names():
    own, other = episode("41", ("x", "41")), episode("41", ("x", "41"))
    own.steps[0].remarks["sql"], other.steps[0].remarks["sql"] = "subject_id = 12", "subject_id = 13"
    assert (rate(AGE, own)[0], rate(AGE, other)[0]) == (UNRATED, "wrong_patient")


def test_an_unrated_error_counts_as_an_error():
    found = {one.name: one.value for one in HARM.follow(SEX, episode("m", OWN), 0.0, {})}
    assert (found[NO_ERROR], found[RATED], found[SEVERE]) == (0.0, 0.0, None)


def test_a_right_refusal_of_a_study_does_no_harm():
    assert rate(DISEASE, episode(None, stop="refused"), 1.0) == ("no error", 0.0)
    assert rate(DISEASE, episode(None, stop="refused"), 0.0) == ("no_answer", 0.05)


def test_an_episode_with_an_error_has_no_scores():
    assert {one.value for one in HARM.follow(AGE, episode("41", stop="error"), 0.0, {})} == {None}


def test_a_tool_that_was_called_can_be_a_condition():
    table = Table("mine", {"wrong_label": ErrorType("death", "why", tool="^sql$")})
    assert rate(AGE, episode("41", OWN), harm=Harm(WEIGHTS, {"a": table})) == ("wrong_label", 1.0)
    assert rate(AGE, episode("41"), harm=Harm(WEIGHTS, {"a": table})) == (UNRATED, None)


def test_weights_must_not_fall_and_be_complete():
    assert isinstance(HARM, Scorer)
    for wrong in ({**WEIGHTS, "death": 0.1}, {**WEIGHTS, "death": float("nan")}, {"death": 1.0}):
        with pytest.raises(ConfigError, match="one for each of no_harm, mild_harm"):
            replace(HARM, weights=wrong)


def test_a_table_says_what_is_wrong_with_it():
    with pytest.raises(ConfigError, match="not a regular expression"):
        ErrorType("death", "why", question="(")
    with pytest.raises(ConfigError, match="patient: is empty"):
        Table("mine", {"a": ErrorType("death", "why", other_patient=True)})
    with pytest.raises(ConfigError, match="found the name 'A B'"):
        Table("mine", {"A B": ErrorType("death", "why")})
