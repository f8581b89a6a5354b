"""What a program reaches while it solves a problem: the model and the tools of one episode, over HTTP on this machine.

``/v1`` is an OpenAI-compatible endpoint: a request is a verified action of the episode, so that the journal, budgets,
records and verifiers hold. ``/mcp`` is a Model Context Protocol server of the tools that the condition leaves. Both
take the token of the episode alone. Requests are answered one after the other, as are calls of tools.
"""

import asyncio
import secrets
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any, TypeVar

import httpx2
import orjson
from aiohttp import web
from aiohttp.typedefs import Handler
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

from components.core.errors import OVERFLOW, LimitReached, ModelError
from components.core.messages import JSON, Completion, Sampling
from components.core.protocols import Episode
from components.core.tools import Offer
from components.core.types import Observed
from components.serving import endpoint
from components.serving.chat_api import ChatRequest
from components.serving.tools import tool_server

T = TypeVar("T")
_LENGTHS = ("max_completion_tokens", "max_output_tokens", "max_tokens")
_EXTRA = ("response_format", "tool_choice", "parallel_tool_calls", "reasoning_effort", "frequency_penalty",
          "presence_penalty", "top_k")  # fmt: skip


class EpisodeServer:
    """The model and the tools of an episode for one program. ``ended``: the error by which the episode ends;
    ``overflow``: the last request, where it was longer than the model takes, which the program may recover from."""

    def __init__(self, episode: Episode, max_requests: int) -> None:
        self._episode, self._max_requests, self.token = episode, max_requests, secrets.token_urlsafe(24)
        self._asking, self._n, self._requests, self._works = asyncio.Lock(), 0, 0, set[asyncio.Task[Any]]()
        self.ended: asyncio.Future[BaseException] = asyncio.get_running_loop().create_future()
        self.overflow: ModelError | None = None
        self.url = ""

    @property
    def offer(self) -> Offer:
        """What the condition leaves, and what tools added."""
        return self._episode.offer

    @asynccontextmanager
    async def listening(self) -> AsyncIterator[None]:
        """Listen on a free port of this machine; what is still at work at the end is cancelled."""

        async def use_tools(request: web.Request) -> web.Response:
            body = await request.read()
            reply = await asgi.post(str(request.url), content=body, headers=request.raw_headers)
            return web.Response(status=reply.status_code, body=reply.content, content_type="application/json")

        tools = StreamableHTTPSessionManager(tool_server(lambda _: self), json_response=True, stateless=True)
        app = endpoint.application([self._episode.model_name], self._complete, self._check_token)
        app.router.add_post("/mcp", use_tools)
        async with tools.run(), httpx2.AsyncClient(transport=httpx2.ASGITransport(tools.handle_request)) as asgi:
            runner, self.url = await endpoint.listen(app, "127.0.0.1", 0)
            try:
                yield
            finally:  # nothing more is begun
                self._end(ModelError("the program has given its outcome", "program"))
                for work in self._works:
                    work.cancel()
                await asyncio.gather(*self._works, return_exceptions=True)
                await runner.cleanup()

    async def call(self, name: str, arguments: str) -> Observed:
        """Run a call, for the server of tools. Raises ModelError for an error that ends the episode."""
        found = await self._outcome(self._episode.call(name, arguments))
        if isinstance(found, BaseException):
            raise ModelError(f"the episode is over: {found}", "program")
        return found

    @web.middleware
    async def _check_token(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        if not endpoint.has_token(request, self.token):
            return endpoint.refusal(401, "the token is not this episode's", "invalid_request_error", "invalid_api_key")
        self._requests += 1
        if self._requests > self._max_requests:
            text = f"the program made more than {self._max_requests:,} requests (agent.max_requests)"
            self._end(ModelError(text, "program"))
            return _explained(self.ended.result())
        return await handler(request)

    async def _complete(self, request: web.Request) -> web.StreamResponse:
        chat, name = await endpoint.read(request), self._episode.model_name
        if chat.model not in ("", name):
            return endpoint.unknown_model(chat.model, [name])
        if chat.body.get("n") not in (None, 1):
            raise endpoint.Unreadable("n: one reply for each request")
        found = await self._outcome(self._act(chat, sampling_of(chat.body)))
        if isinstance(found, BaseException):
            return _explained(found)
        self.overflow = None  # it recovered
        self._n += 1
        return await endpoint.write(request, chat, found, self._n, name)

    async def _act(self, chat: ChatRequest, sampling: Sampling) -> Completion:
        """The chosen action as a reply, with the usage of the call that proposed it."""
        async with self._asking:
            if self.ended.done():
                raise self.ended.result()
            action = await self._episode.act(chat.messages, sampling, functions=chat.tools)
            step = self._episode.last
        message = action.message
        if action.answer is not None and not message.tool_calls:
            message = replace(message, content=action.answer)
        return Completion(message, step.usage, "tool_calls" if message.tool_calls else step.finish, step.logprobs)

    async def _outcome(self, work: Coroutine[Any, Any, T]) -> T | BaseException:
        """What came of the episode's work, which a program that hangs up does not cancel: it is paid for. Once an error
        has ended the episode, nothing is begun any more."""
        if self.ended.done():
            work.close()
            return self.ended.result()
        task = asyncio.create_task(work)
        self._works.add(task)
        task.add_done_callback(self._note)
        await asyncio.wait({task})
        if task.cancelled():
            return asyncio.CancelledError("it is over")
        return task.exception() or task.result()

    def _note(self, task: asyncio.Task[Any]) -> None:
        """Note how work ended, also where the program no longer waits for it."""
        self._works.discard(task)
        error = None if task.cancelled() else task.exception()
        if isinstance(error, ModelError) and error.kind == OVERFLOW:
            self.overflow = error
        elif error is not None:
            self._end(error)

    def _end(self, error: BaseException) -> None:
        if not self.ended.done():
            self.ended.set_result(error)


def _explained(error: BaseException) -> web.Response:
    """An error as OpenAI would word it, with a status that clients do not try again."""
    if isinstance(error, ModelError) and error.kind == OVERFLOW:
        return endpoint.refusal(400, str(error), "invalid_request_error", "context_length_exceeded")
    if isinstance(error, LimitReached):
        return endpoint.refusal(403, f"the budget is spent: {error}", "insufficient_quota", "budget_exceeded")
    return endpoint.refusal(403, f"the episode is over: {error}", "episode_over")


def sampling_of(body: JSON) -> Sampling:
    """The sampling that a request sets; what chat completions alone have is passed on. Raises Unreadable."""
    stop = body.get("stop") or ()
    temperature, top_p = numbers = [body.get(name) for name in ("temperature", "top_p")]
    length = next((body[name] for name in _LENGTHS if body.get(name) is not None), None)
    if any(not isinstance(one, int | float | None) for one in numbers) or not isinstance(length, int | None):
        raise endpoint.Unreadable("temperature and top_p are numbers, the length of a reply is a whole number")
    if not isinstance(stop, str | list | tuple):
        raise endpoint.Unreadable("stop is a text or a list of texts")
    extra = {name: body[name] for name in _EXTRA if "messages" in body and body.get(name) is not None}
    try:
        orjson.dumps(extra)
    except TypeError:
        raise endpoint.Unreadable(f"{', '.join(extra)}: nested too deeply") from None
    stops = (stop,) if isinstance(stop, str) else tuple(map(str, stop))
    return Sampling(temperature, top_p, length, stops, extra=extra)
