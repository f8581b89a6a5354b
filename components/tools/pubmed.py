"""PubMed abstracts by NCBI's E-utilities (esearch, then efetch) as a source of passages.

Source: NCBI, Entrez Programming Utilities Help, https://www.ncbi.nlm.nih.gov/books/NBK25501/. Without a key
NCBI allows 3 requests a second, with one 10; each search makes 2.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import ClassVar
from xml.etree import ElementTree

from components.core.errors import ToolError
from components.core.tools import Effect
from components.tools.passages import Passage
from components.tools.web import Web, base, key, unavailable


@dataclass(frozen=True)
class PubMed:
    """The abstracts that PubMed ranks first. A key is optional; ``email`` is what NCBI asks heavy users for.

    A passage's score falls from 1 with its rank, since PubMed gives none.
    """

    base_url: str = "https://eutils.ncbi.nlm.nih.gov/entrez/eutils"
    key_variable: str = "NCBI_API_KEY"
    email: str | None = None
    web: Web = field(default_factory=Web)
    effect: ClassVar[Effect] = "external"
    missing: ClassVar[str] = ""

    def __post_init__(self) -> None:
        base(self.base_url)

    @property
    def identity(self) -> str:
        """The service."""
        return f"pubmed {self.base_url}"

    async def search(self, query: str, k: int) -> Sequence[Passage]:
        """The first ``k`` abstracts by relevance. Raises ToolError."""
        ids = await self._ids(query, k)
        if not ids:
            return []
        url = base(self.base_url) / "efetch.fcgi"
        asked = {"id": ",".join(ids), "rettype": "abstract", "retmode": "xml"}
        reply = await self.web.get(url, {**self._who(), **asked})
        try:
            root = ElementTree.fromstring(reply.body)
        except ElementTree.ParseError:
            raise unavailable(url.host, "its abstracts are not XML") from None
        found = {name: (title, text) for name, title, text in _articles(root)}
        ranked = [name for name in ids if name in found]
        return [Passage(name, *found[name], "pubmed", 1 / rank) for rank, name in enumerate(ranked, 1)]

    async def _ids(self, query: str, k: int) -> list[str]:
        url = base(self.base_url) / "esearch.fcgi"
        asked = {"term": query, "retmax": str(k), "sort": "relevance", "retmode": "json"}
        answer = (await self.web.get(url, {**self._who(), **asked})).json()
        result = answer.get("esearchresult") if isinstance(answer, dict) else None
        ids = result.get("idlist") if isinstance(result, dict) else None
        if not isinstance(ids, list):
            raise _refused(url.host, result)
        return [str(one) for one in ids][:k]

    def _who(self) -> dict[str, str]:
        """What NCBI asks of every request."""
        who = {"db": "pubmed", "tool": "wardround"}
        if self.email:
            who["email"] = self.email
        if found := key(self.key_variable):
            who["api_key"] = found
        return who


def _refused(host: str | None, result: object) -> ToolError:
    """A search that NCBI answers with an error."""
    said = result.get("ERROR") if isinstance(result, dict) else None
    return unavailable(host, f"the search failed ({said!s:.100})" if said else "its answer has no list of ids")


def _articles(root: ElementTree.Element) -> Iterator[tuple[str, str, str]]:
    """Id, title and abstract of each article that has an abstract; labels of its parts stand before them."""
    for article in root.iter("PubmedArticle"):
        name = article.findtext(".//PMID", "").strip()
        title = _text(article.find(".//ArticleTitle"))
        parts = []
        for part in article.iterfind(".//Abstract/AbstractText"):
            label = part.get("Label")
            parts.append(f"{label}: {_text(part)}" if label else _text(part))
        if name and (content := " ".join(part for part in parts if part)):
            yield name, title, content


def _text(element: ElementTree.Element | None) -> str:
    """An element's text without its marks, on one line."""
    return "" if element is None else " ".join("".join(element.itertext()).split())
