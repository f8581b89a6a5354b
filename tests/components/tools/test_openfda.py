import pytest
from aiohttp import web

from components.core.errors import ConfigError, ToolError
from components.tools.openfda import OpenFda
from components.web import Web
from tests.components.tools.service import serving
from tests.table import each_row

LABEL = {
    "meta": {"results": {"skip": 0, "limit": 1, "total": 2}},
    "results": [
        {
            "description": ["11 DESCRIPTION\n " + "long " * 500],
            "indications_and_usage": ["1 INDICATIONS Prevention of\nthrombosis."],
            "dosage_forms_and_strengths": ["Tablets: 1 mg, 2 mg"],
            "openfda": {
                "generic_name": ["WARFARIN SODIUM"], "brand_name": ["Coumadin", "WARFARIN SODIUM"],
                "substance_name": ["WARFARIN"], "route": ["ORAL", "INTRAVENOUS"],
            },
        }
    ],
}  # fmt: skip
PATH = "/drug/label.json"


def fda(service, **options):
    return OpenFda(service.url, web=Web(timeout_seconds=2, retries=0), **options)


async def test_a_label_is_read_as_a_drug(monkeypatch):
    monkeypatch.setenv("OPENFDA_API_KEY", "k")
    async with serving({PATH: LABEL}) as service:
        found = await fda(service).find('coum"adin\\')
        exact = await fda(service).find("coumadin")
    drug = exact.drug
    assert drug.name == "WARFARIN SODIUM" and drug.synonyms == ("Coumadin", "WARFARIN")
    assert drug.indication == "1 INDICATIONS Prevention of thrombosis." and drug.state is None
    assert drug.description is not None and len(drug.description) == 1504 and drug.description.endswith(" ...")
    strength = "Tablets: 1 mg, 2 mg"
    assert drug.dosages == (
        {"from": None, "route": "ORAL", "strength": strength},
        {"from": None, "route": "INTRAVENOUS", "strength": strength},
    )
    assert (exact.match, found.match) == ("exact", "fuzzy")
    asked = service.asked[0][1]
    assert asked["search"].count('"coum adin"') == 3 and " OR openfda.brand_name:" in asked["search"]
    assert asked["limit"] == "1" and asked["api_key"] == "k"


def answer(status, body):
    return {PATH: lambda request: web.json_response(body, status=status)}


@each_row(
    "answers, label",
    [
        (answer(404, {"error": {"code": "NOT_FOUND", "message": "No matches found!"}}), "not_found"),
        (answer(404, {"oops": 1}), "unavailable"),
        (answer(403, {"error": {"code": "API_KEY_INVALID"}}), "unavailable"),
        (answer(200, {"results": []}), "unavailable"),
        (answer(200, [1]), "unavailable"),
    ],
)
async def test_no_label_and_no_service_are_distinguished(answers, label):
    async with serving(answers) as service:
        with pytest.raises(ToolError) as caught:
            await fda(service).find("x")
    assert caught.value.label == label


async def test_a_label_without_names_keeps_the_requested_name():
    async with serving({PATH: {"results": [{"purpose": ["x"]}]}}) as service:
        found = await fda(service).find("x")
    assert found.drug.name == "x" and found.drug.dosages == ()


def test_a_base_url_is_checked():
    with pytest.raises(ConfigError, match="base_url"):
        OpenFda("api.fda.gov")
