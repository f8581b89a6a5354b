"""MLflow's server, whose pages open with the assistant closed and without the guidance over the list of traces.

MLflow opens its assistant at the first visit of a page that this machine serves, unless the browser has stored that it
did so before, and darkens the list of traces likewise; so it says that it collects usage data, which it does not here.
No setting of MLflow 3.17 prevents it. The start page stores that. The buttons stay.
"""

from collections.abc import Awaitable, Callable, MutableMapping
from functools import cache, partial
from typing import Any

Message = MutableMapping[str, Any]
Send = Callable[[Message], Awaitable[None]]

STORED = b"".join(
    b'<script>localStorage.setItem("%s_v1", "true")</script>' % key
    for key in (
        b"mlflow.assistant.fab.autoOpenedOnFirstLoad",
        b"mlflow.detectIssues.guidanceShown",
        b"mlflow.telemetry.info.alert.dismissed",
    )
)


class Page:
    """An ASGI application before that which ``find`` returns. MLflow's own is imported by the first request, since the
    command line reads this module, too."""

    def __init__(self, find: Callable[[], Any]) -> None:
        self._find = find

    async def __call__(self, scope: Message, receive: Callable[[], Awaitable[Message]], send: Send) -> None:
        """Answer a request."""
        await self._find()(scope, receive, partial(_send_start_page, send) if scope.get("path") == "/" else send)


@cache
def _application() -> Any:
    from mlflow.server.fastapi_app import app as application

    return application


async def _send_start_page(send: Send, message: Message) -> None:
    if message["type"] == "http.response.start":
        headers = [pair for pair in message["headers"] if pair[0].lower() != b"content-length"]
        message = {**message, "headers": headers}
    elif body := message.get("body"):
        message = {**message, "body": body.replace(b"<head>", b"<head>" + STORED, 1)}
    await send(message)


app = Page(_application)
