"""Right answers and requests by the rules are those that the mini states by construction."""

import pytest

from components.core.errors import ConfigError
from components.fhir.gold import Task, gold_of
from components.fhir.validation import standard_form
from components.fhir.world import World, open_world
from tests.components.fhir.fernhill import MINI, lab, samples, world
from tests.table import each_row

NOW = "It's 2023-11-13T10:15:00+00:00 now."
MAGNESIUM = (
    f'{NOW} The code for magnesium is "MG". The NDC for replacement IV magnesium is 0338-1715-40. Doses: 1 g ...'
)
POTASSIUM = (
    f'{NOW} The code for potassium is "K".The NDC for replacement potassium is 40032-917-01. Dosing: 10 mEq. '
    "The LOINC code for serum potassium level is 2823-3."
)
HBA1C = (
    f'{NOW} The code for HbA1C is "A1C". The LOINC code for ordering HbA1C lab is: 4548-4. The answer should be [-1].'
)


def task(context: str, found: World | None, instruction: str = "?") -> Task:
    return Task(instruction, context, "p1", found, "tasks.json: record 1")


def test_rules_give_what_the_mini_states():
    compared = 0
    for sample in samples().values():
        category, target = sample.metadata["fhir_category"], sample.target
        if category in ("find_patient", "refer", "record_vitals"):  # by the row alone; of other systems of codes
            continue
        instruction = sample.problem.question.split("\n")[0]
        gold = gold_of(category, Task(instruction, sample.problem.context, target["patient"], open_world(MINI), "mini"))
        assert [standard_form(one) for one in gold.requests] == target["requests"]
        assert gold.answer == target["answer"] or gold.answer == [pytest.approx(*target["answer"])]
        compared += 1
    assert compared == 29


@each_row("value, dose", [(2.0, None), (1.9, 1), (1.5, 1), (1.4, 2), (1.0, 2), (0.9, 4), (None, None)])
def test_magnesium_is_replaced_by_its_level(tmp_path, value, dose):
    results = [] if value is None else [lab("m", "2023-11-12T10:15:00+00:00", "MG", value)]
    results = [{**one, "valueQuantity": {"value": value, "unit": "mg/dL"}} for one in results]
    gold = gold_of("replace_magnesium", task(MAGNESIUM, world(tmp_path, *results)))
    assert gold.answer == [value or -1]
    given = [one["dosageInstruction"][0]["doseAndRate"][0] for one in gold.requests]
    assert given == (
        []
        if dose is None
        else [{"doseQuantity": {"value": dose, "unit": "g"}, "rateQuantity": {"value": dose, "unit": "h"}}]
    )
    assert all(one["medicationCodeableConcept"]["coding"][0]["code"] == "0338-1715-40" for one in gold.requests)


@each_row("value, dose", [(3.5, None), (3.4, 10), (3.2, 30), (2.8, 70), (4.4, None)])
def test_potassium_is_replaced_and_checked_in_the_morning(tmp_path, value, dose):
    gold = gold_of(
        "replace_potassium", task(POTASSIUM, world(tmp_path, lab("k", "2023-10-01T08:00:00+00:00", "K", value)))
    )
    assert gold.answer == [value] and len(gold.requests) == (2 if dose else 0)
    if dose:
        drug, check = gold.requests
        assert drug["dosageInstruction"][0]["doseAndRate"] == [{"doseQuantity": {"value": dose, "unit": "mEq"}}]
        assert (
            check["occurrenceDateTime"] == "2023-11-14T08:00:00+00:00"
            and check["authoredOn"] == "2023-11-13T10:15:00+00:00"
        )


@each_row("when, orders", [("2022-11-13T10:15:00+00:00", 0), ("2022-11-13T10:14:00+00:00", 1), (None, 1)])
def test_hba1c_is_ordered_where_it_is_older_than_a_year_or_missing(tmp_path, when, orders):
    results = [] if when is None else [lab("a", when, "A1C", 6.5), lab("b", "2021-01-01T00:00:00+00:00", "A1C", 9.0)]
    gold = gold_of("repeat_hba1c", task(HBA1C, world(tmp_path, *results)))
    assert gold.answer == ([-1] if when is None else [6.5, when]) and len(gold.requests) == orders


def test_of_results_at_the_same_time_the_first_counts(tmp_path):
    when = "2023-11-13T08:00:00+00:00"
    results = [lab(name, when, value=value) for name, value in (("a", 4.0), ("b", 4.5), ("c", 3.0))]
    assert gold_of("replace_potassium", task(POTASSIUM, world(tmp_path, *results))) == ([4.0], [])


def test_units_are_converted_and_unknown_ones_refused(tmp_path):
    def task_of(unit, value=0.8):
        quantity = {"valueQuantity": {"value": value, "unit": unit}}
        return task(MAGNESIUM, world(tmp_path, {**lab("m", "2023-11-13", "MG"), **quantity}))

    assert gold_of("recent_magnesium", task_of("mmol/L")).answer == [pytest.approx(1.9444)]
    for unit, value in (("furlong", 1.0), ("mmol/L", 1e308)):
        with pytest.raises(ConfigError, match="record 1: Observation/m"):
            gold_of("recent_magnesium", task_of(unit, value))


@each_row("quantity", [None, [], {}, {"value": "1.5"}, {"value": True, "unit": "mg/dL"}])
def test_results_without_a_number_are_none(tmp_path, quantity):
    result = {**lab("m", "2023-11-13", "MG"), "valueQuantity": quantity}
    assert gold_of("recent_magnesium", task(MAGNESIUM, world(tmp_path, result))).answer == [-1]


def test_a_task_at_the_end_of_time_is_refused(tmp_path):
    late = task(
        POTASSIUM.replace("2023-11", "9999-12").replace("-13T", "-31T"), world(tmp_path, lab("k", "2023", "K", 3.0))
    )
    with pytest.raises(ConfigError, match=r"record 1: the time 9999-12-31 .* is too early or too late"):
        gold_of("replace_potassium", late)


def test_texts_of_a_task_are_recorded_and_quoted():
    vitals = task(f"{NOW} The flowsheet ID for blood pressure is BP.", None, 'It is "118/77 mmHg". Record it.')
    (sent,) = gold_of("record_vitals", vitals).requests
    assert sent["valueString"] == "118/77 mmHg" and sent["code"] == {"text": "BP"}
    refer = task(
        f"{NOW} The SNOMED code for orthopedic surgery referral is 306181000000106.", None, 'Say "Situation: x."'
    )
    (sent,) = gold_of("refer", refer).requests
    assert sent["note"] == {"text": "Situation: x."} and sent["code"]["coding"][0]["code"] == "306181000000106"


def test_without_the_server_only_what_the_text_says_is_known():
    assert gold_of("age", task(NOW, None)) is None and gold_of("replace_potassium", task(POTASSIUM, None)) is None


def test_a_text_without_a_code_or_time_is_refused(tmp_path):
    with pytest.raises(ConfigError, match="record 1: found no"):
        gold_of("latest_glucose", task(NOW, world(tmp_path)))
    with pytest.raises(ConfigError, match=r"record 1: '2023-99-13T10:15:00.00:00' is not a date"):
        gold_of("age", task(NOW.replace("-11-", "-99-"), world(tmp_path)))
    with pytest.raises(ConfigError, match="birthDate of Patient/p9"):
        gold_of("age", task(NOW, world(tmp_path))._replace(patient="p9"))
