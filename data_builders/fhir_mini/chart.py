"""Patients that are made up, and what a FHIR server knows of them."""

from datetime import UTC, date, datetime, timedelta
from random import Random
from typing import Any

NOW = datetime(2026, 3, 2, 9, 30, tzinfo=UTC)
_CATEGORY = "http://terminology.hl7.org/CodeSystem/observation-category"
_GIVEN = {
    "female": ("Adela", "Bronwen", "Carmen", "Delphine", "Esi", "Freya", "Gudrun", "Hana", "Imke", "Jolanda", "Kirsi"),
    "male": ("Aurel", "Bertil", "Cosmin", "Dario", "Emeka", "Farid", "Goran", "Henrik", "Ismail", "Jonas", "Kenji"),
}
_FAMILY = (
    "Abara", "Bellweather", "Castellan", "Dunmore", "Eriksen", "Fairholm", "Galbraith", "Hartigan", "Ilves",
    "Jankowiak", "Kestrel", "Lindqvist", "Moreau", "Northcote", "Okonjo", "Pelletier", "Quarles", "Rosendahl",
    "Saarinen", "Thackeray", "Umarov", "Vandermeer", "Whitlock", "Yarrow",
)  # fmt: skip
_STREETS = ("Mill Lane", "Harbour Road", "Orchard Street", "Station Avenue", "Quarry Hill")
_CITIES = (("Fernhill", "VT", "05999"), ("Port Linden", "ME", "03999"), ("Stonebridge", "NH", "03899"))
_TESTS = {  # code -> name, unit, lowest and highest usual value, digits
    "NA": ("sodium", "mmol/L", 135, 145, 0), "CREA": ("creatinine", "mg/dL", 0.6, 1.2, 1),
    "HGB": ("hemoglobin", "g/dL", 12, 16, 1), "GLU": ("glucose", "mg/dL", 75, 210, 0),
    "MG": ("magnesium", "mg/dL", 1.4, 2.4, 1), "K": ("potassium", "mmol/L", 3.6, 4.9, 1),
    "A1C": ("hemoglobin A1c", "%", 5.0, 9.5, 1),
}  # fmt: skip
_PROBLEMS = (
    ("38341003", "Hypertension"), ("44054006", "Type 2 diabetes mellitus"), ("195967001", "Asthma"),
    ("84114007", "Heart failure"), ("73430006", "Sleep apnoea"), ("396275006", "Osteoarthritis"),
)  # fmt: skip
_DRUGS = (("314076", "Lisinopril 10 mg"), ("861007", "Metformin 500 mg"), ("310798", "Hydrochlorothiazide 25 mg"))
_PROCEDURES = (("45378", "Colonoscopy"), ("93000", "Electrocardiogram"), ("71046", "Chest radiograph"))


class Hospital:
    """Patients as they are asked for, with results around them that nobody asks for."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self._resources: list[dict[str, Any]] = []
        self._names = [(family, sex) for family in _FAMILY for sex in _GIVEN]
        self.random.shuffle(self._names)
        self._numbers = self.random.sample(range(200_000, 999_999), len(self._names))
        self._count = 0

    def resources(self) -> list[dict[str, Any]]:
        """All resources: patients first, the rest in no order."""
        patients = [one for one in self._resources if one["resourceType"] == "Patient"]
        rest = [one for one in self._resources if one["resourceType"] != "Patient"]
        self.random.shuffle(rest)
        return patients + rest

    def patient(self, born: date | None = None) -> dict[str, Any]:
        """One more patient, with problems, drugs, procedures, vital signs and old results."""
        draw = self.random
        family, sex = self._names.pop()
        born = born or date(draw.randint(1936, 2003), draw.randint(1, 12), draw.randint(1, 28))
        number, (city, state, code) = f"W{self._numbers.pop()}", draw.choice(_CITIES)
        given = draw.choice(_GIVEN[sex])
        patient = {
            "resourceType": "Patient", "id": number, "active": True,
            "identifier": [{"use": "usual", "type": {"text": "MRN"}, "value": number}],
            "name": [{"use": "official", "family": family, "given": [given]}], "gender": sex,
            "birthDate": born.isoformat(),
            "telecom": [{"system": "phone", "value": f"555-01{draw.randint(10, 99)}"}],
            "address": [{"line": [f"{draw.randint(1, 99)} {draw.choice(_STREETS)}"], "city": city, "state": state,
                         "postalCode": code}],
        }  # fmt: skip
        self._resources.append(patient)
        for problem in draw.sample(_PROBLEMS, draw.randint(1, 3)):
            self._add_problem(number, *problem)
        self._add_drug(number, *draw.choice(_DRUGS))
        self._add_procedure(number, *draw.choice(_PROCEDURES))
        for hours in range(2, 50, 8):
            self.vital(
                number, "HR", draw.randint(58, 104), "/min", NOW - timedelta(hours=hours, minutes=draw.randint(0, 59))
            )
        for code in ("NA", "CREA", "HGB"):
            for days in (1, 40, 200):
                self.result(number, code, NOW - timedelta(days=days, hours=draw.randint(1, 20)))
        return patient

    def result(self, number: str, code: str, when: datetime, value: float | None = None) -> float:
        """A result of a test; a usual one where no value is given. Returns the value."""
        name, unit, low, high, digits = _TESTS[code]
        if value is None:
            value = round(self.random.uniform(low, high), digits)
        coding = {"coding": [{"system": "urn:fernhill:lab", "code": code, "display": name}], "text": name}
        self._observe(number, "laboratory", coding, when, value if digits else int(value), unit)
        return value

    def vital(self, number: str, code: str, value: int, unit: str, when: datetime) -> None:
        """A vital sign."""
        coding = {"coding": [{"system": "urn:fernhill:flowsheet", "code": code}], "text": code}
        self._observe(number, "vital-signs", coding, when, value, unit)

    def _observe(
        self, number: str, category: str, code: dict[str, Any], when: datetime, value: float, unit: str
    ) -> None:
        self._add(
            "Observation", number, status="final", category=[{"coding": [{"system": _CATEGORY, "code": category}]}],
            code=code, effectiveDateTime=when.replace(second=0).isoformat(),
            valueQuantity={"value": value, "unit": unit},
        )  # fmt: skip

    def _add_problem(self, number: str, code: str, name: str) -> None:
        active = {"coding": [{"system": "http://terminology.hl7.org/CodeSystem/condition-clinical", "code": "active"}]}
        kind = {
            "coding": [
                {"system": "http://terminology.hl7.org/CodeSystem/condition-category", "code": "problem-list-item"}
            ]
        }
        coding = {"coding": [{"system": "http://snomed.info/sct", "code": code, "display": name}], "text": name}
        since = f"{self.random.randint(2008, 2024)}-{self.random.randint(1, 12):02}-15"
        self._add("Condition", number, clinicalStatus=active, category=[kind], code=coding, recordedDate=since)

    def _add_drug(self, number: str, code: str, name: str) -> None:
        coding = {"coding": [{"system": "http://www.nlm.nih.gov/research/umls/rxnorm", "code": code}], "text": name}
        self._add(
            "MedicationRequest", number, status="active", intent="order", medicationCodeableConcept=coding,
            authoredOn=f"2025-{self.random.randint(1, 12):02}-20T08:00:00+00:00",
        )  # fmt: skip

    def _add_procedure(self, number: str, code: str, name: str) -> None:
        coding = {"coding": [{"system": "http://www.ama-assn.org/go/cpt", "code": code, "display": name}], "text": name}
        when = f"{self.random.randint(2019, 2025)}-{self.random.randint(1, 12):02}-10"
        self._add("Procedure", number, status="completed", code=coding, performedDateTime=when)

    def _add(self, kind: str, number: str, **elements: Any) -> None:
        self._count += 1
        subject = {"reference": f"Patient/{number}"}
        self._resources.append({"resourceType": kind, "id": f"r{self._count}", **elements, "subject": subject})
