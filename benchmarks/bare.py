"""The bare loops that ours is compared with: the same prompts, nothing recorded, nothing bounded."""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any, cast
from urllib.parse import urlsplit

import orjson

from benchmarks import panel_tasks
from benchmarks.conversations import Chat, Prompts, converse
from benchmarks.processes import Usage, measured, resident_mb
from benchmarks.tasks import ANSWER, CALLS, Questions, action


def run_loop(main: Coroutine[Any, Any, Usage], uvloop: bool) -> Usage:
    """Run on the wanted loop."""
    if not uvloop:
        return asyncio.run(main)
    usage: Usage = importlib.import_module("uvloop").run(main)
    return usage


def prompts(samples: int) -> Prompts:
    """The texts of so many conversations, which are those of ours."""
    asked = Questions(samples)
    replies = [*(action(n) for n in range(CALLS - 1)), f"Action: {ANSWER}"]
    return Prompts(asked.system(), [asked.question(n) for n in range(samples)], replies)


async def _panel(chat: Chat, model: str, question: str) -> None:
    """Decide a question by as many calls in as many waves as ours, each shown the last texts that were no votes."""
    known: list[str] = []
    for wave in panel_tasks.waves(model):
        asked = "\n\n".join([*known, question, wave.form])
        messages = [{"role": "system", "content": "You are a specialist."}, {"role": "user", "content": asked}]
        replies = await asyncio.gather(*(chat(messages) for _ in range(wave.calls)))
        known = known if replies[0] in ("YES", "NO") else replies


@asynccontextmanager
async def _pooled(url: str, connections: int, **fixed: Any) -> AsyncIterator[Chat]:
    """A pooled aiohttp session and nothing else."""
    import aiohttp

    connector = aiohttp.TCPConnector(limit=connections)
    timeout = aiohttp.ClientTimeout(total=120)
    headers = {"Content-Type": "application/json"}
    async with aiohttp.ClientSession(connector=connector, timeout=timeout, headers=headers) as session:

        async def chat(messages: list[dict[str, str]]) -> str:
            body = orjson.dumps({**fixed, "messages": messages})
            async with session.post(f"{url}/chat/completions", data=body) as response:
                reply = orjson.loads(await response.read())
            return str(reply["choices"][0]["message"]["content"])

        yield chat


class _Exchange(asyncio.Protocol):
    """One reply after another on one connection, and nothing of HTTP that the benchmark's server does not use."""

    def __init__(self, parser: Callable[[Any], Any]) -> None:
        self.parser = parser(self)
        self.reply: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep what is written to."""
        self.transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        """Parse."""
        self.parser.feed_data(data)

    def on_body(self, body: bytes) -> None:
        """The body arrives in one piece."""
        self.reply.set_result(body)


@asynccontextmanager
async def _parsed(url: str, connections: int, **fixed: Any) -> AsyncIterator[Chat]:
    """Httptools on a protocol of asyncio, the fastest client that was found; it reads complete small replies only."""
    parser = importlib.import_module("httptools").HttpResponseParser
    loop, parts, idle = asyncio.get_running_loop(), urlsplit(url), list[_Exchange]()
    head = f"POST {parts.path}/chat/completions HTTP/1.1\r\nHost: {parts.netloc}\r\nContent-Length: ".encode()

    async def chat(messages: list[dict[str, str]]) -> str:
        body = orjson.dumps({**fixed, "messages": messages})
        if idle:
            exchange = idle.pop()
        else:
            _, exchange = await loop.create_connection(
                lambda: _Exchange(parser), parts.hostname or "", parts.port or 80
            )
        exchange.reply = loop.create_future()
        exchange.transport.write(b"%s%d\r\n\r\n%s" % (head, len(body), body))
        reply = orjson.loads(await exchange.reply)
        idle.append(exchange)
        return str(reply["choices"][0]["message"]["content"])

    yield chat
    for exchange in idle:
        exchange.transport.close()


@asynccontextmanager
async def _client(url: str, connections: int, **fixed: Any) -> AsyncIterator[Chat]:
    """The HTTP client of model calls and nothing else of ours."""
    from components.models.http_client import HttpClient

    client = HttpClient(f"{url}/chat/completions", {"Content-Type": "application/json"})

    async def chat(messages: list[dict[str, str]]) -> str:
        reply = orjson.loads((await client.post(orjson.dumps({**fixed, "messages": messages}))).body)
        return str(reply["choices"][0]["message"]["content"])

    yield chat
    await client.close()


_LIBRARIES = {"httptools": ("httptools", _parsed), "aiohttp": ("aiohttp", _pooled),
              "client": ("components.models.http_client", _client)}  # fmt: skip


def loop(url: str, samples: int, connections: int, uvloop: bool, by: str) -> dict[str, float]:
    """The conversations ``by`` httptools, aiohttp or our client."""
    library, opened = _LIBRARIES[by]
    importlib.import_module(library)  # its import belongs to the libraries, not to the loop

    async def main() -> Usage:
        async with opened(url, connections, model="bench", temperature=0.0, max_tokens=512) as chat:
            return await converse(chat, prompts(samples), connections)

    base = resident_mb()
    return run_loop(main(), uvloop).figures(base)


def panel_loop(url: str, samples: int, connections: int, uvloop: bool, name: str) -> dict[str, float]:
    """The panels over a pooled session, all questions at once."""
    import aiohttp  # noqa: F401 - as above

    async def main() -> Usage:
        async with _pooled(url, connections, model=name, temperature=1.0, max_tokens=2500) as chat:
            await _panel(chat, name, panel_tasks.question(samples))
            with measured() as usage:
                await asyncio.gather(*(_panel(chat, name, panel_tasks.question(n)) for n in range(samples)))
            return usage

    base = resident_mb()
    return run_loop(main(), uvloop).figures(base)


def litellm_loop(url: str, samples: int, connections: int, uvloop: bool) -> dict[str, float]:
    """``litellm.acompletion`` with the same flags and model string as our transport."""
    from components.models.litellm_chat import LitellmChat

    transport = LitellmChat("hosted_vllm/bench", url, "not-needed")
    litellm, fixed = transport._litellm, transport._fixed

    async def chat(messages: list[dict[str, str]]) -> str:
        reply = await litellm.acompletion(**fixed, messages=messages, temperature=0.0, max_tokens=512, seed=1)
        return str(reply.choices[0].message.content)

    async def main() -> Usage:
        try:
            return await converse(chat, prompts(samples), connections)
        finally:
            await litellm.close_litellm_async_clients()

    base = resident_mb()
    return run_loop(main(), uvloop).figures(base)
