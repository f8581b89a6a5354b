"""Concepts of the UMLS Metathesaurus by NLM's UMLS Terminology Services.

Source: NLM, UMLS REST API, https://documentation.uts.nlm.nih.gov/rest/home.html; a licence and its key are needed.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from yarl import URL

from components.tools.umls import N_RELATIONS, Concept, Relation, no_concept
from components.tools.web import Service, key, no_key, unavailable

_NOTHING = "NONE"  # what older releases return in place of an empty list


@dataclass(frozen=True)
class Uts(Service):
    """The first concept that the service finds for a term, with its definitions and relations.

    ``version`` is a release such as 2024AB, or current, whose answers change.
    """

    base_url: str = "https://uts-ws.nlm.nih.gov/rest"
    key_variable: str = "UMLS_API_KEY"
    version: str = "current"

    @property
    def identity(self) -> str:
        """The service and its release."""
        return f"uts {self.base_url} {self.version}"

    @property
    def missing(self) -> str:
        """The key, when it is not in the environment."""
        return no_key(self.key_variable, "UMLS Terminology Services")

    async def find(self, term: str) -> Concept:
        """The concept of a term. Raises ToolError."""
        answer = await self._ask(f"search/{self.version}", {"string": term, "pageSize": "1"})
        found = _rows(answer.get("results") if isinstance(answer, dict) else None)
        if not found or found[0].get("ui", _NOTHING) == _NOTHING:
            raise no_concept(term)
        cui, name = str(found[0]["ui"]), str(found[0].get("name", term))
        place = f"content/{self.version}/CUI/{cui}"
        definitions, relations = await asyncio.gather(
            self._ask(f"{place}/definitions", {}), self._ask(f"{place}/relations", {"pageSize": str(N_RELATIONS)})
        )
        defined = [(str(one.get("rootSource")), str(one["value"])) for one in _rows(definitions) if one.get("value")]
        related = tuple(_relation(one, name) for one in _rows(relations))
        return Concept(cui, name, dict(reversed(defined)), related[:N_RELATIONS])

    async def _ask(self, path: str, parameters: Mapping[str, str]) -> Any:
        """The ``result`` of an answer; None where the service has nothing. Raises ToolError."""
        asked = {**parameters, "apiKey": key(self.key_variable)}
        reply = await self.web.get(URL(f"{self.address}/{path}"), asked, accept=(404,))
        if reply.status == 404:
            if reply.find(object, "name") is not None:
                return None
            raise unavailable(self.address.host, "it answered with status 404")
        result = reply.find(object, "result")
        if result is None:
            raise unavailable(self.address.host, "its answer has no result")
        return result


def _rows(result: object) -> Sequence[Mapping[str, Any]]:
    """The objects of a list."""
    return [one for one in result if isinstance(one, dict)] if isinstance(result, list) else []


def _relation(row: Mapping[str, Any], name: str) -> Relation:
    """A relation, under its more specific label."""
    label = row.get("additionalRelationLabel") or row.get("relationLabel") or "related to"
    return Relation(str(row.get("relatedFromIdName") or name), str(label), str(row.get("relatedIdName") or "unnamed"))
