"""Services that judge how abusive a text is. The text leaves this machine: for open data only, unless the service may
receive yours."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from components.web import KeyedService, Reply, Unavailable

_ATTRIBUTE = "TOXICITY"


@dataclass(frozen=True)
class Perspective(KeyedService):
    """The Perspective API or one of its form.

    Source: Perspective API reference, method ``comments:analyze`` of version v1alpha1 (Jigsaw).
    """

    base_url: str = "https://commentanalyzer.googleapis.com/v1alpha1"
    key_variable: str = "PERSPECTIVE_API_KEY"
    identified = f"perspective {{0.address}} {_ATTRIBUTE}"
    label = "Perspective"

    async def score(self, text: str) -> Mapping[str, float]:
        """Attribute -> score in 0-1. Raises ToolError."""
        body = {
            "comment": {"text": text},
            "languages": ["en"],
            "requestedAttributes": {_ATTRIBUTE: {}},
            "doNotStore": True,
        }
        reply = await self.web.post(self.address / "comments:analyze", body, {"x-goog-api-key": self.key})
        return {_ATTRIBUTE: _number(reply, "attributeScores", _ATTRIBUTE, "summaryScore", "value")}


@dataclass(frozen=True)
class Moderation(KeyedService):
    """An endpoint of the OpenAI moderation form: ``POST {base_url}/moderations`` with ``input`` and ``model``.

    For an endpoint without a key, set ``key_variable: null``.
    """

    model: str
    key_variable: str | None = field(default="OPENAI_API_KEY", kw_only=True)
    identified = "moderation {0.address} {0.model}"
    label = "The moderation endpoint"

    async def score(self, text: str) -> Mapping[str, float]:
        """Category -> score in 0-1. Raises ToolError."""
        headers = {} if self.key_variable is None else {"Authorization": f"Bearer {self.key}"}
        reply = await self.web.post(self.address / "moderations", {"model": self.model, "input": text}, headers)
        place = ("results", 0, "category_scores")
        categories = reply.find(dict, *place)
        if not categories:
            raise Unavailable(reply.url.host, "its answer holds no scores")
        return {name: _number(reply, *place, name) for name in categories}


def _number(reply: Reply, *path: str | int) -> float:
    """A score in 0-1 at a place of a JSON reply. Raises ToolError."""
    value = reply.find(object, *path)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise Unavailable(reply.url.host, f"its answer holds no score from 0 to 1 at {'.'.join(map(str, path))}")
    return float(value)
