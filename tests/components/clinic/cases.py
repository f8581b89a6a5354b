"""A case in the layout of AgentClinic, an episode on it whose roles are scripted, and the shipped cases."""

import json
from functools import cache
from pathlib import Path
from typing import Any

from components.clinic.dataset import AgentClinic
from components.clinic.toolset import Clinic
from components.core.messages import Message, Request
from components.core.types import Sample
from runner.episode.episode import run_episode
from tests.parts import Speaker, door, parts

CASE: dict[str, Any] = {
    "Objective_for_Doctor": "Assess a patient with a cough.",
    "Patient_Actor": {
        "Demographics": "8-month-old girl", "History": "It began on Monday.",
        "Symptoms": {"Primary_Symptom": "Cough", "Secondary_Symptoms": ["Wheeze"]},
    },
    "Physical_Examination_Findings": {"Vital_Signs": {"Temperature": "38.1 C"}},
    "Test_Results": {"Chest_X-ray": "Clear"},
    "Correct_Diagnosis": "Acute bronchiolitis",
}  # fmt: skip


def write(folder: Path, *cases: Any) -> AgentClinic:
    """A dataset of these cases."""
    rows = [json.dumps({"OSCE_Examination": one} if isinstance(one, dict) else one) for one in cases]
    (folder / "cases.jsonl").write_text("\n".join(rows))
    return AgentClinic({"test": "cases.jsonl"}, path=str(folder))


@cache
def shipped() -> tuple[Sample, ...]:
    """The cases of clinic_mini."""
    return tuple(AgentClinic({"test": "cases.jsonl"}, shipped="clinic_mini").load("test"))


class Consulted:
    """A model that is all roles: the doctor says ``acts`` one after the other, the others ``replies`` by their role."""

    def __init__(self, *acts: str, **replies: str) -> None:
        self.acts, self.replies = list(acts), replies
        self.model = Speaker(self.say)

    def say(self, request: Request) -> str | Message:
        role = "patient" if "You are the patient" in request.messages[0].text else "measurement"
        return self.acts.pop(0) if request.purpose == "act" else self.replies.get(role, f"I am the {role}.")

    def asked(self, *purposes: str) -> list[str]:
        """All that was sent in the requests of these purposes."""
        requests = [one for one in self.model.asked if one.purpose in purposes]
        return ["\n".join(message.text for message in one.messages) for one in requests]


async def consult(desk: Consulted, sample: Sample | None = None, models: Any = None, journal: Any = None,
                  **changes: Any) -> Any:  # fmt: skip
    """The trajectory of an episode with these roles."""
    given = {"toolset": Clinic(), "scorers": {}} | changes
    sample = sample or shipped()[0]
    trajectory, _ = await run_episode(parts(**given), door(models or desk.model, journal), sample, 0)
    return trajectory


def ask(question: str = "How are you?") -> str:
    """The doctor's action that asks the patient."""
    return f"call ask_patient {json.dumps({'question': question})}"


def order(test: str = "chest X-ray") -> str:
    """The doctor's action that orders a test."""
    return f"call order_test {json.dumps({'test': test})}"
