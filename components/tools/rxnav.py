"""Drug names, brands and forms of RxNorm by the RxNav service of the National Library of Medicine.

Source: https://lhncbc.nlm.nih.gov/RxNav/APIs/RxNormAPIs.html; no key, 20 requests a second.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from yarl import URL

from components.tools.drugbank import Drug, Found, closest, fitting, not_found
from components.tools.web import Service, unavailable

_BEST_MATCH = "2"  # exact, else normalised
_N_DOSAGES = 10
_N_CLOSEST = 5
_CANDIDATES = "20"
_FORM = re.compile(r"(?P<strength>[\d.,]+ [A-Z%][\w%/.]*) (?P<form>[^\d/]+)$")


@dataclass(frozen=True)
class RxNav(Service):
    """The RxNorm concept of a name, with its brands as synonyms and its clinical drugs as dosages.

    RxNorm holds neither descriptions nor indications. At most 10 forms are reported, or the 5
    closest names when no concept has the name.
    """

    base_url: str = "https://rxnav.nlm.nih.gov/REST"

    @property
    def identity(self) -> str:
        """The service."""
        return f"rxnav {self.base_url} {_N_DOSAGES} {_N_CLOSEST}"

    async def find(self, name: str) -> Found:
        """The drug of a name. Raises ToolError."""
        group = await self._ask("rxcui.json", "idGroup", {"name": name, "search": _BEST_MATCH})
        ids = group.get("rxnormId") or []
        if not ids:
            raise not_found(name, await self._closest(name))
        concept = str(ids[0])
        facts = await self._ask(f"rxcui/{concept}/properties.json", "properties", {})
        related = await self._ask(f"rxcui/{concept}/related.json", "relatedGroup", {"tty": "BN SCD"})
        names = {kind: _names(related, kind) for kind in ("BN", "SCD")}
        title = str(facts.get("name") or name)
        forms = tuple(_dosage(one) for one in names["SCD"][:_N_DOSAGES])
        return fitting(name, Drug(title, dosages=forms, synonyms=names["BN"]))

    async def _closest(self, name: str) -> list[str]:
        """Names that are like it."""
        group = await self._ask("approximateTerm.json", "approximateGroup", {"term": name, "maxEntries": _CANDIDATES})
        found = group.get("candidate") or []
        names = [one["name"] for one in found if isinstance(one, dict) and isinstance(one.get("name"), str)]
        return closest(name, names, _N_CLOSEST)

    async def _ask(self, path: str, group: str, parameters: Mapping[str, str]) -> Mapping[str, Any]:
        """The named object of an answer. Raises ToolError."""
        reply = await self.web.get(URL(f"{self.address}/{path}"), parameters)
        found = reply.find(dict, group)
        if found is None:
            raise unavailable(self.address.host, f"its answer has no {group}")
        return found


def _names(related: Mapping[str, Any], kind: str) -> tuple[str, ...]:
    """The names of related concepts of one kind, sorted."""
    groups = related.get("conceptGroup") or []
    found = [one.get("conceptProperties") or [] for one in groups if isinstance(one, dict) and one.get("tty") == kind]
    return tuple(sorted({str(one["name"]) for group in found for one in group if "name" in one}))


def _dosage(name: str) -> Mapping[str, str | None]:
    """A clinical drug's name (ingredient, strength, form) in its parts; the whole name when it has several."""
    found = _FORM.search(name) if " / " not in name else None
    if found is not None:
        return {"from": found["form"], "route": None, "strength": found["strength"]}
    return {"from": name, "route": None, "strength": None}
