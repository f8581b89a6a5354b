"""A FHIR server that is reached over HTTP. What it answers is untrusted.

An outage is an error of the episode, which a resumed run repeats: what a server did not say is no observation. What it
answers about the request itself, by an OperationOutcome, is for the model.
"""

from collections.abc import Awaitable
from contextlib import suppress
from dataclasses import dataclass, replace

import orjson
from yarl import URL

from components import web
from components.core.errors import ConfigError, ModelError
from components.core.messages import JSON
from components.fhir.search import Pairs
from components.fhir.validation import outcome
from components.fhir.world import Reply

_GET = {"Accept": "application/fhir+json"}
_POST = {**_GET, "Content-Type": "application/fhir+json", "Prefer": "return=representation"}
_TOO_LARGE = (413, 414, 431)  # whatever the content of the answer is
_REFUSALS = (400, 404, 405, 409, 410, 412, 422, *_TOO_LARGE)  # about the request
_CREATED = outcome(("informational", "It was created; the server returned no content.", ""), severity="information")
_LARGE = outcome(("too-long", "The server takes no request that is so large.", ""))
_PROBE_SECONDS = 10.0


@dataclass(frozen=True)
class Server:
    """The server at ``base_url``, with one state for all."""

    base_url: str
    client: web.Web

    async def search(self, resource: str, pairs: Pairs) -> Reply:
        """What the server finds. Raises ModelError (fhir_server)."""
        url = (URL(self.base_url) / resource).with_query(list(pairs))
        return await self._read(self.client.get(url, None, _GET, _REFUSALS))

    async def create(self, resource: str, body: JSON) -> Reply:
        """What the server makes of a resource, in one attempt: a second could create it twice. Raises ModelError
        (fhir_server), also where the resource may have been created."""
        url, content = URL(self.base_url) / resource, orjson.dumps(body)
        return await self._read(self.client.post_once(url, content, _POST, _REFUSALS), _CREATED)

    async def probe(self) -> None:
        """Search for one patient. Raises ConfigError where no FHIR server answers."""
        seconds = min(self.client.timeout_seconds, _PROBE_SECONDS)
        try:
            once = replace(self, client=replace(self.client, retries=0, timeout_seconds=seconds))
            reply = await once.search("Patient", [("_count", "1")])
        except ModelError as error:
            raise ConfigError(f"base_url: {error}") from None
        kind = reply.body["resourceType"]
        if reply.status == 404 or (reply.status < 300 and kind != "Bundle"):
            text = f"answers a search for patients with status {reply.status} and {kind!r:.60}; it must be a Bundle"
            raise ConfigError(f"base_url: the FHIR server {self.base_url} {text}")

    async def _read(self, request: Awaitable[web.Reply], without_content: JSON | None = None) -> Reply:
        """An answer that is a resource. Raises ModelError (fhir_server)."""
        try:
            answer = await request
            if answer.status in _TOO_LARGE:
                return Reply(answer.status, _LARGE)
            if without_content is not None and answer.status < 300 and not answer.body.strip():
                return Reply(answer.status, without_content)
            why = f"its answer with status {answer.status} is no FHIR resource"
            with suppress(ValueError, TypeError):  # no JSON, or nested too deeply to be written again
                orjson.dumps(body := orjson.loads(answer.body))
                if isinstance(body, dict) and isinstance(body.get("resourceType"), str):
                    return Reply(answer.status, body)
        except web.Unavailable as error:
            why = error.why
        raise ModelError(f"the FHIR server {self.base_url} is unavailable: {why}", "fhir_server")
