"""The published reading, rule by rule, and the strict one: tasks in the benchmark's words on a small chart."""

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from components.fhir.gold import Task, gold_of
from components.fhir.grading import grade
from tests.components.fhir.fernhill import changed, episode, lab, world
from tests.table import each_row

NOW = "2023-11-13T10:15:00+00:00"
CONTEXT = {
    "find_patient": "",
    "age": "",
    "record_vitals": "The flowsheet ID for blood pressure is BP.",
    "recent_magnesium": 'The code for magnesium is "MG".',
    "replace_magnesium": 'The code for magnesium is "MG". The NDC for replacement IV magnesium is 0338-1715-40.',
    "mean_glucose": 'The code for CBG is "GLU".',
    "latest_glucose": 'The code for CBG is "GLU".',
    "refer": "The SNOMED code for orthopedic surgery referral is 306181000000106.",
    "replace_potassium": 'The code for potassium is "K".The NDC for replacement potassium is 40032-917-01. The LOINC code '
    "for serum potassium level is 2823-3.",
    "repeat_hba1c": 'The code for HbA1c is "A1C". The LOINC code for ordering HbA1C lab is: 4548-4.',
}


def result(code, value, when="2023-11-13T06:00:00+00:00"):
    return {**lab(code, when, code), "valueQuantity": {"value": value, "unit": "mmol/L" if code == "K" else "mg/dL"}}


@cache
def target(category, with_results=True):
    old = "2022-06-01T08:00:00+00:00"
    results = [result("MG", 1.4), result("GLU", 120.5), result("K", 2.9), {**result("A1C", 6.5, old), "valueQuantity": {"value": 6.5}}]  # fmt: skip
    with TemporaryDirectory() as folder:
        found = world(Path(folder), *(results if with_results else []))
        task = Task('Note "118/77 mmHg".', f"It's {NOW} now. {CONTEXT[category]}", "p1", found, "record 1")
        gold = gold_of(category, task)._asdict() if category != "find_patient" else {"answer": ["S1"], "requests": []}
    return {**gold, "category": category, "patient": "p1"}


def edited(category, **changes):
    """The right requests, of which elements of the first that has them are changed; two underscores are a dot."""
    posts = list(target(category)["requests"])
    for path, value in changes.items():
        name = path.replace("__", ".")
        place = next(n for n, one in enumerate(posts) if name.split(".")[0] in one)
        posts[place] = changed(posts[place], name, value)
    return posts


def errors(category, answer, posts=None, refused=0, with_results=True):
    """The first errors: published, strict."""
    found = target(category, with_results)
    ran = episode(answer, *(found["requests"] if posts is None else posts), refused=refused)
    return grade(found, ran).error, grade(found, ran, strict=True).error


ROUTE, DOSE = "dosageInstruction__0__route", "dosageInstruction__0__doseAndRate__0__doseQuantity"
OTHER = {"coding": [{"system": "urn:x", "code": "306181000000106"}]}


@each_row(
    "category, answer, published, strict",
    [
        ("find_patient", '["S1"]', "", ""), ("find_patient", '["s1"]', "wrong_answer", "wrong_answer"), ("find_patient", "S1", "no_answer", "no_answer"),
        ("age", "[73]", "", ""), ("age", "[73.0]", "", ""), ("age", '["73"]', "wrong_answer", "wrong_answer"), ("age", "[]", "wrong_answer", "wrong_answer"),
        ("recent_magnesium", "[1.4]", "", ""), ("recent_magnesium", "[1.40001]", "wrong_answer", "wrong_answer"),
        ("mean_glucose", "[120.59]", "", "wrong_answer"), ("mean_glucose", "[120.505]", "", ""), ("mean_glucose", "[120.61]", "wrong_answer", "wrong_answer"), ("mean_glucose", "[120.5, 1]", "wrong_answer", "wrong_answer"),
        ("latest_glucose", "[120.5]", "", ""), ("latest_glucose", "[]", "wrong_answer", "wrong_answer"),
        ("record_vitals", "Done.", "", "no_answer"), ("record_vitals", "[7]", "", ""), ("record_vitals", None, "no_answer", "no_answer"),
        ("refer", "Done.", "", "no_answer"), ("replace_magnesium", "[1.4]", "", ""), ("replace_magnesium", "[]", "", ""),
        ("replace_magnesium", "Done.", "no_answer", "no_answer"), ("replace_magnesium", "[1.5]", "wrong_answer", "wrong_answer"),
        ("replace_potassium", "[2.9]", "", ""), ("replace_potassium", "[]", "", ""),
        ("repeat_hba1c", '[6.5, "2022-06-01T08:00:00+00:00"]', "", ""), ("repeat_hba1c", '[6.5, "2022-06-01"]', "wrong_answer", "wrong_answer"),
        ("repeat_hba1c", '[6.5, "2022-06-01T09:00:00+01:00"]', "wrong_answer", ""), ("repeat_hba1c", '[6.5, 3]', "wrong_answer", "wrong_answer"),
        ("repeat_hba1c", '[6.5, "2022-06-01T08:00:00Z"]', "wrong_answer", ""), ("repeat_hba1c", "[]", "", "wrong_answer"),
    ],
)  # fmt: skip
def test_answers(category, answer, published, strict):
    assert errors(category, answer) == (published, strict)


@each_row(
    "category, answer, published, strict",
    [
        ("replace_magnesium", "None was found.", "", "no_answer"), ("replace_magnesium", "[-1]", "", ""), ("replace_magnesium", "[3]", "", "wrong_answer"),
        ("recent_magnesium", "[-1]", "", ""), ("recent_magnesium", "Nothing.", "no_answer", "no_answer"), ("mean_glucose", "[-1]", "", ""),
        ("replace_potassium", "[-1]", "", ""), ("replace_potassium", "Nothing.", "no_answer", "no_answer"),
        ("repeat_hba1c", "[-1]", "", ""), ("repeat_hba1c", "[]", "", "wrong_answer"),
    ],
)  # fmt: skip
def test_answers_where_the_chart_has_no_result(category, answer, published, strict):
    assert errors(category, answer, with_results=False) == (published, strict)


@each_row(
    "category, changes, published, strict",
    [
        ("replace_magnesium", {ROUTE: {"text": "IV"}}, "wrong_field", ""), ("replace_magnesium", {ROUTE: "iv"}, "wrong_field", "wrong_field"),
        ("replace_magnesium", {"authoredOn": "2023-11-13T10:15:59Z"}, "", "wrong_time"), ("replace_magnesium", {"authoredOn": "2023-11-13"}, "wrong_time", "wrong_time"),
        ("replace_magnesium", {DOSE: {"value": 2, "unit": "g", "code": "g"}}, "wrong_value", ""), ("replace_magnesium", {DOSE: {"value": 2.05, "unit": "g"}}, "wrong_value", "wrong_value"),
        ("replace_magnesium", {"subject": {"reference": "Patient/p1", "display": "x"}}, "wrong_field", ""), ("replace_magnesium", {"dosageInstruction": []}, "wrong_value", "wrong_field"),
        ("replace_potassium", {ROUTE: " Oral"}, "", "wrong_field"), ("replace_potassium", {ROUTE: {"text": "oral"}}, "wrong_field", ""),
        ("replace_potassium", {f"{DOSE}__value": 60.05}, "", "wrong_value"), ("replace_potassium", {f"{DOSE}__value": 60.2}, "wrong_value", "wrong_value"),
        ("replace_potassium", {f"{DOSE}__unit": "meq"}, "wrong_value", "wrong_value"),
        ("replace_potassium", {"occurrenceDateTime": "2023-11-14T08:30:00-05:00"}, "", "wrong_time"), ("replace_potassium", {"occurrenceDateTime": "2023-11-14T08:00"}, "", ""),
        ("replace_potassium", {"occurrenceDateTime": "2023-11-14"}, "wrong_time", "wrong_time"),
        ("replace_potassium", {"priority": "routine"}, "wrong_field", "wrong_field"), ("repeat_hba1c", {"authoredOn": "2023-11-13T10:15:00Z"}, "wrong_time", ""),
        ("refer", {"code": OTHER}, "wrong_code", "wrong_code"), ("refer", {"note": {"text": "Please: 118/77 mmHg."}}, "", "wrong_field"),
        ("refer", {"note": [{"text": "118/77 mmHg"}]}, "wrong_field", ""), ("refer", {"note": {"text": "118"}}, "wrong_field", "wrong_field"),
        ("record_vitals", {"effectiveDateTime": "2023-11-13T10:15:00Z"}, "wrong_time", ""), ("record_vitals", {"valueString": "118/77"}, "wrong_value", "wrong_value"),
        ("record_vitals", {"category__0__coding__0__system": "urn:x"}, "wrong_code", "wrong_code"), ("record_vitals", {"category__0__text": "x"}, "", ""),
        ("record_vitals", {"code": {"text": "BP", "coding": []}}, "wrong_code", ""),
    ],
)  # fmt: skip
def test_elements_of_requests(category, changes, published, strict):
    assert errors(category, "[]" if category != "repeat_hba1c" else '[6.5, "2022-06-01T08:00:00+00:00"]', edited(category, **changes)) == (published, strict)  # fmt: skip


def test_the_number_and_order_of_posts():
    vitals, drug, check = *target("record_vitals")["requests"], *target("replace_potassium")["requests"]
    assert errors("replace_potassium", "[]", [check, drug]) == ("wrong_field", "")
    assert errors("replace_potassium", "[]", [drug]) == ("missing_write", "missing_write")
    assert errors("replace_potassium", "[]", [drug, check, check], refused=1) == ("", "refused_write")
    assert errors("age", "[73]", [vitals]) == ("needless_write", "needless_write")
    assert errors("age", "[73]", [vitals], refused=1) == ("needless_write", "refused_write")  # an attempt is enough
    assert errors("replace_potassium", "[-1]", [drug], refused=1, with_results=False)[0] == "needless_write"
    other = changed(vitals, "subject.reference", "Patient/p2")
    assert errors("record_vitals", "[]", [other]) == ("wrong_patient", "wrong_patient")


def test_a_resource_of_another_type_than_its_address_is_wrong():
    ran = episode("[]", *target("refer")["requests"])
    ran.steps[0].observed[0].observation.data["resource"] = "Observation"
    assert grade(target("refer"), ran).error == grade(target("refer"), ran, strict=True).error == "wrong_field"
