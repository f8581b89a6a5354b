"""Services that answer for tools: of the US National Library of Medicine (PubMed, UMLS, RxNorm), the Food and Drug
Administration, and those that judge how abusive a text is. What they are asked leaves this machine: for open data only,
unless the service may receive yours.

Sources: NCBI, Entrez Programming Utilities Help, https://www.ncbi.nlm.nih.gov/books/NBK25501/ (3 requests a second, 10
with a key); UMLS REST API, https://documentation.uts.nlm.nih.gov/rest/home.html (a licence and its key);
https://lhncbc.nlm.nih.gov/RxNav/APIs/RxNormAPIs.html (no key, 20 requests a second);
https://open.fda.gov/apis/drug/label/ (240 requests a minute, 1,000 a day without a key).
"""

import asyncio
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from xml.etree import ElementTree

from yarl import URL

from components.tools.drugbank import Drug, Found, closest, fitting, not_found
from components.tools.medrag import Passage
from components.tools.umls import N_RELATIONS, Concept, Relation, no_concept
from components.tools.web import KeyedService, Reply, Service, Texts, unavailable


@dataclass(frozen=True)
class PubMed(KeyedService):
    """The abstracts that PubMed ranks first, by esearch and then efetch. A key is optional.

    A passage's score falls from 1 with its rank, since PubMed gives none.
    """

    base_url: str = "https://eutils.ncbi.nlm.nih.gov/entrez/eutils"
    key_variable: str = "NCBI_API_KEY"
    identified = "pubmed {0.base_url}"

    async def search(self, query: str, k: int) -> Sequence[Passage]:
        """The first ``k`` abstracts by relevance. Raises ToolError."""
        host, who = self.address.host, {"db": "pubmed", "tool": "wardround"}
        if self.key:
            who["api_key"] = self.key
        wanted = {"term": query, "retmax": str(k), "sort": "relevance", "retmode": "json"}
        reply = await self.web.get(self.address / "esearch.fcgi", {**who, **wanted})
        ids = reply.find(list, "esearchresult", "idlist")
        if ids is None:
            why = reply.find(str, "esearchresult", "ERROR")
            raise unavailable(host, f"the search failed ({why:.100})" if why else "its answer has no list of ids")
        if not (names := [str(one) for one in ids][:k]):
            return []
        wanted = {"id": ",".join(names), "rettype": "abstract", "retmode": "xml"}
        reply = await self.web.get(self.address / "efetch.fcgi", {**who, **wanted})
        try:
            root = ElementTree.fromstring(reply.body)
        except ElementTree.ParseError:
            raise unavailable(host, "its abstracts are not XML") from None
        articles = {}
        for article in root.iter("PubmedArticle"):
            parts = [(part.get("Label"), _line(part)) for part in article.iterfind(".//Abstract/AbstractText")]
            content = " ".join(f"{label}: {text}" if label else text for label, text in parts if label or text)
            if content:
                name = article.findtext(".//PMID", "").strip()
                articles[name] = (_line(article.find(".//ArticleTitle")), content)
        ranked = [name for name in names if name in articles]
        return [Passage(name, *articles[name], "pubmed", 1 / rank) for rank, name in enumerate(ranked, 1)]


def _line(element: ElementTree.Element | None) -> str:
    """An element's text without its marks, on one line."""
    return "" if element is None else " ".join("".join(element.itertext()).split())


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
            raise unavailable(self.address.host, "it answered with status 404")
        result = reply.find(object, "result")
        if result is None:
            raise unavailable(self.address.host, "its answer has no result")
        return result


def _objects(value: object) -> Sequence[Mapping[str, Any]]:
    """The objects of a list."""
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


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
            names = [one.get("name") for one in _objects(group.get("candidate"))]
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
    groups = [one for one in _objects(related.get("conceptGroup")) if one.get("tty") == kind]
    concepts = (one for group in groups for one in _objects(group.get("conceptProperties")))
    return sorted({str(one["name"]) for one in concepts if "name" in one})


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
            raise unavailable(self.address.host, "it answered with status 404")
        label: Mapping[str, Any] | None = reply.find(dict, "results", 0)
        if label is None:
            raise unavailable(self.address.host, "its answer has no results")
        facts = label.get("openfda")
        facts = facts if isinstance(facts, dict) else {}
        names = list(dict.fromkeys(one for kind in _NAMES for one in _texts(facts.get(kind)))) or [name]
        keys = ("description", "indications_and_usage", "dosage_forms_and_strengths")
        description, indication, strength = (_section(label, key) for key in keys)
        routes: list[str | None] = [*_texts(facts.get("route"))] or ([None] if strength else [])
        dosages = tuple({"from": None, "route": route, "strength": strength} for route in routes)
        return fitting(name, Drug(names[0], description, None, indication, dosages, tuple(names[1:])))


def _section(label: Mapping[str, Any], key: str) -> str | None:
    """A section's text on one line, cut."""
    text = " ".join(" ".join(_texts(label.get(key))).split())
    return (text if len(text) <= _LONGEST else text[:_LONGEST] + " ...") or None


def _texts(value: object) -> list[str]:
    """The texts of a field, which openFDA returns as a list."""
    return [one for one in value if isinstance(one, str)] if isinstance(value, list) else []


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
            raise unavailable(reply.url.host, "its answer holds no scores")
        return {name: _number(reply, *place, name) for name in categories}


def _number(reply: Reply, *path: str | int) -> float:
    """A score in 0-1 at a place of a JSON reply. Raises ToolError."""
    value = reply.find(object, *path)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise unavailable(reply.url.host, f"its answer holds no score from 0 to 1 at {'.'.join(map(str, path))}")
    return float(value)
