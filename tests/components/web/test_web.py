import asyncio

import pytest
from aiohttp import web
from yarl import URL

from components.core.errors import ConfigError, ToolError
from components.tools.uts import Uts
from components.web import Web, base, is_public
from tests.components.tools.service import serving
from tests.table import each_row

QUICK = Web(timeout_seconds=2, retries=2, first_wait_seconds=0.01)


def failing(times, status, then="fine", **headers):
    left = [times]

    def answer(request):
        left[0] -= 1
        return web.Response(status=status, headers=headers) if left[0] >= 0 else web.Response(text=then)

    return answer


async def test_gets_text_and_json_with_parameters_and_headers():
    async with serving({"/a": {"n": 1}}) as service:
        reply = await QUICK.get(base(service.url) / "a", {"q": "ä b&c"}, {"X-Key": "k"})
    assert reply.find(dict) == {"n": 1} and reply.status == 200
    assert service.asked == [("/a", {"q": "ä b&c"})] and service.headers[0]["X-Key"] == "k"


async def test_posts_json():
    async with serving({"/a": lambda request: web.Response(text="ok", status=201)}) as service:
        reply = await QUICK.post(base(service.url) / "a", {"text": "x"}, {})
    assert reply.text == "ok" and service.bodies == [b'{"text":"x"}']


async def test_passwords_of_the_users_other_programs_are_not_sent(monkeypatch, tmp_path):
    (tmp_path / "netrc").write_text("default login me password hidden\n")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    async with serving({"/a": {"n": 1}}) as service:
        await QUICK.get(base(service.url) / "a")
        await QUICK.post(base(service.url) / "a", {}, {"Authorization": "Bearer k"})
    assert [headers.get("Authorization") for headers in service.headers] == [None, "Bearer k"]


async def test_a_proxy_of_the_environment_is_used(monkeypatch):
    async with serving({"/a": {"n": 1}}) as proxy:
        monkeypatch.setenv("http_proxy", proxy.url)
        monkeypatch.delenv("no_proxy", raising=False)
        reply = await QUICK.get(base("http://somewhere.example") / "a")
    assert reply.find(int, "n") == 1


@each_row("status", [429, 500, 503])
async def test_a_transient_failure_is_retried(status):
    async with serving({"/a": failing(2, status)}) as service:
        assert (await QUICK.get(base(service.url) / "a")).text == "fine"
    assert len(service.asked) == 3


async def test_retries_are_bounded():
    async with serving({"/a": failing(9, 503, **{"Retry-After": "0"})}) as service:
        with pytest.raises(ToolError, match="status 503") as caught:
            await QUICK.get(base(service.url) / "a")
    assert len(service.asked) == 3 and caught.value.label == "unavailable"


@each_row("status", [400, 401, 403, 404, 302])
async def test_a_permanent_failure_is_reported_at_once_without_the_address(status):
    async with serving({"/a": failing(9, status, Location="/b")}) as service:
        with pytest.raises(ToolError, match=f"status {status}") as caught:
            await QUICK.get(base(service.url) / "a", {"apiKey": "hidden"})
    assert len(service.asked) == 1
    assert "hidden" not in str(caught.value) and "127.0.0.1" in str(caught.value)


async def test_a_status_may_be_an_answer():
    async with serving({}) as service:
        assert (await QUICK.get(base(service.url) / "a", accept=(404,))).status == 404


async def test_a_reset_connection_is_tried_again():
    resets = [1]

    def answer(request):
        if resets.pop() if resets else 0:
            request.transport.abort()
        return web.Response(text="fine")

    async with serving({"/a": answer}) as service:
        assert (await QUICK.get(base(service.url) / "a")).text == "fine"


async def test_a_refused_connection_is_unavailable():
    async with serving({}) as service:
        url = service.url
    with pytest.raises(ToolError, match="no connection") as caught:
        await QUICK.get(base(url) / "a", {"apiKey": "hidden"})
    assert caught.value.label == "unavailable" and "hidden" not in str(caught.value)


async def test_a_slow_answer_times_out():
    async def slow(request):
        await asyncio.sleep(5)

    async with serving({"/a": slow}) as service:
        with pytest.raises(ToolError, match=r"within 0\.1 s"):
            await Web(timeout_seconds=0.1, retries=0).get(base(service.url) / "a")


async def test_a_large_answer_is_refused():
    async with serving({"/a": "x" * 5000}) as service:
        with pytest.raises(ToolError, match=r"larger than 1,000 bytes"):
            await Web(longest_reply_bytes=1000).get(base(service.url) / "a")


async def test_a_reply_that_is_not_json_is_reported():
    async with serving({"/a": "<html>"}) as service:
        reply = await QUICK.get(base(service.url) / "a")
    with pytest.raises(ToolError, match="not JSON") as caught:
        reply.find(dict)
    assert caught.value.label == "unavailable"


@each_row("url", ["", "example.org", "http://[", "ftp://example.org", "https://u:p@example.org", "https://a?key=1"])
def test_a_base_url_is_checked(url):
    with pytest.raises(ConfigError, match="base_url"):
        base(url)


def test_keys_come_from_the_environment(monkeypatch):
    monkeypatch.delenv("UMLS_API_KEY", raising=False)
    assert Uts().missing.endswith("needs a key in the environment variable UMLS_API_KEY, which is not set")
    monkeypatch.setenv("UMLS_API_KEY", " k ")
    assert Uts().key == "k" and Uts().missing == ""


@each_row("host", ["127.0.0.1", "10.0.0.1", "::1", "::ffff:127.0.0.1", "64:ff9b::7f00:1", "169.254.169.254"])
def test_addresses_that_are_not_public(host):
    assert not is_public(host) and is_public("8.8.8.8") and is_public("2606:4700::1")


async def test_names_that_lead_to_this_machine_are_not_asked():
    with pytest.raises(ToolError, match="localhost"):
        await Web(public_only=True, retries=0).get(URL("http://localhost:9/"))
