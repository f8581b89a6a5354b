"""An ASGI application behind a route of aiohttp."""

import asyncio

import aiohttp
from aiohttp import web

from components.serving import bridge, endpoint


async def test_an_application_streams_and_learns_that_its_client_left():
    seen = asyncio.Queue()

    async def app(scope, receive, send):
        body = await receive()
        seen.put_nowait((scope["method"], scope["path"], dict(scope["headers"])[b"x-one"], body["body"]))
        await send({"type": "http.response.start", "status": 202, "headers": [(b"X-Two", b"2")]})
        await send({"type": "http.response.body", "body": b"first", "more_body": True})
        seen.put_nowait((await receive())["type"])
        await send({"type": "http.response.body", "body": b"nobody reads this"})
        seen.put_nowait("the end")

    served = web.Application()
    served.router.add_route("*", "/mcp", bridge.route(app))
    runner, url = await endpoint.listen(served, "127.0.0.1", 0)
    async with aiohttp.ClientSession() as session:
        async with session.post(f"{url}/mcp", data=b"body", headers={"X-One": "1"}) as reply:
            assert (reply.status, reply.headers["X-Two"]) == (202, "2")
            assert await reply.content.readexactly(5) == b"first"
        assert await seen.get() == ("POST", "/mcp", b"1", b"body")
        assert await asyncio.wait_for(seen.get(), 5) == "http.disconnect"
        assert await asyncio.wait_for(seen.get(), 5) == "the end"
    await runner.cleanup()
