import pytest
from aiohttp import web

from components.core.errors import ConfigError, ToolError
from components.tools.search_api import SearchApi
from components.web import Web
from tests.components.tools.service import serving
from tests.table import each_row

SEARCH = "/res/v1/web/search"
QUICK = Web(timeout_seconds=2, retries=0)


@pytest.fixture(autouse=True)
def _key(monkeypatch):
    monkeypatch.setenv("BRAVE_API_KEY", "hidden-key")


def api(service, **options):
    return SearchApi(f"{service.url}{SEARCH}", **{"web": QUICK, "domains": ("127.0.0.1",), **options})


def results(*paths):
    def answer(request):
        rows = [
            {"title": f"T {path}", "url": path if "://" in path else f"{request.url.origin()}{path}"} for path in paths
        ]
        return web.json_response({"type": "search", "web": {"results": [*rows, {"title": "no address"}, "odd"]}})

    return answer


def page(*paragraphs):
    return "<title>Own</title>" + "".join(f"<p>{text}</p>" for text in paragraphs)


async def test_pages_are_found_and_read():
    async with serving({SEARCH: results("/a", "/b", "/c"), "/a": page("One", "Two"), "/b": page()}) as service:
        found = await api(service, parameters={"country": "GB"}).search("heart attack", 2)
    assert [(one.title, one.paragraphs, one.error) for one in found] == [("T /a", ("One", "Two"), ""), ("T /b", (), "")]
    assert service.asked[0] == (SEARCH, {"q": "heart attack", "count": "20", "country": "GB"})
    assert service.headers[0]["X-Subscription-Token"] == "hidden-key"
    assert all("X-Subscription-Token" not in headers for headers in service.headers[1:])
    assert sorted(service.paths) == ["/a", "/b", SEARCH]


async def test_another_service_differs_in_names():
    def answer(request):
        return web.json_response({"items": [{"link": f"{request.url.origin()}/a", "name": "N"}]})

    async with serving({SEARCH: answer, "/a": page("One")}) as service:
        other = api(
            service, key_in="parameter", key_name="key", query="query", count="num", n_results=5, results="items",
            url="link", title="name",
        )  # fmt: skip
        (found,) = await other.search("x", 2)
    assert found.title == "N" and found.paragraphs == ("One",)
    assert service.asked[0][1] == {"query": "x", "num": "5", "key": "hidden-key"}


async def test_a_page_that_cannot_be_read_says_why():
    async with serving({SEARCH: results("/a", "/b"), "/b": page("One")}) as service:
        failed, read = await api(service).search("x", 2)
    assert "status 404" in failed.error and failed.paragraphs == () and read.error == ""


async def test_only_allowed_domains_are_read():
    addresses = ("https://evil.org/a", "ftp://127.0.0.1/a", "https://127.0.0.1.evil.org", "http://[broken", "/ok")
    async with serving({SEARCH: results(*addresses), "/ok": page("One")}) as service:
        (found,) = await api(service).search("x", 5)
    assert found.url.endswith("/ok")


@each_row(
    "address, allowed",
    [
        ("https://a.example.org/x", True),
        ("http://127.0.0.1/x", False),
        ("http://[::1]/x", False),
        ("http://169.254.169.254/x", False),
        ("http://192.168.0.1/x", False),
        ("http://8.8.8.8/x", True),
        ("http://localhost/x", False),
        ("http://printer.local/x", False),
        ("file:///etc/passwd", False),
    ],
)
def test_without_domains_only_public_hosts_are_read(address, allowed):
    assert (SearchApi()._allowed(address) is not None) == allowed


def test_a_domain_holds_those_below_it():
    some = SearchApi(domains=("nih.gov",))
    assert some._allowed("https://www.nih.gov/x") and some._allowed("https://nih.gov")
    assert some._allowed("https://notnih.gov/x") is None


async def test_redirects_are_followed_within_the_domains_only():
    def to(place):
        return lambda request: web.Response(status=302, headers={"Location": place})

    answers = {
        SEARCH: results("/near", "/far", "/ring"), "/near": to("/a"), "/far": to("https://evil.org/a"),
        "/ring": to("/ring"), "/a": page("One"),
    }  # fmt: skip
    async with serving(answers) as service:
        near, far, ring = await api(service).search("x", 3)
    assert near.paragraphs == ("One",) and near.url.endswith("/near")
    assert "nothing may be read" in far.error and "too often" in ring.error


@each_row("answer", [{"type": "search"}, {"web": {"results": []}}, {"web": None}])
async def test_an_empty_result_gives_no_pages(answer):
    async with serving({SEARCH: answer}) as service:
        assert await api(service).search("x", 2) == []


@each_row("answer", [["odd"], "<html>", lambda request: web.Response(status=401)])
async def test_a_failing_service_is_unavailable_and_the_key_stays_hidden(answer):
    async with serving({SEARCH: answer}) as service:
        with pytest.raises(ToolError) as caught:
            await api(service, key_in="parameter", key_name="key").search("x", 2)
    assert caught.value.label == "unavailable" and "hidden-key" not in str(caught.value)


def test_a_key_is_needed(monkeypatch):
    assert SearchApi().missing == ""
    monkeypatch.delenv("BRAVE_API_KEY")
    assert "BRAVE_API_KEY" in SearchApi().missing
    with pytest.raises(ConfigError, match="base_url"):
        SearchApi("search")
