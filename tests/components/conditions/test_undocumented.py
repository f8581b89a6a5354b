from random import Random

from components.conditions.undocumented import Undocumented, bare
from components.core.protocols import Condition
from components.radiology.toolset import Radiology
from tests.failing import SAMPLE, STUDY, Tools, kinds, seen


def test_the_interface_is_left_and_no_prose():
    assert isinstance(Undocumented(), Condition)
    offer = Undocumented(1.0, ["echo"]).offer(Tools().open(SAMPLE), SAMPLE, Random(1))
    spec = offer.tools["echo"].spec
    assert spec.description == "" and spec.parameters == {"type": "object", "properties": {"text": {"type": "string"}}}
    assert offer.tools["other"].spec.description == "says it"
    assert offer.facts["faults"][0]["cards"] == ["echo"]


def test_a_radiology_card_keeps_category_and_variables():
    spec = next(iter(Radiology().open(STUDY).tools.values())).spec
    card = bare(spec).card
    assert {key for key, value in card.items() if value} <= {"Category", "Compulsory Input", "Optional Input", "Output"}
    assert card["Category"] == spec.card["Category"] and card["Performance"] == ""


async def test_what_the_tool_does_stays():
    found = await seen(Undocumented(1.0), "echo 1")
    assert found[0].observation.text == "1" and kinds(found) == [["undocumented"]]
