import pytest

from components.core.errors import ConfigError, ToolError
from components.tools.pubmed import PubMed
from components.web import Web
from tests.components.tools.service import serving
from tests.table import each_row

SEARCH, FETCH = "/eutils/esearch.fcgi", "/eutils/efetch.fcgi"
FOUND = {"header": {"type": "esearch"}, "esearchresult": {"count": "3", "idlist": ["12", "7", "9"]}}
ARTICLES = """<?xml version="1.0" ?>
<!DOCTYPE PubmedArticleSet PUBLIC "-//NLM//DTD PubMedArticle//EN" "https://dtd.nlm.nih.gov/ncbi/pubmed/out/p.dtd">
<PubmedArticleSet>
<PubmedArticle><MedlineCitation><PMID Version="1">7</PMID><Article><ArticleTitle>Second <i>of</i> two.</ArticleTitle>
<Abstract><AbstractText Label="AIM">To know.</AbstractText><AbstractText Label="RESULTS">x<sup>2</sup> &gt; 1.</AbstractText>
</Abstract></Article></MedlineCitation></PubmedArticle>
<PubmedArticle><MedlineCitation><PMID Version="1">12</PMID><Article><ArticleTitle>First</ArticleTitle>
<Abstract><AbstractText>One
 text.</AbstractText></Abstract></Article></MedlineCitation></PubmedArticle>
<PubmedArticle><MedlineCitation><PMID Version="1">9</PMID><Article><ArticleTitle>No abstract</ArticleTitle>
</Article></MedlineCitation></PubmedArticle>
</PubmedArticleSet>"""


def pubmed(service, **options):
    return PubMed(f"{service.url}/eutils/", web=Web(timeout_seconds=2, retries=0), **options)


async def test_abstracts_come_in_pubmeds_order_with_labels(monkeypatch):
    monkeypatch.setenv("NCBI_API_KEY", "k1")
    async with serving({SEARCH: FOUND, FETCH: ARTICLES}) as service:
        found = await pubmed(service).search("aim & result", 3)
    assert [(one.id, one.title, one.content, one.score) for one in found] == [
        ("12", "First", "One text.", 1.0),
        ("7", "Second of two.", "AIM: To know. RESULTS: x2 > 1.", 0.5),
    ]
    (path, search), (other, fetch) = service.asked
    assert (path, other) == (SEARCH, FETCH) and fetch["id"] == "12,7,9" and fetch["retmode"] == "xml"
    assert search | {"term": "aim & result", "retmax": "3", "sort": "relevance", "retmode": "json"} == search
    assert search["api_key"] == "k1" and search["db"] == fetch["db"] == "pubmed"


async def test_without_a_hit_nothing_is_fetched():
    async with serving({SEARCH: {"esearchresult": {"count": "0", "idlist": []}}}) as service:
        assert await pubmed(service).search("zebra", 3) == []
    assert service.paths == [SEARCH] and "api_key" not in service.asked[0][1]


@each_row(
    "answers, message",
    [
        ({SEARCH: {"esearchresult": {"ERROR": "Search Backend failed"}}}, "Search Backend failed"),
        ({SEARCH: ["odd"]}, "no list of ids"),
        ({SEARCH: "<html>"}, "not JSON"),
        ({SEARCH: FOUND, FETCH: "<broken"}, "not XML"),
        ({}, "status 404"),
    ],
)
async def test_a_failing_service_is_unavailable(answers, message):
    async with serving(answers) as service:
        with pytest.raises(ToolError, match=message) as caught:
            await pubmed(service).search("x", 3)
    assert caught.value.label == "unavailable"


def test_a_base_url_is_checked():
    with pytest.raises(ConfigError, match="base_url"):
        PubMed("eutils")
