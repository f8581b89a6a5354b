from dataclasses import dataclass

import pytest

from components.agents.self_consistency import SelfConsistency
from components.clinic.toolset import Clinic, Consultation
from components.core.errors import ConfigError
from components.core.messages import Message
from components.core.types import Answer, Problem, Sample
from runner.storage.journal import Journal
from tests.components.clinic.cases import Consulted, ask, consult, order, shipped
from tests.parts import Looper, Speaker

CASE = shipped()[0]


async def test_each_role_is_shown_its_part_of_the_case_and_no_role_the_diagnosis():
    desk = Consulted(ask(), order(), "gout")
    await consult(desk)
    doctor, (patient, measurement) = "".join(desk.asked("act")), desk.asked("tool")
    notes, findings = "flight four days ago", "popliteal vein"
    assert notes in patient and findings not in patient
    assert findings in measurement and notes not in measurement
    assert notes not in doctor and findings not in doctor
    assert not any(CASE.target in text for text in (doctor, patient, measurement))


async def test_the_doctor_sees_replies_and_not_the_prompts_of_the_roles():
    desk = Consulted(ask(), order(), "gout", patient="It hurts.", measurement="RESULTS: clear.")
    trajectory = await consult(desk)
    last = desk.asked("act")[-1]
    assert "saw It hurts." in last and "saw RESULTS: clear." in last and "You are the patient" not in last
    assert [(step.purpose, step.role) for step in trajectory.steps if step.purpose == "tool"] == [("tool", "main")] * 2


async def test_both_roles_are_shown_the_transcript():
    desk = Consulted(
        ask("Since when?"), order("an ECG"), ask("And now?"), "gout", patient="Monday.", measurement="Normal."
    )
    await consult(desk)
    first, second, third = desk.asked("tool")
    assert "[So far]" not in first
    assert "Doctor: Since when?\nPatient: Monday." in second
    assert "Doctor: Since when?\nPatient: Monday.\nDoctor: an ECG\nResults: Normal." in third


async def test_the_last_turn_is_the_diagnosis():
    desk = Consulted(ask(), ask(), order(), "gout", patient="No.")
    trajectory = await consult(desk, toolset=Clinic(turns=3))
    calls = [one for step in trajectory.steps for one in step.observed]
    assert [one.observation.text.count("Give your diagnosis now") for one in calls[:2]] == [0, 1]
    assert calls[2].observation.text.startswith("No question or test is left") and not desk.asked("tool")[2:]
    assert (trajectory.stop, trajectory.answer) == ("answered", "gout")


async def test_roles_have_their_own_models():
    desk, patient, lab = Consulted(ask(), order(), "gout"), Speaker(lambda _: "P", "p"), Speaker(lambda _: "L", "l")
    models = {"main": desk.model, "patient": patient, "measurement": lab}
    trajectory = await consult(desk, models=models)
    assert [step.role for step in trajectory.steps if step.purpose == "tool"] == ["patient", "measurement"]
    assert len(patient.asked) == len(lab.asked) == 1 and not desk.asked("tool")
    sampling = patient.asked[0].sampling
    assert (sampling.temperature, sampling.max_tokens) == (0.05, 200)


async def test_a_consultation_is_replayed_from_the_journal(tmp_path):
    texts = []
    for _ in range(2):
        desk, journal = Consulted(ask(), ask(), order(), "gout"), Journal(tmp_path / "journal")
        trajectory = await consult(desk, journal=journal)
        journal.close()
        texts.append([one.observation.text for step in trajectory.steps for one in step.observed])
    assert texts[0] == texts[1] and len(texts[0]) == 3 and not desk.model.asked


async def test_a_blank_reply_and_an_endless_question_are_errors_for_the_doctor():
    desk = Consulted(ask(), ask("x" * 3_000), "gout", patient=" ")
    trajectory = await consult(desk)
    errors = [one.error for step in trajectory.steps for one in step.observed]
    assert errors == ["empty", "bad_arguments"]


@dataclass(frozen=True)
class Tries:
    """Tries its first action, as verifiers do, before it takes it."""

    async def solve(self, episode):
        action = await episode.act([Message("user", "Ask.")])
        tried = await episode.try_(action)
        await episode.observe(action)
        return Answer(f"tried: {tried}")


async def test_a_question_cannot_be_tried_so_the_patient_is_asked_once():
    desk = Consulted(ask())
    trajectory = await consult(desk, agent=Tries())
    assert trajectory.answer == "tried: None" and len(desk.asked("tool")) == 1


async def test_every_attempt_has_a_consultation_of_its_own():
    desk = Consulted(ask("First?"), "gout", ask("Second?"), "gout")
    trajectory = await consult(desk, agent=SelfConsistency(Looper(), draws=2))
    assert trajectory.answer == "gout" and [text.count("[So far]") for text in desk.asked("tool")] == [0, 0]


def test_a_fork_continues_by_itself():
    state = Consultation("", "", 5, transcript=["Doctor: a"])
    fork = state.fork()
    fork.transcript.append("Patient: b")
    fork.left -= 1
    assert (state.left, state.transcript) == (5, ["Doctor: a"])


def test_a_sample_without_a_patient_is_refused():
    with pytest.raises(ConfigError, match="has no patient and findings: choose dataset=clinic_mini"):
        Clinic().open(Sample(Problem("p", "Which?"), "A"))
