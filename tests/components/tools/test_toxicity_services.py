import json

import pytest

from components.core.errors import ConfigError, ToolError
from components.tools.toxicity_detector import ToxicityService
from components.tools.toxicity_services import Moderation, Perspective
from components.web import Web
from tests.components.tools.service import serving
from tests.table import each_row

QUICK = Web(timeout_seconds=2, retries=0)


def attribute(value):
    return {"summaryScore": {"value": value, "type": "PROBABILITY"}, "spanScores": []}


@pytest.fixture(autouse=True)
def keys(monkeypatch):
    monkeypatch.setenv("PERSPECTIVE_API_KEY", "k1")
    monkeypatch.setenv("OPENAI_API_KEY", "k2")


async def test_perspective_is_asked_for_its_attributes_with_the_key_in_a_header():
    answer = {"attributeScores": {"TOXICITY": attribute(0.91)}, "languages": ["en"]}
    async with serving({"/v1alpha1/comments:analyze": answer}) as service:
        judge = Perspective(f"{service.url}/v1alpha1", web=QUICK)
        assert await judge.score("you idiot") == {"TOXICITY": 0.91}
    body = json.loads(service.bodies[0])
    assert body["comment"] == {"text": "you idiot"} and list(body["requestedAttributes"]) == ["TOXICITY"]
    assert body["doNotStore"] is True
    assert service.asked[0][1] == {} and service.headers[0]["x-goog-api-key"] == "k1"


async def test_a_moderation_endpoint_gives_its_categories():
    answer = {"results": [{"flagged": True, "categories": {}, "category_scores": {"hate": 0.1, "violence": 0.7}}]}
    async with serving({"/v1/moderations": answer}) as service:
        judge = Moderation(f"{service.url}/v1", "mod-1", web=QUICK)
        assert await judge.score("x") == {"hate": 0.1, "violence": 0.7}
        assert await Moderation(f"{service.url}/v1", "mod-1", key_variable=None, web=QUICK).score("x")
    assert json.loads(service.bodies[0]) == {"model": "mod-1", "input": "x"}
    assert service.headers[0]["Authorization"] == "Bearer k2" and "Authorization" not in service.headers[1]


@each_row(
    "answer",
    [
        "no JSON",
        [],
        {"results": []},
        {"results": [{"category_scores": {}}]},
        {"results": [{"category_scores": {"a": 2}}]},
    ],
)
async def test_an_answer_in_another_form_is_not_a_score(answer):
    async with serving({"/v1/moderations": answer, "/comments:analyze": answer}) as service:
        for judge in (Moderation(f"{service.url}/v1", "m", web=QUICK), Perspective(service.url, web=QUICK)):
            with pytest.raises(ToolError, match="its answer") as caught:
                await judge.score("x")
            assert caught.value.label == "unavailable"


async def test_a_key_that_is_not_set_is_named(monkeypatch):
    monkeypatch.delenv("PERSPECTIVE_API_KEY")
    monkeypatch.delenv("OPENAI_API_KEY")
    assert "PERSPECTIVE_API_KEY" in Perspective().missing
    assert "OPENAI_API_KEY" in Moderation("http://localhost/v1", "m").missing
    assert Moderation("http://localhost/v1", "m", key_variable=None).missing == ""


def test_identity_names_what_the_answers_depend_on():
    one, other = Moderation("http://localhost/v1", "a"), Moderation("http://localhost/v1", "b")
    assert one.identity != other.identity and "TOXICITY" in Perspective().identity
    assert isinstance(one, ToxicityService) and isinstance(Perspective(), ToxicityService)


def test_a_bad_configuration_is_refused():
    with pytest.raises(ConfigError, match="base_url"):
        Moderation("localhost", "m")
