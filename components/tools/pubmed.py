"""PubMed over the network: titles and abstracts by E-utilities. Queries leave this machine.

Source: NCBI, Entrez Programming Utilities Help, https://www.ncbi.nlm.nih.gov/books/NBK25501/ (3 requests a second, 10
with a key).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from xml.etree import ElementTree

from components.tools.passages import Passage
from components.web import KeyedService, Unavailable


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
            raise Unavailable(host, f"the search failed ({why:.100})" if why else "its answer has no list of ids")
        if not (names := [str(one) for one in ids][:k]):
            return []
        wanted = {"id": ",".join(names), "rettype": "abstract", "retmode": "xml"}
        reply = await self.web.get(self.address / "efetch.fcgi", {**who, **wanted})
        try:
            root = ElementTree.fromstring(reply.body)
        except ElementTree.ParseError:
            raise Unavailable(host, "its abstracts are not XML") from None
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
