import pytest

from components.fhir.instants import date_test, ranges_in, read_range
from components.fhir.search import PARAMETERS
from tests.components.fhir.fernhill import chart, found, lab
from tests.table import each_row


@each_row(
    "asked, at, fits",
    [
        ("2023-11-13", "2023-11-13T10:15:00+00:00", True), ("2023-11-13T10:15", "2023-11-13", False),
        ("eq2023", "2023-11-13", True), ("ne2023", "2023-11-13", False), ("ne2022", "2023-11-13", True),
        ("ge2023-11-12T10:15:00+00:00", "2023-11-12T10:15:00Z", True),
        ("ge2023-11-12T10:15:00 00:00", "2023-11-12T10:14:59+00:00", False),
        ("gt2023-11-12T10:15:00Z", "2023-11-12T10:15:00Z", False), ("gt2023-11-12", "2023-11-12T23:00:00Z", False),
        ("gt2023-11-12", "2023-11-13T00:00:00Z", True), ("lt2023-11-12", "2023-11-11T23:59:59Z", True),
        ("lt2023-11-12", "2023-11-12T00:00:00Z", False), ("le2023-11-12", "2023-11-12T23:59:59Z", True),
        ("le2023-11", "2023-12-01", False), ("sa2023-11", "2023-12-01", True), ("eb2023-11", "2023-10-31", True),
        ("ge2023-11-12T12:00:00+02:00", "2023-11-12T10:00:00+00:00", True), ("2024-02-29", "2024-02-29", True),
        ("2023-12", "2023-12-31T23:59:59.999Z", True), ("lt2024", "1890-01-01", True),
    ],
)  # fmt: skip
def test_dates_are_compared_as_ranges(asked, at, fits):
    assert date_test(asked)([at]) is fits


@each_row(
    "text", ["", "yesterday", "2023-13", "2023-02-30", "0000", "0999", "9999-99-99", "2023-1-1", "2023-11-13T25:00:00Z", "٢٠٢٣"]
)  # fmt: skip
def test_what_is_no_date_is_an_error(text):
    with pytest.raises(ValueError, match="is not a date"):
        read_range(text)


def test_periods_without_an_end_go_on():
    assert date_test("sa2030")([{"start": "2023-01-01"}]) is False
    assert date_test("ge2030")([{"start": "2023-01-01"}]) is True
    assert ranges_in({}) == [] == ranges_in("soon") and ranges_in(None) == []
    assert date_test("ge2030")([{"start": "2023", "end": "9999-12-31"}])  # as some systems write it


OTHERS = [
    {**lab(f"of-{kind}", "0001-01-01T00:00:00+14:00"), "subject": {"reference": f"{kind}/p1"}}
    for kind in ("Group", "Observation")
]
LABS = [*OTHERS, lab("a", "2026-03-01T08:00:00+00:00"), lab("b", "2026-03-02T08:00:00+02:00"), lab("c", "2026-02-01", "NA"),
        lab("d", "2026-03-02T07:00:00+00:00", patient="p2")]  # fmt: skip


@each_row(
    "parameters, ids",
    [
        ({"patient": "p1"}, "a b c"), ({"patient": "Patient/p1", "code": "K"}, "a b"), ({"subject": "p1,p2"}, "a b c d"),
        ({"patient": "http://x/fhir/Patient/p2"}, "d"), ({"patient": "p1", "code": "urn:lab|K"}, "a b"),
        ({"patient": "p1", "code": "|K"}, ""), ({"patient": "p1", "code": "urn:lab|"}, "a b c"),
        ({"patient": "p1", "identifier": "None"}, ""), ({"patient": "Patient/p1/_history/2", "code": "K"}, "a b"),
        ({"patient": "p1", "code": "K,NA"}, "a b c"),
        ({"patient": "p1", "date": "ge2026-03-01"}, "a b"), ({"patient": "p1", "_sort": "-date"}, "b a c"),
        ({"patient": "p1", "_sort": "date", "_count": "2"}, "c a"), ({"patient": "p1", "_count": "2", "_offset": "2"}, "c"),
        ({"patient": "p1", "_sort": "code,-date"}, "b a c"), ({"_id": "d"}, "d"), ({"patient": "nobody"}, ""),
        ({"patient": "p1", "status": "final"}, "a b c"), ({"patient": "p1", "category": "vital-signs"}, ""),
    ],
)  # fmt: skip
def test_observations_are_found(tmp_path, parameters, ids):
    assert found(chart(tmp_path, *LABS), "Observation", **parameters) == ids.split()


@each_row(
    "parameters, ids",
    [
        ({"name": "zoe"}, 2), ({"name": "Zoë Müller"}, 2), ({"name": "zoe meier"}, 0), ({"family": "mull"}, 2),
        ({"given": "Maria"}, 2),
        ({"identifier": "M-p1"}, 1), ({"identifier": "urn:mrn|M-p1"}, 1), ({"identifier": "urn:x|M-p1"}, 0),
        ({"birthdate": "1950-05-17", "gender": "female"}, 2), ({"birthdate": "1950-05-18"}, 0), ({"legal__sex": "male"}, 0),
    ],
)  # fmt: skip
def test_patients_are_found(tmp_path, parameters, ids):
    assert len(found(chart(tmp_path), "Patient", **parameters)) == ids


@each_row(
    "kind, pairs, status, words",
    [
        ("Practitioner", [], 404, "'Practitioner' is not served; there are Patient,"),
        ("Patient", [("ward", "3")], 400, "no search parameter 'ward'; it has _id, identifier"),
        ("Patient", [("family:missing", "true")], 400, "no search parameter 'family:missing'"),
        ("Observation", [("date", "yesterday")], 400, "date: 'yesterday' is not a date"),
        ("Observation", [("date", "ap2023")], 400, "prefix 'ap'"), ("Observation", [("code", ",")], 400, "no value"),
        ("Observation", [("_count", "-1")], 400, "_count must be a whole number"),
        ("Observation", [("_count", "9" * 10)], 400, "whole number"),
        ("Observation", [("_sort", "-time")], 400, "no search parameter 'time'"),
        ("Observation", [("patient", "Group/p1")], 400, "'Group/p1' is no reference to a patient"),
        ("Observation", [("patient", "../<b>\x1b")], 400, r"'../<b>\x1b' is no reference"),
        ("Patient", [("name", " ")], 400, "no value"), ("Patient", [("identifier", "|")], 400, "no value"),
        ("Patient", [("family", "\u0301")], 400, "has no letters"), ("Patient", [("_sort", "-birthdate,")], 400, "parameter ''"),
        ("Patient", [("birthdate", "9999-99-99")], 400, "birthdate: '9999-99-99' is not a date"),
        ("Observation", [("code", "x" * 501)], 400, "at most 30 parameters of 500 characters"),
        ("Observation", [("code", "x")] * 31, 400, "at most 30"),
    ],
)  # fmt: skip
def test_what_cannot_be_served_is_an_operation_outcome(tmp_path, kind, pairs, status, words):
    reply = chart(tmp_path).search(kind, pairs)
    (issue,) = reply.body["issue"]
    assert (reply.status, reply.body["resourceType"], issue["severity"]) == (status, "OperationOutcome", "error")
    assert words in issue["diagnostics"]


def test_pages_link_to_the_next_one_and_count_all(tmp_path):
    server = chart(tmp_path, *(lab(f"n{n}", f"2026-01-{n + 1:02}") for n in range(25)))
    first = server.search("Observation", [("patient", "p1"), ("date", "ge2026-01-01T00:00:00+00:00")])
    (_, following) = first.body["link"]
    assert len(first.body["entry"]) == 20 and first.body["total"] == 25 and following["relation"] == "next"
    assert following["url"].endswith("Observation?patient=p1&date=ge2026-01-01T00:00:00%2B00:00&_offset=20")
    last = server.search("Observation", [("patient", "p1"), ("_offset", "20")])
    assert len(last.body["entry"]) == 5 and len(last.body["link"]) == 1


def test_parameters_of_the_table_have_known_kinds():
    kinds = {known[0] for of in PARAMETERS.values() for known in of.values()}
    assert kinds == {"token", "string", "name", "date", "reference"} and len(PARAMETERS) == 6
