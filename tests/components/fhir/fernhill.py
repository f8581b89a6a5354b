"""The mini's dataset and world, a small chart, and right requests, for tests."""

import os
from copy import deepcopy
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import components.fhir
from components.core.messages import Message, ToolCall, Usage
from components.core.types import Action, Observation, Observed, Sample, Step, Trajectory
from components.fhir.dataset import MedAgentBench
from components.fhir.toolset import Fhir
from components.fhir.world import Chart, World, open_world
from components.web import Web

SLICE = Path(os.environ.get("CLINICAL_DATA_DIR", "none")) / "medagentbench/data/medagentbench"
MINI = Path(components.fhir.__file__).parent / "fhir_mini" / "world.jsonl"
NOW = "2026-03-02T09:30:00+00:00"
VITALS = {
    "resourceType": "Observation", "status": "final", "code": {"text": "BP"},
    "category": [{"coding": [{"system": "http://terminology.hl7.org/CodeSystem/observation-category", "code": "vital-signs"}]}],
    "effectiveDateTime": NOW, "valueString": "118/77 mmHg", "subject": {"reference": "Patient/p1"},
}  # fmt: skip


@cache
def samples() -> dict[str, Sample]:
    """Name -> task of the mini."""
    mini = MedAgentBench(shipped="fhir_mini", tasks="tasks.json", world="world.jsonl")
    return {one.problem.id: one for one in mini.load("test")}


def toolset(**settings: Any) -> Fhir:
    return Fhir(http=Web(retries=0), **settings)


def changed(body: dict[str, Any], path: str, value: Any) -> dict[str, Any]:
    """A copy of a resource with another value at a path."""
    copy = deepcopy(body)
    *parts, last = path.split(".")
    inner: Any = copy
    for part in parts:
        inner = inner[int(part) if part.isdigit() else part]
    inner[last] = value
    return copy


def lab(name: str, when: str, code: str = "K", value: float = 4.0, patient: str = "p1") -> dict[str, Any]:
    return {
        "resourceType": "Observation", "id": name, "status": "final", "effectiveDateTime": when,
        "code": {"coding": [{"system": "urn:lab", "code": code}]}, "valueQuantity": {"value": value, "unit": "mmol/L"},
        "subject": {"reference": f"Patient/{patient}"},
    }  # fmt: skip


def world(folder: Path, *resources: dict[str, Any]) -> World:
    """Two patients and these resources."""
    import orjson

    patients = [{"resourceType": "Patient", "id": one, "birthDate": "1950-05-17", "gender": "female",
                 "identifier": [{"system": "urn:mrn", "value": f"M-{one}"}],
                 "name": [{"family": "Müller-Lüdenscheidt", "given": ["Zoë", "Maria"]}]} for one in ("p1", "p2")]  # fmt: skip
    path = folder / f"{Random().random()}.ndjson"
    path.write_bytes(b"\n".join(map(orjson.dumps, [*patients, *resources])))
    return open_world(path)


def chart(folder: Path, *resources: dict[str, Any]) -> Chart:
    return Chart(world(folder, *resources))


def found(chart: Chart, kind: str, **parameters: str) -> list[str]:
    """The ids that a search finds; two underscores in a name are a hyphen."""
    pairs = [(name.replace("__", "-"), value) for name, value in parameters.items()]
    reply = chart.search(kind, pairs)
    assert reply.status == 200, reply.body
    return [one["resource"]["id"] for one in reply.body["entry"]]


def episode(answer: str | None, *posts: dict[str, Any], refused: int = 0) -> Trajectory:
    """An episode that posted these bodies, of which the last ``refused`` were refused."""
    made = []
    for place, body in enumerate(posts):
        status = 422 if place >= len(posts) - refused else 201
        data = {"method": "POST", "resource": body.get("resourceType"), "status": status, "body": body}
        made.append(
            Observed(ToolCall("c", "Create", "{}"), Observation("", data), "http_422" if status > 400 else None)
        )
    action = Action(Message("assistant", ""))
    step = Step("act", "main", "", 0, 0, (), Message("assistant", ""), Usage(1, 1, 0.0), action=action, observed=made)
    return Trajectory([step], stop="answered" if answer is not None else "limit", answer=answer)
