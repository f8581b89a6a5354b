"""UMLS over the network, for open data only, unless the service may receive yours.

Source: UMLS REST API, https://documentation.uts.nlm.nih.gov/rest/home.html (a licence and its key).
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from yarl import URL

from components.tools.umls import N_RELATIONS, Concept, Relation, no_concept
from components.web import KeyedService, Texts, Unavailable


@dataclass(frozen=True)
class Uts(KeyedService):
    """The first concept that UMLS Terminology Services find for a term, with its definitions and relations.

    ``version`` is a release such as 2024AB, or current, whose answers change.
    """

    base_url: str = "https://uts-ws.nlm.nih.gov/rest"
    key_variable: str = "UMLS_API_KEY"
    version: str = "current"
    identified = "uts {0.base_url} {0.version}"
    label = "UMLS Terminology Services"

    async def find(self, term: str) -> Concept:
        """The concept of a term. Raises ToolError."""
        answer = await self._result(f"search/{self.version}", {"string": term, "pageSize": "1"})
        concepts = _objects(answer.get("results") if isinstance(answer, dict) else None)
        if not concepts or concepts[0].get("ui", "NONE") == "NONE":  # in place of an empty list, in older releases
            raise no_concept(term)
        cui, name = str(concepts[0]["ui"]), str(concepts[0].get("name", term))
        place = f"content/{self.version}/CUI/{cui}"
        definitions, rows = await asyncio.gather(
            self._result(f"{place}/definitions", {}), self._result(f"{place}/relations", {"pageSize": str(N_RELATIONS)})
        )
        defined = [(str(one.get("rootSource")), str(one["value"])) for one in _objects(definitions) if one.get("value")]
        relations = []
        for row in _objects(rows)[:N_RELATIONS]:
            label = row.get("additionalRelationLabel") or row.get("relationLabel") or "related to"
            ends = row.get("relatedFromIdName") or name, row.get("relatedIdName") or "unnamed"
            relations.append(Relation(str(ends[0]), str(label), str(ends[1])))
        return Concept(cui, name, dict(reversed(defined)), tuple(relations))

    async def _result(self, path: str, parameters: Texts) -> Any:
        """The ``result`` of an answer; None where the service has nothing. Raises ToolError."""
        reply = await self.web.get(URL(f"{self.address}/{path}"), {**parameters, "apiKey": self.key}, accept=(404,))
        if reply.status == 404:
            if reply.find(object, "name") is not None:
                return None
            raise Unavailable(self.address.host, "it answered with status 404")
        result = reply.find(object, "result")
        if result is None:
            raise Unavailable(self.address.host, "its answer has no result")
        return result


def _objects(value: object) -> Sequence[Mapping[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []
