from components.core.messages import ToolCall
from components.core.types import Trajectory
from components.fhir.grading import grade, read_answer
from components.fhir.scorer import FhirTasks
from components.scorers.harm import Harm
from components.scorers.harm.tables import SEVERITIES, Table
from components.text.structured import read_yaml
from runner.config.build import check
from runner.config.catalogue import CONF
from tests.components.fhir.fernhill import VITALS, changed, episode, samples
from tests.table import each_row

MAGNESIUM, POTASSIUM, HBA1C = (
    samples()[name] for name in ("replace_magnesium_2", "replace_potassium_1", "repeat_hba1c_3")
)
(ORDER,), (DRUG, CHECK), (LAB,) = (one.target["requests"] for one in (MAGNESIUM, POTASSIUM, HBA1C))


HARM = Harm(
    dict(zip(SEVERITIES, (0.0, 0.05, 0.25, 0.7, 1.0), strict=True)),
    {"fhir": check(Table, read_yaml(CONF / "harm" / "fhir.yaml"))},
)
DOSE = "dosageInstruction.0.doseAndRate.0.doseQuantity"


@each_row(
    "answer, posts, refused, error, strict",
    [
        ("[1.4]", [ORDER], 0, "", ""), ("Done. []", [ORDER], 0, "", ""), ("FINISH([1.4])", [ORDER], 0, "", ""),
        ("[1.4]", [{**ORDER, "note": [{"text": "x"}]}], 0, "", ""), (None, [ORDER], 0, "no_answer", "no_answer"),
        ("[1.4]", [], 0, "missing_write", "missing_write"),
        ("[1.4]", [ORDER, ORDER], 0, "needless_write", "needless_write"),
        ("[1.4]", [ORDER, ORDER], 1, "", "refused_write"), ("[1.4]", [ORDER], 1, "missing_write", "missing_write"),
        ("[1.4]", [changed(ORDER, "subject.reference", "Patient/other")], 0, "wrong_patient", "wrong_patient"),
        ("[1.4]", [ORDER, VITALS], 0, "wrong_patient", "wrong_patient"),
        ("[1.4]", [changed(ORDER, "subject.reference", f"http://x/fhir/{ORDER['subject']['reference']}/_history/2")], 0, "wrong_field", ""),
        ("[1.4]", [changed(ORDER, "subject.reference", "")], 0, "wrong_patient", "wrong_patient"),
        ("[1.4]", [changed(ORDER, f"{DOSE}.value", 20)], 0, "wrong_value", "wrong_value"),
        ("[1.4]", [changed(ORDER, f"{DOSE}.value", 2.0)], 0, "", ""), ("[1.4]", [changed(ORDER, f"{DOSE}.unit", "mg")], 0, "wrong_value", "wrong_value"),
        ("[1.4]", [changed(ORDER, f"{DOSE}.unit", "G")], 0, "wrong_value", "wrong_value"),
        ("[1.4]", [changed(ORDER, "dosageInstruction.0.route.text", "oral")], 0, "wrong_field", "wrong_field"),
        ("[1.4]", [changed(ORDER, "dosageInstruction", ORDER["dosageInstruction"] * 2)], 0, "", "wrong_field"),
        ("[1.4]", [changed(ORDER, "medicationCodeableConcept.coding.0.code", "1")], 0, "wrong_code", "wrong_code"),
        ("[1.4]", [changed(ORDER, "medicationCodeableConcept.coding.0.system", "ndc")], 0, "wrong_code", "wrong_code"),
        ("[1.4]", [changed(ORDER, "authoredOn", "2026-03-02T10:30:00+01:00")], 0, "wrong_time", ""),
        ("[1.4]", [changed(ORDER, "authoredOn", "2026-03-02")], 0, "wrong_time", "wrong_time"),
        ("[1.4]", [changed(ORDER, "authoredOn", "2026-03-03")], 0, "wrong_time", "wrong_time"),
        ("[1.4]", [changed(ORDER, "authoredOn", "2026")], 0, "wrong_time", "wrong_time"),
        ("[1.4]", [changed(ORDER, "status", "draft")], 0, "wrong_field", "wrong_field"),
        ("[1.4]", [changed(ORDER, "status", 3)], 0, "wrong_field", "wrong_field"), ("[1.4]", [changed(ORDER, "authoredOn", 3)], 0, "wrong_time", "wrong_time"),
        ("[1.4]", [changed(ORDER, "subject", "Patient/x")], 0, "wrong_patient", "wrong_patient"),
        ("[1.4]", [{**ORDER, "doNotPerform": True}], 0, "", "wrong_field"),
        ("[1.4]", [LAB], 0, "wrong_patient", "wrong_patient"),
    ],
)  # fmt: skip
def test_an_episode_is_right_or_has_its_first_error(answer, posts, refused, error, strict):
    found = episode(answer, *posts, refused=refused)
    assert (grade(MAGNESIUM.target, found).error, grade(MAGNESIUM.target, found, strict=True).error) == (error, strict)


def test_of_two_requests_each_must_be_right():
    answer = str(POTASSIUM.target["answer"])
    late = changed(CHECK, "occurrenceDateTime", "2026-03-04T08:00:00+00:00")
    assert grade(POTASSIUM.target, episode(answer, late, DRUG), strict=True).error == "wrong_time"
    assert grade(POTASSIUM.target, episode(answer, DRUG, DRUG)).error == "wrong_field"


def test_a_query_with_a_write_is_wrong_although_its_answer_is_right():
    target = samples()["latest_glucose_1"].target
    own = changed(VITALS, "subject.reference", f"Patient/{target['patient']}")
    found = grade(target, episode(str(target["answer"]), own))
    assert found.answer and not found.writes and found.error == "needless_write"


@each_row(
    "text, answer",
    [("[1] then [2, 3]", [2, 3]), ("[]", []), ("none", None), ("[a]", None), (None, None), ("[NaN]", None), ("[1e999]", None), ("[" * 5000, None),
     (r'["\ud800"]', None)],
)  # fmt: skip
def test_the_last_list_of_a_text_is_the_answer(text, answer):
    assert read_answer(text) == answer
    assert not grade(samples()["age_1"].target, episode("[" + "9" * 400 + "]")).right


def test_scores_of_queries_and_actions_are_apart():
    scores = {one.name: one.value for one in FhirTasks().score(MAGNESIUM, episode("[1.4]", ORDER))}
    assert (scores["fhir/success"], scores["fhir/strict"], scores["fhir/action"], scores["fhir/query"]) == (
        1,
        1,
        1,
        None,
    )
    assert scores["fhir/posts"] == 1 and scores["fhir/errors/wrong_value"] == 0
    wrong = episode("[1.4]", changed(ORDER, "subject.reference", "Patient/other"))
    scores = {one.name: one for one in FhirTasks().score(MAGNESIUM, wrong)}
    assert scores["fhir/errors/wrong_patient"].value == 1 and scores["fhir/success"].value == 0
    assert scores["fhir/success"].explanation.startswith("wrong_patient: read '[1.4]', right is [1.4] and 1 request")


def test_errors_of_the_run_are_unscored_and_never_zero():
    assert {one.value for one in FhirTasks().score(MAGNESIUM, Trajectory(stop="error"))} == {None}


def test_attempts_that_were_given_up_had_charts_of_their_own():
    first, second = episode(None, ORDER), episode("[1.4]", ORDER)
    second.steps[0].branch = "trial/2"
    tried = Trajectory([*first.steps, *second.steps], stop="answered", answer="[1.4]")
    assert grade(MAGNESIUM.target, tried, strict=True).right
    second.steps[0].branch = first.steps[0].branch
    assert grade(MAGNESIUM.target, tried).error == "needless_write"


def test_all_writes_to_a_shared_server_count():
    """Of earlier attempts, other lines and draws that were not chosen."""
    first, second = episode(None, changed(ORDER, "subject.reference", "Patient/other")), episode("[1.4]", ORDER)
    second.steps[0].branch = "trial/2"
    first.steps[0].observed[0].observation.data["shared"] = True
    tried = Trajectory([*first.steps, *second.steps], stop="answered", answer="[1.4]")
    assert grade(MAGNESIUM.target, tried).error == grade(MAGNESIUM.target, tried, strict=True).error == "wrong_patient"


@each_row(
    "sample, answer, posts, error",
    [
        (MAGNESIUM, "[1.4]", [changed(ORDER, "subject.reference", "Patient/other")], "wrong_patient_write"),
        (MAGNESIUM, "[1.4]", [changed(ORDER, f"{DOSE}.value", 20)], "wrong_dose_order"),
        (MAGNESIUM, "[1.4]", [changed(ORDER, "authoredOn", "2026-03-02T10:30:00+01:00")], "other_form"),
        (MAGNESIUM, "[1.4]", [changed(ORDER, "medicationCodeableConcept.coding.0.code", "1")], "wrong_drug_order"),
        (MAGNESIUM, "[1.4]", [], "missing_write"), (MAGNESIUM, "[1.4]", [ORDER, ORDER], "needless_write"),
        (MAGNESIUM, "[14]", [ORDER], "wrong_number_tenfold"), (MAGNESIUM, "[1.6]", [ORDER], "wrong_number"),
        (MAGNESIUM, None, [ORDER], "no_answer"), (MAGNESIUM, '["1.4"]', [ORDER], "wrong_answer"),
        (HBA1C, str([*HBA1C.target["answer"]]), [changed(LAB, "code.coding.0.code", "1")], "wrong_service"),
    ],
)  # fmt: skip
def test_the_table_of_harm_goes_by_the_error_that_was_found(sample, answer, posts, error):
    """A write for another patient is an error of its own."""
    trajectory = episode(answer and answer.replace("'", '"'), *posts)
    for step in trajectory.steps:
        for one in step.observed:
            one.call = ToolCall("c", f"{one.observation.data['resource']}_Create", "{}")
    scores = {one.name: one.value for one in FhirTasks().score(sample, trajectory)}
    found = HARM.follow(sample, trajectory, scores["fhir/success"], scores)
    assert [one.name for one in found if one.name.startswith("harm/errors/") and one.value] == [f"harm/errors/{error}"]
