"""The bare loops that ours is compared with: the same prompts, nothing recorded, nothing bounded."""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager
from typing import Any, cast
from urllib.parse import urlsplit

import orjson

from benchmarks import panel_tasks
from benchmarks.processes import Usage, measured, resident_mb
from benchmarks.tasks import CALLS, Questions

Chat = Callable[[list[dict[str, str]]], Awaitable[str]]


def run_loop(main: Coroutine[Any, Any, Usage], uvloop: bool) -> Usage:
    """Run on the wanted loop."""
    if not uvloop:
        return asyncio.run(main)
    usage: Usage = importlib.import_module("uvloop").run(main)
    return usage


async def _converse(chat: Chat, system: str, questions: Iterator[str]) -> None:
    """Take questions until none is left; each is a conversation of as many calls as ours."""
    for question in questions:
        messages = [{"role": "system", "content": system}, {"role": "user", "content": question}]
        for n in range(CALLS):
            reply = await chat(messages)
            messages.append({"role": "assistant", "content": reply})
            messages.append({"role": "user", "content": f"Observation: p{n}: within limits on day 3 (SI); no note."})


async def _all(chat: Chat, samples: int, connections: int) -> Usage:
    """Warm up with one conversation, then measure all."""
    asked = Questions(samples)
    system = asked.system()
    await _converse(chat, system, iter([asked.question(-1)]))
    questions = (asked.question(n) for n in range(samples))
    with measured() as usage:
        await asyncio.gather(*(_converse(chat, system, questions) for _ in range(min(samples, connections))))
    return usage


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


def httptools_loop(url: str, samples: int, connections: int, uvloop: bool) -> dict[str, float]:
    """The conversations over connections that are parsed by httptools."""
    importlib.import_module("httptools")  # its import belongs to the libraries, not to the loop

    async def main() -> Usage:
        async with _parsed(url, connections, model="bench", temperature=0.0, max_tokens=512) as chat:
            return await _all(chat, samples, connections)

    base = resident_mb()
    return run_loop(main(), uvloop).figures(base)


def aiohttp_loop(url: str, samples: int, connections: int, uvloop: bool) -> dict[str, float]:
    """The conversations over a pooled session."""
    import aiohttp  # noqa: F401 - its import belongs to the libraries, not to the loop

    async def main() -> Usage:
        async with _pooled(url, connections, model="bench", temperature=0.0, max_tokens=512) as chat:
            return await _all(chat, samples, connections)

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
            return await _all(chat, samples, connections)
        finally:
            await litellm.close_litellm_async_clients()

    base = resident_mb()
    return run_loop(main(), uvloop).figures(base)


def inspect_loop(url: str, samples: int, connections: int, uvloop: bool) -> dict[str, float]:
    """inspect_ai playing the same conversations through its OpenAI-compatible provider, where it is installed."""
    import os

    os.environ |= {"BENCH_API_KEY": "not-needed", "BENCH_BASE_URL": url, "INSPECT_DISPLAY": "none"}
    library, data, model, solving = (
        importlib.import_module(f"inspect_ai{part}") for part in ("", ".dataset", ".model", ".solver")
    )
    asked = Questions(samples)
    base = resident_mb()

    @solving.solver  # type: ignore[untyped-decorator]  # an optional library, imported by name
    def stepper() -> Any:
        async def solve(state: Any, generate: Any) -> Any:
            for n in range(CALLS):
                state = await generate(state)
                state.messages.append(model.ChatMessageUser(content=f"Observation: p{n}: within limits on day 3."))
            return state

        return solve

    rows = [data.Sample(input=asked.question(n)) for n in range(samples)]
    task = library.Task(dataset=data.MemoryDataset(rows), solver=[solving.system_message(asked.system()), stepper()])
    with measured() as usage:
        library.eval(
            task, model="openai-api/bench/bench", max_connections=connections, max_samples=connections,
            max_tokens=512, temperature=0.0, log_dir=os.environ["TMPDIR"],
        )  # fmt: skip
    return usage.figures(base)
