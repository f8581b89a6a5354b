import json

import pytest

from components.core.errors import ConfigError, ToolError
from components.core.tools import tool_of
from components.core.traits import ToolsetTraits, declared
from components.core.types import Problem, Sample
from components.fhir.toolset import Fhir
from tests.components.fhir.fernhill import SLICE, VITALS, samples, toolset
from tests.table import each_row

NAMES = ("Patient_Search", "Condition_Search", "Observation_Search_Labs", "Observation_Search_Vitals", "Observation_Create",
         "MedicationRequest_Search", "MedicationRequest_Create", "Procedure_Search", "ServiceRequest_Create")  # fmt: skip
SAMPLE = samples()["latest_glucose_3"]
PATIENT = SAMPLE.metadata["patient"]


class Context:
    def __init__(self, state):
        self.state = state


async def run(offer, name, **arguments):
    return await offer.tools[name](Context(offer.state), **arguments)


async def test_nine_functions_search_and_create_on_the_samples_own_state():
    offer, other = toolset().open(SAMPLE), toolset().open(SAMPLE)
    assert tuple(offer.tools) == NAMES and offer.facts["toolset"] == list(NAMES)
    seen = await run(
        offer, "Observation_Search_Labs", patient=f"Patient/{PATIENT}", code="GLU", _sort="-date", _count=1
    )
    bundle = json.loads(seen.text)
    assert bundle["entry"][0]["resource"]["valueQuantity"] == {"value": 142, "unit": "mg/dL"} and bundle["total"] == 46
    assert seen.data == {"method": "GET", "resource": "Observation", "status": 200}
    body = {**VITALS, "subject": {"reference": f"Patient/{PATIENT}"}}
    created = await run(offer, "Observation_Create", **body)
    assert (
        json.loads(created.text)["id"] == "created-1" and created.data["body"] == body and created.data["status"] == 201
    )
    assert len(offer.state.created) == 1 and not other.state.created and offer.state.world is other.state.world
    assert (offer.tools["Observation_Create"].effect, offer.tools["Patient_Search"].effect) == ("episode", "pure")


async def test_a_refusal_is_an_error_for_the_model_with_the_operation_outcome():
    offer = toolset().open(SAMPLE)
    with pytest.raises(ToolError, match="OperationOutcome") as found:
        await run(offer, "Observation_Create", **{**VITALS, "status": "done"})
    assert found.value.label == "http_422" and found.value.data["status"] == 422
    body = {**VITALS, "context": "x", "subject": {"reference": f"Patient/{PATIENT}"}}
    with pytest.raises(ToolError, match=r"Observation\.context: Extra inputs"):
        await run(offer, "Observation_Create", **body)


DEEP = json.loads("[" * 500 + "]" * 500)


@each_row("remote", [False, True])
@each_row(
    "code, words",
    [
        ({"a": 1}, "code must be a text"), (["x"] * 31, "a list of at most 30"), ([["x"]], "code must be a text"), (None, "a text"),
        (10**30, "written as JSON: Integer exceeds"), ("\ud800", "written as JSON: .*surrogates"), (DEEP, "written as JSON: Recursion"),
    ],
)  # fmt: skip
async def test_arguments_that_are_no_parameters_are_errors_for_the_model(remote, code, words):
    offer = toolset(base_url="http://127.0.0.1:9/fhir" if remote else None).open(SAMPLE)
    with pytest.raises(ToolError, match=words) as found:
        await run(offer, "Observation_Search_Labs", patient=PATIENT, code=code)
    assert found.value.label == "bad_arguments"


async def test_a_repeated_parameter_is_a_list():
    dates = ["ge2026-02-28", "lt2026-03-01"]
    seen = await run(toolset().open(SAMPLE), "Observation_Search_Labs", patient=PATIENT, code="GLU", date=dates)
    times = [one["resource"]["effectiveDateTime"][:10] for one in json.loads(seen.text)["entry"]]
    assert set(times) == {"2026-02-28"}


def functions(folder, *entries):
    path = folder / "funcs.json"
    path.write_text(json.dumps(list(entries)))
    return str(path)


ENTRY = {"name": "POST {api_base}/ServiceRequest", "description": "ServiceRequest.Create",
         "parameters": {"type": "object", "properties": {"note": {"type": "object"}}, "required": []}}  # fmt: skip


async def test_cards_of_a_file_replace_the_projects(tmp_path):
    """In the benchmark's a note is an object, where the standard has a list."""
    search = {"name": "GET {api_base}/Procedure", "description": "Procedure.Search (Orders) This ...", "parameters": {}}
    offer = toolset(functions=functions(tmp_path, ENTRY, search)).open(SAMPLE)
    assert list(offer.tools) == ["ServiceRequest_Create", "Procedure_Search"]
    assert list(offer.tools["Procedure_Search"].spec.parameters["properties"]) == ["_count", "_sort", "_offset"]
    order = {"resourceType": "ServiceRequest", "status": "active", "intent": "order", "note": {"text": "knee"},
             "subject": {"reference": f"Patient/{PATIENT}"}}  # fmt: skip
    tool_of(offer, type("Call", (), {"name": "ServiceRequest_Create", "parsed": order})())  # any element may be sent
    created = await run(offer, "ServiceRequest_Create", **order)
    assert created.data["body"] == order and json.loads(created.text)["note"] == [{"text": "knee"}]


@pytest.mark.skipif(not SLICE.is_dir(), reason="needs CLINICAL_DATA_DIR")
async def test_the_released_cards_name_the_same_functions():
    offer = toolset(functions=str(SLICE / "funcs_v1.json")).open(SAMPLE)
    assert set(offer.tools) == set(NAMES)
    seen = await run(offer, "Patient_Search", identifier=PATIENT)
    assert json.loads(seen.text)["total"] == 1


@each_row(
    "entries, words",
    [
        ([], "lists none"), ([3], "entry 1 must have name, description"), ([{**ENTRY, "name": "PUT {api_base}/X"}], "entry 1 must be named like"),
        ([{**ENTRY, "name": "GET {api_base}/Pet"}], "named like"), ([{**ENTRY, "description": "Orders."}], "described like"),
        ([{**ENTRY, "name": "POST {api_base}/Patient"}], "named like"), ([{**ENTRY, "parameters": {"properties": [1]}}], "must have name"),
        ([{**ENTRY, "parameters": {"properties": {"note": 3}}}], "must have name"),
    ],
)  # fmt: skip
def test_a_file_that_is_no_list_of_functions_is_refused(tmp_path, entries, words):
    with pytest.raises(ConfigError, match=words):
        toolset(functions=functions(tmp_path, *entries))


@each_row(
    "url", ["ftp://x/fhir", "localhost:8080", "http://u:p@x/fhir", "http://x/fhir?a=1", "http://[x", "http://x:99999", ""]
)  # fmt: skip
def test_other_addresses_are_refused(url):
    with pytest.raises(ConfigError, match="base_url must be like"):
        toolset(base_url=url)


def test_a_file_that_is_not_there_is_refused():
    with pytest.raises(ConfigError, match=r"functions: nowhere\.json cannot be read"):
        toolset(functions="nowhere.json")


def test_a_sample_without_a_world_is_refused_with_what_to_give():
    with pytest.raises(ConfigError, match=r"sample 'x' has no FHIR resources; give toolset.base_url, or dataset.world"):
        toolset().open(Sample(Problem("x", "?"), None))


def test_notes_say_what_is_shared_and_what_is_not_kept():
    remote = declared(toolset(base_url="http://localhost:1/fhir"), ToolsetTraits)
    assert remote.notes == ["all samples write to the same server, http://localhost:1/fhir"]
    assert {tool.effect for tool in remote.tools.values()} == {"external"}
    assert "not kept" in declared(toolset(posts="acknowledge"), ToolsetTraits).notes[0]
    assert declared(toolset(), ToolsetTraits).notes == [] and isinstance(toolset(), Fhir)
