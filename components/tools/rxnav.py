"""RxNorm over the network, for open data only, unless the service may receive yours.

Source: https://lhncbc.nlm.nih.gov/RxNav/APIs/RxNormAPIs.html (no key, 20 requests a second).
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from yarl import URL

from components.tools.drugbank import Drug, Found, closest, fitting, not_found
from components.tools.web import Service, Texts, objects, unavailable

_N_DOSAGES, _N_CLOSEST = 10, 5

_FORM = re.compile(r"(?P<strength>[\d.,]+ [A-Z%][\w%/.]*) (?P<form>[^\d/]+)$")


@dataclass(frozen=True)
class RxNav(Service):
    """The RxNorm concept of a name, with its brands as synonyms and its clinical drugs as dosages.

    RxNorm holds neither descriptions nor indications. At most 10 forms are reported, or the 5
    closest names when no concept has the name.
    """

    base_url: str = "https://rxnav.nlm.nih.gov/REST"
    identified = f"rxnav {{0.base_url}} {_N_DOSAGES} {_N_CLOSEST}"

    async def find(self, name: str) -> Found:
        """The drug of a name. Raises ToolError."""
        best_match = {"name": name, "search": "2"}  # exact, else normalised
        group = await self._group("rxcui.json", "idGroup", best_match)
        ids = group.get("rxnormId") or []
        if not ids:
            wanted = {"term": name, "maxEntries": "20"}
            group = await self._group("approximateTerm.json", "approximateGroup", wanted)
            names = [one.get("name") for one in objects(group.get("candidate"))]
            raise not_found(name, closest(name, [one for one in names if isinstance(one, str)], _N_CLOSEST))
        concept = f"rxcui/{ids[0]}"
        facts = await self._group(f"{concept}/properties.json", "properties", {})
        related = await self._group(f"{concept}/related.json", "relatedGroup", {"tty": "BN SCD"})
        brands, drugs = (_related_names(related, kind) for kind in ("BN", "SCD"))
        dosages: list[Mapping[str, str | None]] = []
        for drug in drugs[:_N_DOSAGES]:  # ingredient, strength, form; the whole name when it has several ingredients
            form = _FORM.search(drug) if " / " not in drug else None
            parts = (form["form"], form["strength"]) if form else (drug, None)
            dosages.append({"from": parts[0], "route": None, "strength": parts[1]})
        return fitting(name, Drug(str(facts.get("name") or name), dosages=tuple(dosages), synonyms=tuple(brands)))

    async def _group(self, path: str, group: str, parameters: Texts) -> Mapping[str, Any]:
        """The named object of an answer. Raises ToolError."""
        reply = await self.web.get(URL(f"{self.address}/{path}"), parameters)
        if (values := reply.find(dict, group)) is None:
            raise unavailable(self.address.host, f"its answer has no {group}")
        return values


def _related_names(related: Mapping[str, Any], kind: str) -> list[str]:
    """The names of related concepts of one kind, sorted."""
    groups = [one for one in objects(related.get("conceptGroup")) if one.get("tty") == kind]
    concepts = (one for group in groups for one in objects(group.get("conceptProperties")))
    return sorted({str(one["name"]) for one in concepts if "name" in one})
