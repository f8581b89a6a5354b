"""Drug labels of openFDA, for open data only, unless the service may receive yours.

Source: https://open.fda.gov/apis/drug/label/ (240 requests a minute, 1,000 a day without a key).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from components.tools.drugbank import Drug, Found, match_drug, not_found
from components.web import KeyedService, Unavailable

_LONGEST = 1500  # characters of a section

_NAMES = ("generic_name", "brand_name", "substance_name")


@dataclass(frozen=True)
class OpenFda(KeyedService):
    """The first label whose generic, brand or substance name is the requested one. A key is optional.

    A section of a label is cut at 1,500 characters. A label does not give the state of matter.
    """

    base_url: str = "https://api.fda.gov"
    key_variable: str = "OPENFDA_API_KEY"
    identified = f"openfda {{0.base_url}} {_LONGEST}"

    async def find(self, name: str) -> Found:
        """The drug of a label. Raises ToolError."""
        quoted = " ".join(name.replace('"', " ").replace("\\", " ").split())
        wanted = {"search": " OR ".join(f'openfda.{kind}:"{quoted}"' for kind in _NAMES), "limit": "1"}
        if self.key:
            wanted["api_key"] = self.key
        reply = await self.web.get(self.address / "drug" / "label.json", wanted, accept=(404,))
        if reply.status == 404:
            if reply.find(str, "error", "code") == "NOT_FOUND":
                raise not_found(name, ())
            raise Unavailable(self.address.host, "it answered with status 404")
        label: Mapping[str, Any] | None = reply.find(dict, "results", 0)
        if label is None:
            raise Unavailable(self.address.host, "its answer has no results")
        facts = label.get("openfda")
        facts = facts if isinstance(facts, dict) else {}
        names = list(dict.fromkeys(one for kind in _NAMES for one in _texts(facts.get(kind)))) or [name]
        keys = ("description", "indications_and_usage", "dosage_forms_and_strengths")
        description, indication, strength = (_section(label, key) for key in keys)
        routes: list[str | None] = [*_texts(facts.get("route"))] or ([None] if strength else [])
        dosages = tuple({"from": None, "route": route, "strength": strength} for route in routes)
        return match_drug(name, Drug(names[0], description, None, indication, dosages, tuple(names[1:])))


def _section(label: Mapping[str, Any], key: str) -> str | None:
    """A section's text on one line, cut."""
    text = " ".join(" ".join(_texts(label.get(key))).split())
    return (text if len(text) <= _LONGEST else text[:_LONGEST] + " ...") or None


def _texts(value: object) -> list[str]:
    """The texts of a field, which openFDA returns as a list."""
    return [one for one in value if isinstance(one, str)] if isinstance(value, list) else []
