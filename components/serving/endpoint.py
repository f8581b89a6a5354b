"""An OpenAI-compatible HTTP endpoint, whoever answers: paths, requests, replies whole or streamed, errors."""

import hmac
import time
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping
from typing import Any, Protocol

import orjson
from aiohttp import web
from aiohttp.typedefs import Handler

from components.core.messages import JSON, Completion
from components.serving import chat_api, responses_api
from components.serving.chat_api import ChatRequest

Complete = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Unreadable(Exception):
    """The body of a request is not one of the API's."""


class Api(Protocol):
    """How an API's requests and replies look (modules chat_api, responses_api)."""

    def read(self, body: Any, /) -> ChatRequest: ...

    def write(self, completion: Completion, number: int, model: str, created: int, /) -> dict[str, Any]: ...

    def write_events(self, reply: JSON, usage: bool, /) -> Iterator[bytes]: ...


_APIS: Mapping[str, Api] = {"/v1/chat/completions": chat_api, "/v1/responses": responses_api}


def read_request(raw: bytes, api: Api = chat_api) -> ChatRequest:
    """The request in a body, its parts with their digests. Raises Unreadable; later failures are the server's."""
    try:
        request = api.read(orjson.loads(raw))
        _ = [one.digest for one in request.messages], [one.digest for one in request.tools]
        return request
    except KeyError as error:
        raise Unreadable(f"{error.args[0]!r} is missing, or has a value that is not supported") from None
    except (TypeError, AttributeError):  # whose texts are about this program
        raise Unreadable("a part is of another type than in OpenAI's API") from None
    except ValueError as error:
        raise Unreadable(str(error)) from None


def application(names: Collection[str], complete: Complete, *middlewares: Any) -> web.Application:
    """An application with the list of models, and both APIs, whose requests go to ``complete``."""

    async def models(request: web.Request) -> web.Response:
        listed = [{"id": name, "object": "model", "created": 0, "owned_by": "wardround"} for name in names]
        if (name := request.match_info.get("name")) is None:
            return web.json_response({"object": "list", "data": listed})
        return next((web.json_response(one) for one in listed if one["id"] == name), unknown_model(name, names))

    app = web.Application(client_max_size=64 << 20, middlewares=[_explain_refusal, *middlewares])
    for path in _APIS:
        app.router.add_post(path, complete)
    app.router.add_get("/v1/models", models)
    app.router.add_get("/v1/models/{name:.+}", models)
    return app


async def listen(app: web.Application, host: str, port: int) -> tuple[web.AppRunner, str]:
    """Listen; port 0 picks a free one. Returns what to clean up, and the address."""
    runner = web.AppRunner(app, access_log=None, handler_cancellation=True, shutdown_timeout=1.0)
    await runner.setup()
    await web.TCPSite(runner, host, port, backlog=4096).start()
    return runner, f"http://{host}:{runner.addresses[0][1]}"


async def read(request: web.Request) -> ChatRequest:
    """The request of whichever API was asked. Raises Unreadable."""
    return read_request(await request.read(), _APIS[request.path])


async def write(
    request: web.Request, chat: ChatRequest, completion: Completion, number: int, model: str
) -> web.StreamResponse:
    """The reply in the form of the API that was asked, streamed on request."""
    api = _APIS[request.path]
    reply = api.write(completion, number, model, int(time.time()))
    if not chat.stream:
        return web.Response(body=orjson.dumps(reply), content_type="application/json")
    stream = web.StreamResponse(headers={"Content-Type": "text/event-stream", "Cache-Control": "no-cache"})
    await stream.prepare(request)
    for event in api.write_events(reply, chat.usage_in_stream):
        await stream.write(event)
    return stream


def has_token(request: web.Request, token: str) -> bool:
    """Whether a request is authorized by a token; compared in a time that says nothing."""
    sent = request.headers.get("Authorization", "").removeprefix("Bearer ")
    return hmac.compare_digest(sent.encode("utf-8", "surrogateescape"), token.encode())


def unknown_model(name: str, names: Collection[str]) -> web.Response:
    """The refusal of a model that is not served."""
    text = f"The model `{name}` does not exist; this server has {', '.join(names)}"
    return refusal(404, text, "invalid_request_error", "model_not_found")


@web.middleware
async def _explain_refusal(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Report unknown paths, wrong methods and bodies that are too large or unreadable in the API's form."""
    try:
        return await handler(request)
    except Unreadable as error:
        return refusal(400, f"unreadable request: {error}", "invalid_request_error")
    except web.HTTPClientError as error:
        return refusal(error.status, f"{error.reason}: {request.method} {request.path}", "invalid_request_error")


def refusal(status: int, text: str, kind: str, code: str | int | None = None) -> web.Response:
    """An error in the API's form."""
    body = orjson.dumps({"error": {"message": text, "type": kind, "param": None, "code": code or status}})
    return web.Response(status=status, body=body, content_type="application/json")
