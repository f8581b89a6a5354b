"""PubMed abstracts by NCBI's E-utilities (esearch, then efetch) as a source of passages.

Source: NCBI, Entrez Programming Utilities Help, https://www.ncbi.nlm.nih.gov/books/NBK25501/. Without a key
NCBI allows 3 requests a second, with one 10; each search makes 2.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from xml.etree import ElementTree

from components.tools.passages import Passage
from components.tools.web import Service, key, unavailable


@dataclass(frozen=True)
class PubMed(Service):
    """The abstracts that PubMed ranks first. A key is optional.

    A passage's score falls from 1 with its rank, since PubMed gives none.
    """

    base_url: str = "https://eutils.ncbi.nlm.nih.gov/entrez/eutils"
    key_variable: str = "NCBI_API_KEY"

    @property
    def identity(self) -> str:
        """The service."""
        return f"pubmed {self.base_url}"

    async def search(self, query: str, k: int) -> Sequence[Passage]:
        """The first ``k`` abstracts by relevance. Raises ToolError."""
        ids = await self._ids(query, k)
        if not ids:
            return []
        asked = {"id": ",".join(ids), "rettype": "abstract", "retmode": "xml"}
        reply = await self.web.get(self.address / "efetch.fcgi", {**self._who(), **asked})
        try:
            root = ElementTree.fromstring(reply.body)
        except ElementTree.ParseError:
            raise unavailable(self.address.host, "its abstracts are not XML") from None
        found = {name: (title, text) for name, title, text in _articles(root)}
        ranked = [name for name in ids if name in found]
        return [Passage(name, *found[name], "pubmed", 1 / rank) for rank, name in enumerate(ranked, 1)]

    async def _ids(self, query: str, k: int) -> list[str]:
        asked = {"term": query, "retmax": str(k), "sort": "relevance", "retmode": "json"}
        reply = await self.web.get(self.address / "esearch.fcgi", {**self._who(), **asked})
        ids = reply.find(list, "esearchresult", "idlist")
        if ids is None:
            why = reply.find(str, "esearchresult", "ERROR")
            message = f"the search failed ({why:.100})" if why else "its answer has no list of ids"
            raise unavailable(self.address.host, message)
        return [str(one) for one in ids][:k]

    def _who(self) -> dict[str, str]:
        """What NCBI asks of every request."""
        who = {"db": "pubmed", "tool": "wardround"}
        if found := key(self.key_variable):
            who["api_key"] = found
        return who


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
