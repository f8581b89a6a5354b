"""A FHIR server that is reached over HTTP. What it answers is untrusted."""

from dataclasses import dataclass

from yarl import URL

from components import web
from components.core.messages import JSON
from components.fhir.search import Pairs
from components.fhir.validation import outcome
from components.fhir.world import Reply

_GET = {"Accept": "application/fhir+json"}
_POST = {**_GET, "Content-Type": "application/fhir+json", "Prefer": "return=representation"}
_REFUSALS = (400, 404, 405, 409, 410, 412, 422)  # with an OperationOutcome that the model can act on
_CREATED = outcome(("informational", "It was created; the server returned no content.", ""), severity="information")


@dataclass(frozen=True)
class Server:
    """The server at ``base_url``, with one state for all."""

    base_url: str
    client: web.Web

    async def search(self, resource: str, pairs: Pairs) -> Reply:
        """What the server finds. Raises ToolError."""
        url = (URL(self.base_url) / resource).with_query(list(pairs))
        return _read(await self.client.get(url, None, _GET, _REFUSALS))

    async def create(self, resource: str, body: JSON) -> Reply:
        """What the server makes of a resource, in one attempt: a second could create it twice. Raises ToolError."""
        answer = await self.client.post_once(URL(self.base_url) / resource, body, _POST, _REFUSALS)
        is_empty = answer.status < 300 and not answer.body.strip()
        return Reply(answer.status, _CREATED) if is_empty else _read(answer)


def _read(answer: web.Reply) -> Reply:
    """An answer that is a resource. Raises ToolError for another one."""
    if answer.find(str, "resourceType") is None:
        raise web.unavailable(answer.url.host, f"its answer with status {answer.status} is no FHIR resource")
    return Reply(answer.status, answer.find(dict) or {})
