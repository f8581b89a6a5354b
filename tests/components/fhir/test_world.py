import json

import pytest

from components.core.errors import ConfigError
from components.fhir.validation import issues_of, standard_form
from components.fhir.world import Chart, World, open_world
from tests.components.fhir.fernhill import MINI, NOW, VITALS, chart, found, lab
from tests.table import each_row

ORDER = {
    "resourceType": "MedicationRequest", "status": "active", "intent": "order", "authoredOn": NOW,
    "medicationCodeableConcept": {"coding": [{"system": "http://hl7.org/fhir/sid/ndc", "code": "0338-1715-40"}]},
    "dosageInstruction": [{"route": {"text": "IV"}, "doseAndRate": [{"doseQuantity": {"value": 2, "unit": "g"}}]}],
    "subject": {"reference": "Patient/p1"},
}  # fmt: skip


def test_what_is_created_is_found_in_this_chart_and_no_other(tmp_path):
    first = chart(tmp_path, lab("a", "2026-03-01"))
    other = Chart(first.world)
    reply = first.create("Observation", VITALS)
    assert reply.status == 201 and reply.body["id"] == "created-1" and reply.body["valueString"] == "118/77 mmHg"
    assert found(first, "Observation", patient="p1") == ["a", "created-1"]
    assert found(other, "Observation", patient="p1") == ["a"] and found(first, "Observation", patient="p2") == []
    assert first.read("Observation", "created-1").status == 200 and other.read("Observation", "created-1").status == 404


def test_several_patients_are_searched_by_commas_and_no_others(tmp_path):
    server = chart(tmp_path, lab("a", "2026-03-01"), lab("b", "2026-03-01", patient="p2"))
    assert found(server, "Observation", patient="p2,Patient/p1,p2") == ["b", "a"]
    assert [one["id"] for one in server.world.find("Observation", ["p2", "p9"])] == ["b"]


def test_a_fork_has_what_was_created_and_shares_nothing_later(tmp_path):
    first = chart(tmp_path)
    first.create("MedicationRequest", ORDER)
    fork = first.fork()
    fork.create("MedicationRequest", ORDER)
    assert (len(found(first, "MedicationRequest", patient="p1")), len(fork.created)) == (1, 2)
    assert fork.world is first.world


@each_row(
    "change, status, code, words",
    [
        ({"status": None}, 422, "required", "Observation.status"), ({"status": "done"}, 422, "code-invalid", "none of registered"),
        ({"value": 3}, 422, "structure", "Observation.value"), ({"effectiveDateTime": "now"}, 422, "structure", "effectiveDateTime"),
        ({"valueQuantity": {"value": 1}}, 422, "structure", "multiple"), ({"note": {"text": "x"}}, 422, "structure", "Observation.note"),
        ({"resourceType": "Patient"}, 422, "invalid", "must be 'Observation'"), ({"subject": None}, 422, "not-found", "no patient ''"),
        ({"subject": {"reference": "Patient/p9"}}, 422, "not-found", "no patient 'p9'"),
        ({"subject": {"reference": "Medication/p1"}}, 422, "not-found", "no patient ''"),
        ({"code": 0}, 422, "structure", "Observation.code"), ({"code": {"text": [None]}}, 422, "structure", "code.text"),
        ({"method": {"text": None}}, 422, "structure", "null is no value"), ({"effectiveDateTime": 10**9}, 422, "structure", "a date is a text"),
        ({"contained": [{"resourceType": "Nothing"}]}, 422, "not-supported", "contained"), ({"\x1b" * 9000: 1}, 422, "structure", "\x1b"),
        ({"id": "../x"}, 422, "structure", "Observation.id"), ({"subject": {"reference": "Observation/x"}}, 422, "invalid", "no reference to"),
        ({"subject": {"reference": "Ward/p1"}}, 422, "invalid", "no reference to Patient"),
        ({"valueString": "x" * 70_000}, 422, "too-long", "65,536 bytes and 20 levels"),
        ({"code": json.loads('{"coding":' * 30 + "1" + "}" * 30)}, 422, "too-long", "20 levels"),
    ],
)  # fmt: skip
def test_a_wrong_resource_is_refused_and_changes_nothing(tmp_path, change, status, code, words):
    server, body = chart(tmp_path), {name: value for name, value in {**VITALS, **change}.items() if value is not None}
    reply = server.create("Observation", body)
    issue = reply.body["issue"][0]
    assert (reply.status, issue["code"]) == (status, code) and words in issue["diagnostics"] and server.created == []
    assert len(issue["diagnostics"]) <= 300


def test_a_route_as_text_is_the_text_of_a_route():
    text = {**ORDER, "dosageInstruction": [{"route": "IV"}, {"route": {"text": "oral"}}, 3]}
    assert standard_form(text)["dosageInstruction"] == [{"route": {"text": "IV"}}, {"route": {"text": "oral"}}, 3]
    assert standard_form(ORDER) == ORDER and standard_form({"dosageInstruction": "x"}) == {"dosageInstruction": "x"}


def test_all_that_ships_is_valid():
    for line in MINI.read_bytes().splitlines()[::7]:
        resource = json.loads(line)
        assert issues_of(resource["resourceType"], resource) == []


def test_a_bundle_is_read_with_the_references_of_synthea(tmp_path):
    patient = {"resourceType": "Patient", "id": "u-1", "identifier": [{"value": "77"}]}
    result = {**lab("o", "2026-01-01"), "subject": {"reference": "urn:uuid:u-1"}}
    bundle = {"resourceType": "Bundle", "entry": [{"resource": patient}, {"resource": result}, {"fullUrl": "x"}]}
    (tmp_path / "one.json").write_text(json.dumps(bundle))
    (tmp_path / "two.ndjson").write_text(json.dumps(lab("q", "2026-02-01", patient="u-1")) + "\n\n")
    world = open_world(tmp_path)
    assert found(Chart(world), "Observation", patient="u-1") == ["o", "q"]
    assert world.patient("77") == patient == world.patient("u-1") and world.patient("78") is None


def test_a_large_file_stays_on_the_disk(tmp_path):
    small = chart(tmp_path, lab("a", "2026-03-01"))
    large = Chart(World.read([*tmp_path.glob("*.ndjson")], large=1))
    assert not isinstance(large.world.buffers[0], bytes) and isinstance(small.world.buffers[0], bytes)
    assert large.search("Observation", [("patient", "p1")]) == small.search("Observation", [("patient", "p1")])


def test_a_bundle_that_is_too_large_to_be_read_whole_is_refused(tmp_path):
    with (tmp_path / "b.json").open("wb") as file:
        file.truncate((1 << 29) + 1)
    with pytest.raises(ConfigError, match=r"b\.json: a Bundle has at most 536,870,912 bytes; give NDJSON"):
        open_world(tmp_path / "b.json")


@each_row(
    "name, text, words",
    [
        ("a.ndjson", '{"resourceType": "Patient", "id": "p"}\n{"resource', "a.ndjson:2: not JSON"), ("a.ndjson", "\n[]", "a.ndjson:2: must be a resource"),
        ("a.json", "{", "a.json: not JSON"), ("a.json", "[]", "must be a Bundle"),
        ("a.json", '{"resourceType": "Bundle", "entry": 3}', "entry must be a list"), ("a.txt", "", "no FHIR resources at"),
        ("a.ndjson", '{"resourceType": "Patient", "id": "../<b>"}', r"a.ndjson:1: id must be 1 to 64 .*found '\.\./<b>'"),
        ("a.ndjson", '{"resourceType": "Patient", "id": "p"}\n' * 2, "a.ndjson:2: the files have Patient/p twice"),
        ("a.ndjson", '{"resourceType": "Encounter"}', "a.ndjson: no Patient among"),
        ("a.ndjson", '{"resourceType": "Patient", "id": "p", "name": ' + "[" * 900 + "]" * 900 + "}", "a.ndjson:1: a resource of more than 20 levels"),
        ("a.json", '{"resourceType": "Patient", "id": "p", "name": ' + "[" * 900 + "]" * 900 + "}", "a.json: not JSON.*Recursion"),
        ("a.ndjson", '"' + "x" * (1 << 20) + '"', "a.ndjson:1: a resource of 1,048,578 bytes"),
    ],
)  # fmt: skip
def test_files_that_are_no_world_are_refused_by_file_and_line(tmp_path, name, text, words):
    (tmp_path / name).write_text(text)
    with pytest.raises(ConfigError, match=words):
        open_world(tmp_path)
    (tmp_path / name).unlink()
