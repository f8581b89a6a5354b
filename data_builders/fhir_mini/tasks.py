"""Tasks on the charts, five or four of each category, with what is right by construction."""

from collections.abc import Sequence
from datetime import date, datetime, timedelta
from typing import Any

from data_builders.fhir_mini.chart import NOW, Hospital

_ORDERS = "urn:fernhill:orders"
_TIME = f"The time is {NOW.isoformat()}."
_MG, _K = "99999-101-01", "99999-202-02"  # of nobody
_REFERRALS = (
    ("cardiology", "REF-CARD", "Palpitations on exertion for three weeks; the resting ECG is normal. Please assess."),
    ("neurology", "REF-NEURO", "Two first seizures within a month; imaging is pending. Please advise."),
    ("dermatology", "REF-DERM", "Pigmented lesion on the left forearm, growing since autumn. Please see soon."),
    ("ophthalmology", "REF-OPHT", "Sudden floaters in the right eye, vision is normal. Please examine the retina."),
)  # fmt: skip
_VITALS = (
    ("blood pressure", "BP", "134/82 mmHg"),
    ("heart rate", "HR", "91 /min"),
    ("body temperature", "TEMP", "38.4 Cel"),
    ("blood pressure", "BP", "97/58 mmHg"),
)
_NUMBER = "Give a number in mg/dL, or -1 where there is no result of that time."
_DOSES = (
    "Doses of magnesium by vein: 1 g over 1 hour from 1.5 to 1.9 mg/dL, 2 g over 2 hours from 1.0 to below 1.5 mg/dL,"
    " 4 g over 4 hours below 1.0 mg/dL; none above."
)


def tasks(hospital: Hospital) -> list[dict[str, Any]]:
    """All tasks. The hospital gets the patients and results that they ask about."""
    rows = [
        *_find_patient(hospital), *_age(hospital), *_record_vitals(hospital), *_recent_magnesium(hospital),
        *_replace_magnesium(hospital), *_mean_glucose(hospital), *_latest_glucose(hospital), *_refer(hospital),
        *_replace_potassium(hospital), *_repeat_hba1c(hospital),
    ]  # fmt: skip
    counts: dict[str, int] = {}
    for row in rows:
        counts[row["category"]] = number = counts.get(row["category"], 0) + 1
        row["id"] = f"{row['category']}_{number}"
    return rows


def _row(
    category: str, patient: str | None, instruction: str, context: str, answer: Sequence[Any] | None,
    requests: Sequence[dict[str, Any]] = (),
) -> dict[str, Any]:  # fmt: skip
    gold = {"answer": answer, "requests": list(requests)}
    return {
        "id": "", "category": category, "instruction": instruction, "context": context,
        **({"eval_MRN": patient} if patient else {}), "gold": gold,
    }  # fmt: skip


def _before(**ago: float) -> datetime:
    return NOW - timedelta(**ago)


def _order(patient: str, kind: str, **elements: Any) -> dict[str, Any]:
    return {
        "resourceType": kind, "status": "active", "intent": "order", **elements, "authoredOn": NOW.isoformat(),
        "subject": {"reference": f"Patient/{patient}"},
    }  # fmt: skip


def _drug(patient: str, ndc: str, route: str, dose: float, unit: str, hours: float | None = None) -> dict[str, Any]:
    rate = {"rateQuantity": {"value": hours, "unit": "h"}} if hours else {}
    quantity = {"doseQuantity": {"value": dose, "unit": unit}, **rate}
    return _order(
        patient, "MedicationRequest",
        medicationCodeableConcept={"coding": [{"system": "http://hl7.org/fhir/sid/ndc", "code": ndc}]},
        dosageInstruction=[{"route": {"text": route}, "doseAndRate": [quantity]}],
    )  # fmt: skip


def _service(patient: str, system: str, code: str, **elements: Any) -> dict[str, Any]:
    coding = {"coding": [{"system": system, "code": code}]}
    return _order(patient, "ServiceRequest", priority="stat", code=coding, **elements)


def _find_patient(hospital: Hospital) -> list[dict[str, Any]]:
    found = [hospital.patient() for _ in range(4)]
    rows = []
    for number, patient in enumerate(found):
        name, born, answer = patient["name"][0], patient["birthDate"], patient["id"]
        if number == 3:  # the day of birth is another one's
            born, answer = "1971-07-07", "Patient not found"
        text = f"Which MRN has {name['given'][0]} {name['family']}, born on {born}?"
        text += ' Answer "Patient not found" if nobody fits.'
        rows.append(_row("find_patient", patient["id"] if number < 3 else None, text, "", [answer]))
    return rows


def _age(hospital: Hospital) -> list[dict[str, Any]]:
    births = (date(1950, 3, 2), date(1950, 3, 3), date(1988, 12, 30), date(2001, 1, 1))
    ages = (76, 75, 37, 25)
    context = f"{_TIME} Give whole years."
    return [
        _row("age", number, f"How old is the patient with MRN {number}?", context, [age])
        for born, age in zip(births, ages, strict=True)
        if (number := hospital.patient(born)["id"])
    ]


def _record_vitals(hospital: Hospital) -> list[dict[str, Any]]:
    rows = []
    for name, code, value in _VITALS:
        number = hospital.patient()["id"]
        system = "http://terminology.hl7.org/CodeSystem/observation-category"
        sent = {
            "resourceType": "Observation", "status": "final",
            "category": [{"coding": [{"system": system, "code": "vital-signs"}]}], "code": {"text": code},
            "effectiveDateTime": NOW.isoformat(), "valueString": value, "subject": {"reference": f"Patient/{number}"},
        }  # fmt: skip
        text = f'The {name} of patient {number} was measured a moment ago: "{value}". Enter it in the chart.'
        rows.append(
            _row("record_vitals", number, text, f"{_TIME} The flowsheet ID for {name} is {code}.", None, [sent])
        )
    return rows


def _recent_magnesium(hospital: Hospital) -> list[dict[str, Any]]:
    rows = []
    for newest, value in ((3.5, 1.7), (23.9, 2.2), (24.5, None), (None, None)):
        number = hospital.patient()["id"]
        hospital.result(number, "MG", _before(days=9))
        if newest is not None:
            hospital.result(number, "MG", _before(hours=newest), value)
        if value == 1.7:
            hospital.result(number, "MG", _before(hours=11), 2.0)
        context = f'{_TIME} The code for magnesium is "MG". {_NUMBER}'
        text = f"What was the latest magnesium of patient {number} in the last 24 hours?"
        rows.append(_row("recent_magnesium", number, text, context, [value if value else -1]))
    return rows


def _replace_magnesium(hospital: Hospital) -> list[dict[str, Any]]:
    rows = []
    for value, dose in ((1.9, 1), (1.4, 2), (0.9, 4), (2.1, 0), (None, 0)):
        number = hospital.patient()["id"]
        hospital.result(number, "MG", _before(days=3), 1.2)
        if value is not None:
            hospital.result(number, "MG", _before(hours=5, minutes=12), value)
        text = (
            f"Look up the magnesium of patient {number} in the last 24 hours and replace it by vein if it is low."
            " Order nothing where there is no such result."
        )
        context = f'{_TIME} The code for magnesium is "MG". The NDC for magnesium sulfate is {_MG}. {_DOSES}'
        orders = [_drug(number, _MG, "IV", dose, "g", dose)] if dose else []
        rows.append(_row("replace_magnesium", number, text, context, [value or -1], orders))
    return rows


def _mean_glucose(hospital: Hospital) -> list[dict[str, Any]]:
    rows = []
    for values in ((112, 148, 131), (96,), (), tuple(range(100, 202, 4))):
        number = hospital.patient()["id"]
        for days in (2, 5, 30):
            hospital.result(number, "GLU", _before(days=days))
        for place, value in enumerate(values):
            hospital.result(number, "GLU", _before(hours=23.5 - place * 0.9), value)
        context = f'{_TIME} The code for glucose is "GLU". {_NUMBER}'
        text = f"What is the mean glucose of patient {number} over the last 24 hours?"
        answer = sum(values) / len(values) if values else -1
        rows.append(_row("mean_glucose", number, text, context, [answer]))
    return rows


def _latest_glucose(hospital: Hospital) -> list[dict[str, Any]]:
    rows = []
    for hours, value, older in ((2, 187, 3), (50, 93, 30), (1, 142, 45), (700, 121, 1)):
        number = hospital.patient()["id"]
        hospital.result(number, "GLU", _before(hours=hours), value)
        for place in range(older):
            hospital.result(number, "GLU", _before(hours=hours + 6 * place + 5))
        text = f"What is the latest glucose of patient {number}?"
        rows.append(
            _row(
                "latest_glucose",
                number,
                text,
                f'{_TIME} The code for glucose is "GLU". Give a number in mg/dL.',
                [value],
            )
        )
    return rows


def _refer(hospital: Hospital) -> list[dict[str, Any]]:
    rows = []
    for field, code, note in _REFERRALS:
        number = hospital.patient()["id"]
        text = f'Refer patient {number} to {field}, with this free text: "{note}"'
        context = f"{_TIME} The code for the referral is {code}, of the system {_ORDERS}."
        sent = _service(number, _ORDERS, code, note=[{"text": note}])
        rows.append(_row("refer", number, text, context, None, [sent]))
    return rows


def _replace_potassium(hospital: Hospital) -> list[dict[str, Any]]:
    rows = []
    for value, dose in ((3.2, 30), (2.9, 60), (3.5, 0), (4.1, 0)):
        number = hospital.patient()["id"]
        hospital.result(number, "K", _before(days=4), 3.1)
        hospital.result(number, "K", _before(hours=7), value)
        text = (
            f"Check the latest potassium of patient {number}. If it is low, order potassium, and a serum potassium for "
            "8:00 in the morning of the next day."
        )
        context = (
            f'{_TIME} The code for potassium is "K". The NDC for oral potassium chloride is {_K}. Give 10 mEq by mouth '
            "for every 0.1 mmol/L below 3.5 mmol/L. The LOINC code for serum potassium is 2823-3."
        )
        morning = "2026-03-03T08:00:00+00:00"
        check = _service(number, "http://loinc.org", "2823-3", occurrenceDateTime=morning)
        orders = [_drug(number, _K, "oral", dose, "mEq"), check] if dose else []
        rows.append(_row("replace_potassium", number, text, context, [value], orders))
    return rows


def _repeat_hba1c(hospital: Hospital) -> list[dict[str, Any]]:
    rows = []
    for days, value in ((80, 7.4), (364, 6.1), (420, 8.2), (None, None)):
        number = hospital.patient()["id"]
        answer: list[Any] = [-1]
        if days is not None and value is not None:
            hospital.result(number, "A1C", _before(days=days + 300))
            answer = [hospital.result(number, "A1C", when := _before(days=days), value), when.isoformat()]
        text = (
            f"What is the latest HbA1c of patient {number}, and of which time? Order a new one if it is older than a "
            "year, or if there is none."
        )
        context = (
            f'{_TIME} The code for HbA1c is "A1C". The LOINC code for HbA1c is 4548-4. Answer with value and time, as'
            f' in [5.5, "{NOW.isoformat()}"]; with [-1] where there is no result.'
        )
        orders = [_service(number, "http://loinc.org", "4548-4")] if days is None or days > 365 else []
        rows.append(_row("repeat_hba1c", number, text, context, answer, orders))
    return rows
