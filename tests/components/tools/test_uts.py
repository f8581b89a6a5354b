import pytest
from aiohttp import web

from components.core.errors import ConfigError, ToolError
from components.tools.uts import Uts
from components.web import Web
from tests.components.tools.service import serving
from tests.table import each_row

SEARCH, CONTENT = "/rest/search/current", "/rest/content/current/CUI/C0004096"


def page(result):
    return {"pageSize": 25, "pageNumber": 1, "pageCount": 1, "result": result}


def found(*results):
    return page({"classType": "searchResults", "results": list(results)})


HIT = found({"ui": "C0004096", "rootSource": "MTH", "uri": "u", "name": "Asthma"})
DEFINITIONS = page(
    [
        {"classType": "Definition", "sourceOriginated": True, "rootSource": "NCI", "value": "A chronic disease."},
        {"classType": "Definition", "sourceOriginated": True, "rootSource": "MSH", "value": "Airways narrow."},
        {"classType": "Definition", "sourceOriginated": True, "rootSource": "MSH", "value": "A second one."},
    ]
)
RELATIONS = page(
    [
        {
            "classType": "ConceptRelation", "rootSource": "MSH", "relatedFromIdName": "Asthma", "relationLabel": "RO",
            "additionalRelationLabel": "has_finding_site", "relatedIdName": "Bronchi",
        },
        {"classType": "ConceptRelation", "relationLabel": "RB", "additionalRelationLabel": "", "relatedIdName": "Cough"},
    ]
)  # fmt: skip
ANSWERS = {SEARCH: HIT, f"{CONTENT}/definitions": DEFINITIONS, f"{CONTENT}/relations": RELATIONS}


@pytest.fixture(autouse=True)
def _key(monkeypatch):
    monkeypatch.setenv("UMLS_API_KEY", "hidden-key")


def uts(service):
    return Uts(f"{service.url}/rest", web=Web(timeout_seconds=2, retries=0))


def nothing(request):
    return web.json_response({"name": "NotFoundError", "message": "No results.", "status": 404}, status=404)


async def test_the_first_concept_is_described_with_definition_and_relations():
    async with serving(ANSWERS) as service:
        concept = await uts(service).find("asthma")
    assert (concept.cui, concept.name, concept.source) == ("C0004096", "Asthma", "MSH")
    assert concept.definitions == {"NCI": "A chronic disease.", "MSH": "Airways narrow."}
    assert concept.relations == (("Asthma", "has_finding_site", "Bronchi"), ("Asthma", "RB", "Cough"))
    assert service.asked[0] == (SEARCH, {"string": "asthma", "pageSize": "1", "apiKey": "hidden-key"})
    assert {path: asked.get("pageSize") for path, asked in service.asked[1:]}[f"{CONTENT}/relations"] == "5"


async def test_a_concept_may_have_neither():
    async with serving({SEARCH: HIT, f"{CONTENT}/definitions": nothing, f"{CONTENT}/relations": nothing}) as service:
        concept = await uts(service).find("asthma")
    assert concept.definitions == {} and concept.relations == ()


@each_row("answer", [found(), found({"ui": "NONE", "name": "NO RESULTS"}), nothing])
async def test_no_concept_is_empty(answer):
    async with serving({SEARCH: answer}) as service:
        with pytest.raises(ToolError) as caught:
            await uts(service).find("zebra")
    assert caught.value.label == "empty"


@each_row(
    "answers",
    [{}, {SEARCH: {"oops": 1}}, {SEARCH: "<html>"}, {SEARCH: HIT}, {SEARCH: lambda r: web.Response(status=401)}],
)
async def test_a_failing_service_is_unavailable_and_the_key_stays_hidden(answers):
    async with serving(answers) as service:
        with pytest.raises(ToolError) as caught:
            await uts(service).find("asthma")
    assert caught.value.label == "unavailable" and "hidden-key" not in str(caught.value)


def test_a_key_is_needed(monkeypatch):
    assert Uts().missing == ""
    monkeypatch.delenv("UMLS_API_KEY")
    assert "UMLS_API_KEY" in Uts().missing
    with pytest.raises(ConfigError, match="base_url"):
        Uts("uts")
