"""A FHIR server that is reached over HTTP. What it answers is untrusted."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import orjson
from yarl import URL

from components.core.errors import ToolError
from components.core.messages import JSON
from components.fhir.search import Pairs
from components.fhir.validation import outcome
from components.fhir.world import Reply

_GET = {"Accept": "application/fhir+json"}
_POST = {**_GET, "Content-Type": "application/fhir+json"}
_REFUSALS = (400, 404, 405, 409, 410, 412, 422)  # with an OperationOutcome that the model can act on
_ACCEPTED = outcome(("informational", "The request was accepted.", ""), severity="information")


@runtime_checkable
class Http(Protocol):
    """An HTTP client with limits of time, size and attempts; its replies have ``status`` and ``body``. ``post_once``
    makes no second attempt, which could create a second resource. Raises ToolError."""

    async def get(self, url: URL, parameters: None, headers: dict[str, str], accept: Collection[int], /) -> Any: ...

    async def post_once(self, url: URL, body: object, headers: dict[str, str], accept: Collection[int], /) -> Any: ...


@dataclass(frozen=True)
class Server:
    """The server at ``base_url``, with one state for all. ``keeps``: what is posted is sent there; otherwise it is
    answered as accepted, and the server stays as it is."""

    base_url: str
    http: Http
    keeps: bool = True

    async def search(self, resource: str, pairs: Pairs) -> Reply:
        """What the server finds. Raises ToolError."""
        url = (URL(self.base_url) / resource).with_query(list(pairs))
        return _read(url, await self.http.get(url, None, _GET, _REFUSALS))

    async def create(self, resource: str, body: JSON) -> Reply:
        """What the server makes of a resource. Raises ToolError."""
        url = URL(self.base_url) / resource
        sent = await self.http.post_once(url, body, _POST, _REFUSALS) if self.keeps else None
        return _read(url, sent) if sent else Reply(200, _ACCEPTED)


def _read(url: URL, answer: Any) -> Reply:
    """An answer that is a resource. Raises ToolError for another one."""
    try:
        body = orjson.loads(answer.body)
    except ValueError:
        body = None
    if not isinstance(body, dict) or not isinstance(body.get("resourceType"), str):
        text = f"The server at {url.host} answered with status {answer.status} and no FHIR resource."
        raise ToolError(text, "unavailable")
    return Reply(answer.status, body)
