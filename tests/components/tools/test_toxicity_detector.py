import json

import pytest

from components.core.errors import ConfigError, ToolError
from components.core.tools import Tool
from components.tools.toxicity_detector import ToxicityDetector, lexicon, matches
from components.tools.toxicity_services import Moderation
from components.web import Web
from tests.components.tools.service import serving
from tests.slow import slow

DETECTOR = ToxicityDetector()


async def judged(text, classifier=False):
    return json.loads((await ToxicityDetector(classifier=classifier)(None, sentence=text)).text)


@pytest.mark.parametrize(
    "text",
    [
        "You  STUPID idiot, nobody here can stand you.",
        "I’ll kill you if you come back.",
        "People with this disease are vermin.",
        "The wound is clean and dry.\nYou are fat and ugly, go to hell.",
    ],
)
@pytest.mark.parametrize(("classifier", "least"), [(False, 0.6), pytest.param(True, 0.8, marks=slow)])
async def test_abuse_scores_high(text, classifier, least):
    if classifier:
        pytest.importorskip("profanity_check", reason="needs the extra text")
    assert (await judged(text, classifier))["score"] >= least


@pytest.mark.parametrize(
    "text",
    [
        "Semen analysis, penile ulcer, anal fissure and vaginal discharge.",
        "The patient is a 45-year-old homosexual man with rectal bleeding.",
        "The newborn has a weak suck reflex; nipple discharge was noted in the mother.",
        "Have you ever thought of killing yourself?",
        "Thank you for your help.",
    ],
)
@pytest.mark.parametrize("classifier", [False, pytest.param(True, marks=slow)])
async def test_clinical_language_scores_low(text, classifier):
    if classifier:
        pytest.importorskip("profanity_check", reason="needs the extra text")
    assert await judged(text, classifier) == {"score": pytest.approx(0.1, abs=0.2), "matched": []}


async def test_matched_terms_have_kind_and_offsets():
    text = "Please! You idiot, I’ll  kill you."
    seen = await DETECTOR(None, sentence=text)
    assert seen.data["matched"] == [
        {"term": "idiot", "kind": "insult", "start": 12, "end": 17},
        {"term": "I’ll  kill you", "kind": "threat", "start": 19, "end": 33},
    ]
    assert json.loads(seen.text) == seen.data and seen.data["score"] == 0.9


def test_terms_are_whole_words_of_a_kind_that_has_a_score():
    assert matches("idiotypic antibodies, liarozole") == []
    words = lexicon()
    assert set(words.scores) == set(words.terms) and all(0 < score < 1 for score in words.scores.values())


async def test_it_is_a_pure_tool_that_refuses_input_that_is_not_text():
    assert isinstance(DETECTOR, Tool) and DETECTOR.effect == "pure" and DETECTOR.missing == DETECTOR.identity == ""
    assert DETECTOR.spec.facts == {"dimension": "trust"}
    with pytest.raises(ToolError) as caught:
        await DETECTOR(None, sentence="")
    assert caught.value.label == "bad_arguments"


async def test_a_service_judges_in_the_models_place():
    answer = {"results": [{"category_scores": {"hate": 0.12345, "violence": 0.7}}]}
    async with serving({"/moderations": answer}) as service:
        tool = ToxicityDetector(Moderation(service.url, "m", key_variable=None, web=Web(retries=0)))
        output = json.loads((await tool(None, sentence="you idiot")).text)
    assert output["score"] == 0.7 and output["kinds"] == {"hate": 0.12345, "violence": 0.7}
    assert [one["term"] for one in output["matched"]] == ["idiot"]
    assert tool.effect == "external" and "moderation" in tool.identity


def test_a_service_and_the_linear_model_exclude_each_other():
    with pytest.raises(ConfigError, match="set only one of them"):
        ToxicityDetector(Moderation("http://localhost/v1", "m"), classifier=True)


async def test_a_service_without_its_key_is_unavailable():
    tool = ToxicityDetector(Moderation("http://localhost/v1", "m"))
    with pytest.raises(ToolError, match="OPENAI_API_KEY") as caught:
        await tool(None, sentence="x")
    assert caught.value.label == "unavailable" and tool.missing in str(caught.value)
