"""Pages of the web as their paragraphs, and where they are found."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from components.tools.backends import Backend

_SILENT = ("script", "style", "noscript", "template", "svg")


@dataclass(frozen=True)
class WebPage:
    """A page that was found. ``error`` says why it could not be read; then there are no paragraphs."""

    url: str
    title: str
    paragraphs: tuple[str, ...] = ()
    error: str = ""


@runtime_checkable
class WebSource(Backend, Protocol):
    """Where pages are found."""

    async def search(self, query: str, k: int) -> Sequence[WebPage]:
        """The first ``k`` pages for a query; none when nothing is found. Raises ToolError."""


def read_page(url: str, html: str, title: str = "") -> WebPage:
    """The page of an HTML text, however broken; its own title where none is known."""
    from lxml import etree  # type: ignore[import-untyped]  # it ships no types
    from lxml import html as parsing

    parser = parsing.HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True)
    try:
        root = parsing.document_fromstring(html.encode("utf-8", "replace"), parser=parser, ensure_head_body=True)
    except etree.ParserError:  # nothing is left of it
        return WebPage(url, title or url)
    etree.strip_elements(root, *_SILENT, with_tail=False)
    own = " ".join((root.findtext(".//title") or "").split())
    for line_break in root.iter("br"):
        line_break.tail = f" {line_break.tail or ''}"
    texts = (" ".join(paragraph.text_content().split()) for paragraph in root.iter("p"))
    return WebPage(url, title or own or url, tuple(text for text in texts if text))
