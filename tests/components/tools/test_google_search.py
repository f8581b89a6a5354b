from dataclasses import dataclass, field

import orjson
import pytest

from components.core.errors import ToolError
from components.core.tools import Tool
from components.tools.google_search import GoogleSearch, QueryRecord
from components.tools.search_api import SearchApi
from components.tools.web_snapshot import WebPage, WebSnapshot
from tests.components.tools.service import At, serving

LONG = {"url": "https://a.org/1", "title": "Asthma", "paragraphs": [f"Wheeze {n}." for n in range(12)]}
SHORT = {"url": "https://a.org/2", "title": "Gout", "paragraphs": ["Wheeze never."]}
THIRD = {"url": "https://a.org/3", "title": "Flu", "paragraphs": ["A wheeze, fever, cough and aching limbs."]}


@dataclass
class Living:
    """A source that counts how often it is asked."""

    pages: tuple[WebPage, ...]
    missing: str = ""
    effect: str = "external"
    identity: str = "living"
    asked: list[str] = field(default_factory=list)

    async def search(self, query, k):
        self.asked.append(query)
        return self.pages[:k]


@pytest.fixture
def snapshot(tmp_path):
    (tmp_path / "w.jsonl").write_bytes(b"\n".join(map(orjson.dumps, (LONG, SHORT, THIRD))))
    return WebSnapshot(path=str(tmp_path / "w.jsonl"))


async def label_of(tool, query):
    with pytest.raises(ToolError) as caught:
        await tool(At(), query=query)
    return caught.value.label, str(caught.value)


async def test_two_pages_of_ten_paragraphs_are_shown(snapshot):
    found = await GoogleSearch(snapshot)(At(), query="wheeze")
    first, second = found.text.split("\n\n")
    assert first == "Asthma (https://a.org/1)\n" + " ".join(f"Wheeze {n}." for n in range(10))
    assert second == "Gout (https://a.org/2)\nWheeze never."
    assert [page["url"] for page in found.data["pages"]] == ["https://a.org/1", "https://a.org/2"]


async def test_a_page_with_too_few_paragraphs_has_failed(snapshot):
    found = await GoogleSearch(snapshot, least_paragraphs=10)(At(), query="wheeze")
    first, second = found.text.split("\n\n")
    assert first.startswith("Asthma") and second.startswith("Error: cannot read https://a.org/2: The page has too few")
    label, text = await label_of(GoogleSearch(snapshot, least_paragraphs=10), "never")
    assert label == "page_failed" and text.startswith("Error: cannot read https://a.org/2")


async def test_nothing_found_bad_arguments_and_no_source_are_distinguished(snapshot, tmp_path):
    assert (await label_of(GoogleSearch(snapshot), "zebra"))[0] == "empty"
    assert (await label_of(GoogleSearch(snapshot), ""))[0] == "bad_arguments"
    for tool in (GoogleSearch(), GoogleSearch(WebSnapshot(path=str(tmp_path / "x"))), GoogleSearch(SearchApi())):
        label, text = await label_of(tool, "wheeze")
        assert label == "unavailable" and tool.missing in text and tool.missing


async def test_a_services_answers_are_recorded_and_replayed(tmp_path):
    record = QueryRecord(str(tmp_path / "q.jsonl"))
    living = Living((WebPage("https://a.org", "A", ("One",)), WebPage("https://b.org", "B", error="gone")))
    tool = GoogleSearch(living, record)
    texts = {(await tool(At(), query=query)).text for query in ("Heart attack", " heart  ATTACK ")}
    assert texts == {"A (https://a.org)\nOne\n\nError: cannot read https://b.org: gone"} and len(living.asked) == 1
    offline = GoogleSearch(record=QueryRecord(record.path))
    assert {(await offline(At(), query="heart attack")).text} == texts and offline.effect == "pure"
    assert await label_of(offline, "other") == (
        "unavailable", "GoogleSearch has no recorded answer to 'other', and only recorded queries are answered.",
    )  # fmt: skip
    without_key = GoogleSearch(SearchApi(), QueryRecord(record.path))
    assert {(await without_key(At(), query="heart attack")).text} == texts
    assert "BRAVE_API_KEY" in (await label_of(without_key, "other"))[1]


async def test_an_empty_answer_is_recorded_and_a_failed_one_is_not(tmp_path):
    record = QueryRecord(str(tmp_path / "q.jsonl"))
    assert (await label_of(GoogleSearch(Living(()), record), "none"))[0] == "empty"
    failed = Living((WebPage("https://b.org", "B", error="gone"),))
    assert (await label_of(GoogleSearch(failed, record), "broken"))[0] == "page_failed"
    assert record.get("none") == () and record.get("broken") is None


async def test_a_snapshot_is_not_recorded(snapshot, tmp_path):
    record = QueryRecord(str(tmp_path / "q.jsonl"))
    await GoogleSearch(snapshot, record)(At(), query="wheeze")
    assert not record.place.exists()


async def test_it_works_through_a_real_service(monkeypatch):
    monkeypatch.setenv("BRAVE_API_KEY", "k")

    def results(request):
        from aiohttp import web

        return web.json_response({"web": {"results": [{"title": "A", "url": f"{request.url.origin()}/a"}]}})

    async with serving({"/search": results, "/a": "<p>One</p><p>Two</p>"}) as service:
        found = await GoogleSearch(SearchApi(f"{service.url}/search", domains=("127.0.0.1",)))(At(), query="x")
        assert found.text == f"A ({service.url}/a)\nOne Two"


def test_it_is_a_tool_with_the_effect_of_its_source(snapshot):
    tool, remote = GoogleSearch(snapshot), GoogleSearch(SearchApi(domains=("b.org", "a.org")))
    assert isinstance(tool, Tool) and tool.spec.name == "GoogleSearch" and tool.spec.facts == {"dimension": "knowledge"}
    assert (tool.effect, remote.effect) == ("pure", "external")
    assert remote.identity == GoogleSearch(SearchApi(domains=("a.org", "b.org"))).identity
    assert remote.identity != GoogleSearch(SearchApi()).identity
