import pytest

from components.core.errors import ConfigError, ToolError
from components.tools.rxnav import RxNav
from components.tools.web import Web
from tests.components.tools.service import serving
from tests.table import each_row


def concepts(*names):
    return [{"rxcui": str(n), "name": name, "synonym": "", "language": "ENG"} for n, name in enumerate(names)]


ANSWERS = {
    "/REST/rxcui.json": {"idGroup": {"name": "warfarin", "rxnormId": ["11289", "1"]}},
    "/REST/rxcui/11289/properties.json": {"properties": {"rxcui": "11289", "name": "warfarin", "tty": "IN"}},
    "/REST/rxcui/11289/related.json": {
        "relatedGroup": {
            "rxcui": None,
            "termType": ["BN", "SCD"],
            "conceptGroup": [
                {"tty": "BN", "conceptProperties": concepts("Jantoven", "Coumadin")},
                {
                    "tty": "SCD",
                    "conceptProperties": concepts(
                        "warfarin sodium 1 MG Oral Tablet",
                        "warfarin sodium 2 MG/ML Injectable Solution",
                        "a 1 MG / b 2 MG Oral Tablet",
                    ),
                },
                {"tty": "SBD"},
            ],
        }
    },
}
NONE = {"/REST/rxcui.json": {"idGroup": {"name": "warfrin"}}}
LIKE = {"approximateGroup": {"inputTerm": "warfrin", "candidate": [
    {"rxcui": "1", "score": "9.1", "rank": "1", "name": "Warfarin", "source": "RXNORM"},
    {"rxcui": "1", "score": "9.1", "rank": "1", "source": "GS"},
    {"rxcui": "2", "score": "5.0", "rank": "2", "name": "Heparin", "source": "RXNORM"},
]}}  # fmt: skip


def rxnav(service, **options):
    return RxNav(f"{service.url}/REST", web=Web(timeout_seconds=2, retries=0), **options)


async def test_a_concept_is_read_as_a_drug():
    async with serving(ANSWERS) as service:
        found = await rxnav(service).find("Coumadin")
    assert (found.drug.name, found.match) == ("warfarin", "exact")
    assert found.drug.synonyms == ("Coumadin", "Jantoven") and found.drug.indication is None
    assert found.drug.dosages == (
        {"from": "a 1 MG / b 2 MG Oral Tablet", "route": None, "strength": None},
        {"from": "Oral Tablet", "route": None, "strength": "1 MG"},
        {"from": "Injectable Solution", "route": None, "strength": "2 MG/ML"},
    )
    assert service.asked[0] == ("/REST/rxcui.json", {"name": "Coumadin", "search": "2"})
    assert service.asked[2][1] == {"tty": "BN SCD"}


async def test_an_unknown_name_gets_the_closest_names():
    async with serving({**NONE, "/REST/approximateTerm.json": LIKE}) as service:
        with pytest.raises(ToolError, match="closest names are: Warfarin, Heparin") as caught:
            await rxnav(service).find("warfrin")
    assert caught.value.label == "not_found"


async def test_no_name_is_like_it():
    async with serving({**NONE, "/REST/approximateTerm.json": {"approximateGroup": {"inputTerm": None}}}) as service:
        with pytest.raises(ToolError, match=r"called 'zz'\.$"):
            await rxnav(service).find("zz")


@each_row("answers", [{}, {"/REST/rxcui.json": {}}, {"/REST/rxcui.json": "<xml/>"}])
async def test_a_failing_service_is_unavailable(answers):
    async with serving(answers) as service:
        with pytest.raises(ToolError) as caught:
            await rxnav(service).find("x")
    assert caught.value.label == "unavailable"


def test_a_base_url_is_checked():
    with pytest.raises(ConfigError, match="base_url"):
        RxNav("")
