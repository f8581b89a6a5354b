from contextlib import nullcontext

import pytest

from components.agents.direct import Direct
from components.agents.react import ReAct
from components.clinic.biased import Biased
from components.clinic.toolset import Clinic
from components.conditions.offered import Both, Withhold
from components.core.errors import ConfigError
from components.core.plain import NoTools
from components.prompts import load
from runner.config.errors import ConfigErrors
from runner.experiment.parts import check_fit
from tests.components.clinic.cases import Consulted, ask, consult, order, shipped
from tests.parts import parts
from tests.table import each_row

IMPLICIT = ("gender", "race", "sexual_orientation", "cultural", "education", "religion", "socioeconomic")
PATIENT = ("recency", "frequency", "false_consensus", "self_diagnosis", *IMPLICIT)
DOCTOR = ("recency", "frequency", "false_consensus", "confirmation", "status_quo", *IMPLICIT)


def offer(condition, toolset=None):
    return condition.offer((toolset or Clinic()).open(shipped()[0]), shipped()[0], None)


def test_biases_are_those_of_the_article():
    texts = load("clinic").data("biases")
    assert (tuple(texts["patient"]), tuple(texts["doctor"])) == (PATIENT, DOCTOR)
    for who, cognitive in (("patient", PATIENT[:4]), ("doctor", DOCTOR[:5])):
        assert all(("cancer" in text) == (name in cognitive) for name, text in texts[who].items())


async def test_the_patients_bias_reaches_the_patient_alone():
    text = load("clinic").data("biases")["patient"]["recency"]
    desk = Consulted(ask(), order(), "gout")
    await consult(desk, condition=Biased(patient="recency"))
    patient, measurement = desk.asked("tool")
    assert text in patient and text not in measurement and text not in "".join(desk.asked("act"))


async def test_the_doctors_bias_is_in_the_instructions_alone():
    text = load("clinic").data("biases")["doctor"]["status_quo"]
    offered = offer(Biased(doctor="status_quo"))
    assert text in offered.note and offered.state.bias == ""
    desk = Consulted(ask(), "gout")
    await consult(desk, agent=ReAct(), condition=Biased(doctor="status_quo"))
    assert all(text in one for one in desk.asked("act")) and text not in "".join(desk.asked("tool"))


def test_a_bias_that_an_agent_would_never_read_is_refused():
    for doctor, refused in (("recency", True), ("none", False)):
        given = parts(Direct(), toolset=Clinic(), condition=Biased("race", doctor), scorers={})
        with pytest.raises(ConfigErrors, match="Direct takes no action") if refused else nullcontext():
            check_fit(given, shipped()[0], 0, acts=False)


def test_two_biases_add_up_and_custom_ones_are_read(tmp_path):
    (tmp_path / "biases.yaml").write_text("patient: {haste: You are in a hurry.}\ndoctor: {}")
    offered = offer(Both(Biased(patient="haste", prompts=f"{tmp_path}/"), Biased(doctor="race")))
    assert offered.state.bias == "You are in a hurry." and offered.note
    assert offered.facts["biases"] == {"patient": "haste", "doctor": "race"}
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "biases.yaml").write_text("patient: none")
    with pytest.raises(ConfigError, match="yaml must have names with their texts below 'patient'"):
        offer(Biased(prompts=f"{tmp_path}/other"))


def test_without_a_bias_the_offer_is_that_of_the_toolset():
    offered = offer(Biased())
    assert (offered.note, offered.state.bias) == ("", "")
    assert offered.facts == {"kind": "intact", "condition": "intact", "biases": {}}


def test_it_can_be_put_before_and_after_other_conditions():
    less = Withhold(("order_test",))
    for condition in (Both(Biased("race", "race"), less), Both(less, Biased("race", "race"))):
        offered = offer(condition)
        assert [*offered.tools] == ["ask_patient"] and offered.note and offered.state.bias
        assert offered.facts["withheld"] == ["order_test"] and offered.facts["biases"]["patient"] == "race"


@each_row(
    "condition, toolset, message",
    [
        (Biased(patient="recenzy"), None, "patient: found 'recenzy'; did you mean recency"),
        (Biased(doctor="self_diagnosis"), None, "doctor: found 'self_diagnosis'"),
        (Biased(), NoTools(), "this toolset has no patient: choose toolset=clinic"),
    ],
)
def test_an_unknown_bias_and_another_toolset_are_refused(condition, toolset, message):
    with pytest.raises(ConfigError, match=message):
        offer(condition, toolset)
